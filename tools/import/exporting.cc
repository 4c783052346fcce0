#include "tools/import/exporting.hh"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice::import {
namespace {

constexpr double ps_per_ms = 1e9;

std::string print_as(std::uint64_t value, Unit unit) {
    switch (unit) {
        case Unit::bytes:
            return print_count(value, "byte");
        case Unit::bits_a_second:
            return print_rate(Rate{value});
        case Unit::picoseconds:
            return fmt::format("{:.6g} ms", static_cast<double>(value) / ps_per_ms);
        case Unit::chance:
            break;
    }
    return fmt::format("{:.4g} %", static_cast<double>(value) / Chance::one_percent);
}

// Sections that writers speak of, and those of the hosts behind a switch.
constexpr std::array<std::string_view, 9> exported{"port",     "default", "wred", "map",     "pool",
                                                   "watchdog", "buffer",  "host", "trimming"};

}  // namespace

void Exporting::rounded(std::string path, std::uint64_t wanted, std::uint64_t there, Unit unit,
                        std::string_view does) {
    if (wanted == there) return;
    const std::uint64_t error = std::max(wanted, there) - std::min(wanted, there);
    const double share =
        wanted == 0 ? 100.0 : 100.0 * static_cast<double>(error) / static_cast<double>(wanted);
    account.tell(Fate::rounded, std::move(path),
                 fmt::format("{} there instead of {}: {} {} ({:.2g} %): {}", print_as(there, unit),
                             print_as(wanted, unit), print_as(error, unit), there > wanted ? "more" : "less",
                             share, does));
}

Account new_limits(Account wanted, const Account& today) {
    wanted.keep_new(today);
    Account account;
    for (const Line& line : wanted.lines())
        if (line.fate != Fate::said) account.tell(line.fate, line.path, line.what);
    return account;
}

void tell_base(Account& account, std::string_view maker) {
    account.tell(Fate::assumed, "patch",
                 fmt::format("for a switch that has today's configuration as --to {} writes it", maker));
}

PortNames name_ports(Exporting& out, std::string_view stem, bool (*fits)(std::string_view name)) {
    PortNames names;
    const bool all_fit =
        std::ranges::all_of(out.config.ports, [&](const auto& each) { return fits(each.first); });
    unsigned number = 0;
    for (const auto& [name, port] : out.config.ports) {
        names[name] = all_fit ? name : fmt::format("{}{}", stem, ++number);
        if (!all_fit)
            out.account.tell(Fate::assumed, "port." + name,
                             fmt::format("is {} there: ports are numbered in order", names[name]));
    }
    return names;
}

std::vector<std::string> name_ranges(const std::vector<std::string>& names) {
    std::vector<std::string> ranges;
    for (std::size_t at = 0; at < names.size();) {
        const std::size_t stem_end = names[at].find_last_not_of("0123456789") + 1;
        const std::string stem = names[at].substr(0, stem_end);
        const auto first = parse_integer(std::string_view(names[at]).substr(stem_end));
        std::size_t next = at + 1;
        while (first && next < names.size() && names[next] == fmt::format("{}{}", stem, *first + (next - at)))
            ++next;
        ranges.push_back(next - at > 1 ? fmt::format("{}-{}", names[at], *first + (next - at) - 1)
                                       : names[at]);
        at = next;
    }
    return ranges;
}

void tell_buffer(Exporting& out) {
    out.unsaid("buffer.size", fmt::format("the chip's own memory; import it again with --buffer {}",
                                          print_size(out.config.buffer_size_bytes)));
}

void tell_route(Exporting& out, const RouteConfig& route, std::string what) {
    const std::string path = "route." + print_prefix(route.prefix);
    for (const NextHopConfig& hop : route.via) {
        if (hop.weight != min_hop_weight) out.unsaid(path, "all next hops have the same weight");
        if (!hop.port.empty()) out.unsaid(path, "a next hop goes by its address alone");
    }
    if (route.load_balance) out.unsaid(path, "the mode of load balancing is the switch's");
    out.said(path, std::move(what));
}

bool is_down(const Config& config, std::string_view port) {
    const std::string command = fmt::format("port {} down", port);
    return std::ranges::any_of(config.events, [&](const EventConfig& event) {
        return event.at == Duration{} && event.command == command;
    });
}

Duration restoration_of(const WatchdogConfig& watchdog) {
    return watchdog.restoration.value_or(watchdog.detection * 2);
}

bool is_made_address(const IpPrefix& address) {
    constexpr std::uint8_t made_length = 30;
    return !address.address.is_v6 && address.length == made_length && address.address.bytes[0] == 100 &&
           address.address.bytes[1] == 64;
}

