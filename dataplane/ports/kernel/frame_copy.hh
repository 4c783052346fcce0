// Copies the pieces of a frame into a packet and as many more of its pool as it needs.
#pragma once

#include <rte_memcpy.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "dataplane/base/packet.hh"
#include "lib/frame/headers.hh"

namespace sluice {

class FrameCopy {
  public:
    // `packet`: as it was allocated.
    explicit FrameCopy(Packet* packet) : head_(packet), tail_(packet) {}

    // The next piece; false when the pool is empty.
    bool add(std::span<const std::uint8_t> bytes) {
        head_->pkt_len += static_cast<std::uint32_t>(bytes.size());
        while (true) {
            const std::size_t count = std::min<std::size_t>(bytes.size(), rte_pktmbuf_tailroom(tail_));
            rte_memcpy(frame_bytes(tail_) + tail_->data_len, bytes.data(), count);
            tail_->data_len = static_cast<std::uint16_t>(tail_->data_len + count);
            if (count == bytes.size()) [[likely]]
                return true;
            bytes = bytes.subspan(count);
            Packet* more = rte_pktmbuf_alloc(head_->pool);
            if (more == nullptr) return false;
            tail_ = tail_->next = more;
            ++head_->nb_segs;
        }
    }

  private:
    Packet* head_;
    Packet* tail_;
};

// True for frames that an interface of this MTU sends: 4 bytes more with an 802.1Q tag.
inline bool fits(Packet* packet, std::uint32_t mtu) {
    constexpr std::uint32_t header_bytes = 14, tag_bytes = 4;
    if (packet->pkt_len <= mtu + header_bytes) [[likely]]
        return true;
    return packet->pkt_len <= mtu + header_bytes + tag_bytes && packet->data_len >= header_bytes &&
           load_be<std::uint16_t>(frame_bytes(packet) + 12) == ether_type::vlan;
}

}  // namespace sluice
