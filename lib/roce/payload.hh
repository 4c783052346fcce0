// Payload as a function of its stream and the offset therein, so that a receiver can check each byte. A
// stream is everything that goes to one QP: the bytes of all SENDs and WRITEs, or of responses to its READs,
// each packet at the place of its PSN (packet.hh). Words of 8 bytes are seed + index * odd constant: no two
// offsets of a stream, and practically none of two streams, have the same word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/frame/ip_address.hh"

namespace sluice::roce {

struct PayloadStream {
    std::uint64_t seed = 0;
};

// The stream to a QP, identified by address and number.
PayloadStream payload_stream(const IpAddress& destination, std::uint32_t qp);

void fill_payload(std::span<std::uint8_t> out, PayloadStream stream, std::uint64_t offset);

// Index in `bytes` of the first that is not the stream's at `offset`.
std::optional<std::size_t> first_wrong(std::span<const std::uint8_t> bytes, PayloadStream stream,
                                       std::uint64_t offset);

}  // namespace sluice::roce
