// Peers that do not obey our pauses, found by what still comes in. Under the real clock nobody promises what
// is at the other end; it shows itself once a class stays in XOFF for seconds.
//
// Control looks at the classes once a second. A class that was in XOFF at two looks, by one pause that was
// refreshed meanwhile, should have brought no more than one loop of a pause (the headroom), once more after
// each refresh that came too late, and what the link carries while such a pause had run out. Twice in a row
// more than that: the peer is deaf to this class. A second of pause without a frame takes that back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

class Switch;

// One class of one port.
class PausedClass {
  public:
    // All counted since the start.
    struct Seen {
        bool in_xoff = false;
        std::uint64_t pauses = 0;
        std::uint64_t refreshes = 0;
        std::uint64_t late = 0;  // of them
        Duration unheld;         // by those
        std::uint64_t bytes = 0;
    };

    void look(const Seen& seen, std::uint64_t loop_bytes, Rate rate);
    bool is_deaf() const { return deaf_; }

  private:
    Seen before_{};
    bool suspected_ = false;  // by the second before
    bool deaf_ = false;
};

class DeafPeers {
  public:
    // Once a second. `loop_bytes`, of a port: what an obeying peer still sends after a pause.
    void judge_second(const Switch& device, const std::function<std::uint64_t(PortId)>& loop_bytes);
    // Classes of a port, now and at any time.
    std::uint8_t deaf(PortId id) const { return id < ports_.size() ? ports_[id].deaf : std::uint8_t{0}; }
    std::uint8_t was_deaf(PortId id) const { return id < ports_.size() ? ports_[id].ever : std::uint8_t{0}; }

  private:
    struct OfPort {
        std::array<PausedClass, classes> of_class{};
        std::uint8_t deaf = 0;
        std::uint8_t ever = 0;
    };
    std::vector<OfPort> ports_;
};

// What is wrong, and what to do.
std::string deaf_peer_text(const std::string& port, std::uint8_t deaf);

}  // namespace sluice
