// The frames that a switch has sent by one port, as a test sees them: every frame of data and every PFC
// frame, a digest of them all, and whether each flow left in order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/frame/parse.hh"
#include "lib/pfc/pfc_frame.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice::sim {

constexpr std::uint8_t trimmed_dscp = 11;  // of no flow

struct Departure {
    Time at;
    std::uint32_t bytes;
    PortId from;
    std::uint8_t flow;
    std::uint64_t sequence;
    Ecn ecn;
    bool trimmed = false;  // it has trimmed_dscp
};

struct SentPause {
    Time at;
    PauseMap map;
};

class DepartureRecord {
  public:
    const std::vector<SentPause>& pauses() const { return pauses_; }
    std::uint64_t departed() const { return departed_; }
    std::uint64_t departed_bytes() const { return departed_bytes_; }
    std::uint64_t departed(PortId from, std::uint8_t flow) const;  // but for trimmed ones
    std::uint64_t departed_wire_bytes(PortId from) const;
    std::uint64_t digest() const { return digest_; }
    const std::string& disorder() const { return disorder_; }
    std::function<void(const Departure&)> on_departure;  // data only
    std::function<void(const SentPause&)> on_pause;

    void record(const Departure& departure);
    void record(const SentPause& pause);

  private:
    struct Seen {
        std::uint64_t next = 0;  // sequence that the next frame has at least
        std::uint64_t frames = 0;
    };
    std::map<std::pair<PortId, std::uint8_t>, Seen> seen_, seen_trimmed_;  // these overtake the others
    std::map<PortId, std::uint64_t> wire_bytes_from_;
    std::vector<SentPause> pauses_;
    std::uint64_t departed_ = 0;
    std::uint64_t departed_bytes_ = 0;
    std::uint64_t digest_ = 0;
    std::string disorder_;
};

}  // namespace sluice::sim
