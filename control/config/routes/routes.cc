#include "control/config/routes/routes.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "control/config/schema/values.hh"
#include "lib/frame/headers.hh"
#include "lib/values/endian.hh"

namespace sluice {
namespace {

NextHop next_hop_of(const NeighborConfig& neighbor, const Routes::PortInfo& port) {
    NextHop hop;
    hop.port = port.id;
    std::copy_n(neighbor.mac.bytes.begin(), 6, hop.header.begin());
    std::copy_n(port.mac.bytes.begin(), 6, hop.header.begin() + 6);
    if (neighbor.vlan) {
        hop.header_bytes = 18;
        store_be<std::uint16_t>(hop.header.data() + 12, ether_type::vlan);
        store_be<std::uint16_t>(hop.header.data() + 14, *neighbor.vlan);
    }
    return hop;
}

int common_bits(const IpAddress& a, const IpAddress& b) {
    int bits = 0;
    for (std::size_t i = 0; i < a.bytes.size(); ++i, bits += 8)
        if (const auto differ = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]); differ != 0)
            return bits + std::countl_zero(differ);
    return bits;
}

// Counts the second-level tables of the sorted prefixes of a family.
class TableCount {
  public:
    explicit TableCount(unsigned root_bits) : root_bits_(root_bits) {}
    void add(const IpPrefix& prefix) {
        for (unsigned bits = root_bits_; bits < prefix.length; bits += 8) {
            const IpPrefix table = network_of({prefix.address, static_cast<std::uint8_t>(bits)});
            if (std::exchange(last_[bits / 8], table) != table) ++count_;
        }
    }
    std::size_t count() const { return count_; }

  private:
    unsigned root_bits_;
    std::array<std::optional<IpPrefix>, 16> last_;
    std::size_t count_ = 0;
};

struct Demand {
    std::size_t prefixes = 0;
    std::size_t tables = 0;
};

Demand demand_of(const Config& config, bool v6, unsigned root_bits) {
    Demand demand;
    const auto count = [&](const auto& list, auto prefix_of) {
        TableCount tables(root_bits);
        for (const auto& each : list)
            if (const IpPrefix prefix = prefix_of(each); prefix.address.is_v6 == v6)
                tables.add(prefix), ++demand.prefixes;
        demand.tables += tables.count();
    };
    count(*config.routes, [](const RouteConfig& each) { return each.prefix; });
    count(*config.neighbors, [](const NeighborConfig& each) { return host_prefix(each.address); });
    for (const auto& [name, port] : config.ports) {
        count(port.address, [](const IpPrefix& each) { return host_prefix(each.address); });
        count(port.address, [](const IpPrefix& each) { return network_of(each); });
    }
    return demand;
}

Fib::Size fib_size(const Config& config, bool v6) {
    constexpr std::size_t large_from = 10'000, real_v6_large_from = 256;
    constexpr std::size_t large_tables = 16'384, small_tables = 4096;
    const bool real = config.clock == ClockKind::real_time;
    const std::optional<std::uint32_t> said = v6 ? config.fib.ipv6_tables : config.fib.ipv4_tables;
    const std::size_t prefixes = demand_of(config, v6, 24).prefixes;
    const bool many = prefixes >= (real && v6 ? real_v6_large_from : large_from) || config.kernel.routes;
    Fib::Size size;
    size.large = many || said.value_or(0) >= large_from || (real && !v6);
    if (said)
        size.tables = *said;
    else
        size.tables = (size.large ? large_tables : small_tables) +
                      2 * demand_of(config, v6, size.large ? 24 : 16).tables;
    return size;
}

// Calls fn for each of the configuration's prefixes of a family.
template <class Function>
void for_each_prefix(const Config& config, bool v6, Function fn) {
    const auto tell = [&](const IpPrefix& prefix) {
        if (prefix.address.is_v6 == v6) fn(prefix);
    };
    for (const RouteConfig& route : *config.routes) tell(route.prefix);
    for (const NeighborConfig& neighbor : *config.neighbors) tell(host_prefix(neighbor.address));
    for (const auto& [name, port] : config.ports)
        for (const IpPrefix& address : port.address)
            tell(host_prefix(address.address)), tell(network_of(address));
}

