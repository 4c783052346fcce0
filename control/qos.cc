#include "control/qos.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/wred_profiles.hh"
#include "lib/class_mask.hh"

namespace sluice {
namespace {

constexpr std::string_view ingress_lossless = "lossless";
constexpr std::string_view ingress_lossy = "lossy";
constexpr std::string_view egress_lossless = "egress-lossless";
constexpr std::string_view egress_lossy = "egress-lossy";

std::uint8_t mask_of(const std::vector<ClassId>& list) {
    unsigned mask = 0;
    for (const ClassId n : list) mask |= 1U << n;
    return static_cast<std::uint8_t>(mask);
}

// ---- Presets
// -----------------------------------------------------------------------------------------------------

struct Preset {
    std::uint8_t lossless;
    std::uint8_t roce;  // traffic classes
    PfcMode mode;
    std::array<std::uint8_t, classes> weight;  // 0: strict
    bool one_ingress_pool;
    std::string_view wred;  // of the queues of RoCE
};

Preset preset_of(const std::string& name) {
    // TC 6 CNP and TC 7 network control strict; DWRR 50/50 between RoCE (3) and the rest.
    constexpr std::array<std::uint8_t, classes> usual{50, 50, 50, 50, 50, 50, 0, 0};
    if (name == "semi-lossless") return {0x08, 0x08, PfcMode::semi_lossless, usual, false, "linear"};
    if (name == "lossy") return {0, 0x08, PfcMode::off, usual, false, "linear"};
    // SONiC's T0: 15 for the lossless classes, 14 for the others, 7 strict.
    if (name == "sonic-t0")
        return {0x18, 0x18, PfcMode::symmetric, {14, 14, 14, 15, 15, 14, 14, 0}, true, "sonic"};
    return {0x08, 0x08, PfcMode::symmetric, usual, false, "linear"};
}

MapConfig sonic_map() {
    MapConfig map;
    map.dscp_to_tc.fill(1);
    map.dscp_to_tc[3] = 3;
    map.dscp_to_tc[4] = 4;
    map.dscp_to_tc[5] = 2;
    map.dscp_to_tc[8] = 0;
    map.dscp_to_tc[46] = 5;
    map.dscp_to_tc[48] = 6;
    map.tc_to_priority_group = {0, 0, 0, 3, 4, 0, 0, 7};
    map.cnp_tc.reset();
    return map;
}

// ---- Pools
// -------------------------------------------------------------------------------------------------------

struct PoolTable {
    std::vector<EffectivePool>& pools;

