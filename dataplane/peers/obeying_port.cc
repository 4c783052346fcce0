#include "dataplane/peers/obeying_port.hh"

#include "lib/pfc/pfc_frame.hh"

namespace sluice {
namespace {

constexpr std::uint8_t every_class = 0xFF;

// Drivers note in each frame the port by which it came: a frame without one is ours.
bool may_be_pfc(const Packet* packet) {
    return packet->port == RTE_MBUF_PORT_INVALID && packet->pkt_len == pfc_frame_bytes;
}

}  // namespace

unsigned ObeyingPort::receive(std::span<Packet*> out, Time now) {
    honor_.expire(now);
    // Wire time before the last call is lost: the sender does not make up for it.
    Time start = max(wire_free_, asked_);
    if (honor_.unexpired() != 0) {
        paused_ps_.add(static_cast<std::uint64_t>((now - asked_).ps));
        asked_ = wire_free_ = now;
        return 0;
    }
    asked_ = now;
    if (first_ == count_) {
        first_ = 0;
        count_ = inner_->receive(taken_, now);
    }
    unsigned count = 0;
    const Duration byte_time = speed_.byte_time();
    for (; count < out.size() && first_ != count_ && start <= now; ++first_) {
        Packet* packet = taken_[first_];
        meta(packet).arrival = now;
        start = start + byte_time * wire_bytes(packet->pkt_len);
        out[count++] = packet;
    }
    wire_free_ = start;
    return count;
}

// In pieces that end with a PFC frame, which counts when the device has taken it.
unsigned ObeyingPort::transmit(std::span<Packet* const> frames) {
    unsigned sent = 0;
    for (unsigned i = 0; i < frames.size(); ++i) {
        Packet* packet = frames[i];
        if (!may_be_pfc(packet)) [[likely]]
            continue;
        const MacControl control = decode_mac_control({frame_bytes(packet), pfc_frame_bytes}, {});
        if (control.kind != MacControl::Kind::pfc) continue;
        const Time start = meta(packet).departure;
        const Time end = start + speed_.byte_time() * wire_bytes(pfc_frame_bytes);
        sent += inner_->transmit(frames.subspan(sent, i + 1 - sent));
        if (sent != i + 1) return sent;
        honor_.receive(control.map, start, end, speed_, every_class);
    }
    return sent + (sent != frames.size() ? inner_->transmit(frames.subspan(sent)) : 0);
}

void ObeyingPort::forget_frames() {
    while (first_ != count_) rte_pktmbuf_free(taken_[first_++]);
}

std::string ObeyingPort::close() {
    forget_frames();
    return inner_->close();
}

}  // namespace sluice
