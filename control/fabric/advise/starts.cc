#include "control/fabric/advise/starts.hh"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "lib/roce/empty_path.hh"

namespace sluice::fabric {
namespace {

using NoStart = tl::unexpected<std::string>;
using StartCurve = std::function<tl::expected<CurveValues, std::string>(const MarkedCurve& curve)>;

// Ethernet, IPv4, UDP, BTH and ICRC about a packet's payload; an acknowledgment has an AETH in its place.
constexpr std::uint32_t roce_headers = 14 + 20 + 8 + 12 + 4, ack_header = 4;

// The reason why a search does not start from a curve; empty: it does.
std::string misfit(const CurveValues& values, const MarkedCurve& curve) {
    const std::uint64_t least = 2ULL * curve.mtu;
    if (values.min_bytes < least)
        return fmt::format("its min of {} is below two packets of the MTU ({})", size_text(values.min_bytes),
                           size_text(least));
    if (curve.limit_bytes != 0 && values.min_bytes >= curve.limit_bytes)
        return fmt::format("its min of {} is not below the {} at which a lone sender is paused",
                           size_text(values.min_bytes), size_text(curve.limit_bytes));
    return {};
}

// The same for every port.
StartCurve fixed_at(std::uint64_t min_bytes, std::uint64_t max_bytes, std::uint32_t per_cent) {
    return [=](const MarkedCurve&) { return CurveValues{min_bytes, max_bytes, Chance::percent(per_cent)}; };
}

StartCurve of_preset(const char* name) {
    return [name](const MarkedCurve& curve) {
        return marking_curve(Config{}, name, curve.speed, curve.mtu).value_or(CurveValues{});
    };
}

tl::expected<CurveValues, std::string> lint_bound(const MarkedCurve& curve) {
    const std::uint64_t cell = curve.cell_bytes, min = curve.first_mark_bytes / cell * cell;
    if (min == 0)
        return NoStart("there is no min at which marks come before pauses when all ports are congested");
    return CurveValues{min, std::max(curve.limit_bytes / cell * cell, min), curve.today.probability};
}

}  // namespace

Duration longest_round_trip(const FabricPlan& plan) {
    constexpr std::size_t most_looked_at = 4096;
    Duration longest{};
    const NodeId from = plan.hosts.front();
    const auto alone = [](std::uint32_t frame) { return roce::Train{1, 0, 0, wire_bytes(frame)}; };
    for (std::size_t n = 1; n < std::min(plan.hosts.size(), most_looked_at); ++n) {
        const auto links = path_between(plan, FlowConfig{}, from, plan.hosts[n]).links;
        if (links.empty()) continue;
        const Duration trip = roce::time_through(links, alone(plan.host(from).mtu + roce_headers)) +
                              roce::time_back(links, alone(roce_headers + ack_header));
        longest = std::max(longest, trip);
    }
    return longest;
}

std::vector<CurveStart> curve_starts(const std::vector<MarkedCurve>& curves, const FabricPlan& plan) {
    std::vector<CurveStart> starts;
    const auto add = [&](std::string name, std::string source, const StartCurve& curve_of) {
        std::vector<CurveValues> values;
        std::string reason;
        for (const MarkedCurve& curve : curves) {
            const auto made = curve_of(curve);
            reason = made ? misfit(*made, curve) : made.error();
            if (!reason.empty()) break;
            values.push_back(*made);
        }
        CurveStart start{std::move(name), std::move(source), std::move(values)};
        if (!reason.empty()) start.curves = NoStart(std::move(reason));
        starts.push_back(std::move(start));
    };
    add("preset linear",
        "Thresholds in proportion to the speed, 100 KB and 400 KB at 25 Gb/s with 20 %, are those of HPCC's "
        "simulations (SIGCOMM 2019), no vendor's.",
        of_preset("linear"));
    add("preset steep", "150 KB, 1500 KB and 100 % stand in many guides, whose origin they do not name.",
        of_preset("steep"));
    add("preset sonic", "SONiC's profile AZURE_LOSSLESS has 1 MiB, 2 MiB and 5 %.", of_preset("sonic"));
    add("lint's bound",
        "With this min marks come before pauses even if all ports are congested, and the max is where a lone "
        "sender is paused (after Zhu et al., SIGCOMM 2015, section 4).",
        lint_bound);
    const Duration round_trip = plan.hosts.empty() ? Duration{} : longest_round_trip(plan);
    add("0.2 and 0.8 of the bandwidth-delay product",
        fmt::format(
            "Ultra Ethernet's specification has them for switches that trim packets, not for RoCE; the "
            "longest empty way and back takes {} here.",
            time_text(static_cast<std::uint64_t>(round_trip.ps / 1000))),
        [&](const MarkedCurve& curve) {
            const std::uint64_t product =
                static_cast<std::uint64_t>(round_trip.ps / curve.speed.byte_time().ps);
            const auto cells = [&](std::uint64_t tenths) {
                return product * tenths / 10 / curve.cell_bytes * curve.cell_bytes;
            };
            return CurveValues{cells(2), std::max(cells(8), cells(2)), Chance::percent(100)};
        });
    // Published sets. One whose publisher is not certain is "a public configuration".
    add("a public configuration (150KB, 3000KB, 7 %)",
        "Many copies of configurations for Cisco's NX-OS have it, as The Network Times' Congestion Avoidance "
        "in "
        "AI Fabric (2025); no document of a vendor was found.",
        fixed_at(150'000, 3'000'000, 7));
    add("Microsoft's Azure Local (300KB, 300KB, 100 %)",
        "Microsoft's reference configuration of top-of-rack switches for Azure Local has it, written for "
        "Cisco's "
        "NX-OS (Azure/AzureLocal-Supportability, Reference-TOR-QOS-Policy-Configuration.md).",
        fixed_at(300'000, 300'000, 100));
    add("a public configuration (950KB, 3000KB, 7 %)",
        "roce_enable.py of P. Gupta, a script for Cisco's NX-OS (March 2026), has it; no document of a "
        "vendor was "
        "found.",
        fixed_at(950'000, 3'000'000, 7));
    return starts;
}

}  // namespace sluice::fabric