    EffectivePool* find(PoolDirection direction, std::string_view name) {
        for (EffectivePool& pool : pools)
            if (pool.direction == direction && pool.name == name) return &pool;
        return nullptr;
    }
    void add(std::string_view name, PoolDirection direction, std::uint64_t size_cells,
             std::uint64_t shared_headroom) {
        unsigned index = 0;
        for (const EffectivePool& pool : pools) index += pool.direction == direction ? 1 : 0;
        pools.push_back({std::string(name), direction, static_cast<std::uint8_t>(index), size_cells, 0, 0, 0,
                         shared_headroom});
    }
};

void make_pools(const Config& config, EffectiveQos& qos) {
    PoolTable table{qos.pools};
    const std::uint64_t buffer = qos.cell.rounded_down(config.buffer_size_bytes);
    for (const PoolDirection direction : {PoolDirection::ingress, PoolDirection::egress})
        for (const auto& [name, pool] : config.pools)
            if (pool.direction == direction)
                table.add(name, direction, qos.cell.rounded_down(pool.size_bytes),
                          qos.cell.rounded_up(pool.shared_headroom_bytes));
    const auto has = [&](PoolDirection direction) {
        return std::any_of(qos.pools.begin(), qos.pools.end(),
                           [&](const auto& p) { return p.direction == direction; });
    };
    const bool one_pool = !config.ports.empty() &&
                          std::all_of(config.ports.begin(), config.ports.end(),
                                      [](const auto& p) { return preset_of(p.second.qos).one_ingress_pool; });
    // Pools of their own, so that lossy load never pauses a lossless class and the other way round. A lossy
    // quarter is ample for TCP; the lossless part pays for the headrooms.
    const std::uint64_t lossy = buffer / 4;
    if (!has(PoolDirection::ingress)) {
        table.add(ingress_lossless, PoolDirection::ingress, one_pool ? buffer : buffer - lossy, 0);
        if (!one_pool) table.add(ingress_lossy, PoolDirection::ingress, lossy, 0);
    }
    if (!has(PoolDirection::egress)) {
        table.add(egress_lossless, PoolDirection::egress, buffer, 0);
        table.add(egress_lossy, PoolDirection::egress, one_pool ? buffer : lossy, 0);
    }
    std::stable_sort(qos.pools.begin(), qos.pools.end(),
                     [](const auto& a, const auto& b) { return a.direction < b.direction; });
    std::uint64_t sum = 0;
    for (const EffectivePool& pool : qos.pools)
        sum += pool.direction == PoolDirection::ingress ? pool.size_cells : 0;
    if (sum > buffer)
        qos.problems.push_back({"pool",
                                fmt::format("the ingress pools take {} bytes of a buffer of {}",
                                            sum * config.cell_bytes, config.buffer_size_bytes),
                                fmt::format("take {} bytes away", (sum - buffer) * config.cell_bytes),
                                "pools-exceed-buffer"});
}

// The pool a group or queue names, or the preset's for its kind; a pool of the other kind when that one is
// missing.
EffectivePool* choose_pool(EffectiveQos& qos, PoolDirection direction, const std::optional<std::string>& said,
                           bool lossless, const std::string& path) {
    PoolTable table{qos.pools};
    if (said) {
        EffectivePool* pool = table.find(direction, *said);
        if (pool == nullptr)
            qos.problems.push_back(
                {path + ".pool",
                 fmt::format("there is no {} pool \"{}\"",
                             direction == PoolDirection::ingress ? "ingress" : "egress", *said),
                 "name one that is, or add [pool." + *said + "]", "pool-unknown"});
        return pool;
    }
    const bool ingress = direction == PoolDirection::ingress;
    EffectivePool* pool = table.find(direction, lossless ? (ingress ? ingress_lossless : egress_lossless)
                                                         : (ingress ? ingress_lossy : egress_lossy));
    for (EffectivePool& other : qos.pools)
        if (pool == nullptr && other.direction == direction) pool = &other;
    return pool;
}

// ---- Groups and queues
// --------------------------------------------------------------------------------------------

struct Reading {
    const Config& config;
    EffectiveQos& qos;
    const std::string& name;
    const PortConfig& port;
    EffectivePort& out;
    std::string path(std::string_view kind, unsigned n) const {
        return fmt::format("port.{}.{}.{}", name, kind, n);
    }
};

Threshold threshold_of(const ThresholdConfig& said, Threshold otherwise, CellSize cell) {
    if (said.dynamic_th) return Threshold::dynamic(*said.dynamic_th);
    if (!said.static_bytes) return otherwise;
    if (*said.static_bytes == 0) return Threshold::fixed(0);
    // Limits round down, but a limit below a cell is not the same as none.
    return Threshold::fixed(
        static_cast<std::uint32_t>(std::max<std::uint64_t>(1, cell.rounded_down(*said.static_bytes))));
}

std::uint32_t up(CellSize cell, std::uint64_t bytes) {
    return static_cast<std::uint32_t>(cell.rounded_up(bytes));
}
std::uint32_t down(CellSize cell, std::uint64_t bytes) {
    return static_cast<std::uint32_t>(cell.rounded_down(bytes));
}

Headroom headroom_of(const Config& config, const PortConfig& port) {
    const bool is_virtual = config.clock == ClockKind::virtual_time;
    HeadroomInputs inputs;
    inputs.rate = port.speed;
    inputs.cable_m = port.cable_m;
    inputs.mtu_any = inputs.mtu_lossless = port.mtu;
    inputs.cell_bytes = config.cell_bytes;
    // What arrives before our turn sees it, and what our PFC frame waits for in our own ring.
    inputs.own_turn_max = is_virtual ? config.virtual_turn * 2 : config.turn_max + modelled_ring;
    // A frame that another worker has received waits for ours, however many receive queues there are:
    // together they bring no more than the link.
    if (!is_virtual && port.rx_queues > 1) inputs.hand_over_max = config.turn_max;
    return headroom(inputs);
}

void read_group(const Reading& in, unsigned n) {
    const PriorityGroupConfig& said = in.port.priority_group[n];
    GroupLimits& limits = in.out.group[n];
    const CellSize cell = in.qos.cell;
    limits.lossless = (in.out.lossless >> n & 1U) != 0;
    limits.threshold = threshold_of(said, Threshold::dynamic(limits.lossless ? 0 : 3), cell);
    limits.reserved_cells = up(cell, said.size_bytes.value_or(limits.lossless ? 2ULL * in.port.mtu : 0));
    limits.xon_cells = down(cell, said.xon_bytes.value_or(0));
    limits.xon_offset_cells = down(cell, said.xon_offset_bytes.value_or(2ULL * in.port.mtu));
    in.out.headroom_is_given[n] = said.xoff_bytes.has_value();
    if (limits.lossless)
        limits.headroom_cells = said.xoff_bytes ? up(cell, *said.xoff_bytes)
                                                : static_cast<std::uint32_t>(in.out.headroom.xoff_cells);
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::ingress, said.pool, limits.lossless, in.path("priority_group", n));
    if (pool == nullptr) return;
    limits.pool = pool->index;
    pool->reserved_cells += limits.reserved_cells;
    if (pool->shared_headroom_cells == 0) pool->headroom_cells += limits.headroom_cells;
}

// Whether some class that the port's packets may have leaves by this queue; an idle queue needs no reserve.
bool in_use(const MapConfig& map, unsigned queue) {
    unsigned classes_in_use = 0;
    for (const ClassId tc : map.dscp_to_tc) classes_in_use |= 1U << tc;
    if (map.cnp_tc) classes_in_use |= 1U << *map.cnp_tc;
    if (map.roce_tc) classes_in_use |= 1U << *map.roce_tc;
    for (unsigned tc = 0; tc < classes; ++tc)
        if ((classes_in_use >> tc & 1U) != 0 && map.tc_to_queue[tc] == queue) return true;
    return false;
}

void read_queue(const Reading& in, unsigned n, std::uint8_t preset_weight) {
    const QueueConfig& said = in.port.queue[n];
    const MapConfig& map = in.out.map;
    QueueLimits& limits = in.out.queue[n];
    for (unsigned tc = 0; tc < classes; ++tc)
        if (map.tc_to_queue[tc] == n && (in.out.lossless >> map.tc_to_priority_group[tc] & 1U) != 0)
            limits.lossless = true;
    limits.threshold =
        threshold_of(said, limits.lossless ? Threshold::fixed(0) : Threshold::dynamic(1), in.qos.cell);
    limits.reserved_cells = up(in.qos.cell, said.size_bytes.value_or(in_use(map, n) ? in.port.mtu : 0));
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::egress, said.pool, limits.lossless, in.path("queue", n));
    if (pool != nullptr) {
        limits.pool = pool->index;
        pool->reserved_cells += limits.reserved_cells;
    }
    QueueSchedule& schedule = in.out.schedule.queue[n];
    schedule.strict = said.scheduler ? *said.scheduler == QueueScheduler::strict : preset_weight == 0;
    schedule.weight = said.weight.value_or(preset_weight == 0 ? std::uint8_t{1} : preset_weight);
    schedule.min_rate = said.min_rate;
    schedule.max_rate = said.max_rate;
}

