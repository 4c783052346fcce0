#include "control/switch/kernel/netlink.hh"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

// Attributes by type, up to `most`; the last of a type counts.
template <std::uint16_t most>
class Attributes {
  public:
    Attributes(const void* from, const void* end) {
        const auto left = [end](const nlattr* attribute) {
            return static_cast<int>(static_cast<const char*>(end) - reinterpret_cast<const char*>(attribute));
        };
        const auto* attribute = static_cast<const nlattr*>(from);
        for (; mnl_attr_ok(attribute, left(attribute)); attribute = mnl_attr_next(attribute))
            if (const std::uint16_t type = mnl_attr_get_type(attribute); type <= most)
                found_[type] = attribute;
    }
    // The attributes behind a header of so many bytes. The end is not rounded up to alignment.
    Attributes(const nlmsghdr* message, std::size_t header)
        : Attributes(mnl_nlmsg_get_payload_offset(message, header),
                     reinterpret_cast<const char*>(message) + message->nlmsg_len) {}

    // Null unless it is there and has at least so many bytes.
    const nlattr* get(std::uint16_t type, std::size_t bytes) const {
        const nlattr* attribute = found_[type];
        return attribute != nullptr && mnl_attr_get_payload_len(attribute) >= bytes ? attribute : nullptr;
    }
    std::optional<std::uint32_t> number(std::uint16_t type) const {
        const nlattr* attribute = get(type, sizeof(std::uint32_t));
        if (attribute == nullptr) return std::nullopt;
        return mnl_attr_get_u32(attribute);
    }

  private:
    std::array<const nlattr*, most + 1> found_{};
};

// The address of a family at the beginning of so many bytes.
std::optional<IpAddress> address_at(const void* from, std::size_t bytes, unsigned family) {
    const std::size_t wanted = family == AF_INET6 ? 16 : 4;
    if ((family != AF_INET && family != AF_INET6) || bytes < wanted) return std::nullopt;
    IpAddress address;
    address.is_v6 = family == AF_INET6;
    std::memcpy(address.bytes.data(), from, wanted);
    return address;
}

std::optional<IpAddress> address_in(const nlattr* attribute, unsigned family) {
    if (attribute == nullptr) return std::nullopt;
    return address_at(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute), family);
}

template <class Header>
const Header* header_of(const nlmsghdr* message) {
    return mnl_nlmsg_get_payload_len(message) >= sizeof(Header)
               ? static_cast<const Header*>(mnl_nlmsg_get_payload(message))
               : nullptr;
}

std::optional<KernelMessage> link_in(const nlmsghdr* message) {
    const auto* header = header_of<ifinfomsg>(message);
    if (header == nullptr || header->ifi_family != AF_UNSPEC) return std::nullopt;  // a bridge's own
    const Attributes<IFLA_MTU> found(message, sizeof *header);
    KernelLink link;
    link.index = header->ifi_index;
    link.there = message->nlmsg_type == RTM_NEWLINK;
    constexpr unsigned running = IFF_UP | IFF_RUNNING;
    link.running = link.there && (header->ifi_flags & running) == running;
    if (const nlattr* name = found.get(IFLA_IFNAME, 1)) {
        const std::size_t most = std::min<std::size_t>(mnl_attr_get_payload_len(name), IF_NAMESIZE);
        link.name.assign(mnl_attr_get_str(name), strnlen(mnl_attr_get_str(name), most));
    }
    link.mtu = found.number(IFLA_MTU).value_or(0);
    return link;
}

std::optional<KernelMessage> address_message(const nlmsghdr* message) {
    const auto* header = header_of<ifaddrmsg>(message);
    if (header == nullptr) return std::nullopt;
    const Attributes<IFA_LOCAL> found(message, sizeof *header);
    // A point-to-point link's IFA_ADDRESS is the peer's.
    const nlattr* own = found.get(IFA_LOCAL, 4);
    const auto address = address_in(own != nullptr ? own : found.get(IFA_ADDRESS, 4), header->ifa_family);
    if (!address || header->ifa_prefixlen > (address->is_v6 ? 128 : 32)) return std::nullopt;
    return KernelAddress{static_cast<int>(header->ifa_index),
                         message->nlmsg_type == RTM_NEWADDR,
                         {*address, header->ifa_prefixlen}};
}

