// The options of sluice-peer, and what it says of itself: usage and the man page, from the same tables. A
// mistake throws Failure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/traffic/frame.hh"
#include "tools/traffic/peer_flows.hh"

namespace sluice::traffic {

struct PeerOptions {
    std::string interface;
    std::optional<IpAddress> to;
    SentFlows::Shape shape;
    std::uint64_t per_second = 1000;
    std::uint64_t count = UINT64_MAX;
    unsigned priority = 3;
    std::uint64_t speed = 1'000'000'000;
    bool deaf = false;
    bool wait = false;
};

// `words` are those behind `sluice-peer`.
PeerOptions parse_peer_options(std::span<char* const> words);
std::string peer_usage();
std::string peer_man_page(std::string_view version);  // sluice-peer(1)

}  // namespace sluice::traffic
