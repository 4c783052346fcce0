#include "control/page/report_shape.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/values.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

enum class Kind : std::uint8_t { inner, number, text, flag, flag_or_null };

struct Part {
    std::string_view path;  // *: each member of an object; #: each entry of a list; NAME?: may be missing
    Kind kind;
};

constexpr std::array of_verdict{Part{"verdict.lossless", Kind::flag_or_null},
                                Part{"verdict.lossless_packets", Kind::number},
                                Part{"verdict.lost_packets", Kind::number},
                                Part{"verdict.headline", Kind::text},
                                Part{"verdict.reasons.#", Kind::text},
                                Part{"verdict.interrupted", Kind::flag},
                                Part{"events.#.at_ns", Kind::number},
                                Part{"events.#.kind", Kind::text},
                                Part{"events.#.text", Kind::text},
                                Part{"end_ns", Kind::number}};

constexpr std::array of_switch{Part{"clock", Kind::text},
                               Part{"ledger.rx", Kind::number},
                               Part{"ledger.tx", Kind::number},
                               Part{"ledger.dropped", Kind::number},
                               Part{"ledger.queued", Kind::number},
                               Part{"ports.*.rx.bytes", Kind::number},
                               Part{"ports.*.tx.bytes", Kind::number},
                               Part{"ports.*.missed_packets", Kind::number},
                               Part{"ports.*.drops.*", Kind::number},
                               Part{"ports.*.lossless_drops.*", Kind::number},
                               Part{"ports.*.cnp_sent_packets", Kind::number},
                               Part{"ports.*.flaps", Kind::number},
                               Part{"ports.*.link_up", Kind::flag},
                               Part{"ports.*.pfc.rx_xoff.#", Kind::number},
                               Part{"ports.*.pfc.tx_xoff.#", Kind::number},
                               Part{"ports.*.pfc.rx_paused_ns.#", Kind::number},
                               Part{"ports.*.pfc.tx_paused_ns.#", Kind::number},
                               Part{"ports.*.queues.#.tx_packets", Kind::number},
                               Part{"ports.*.queues.#.dropped_packets", Kind::number},
                               Part{"ports.*.queues.#.ecn_marked_packets", Kind::number},
                               Part{"ports.*.queues.#.occupancy_bytes", Kind::number},
                               Part{"ports.*.queues.#.deepest_bytes", Kind::number},
                               Part{"ports.*.queues.#.latency_ns.p50", Kind::number},
                               Part{"ports.*.queues.#.latency_ns.p99", Kind::number},
                               Part{"ports.*.queues.#.latency_ns.max", Kind::number},
                               Part{"ports.*.priority_groups.#.lossless", Kind::flag},
                               Part{"ports.*.priority_groups.#.xoff", Kind::flag},
                               Part{"ports.*.priority_groups.#.xoff_transitions", Kind::number},
                               Part{"ports.*.priority_groups.#.shared_bytes", Kind::number},
                               Part{"ports.*.priority_groups.#.shared_watermark_bytes", Kind::number},
                               Part{"ports.*.priority_groups.#.headroom_watermark_bytes", Kind::number},
                               Part{"ports.*.priority_groups.#.headroom_size_bytes", Kind::number},
                               Part{"ports.*.priority_groups.#.headroom_overruns", Kind::number},
                               Part{"pools.*.shared_bytes", Kind::number},
                               Part{"pools.*.used_bytes", Kind::number},
                               Part{"pools.*.watermark_bytes", Kind::number},
                               Part{"pools.*.headroom_size_bytes", Kind::number},
                               Part{"pools.*.headroom_used_bytes", Kind::number},
                               Part{"watchdog.#.port", Kind::text},
                               Part{"watchdog.#.queue", Kind::number},
                               Part{"watchdog.#.state", Kind::text},
                               Part{"watchdog.#.action", Kind::text},
                               Part{"watchdog.#.detected", Kind::number},
                               Part{"watchdog.#.restored", Kind::number},
                               Part{"watchdog.#.total_dropped", Kind::number},
                               Part{"watchdog.#.total_passed", Kind::number},
                               Part{"ecmp.*.members.#.via", Kind::text},
                               Part{"ecmp.*.members.#.port", Kind::text},
                               Part{"ecmp.*.members.#.packets", Kind::number},
                               Part{"microbursts.#.port", Kind::text},
                               Part{"microbursts.#.queue", Kind::number},
                               Part{"microbursts.#.start_ns", Kind::number},
                               Part{"microbursts.#.length_ns", Kind::number},
                               Part{"microbursts.#.peak_bytes", Kind::number},
                               Part{"decisions.state", Kind::text},
                               Part{"decisions.why?.#.sentence", Kind::text}};