void tell_classes(Exporting& out, const std::string& port, const PortConfig& config,
                  const EffectivePort& effective) {
    constexpr const char* instead = "goes by its DSCP or PCP, as other packets do";
    const std::string start = fmt::format("map.{}.", config.map);
    if (effective.map.roce_tc) out.unsaid(start + "roce_tc", fmt::format("a RoCE packet {}", instead));
    if (effective.map.cnp_tc) out.unsaid(start + "cnp_tc", fmt::format("a CNP {}", instead));
    if (config.pfc_quanta != PortConfig{}.pfc_quanta)
        out.unsaid(key_of_port(port, "pfc_quanta"), "a pause is as long as the chip makes it");
}

void tell_bursts(Exporting& out, const std::string& port, const PortConfig& config) {
    constexpr const char* own = "the chip's own burst";
    if (config.shaper_burst_bytes) out.unsaid(key_of_port(port, "shaper_burst"), own);
    for (unsigned n = 0; n < classes; ++n)
        if (config.queue[n].max_burst_bytes)
            out.unsaid(key_of_port(port, fmt::format("queue.{}.max_burst", n)), own);
}

void tell_marking(Exporting& out, const std::string& wred, const WredProfile& profile, bool has_weight) {
    const std::string path = fmt::format("wred.{}.", wred);
    if (profile.mark_at == MarkAt::sojourn)
        out.unsaid(path + "mark_at",
                   "sojourn: the switch marks by the length of the queue, by the green curve");
    else if (profile.mark_at == MarkAt::enqueue)
        out.unsaid(path + "mark_at", "enqueue: the chip marks where it does");
    if (profile.weight != 0 && !has_weight)
        out.unsaid(path + "weight", "the chip has its own average, or none");
    if (profile.drop_non_ect == true)
        out.unsaid(path + "drop_non_ect", "in a lossless queue the chip drops, too, or it does not");
}

void tell_limit(Exporting& out, const std::string& path, const ThresholdConfig& said, std::string_view own) {
    if (said.dynamic_th) out.unsaid(path + ".dynamic_th", std::string(own));
    if (said.static_bytes) out.unsaid(path + ".static_th", std::string(own));
}

void tell_queue_limit(Exporting& out, const std::string& port, unsigned queue, const QueueConfig& said,
                      std::string_view limit, std::string_view reserve) {
    const std::string path = key_of_port(port, fmt::format("queue.{}", queue));
    tell_limit(out, path, said, limit);
    if (said.size_bytes) out.unsaid(path + ".size", std::string(reserve));
}

void tell_priorities(Exporting& out, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    for (unsigned tc = 0; tc < classes; ++tc) {
        const ClassId group = map.tc_to_priority_group[tc];
        if (group != tc && (effective.lossless >> group & 1U) != 0)
            out.unsaid(fmt::format("map.{}.tc_to_priority_group", port.map),
                       "a class has the group of its number: classes of other groups are lossy");
        if (map.pfc_priority_to_queue[tc] != map.tc_to_queue[tc])
            out.unsaid(fmt::format("map.{}.pfc_priority_to_queue", port.map),
                       "a pause of a priority stops the queue of its class");
    }
}

std::array<std::uint64_t, classes> shares_of_queues(Exporting& out, const std::string& port,
                                                    const EffectivePort& effective) {
    const auto used = used_queues(effective.map);
    std::array<std::uint64_t, classes> weights{};
    for (unsigned n = 0; n < classes; ++n)
        if (used[n] && !effective.schedule.queue[n].strict) weights[n] = effective.schedule.queue[n].weight;
    const auto percents = whole_percents(weights);
    const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    for (unsigned n = 0; n < classes; ++n)
        if (weights[n] != 0)
            out.rounded(key_of_port(port, fmt::format("queue.{}.weight", n)),
                        weights[n] * Chance::always / all, percents[n] * Chance::one_percent, Unit::chance,
                        "of the port when all queues have packets");
    return percents;
}

std::uint64_t percent_of_curve(Exporting& out, const std::string& wred, std::string_view key,
                               const WredCurve& curve) {
    const auto said = out.config.wred.find(wred);
    std::uint64_t chance = 0;
    const WredCurveConfig* own = nullptr;
    if (said != out.config.wred.end()) {
        own = key.starts_with("ect_")      ? &said->second.ect
              : key.starts_with("yellow_") ? &said->second.yellow
              : key.starts_with("red_")    ? &said->second.red
                                           : &said->second.green;
        if (!own->probability) own = &said->second.green;
    }
    if (own != nullptr && own->probability) {
        chance = own->probability->parts_per_billion;
    } else {
        // A built-in curve has whole per cents, less what its slope rounds away.
        const std::uint64_t before = curve.max() == 0 ? 0 : curve.probability(curve.max() - 1);
        chance = (before * 100 + certainty / 2) / certainty * Chance::one_percent;
    }
    std::uint64_t percent = (chance + Chance::one_percent / 2) / Chance::one_percent;
    if (percent == 0 && chance != 0) percent = 1;
    out.rounded(fmt::format("wred.{}.{}", wred, key), chance, percent * Chance::one_percent, Unit::chance,
                percent * Chance::one_percent > chance ? "it marks more" : "it marks less");
    return percent;
}

