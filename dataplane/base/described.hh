// Packets that describe their frames (lib/roce/packet.hh), and the bytes of any packet in one piece.
//
// A described packet is one segment with the first bytes of its frame, enough for everything that a switch
// reads; `pkt_len` is the frame's, and behind the bytes that are there lies what makes the others. A switch
// may take a tag off in front or put one on.
#pragma once

#include <cstdint>
#include <cstring>

#include "dataplane/base/packet.hh"
#include "lib/frame/headers.hh"
#include "lib/roce/packet.hh"

namespace sluice {

// The head of a frame as it is made: without its tag it still fills a parser's view.
constexpr std::uint32_t described_bytes = parse_view_bytes + sizeof(VlanTag);
// A shorter frame might not end in payload there.
constexpr std::uint32_t min_described_frame = described_bytes + roce::max_trailer_bytes + 1;
// Data room that such a packet and any shorter frame need: whole cache lines with the mbuf and its headroom.
constexpr std::uint32_t described_room = 320;
static_assert(min_described_frame + sizeof(roce::FrameTail) <= described_room);

inline bool is_described(const Packet* packet) {
    return packet->data_len != packet->pkt_len && packet->nb_segs == 1;
}

inline roce::FrameTail tail_of(const Packet* packet) {
    roce::FrameTail tail;
    std::memcpy(&tail, rte_pktmbuf_mtod_offset(packet, const std::uint8_t*, packet->data_len), sizeof tail);
    return tail;
}

// `head` bytes of the frame are in the packet, which is one segment of described_room at least.
inline void describe_rest(Packet* packet, std::uint32_t head, std::uint32_t frame,
                          const roce::FrameTail& tail) {
    packet->data_len = static_cast<std::uint16_t>(head);
    packet->pkt_len = frame;
    std::memcpy(rte_pktmbuf_mtod_offset(packet, std::uint8_t*, head), &tail, sizeof tail);
}

inline roce::DescribedFrame described_frame(Packet* packet) {
    return {{frame_bytes(packet), packet->data_len}, packet->pkt_len, tail_of(packet)};
}

// The whole frame: as many bytes as `pkt_len` says, of any packet.
inline void copy_frame(const Packet* packet, std::uint8_t* to) {
    std::uint8_t* at = to;
    for (const rte_mbuf* segment = packet; segment != nullptr; segment = segment->next) {
        std::memcpy(at, rte_pktmbuf_mtod(segment, const void*), segment->data_len);
        at += segment->data_len;
    }
    if (is_described(packet)) roce::write_tail({to, packet->pkt_len}, packet->data_len, tail_of(packet));
}

}  // namespace sluice
