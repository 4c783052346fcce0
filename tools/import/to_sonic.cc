#include "tools/import/importing.hh"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "control/config/compile/qos.hh"
#include "lib/values/class_mask.hh"

namespace sluice::import {
namespace {

using Json = nlohmann::ordered_json;

std::string word(std::uint64_t number) { return std::to_string(number); }

// The name of an entry in a table of entries by value: equal ones are one, the next one of a name gets a
// number.
std::string named(Json& table, const std::string& wanted, const Json& entry) {
    std::string unique = wanted;
    for (unsigned n = 2; table.contains(unique) && table[unique] != entry; ++n)
        unique = fmt::format("{}_{}", wanted, n);
    table[unique] = entry;
    return unique;
}

class Writer {
  public:
    explicit Writer(const Config& config) : config_(config), qos_(effective_qos(config)) {}

    Json tables() {
        for (const char* name :
             {"PORT", "CABLE_LENGTH", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_QUEUE_MAP",
              "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "PORT_QOS_MAP", "BUFFER_POOL",
              "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "SCHEDULER", "WRED_PROFILE", "QUEUE", "PFC_WD"})
            out_[name] = Json::object();
        pools();
        for (const auto& [name, port] : config_.ports) write_port(name, port, qos_.ports.at(name));
        for (auto entry = out_.begin(); entry != out_.end();)
            entry = entry.value().empty() ? out_.erase(entry) : std::next(entry);
        return out_;
    }

  private:
    void pools();
    void write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void write_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void write_group(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                     unsigned n);
    void write_queue(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                     unsigned n);
    std::string wred(const std::string& name, const WredProfile& profile);
    void add_threshold(Json& profile, const ThresholdConfig& configured, const Threshold& effective) const;
    std::string pool(PoolDirection direction, unsigned index) const {
        const EffectivePool* found = qos_.pool(direction, index);
        return found == nullptr ? std::string() : found->name;
    }
    std::uint64_t bytes(const std::optional<std::uint64_t>& configured, std::uint64_t cells) const {
        return configured.value_or(cells * config_.cell_bytes);
    }

    const Config& config_;
    EffectiveQos qos_;
    Json out_ = Json::object();
};

void Writer::pools() {
    for (const EffectivePool& pool : qos_.pools) {
        const auto said = config_.pools.find(pool.name);
        const std::uint64_t size = said != config_.pools.end()
                                       ? said->second.size_bytes
                                       : std::uint64_t{pool.size_cells} * config_.cell_bytes;
        const std::uint64_t promised = (pool.reserved_cells + pool.headroom_cells) * config_.cell_bytes;
        Json& entry = out_["BUFFER_POOL"][pool.name];
        entry = {{"type", pool.direction == PoolDirection::ingress ? "ingress" : "egress"},
                 {"mode", "dynamic"},
                 {"size", word(size - std::min(size, promised))}};
        const std::uint64_t shared = said != config_.pools.end() ? said->second.shared_headroom_bytes : 0;
        if (shared != 0) entry["xoff"] = word(shared);
    }
}

void Writer::add_threshold(Json& profile, const ThresholdConfig& configured,
                           const Threshold& effective) const {
    if (configured.dynamic_th || (!configured.static_bytes && effective.is_dynamic())) {
        profile["dynamic_th"] =
            std::to_string(configured.dynamic_th ? *configured.dynamic_th : effective.n());
        return;
    }
    std::uint64_t limit = configured.static_bytes.value_or(0);
    // 0 is not a limit to Sluice, and nothing at all to SONiC; so is a byte to Sluice.
    if (limit == 0) limit = config_.buffer_size_bytes;
    if (limit == 1) limit = 0;
    profile["static_th"] = word(limit);
}

void Writer::write_group(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                         unsigned n) {
    const PriorityGroupConfig& said = port.priority_group[n];
    const GroupLimits& limits = effective.group[n];
    const bool lossless = limits.lossless;
    const bool used = std::any_of(effective.map.dscp_to_tc.begin(), effective.map.dscp_to_tc.end(),
                                  [&](ClassId tc) { return effective.map.tc_to_priority_group[tc] == n; });
    const bool presets = config_.pools.empty();
    if (said == PriorityGroupConfig{} && !(presets && (lossless || used))) return;
    Json profile = {{"pool", pool(PoolDirection::ingress, limits.pool)}};
    // A headroom that nobody gave is the buffer manager's to compute, by the one profile of this name.
    if (lossless && !said.xoff_bytes && !said.size_bytes && !presets) {
        profile["size"] = "0";
        add_threshold(profile, said, limits.threshold);
        Json& computed = out_["BUFFER_PROFILE"]["ingress_lossless_profile"];
        if (computed.is_null()) computed = profile;
        if (computed == profile) {
            out_["BUFFER_PG"][fmt::format("{}|{}", name, n)] = {{"profile", "NULL"}};
            return;
        }
    }
    const std::uint64_t xoff = lossless ? bytes(said.xoff_bytes, limits.headroom_cells) : 0;
    const std::uint64_t reserved = bytes(said.size_bytes, limits.reserved_cells);
    const bool given = lossless && (said.xoff_bytes || presets);
    profile["size"] = word(given && reserved > xoff ? reserved + xoff : reserved);
    if (given) profile["xoff"] = word(xoff);
    if (said.xon_bytes || (given && presets)) profile["xon"] = word(bytes(said.xon_bytes, limits.xon_cells));
    if (said.xon_offset_bytes || (given && presets))
        profile["xon_offset"] = word(bytes(said.xon_offset_bytes, limits.xon_offset_cells));
    add_threshold(profile, said, limits.threshold);
    const std::string wanted = given ? fmt::format("pg_lossless_{}_{}m_profile",
                                                   port.speed.bits_per_second / 1'000'000, port.cable_m)
                                     : "ingress_lossy_profile";
    out_["BUFFER_PG"][fmt::format("{}|{}", name, n)] = {
        {"profile", named(out_["BUFFER_PROFILE"], wanted, profile)}};
}

std::string Writer::wred(const std::string& name, const WredProfile& profile) {
    const bool marks_alone = profile.drop_non_ect == false;
    const char* drops = marks_alone ? "false" : "true";
    Json entry = {{"wred_green_enable", drops},
                  {"wred_yellow_enable", drops},
                  {"wred_red_enable", drops},
                  {"ecn", profile.ecn ? "ecn_all" : "ecn_none"}};
    const auto said = config_.wred.find(name);
    constexpr std::array<const char*, colors> names{"green", "yellow", "red"};
    constexpr std::array<WredCurveConfig WredConfig::*, colors> curves{&WredConfig::green,
                                                                       &WredConfig::yellow, &WredConfig::red};
    for (unsigned n = 0; n < colors; ++n) {
        const WredCurve& curve = marks_alone && profile.has_ect ? profile.ect : profile.color[n];
        const WredCurveConfig* own = said == config_.wred.end() ? nullptr : &(said->second.*curves[n]);
        // A color that the file leaves out is the green one.
        if (own != nullptr && n != 0 && *own == WredCurveConfig{}) continue;
        entry[fmt::format("{}_min_threshold", names[n])] = word(curve.min());
        entry[fmt::format("{}_max_threshold", names[n])] = word(curve.max());
        const std::uint64_t before = curve.max() == 0 ? 0 : curve.probability(curve.max() - 1);
        std::uint64_t percent = (before * 100 + certainty / 2) / certainty;
        if (own != nullptr && own->probability)
            percent = own->probability->parts_per_billion / Chance::one_percent;
        entry[fmt::format("{}_drop_probability", names[n])] = word(percent);
    }
    return named(out_["WRED_PROFILE"], name, entry);
}

void Writer::write_queue(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                         unsigned n) {
    const QueueConfig& said = port.queue[n];
    const QueueLimits& limits = effective.queue[n];
    const QueueSchedule& schedule = effective.schedule.queue[n];
    const std::string key = fmt::format("{}|{}", name, n);
    if (said.pool || said.size_bytes || said.dynamic_th || said.static_bytes || config_.pools.empty()) {
        Json profile = {{"pool", pool(PoolDirection::egress, limits.pool)},
                        {"size", word(bytes(said.size_bytes, limits.reserved_cells))}};
        add_threshold(profile, said, limits.threshold);
        const char* wanted = limits.lossless ? "egress_lossless_profile" : "egress_lossy_profile";
        out_["BUFFER_QUEUE"][key] = {{"profile", named(out_["BUFFER_PROFILE"], wanted, profile)}};
    }
    Json scheduler = {{"type", schedule.strict ? "STRICT" : "DWRR"}, {"weight", word(schedule.weight)}};
    if (schedule.min_rate != Rate{}) scheduler["cir"] = word(schedule.min_rate.bits_per_second / 8);
    if (schedule.max_rate != Rate{}) scheduler["pir"] = word(schedule.max_rate.bits_per_second / 8);
    if (said.max_burst_bytes) scheduler["pbs"] = word(*said.max_burst_bytes);
    Json& entry = out_["QUEUE"][key];
    entry["scheduler"] = named(out_["SCHEDULER"], fmt::format("scheduler.{}", schedule.weight), scheduler);
    if (effective.wred_profile[n])
        entry["wred_profile"] = wred(effective.wred[n], *effective.wred_profile[n]);
}

template <std::size_t size>
Json map_json(const std::array<ClassId, size>& map) {
    Json entry = Json::object();
    for (std::size_t n = 0; n < size; ++n) entry[std::to_string(n)] = std::to_string(map[n]);
    return entry;
}

void Writer::write_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    Json& entry = out_["PORT_QOS_MAP"][name];
    const auto put = [&](const char* field, const char* table, const Json& values) {
        entry[field] = named(out_[table], port.map, values);
    };
    if (port.trust == Trust::dscp) put("dscp_to_tc_map", "DSCP_TO_TC_MAP", map_json(map.dscp_to_tc));
    if (port.trust == Trust::pcp) put("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", map_json(map.pcp_to_tc));
    put("tc_to_queue_map", "TC_TO_QUEUE_MAP", map_json(map.tc_to_queue));
    put("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", map_json(map.tc_to_priority_group));
    put("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", map_json(map.pfc_priority_to_queue));
    if (port.shaper != Rate{}) {
        Json shaper = {{"pir", word(port.shaper.bits_per_second / 8)}};
        if (port.shaper_burst_bytes) shaper["pbs"] = word(*port.shaper_burst_bytes);
        entry["scheduler"] = named(out_["SCHEDULER"], "port", shaper);
    }
    std::string list;
    for_each_class(effective.lossless,
                   [&](ClassId n) { list += (list.empty() ? "" : ",") + std::to_string(n); });
    entry["pfc_enable"] = list;
    if (watchdog_of(config_.watchdog, port).action != WatchdogAction::off && !list.empty())
        entry["pfcwd_sw_enable"] = list;
}

void Writer::write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    out_["PORT"][name] = {{"speed", word(port.speed.bits_per_second / 1'000'000)}, {"mtu", word(port.mtu)}};
    if (effective.mode == PfcMode::asymmetric) out_["PORT"][name]["pfc_asym"] = "on";
    out_["CABLE_LENGTH"]["AZURE"][name] = fmt::format("{}m", port.cable_m);
    write_maps(name, port, effective);
    for (unsigned n = 0; n < classes; ++n) {
        write_group(name, port, effective, n);
        write_queue(name, port, effective, n);
    }
    const WatchdogConfig watchdog = watchdog_of(config_.watchdog, port);
    if (watchdog.action == WatchdogAction::off) return;
    constexpr std::int64_t ps_of_ms = 1'000'000'000;
    Json& entry = out_["PFC_WD"][name];
    entry = {{"action", to_string(watchdog.action)},
             {"detection_time", std::to_string(watchdog.detection.ps / ps_of_ms)}};
    const Duration restoration = watchdog.restoration.value_or(watchdog.detection * 2);
    entry["restoration_time"] = std::to_string(restoration.ps / ps_of_ms);
}

}  // namespace

nlohmann::ordered_json to_sonic(const Config& config) { return Writer(config).tables(); }

}  // namespace sluice::import
