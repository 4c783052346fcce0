// A set of ports of one switch that costs what it holds: most switches have at most 64 ports, and a set
// without higher ones is one word. (A PortMask is as long as can be, and its bytes are its value.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/values/ids.hh"

namespace sluice {

class PortSet {
  public:
    constexpr PortSet() {}  // NOLINT(modernize-use-equals-default): `high_` stays as it is
    constexpr PortSet(const PortSet& other) : low_(other.low_) {
        if (other.has_high_) copy_high(other);
    }
    constexpr PortSet& operator=(const PortSet& other) {
        low_ = other.low_;
        if (other.has_high_) [[unlikely]]
            copy_high(other);
        else
            has_high_ = false;
        return *this;
    }
    constexpr void add(PortId port) { word(port / word_ports) |= bit(port); }
    constexpr void remove(PortId port) {
        if (port < word_ports)
            low_ &= ~bit(port);
        else if (has_high_)
            high_[port / word_ports - 1] &= ~bit(port);
    }
    // Bit n of `ports`: port `first` + n; `first` is a multiple of 8, and bits beyond its word are 0.
    constexpr void add_some(PortId first, std::uint64_t ports) {
        if (ports != 0) word(first / word_ports) |= ports << first % word_ports;
    }
    constexpr PortSet& operator|=(const PortSet& other) {
        low_ |= other.low_;
        if (other.has_high_) [[unlikely]]
            for (unsigned n = 1; n < words; ++n) word(n) |= other.high_[n - 1];
        return *this;
    }
    constexpr PortSet& operator&=(const PortSet& other) {
        low_ &= other.low_;
        for (unsigned n = 1; has_high_ && n < words; ++n) high_[n - 1] &= other.read(n);
        return *this;
    }
    // Takes out those from `first` up to `last`.
    constexpr PortSet take_between(PortId first, PortId last) {
        PortSet taken;
        for (unsigned n = first / word_ports; n <= last / word_ports; ++n) {
            std::uint64_t some = read(n);
            if (n == first / word_ports) some &= ~std::uint64_t{0} << first % word_ports;
            if (n == last / word_ports) some &= ~std::uint64_t{0} >> (word_ports - 1 - last % word_ports);
            if (some == 0) continue;
            taken.word(n) = some;
            word(n) &= ~some;
        }
        return taken;
    }

    constexpr bool contains(PortId port) const { return (read(port / word_ports) & bit(port)) != 0; }
    [[gnu::always_inline]] constexpr bool empty() const {
        return low_ == 0 && (!has_high_ || high_is_empty());
    }

    // Lowest first; ports that `action` adds may be among them. One loop, so that `action` is in it.
    template <class Action>
    [[gnu::always_inline]] constexpr void for_each(Action action) const {
        for (unsigned n = 0; n == 0 || (has_high_ && n < words); ++n)
            for (std::uint64_t left = read(n); left != 0; left &= left - 1)
                action(static_cast<PortId>(n * word_ports + static_cast<unsigned>(std::countr_zero(left))));
    }

  private:
    static constexpr unsigned word_ports = 64;
    static constexpr unsigned words = max_ports / word_ports;

    static constexpr std::uint64_t bit(PortId port) { return std::uint64_t{1} << port % word_ports; }
    constexpr std::uint64_t read(unsigned n) const {
        return n == 0 ? low_ : has_high_ ? high_[n - 1] : std::uint64_t{0};
    }
    constexpr std::uint64_t& word(unsigned n) {
        if (n == 0) [[likely]]
            return low_;
        if (!has_high_) high_ = {};
        has_high_ = true;
        return high_[n - 1];
    }
    constexpr void copy_high(const PortSet& other) {
        high_ = other.high_;
        has_high_ = true;
    }
    [[gnu::noinline, gnu::cold]] constexpr bool high_is_empty() const {
        return std::all_of(high_.begin(), high_.end(), [](std::uint64_t n) { return n == 0; });
    }

    std::uint64_t low_ = 0;
    bool has_high_ = false;                      // false: `high_` is not read
    std::array<std::uint64_t, words - 1> high_;  // ports from 64 on
};
static_assert(max_ports == 256);

}  // namespace sluice
