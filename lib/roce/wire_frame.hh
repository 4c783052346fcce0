// A wire's facts of any frame, where `parse` would stop at the first reason to drop it. A part that does not
// fit its own length counts as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/frame/parse.hh"
#include "lib/peer/faults.hh"

namespace sluice::roce {

struct WireFrame {
    // Kind, tags, PCP, TOS, RoCE and CNP, for classification, which ignores `drop`.
    Parsed parsed;
    FrameFacts facts;
    std::optional<std::uint8_t> syndrome;  // of an acknowledgement's AETH
    bool is_fragment = false;
    std::uint8_t ip_header_bytes = 0;  // 0: not IP, or not whole
    // The part that `corrupt` may change: behind the headers, with the ICRC of RoCE.
    std::uint16_t payload_offset = 0;
    std::uint16_t payload_end = 0;
};

// `view`: the first min(frame_bytes, parse_view_bytes) bytes of the frame.
WireFrame read_wire_frame(std::span<const std::uint8_t> view, std::uint32_t frame_bytes);

// Inverts a bit of the payload, so that headers and FCS stay right and an ICRC does not; false when there is
// none. `frame`: all of its bytes.
bool corrupt_payload(std::span<std::uint8_t> frame, const WireFrame& read, std::uint64_t random);

// Writes the CNP that the receiver of a RoCE frame would send back: MACs, tag and addresses swapped. `view`:
// the frame's. Returns the bytes written to `out`; 0: it is too small, or the frame is not RoCE.
std::uint32_t write_cnp(std::span<const std::uint8_t> view, const WireFrame& frame, std::uint32_t sender_qp,
                        std::uint8_t dscp, std::span<std::uint8_t> out);

}  // namespace sluice::roce
