#include "control/config/compile/qos.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/qos_pools.hh"
#include "control/config/compile/trimming.hh"
#include "control/config/compile/wred_profiles.hh"
#include "control/config/schema/findings.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

// A port of the configuration, and the place of its groups and queues.
struct Reading {
    const Config& config;
    EffectiveQos& qos;
    const std::string& name;
    const PortConfig& port;
    EffectivePort& out;
    std::vector<PoolAccount>& accounts;  // of qos.pools

    // The file's size, or the default: check_pools reports one that is too large for its pool.
    std::uint32_t cells(Round round, const std::optional<std::uint64_t>& configured, std::uint64_t otherwise,
                        const PortKey& key) const {
        if (configured) return configured_cells(qos, round, *configured, name, key);
        const auto cells =
            round == Round::up ? qos.cell.rounded_up(otherwise) : qos.cell.rounded_down(otherwise);
        return cells.value_or(max_buffer_cells);
    }
    // `configured`: the part of the promise that the file gives by `key`.
    void account(const EffectivePool& pool, const PortKey& key, std::uint64_t configured) const {
        PoolAccount& account = accounts[static_cast<std::size_t>(&pool - qos.pools.data())];
        const std::uint64_t promised =
            pool.reserved_cells + std::max<std::uint64_t>(pool.headroom_cells, pool.shared_headroom_cells);
        if (promised >= pool.size_cells && account.full_at.empty()) account.full_at = name;
        if (configured == 0) return;
        PoolAccount::Key& of_key = account.keys[key];
        if (of_key.ports++ == 0) of_key.port = name;
        of_key.cells += configured;
    }
};

Threshold threshold_of(const Reading& in, const ThresholdConfig& configured, Threshold otherwise,
                       const PortKey& key) {
    if (configured.dynamic_th) return Threshold::dynamic(*configured.dynamic_th);
    if (!configured.static_bytes) return otherwise;
    if (*configured.static_bytes == 0) return Threshold::none();
    return Threshold::fixed(in.cells(Round::down, configured.static_bytes, 0, key));
}

// The limits of the profile, which the configuration's override.
const ProfileLimits& profile_limits(const Reading& in, ProfileLimits BufferProfile::*kind) {
    static const ProfileLimits none;
    return in.qos.profile != nullptr ? in.qos.profile->*kind : none;
}

void read_group(const Reading& in, unsigned n) {
    const PriorityGroupConfig& configured = in.port.priority_group[n];
    GroupLimits& limits = in.out.group[n];
    const auto key = [n](std::string_view name) { return PortKey{"priority_group", n, name}; };
    limits.lossless = (in.out.lossless >> n & 1U) != 0;
    const ProfileLimits& profile =
        profile_limits(in, limits.lossless ? &BufferProfile::lossless_group : &BufferProfile::lossy_group);
    const ProfileHeadroom* row = limits.lossless ? in.out.profile_headroom : nullptr;
    const Threshold otherwise =
        threshold_of(in, profile, Threshold::dynamic(limits.lossless ? 0 : 3), key("static_th"));
    limits.threshold = threshold_of(in, configured, otherwise, key("static_th"));
    std::uint64_t reserved = profile.size_bytes.value_or(limits.lossless ? 2ULL * in.port.mtu : 0);
    if (row != nullptr) reserved = row->size_bytes.value_or(reserved);
    limits.reserved_cells = in.cells(Round::up, configured.size_bytes, reserved, key("size"));
    limits.xon_cells = in.cells(Round::down, configured.xon_bytes, profile.xon_bytes.value_or(0), key("xon"));
    limits.xon_offset_cells =
        in.cells(Round::down, configured.xon_offset_bytes,
                 profile.xon_offset_bytes.value_or(2ULL * in.port.mtu), key("xon_offset"));
    in.out.headroom_is_given[n] = configured.xoff_bytes.has_value();
    const auto needed =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(in.out.headroom.xoff_cells, max_buffer_cells));
    const std::uint32_t given =
        configured.xoff_bytes || row != nullptr
            ? in.cells(Round::up, configured.xoff_bytes, row != nullptr ? row->xoff_bytes : 0, key("xoff"))
            : needed;
    if (limits.lossless) limits.headroom_cells = given;
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::ingress, configured.pool, limits.lossless, in.name, key("pool"));
    if (pool == nullptr) return;
    limits.pool = pool->index;
    pool->reserved_cells += limits.reserved_cells;
    in.account(*pool, key("size"), configured.size_bytes ? limits.reserved_cells : 0);
    if (pool->shared_headroom_cells != 0) return;
    pool->headroom_cells += limits.headroom_cells;
    const bool of_file = configured.xoff_bytes && limits.headroom_cells > needed;
    in.account(*pool, key("xoff"), of_file ? limits.headroom_cells - needed : 0);
}