// ECN belongs to RoCE's queues: those of the preset's classes for it, and of the class that a rule names.
bool carries_roce(const MapConfig& map, unsigned roce, unsigned queue) {
    if (map.roce_tc) roce |= 1U << *map.roce_tc;
    for (unsigned tc = 0; tc < classes; ++tc)
        if ((roce >> tc & 1U) != 0 && map.tc_to_queue[tc] == queue) return true;
    return false;
}

void read_wred(const Reading& in, unsigned n, const Preset& preset) {
    std::string& name = in.out.wred[n];
    const bool marks = in.out.queue[n].lossless || carries_roce(in.out.map, preset.roce, n);
    name = in.port.queue[n].wred.value_or(marks ? std::string(preset.wred) : "none");
    auto profile = wred_profile(in.config, name, in.port.speed);
    if (profile) {
        in.out.wred_profile[n] = *profile;
        return;
    }
    const WredProblem& problem = profile.error();
    in.qos.problems.push_back({problem.path.empty() ? in.path("queue", n) + ".wred" : problem.path,
                               problem.wrong, problem.fix, "wred-profile"});
}

// CNPs are never paused: a pause for a priority of their queue is not honoured, whatever the mode.
std::uint8_t priorities_of_cnp(const EffectivePort& port) {
    if (!port.map.cnp_tc) return 0;
    const unsigned queue = port.map.tc_to_queue[*port.map.cnp_tc];
    if (port.queue[queue].lossless) return 0;  // an operator put it there, and lint says so
    unsigned priorities = 0;
    for (unsigned n = 0; n < classes; ++n)
        if (port.map.pfc_priority_to_queue[n] == queue) priorities |= 1U << n;
    return static_cast<std::uint8_t>(priorities);
}

