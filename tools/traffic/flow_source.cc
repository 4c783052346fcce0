#include "tools/traffic/flow_source.hh"

#include <algorithm>

#include "tools/traffic/frame.hh"

namespace sluice::traffic {
namespace {

// From each first packet to the last of its message, both counted; 1 where there is none.
std::vector<std::uint32_t> count_packets(const std::vector<const Operation*>& operations) {
    std::vector<std::uint32_t> counts(operations.size(), 1);
    std::uint32_t until_last = 1;
    for (std::size_t i = operations.size(); i-- > 0;) {
        until_last = operations[i]->ends_message ? 1 : until_last + 1;
        counts[i] = until_last;
    }
    return counts;
}

}  // namespace

FlowSource::FlowSource(const Flow& flow, Rate link_speed, std::uint64_t seed)
    : flow_{flow},
      link_speed_{link_speed},
      seed_{seed},
      packets_in_message_{count_packets(flow.operations)},
      tcp_sequence_(flow.kind == Kind::tcp ? flow.flows : 0, 1),
      next_{flow.start},
      burst_start_{flow.start} {}

RoceFields FlowSource::roce_fields(std::uint64_t n) const {
    const std::uint64_t connection = n % flow_.flows;
    const std::uint64_t turn = n / flow_.flows;
    RoceFields roce;
    roce.transport = flow_.transport;
    roce.qp = flow_.qp + static_cast<std::uint32_t>(connection % flow_.qps);
    roce.psn = (flow_.psn + static_cast<std::uint32_t>(turn)) & 0xFF'FFFFU;
    roce.message_sequence = static_cast<std::uint32_t>(turn);
    const std::uint64_t port = connection / flow_.qps;
    if (flow_.source_port_from_qp) {
        // The dynamic port range, as drivers choose it; distinct for one QP.
        roce.source_port = static_cast<std::uint16_t>(0xC000U | ((mix(0, roce.qp) + port) & 0x3FFFU));
    } else {
        roce.source_port =
            static_cast<std::uint16_t>(flow_.source_ports.first + port % flow_.source_ports.count);
    }
    if (!flow_.operations.empty()) {
        const std::size_t place = turn % flow_.operations.size();
        roce.operation = flow_.operations[place];
        roce.packets_in_message = packets_in_message_[place];
    }
    return roce;
}

PayloadSpec FlowSource::payload_spec(std::uint64_t n) const {
    PayloadSpec spec;
    const SizeRule& rule = flow_.size;
    spec.pattern = mix(seed_, n);
    spec.is_payload = flow_.size_is_payload;
    spec.bytes = !rule.list.empty()
                     ? rule.list[n % rule.list.size()]
                     : rule.low + static_cast<std::uint32_t>(mix(~seed_, n) % (rule.high - rule.low + 1ULL));
    return spec;
}

void FlowSource::build_frame(Frame& frame) {
    const std::uint64_t n = sent_;
    const LinkFields link{flow_.destination_mac, flow_.source_mac, flow_.tags};
    const IpFields ip{flow_.source, flow_.destination, flow_.tos, flow_.ttl,
                      static_cast<std::uint16_t>(flow_.id + n)};
    switch (flow_.kind) {
        case Kind::roce:
            return build_roce(frame, link, ip, roce_fields(n), payload_spec(n));
        case Kind::cnp: {
            RoceFields roce = roce_fields(n);
            roce.psn = flow_.psn;  // a CNP has no place in the sequence
            return build_cnp(frame, link, ip, roce);
        }
        case Kind::pfc:
            return build_pfc(frame, link, flow_.pfc_quanta);
        case Kind::pause:
            return build_pause(frame, link, flow_.pause_quanta);
        case Kind::udp:
        case Kind::tcp:
            break;
        case Kind::malformed:
            return build_malformed(frame, flow_.malformations[n % flow_.malformations.size()], link, ip,
                                   roce_fields(n), payload_spec(n), n / flow_.malformations.size());
    }
    const std::uint64_t connection = n % flow_.flows;
    const auto source_port =
        static_cast<std::uint16_t>(flow_.source_ports.first + connection % flow_.source_ports.count);
    const auto destination_port =
        static_cast<std::uint16_t>(flow_.destination_ports.first +
                                   connection / flow_.source_ports.count % flow_.destination_ports.count);
    if (flow_.kind == Kind::udp)
        return build_udp(frame, link, ip, source_port, destination_port, payload_spec(n));
    std::uint32_t& sequence = tcp_sequence_[connection];
    sequence += build_tcp(frame, link, ip, source_port, destination_port, sequence, payload_spec(n));
}

bool FlowSource::build(Duration now, Frame& frame) {
    if (sent_ >= flow_.count || (flow_.duration && now >= flow_.start + *flow_.duration)) {
        done_ = true;
        return false;
    }
    build_frame(frame);
    ++sent_;
    schedule(now, frame.length);
    done_ = sent_ >= flow_.count;
    return true;
}

// With a rate or a gap, times are counted from the ones wished for, so that a busy link does not lower the
// average; without, from the one at which the frame left, so that flows without a rate of their own share the
// link evenly.
void FlowSource::schedule(Duration now, std::size_t frame_bytes) {
    const Pacing& pacing = flow_.pacing;
    const std::uint32_t wire = wire_bytes(static_cast<std::uint32_t>(frame_bytes));
    if (pacing.burst_frames != 0 && sent_ % pacing.burst_frames == 0) {
        burst_start_ = burst_start_ + pacing.burst_every;
        next_ = burst_start_;
    } else if (pacing.gap) {
        next_ = next_ + *pacing.gap;
    } else if (pacing.rate) {
        next_ =
            next_ +
            Duration{static_cast<std::int64_t>(wire * 8'000'000'000'000ULL / pacing.rate->bits_per_second)};
    } else {
        next_ = now + link_speed_.byte_time() * wire;
    }
}

}  // namespace sluice::traffic
