// ECN before PFC: a queue should mark before its senders are paused (Zhu et al., DCQCN, SIGCOMM 2015, 4).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "control/config/lint/lint_parts.hh"
#include "control/config/lint/mark_bounds.hh"
#include "lib/values/class_mask.hh"

namespace sluice::lint {
namespace {

// The limit of one group when all the lossless groups of its port use as much: alpha S / (1 + k alpha).
struct GroupShare {
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t shared_bytes = 0;  // S
    unsigned lossless = 0;           // k
    std::string port;
    std::string threshold;
};

std::uint64_t shared_cells(const EffectivePool* pool) {
    return static_cast<std::uint64_t>(pool == nullptr ? 0 : std::max<std::int64_t>(pool->shared_cells, 0));
}

GroupShare share_of(const std::string& name, const EffectivePort& port, const GroupLimits& group,
                    const EffectiveQos& qos) {
    GroupShare share{0, 0, 0, name, {}};
    for (const GroupLimits& other : port.group)
        share.lossless += other.lossless && other.pool == group.pool ? 1 : 0;
    const EffectivePool* pool = qos.pool(PoolDirection::ingress, group.pool);
    share.threshold = "no limit";
    if (group.threshold.is_dynamic())
        share.threshold = fmt::format("dynamic_th {}", group.threshold.n());
    else if (!group.threshold.is_unlimited())
        share.threshold = fmt::format(
            "static_th {}", static_cast<std::uint64_t>(group.threshold.limit_cells(0, 0)) * qos.cell.bytes());
    share.bytes = equal_limit_cells(group.threshold, pool, share.lossless) * qos.cell.bytes();
    share.shared_bytes = shared_cells(pool) * qos.cell.bytes();
    return share;
}

// By traffic class: the smallest share of a lossless group that takes it, of all ports.
std::array<GroupShare, classes> smallest_shares(const EffectiveQos& qos) {
    std::array<GroupShare, classes> smallest;
    for (const auto& [name, port] : qos.ports)
        for (unsigned tc = 0; tc < classes; ++tc) {
            const GroupLimits& group = port.group[port.map.tc_to_priority_group[tc]];
            if (!group.lossless) continue;
            GroupShare share = share_of(name, port, group, qos);
            if (share.bytes < smallest[tc].bytes) smallest[tc] = std::move(share);
        }
    return smallest;
}

const WredCurve& curve_of(const WredProfile& profile) {
    return profile.has_ect ? profile.ect : profile.color[0];
}

// The smallest share of the lossless groups whose packets wait in this queue of the port; null: there is
// none.
const GroupShare* share_of_queue(const EffectivePort& port, unsigned queue,
                                 const std::array<GroupShare, classes>& shares) {
    const GroupShare* share = nullptr;
    for (unsigned tc = 0; tc < classes; ++tc)
        if (port.map.tc_to_queue[tc] == queue && shares[tc].lossless != 0 &&
            (share == nullptr || shares[tc].bytes < share->bytes))
            share = &shares[tc];
    return share == nullptr || share->bytes == 0 ? nullptr : share;
}

// The highest min with which marks come before pauses when all ports are congested.
std::uint64_t highest_first_mark(const GroupShare& share, std::size_t ports) {
    return (share.bytes + ports - 1) / ports - 1;
}

// In the worst case a group's packets wait in equal parts in the queues of `ports` ports.
void check_first_mark(const std::string& name, unsigned queue, const WredCurve& curve,
                      const GroupShare& share, std::size_t ports, Findings& findings) {
    const std::uint64_t first = curve.min();
    const std::uint64_t congested = first == 0 ? ports : (share.bytes - 1) / first;
    if (congested >= ports) return;
    const std::uint64_t good = highest_first_mark(share, ports);
    findings.add(
        congested == 0 ? Severity::warning : Severity::note, "ecn-after-pause",
        port_path(name, fmt::format("queue.{}.wred", queue)),

        fmt::format(
            "the first mark at {} bytes is not below alpha S / (n (1 + k alpha)) = {} bytes, with S {} "
            "bytes, k {} and {}, for n = {} ports: marks come before pauses while no more than {} of "
            "them are congested",
            first, share.bytes / ports, share.shared_bytes, share.lossless, share.threshold, ports,
            congested),
        fmt::format("name a [wred.NAME] with a min of {} bytes, or enlarge buffer.size", good));
}

void check_last_mark(const std::string& name, unsigned queue, const WredCurve& curve, const GroupShare& share,
                     Findings& findings) {
    if (curve.max() <= share.bytes || curve.min() >= share.bytes) return;
    findings.note(
        "ecn-max", port_path(name, fmt::format("queue.{}.wred", queue)),
        fmt::format(
            "all is marked from {} bytes on, {} above the {} at which a lone sender is paused: "
            "{:.3g} % is marked there",
            curve.max(), curve.max() - share.bytes, share.bytes,
            100.0 * static_cast<double>(curve.probability(share.bytes)) / static_cast<double>(certainty)),
        fmt::format("name a [wred.NAME] with a max of {} bytes, or enlarge buffer.size", share.bytes));
}

void check_curve(const std::string& name, unsigned queue, const EffectivePort& port, std::uint32_t mtu,
                 Findings& findings) {
    const WredProfile& profile = *port.wred_profile[queue];
    const std::string key = fmt::format("queue.{}.wred", queue);
    const std::uint64_t least = 2ULL * mtu;
    if (const std::uint64_t first = curve_of(profile).min(); first < least)
        findings.warn(
            "ecn-min", port_path(name, key),
            fmt::format("the first mark at {} bytes is {} below two packets of the MTU: a queue that is "
                        "busy, not congested, is marked",
                        first, least - first),
            fmt::format("name a [wred.NAME] with a min of {} bytes", least));
    if (profile.drop_non_ect.value_or(false) && port.queue[queue].lossless)
        findings.warn("wred-drops-lossless", port_path(name, key),
                      "drop_non_ect drops packets of a lossless queue that are not ECN capable",
                      "write drop_non_ect = false");
}

bool marks(const EffectivePort& port, unsigned queue) {
    return port.wred_profile[queue] && port.wred_profile[queue]->ecn;
}

void check_plain_red(const std::string& name, unsigned queue, const EffectivePort& port, Findings& findings) {
    const std::string key = fmt::format("queue.{}.wred", queue);
    const bool never_drops = port.wred_profile[queue]->drop_non_ect == false;
    if (never_drops || port.queue[queue].lossless)
        findings.warn(
            "ecn-off", port_path(name, key),
            fmt::format("wred.{} has ecn = false, and {}: the profile has no effect, {}", port.wred[queue],
                        never_drops ? "drop_non_ect = false drops nothing" : "a lossless queue drops nothing",
                        port.queue[queue].lossless ? "senders are slowed by pauses alone"
                                                   : "senders are slowed by losses alone"),
            "write ecn = true");
    else
        findings.warn("ecn-off", port_path(name, key),
                      fmt::format("wred.{} has ecn = false: RoCE's queue drops early and marks nothing",
                                  port.wred[queue]),
                      "write ecn = true");
}

// The queues that should mark: lossless ones, those that a peer may pause, and the one of roce_tc.
unsigned roce_queues(const EffectivePort& port) {
    unsigned queues = 0;
    for (unsigned n = 0; n < classes; ++n)
        if (port.queue[n].lossless) queues |= 1U << n;
    if (port.mode == PfcMode::semi_lossless)
        queues |= map_classes(port.map.pfc_priority_to_queue, port.masks.honors);
    if (port.map.roce_tc) queues |= 1U << port.map.tc_to_queue[*port.map.roce_tc];
    return queues;
}

}  // namespace

std::uint64_t equal_limit_cells(const Threshold& threshold, const EffectivePool* pool, unsigned users) {
    const std::uint64_t shared = shared_cells(pool);
    if (threshold.is_dynamic()) {
        const int n = threshold.n();
        const std::uint64_t up = 1ULL << std::max(n, 0), down = 1ULL << std::max(-n, 0);
        return shared * up / (down + users * up);
    }
    const std::uint64_t equal = shared / users;
    return threshold.is_unlimited()
               ? equal
               : std::min(equal, static_cast<std::uint64_t>(threshold.limit_cells(0, 0)));
}

void check_marking(const Config& config, const EffectiveQos& qos, Findings& findings) {
    const auto shares = smallest_shares(qos);
    for (const auto& [name, port] : qos.ports) {
        for_each_class(roce_queues(port), [&, &port_name = name, &effective = port](ClassId n) {
            // A profile that cannot be made has been reported.
            if (effective.wred_profile[n] && !effective.wred_profile[n]->ecn)
                check_plain_red(port_name, n, effective, findings);
            if (effective.wred_profile[n] || effective.wred[n] != "none") return;
            findings.warn(
                "ecn-off", port_path(port_name, fmt::format("queue.{}.wred", n)),
                "RoCE's queue neither marks nor drops early: its senders are slowed by pauses alone",
                "write wred = \"linear\"");
        });
        for (unsigned n = 0; n < classes; ++n) {
            if (!marks(port, n) || port.wred_profile[n]->mark_at == MarkAt::sojourn) continue;
            check_curve(name, n, port, config.ports.at(name).mtu, findings);
            const GroupShare* share = share_of_queue(port, n, shares);
            if (share == nullptr || !port.queue[n].lossless) continue;
            const WredCurve& curve = curve_of(*port.wred_profile[n]);
            check_first_mark(name, n, curve, *share, qos.ports.size(), findings);
            check_last_mark(name, n, curve, *share, findings);
        }
    }
}

}  // namespace sluice::lint

namespace sluice {

std::map<std::pair<std::string, unsigned>, MarkBound> mark_bounds(const EffectiveQos& qos) {
    const auto shares = lint::smallest_shares(qos);
    std::map<std::pair<std::string, unsigned>, MarkBound> bounds;
    for (const auto& [name, port] : qos.ports)
        for (unsigned n = 0; n < classes; ++n)
            if (const lint::GroupShare* share = lint::share_of_queue(port, n, shares);
                share != nullptr && port.queue[n].lossless)
                bounds[{name, n}] = {share->bytes, lint::highest_first_mark(*share, qos.ports.size())};
    return bounds;
}

}  // namespace sluice
