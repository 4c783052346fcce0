// Memory of the system for what the packet path reads all over: packets and tables where there are no
// hugepages for them, and the frames of XDP sockets.
#pragma once

#include <cstddef>
#include <utility>

namespace sluice {

// All zero; pages come when they are touched, 2 MiB at once where the system gives transparent huge pages on
// request (Linux, Documentation/admin-guide/mm/transhuge.rst: "madvise" or "always"), else 4 KiB.
class LargePages {
  public:
    // `at()` is null when there is no such address space, or `bytes` is 0.
    explicit LargePages(std::size_t bytes);
    ~LargePages();
    LargePages(LargePages&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
    LargePages& operator=(LargePages&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    std::byte* at() const { return at_; }
    // Takes all pages at once, for readers that must not wait for one. By writing: of a large page of zeroes
    // that was only read, kernels before 6.13 give the first writer a small one.
    void touch();

  private:
    std::byte* at_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace sluice
