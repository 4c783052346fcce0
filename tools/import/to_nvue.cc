// A configuration as NVUE's tables: a switch priority is a traffic class, a traffic class is a queue.
//
// Pools are written by `qos roce`, whose profile has two or one; all that it brings for ports is written
// out, too. Without pools of its own the configuration gets the profiles alone.
#include "tools/import/to_nvue.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/cumulus.hh"

namespace sluice::import {
namespace {

constexpr const char* profile_name = "default-global";

class NvueWriter {
  public:
    explicit NvueWriter(Exporting& out) : out_(out), config_(out.config) {}

    Tables tables() {
        names_ = name_ports(out_, "swp", [](std::string_view name) {
            return front_ports(name) == std::vector{std::string(name)};
        });
        for (const char* name :
             {"interface", "qos", "qos mapping", "qos egress-queue-mapping", "qos pfc",
              "qos egress-scheduler", "qos congestion-control", "vrf default router static"})
            made_[name] = Tables::object();
        pools();
        watchdog();
        for (const auto& [name, port] : config_.ports) write_port(name, port, out_.qos.ports.at(name));
        routes();
        for (auto entry = made_.begin(); entry != made_.end();)
            entry = entry.value().empty() ? made_.erase(entry) : std::next(entry);
        return std::move(made_);
    }

