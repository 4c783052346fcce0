// A class's way through the switch: its ingress group, its egress queue, and the priority that pauses this
// queue must agree, or the class is lossless in one place and not in the next.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice::lint {
namespace {

// Classes that a packet can have on this port.
unsigned classes_of(const PortConfig& said, const MapConfig& map) {
    unsigned mask = 0;
    if (said.trust == Trust::dscp) mask |= mask_of(map.dscp_to_tc);
    if (said.trust == Trust::pcp) mask |= mask_of(map.pcp_to_tc);
    if (said.trust != Trust::dscp) mask |= 1U << said.default_tc;
    if (map.roce_tc) mask |= 1U << *map.roce_tc;
    if (map.cnp_tc) mask |= 1U << *map.cnp_tc;
    return mask;
}

// The first port at which a class is lossless as it comes in, and the first at which it is not.
struct Origins {
    const std::string* lossless = nullptr;
    const std::string* lossy = nullptr;
};

std::array<Origins, classes> origins(const Config& config, const EffectiveQos& qos) {
    std::array<Origins, classes> all;
    for (const auto& [name, port] : qos.ports)
        for_each_class(classes_of(config.ports.at(name), port.map),
                       [&, &port_name = name, &way = port](ClassId tc) {
                           const bool lossless = way.group[way.map.tc_to_priority_group[tc]].lossless;
                           const std::string*& first = lossless ? all[tc].lossless : all[tc].lossy;
                           if (first == nullptr) first = &port_name;
                       });
    return all;
}

void check_queue_of_class(const std::string& name, const EffectivePort& port, ClassId tc, const Origins& from,
                          Findings& findings) {
    const unsigned queue = port.map.tc_to_queue[tc];
    const std::string key = fmt::format("queue.{}", queue);
    if (from.lossless != nullptr && !port.queue[queue].lossless)
        findings.warn(
            "class-queue-lossy", port_path(name, key),
            fmt::format("class {} is lossless where it comes in on {}, and lossy in queue {}: it is dropped "
                        "there",
                        tc, *from.lossless, queue),
            fmt::format("make priority group {} of the port lossless, or that of {} lossy",
                        port.map.tc_to_priority_group[tc], *from.lossless));
    if (from.lossy == nullptr || !port.queue[queue].lossless) return;
    const bool mixes = !port.group[port.map.tc_to_priority_group[tc]].lossless;
    findings.add(mixes ? Severity::warning : Severity::note, "class-group-lossy", port_path(name, key),
                 fmt::format("class {} is lossy where it comes in on {}, and shares the lossless queue {}: "
                             "pauses hold it, no limit of the queue does",
                             tc, mixes ? name : *from.lossy, queue),
                 fmt::format("make its priority group of {} lossless, or map the class to another queue",
                             mixes ? name : *from.lossy));
}

// The peer pauses priority n for frames of our classes of group n.
void check_priority(const std::string& name, const EffectivePort& port, unsigned in_use, ClassId n,
                    Findings& findings) {
    const unsigned paused = port.map.pfc_priority_to_queue[n];
    bool used = false;
    for_each_class(in_use, [&](ClassId tc) {
        if (port.map.tc_to_priority_group[tc] != n) return;
        used = true;
        const unsigned queue = port.map.tc_to_queue[tc];
        if (queue != paused)
            findings.warn(
                "pfc-queue", port_path(name, fmt::format("priority_group.{}", n)),
                fmt::format("class {} leaves by queue {}, but a pause of its priority {} holds queue {}: its "
                            "pauses are not obeyed",
                            tc, queue, n, paused),
                fmt::format("write pfc_priority_to_queue = {{\"{}\" = {}}} in its map", n, queue));
    });
    if (!used)
        findings.note("lossless-unused", port_path(name, fmt::format("priority_group.{}", n)),
                      fmt::format("no class comes to it: its {} cells of headroom and {} reserved lie idle",
                                  port.group[n].headroom_cells, port.group[n].reserved_cells),
                      "map a class to it, or take the priority out of pfc");
}

void check_cnp(const std::string& name, const EffectivePort& port, Findings& findings) {
    const bool rule = port.map.cnp_tc.has_value();
    const ClassId tc = rule ? *port.map.cnp_tc : port.map.dscp_to_tc[usual_cnp.dscp];
    const unsigned queue = port.map.tc_to_queue[tc];
    const CnpDelay delay = cnp_delay(port, tc);
    if (delay.words.empty()) return;
    findings.add(rule || delay.paused_or_marked ? Severity::warning : Severity::note, "cnp-queue",
                 port_path(name, fmt::format("queue.{}", queue)),

                 fmt::format("CNPs (class {}) leave by queue {}, which {}: congestion is told of late", tc,
                             queue, delay.words),
                 delay.paused_or_marked ? "write " + cnp_remedy(port, "its map")
                                        : fmt::format("write scheduler = \"strict\" for queue {}", queue));
}

}  // namespace

CnpDelay cnp_delay(const EffectivePort& port, ClassId tc) {
    const unsigned queue = port.map.tc_to_queue[tc];
    CnpDelay delay;
    if (port.queue[queue].lossless) delay.words = "may be paused";
    if (port.wred_profile[queue])
        append_item(delay.words, ", ", fmt::format("is marked by {}", port.wred[queue]));
    delay.paused_or_marked = !delay.words.empty();
    if (!port.schedule.queue[queue].strict)
        append_item(delay.words, ", ", fmt::format("shares by weight {}", port.schedule.queue[queue].weight));
    return delay;
}

std::string cnp_remedy(const EffectivePort& port, std::string_view map) {
    constexpr std::array<ClassId, classes> by_custom{6, 7, 5, 4, 3, 2, 1, 0};
    const auto first = [&](auto fits) {
        const auto* found = std::find_if(by_custom.begin(), by_custom.end(),
                                         [&](ClassId tc) { return fits(cnp_delay(port, tc)); });
        return found == by_custom.end() ? std::optional<ClassId>() : *found;
    };
    if (const auto tc = first([](const CnpDelay& delay) { return delay.words.empty(); }))
        return fmt::format("cnp_tc = {} in {}, a class whose queue nothing delays", *tc, map);
    if (const auto tc = first([](const CnpDelay& delay) { return !delay.paused_or_marked; }))
        return fmt::format("cnp_tc = {} in {}, and scheduler = \"strict\" for queue {}", *tc, map,
                           port.map.tc_to_queue[*tc]);
    return fmt::format("cnp_tc in {}, with a class that is neither in pfc nor has a wred", map);
}

void check_class_ways(const Config& config, const EffectiveQos& qos, Findings& findings) {
    const auto from = origins(config, qos);
    for (const auto& [name, port] : qos.ports) {
        for (unsigned tc = 0; tc < classes; ++tc)
            check_queue_of_class(name, port, static_cast<ClassId>(tc), from[tc], findings);
        const unsigned in_use = classes_of(config.ports.at(name), port.map);
        for_each_class(port.lossless, [&, &port_name = name, &way = port](ClassId n) {
            check_priority(port_name, way, in_use, n, findings);
        });
        check_cnp(name, port, findings);
    }
}

}  // namespace sluice::lint
