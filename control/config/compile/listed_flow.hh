// A flow of a list: so many bytes from one host to another, on queue pairs that come and go with it.
#pragma once

#include <cstdint>

#include "lib/values/units.hh"

namespace sluice {

struct ListedFlow {
    static constexpr std::uint32_t none = ~0U;
    static constexpr std::uint8_t by_default = 0xFF;

    std::uint64_t bytes = 0;       // payload, in [1, roce::max_transfer_bytes]
    Duration start{};              // of the run; with `after` since that flow's end
    std::uint32_t from = 0;        // index of its sender in the hosts of the list
    std::uint32_t to = 0;          // of its receiver, another one
    std::uint32_t after = none;    // index of the flow that ends before this one starts
    std::uint32_t name = none;     // place of its name in the list
    std::uint32_t number = 0;      // its place among the flows of the file, from 1
    std::uint32_t line = 0;        // of the file, from 1
    std::uint16_t qps = 1;         // queue pairs that share its bytes, at most one a byte
    std::uint8_t tc = by_default;  // traffic class in [0, 7], or that of the sender's DSCP
};
static_assert(sizeof(ListedFlow) <= 48);

}  // namespace sluice
