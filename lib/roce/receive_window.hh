// Packets that have come to an end of a queue pair past the expected PSN: a bitmap. Go-back-N drops those
// packets and measures reordering by them; selective recovery keeps them, and learns here which are lost.
//
// A hole is a run of missing PSNs below one that has come. It counts as lost when the reorder window has
// passed since: one mark in time serves all holes (the end of all that had come then), so a hole waits for
// one to two of these times. `next_hole` returns each once; the requester's time-out is for the rest. RFC
// 8985 has such a window for TCP, by the sender's clock. The end point calls it, with its expected PSN and a
// `now` that never goes back. While all comes in order only `end_` is touched. Nothing allocates after
// construction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::roce {

enum class Recovery : std::uint8_t { go_back_n, selective };

inline constexpr std::uint32_t min_receive_window = 64;
inline constexpr std::uint32_t max_receive_window = 65'536;

// The same for both ends of a queue pair.
struct RecoverySettings {
    Recovery kind = Recovery::go_back_n;
    // PSNs from the oldest missing on: the receiver keeps no more, the requester sends no more. A power of
    // two, within the two limits. Go-back-N: the range in which reordering is measured.
    std::uint32_t receive_window = 1024;
    Duration reorder_window = microseconds(100);  // 0: a hole is lost at once
    bool naks_trimmed = false;  // selective: a trimmed packet is asked for at once; else it counts as lost
    bool operator==(const RecoverySettings&) const = default;
};

class ReceiveWindow {
  public:
    struct Hole {
        std::uint64_t first;  // sequence number
        std::uint64_t end;    // behind the last
    };
    enum class Came : std::uint8_t { first, again, beyond };
    // Counts of packets.
    struct Counters {
        std::uint64_t inversions = 0;  // that came behind one of a higher PSN, for the first time
        std::uint64_t max_depth = 0;   // how far behind the highest, in PSNs
        std::uint64_t repeated = 0;    // that had come before
    };

    explicit ReceiveWindow(const RecoverySettings& settings);

    // Something has come past `expected`.
    bool any(std::uint64_t expected) const { return end_ > expected; }
    bool holds(std::uint64_t sequence) const { return sequence < end_ && bit(sequence); }
    // The first from `sequence` on that has not come.
    std::uint64_t run_end(std::uint64_t sequence) const;
    // The first from `sequence` on that has; nothing: none.
    std::optional<std::uint64_t> next_held(std::uint64_t sequence) const;

    // A packet of `count` PSNs, past the expected one.
    Came add(std::uint64_t sequence, std::uint32_t count, std::uint64_t expected, Time now);
    // The same, known by another way: not measured. Within the window.
    void mark(std::uint64_t sequence, std::uint64_t expected, Time now);
    // A packet has come without its payload: it is asked for at once, and no hole has it. False: it is before
    // `expected`, beyond the window or here already, or the settings say to ignore it.
    bool ask(std::uint64_t sequence, std::uint64_t expected, Time now);
    // The expected packet has come, and any() is true.
    void measure_expected(std::uint64_t expected);
    // A packet from before the expected has come.
    void count_repeated() { ++rest_->counters.repeated; }
    // Another PSN is expected now, and any() was true.
    void advance(std::uint64_t from, std::uint64_t to, Time now);

    // Asked only where any() is true; selective recovery.
    bool has_hole() const { return rest_->told < rest_->lost; }
    Hole next_hole();
    std::optional<Time> next_timer() const;
    void expire(std::uint64_t expected, Time now);

    const Counters& counters() const { return rest_->counters; }

  private:
    struct Mark {
        Time at;
        std::uint64_t end;
    };
    struct Rest {
        std::vector<std::uint64_t> bits;   // of [expected, end_)
        std::vector<std::uint64_t> asked;  // likewise, of trimmed packets; empty: they are ignored
        std::uint64_t window = 0;
        std::optional<Duration> tolerance;  // nothing: nothing counts as lost
        std::uint64_t lost = 0;             // what is missing below it is
        std::uint64_t told = 0;             // what is missing below it has been told
        std::optional<Mark> mark;
        Counters counters;
    };

    bool is_in(const std::vector<std::uint64_t>& bits, std::uint64_t sequence) const {
        const std::uint64_t place = sequence & (rest_->window - 1);
        return (bits[place / 64] >> place % 64 & 1U) != 0;
    }
    void put_in(std::vector<std::uint64_t>& bits, std::uint64_t sequence) const {
        const std::uint64_t place = sequence & (rest_->window - 1);
        bits[place / 64] |= std::uint64_t{1} << place % 64;
    }
    bool bit(std::uint64_t sequence) const { return is_in(rest_->bits, sequence); }
    // It has come, or is asked for already: a hole ends before it.
    bool is_told(std::uint64_t sequence) const {
        return bit(sequence) || (!rest_->asked.empty() && is_in(rest_->asked, sequence));
    }
    void came_to(std::uint64_t end, std::uint64_t expected, Time now);
    void put(std::uint64_t sequence, std::uint32_t count, std::uint64_t expected, Time now);
    void count_inversion(std::uint64_t sequence);
    void settle(std::uint64_t expected);

    std::uint64_t end_ = 0;  // behind the highest that came, with payload or without
    std::unique_ptr<Rest> rest_;
};

}  // namespace sluice::roce
