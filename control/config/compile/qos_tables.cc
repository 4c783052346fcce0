#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "control/config/compile/qos.hh"

namespace sluice {

std::string headroom_table(const Headroom& headroom) {
    std::string text;
    for (const HeadroomRow& row : headroom_rows(headroom))
        text += fmt::format("    {:<34}{:>10}  {}\n", row.name, row.bytes, row.formula);
    return text;
}

namespace {

std::string curve_text(const WredCurve& curve) {
    if (curve.min() == curve.max()) return fmt::format("all from {} bytes", curve.min());
    const double percent =
        100.0 * static_cast<double>(curve.probability(curve.max() - 1)) / static_cast<double>(certainty);
    return fmt::format("{} to {} bytes, {:.3g} %", curve.min(), curve.max(), percent);
}

std::string wred_table(const EffectivePort& port) {
    std::string text;
    for (unsigned n = 0; n < classes; ++n) {
        if (!port.wred_profile[n]) continue;
        const WredProfile& profile = *port.wred_profile[n];
        std::string what = "green " + curve_text(profile.color[0]);
        if (profile.color[1] != profile.color[0]) what += ", yellow " + curve_text(profile.color[1]);
        if (profile.color[2] != profile.color[0]) what += ", red " + curve_text(profile.color[2]);
        if (profile.has_ect) what += ", ECT " + curve_text(profile.ect);
        if (profile.mark_at == MarkAt::sojourn)
            what += fmt::format(", ECT after {} to {} ns", profile.sojourn.min() / 1000,
                                profile.sojourn.max() / 1000);
        constexpr std::array<std::string_view, 3> where{"marks at dequeue", "marks at enqueue",
                                                        "marks at sojourn"};
        const std::string_view effect = profile.ecn ? where[static_cast<unsigned>(profile.mark_at)] : "drops";
        text += fmt::format("    queue {}  {:<12} {}{}: {}\n", n, port.wred[n], effect,
                            profile.drop_non_ect == false ? ", drops nothing" : "", what);
    }
    return text;
}

}  // namespace
std::string qos_tables(const EffectiveQos& qos) {
    std::string text = fmt::format("\n{:<18}{:<9}{:>12}{:>12}{:>12}{:>12}\n", "pool (cells)", "", "size",
                                   "reserved", "headroom", "shared");
    for (const EffectivePool& pool : qos.pools)
        text += fmt::format("{:<17} {:<9}{:>12}{:>12}{:>12}{:>12}\n", pool.name,
                            pool.direction == PoolDirection::ingress ? "ingress" : "egress", pool.size_cells,
                            pool.reserved_cells, pool.headroom_cells, pool.shared_cells);
    std::map<std::string, std::string> tables;  // a table to the ports it is for
    for (const auto& [name, port] : qos.ports) {
        if (port.lossless == 0) continue;
        std::string& names = tables[headroom_table(port.headroom)];
        names += (names.empty() ? "" : " ") + name;
    }
    std::map<std::string, std::string> marking;  // a port's queues with their profile, to the ports it is for
    for (const auto& [name, port] : qos.ports) {
        std::string& names = marking[wred_table(port)];
        names += (names.empty() ? "" : " ") + name;
    }
    for (const auto& [table, names] : marking)
        if (!table.empty()) text += fmt::format("\nWRED and ECN of {}\n{}", names, table);
    for (const auto& [table, names] : tables)
        text += fmt::format("\nheadroom of a lossless group of {} (bytes)\n{}", names, table);
    return text;
}

}  // namespace sluice
