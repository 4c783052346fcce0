// Misconfigurations that the figures of simulated hosts show: of a host alone, and symptoms that it takes
// both ends of queue pairs to see: rates that rise too slowly for the links on their way, senders without
// congestion control, and data sent twice without a loss. Each names the key that mends it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "control/config/schema/host_config.hh"
#include "dataplane/peers/host_port.hh"

namespace sluice {

class RunningSwitch;

struct ReportedHost {
    std::string name;
    const HostConfig* config;
    const HostPort* port;  // has caught up
};

// A direction of a link: what it carried since the start.
struct LinkUse {
    Rate speed;
    std::uint64_t wire_bytes = 0;
};
// The link between two hosts with the greatest share of its speed in use.
using BusiestLink = std::function<LinkUse(const std::string& from, const std::string& to)>;
inline const LinkUse& busier(const LinkUse& a, const LinkUse& b) {
    const auto share = [](const LinkUse& use) {
        return static_cast<double>(use.wire_bytes) / static_cast<double>(use.speed.bits_per_second);
    };
    return share(a) < share(b) ? b : a;  // equal: a
}

// The symptoms of one host, a sentence each; `port` is its own and has caught up.
std::vector<std::string> host_symptoms(const RunningSwitch& running, const HostConfig& host,
                                       const HostPort& port);

// Sentences by the host that has the symptom. `hosts`: all that flows name.
std::map<std::string, std::vector<std::string>> transfer_symptoms(std::span<const ReportedHost> hosts,
                                                                  const BusiestLink& busiest);

}  // namespace sluice
