// Tables of SONiC's config_db.json: PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER,
// WRED_PROFILE, SWITCH_TRIMMING, of which `import_sonic` makes an equal configuration of these parts. Sizes
// are those of the file where it has them, else those in force.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/to_sonic.hh"

namespace sluice::import {
namespace {

std::string word(std::uint64_t number) { return std::to_string(number); }

// "size 1248, xoff 224256": the fields of an entry.
std::string fields_of(const Tables& entry) {
    std::string text;
    for (const auto& [name, value] : entry.items())
        append_item(text, ", ", fmt::format("{} {}", name, value.get<std::string>()));
    return text;
}

class Writer {
  public:
    Writer(Exporting& out, std::optional<ClassId> trim_class)
        : account_(out), config_(out.config), qos_(out.qos), trim_class_(trim_class) {}

    Tables tables() {
        for (const char* name :
             {"PORT", "CABLE_LENGTH", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP", "TC_TO_QUEUE_MAP",
              "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE", "PORT_QOS_MAP", "BUFFER_POOL",
              "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "SCHEDULER", "WRED_PROFILE", "QUEUE", "PFC_WD",
              "TC_TO_DSCP_MAP", "SWITCH_TRIMMING"})
            out_[name] = Tables::object();
        pools();
        trimming();
        for (const auto& [name, port] : config_.ports) write_port(name, port, qos_.ports.at(name));
        if (const auto& poll = config_.watchdog.poll) {
            Tables& all_ports = out_["PFC_WD"]["GLOBAL"];
            all_ports["POLL_INTERVAL"] = milliseconds_of("watchdog.poll", *poll);
            account_.said("watchdog.poll", "PFC_WD.GLOBAL: " + fields_of(all_ports));
        }
        for (auto entry = out_.begin(); entry != out_.end();)
            entry = entry.value().empty() ? out_.erase(entry) : std::next(entry);
        return out_;
    }

