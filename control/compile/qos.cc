#include "control/compile/qos.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/compile/wred_profiles.hh"
#include "control/config/findings.hh"
#include "control/config/values.hh"
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

// ---- From bytes to cells
// -----------------------------------------------------------------------------------------

enum class Round : std::uint8_t { up, down };  // a promise, a limit

// Nothing when it is more than the buffer has.
std::optional<std::uint32_t> cells_in_buffer(const EffectiveQos& qos, Round round, std::uint64_t bytes) {
    const auto cells = round == Round::up ? qos.cell.rounded_up(bytes) : qos.cell.rounded_down(bytes);
    return cells && *cells <= qos.buffer_cells ? cells : std::nullopt;
}

// A size that the configuration says. One that is above the buffer is a problem of its key, and the whole
// buffer stands for it.
std::uint32_t said_cells(EffectiveQos& qos, Round round, std::uint64_t bytes, const std::string& port,
                         const std::string& key) {
    if (const auto cells = cells_in_buffer(qos, round, bytes)) return *cells;
    const std::uint64_t most = std::uint64_t{qos.buffer_cells} * qos.cell.bytes();
    qos.problems.push_back(
        {port, key, fmt::format("{} are more than the {} of the buffer", print_size(bytes), print_size(most)),
         fmt::format("write at most {}, or enlarge buffer.size", most), "above-buffer"});
    return qos.buffer_cells;
}

std::uint32_t buffer_cells(const Config& config, EffectiveQos& qos) {
    if (const auto cells = qos.cell.rounded_down(config.buffer_size_bytes)) return *cells;
    qos.problems.push_back(
        {{},
         "buffer.size",
         fmt::format("{} are {} cells of {} bytes, and a buffer has at most {}",
                     print_size(config.buffer_size_bytes), config.buffer_size_bytes / config.cell_bytes,
                     config.cell_bytes, max_buffer_cells),
         fmt::format("write size = {} or less, or larger cells",
                     std::uint64_t{max_buffer_cells} * config.cell_bytes),
         "buffer-large"});
    return max_buffer_cells;
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
    void add(std::string_view name, PoolDirection direction, std::uint32_t size_cells,
             std::uint32_t shared_headroom) {
        unsigned index = 0;
        for (const EffectivePool& pool : pools) index += pool.direction == direction ? 1 : 0;
        pools.push_back({std::string(name), direction, static_cast<std::uint8_t>(index), size_cells, 0, 0, 0,
                         shared_headroom});
    }
};

void make_pools(const Config& config, EffectiveQos& qos) {
    PoolTable table{qos.pools};
    const std::uint32_t buffer = qos.buffer_cells;
    for (const PoolDirection direction : {PoolDirection::ingress, PoolDirection::egress})
        for (const auto& [name, pool] : config.pools)
            if (pool.direction == direction)
                table.add(name, direction,
                          said_cells(qos, Round::down, pool.size_bytes, {}, "pool." + name + ".size"),
                          said_cells(qos, Round::up, pool.shared_headroom_bytes, {},
                                     "pool." + name + ".shared_headroom"));
    const auto has = [&](PoolDirection direction) {
        return std::any_of(qos.pools.begin(), qos.pools.end(),
                           [&](const auto& p) { return p.direction == direction; });
    };
    const bool one_pool = !config.ports.empty() &&
                          std::all_of(config.ports.begin(), config.ports.end(),
                                      [](const auto& p) { return preset_of(p.second.qos).one_ingress_pool; });
    // Pools of their own, so that lossy load never pauses a lossless class and the other way round. A lossy
    // quarter is ample for TCP; the lossless part pays for the headrooms.
    const std::uint32_t lossy = buffer / 4;
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
    const EffectivePool* largest = nullptr;
    for (const EffectivePool& pool : qos.pools) {
        if (pool.direction != PoolDirection::ingress) continue;
        sum += pool.size_cells;
        if (largest == nullptr || pool.size_cells > largest->size_cells) largest = &pool;
    }
    if (sum > buffer)
        qos.problems.push_back({{},
                                "pool." + largest->name + ".size",
                                fmt::format("the ingress pools take {} bytes of a buffer of {}",
                                            sum * config.cell_bytes, config.buffer_size_bytes),
                                fmt::format("take {} bytes away", (sum - buffer) * config.cell_bytes),
                                "pools-exceed-buffer"});
}