// True when a class of the port's packets leaves by this queue; an idle queue needs no reserve.
bool in_use(const MapConfig& map, unsigned queue) {
    unsigned classes_in_use = mask_of(map.dscp_to_tc);
    if (map.cnp_tc) classes_in_use |= 1U << *map.cnp_tc;
    if (map.roce_tc) classes_in_use |= 1U << *map.roce_tc;
    return (map_classes(map.tc_to_queue, classes_in_use) >> queue & 1U) != 0;
}

// The default: two frames of the MTU, but no more than the rate sends in 100 us; a frame may always go.
std::uint32_t burst_of(Rate rate, const std::optional<std::uint64_t>& configured, const EffectivePort& port) {
    constexpr std::uint64_t bits_of_100_us = 10'000;  // of a rate: its 10'000th part
    const std::uint64_t usual =
        std::min(2 * port.headroom.own_frame_bytes, rate.bits_per_second / bits_of_100_us / 8);
    return static_cast<std::uint32_t>(configured.value_or(usual));
}

void read_queue(const Reading& in, unsigned n, std::uint8_t preset_weight) {
    const QueueConfig& configured = in.port.queue[n];
    const MapConfig& map = in.out.map;
    QueueLimits& limits = in.out.queue[n];
    for (unsigned tc = 0; tc < classes; ++tc)
        if (map.tc_to_queue[tc] == n && (in.out.lossless >> map.tc_to_priority_group[tc] & 1U) != 0)
            limits.lossless = true;
    const auto key = [n](std::string_view name) { return PortKey{"queue", n, name}; };
    const ProfileLimits& profile =
        profile_limits(in, limits.lossless ? &BufferProfile::lossless_queue : &BufferProfile::lossy_queue);
    const Threshold otherwise = threshold_of(
        in, profile, limits.lossless ? Threshold::none() : Threshold::dynamic(1), key("static_th"));
    limits.threshold = threshold_of(in, configured, otherwise, key("static_th"));
    limits.reserved_cells =
        in.cells(Round::up, configured.size_bytes,
                 profile.size_bytes.value_or(in_use(map, n) ? in.port.mtu : 0), key("size"));
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::egress, configured.pool, limits.lossless, in.name, key("pool"));
    if (pool != nullptr) {
        limits.pool = pool->index;
        pool->reserved_cells += limits.reserved_cells;
        in.account(*pool, key("size"), configured.size_bytes ? limits.reserved_cells : 0);
    }
    QueueSchedule& schedule = in.out.schedule.queue[n];
    schedule.strict =
        configured.scheduler ? *configured.scheduler == QueueScheduler::strict : preset_weight == 0;
    schedule.weight = configured.weight.value_or(preset_weight == 0 ? std::uint8_t{1} : preset_weight);
    schedule.min_rate = configured.min_rate;
    schedule.max_rate = configured.max_rate;
    schedule.max_burst_bytes = burst_of(configured.max_rate, configured.max_burst_bytes, in.out);
}

// Queues of RoCE: those of the preset's classes for it, and of roce_tc.
bool carries_roce(const MapConfig& map, unsigned roce, unsigned queue) {
    if (map.roce_tc) roce |= 1U << *map.roce_tc;
    return (map_classes(map.tc_to_queue, roce) >> queue & 1U) != 0;
}

void read_wred(const Reading& in, unsigned n, const Preset& preset) {
    std::string& name = in.out.wred[n];
    const bool marks = in.out.queue[n].lossless || carries_roce(in.out.map, preset.roce, n);
    name = in.port.queue[n].wred.value_or(marks ? std::string(preset.wred) : "none");
    auto profile = wred_profile(in.config, name, in.port.speed, in.port.mtu);
    if (profile) {
        in.out.wred_profile[n] = *profile;
        return;
    }
    QosProblem& problem = in.qos.problems.emplace_back(std::move(profile.error()));
    if (!problem.key.empty()) return;
    problem.port = in.name;
    problem.key = PortKey{"queue", n, "wred"};
}

// CNPs are never paused: no mode honors a pause of a priority of their queue.
std::uint8_t priorities_of_cnp(const EffectivePort& port) {
    if (!port.map.cnp_tc) return 0;
    const ClassId queue = port.map.tc_to_queue[*port.map.cnp_tc];
    if (port.queue[queue].lossless) return 0;  // lint warns of it
    return classes_that_map_to(port.map.pfc_priority_to_queue, queue);
}

