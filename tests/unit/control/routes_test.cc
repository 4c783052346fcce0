#include "control/routes/routes.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "control/config/values.hh"
#include "lib/endian.hh"
#include "lib/rng.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

IpAddress address(std::string_view text) { return *parse_address(text); }
IpPrefix prefix(std::string_view text) { return *parse_network(text); }
MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 1, last}}; }

const Routes::Ports ports{
    {"p0", {0, mac(100)}}, {"p1", {1, mac(101)}}, {"p2", {2, mac(102)}}, {"p3", {3, mac(103)}}};

NeighborConfig neighbor(std::string_view at, const std::string& port, std::uint8_t last_of_mac) {
    return {address(at), port, mac(last_of_mac), {}, {}};
}

// What becomes of an address: the reason to drop it, or headers and ports of next hops with their shares.
struct Answer {
    DropReason drop = DropReason::none;
    std::map<std::pair<PortId, std::string>, double> shares;
    bool operator==(const Answer&) const = default;
};

std::string header_of(const MacAddress& to) { return {to.bytes.begin(), to.bytes.end()}; }

std::uint32_t group_of(const Policy& policy, const IpAddress& asked) { return policy.fib->lookup(asked); }

std::span<const std::uint32_t> buckets_of(const Policy& policy, const IpAddress& asked) {
    const Group& group = policy.groups[group_of(policy, asked)];
    return policy.buckets.subspan(group.first_bucket, std::size_t{1} << group.log2_buckets);
}

// As a worker finds it.
Answer answer_of(const Policy& policy, const IpAddress& asked) {
    Answer answer;
    answer.drop = policy.groups[group_of(policy, asked)].drop;
    if (answer.drop != DropReason::none) return answer;
    const auto buckets = buckets_of(policy, asked);
    std::vector<std::pair<std::uint32_t, unsigned>> counts;  // of hops; there are few
    for (const std::uint32_t hop : buckets) {
        auto count =
            std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == hop; });
        if (count == counts.end()) count = counts.insert(count, {hop, 0});
        ++count->second;
    }
    for (const auto& [hop, count] : counts) {
        const NextHop& next = policy.next_hops[hop];
        answer.shares[{next.port, std::string(next.header.begin(), next.header.begin() + 6)}] +=
            count / static_cast<double>(buckets.size());
    }
    return answer;
}

// What there is, each by what it is for, and what becomes of an address by looking at every length.
struct Model {
    struct Route {
        NextHops via;
        bool elsewhere;
    };
    struct Said {
        std::map<IpPrefix, Route> routes;
        std::map<IpAddress, NeighborConfig> neighbors;
        std::map<IpPrefix, bool> addresses, subnets;
    };
    std::array<Said, route_origins> said;  // the configuration first

    void apply(const RouteChanges& changes) {
        Said& by = said[static_cast<unsigned>(changes.origin)];
        for (const auto& change : changes.addresses) put(by.addresses, change.prefix, change.there);
        for (const auto& change : changes.subnets) put(by.subnets, change.prefix, change.there);
        for (const auto& change : changes.neighbors) {
            by.neighbors.erase(change.address);
            if (change.now) by.neighbors[change.address] = *change.now;
        }
        for (const auto& change : changes.routes) {
            by.routes.erase(change.prefix);
            if (change.now) by.routes[change.prefix] = {change.now->via, change.elsewhere};
        }
    }
    const NeighborConfig* neighbor(const IpAddress& asked) const {
        for (const Said& by : said)
            if (const auto found = by.neighbors.find(asked); found != by.neighbors.end())
                return &found->second;
        return nullptr;
    }
    // What takes it back: addresses and subnets, and of routes and neighbours those that `goes` says.
    RouteChanges without(RouteOrigin origin, const std::function<bool()>& goes) const {
        const Said& by = said[static_cast<unsigned>(origin)];
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
        for (const NextHopConfig& hop : via) sum += neighbor(hop.address) != nullptr ? hop.weight : 0;
        for (const NextHopConfig& hop : via)
            if (const NeighborConfig* found = neighbor(hop.address))
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
            for (const Said& says : said) {
                if (says.addresses.contains(at)) return {at, {DropReason::local_address, {}}};
                if (at == host_prefix(asked) && says.neighbors.contains(asked)) return {at, by({{asked, 1}})};
                if (const auto found = says.routes.find(at); found != says.routes.end())
                    return {at, found->second.elsewhere ? Answer{DropReason::no_route, {}}
                                                        : by(found->second.via)};
                if (says.subnets.contains(at)) return {at, {DropReason::unresolved_next_hop, {}}};
            }
        }
        return {std::nullopt, {DropReason::no_route, {}}};
    }
};

