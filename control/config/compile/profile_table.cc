#include "control/config/compile/profile_table.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

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

// Pools of the file stand instead of all of the profile's in their direction.
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
