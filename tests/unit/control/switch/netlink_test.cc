// parse_netlink over datagrams as the kernel writes them, and as no kernel should.
#include "control/switch/kernel/netlink.hh"

#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/control/switch/kernel_messages.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::netlink_test {
namespace {

using namespace sluice::kernel_messages;

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
    KernelMessages parse(std::uint32_t sequence = asked) {
        finish();
        // A buffer of exactly its size, so that a sanitizer sees a read beyond it.
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
    const KernelMessages said = datagram.parse();
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

    // A leg that is longer than the rest, or shorter than its own header, ends the list.
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
    datagram.route(16)->rtm_table = RT_TABLE_LOCAL;  // of type unicast
    datagram.route(16);
    datagram.put(RTA_TABLE, 1000);
    datagram.route(33);
    datagram.route(16)->rtm_family = AF_MPLS;
    datagram.route(16)->rtm_type = RTN_MULTICAST;
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

TEST(ParseNetlink, whatTheTableLocalHasIsLocal) {
    for (const std::uint8_t type : {RTN_LOCAL, RTN_BROADCAST, RTN_ANYCAST})
        for (const std::uint8_t table : {RT_TABLE_LOCAL, RT_TABLE_MAIN}) {
            Datagram datagram;
            rtmsg* header = datagram.route(32);
            header->rtm_table = table;
            header->rtm_type = type;
            datagram.put(RTA_DST, address("10.255.0.1"));
            datagram.put(RTA_OIF, 1);
            const auto found = std::get<KernelRoute>(datagram.parse().messages.at(0));
            CHECK_TRUE(found.kind == KernelRoute::Kind::local && found.prefix == prefix("10.255.0.1/32"));
            LONGS_EQUAL(1, found.legs.at(0).index);
        }
}

TEST(ParseNetlink, routesThatDropAreToldApart) {
    for (const auto& [type, kind] : {std::pair{RTN_BLACKHOLE, KernelRoute::Kind::blackhole},
                                     {RTN_UNREACHABLE, KernelRoute::Kind::unreachable},
                                     {RTN_PROHIBIT, KernelRoute::Kind::prohibit}}) {
        Datagram datagram;
        datagram.route(16)->rtm_type = static_cast<std::uint8_t>(type);
        CHECK_TRUE(std::get<KernelRoute>(datagram.parse().messages.at(0)).kind == kind);
    }
}

TEST(ParseNetlink, throwTosAndSourceAreSaid) {
    Datagram datagram;
    datagram.route(16)->rtm_type = RTN_THROW;
    datagram.route(16)->rtm_tos = 0x10;
    rtmsg* header = datagram.route(48);
    header->rtm_family = AF_INET6;
    header->rtm_src_len = 64;
    datagram.put(RTA_SRC, address("2001:db8:7::1"));
    const auto said = datagram.parse().messages;
    CHECK_TRUE(std::get<KernelRoute>(said.at(0)).kind == KernelRoute::Kind::stop);
    LONGS_EQUAL(0x10, std::get<KernelRoute>(said.at(1)).tos);
    CHECK_TRUE(std::get<KernelRoute>(said.at(2)).source == prefix("2001:db8:7::/64"));
    Datagram broken;
    broken.route(16)->rtm_src_len = 33;
    CHECK_TRUE(broken.parse().messages.empty());
}

fib_rule_hdr* rule(Datagram& datagram, std::uint32_t priority, std::uint8_t table,
                   std::uint8_t action = FR_ACT_TO_TBL, std::uint8_t family = AF_INET) {
    auto* header = static_cast<fib_rule_hdr*>(
        mnl_nlmsg_put_extra_header(datagram.start(RTM_NEWRULE), sizeof(fib_rule_hdr)));
    header->family = family;
    header->table = table;
    header->action = action;
    datagram.put(FRA_PRIORITY, priority);
    datagram.put(FRA_SUPPRESS_PREFIXLEN, 0xFFFFFFFF);  // as the kernel says that there is none
    return header;
}

TEST(ParseNetlink, policyRulesAreNamedAsIproute2DoesButForTheUsualOnes) {
    Datagram datagram;
    for (const std::uint8_t table : {RT_TABLE_LOCAL, RT_TABLE_MAIN, RT_TABLE_DEFAULT})
        rule(datagram, 32766, table);
    rule(datagram, 100, 100)->src_len = 16;
    datagram.put(FRA_SRC, address("10.1.0.0"));
    fib_rule_hdr* header = rule(datagram, 101, RT_TABLE_UNSPEC, FR_ACT_TO_TBL, AF_INET6);
    header->dst_len = 48;
    header->tos = 0x10;
    header->flags = FIB_RULE_INVERT;
    datagram.put(FRA_DST, address("2001:db8:9::"));
    datagram.put(FRA_TABLE, 1000);
    datagram.put(FRA_FWMARK, 1);
    datagram.put(FRA_FWMASK, 0xFF);
    mnl_attr_put_strz(datagram.current(), FRA_IIFNAME, "eth0");
    rule(datagram, 102, RT_TABLE_UNSPEC);
    rule(datagram, 103, RT_TABLE_UNSPEC, FR_ACT_GOTO);
    datagram.put(FRA_GOTO, 200);
    rule(datagram, 104, RT_TABLE_MAIN);
    datagram.put(FRA_SUPPRESS_PREFIXLEN, 0U);
    for (const std::uint8_t action : {FR_ACT_BLACKHOLE, FR_ACT_UNREACHABLE, FR_ACT_PROHIBIT, FR_ACT_NOP})
        rule(datagram, 105, RT_TABLE_UNSPEC, action);
    rule(datagram, 106, RT_TABLE_UNSPEC, FR_ACT_BLACKHOLE);
    mnl_attr_put_u8(datagram.current(), FRA_IP_PROTO, 17);
    const fib_rule_port_range range{4791, 4792};
    mnl_attr_put(datagram.current(), FRA_DPORT_RANGE, sizeof range, &range);
    rule(datagram, 107, 100)->src_len = 33;  // such a length there is none
    datagram.put(FRA_SRC, address("10.1.0.0"));
    std::vector<std::string> names;
    for (const KernelMessage& each : datagram.parse().messages)
        names.push_back(std::get<KernelRule>(each).name);
    const std::vector<std::string> wanted{
        "ip rule 100: from 10.1.0.0/16 lookup 100",
        "ip -6 rule 101: not from all to 2001:db8:9::/48 tos 0x10 fwmark 0x1/0xff iif eth0 lookup 1000",
        "ip rule 102: from all lookup [l3mdev-table]",
        "ip rule 103: from all goto 200",
        "ip rule 104: from all lookup main suppress_prefixlength 0",
        "ip rule 105: from all blackhole",
        "ip rule 105: from all unreachable",
        "ip rule 105: from all prohibit",
        "ip rule 105: from all nop",
        "ip rule 106: from all ipproto 17 dport 4791-4792 blackhole",
        "ip rule 107: from all lookup 100"};
    CHECK_TRUE(names == wanted);
    Datagram of_multicast;
    rule(of_multicast, 100, 100, FR_ACT_TO_TBL, 128);
    CHECK_TRUE(of_multicast.parse().messages.empty());
}

TEST(ParseNetlink, anEarlierQuestionsAnswerIsNoNews) {
    Datagram datagram;
    datagram.route(16, RTM_NEWROUTE, NLM_F_MULTI);
    datagram.put(RTA_OIF, 3);
    datagram.start(NLMSG_DONE, NLM_F_MULTI, Datagram::asked);
    const KernelMessages late = datagram.parse(Datagram::asked + 1);
    CHECK_TRUE(late.messages.empty() && !late.done);
    const KernelMessages said = datagram.parse();
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

TEST(ParseNetlink, neighborsByTheirState) {
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

TEST(ParseNetlink, aLinkLocalGatewayIsAsItWasSaid) {
    Datagram datagram;
    datagram.route(48)->rtm_family = AF_INET6;
    datagram.put(RTA_DST, address("2001:db8:9::"));
    datagram.put(RTA_OIF, 3);
    datagram.put(RTA_GATEWAY, address("fe80::1"));
    CHECK_TRUE(std::get<KernelRoute>(datagram.parse().messages.at(0)).legs ==
               std::vector<KernelLeg>{via(3, "fe80::1")});
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

}  // namespace sluice::netlink_test