std::string text_of(const Answer& answer) {
    std::string text(to_string(answer.drop));
    for (const auto& [hop, share] : answer.shares)
        text += fmt::format(" p{}/{:x}:{:.3f}", hop.first, static_cast<unsigned char>(hop.second[5]), share);
    return text;
}

// Shares of buckets differ from the weights by less than a bucket.
bool agree(const Answer& wanted, const Answer& found) {
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
    // Checks that what workers run stays as it is while the change is made.
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

RouteChanges neighbors(std::vector<NeighborConfig> list) {
    RouteChanges changes;
    for (NeighborConfig& each : list) changes.neighbors.push_back({each.address, each});
    return changes;
}

RouteChanges gone(std::string_view at) {
    RouteChanges changes;
    changes.neighbors.push_back({address(at), {}});
    return changes;
}

RouteChanges route(std::string_view to, const std::vector<std::string_view>& via) {
    RouteChanges changes;
    RouteConfig made{prefix(to), {}, {}};
    for (const std::string_view hop : via) made.via.push_back({address(hop), 1});
    changes.routes.push_back({made.prefix, made});
    return changes;
}

RouteChanges no_route(std::string_view to) {
    RouteChanges changes;
    changes.routes.push_back({prefix(to), {}});
    return changes;
}

const std::vector<NeighborConfig> four{neighbor("10.0.0.2", "p0", 1), neighbor("10.0.1.2", "p1", 2),
                                       neighbor("10.0.2.2", "p2", 3), neighbor("10.0.3.2", "p3", 4)};

// Members of an address's buckets, by the last byte of their MAC.
std::vector<unsigned> members(const Policy& policy, std::string_view asked) {
    std::vector<unsigned> list;
    for (const std::uint32_t hop : buckets_of(policy, address(asked)))
        list.push_back(policy.next_hops[hop].header[5]);
    return list;
}

// Random routes over few addresses, so that they nest, share groups and lose their neighbours.
class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t bound) { return draw({seed_, 40, 0, ++drawn_}) % bound; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    IpAddress any_address(bool v6) {
        const std::uint64_t bits = draw({seed_, 41, 0, ++drawn_});
        IpAddress made{{10, 1}, v6};
        if (bits >> 62 == 0) made.bytes = {0xFF, 0xFF, 0xFF, 0xFF};
        if (v6 && bits >> 62 == 0) made.bytes.fill(0xFF);
        std::uint64_t rest = bits;
        for (const std::size_t byte : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 15U})
            if (v6 || byte < 4) {
                made.bytes[byte] = static_cast<std::uint8_t>(made.bytes[byte] ^ (rest & 0x83U));
                rest >>= 8;
            }
        return made;
    }
    IpAddress any_hop() {
        const bool v6 = one_in(4);
        IpAddress made{{10, 9, 0, static_cast<std::uint8_t>(below(12))}, v6};
        return made;
    }
    IpPrefix any_prefix() {
        const bool v6 = one_in(3);
        const std::uint64_t longest = v6 ? 128 : 32;
        const auto length = static_cast<std::uint8_t>(one_in(3) ? longest - below(9) : below(longest + 1));
        return network_of({any_address(v6), length});
    }
    RouteChanges::Route any_route(const Model& model, RouteOrigin origin) {
        // What one says and the other does too.
        const auto& routes = model.said[one_in(2) ? 0 : static_cast<unsigned>(origin)].routes;
        const bool known = one_in(3) && !routes.empty();
        const auto near = known ? routes.lower_bound(any_prefix()) : routes.end();
        const std::optional<IpPrefix> there =
            known ? std::optional(near != routes.end() ? near->first : routes.begin()->first) : std::nullopt;
        if (there && !one_in(4)) return {*there, {}};
        RouteConfig made{there.value_or(any_prefix()), {}, {}};
        if (!one_in(8))
            for (std::uint64_t hops = 1 + below(4); hops > 0; --hops) {
                const NextHopConfig hop{any_hop(), static_cast<std::uint32_t>(1 + below(3))};
                if (std::none_of(made.via.begin(), made.via.end(),
                                 [&](const auto& other) { return other.address == hop.address; }))
                    made.via.push_back(hop);
            }
        std::sort(made.via.begin(), made.via.end());
        return {made.prefix, made, made.via.empty() && origin == RouteOrigin::kernel && one_in(2)};
    }
    RouteChanges::Neighbor any_neighbor() {
        const IpAddress at = one_in(8) ? any_address(false) : any_hop();
        if (one_in(3)) return {at, {}};
        return {at, NeighborConfig{
                        at, fmt::format("p{}", below(4)), mac(static_cast<std::uint8_t>(below(9))), {}, {}}};
    }
    RouteChanges any_changes(const Model& model, bool two_origins) {
        RouteChanges changes;
        if (two_origins && one_in(2)) changes.origin = RouteOrigin::kernel;
        const std::uint64_t most = one_in(10) ? 200 : 20;
        for (std::uint64_t n = below(most + 1); n > 0; --n)
            changes.routes.push_back(any_route(model, changes.origin));
        if (one_in(2)) changes.neighbors.push_back(any_neighbor());
        if (one_in(5)) {
            const IpPrefix at = any_prefix();
            changes.addresses.push_back({host_prefix(at.address), one_in(2)});
            changes.subnets.push_back({at, one_in(2)});
        }
        return changes;
    }

  private:
    std::uint64_t seed_, drawn_ = 0;
};

}  // namespace

