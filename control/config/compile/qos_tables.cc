#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"

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

std::string limits_text(const ProfileLimits& limits) {
    std::string text;
    if (limits.size_bytes) append_item(text, ", ", fmt::format("size {}", *limits.size_bytes));
    if (limits.dynamic_th) append_item(text, ", ", fmt::format("dynamic_th {}", *limits.dynamic_th));
    if (limits.static_bytes) append_item(text, ", ", fmt::format("static_th {}", *limits.static_bytes));
    if (limits.xon_bytes) append_item(text, ", ", fmt::format("xon {}", *limits.xon_bytes));
    if (limits.xon_offset_bytes)
        append_item(text, ", ", fmt::format("xon_offset {}", *limits.xon_offset_bytes));
    return text;
}

// Pools of the file replace all of the profile's in their direction.
bool has_own_pools(const Config& config, PoolDirection direction) {
    return std::any_of(config.pools.begin(), config.pools.end(),
                       [&](const auto& pool) { return pool.second.direction == direction; });
}

std::string instead(std::uint64_t own, std::uint64_t profile) {
    return own == profile ? std::string() : fmt::format(" (the file has {})", own);
}

std::string row(std::string_view name, const std::string& value) {
    return fmt::format("    {:<24}{}\n", name, value);
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
        append_item(tables[headroom_table(port.headroom)], " ", name);
    }
    std::map<std::string, std::string> marking;  // a port's queues with their profile, to the ports it is for
    for (const auto& [name, port] : qos.ports) append_item(marking[wred_table(port)], " ", name);
    for (const auto& [table, names] : marking)
        if (!table.empty()) text += fmt::format("\nWRED and ECN of {}\n{}", names, table);
    for (const auto& [table, names] : tables)
        text += fmt::format("\nheadroom of a lossless group of {} (bytes)\n{}", names, table);
    return text;
}

std::string profile_sentence(const Config& config, const BufferProfile& profile) {
    std::string text =
        fmt::format("{}, {}, {}: size {}{}, cell {}{}", profile.name, profile.asic, profile.ports,
                    profile.size_bytes, instead(config.buffer_size_bytes, profile.size_bytes),
                    profile.cell_bytes, instead(config.cell_bytes, profile.cell_bytes));
    for (const auto& [name, pool] : profile.pools)
        if (pool.direction == PoolDirection::ingress && !has_own_pools(config, pool.direction))
            text += fmt::format(", pool {} {}", name, pool.size_bytes);
    return text + "; lossless groups: " + limits_text(profile.lossless_group);
}

std::string profile_table(const Config& config, const EffectiveQos& qos) {
    if (qos.profile == nullptr) return {};
    const BufferProfile& profile = *qos.profile;
    std::string text =
        fmt::format("\nbuffer profile {}: {}, {}\n", profile.name, profile.asic, profile.ports);
    text += row("buffer.size", fmt::format("{}{}", profile.size_bytes,
                                           instead(config.buffer_size_bytes, profile.size_bytes)));
    text += row("buffer.cell",
                fmt::format("{}{}", profile.cell_bytes, instead(config.cell_bytes, profile.cell_bytes)));
    for (const auto& [name, pool] : profile.pools) {
        std::string value = std::to_string(pool.size_bytes);
        if (pool.shared_headroom_bytes != 0)
            value += fmt::format(", shared_headroom {}", pool.shared_headroom_bytes);
        if (has_own_pools(config, pool.direction))
            value += " (the file has pools of its own)";
        else if (config.buffer_size_bytes != profile.size_bytes)
            value += " (in proportion to the file's buffer.size)";
        text += row("pool." + name, value);
    }
    text += row("lossless groups", limits_text(profile.lossless_group));
    text += row("lossy groups", limits_text(profile.lossy_group));
    text += row("lossless queues", limits_text(profile.lossless_queue));
    text += row("lossy queues", limits_text(profile.lossy_queue));
    std::map<std::string, std::string> ports;  // a headroom to the ports that have it
    for (const auto& [name, port] : qos.ports) {
        const PortConfig& said = config.ports.at(name);
        const std::string of = fmt::format("{}, {} m: ", print_rate(said.speed), said.cable_m);
        if (port.lossless == 0) continue;
        const ProfileHeadroom* headroom = port.profile_headroom;
        const bool given = std::any_of(port.headroom_is_given.begin(), port.headroom_is_given.end(),
                                       [](bool each) { return each; });
        append_item(
            ports[of + (given                 ? "the file's"
                        : headroom == nullptr ? std::string("computed, the profile has none")
                                              : fmt::format("{}, for cables to {} m", headroom->xoff_bytes,
                                                            headroom->cable_m))],
            " ", name);
    }
    for (const auto& [value, names] : ports) text += row("headroom", value + "  " + names);
    return text;
}

}  // namespace sluice
