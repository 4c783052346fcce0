// Chooses which of a port's eight queues sends next: queues below their min_rate (in turn, frame by frame),
// then strict ones (higher index wins), then deficit round robin (ETS, IEEE 802.1Q clause 37).
//
// Deficits are in wire bytes; a turn adds weight x 512 B, and when no head fits, the rounds until one does
// are computed, not looped (Shreedhar and Varghese, 1995). A queue that is not ready (paused, held, above its
// maximum) gets no quantum. A paused or held one keeps its deficit, and finishes its turn without a new
// quantum, so a deficit is always below quantum + L_max and |S_i/w_i - S_j/w_j| <= 512 + L_max of backlogged
// queues. An empty queue loses it, and so does one whose maximum ends its turn. A guaranteed rate comes
// before strict priority (SAI: minimum not met first). Bytes sent for it are not charged to the deficit, but
// all bytes of a queue count for its rate: the minimum is a floor under its share. max_rate and the port's
// shaper hold back. The owner of the egress port calls it, and dequeues.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "lib/queue/token_bucket.hh"
#include "lib/values/ids.hh"
#include "lib/values/invariant.hh"
#include "lib/values/units.hh"

namespace sluice {

struct QueueSchedule {
    bool strict = false;
    std::uint8_t weight = 1;            // in [1, 255]; of a DWRR queue
    Rate min_rate{};                    // bits/s on the wire; 0: none
    Rate max_rate{};                    // likewise
    std::uint32_t max_burst_bytes = 0;  // of max_rate, on the wire, in [0, 2^20]
    bool operator==(const QueueSchedule&) const = default;
};

struct PortSchedule {
    std::array<QueueSchedule, classes> queue{};
    Rate shaper{};                         // of all queues together; 0: none
    std::uint32_t shaper_burst_bytes = 0;  // likewise
    Rate speed = gigabits(100);
    std::uint32_t longest_bytes = wire_bytes(max_frame_bytes);  // of a frame, on the wire
    Duration turn{};                                            // of a worker: it may come so late to ask
    bool operator==(const PortSchedule&) const = default;
};

// What all queues together may send.
Rate link_rate(const PortSchedule& settings);
// Wire bytes that a queue's max_rate, or the shaper, lets through at line rate after a pause: its burst, or
// if that is more, a frame and the rate's bytes while the queue waits for its turn.
std::uint64_t burst_bytes_of_queue(const PortSchedule& settings, ClassId queue);
std::uint64_t burst_bytes_of_shaper(const PortSchedule& settings);
// How long the minimums of other queues can delay a frame of a strict queue, beside the frame under way;
// nothing: for ever.
std::optional<Duration> delay_by_minimums(const PortSchedule& settings, ClassId queue);

constexpr std::uint32_t quantum_bytes_per_weight = 512;

class alignas(64) Scheduler {
  public:
    Scheduler() : Scheduler(PortSchedule{}) {}
    explicit Scheduler(const PortSchedule& settings) { configure(settings); }

    // Live: deficits stay, cut to the new bound; a queue that turns strict loses its own.
    void configure(const PortSchedule& settings);

    // The queue to serve, or -1; the same until `sent`. `ready`: not empty, not paused, not held.
    // `head(queue)`: wire bytes of the first frame of a ready queue.
    template <class Head>
    int pick(std::uint8_t ready, Head&& head, Time now) {
        if (ready == 0) return -1;
        if (!limited_) [[likely]] {
            if (const unsigned strict = ready & strict_; strict != 0) return highest(strict);
            return pick_by_deficit(ready, head);
        }
        const unsigned eligible = within_maximum(ready, now);
        if (eligible == 0) return -1;
        if (const int queue = pick_first(eligible, now); queue >= 0) return queue;
        return pick_by_deficit(eligible, head);
    }

    // Wire bytes that the picked queue may send before the next `pick`, while `ready` stays the same. It may
    // always send its head.
    std::int32_t credit(int queue) const {
        if (limited_) return 0;
        return is_strict(queue) ? INT32_MAX : deficit_[static_cast<unsigned>(queue)];
    }

    // Frames of the picked queue have left: its head, and others within its credit; `now` as at `pick`.
    void sent(int queue, std::uint32_t wire_bytes, Time now) {
        if (limited_)
            charge_rates(queue, wire_bytes, now);
        else if (!is_strict(queue))
            deficit_[static_cast<unsigned>(queue)] -= static_cast<std::int32_t>(wire_bytes);
    }
    // `pick`, `sent` and `became_empty` for the only ready queue, which has one frame. False, and nothing is
    // done, where a rate is set.
    bool send_only(int queue) {
        if (limited_) return false;
        empty_by_queue(static_cast<std::uint8_t>(1U << queue), [](ClassId) {});
        return true;
    }
    // True when any rate is set.
    bool has_rates() const { return limited_; }
    // Without rates: true when picking serves these queues one after the other, each until it is empty.
    // `ready`: all that hold frames; `wire_bytes`: of all frames of each.
    bool empties_by_queue(std::uint8_t ready, const std::array<std::uint32_t, classes>& wire_bytes) const {
        SLUICE_INVARIANT(!limited_);
        const unsigned by_deficit = ready & ~unsigned{strict_};
        if ((by_deficit & (by_deficit - 1)) == 0) return true;
        for (unsigned left = by_deficit; left != 0; left &= left - 1) {
            const auto queue = static_cast<unsigned>(std::countr_zero(left));
            if (deficit_[queue] != 0 || static_cast<std::int32_t>(wire_bytes[queue]) > quantum_[queue])
                return false;
        }
        return true;
    }
    // `pick`, `sent` and `became_empty` for all their frames then: serve(queue) for each queue, in order.
    template <class Serve>
    void empty_by_queue(std::uint8_t ready, Serve&& serve) {
        unsigned strict = ready & strict_;
        unsigned by_deficit = rotated(ready & ~unsigned{strict_}, turn_);
        const unsigned last = turn_;
        while ((strict | by_deficit) != 0) {
            unsigned queue;
            if (strict != 0) {
                queue = static_cast<unsigned>(highest(strict));
                strict &= ~(1U << queue);
            } else {
                turn_ = queue = behind(last, std::countr_zero(by_deficit));
                by_deficit &= by_deficit - 1;
            }
            became_empty(static_cast<int>(queue));
            serve(static_cast<ClassId>(queue));
        }
    }
    // Behind `sent` of its last frame.
    void became_empty(int queue) { deficit_[static_cast<unsigned>(queue)] = 0; }