TEST_GROUP(Routes){};

TEST(Routes, precedenceAtOnePrefix) {
    Tables tables;
    RouteChanges own;
    own.addresses.push_back({prefix("10.0.0.2/32"), true});
    own.subnets.push_back({prefix("10.0.0.2/32"), true});
    const IpAddress asked = address("10.0.0.2");
    const auto holds = [&](DropReason drop, unsigned last_of_mac) {
        const Answer answer = answer_of(tables.running, asked);
        CHECK_TRUE(answer.drop == drop);
        if (drop == DropReason::none) LONGS_EQUAL(last_of_mac, answer.shares.begin()->first.second[5]);
    };
    tables.must(neighbors(four));
    tables.must(route("10.0.0.2/32", {"10.0.1.2"}));
    tables.must(own);
    holds(DropReason::local_address, 0);
    own.addresses[0].there = false;
    tables.must(own);
    holds(DropReason::none, 1);  // the neighbour itself
    tables.must(gone("10.0.0.2"));
    holds(DropReason::none, 2);  // by the route
    tables.must(no_route("10.0.0.2/32"));
    holds(DropReason::unresolved_next_hop, 0);  // the subnet
    own.subnets[0].there = false;
    tables.must(own);
    holds(DropReason::no_route, 0);
    CHECK_FALSE(tables.routes->match(asked).has_value());
    tables.must(neighbors(four));
    CHECK_TRUE(tables.routes->match(asked)->prefix == prefix("10.0.0.2/32"));
}

RouteChanges of_kernel(RouteChanges changes) {
    changes.origin = RouteOrigin::kernel;
    return changes;
}

