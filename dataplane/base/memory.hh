// Memory of the system: its hugepages, and mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

// The kernel's pool of hugepages of its default size, and what to ask for where a switch needs more.
struct HugepagePool {
    std::uint64_t page_bytes = 0, pages = 0;
    std::uint64_t free = 0;  // of them, and promised to nobody

    std::uint64_t free_bytes() const { return free * page_bytes; }
    // The command that makes room for `bytes` beside what others use. Its number is the total that the kernel
    // takes, so it is never below the pages that are there.
    std::string command_for(std::uint64_t bytes) const;
};

// `root`: of the file system, for tests. All 0 where the kernel shows none.
HugepagePool read_hugepages(const std::string& root = {});

// Memory of the process that is given back with its owner.
class Mapping {
  public:
    Mapping() = default;
    // What the kernel shares with a socket, from an offset on. `at`: null when it failed (errno).
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

// What the packet path reads all over: packets and tables where there are no hugepages for them, and the
// frames of XDP sockets. All zero; pages come when they are touched, 2 MiB at once where the system gives
// transparent huge pages on request (Linux, Documentation/admin-guide/mm/transhuge.rst: "madvise" or
// "always"), else 4 KiB.
class LargePages : public Mapping {
  public:
    // `at()` is null when there is no such address space, or `bytes` is 0.
    explicit LargePages(std::size_t bytes);
    // Takes all pages at once, for readers that must not wait for one. By writing: of a large page of zeroes
    // that was only read, kernels before 6.13 give the first writer a small one.
    void touch();
};

}  // namespace sluice
