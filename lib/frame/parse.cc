#include "lib/frame/parse.hh"

#include "lib/frame/checksum.hh"
#include "lib/frame/ip_address.hh"
#include "lib/frame/parse_usual.hh"

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;

template <class Header>
const Header& header_at(Bytes view, std::size_t offset) {
    return *reinterpret_cast<const Header*>(view.data() + offset);
}

// Transport header at `offset`; the packet ends at `end`, which may lie beyond the view. Here and below: why
// the packet is dropped, or `none`.
[[gnu::always_inline]] inline DropReason parse_transport(Bytes view, std::size_t offset, std::size_t end,
                                                         Parsed& out) {
    // Every fragment of a packet takes one path, and only the first has ports.
    if (!out.fragment) out.flow = {0, 0, out.protocol};
    if (out.protocol != ip_protocol::udp && out.protocol != ip_protocol::tcp) return DropReason::none;
    if (offset + 4 > end) return DropReason::none;
    if (offset + 4 > view.size()) return DropReason::headers_too_long;
    const std::uint32_t ports = load_be<std::uint32_t>(view.data() + offset);
    if (!out.fragment) out.flow = {ports, 0, out.protocol};
    if (out.protocol != ip_protocol::udp || (ports & 0xFFFF) != roce_udp_port) return DropReason::none;
    const std::size_t bth_offset = offset + sizeof(UdpHeader);
    if (bth_offset + sizeof(Bth) > end) return DropReason::none;  // too short for RoCE: plain UDP
    if (bth_offset + sizeof(Bth) > view.size()) return DropReason::headers_too_long;
    const auto& bth = header_at<Bth>(view, bth_offset);
    out.roce = true;
    out.opcode = bth.opcode;
    out.cnp = bth.opcode == cnp_opcode;
    if (!out.fragment) out.flow = {ports, bth.destination_qp(), out.protocol};
    return DropReason::none;
}

inline DropReason parse_ipv4(Bytes view, std::size_t frame_bytes, Parsed& out) {
    const std::size_t offset = out.l3_offset;
    if (offset + sizeof(Ipv4Header) > frame_bytes) return DropReason::ip_bad_length;
    const auto& ip = header_at<Ipv4Header>(view, offset);
    const std::size_t header_bytes = std::size_t{ip.version_ihl & 0xFU} * 4;
    const std::size_t total = ip.total_length.get();
    if (ip.version_ihl >> 4 != 4) return DropReason::ip_bad_version;
    if (header_bytes < sizeof(Ipv4Header) || offset + header_bytes > frame_bytes)
        return DropReason::ip_bad_header_length;
    if (total < header_bytes || offset + total > frame_bytes) return DropReason::ip_bad_length;
    const auto* header = view.data() + offset;
    const bool sum_is_right = header_bytes == sizeof(Ipv4Header)
                                  ? checksum_is_right_20(header)
                                  : internet_checksum({header, header_bytes}) == 0;
    if (!sum_is_right) return DropReason::ip_bad_checksum;

    out.kind = FrameKind::ipv4;
    out.ip_bytes = static_cast<std::uint16_t>(total);
    out.tos = ip.tos;
    out.protocol = ip.protocol;
    const std::uint16_t fragment = ip.fragment.get();
    out.fragment = (fragment & 0x3FFF) != 0;  // more fragments, or an offset

    const DropReason martian = judge_ipv4(ip.source.get(), ip.destination.get());
    if (martian != DropReason::none) return martian;
    if (ip.ttl <= 1) return DropReason::ttl_expired;
    if ((fragment & 0x1FFF) != 0) return DropReason::none;
    return parse_transport(view, offset + header_bytes, offset + total, out);
}

// Walks the extension headers (RFC 8200 4, RFC 4302) to the transport header.
DropReason parse_ipv6_chain(Bytes view, std::uint8_t next, std::size_t offset, std::size_t end, Parsed& out) {
    while (true) {
        out.protocol = next;
        std::size_t bytes = 8;
        switch (next) {
            case ip_protocol::hop_by_hop:
            case ip_protocol::routing:
            case ip_protocol::destination_options:
            case ip_protocol::authentication:
            case ip_protocol::fragment:
                break;
            default:
                return parse_transport(view, offset, end, out);
        }
        if (offset + 8 > end) return DropReason::ipv6_bad_extension;
        if (offset + 8 > view.size()) return DropReason::headers_too_long;
        const std::uint8_t* header = view.data() + offset;
        if (next == ip_protocol::fragment) {
            const std::uint16_t field = load_be<std::uint16_t>(header + 2);
            out.fragment |= (field & 0xFFF9) != 0;
            if ((field & 0xFFF8) != 0) {  // not the first: the rest is payload
                out.protocol = header[0];
                return DropReason::none;
            }
        } else if (next == ip_protocol::authentication) {
            bytes = (std::size_t{header[1]} + 2) * 4;
        } else {
            bytes = (std::size_t{header[1]} + 1) * 8;
        }
        next = header[0];
        offset += bytes;
        if (offset > end) return DropReason::ipv6_bad_extension;
    }
}

