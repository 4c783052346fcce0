#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "control/config/compile/qos.hh"
#include "control/config/compile/qos_pools.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "lib/values/endian.hh"
#include "tools/import/importing.hh"

namespace sluice::import {
namespace {

// Another address of the subnet: the first one, or the one beside ours; nothing in a subnet of one.
std::optional<IpAddress> beside(const IpPrefix& own) {
    const unsigned bits = own.address.is_v6 ? 128 : 32;
    if (own.length >= bits) return std::nullopt;
    const std::size_t last = bits / 8 - 1;
    IpAddress other = own.address;
    if (own.length + 1U == bits) {
        other.bytes[last] ^= 1U;
        return other;
    }
    other = network_of(own).address;
    other.bytes[last] |= 1U;
    if (other == own.address) other.bytes[last] ^= 3U;  // the second one
    return other;
}

// 100.64.0.1/30, 100.64.0.5/30 ...: shared address space (RFC 6598).
IpPrefix made_address(std::size_t index) {
    IpAddress address;
    address.bytes[0] = 100;
    address.bytes[1] = 64;
    address.bytes[2] = static_cast<std::uint8_t>(index / 64);
    address.bytes[3] = static_cast<std::uint8_t>(index % 64 * 4 + 1);
    return {address, 30};
}

void give_devices(Importing& in) {
    std::size_t index = 0;
    for (auto& [name, port] : in.config.ports) {
        port.device = boost::replace_all_copy(in.wishes.device, "{port}", name);
        boost::replace_all(port.device, "{n}", std::to_string(index++));
        // The most that an XDP port takes by any kernel: since Linux 6.6 it may be more.
        constexpr std::uint32_t every_kernels = 3800;
        if (port.device.starts_with("xdp:")) port.mtu = std::min(port.mtu, every_kernels);
    }
    const bool simulated =
        in.wishes.device.starts_with("net_pcap") && in.wishes.device.find("iface") == std::string::npos;
    if (simulated || in.wishes.device.starts_with("net_null")) return;
    in.config.clock = ClockKind::real_time;
    in.account.assumed("clock", "\"real\", as the device needs it");
    const bool kernel = std::ranges::all_of(in.config.ports | std::views::values, on_kernel_interface);
    if (!kernel || in.config.ports.empty()) return;
    in.config.kernel.routes = true;
    in.config.events.clear();  // the kernel's own interfaces say whether they are up
    in.account.assumed("kernel.routes",
                       "true: neighbors and routes are the kernel's; mtu of an xdp: port is at most "
                       "3800, which every kernel takes");
}

// The first DSCP of a class that comes to a lossless group.
std::optional<std::uint8_t> lossless_dscp(const Config& config, const PortConfig& port) {
    const auto map = config.maps.find(port.map);
    if (map == config.maps.end() || !port.pfc) return std::nullopt;
    constexpr std::array<unsigned, 2> usual{26, 3};
    const auto is_lossless = [&](unsigned dscp) {
        const ClassId group = map->second.tc_to_priority_group[map->second.dscp_to_tc[dscp]];
        return std::ranges::find(*port.pfc, group) != port.pfc->end();
    };
    for (const unsigned dscp : usual)
        if (is_lossless(dscp)) return static_cast<std::uint8_t>(dscp);
    for (unsigned dscp = 0; dscp < 64; ++dscp)
        if (is_lossless(dscp)) return static_cast<std::uint8_t>(dscp);
    return std::nullopt;
}

// A simulated host behind each port, so that the switch runs as it is: a flow is all that it needs.
void give_hosts(Importing& in) {
    std::size_t index = 0;
    std::size_t without = 0;
    for (auto& [name, port] : in.config.ports) {
        if (port.address.empty()) {
            port.address.push_back(made_address(index));
            ++without;
        }
        ++index;
        std::optional<IpAddress> address;
        for (const auto& [hop, at] : in.next_hops)
            for (const IpPrefix& own : port.address)
                if (!address && contains(network_of(own), hop)) address = hop;
        for (const IpPrefix& own : port.address)
            if (!address) address = beside(own);
        if (!address) continue;
        HostConfig host;
        host.port = name;
        host.address = *address;
        if (const auto dscp = lossless_dscp(in.config, port)) host.dscp = *dscp;
        if (const std::uint32_t room = port.mtu; room < 1100) host.mtu = 256;
        in.config.hosts.emplace(name, std::move(host));
    }
    if (!in.config.hosts.empty()) in.config.host_defaults.dscp = in.config.hosts.begin()->second.dscp;
    if (without != 0)
        in.account.assumed("address", fmt::format("{} without an address: made of 100.64.0.0/10",
                                                  print_count(without, "port")));
    in.account.assumed("device",
                       "a simulated RoCE host behind each port, under the virtual clock; --device says "
                       "another");
}

// The ports behind which the next hops are: those that the file names, or whose subnet has the address.
std::map<IpAddress, std::set<std::string>> ports_of_hops(const Importing& in) {
    std::map<IpAddress, std::set<std::string>> where;
    for (const auto& [hop, named] : in.next_hops) {
        std::string port = named;
        for (const auto& [name, config] : in.config.ports)
            for (const IpPrefix& own : config.address)
                if (port.empty() && contains(network_of(own), hop)) port = name;
        if (!port.empty()) where[hop].insert(port);
    }
    return where;
}

// Routes whose next hops no port reaches are left out; other next hops get a made MAC, unless a host is
// there. A next hop names its port where several ports have its address.
void give_neighbors(Importing& in) {
    const auto where = ports_of_hops(in);
    const bool kernel = in.config.kernel.routes;
    RouteSet kept;
    for (RouteConfig route : *in.config.routes) {
        const auto lost = std::ranges::find_if_not(
            route.via, [&](const IpAddress& hop) { return where.contains(hop); }, &NextHopConfig::address);
        if (lost == route.via.end() && !kernel) {
            for (NextHopConfig& hop : route.via)
                if (where.at(hop.address).size() == 1) hop.port.clear();
            kept.insert(std::move(route));
            continue;
        }
        in.account.assumed("route." + print_prefix(route.prefix),
                           kernel
                               ? fmt::format("left out: the kernel has it after: ip route add {} ...",
                                             print_prefix(route.prefix))
                               : fmt::format("left out: no port reaches {}", print_address(lost->address)));
    }
    in.config.routes.change() = std::move(kept);
    if (kernel) return;
    std::set<IpAddress> hosts;
    for (const auto& [name, host] : in.config.hosts) hosts.insert(host.address);
    std::uint16_t number = 0;
    for (const auto& [hop, ports] : where)
        for (const std::string& port : ports) {
            ++number;
            if (hosts.contains(hop)) continue;
            NeighborConfig neighbor;
            neighbor.address = hop;
            neighbor.port = port;
            neighbor.mac.bytes = {0x02, 0x53, 0x4c, 0x02};
            store_be<std::uint16_t>(&neighbor.mac.bytes[4], number);
            in.account.assumed(
                "neighbor." + print_address(hop),
                fmt::format("behind port {}, with the made MAC {}", port, print_mac(neighbor.mac)));
            add(in.config, std::move(neighbor));
        }
}

// A buffer that is smaller than the file's: all of its pools are, in proportion.
void scale_pools(Importing& in) {
    std::uint64_t largest = 0;
    for (const auto& [name, pool] : in.config.pools)
        largest = std::max(largest, pool.size_bytes + pool.shared_headroom_bytes);
    const std::uint64_t wanted = in.wishes.buffer_bytes.value_or(largest);
    if (wanted >= largest) return;
    const auto scaled = [&](std::uint64_t bytes) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>(Wide{bytes} * wanted / largest);
    };
    for (auto& [name, pool] : in.config.pools) {
        pool.size_bytes = scaled(pool.size_bytes);
        pool.shared_headroom_bytes = scaled(pool.shared_headroom_bytes);
    }
    in.account.assumed("buffer", fmt::format("pools are scaled from {} to {}, as --buffer says",
                                             print_size(largest), print_size(wanted)));
}

// A limit above the buffer limits nothing.
void cut_limits(Config& config) {
    const auto cut = [&](ThresholdConfig& threshold) {
        if (threshold.static_bytes)
            threshold.static_bytes = std::min(*threshold.static_bytes, config.buffer_size_bytes);
    };
    for (auto& [name, port] : config.ports)
        for (unsigned n = 0; n < classes; ++n) {
            cut(port.priority_group[n]);
            cut(port.queue[n]);
        }
}

// A buffer of which the pools of the presets, which are parts of it, hold twice what is promised of them.
std::uint64_t buffer_for_presets(const EffectiveQos& qos, const Config& config) {
    std::uint64_t cells = 0;
    for (const EffectivePool& pool : qos.pools) {
        if (config.pools.contains(pool.name)) continue;
        const std::uint64_t promised = pool.reserved_cells + pool.headroom_cells;
        const std::uint64_t parts = (qos.buffer_cells + pool.size_cells - 1) / pool.size_cells;
        // In thirds for three quarters.
        const std::uint64_t needed = parts == 2 ? promised * 4 / 3 + 1 : promised * parts;
        cells = std::max(cells, 2 * needed + 1);
    }
    return cells * config.cell_bytes;
}

// The size of a pool was ours, and does not hold what its ports are promised.
void enlarge(Importing& in, const std::string& name, PoolConfig& pool, std::uint64_t bytes) {
    in.account.assumed(
        "pool." + name,
        fmt::format("size = {} instead of {}, which does not hold the reserves and headrooms of {}; "
                    "--buffer says another",
                    print_size(bytes), print_size(pool.size_bytes),
                    print_count(in.config.ports.size(), "port")));
    pool.size_bytes = bytes;
}

// A pool of the source is its shared part; Sluice's has what is reserved, and the headrooms, in it.
void size_pools(Importing& in) {
    Config& config = in.config;
    if (!config.pools.empty()) scale_pools(in);
    config.buffer_size_bytes = std::uint64_t{max_buffer_cells} * config.cell_bytes;
    const EffectiveQos qos = effective_qos(config);
    std::uint64_t ingress = 0;
    std::uint64_t least = 1;  // for egress pools, and those of the presets
    bool has_presets = false;
    for (const EffectivePool& pool : qos.pools) {
        const auto said = config.pools.find(pool.name);
        if (said == config.pools.end()) {
            has_presets = true;
            continue;
        }
        PoolConfig& own = said->second;
        const std::uint64_t promised = (pool.reserved_cells + pool.headroom_cells) * config.cell_bytes;
        if (in.shared_only.contains(pool.name))
            own.size_bytes = std::max(own.size_bytes + promised, promised + config.cell_bytes);
        else if (own.size_bytes < promised + config.cell_bytes && !in.wishes.buffer_bytes)
            enlarge(in, pool.name, own, 2 * promised + config.cell_bytes);
        if (pool.direction == PoolDirection::ingress)
            ingress += (own.size_bytes + config.cell_bytes - 1) / config.cell_bytes * config.cell_bytes;
        else
            least = std::max(least, own.size_bytes);
    }
    if (has_presets)
        least = std::max(
            {least, buffer_for_presets(qos, config), in.wishes.buffer_bytes.value_or(in.usual_buffer_bytes)});
    const std::uint64_t all = std::max(ingress, least);
    config.buffer_size_bytes = (all + config.cell_bytes - 1) / config.cell_bytes * config.cell_bytes;
    if (config.pools.empty() && in.wishes.buffer_bytes) config.buffer_size_bytes = *in.wishes.buffer_bytes;
    if (config.pools.empty())
        in.account.assumed(
            "buffer", fmt::format("size = {}: the file has no pools", print_size(config.buffer_size_bytes)));
    else
        in.account.assumed("buffer",
                           fmt::format("size = {}: what the pools take with their reserves and headrooms; "
                                       "cell = {}",
                                       config.buffer_size_bytes, config.cell_bytes));
}

// The value that most ports have becomes the one of [default], so that a port has only what is its own.
template <class Get>
void settle(Config& config, Get get) {
    using Value = std::decay_t<std::invoke_result_t<Get, PortConfig&>>;
    std::vector<std::pair<const Value*, std::size_t>> values;
    for (const auto& [name, port] : config.ports) {
        const Value& own = std::invoke(get, port);
        const auto known =
            std::ranges::find_if(values, [&](const auto& value) { return *value.first == own; });
        if (known == values.end())
            values.emplace_back(&own, 1);
        else
            ++known->second;
    }
    const auto most = std::ranges::max_element(values, {}, [](const auto& value) { return value.second; });
    if (most != values.end()) std::invoke(get, config.port_defaults) = Value(*most->first);
}

void settle_defaults(Config& config) {
    const auto settle_each = [&](auto... members) { (settle(config, members), ...); };
    settle_each(&PortConfig::speed, &PortConfig::cable_m, &PortConfig::mtu, &PortConfig::pfc,
                &PortConfig::pfc_mode, &PortConfig::small_xoff, &PortConfig::shaper,
                &PortConfig::shaper_burst_bytes, &PortConfig::trust, &PortConfig::map, &PortConfig::watchdog);
    for (unsigned n = 0; n < classes; ++n) {
        settle(config, [n](auto& port) -> auto& { return port.priority_group[n]; });
        settle(config, [n](auto& port) -> auto& { return port.queue[n]; });
    }
}

}  // namespace

void finish(Importing& in) {
    if (in.wishes.cell_bytes) in.config.cell_bytes = *in.wishes.cell_bytes;
    if (in.wishes.cable_m) {
        for (auto& [name, port] : in.config.ports) port.cable_m = *in.wishes.cable_m;
        in.account.assumed("cable",
                           fmt::format("{} at each port, as --cable says", print_length(*in.wishes.cable_m)));
    }
    if (in.wishes.device.empty())
        give_hosts(in);
    else
        give_devices(in);
    give_neighbors(in);
    size_pools(in);
    cut_limits(in.config);
    // A headroom that is too small is the finding that people look for; the switch is to run all the same.
    const EffectiveQos qos = effective_qos(in.config);
    for (const QosProblem& problem : qos.problems)
        if (problem.id.name() == "headroom-small") in.config.ports.at(problem.port).small_xoff = true;
    for (const auto& [name, port] : qos.ports)
        for (const GroupLimits& group : port.group)
            if (exceeds_shared_headroom(qos, group)) in.config.ports.at(name).small_xoff = true;
    settle_defaults(in.config);
    sort_config(in.config);
    add_host_neighbors(in.config);
}

}  // namespace sluice::import
