// Routes as a switch has them, and a model that answers for an address by looking at every prefix length.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/routes/routes.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::routes_model {

inline IpAddress address(std::string_view text) { return *parse_address(text); }
inline IpPrefix prefix(std::string_view text) { return *parse_network(text); }
inline MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 1, last}}; }

inline const Routes::Ports ports{
    {"p0", {0, mac(100)}}, {"p1", {1, mac(101)}}, {"p2", {2, mac(102)}}, {"p3", {3, mac(103)}}};

inline NeighborConfig neighbor(std::string_view at, const std::string& port, std::uint8_t last_of_mac) {
    return {address(at), port, mac(last_of_mac), {}, {}};
}

// The result for an address: the reason to drop it, or headers and ports of next hops with their shares.
struct Answer {
    DropReason drop = DropReason::none;
    std::map<std::pair<PortId, std::string>, double> shares;
    bool operator==(const Answer&) const = default;
};

inline std::string header_of(const MacAddress& to) { return {to.bytes.begin(), to.bytes.end()}; }

inline std::uint32_t next_hop_group_of(const Policy& policy, const IpAddress& asked) {
    return policy.fib->lookup(asked);
}

inline std::span<const std::uint32_t> buckets_of(const Policy& policy, const IpAddress& asked) {
    const NextHopGroup& group = policy.next_hop_groups[next_hop_group_of(policy, asked)];
    return policy.buckets.subspan(group.first_bucket, std::size_t{1} << group.log2_buckets);
}

// As a worker finds it.
inline Answer answer_of(const Policy& policy, const IpAddress& asked) {
    Answer answer;
    answer.drop = policy.next_hop_groups[next_hop_group_of(policy, asked)].drop;
    if (answer.drop != DropReason::none) return answer;
    const auto buckets = buckets_of(policy, asked);
    std::vector<std::pair<std::uint32_t, unsigned>> counts;  // of hops; there are few
    for (const std::uint32_t hop : buckets) {
        auto count =
            std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == hop; });
        if (count == counts.end()) count = counts.insert(count, {hop, 0});
        ++count->second;
    }
    // The members that load balancing chooses among are those of the buckets, with their shares.
    const NextHopGroup& group = policy.next_hop_groups[next_hop_group_of(policy, asked)];
    UNSIGNED_LONGS_EQUAL(counts.size() > 1 ? counts.size() : 0, group.members);
    for (const BalanceMember& member : policy.members.subspan(group.first_member, group.members)) {
        UNSIGNED_LONGS_EQUAL(member.next_hop, buckets[member.bucket]);
        UNSIGNED_LONGS_EQUAL(member.share, std::count(buckets.begin(), buckets.end(), member.next_hop));
    }
    for (const auto& [hop, count] : counts) {
        const NextHop& next = policy.next_hops[hop];
        answer.shares[{next.port, std::string(next.header.begin(), next.header.begin() + 6)}] +=
            count / static_cast<double>(buckets.size());
    }
    return answer;
}

// The entries, each by its key, and the result for an address by a look at every length.
struct Model {
    struct Route {
        NextHops via;
        bool elsewhere;
    };
    struct FromOrigin {
        std::map<IpPrefix, Route> routes;
        std::map<NeighborKey, NeighborConfig> neighbors;
        std::set<NeighborKey> hosts;
        std::map<IpPrefix, bool> addresses, subnets;
        // The neighbors of an address, by port; those that are hosts, or all.
        std::vector<const NeighborConfig*> at(const IpAddress& address, bool hosts_only) const {
            std::vector<const NeighborConfig*> found;
            for (auto each = neighbors.lower_bound({address, {}});
                 each != neighbors.end() && each->first.address == address; ++each)
                if (!hosts_only || hosts.contains(each->first)) found.push_back(&each->second);
            return found;
        }
    };
    std::array<FromOrigin, route_origins> by_origin;  // the configuration first

