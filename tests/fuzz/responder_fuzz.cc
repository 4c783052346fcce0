// Any bytes as a frame that a port has punted: `punt_class` and `respond` read none too far, and what they
// answer is a frame that may leave.
//
// The first byte says whether the port is promiscuous and proxies, and whether it was the next link's MTU
// that stopped the frame.
#include <algorithm>
#include <array>

#include "lib/frame/checksum.hh"
#include "lib/frame/parse.hh"
#include "lib/punt/icmp_reply.hh"
#include "lib/punt/punt.hh"
#include "lib/punt/responder.hh"
#include "lib/values/ids.hh"
#include "tests/fuzz/require.hh"
#include "tests/unit/exact_copy.hh"
#include "tests/unit/ip_addresses.hh"

namespace {

using namespace sluice;

constexpr MacAddress own_mac{{2, 0, 0, 0, 0xFF, 1}};

void check_ip(std::span<const std::uint8_t> reply, const Parsed& parsed) {
    const auto packet = reply.subspan(parsed.l3_offset, parsed.ip_bytes);
    const bool is_v6 = parsed.kind == FrameKind::ipv6;
    const IpTransport transport = ip_transport(packet, is_v6);
    const auto message = packet.subspan(transport.offset);
    require(!transport.fragment && message.size() >= 8, "a whole ICMP message");
    if (!is_v6) {
        require(transport.protocol == ip_protocol::icmp && internet_checksum(message) == 0,
                "ICMP's checksum");
        require(message[0] == 0 || packet.size() <= 576, "an error of at most 576 bytes");
        return;
    }
    const auto& ip = *reinterpret_cast<const Ipv6Header*>(packet.data());
    require(
        transport.protocol == ip_protocol::icmpv6 && icmp6_checksum(ip.source, ip.destination, message) == 0,
        "ICMPv6's checksum");
    require(message[0] >= 128 || packet.size() <= 1280, "an error of at most 1280 bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ExactCopy copy({data + 1, size - 1});
    const auto frame = copy.view();
    for (std::size_t n = 0; n < drop_reason_count; ++n)
        static_cast<void>(punt_class(static_cast<DropReason>(n), frame, own_mac));
    const std::array<IpPrefix, 2> own{IpPrefix{v4(0x0A000001), 24}, IpPrefix{v6(1), 64}};
    const std::array<IpAddress, 2> local{v4(0x0A000001), v6(1)};
    ResponderPort port{own_mac, (data[0] & 1) != 0, own, local, {}};
    if ((data[0] & 2) != 0)
        port.proxied = [](const IpAddress& address) { return (address.bytes[3] & 1) != 0; };
    const auto reply = respond(frame, port, (data[0] & 4) != 0 ? std::uint16_t{100} : std::uint16_t{0});
    if (reply.empty()) return 0;
    require(reply.size() >= 60 && reply.size() <= max_frame_bytes, "a frame's length");
    require(std::equal(own_mac.bytes.begin(), own_mac.bytes.end(), reply.begin() + 6), "from the port");
    const Parsed parsed = parse(std::span(reply).first(std::min(reply.size(), parse_view_bytes)),
                                static_cast<std::uint32_t>(reply.size()), {{}, true});
    if (parsed.kind == FrameKind::ipv4 || parsed.kind == FrameKind::ipv6)
        check_ip(reply, parsed);
    else
        require(parsed.drop == DropReason::not_ip || parsed.drop == DropReason::multicast,
                "ARP or to all nodes");
    return 0;
}
