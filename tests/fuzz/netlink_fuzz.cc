// Any bytes as datagrams of the kernel's netlink, each behind two bytes that say its length (its upper bit:
// everything is told anew from here on): what is understood makes changes that tables can take, and when the
// kernel has nothing any more, neither have we.
#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/switch/kernel/kernel_tables.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;

// The routes that our tables would have.
struct Given {
    std::set<IpPrefix> routes, subnets, addresses;
    std::set<NeighborKey> neighbors;

    template <class Set, class Key>
    static void put(Set& set, const Key& key, bool there) {
        if (there)
            set.insert(key);
        else
            set.erase(key);
    }
    void take(const RouteChanges& changes) {
        for (const auto& own : changes.addresses) put(addresses, own.prefix, own.there);
        for (const auto& own : changes.subnets) put(subnets, own.prefix, own.there);
        for (const auto& each : changes.neighbors) {
            require(!each.now || !each.now->mac.is_group(), "a neighbor has a station's MAC");
            put(neighbors, each.at, each.now.has_value());
        }
        for (const auto& each : changes.routes) {
            require(each.prefix == network_of(each.prefix), "a route has no host bits");
            require(each.prefix.length <= (each.prefix.address.is_v6 ? 128 : 32),
                    "a prefix is of its family");
            put(routes, each.prefix, each.now.has_value());
            if (!each.now) continue;
            const NextHops& via = each.now->via;
            require(via.size() <= max_route_hops, "a route has not too many next hops");
            for (std::size_t i = 0; i < via.size(); ++i) {
                require(via[i].weight >= 1 && via[i].weight <= 256, "a weight is one of ours");
                require(i == 0 || (via[i - 1] < via[i] && !via[i - 1].is_to({via[i].address, via[i].port})),
                        "next hops are sorted, none twice");
            }
        }
    }
    bool empty() const { return routes.empty() && subnets.empty() && addresses.empty() && neighbors.empty(); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const KernelTables::Ports ports{{1, "p0"}, {2, "p1"}, {3, "p2"}};
    constexpr unsigned fresh_bit = 0x8000;
    KernelTables tables(ports);
    Given given;
    std::span<const std::uint8_t> rest(data, size);
    while (rest.size() >= 2) {
        const unsigned head = rest[0] | rest[1] << 8U;
        rest = rest.subspan(2);
        const std::size_t bytes = std::min<std::size_t>(rest.size(), head & ~fresh_bit);
        // A copy of exactly its size, and aligned as the kernel's are.
        const std::vector<std::uint8_t> datagram(rest.begin(),
                                                 rest.begin() + static_cast<std::ptrdiff_t>(bytes));
        rest = rest.subspan(bytes);
        KernelTables fresh(ports);
        KernelTables& told = (head & fresh_bit) != 0 ? fresh : tables;
        for (const KernelMessage& message : parse_netlink(datagram, 1).messages) told.apply(message);
        if (&told == &fresh) tables.replace(std::move(fresh));
        given.take(tables.take_changes());
        tables.take_wanted(100);
        static_cast<void>(tables.take_asks_again());
    }
    static_cast<void>(tables.routes_elsewhere());
    tables.replace(KernelTables(ports));
    given.take(tables.take_changes());
    require(given.empty(), "nothing is left when the kernel has nothing");
    require(tables.gateways().empty(), "no gateway is left");
    return 0;
}
