#include "control/config/compile/qos_pools.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

constexpr std::string_view ingress_lossless = "lossless";
constexpr std::string_view ingress_lossy = "lossy";
constexpr std::string_view egress_lossless = "egress-lossless";
constexpr std::string_view egress_lossy = "egress-lossy";

// Nothing when it is more than the buffer has.
std::optional<std::uint32_t> cells_in_buffer(const EffectiveQos& qos, Round round, std::uint64_t bytes) {
    const auto cells = round == Round::up ? qos.cell.rounded_up(bytes) : qos.cell.rounded_down(bytes);
    return cells && *cells <= qos.buffer_cells ? cells : std::nullopt;
}

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

// The buffer that the profile's pools are parts of.
std::uint64_t cells_of_profile(const EffectiveQos& qos) {
    return std::max<std::uint64_t>(qos.profile->size_bytes / qos.cell.bytes(), 1);
}

// The smallest buffer in which a pool of the presets or a profile has so many cells: see make_pools.
std::uint64_t buffer_for(const EffectiveQos& qos, const EffectivePool& pool, std::uint64_t cells) {
    if (qos.profile != nullptr)
        if (const auto own = qos.profile->pools.find(pool.name); own != qos.profile->pools.end()) {
            const std::uint64_t part = std::max<std::uint64_t>(own->second.size_bytes / qos.cell.bytes(), 1);
            return (cells * cells_of_profile(qos) + part - 1) / part;
        }
    if (pool.size_cells == qos.buffer_cells) return cells;
    if (pool.size_cells == qos.buffer_cells / 4) return cells * 4;
    std::uint64_t buffer = cells + cells / 3 + 1;
    while (buffer - 1 - (buffer - 1) / 4 >= cells) --buffer;
    return buffer;
}

// Names the key to change: a size in the file that is too large and takes half of the pool, or else the
// pool's size, or the buffer's, of which the presets' pools are parts.
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
        std::max_element(account.keys.begin(), account.keys.end(),
                         [](const auto& a, const auto& b) { return a.second.cells < b.second.cells; });
    if (worst == account.keys.end() || worst->second.cells < missing ||
        2 * worst->second.cells < pool.size_cells)
        return problem;
    const auto& [key, promise] = *worst;
    const std::uint64_t now = key.ends_with(".xoff") ? qos.ports.at(promise.port).headroom.xoff_cells +
                                                           promise.cells / promise.ports
                                                     : promise.cells / promise.ports;
    const std::uint64_t less = (missing + promise.ports - 1) / promise.ports;
    problem.fix = fmt::format("write {} = {} or less, or {} = {} or more", key.substr(key.rfind('.') + 1),
                              (now - std::min(now, less)) * cell, own_key, wanted * cell);
    problem.port = promise.port;
    problem.key = key;
    return problem;
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

constexpr std::uint8_t preset_trim_dscp = 11;  // as Cumulus Linux has it

// Class 5 is that of trimmed packets: it shares by weight with the data's, so it gets half at most.
MapConfig trimming_map() {
    MapConfig map;
    map.dscp_to_tc[preset_trim_dscp] = 5;
    return map;
}

}  // namespace

Preset preset_of(const std::string& name) {
    // TC 6 CNP and TC 7 network control strict; DWRR 50/50 between RoCE (3) and the rest.
    constexpr std::array<std::uint8_t, classes> usual{50, 50, 50, 50, 50, 50, 0, 0};
    if (name == "semi-lossless") return {0x08, 0x08, PfcMode::semi_lossless, usual, false, "linear"};
    if (name == "lossy") return {0, 0x08, PfcMode::off, usual, false, "linear"};
    if (name == "lossy-trim") return {0, 0x08, PfcMode::off, usual, false, "linear", 0x08, preset_trim_dscp};
    // SONiC's T0: 15 for the lossless classes, 14 for the others, 7 strict.
    if (name == "sonic-t0")
        return {0x18, 0x18, PfcMode::symmetric, {14, 14, 14, 15, 15, 14, 14, 0}, true, "sonic"};
    return {0x08, 0x08, PfcMode::symmetric, usual, false, "linear"};
}

