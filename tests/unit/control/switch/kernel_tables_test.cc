#include "control/switch/kernel/kernel_tables.hh"

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/control/switch/kernel_told.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::kernel_tables_test {
namespace {

using namespace sluice::kernel_messages;

KernelLink link(int index, const char* name, bool running = true, std::uint32_t mtu = 1500) {
    return {index, true, running, name, mtu};
}
KernelLink no_link(int index) { return {index, false, false, {}, 0}; }
std::string text(const KernelTables::LinkNotice& notice) {
    return notice.port + " " + notice.before.name + " " + (notice.now.there ? notice.now.name : "gone");
}

}  // namespace

TEST_GROUP(KernelTables){};

TEST(KernelTables, aRouteHasTheWeightsOfItsLegsByOurPorts) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2", 3), via(3, "10.0.0.2"), via(9, "10.0.9.2")}));
    STRCMP_EQUAL("10.0.0.2 p0*1 10.0.1.2 p1*3 ", mirror.given.at("route 10.9.0.0/16").c_str());
    mirror.say(replacing(route("10.9.0.0/16", {via(4, "10.0.1.2", 1000)})));
    STRCMP_EQUAL("10.0.1.2 p1*256 ", mirror.given.at("route 10.9.0.0/16").c_str());
    mirror.say(gone(route("10.9.0.0/16", {via(4, "10.0.1.2", 1000)})));
    LONGS_EQUAL(0, mirror.given.what.size());
    LONGS_EQUAL(0, mirror.tables.routes());
}

TEST(KernelTables, whatIsNotByAPortOfOursIsElsewhere) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(9, "192.0.2.1")}));
    mirror.say(route("10.8.0.0/16", {{9, std::nullopt, 1}}));
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.8.0.0/16").c_str());
    STRCMP_EQUAL("none", mirror.given.at("subnet 10.8.0.0/16").c_str());
    LONGS_EQUAL(2, mirror.tables.routes_elsewhere());
    for (const auto& [kind, word] : {std::pair{KernelRoute::Kind::blackhole, "blackhole"},
                                     {KernelRoute::Kind::unreachable, "unreachable"},
                                     {KernelRoute::Kind::prohibit, "prohibit"}}) {
        mirror.say(replacing(of_kind(kind, "10.7.0.0/16")));
        STRCMP_EQUAL("blackhole", mirror.given.at("route 10.7.0.0/16").c_str());
        CHECK_TRUE(mirror.tables.drop_word(prefix("10.7.0.0/16")) == word);
    }
    CHECK_TRUE(mirror.tables.drop_word(prefix("10.9.0.0/16")).empty());
    LONGS_EQUAL(2, mirror.tables.routes_elsewhere());
    STRCMP_EQUAL("", mirror.wanted().c_str());
}

