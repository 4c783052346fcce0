// Routes and neighbors, the tables they go to, the kernel, and what is not for forwarding.
#include <fmt/format.h>

#include "control/config/schema_sections.hh"

namespace sluice::schema {

Rows<FibConfig> fib_rows() {
    using F = FibConfig;
    const auto tables = optional_or(integer<std::uint32_t>(256, 1U << 21), "auto");
    Rows<FibConfig> rows;
    rows.key("ipv4_tables", &F::ipv4_tables, tables,
             "Room for IPv4 prefixes longer than /24: a table for each /24 that has any, 2 KiB "
             "of memory each; \"auto\": 16384 and twice what the configuration takes.")
        .at_start();
    rows.key("ipv6_tables", &F::ipv6_tables, tables,
             "Room for IPv6 prefixes: a table for each /24, /32, /40 ... on the way to longer "
             "ones; \"auto\": 16384 and twice what the configuration takes.")
        .at_start();
    return rows;
}

Rows<PuntConfig> punt_rows() {
    const auto limits = [](const PuntLimit& fallback) {
        using L = PuntLimit;
        Rows<L> rows;
        rows.key("rate", &L::rate, integer<std::uint32_t>(0, 1'000'000),
                 "Packets a second of the class that control gets from a port; 0: none, they are dropped.",
                 std::to_string(fallback.rate));
        rows.key("burst", &L::burst, integer<std::uint32_t>(1, 4096), "As many of them may come at once.",
                 std::to_string(fallback.burst));
        return rows;
    };
    const PuntConfig defaults;
    Rows<PuntConfig> rows;
#define PUNT(name, rate, burst, sentence) \
    rows.nested(#name, &PuntConfig::name, limits(defaults.name), "Punt class: " sentence ".");
#include "lib/punt_classes.def"
#undef PUNT
    return rows;
}

Rows<KernelConfig> kernel_rows() {
    using K = KernelConfig;
    Rows<KernelConfig> rows;
    rows.key("routes", &K::routes, boolean(),
             "Routes, neighbors and addresses that the kernel has at the ports' interfaces are "
             "the switch's too, behind those of the configuration.")
        .at_start();
    rows.key("taps", &K::taps, optional_or(boolean(), "auto"),
             "A TAP, of the port's name, MAC and MTU, for each port that is no interface of the "
             "kernel: it gets what the port punts; \"auto\": with routes.")
        .at_start();
    rows.key("receive_buffer", &K::receive_buffer_bytes, size(4096, 1U << 30, "8MB"),
             "Notice of the kernel that may wait to be read; beyond it all is asked for anew.")
        .at_start();
    return rows;
}

Rows<NeighborConfig> neighbor_rows() {
    using N = NeighborConfig;
    Rows<NeighborConfig> rows;
    rows.required("address", &N::address, address(), "The neighbor's IP address.");
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
    rows.required(
        "via", &R::via, next_hops(),
        fmt::format("Neighbors that share the traffic, by weight ({} to {}); \"blackhole\" drops it.",
                    min_hop_weight, max_hop_weight));
    return rows;
}

}  // namespace sluice::schema
