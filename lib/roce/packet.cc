#include "lib/roce/packet.hh"

#include <algorithm>
#include <cstring>

#include "lib/frame/checksum.hh"
#include "lib/frame/headers.hh"
#include "lib/roce/icrc.hh"
#include "lib/values/invariant.hh"
#include "lib/values/rng.hh"

namespace sluice::roce {
namespace {

constexpr std::uint16_t default_partition_key = 0xFFFF;
constexpr std::uint16_t do_not_fragment = 0x4000;
constexpr std::uint32_t cnp_reserved_bytes = 16;
constexpr std::uint8_t becn_bit = 0x40;
constexpr std::uint8_t ack_request_bit = 0x80;
constexpr std::uint32_t transport_header_bytes = sizeof(UdpHeader) + sizeof(Bth);

void store_24(std::uint8_t* at, std::uint32_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 16);
    at[1] = static_cast<std::uint8_t>(value >> 8);
    at[2] = static_cast<std::uint8_t>(value);
}

std::uint32_t load_24(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 16 | std::uint32_t{at[1]} << 8 | at[2];
}

const Operation& operation_of(Opcode opcode) { return *find_operation(static_cast<std::uint8_t>(opcode)); }

// Between BTH and pad.
std::uint32_t extensions_of(Opcode opcode) {
    return opcode == Opcode::cnp ? cnp_reserved_bytes : extension_bytes(Transport::rc, operation_of(opcode));
}

std::uint32_t pad_of(std::uint32_t payload_bytes) { return (0U - payload_bytes) % 4; }

std::uint32_t behind_bth(const Outgoing& packet) {
    return extensions_of(packet.opcode) + packet.payload_bytes + pad_of(packet.payload_bytes) + icrc_bytes;
}

template <class Header>
Header& header_at(std::uint8_t* at) {
    return *reinterpret_cast<Header*>(at);
}
template <class Header>
const Header& header_at(const std::uint8_t* at) {
    return *reinterpret_cast<const Header*>(at);
}

}  // namespace

PacketWriter::PacketWriter(const Route& route, std::uint32_t destination_qp)
    : network_(static_cast<std::uint8_t>(sizeof(EthernetHeader) + (route.vlan_tci ? sizeof(VlanTag) : 0))),
      transport_(static_cast<std::uint8_t>(
          network_ + (route.destination.is_v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)))),
      stream_(payload_stream(route.destination, destination_qp)) {
    auto& ethernet = header_at<EthernetHeader>(headers_.data());
    ethernet.destination = route.destination_mac;
    ethernet.source = route.source_mac;
    const std::uint16_t type = route.destination.is_v6 ? ether_type::ipv6 : ether_type::ipv4;
    ethernet.type.set(route.vlan_tci ? ether_type::vlan : type);
    if (route.vlan_tci) {
        auto& tag = header_at<VlanTag>(&headers_[sizeof ethernet]);
        tag.tci.set(*route.vlan_tci);
        tag.type.set(type);
    }
    const auto traffic_class = static_cast<std::uint8_t>(route.dscp << 2U | static_cast<unsigned>(route.ecn));
    if (route.destination.is_v6) {
        auto& ip = header_at<Ipv6Header>(&headers_[network_]);
        ip.version_class_flow.set(6U << 28 | std::uint32_t{traffic_class} << 20);
        ip.next_header = ip_protocol::udp;
        ip.hop_limit = route.hop_limit;
        ip.source = route.source.bytes;
        ip.destination = route.destination.bytes;
    } else {
        auto& ip = header_at<Ipv4Header>(&headers_[network_]);
        ip.version_ihl = 0x45;
        ip.tos = traffic_class;
        ip.fragment.set(do_not_fragment);
        ip.ttl = route.hop_limit;
        ip.protocol = ip_protocol::udp;
        std::copy_n(route.source.bytes.begin(), 4, ip.source.bytes.begin());
        std::copy_n(route.destination.bytes.begin(), 4, ip.destination.bytes.begin());
        checksum_base_ =
            static_cast<std::uint16_t>(~internet_checksum({&headers_[network_], sizeof(Ipv4Header)}));
    }
    auto& udp = header_at<UdpHeader>(&headers_[transport_]);
    constexpr std::uint64_t dynamic_ports = 0xC000;  // RFC 6335: 49152 and above
    const std::uint64_t own = route.port_of_qp ? scramble(stream_.seed) % 0x4000 : 0;
    udp.source_port.set(static_cast<std::uint16_t>(dynamic_ports | own));
    udp.destination_port.set(roce_udp_port);
    auto& bth = header_at<Bth>(&headers_[transport_ + sizeof udp]);
    bth.partition_key.set(default_partition_key);
    bth.destination.set(destination_qp & psn_mask);
}

