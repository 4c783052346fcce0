// Memory of the system: its hugepages, and mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

// The kernel's pool of hugepages of its default size.
struct HugepagePool {
    std::uint64_t page_bytes = 0, pages = 0;
    std::uint64_t free = 0;  // of them, and promised to nobody

    std::uint64_t free_bytes() const { return free * page_bytes; }
    // The command that makes room for `bytes` beside the pages in use. Its number is the kernel's total, so
    // it is never below the pages that are there.
    std::string command_for(std::uint64_t bytes) const;
};

// `root`: of the file system, for tests. All 0 where the kernel shows none.
HugepagePool read_hugepages(const std::string& root = {});

// Memory of the process, unmapped with its owner.
class Mapping {
  public:
    Mapping() = default;
    // The ring that the kernel shares with a socket, from an offset on. `at`: null when it failed (errno).
    Mapping(std::size_t bytes, int descriptor, std::int64_t offset);
    ~Mapping();
    Mapping(Mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    std::byte* at() const { return at_; }

  protected:
    std::byte* at_ = nullptr;
    std::size_t bytes_ = 0;
};

// Memory of the packet path: packets and tables where there are no hugepages, and the frames of XDP sockets.
// All zero; pages come when they are touched, of 2 MiB where the system has transparent huge pages ("madvise"
// or "always"), else of 4 KiB.
class LargePages : public Mapping {
  public:
    // `at()` is null when there is no such address space, or `bytes` is 0.
    explicit LargePages(std::size_t bytes);
    // Takes all pages at once, for readers that must not wait for one. It writes: kernels before 6.13 replace
    // a large page of zeroes that was only read by small ones.
    void touch();
};

}  // namespace sluice
