#include "control/kernel/kernel_tables.hh"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "control/config/values.hh"
#include "lib/rng.hh"

#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

IpAddress address(std::string_view text) { return *parse_address(text); }
IpPrefix prefix(std::string_view text) { return *parse_network(text); }
MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 1, last}}; }

// Interfaces 3 and 4 are ports, all others are not.
const KernelTables::Ports ports{{3, "p0"}, {4, "p1"}};

KernelLeg via(int index, std::string_view gateway, std::uint32_t weight = 1) {
    return {index, address(gateway), weight};
}

KernelRoute route(std::string_view to, std::vector<KernelLeg> legs, std::uint32_t metric = 0) {
    KernelRoute made;
    made.prefix = prefix(to);
    made.metric = metric;
    made.legs = std::move(legs);
    return made;
}
KernelRoute replacing(KernelRoute made) {
    made.replaces = true;
    return made;
}
KernelRoute listed(KernelRoute made) {
    made.listed = true;
    return made;
}
KernelRoute gone(KernelRoute made) {
    made.there = false;
    return made;
}

KernelNeighbor neighbor(int index, std::string_view at, std::optional<std::uint8_t> last_of_mac) {
    KernelNeighbor made;
    made.index = index;
    made.address = address(at);
    if (last_of_mac) made.mac = mac(*last_of_mac);
    return made;
}

KernelLink link(int index, const char* name, bool running = true, std::uint32_t mtu = 1500) {
    return {index, true, running, name, mtu};
}
KernelLink no_link(int index) { return {index, false, false, {}, 0}; }
std::string text(const KernelTables::LinkNews& news) {
    return news.port + " " + news.before.name + " " + (news.now.there ? news.now.name : "gone");
}

// What our tables have of all changes, as text.
struct Given {
    std::map<std::string, std::string> what;

    void take(const RouteChanges& changes) {
        CHECK_TRUE(changes.origin == RouteOrigin::kernel);
        for (const auto& own : changes.addresses) put("address " + print_prefix(own.prefix), own.there, "");
        for (const auto& own : changes.subnets) put("subnet " + print_prefix(own.prefix), own.there, "");
        for (const auto& each : changes.neighbors)
            put("neighbor " + print_address(each.address), each.now.has_value(),
                each.now ? each.now->port + " " + print_mac(each.now->mac) : "");
        for (const auto& each : changes.routes) {
            std::string text = each.elsewhere ? "elsewhere" : "blackhole";
            if (each.now && !each.now->via.empty()) {
                text.clear();
                for (const NextHopConfig& hop : each.now->via)
                    text += fmt::format("{}*{} ", print_address(hop.address), hop.weight);
            }
            put("route " + print_prefix(each.prefix), each.now.has_value(), text);
        }
    }
    void put(const std::string& key, bool there, const std::string& text) {
        what.erase(key);
        if (there) what[key] = text;
    }
    std::string at(const std::string& key) const {
        const auto found = what.find(key);
        return found != what.end() ? found->second : "none";
    }
};

struct Mirror {
    KernelTables tables{ports};
    Given given;
    void say(const KernelMessage& message) {
        tables.apply(message);
        given.take(tables.take_changes());
    }
    // All that there is, told anew.
    void told(const std::vector<KernelMessage>& all, const KernelTables::Ports& of = ports) {
        KernelTables fresh(of);
        for (const KernelMessage& message : all) fresh.apply(message);
        tables.replace(std::move(fresh));
        given.take(tables.take_changes());
    }
    // Addresses to be resolved, those to be kept with a '+'.
    std::string wanted() {
        std::string text;
        for (const auto& each : tables.take_wanted(100))
            text +=
                fmt::format("{}{}@{} ", each.keep ? "+" : "", print_address(each.address), each.interface);
        return text;
    }
};

}  // namespace

TEST_GROUP(KernelTables){};

