// An array of zeroes whose memory comes page by page, when an entry is first written, so room for the worst
// case costs nothing. A T's bytes are all zero at first, and it needs no destructor. `touch` takes all memory
// at once, for threads that must not wait for a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace sluice {

template <class T>
class LazyArray {
    static_assert(std::is_trivially_destructible_v<T>);

  public:
    // Throws std::bad_alloc.
    explicit LazyArray(std::size_t count)
        : memory_(std::calloc(count * each + alignof(T), 1)), count_(count) {
        if (memory_ == nullptr) throw std::bad_alloc();
        const auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
        first_ = reinterpret_cast<T*>((at + alignof(T) - 1) / alignof(T) * alignof(T));
    }

    T* data() { return first_; }
    const T* data() const { return first_; }
    std::size_t size() const { return count_; }
    T* begin() { return first_; }
    T* end() { return first_ + count_; }
    T& operator[](std::size_t n) { return first_[n]; }
    const T& operator[](std::size_t n) const { return first_[n]; }

    void touch() {
        constexpr std::size_t page = 4096;
        auto* bytes = static_cast<volatile char*>(memory_.get());
        for (std::size_t at = 0; at < count_ * each; at += page) bytes[at] = 0;
    }

  private:
    static constexpr std::size_t each = sizeof(T);  // NOLINT(bugprone-sizeof-expression): T may be a pointer

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    T* first_ = nullptr;
    std::size_t count_;
};

}  // namespace sluice