TEST(Routes, whatTheConfigurationSaysOfAPrefixComesBeforeTheKernel) {
    Tables tables;
    tables.must(neighbors(four));
    const auto by = [&](const char* asked) { return members(tables.running, asked).front(); };
    tables.must(of_kernel(route("10.9.0.0/16", {"10.0.1.2"})));
    LONGS_EQUAL(2, by("10.9.1.1"));
    tables.must(route("10.9.0.0/16", {"10.0.2.2"}));
    LONGS_EQUAL(3, by("10.9.1.1"));
    // The longest prefix comes first, whosever it is.
    tables.must(of_kernel(route("10.9.1.0/24", {"10.0.3.2"})));
    LONGS_EQUAL(4, by("10.9.1.1"));
    LONGS_EQUAL(3, by("10.9.2.1"));
    const auto listed = tables.routes->list();
    LONGS_EQUAL(3, listed.size());
    CHECK_TRUE(listed[0].origin == RouteOrigin::configuration && listed[0].used);
    CHECK_TRUE(listed[1].origin == RouteOrigin::kernel && !listed[1].used);
    CHECK_TRUE(listed[2].origin == RouteOrigin::kernel && listed[2].used);
    CHECK_TRUE(tables.routes->match(address("10.9.2.1"))->source.origin == RouteOrigin::configuration);
    CHECK_TRUE(tables.routes->match(address("10.9.1.1"))->source.origin == RouteOrigin::kernel);

    // The kernel's route to the same list of next hops stays when the other goes, and the other way round.
    tables.must(of_kernel(route("10.9.0.0/16", {"10.0.2.2"})));
    tables.must(no_route("10.9.0.0/16"));
    LONGS_EQUAL(3, by("10.9.2.1"));
    CHECK_FALSE(tables.routes->route_by(address("10.0.2.2")).has_value());  // none of the configuration
    tables.must(of_kernel(no_route("10.9.0.0/16")));
    tables.must(of_kernel(no_route("10.9.1.0/24")));
    CHECK_FALSE(tables.routes->match(address("10.9.1.1")).has_value());
}

TEST(Routes, aNeighbourOfTheKernelWaitsBehindTheConfigurations) {
    Tables tables;
    tables.must(of_kernel(neighbors({neighbor("10.0.0.2", "p0", 1)})));
    tables.must(route("10.9.0.0/16", {"10.0.0.2"}));
    LONGS_EQUAL(1, members(tables.running, "10.9.1.1").front());
    tables.must(neighbors({neighbor("10.0.0.2", "p1", 5)}));
    LONGS_EQUAL(5, members(tables.running, "10.9.1.1").front());
    tables.must(of_kernel(neighbors({neighbor("10.0.0.2", "p0", 6)})));
    LONGS_EQUAL(5, members(tables.running, "10.9.1.1").front());
    LONGS_EQUAL(5, members(tables.running, "10.0.0.2").front());
    tables.must(gone("10.0.0.2"));
    LONGS_EQUAL(6, members(tables.running, "10.9.1.1").front());
    tables.must(of_kernel(gone("10.0.0.2")));
    CHECK_TRUE(answer_of(tables.running, address("10.9.1.1")).drop == DropReason::unresolved_next_hop);
}

TEST(Routes, aRouteByNoPortOfOursHidesShorterOnes) {
    Tables tables;
    tables.must(neighbors(four));
    tables.must(route("10.0.0.0/8", {"10.0.1.2"}));
    RouteChanges other = of_kernel(route("10.9.0.0/16", {}));
    other.routes[0].elsewhere = true;
    tables.must(other);
    CHECK_TRUE(answer_of(tables.running, address("10.9.1.1")).drop == DropReason::no_route);
    CHECK_TRUE(tables.routes->list()[1].via == nullptr);
    tables.must(of_kernel(no_route("10.9.0.0/16")));
    LONGS_EQUAL(2, members(tables.running, "10.9.1.1").front());
}