TEST(KernelTables, aRouteHasTheWeightsOfItsLegsByOurPorts) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2", 3), via(3, "10.0.0.2"), via(9, "10.0.9.2")}));
    STRCMP_EQUAL("10.0.0.2*1 10.0.1.2*3 ", mirror.given.at("route 10.9.0.0/16").c_str());
    mirror.say(replacing(route("10.9.0.0/16", {via(4, "10.0.1.2", 1000)})));
    STRCMP_EQUAL("10.0.1.2*256 ", mirror.given.at("route 10.9.0.0/16").c_str());
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
    KernelRoute discard = route("10.7.0.0/16", {});
    discard.kind = KernelRoute::Kind::discard;
    mirror.say(discard);
    STRCMP_EQUAL("blackhole", mirror.given.at("route 10.7.0.0/16").c_str());
    LONGS_EQUAL(2, mirror.tables.routes_elsewhere());
    STRCMP_EQUAL("", mirror.wanted().c_str());
}

TEST(KernelTables, theLowestMetricCounts) {
    Mirror mirror;
    mirror.say(route("10.9.0.0/16", {via(3, "10.0.0.2")}, 20));
    mirror.say(route("10.9.0.0/16", {via(4, "10.0.1.2")}, 10));
    STRCMP_EQUAL("10.0.1.2*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
    mirror.say(gone(route("10.9.0.0/16", {via(4, "10.0.1.2")}, 10)));
    STRCMP_EQUAL("10.0.0.2*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
}

TEST(KernelTables, aSubnetIsNoRoute) {
    Mirror mirror;
    mirror.say(route("10.0.0.0/24", {{3, std::nullopt, 1}}));
    STRCMP_EQUAL("", mirror.given.at("subnet 10.0.0.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("route 10.0.0.0/24").c_str());
    mirror.say(replacing(route("10.0.0.0/24", {via(3, "10.0.0.2")})));
    STRCMP_EQUAL("none", mirror.given.at("subnet 10.0.0.0/24").c_str());
    STRCMP_EQUAL("10.0.0.2*1 ", mirror.given.at("route 10.0.0.0/24").c_str());
}

TEST(KernelTables, linksOwnPrefixesAreLeftOut) {
    Mirror mirror;
    for (const char* of_link : {"fe80::/64", "ff00::/8", "224.0.0.0/4"})
        mirror.say(route(of_link, {{3, std::nullopt, 1}}));
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, neighboursAtOurPortsChangeWithTheirMac) {
    Mirror mirror;
    mirror.say(neighbor(3, "10.0.0.2", 1));
    mirror.say(neighbor(9, "10.0.9.2", 1));
    LONGS_EQUAL(1, mirror.given.what.size());
    STRCMP_EQUAL("p0 02:00:00:00:01:01", mirror.given.at("neighbor 10.0.0.2").c_str());
    KernelNeighbor stale = neighbor(3, "10.0.0.2", 1);
    stale.stale = true;
    mirror.tables.apply(stale);
    CHECK_TRUE(mirror.tables.take_changes().empty());  // no news for a worker
    mirror.say(neighbor(3, "10.0.0.2", 2));
    STRCMP_EQUAL("p0 02:00:00:00:01:02", mirror.given.at("neighbor 10.0.0.2").c_str());
    mirror.say(neighbor(4, "10.0.0.2", 3));  // has moved, and the kernel has not forgotten the old place
    mirror.say(neighbor(3, "10.0.0.2", std::nullopt));
    STRCMP_EQUAL("p1 02:00:00:00:01:03", mirror.given.at("neighbor 10.0.0.2").c_str());
    mirror.say(neighbor(4, "10.0.0.2", std::nullopt));
    LONGS_EQUAL(0, mirror.given.what.size());
}

TEST(KernelTables, addressesAreOursAtOurPortsAndTheMachinesAnywhere) {
    Mirror mirror;
    mirror.say(KernelAddress{3, true, {address("10.0.0.1"), 24}});
    mirror.say(KernelAddress{9, true, {address("192.0.2.1"), 24}});
    LONGS_EQUAL(1, mirror.given.what.size());
    STRCMP_EQUAL("", mirror.given.at("address 10.0.0.1/32").c_str());
    LONGS_EQUAL(2, mirror.tables.addresses().size());
    CHECK_TRUE(mirror.tables.take_addresses_changed());
    CHECK_FALSE(mirror.tables.take_addresses_changed());
    mirror.say(KernelAddress{3, false, {address("10.0.0.1"), 24}});
    CHECK_TRUE(mirror.tables.take_addresses_changed());
    LONGS_EQUAL(0, mirror.given.what.size());
    mirror.told({KernelAddress{9, true, {address("192.0.2.1"), 24}}});
    CHECK_FALSE(mirror.tables.take_addresses_changed());
    mirror.told({});
    CHECK_TRUE(mirror.tables.take_addresses_changed());
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

TEST(KernelTables, aStaleNeighbourIsLookedAfterWhenAllIsToldAnew) {
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
    STRCMP_EQUAL("2001:db8:1::2*3 ", mirror.given.at("route 2001:db8:9::/48").c_str());
    CHECK_FALSE(mirror.tables.take_asks_again());
    mirror.say(gone(route("2001:db8:9::/48", {via(3, "2001:db8::7")})));
    STRCMP_EQUAL("2001:db8:1::2*3 ", mirror.given.at("route 2001:db8:9::/48").c_str());
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
    STRCMP_EQUAL("10.0.0.2*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
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
    CHECK_TRUE(changes.neighbors[0].address == address("10.0.1.2") && !changes.neighbors[0].now);
    // An operator may have flushed neighbours, and with them that they are to be kept.
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
    STRCMP_EQUAL("none", mirror.given.at("address 10.0.7.1/32").c_str());

    const KernelTables::Ports others{{4, "p1"}, {7, "p0"}};
    mirror.told({own, subnet, by_seven, by_three, neighbor(7, "10.0.7.2", 3), neighbor(4, "10.0.4.2", 2)},
                others);
    STRCMP_EQUAL("10.0.7.2*1 ", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.8.0.0/16").c_str());
    STRCMP_EQUAL("", mirror.given.at("address 10.0.7.1/32").c_str());
    STRCMP_EQUAL("", mirror.given.at("subnet 10.0.7.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.3.2").c_str());
    STRCMP_EQUAL("p0 02:00:00:00:01:03", mirror.given.at("neighbor 10.0.7.2").c_str());
    STRCMP_EQUAL("p1 02:00:00:00:01:02", mirror.given.at("neighbor 10.0.4.2").c_str());
    // News at the old one are nobody's.
    mirror.say(neighbor(3, "10.0.3.9", 9));
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.3.9").c_str());

    mirror.told({own, subnet, by_seven, by_three, neighbor(4, "10.0.4.2", 2)}, {{4, "p1"}});
    STRCMP_EQUAL("elsewhere", mirror.given.at("route 10.9.0.0/16").c_str());
    STRCMP_EQUAL("none", mirror.given.at("address 10.0.7.1/32").c_str());
    STRCMP_EQUAL("none", mirror.given.at("subnet 10.0.7.0/24").c_str());
    STRCMP_EQUAL("none", mirror.given.at("neighbor 10.0.7.2").c_str());
}

TEST(KernelTables, linksOfPortsAreFollowed) {
    Mirror mirror;
    mirror.told({link(3, "eth1"), link(4, "eth2"), link(9, "mgmt")});
    CHECK_FALSE(mirror.tables.take_asks_again());
    mirror.say(link(9, "mgmt", false));
    mirror.say(link(3, "eth1"));
    CHECK_FALSE(mirror.tables.take_asks_again());
    LONGS_EQUAL(0, mirror.tables.take_link_news().size());
    mirror.say(link(3, "eth1", false));
    CHECK_TRUE(mirror.tables.take_asks_again());
    mirror.say(link(3, "swp1", false));
    auto news = mirror.tables.take_link_news();
    LONGS_EQUAL(1, news.size());
    STRCMP_EQUAL("p0 eth1 swp1", text(news[0]).c_str());
    mirror.say(link(3, "swp1", false, 1280));
    news = mirror.tables.take_link_news();
    LONGS_EQUAL(1, news.size());
    LONGS_EQUAL(1500, news[0].before.mtu);
    LONGS_EQUAL(1280, news[0].now.mtu);
    mirror.say(no_link(3));
    mirror.told({link(3, "swp1", false)});  // it was all a mistake
    news = mirror.tables.take_link_news();
    LONGS_EQUAL(2, news.size());
    STRCMP_EQUAL("p0 swp1 gone", text(news[0]).c_str());
    // The other one's end was among lost news.
    STRCMP_EQUAL("p1 eth2 gone", text(news[1]).c_str());
}

TEST(KernelTables, nextHopObjectsAreAskedAfter) {
    Mirror mirror;
    mirror.say(KernelNextHops{});
    CHECK_TRUE(mirror.tables.take_asks_again());
}

// Random news, of which some are lost; when all has been told anew, we have what the kernel has.
TEST(KernelTables, losesNothingForGood) {
    std::uint64_t drawn = 0;
    const auto below = [&](std::uint64_t bound) { return draw({23, 7, 0, ++drawn}) % bound; };
    std::map<std::pair<IpPrefix, std::uint32_t>, KernelRoute> kernel;
    std::map<IpAddress, KernelNeighbor> known;
    const auto all = [&] {
        std::vector<KernelMessage> list;
        for (const auto& [key, each] : known) list.emplace_back(each);
        for (const auto& [key, each] : kernel) list.emplace_back(listed(each));
        return list;
    };
    Mirror mirror;
    for (unsigned turn = 0; turn < 300; ++turn) {
        const bool loses = below(3) == 0;
        for (std::uint64_t n = below(40); n > 0; --n) {
            KernelMessage news;
            if (below(4) == 0) {
                const IpAddress at{
                    {10, 0, static_cast<std::uint8_t>(below(2)), static_cast<std::uint8_t>(below(4))}, false};
                KernelNeighbor each;
                each.index = static_cast<int>(3 + below(3));
                each.address = at;
                if (const auto there = known.find(at); there != known.end()) each.index = there->second.index;
                known.erase(at);
                if (below(3) != 0) {
                    each.mac = mac(static_cast<std::uint8_t>(below(4)));
                    known[at] = each;
                }
                news = each;
            } else {
                KernelRoute each;
                each.prefix = {{{10, 9, static_cast<std::uint8_t>(below(6))}, false}, 24};
                each.metric = static_cast<std::uint32_t>(below(3));
                const auto there = kernel.find({each.prefix, each.metric});
                if (there != kernel.end() && below(2) == 0) {
                    each = gone(there->second);
                    kernel.erase(there);
                } else {
                    each.replaces = there != kernel.end();
                    for (std::uint64_t legs = 1 + below(3); legs > 0; --legs) {
                        KernelLeg leg{static_cast<int>(3 + below(3)), std::nullopt,
                                      static_cast<std::uint32_t>(1 + below(2))};
                        if (below(6) != 0)
                            leg.via = IpAddress{
                                {10, 0, static_cast<std::uint8_t>(below(2)), static_cast<std::uint8_t>(legs)},
                                false};
                        each.legs.push_back(leg);
                    }
                    kernel[{each.prefix, each.metric}] = each;
                    kernel[{each.prefix, each.metric}].replaces = false;
                }
                news = each;
            }
            if (!loses || below(4) != 0) mirror.say(news);
        }
        if (loses) mirror.told(all());
        Mirror wanted;
        wanted.told(all());
        CHECK_TRUE(wanted.given.what == mirror.given.what);
        CHECK_TRUE(wanted.tables.gateways().size() == mirror.tables.gateways().size());
    }
    mirror.told({});
    LONGS_EQUAL(0, mirror.given.what.size());
    LONGS_EQUAL(0, mirror.tables.gateways().size());
}

namespace {

// A datagram of messages as the kernel writes them.
class Datagram {
  public:
    nlmsghdr* start(std::uint16_t type, std::uint16_t flags = 0, std::uint32_t sequence = 0) {
        finish();
        current_ = mnl_nlmsg_put_header(buffer_.data() + used_);
        current_->nlmsg_type = type;
        current_->nlmsg_flags = flags;
        current_->nlmsg_seq = sequence;
        return current_;
    }
    rtmsg* route(std::uint8_t length, std::uint16_t type = RTM_NEWROUTE, std::uint16_t flags = 0) {
        auto* header =
            static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(start(type, flags, asked), sizeof(rtmsg)));
        header->rtm_family = AF_INET;
        header->rtm_dst_len = length;
        header->rtm_table = RT_TABLE_MAIN;
        header->rtm_type = RTN_UNICAST;
        return header;
    }
    void put(std::uint16_t type, const IpAddress& value) {
        mnl_attr_put(current_, type, value.is_v6 ? 16 : 4, value.bytes.data());
    }
    void put(std::uint16_t type, std::uint32_t value) { mnl_attr_put_u32(current_, type, value); }
    nlmsghdr* current() { return current_; }
    KernelSaid parse(std::uint32_t sequence = asked) {
        finish();
        // Of exactly its size, so that a sanitizer sees what lies beyond.
        const std::vector<std::uint8_t> bytes(buffer_.data(), buffer_.data() + used_);
        return parse_netlink(bytes, sequence);
    }
    static constexpr std::uint32_t asked = 7;

  private:
    void finish() {
        if (current_ != nullptr) used_ += MNL_ALIGN(current_->nlmsg_len);
        current_ = nullptr;
    }
    alignas(8) std::array<std::uint8_t, 4096> buffer_{};
    std::size_t used_ = 0;
    nlmsghdr* current_ = nullptr;
};

}  // namespace

TEST_GROUP(ParseNetlink){};

TEST(ParseNetlink, aRouteByOneGateway) {
    Datagram datagram;
    datagram.route(16, RTM_NEWROUTE, NLM_F_REPLACE);
    datagram.put(RTA_DST, address("10.9.1.1"));  // host bits are not the prefix's
    datagram.put(RTA_OIF, 3);
    datagram.put(RTA_GATEWAY, address("10.0.0.2"));
    datagram.put(RTA_PRIORITY, 20);
    const KernelSaid said = datagram.parse();
    LONGS_EQUAL(1, said.messages.size());
    const auto& found = std::get<KernelRoute>(said.messages[0]);
    CHECK_TRUE(found.prefix == prefix("10.9.0.0/16"));
    LONGS_EQUAL(20, found.metric);
    CHECK_TRUE(found.there && found.replaces && !found.listed);
    CHECK_TRUE(found.legs == std::vector<KernelLeg>{via(3, "10.0.0.2")});
}

TEST(ParseNetlink, legsHaveTheirWeights) {
    Datagram datagram;
    datagram.route(16);
    datagram.put(RTA_DST, address("10.9.0.0"));
    struct Leg {
        rtnexthop hop;
        nlattr attribute;
        std::array<std::uint8_t, 4> gateway;
    };
    static_assert(sizeof(Leg) == 16);
    std::array<Leg, 2> legs{{{{sizeof(Leg), 0, 0, 3}, {8, RTA_GATEWAY}, {10, 0, 0, 2}},
                             {{sizeof(Leg), RTNH_F_LINKDOWN, 4, 4}, {8, RTA_GATEWAY}, {10, 0, 1, 2}}}};
    mnl_attr_put(datagram.current(), RTA_MULTIPATH, sizeof legs, legs.data());
    // A link that is down is the workers' affair.
    const std::vector<KernelLeg> both{via(3, "10.0.0.2"), via(4, "10.0.1.2", 5)};
    CHECK_TRUE(std::get<KernelRoute>(datagram.parse().messages.at(0)).legs == both);

    // A leg that is longer than what is left, or shorter than its own header, ends the list.
    for (const std::uint16_t length : {17, 7, 0, 65535}) {
        Datagram broken;
        broken.route(16);
        legs[1].hop.rtnh_len = length;
        mnl_attr_put(broken.current(), RTA_MULTIPATH, sizeof legs, legs.data());
        LONGS_EQUAL(1, std::get<KernelRoute>(broken.parse().messages.at(0)).legs.size());
    }
}

TEST(ParseNetlink, whatIsNotForUsIsLeftOut) {
    Datagram datagram;
    datagram.route(16)->rtm_table = RT_TABLE_LOCAL;
    datagram.route(16);
    datagram.put(RTA_TABLE, 1000);
    datagram.route(33);
    datagram.route(16)->rtm_family = AF_MPLS;
    datagram.route(16)->rtm_type = RTN_MULTICAST;
    datagram.route(16)->rtm_tos = 4;
    datagram.route(16)->rtm_flags = RTM_F_CLONED;
    datagram.start(RTM_NEWNEIGH);  // without its header
    datagram.start(RTM_NEWQDISC);
    auto* proxy =
        static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(datagram.start(RTM_NEWNEIGH), sizeof(ndmsg)));
    proxy->ndm_family = AF_INET;
    proxy->ndm_flags = NTF_PROXY;
    datagram.put(NDA_DST, address("10.0.0.2"));
    LONGS_EQUAL(0, datagram.parse().messages.size());
}

TEST(ParseNetlink, anEarlierQuestionsAnswerIsNoNews) {
    Datagram datagram;
    datagram.route(16, RTM_NEWROUTE, NLM_F_MULTI);
    datagram.put(RTA_OIF, 3);
    datagram.start(NLMSG_DONE, NLM_F_MULTI, Datagram::asked);
    const KernelSaid late = datagram.parse(Datagram::asked + 1);
    CHECK_TRUE(late.messages.empty() && !late.done);
    const KernelSaid said = datagram.parse();
    CHECK_TRUE(said.messages.size() == 1 && said.done && !said.failed && !said.interrupted);
    CHECK_TRUE(std::get<KernelRoute>(said.messages[0]).listed);
}

TEST(ParseNetlink, aQuestionCanFailOrBeInterrupted) {
    Datagram datagram;
    auto* error = static_cast<nlmsgerr*>(
        mnl_nlmsg_put_extra_header(datagram.start(NLMSG_ERROR, 0, Datagram::asked), sizeof(nlmsgerr)));
    error->error = -16;
    CHECK_TRUE(datagram.parse().failed);
    CHECK_FALSE(datagram.parse(Datagram::asked + 1).failed);
    Datagram interrupted;
    interrupted.start(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, Datagram::asked);
    CHECK_TRUE(interrupted.parse().interrupted);
}

TEST(ParseNetlink, neighboursByTheirState) {
    for (const auto& [state, resolved] : {std::pair{NUD_REACHABLE, true},
                                          {NUD_STALE, true},
                                          {NUD_DELAY, true},
                                          {NUD_PROBE, true},
                                          {NUD_PERMANENT, true},
                                          {NUD_INCOMPLETE, false},
                                          {NUD_FAILED, false},
                                          {NUD_NOARP, false},
                                          {NUD_NONE, false}}) {
        Datagram datagram;
        auto* header =
            static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(datagram.start(RTM_NEWNEIGH), sizeof(ndmsg)));
        header->ndm_family = AF_INET;
        header->ndm_ifindex = 3;
        header->ndm_state = static_cast<std::uint16_t>(state);
        datagram.put(NDA_DST, address("10.0.0.2"));
        mnl_attr_put(datagram.current(), NDA_LLADDR, 6, mac(9).bytes.data());
        const auto found = std::get<KernelNeighbor>(datagram.parse().messages.at(0));
        CHECK_TRUE(found.mac.has_value() == resolved);
        CHECK_TRUE(found.stale == (state == NUD_STALE) && found.permanent == (state == NUD_PERMANENT));
    }
}

TEST(ParseNetlink, aLinkLocalGatewayIsOfItsLink) {
    std::array<IpAddress, 2> gateways;
    for (const std::uint32_t index : {3U, 4U}) {
        Datagram datagram;
        datagram.route(48)->rtm_family = AF_INET6;
        datagram.put(RTA_DST, address("2001:db8:9::"));
        datagram.put(RTA_OIF, index);
        datagram.put(RTA_GATEWAY, address("fe80::1"));
        gateways[index - 3] = *std::get<KernelRoute>(datagram.parse().messages.at(0)).legs.at(0).via;
    }
    CHECK_FALSE(gateways[0] == gateways[1]);
}

TEST(ParseNetlink, lengthsThatLieEndTheDatagram) {
    Datagram datagram;
    datagram.route(16);
    datagram.put(RTA_DST, address("10.9.0.0"));
    datagram.put(RTA_OIF, 3);
    for (const std::uint32_t length : {0U, 15U, 1000U, 0xFFFFFFFFU}) {
        datagram.current()->nlmsg_len = length;
        std::vector<std::uint8_t> bytes(44);
        std::memcpy(bytes.data(), datagram.current(), bytes.size());
        LONGS_EQUAL(0, parse_netlink(bytes, Datagram::asked).messages.size());
    }
}
