#include "dataplane/ports/kernel/packet_frame.hh"

#include <rte_ip.h>

#include <cstring>

#include "dataplane/ports/kernel/packet_socket.hh"
#include "lib/frame/headers.hh"

namespace sluice {
namespace {

constexpr std::size_t mac_bytes = 12;
constexpr std::size_t tag_bytes = 4;
static_assert(sizeof(SegmentHeader) >= tag_bytes, "a tag goes where the kernel's header was");

// The sum over the bytes from csum_start on, among them that of the pseudo header, which the sender left in
// the checksum's place.
void complete_checksum(std::span<std::uint8_t> frame, const SegmentHeader& told) {
    const std::size_t start = told.csum_start;
    const std::size_t place = start + told.csum_offset;
    if (place + 2 > frame.size()) return;
    const auto sum = static_cast<std::uint16_t>(~rte_raw_cksum(frame.data() + start, frame.size() - start));
    const std::uint16_t checksum = sum == 0 ? 0xFFFF : sum;  // of UDP 0 means none
    std::memcpy(frame.data() + place, &checksum, sizeof checksum);
}

std::span<std::uint8_t> with_tag(std::span<std::uint8_t> frame, const tpacket2_hdr& slot) {
    if (frame.size() < mac_bytes) return frame;
    std::uint8_t* first = frame.data() - tag_bytes;
    std::memmove(first, frame.data(), mac_bytes);
    const bool says_type = (slot.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    store_be<std::uint16_t>(first + mac_bytes, says_type ? slot.tp_vlan_tpid : ether_type::vlan);
    store_be<std::uint16_t>(first + mac_bytes + 2, slot.tp_vlan_tci);
    return {first, frame.size() + tag_bytes};
}

}  // namespace

FrameInSlot frame_in(tpacket2_hdr* slot) {
    auto* at = reinterpret_cast<std::uint8_t*>(slot) + slot->tp_mac;
    SegmentHeader told;
    std::memcpy(&told, at - sizeof told, sizeof told);
    std::span<std::uint8_t> bytes(at, slot->tp_snaplen);
    if ((told.flags & SegmentHeader::needs_checksum) != 0) [[unlikely]]
        complete_checksum(bytes, told);
    if ((slot->tp_status & TP_STATUS_VLAN_VALID) != 0) [[unlikely]]
        bytes = with_tag(bytes, *slot);
    return {bytes, told.gso_type != SegmentHeader::one_segment};
}

}  // namespace sluice
