// Whether captures have both sides of a router: an IP packet that comes twice, from another MAC address and
// with another TTL or hop limit, and is otherwise the same. Of the first million packets.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "lib/frame/headers.hh"
#include "tools/traffic/dissect.hh"

namespace sluice::traffic {

class RouterSides {
  public:
    void see(std::span<const std::uint8_t> frame, const Dissection& d);
    // Empty: they have one side alone.
    std::string note() const;

  private:
    struct Seen {
        std::uint8_t ttl = 0;
        MacAddress source;
    };
    std::unordered_map<std::uint64_t, Seen> seen_;  // by a hash of what a router leaves as it is
    std::set<MacAddress> senders_;                  // of the copies with the lower TTL
    std::uint64_t twice_ = 0;
};

}  // namespace sluice::traffic
