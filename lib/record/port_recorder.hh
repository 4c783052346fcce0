// Keeps the last events of a port (spells.hh) in rings of a fixed size. The port's owner writes, without
// allocation, at events only; any thread reads.
//
// A ring for each kind, so that a flood of drops does not push out pauses: a quarter of the entries each for
// pauses sent, pauses received and drops, an eighth each for microbursts and for storms and links.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/record/spells.hh"
#include "lib/threads/latest_entries.hh"
#include "lib/values/class_mask.hh"

namespace sluice {

// An entry of a ring that is written again while its spell goes on.
template <class Record>
struct OpenRecord {
    std::optional<std::uint64_t> number;  // nothing: there was none
    Record record;
};

class PortRecorder {
  public:
    explicit PortRecorder(std::size_t entries);
    static std::uint64_t bytes(std::size_t entries);
    // Takes all of its memory at once.
    void touch();

    // Owner. True when an XOFF of the group now begins a spell: only then the circumstances are kept.
    bool begins_spell(ClassId group, Time now) const;
    // The circumstances at an XOFF that begins a spell.
    struct Start {
        GroupPaused group;
        QueueFeeders feeders;
        bool all_counted = false;
    };
    // `start`: null where none begins.
    void xoff_sent(ClassId group, Time now, bool behind, const Start* start);
    void xon_sent(ClassId group, Time now);
    // Headroom cells in use while the group is in XOFF.
    void headroom_used(ClassId group, std::uint32_t cells) {
        peak_headroom_[group] = std::max(peak_headroom_[group], cells);
    }

    // Priorities that are obeyed now; paused(priority): its total paused time, without a running pause.
    template <class Paused>
    void obeyed(std::uint8_t priorities, Time now, Paused paused) {
        for_each_class(priorities & ~obeyed_, [&](ClassId n) { pause_received(n, now, paused(n)); });
        for_each_class(obeyed_ & ~priorities, [&](ClassId n) { pause_ended(n, paused(n)); });
        obeyed_ = priorities;
    }
    std::uint8_t obeyed() const { return obeyed_; }

    struct Drop {
        DropReason reason;
        PortId from;
        std::optional<PortId> to;
        ClassId traffic_class, group, queue;
        bool lossless;
        std::uint32_t bytes;
    };
    // False: it begins an entry, which needs its flow.
    bool goes_on(const Drop& drop, Time now) const;
    void dropped(const Drop& drop, Time now, const FlowKey& flow);

    void microburst(const Microburst& burst);
    void storm(const PortNote& note) { notes_.add(note); }
    // All pauses end with the link.
    void link_changed(bool up, Time now);

    // Any thread.
    const LatestEntries<PauseSent>& sent() const { return sent_; }
    const LatestEntries<PauseSpell>& received() const { return received_; }
    const LatestEntries<DropSpell>& drops() const { return drops_; }
    const LatestEntries<BurstSpell>& bursts() const { return bursts_; }
    const LatestEntries<PortNote>& notes() const { return notes_; }

  private:
    void pause_received(ClassId priority, Time now, Duration paused);
    void pause_ended(ClassId priority, Duration paused);

    LatestEntries<PauseSent> sent_;
    LatestEntries<PauseSpell> received_;
    LatestEntries<DropSpell> drops_;
    LatestEntries<BurstSpell> bursts_;
    LatestEntries<PortNote> notes_;
    std::array<OpenRecord<PauseSent>, classes> open_sent_{};
    std::array<OpenRecord<PauseSpell>, classes> open_received_{};
    std::array<OpenRecord<BurstSpell>, classes> open_bursts_{};
    std::array<OpenRecord<DropSpell>, drop_reason_count> open_drops_{};
    std::array<std::uint32_t, classes> peak_headroom_{};  // of the pause that runs
    std::array<Duration, classes> paused_before_{};       // received: in all, when the pause began
    std::uint8_t obeyed_ = 0;
};

}  // namespace sluice
