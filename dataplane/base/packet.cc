#include "dataplane/base/packet.hh"

#include <rte_errno.h>
#include <rte_mbuf_dyn.h>

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

bool reserve(const char* name, std::size_t bytes, std::size_t offset) {
    rte_mbuf_dynfield field{};
    std::strncpy(field.name, name, sizeof field.name - 1);
    field.size = bytes;
    field.align = alignof(std::uint64_t);
    return rte_mbuf_dynfield_register_offset(&field, offset) >= 0;
}

}  // namespace

std::string reserve_packet_meta() {
    constexpr std::size_t stamp = sizeof(rte_mbuf_timestamp_t);
    static_assert(offsetof(PacketMeta, arrival) == 0 && sizeof(Time) == stamp);
    if (reserve(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, stamp, packet_meta_offset) &&
        reserve("sluice_packet_meta", sizeof(PacketMeta) - stamp, packet_meta_offset + stamp))
        return {};
    return std::string("no room for what we know of a packet in DPDK's dynamic mbuf fields: ") +
           rte_strerror(rte_errno);
}

Packet* make_packet(rte_mempool* pool, std::span<const std::uint8_t> bytes, bool truncated) {
    Packet* head = rte_pktmbuf_alloc(pool);
    if (head == nullptr) return nullptr;
    if (truncated) head->packet_type = packet_type_truncated;
    head->pkt_len = static_cast<std::uint32_t>(bytes.size());
    const std::size_t room = data_bytes_of(pool);
    if (bytes.size() <= room) [[likely]] {
        // Not memcpy: a frame may have no bytes, and memcpy takes no null pointer even for none.
        std::copy(bytes.begin(), bytes.end(), rte_pktmbuf_mtod(head, std::uint8_t*));
        head->data_len = static_cast<std::uint16_t>(bytes.size());
        return head;
    }
    Packet* segment = head;
    std::size_t at = 0;
    while (true) {
        const std::size_t count = std::min(bytes.size() - at, room);
        std::memcpy(rte_pktmbuf_mtod(segment, void*), bytes.data() + at, count);
        segment->data_len = static_cast<std::uint16_t>(count);
        at += count;
        if (at == bytes.size()) break;
        segment->next = rte_pktmbuf_alloc(pool);
        if (segment->next == nullptr) {
            rte_pktmbuf_free(head);
            return nullptr;
        }
        segment = segment->next;
        ++head->nb_segs;
    }
    return head;
}

bool make_contiguous(Packet* packet, std::uint32_t bytes) {
    if (packet->data_len >= bytes) return true;
    if (packet->pkt_len < bytes || rte_pktmbuf_tailroom(packet) < bytes - packet->data_len) return false;
    while (packet->data_len < bytes) {
        rte_mbuf* next = packet->next;
        const std::uint16_t moved =
            static_cast<std::uint16_t>(std::min<std::uint32_t>(bytes - packet->data_len, next->data_len));
        std::memcpy(frame_bytes(packet) + packet->data_len, rte_pktmbuf_mtod(next, void*), moved);
        packet->data_len = static_cast<std::uint16_t>(packet->data_len + moved);
        next->data_off = static_cast<std::uint16_t>(next->data_off + moved);
        next->data_len = static_cast<std::uint16_t>(next->data_len - moved);
        if (next->data_len == 0) {
            packet->next = next->next;
            packet->nb_segs = static_cast<std::uint16_t>(packet->nb_segs - 1);
            next->next = nullptr;
            next->nb_segs = 1;
            rte_pktmbuf_free_seg(next);
        }
    }
    return true;
}

void cut_packet(Packet* packet, std::uint32_t bytes) {
    packet->pkt_len = bytes;
    packet->nb_segs = 1;
    Packet* last = packet;
    while (last->data_len < bytes) {
        bytes -= last->data_len;
        last = last->next;
        ++packet->nb_segs;
    }
    last->data_len = static_cast<std::uint16_t>(bytes);
    for (Packet* rest = std::exchange(last->next, nullptr); rest != nullptr;) {
        Packet* segment = std::exchange(rest, rest->next);
        rte_pktmbuf_free_seg(segment);
    }
}

}  // namespace sluice
