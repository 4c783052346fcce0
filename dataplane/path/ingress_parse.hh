// Common to the two ways to parse a frame: private to ingress_parse*.cc.
#pragma once

#include <vector>

#include "dataplane/path/ingress_stages.hh"
#include "lib/frame/parse_usual.hh"

namespace sluice {

// The packet's class_key(), or not_usual: parse_whole must parse it.
template <unsigned tags>
[[gnu::always_inline]] inline int parse_shortcut(Packet* packet, const UsualFrames<tags>& usual,
                                                 Parsed& parsed) {
    const std::uint8_t* first = frame_bytes(packet);
#ifdef SLUICE_EXACT_VIEWS
    const std::vector<std::uint8_t> exact(first, first + packet->data_len);
    first = exact.data();
#endif
    return packet->packet_type != packet_type_truncated
               ? parse_usual(first, packet->data_len, packet->pkt_len, usual, parsed)
               : not_usual;
}

// Sums over the packets of a burst that take parse_unusual.
struct Unusual {
    std::uint64_t other_bytes = 0;  // of packets in no group
    ClassWay by_rules;              // of the packet at hand, where no table has it
    Refused refused;
};
static_assert(burst_size < 256, "kinds are counted in bytes");

// Parses packet `at` of the batch where the shortcut did not; returns its way, or null when it is consumed or
// refused.
const ClassWay* parse_unusual(WorkerContext& worker, PortId id, std::uint64_t sequence, Batch& batch,
                              unsigned at, Packet* packet, Unusual& unusual);

}  // namespace sluice
