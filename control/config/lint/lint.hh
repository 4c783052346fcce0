// Judges a parsed configuration: parts that cannot work, are not lossless, or are odd. Every finding has its
// numbers and the smallest edit that mends it. Collections must be sorted (`sort_config`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/route_changes.hh"
#include "dataplane/base/file_roles.hh"

namespace sluice {

// Memory that this process can still allocate.
struct MemoryRoom {
    std::uint64_t bytes = 0;
    std::string where;  // "the machine has 100.0 MB"
};

struct Machine {
    unsigned cpus = 1;                   // that may run workers
    std::optional<MemoryRoom> memory{};  // nothing: not known, or the switch has its own already
};

// Findings, worst first, then in the file's order. At most `max_findings_of_a_kind` with one id, and one that
// counts the rest. `good`: a configuration without errors; routes and neighbors shared with it are skipped.
std::vector<Finding> check_config(const Config& config, const Machine& machine, const Config* good = nullptr);
// The errors that changes of routes or neighbors would make in a configuration without errors. `route_by`
// finds a route of it by this next hop, whatever its weight.
using RouteBy = std::function<std::optional<IpPrefix>(const NextHopConfig&)>;
std::vector<Finding> check_changes(const Config& config, const RouteChanges& changes,
                                   const RouteBy& route_by);

// The files that the configuration names, by their keys.
FileRoles configured_files(const Config& config);

}  // namespace sluice
