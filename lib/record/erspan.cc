#include "lib/record/erspan.hh"

#include <bit>

#include "lib/frame/ip_header.hh"

namespace sluice {
namespace {

constexpr std::uint16_t type_2 = 0x88BE, type_3 = 0x22EB;  // GRE protocols

struct GreHeader {
    Be16 flags;
    Be16 protocol;
    Be32 sequence;
};
static_assert(sizeof(GreHeader) == gre_header_bytes);

// With the subheader of platform 5.
struct ErspanHeader {
    Be16 version_vlan;   // version 4 bits; VLAN 12
    Be16 class_session;  // COS 3 bits, integrity 2, truncated 1; session 10
    Be32 nanoseconds;
    Be16 tag;
    Be16 flags;     // Ethernet 1 bit, frame type 5, hardware 6, direction 1, granularity 2, subheader 1
    Be32 platform;  // platform 6 bits, switch 10; port 16
    Be32 seconds;
};
static_assert(sizeof(ErspanHeader) == erspan_header_bytes);

}  // namespace

std::uint16_t erspan_tag(const MirrorHead& head) {
    constexpr unsigned no_queue = 0xF;
    const unsigned queue = head.event != MirrorEvent::pause && head.egress != no_port ? head.queue : no_queue;
    return static_cast<std::uint16_t>((static_cast<unsigned>(head.event) + 1) << 12 | queue << 8 |
                                      static_cast<unsigned>(head.reason));
}

std::vector<std::uint8_t> erspan_frame(const MirrorHead& head, std::span<const std::uint8_t> bytes,
                                       std::uint64_t stamp_ns, const ErspanPath& path) {
    constexpr std::uint16_t dont_fragment = 0x4000;
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    constexpr unsigned has_sequence = 1U << 12;
    constexpr unsigned version_3 = 2, is_ethernet = 1U << 15, ieee_1588 = 2U << 1, has_subheader = 1;
    constexpr std::uint32_t port_and_seconds = 5U << 26;
    const unsigned traffic_class =
        head.of_classes == 0 ? 0U : static_cast<unsigned>(std::countr_zero(head.of_classes));
    const bool truncated = head.frame_bytes > bytes.size();

    std::vector<std::uint8_t> frame;
    frame.reserve(path.link.size() + erspan_packet_bytes(path.to.is_v6) + bytes.size());
    frame.assign(path.link.begin(), path.link.end());
    store_be<std::uint16_t>(&frame[frame.size() - 2], path.to.is_v6 ? ether_type::ipv6 : ether_type::ipv4);
    append_ip_header(
        frame,
        {path.from, path.to, static_cast<std::uint8_t>(path.dscp << 2U), ip_protocol::gre, dont_fragment},
        gre_header_bytes + erspan_header_bytes + bytes.size());
    GreHeader gre;
    gre.flags.set(has_sequence);
    gre.protocol.set(type_3);
    gre.sequence.set(path.sequence);
    append_header(frame, gre);
    ErspanHeader header;
    header.version_vlan.set(version_3 << 12);
    header.class_session.set(
        static_cast<std::uint16_t>(traffic_class << 13 | (truncated ? 1U : 0U) << 10 | path.session));
    header.nanoseconds.set(static_cast<std::uint32_t>(stamp_ns % ns_per_s));
    header.tag.set(erspan_tag(head));
    header.flags.set(static_cast<std::uint16_t>(is_ethernet | (head.is_inbound() ? 0U : 1U) << 3 | ieee_1588 |
                                                has_subheader));
    header.platform.set(port_and_seconds | head.shown_at());
    header.seconds.set(static_cast<std::uint32_t>(stamp_ns / ns_per_s));
    append_header(frame, header);
    frame.insert(frame.end(), bytes.begin(), bytes.end());
    return frame;
}

bool is_erspan(std::span<const std::uint8_t> bytes) {
    const auto layers = frame_layers(bytes);
    if (!layers || (layers->type != ether_type::ipv4 && layers->type != ether_type::ipv6)) return false;
    const bool v6 = layers->type == ether_type::ipv6;
    const auto packet = bytes.subspan(layers->l3_offset);
    if (packet.size() < (v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header))) return false;
    const std::uint8_t protocol =
        packet[v6 ? offsetof(Ipv6Header, next_header) : offsetof(Ipv4Header, protocol)];
    const std::size_t gre = v6 ? sizeof(Ipv6Header) : std::size_t{packet[0] & 0xFU} * 4;
    if (protocol != ip_protocol::gre || packet.size() < gre + 4) return false;
    const auto carried = load_be<std::uint16_t>(packet.data() + gre + 2);
    return carried == type_2 || carried == type_3;
}

}  // namespace sluice
