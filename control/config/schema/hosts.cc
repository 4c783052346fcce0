#include "control/config/schema/hosts.hh"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sluice {
namespace {

MacAddress made_mac(std::size_t index) {
    return {{0x02, 0x53, 0x4C, 0x01, static_cast<std::uint8_t>(index >> 8),
             static_cast<std::uint8_t>(index & 0xFF)}};
}

bool may_have_neighbor(const Config& config, const HostConfig& host) {
    const auto port = config.ports.find(host.port);
    return port != config.ports.end() && !is_on_wire(config, host.port) &&
           std::none_of(port->second.address.begin(), port->second.address.end(),
                        [&](const IpPrefix& own) { return own.address == host.address; });
}

std::string ends_text(const std::vector<std::string>& names) {
    return names.size() == 1 ? names.front() : fmt::format("{}..{}", names.front(), names.back());
}

}  // namespace

MacAddress host_mac(const Config& config, std::string_view name) {
    const auto host = config.hosts.find(name);
    if (host->second.mac) return *host->second.mac;
    return made_mac(static_cast<std::size_t>(std::distance(config.hosts.begin(), host)));
}

std::vector<NeighborConfig> host_neighbors(const Config& config) {
    std::vector<NeighborConfig> neighbors;
    std::size_t index = 0;
    for (const auto& [name, host] : config.hosts) {
        const MacAddress mac = host.mac.value_or(made_mac(index));
        ++index;
        if (may_have_neighbor(config, host))
            neighbors.push_back({host.address, host.port, mac, {}, host.place});
    }
    return neighbors;
}

void add_host_neighbors(Config& config) {
    for (NeighborConfig& neighbor : host_neighbors(config))
        if (!config.neighbors->contains(neighbor.address)) add(config, std::move(neighbor));
}

void remove_host_neighbors(Config& config) {
    for (const NeighborConfig& neighbor : host_neighbors(config)) {
        const auto there = config.neighbors->equal_range(neighbor.address);
        if (std::distance(there.first, there.second) != 1 || !(*there.first == neighbor)) continue;
        NeighborSet& neighbors = config.neighbors.change();
        neighbors.erase(neighbors.find(neighbor.address));
    }
}

void renew_host_neighbors(Config& config, const Config& from) {
    if (host_neighbors(config) == host_neighbors(from)) return;
    Config old = from;
    old.neighbors = config.neighbors;
    remove_host_neighbors(old);
    config.neighbors = old.neighbors;
    add_host_neighbors(config);
}

std::vector<std::string> flow_names(const Config& config) {
    std::set<std::string> taken;
    for (const FlowConfig& flow : config.flows) taken.insert(flow.name);
    std::vector<std::string> names;
    for (const FlowConfig& flow : config.flows) {
        std::string name = flow.name;
        if (name.empty()) {
            const std::string made = fmt::format("{}-{}", ends_text(flow.from), ends_text(flow.to));
            name = made;
            for (unsigned n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}-{}", made, n);
        }
        names.push_back(std::move(name));
    }
    return names;
}

std::string endless_flow(const Config& config) {
    const auto endless = [](const FlowConfig& flow) { return !flow.stop && flow.messages == 0; };
    const auto found = std::find_if(config.flows.begin(), config.flows.end(), endless);
    if (found == config.flows.end()) return {};
    return flow_names(config)[static_cast<std::size_t>(found - config.flows.begin())];
}

std::size_t queue_pairs_of(const Config& config, std::string_view host) {
    const auto times = [&](const std::vector<std::string>& names) {
        return static_cast<std::size_t>(std::count(names.begin(), names.end(), host));
    };
    std::size_t count = 0;
    for (const FlowConfig& flow : config.flows)
        count += flow.qps * (times(flow.from) * FlowConfig::others(flow.to, host) +
                             times(flow.to) * FlowConfig::others(flow.from, host));
    return count;
}

// IP header, UDP, BTH, RETH (the longest that a READ, SEND or WRITE has) and ICRC.
std::uint32_t longest_ip_bytes(const HostConfig& host) {
    return host.mtu + (host.address.is_v6 ? 40 : 20) + 8 + 12 + 16 + 4;
}

}  // namespace sluice