TEST(KernelTables, theLowestMetricCounts) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(3, "10.0.0.2")}, 20));
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2")}, 10));
    STRCMP_EQUAL("10.0.1.2 p1*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
    mirror.say(gone(route("10.9.0.0/16", {via(4, "10.0.1.2")}, 10)));
    STRCMP_EQUAL("10.0.0.2 p0*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
}

// As FRR has BGP without numbers, and a router the link-local addresses of others.
TEST(KernelTables, oneNextHopBehindSeveralPortsIsOneAtEach) {
    for (const auto& [to, gateway] :
         {std::pair{"10.9.0.0/16", "169.254.0.1"}, {"2001:db8:9::/48", "fe80::1"}}) {
        Mirror mirror;
        const std::string name = std::string("route ") + to, hop = gateway;
        mirror.say(route(to, {via(4, gateway, 3), via(3, gateway, 1)}));
        STRCMP_EQUAL((hop + " p0*1 " + hop + " p1*3 ").c_str(), mirror.given.at(name).c_str());
        mirror.say(neighbor(3, gateway, 1));
        mirror.say(neighbor(4, gateway, 2));
        STRCMP_EQUAL("02:00:00:00:01:01",
                     mirror.given.at("neighbor " + hop + " dev p0").substr(0, 17).c_str());
        STRCMP_EQUAL("02:00:00:00:01:02",
                     mirror.given.at("neighbor " + hop + " dev p1").substr(0, 17).c_str());
        mirror.say(neighbor(3, gateway, std::nullopt));
        STRCMP_EQUAL("none", mirror.given.at("neighbor " + hop + " dev p0").c_str());
        STRCMP_EQUAL("02:00:00:00:01:02",
                     mirror.given.at("neighbor " + hop + " dev p1").substr(0, 17).c_str());
        STRCMP_EQUAL(("+" + hop + "@3 +" + hop + "@4 ").c_str(), mirror.wanted().c_str());
    }
}

TEST(KernelTables, aNeighborIsAHostWhereTheRouteLeadsToItsLink) {
    Mirror mirror;
    const auto host = [&](const char* port) {
        return mirror.given.at(std::string("neighbor 10.0.0.2 dev ") + port).substr(17);
    };
    mirror.say(neighbor(3, "10.0.0.2", 1));
    mirror.say(neighbor(4, "10.0.0.2", 2));
    STRCMP_EQUAL("", host("p0").c_str());  // no route says anything else
    mirror.say(route("10.0.0.0/24", {{3, std::nullopt, 1}}));
    STRCMP_EQUAL("", host("p0").c_str());
    STRCMP_EQUAL(" no host", host("p1").c_str());
    mirror.say(route("10.0.0.2/32", {{4, std::nullopt, 1}}));
    STRCMP_EQUAL(" no host", host("p0").c_str());
    STRCMP_EQUAL("", host("p1").c_str());
    mirror.say(replacing(route("10.0.0.2/32", {via(4, "10.0.1.2")})));
    STRCMP_EQUAL(" no host", host("p1").c_str());
    mirror.say(gone(route("10.0.0.2/32", {via(4, "10.0.1.2")})));
    STRCMP_EQUAL("", host("p0").c_str());
}

TEST(KernelTables, aSubnetIsNoRoute) {
    Mirror mirror;
    mirror.say(route("10.0.0.0/24", {{3, std::nullopt, 1}}));
    STRCMP_EQUAL("", mirror.given.at("subnet 10.0.0.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("route 10.0.0.0/24").c_str());
    mirror.say(replacing(route("10.0.0.0/24", {via(3, "10.0.0.2")})));
    STRCMP_EQUAL("none", mirror.given.at("subnet 10.0.0.0/24").c_str());
    STRCMP_EQUAL("10.0.0.2 p0*1 ", mirror.given.at("route 10.0.0.0/24").c_str());
}

TEST(KernelTables, linksOwnPrefixesAreLeftOut) {
    Mirror mirror;
    for (const char* of_link : {"fe80::/64", "ff00::/8", "224.0.0.0/4"})
        mirror.say(route(of_link, {{3, std::nullopt, 1}}));
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, neighborsAtOurPortsChangeWithTheirMac) {
    Mirror mirror;
    mirror.say(neighbor(3, "10.0.0.2", 1));
    mirror.say(neighbor(9, "10.0.9.2", 1));
    LONGS_EQUAL(1, mirror.given.what.size());
    STRCMP_EQUAL("02:00:00:00:01:01", mirror.given.at("neighbor 10.0.0.2 dev p0").c_str());
    KernelNeighbor stale = neighbor(3, "10.0.0.2", 1);
    stale.stale = true;
    mirror.tables.apply(stale);
    CHECK_TRUE(mirror.tables.take_changes().empty());  // no notice for a worker
    mirror.say(neighbor(3, "10.0.0.2", 2));
    STRCMP_EQUAL("02:00:00:00:01:02", mirror.given.at("neighbor 10.0.0.2 dev p0").c_str());
    mirror.say(neighbor(4, "10.0.0.2", 3));  // another one
    STRCMP_EQUAL("02:00:00:00:01:02", mirror.given.at("neighbor 10.0.0.2 dev p0").c_str());
    STRCMP_EQUAL("02:00:00:00:01:03", mirror.given.at("neighbor 10.0.0.2 dev p1").c_str());
    mirror.say(neighbor(3, "10.0.0.2", std::nullopt));
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.0.2 dev p0").c_str());
    mirror.say(neighbor(4, "10.0.0.2", std::nullopt));
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, addressesOfAnyInterfaceAreOurs) {
    Mirror mirror;
    mirror.say(KernelAddress{3, true, {address("10.0.0.1"), 24}});
    mirror.say(KernelAddress{9, true, {address("192.0.2.1"), 24}});
    STRCMP_EQUAL("", mirror.given.at("address 10.0.0.1/32").c_str());
    STRCMP_EQUAL("", mirror.given.at("address 192.0.2.1/32").c_str());
    LONGS_EQUAL(2, mirror.tables.own().size());
    CHECK_TRUE(mirror.tables.take_own_changed());
    CHECK_FALSE(mirror.tables.take_own_changed());
    mirror.say(KernelAddress{3, false, {address("10.0.0.1"), 24}});
    CHECK_TRUE(mirror.tables.take_own_changed());
    LONGS_EQUAL(1, mirror.given.what.size());
    mirror.told({KernelAddress{9, true, {address("192.0.2.1"), 24}}});
    CHECK_FALSE(mirror.tables.take_own_changed());
    mirror.told({});
    CHECK_TRUE(mirror.tables.take_own_changed());
}

// As in the kernel it comes first, also before a longer prefix of the table main.
TEST(KernelTables, theTableLocalIsOurs) {
    using Kind = KernelRoute::Kind;
    Mirror mirror;
    mirror.say(route("10.5.7.0/24", {via(3, "10.0.0.2")}));
    for (const char* own : {"10.255.0.1/32", "2001:db8:255::1/128", "10.5.0.0/16"})
        mirror.say(of_kind(Kind::local, own));
    for (const char* never : {"127.0.0.0/8", "fe80::1/128", "ff02::1/128"})
        mirror.say(of_kind(Kind::local, never));
    for (const char* own : {"10.255.0.1/32", "2001:db8:255::1/128", "10.5.0.0/16"})
        STRCMP_EQUAL("", mirror.given.at(std::string("address ") + own).c_str());
    LONGS_EQUAL(3, mirror.given.what.size());  // the route is hidden
    CHECK_TRUE(mirror.tables.take_own_changed());
    LONGS_EQUAL(3, mirror.tables.own().size());
    mirror.say(gone(of_kind(Kind::local, "10.5.0.0/16")));
    STRCMP_EQUAL("none", mirror.given.at("address 10.5.0.0/16").c_str());
    STRCMP_EQUAL("10.0.0.2 p0*1 ", mirror.given.at("route 10.5.7.0/24").c_str());
    // On two interfaces it goes with the second.
    mirror.say(of_kind(Kind::local, "10.255.0.1/32", 9));
    mirror.say(gone(of_kind(Kind::local, "10.255.0.1/32")));
    STRCMP_EQUAL("", mirror.given.at("address 10.255.0.1/32").c_str());
    mirror.told({of_kind(Kind::local, "2001:db8:255::1/128")});
    LONGS_EQUAL(1, mirror.given.what.size());
}

TEST(KernelTables, aThrowStopsShorterPrefixesAndIsNamed) {
    Mirror mirror;
    const KernelRoute stop = of_kind(KernelRoute::Kind::stop, "10.9.0.0/16");
    mirror.say(route("0.0.0.0/0", {via(3, "10.0.0.2")}));
    mirror.say(stop);
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.9.0.0/16").c_str());
    LONGS_EQUAL(1, mirror.tables.throws());
    LONGS_EQUAL(0, mirror.tables.routes_elsewhere());
    CHECK_TRUE(mirror.tables.take_not_mirrored() == std::vector<std::string>{"throw 10.9.0.0/16"});
    mirror.told({route("0.0.0.0/0", {via(3, "10.0.0.2")}), stop});
    CHECK_TRUE(mirror.tables.take_not_mirrored().empty());  // it is known
    mirror.told({stop, of_kind(KernelRoute::Kind::stop, "10.8.0.0/16")});
    CHECK_TRUE(mirror.tables.take_not_mirrored() == std::vector<std::string>{"throw 10.8.0.0/16"});
    mirror.say(gone(stop));
    STRCMP_EQUAL("none", mirror.given.at("route 10.9.0.0/16").c_str());
}

TEST(KernelTables, routesByTosAndSourceAreLeftOutAndNamed) {
    Mirror mirror;
    mirror.say(route("10.6.0.0/16", {via(3, "10.0.0.2")}));
    KernelRoute by_tos = route("10.6.0.0/16", {via(4, "10.0.1.2")});
    by_tos.tos = 0x10;
    KernelRoute by_source = route("2001:db8:6::/48", {via(4, "2001:db8:1::2")}, 1024);
    by_source.source = prefix("2001:db8:7::/48");
    mirror.say(by_tos);
    mirror.say(by_source);
    STRCMP_EQUAL("10.0.0.2 p0*1 ", mirror.given.at("route 10.6.0.0/16").c_str());
    LONGS_EQUAL(1, mirror.given.what.size());
    CHECK_TRUE(mirror.tables.routes_by_tos() == 1 && mirror.tables.routes_by_source() == 1);
    const std::vector<std::string> names{"10.6.0.0/16 tos 0x10",
                                         "2001:db8:6::/48 from 2001:db8:7::/48 metric 1024"};
    CHECK_TRUE(mirror.tables.take_not_mirrored() == names);
    mirror.told({by_tos, by_source});
    CHECK_TRUE(mirror.tables.take_not_mirrored().empty());
    mirror.say(gone(by_tos));
    mirror.say(gone(by_source));
    CHECK_TRUE(mirror.tables.routes_by_tos() == 0 && mirror.tables.routes_by_source() == 0);
}

TEST(KernelTables, policyRulesAreCountedAndNamed) {
    Mirror mirror;
    const KernelRule rule{true, "ip rule 100: from 10.1.0.0/16 lookup 100"};
    for (unsigned times = 0; times < 2; ++times) mirror.say(rule);
    LONGS_EQUAL(1, mirror.tables.rules());
    CHECK_TRUE(mirror.tables.take_not_mirrored() == std::vector{rule.name});
    mirror.told({rule, KernelRule{true, "ip rule 90: from all goto 100"}});
    LONGS_EQUAL(2, mirror.tables.rules());
    CHECK_TRUE(mirror.tables.take_not_mirrored() ==
               std::vector<std::string>{"ip rule 90: from all goto 100"});
    mirror.say(KernelRule{false, rule.name});
    mirror.told({});
    LONGS_EQUAL(0, mirror.tables.rules());
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, gatewaysAreKeptResolvedWhileARouteGoesByThem) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(3, "10.0.0.2"), via(9, "10.0.9.2")}));
    STRCMP_EQUAL("+10.0.0.2@3 ", mirror.wanted().c_str());
    mirror.say(route("10.8.0.0/16", {via(3, "10.0.0.2")}));
    mirror.say(neighbor(3, "10.0.0.2", 1));
    STRCMP_EQUAL("", mirror.wanted().c_str());
    mirror.say(neighbor(3, "10.0.0.2", std::nullopt));
    STRCMP_EQUAL("+10.0.0.2@3 ", mirror.wanted().c_str());
    mirror.say(neighbor(3, "10.0.0.3", 2));
    mirror.say(neighbor(3, "10.0.0.3", std::nullopt));  // a host's is not asked for in vain
    STRCMP_EQUAL("", mirror.wanted().c_str());
    mirror.say(gone(route("10.9.0.0/16", {via(3, "10.0.0.2"), via(9, "10.0.9.2")})));
    STRCMP_EQUAL("", mirror.wanted().c_str());
    mirror.say(gone(route("10.8.0.0/16", {via(3, "10.0.0.2")})));
    STRCMP_EQUAL("10.0.0.2@3 ", mirror.wanted().c_str());  // need not be kept any more
    LONGS_EQUAL(0, mirror.tables.gateways().size());
}