void read_port(const Config& config, const std::string& name, const PortConfig& port, EffectiveQos& qos) {
    const Preset preset = preset_of(port.qos);
    EffectivePort& out = qos.ports[name];
    out.map = map_of(config, port);
    out.mode = port.pfc_mode.value_or(preset.mode);
    const std::uint8_t named = port.pfc ? mask_of(*port.pfc) : preset.lossless;
    // Who never sends pauses promises nothing: its groups are lossy, even if it obeys.
    out.lossless = pfc_masks(out.mode, named).may_send;
    for (unsigned n = 0; n < classes; ++n) {
        if (!port.priority_group[n].lossless) continue;
        const auto bit = static_cast<std::uint8_t>(1U << n);
        out.lossless = static_cast<std::uint8_t>(*port.priority_group[n].lossless ? out.lossless | bit
                                                                                  : out.lossless & ~bit);
    }
    out.masks = pfc_masks(out.mode, static_cast<std::uint8_t>(named | out.lossless));
    out.masks.may_send &= out.lossless;
    out.headroom = headroom_of(config, port);
    out.schedule.shaper = port.shaper;
    if (config.clock == ClockKind::real_time) out.schedule.burst = config.turn_max;
    const Reading reading{config, qos, name, port, out};
    for (unsigned n = 0; n < classes; ++n) {
        read_group(reading, n);
        read_queue(reading, n, preset.weight[n]);
        read_wred(reading, n, preset);
        if (!port.priority_group[n].lossless.value_or(false) || out.mode == PfcMode::symmetric ||
            out.mode == PfcMode::asymmetric)
            continue;
        qos.problems.push_back({reading.path("priority_group", n) + ".lossless",
                                "the port's pfc_mode never sends PFC", "set pfc_mode = \"symmetric\"",
                                "lossless-without-pfc"});
    }
    out.masks.honours = static_cast<std::uint8_t>(out.masks.honours & ~priorities_of_cnp(out));
}

// ---- Judgement
// ----------------------------------------------------------------------------------------------------

