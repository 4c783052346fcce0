// What `nv set qos roce` stands for, by the tables of NVIDIA's documentation of RoCE in Cumulus Linux: trust
// of PCP and DSCP, a class for every eight DSCPs, RoCE in class and queue 3, CNPs in 6, strict, the rest in
// queue 0; half of the buffer lossless; ECN, without RED, of queues 0 and 3 from 150 000 to 1 500 000 bytes.
#include <fmt/format.h>

#include "control/config/schema/values.hh"
#include "tools/import/cumulus.hh"

namespace sluice::import {
namespace {

constexpr std::uint8_t half = 50;
constexpr std::uint32_t roce_cable_m = 100;
const std::string map_name = "default-global";
constexpr WredCurveConfig usual_curve{150'000, 1'500'000, Chance::percent(100)};

void add_wred(Cumulus& in, const std::string& name, const WredCurveConfig& curve) {
    WredConfig& profile = in.config().wred[name];
    profile.green = curve;
    profile.drop_non_ect = false;  // red: disable
}

void add_pool(Cumulus& in, const char* name, PoolDirection direction, unsigned per_cent) {
    in.config().pools[name] = {direction, in.buffer_bytes / 100 * per_cent, 0};
}

MapConfig map_of(bool all_queues) {
    MapConfig map;
    for (unsigned dscp = 0; dscp < 64; ++dscp) map.dscp_to_tc[dscp] = static_cast<ClassId>(dscp / 8);
    for (unsigned n = 0; n < classes; ++n) {
        map.pcp_to_tc[n] = static_cast<ClassId>(n);
        map.tc_to_queue[n] = static_cast<ClassId>(all_queues || n == 3 || n == 6 ? n : 0);
        map.tc_to_priority_group[n] = 0;
        map.pfc_priority_to_queue[n] = map.tc_to_queue[n];
    }
    map.roce_tc.reset();
    map.cnp_tc.reset();  // by their DSCP
    return map;
}

void each_queue(Cumulus& in, const std::array<std::uint8_t, classes>& weights) {
    for (auto& [name, port] : in.config().ports)
        for (unsigned n = 0; n < classes; ++n) {
            port.queue[n].scheduler = weights[n] == 0 ? QueueScheduler::strict : QueueScheduler::dwrr;
            if (weights[n] != 0) port.queue[n].weight = weights[n];
            port.queue[n].wred = "none";
        }
}

unsigned percent_of(Cumulus& in, const char* pool, unsigned otherwise) {
    const Item* node = Cumulus::at(in.set, {"qos", "traffic-pool", pool, "memory-percent"});
    if (node == nullptr) return otherwise;
    const auto value = parse_integer(Cumulus::value(node));
    if (!value || *value > 100) {
        in.account().wrong(*node, in_quotes(Cumulus::value(node)) + " is not a number from 0 to 100");
        return otherwise;
    }
    in.account().taken(*node, fmt::format("{} % of the buffer", *value));
    return static_cast<unsigned>(*value);
}

void lossless_pools(Cumulus& in, bool single) {
    const unsigned lossless = percent_of(in, "roce-lossless", half);
    const unsigned lossy = percent_of(in, "default-lossy", single ? 100U : 100U - lossless);
    add_pool(in, "lossy-default-ingress", PoolDirection::ingress, single ? 100 : lossy);
    if (!single) add_pool(in, "roce-reserved-ingress", PoolDirection::ingress, lossless);
    add_pool(in, "lossy-default-egress", PoolDirection::egress, single ? 100 : lossy);
    add_pool(in, "roce-reserved-egress", PoolDirection::egress, 100);
    for (auto& [name, port] : in.config().ports)
        for (unsigned n = 0; n < classes; ++n) {
            port.priority_group[n].pool =
                n == 3 && !single ? "roce-reserved-ingress" : "lossy-default-ingress";
            port.queue[n].pool = n == 3 ? "roce-reserved-egress" : "lossy-default-egress";
        }
    in.account().assumed(
        "set.qos.traffic-pool",
        fmt::format("lossy {} %, lossless {} % of {}; reserves, thresholds and the headroom by "
                    "cable and speed as Sluice has them",
                    lossy, single ? 100 : lossless, print_size(in.buffer_bytes)));
}

void take_cable(Cumulus& in, const Item* roce) {
    const Item* node = Cumulus::at(roce, {"cable-length"});
    std::uint32_t meters = roce_cable_m;
    if (node != nullptr) {
        const auto value = parse_integer(Cumulus::value(node));
        if (!value || *value > 100'000)
            return in.account().wrong(
                *node, in_quotes(Cumulus::value(node)) + " is not a length from 0 to 100000 meters");
        meters = static_cast<std::uint32_t>(*value);
        in.account().taken(*node, fmt::format("cable = \"{}m\" at each port", meters));
    } else {
        in.account().assumed("set.qos.roce.cable-length", fmt::format("{} m, NVUE's default", meters));
    }
    for (auto& [name, port] : in.config().ports) port.cable_m = meters;
}

// Three lossy classes of RoCE with packet trimming.
void take_multi_class(Cumulus& in) {
    MapConfig map = map_of(true);
    map.dscp_to_tc.fill(0);
    for (const unsigned dscp : {1U, 2U}) map.dscp_to_tc[dscp] = 1;
    for (const unsigned dscp : {3U, 4U}) map.dscp_to_tc[dscp] = 2;
    for (const unsigned dscp : {5U, 6U}) map.dscp_to_tc[dscp] = 3;
    for (unsigned dscp = 11; dscp <= 40; ++dscp) map.dscp_to_tc[dscp] = 4;
    in.config().maps[map_name] = map;
    each_queue(in, {4, 8, 18, 22, 22, 22, 4, 1});
    add_wred(in, "roce", {163'000, 234'000, Chance::percent(5)});
    for (auto& [name, port] : in.config().ports)
        for (const unsigned n : {1U, 2U, 3U}) port.queue[n].wred = "roce";
}

}  // namespace

void take_cumulus_roce(Cumulus& in) {
    const Item* roce = Cumulus::at(in.set, {"qos", "roce"});
    const Item* mode_node = Cumulus::at(roce, {"mode"});
    const std::string mode(mode_node == nullptr ? "lossless" : Cumulus::value(mode_node));
    if (mode != "lossless" && mode != "lossless-single-ipool" && mode != "lossy" &&
        mode != "lossy-multi-tc") {
        in.account().wrong(
            *mode_node,
            in_quotes(mode) + " is none of lossless, lossless-single-ipool, lossy, lossy-multi-tc");
        return take_cumulus_defaults(in);
    }
    for (auto& [name, port] : in.config().ports) {
        port.map = map_name;
        port.trust = Trust::dscp;
        port.pfc = std::vector<ClassId>{};
    }
    if (mode == "lossy-multi-tc") {
        take_multi_class(in);
        in.account().assumed("set.qos.roce.packet-trim",
                             "left out: queues drop, as those without on_full = \"trim\" do");
    } else {
        in.config().maps[map_name] = map_of(false);
        each_queue(in, {half, half, half, half, half, half, 0, half});
        add_wred(in, "roce", usual_curve);
        for (auto& [name, port] : in.config().ports)
            for (const unsigned n : {0U, 3U}) port.queue[n].wred = "roce";
    }
    if (mode.starts_with("lossless")) {
        in.config().maps[map_name].tc_to_priority_group[3] = 3;
        for (auto& [name, port] : in.config().ports) port.pfc = std::vector<ClassId>{3};
        lossless_pools(in, mode == "lossless-single-ipool");
        take_cable(in, roce);
    } else {
        in.out.usual_buffer_bytes = in.buffer_bytes;
    }
    const std::string what = fmt::format(
        "mode {}: DSCP 24 to 31 in class {}", mode,
        mode == "lossy-multi-tc" ? "4" : "3, CNPs in 6, strict; queues 3 and 0 share by halves, with ECN");
    if (mode_node != nullptr)
        in.account().taken(*mode_node, what);
    else
        in.account().assumed("set.qos.roce.mode", what);
    if (roce->members.empty()) in.account().taken(*roce, "RoCE is on");
    in.account().assumed("set.qos.roce.trust",
                         "dscp: a frame without IP has the class of trust = \"port\", NVUE "
                         "would go by its PCP");
}

void take_cumulus_defaults(Cumulus& in) {
    in.config().maps[map_name] = map_of(true);
    each_queue(in, {12, 12, 12, 12, 12, 12, 12, 12});
    add_wred(in, "default", usual_curve);
    for (auto& [name, port] : in.config().ports) {
        port.map = map_name;
        port.trust = Trust::pcp;
        port.pfc = std::vector<ClassId>{};
        port.queue[0].wred = "default";
    }
    in.out.usual_buffer_bytes = in.buffer_bytes;
    in.account().assumed("set.qos",
                         "NVUE's defaults: trust PCP, a queue for each class, equal weights, ECN of queue "
                         "0 from 150 KB to 1500 KB, no PFC");
}

}  // namespace sluice::import