TEST(Routes, aNeighbourThatChangesMovesNoOtherFlow) {
    Tables tables;
    tables.must(neighbors(four));
    tables.must(route("10.9.0.0/16", {"10.0.0.2", "10.0.1.2", "10.0.2.2"}));
    const auto before = members(tables.running, "10.9.1.1");
    const std::uint32_t group = group_of(tables.running, address("10.9.1.1"));
    tables.must(gone("10.0.1.2"));
    const auto without = members(tables.running, "10.9.1.1");
    LONGS_EQUAL(group, group_of(tables.running, address("10.9.1.1")));
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK_TRUE(without[i] != 2);
        if (before[i] != 2) LONGS_EQUAL(before[i], without[i]);
    }
    // Back at another port, with another MAC: the others keep what is theirs by weight.
    tables.must(neighbors({neighbor("10.0.1.2", "p3", 9)}));
    const auto back = members(tables.running, "10.9.1.1");
    LONGS_EQUAL(85, std::count(back.begin(), back.end(), 9U));
    for (std::size_t i = 0; i < back.size(); ++i)
        if (back[i] != 9) LONGS_EQUAL(without[i], back[i]);
    const auto moved = neighbors({neighbor("10.0.1.2", "p3", 7)});
    tables.must(moved);
    const auto renamed = members(tables.running, "10.9.1.1");
    for (std::size_t i = 0; i < back.size(); ++i) LONGS_EQUAL(back[i] == 9 ? 7 : back[i], renamed[i]);
}

TEST(Routes, aRouteThatChangesKeepsItsFlows) {
    Tables tables;
    tables.must(neighbors(four));
    tables.must(route("10.9.0.0/16", {"10.0.0.2", "10.0.1.2", "10.0.2.2", "10.0.3.2"}));
    const auto before = members(tables.running, "10.9.1.1");
    tables.must(route("10.9.0.0/16", {"10.0.0.2", "10.0.1.2", "10.0.2.2"}));
    const auto after = members(tables.running, "10.9.1.1");
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] != 4) LONGS_EQUAL(before[i], after[i]);
}

TEST(Routes, groupsAreSharedAndNamedByTheirFirstPrefix) {
    Tables tables;
    tables.must(neighbors(four));
    const std::size_t of_neighbors = tables.routes->groups();
    for (const char* to : {"10.9.2.0/24", "10.9.0.0/24", "10.9.1.0/24"})
        tables.must(route(to, {"10.0.0.2", "10.0.1.2"}));
    LONGS_EQUAL(of_neighbors + 1, tables.routes->groups());
    LONGS_EQUAL(1, tables.routes->ecmp().size());
    STRCMP_EQUAL("10.9.0.0/24", tables.routes->ecmp()[0].name.c_str());
    tables.must(no_route("10.9.0.0/24"));
    STRCMP_EQUAL("10.9.1.0/24", tables.routes->ecmp()[0].name.c_str());
    CHECK_TRUE(tables.routes->route_by(address("10.0.1.2")) == prefix("10.9.1.0/24"));
    tables.must(no_route("10.9.1.0/24"));
    tables.must(no_route("10.9.2.0/24"));
    LONGS_EQUAL(of_neighbors, tables.routes->groups());
    CHECK_FALSE(tables.routes->route_by(address("10.0.1.2")).has_value());
}