std::uint32_t PacketWriter::frame_bytes(const Outgoing& packet) const {
    return transport_ + transport_header_bytes + behind_bth(packet);
}

std::uint8_t* PacketWriter::write_headers(const Outgoing& packet, std::uint8_t* out) {
    const std::uint32_t udp_bytes = frame_bytes(packet) - transport_;
    // In two pieces of a constant size, which overlap.
    constexpr std::size_t piece = sizeof(EthernetHeader) + sizeof(Ipv4Header) + transport_header_bytes;
    const std::size_t second = transport_ + transport_header_bytes - piece;
    std::memcpy(out, headers_.data(), piece);
    std::memcpy(out + second, &headers_[second], piece);
    if (transport_ - network_ == sizeof(Ipv4Header)) {
        auto& ip = header_at<Ipv4Header>(&out[network_]);
        const auto length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
        const std::uint16_t identification = next_identification_++;
        ip.total_length.set(length);
        ip.identification.set(identification);
        std::uint32_t sum = checksum_base_ + length + identification;
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
        ip.checksum.set(static_cast<std::uint16_t>(~sum));
    } else {
        header_at<Ipv6Header>(&out[network_]).payload_length.set(static_cast<std::uint16_t>(udp_bytes));
    }
    header_at<UdpHeader>(&out[transport_]).length.set(static_cast<std::uint16_t>(udp_bytes));

    auto& bth = header_at<Bth>(&out[transport_ + sizeof(UdpHeader)]);
    bth.opcode = static_cast<std::uint8_t>(packet.opcode);
    bth.flags = static_cast<std::uint8_t>(pad_of(packet.payload_bytes) << 4);
    bth.ack_request = packet.ack_request ? ack_request_bit : std::uint8_t{0};
    store_24(bth.psn.data(), packet.psn);

    std::uint8_t* at = &out[transport_ + transport_header_bytes];
    if (packet.opcode == Opcode::cnp) {
        bth.destination.bytes[0] = becn_bit;
        std::memset(at, 0, cnp_reserved_bytes);
        return at + cnp_reserved_bytes;
    }
    const Operation& operation = operation_of(packet.opcode);
    SLUICE_INVARIANT(operation.payload || packet.payload_bytes == 0);
    if (operation.reth) {
        store_be<std::uint64_t>(at, packet.reth.address);
        store_be<std::uint32_t>(at + 8, packet.reth.key);
        store_be<std::uint32_t>(at + 12, packet.reth.length);
        at += 16;
    }
    if (operation.aeth) {
        at[0] = packet.aeth.syndrome;
        store_24(at + 1, packet.aeth.msn);
        at += 4;
    }
    return at;
}

std::uint32_t PacketWriter::write(const Outgoing& packet, std::span<std::uint8_t> out) {
    const std::uint32_t frame = frame_bytes(packet);
    if (out.size() < frame) return 0;
    std::uint8_t* at = write_headers(packet, out.data());
    fill_payload({at, packet.payload_bytes}, stream_, packet.offset);
    at += packet.payload_bytes;
    const std::uint32_t pad = pad_of(packet.payload_bytes);
    std::memset(at, 0, pad);
    at += pad;
    const auto covered = out.subspan(network_, frame - network_ - icrc_bytes);
    store_icrc(at, icrc(covered, std::size_t{transport_} - network_));
    return frame;
}

FrameTail PacketWriter::write_head(const Outgoing& packet, std::span<std::uint8_t> head) {
    std::uint8_t* payload = write_headers(packet, head.data());
    const auto first = static_cast<std::size_t>(head.data() + head.size() - payload);
    SLUICE_INVARIANT(first < packet.payload_bytes);
    fill_payload({payload, first}, stream_, packet.offset);
    return {stream_, packet.offset + first};
}

