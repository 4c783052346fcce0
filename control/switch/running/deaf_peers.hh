// Finds peers that do not obey our pauses, under the real clock, once a class stays in XOFF for seconds.
//
// Control reads the classes once a second. A class that is in XOFF at two readings, by one pause that was
// refreshed meanwhile, should receive at most the loop of a pause (the headroom), the same after each refresh
// that came too late, and what the link carries while such a pause had run out. More than that twice in a
// row: the peer is deaf to this class, until a second of pause passes without a frame.
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

// A class of a port.
class PausedClass {
  public:
    // Counts since the start.
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
    // Once a second. `loop_bytes`: what an obeying peer of a port still sends after a pause.
    void judge_second(const Switch& device, const std::function<std::uint64_t(PortId)>& loop_bytes);
    // Deaf classes of a port, now and ever.
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

std::string deaf_peer_text(const std::string& port, std::uint8_t deaf);

}  // namespace sluice
