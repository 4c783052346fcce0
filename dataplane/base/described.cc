#include "dataplane/base/described.hh"

namespace sluice {

void copy_frame(const Packet* packet, std::uint8_t* to) {
    std::uint8_t* at = to;
    for (const rte_mbuf* segment = packet; segment != nullptr; segment = segment->next) {
        std::memcpy(at, rte_pktmbuf_mtod(segment, const void*), segment->data_len);
        at += segment->data_len;
    }
    if (is_described(packet)) roce::write_tail({to, packet->pkt_len}, packet->data_len, tail_of(packet));
}

}  // namespace sluice