    // After `pick` returned -1 for a `ready` that is not 0: the first moment at which it will not.
    std::optional<Time> next_eligible(std::uint8_t ready, Time now) const;

    std::int32_t deficit(int queue) const { return deficit_[static_cast<unsigned>(queue)]; }

  private:
    static int highest(unsigned queues) { return std::bit_width(queues) - 1; }
    // `queues` in round order from the one behind `last`: bit 0 is last + 1, bit 7 is `last` itself.
    static unsigned rotated(unsigned queues, unsigned last) {
        return std::rotr(static_cast<std::uint8_t>(queues), static_cast<int>((last + 1) % classes));
    }
    static unsigned behind(unsigned last, int place) {
        return (last + 1 + static_cast<unsigned>(place)) % classes;
    }

    bool is_strict(int queue) const { return (strict_ >> queue & 1U) != 0; }
    unsigned within_maximum(unsigned ready, Time now) const;
    unsigned below_minimum(unsigned queues, Time now) const;
    int pick_first(unsigned eligible, Time now);  // below its minimum or strict, else -1
    void charge_rates(int queue, std::uint32_t wire_bytes, Time now);

    // Quanta until the deficit covers `need`.
    std::int32_t rounds_to(std::int32_t need, unsigned queue) const {
        const std::int32_t missing = need - deficit_[queue];
        if (missing <= quantum_[queue]) [[likely]]  // mostly avoids the division
            return missing <= 0 ? 0 : 1;
        return (missing + quantum_[queue] - 1) / quantum_[queue];
    }

    template <class Head>
    int pick_by_deficit(unsigned ready, Head&& head) {
        if ((ready >> turn_ & 1U) != 0 && deficit_[turn_] >= static_cast<std::int32_t>(head(turn_)))
            return static_cast<int>(turn_);  // its turn goes on
        if ((ready & (ready - 1)) == 0) {    // alone
            turn_ = static_cast<unsigned>(std::countr_zero(ready));
            deficit_[turn_] += rounds_to(static_cast<std::int32_t>(head(turn_)), turn_) * quantum_[turn_];
            return static_cast<int>(turn_);
        }
        const unsigned last = turn_;
        for (unsigned left = rotated(ready, last); left != 0; left &= left - 1) {
            const unsigned queue = behind(last, std::countr_zero(left));
            const auto need = static_cast<std::int32_t>(head(queue));
            if (deficit_[queue] < need) deficit_[queue] += quantum_[queue];
            if (deficit_[queue] >= need) {
                turn_ = queue;
                return static_cast<int>(queue);
            }
        }
        return skip_rounds(ready, last, head);
    }

    // No head fits after a whole round: adds the quanta of all rounds until one does.
    template <class Head>
    int skip_rounds(unsigned ready, unsigned last, Head&& head) {
        const unsigned order = rotated(ready, last);
        std::int32_t fewest = INT32_MAX;
        int winner_place = 0;
        for (unsigned left = order; left != 0; left &= left - 1) {
            const int place = std::countr_zero(left);
            const unsigned queue = behind(last, place);
            const std::int32_t rounds = rounds_to(static_cast<std::int32_t>(head(queue)), queue);
            if (rounds < fewest) {
                fewest = rounds;
                winner_place = place;
            }
        }
        for (unsigned left = order; left != 0; left &= left - 1) {
            const int place = std::countr_zero(left);
            const unsigned queue = behind(last, place);
            deficit_[queue] += (place <= winner_place ? fewest : fewest - 1) * quantum_[queue];
        }
        turn_ = behind(last, winner_place);
        return static_cast<int>(turn_);
    }

    std::array<std::int32_t, classes> deficit_{};  // wire bytes, in [0, quantum + L_max)
    std::array<std::int32_t, classes> quantum_{};  // weight x 512
    unsigned turn_ = 0;                            // the DWRR queue whose turn it is, or was last
    unsigned guaranteed_ = 0;                      // the queue last served for its minimum
    std::uint8_t strict_ = 0;
    std::uint8_t capped_ = 0;   // with a max_rate
    std::uint8_t floored_ = 0;  // with a min_rate
    bool limited_ = false;      // any rate at all
    std::array<TokenBucket, classes> maximum_{};
    std::array<TokenBucket, classes> minimum_{};
    TokenBucket shaper_{};
};

}  // namespace sluice
