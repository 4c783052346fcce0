// The memory of a switch, part by part, before any of it is taken: `--check` prints the sum, and a start that
// does not fit the machine, or the cgroup it is in, is refused with it.
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

// The most that each part can take; memory that is touched only when needed counts, too.
std::vector<MemoryPart> memory_parts(const Config& config);
std::uint64_t sum_of(const std::vector<MemoryPart>& parts);

// "152.0 MB for 62500 + 3000 packet buffers ..." in one line.
std::string memory_account(const Config& config);
// The table of `--check`.
std::string memory_table(const Config& config);
std::string in_megabytes(std::uint64_t bytes);

// `memory`: the machine has not as much. Nothing where that is not known.
std::vector<Finding> lint_memory(const Config& config, const Machine& machine);

// This machine as a configuration has to fit it: CPUs and memory. `root`: of the file system, for tests.
//
// A process is killed without a word when it takes more memory than one of the memory cgroups that it is in
// allows, so the room is the least of the machine's available memory and of the rest of each of them, up to
// the root. Pages of files that a cgroup only caches count as left: the kernel gives them up.
Machine this_machine();
std::optional<MemoryRoom> memory_room(const std::string& root = {});

}  // namespace sluice
