// The parts of lint; private to it, but for the classes of RoCE packets, which a report's symptoms use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/findings.hh"

namespace sluice::lint {

// Adds a finding for each name that is not a port's. (lint.cc)
void check_ports_named(const Config& config, const std::vector<std::string>& names, FindingId id,
                       const std::string& path, Findings& findings);

void check_decisions(const Config& config, Findings& findings);  // lint_files.cc
void check_devices(const Config& config, Findings& findings);    // lint_devices.cc
void check_files(const Config& config, Findings& findings);      // lint_files.cc
void check_hosts(const Config& config, Findings& findings);      // lint_hosts.cc
// "host.h1.mtu", quoted as the file would have it.
std::string host_path(std::string_view host, std::string_view key);
void check_flows(const Config& config, Findings& findings);    // lint_flows.cc
void check_mirrors(const Config& config, Findings& findings);  // lint_mirror.cc
// "mirror.m.file", quoted as the file would have it. (lint_mirror.cc)
std::string mirror_path(const std::string& name, std::string_view key);
void check_receive_queues(const Config& config, Findings& findings);  // lint_devices.cc
void check_addresses(const Config& config, Findings& findings);       // lint_routes.cc
void check_neighbors(const Config& config, Findings& findings);
void check_routes(const Config& config, Findings& findings);
// True when neighbors, ports and their addresses are the same.
bool same_neighbors(const Config& good, const Config& config);
void check_slow_path(const Config& config, Findings& findings);  // lint_devices.cc
void check_watchdog(const Config& config, Findings& findings);   // lint_watchdog.cc
void check_wires(const Config& config, Findings& findings);      // lint_wires.cc

// Checks of a configuration without errors of check_config, by its effective values.
void check_class_ways(const Config& config, const EffectiveQos& qos, Findings& findings);
void check_host_classes(const Config& config, const EffectiveQos& qos, Findings& findings);
void check_host_pauses(const Config& config, const EffectiveQos& qos, Findings& findings);  // lint_pauses.cc
void check_marking(const Config& config, const EffectiveQos& qos, Findings& findings);
void check_minimums(const EffectiveQos& qos, Findings& findings);  // lint_rates.cc
void check_mirror_classes(const Config& config, const EffectiveQos& qos, Findings& findings);
void check_pause_time(const Config& config, const std::string& name, const EffectivePort& port,
                      Findings& findings);  // lint_pauses.cc
// The limit of each of `users` users of a pool that are all at it (Choudhury and Hahne 1998), in cells; at
// least one user. Null: no pool.
std::uint64_t equal_limit_cells(const Threshold& threshold, const EffectivePool* pool, unsigned users);
void check_trimming(const Config& config, const EffectiveQos& qos, Findings& findings);  // lint_trimming.cc
// The classes of packets that were trimmed, by their DSCP, at a port or another switch.
void check_trimmed_classes(const EffectiveQos& qos, const std::map<std::uint8_t, std::string>& trimmed_at,
                           Findings& findings);

// Delays of CNPs that leave by a port in a class; no words: none.
struct CnpDelay {
    std::string words;
    bool paused_or_marked = false;
};
CnpDelay cnp_delay(const EffectivePort& port, ClassId tc);  // lint_class_ways.cc
// The edit that gives CNPs a queue without delay, to follow "write"; `map`: the port's map in words.
std::string cnp_remedy(const EffectivePort& port, std::string_view map);  // lint_class_ways.cc
constexpr PacketLabel usual_cnp{48, {}, true};

// The class of a RoCE packet that enters by the port. (lint_host_classes.cc)
ClassId class_at(const PortConfig& said, const EffectivePort& port, const PacketLabel& label);
// The delays of a host's CNPs because of their DSCP; empty: none beyond those of every CNP at the port.
std::string host_cnp_delay(const PortConfig& said, const EffectivePort& port, unsigned cnp_dscp);

}  // namespace sluice::lint