  private:
    void pools();
    void watchdog();
    void routes();
    void write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void write_link(const std::string& name, const PortConfig& port, Tables& interface);
    Tables mapping(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    Tables queues(const PortConfig& port, const EffectivePort& effective);
    Tables pfc(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void add_headroom(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                      Tables& profile);
    Tables scheduler(const std::string& name, const EffectivePort& effective);
    Tables marking(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void add_curve(const std::string& name, const WredProfile& profile, const std::string& start,
                   Tables& made);
    void tell_limits(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    // A profile that the interface goes by.
    void bind(const std::string& port, Tables& interface, const char* kind, const Tables& profile,
              const std::string& path) {
        const std::string made = own_name(made_[fmt::format("qos {}", kind)], profile_name, profile);
        interface[fmt::format("qos {} profile", kind)] = made;
        out_.said(key_of_port(port, path), fmt::format("qos {} {}", kind, made));
    }

    Exporting& out_;
    const Config& config_;
    PortNames names_;
    Tables made_ = Tables::object();
    Duration detection_{};
    bool is_roce_ = false;
};

void NvueWriter::pools() {
    tell_buffer(out_);
    if (config_.pools.empty()) {
        out_.unsaid("pool", "the configuration has none, and NVUE divides the memory as it does");
        return;
    }
    is_roce_ = true;
    // The pool of lossless groups, beside the others.
    std::uint64_t lossless = 0, all = 0;
    std::size_t count = 0;
    std::string name;
    for (const EffectivePool& pool : out_.qos.pools) {
        if (pool.shared_headroom_cells != 0)
            out_.unsaid(fmt::format("pool.{}.shared_headroom", pool.name), "each port has its own headroom");
        if (pool.direction == PoolDirection::egress) {
            out_.unsaid("pool." + pool.name,
                        "egress: qos roce gives the lossless queues the whole memory, and the others what is "
                        "not lossless");
            continue;
        }
        const auto said = config_.pools.find(pool.name);
        const std::uint64_t bytes = said == config_.pools.end()
                                        ? std::uint64_t{pool.size_cells} * config_.cell_bytes
                                        : said->second.size_bytes;
        ++count;
        all += bytes;
        const bool serves = std::ranges::any_of(out_.qos.ports, [&](const auto& port) {
            return std::ranges::any_of(port.second.group, [&](const GroupLimits& group) {
                return group.lossless && group.pool == pool.index;
            });
        });
        if (!serves) continue;
        lossless += bytes;
        name = pool.name;
    }
    made_["qos"]["roce"]["mode"] = count == 1 ? "lossless-single-ipool" : "lossless";
    out_.said("pool", fmt::format("qos roce mode {}", count == 1 ? "lossless-single-ipool" : "lossless"));
    if (count == 1 || all == 0) return;
    const std::uint64_t percent = std::clamp<std::uint64_t>((lossless * 100 + all / 2) / all, 1, 99);
    made_["qos"]["traffic-pool roce-lossless"]["memory-percent"] = std::to_string(percent);
    made_["qos"]["traffic-pool default-lossy"]["memory-percent"] = std::to_string(100 - percent);
    out_.said("pool." + name, fmt::format("qos traffic-pool roce-lossless memory-percent {}", percent));
    out_.rounded(fmt::format("pool.{}.size", name), lossless, all * percent / 100, Unit::bytes,
                 "the lossless pool ends, and pauses begin, at another fill");
}

void NvueWriter::watchdog() {
    for (const auto& [name, port] : config_.ports) {
        const WatchdogConfig own = watchdog_of(config_.watchdog, port);
        if (own.action != WatchdogAction::off) detection_ = std::max(detection_, own.detection);
    }
    if (detection_ == Duration{}) return;
    constexpr std::int64_t ps_of_ms = 1'000'000'000, usual_poll = 100;
    const std::int64_t ms = (detection_.ps + ps_of_ms - 1) / ps_of_ms;
    const bool whole = ms % usual_poll == 0;
    Tables& entry = made_["qos"]["pfc-watchdog"];
    entry["polling-interval"] = std::to_string(whole ? usual_poll : ms);
    entry["robustness"] = std::to_string(whole ? ms / usual_poll : 1);
    out_.said("watchdog.detection", fmt::format("qos pfc-watchdog polling-interval {} robustness {}",
                                                whole ? usual_poll : ms, whole ? ms / usual_poll : 1));
    detection_ = milliseconds(ms);
    if (config_.watchdog.poll)
        out_.unsaid("watchdog.poll", "polling-interval times robustness is the detection");
}

void NvueWriter::routes() {
    for (const RouteConfig& route : *config_.routes) {
        Tables& entry = made_["vrf default router static"][print_prefix(route.prefix)];
        if (route.via.empty()) entry["via blackhole type"] = "blackhole";
        for (const NextHopConfig& hop : route.via)
            entry[fmt::format("via {}", print_address(hop.address))] = "";
        tell_route(out_, route, fmt::format("vrf default router static {}", print_prefix(route.prefix)));
    }
}

void NvueWriter::write_link(const std::string& name, const PortConfig& port, Tables& interface) {
    interface["link speed"] = print_rate(port.speed);
    interface["link mtu"] = std::to_string(port.mtu);
    if (is_down(config_, name)) interface["link state"] = "down";
    out_.said(key_of_port(name, "speed"), fmt::format("interface {} link", names_.at(name)));
    for (const IpPrefix& address : port.address) {
        if (is_made_address(address))
            out_.unsaid(key_of_port(name, "address"), "made by sluice-import: none is written");
        else
            interface[fmt::format("ip address {}", print_prefix(address))] = "";
    }
}

Tables NvueWriter::mapping(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    Tables made = {{"trust", port.trust == Trust::dscp ? "l3" : port.trust == Trust::pcp ? "l2" : "port"}};
    for (unsigned dscp = 0; dscp < map.dscp_to_tc.size(); ++dscp)
        made[fmt::format("dscp {} switch-priority", dscp)] = std::to_string(map.dscp_to_tc[dscp]);
    for (unsigned pcp = 0; pcp < map.pcp_to_tc.size(); ++pcp)
        made[fmt::format("pcp {} switch-priority", pcp)] = std::to_string(map.pcp_to_tc[pcp]);
    if (port.default_tc != 0 || port.trust == Trust::port)
        made["port-default-sp"] = std::to_string(port.default_tc);
    tell_classes(out_, name, port, effective);
    return made;
}

Tables NvueWriter::queues(const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    Tables made = Tables::object();
    tell_priorities(out_, port, effective);
    for (unsigned tc = 0; tc < classes; ++tc) {
        made[fmt::format("switch-priority {} traffic-class", tc)] = std::to_string(map.tc_to_queue[tc]);
        const ClassId group = map.tc_to_priority_group[tc];
        if (group != 0 && (effective.lossless >> group & 1U) == 0)
            out_.unsaid(fmt::format("map.{}.tc_to_priority_group", port.map),
                        "lossy classes share one group of the port");
    }
    return made;
}

// The lossless groups of a port have one headroom: the largest.
void NvueWriter::add_headroom(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                              Tables& profile) {
    std::uint64_t reserved = 0, headroom = 0, offset = 0;
    bool says = false;
    for_each_class(effective.lossless, [&](ClassId n) {
        const PriorityGroupConfig& said = port.priority_group[n];
        const GroupLimits& limits = effective.group[n];
        says = says || said.xoff_bytes || said.size_bytes || said.xon_offset_bytes;
        reserved = std::max(reserved, out_.bytes(said.size_bytes, limits.reserved_cells));
        headroom = std::max(headroom, out_.bytes(said.xoff_bytes, limits.headroom_cells));
        const std::uint64_t own = out_.bytes(said.xon_offset_bytes, limits.xon_offset_cells);
        offset = offset == 0 ? own : std::min(offset, own);
    });
    for_each_class(effective.lossless, [&](ClassId n) {
        const PriorityGroupConfig& said = port.priority_group[n];
        const GroupLimits& limits = effective.group[n];
        const std::string path = key_of_port(name, fmt::format("priority_group.{}", n));
        out_.rounded(path + ".size", out_.bytes(said.size_bytes, limits.reserved_cells), reserved,
                     Unit::bytes, "the port's lossless groups have one profile");
        out_.rounded(path + ".xoff", out_.bytes(said.xoff_bytes, limits.headroom_cells), headroom,
                     Unit::bytes, "the port's lossless groups have one profile");
        out_.rounded(path + ".xon_offset", out_.bytes(said.xon_offset_bytes, limits.xon_offset_cells), offset,
                     Unit::bytes, "XON comes later");
        if (out_.bytes(said.xon_bytes, limits.xon_cells) != 0)
            out_.unsaid(path + ".xon", "XON goes by the distance from XOFF alone");
    });
    if (!says) return;
    profile["xoff-threshold"] = std::to_string(reserved);
    profile["port-buffer"] = std::to_string(reserved + headroom);
    profile["xon-threshold"] = std::to_string(offset);
}

Tables NvueWriter::pfc(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const bool sends = effective.mode == PfcMode::symmetric || effective.mode == PfcMode::asymmetric;
    Tables made = {{"tx", sends ? "enable" : "disable"},
                   {"rx", effective.mode == PfcMode::off ? "disable" : "enable"}};
    const auto add = [&](ClassId n) { made[fmt::format("switch-priority {}", n)] = ""; };
    if (sends)
        for_each_class(effective.lossless, add);
    else if (port.pfc)
        for (const ClassId n : *port.pfc) add(n);
    made["cable-length"] = std::to_string(port.cable_m);
    if (effective.mode == PfcMode::asymmetric)
        out_.unsaid(key_of_port(name, "pfc_mode"),
                    "asymmetric: the port obeys pauses of its lossless classes alone");
    if (effective.lossless != 0) add_headroom(name, port, effective, made);
    return made;
}

Tables NvueWriter::scheduler(const std::string& name, const EffectivePort& effective) {
    const auto used = used_queues(effective.map);
    const auto shares = shares_of_queues(out_, name, effective);
    Tables made = Tables::object();
    for (unsigned n = 0; n < classes; ++n) {
        const QueueSchedule& queue = effective.schedule.queue[n];
        const std::string path = key_of_port(name, fmt::format("queue.{}", n));
        if (queue.min_rate != Rate{}) out_.unsaid(path + ".min_rate", "none is guaranteed but by the weight");
        if (queue.max_rate != Rate{}) out_.unsaid(path + ".max_rate", "the queue sends at the port's speed");
        if (!used[n]) continue;
        const std::string start = fmt::format("traffic-class {}", n);
        made[start + " mode"] = queue.strict ? "strict" : "dwrr";
        if (!queue.strict) made[start + " bw-percent"] = std::to_string(shares[n]);
    }
    return made;
}

void NvueWriter::add_curve(const std::string& name, const WredProfile& profile, const std::string& start,
                           Tables& made) {
    const bool drops = profile.drop_non_ect != false;
    const bool by_ect = !drops && profile.has_ect;
    const WredCurve& curve = by_ect ? profile.ect : profile.color[0];
    made[start + " min-threshold"] = std::to_string(curve.min());
    made[start + " max-threshold"] = std::to_string(curve.max());
    made[start + " probability"] =
        std::to_string(percent_of_curve(out_, name, by_ect ? "ect_probability" : "green_probability", curve));
    made[start + " ecn"] = profile.ecn ? "enable" : "disable";
    made[start + " red"] = drops ? "enable" : "disable";
    tell_marking(out_, name, profile);
    if (drops && profile.has_ect)
        out_.unsaid(fmt::format("wred.{}.ect_min", name), "ECT packets go by the green curve");
}

Tables NvueWriter::marking(const std::string& name, const PortConfig&, const EffectivePort& effective) {
    const auto used = used_queues(effective.map);
    Tables made = Tables::object();
    for (unsigned n = 0; n < classes; ++n) {
        const std::string start = fmt::format("traffic-class {}", n);
        // What NVUE brings by itself, with RoCE or without.
        const bool brought = n == 0 || (is_roce_ && n == 3);
        if (effective.wred_profile[n] && (used[n] || effective.queue[n].lossless)) {
            add_curve(effective.wred[n], *effective.wred_profile[n], start, made);
            out_.said(key_of_port(name, fmt::format("queue.{}.wred", n)),
                      fmt::format("qos congestion-control, {}", start));
        } else if (brought) {
            made[start + " ecn"] = "disable";
            made[start + " red"] = "disable";
        }
    }
    return made;
}

void NvueWriter::tell_limits(const std::string& name, const PortConfig& port,
                             const EffectivePort& effective) {
    constexpr std::string_view limit = "NVUE's own threshold, by the traffic pool",
                               reserve = "NVUE's own reserve";
    for (unsigned n = 0; n < classes; ++n) {
        const PriorityGroupConfig& group = port.priority_group[n];
        const std::string path = key_of_port(name, fmt::format("priority_group.{}", n));
        tell_limit(out_, path, group, limit);
        if (group.size_bytes && !effective.group[n].lossless)
            out_.unsaid(path + ".size", std::string(reserve));
        tell_queue_limit(out_, name, n, port.queue[n], limit, reserve);
    }
    if (port.shaper != Rate{}) out_.unsaid(key_of_port(name, "shaper"), "the port sends at its speed");
}

void NvueWriter::write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    Tables interface = Tables::object();
    write_link(name, port, interface);
    bind(name, interface, "mapping", mapping(name, port, effective), "map");
    bind(name, interface, "egress-queue-mapping", queues(port, effective), "map");
    bind(name, interface, "pfc", pfc(name, port, effective), "pfc");
    bind(name, interface, "egress-scheduler", scheduler(name, effective), "queue");
    bind(name, interface, "congestion-control", marking(name, port, effective), "queue");
    tell_limits(name, port, effective);
    const WatchdogConfig own = watchdog_of(config_.watchdog, port);
    if (own.action != WatchdogAction::off) {
        interface["qos pfc-watchdog state"] = "enable";
        const std::string path = key_of_port(name, "watchdog");
        out_.said(path, fmt::format("interface {} qos pfc-watchdog state enable", names_.at(name)));
        out_.rounded(path + ".detection", static_cast<std::uint64_t>(own.detection.ps),
                     static_cast<std::uint64_t>(detection_.ps), Unit::picoseconds,
                     "one time for all ports: a storm is found that much later");
        if (own.action != WatchdogAction::drop)
            out_.unsaid(path + ".action", "NVUE drops what a storm holds");
        if (own.restoration) out_.unsaid(path + ".restoration", "NVUE restores a queue by its own polling");
    }
    made_["interface"][names_.at(name)] = std::move(interface);
}

}  // namespace

Tables nvue_tables(Exporting& out) {
    Tables tables = NvueWriter(out).tables();
    tell_trimming(out);
    tell_own_keys(out);
    return tables;
}

}  // namespace sluice::import
