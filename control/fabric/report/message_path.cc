#include "control/fabric/report/message_path.hh"

#include <algorithm>
#include <array>
#include <optional>

#include "dataplane/path/way_on.hh"
#include "dataplane/run/switch.hh"
#include "lib/frame/parse.hh"

namespace sluice::fabric {
namespace {

LinkId link_at(const Topology& topology, NodeId node, std::string_view port) {
    const auto& links = topology.nodes[node].links;
    return *std::ranges::find_if(links, [&](LinkId id) {
        const Link& link = topology.links[id];
        return link.ends[link.end_at(node)].port == port;
    });
}

}  // namespace

MessagePath MessagePaths::of(NodeId from, const roce::MessageResult& result) {
    if (result.came < fabric_.moved() && fabric_.moved() <= result.ended)
        return {std::string(several_paths), {}};
    if (fabric_.host(from).nic().transfer_of(result.qp) != nullptr) return walk(from, result);
    if (known_since_ != fabric_.moved()) known_.clear();
    known_since_ = fabric_.moved();
    const auto [at, is_new] = known_.try_emplace({from, result.qp});
    if (is_new) at->second = walk(from, result);
    return at->second;
}

MessagePath MessagePaths::walk(NodeId from, const roce::MessageResult& result) const {
    const FabricPlan& plan = fabric_.plan();
    const Topology& topology = plan.topology;
    const roce::Nic& nic = fabric_.host(from).nic();
    std::array<std::uint8_t, roce::max_packet_bytes> frame{};
    const std::uint32_t bytes = roce::write_empty_request(nic.settings(), nic.flows()[result.flow],
                                                          result.peer, result.peer_qp, frame);
    const Parsed parsed = parse(std::span(frame).first(bytes), bytes, {nic.settings().gateway_mac});
    MessagePath path{topology.nodes[from].name, {}};
    bool several = false;
    LinkId link = topology.nodes[from].links.front();
    for (NodeId node = from; path.channels.size() < topology.nodes.size();) {
        const unsigned far = 1 - topology.links[link].end_at(node);
        const std::string& port = topology.links[link].ends[1 - far].port;
        const LinkEnd& there = topology.links[link].ends[far];
        const std::string& name = topology.nodes[there.node].name;
        path.channels.push_back(2 * link + far);
        path.text += ">" + (port.starts_with(name + "-") ? port : name);
        if (topology.nodes[there.node].is_host)
            return several ? MessagePath{std::string(several_paths), {}} : path;
        const FabricSwitch& at = fabric_.switches()[plan.switch_of[there.node]];
        const Switch& device = at.running->device();
        const auto way = way_on(device.policy(), device.shared(), at.ports->id_of(there.port), parsed,
                                frame.data() + parsed.l3_offset);
        if (!way) return {};
        several |= !way->by_hash;
        node = there.node;
        link = link_at(topology, node, at.running->port_names()[way->port]);
    }
    return {};  // a circle
}

}  // namespace sluice::fabric
