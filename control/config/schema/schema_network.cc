// Routes and neighbors, the tables they go to, the kernel, and what is not for forwarding.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/schema_sections.hh"

namespace sluice::schema {
namespace {

Type<LoadBalance> load_balance_mode() {
    using L = LoadBalance;
    return word_of<L>({L::hash, L::flowlet, L::adaptive, L::packet});
}

Type<std::optional<LoadBalance>> mode_or(std::string absent) {
    return optional_or(load_balance_mode(), std::move(absent));
}

// Reads a next hop of a route: a string, or {address = ..., port = ..., weight = ...}.
bool read_next_hop(const toml::node& node, Context& context, NextHopConfig& hop) {
    static const Type<IpAddress> address_type = address();
    static const Type<std::uint32_t> weight_type = integer<std::uint32_t>(min_hop_weight, max_hop_weight);
    static const Type<std::string> port_type = name("a port's name");
    const toml::table* table = node.as_table();
    if (table == nullptr) return address_type.read(node, context, hop.address);
    bool good = true, has_address = false;
    for (const auto& [key, value] : *table) {
        const Context::Inside inside(context, key.str());
        if (key.str() == "address") {
            has_address = true;
            good &= address_type.read(value, context, hop.address);
        } else if (key.str() == "port") {
            good &= port_type.read(value, context, hop.port);
        } else if (key.str() == "weight") {
            good &= weight_type.read(value, context, hop.weight);
        } else {
            good = context.refuse(key.source(), in_quotes(key.str()) + " is not a key of a next hop",
                                  "address, port, weight", "correct its name or leave it out");
        }
    }
    return has_address
               ? good
               : context.refuse(node.source(), "a next hop without an address", "address, port, weight",
                                R"(write for example {address = "10.0.1.2", weight = 2})");
}

Type<NextHops> next_hops() {
    Type<NextHops> type;
    type.name = "next hops";
    type.allowed = fmt::format(
        "\"blackhole\", one address, or a list of 1 to {}, each an address or {{address, port, weight}}",
        max_route_hops);
    type.example = R"(["10.0.1.2"])";
    type.read = [self = type](const toml::node& node, Context& context, NextHops& out) {
        out.clear();
        if (const auto* string = node.as_string(); string != nullptr && string->get() == "blackhole")
            return true;
        if (node.is_string() || node.is_table()) return read_next_hop(node, context, out.emplace_back());
        const toml::array* array = node.as_array();
        if (array == nullptr) return self.refuse(node, context, "is not a list of next hops");
        if (array->empty())
            return self.refuse(node, context, "is empty", "write via = \"blackhole\" to drop what matches");
        if (array->size() > max_route_hops)
            return self.refuse(node, context, fmt::format("has {} next hops", array->size()));
        bool good = true;
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Context::Inside inside(context, i);
            good &= read_next_hop((*array)[i], context, out.emplace_back());
        }
        std::sort(out.begin(), out.end());
        return good;
    };
    type.print = [](const NextHops& hops, const NextHops*) -> std::string {
        if (hops.empty()) return "\"blackhole\"";
        std::string out;
        for (const NextHopConfig& hop : hops) {
            std::string text = toml_string(print_address(hop.address));
            std::string keys;
            if (!hop.port.empty()) keys += fmt::format(", port = {}", toml_string(hop.port));
            if (hop.weight != 1) keys += fmt::format(", weight = {}", hop.weight);
            if (!keys.empty()) text = fmt::format("{{address = {}{}}}", text, keys);
            append_item(out, ", ", text);
        }
        return fmt::format("[{}]", out);
    };
    return type;
}

}  // namespace

Rows<FibConfig> fib_rows() {
    using F = FibConfig;
    const auto tables = optional_or(integer<std::uint32_t>(256, 1U << 21), "auto");
    Rows<FibConfig> rows;
    rows.start_key("ipv4_tables", &F::ipv4_tables, tables,
                   "Tables for IPv4 prefixes longer than /24, one for each /24 that has any, 2 KiB each; "
                   "\"auto\": 16384 and twice the configuration's.");
    rows.start_key("ipv6_tables", &F::ipv6_tables, tables,
                   "Tables for IPv6 prefixes, one for each /24, /32, /40 ... on the way to longer ones; "
                   "\"auto\": 16384 and twice the configuration's.");
    return rows;
}

