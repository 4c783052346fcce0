// A packet is a DPDK mbuf; Sluice's own facts about it lie in the mbuf's dynamic fields. Owner: the worker
// that holds it. It travels between workers only through a mailbox.
#pragma once

#include <rte_mbuf.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "lib/buffer/cells.hh"
#include "lib/frame/classify.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/parse.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/endian.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

using Packet = rte_mbuf;

// Fields that are read together lie together: loads and stores of a packet are half of its cost.
struct PacketMeta {
    union {  // first: see packet_meta_offset
        Time arrival{};
        Time enqueued;   // from its queue on
        Time departure;  // in the out-batch: start of serialization
    };
    std::uint64_t sequence;     // of its ingress port, from 0
    std::uint16_t frame_bytes;  // as it arrived; from its rewrite on, as it leaves
    std::uint16_t cells;        // charged; 0: no charge
    PortId ingress_port;
    ClassId priority_group;
    std::uint8_t observed;  // observed_record, observed_fill: wanted by decision records; 0 when off
    Treatment treatment;
    PortId egress_port;
    ClassId queue;
    std::uint8_t l3_offset;  // of the frame as it leaves

    // The fields from frame_bytes to observed, as one number: nothing is charged, nobody observes it.
    void arrive(std::uint16_t bytes, PortId port, ClassId group);
};

// The meta's place in every mbuf: in its second line, which the driver and the pool read anyway, so a packet
// is two lines and its frame. These are DPDK's dynamic fields (rte_mbuf_dyn.h): the first eight octets are
// the receive timestamp's, which a driver may write before we do, the others our own.
constexpr std::size_t packet_meta_offset = 96;
static_assert(sizeof(PacketMeta) == 32 && packet_meta_offset + sizeof(PacketMeta) == sizeof(rte_mbuf));
static_assert(offsetof(rte_mbuf, dynfield1) <= packet_meta_offset);

inline void PacketMeta::arrive(std::uint16_t bytes, PortId port, ClassId group) {
    constexpr std::size_t first = offsetof(PacketMeta, frame_bytes);
    constexpr auto bit = [](std::size_t offset) { return 8 * (offset - first); };
    static_assert(std::endian::native == std::endian::little && bit(offsetof(PacketMeta, cells)) == 16 &&
                  bit(offsetof(PacketMeta, ingress_port)) == 32 &&
                  bit(offsetof(PacketMeta, priority_group)) == 48 &&
                  bit(offsetof(PacketMeta, observed)) == 56 && bit(offsetof(PacketMeta, treatment)) == 64);
    const std::uint64_t fields = packet_charge(bytes, 0, port, group, 0);
    std::memcpy(reinterpret_cast<std::uint8_t*>(this) + first, &fields, sizeof fields);
}

// Reserves them, once in a process, before any packet is made. An error's text, or empty: another user of EAL
// may have taken them.
std::string reserve_packet_meta();

enum : std::uint8_t {
    observed_record = 1,  // each of its stages is posted to control
    observed_fill = 2,    // its cells are counted on the FillBoard
};

inline PacketMeta& meta(Packet* packet) {
    return *reinterpret_cast<PacketMeta*>(reinterpret_cast<std::uint8_t*>(packet) + packet_meta_offset);
}

// A capture's cut frame carries this packet type; every allocation resets it to 0.
constexpr std::uint32_t packet_type_truncated = 0xFFFF'FFFF;

// Data room of one mbuf, without DPDK's headroom, unless the configuration wants more.
constexpr std::uint32_t packet_data_bytes = 2048;

inline std::uint8_t* frame_bytes(Packet* packet) { return rte_pktmbuf_mtod(packet, std::uint8_t*); }

// The place of the frame that the buffer receives next.
inline std::uint8_t* next_frame(Packet* packet) {
    return reinterpret_cast<std::uint8_t*>(packet) + sizeof(Packet) + RTE_PKTMBUF_HEADROOM;
}

// The first bytes of the frame in one piece: in place, or in `copy` when the first segment is shorter.
inline std::span<const std::uint8_t> first_bytes(Packet* packet,
                                                 std::span<std::uint8_t, parse_view_bytes> copy) {
    const std::uint32_t want = packet->pkt_len < parse_view_bytes ? packet->pkt_len : parse_view_bytes;
    if (packet->data_len >= want) [[likely]]
        return {frame_bytes(packet), want};
    return {static_cast<const std::uint8_t*>(rte_pktmbuf_read(packet, 0, want, copy.data())), want};
}

// A frame in as many mbufs as it needs; null when the pool is empty. `truncated`: `bytes` is not all of it.
Packet* make_packet(rte_mempool* pool, std::span<const std::uint8_t> bytes, bool truncated);

// Moves bytes forward until the first segment holds `bytes` of the frame; false when its tailroom is too
// small.
bool make_contiguous(Packet* packet, std::uint32_t bytes);

// Frees the frame's bytes behind the first `bytes`, in [1, pkt_len] and there: a packet that describes its
// frame (described.hh) then describes nothing more.
void cut_packet(Packet* packet, std::uint32_t bytes);

inline std::uint32_t data_bytes_of(rte_mempool* pool) {
    return rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
}

// True for MAC control, that is pauses: rules for data do not apply to them.
inline bool is_mac_control(Packet* packet) {
    return packet->pkt_len == pfc_frame_bytes && packet->data_len == pfc_frame_bytes &&
           load_be<std::uint16_t>(frame_bytes(packet) + 12) == ether_type::mac_control;
}

}  // namespace sluice
