#include "tools/traffic/port_accounts.hh"

#include <algorithm>

#include "lib/roce/opcode.hh"
#include "lib/roce/packet.hh"
#include "lib/values/class_mask.hh"
#include "lib/values/endian.hh"

namespace sluice::traffic {

bool ClassPauses::receive(std::span<const std::uint8_t> frame, std::uint64_t now_ns) {
    constexpr std::size_t type_at = 12;
    constexpr std::size_t named_at = 16;
    constexpr std::size_t quanta_at = 18;
    if (frame.size() < pfc_bytes || load_be<std::uint32_t>(&frame[type_at]) != 0x8808'0101U) return false;
    Heard& heard = heard_.emplace_back();
    heard.at_ns = now_ns + reaction_ns_;
    heard.named = frame[named_at + 1];
    for (std::size_t n = 0; n < classes; ++n)
        heard.quanta[n] = load_be<std::uint16_t>(&frame[quanta_at + 2 * n]);
    return true;
}

unsigned ClassPauses::paused(std::uint64_t now_ns) {
    constexpr std::uint64_t quantum_bits = 512;
    for (; !heard_.empty() && heard_.front().at_ns <= now_ns; heard_.pop_front()) {
        const Heard& heard = heard_.front();
        settle(heard.at_ns);
        for_each_class(heard.named, [&](ClassId n) {
            const std::uint64_t quanta = heard.quanta[n];
            ++(quanta != 0 ? counters_.xoff : counters_.xon);
            paused_ = quanta != 0 ? paused_ | 1U << n : paused_ & ~(1U << n);
            until_ns_[n] = heard.at_ns + quanta * quantum_bits * 1'000'000'000U / bits_per_second_;
        });
    }
    settle(now_ns);
    return paused_;
}

void ClassPauses::settle(std::uint64_t now_ns) {
    for_each_class(paused_, [&](ClassId n) {
        counters_.paused_ns += std::min(now_ns, until_ns_[n]) - settled_ns_;
        if (now_ns < until_ns_[n]) return;
        paused_ &= ~(1U << n);
        ++counters_.expired;
    });
    settled_ns_ = now_ns;
}

void ArrivedFlows::receive(std::span<const std::uint8_t> frame) {
    const roce::Incoming packet = roce::read_packet(frame);
    if (packet.refusal == roce::Incoming::Refusal::icrc) ++bad_icrc_;
    if (packet.refusal != roce::Incoming::Refusal::none || packet.opcode >= roce::Opcode::acknowledge) return;
    Flow& flow = flows_[{packet.source, packet.qp}];
    const std::int32_t ahead = roce::psn_difference(packet.psn, flow.next_psn);
    if (ahead >= 0) {
        flow.lost += static_cast<std::uint32_t>(ahead);
        flow.next_psn = (packet.psn + 1) & roce::psn_mask;
    } else {
        ++flow.late;
        if (flow.lost != 0) --flow.lost;
    }
    ++flow.received;
    if (packet.ecn == Ecn::ce) ++flow.marked;
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