TEST(Routes, aTableThatIsFullInTheMiddleChangesNothing) {
    Tables tables({{true, 4}, {false, 4}});
    tables.must(neighbors(four));  // a table each
    tables.must(route("10.9.0.0/16", {"10.0.0.2", "10.0.1.2"}));
    tables.must(route("10.0.0.128/25", {"10.0.2.2"}));
    for (const char* asked : {"10.9.1.1", "10.0.0.129", "10.0.0.2", "10.0.3.2", "10.5.0.1", "10.7.0.1"})
        tables.watched.push_back(address(asked));
    std::vector<Answer> before;
    for (const IpAddress& asked : tables.watched) before.push_back(answer_of(tables.running, asked));
    const auto flows = members(tables.running, "10.9.1.1");
    const std::size_t groups = tables.routes->groups(), prefixes = tables.routes->prefixes();

    for (unsigned turn = 0; turn < 3; ++turn) {
        RouteChanges changes = neighbors({neighbor("10.0.1.2", "p2", 77)});
        changes.neighbors.push_back({address("10.0.0.2"), {}});
        for (const auto& more :
             {route("10.9.0.0/16", {"10.0.3.2", "10.0.2.2", "10.0.1.2"}), no_route("10.0.0.128/25"),
              route("10.5.0.0/24", {"10.0.3.2"}), route("10.7.0.0/30", {"10.0.3.2"}),
              route("10.8.0.0/30", {"10.0.3.2"}), route("10.5.0.0/16", {})})
            changes.routes.push_back(more.routes[0]);
        const std::string error = tables.change(changes);
        STRCMP_EQUAL(
            "route 10.8.0.0/30: the forwarding table is full: 4 of 4 tables for longer prefixes are taken; "
            "do: start with more, fib.ipv4_tables = 8",
            error.c_str());
        tables.routes->name_in(tables.running);
        for (std::size_t i = 0; i < before.size(); ++i)
            CHECK_TRUE(before[i] == answer_of(tables.running, tables.watched[i]));
        LONGS_EQUAL(groups, tables.routes->groups());
        LONGS_EQUAL(prefixes, tables.routes->prefixes());
        CHECK_FALSE(tables.routes->match(address("10.7.0.1")).has_value());
        // Nor has the other side: the next change shows it.
        tables.must(route("10.200.0.0/24", {}));
        tables.must(no_route("10.200.0.0/24"));
        CHECK_TRUE(flows == members(tables.running, "10.9.1.1"));
        for (std::size_t i = 0; i < before.size(); ++i)
            CHECK_TRUE(before[i] == answer_of(tables.running, tables.watched[i]));
    }
    tables.must(no_route("10.0.0.128/25"));  // the neighbour's table stays
    CHECK_FALSE(tables.change(route("10.7.0.0/30", {"10.0.3.2"})).empty());
    tables.must(gone("10.0.0.2"));
    tables.must(route("10.7.0.0/30", {"10.0.3.2"}));
}

TEST(Routes, ofTheKernelsRoutesThoseThatDoNotFitAreLeftOut) {
    Tables tables({{true, 4}, {false, 4}});
    tables.must(neighbors({neighbor("10.0.0.2", "p0", 1)}));
    RouteChanges many = of_kernel({});
    for (const char* to :
         {"20.0.0.0/30", "20.0.1.0/30", "20.0.2.0/30", "20.0.3.0/30", "20.0.4.0/30", "30.0.0.0/8"})
        many.routes.push_back(route(to, {"10.0.0.2"}).routes[0]);
    STRCMP_EQUAL("", tables.change(many).c_str());
    LONGS_EQUAL(2, tables.routes->left_out().count);
    STRCMP_CONTAINS("route 20.0.3.0/30: the forwarding table is full",
                    tables.routes->left_out().first.c_str());
    LONGS_EQUAL(1, members(tables.running, "20.0.2.1").front());
    LONGS_EQUAL(1, members(tables.running, "30.0.2.1").front());
    CHECK_FALSE(tables.routes->match(address("20.0.3.1")).has_value());
    LONGS_EQUAL(4, tables.routes->list().size());
    // What goes makes room for what comes with it, and for what is tried again.
    RouteChanges less = of_kernel(no_route("20.0.0.0/30"));
    less.routes.push_back(many.routes[3]);
    less.routes.push_back(many.routes[4]);
    STRCMP_EQUAL("", tables.change(less).c_str());
    LONGS_EQUAL(1, tables.routes->left_out().count);
    LONGS_EQUAL(1, members(tables.running, "20.0.3.1").front());
    for (const auto& each : many.routes) tables.must(of_kernel(no_route(print_prefix(each.prefix))));
    LONGS_EQUAL(1, tables.routes->prefixes());
    LONGS_EQUAL(0, tables.routes->left_out().count);
}

// How many changes find what a sanitizer can find; SLUICE_LONG=1: a million.
std::uint64_t number_of_changes() {
    const char* is_long = std::getenv("SLUICE_LONG");
    if (is_long != nullptr && std::string_view(is_long) == "1") return 1'000'000;
#ifdef SLUICE_SANITIZED
    return 10'000;
#else
    return 60'000;
#endif
}