// What a pool is to hold beside its shared part, for the finding when it does not.
struct PoolAccount {
    // What the file itself promises by one key of ports ("priority_group.3.size"), as [default] does for all.
    struct Said {
        std::string port;  // the first
        std::uint64_t ports = 0;
        std::uint64_t cells = 0;  // of all
    };
    std::map<std::string, Said> said;
    std::string full_at;  // the first port for which there is no room
};

// The pool a group or queue names, or the preset's for its kind; a pool of the other kind when that one is
// missing.
EffectivePool* choose_pool(EffectiveQos& qos, PoolDirection direction, const std::optional<std::string>& said,
                           bool lossless, const std::string& port, const std::string& key) {
    PoolTable table{qos.pools};
    if (said) {
        EffectivePool* pool = table.find(direction, *said);
        if (pool == nullptr)
            qos.problems.push_back(
                {port, key,
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
    std::vector<PoolAccount>& accounts;  // of qos.pools

    // What the file says, or else the default: where that is too large for its pool, judge_pools says so.
    std::uint32_t cells(Round round, const std::optional<std::uint64_t>& said, std::uint64_t otherwise,
                        const std::string& key) const {
        if (said) return said_cells(qos, round, *said, name, key);
        const auto cells =
            round == Round::up ? qos.cell.rounded_up(otherwise) : qos.cell.rounded_down(otherwise);
        return cells.value_or(max_buffer_cells);
    }
    // `said`: of what is promised, this the file says by `key`.
    void account(const EffectivePool& pool, const std::string& key, std::uint64_t said) const {
        PoolAccount& account = accounts[static_cast<std::size_t>(&pool - qos.pools.data())];
        const std::uint64_t promised =
            pool.reserved_cells + std::max<std::uint64_t>(pool.headroom_cells, pool.shared_headroom_cells);
        if (promised >= pool.size_cells && account.full_at.empty()) account.full_at = name;
        if (said == 0) return;
        PoolAccount::Said& of_key = account.said[key];
        if (of_key.ports++ == 0) of_key.port = name;
        of_key.cells += said;
    }
};

std::string key_of(std::string_view kind, unsigned n, std::string_view key) {
    return fmt::format("{}.{}.{}", kind, n, key);
}

Threshold threshold_of(const Reading& in, const ThresholdConfig& said, Threshold otherwise,
                       const std::string& key) {
    if (said.dynamic_th) return Threshold::dynamic(*said.dynamic_th);
    if (!said.static_bytes) return otherwise;
    if (*said.static_bytes == 0) return Threshold::none();
    return Threshold::fixed(in.cells(Round::down, said.static_bytes, 0, key));
}

Headroom headroom_of(const Config& config, const PortConfig& port) {
    const bool is_virtual = config.clock == ClockKind::virtual_time;
    HeadroomInputs inputs;
    inputs.rate = port.speed;
    inputs.cable_m = port.cable_m;
    inputs.mtu_any = inputs.mtu_lossless = port.mtu;
    inputs.cell_bytes = config.cell_bytes;
    // Every port accepts tagged frames, and a neighbor with `vlan` may be added at any time.
    inputs.peer_tags = max_vlan_tags;
    inputs.own_tags = 1;
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
    const auto key = [n](std::string_view name) { return key_of("priority_group", n, name); };
    limits.lossless = (in.out.lossless >> n & 1U) != 0;
    limits.threshold = threshold_of(in, said, Threshold::dynamic(limits.lossless ? 0 : 3), key("static_th"));
    limits.reserved_cells =
        in.cells(Round::up, said.size_bytes, limits.lossless ? 2ULL * in.port.mtu : 0, key("size"));
    limits.xon_cells = in.cells(Round::down, said.xon_bytes, 0, key("xon"));
    limits.xon_offset_cells =
        in.cells(Round::down, said.xon_offset_bytes, 2ULL * in.port.mtu, key("xon_offset"));
    in.out.headroom_is_given[n] = said.xoff_bytes.has_value();
    const auto needed =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(in.out.headroom.xoff_cells, max_buffer_cells));
    const std::uint32_t given =
        said.xoff_bytes ? in.cells(Round::up, said.xoff_bytes, 0, key("xoff")) : needed;
    if (limits.lossless) limits.headroom_cells = given;
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::ingress, said.pool, limits.lossless, in.name, key("pool"));
    if (pool == nullptr) return;
    limits.pool = pool->index;
    pool->reserved_cells += limits.reserved_cells;
    in.account(*pool, key("size"), said.size_bytes ? limits.reserved_cells : 0);
    if (pool->shared_headroom_cells != 0) return;
    pool->headroom_cells += limits.headroom_cells;
    in.account(*pool, key("xoff"), limits.headroom_cells > needed ? limits.headroom_cells - needed : 0);
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
    const auto key = [n](std::string_view name) { return key_of("queue", n, name); };
    limits.threshold =
        threshold_of(in, said, limits.lossless ? Threshold::none() : Threshold::dynamic(1), key("static_th"));
    limits.reserved_cells =
        in.cells(Round::up, said.size_bytes, in_use(map, n) ? in.port.mtu : 0, key("size"));
    EffectivePool* pool =
        choose_pool(in.qos, PoolDirection::egress, said.pool, limits.lossless, in.name, key("pool"));
    if (pool != nullptr) {
        limits.pool = pool->index;
        pool->reserved_cells += limits.reserved_cells;
        in.account(*pool, key("size"), said.size_bytes ? limits.reserved_cells : 0);
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
    const bool of_port = problem.path.empty();
    in.qos.problems.push_back({of_port ? in.name : std::string(),
                               of_port ? key_of("queue", n, "wred") : problem.path, problem.wrong,
                               problem.fix, "wred-profile"});
}

// CNPs are never paused: a pause for a priority of their queue is not honoured, whatever the mode.
std::uint8_t priorities_of_cnp(const EffectivePort& port) {
    if (!port.map.cnp_tc) return 0;
    const ClassId queue = port.map.tc_to_queue[*port.map.cnp_tc];
    if (port.queue[queue].lossless) return 0;  // an operator put it there, and lint says so
    return classes_that_map_to(port.map.pfc_priority_to_queue, queue);
}

void read_port(const Config& config, const std::string& name, const PortConfig& port, EffectiveQos& qos,
               std::vector<PoolAccount>& accounts) {
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
    const Reading reading{config, qos, name, port, out, accounts};
    for (unsigned n = 0; n < classes; ++n) {
        read_group(reading, n);
        read_queue(reading, n, preset.weight[n]);
        read_wred(reading, n, preset);
        if (!port.priority_group[n].lossless.value_or(false) || out.mode == PfcMode::symmetric ||
            out.mode == PfcMode::asymmetric)
            continue;
        qos.problems.push_back({name, key_of("priority_group", n, "lossless"),
                                "the port's pfc_mode never sends PFC", "set pfc_mode = \"symmetric\"",
                                "lossless-without-pfc"});
    }
    out.masks.honours = static_cast<std::uint8_t>(out.masks.honours & ~priorities_of_cnp(out));
}

// ---- Judgement
// ----------------------------------------------------------------------------------------------------

// The smallest buffer in which a pool of the presets has so many cells: see make_pools.
std::uint64_t buffer_for(const EffectiveQos& qos, const EffectivePool& pool, std::uint64_t cells) {
    if (pool.size_cells == qos.buffer_cells) return cells;
    if (pool.size_cells == qos.buffer_cells / 4) return cells * 4;
    std::uint64_t buffer = cells + cells / 3 + 1;
    while (buffer - 1 - (buffer - 1) / 4 >= cells) --buffer;
    return buffer;
}

// Names the key that is to be changed: a size that the file gives, where that alone takes half of the pool
// and is too large, or else the pool's size, or the buffer's, of which the presets' pools are parts.
QosProblem no_shared(const Config& config, const EffectiveQos& qos, const EffectivePool& pool,
                     const PoolAccount& account) {
    const std::uint64_t cell = qos.cell.bytes();
    const std::uint64_t promised = pool.reserved_cells + pool.headroom_cells;
    const std::uint64_t missing = promised + 1 - pool.size_cells;
    const bool of_file = config.pools.contains(pool.name);
    const std::string own_key = of_file ? "pool." + pool.name + ".size" : "buffer.size";
    const std::uint64_t wanted = of_file ? promised + 1 : buffer_for(qos, pool, promised + 1);
    QosProblem problem{
        {},
        own_key,
        fmt::format("the {} cells of {} bytes of pool {} do not hold what is promised: {} "
                    "reserved and {} of headroom",
                    pool.size_cells, cell, pool.name, pool.reserved_cells, pool.headroom_cells),
        fmt::format("write {} = {} or more", own_key, wanted * cell),
        "pool-no-shared",
        account.full_at};
    if (qos.ports.size() > 1 && !account.full_at.empty())
        problem.wrong += fmt::format("; there is no room from port {} on", account.full_at);
    const auto worst =
        std::max_element(account.said.begin(), account.said.end(),
                         [](const auto& a, const auto& b) { return a.second.cells < b.second.cells; });
    if (worst == account.said.end() || worst->second.cells < missing ||
        2 * worst->second.cells < pool.size_cells)
        return problem;
    const auto& [key, said] = *worst;
    const std::uint64_t now = key.ends_with(".xoff")
                                  ? qos.ports.at(said.port).headroom.xoff_cells + said.cells / said.ports
                                  : said.cells / said.ports;
    const std::uint64_t less = (missing + said.ports - 1) / said.ports;
    problem.fix = fmt::format("write {} = {} or less, or {} = {} or more", key.substr(key.rfind('.') + 1),
                              (now - std::min(now, less)) * cell, own_key, wanted * cell);
    problem.port = said.port;
    problem.key = key;
    return problem;
}

void judge_pools(const Config& config, EffectiveQos& qos, const std::vector<PoolAccount>& accounts) {
    for (std::size_t i = 0; i < qos.pools.size(); ++i) {
        EffectivePool& pool = qos.pools[i];
        if (pool.shared_headroom_cells != 0) pool.headroom_cells = pool.shared_headroom_cells;
        pool.shared_cells = static_cast<std::int64_t>(pool.size_cells) -
                            static_cast<std::int64_t>(pool.reserved_cells + pool.headroom_cells);
        if (pool.shared_cells <= 0) qos.problems.push_back(no_shared(config, qos, pool, accounts[i]));
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
                {port_name, key_of("priority_group", n, "xoff"),
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
        constexpr std::array<std::string_view, 3> where{"marks at dequeue", "marks at enqueue",
                                                        "marks at sojourn"};
        text += fmt::format("    queue {}  {:<12} {}: {}\n", n, port.wred[n],
                            profile.ecn ? where[static_cast<unsigned>(profile.mark_at)] : "drops", what);
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

std::string QosProblem::path() const { return port.empty() ? key : lint::port_path(port, key); }

EffectiveQos effective_qos(const Config& config) {
    EffectiveQos qos;
    qos.cell = CellSize(config.cell_bytes);
    qos.buffer_cells = buffer_cells(config, qos);
    make_pools(config, qos);
    std::vector<PoolAccount> accounts(qos.pools.size());
    for (const auto& [name, port] : config.ports) read_port(config, name, port, qos, accounts);
    judge_pools(config, qos, accounts);
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
