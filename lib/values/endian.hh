// Big-endian integers that never convert silently: `Be16 x; x.get(); x.set(5)`. Alignment 1, so a header
// struct made of them may be laid over any byte of a frame.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace sluice {

// Reads a big-endian integer at `bytes`; the caller has checked that sizeof(T) bytes are there.
template <std::unsigned_integral T>
inline T load_be(const std::uint8_t* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    if constexpr (sizeof(T) == 2)
        return __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bswap32(value);
    else if constexpr (sizeof(T) == 8)
        return __builtin_bswap64(value);
    else
        return value;
}

template <std::unsigned_integral T>
inline void store_be(std::uint8_t* bytes, T value) {
    if constexpr (sizeof(T) == 2)
        value = __builtin_bswap16(value);
    else if constexpr (sizeof(T) == 4)
        value = __builtin_bswap32(value);
    else if constexpr (sizeof(T) == 8)
        value = __builtin_bswap64(value);
    std::memcpy(bytes, &value, sizeof value);
}

template <std::unsigned_integral T>
struct BigEndian {
    std::array<std::uint8_t, sizeof(T)> bytes{};

    T get() const { return load_be<T>(bytes.data()); }
    void set(T value) { store_be<T>(bytes.data(), value); }
    bool operator==(const BigEndian&) const = default;
};

using Be16 = BigEndian<std::uint16_t>;
using Be32 = BigEndian<std::uint32_t>;
static_assert(sizeof(Be32) == 4 && alignof(Be32) == 1);

}  // namespace sluice