namespace {

using Refusal = Incoming::Refusal;

// The UDP datagram and its IP header, without Ethernet padding.
struct Datagram {
    std::span<const std::uint8_t> packet;  // from the IP header on, as far as it is there
    std::size_t bytes = 0;                 // of all of it
    std::size_t udp = 0;
};

// `frame`: the first of `frame_bytes` bytes.
Refusal find_datagram(std::span<const std::uint8_t> frame, std::size_t frame_bytes, Incoming& in,
                      Datagram& datagram) {
    std::size_t at = offsetof(EthernetHeader, type);
    std::uint16_t type = 0;
    for (unsigned tags = 0;; ++tags, at += sizeof(VlanTag)) {
        if (frame.size() < at + 2) return Refusal::cut;
        type = load_be<std::uint16_t>(&frame[at]);
        if (!is_vlan_tag(type) || tags == max_vlan_tags) break;
    }
    const auto packet = frame.subspan(at + 2);
    std::size_t end = 0;
    if (type == ether_type::ipv4) {
        if (packet.size() < sizeof(Ipv4Header)) return Refusal::cut;
        const auto& ip = header_at<Ipv4Header>(packet.data());
        datagram.udp = std::size_t{ip.version_ihl & 0xFU} * 4;
        end = ip.total_length.get();
        if (ip.version_ihl >> 4 != 4 || datagram.udp < sizeof ip) return Refusal::not_roce;
        if (packet.size() < datagram.udp || end < datagram.udp) return Refusal::cut;
        if (internet_checksum(packet.first(datagram.udp)) != 0) return Refusal::header_checksum;
        constexpr std::uint16_t more_or_offset = 0x3FFF;
        if (ip.protocol != ip_protocol::udp || (ip.fragment.get() & more_or_offset) != 0)
            return Refusal::not_roce;
        in.ecn = static_cast<Ecn>(ip.tos & 3U);
        in.dscp = ip.tos >> 2;
        std::ranges::copy(ip.source.bytes, in.source.bytes.begin());
        std::ranges::copy(ip.destination.bytes, in.destination.bytes.begin());
    } else if (type == ether_type::ipv6) {
        if (packet.size() < sizeof(Ipv6Header)) return Refusal::cut;
        const auto& ip = header_at<Ipv6Header>(packet.data());
        const std::uint32_t first_word = ip.version_class_flow.get();
        datagram.udp = sizeof ip;
        end = sizeof ip + ip.payload_length.get();
        if (first_word >> 28 != 6 || ip.next_header != ip_protocol::udp) return Refusal::not_roce;
        in.ecn = static_cast<Ecn>(first_word >> 20 & 3U);
        in.dscp = static_cast<std::uint8_t>(first_word >> 22 & 0x3FU);
        in.source = {ip.source, true};
        in.destination = {ip.destination, true};
    } else {
        return Refusal::not_roce;
    }
    if (end > frame_bytes - (at + 2) || end < datagram.udp + sizeof(UdpHeader)) return Refusal::cut;
    datagram.packet = packet.first(std::min(end, packet.size()));
    datagram.bytes = end;
    const auto& udp = header_at<UdpHeader>(&packet[datagram.udp]);
    if (udp.destination_port.get() != roce_udp_port) return Refusal::not_roce;
    in.source_port = udp.source_port.get();
    // An IP length beyond the UDP length would cover less by the ICRC than the sender meant.
    if (udp.length.get() != end - datagram.udp) {
        const bool has_bth = datagram.packet.size() >= datagram.udp + transport_header_bytes;
        return udp.length.get() > end - datagram.udp && has_bth ? Refusal::trimmed : Refusal::cut;
    }
    return end < datagram.udp + transport_header_bytes + icrc_bytes ? Refusal::cut : Refusal::none;
}

bool is_understood(std::uint8_t opcode) {
    if (opcode == static_cast<std::uint8_t>(Opcode::cnp)) return true;
    const Operation* operation =
        opcode >> 5 == static_cast<unsigned>(Transport::rc) ? find_operation(opcode) : nullptr;
    return operation != nullptr && !operation->immediate && operation->atomic == 0;
}

constexpr std::uint8_t version_bits = 0x0F;

void read_bth(const Bth& bth, Incoming& in) {
    in.opcode = static_cast<Opcode>(bth.opcode);
    in.ack_request = (bth.ack_request & ack_request_bit) != 0;
    in.becn = (bth.destination.bytes[0] & becn_bit) != 0;
    in.qp = bth.destination_qp();
    in.psn = load_24(bth.psn.data());
}

// Reads the BTH of a packet whose payload a switch has cut off.
Refusal read_trimmed(const Datagram& datagram, Incoming& in) {
    const auto& bth = header_at<Bth>(&datagram.packet[datagram.udp + sizeof(UdpHeader)]);
    if (!is_understood(bth.opcode)) return Refusal::opcode;
    read_bth(bth, in);
    const bool has_payload = in.opcode != Opcode::cnp && operation_of(in.opcode).payload;
    return has_payload && (bth.flags & version_bits) == 0 ? Refusal::trimmed : Refusal::cut;
}

// Finds the datagram of a whole packet, or reads a trimmed one.
Refusal find_packet(std::span<const std::uint8_t> frame, std::size_t frame_bytes, Incoming& in,
                    Datagram& datagram) {
    const Refusal refusal = find_datagram(frame, frame_bytes, in, datagram);
    return refusal == Refusal::trimmed ? read_trimmed(datagram, in) : refusal;
}

// `rest`: the first of `rest_bytes` between BTH and ICRC.
Refusal read_transport(const Bth& bth, std::span<const std::uint8_t> rest, std::size_t rest_bytes,
                       Incoming& in) {
    if (!is_understood(bth.opcode)) return Refusal::opcode;
    read_bth(bth, in);
    const std::size_t pad = bth.flags >> 4 & 3U;
    const std::size_t extensions = extensions_of(in.opcode);
    if ((bth.flags & version_bits) != 0 || rest_bytes % 4 != 0 || rest_bytes < extensions + pad)
        return Refusal::malformed;
    const std::uint8_t* at = rest.data();
    const std::size_t payload = rest_bytes - extensions - pad;
    in.payload = rest.subspan(extensions, std::min(payload, rest.size() - extensions));
    in.payload_behind = static_cast<std::uint32_t>(payload - in.payload.size());
    if (in.opcode == Opcode::cnp) return in.payload.empty() ? Refusal::none : Refusal::malformed;
    const Operation& operation = operation_of(in.opcode);
    if (!operation.payload && !in.payload.empty()) return Refusal::malformed;
    if (operation.reth)
        in.reth = {load_be<std::uint64_t>(at), load_be<std::uint32_t>(at + 8),
                   load_be<std::uint32_t>(at + 12)};
    if (operation.aeth) in.aeth = {at[0], load_24(at + 1)};
    return Refusal::none;
}

}  // namespace