// Of two origins: in tables where all fits, because of the kernel's routes
// what does not is left out. Else some are refused.
void answer_as_a_model_does(Tables& tables, bool two_origins) {
    const std::uint64_t most = number_of_changes();
    Random random(17);
    Model model;
    std::uint64_t done = 0;
    unsigned refused = 0, number = 0;
    const auto check = [&](const IpAddress& asked) {
        const auto [at, wanted] = model.look_up(asked);
        const Answer found = answer_of(tables.running, asked);
        if (!agree(wanted, found))
            FAIL(fmt::format("after {} changes, {}: wanted {} of {}, found {}", done, print_address(asked),
                             text_of(wanted), at ? print_prefix(*at) : "none", text_of(found))
                     .c_str());
        const auto match = tables.routes->match(asked);
        CHECK_TRUE(at == (match ? std::optional(match->prefix) : std::nullopt));
    };
    while (done < most) {
        RouteChanges changes = random.any_changes(model, two_origins);
        tables.watched.clear();
        for (unsigned i = 0; i < 8; ++i) tables.watched.push_back(random.any_address(random.one_in(3)));
        const std::string error = tables.change(changes);
        LONGS_EQUAL(0, tables.routes->left_out().count);
        if (error.empty()) {
            model.apply(changes);
            done += changes.routes.size() + changes.neighbors.size();
        } else {
            ++refused;
        }
        for (const IpAddress& asked : tables.watched) check(asked);
        for (unsigned i = 0; i < 12; ++i) check(random.any_address(random.one_in(3)));
        for (std::size_t i = 0; i < changes.routes.size(); i += 3) check(changes.routes[i].prefix.address);
        for (const auto& each : changes.neighbors) check(each.address);
        if (++number % 400 != 0) continue;  // now and then nearly all of it goes
        for (const RouteOrigin origin : {RouteOrigin::configuration, RouteOrigin::kernel}) {
            const RouteChanges less = model.without(origin, [&] { return !random.one_in(20); });
            model.apply(less);
            tables.must(less);
        }
    }
    if (two_origins)
        LONGS_EQUAL(0, refused);
    else
        CHECK_TRUE(refused > number / 100 && refused < number / 2);
    // At most some thousand routes were there at once, and never more groups.
    CHECK_TRUE(tables.running.groups.size() < 8000);
    CHECK_TRUE(tables.running.buckets.size() < tables.running.groups.size() * 2 * 256);
    for (const RouteOrigin origin : {RouteOrigin::kernel, RouteOrigin::configuration})
        tables.must(model.without(origin, [] { return true; }));
    LONGS_EQUAL(0, tables.routes->prefixes());
    LONGS_EQUAL(0, tables.routes->groups());
    for (const bool v6 : {false, true}) LONGS_EQUAL(0, tables.routes->fib().tables(v6).tables_used());
}

TEST(Routes, answerAsAModelDoesAndLoseNothing) {
    Tables tables({{true, 600}, {false, 3000}});
    answer_as_a_model_does(tables, false);
}

TEST(Routes, ofTwoOriginsAnswerAsAModelDoesAndLoseNothing) {
    Tables tables({{true, 4000}, {false, 20'000}});
    answer_as_a_model_does(tables, true);
}

TEST(Routes, numbersOfNextHopsAreGivenUpWhenThereAreNoOthers) {
    Tables tables({{true, 2}, {false, 2}});
    // More neighbours than there are numbers, one after the other, in one /24 at a time.
    for (std::uint32_t n = 0; n < 70'000; n += 100) {
        RouteChanges changes;
        for (std::uint32_t i = n; i < n + 100; ++i) {
            IpAddress at;
            store_be<std::uint32_t>(at.bytes.data(), 0x0A000000U + i);
            changes.neighbors.push_back(
                {at, NeighborConfig{at, "p1", mac(static_cast<std::uint8_t>(i % 200)), {}, {}}});
        }
        tables.must(changes);
        const IpAddress last = changes.neighbors.back().address;
        LONGS_EQUAL((n + 99) % 200, answer_of(tables.running, last).shares.begin()->first.second[5] & 0xFF);
        for (auto& change : changes.neighbors) change.now.reset();
        tables.must(changes);
    }
    LONGS_EQUAL(0, tables.routes->groups());
    CHECK_TRUE(tables.running.groups.size() < 1000);
    CHECK_TRUE(tables.running.next_hops.size() <= 65'536);
}