void judge_pools(EffectiveQos& qos) {
    for (EffectivePool& pool : qos.pools) {
        if (pool.shared_headroom_cells != 0) pool.headroom_cells = pool.shared_headroom_cells;
        pool.shared_cells = static_cast<std::int64_t>(pool.size_cells) -
                            static_cast<std::int64_t>(pool.reserved_cells + pool.headroom_cells);
        if (pool.shared_cells > 0) continue;
        qos.problems.push_back(
            {"pool." + pool.name,
             fmt::format(
                 "its {} cells of {} bytes do not hold what is promised: {} reserved and {} of headroom",
                 pool.size_cells, qos.cell.bytes(), pool.reserved_cells, pool.headroom_cells),
             fmt::format("give it more than {} bytes",
                         (pool.reserved_cells + pool.headroom_cells) * qos.cell.bytes()),
             "pool-no-shared"});
    }
}

void judge_headroom(const Config& config, EffectiveQos& qos) {
    for (const auto& [name, port] : qos.ports) {
        for_each_class(port.lossless, [&, &port_name = name, &effective = port](ClassId n) {
            const std::uint64_t given = effective.group[n].headroom_cells;
            const std::uint64_t needed = effective.headroom.xoff_cells;
            if (given >= needed) return;
            auto& list = config.ports.at(port_name).small_xoff ? qos.tolerated : qos.problems;
            list.push_back(
                {fmt::format("port.{}.priority_group.{}.xoff", port_name, n),
                 fmt::format("{} bytes of headroom are {} too few: {} bytes can still arrive after XOFF",
                             given * config.cell_bytes, (needed - given) * config.cell_bytes,
                             needed * config.cell_bytes),
                 fmt::format("set xoff = {}, leave it out, or say small_xoff = true",
                             needed * config.cell_bytes),
                 "headroom-small"});
        });
    }
}

std::string headroom_table(const Headroom& headroom) {
    std::string text;
    for (const HeadroomRow& row : headroom_rows(headroom))
        text += fmt::format("    {:<34}{:>10}  {}\n", row.name, row.bytes, row.formula);
    return text;
}

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
        std::string what = "green " + curve_text(profile.colour[0]);
        if (profile.colour[1] != profile.colour[0]) what += ", yellow " + curve_text(profile.colour[1]);
        if (profile.colour[2] != profile.colour[0]) what += ", red " + curve_text(profile.colour[2]);
        if (profile.has_ect) what += ", ECT " + curve_text(profile.ect);
        if (profile.mark_at == MarkAt::sojourn)
            what += fmt::format(", ECT after {} to {} ns", profile.sojourn.min() / 1000,
                                profile.sojourn.max() / 1000);
        constexpr std::array<std::string_view, 3> where{"dequeue", "enqueue", "sojourn"};
        text += fmt::format("    queue {}  {:<12} marks at {}: {}\n", n, port.wred[n],
                            where[static_cast<unsigned>(profile.mark_at)], what);
    }
    return text;
}

}  // namespace

MapConfig map_of(const Config& config, const PortConfig& port) {
    const auto found = config.maps.find(port.map);
    const MapConfig map = found != config.maps.end() ? found->second : MapConfig{};
    // The preset brings its own map unless the file has one.
    if (port.qos == "sonic-t0" && port.map == "default" && map == MapConfig{}) return sonic_map();
    return map;
}

const EffectivePool* EffectiveQos::pool(PoolDirection direction, unsigned index) const {
    for (const EffectivePool& pool : pools)
        if (pool.direction == direction && pool.index == index) return &pool;
    return nullptr;
}

EffectiveQos effective_qos(const Config& config) {
    EffectiveQos qos;
    qos.cell = CellSize(config.cell_bytes);
    make_pools(config, qos);
    for (const auto& [name, port] : config.ports) read_port(config, name, port, qos);
    judge_pools(qos);
    judge_headroom(config, qos);
    return qos;
}

std::string qos_tables(const EffectiveQos& qos) {
    std::string text = fmt::format("\n{:<18}{:<9}{:>12}{:>12}{:>12}{:>12}\n", "pool (cells)", "", "size",
                                   "reserved", "headroom", "shared");
    for (const EffectivePool& pool : qos.pools)
        text += fmt::format("{:<18}{:<9}{:>12}{:>12}{:>12}{:>12}\n", pool.name,
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