std::string full(const IpPrefix& prefix, const Fib& fib) {
    const bool v6 = prefix.address.is_v6;
    return fmt::format(
        "route {}: the forwarding table is full: {} of {} tables for longer prefixes are taken; "
        "do: start with more, fib.{} = {}",
        print_prefix(prefix), fib.tables(v6).tables_used(), fib.tables(v6).tables(),
        v6 ? "ipv6_tables" : "ipv4_tables", 2 * fib.tables(v6).tables());
}

}  // namespace

std::size_t tables_needed(const Config& config, bool v6) {
    std::vector<IpPrefix> prefixes;
    for_each_prefix(config, v6, [&](const IpPrefix& prefix) { prefixes.push_back(prefix); });
    std::sort(prefixes.begin(), prefixes.end());
    TableCount tables(fib_size(config, v6).large ? 24 : 16);
    for (const IpPrefix& prefix : prefixes) tables.add(prefix);
    return tables.count();
}

Fib::Sizes fib_sizes(const Config& config) {
    return {fib_size(config, false), fib_size(config, true), config.clock == ClockKind::real_time};
}

std::unique_ptr<Routes> Routes::create(const Fib::Sizes& sizes, bool by_destination) {
    std::unique_ptr<Routes> routes(new Routes);
    routes->by_destination_ = by_destination;
    routes->table_bytes_ = routes->sides_.size() * Fib::bytes(sizes);
    for (Side& side : routes->sides_) {
        side.fib = Fib::create(sizes);
        if (!side.fib) return nullptr;
        routes->next_hop_groups_.write(side.tables);
    }
    routes->next_hop_groups_.commit();
    return routes;
}

std::string Routes::account() const {
    std::array<std::size_t, 2> by_family{};
    for (const Listed& each : list()) ++by_family[each.prefix.address.is_v6 ? 1 : 0];
    const auto tables = [this](bool v6) {
        return fmt::format("{} of {}", fib().tables(v6).tables_used(), fib().tables(v6).tables());
    };
    return fmt::format(
        "{} IPv4 and {} IPv6 routes among {} prefixes, {} groups of next hops, {} buckets; tables for longer "
        "prefixes: {} and {}; {:.1f} MB of memory",
        by_family[0], by_family[1], prefixes(), next_hop_groups(), next_hop_groups_.buckets(), tables(false),
        tables(true), static_cast<double>(table_bytes_) / 1e6);
}

unsigned Routes::Prefix::first() const {
    const auto* const found =
        std::find_if(groups.begin(), groups.end(), [](std::uint32_t group) { return group != none; });
    return static_cast<unsigned>(found - groups.begin());
}

std::uint32_t Routes::exchange(Prefix& entry, const IpPrefix& prefix, Source source, std::uint32_t group) {
    const std::uint32_t before = std::exchange(entry.groups[index(source)], group);
    const bool is_route = source.kind == Kind::route;
    if (group != none) next_hop_groups_.set_use(group, prefix, source.origin, is_route, true);
    if (before != none) next_hop_groups_.set_use(before, prefix, source.origin, is_route, false);
    return before;
}

void Routes::set_route(const IpPrefix& prefix, Source source, std::uint32_t group) {
    const auto at = group == none ? prefixes_.find(prefix) : prefixes_.try_emplace(prefix).first;
    if (at != prefixes_.end() && at->second.groups[index(source)] != group)
        steps_.push_back({prefix, source, exchange(at->second, prefix, source, group)});
}

std::optional<std::uint32_t> Routes::group_at(const IpPrefix& prefix, Source source, const GroupKey& key) {
    const auto there = prefixes_.find(prefix);
    const std::uint32_t before = there != prefixes_.end() ? there->second.groups[index(source)] : none;
    return next_hop_groups_.next_hop_group_of(key, before != none ? before : group_no_route);
}