MapConfig map_of(const Config& config, const PortConfig& port) {
    const auto found = config.maps.find(port.map);
    const MapConfig map = found != config.maps.end() ? found->second : MapConfig{};
    // The preset brings its own map unless the file has one.
    if (port.map == "default" && map == MapConfig{}) {
        if (port.qos == "sonic-t0") return sonic_map();
        if (port.qos == "lossy-trim") return trimming_map();
    }
    return map;
}

std::uint32_t configured_cells(EffectiveQos& qos, Round round, std::uint64_t bytes, const std::string& port,
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

void make_pools(const Config& config, EffectiveQos& qos) {
    PoolTable table{qos.pools};
    const std::uint32_t buffer = qos.buffer_cells;
    for (const PoolDirection direction : {PoolDirection::ingress, PoolDirection::egress})
        for (const auto& [name, pool] : config.pools)
            if (pool.direction == direction)
                table.add(name, direction,
                          configured_cells(qos, Round::down, pool.size_bytes, {}, "pool." + name + ".size"),
                          configured_cells(qos, Round::up, pool.shared_headroom_bytes, {},
                                           "pool." + name + ".shared_headroom"));
    const auto has = [&](PoolDirection direction) {
        return std::any_of(qos.pools.begin(), qos.pools.end(),
                           [&](const auto& p) { return p.direction == direction; });
    };
    // The profile's, scaled to the file's buffer.size.
    if (qos.profile != nullptr) {
        const std::uint64_t whole = cells_of_profile(qos);
        const auto part = [&](std::uint64_t bytes) {
            return static_cast<std::uint32_t>(bytes / qos.cell.bytes() * buffer / whole);
        };
        for (const PoolDirection direction : {PoolDirection::ingress, PoolDirection::egress}) {
            if (has(direction)) continue;
            for (const auto& [name, pool] : qos.profile->pools)
                if (pool.direction == direction)
                    table.add(name, direction, part(pool.size_bytes), part(pool.shared_headroom_bytes));
        }
    }
    const bool one_pool = !config.ports.empty() &&
                          std::all_of(config.ports.begin(), config.ports.end(),
                                      [](const auto& p) { return preset_of(p.second.qos).one_ingress_pool; });
    // Separate pools, so that lossy load never pauses a lossless class, nor the other way round. A lossy
    // quarter is ample for TCP; the lossless part holds the headrooms.
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

EffectivePool* choose_pool(EffectiveQos& qos, PoolDirection direction, const std::optional<std::string>& name,
                           bool lossless, const std::string& port, const PortKey& key) {
    PoolTable table{qos.pools};
    if (name) {
        EffectivePool* pool = table.find(direction, *name);
        if (pool == nullptr)
            qos.problems.push_back(
                {port, key,
                 fmt::format("there is no {} pool \"{}\"",
                             direction == PoolDirection::ingress ? "ingress" : "egress", *name),
                 "name one that is, or add [pool." + *name + "]", "pool-unknown"});
        return pool;
    }
    const bool ingress = direction == PoolDirection::ingress;
    EffectivePool* pool = table.find(direction, lossless ? (ingress ? ingress_lossless : egress_lossless)
                                                         : (ingress ? ingress_lossy : egress_lossy));
    for (EffectivePool& other : qos.pools)
        if (pool == nullptr && other.direction == direction) pool = &other;
    return pool;
}

void check_pools(const Config& config, EffectiveQos& qos, const std::vector<PoolAccount>& accounts) {
    for (std::size_t i = 0; i < qos.pools.size(); ++i) {
        EffectivePool& pool = qos.pools[i];
        if (pool.shared_headroom_cells != 0) pool.headroom_cells = pool.shared_headroom_cells;
        pool.shared_cells = static_cast<std::int64_t>(pool.size_cells) -
                            static_cast<std::int64_t>(pool.reserved_cells + pool.headroom_cells);
        if (pool.shared_cells <= 0) qos.problems.push_back(no_shared(config, qos, pool, accounts[i]));
    }
}

bool exceeds_shared_headroom(const EffectiveQos& qos, const GroupLimits& group) {
    const EffectivePool* pool = qos.pool(PoolDirection::ingress, group.pool);
    return group.lossless && pool != nullptr && pool->shared_headroom_cells != 0 &&
           group.headroom_cells > pool->shared_headroom_cells;
}

}  // namespace sluice
