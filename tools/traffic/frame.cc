#include "tools/traffic/frame.hh"

#include <algorithm>
#include <cstring>

#include "lib/values/endian.hh"
#include "tools/traffic/icrc.hh"

namespace sluice::traffic {
namespace {

constexpr std::uint16_t default_partition_key = 0xFFFF;
constexpr std::uint16_t dont_fragment = 0x4000;
constexpr std::uint32_t cnp_reserved_bytes = 16;
constexpr std::uint32_t tcp_header_bytes = 20;
constexpr std::uint32_t read_request_bytes = 4096;  // the bytes of a READ request
constexpr std::uint64_t remote_address = 0x0000'7F00'0000'0000;
constexpr std::uint32_t some_key = 0x0000'1234;

// The ones' complement sum of big-endian words, not folded.
std::uint64_t sum_words(std::span<const std::uint8_t> bytes) {
    std::uint64_t sum = 0;
    std::size_t i = 0;
    for (; i + 1 < bytes.size(); i += 2) sum += load_be<std::uint16_t>(&bytes[i]);
    if (i < bytes.size()) sum += static_cast<std::uint64_t>(bytes[i]) << 8;
    return sum;
}

std::uint16_t fold(std::uint64_t sum) {
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

void put24(std::uint8_t* at, std::uint32_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 16);
    at[1] = static_cast<std::uint8_t>(value >> 8);
    at[2] = static_cast<std::uint8_t>(value);
}

void fill(std::uint8_t* at, std::size_t count, std::uint64_t pattern) {
    constexpr std::uint64_t step = 0x9E37'79B9'7F4A'7C15;
    for (; count >= 8; count -= 8, at += 8) {
        const std::uint64_t word = (pattern += step) * 0xBF58'476D'1CE4'E5B9;
        std::memcpy(at, &word, 8);
    }
    const std::uint64_t word = (pattern + step) * 0xBF58'476D'1CE4'E5B9;
    std::memcpy(at, &word, count);
}

std::uint32_t ip_header_bytes(const IpFields& ip) {
    return static_cast<std::uint32_t>((ip.source.is_v6 ? sizeof(Ipv6Header) : sizeof(Ipv4Header)) +
                                      ip.extra.size());
}

std::uint32_t headers_to_transport(const LinkFields& link, const IpFields& ip) {
    return static_cast<std::uint32_t>(sizeof(EthernetHeader) + link.tags.size() * sizeof(VlanTag)) +
           ip_header_bytes(ip);
}

// `frame.transport` is where `content` bytes go.
void begin_ip(Frame& frame, const LinkFields& link, const IpFields& ip, std::uint8_t protocol,
              std::size_t content) {
    const bool is_v6 = ip.source.is_v6;
    begin_ethernet(frame, link, is_v6 ? ether_type::ipv6 : ether_type::ipv4);
    std::uint8_t* at = &frame.bytes[frame.network];
    frame.transport = frame.network + ip_header_bytes(ip);
    if (is_v6) {
        store_be<std::uint32_t>(at, 0x6000'0000U | static_cast<std::uint32_t>(ip.tos) << 20);
        store_be<std::uint16_t>(at + 4, static_cast<std::uint16_t>(ip.extra.size() + content));
        at[6] = ip.extra.empty() ? protocol : ip.first_extension;
        at[7] = ip.ttl;
        std::ranges::copy(ip.source.bytes, at + 8);
        std::ranges::copy(ip.destination.bytes, at + 24);
        std::ranges::copy(ip.extra, at + sizeof(Ipv6Header));
        return;
    }
    const std::size_t header = ip_header_bytes(ip);
    at[0] = static_cast<std::uint8_t>(0x40 | header / 4);
    at[1] = ip.tos;
    store_be<std::uint16_t>(at + 2, static_cast<std::uint16_t>(header + content));
    store_be<std::uint16_t>(at + 4, ip.id);
    store_be<std::uint16_t>(at + 6, dont_fragment);
    at[8] = ip.ttl;
    at[9] = protocol;
    std::copy_n(ip.source.bytes.begin(), 4, at + 12);
    std::copy_n(ip.destination.bytes.begin(), 4, at + 16);
    std::ranges::copy(ip.extra, at + sizeof(Ipv4Header));
    set_ipv4_checksum(frame);
}

void put_udp(Frame& frame, std::uint16_t source_port, std::uint16_t destination_port, std::size_t length) {
    std::uint8_t* udp = &frame.bytes[frame.transport];
    store_be<std::uint16_t>(udp, source_port);
    store_be<std::uint16_t>(udp + 2, destination_port);
    store_be<std::uint16_t>(udp + 4, static_cast<std::uint16_t>(length));
    store_be<std::uint16_t>(udp + 6, 0);
}

std::uint16_t transport_checksum(const Frame& frame, const IpFields& ip, std::uint8_t protocol,
                                 std::size_t length) {
    const std::size_t address_bytes = ip.source.is_v6 ? 16 : 4;
    const std::uint64_t sum = sum_words(std::span{ip.source.bytes}.first(address_bytes)) +
                              sum_words(std::span{ip.destination.bytes}.first(address_bytes)) + protocol +
                              length + sum_words(std::span{frame.bytes}.subspan(frame.transport, length));
    return fold(sum);
}

// UDP header, BTH with the given flags, ICRC to come: the part that all RoCEv2 packets share.
std::uint8_t* begin_roce(Frame& frame, const LinkFields& link, const IpFields& ip, const RoceFields& roce,
                         std::uint8_t opcode, std::size_t behind_bth) {
    const std::size_t length = sizeof(UdpHeader) + sizeof(Bth) + behind_bth;
    begin_ip(frame, link, ip, ip_protocol::udp, length);
    put_udp(frame, roce.source_port, roce_udp_port, length);
    std::uint8_t* bth = &frame.bytes[frame.transport + sizeof(UdpHeader)];
    std::memset(bth, 0, sizeof(Bth));
    bth[0] = opcode;
    store_be<std::uint16_t>(bth + 2, default_partition_key);
    put24(bth + 5, roce.qp);
    put24(bth + 9, roce.psn);
    return bth;
}

// The headers between BTH and payload; returns where the payload starts.
std::uint8_t* put_extensions(std::uint8_t* at, const RoceFields& roce, std::uint32_t payload,
                             std::uint64_t pattern) {
    const Operation& operation = *roce.operation;
    if (roce.transport == Transport::ud) {
        store_be<std::uint32_t>(at, 0x8001'0000U);  // well-known Q_Key of the general services QP
        store_be<std::uint32_t>(at + 4, roce.qp);
        at += 8;
    }
    if (operation.reth) {
        store_be<std::uint64_t>(at, remote_address);
        store_be<std::uint32_t>(at + 8, some_key);
        store_be<std::uint32_t>(at + 12,
                                operation.payload ? payload * roce.packets_in_message : read_request_bytes);
        at += 16;
    }
    if (operation.aeth) {
        at[0] = 0x1F;  // acknowledged, no credit limit
        put24(at + 1, roce.message_sequence & 0xFF'FFFFU);
        at += 4;
    }
    if (operation.atomic == 28) {
        store_be<std::uint64_t>(at, remote_address);
        store_be<std::uint32_t>(at + 8, some_key);
        store_be<std::uint64_t>(at + 12, 1);
        store_be<std::uint64_t>(at + 20, 0);
    } else if (operation.atomic == 8) {
        store_be<std::uint64_t>(at, roce.message_sequence);
    }
    at += operation.atomic;
    if (operation.immediate) {
        store_be<std::uint32_t>(at, static_cast<std::uint32_t>(pattern));
        at += 4;
    }
    return at;
}

}  // namespace

void begin_ethernet(Frame& frame, const LinkFields& link, std::uint16_t type) {
    std::uint8_t* at = frame.bytes.data();
    std::ranges::copy(link.destination.bytes, at);
    std::ranges::copy(link.source.bytes, at + 6);
    at += 12;
    for (const Tag& tag : link.tags) {
        store_be<std::uint16_t>(at, tag.type);
        store_be<std::uint16_t>(at + 2, tag.tci);
        at += sizeof(VlanTag);
    }
    store_be<std::uint16_t>(at, type);
    frame.network = static_cast<std::size_t>(at + 2 - frame.bytes.data());
}

void end_ethernet(Frame& frame, std::size_t end) {
    frame.length = std::max<std::size_t>(end, min_recipe_frame_bytes);
    frame.captured = frame.length;
    std::fill(&frame.bytes[end], &frame.bytes[frame.length], 0);
}

void set_ipv4_checksum(Frame& frame) {
    std::uint8_t* at = &frame.bytes[frame.network];
    store_be<std::uint16_t>(at + 10, 0);
    store_be<std::uint16_t>(at + 10, fold(sum_words({at, (at[0] & 0xFU) * 4U})));
}

void build_roce(Frame& frame, const LinkFields& link, const IpFields& ip, const RoceFields& roce,
                const PayloadSpec& spec) {
    const std::uint32_t extensions = extension_bytes(roce.transport, *roce.operation);
    const auto fixed =
        static_cast<std::uint32_t>(headers_to_transport(link, ip) + sizeof(UdpHeader) + sizeof(Bth)) +
        extensions + icrc_bytes;
    std::uint32_t payload = 0;
    if (roce.operation->payload) {
        if (spec.is_payload)
            payload = std::min(spec.bytes, max_recipe_frame_bytes - fixed - 3);
        else if (spec.bytes > fixed)
            payload = (spec.bytes - fixed) & ~3U;
    }
    const std::uint32_t pad = (4 - payload % 4) % 4;
    std::uint8_t* bth = begin_roce(
        frame, link, ip, roce,
        static_cast<std::uint8_t>(static_cast<unsigned>(roce.transport) << 5 | roce.operation->code),
        extensions + payload + pad + icrc_bytes);
    bth[1] = static_cast<std::uint8_t>(pad << 4);
    if (roce.operation->ends_message && roce.transport == Transport::rc)
        bth[8] = 0x80;  // acknowledge request
    std::uint8_t* at = put_extensions(bth + sizeof(Bth), roce, payload, spec.pattern);
    fill(at, payload, spec.pattern);
    at += payload;
    std::memset(at, 0, pad);
    end_ethernet(frame, static_cast<std::size_t>(at + pad + icrc_bytes - frame.bytes.data()));
    set_icrc(frame.all());
}

void build_cnp(Frame& frame, const LinkFields& link, const IpFields& ip, const RoceFields& roce) {
    std::uint8_t* bth = begin_roce(frame, link, ip, roce, cnp_opcode, cnp_reserved_bytes + icrc_bytes);
    bth[4] = 0x40;  // BECN
    std::uint8_t* at = bth + sizeof(Bth);
    std::memset(at, 0, cnp_reserved_bytes);
    end_ethernet(frame, static_cast<std::size_t>(at + cnp_reserved_bytes + icrc_bytes - frame.bytes.data()));
    set_icrc(frame.all());
}

void build_udp(Frame& frame, const LinkFields& link, const IpFields& ip, std::uint16_t source_port,
               std::uint16_t destination_port, const PayloadSpec& spec) {
    const auto headers = static_cast<std::uint32_t>(headers_to_transport(link, ip) + sizeof(UdpHeader));
    const std::uint32_t payload = spec.bytes > headers ? spec.bytes - headers : 0;
    const std::size_t length = sizeof(UdpHeader) + payload;
    begin_ip(frame, link, ip, ip_protocol::udp, length);
    put_udp(frame, source_port, destination_port, length);
    fill(&frame.bytes[frame.transport + sizeof(UdpHeader)], payload, spec.pattern);
    const std::uint16_t checksum = transport_checksum(frame, ip, ip_protocol::udp, length);
    store_be<std::uint16_t>(&frame.bytes[frame.transport + 6],
                            checksum != 0 ? checksum : std::uint16_t{0xFFFF});
    end_ethernet(frame, frame.transport + length);
}

std::uint32_t build_tcp(Frame& frame, const LinkFields& link, const IpFields& ip, std::uint16_t source_port,
                        std::uint16_t destination_port, std::uint32_t sequence, const PayloadSpec& spec) {
    const std::uint32_t headers = headers_to_transport(link, ip) + tcp_header_bytes;
    const std::uint32_t payload = spec.bytes > headers ? spec.bytes - headers : 0;
    const std::size_t length = tcp_header_bytes + payload;
    begin_ip(frame, link, ip, ip_protocol::tcp, length);
    std::uint8_t* tcp = &frame.bytes[frame.transport];
    std::memset(tcp, 0, tcp_header_bytes);
    store_be<std::uint16_t>(tcp, source_port);
    store_be<std::uint16_t>(tcp + 2, destination_port);
    store_be<std::uint32_t>(tcp + 4, sequence);
    store_be<std::uint32_t>(tcp + 8, 1);
    tcp[12] = 5 << 4;
    tcp[13] = 0x10;  // ACK
    store_be<std::uint16_t>(tcp + 14, 0xFFFF);
    fill(tcp + tcp_header_bytes, payload, spec.pattern);
    store_be<std::uint16_t>(tcp + 16, transport_checksum(frame, ip, ip_protocol::tcp, length));
    end_ethernet(frame, frame.transport + length);
    return payload;
}

void build_pfc(Frame& frame, const LinkFields& link,
               std::span<const std::optional<std::uint16_t>, 8> quanta) {
    begin_ethernet(frame, {link.destination, link.source, {}}, ether_type::mac_control);
    PfcFrame pfc{};
    std::memcpy(&pfc.ethernet, frame.bytes.data(), sizeof pfc.ethernet);
    pfc.opcode.set(mac_control_opcode::pfc);
    std::uint16_t enabled = 0;
    for (std::size_t i = 0; i < quanta.size(); ++i) {
        if (quanta[i]) enabled |= static_cast<std::uint16_t>(1U << i);
        pfc.quanta[i].set(quanta[i].value_or(0));
    }
    pfc.class_enable.set(enabled);
    std::memcpy(frame.bytes.data(), &pfc, sizeof pfc);
    end_ethernet(frame, sizeof pfc);
}

void build_pause(Frame& frame, const LinkFields& link, std::uint16_t quanta) {
    begin_ethernet(frame, {link.destination, link.source, {}}, ether_type::mac_control);
    store_be<std::uint16_t>(&frame.bytes[frame.network], mac_control_opcode::pause);
    store_be<std::uint16_t>(&frame.bytes[frame.network + 2], quanta);
    end_ethernet(frame, frame.network + 4);
}

}  // namespace sluice::traffic