std::array<std::uint64_t, classes> whole_percents(const std::array<std::uint64_t, classes>& weights) {
    std::array<std::uint64_t, classes> percents{};
    const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    if (all == 0) return percents;
    std::uint64_t given = 0;
    for (std::size_t n = 0; n < weights.size(); ++n) {
        percents[n] = weights[n] == 0 ? 0 : std::max<std::uint64_t>(weights[n] * 100 / all, 1);
        given += percents[n];
    }
    // The rest goes to those that have lost most; too much comes from the largest.
    while (given != 100) {
        std::size_t at = classes;
        for (std::size_t n = 0; n < weights.size(); ++n) {
            if (weights[n] == 0) continue;
            const auto lacks = [&](std::size_t of) {
                return static_cast<std::int64_t>(weights[of] * 100) -
                       static_cast<std::int64_t>(percents[of] * all);
            };
            if (at == classes || (given < 100 ? lacks(n) > lacks(at) : percents[n] > percents[at])) at = n;
        }
        percents[at] += given < 100 ? 1U : std::uint64_t(-1);
        given += given < 100 ? 1U : std::uint64_t(-1);
    }
    return percents;
}

void tell_trimming(Exporting& out) {
    constexpr const char* instead =
        "the export has no packet trimming: queues drop what they have no room for";
    for (const ConfigValue& value : config_values(out.config, {}, false))
        if (value.path.starts_with("trimming.")) out.unsaid(value.path, instead);
    for (const auto& [name, port] : out.config.ports) {
        if (port.trim_dscp) out.unsaid(key_of_port(name, "trim_dscp"), instead);
        for_each_class(out.qos.ports.at(name).trim.queues, [&](ClassId n) {
            out.unsaid(key_of_port(name, fmt::format("queue.{}.on_full", n)), instead);
        });
    }
}

void tell_own_keys(Exporting& out) {
    for (const ConfigValue& value : config_values(out.config, {}, false)) {
        const std::string_view section = std::string_view(value.path).substr(0, value.path.find('.'));
        if (std::ranges::find(exported, section) != exported.end()) continue;
        out.unsaid(value.path, "a key of Sluice's own, or of a simulation: the export has nothing of it");
    }
}

std::array<bool, classes> used_queues(const MapConfig& map) {
    std::array<bool, classes> used{};
    for (const ClassId tc : map.dscp_to_tc) used[map.tc_to_queue[tc]] = true;
    for (const ClassId tc : map.pcp_to_tc) used[map.tc_to_queue[tc]] = true;
    if (map.roce_tc) used[map.tc_to_queue[*map.roce_tc]] = true;
    if (map.cnp_tc) used[map.tc_to_queue[*map.cnp_tc]] = true;
    return used;
}

std::span<const ExportFormat> export_formats() {
    static constexpr std::array all{
        ExportFormat{
            "sonic", "SONiC",
            "tables of config_db.json: PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER, "
            "WRED_PROFILE, SWITCH_TRIMMING; a patch is RFC 6902 for config apply-patch, and what that "
            "refuses is whole tables "
            "in a second file, FILE.tables.json, for config_db.json and config reload",
            export_sonic, Source::sonic, ".tables.json",
            "whole tables that config apply-patch refuses to change; do: put them in the place of those in "
            "config_db.json (jq -s '.[0] + .[1]'), and config reload"},
        ExportFormat{"nvue",
                     "NVUE",
                     "lines of nv set (Cumulus Linux): interfaces, qos roce, profiles of qos, static routes; "
                     "a patch has nv unset, too",
                     export_nvue,
                     Source::cumulus,
                     {},
                     {}},
        ExportFormat{"eos",
                     "EOS",
                     "statements of Arista EOS: interfaces, qos profiles, qos map, priority-flow-control and "
                     "its watchdog, static routes; headroom, which EOS has no words for, is a comment",
                     export_eos,
                     Source::eos,
                     {},
                     {}},
        ExportFormat{"nxos",
                     "NX-OS",
                     "statements of Cisco NX-OS: interfaces, class-maps and policy-maps of types qos, "
                     "network-qos and queuing, priority-flow-control and its watchdog, static routes",
                     export_nxos,
                     Source::nxos,
                     {},
                     {}},
    };
    return all;
}

}  // namespace sluice::import
