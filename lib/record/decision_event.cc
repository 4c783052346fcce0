#include "lib/record/decision_event.hh"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

bool covers(const std::optional<IpPrefix>& prefix, FrameKind kind,
            const std::array<std::uint8_t, 16>& address) {
    if (!prefix) return true;
    const auto& bytes = prefix->address.bytes;
    const std::size_t whole = prefix->length / 8U;
    if (kind != (prefix->address.is_v6 ? FrameKind::ipv6 : FrameKind::ipv4) ||
        !std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(whole), address.begin()))
        return false;
    const unsigned rest = prefix->length % 8U;
    return rest == 0 || (unsigned{address[whole]} ^ bytes[whole]) >> (8 - rest) == 0;
}

}  // namespace

FlowKey flow_key(const Parsed& parsed, std::span<const std::uint8_t> view) {
    FlowKey key;
    key.destination_qp = parsed.flow.destination_qp();
    key.source_port = parsed.flow.source_port();
    key.destination_port = parsed.flow.destination_port();
    key.protocol = parsed.protocol;
    key.kind = parsed.kind;
    key.roce = parsed.roce;
    const auto copy = [&](auto& to, std::size_t offset, std::size_t bytes) {
        std::copy_n(view.begin() + static_cast<std::ptrdiff_t>(parsed.l3_offset + offset), bytes, to.begin());
    };
    // A frame that was refused may end before its header does.
    if (parsed.kind == FrameKind::ipv4 && parsed.l3_offset + sizeof(Ipv4Header) <= view.size()) {
        copy(key.source, offsetof(Ipv4Header, source), 4);
        copy(key.destination, offsetof(Ipv4Header, destination), 4);
    } else if (parsed.kind == FrameKind::ipv6 && parsed.l3_offset + sizeof(Ipv6Header) <= view.size()) {
        copy(key.source, offsetof(Ipv6Header, source), 16);
        copy(key.destination, offsetof(Ipv6Header, destination), 16);
    }
    return key;
}

std::optional<std::uint32_t> packet_sequence(const Parsed& parsed, std::span<const std::uint8_t> view) {
    if (!parsed.roce) return std::nullopt;
    const std::uint8_t* ip = view.data() + parsed.l3_offset;
    std::size_t ip_header = sizeof(Ipv6Header);
    if (parsed.kind == FrameKind::ipv4)
        ip_header = (ip[0] & 0xFU) * std::size_t{4};
    else if (ip[offsetof(Ipv6Header, next_header)] != ip_protocol::udp)
        return std::nullopt;
    const std::size_t at = parsed.l3_offset + ip_header + sizeof(UdpHeader) + offsetof(Bth, psn);
    if (at + 3 > view.size()) return std::nullopt;
    return std::uint32_t{view[at]} << 16 | std::uint32_t{view[at + 1]} << 8 | view[at + 2];
}

bool FlowFilter::matches(const FlowKey& flow) const {
    return covers(source, flow.kind, flow.source) && covers(destination, flow.kind, flow.destination) &&
           (!source_port || *source_port == flow.source_port) &&
           (!destination_port || *destination_port == flow.destination_port) &&
           (!destination_qp || (flow.roce && *destination_qp == flow.destination_qp));
}

void add_most_first(std::span<GroupPaused::Filler> list, std::uint32_t& count,
                    const GroupPaused::Filler& filler, std::uint32_t& others) {
    const auto end = list.begin() + count;
    const auto place = std::find_if(
        list.begin(), end, [&](const GroupPaused::Filler& other) { return other.cells < filler.cells; });
    if (count == list.size()) {
        if (place == end) {
            others += filler.cells;
            return;
        }
        others += list.back().cells;
        std::copy_backward(place, end - 1, end);
    } else {
        std::copy_backward(place, end, end + 1);
        ++count;
    }
    *place = filler;
}

}  // namespace sluice