std::string Routes::set_neighbor(const RouteChanges::Neighbor& change, RouteOrigin origin,
                                 const Ports& ports) {
    const auto port = ports.find(change.at.port);
    if (port == ports.end()) return {};
    const IpAddress& address = change.at.address;
    const auto hop = change.now ? std::optional(next_hop_of(*change.now, port->second)) : std::nullopt;
    if (!next_hop_groups_.set_neighbor({address, port->second.id}, origin, hop,
                                       change.is_host && !is_link_local(address)))
        return fmt::format("neighbor {}: there are {} next hops already, which is the most",
                           print_address(address), max_next_hops);
    const IpPrefix prefix = host_prefix(address);
    const Source source{origin, Kind::neighbor};
    auto hosts = next_hop_groups_.hosts(address, origin);
    const auto group = hosts.empty() ? none : group_at(prefix, source, {std::move(hosts), {}});
    if (!group)
        return fmt::format("neighbor {}: there are {} groups of next hops already, which is the most",
                           print_address(address), max_next_hop_groups);
    set_route(prefix, source, *group);
    return {};
}

std::string Routes::set_route(const RouteChanges::Route& change, RouteOrigin origin, const Ports& ports) {
    const Source source{origin, Kind::route};
    std::uint32_t group = none;
    if (change.now) {
        group = change.elsewhere ? group_elsewhere : group_blackhole;
        if (!change.now->via.empty()) {
            GroupKey key{{}, change.now->load_balance};
            for (const NextHopConfig& hop : change.now->via)
                key.via.push_back(
                    {hop.address, hop.port.empty() ? any_port : ports.at(hop.port).id, hop.weight});
            std::sort(key.via.begin(), key.via.end());
            if (by_destination_) key.destination = change.prefix;
            const auto found = group_at(change.prefix, source, key);
            if (!found)
                return fmt::format("route {}: there are {} groups of next hops already, which is the most",
                                   print_prefix(change.prefix), max_next_hop_groups);
            group = *found;
        }
    }
    set_route(change.prefix, source, group);
    return {};
}

std::string Routes::change_tables(const RouteChanges& changes, const Ports& ports) {
    for (const RouteChanges::Own& own : changes.addresses)
        set_route(own.prefix, {changes.origin, Kind::own_address},
                  own.there ? std::uint32_t{group_local} : none);
    for (const RouteChanges::Own& own : changes.subnets)
        set_route(own.prefix, {changes.origin, Kind::subnet},
                  own.there ? std::uint32_t{group_unresolved} : none);
    for (const RouteChanges::Neighbor& each : changes.neighbors)
        if (std::string error = set_neighbor(each, changes.origin, ports); !goes_on(changes.origin, error))
            return error;
    for (const RouteChanges::Route& each : changes.routes)
        if (std::string error = set_route(each, changes.origin, ports); !goes_on(changes.origin, error))
            return error;
    next_hop_groups_.write(sides_[idle()].tables);
    return synchronize(idle());
}

bool Routes::goes_on(RouteOrigin origin, const std::string& error) {
    if (error.empty()) return true;
    if (origin == RouteOrigin::configuration) return false;
    if (left_out_.count++ == 0) left_out_.first = error;
    return true;
}

std::string Routes::change(const RouteChanges& changes, const Ports& ports) {
    left_out_ = {};
    if (changes.empty()) return {};
    std::string error = change_tables(changes, ports);
    if (error.empty())
        changed_ = true;
    else
        roll_back();
    return error;
}