constexpr std::array of_fabric{Part{"fabric", Kind::text},
                               Part{"name", Kind::text},
                               Part{"ledger.sent", Kind::number},
                               Part{"ledger.delivered", Kind::number},
                               Part{"ledger.dropped", Kind::number},
                               Part{"ledger.queued", Kind::number},
                               Part{"ledger.on_wire", Kind::number},
                               Part{"flows.#.name", Kind::text},
                               Part{"flows.#.throughput_bps", Kind::number},
                               Part{"flows.#.messages", Kind::number},
                               Part{"flows.#.failed_messages", Kind::number},
                               Part{"flows.#.completion_ns.p50", Kind::number},
                               Part{"flows.#.completion_ns.p99", Kind::number},
                               Part{"flows.#.completion_ns.max", Kind::number},
                               Part{"flows.#.retransmitted_packets", Kind::number},
                               Part{"flows.#.cnp_received_packets", Kind::number},
                               Part{"flows.#.paused_ns", Kind::number},
                               Part{"links.*.speed_bps", Kind::number},
                               Part{"links.*.cut", Kind::flag},
                               Part{"links.*.directions.#.from", Kind::text},
                               Part{"links.*.directions.#.to", Kind::text},
                               Part{"links.*.directions.#.packets", Kind::number},
                               Part{"links.*.directions.#.bytes", Kind::number},
                               Part{"links.*.directions.#.paused_ns.*", Kind::number},
                               Part{"links.*.directions.#.lost_on_wire", Kind::number},
                               Part{"links.*.directions.#.lost_into_cut", Kind::number},
                               Part{"switches.*.tier", Kind::number},
                               Part{"switches.*.verdict.lossless", Kind::flag_or_null},
                               Part{"switches.*.verdict.lost_packets", Kind::number},
                               Part{"switches.*.ledger.rx", Kind::number},
                               Part{"switches.*.ledger.tx", Kind::number},
                               Part{"switches.*.ledger.dropped", Kind::number},
                               Part{"switches.*.ledger.queued", Kind::number}};

// The paths as a tree, a segment each; so deep goes what is read of a file.
struct Node {
    std::string_view segment;
    bool may_miss = false;
    Kind kind = Kind::inner;
    std::vector<Node> children;

    Node& child(std::string_view name) {
        const bool optional = name.ends_with('?');
        if (optional) name.remove_suffix(1);
        for (Node& known : children)
            if (known.segment == name) return known;
        return children.emplace_back(Node{name, optional, Kind::inner, {}});
    }
    void add(std::span<const Part> parts) {
        for (const Part& part : parts) {
            Node* node = this;
            for (std::string_view path = part.path; !path.empty();) {
                const std::size_t end = std::min(path.find('.'), path.size());
                node = &node->child(path.substr(0, end));
                path.remove_prefix(std::min(end + 1, path.size()));
            }
            node->kind = part.kind;
        }
    }
};

Node tree_of(std::span<const Part> parts) {
    Node root;
    root.add(of_verdict);
    root.add(parts);
    return root;
}

std::string_view kind_of(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    if (value.is_string()) return "a text";
    if (value.is_number()) return "a number";
    return value.is_boolean() ? "true or false" : "null";
}

using Taken = tl::expected<Json, std::string>;

tl::unexpected<std::string> wrong(const std::string& path, const Json& value, std::string_view wanted) {
    return tl::unexpected(
        fmt::format("{} is {}, not {}", path.empty() ? "it" : in_quotes(path, 120), kind_of(value), wanted));
}

Taken take_leaf(Kind kind, const Json& value, const std::string& path) {
    if (kind == Kind::number && !value.is_number()) return wrong(path, value, "a number");
    if (kind == Kind::text && !value.is_string()) return wrong(path, value, "a text");
    const bool is_flag = value.is_boolean() || (kind == Kind::flag_or_null && value.is_null());
    if ((kind == Kind::flag || kind == Kind::flag_or_null) && !is_flag)
        return wrong(path, value, "true or false");
    return value;
}

Taken take(const Node& node, const Json& from, const std::string& path) {
    if (node.kind != Kind::inner) return take_leaf(node.kind, from, path);
    const auto below = [&](std::string_view name) {
        return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    };
    const Node& first = node.children.front();
    const bool is_list = first.segment == "#";
    if (is_list ? !from.is_array() : !from.is_object())
        return wrong(path, from, is_list ? "a list" : "an object");
    Json made = is_list ? Json::array() : Json::object();
    if (is_list) {
        for (std::size_t n = 0; n < from.size(); ++n) {
            auto taken = take(first, from[n], below(std::to_string(n)));
            if (!taken) return taken;
            made.push_back(std::move(*taken));
        }
    } else if (first.segment == "*") {
        for (const auto& [name, value] : from.items()) {
            auto taken = take(first, value, below(name));
            if (!taken) return taken;
            made[name] = std::move(*taken);
        }
    } else {
        for (const Node& child : node.children) {
            const auto found = from.find(std::string(child.segment));
            if (found == from.end() && child.may_miss) continue;
            if (found == from.end())
                return tl::unexpected(in_quotes(below(child.segment), 120) + " is missing");
            auto taken = take(child, *found, below(child.segment));
            if (!taken) return taken;
            made[std::string(child.segment)] = std::move(*taken);
        }
    }
    return made;
}

}  // namespace

Taken switch_for_page(const Json& report) {
    static const Node tree = tree_of(of_switch);
    return take(tree, report, {});
}

Taken fabric_for_page(const Json& report) {
    static const Node tree = tree_of(of_fabric);
    auto fabric = take(tree, report, {});
    if (!fabric) return fabric;
    Json switches = Json::object();
    if (report.at("switches").empty()) return tl::unexpected(std::string("it has no switches"));
    for (const auto& [name, of] : report.at("switches").items()) {
        auto taken = switch_for_page(of);
        if (!taken) return tl::unexpected(fmt::format("switch {}: {}", in_quotes(name), taken.error()));
        switches[name] = std::move(*taken);
    }
    return Json{{"fabric", std::move(*fabric)}, {"switches", std::move(switches)}};
}

}  // namespace sluice
