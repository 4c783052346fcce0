#include "control/switch/running/simulated_hosts.hh"

#include <utility>

#include "dataplane/ports/device.hh"

namespace sluice {

tl::expected<std::unique_ptr<Port>, std::string> SimulatedHosts::open(const std::string& name,
                                                                      const PortConfig& port,
                                                                      rte_mempool* pool,
                                                                      const CaptureTimeline& timeline) {
    HostPortSpec& spec = specs_.at(name);
    spec.pool = pool;
    auto opened = std::make_unique<HostPort>(spec);
    if (const std::string file = parse_device(port.device).tx_pcap; !file.empty()) {
        auto output = CaptureOutput::create(file, timeline);
        if (!output) return tl::unexpected(output.error());
        opened->write_to(std::move(*output));
    }
    ports_[name] = opened.get();
    return opened;
}

void SimulatedHosts::configured(const Config& config, Time now) {
    for (auto& [name, was] : hosts_) {
        const HostConfig& host = config.hosts.at(name);
        HostPort& port = *ports_.at(host.port);
        port.catch_up_before(now);
        const Rate line = config.ports.at(host.port).speed;
        const auto reaction = reaction_parameters(host, line);
        if (reaction != reaction_parameters(was, line)) port.set_reaction(reaction);
        port.set_notification(host.echo_ce, host.ignore_cnp);
        if (host.drain != was.drain) port.set_drain(host.drain, now);
        was = host;
    }
}

HostPort* SimulatedHosts::find(const std::string& host, Time now) const {
    const auto found = hosts_.find(host);
    if (found == hosts_.end()) return nullptr;
    HostPort* port = ports_.at(found->second.port);
    port->catch_up(now);
    return port;
}

std::vector<const HostPort*> SimulatedHosts::all(Time now) const {
    std::vector<const HostPort*> all;
    all.reserve(hosts_.size());
    for (const auto& [name, host] : hosts_) {
        HostPort* port = ports_.at(host.port);
        port->catch_up(now);
        all.push_back(port);
    }
    return all;
}

}  // namespace sluice