// Removals first, so that their room can be used.
std::string Routes::synchronize(unsigned side) {
    Fib& fib = *sides_[side].fib;
    for (const Step& step : steps_) {
        Prefix& entry = prefixes_.at(step.prefix);
        std::uint32_t& installed = entry.installed[side];
        if (installed == none || entry.wanted() != none) continue;
        installed = none;
        const IpAddress& address = step.prefix.address;
        const auto cover = longest(address, step.prefix.length - 1, side);
        fib.remove(address.is_v6, address.bytes.data(), step.prefix.length,
                   cover != prefixes_.end()
                       ? PrefixTrie::Cover{cover->first.length, cover->second.installed[side]}
                       : PrefixTrie::Cover{});
    }
    for (const Step& step : steps_) {
        Prefix& entry = prefixes_.at(step.prefix);
        std::uint32_t& installed = entry.installed[side];
        const std::uint32_t wanted = entry.wanted();
        if (wanted == none || wanted == installed) continue;
        const IpAddress& address = step.prefix.address;
        if (fib.set(address.is_v6, address.bytes.data(), step.prefix.length, wanted)) {
            installed = wanted;
            continue;
        }
        std::string error = full(step.prefix, fib);
        if (!goes_on(step.source.origin, error)) return error;
        // It is not in the tables, so nothing else stood at this prefix.
        exchange(entry, step.prefix, step.source, none);
    }
    return {};
}

void Routes::roll_back() {
    for (const Step& step : std::views::reverse(steps_))
        exchange(prefixes_.at(step.prefix), step.prefix, step.source, step.before);
    // The entries removed first are the new ones, so all old entries fit again.
    synchronize(idle());
    next_hop_groups_.roll_back(sides_[idle()].tables);
    forget_unused();
}

void Routes::forget_unused() {
    for (const Step& step : steps_)
        if (const auto entry = prefixes_.find(step.prefix);
            entry != prefixes_.end() && entry->second.wanted() == none)
            prefixes_.erase(entry);
    steps_.clear();
}

void Routes::name_in(Policy& policy) const {
    const Side& side = sides_[changed_ ? idle() : active_];
    policy.fib = side.fib.get();
    policy.next_hop_groups = side.tables.next_hop_groups;
    policy.buckets = side.tables.buckets;
    policy.members = side.tables.members;
    policy.balance.active |= next_hop_groups_.any_balanced();
    policy.next_hops = side.tables.next_hops;
}

void Routes::published() {
    if (!std::exchange(changed_, false)) return;
    active_ = idle();
    // Both sides have the same size, so the same entries fit.
    next_hop_groups_.write(sides_[idle()].tables);
    synchronize(idle());
    next_hop_groups_.commit();
    forget_unused();
}

// Prefixes that cover an address sort before it: the one right before covers it, or bounds their length.
Routes::Prefixes::const_iterator Routes::longest(const IpAddress& address, int length, unsigned side) const {
    while (length >= 0) {
        auto at = prefixes_.upper_bound(network_of({address, static_cast<std::uint8_t>(length)}));
        if (at == prefixes_.begin()) break;
        const auto& [prefix, entry] = *--at;
        if (prefix.address.is_v6 != address.is_v6) break;
        const int common = common_bits(prefix.address, address);
        if (common < prefix.length) {
            length = common;
        } else if (entry.installed[side] == none) {
            length = prefix.length - 1;
        } else {
            return at;
        }
    }
    return prefixes_.end();
}

std::optional<Routes::Match> Routes::match(const IpAddress& address) const {
    const auto found = longest(address, host_prefix(address).length, active_);
    if (found == prefixes_.end()) return std::nullopt;
    const unsigned first = found->second.first();
    return Match{found->first, {static_cast<RouteOrigin>(first / kinds), static_cast<Kind>(first % kinds)}};
}

std::vector<Routes::Listed> Routes::list() const {
    std::vector<Listed> all;
    for (const auto& [prefix, entry] : prefixes_)
        for (const RouteOrigin origin : {RouteOrigin::configuration, RouteOrigin::kernel}) {
            const unsigned source = index({origin, Kind::route});
            const std::uint32_t group = entry.groups[source];
            if (group == none) continue;
            Listed& listed = all.emplace_back(
                Listed{prefix, origin, DropReason::none, group, nullptr, entry.first() == source});
            if (group >= first_next_hop_group)
                listed.key = &next_hop_groups_.key(group);
            else
                listed.drop = group == group_blackhole ? DropReason::blackhole : DropReason::no_route;
        }
    return all;
}

}  // namespace sluice
