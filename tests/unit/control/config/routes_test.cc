#include "control/config/routes/routes.hh"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/values/endian.hh"
#include "tests/unit/control/config/routes_model.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::routes_test {

using namespace sluice::routes_model;

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
    holds(DropReason::none, 1);  // the neighbor itself
    tables.must(gone("10.0.0.2", "p0"));
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
    CHECK_FALSE(
        tables.routes->route_by(address("10.0.2.2"), any_port).has_value());  // none of the configuration
    tables.must(of_kernel(no_route("10.9.0.0/16")));
    tables.must(of_kernel(no_route("10.9.1.0/24")));
    CHECK_FALSE(tables.routes->match(address("10.9.1.1")).has_value());
}

TEST(Routes, aNeighborOfTheKernelWaitsBehindTheConfigurations) {
    Tables tables;
    tables.must(of_kernel(neighbors({neighbor("10.0.0.2", "p0", 1)})));
    tables.must(route("10.9.0.0/16", {"10.0.0.2"}));
    LONGS_EQUAL(1, members(tables.running, "10.9.1.1").front());
    tables.must(neighbors({neighbor("10.0.0.2", "p1", 5)}));  // at another port, even so
    LONGS_EQUAL(5, members(tables.running, "10.9.1.1").front());
    tables.must(of_kernel(neighbors({neighbor("10.0.0.2", "p0", 6)})));
    LONGS_EQUAL(5, members(tables.running, "10.9.1.1").front());
    LONGS_EQUAL(5, members(tables.running, "10.0.0.2").front());
    tables.must(gone("10.0.0.2", "p1"));
    LONGS_EQUAL(6, members(tables.running, "10.9.1.1").front());
    tables.must(of_kernel(gone("10.0.0.2", "p0")));
    CHECK_TRUE(answer_of(tables.running, address("10.9.1.1")).drop == DropReason::unresolved_next_hop);
}

// 169.254.0.1 behind every port, as routing daemons have it without numbers.
TEST(Routes, anAddressBehindSeveralPortsIsANeighborAtEach) {
    for (const RouteOrigin origin : {RouteOrigin::configuration, RouteOrigin::kernel})
        for (const char* at : {"169.254.0.1", "fe80::1", "10.0.0.2"}) {
            const bool is_host = std::string_view(at) == "10.0.0.2";
            const bool v6 = address(at).is_v6;
            const char* const first = v6 ? "2001:db8:1::/48" : "10.8.0.0/16";
            const char* const both = v6 ? "2001:db8:2::/48" : "10.9.0.0/16";
            Tables tables;
            const auto must = [&](RouteChanges changes) {
                changes.origin = origin;
                tables.must(changes);
            };
            const auto answer = [&](const char* to) {
                return text_of(answer_of(tables.running, prefix(to).address));
            };
            must(neighbors({neighbor(at, "p1", 1), neighbor(at, "p2", 2)}));
            must(by_places(first, {{address(at), 1, "p1"}}));
            must(by_places(both, {{address(at), 1, "p1"}, {address(at), 3, "p2"}}));
            STRCMP_EQUAL("none p1/1:1.000", answer(first).c_str());
            STRCMP_EQUAL("none p1/1:0.250 p2/2:0.750", answer(both).c_str());
            STRCMP_EQUAL(is_host ? "none p1/1:0.500 p2/2:0.500" : "no_route",
                         text_of(answer_of(tables.running, address(at))).c_str());
            // The other port has nothing to do with it.
            must(neighbors({neighbor(at, "p2", 7)}));
            must(neighbors({neighbor(at, "p3", 8)}));
            STRCMP_EQUAL("none p1/1:1.000", answer(first).c_str());
            STRCMP_EQUAL("none p1/1:0.250 p2/7:0.750", answer(both).c_str());
            must(gone(at, "p1"));
            STRCMP_EQUAL("unresolved_next_hop", answer(first).c_str());
            STRCMP_EQUAL("none p2/7:1.000", answer(both).c_str());
            must(neighbors({neighbor(at, "p1", 9)}));
            STRCMP_EQUAL("none p1/9:0.250 p2/7:0.750", answer(both).c_str());
        }
}

TEST(Routes, aNextHopWithoutAPortIsEveryNeighborOfItsAddress) {
    Tables tables;
    tables.must(route("10.9.0.0/16", {"169.254.0.1"}));
    const auto answer = [&] { return text_of(answer_of(tables.running, address("10.9.0.1"))); };
    tables.must(of_kernel(neighbors({neighbor("169.254.0.1", "p0", 1), neighbor("169.254.0.1", "p1", 2)})));
    STRCMP_EQUAL("none p0/1:0.500 p1/2:0.500", answer().c_str());
    // The first origin that has any counts.
    tables.must(neighbors({neighbor("169.254.0.1", "p1", 3)}));
    STRCMP_EQUAL("none p1/3:1.000", answer().c_str());
    CHECK_TRUE(tables.routes->route_by(address("169.254.0.1"), any_port) == prefix("10.9.0.0/16"));
    CHECK_FALSE(tables.routes->route_by(address("169.254.0.1"), 1).has_value());
    tables.must(gone("169.254.0.1", "p1"));
    STRCMP_EQUAL("none p0/1:0.500 p1/2:0.500", answer().c_str());
}