Incoming read_packet(std::span<const std::uint8_t> frame) {
    Incoming in;
    Datagram datagram;
    in.refusal = find_packet(frame, frame.size(), in, datagram);
    if (in.refusal != Refusal::none) return in;
    const auto covered = datagram.packet.first(datagram.bytes - icrc_bytes);
    if (icrc(covered, datagram.udp) != load_icrc(covered.data() + covered.size())) {
        in.refusal = Refusal::icrc;
        return in;
    }
    const auto& bth = header_at<Bth>(&covered[datagram.udp + sizeof(UdpHeader)]);
    const auto rest = covered.subspan(datagram.udp + transport_header_bytes);
    in.refusal = read_transport(bth, rest, rest.size(), in);
    return in;
}

Incoming read_packet(const DescribedFrame& frame) {
    constexpr std::size_t min_extensions = 16 + 4;
    Incoming in;
    Datagram datagram;
    in.refusal = find_packet(frame.head, frame.frame_bytes, in, datagram);
    if (in.refusal != Refusal::none) return in;
    const std::size_t rest_at = datagram.udp + transport_header_bytes;
    if (datagram.packet.size() < rest_at + min_extensions) {
        in.refusal = Refusal::cut;
        return in;
    }
    const auto& bth = header_at<Bth>(&datagram.packet[datagram.udp + sizeof(UdpHeader)]);
    in.tail = frame.tail;
    in.refusal =
        read_transport(bth, datagram.packet.subspan(rest_at), datagram.bytes - icrc_bytes - rest_at, in);
    return in;
}

void write_tail(std::span<std::uint8_t> frame, std::size_t head, const FrameTail& tail) {
    Incoming in;
    Datagram datagram;
    [[maybe_unused]] const Refusal refusal = find_datagram(frame.first(head), frame.size(), in, datagram);
    SLUICE_INVARIANT(refusal == Refusal::none);
    const auto network = static_cast<std::size_t>(datagram.packet.data() - frame.data());
    const auto& bth = header_at<Bth>(&frame[network + datagram.udp + sizeof(UdpHeader)]);
    const std::size_t pad = bth.flags >> 4 & 3U;
    const std::size_t icrc_at = frame.size() - icrc_bytes;
    fill_payload(frame.subspan(head, icrc_at - pad - head), tail.stream, tail.offset);
    std::memset(&frame[icrc_at - pad], 0, pad);
    store_icrc(&frame[icrc_at], icrc(frame.subspan(network, icrc_at - network), datagram.udp));
}

std::uint32_t guess_destination_qp(std::span<const std::uint8_t> frame) {
    constexpr std::size_t type = offsetof(EthernetHeader, type);
    if (frame.size() < sizeof(EthernetHeader)) return 0;
    const bool is_v6 = load_be<std::uint16_t>(&frame[type]) == ether_type::ipv6;
    const std::size_t bth =
        sizeof(EthernetHeader) + (is_v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)) + sizeof(UdpHeader);
    return frame.size() < bth + sizeof(Bth) ? 0 : header_at<Bth>(&frame[bth]).destination_qp();
}

}  // namespace sluice::roce
