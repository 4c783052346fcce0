// The memory of a switch, part by part, before the start, which is refused when it exceeds the machine's or
// the cgroup's; `--check` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/config/lint/lint.hh"

namespace sluice {

struct MemoryPart {
    std::string name;
    std::uint64_t bytes = 0;
    std::string formula;
};

// The maximum of each part, with memory that is touched only when needed.
std::vector<MemoryPart> memory_parts(const Config& config);
std::uint64_t sum_of(const std::vector<MemoryPart>& parts);

// "152.0 MB (packet buffers 101.2 MB, ...)".
std::string memory_account(const Config& config);
// The table of `--check`.
std::string memory_table(const Config& config);
std::string in_megabytes(std::uint64_t bytes);

// The finding `memory`: the switch needs more than the machine has, where that is known.
std::vector<Finding> lint_memory(const Config& config, const Machine& machine);

// The CPUs and the memory of this machine. The kernel kills a process beyond the limit of any of its memory
// cgroups, so the room is the least of the machine's available memory and of the rest of each cgroup up to
// the root; pages of files that a cgroup caches count as free. `root`: of the file system, for tests.
Machine this_machine();
std::optional<MemoryRoom> memory_room(const std::string& root = {});

}  // namespace sluice