// A neighbor that the kernel's route does not lead to is a next hop all the same.
TEST(Routes, aNeighborThatIsNoHostIsNoRoute) {
    Tables tables;
    RouteChanges changes =
        of_kernel(neighbors({neighbor("10.0.0.2", "p0", 1), neighbor("10.0.0.2", "p1", 2)}));
    changes.neighbors[1].is_host = false;
    tables.must(changes);
    STRCMP_EQUAL("none p0/1:1.000", text_of(answer_of(tables.running, address("10.0.0.2"))).c_str());
    tables.must(of_kernel(by_places("10.9.0.0/16", {{address("10.0.0.2"), 1, "p1"}})));
    STRCMP_EQUAL("none p1/2:1.000", text_of(answer_of(tables.running, address("10.9.0.1"))).c_str());
}

TEST(Routes, aRouteByNoPortOfOursHidesShorterOnes) {
    Tables tables;
    tables.must(neighbors(four));
    tables.must(route("10.0.0.0/8", {"10.0.1.2"}));
    RouteChanges other = of_kernel(route("10.9.0.0/16", {}));
    other.routes[0].elsewhere = true;
    tables.must(other);
    CHECK_TRUE(answer_of(tables.running, address("10.9.1.1")).drop == DropReason::no_route);
    CHECK_TRUE(tables.routes->list()[1].key == nullptr);
    tables.must(of_kernel(no_route("10.9.0.0/16")));
    LONGS_EQUAL(2, members(tables.running, "10.9.1.1").front());
}

TEST(Routes, aNeighborThatChangesMovesNoOtherFlow) {
    Tables tables;
    tables.must(neighbors(four));
    tables.must(route("10.9.0.0/16", {"10.0.0.2", "10.0.1.2", "10.0.2.2"}));
    const auto before = members(tables.running, "10.9.1.1");
    const std::uint32_t group = next_hop_group_of(tables.running, address("10.9.1.1"));
    tables.must(gone("10.0.1.2", "p1"));
    const auto without = members(tables.running, "10.9.1.1");
    LONGS_EQUAL(group, next_hop_group_of(tables.running, address("10.9.1.1")));
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK_TRUE(without[i] != 2);
        if (before[i] != 2) LONGS_EQUAL(before[i], without[i]);
    }
    // Back at another port, with another MAC: the others keep their shares by weight.
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
    const std::size_t of_neighbors = tables.routes->next_hop_groups();
    for (const char* to : {"10.9.2.0/24", "10.9.0.0/24", "10.9.1.0/24"})
        tables.must(route(to, {"10.0.0.2", "10.0.1.2"}));
    LONGS_EQUAL(of_neighbors + 1, tables.routes->next_hop_groups());
    LONGS_EQUAL(1, tables.routes->ecmp().size());
    STRCMP_EQUAL("10.9.0.0/24", tables.routes->ecmp()[0].name.c_str());
    tables.must(no_route("10.9.0.0/24"));
    STRCMP_EQUAL("10.9.1.0/24", tables.routes->ecmp()[0].name.c_str());
    CHECK_TRUE(tables.routes->route_by(address("10.0.1.2"), any_port) == prefix("10.9.1.0/24"));
    tables.must(no_route("10.9.1.0/24"));
    tables.must(no_route("10.9.2.0/24"));
    LONGS_EQUAL(of_neighbors, tables.routes->next_hop_groups());
    CHECK_FALSE(tables.routes->route_by(address("10.0.1.2"), any_port).has_value());
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
    const std::size_t groups = tables.routes->next_hop_groups(), prefixes = tables.routes->prefixes();

    for (unsigned turn = 0; turn < 3; ++turn) {
        RouteChanges changes = neighbors({neighbor("10.0.1.2", "p2", 77)});
        changes.neighbors.push_back({{address("10.0.0.2"), "p0"}, {}});
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
        LONGS_EQUAL(groups, tables.routes->next_hop_groups());
        LONGS_EQUAL(prefixes, tables.routes->prefixes());
        CHECK_FALSE(tables.routes->match(address("10.7.0.1")).has_value());
        // Nor has the other side: the next change shows it.
        tables.must(route("10.200.0.0/24", {}));
        tables.must(no_route("10.200.0.0/24"));
        CHECK_TRUE(flows == members(tables.running, "10.9.1.1"));
        for (std::size_t i = 0; i < before.size(); ++i)
            CHECK_TRUE(before[i] == answer_of(tables.running, tables.watched[i]));
    }
    tables.must(no_route("10.0.0.128/25"));  // the neighbor's table stays
    CHECK_FALSE(tables.change(route("10.7.0.0/30", {"10.0.3.2"})).empty());
    tables.must(gone("10.0.0.2", "p0"));
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
    // Removed entries make room for those added with them, and for a second try.
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

TEST(Routes, numbersOfNextHopsAreGivenUpWhenThereAreNoOthers) {
    Tables tables({{true, 2}, {false, 2}});
    // More neighbors than there are numbers, one after the other, in one /24 at a time.
    for (std::uint32_t n = 0; n < 70'000; n += 100) {
        RouteChanges changes;
        for (std::uint32_t i = n; i < n + 100; ++i) {
            IpAddress at;
            store_be<std::uint32_t>(at.bytes.data(), 0x0A000000U + i);
            changes.neighbors.push_back(
                {{at, "p1"}, NeighborConfig{at, "p1", mac(static_cast<std::uint8_t>(i % 200)), {}, {}}});
        }
        tables.must(changes);
        const IpAddress last = changes.neighbors.back().at.address;
        LONGS_EQUAL((n + 99) % 200, answer_of(tables.running, last).shares.begin()->first.second[5] & 0xFF);
        for (auto& change : changes.neighbors) change.now.reset();
        tables.must(changes);
    }
    LONGS_EQUAL(0, tables.routes->next_hop_groups());
    CHECK_TRUE(tables.running.next_hop_groups.size() < 1000);
    CHECK_TRUE(tables.running.next_hops.size() <= 65'536);
}

}  // namespace sluice::routes_test
