#include "tools/traffic/peer_flows.hh"

#include "tools/traffic/dissect.hh"
#include "tools/traffic/icrc.hh"

namespace sluice::traffic {
namespace {

constexpr std::uint32_t psn_mask = 0xFF'FFFF;
constexpr std::uint16_t roce_port = 4791;
constexpr std::size_t udp_bytes = 8;
constexpr std::size_t bth_bytes = 12;

std::uint32_t read(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t n = 0; n < count; ++n) value = value << 8U | bytes[at + n];
    return value;
}

}  // namespace

bool PauseClock::is_pfc(std::span<const std::uint8_t> frame) {
    constexpr std::size_t type_at = 12;
    return frame.size() >= pfc_bytes && read(frame, type_at, 4) == 0x8808'0101U;
}

bool PauseClock::receive(std::span<const std::uint8_t> frame, std::uint64_t now_ns) {
    constexpr std::size_t classes_at = 16;
    constexpr std::size_t quanta_at = 18;
    constexpr std::uint64_t quantum_bits = 512;
    if (!is_pfc(frame)) return false;
    if ((read(frame, classes_at, 2) >> priority_ & 1U) == 0) return true;
    const std::uint64_t quanta = read(frame, quanta_at + std::size_t{2} * priority_, 2);
    settle(now_ns);
    ++(quanta != 0 ? counters_.xoff : counters_.xon);
    paused_ = quanta != 0;
    settled_ns_ = now_ns;
    until_ns_ = now_ns + quanta * quantum_bits * 1'000'000'000U / bits_per_second_;
    return true;
}

bool PauseClock::paused(std::uint64_t now_ns) {
    settle(now_ns);
    return paused_;
}

void PauseClock::settle(std::uint64_t now_ns) {
    if (!paused_) return;
    const std::uint64_t end = now_ns < until_ns_ ? now_ns : until_ns_;
    counters_.paused_ns += end - settled_ns_;
    settled_ns_ = end;
    if (now_ns < until_ns_) return;
    paused_ = false;
    ++counters_.expired;
}

void SentFlows::build(Frame& frame) {
    const auto flow = static_cast<std::uint32_t>(turn_ % shape_.flows);
    const LinkFields link{shape_.destination_mac, shape_.source_mac, {}};
    constexpr std::uint8_t ect0 = 2;
    const IpFields ip{.source = shape_.source,
                      .destination = shape_.destination,
                      .tos = static_cast<std::uint8_t>(shape_.dscp << 2U | ect0),
                      .extra = {}};
    static const Operation* const send_only = roce::find_operation("send_only");
    const std::uint32_t qp = shape_.first_qp + flow;
    const RoceFields roce{.source_port = static_cast<std::uint16_t>(0xC000U | (mix(0, qp) & 0x3FFFU)),
                          .operation = send_only,
                          .qp = qp,
                          .psn = psn_[flow] & psn_mask};
    build_roce(frame, link, ip, roce, {.bytes = shape_.frame_bytes, .pattern = turn_});
}

bool ArrivedFlows::receive(std::span<const std::uint8_t> frame) {
    const Dissection found = dissect(frame);
    const std::size_t bth = found.transport + udp_bytes;
    constexpr std::uint8_t udp = 17;
    if (found.transport == 0 || found.protocol != udp || bth + bth_bytes > frame.size() ||
        read(frame, found.transport + 2, 2) != roce_port)
        return false;
    if (icrc_of(frame) != icrc_carried(frame)) {
        ++bad_icrc_;
        return true;
    }
    Flow& flow = flows_[{found.source, read(frame, bth + 5, 3)}];
    const std::uint32_t psn = read(frame, bth + 9, 3);
    const std::uint32_t ahead = (psn - flow.next_psn) & psn_mask;
    if (ahead <= psn_mask / 2) {
        flow.lost += ahead;
        flow.next_psn = (psn + 1) & psn_mask;
    } else {
        ++flow.late;
        if (flow.lost != 0) --flow.lost;
    }
    ++flow.received;
    if (found.ecn() == Ecn::ce) ++flow.marked;
    return true;
}

ArrivedFlows::Flow ArrivedFlows::total() const {
    Flow total;
    for (const auto& [key, flow] : flows_) {
        total.received += flow.received;
        total.lost += flow.lost;
        total.late += flow.late;
        total.marked += flow.marked;
    }
    return total;
}

}  // namespace sluice::traffic