TEST(KernelTables, whatAnOperatorSaidIsNotResolved) {
    Mirror mirror;
    KernelNeighbor said = neighbor(3, "10.0.0.2", 1);
    said.permanent = true;
    mirror.say(said);
    mirror.say(route("10.9.0.0/16", {via(3, "10.0.0.2")}));
    STRCMP_EQUAL("", mirror.wanted().c_str());
}

TEST(KernelTables, aPacketWantsItsGatewayOrTheHostItself) {
    Mirror mirror;
    mirror.say(route("10.0.0.0/24", {{3, std::nullopt, 1}}));
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2")}));
    mirror.say(route("0.0.0.0/0", {via(9, "192.0.2.1")}));
    mirror.wanted();
    mirror.tables.want(address("10.0.0.7"));
    STRCMP_EQUAL("10.0.0.7@3 ", mirror.wanted().c_str());
    mirror.tables.want(address("10.9.1.1"));
    STRCMP_EQUAL("+10.0.1.2@4 ", mirror.wanted().c_str());
    mirror.tables.want(address("172.16.0.1"));
    mirror.tables.want(address("2001:db8::1"));
    STRCMP_EQUAL("", mirror.wanted().c_str());
}

TEST(KernelTables, aStaleNeighborIsLookedAfterWhenAllIsToldAnew) {
    Mirror mirror;
    KernelNeighbor stale = neighbor(3, "10.0.0.2", 1);
    stale.stale = true;
    mirror.say(stale);
    STRCMP_EQUAL("", mirror.wanted().c_str());
    mirror.told({stale, neighbor(3, "10.0.0.3", 2)});
    STRCMP_EQUAL("10.0.0.2@3 ", mirror.wanted().c_str());
}

