#include "lib/roce/wire_frame.hh"

#include <algorithm>
#include <cstddef>

#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/roce/opcode.hh"
#include "lib/roce/packet.hh"

namespace sluice::roce {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t aeth_bytes = 4;

std::uint16_t bounded(std::size_t offset, std::uint32_t frame_bytes) {
    return static_cast<std::uint16_t>(std::min<std::size_t>(offset, frame_bytes));
}

// Extension headers of the opcode, in front of payload or ICRC.
std::uint32_t headers_behind_bth(std::uint8_t opcode) {
    if (opcode == cnp_opcode) return 0;
    const Operation* operation = find_operation(opcode);
    const bool ud = opcode >> 5 == static_cast<unsigned>(Transport::ud);
    if (operation == nullptr) return 0;
    return extension_bytes(ud ? Transport::ud : Transport::rc, *operation);
}

void read_roce(Bytes view, std::size_t udp, std::size_t ip_end, WireFrame& out) {
    const std::size_t bth_offset = udp + sizeof(UdpHeader);
    if (bth_offset + sizeof(Bth) > std::min(view.size(), ip_end)) return;
    if (load_be<std::uint16_t>(view.data() + udp + offsetof(UdpHeader, destination_port)) != roce_udp_port)
        return;
    const auto& bth = *reinterpret_cast<const Bth*>(view.data() + bth_offset);
    const std::uint8_t* psn = bth.psn.data();
    out.facts.roce = true;
    out.facts.opcode = bth.opcode;
    out.facts.qp = bth.destination_qp();
    out.facts.psn = std::uint32_t{psn[0]} << 16 | std::uint32_t{psn[1]} << 8 | psn[2];
    out.parsed.roce = true;
    out.parsed.opcode = bth.opcode;
    out.parsed.cnp = bth.opcode == cnp_opcode;
    const std::size_t behind = bth_offset + sizeof(Bth);
    if (bth.opcode == static_cast<std::uint8_t>(Opcode::acknowledge) &&
        behind + aeth_bytes <= std::min(view.size(), ip_end))
        out.syndrome = view[behind];
    const std::size_t payload = behind + headers_behind_bth(bth.opcode);
    out.payload_offset = static_cast<std::uint16_t>(payload < ip_end ? payload : behind);
}

void read_ipv4(Bytes view, std::uint32_t frame_bytes, WireFrame& out) {
    const std::size_t l3 = out.parsed.l3_offset;
    if (l3 + sizeof(Ipv4Header) > view.size()) return;
    const auto& ip = *reinterpret_cast<const Ipv4Header*>(view.data() + l3);
    const std::size_t header = std::size_t{ip.version_ihl & 0xFU} * 4;
    const std::size_t end = l3 + ip.total_length.get();
    if (ip.version_ihl >> 4 != 4 || header < sizeof(Ipv4Header) || l3 + header > view.size() ||
        end < l3 + header || end > frame_bytes)
        return;
    out.ip_header_bytes = static_cast<std::uint8_t>(header);
    out.parsed.tos = ip.tos;
    out.parsed.protocol = ip.protocol;
    out.is_fragment = (ip.fragment.get() & 0x3FFFU) != 0;
    out.payload_offset = bounded(l3 + header, frame_bytes);
    out.payload_end = bounded(end, frame_bytes);
    if (!out.is_fragment && ip.protocol == ip_protocol::udp) read_roce(view, l3 + header, end, out);
}

void read_ipv6(Bytes view, std::uint32_t frame_bytes, WireFrame& out) {
    const std::size_t l3 = out.parsed.l3_offset;
    if (l3 + sizeof(Ipv6Header) > view.size()) return;
    const auto& ip = *reinterpret_cast<const Ipv6Header*>(view.data() + l3);
    const std::size_t end = l3 + sizeof(Ipv6Header) + ip.payload_length.get();
    if (ip.version_class_flow.get() >> 28 != 6 || end > frame_bytes) return;
    out.ip_header_bytes = sizeof(Ipv6Header);
    out.parsed.tos = static_cast<std::uint8_t>(ip.version_class_flow.get() >> 20);
    out.parsed.protocol = ip.next_header;
    out.is_fragment = ip.next_header == ip_protocol::fragment;
    out.payload_offset = bounded(l3 + sizeof(Ipv6Header), frame_bytes);
    out.payload_end = bounded(end, frame_bytes);
    if (ip.next_header == ip_protocol::udp) read_roce(view, l3 + sizeof(Ipv6Header), end, out);
}

}  // namespace

WireFrame read_wire_frame(Bytes view, std::uint32_t frame_bytes) {
    WireFrame out;
    const auto layers = frame_layers(view);
    if (!layers) {  // unknown, and never changed
        const bool is_short = view.size() < link_header_bytes;
        out.parsed.drop = is_short ? DropReason::frame_too_short : DropReason::too_many_tags;
        return out;
    }
    out.parsed.l3_offset = static_cast<std::uint8_t>(layers->l3_offset);
    out.parsed.tags =
        static_cast<std::uint8_t>((layers->l3_offset - sizeof(EthernetHeader)) / sizeof(VlanTag));
    if (out.parsed.tags != 0) out.parsed.pcp = view[sizeof(EthernetHeader)] >> 5;
    out.payload_offset = bounded(layers->l3_offset, frame_bytes);
    out.payload_end = bounded(frame_bytes, frame_bytes);
    if (layers->type == ether_type::mac_control) out.parsed.kind = sluice::FrameKind::mac_control;
    if (layers->type == ether_type::ipv4) read_ipv4(view, frame_bytes, out);
    if (layers->type == ether_type::ipv6) read_ipv6(view, frame_bytes, out);
    if (out.ip_header_bytes == 0) return out;
    out.parsed.kind = layers->type == ether_type::ipv4 ? sluice::FrameKind::ipv4 : sluice::FrameKind::ipv6;
    out.facts.ip = true;
    out.facts.dscp = out.parsed.dscp();
    return out;
}

bool corrupt_payload(std::span<std::uint8_t> frame, const WireFrame& read, std::uint64_t random) {
    return corrupt_bit(frame.first(std::min<std::size_t>(read.payload_end, frame.size())), random,
                       read.payload_offset);
}

std::uint32_t write_cnp(Bytes view, const WireFrame& frame, std::uint32_t sender_qp, std::uint8_t dscp,
                        std::span<std::uint8_t> out) {
    if (!frame.facts.roce || frame.parsed.tags > 1) return 0;
    const auto& ethernet = *reinterpret_cast<const EthernetHeader*>(view.data());
    const bool v6 = frame.parsed.kind == sluice::FrameKind::ipv6;
    const std::uint8_t* l3 = view.data() + frame.parsed.l3_offset;
    const Route route{
        .source_mac = ethernet.destination,
        .destination_mac = ethernet.source,
        .vlan_tci = frame.parsed.tags == 1
                        ? std::optional(load_be<std::uint16_t>(view.data() + sizeof(EthernetHeader)))
                        : std::nullopt,
        .source = destination_of(v6, l3),
        .destination = source_of(v6, l3),
        .dscp = dscp,
        .ecn = Ecn::not_ect};
    Outgoing packet;
    packet.opcode = Opcode::cnp;
    return PacketWriter(route, sender_qp).write(packet, out);
}

}  // namespace sluice::roce
