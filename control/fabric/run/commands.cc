#include "control/fabric/run/commands.hh"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tl/expected.hpp>
#include <variant>

#include "control/config/schema/command_words.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/serve/server/api.hh"

namespace sluice::fabric {
namespace {

struct SetLink {
    LinkId link;
    bool up;
};
struct SetSwitch {
    NodeId node;
    bool up;
};
// A command of sluiced's.
struct AtSwitch {
    std::size_t index;
    std::string command;
};
// Faults on frames that come in at a port, or that leave it for a host.
struct SetFaults {
    struct One {
        std::size_t index;  // of the switch
        std::string port;
        std::string key;  // empty: all, to what they are by default
        std::string value;
        bool to_host;
    };
    std::vector<One> all;
};
using FabricCommand = std::variant<SetLink, SetSwitch, AtSwitch, SetFaults>;
using Parsed = tl::expected<FabricCommand, std::string>;

tl::unexpected<std::string> unknown(std::string_view what, const std::string& name,
                                    const std::vector<std::string>& known) {
    const std::string near = nearest_name(name, known);
    return tl::unexpected(fmt::format("there is no {} {}{}", what, in_quotes(name),
                                      near.empty() ? std::string() : fmt::format("; do: write {}", near)));
}

tl::expected<LinkId, std::string> link_of(const FabricPlan& plan, const std::string& name) {
    std::vector<std::string> known;
    for (LinkId id = 0; id < plan.topology.links.size(); ++id) {
        if (plan.topology.links[id].name == name) return id;
        known.push_back(plan.topology.links[id].name);
    }
    return unknown("link", name, known);
}

tl::expected<NodeId, std::string> node_of(const FabricPlan& plan, const std::string& name, bool host) {
    const auto found = plan.nodes.find(name);
    if (found != plan.nodes.end() && plan.topology.nodes[found->second].is_host == host) return found->second;
    return unknown(host ? "host" : "switch", name, plan.topology.names(host));
}

// The faults of frames to a host are at its switch, as those of frames that it sends.
constexpr std::array<std::string_view, 6> to_host_keys{"drop_every",       "drop_chance", "corrupt_chance",
                                                       "duplicate_chance", "delay",       "ber"};

Parsed parse_fault(const FabricPlan& plan, LinkId link, const std::vector<std::string>& words) {
    std::size_t at = 2;
    std::optional<NodeId> to;
    const auto& ends = plan.topology.links[link].ends;
    if (words.size() > 3 && words[2] == "to") {
        const auto found = plan.nodes.find(words[3]);
        if (found == plan.nodes.end())
            return tl::unexpected(fmt::format("there is no node {}", in_quotes(words[3])));
        to = found->second;
        if (ends[0].node != *to && ends[1].node != *to)
            return tl::unexpected(fmt::format("{} is at no end of {}", in_quotes(words[3]), words[1]));
        at = 4;
    }
    const bool clear = words.size() == at + 1 && words[at] == "clear";
    if (words.size() < at + 2 && !clear)
        return tl::unexpected(std::string("wants: link NAME [to NODE] KEY VALUE, or clear in place of both"));
    SetFaults faults;
    for (unsigned n = 0; n < 2; ++n) {
        const Node& node = plan.topology.nodes[ends[n].node];
        if (to && *to != ends[n].node) continue;
        SetFaults::One one{plan.switch_of[ends[n].node],
                           ends[n].port,
                           {},
                           joined(std::span(words).subspan(at + 1), " "),
                           false};
        if (!clear) one.key = words[at];
        if (node.is_host) {
            const bool known = std::ranges::find(to_host_keys, one.key) != to_host_keys.end();
            if (!clear && !known && !to) continue;
            if (!clear && !known)
                return tl::unexpected(fmt::format("{} is not a fault of frames to a host; known: {}",
                                                  in_quotes(one.key), fmt::join(to_host_keys, ", ")));
            one.port = ends[1 - n].port;
            one.to_host = true;
            if (!clear) one.key = "tx_" + one.key;
        }
        faults.all.push_back(std::move(one));
    }
    return faults;
}

// An error's text, or empty.
std::string change(FaultSettings& settings, const SetFaults::One& one) {
    if (!one.key.empty()) return set_fault(settings, one.key, one.value);
    const FrameFaults sent = one.to_host ? FrameFaults{} : settings.sent;
    if (!one.to_host) settings = {};
    settings.sent = sent;
    return {};
}

Parsed parse(const FabricPlan& plan, std::string_view text) {
    const Words words = split_words(text);
    if (words.size() < 2)
        return tl::unexpected(std::string("a command has at least two words, as: link NAME down"));
    const bool up = words.back() == "up", down = words.back() == "down";
    if (words[0] == "link") {
        const auto link = link_of(plan, words[1]);
        if (!link) return tl::unexpected(link.error());
        if (words.size() == 3 && (up || down)) return SetLink{*link, up};
        return parse_fault(plan, *link, words);
    }
    if (words[0] == "switch") {
        const auto node = node_of(plan, words[1], false);
        if (!node) return tl::unexpected(node.error());
        if (words.size() != 3 || (!up && !down))
            return tl::unexpected(std::string("wants: switch NAME up|down"));
        return SetSwitch{*node, up};
    }
    if (words[0] == "host") {
        const auto node = node_of(plan, words[1], true);
        if (!node) return tl::unexpected(node.error());
        if (words.size() != 4) return tl::unexpected(std::string("wants: host NAME KEY VALUE"));
        return AtSwitch{plan.switch_of[*node],
                        fmt::format("set host.{}.{} {}", config_key(words[1]), words[2], words[3])};
    }
    if (words[0].ends_with(':')) {
        const auto node = node_of(plan, words[0].substr(0, words[0].size() - 1), false);
        if (!node) return tl::unexpected(node.error());
        return AtSwitch{plan.switch_of[*node], joined(std::span(words).subspan(1), " ")};
    }
    return tl::unexpected(
        fmt::format("{} is not a command; do: write link, switch, host, or a switch's name and a colon",
                    in_quotes(words[0])));
}

}  // namespace

std::string check_command(const FabricPlan& plan, std::string_view text) {
    const auto command = parse(plan, text);
    if (!command) return command.error();
    if (const auto* faults = std::get_if<SetFaults>(&*command))
        for (const SetFaults::One& one : faults->all) {
            FaultSettings tried;
            if (std::string error = change(tried, one); !error.empty()) return error;
        }
    if (const auto* at = std::get_if<AtSwitch>(&*command))
        return sluice::check_command(plan.switches[at->index].config, at->command);
    return {};
}

std::string run_command(Fabric& fabric, std::string_view text) {
    const auto command = parse(fabric.plan(), text);
    if (!command) return command.error();
    if (const auto* link = std::get_if<SetLink>(&*command)) return fabric.set_link(link->link, link->up);
    if (const auto* node = std::get_if<SetSwitch>(&*command)) return fabric.set_switch(node->node, node->up);
    if (const auto* faults = std::get_if<SetFaults>(&*command)) {
        for (const SetFaults::One& one : faults->all) {
            RunningSwitch& running = *fabric.switches()[one.index].running;
            FaultSettings settings = running.config().ports.at(one.port).fault;
            if (std::string error = change(settings, one); !error.empty()) return error;
            running.set_fault(one.port, settings, one.key.empty() ? "clear" : one.key + " " + one.value);
        }
        return {};
    }
    const auto& [index, own] = std::get<AtSwitch>(*command);
    fabric.move();
    if (const std::string error = sluice::run_command(*fabric.switches()[index].api, own); !error.empty())
        return fmt::format("{}: {}", fabric.plan().switches[index].name, error);
    fabric.follow_ports();
    return {};
}

void schedule_events(Fabric& fabric) {
    for (const EventConfig& event : fabric.plan().file.events)
        fabric.loop().actions().at(Time{} + event.at, [&fabric, &event] {
            if (const std::string error = run_command(fabric, event.command); !error.empty())
                fabric.note("command_failed", event.command + ": " + error);
        });
}

}  // namespace sluice::fabric