  private:
    void pools();
    void trimming();
    void write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void write_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void write_group(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                     unsigned n);
    void write_queue(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                     unsigned n);
    std::string wred(const std::string& name, const WredProfile& profile);
    void tell_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void bind(const char* table, const std::string& name, unsigned n, const std::string& wanted,
              const Tables& profile, const std::string& path);
    std::string bytes_a_second(const std::string& path, Rate rate, bool up);
    std::string milliseconds_of(const std::string& path, Duration time);
    void add_threshold(Tables& profile, const ThresholdConfig& configured, const Threshold& effective) const;
    std::string pool(PoolDirection direction, unsigned index) const {
        const EffectivePool* found = qos_.pool(direction, index);
        return found == nullptr ? std::string() : found->name;
    }
    Exporting& account_;
    const Config& config_;
    const EffectiveQos& qos_;
    std::optional<ClassId> trim_class_;               // of "from-tc"; absent: one DSCP for all ports
    std::map<std::string, std::uint8_t> trim_dscps_;  // of packets that are trimmed at a port
    Tables out_ = Tables::object();
};

void Writer::pools() {
    for (const EffectivePool& pool : qos_.pools) {
        const auto said = config_.pools.find(pool.name);
        const std::uint64_t size = said != config_.pools.end()
                                       ? said->second.size_bytes
                                       : std::uint64_t{pool.size_cells} * config_.cell_bytes;
        const std::uint64_t promised = (pool.reserved_cells + pool.headroom_cells) * config_.cell_bytes;
        Tables& entry = out_["BUFFER_POOL"][pool.name];
        entry = {{"type", pool.direction == PoolDirection::ingress ? "ingress" : "egress"},
                 {"mode", "dynamic"},
                 {"size", word(size - std::min(size, promised))}};
        const std::uint64_t shared = said != config_.pools.end() ? said->second.shared_headroom_bytes : 0;
        if (shared != 0) entry["xoff"] = word(shared);
        account_.said("pool." + pool.name, fmt::format("BUFFER_POOL.{}: {}", pool.name, fields_of(entry)));
    }
}

// Ports that differ in the DSCP have it by a class (from-tc): that of trimmed packets, since a chip gives
// whole packets of the class the DSCP of the port's map, too.
void Writer::trimming() {
    bool differ = false;
    for (const auto& [name, port] : config_.ports) {
        const TrimPolicy& rule = qos_.ports.at(name).trim;
        std::optional<std::uint8_t> dscp = port.trim_dscp ? port.trim_dscp : config_.trimming.dscp;
        if (rule.queues != 0) dscp = rule.dscp;
        if (!dscp) continue;
        trim_dscps_.emplace(name, *dscp);
        differ = differ || *dscp != trim_dscps_.begin()->second;
    }
    if (trim_dscps_.empty()) trim_class_.reset();
    if (trim_dscps_.empty() && config_.trimming == TrimmingConfig{}) return;
    if (differ && !trim_class_) {
        const auto& [name, dscp] = *trim_dscps_.begin();
        trim_class_ = qos_.ports.at(name).map.dscp_to_tc[dscp];
    }
    const TrimmingConfig& said = config_.trimming;
    Tables& entry = out_["SWITCH_TRIMMING"]["GLOBAL"];
    entry = {{"size", word(said.size_bytes)}};
    if (trim_class_) {
        entry["dscp_value"] = "from-tc";
        entry["tc_value"] = word(*trim_class_);
    } else if (!trim_dscps_.empty()) {
        entry["dscp_value"] = word(trim_dscps_.begin()->second);
    }
    entry["queue_index"] = said.queue ? word(*said.queue) : "dynamic";
    account_.said("trimming", "SWITCH_TRIMMING.GLOBAL: " + fields_of(entry));
    if (said.trimmable_dscp)
        account_.unsaid(
            "trimming.trimmable_dscp",
            "packets of every DSCP are trimmed, but for those of an access list with DISABLE_TRIM");
}

void Writer::add_threshold(Tables& profile, const ThresholdConfig& configured,
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
    PriorityGroupConfig of_use = said;  // a lossy group has no headroom
    if (!lossless) of_use.xoff_bytes.reset();
    if (of_use == PriorityGroupConfig{} && !(presets && (lossless || used))) return;
    Tables profile = {{"pool", pool(PoolDirection::ingress, limits.pool)}};
    // A headroom that nobody gave is the buffer manager's to compute, by the one profile of this name.
    if (lossless && !said.xoff_bytes && !said.size_bytes && !presets) {
        profile["size"] = "0";
        add_threshold(profile, said, limits.threshold);
        Tables& computed = out_["BUFFER_PROFILE"]["ingress_lossless_profile"];
        if (computed.is_null()) computed = profile;
        if (computed == profile) {
            out_["BUFFER_PG"][fmt::format("{}|{}", name, n)] = {{"profile", computed_profile}};
            account_.said(key_of_port(name, fmt::format("priority_group.{}", n)),
                          fmt::format("BUFFER_PG.{}|{} NULL: SONiC computes the headroom by its own formula, "
                                      "as Sluice does by its own",
                                      name, n));
            return;
        }
    }
    const std::uint64_t xoff = lossless ? account_.bytes(said.xoff_bytes, limits.headroom_cells) : 0;
    const std::uint64_t reserved = account_.bytes(said.size_bytes, limits.reserved_cells);
    const bool given = lossless && (said.xoff_bytes || presets);
    profile["size"] = word(given && reserved > xoff ? reserved + xoff : reserved);
    if (given) profile["xoff"] = word(xoff);
    if (said.xon_bytes || (given && presets))
        profile["xon"] = word(account_.bytes(said.xon_bytes, limits.xon_cells));
    if (said.xon_offset_bytes || (given && presets))
        profile["xon_offset"] = word(account_.bytes(said.xon_offset_bytes, limits.xon_offset_cells));
    add_threshold(profile, said, limits.threshold);
    const std::string wanted = given ? fmt::format("pg_lossless_{}_{}m_profile",
                                                   port.speed.bits_per_second / 1'000'000, port.cable_m)
                                     : "ingress_lossy_profile";
    bind("BUFFER_PG", name, n, wanted, profile, fmt::format("priority_group.{}", n));
}

// The entry of a group or queue, by a profile.
void Writer::bind(const char* table, const std::string& name, unsigned n, const std::string& wanted,
                  const Tables& profile, const std::string& path) {
    const std::string made = own_name(out_["BUFFER_PROFILE"], wanted, profile);
    out_[table][fmt::format("{}|{}", name, n)] = {{"profile", made}};
    account_.said(key_of_port(name, path),
                  fmt::format("{}.{}|{} by {}: {}", table, name, n, made, fields_of(profile)));
}

std::string Writer::wred(const std::string& name, const WredProfile& profile) {
    const bool marks_alone = profile.drop_non_ect == false;
    const char* drops = marks_alone ? "false" : "true";
    Tables entry = {{"wred_green_enable", drops},
                    {"wred_yellow_enable", drops},
                    {"wred_red_enable", drops},
                    {"ecn", profile.ecn ? "ecn_all" : "ecn_none"}};
    const auto said = config_.wred.find(name);
    constexpr std::array<const char*, colors> names{"green", "yellow", "red"};
    constexpr std::array<WredCurveConfig WredConfig::*, colors> curves{&WredConfig::green,
                                                                       &WredConfig::yellow, &WredConfig::red};
    const auto add = [&](const std::string& start, const char* chance, const char* key,
                         const WredCurve& curve) {
        entry[start + "_min_threshold"] = word(curve.min());
        entry[start + "_max_threshold"] = word(curve.max());
        entry[start + chance] = word(percent_of_curve(account_, name, key, curve));
    };
    const bool by_ect = marks_alone && profile.has_ect;
    constexpr std::array<const char*, colors> keys{"green_probability", "yellow_probability",
                                                   "red_probability"};
    for (unsigned n = 0; n < colors; ++n) {
        // A color that the file leaves out is the green one.
        const bool is_green = said == config_.wred.end() || said->second.*curves[n] == WredCurveConfig{};
        if (n != 0 && said != config_.wred.end() && is_green) continue;
        add(names[n], "_drop_probability", by_ect ? "ect_probability" : keys[n],
            by_ect ? profile.ect : profile.color[n]);
    }
    if (!marks_alone && profile.has_ect)
        add("green_ect", "_mark_probability", "ect_probability", profile.ect);
    tell_marking(account_, name, profile);
    return own_name(out_["WRED_PROFILE"], name, entry);
}

void Writer::write_queue(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                         unsigned n) {
    const QueueConfig& said = port.queue[n];
    const QueueLimits& limits = effective.queue[n];
    const QueueSchedule& schedule = effective.schedule.queue[n];
    const std::string key = fmt::format("{}|{}", name, n);
    const bool trims = (effective.trim.queues >> n & 1U) != 0;
    if (said.pool || said.size_bytes || said.dynamic_th || said.static_bytes || said.on_full || trims ||
        config_.pools.empty()) {
        Tables profile = {{"pool", pool(PoolDirection::egress, limits.pool)},
                          {"size", word(account_.bytes(said.size_bytes, limits.reserved_cells))}};
        add_threshold(profile, said, limits.threshold);
        if (trims || said.on_full) profile["packet_discard_action"] = trims ? "trim" : "drop";
        const char* wanted = limits.lossless ? "egress_lossless_profile"
                             : trims         ? "q_lossy_trim_profile"
                                             : "egress_lossy_profile";
        bind("BUFFER_QUEUE", name, n, wanted, profile, fmt::format("queue.{}", n));
    }
    Tables scheduler = {{"type", schedule.strict ? "STRICT" : "DWRR"}, {"weight", word(schedule.weight)}};
    const std::string path = key_of_port(name, fmt::format("queue.{}", n));
    if (schedule.min_rate != Rate{})
        scheduler["cir"] = bytes_a_second(path + ".min_rate", schedule.min_rate, true);
    if (schedule.max_rate != Rate{})
        scheduler["pir"] = bytes_a_second(path + ".max_rate", schedule.max_rate, false);
    if (said.max_burst_bytes) scheduler["pbs"] = word(*said.max_burst_bytes);
    Tables& entry = out_["QUEUE"][key];
    entry["scheduler"] = own_name(out_["SCHEDULER"], fmt::format("scheduler.{}", schedule.weight), scheduler);
    if (effective.wred_profile[n])
        entry["wred_profile"] = wred(effective.wred[n], *effective.wred_profile[n]);
    account_.said(path, fmt::format("QUEUE.{}: {}: {}", key, fields_of(entry), fields_of(scheduler)));
    if (effective.wred_profile[n])
        account_.said(path + ".wred",
                      fmt::format("WRED_PROFILE.{}: {}", entry["wred_profile"].get<std::string>(),
                                  fields_of(out_["WRED_PROFILE"][entry["wred_profile"].get<std::string>()])));
}

std::string Writer::bytes_a_second(const std::string& path, Rate rate, bool up) {
    const std::uint64_t bytes = (rate.bits_per_second + (up ? 7 : 0)) / 8;
    account_.rounded(path, rate.bits_per_second, bytes * 8, Unit::bits_a_second,
                     up ? "a little more is guaranteed" : "a little less is sent");
    return word(bytes);
}

template <std::size_t size>
Tables map_table(const std::array<ClassId, size>& map) {
    Tables entry = Tables::object();
    for (std::size_t n = 0; n < size; ++n) entry[std::to_string(n)] = std::to_string(map[n]);
    return entry;
}

void Writer::write_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    Tables& entry = out_["PORT_QOS_MAP"][name];
    const auto put = [&](const char* field, const char* table, const Tables& values) {
        entry[field] = own_name(out_[table], port.map, values);
    };
    if (port.trust == Trust::dscp) put("dscp_to_tc_map", "DSCP_TO_TC_MAP", map_table(map.dscp_to_tc));
    if (port.trust == Trust::pcp) put("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", map_table(map.pcp_to_tc));
    put("tc_to_queue_map", "TC_TO_QUEUE_MAP", map_table(map.tc_to_queue));
    put("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", map_table(map.tc_to_priority_group));
    put("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", map_table(map.pfc_priority_to_queue));
    if (const auto dscp = trim_dscps_.find(name); trim_class_ && dscp != trim_dscps_.end())
        entry["tc_to_dscp_map"] =
            own_name(out_["TC_TO_DSCP_MAP"], "trim", {{word(*trim_class_), word(dscp->second)}});
    if (port.shaper != Rate{}) {
        Tables shaper = {{"pir", bytes_a_second(key_of_port(name, "shaper"), port.shaper, false)}};
        if (port.shaper_burst_bytes) shaper["pbs"] = word(*port.shaper_burst_bytes);
        entry["scheduler"] = own_name(out_["SCHEDULER"], "port", shaper);
    }
    std::string list;
    for_each_class(effective.lossless,
                   [&](ClassId n) { list += (list.empty() ? "" : ",") + std::to_string(n); });
    entry["pfc_enable"] = list;
    if (watchdog_of(config_.watchdog, port).action != WatchdogAction::off && !list.empty())
        entry["pfcwd_sw_enable"] = list;
    account_.said(key_of_port(name, "map"), fmt::format("PORT_QOS_MAP.{}: {}", name, fields_of(entry)));
    tell_maps(name, port, effective);
}

// What frames are classified by in Sluice alone.
void Writer::tell_maps(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    const auto tell = [&](const char* key, std::string instead) {
        account_.unsaid(fmt::format("map.{}.{}", port.map, key), std::move(instead));
    };
    tell_classes(account_, name, port, effective);
    if (port.trust == Trust::dscp && std::ranges::any_of(map.pcp_to_tc, [](ClassId tc) { return tc != 0; }))
        tell("pcp_to_tc", "a frame without DSCP has class 0");
    if (port.default_tc != 0)
        account_.unsaid(key_of_port(name, "default_tc"), "a frame without DSCP and PCP has class 0");
    if (effective.mode == PfcMode::semi_lossless || effective.mode == PfcMode::off)
        account_.unsaid(
            key_of_port(name, "pfc_mode"),
            "SONiC has no such mode: pfc_enable is empty, and the port neither sends nor obeys PFC");
    if (port.trust == Trust::port)
        account_.said(key_of_port(name, "trust"), "no map of DSCP or PCP: all is class 0");
}

void Writer::write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    out_["PORT"][name] = {{"speed", word(port.speed.bits_per_second / 1'000'000)}, {"mtu", word(port.mtu)}};
    if (effective.mode == PfcMode::asymmetric) out_["PORT"][name]["pfc_asym"] = "on";
    out_["CABLE_LENGTH"]["AZURE"][name] = fmt::format("{}m", port.cable_m);
    account_.said("port." + name, fmt::format("PORT.{}: {}; CABLE_LENGTH {}m", name,
                                              fields_of(out_["PORT"][name]), port.cable_m));
    write_maps(name, port, effective);
    for (unsigned n = 0; n < classes; ++n) {
        write_group(name, port, effective, n);
        write_queue(name, port, effective, n);
    }
    const WatchdogConfig watchdog = watchdog_of(config_.watchdog, port);
    if (watchdog.action == WatchdogAction::off) return;
    const std::string path = key_of_port(name, "watchdog");
    Tables& entry = out_["PFC_WD"][name];
    entry = {{"action", to_string(watchdog.action)},
             {"detection_time", milliseconds_of(path + ".detection", watchdog.detection)},
             {"restoration_time", milliseconds_of(path + ".restoration", restoration_of(watchdog))}};
    account_.said(path, fmt::format("PFC_WD.{}: {}", name, fields_of(entry)));
}

std::string Writer::milliseconds_of(const std::string& path, Duration time) {
    constexpr std::int64_t ps_of_ms = 1'000'000'000;
    const std::int64_t ms = (time.ps + ps_of_ms - 1) / ps_of_ms;
    account_.rounded(path, static_cast<std::uint64_t>(time.ps), static_cast<std::uint64_t>(ms * ps_of_ms),
                     Unit::picoseconds, "it acts that much later");
    return std::to_string(ms);
}

}  // namespace

Tables sonic_tables(Exporting& out, std::optional<ClassId> trim_class) {
    Tables tables = Writer(out, trim_class).tables();
    tell_own_keys(out);
    return tables;
}

}  // namespace sluice::import