void read_port(const Config& config, const std::string& name, const PortConfig& port, EffectiveQos& qos,
               std::vector<PoolAccount>& accounts) {
    const Preset preset = preset_of(port.qos);
    EffectivePort& out = qos.ports[name];
    out.map = map_of(config, port);
    out.mode = port.pfc_mode.value_or(preset.mode);
    const std::uint8_t named = port.pfc ? mask_of(*port.pfc) : preset.lossless;
    // A port that never sends pauses promises nothing: its groups are lossy, even if it obeys pauses.
    out.lossless = pfc_masks(out.mode, named).may_send;
    for (unsigned n = 0; n < classes; ++n) {
        if (!port.priority_group[n].lossless) continue;
        const auto bit = static_cast<std::uint8_t>(1U << n);
        out.lossless = static_cast<std::uint8_t>(*port.priority_group[n].lossless ? out.lossless | bit
                                                                                  : out.lossless & ~bit);
    }
    out.masks = pfc_masks(out.mode, static_cast<std::uint8_t>(named | out.lossless));
    out.masks.may_send &= out.lossless;
    out.headroom = port_headroom(config, port);
    if (qos.profile != nullptr) out.profile_headroom = qos.profile->headroom_of(port.speed, port.cable_m);
    out.schedule.shaper = port.shaper;
    out.schedule.speed = port.speed;
    out.schedule.longest_bytes = static_cast<std::uint32_t>(out.headroom.own_frame_bytes);
    const bool real = config.clock == ClockKind::real_time;
    out.schedule.turn = real ? config.turn_max : config.virtual_turn;
    out.schedule.shaper_burst_bytes = burst_of(port.shaper, port.shaper_burst_bytes, out);
    const Reading reading{config, qos, name, port, out, accounts};
    for (unsigned n = 0; n < classes; ++n) {
        read_group(reading, n);
        read_queue(reading, n, preset.weight[n]);
        read_wred(reading, n, preset);
        if (!port.priority_group[n].lossless.value_or(false) || out.mode == PfcMode::symmetric ||
            out.mode == PfcMode::asymmetric)
            continue;
        qos.problems.push_back({name, PortKey{"priority_group", n, "lossless"},
                                "the port's pfc_mode never sends PFC", "set pfc_mode = \"symmetric\"",
                                "lossless-without-pfc"});
    }
    out.masks.honors = static_cast<std::uint8_t>(out.masks.honors & ~priorities_of_cnp(out));
}

// "; enough for 58 m of cable, 42 m less".
std::string cable_text(const EffectivePort& port, std::uint64_t cells, std::uint32_t cable_m) {
    const auto most = longest_cable(port.headroom.inputs, cells);
    return most ? fmt::format("; enough for {} m of cable, {} m less", *most, cable_m - *most)
                : std::string("; too few without any cable");
}

// The headroom of a profile is the vendor's: it is used, with a warning.
QosProblem below_worst_case(const Config& config, const std::string& name, std::uint64_t given,
                            std::uint64_t needed) {
    const PortConfig& port = config.ports.at(name);
    return {{},
            "buffer.profile",
            fmt::format("{} has {} bytes of headroom for {} and {} m of cable, {} fewer than can still "
                        "arrive after XOFF in the worst case",
                        config.buffer_profile, given * config.cell_bytes, print_rate(port.speed),
                        port.cable_m, (needed - given) * config.cell_bytes),
            fmt::format("write xoff = {} under [default.priority_group.N] for a promise, or take it as it is",
                        needed * config.cell_bytes),
            "profile-headroom",
            name};
}

void check_headroom(const Config& config, EffectiveQos& qos) {
    for (const auto& [name, port] : qos.ports) {
        for_each_class(port.lossless, [&, &port_name = name, &effective = port](ClassId n) {
            const std::uint64_t given = effective.group[n].headroom_cells;
            const std::uint64_t needed = effective.headroom.xoff_cells;
            if (given >= needed) return;
            if (!effective.headroom_is_given[n]) {
                qos.tolerated.push_back(below_worst_case(config, port_name, given, needed));
                return;
            }
            const PortConfig& said = config.ports.at(port_name);
            auto& list = said.small_xoff ? qos.tolerated : qos.problems;
            list.push_back(
                {port_name, PortKey{"priority_group", n, "xoff"},
                 fmt::format("{} bytes of headroom are {} too few: {} bytes can still arrive after XOFF{}",
                             given * config.cell_bytes, (needed - given) * config.cell_bytes,
                             needed * config.cell_bytes, cable_text(effective, given, said.cable_m)),
                 fmt::format("set xoff = {}, leave it out, or say small_xoff = true",
                             needed * config.cell_bytes),
                 "headroom-small"});
        });
    }
}

}  // namespace

const EffectivePool* EffectiveQos::pool(PoolDirection direction, unsigned index) const {
    for (const EffectivePool& pool : pools)
        if (pool.direction == direction && pool.index == index) return &pool;
    return nullptr;
}

std::string QosProblem::path() const { return port.empty() ? key : lint::port_path(port, key); }

EffectiveQos effective_qos(const Config& config) {
    EffectiveQos qos;
    qos.profile = buffer_profile(config.buffer_profile);
    qos.cell = CellSize(config.cell_bytes);
    qos.buffer_cells = buffer_cells(config, qos);
    make_pools(config, qos);
    std::vector<PoolAccount> accounts(qos.pools.size());
    for (const auto& [name, port] : config.ports) read_port(config, name, port, qos, accounts);
    check_pools(config, qos, accounts);
    check_headroom(config, qos);
    read_trimming(config, qos);
    return qos;
}
}  // namespace sluice