TEST(KernelTables, legsOfIpv6GoOneByOne) {
    Mirror mirror;
    mirror.say(route("2001:db8:9::/48", {via(3, "2001:db8::2", 2), via(4, "2001:db8:1::2", 3)}));
    mirror.say(gone(route("2001:db8:9::/48", {via(3, "2001:db8::2")})));
    STRCMP_EQUAL("2001:db8:1::2 p1*3 ", mirror.given.at("route 2001:db8:9::/48").c_str());
    CHECK_FALSE(mirror.tables.take_asks_again());
    mirror.say(gone(route("2001:db8:9::/48", {via(3, "2001:db8::7")})));
    STRCMP_EQUAL("2001:db8:1::2 p1*3 ", mirror.given.at("route 2001:db8:9::/48").c_str());
    CHECK_TRUE(mirror.tables.take_asks_again());
    mirror.say(gone(route("2001:db8:9::/48", {via(4, "2001:db8:1::2")})));
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, ofRoutesBesideEachOtherTheFirstThatIsListedCounts) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(3, "10.0.0.2")}));
    CHECK_FALSE(mirror.tables.take_asks_again());
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2")}));
    CHECK_TRUE(mirror.tables.take_asks_again());
    const std::vector<KernelMessage> both{listed(route("10.9.0.0/16", {via(3, "10.0.0.2")})),
                                          listed(route("10.9.0.0/16", {via(4, "10.0.1.2")}))};
    mirror.told(both);
    STRCMP_EQUAL("10.0.0.2 p0*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
    CHECK_FALSE(mirror.tables.take_asks_again());  // else there were no end of it
    mirror.say(gone(route("10.9.0.0/16", {via(3, "10.0.0.2")})));
    CHECK_TRUE(mirror.tables.take_asks_again());
}

