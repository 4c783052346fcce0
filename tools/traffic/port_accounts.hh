// The accounts of a host's port: until when each class is paused, and the RoCEv2 data that arrived. No
// sockets, no clock: times are arguments, in nanoseconds of one monotonic clock that never goes back. Pauses
// share nothing with the switch's own PFC, so that they may serve as a second opinion.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "lib/frame/ip_address.hh"
#include "lib/values/ids.hh"

namespace sluice::traffic {

// PFC as a sender has to obey it (IEEE 802.3 Annex 31D): for each class the last frame that names it counts,
// `reaction_ns` after it came.
class ClassPauses {
  public:
    ClassPauses(std::uint64_t bits_per_second, std::uint64_t reaction_ns)
        : bits_per_second_(bits_per_second), reaction_ns_(reaction_ns) {}

    static constexpr std::size_t pfc_bytes = 34;  // from the MAC address to the last quanta
    // True if the frame is PFC.
    bool receive(std::span<const std::uint8_t> frame, std::uint64_t now_ns);

    // Mask of the classes that may not start a frame.
    unsigned paused(std::uint64_t now_ns);
    // The end of a pause that runs.
    std::uint64_t until_ns(ClassId paused_class) const { return until_ns_[paused_class]; }
    std::optional<std::uint64_t> next_heard_ns() const {
        return heard_.empty() ? std::nullopt : std::optional(heard_.front().at_ns);
    }

    struct Counters {  // of all classes together
        std::uint64_t xoff = 0;
        std::uint64_t xon = 0;
        std::uint64_t expired = 0;
        std::uint64_t paused_ns = 0;
    };
    const Counters& counters() const { return counters_; }

  private:
    struct Heard {
        std::uint64_t at_ns;
        unsigned named;  // mask of classes
        std::array<std::uint16_t, classes> quanta;
    };

    void settle(std::uint64_t now_ns);

    std::uint64_t bits_per_second_;
    std::uint64_t reaction_ns_;
    std::deque<Heard> heard_;
    unsigned paused_ = 0;
    std::array<std::uint64_t, classes> until_ns_{};  // while paused
    std::uint64_t settled_ns_ = 0;                   // paused_ns has the time before
    Counters counters_;
};

// RoCEv2 data that arrives, by sender and queue pair. A gap in the PSNs is a loss until its packets come.
class ArrivedFlows {
  public:
    struct Flow {
        std::uint32_t next_psn = 0;
        std::uint64_t received = 0;
        std::uint64_t lost = 0;
        std::uint64_t late = 0;  // behind one that was sent after it
        std::uint64_t marked = 0;
    };
    // Any frame; what is not data of RoCEv2 changes nothing.
    void receive(std::span<const std::uint8_t> frame);
    Flow total() const;
    std::size_t count() const { return flows_.size(); }
    std::uint64_t bad_icrc() const { return bad_icrc_; }

  private:
    std::map<std::pair<IpAddress, std::uint32_t>, Flow> flows_;
    std::uint64_t bad_icrc_ = 0;
};

}  // namespace sluice::traffic