std::optional<KernelMessage> neighbor_in(const nlmsghdr* message) {
    const auto* header = header_of<ndmsg>(message);
    if (header == nullptr) return std::nullopt;
    const Attributes<NDA_LLADDR> found(message, sizeof *header);
    const auto address = address_in(found.get(NDA_DST, 4), header->ndm_family);
    if (!address || (header->ndm_flags & NTF_PROXY) != 0) return std::nullopt;
    KernelNeighbor neighbor;
    neighbor.index = header->ndm_ifindex;
    neighbor.address = *address;
    neighbor.stale = (header->ndm_state & NUD_STALE) != 0;
    neighbor.permanent = (header->ndm_state & NUD_PERMANENT) != 0;
    constexpr unsigned resolved = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT;
    const nlattr* mac = found.get(NDA_LLADDR, 6);
    if (message->nlmsg_type == RTM_NEWNEIGH && (header->ndm_state & resolved) != 0 && mac != nullptr &&
        mnl_attr_get_payload_len(mac) == 6) {
        neighbor.mac.emplace();
        std::memcpy(neighbor.mac->bytes.data(), mnl_attr_get_payload(mac), 6);
        if (neighbor.mac->is_group() || *neighbor.mac == MacAddress{}) neighbor.mac.reset();
    }
    return neighbor;
}

// RTA_VIA: a next hop of the other family (RFC 8950).
std::optional<IpAddress> via_in(const nlattr* attribute) {
    if (attribute == nullptr || mnl_attr_get_payload_len(attribute) < sizeof(rtvia)) return std::nullopt;
    const auto* via = static_cast<const rtvia*>(mnl_attr_get_payload(attribute));
    return address_at(via->rtvia_addr, mnl_attr_get_payload_len(attribute) - sizeof(rtvia),
                      via->rtvia_family);
}

template <std::uint16_t most>
std::optional<IpAddress> gateway_in(const Attributes<most>& found, unsigned family) {
    const auto gateway = address_in(found.get(RTA_GATEWAY, 4), family);
    return gateway ? gateway : via_in(found.get(RTA_VIA, sizeof(rtvia)));
}

std::vector<KernelLeg> legs_in(const nlattr* multipath, unsigned family) {
    std::vector<KernelLeg> legs;
    const auto* at = static_cast<const std::uint8_t*>(mnl_attr_get_payload(multipath));
    std::size_t left = mnl_attr_get_payload_len(multipath);
    while (left >= sizeof(rtnexthop)) {
        const auto* hop = reinterpret_cast<const rtnexthop*>(at);
        const std::size_t bytes = hop->rtnh_len;
        if (bytes < sizeof(rtnexthop) || bytes > left) break;
        const Attributes<RTA_VIA> found(at + sizeof(rtnexthop), at + bytes);
        // A leg whose link is down stays: workers skip it meanwhile.
        legs.push_back({hop->rtnh_ifindex, gateway_in(found, family), hop->rtnh_hops + 1U});
        const std::size_t step = std::min<std::size_t>(left, NLMSG_ALIGN(bytes));
        at += step;
        left -= step;
    }
    return legs;
}

