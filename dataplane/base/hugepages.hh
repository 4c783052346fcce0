// The kernel's pool of hugepages of its default size, and what to ask for where a switch needs more.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

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

}  // namespace sluice
