// The kernel's messages about links, addresses, neighbors and routes (rtnetlink(7)), and their socket.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "control/config/schema/config.hh"
#include "dataplane/base/file_descriptor.hh"

namespace sluice {

struct KernelLink {
    int index = 0;
    bool there = true;
    bool running = false;  // up, with a carrier
    std::string name;
    std::uint32_t mtu = 0;  // bytes, without the Ethernet header
    bool operator==(const KernelLink&) const = default;
};

struct KernelAddress {
    int index = 0;
    bool there = true;
    IpPrefix address;  // host bits kept
};

struct KernelNeighbor {
    int index = 0;
    IpAddress address;
    std::optional<MacAddress> mac;  // nothing: gone, or not resolved
    bool stale = false;             // not heard of for a while
    bool permanent = false;         // not found out but said
};

struct KernelLeg {
    int index = 0;
    std::optional<IpAddress> via;  // nothing: on the link itself
    std::uint32_t weight = 1;
    bool operator==(const KernelLeg&) const = default;
};

struct KernelRoute {
    // local: the machine's own, and broadcast and anycast of its links. stop: `throw`, which ends the search.
    enum class Kind : std::uint8_t { unicast, blackhole, unreachable, prohibit, stop, local };
    IpPrefix prefix;
    std::uint32_t metric = 0;
    bool there = true;
    bool listed = false;    // part of an answer; else notice
    bool replaces = false;  // notice: replaces that of the same prefix and metric; else one more
    Kind kind = Kind::unicast;
    std::uint8_t tos = 0;            // for packets of this TOS alone; 0: of any
    std::optional<IpPrefix> source;  // for packets from there alone
    std::vector<KernelLeg> legs;
};

// A policy rule (`ip rule`) beside every machine's, which look into the tables local, main and default.
struct KernelRule {
    bool there = true;
    std::string name;  // as `ip rule` shows it: "ip rule 100: from 10.1.0.0/16 lookup 100"
};

// An object of `ip nexthop` has changed: the kernel removes its routes without notice.
struct KernelNextHops {};

using KernelMessage =
    std::variant<KernelLink, KernelAddress, KernelNeighbor, KernelRoute, KernelRule, KernelNextHops>;

// A datagram's messages in order, without other kinds, tables other than main and local, damaged messages,
// and answers to a question before number `asked`.
struct KernelMessages {
    std::vector<KernelMessage> messages;
    bool done = false;         // the end of the dump
    bool failed = false;       // the dump was refused
    bool interrupted = false;  // the table changed during the dump: ask again
};
KernelMessages parse_netlink(std::span<const std::uint8_t> datagram, std::uint32_t asked);

class Netlink {
  public:
    struct Options {
        bool routes = true;  // with neighbors and rules; else links and addresses alone
        std::uint64_t receive_buffer_bytes = 8'000'000;
    };
    static tl::expected<Netlink, std::string> open(const Options& options);

    enum class Ask : std::uint8_t { links, addresses, neighbors, rules, routes };
    // Asks for a full dump, which ends with `done`. One question at a time. False: not taken now.
    bool ask(Ask what);
    // The next datagram, if one waits. Overrun: notices were lost, ask for everything again.
    struct Read {
        KernelMessages parsed;
        bool overrun = false;
    };
    std::optional<Read> read();

    // Has the kernel resolve a neighbor that is not permanent, and with `keep` keep it resolved.
    void resolve(int interface, const IpAddress& address, bool keep);

  private:
    explicit Netlink(FileDescriptor socket) : socket_(std::move(socket)), buffer_(1U << 17) {}
    FileDescriptor socket_;
    std::vector<std::uint8_t> buffer_;
    std::uint32_t sequence_ = 0;
};

}  // namespace sluice