std::optional<KernelMessage> route_in(const nlmsghdr* message) {
    const auto* header = header_of<rtmsg>(message);
    if (header == nullptr || (header->rtm_family != AF_INET && header->rtm_family != AF_INET6))
        return std::nullopt;
    const Attributes<RTA_VIA> found(message, sizeof *header);
    const bool v6 = header->rtm_family == AF_INET6;
    const std::uint32_t table = found.number(RTA_TABLE).value_or(header->rtm_table);
    const std::uint8_t bits = v6 ? 128 : 32;
    if ((table != RT_TABLE_MAIN && table != RT_TABLE_LOCAL) || header->rtm_dst_len > bits ||
        header->rtm_src_len > bits || (header->rtm_flags & RTM_F_CLONED) != 0)
        return std::nullopt;
    KernelRoute route;
    IpAddress any;
    any.is_v6 = v6;
    route.prefix = network_of(
        {address_in(found.get(RTA_DST, 4), header->rtm_family).value_or(any), header->rtm_dst_len});
    route.metric = found.number(RTA_PRIORITY).value_or(0);
    route.there = message->nlmsg_type == RTM_NEWROUTE;
    route.listed = (message->nlmsg_flags & NLM_F_MULTI) != 0;
    route.replaces = !route.listed && (message->nlmsg_flags & NLM_F_REPLACE) != 0;
    route.tos = header->rtm_tos;
    if (header->rtm_src_len != 0)
        route.source = network_of(
            {address_in(found.get(RTA_SRC, 4), header->rtm_family).value_or(any), header->rtm_src_len});
    switch (header->rtm_type) {
        case RTN_UNICAST:
            if (table == RT_TABLE_LOCAL) return std::nullopt;
            break;
        case RTN_LOCAL:
        case RTN_BROADCAST:
        case RTN_ANYCAST:
            route.kind = KernelRoute::Kind::local;
            if (const auto interface = found.number(RTA_OIF))
                route.legs.push_back({static_cast<int>(*interface), std::nullopt, 1});
            return route;
        case RTN_THROW:
        case RTN_BLACKHOLE:
        case RTN_UNREACHABLE:
        case RTN_PROHIBIT:
            if (table == RT_TABLE_LOCAL) return std::nullopt;
            route.kind = header->rtm_type == RTN_THROW         ? KernelRoute::Kind::stop
                         : header->rtm_type == RTN_BLACKHOLE   ? KernelRoute::Kind::blackhole
                         : header->rtm_type == RTN_UNREACHABLE ? KernelRoute::Kind::unreachable
                                                               : KernelRoute::Kind::prohibit;
            return route;
        default:
            return std::nullopt;
    }
    if (const nlattr* multipath = found.get(RTA_MULTIPATH, 0)) {
        route.legs = legs_in(multipath, header->rtm_family);
    } else if (const auto interface = found.number(RTA_OIF)) {
        route.legs.push_back({static_cast<int>(*interface), gateway_in(found, header->rtm_family), 1});
    }
    return route;
}

// The selectors of a rule as `ip rule` shows them; the main ones, for a name.
std::string selectors_in(const fib_rule_hdr* header, const Attributes<FRA_DPORT_RANGE>& found) {
    std::string text = (header->flags & FIB_RULE_INVERT) != 0 ? "not from " : "from ";
    const auto side = [&](std::uint16_t type, std::uint8_t length) -> std::string {
        const auto address = address_in(found.get(type, 4), header->family);
        return address && length <= (address->is_v6 ? 128 : 32) ? print_prefix({*address, length}) : "all";
    };
    text += side(FRA_SRC, header->src_len);
    if (header->dst_len != 0) text += " to " + side(FRA_DST, header->dst_len);
    if (header->tos != 0) text += fmt::format(" tos {:#04x}", header->tos);
    if (const auto mark = found.number(FRA_FWMARK).value_or(0); mark != 0)
        text += fmt::format(" fwmark {:#x}/{:#x}", mark, found.number(FRA_FWMASK).value_or(0));
    for (const auto& [type, word] : {std::pair{FRA_IIFNAME, " iif "}, {FRA_OIFNAME, " oif "}})
        if (const nlattr* name = found.get(type, 1))
            text += word + std::string(mnl_attr_get_str(name),
                                       strnlen(mnl_attr_get_str(name), mnl_attr_get_payload_len(name)));
    if (const nlattr* protocol = found.get(FRA_IP_PROTO, 1))
        text += fmt::format(" ipproto {}", mnl_attr_get_u8(protocol));
    for (const auto& [type, word] : {std::pair{FRA_SPORT_RANGE, "sport"}, {FRA_DPORT_RANGE, "dport"}})
        if (const nlattr* range = found.get(type, sizeof(fib_rule_port_range))) {
            fib_rule_port_range ports{};
            std::memcpy(&ports, mnl_attr_get_payload(range), sizeof ports);
            text += fmt::format(" {} {}-{}", word, ports.start, ports.end);
        }
    return text;
}

