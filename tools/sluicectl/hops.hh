// Next hops in iproute2's words.
#pragma once

#include <span>
#include <string>

#include "tools/sluicectl/client.hh"

namespace sluice::ctl {

// `via A [dev P] [weight N]`, again and again, each behind `nexthop` or not, and `balance MODE`, or
// `blackhole`. Any other word is refused.
struct Hops {
    Json via;                  // as route.add wants it
    std::string load_balance;  // empty: not said
};
// Throws Failure.
Hops parse_hops(std::span<const std::string> words);

}  // namespace sluice::ctl