DropReason parse_ipv6(Bytes view, std::size_t frame_bytes, Parsed& out) {
    const std::size_t offset = out.l3_offset;
    if (offset + sizeof(Ipv6Header) > frame_bytes) return DropReason::ip_bad_length;
    const auto& ip = header_at<Ipv6Header>(view, offset);
    const std::uint32_t word = ip.version_class_flow.get();
    const std::size_t total = sizeof(Ipv6Header) + ip.payload_length.get();
    if (word >> 28 != 6) return DropReason::ip_bad_version;
    if (offset + total > frame_bytes) return DropReason::ip_bad_length;

    out.kind = FrameKind::ipv6;
    out.ip_bytes = static_cast<std::uint16_t>(total);  // frame_bytes bounds it
    out.tos = static_cast<std::uint8_t>(word >> 20);
    const DropReason bad_chain =
        parse_ipv6_chain(view, ip.next_header, offset + sizeof(Ipv6Header), offset + total, out);
    if (bad_chain != DropReason::none) return bad_chain;
    const DropReason martian = judge_ipv6(ip.source, ip.destination);
    return martian == DropReason::none && ip.hop_limit <= 1 ? DropReason::ttl_expired : martian;
}

DropReason parse_ethernet(Bytes view, std::uint32_t frame_bytes, const Station& station, Parsed& out) {
    if (frame_bytes < sizeof(EthernetHeader) || view.size() < sizeof(EthernetHeader))
        return DropReason::frame_too_short;
    if (frame_bytes > max_frame_bytes) return DropReason::frame_too_long;
    const auto& ethernet = header_at<EthernetHeader>(view, 0);
    std::uint16_t type = ethernet.type.get();
    if (type == ether_type::mac_control) {
        out.kind = FrameKind::mac_control;
        return DropReason::none;
    }
    std::size_t offset = sizeof(EthernetHeader);
    while (type != ether_type::ipv4 && is_vlan_tag(type)) {
        if (out.tags == max_vlan_tags) return DropReason::too_many_tags;
        if (offset + sizeof(VlanTag) > frame_bytes) return DropReason::frame_too_short;
        const auto& tag = header_at<VlanTag>(view, offset);
        if (out.tags == 0) out.pcp = static_cast<std::uint8_t>(tag.tci.get() >> 13);
        type = tag.type.get();
        offset += sizeof(VlanTag);
        ++out.tags;
    }
    out.l3_offset = static_cast<std::uint8_t>(offset);

    if (type != ether_type::ipv4 && type != ether_type::ipv6) return DropReason::not_ip;
    if (ethernet.destination.is_group()) return DropReason::multicast;
    if (ethernet.source.is_group()) return DropReason::group_source;
    if (!station.promiscuous && ethernet.destination != station.mac) return DropReason::not_for_us;
    return type == ether_type::ipv4 ? parse_ipv4(view, frame_bytes, out) : parse_ipv6(view, frame_bytes, out);
}

}  // namespace

Parsed parse_any(Bytes view, std::uint32_t frame_bytes, const Station& station) {
    Parsed out;
    out.drop = parse_ethernet(view, frame_bytes, station, out);
    return out;
}

Parsed parse(Bytes view, std::uint32_t frame_bytes, const Station& station) {
    Parsed out;
    const auto is_usual = [&]<unsigned tags>(const UsualFrames<tags>& usual) {
        return parse_usual(view.data(), static_cast<std::uint32_t>(view.size()), frame_bytes, usual, out) !=
               not_usual;
    };
    return is_usual(UsualFrames<0>(station)) || is_usual(UsualFrames<1>(station))
               ? out
               : parse_any(view, frame_bytes, station);
}

}  // namespace sluice
