// Simulated hosts and their flows, as the report has them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/report/figures/host_symptoms.hh"
#include "lib/roce/nic_statistics.hh"

namespace sluice {

class RunningSwitch;

// By host and by flow, in the configuration's order; both empty where there are none. `told`: symptoms of
// transfers (host_symptoms.hh); without it, of those within the switch.
using ToldSymptoms = std::map<std::string, std::vector<std::string>>;
nlohmann::ordered_json hosts_json(const RunningSwitch& running, const ToldSymptoms& told);
nlohmann::ordered_json hosts_json(const RunningSwitch& running);
// Traffic that the switch has sent from a port, or received on it, as its link carried it.
LinkUse sent_on(const RunningSwitch& running, PortId id);
LinkUse received_on(const RunningSwitch& running, PortId id);
nlohmann::ordered_json flows_json(const RunningSwitch& running);
// The times that messages took, by flow of the configuration `world`.
std::vector<roce::FlowStatistics> flow_statistics(const Config& world,
                                                  const std::vector<const HostPort*>& hosts);
// `completion_ns` and `slowdown_permille`; of no message null.
nlohmann::ordered_json durations_json(const roce::FlowStatistics& statistics);
// 0 in no time.
std::uint64_t bits_per_second(std::uint64_t bytes, double in_ps);
inline std::uint64_t bits_per_second(std::uint64_t bytes, Duration in) {
    return bits_per_second(bytes, static_cast<double>(in.ps));
}
// What is sampled of a flow: the sum of its queue pairs' rates in bits/s, and the payload delivered so far.
struct FlowMoment {
    std::uint64_t rate = 0;
    std::uint64_t delivered_bytes = 0;
};
// Adds a host's to those of all flows; returns the CNPs that it has sent.
std::uint64_t add_flows(const roce::Nic& nic, Time now, std::vector<FlowMoment>& flows);
// Flows of hosts at any switches; `world` has the flows, `hosts` have caught up.
nlohmann::ordered_json flows_json(const Config& world, const std::vector<const HostPort*>& hosts, Time now);

}  // namespace sluice
