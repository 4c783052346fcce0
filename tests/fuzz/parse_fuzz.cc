// Any bytes as a frame: `parse` and `trim_headers` read none too far; `parse` accepts only frames that the
// worker can rely on, and those that are trimmed with them.
//
// The first byte says whether the port is promiscuous, how many bytes the frame is longer than what follows,
// and whether what follows is given a right IPv4 checksum, which chance would not find.
#include <algorithm>
#include <vector>

#include "lib/frame/checksum.hh"
#include "lib/frame/classify.hh"
#include "lib/frame/flow_hash.hh"
#include "lib/frame/parse.hh"
#include "lib/frame/trim.hh"
#include "lib/pfc/pfc_frame.hh"
#include "tests/fuzz/require.hh"
#include "tests/unit/exact_copy.hh"

namespace {

using namespace sluice;

constexpr Station station{{{2, 0, 0, 0, 0xFF, 1}}, false};

void mend_checksum(std::vector<std::uint8_t>& frame) {
    std::size_t at = 12;
    while (at + 2 <= frame.size() && frame[at] == 0x81 && frame[at + 1] == 0) at += 4;
    at += 2;
    if (at + 20 > frame.size() || frame[at] >> 4 != 4) return;
    const std::size_t bytes = std::size_t{frame[at] & 0xFU} * 4;
    if (bytes < 20 || at + bytes > frame.size()) return;
    store_be<std::uint16_t>(&frame[at + 10], 0);
    store_be<std::uint16_t>(&frame[at + 10],
                            internet_checksum(std::span<const std::uint8_t>(frame).subspan(at, bytes)));
}

void check_accepted(const Parsed& parsed, std::span<const std::uint8_t> view, std::size_t frame_bytes) {
    require(parsed.tags <= 2 && parsed.pcp < 8 && parsed.dscp() < 64, "fields in their ranges");
    require(parsed.l3_offset == 14 + 4 * parsed.tags, "the IP header behind the tags");
    require(parsed.kind == FrameKind::ipv4 || parsed.kind == FrameKind::ipv6, "IP");
    const bool v4 = parsed.kind == FrameKind::ipv4;
    require(std::size_t{parsed.l3_offset} + parsed.ip_bytes <= frame_bytes, "the packet within the frame");
    require(parsed.ip_bytes >= (v4 ? 20 : 40), "a whole IP header");
    require(parsed.l3_offset + (v4 ? 20U : 40U) <= view.size(), "the IP header within the view");
    require(view[parsed.l3_offset] >> 4 == (v4 ? 4 : 6), "the version");
    require(view[parsed.l3_offset + (v4 ? 8U : 7U)] > 1, "a hop left");
    require(!parsed.cnp || parsed.roce, "a CNP is RoCE");
    require(!parsed.roce || parsed.protocol == ip_protocol::udp, "RoCE is UDP");
    require(!parsed.cnp || parsed.opcode == cnp_opcode, "a CNP by its opcode");
    require(parsed.roce || (parsed.opcode == 0 && parsed.flow.destination_qp() == 0),
            "no BTH fields without RoCE");
    require(!parsed.roce || parsed.fragment || parsed.flow.destination_port() == roce_udp_port,
            "RoCE by its port");
    require(!parsed.fragment || (parsed.flow.source_port() == 0 && parsed.flow.destination_port() == 0),
            "no ports in fragments");
    require(parsed.flow.destination_qp() <= 0xFF'FFFF, "a QP of 24 bits");
    // The next steps may read all bytes that parse has accepted.
    static_cast<void>(flow_hash(parsed, view.data() + parsed.l3_offset, {1, true}));
    require(traffic_class(parsed, ClassMap{}) < classes, "a traffic class");
    if (v4) {
        std::vector<std::uint8_t> header(
            view.begin() + parsed.l3_offset,
            view.begin() + parsed.l3_offset + (view[parsed.l3_offset] & 0xF) * 4);
        decrement_ttl(*reinterpret_cast<Ipv4Header*>(header.data()));
        require(internet_checksum(header) == 0, "the checksum still right after the TTL has gone down");
    }
}

// A frame that was accepted may be trimmed, and is accepted then, but for extension headers behind the cut.
void check_trimmed(std::span<const std::uint8_t> view, std::size_t frame_bytes, const Station& where,
                   bool accepted, std::uint16_t bytes) {
    std::vector<std::uint8_t> head(view.begin(), view.end());
    const auto stays =
        trim_headers(head, static_cast<std::uint32_t>(frame_bytes), {~std::uint64_t{0}, bytes, 0, 11, 5, 5});
    if (!stays) {
        require(!accepted, "what is accepted may be trimmed");
        require(std::equal(head.begin(), head.end(), view.begin()), "unchanged");
        return;
    }
    require(*stays <= frame_bytes, "no longer than before");
    head.resize(std::min<std::size_t>(head.size(), *stays));
    if (!accepted) return;
    const Parsed again = parse(head, *stays, where);
    require(again.drop == DropReason::none || again.drop == DropReason::ipv6_bad_extension,
            "accepted once more");
    require(again.drop != DropReason::none || again.dscp() == 11, "the DSCP of trimmed packets");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::vector<std::uint8_t> frame(data + 1, data + size);
    if ((data[0] & 2) != 0) mend_checksum(frame);
    const ExactCopy copy(
        std::span<const std::uint8_t>(frame).first(std::min(frame.size(), parse_view_bytes)));
    const auto view = copy.view();
    // A frame may only go on behind a view that is full.
    const std::size_t more = view.size() == parse_view_bytes ? std::size_t{data[0] & 0xFCU} * 64 : 0;
    const std::size_t frame_bytes = frame.size() + more;
    const Station where{station.mac, (data[0] & 1) != 0};
    const Parsed parsed = parse(view, static_cast<std::uint32_t>(frame_bytes), where);
    if (parsed.kind == FrameKind::mac_control) {
        const MacControl control = decode_mac_control(view, station.mac);
        static_cast<void>(control);
    } else if (parsed.drop == DropReason::none) {
        check_accepted(parsed, view, frame_bytes);
    }
    for (const std::uint16_t bytes : {min_trim_bytes, std::uint16_t{200}})
        check_trimmed(view, frame_bytes, where,
                      parsed.drop == DropReason::none && parsed.kind != FrameKind::mac_control, bytes);
    return 0;
}