TEST(KernelTables, whatIsToldAnewWithdrawsTheRestAndNoMore) {
    Mirror mirror;
    const KernelRoute stays = route("10.9.0.0/16", {via(3, "10.0.0.2")});
    mirror.say(stays);
    mirror.say(route("10.8.0.0/16", {via(3, "10.0.0.2")}));
    mirror.say(neighbor(3, "10.0.0.2", 1));
    mirror.say(neighbor(4, "10.0.1.2", 2));
    mirror.wanted();
    KernelTables fresh(ports);
    fresh.apply(listed(stays));
    fresh.apply(neighbor(3, "10.0.0.2", 1));
    mirror.tables.replace(std::move(fresh));
    const RouteChanges changes = mirror.tables.take_changes();
    LONGS_EQUAL(1, changes.routes.size());
    CHECK_TRUE(changes.routes[0].prefix == prefix("10.8.0.0/16") && !changes.routes[0].now);
    LONGS_EQUAL(1, changes.neighbors.size());
    CHECK_TRUE(changes.neighbors[0].at == (NeighborKey{address("10.0.1.2"), "p1"}) &&
               !changes.neighbors[0].now);
    // An operator may have flushed neighbors, and with them that they are to be kept.
    STRCMP_EQUAL("+10.0.0.2@3 ", mirror.wanted().c_str());
}