std::string table_text(std::uint32_t table) {
    return table == RT_TABLE_LOCAL     ? "local"
           : table == RT_TABLE_MAIN    ? "main"
           : table == RT_TABLE_DEFAULT ? "default"
           : table == RT_TABLE_UNSPEC  ? "[l3mdev-table]"
                                       : std::to_string(table);
}

std::optional<KernelMessage> rule_in(const nlmsghdr* message) {
    const auto* header = header_of<fib_rule_hdr>(message);
    if (header == nullptr || (header->family != AF_INET && header->family != AF_INET6)) return std::nullopt;
    const Attributes<FRA_DPORT_RANGE> found(message, sizeof *header);
    const std::uint32_t table = found.number(FRA_TABLE).value_or(header->table);
    constexpr std::uint32_t none = 0xFFFF'FFFF;
    const std::uint32_t suppressed = found.number(FRA_SUPPRESS_PREFIXLEN).value_or(none);
    const bool is_usual = table == RT_TABLE_LOCAL || table == RT_TABLE_MAIN || table == RT_TABLE_DEFAULT;
    if (header->action == FR_ACT_TO_TBL && is_usual && suppressed == none) return std::nullopt;
    KernelRule rule;
    rule.there = message->nlmsg_type == RTM_NEWRULE;
    rule.name = fmt::format("ip {}rule {}: {}", header->family == AF_INET6 ? "-6 " : "",
                            found.number(FRA_PRIORITY).value_or(0), selectors_in(header, found));
    if (header->action == FR_ACT_TO_TBL) {
        rule.name += " lookup " + table_text(table);
        if (suppressed != none) rule.name += fmt::format(" suppress_prefixlength {}", suppressed);
    } else if (header->action == FR_ACT_GOTO) {
        rule.name += fmt::format(" goto {}", found.number(FRA_GOTO).value_or(0));
    } else {
        rule.name += header->action == FR_ACT_BLACKHOLE     ? " blackhole"
                     : header->action == FR_ACT_UNREACHABLE ? " unreachable"
                     : header->action == FR_ACT_PROHIBIT    ? " prohibit"
                                                            : " nop";
    }
    return rule;
}

std::optional<KernelMessage> message_in(const nlmsghdr* message) {
    switch (message->nlmsg_type) {
        case RTM_NEWLINK:
        case RTM_DELLINK:
            return link_in(message);
        case RTM_NEWADDR:
        case RTM_DELADDR:
            return address_message(message);
        case RTM_NEWNEIGH:
        case RTM_DELNEIGH:
            return neighbor_in(message);
        case RTM_NEWROUTE:
        case RTM_DELROUTE:
            return route_in(message);
        case RTM_NEWRULE:
        case RTM_DELRULE:
            return rule_in(message);
        case RTM_NEWNEXTHOP:
        case RTM_DELNEXTHOP:
            return KernelNextHops{};
        default:
            return std::nullopt;
    }
}

constexpr std::uint32_t unanswered = 0;  // the sequence number of requests without an answer

// Room for a request of ours.
struct Request {
    alignas(nlmsghdr) std::array<char, 256> bytes{};
    nlmsghdr* start(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence) {
        nlmsghdr* message = mnl_nlmsg_put_header(bytes.data());
        message->nlmsg_type = type;
        message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        message->nlmsg_seq = sequence;
        return message;
    }
};

}  // namespace