Rows<PuntConfig> punt_rows() {
    const auto limits = [](const PuntLimit& fallback) {
        using L = PuntLimit;
        Rows<L> rows;
        rows.key("rate", &L::rate, integer<std::uint32_t>(0, 1'000'000),
                 "Packets a second of the class from a port to control; 0: none, they are dropped.",
                 std::to_string(fallback.rate));
        rows.key("burst", &L::burst, integer<std::uint32_t>(1, 4096), "As many of them may come at once.",
                 std::to_string(fallback.burst));
        return rows;
    };
    const PuntConfig defaults;
    Rows<PuntConfig> rows;
#define PUNT(name, rate, burst, sentence) \
    rows.nested(#name, &PuntConfig::name, limits(defaults.name), "Punt class: " sentence ".");
#include "lib/punt/punt_classes.def"
#undef PUNT
    return rows;
}

Rows<KernelConfig> kernel_rows() {
    using K = KernelConfig;
    Rows<KernelConfig> rows;
    rows.start_key("routes", &K::routes, boolean(),
                   "Use the routes, neighbors and addresses of the kernel at the ports' interfaces, behind "
                   "those of the configuration.");
    rows.start_key("taps", &K::taps, optional_or(boolean(), "auto"),
                   "A TAP with the port's name, MAC and MTU for each port that is not an interface of the "
                   "kernel; it gets the punted frames; \"auto\": as routes.");
    rows.start_key("receive_buffer", &K::receive_buffer_bytes, size(4096, 1U << 30, "8MB"),
                   "Buffer for the kernel's notices; after an overrun everything is asked for again.");
    return rows;
}

Rows<NeighborConfig> neighbor_rows() {
    using N = NeighborConfig;
    Rows<NeighborConfig> rows;
    rows.required("address", &N::address, address(),
                  "The neighbor's IP address; another port may have a neighbor with the same.");
    rows.required("port", &N::port, name("a port's name"), "The port behind which it is.");
    rows.required("mac", &N::mac, mac(), "Its MAC address.");
    rows.key("vlan", &N::vlan, optional_or(integer<std::uint16_t>(1, 4094), "none"),
             "VLAN whose tag its frames get; \"none\": untagged.");
    return rows;
}

Rows<RouteConfig> route_rows() {
    using R = RouteConfig;
    Rows<RouteConfig> rows;
    rows.required("prefix", &R::prefix, network(), "Destinations that the route is for.");
    rows.required("via", &R::via, next_hops(),
                  fmt::format("Neighbors that share the traffic, by weight ({} to {}); \"blackhole\" drops "
                              "it. A next hop without a port is every neighbor of that address.",
                              min_hop_weight, max_hop_weight));
    rows.key("load_balance", &R::load_balance, mode_or("default"),
             "How its packets choose among them; \"default\": as [load_balance] has it.");
    return rows;
}

Rows<LoadBalanceConfig> load_balance_rows() {
    using L = LoadBalanceConfig;
    using S = BalanceSettings;
    constexpr unsigned max_margin = LinkQuality::stopped;
    Rows<LoadBalanceConfig> rows;
    rows.key("mode", &L::mode, load_balance_mode(),
             "How packets choose among the next hops of a group. hash: by flow. flowlet: a flow may move "
             "after a gap. adaptive: also without a gap, to a better path. packet: each packet for itself.");
    rows.key("classes", &L::classes, list_of(class_id(), classes),
             "Traffic classes with this mode; others use the hash; empty: all.");
    rows.key("rc", &L::rc, mode_or("mode"), "Of RoCEv2 packets of RC queue pairs; \"mode\": as mode has it.");
    rows.key("uc", &L::uc, mode_or("mode"), "Likewise of UC.");
    rows.key("rd", &L::rd, mode_or("mode"), "Likewise of RD.");
    rows.key("ud", &L::ud, mode_or("mode"), "Likewise of UD.");
    rows.key("other", &L::other, mode_or("mode"), "Likewise of other RoCEv2 packets, CNPs among them.");
    rows.key("not_roce", &L::not_roce, mode_or("mode"), "Likewise of packets that are not RoCEv2.");
    rows.start_key("flowlets", &L::flowlets, integer<std::uint32_t>(64, 65536),
                   "Entries of each receive queue's flowlet table, rounded up to a power of two; colliding "
                   "flows share one.");
    rows.key("flowlet_gap", &L::settings, &S::gap, time(nanoseconds(100), seconds(1), "100us"),
             "Time without a packet after which a flowlet has ended.");
    rows.key("move_interval", &L::settings, &S::move_interval, time({}, seconds(10), "1ms"),
             "Adaptive: a flow is moved at most once in this time.");
    rows.key("move_margin", &L::settings, &S::margin, integer<std::uint8_t>(1, max_margin),
             "Adaptive: by how many bands the other path must be better.");
    rows.key("load_interval", &L::scale, &LoadScale::interval,
             time(nanoseconds(100), milliseconds(10), "20us"),
             "Period in which an eighth of a port's load decays; the load has eight bands.");
    rows.key("queue_unit", &L::scale, &LoadScale::queue_unit, time(nanoseconds(10), milliseconds(10), "1us"),
             "A queue that drains in less is in band 0; each further band is twice as long.");
    return rows;
}

}  // namespace sluice::schema