// An interface that comes back has another index; what was said at it before it was a port counts from then
// on.
TEST(KernelTables, portsAreOtherInterfacesFromNowOn) {
    Mirror mirror;
    const KernelAddress own{7, true, {address("10.0.7.1"), 24}};
    const auto subnet = route("10.0.7.0/24", {{7, {}, 1}});
    const auto by_seven = route("10.9.0.0/16", {via(7, "10.0.7.2")});
    const auto by_three = route("10.8.0.0/16", {via(3, "10.0.3.2")});
    for (const KernelMessage& message : std::vector<KernelMessage>{
             own, subnet, by_seven, by_three, neighbor(3, "10.0.3.2", 1), neighbor(4, "10.0.4.2", 2)})
        mirror.say(message);
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("", mirror.given.at("address 10.0.7.1/32").c_str());

    const KernelTables::Ports others{{4, "p1"}, {7, "p0"}};
    mirror.told({own, subnet, by_seven, by_three, neighbor(7, "10.0.7.2", 3), neighbor(4, "10.0.4.2", 2)},
                others);
    STRCMP_EQUAL("10.0.7.2 p0*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.8.0.0/16").c_str());
    STRCMP_EQUAL("", mirror.given.at("address 10.0.7.1/32").c_str());
    STRCMP_EQUAL("", mirror.given.at("subnet 10.0.7.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.3.2 dev p0").c_str());
    STRCMP_EQUAL("02:00:00:00:01:03", mirror.given.at("neighbor 10.0.7.2 dev p0").c_str());
    STRCMP_EQUAL("02:00:00:00:01:02", mirror.given.at("neighbor 10.0.4.2 dev p1").c_str());
    // Notice at the old one are nobody's.
    mirror.say(neighbor(3, "10.0.3.9", 9));
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.3.9 dev p0").c_str());

    mirror.told({own, subnet, by_seven, by_three, neighbor(4, "10.0.4.2", 2)}, {{4, "p1"}});
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("", mirror.given.at("address 10.0.7.1/32").c_str());
    STRCMP_EQUAL("none", mirror.given.at("subnet 10.0.7.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.7.2 dev p0").c_str());
}

TEST(KernelTables, linksOfPortsAreFollowed) {
    Mirror mirror;
    mirror.told({link(3, "eth1"), link(4, "eth2"), link(9, "mgmt")});
    CHECK_FALSE(mirror.tables.take_asks_again());
    mirror.say(link(9, "mgmt", false));
    mirror.say(link(3, "eth1"));
    CHECK_FALSE(mirror.tables.take_asks_again());
    LONGS_EQUAL(0, mirror.tables.take_link_notices().size());
    mirror.say(link(3, "eth1", false));
    CHECK_TRUE(mirror.tables.take_asks_again());
    mirror.say(link(3, "swp1", false));
    auto notice = mirror.tables.take_link_notices();
    LONGS_EQUAL(1, notice.size());
    STRCMP_EQUAL("p0 eth1 swp1", text(notice[0]).c_str());
    mirror.say(link(3, "swp1", false, 1280));
    notice = mirror.tables.take_link_notices();
    LONGS_EQUAL(1, notice.size());
    LONGS_EQUAL(1500, notice[0].before.mtu);
    LONGS_EQUAL(1280, notice[0].now.mtu);
    mirror.say(no_link(3));
    mirror.told({link(3, "swp1", false)});  // it was all a mistake
    notice = mirror.tables.take_link_notices();
    LONGS_EQUAL(2, notice.size());
    STRCMP_EQUAL("p0 swp1 gone", text(notice[0]).c_str());
    // The other one's end was among lost notices.
    STRCMP_EQUAL("p1 eth2 gone", text(notice[1]).c_str());
}

TEST(KernelTables, nextHopObjectsAreAskedAfter) {
    Mirror mirror;
    mirror.say(KernelNextHops{});
    CHECK_TRUE(mirror.tables.take_asks_again());
}

}  // namespace sluice::kernel_tables_test
