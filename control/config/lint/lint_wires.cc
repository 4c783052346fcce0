// Wires: two existing ports, on no other wire and without routing, and rules that can work.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice::lint {
namespace {

void check_port(const std::string& name, const WireConfig& wire, const std::string& port,
                const Config& config, Findings& findings) {
    const auto found = config.ports.find(port);
    if (found == config.ports.end()) {
        const auto host = config.hosts.find(port);
        const std::string near =
            host != config.hosts.end() ? host->second.port : nearest_key(port, config.ports);
        findings.error(
            "wire-port", wire_path(name, "ports"),
            host != config.hosts.end()
                ? fmt::format("{} is a host, behind port {}", in_quotes(port), host->second.port)
                : fmt::format("there is no port {}", in_quotes(port)),
            near.empty() ? fmt::format("add [port.{}]", config_key(port)) : fmt::format("write \"{}\"", near),
            wire.place);
        return;
    }
    const PortConfig& end = found->second;
    const auto refuse = [&](std::string_view key, std::string wrong, std::string fix) {
        findings.error("wire-routed", port_path(port, key), std::move(wrong), std::move(fix), end.place);
    };
    if (!end.address.empty())
        refuse("address", fmt::format("the port is an end of wire {}: nothing is routed to it", name),
               "leave address out, or take the port off the wire");
    if (end.responder || end.proxy_arp)
        refuse(end.responder ? "responder" : "proxy_arp",
               fmt::format("the port is an end of wire {}, which answers nothing", name), "leave it out");
    if (end.rx_queues > 1)
        findings.error("wire-queues", port_path(port, "rx_queues"),
                       fmt::format("an end of wire {} has one receive queue: frames keep their order", name),
                       "write rx_queues = 1", end.place);
}

void check_wired_neighbors(const Config& config, Findings& findings) {
    if (config.wires.empty()) return;
    for (const NeighborConfig& neighbor : *config.neighbors)
        if (is_on_wire(config, neighbor.port))
            findings.error("wire-routed", fmt::format("neighbor {}", print_address(neighbor.address)),
                           fmt::format("port {} is an end of a wire: nothing is routed to it", neighbor.port),
                           "leave the neighbor out, and routes by it", neighbor.place);
}

// A host on a wire reaches only the host at its other end.
void check_wired_flows(const Config& config, Findings& findings) {
    if (config.wires.empty()) return;
    for (const FlowConfig& flow : config.flows)
        for (const std::string& from : flow.from)
            for (const std::string& to : flow.to) {
                if (from == to) continue;
                const auto sender = config.hosts.find(from), receiver = config.hosts.find(to);
                if (sender == config.hosts.end() || receiver == config.hosts.end()) continue;
                const std::string peer = wire_peer(config, sender->second.port);
                const bool meets = peer.empty() ? wire_peer(config, receiver->second.port).empty()
                                                : peer == receiver->second.port;
                if (!meets)
                    findings.error(
                        "wire-flow", fmt::format("flow {}", flow.name.empty() ? from : flow.name),
                        fmt::format("a wire leads to its other end alone: {} and {} do not meet", from, to),
                        "name the hosts at the two ends of one wire", flow.place);
            }
}

void check_rule(const std::string& wire, const std::string& name, const ImpairConfig& rule,
                Findings& findings) {
    const auto error = [&](std::string_view key, std::string wrong, std::string fix) {
        findings.error("wire-rule", impair_path(wire, name, key), std::move(wrong), std::move(fix),
                       rule.place);
    };
    const auto only = [&](bool belongs, bool is_said, std::string_view key, std::string_view action) {
        if (is_said && !belongs)
            error(key, fmt::format("it is of {}, and do is \"{}\"", action, to_string(rule.action)),
                  "leave it out");
    };
    const FaultAction action = rule.action;
    const bool holds = action == FaultAction::delay || action == FaultAction::reorder;
    if (action == FaultAction::delay && !rule.time)
        error("time", "a delay has no time", "write time = \"10us\"");
    only(holds, rule.time.has_value(), "time", "delay or reorder");
    only(action == FaultAction::reorder, rule.frames.has_value(), "frames", "reorder");
    only(action == FaultAction::cnp, rule.sender_qp.has_value(), "sender_qp", "cnp");
    only(action == FaultAction::cnp, rule.cnp_dscp.has_value(), "cnp_dscp", "cnp");
    const ImpairMatchConfig& match = rule.match;
    if (match.probability == Chance{} && match.every == 0 && match.nth == 0)
        error("match.probability", "it takes no frame", "write a chance above 0%, or leave it out");
    if (action == FaultAction::cnp && match.opcode == cnp_opcode)
        error("match.opcode", "no CNP answers a CNP", "write another opcode, or leave it out");
}

}  // namespace

void check_wires(const Config& config, Findings& findings) {
    std::map<std::string_view, std::string_view> wire_of;
    for (const auto& [name, wire] : config.wires) {
        if (wire.ports.size() != 2)
            findings.error("wire-port", wire_path(name, "ports"),
                           fmt::format("a wire joins two ports, not {}", wire.ports.size()),
                           "write ports = [\"p1\", \"p2\"]", wire.place);
        for (const std::string& port : wire.ports) {
            check_port(name, wire, port, config, findings);
            if (const auto [owner, is_new] = wire_of.emplace(port, name); !is_new)
                findings.error("wire-twice", wire_path(name, "ports"),
                               fmt::format("port {} is an end of wire {} already", port, owner->second),
                               "give each wire its own ports", wire.place);
        }
        for (const auto& [rule, said] : wire.impair) check_rule(name, rule, said, findings);
    }
    check_wired_neighbors(config, findings);
    check_wired_flows(config, findings);
}

}  // namespace sluice::lint