KernelMessages parse_netlink(std::span<const std::uint8_t> datagram, std::uint32_t asked) {
    KernelMessages parsed;
    const auto* message = reinterpret_cast<const nlmsghdr*>(datagram.data());
    int left = static_cast<int>(datagram.size());
    // libmnl takes a length with its uppermost bit for a small one.
    const auto fits = [&] {
        return mnl_nlmsg_ok(message, left) && message->nlmsg_len <= static_cast<unsigned>(left);
    };
    for (; fits(); message = mnl_nlmsg_next(message, &left)) {
        if ((message->nlmsg_flags & NLM_F_MULTI) != 0 && message->nlmsg_seq != asked) continue;
        if ((message->nlmsg_flags & NLM_F_DUMP_INTR) != 0) parsed.interrupted = true;
        if (message->nlmsg_type == NLMSG_DONE) {
            parsed.done = true;
        } else if (message->nlmsg_type == NLMSG_ERROR) {
            const auto* error = header_of<nlmsgerr>(message);
            if (error != nullptr && error->error < 0 && message->nlmsg_seq == asked) parsed.failed = true;
        } else if (auto understood = message_in(message)) {
            parsed.messages.push_back(std::move(*understood));
        }
    }
    return parsed;
}

tl::expected<Netlink, std::string> Netlink::open(const Options& options) {
    const auto failed = [](const char* what) {
        return tl::unexpected(std::string("netlink: ") + what + ": " + std::strerror(errno));
    };
    FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
    if (!socket) return failed("no socket");
    const int room = static_cast<int>(options.receive_buffer_bytes);
    if (setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
        static_cast<void>(setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room));
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (options.routes) address.nl_groups |= RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return failed("no notice of the kernel's tables");
    for (const auto& [group, what] : {std::pair{RTNLGRP_NEXTHOP, "no notice of the kernel's next hops"},
                                      {RTNLGRP_IPV4_RULE, "no notice of the kernel's rules"},
                                      {RTNLGRP_IPV6_RULE, "no notice of the kernel's rules"}}) {
        const int number = group;
        if (options.routes &&
            setsockopt(socket.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &number, sizeof number) != 0)
            return failed(what);
    }
    return Netlink(std::move(socket));
}

bool Netlink::ask(Ask what) {
    constexpr std::array<std::uint16_t, 5> types{RTM_GETLINK, RTM_GETADDR, RTM_GETNEIGH, RTM_GETRULE,
                                                 RTM_GETROUTE};
    Request request;
    nlmsghdr* message = request.start(types[static_cast<unsigned>(what)], NLM_F_DUMP, ++sequence_);
    // The family stands first in each of these headers; 0: every one.
    mnl_nlmsg_put_extra_header(message, sizeof(rtgenmsg));
    return send(socket_.get(), message, message->nlmsg_len, 0) >= 0;
}

std::optional<Netlink::Read> Netlink::read() {
    const ssize_t bytes = recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC);
    if (bytes < 0 && errno != ENOBUFS) return std::nullopt;
    Read read;
    read.overrun = bytes < 0 || static_cast<std::size_t>(bytes) > buffer_.size();
    if (!read.overrun)
        read.parsed = parse_netlink({buffer_.data(), static_cast<std::size_t>(bytes)}, sequence_);
    return read;
}

void Netlink::resolve(int interface, const IpAddress& address, bool keep) {
    Request request;
    nlmsghdr* message = request.start(RTM_NEWNEIGH, NLM_F_CREATE, unanswered);
    auto* header = static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ndmsg)));
    header->ndm_family = address.is_v6 ? AF_INET6 : AF_INET;
    header->ndm_ifindex = interface;
    header->ndm_state = NUD_NONE;
    header->ndm_flags = NTF_USE;
    mnl_attr_put(message, NDA_DST, address.is_v6 ? 16 : 4, address.bytes.data());
    if (keep) {
        header->ndm_flags = 0;
        mnl_attr_put_u32(message, NDA_FLAGS_EXT, NTF_EXT_MANAGED);
    }
    static_cast<void>(
        send(socket_.get(), message, message->nlmsg_len, 0));  // refused: the next packet asks again
}

}  // namespace sluice
