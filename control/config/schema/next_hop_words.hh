// The next hops of a route in words: `via ADDRESS [dev PORT] [weight N]`, again and again, and `balance
// MODE`, or `blackhole`. Commands, events and sluicectl take them so.
#pragma once

#include <span>
#include <string>
#include <tl/expected.hpp>

#include "control/config/schema/config.hh"

namespace sluice {

struct NextHopWords {
    NextHops via;  // in the order of the words; empty: a blackhole
    std::optional<LoadBalance> load_balance;
};
// An error's text names the wrong word.
tl::expected<NextHopWords, std::string> parse_next_hops(std::span<const std::string> words);

}  // namespace sluice
