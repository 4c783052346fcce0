// The machine as a configuration has to fit it: CPUs and memory.
//
// A process is killed without a word when it takes more memory than one of the memory cgroups that it is in
// allows, so the room is the least of the machine's available memory and of the rest of each of them, up to
// the root. Pages of files that a cgroup only caches count as left: the kernel gives them up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/config/lint/lint.hh"

namespace sluice {

// The facts about this machine now. `root`: of the file system, for tests.
Machine this_machine();
std::optional<MemoryRoom> memory_room(const std::string& root = {});

}  // namespace sluice