    void apply(const RouteChanges& changes) {
        FromOrigin& by = by_origin[static_cast<unsigned>(changes.origin)];
        for (const auto& change : changes.addresses) put(by.addresses, change.prefix, change.there);
        for (const auto& change : changes.subnets) put(by.subnets, change.prefix, change.there);
        for (const auto& change : changes.neighbors) {
            by.neighbors.erase(change.at);
            by.hosts.erase(change.at);
            if (change.now) by.neighbors[change.at] = *change.now;
            if (change.now && change.is_host) by.hosts.insert(change.at);
        }
        for (const auto& change : changes.routes) {
            by.routes.erase(change.prefix);
            if (change.now) by.routes[change.prefix] = {change.now->via, change.elsewhere};
        }
    }
    // Those that a next hop is; of two origins the first one's.
    std::vector<const NeighborConfig*> neighbors(const NextHopConfig& hop) const {
        for (const FromOrigin& by : by_origin) {
            auto found = by.at(hop.address, false);
            if (!hop.port.empty())
                std::erase_if(found, [&](const NeighborConfig* each) { return each->port != hop.port; });
            if (!found.empty()) return found;
        }
        return {};
    }
    // Changes that remove its entries: addresses and subnets, and those routes and neighbors that `goes`
    // chooses.
    RouteChanges without(RouteOrigin origin, const std::function<bool()>& goes) const {
        const FromOrigin& by = by_origin[static_cast<unsigned>(origin)];
        RouteChanges less;
        less.origin = origin;
        for (const auto& [key, there] : by.routes)
            if (goes()) less.routes.push_back({key, {}});
        for (const auto& [key, there] : by.neighbors)
            if (goes()) less.neighbors.push_back({key, {}});
        for (const auto& [key, there] : by.addresses) less.addresses.push_back({key, false});
        for (const auto& [key, there] : by.subnets) less.subnets.push_back({key, false});
        return less;
    }
    static void put(std::map<IpPrefix, bool>& map, const IpPrefix& key, bool there) {
        map.erase(key);
        if (there) map[key] = true;
    }
    Answer by(const NextHops& via) const {
        Answer answer;
        double sum = 0;
        for (const NextHopConfig& hop : via) sum += hop.weight * static_cast<double>(neighbors(hop).size());
        for (const NextHopConfig& hop : via)
            for (const NeighborConfig* found : neighbors(hop))
                answer.shares[{ports.at(found->port).id, header_of(found->mac)}] += hop.weight / sum;
        if (via.empty())
            answer.drop = DropReason::blackhole;
        else if (answer.shares.empty())
            answer.drop = DropReason::unresolved_next_hop;
        return answer;
    }
    std::pair<std::optional<IpPrefix>, Answer> look_up(const IpAddress& asked) const {
        for (int bits = asked.is_v6 ? 128 : 32; bits >= 0; --bits) {
            const IpPrefix at = network_of({asked, static_cast<std::uint8_t>(bits)});
            for (const FromOrigin& says : by_origin) {
                if (says.addresses.contains(at)) return {at, {DropReason::local_address, {}}};
                if (NextHops hosts; at == host_prefix(asked)) {
                    for (const NeighborConfig* each : says.at(asked, true))
                        hosts.push_back({asked, 1, each->port});
                    if (!hosts.empty()) return {at, by(hosts)};
                }
                if (const auto found = says.routes.find(at); found != says.routes.end())
                    return {at, found->second.elsewhere ? Answer{DropReason::no_route, {}}
                                                        : by(found->second.via)};
                if (says.subnets.contains(at)) return {at, {DropReason::unresolved_next_hop, {}}};
            }
        }
        return {std::nullopt, {DropReason::no_route, {}}};
    }
};

inline std::string text_of(const Answer& answer) {
    std::string text(to_string(answer.drop));
    for (const auto& [hop, share] : answer.shares)
        text += fmt::format(" p{}/{:x}:{:.3f}", hop.first, static_cast<unsigned char>(hop.second[5]), share);
    return text;
}

// Shares of buckets differ from the weights by less than a bucket.
inline bool agree(const Answer& wanted, const Answer& found) {
    if (wanted.drop != found.drop) return false;
    for (const auto& [hop, share] : wanted.shares) {
        const auto there = found.shares.find(hop);
        const double has = there != found.shares.end() ? there->second : 0;
        if (std::abs(has - share) > 4.0 / 256) return false;  // several hops may have one header
    }
    return found.shares.size() <= wanted.shares.size();
}

// Routes as a switch has them, and the policy that workers run.
struct Tables {
    explicit Tables(Fib::Sizes sizes = {}) : routes(Routes::create(sizes)) {
        CHECK_TRUE(routes != nullptr);
        routes->name_in(running);
    }
    // Checks that the workers' tables stay the same while the change is made.
    std::string change(const RouteChanges& changes) {
        std::vector<Answer> before;
        for (const IpAddress& asked : watched) before.push_back(answer_of(running, asked));
        std::string error = routes->change(changes, ports);
        for (std::size_t i = 0; i < watched.size(); ++i)
            CHECK_TRUE(before[i] == answer_of(running, watched[i]));
        if (!error.empty()) return error;
        routes->name_in(running);
        routes->published();
        return {};
    }
    void must(const RouteChanges& changes) { STRCMP_EQUAL("", change(changes).c_str()); }

    std::unique_ptr<Routes> routes;
    Policy running;
    std::vector<IpAddress> watched;
};

inline RouteChanges neighbors(std::vector<NeighborConfig> list) {
    RouteChanges changes;
    for (NeighborConfig& each : list) changes.neighbors.push_back({each.key(), each});
    return changes;
}

inline RouteChanges gone(std::string_view at, const std::string& port) {
    RouteChanges changes;
    changes.neighbors.push_back({{address(at), port}, {}});
    return changes;
}

inline RouteChanges route(std::string_view to, const std::vector<std::string_view>& via) {
    RouteChanges changes;
    RouteConfig made{prefix(to), {}, {}};
    for (const std::string_view hop : via) made.via.push_back({address(hop), 1});
    changes.routes.push_back({made.prefix, made});
    return changes;
}

inline RouteChanges by_places(std::string_view to, const NextHops& via) {
    RouteChanges changes;
    changes.routes.push_back({prefix(to), RouteConfig{prefix(to), via, {}}});
    return changes;
}

inline RouteChanges no_route(std::string_view to) {
    RouteChanges changes;
    changes.routes.push_back({prefix(to), {}});
    return changes;
}

inline const std::vector<NeighborConfig> four{neighbor("10.0.0.2", "p0", 1), neighbor("10.0.1.2", "p1", 2),
                                              neighbor("10.0.2.2", "p2", 3), neighbor("10.0.3.2", "p3", 4)};

// Members of an address's buckets, by the last byte of their MAC.
inline std::vector<unsigned> members(const Policy& policy, std::string_view asked) {
    std::vector<unsigned> list;
    for (const std::uint32_t hop : buckets_of(policy, address(asked)))
        list.push_back(policy.next_hops[hop].header[5]);
    return list;
}

}  // namespace sluice::routes_model
