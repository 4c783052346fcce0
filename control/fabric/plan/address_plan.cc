#include <algorithm>
#include <bit>

#include "control/fabric/plan/fabric_plan.hh"
#include "lib/values/endian.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint32_t hosts_from = 10U << 24;
constexpr std::uint32_t cables_from = 172U << 24 | 16U << 16;

IpAddress to_address(std::uint32_t address) {
    IpAddress made;
    store_be(made.bytes.data(), address);
    return made;
}

}  // namespace

AddressPlan::AddressPlan(const Topology& topology)
    : pairs_(topology.links.size()), macs_(topology.links.size()) {
    std::size_t most = 1;
    std::vector<std::vector<LinkId>> of_leaf(topology.nodes.size());
    std::uint32_t next_pair = 0;
    for (LinkId id = 0; id < topology.links.size(); ++id) {
        const auto& ends = topology.links[id].ends;
        for (unsigned end = 0; end < 2; ++end) {
            const bool host = topology.nodes[ends[end].node].is_host;
            macs_[id][end] = {{0x02, static_cast<std::uint8_t>(host ? 0x48 : 0x53),
                               static_cast<std::uint8_t>(end), static_cast<std::uint8_t>(id >> 16),
                               static_cast<std::uint8_t>(id >> 8), static_cast<std::uint8_t>(id)}};
            if (host) of_leaf[ends[1 - end].node].push_back(id);
        }
        if (!topology.joins_switches(topology.links[id])) continue;
        pairs_[id] = {to_address(cables_from + next_pair), to_address(cables_from + next_pair + 1)};
        next_pair += 2;
    }
    for (const auto& links : of_leaf) most = std::max(most, links.size());
    const auto room = static_cast<std::uint32_t>(std::bit_ceil(2 * most));
    // Octets that people can read: a /24 for each leaf unless it needs more.
    const std::uint32_t step = std::max(room, 256U);
    std::uint32_t at = hosts_from;
    for (NodeId node = 0; node < topology.nodes.size(); ++node) {
        if (of_leaf[node].empty()) continue;
        at += step;
        leaves_.push_back({node, {to_address(at), static_cast<std::uint8_t>(32 - std::countr_zero(step))}});
        std::uint32_t own = at;
        for (const LinkId id : of_leaf[node]) {
            const unsigned here = topology.links[id].end_at(node);
            pairs_[id][here] = to_address(own++);
            pairs_[id][1 - here] = to_address(own++);
        }
    }
}

}  // namespace sluice::fabric
