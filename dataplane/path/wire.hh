// A wire: two ports joined, so that frames pass unchanged from one to the other, and rules that disturb them
// (lib/peer/faults.hh). Here the state of a direction: the frames that come in by a port.
//
// The first rule that takes a frame acts on it. Each rule numbers the frames that match it since it was set,
// in each direction. Held frames (delay, reorder) have been admitted: they keep their place in the buffer and
// count as queued. At most `max_delayed` and `max_reordered` wait; one more passes untouched and is counted
// so. They leave at their time also when their rule is gone, the port is down, or the switch drains.
//
// Owner: the worker of the port. Control reads the counters and the trace; the worker of the other port reads
// `senders`, for the queue pair of a CNP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/base/packet.hh"
#include "lib/frame/ip_address.hh"
#include "lib/peer/faults.hh"
#include "lib/roce/wire_frame.hh"
#include "lib/threads/counters.hh"
#include "lib/threads/latest_entries.hh"

namespace sluice {

// The settings of a direction, in a PortPolicy.
struct WirePolicy {
    PortId peer = 0;
    bool passes_pfc = false;       // MAC control goes on to the other end; else the port takes it in
    bool learns_senders = false;   // the other direction makes CNPs
    std::vector<FaultRule> rules;  // at most max_wire_rules
};

struct WireRuleCounters {
    Counter id;  // of the rule that the others are of; 0: none
    Counter matched;
    Counter acted;
    Counter passed;  // taken, but passed untouched: no room, no ECT, no payload, or no known sender
};

// A frame that a rule has taken.
struct WireEvent {
    Time at;
    std::uint64_t rule;
    std::uint32_t qp, psn;  // of RoCE
    std::uint16_t frame_bytes;
    FaultAction action;
    std::uint8_t opcode;
    bool roce;
    bool passed;  // untouched after all
    std::array<std::uint8_t, 2> unused;
};
static_assert(sizeof(WireEvent) == 32);

// Queue pairs of senders, learned from replies, by the addresses of a reply. Written by the worker of the
// direction in which the replies go, read by that of the other one.
class LearnedSenders {
  public:
    static constexpr std::size_t places = 256;
    static constexpr std::uint32_t several = 0xFFFF'FFFF;

    void learn(std::uint64_t ends, std::uint32_t qp);
    // Nothing: no reply came yet, or replies named several.
    std::optional<std::uint32_t> find(std::uint64_t ends) const;

  private:
    struct Place {
        Counter ends;  // 0: free
        Counter qp;
    };
    std::array<Place, places> places_;
};

// Counts the ends' ACKs, CNPs and repeated packets, so that a NIC is judged by its frames, without its
// counters.
//
// Owner: the worker of the port at which the frames come in; control reads the counters.
class WireReplies {
  public:
    static constexpr std::size_t places = 4096;
    static constexpr std::size_t max_steps = 64;

    void count(const roce::WireFrame& frame, const IpAddress& to);

    Counter acks;
    Counter naks;      // of errors: sequence, request, access, operation
    Counter rnr_naks;  // receiver not ready
    Counter cnps;
    // Requests and READ responses of RC whose PSN is not above the highest one that came before to the same
    // queue pair: sent again, or out of order before they came.
    Counter repeated;
    // Packets of queue pairs beyond the places, which cannot be judged.
    Counter untracked;

  private:
    struct Place {
        std::uint64_t stream = 0;  // 0: free
        std::uint32_t highest = 0;
    };
    void count_psn(std::uint64_t stream, std::uint32_t psn);

    std::array<Place, places> places_{};
};

class WireDirection {
  public:
    static constexpr std::size_t max_delayed = 4096;
    static constexpr std::size_t max_reordered = 256;
    static constexpr std::size_t trace_entries = 256;

    WireDirection() : trace(trace_entries) {
        delayed_.reserve(max_delayed);
        reordered_.reserve(max_reordered);
    }

    // A new policy: rules that were there before go on counting.
    void configure(const WirePolicy& policy);

    struct Taken {
        const FaultRule* rule = nullptr;  // null: it passes
        std::size_t place = 0;            // of the rule's counters
        std::uint64_t number = 0;         // of the frame, among those that match
    };
    Taken draw_fate(const WirePolicy& policy, const FrameFacts& frame, std::uint64_t seed, PortId port,
                    std::uint32_t bytes);

    bool may_delay() const { return delayed_.size() < max_delayed; }
    void delay(Packet* packet, Time until);
    bool may_reorder() const { return reordered_.size() < max_reordered; }
    // Holds it until `frames` later ones of `qp` (nothing: of any) have passed, at most until a time.
    void reorder(Packet* packet, Time until, std::uint32_t frames, std::optional<std::uint32_t> qp);
    // A frame has passed: calls release(packet) for those that have waited for it.
    template <class Release>
    void passed(const FrameFacts& frame, Release release) {
        for (std::size_t i = 0; i < reordered_.size();) {
            Reordered& waiting = reordered_[i];
            const bool counts = !waiting.qp || (frame.roce && frame.qp == *waiting.qp);
            if (!counts || --waiting.frames != 0) {
                ++i;
                continue;
            }
            Packet* packet = waiting.packet;
            reordered_.erase(reordered_.begin() + static_cast<std::ptrdiff_t>(i));
            holding.set(held());
            release(packet);
        }
    }

    bool holds_any() const { return !delayed_.empty() || !reordered_.empty(); }
    std::size_t held() const { return delayed_.size() + reordered_.size(); }
    // When the first one is due.
    std::optional<Time> next_due() const;
    // A frame that is due by `now`, or any with `all`; null: none.
    Packet* due(Time now, bool all);

    std::array<WireRuleCounters, max_wire_rules> rules;
    Counter made;     // duplicates and CNPs
    Counter holding;  // as held(), for control
    LatestEntries<WireEvent> trace;
    LearnedSenders senders;
    WireReplies replies;

  private:
    struct Delayed {
        Packet* packet;
        Time until;
        std::uint64_t order;
    };
    struct Reordered {
        Packet* packet;
        Time until;
        std::uint32_t frames;
        std::optional<std::uint32_t> qp;
    };
    Packet* take_due(Time now, bool all);
    static bool later(const Delayed& a, const Delayed& b) {
        return a.until != b.until ? b.until < a.until : b.order < a.order;
    }

    std::array<std::uint8_t, max_wire_rules> place_of_{};  // by index in the policy
    std::vector<Delayed> delayed_;                         // a heap, the first one due in front
    std::vector<Reordered> reordered_;                     // in the order in which they came
    std::uint64_t order_ = 0;
};

}  // namespace sluice
