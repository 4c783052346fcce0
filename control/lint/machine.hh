// The machine as a configuration has to fit it: CPUs and memory.
//
// A process is killed without a word when it takes more memory than one of the memory cgroups that it is in
// allows, so the room is the least of what the machine has available and of what each of them has left, up to
// the root. Pages of files that a cgroup only caches count as left: the kernel gives them up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/lint/lint.hh"

namespace sluice {

// What is known of this one now. `root`: of the file system, for tests.
Machine this_machine();
std::optional<MemoryRoom> memory_room(const std::string& root = {});
std::uint64_t free_hugepage_bytes(const std::string& root = {});

}  // namespace sluice
