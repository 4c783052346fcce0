// Explains the records of a port's flight recorder in sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "control/config/decisions/recorded_why.hh"
#include "control/config/text/quantity_text.hh"

namespace sluice {

class Explainer {
    using Filler = GroupPaused::Filler;

  public:
    Explainer(const Recorded& all, PortId id) : all_(all), id_(id), own_(all.ports[id]) {}

    // The cause of a pause in a word: "behind", "held", "slow_peer", "shaped", "congestion".
    std::string_view cause_of(const PauseSent& pause) const;
    RecordedWhy explain(const PauseSent& pause, std::string_view cause) const;
    RecordedWhy explain(const PauseSpell& pause) const;
    RecordedWhy explain(const DropSpell& drop) const;
    RecordedWhy explain(const BurstSpell& burst) const;
    RecordedWhy explain(const Storms& storms) const;
    RecordedWhy explain(const LinkChanges& changes) const;

  private:
    void tell_trimmed(const DropSpell& drop, RecordedWhy& why) const;
    RecordedWhy about(std::string_view verdict, std::string_view reason, std::uint64_t count, Time first,
                      Time last) const {
        RecordedWhy why;
        why.verdict = verdict;
        why.reason = reason;
        why.port = id_;
        why.count = count;
        why.first = first;
        why.last = last;
        return why;
    }
    RecordedWhy about(std::string_view verdict, std::string_view reason, const PauseSpell& pause) const {
        RecordedWhy why = about(verdict, reason, pause.count, pause.first, pause.last);
        why.lasted = paused(pause);
        why.going_on = pause.running;
        return why;
    }
    std::string bytes(std::uint64_t cells) const { return size_text(cells * all_.cell_bytes); }
    std::string place(PortId port, ClassId number) const {
        return fmt::format("{}.{}", all_.ports[port].name, number);
    }
    std::string ports(const PortMask& mask) const;
    std::string span_text(Time first, Time last) const;
    std::string pauses_text(const PauseSpell& pause) const;
    std::string shares_text(std::span<const Filler> list, std::uint32_t others, bool with_queue,
                            bool exact) const;
    Time end_of(const PauseSpell& pause) const { return pause.running ? all_.now : pause.end(); }
    Duration paused(const PauseSpell& pause) const {
        return pause.running ? pause.paused + (all_.now - pause.last) : pause.paused;
    }
    bool meet(const PauseSpell& a, const PauseSpell& b) const {
        return a.first <= end_of(b) && b.first <= end_of(a);
    }
    void explain_start(const PauseSent& pause, RecordedWhy& why) const;
    void explain_cause(const PauseSent& pause, RecordedWhy& why) const;
    void explain_slow_peer(const PauseSent& pause, const Filler& queue, RecordedWhy& why) const;
    // The pauses of the queue by its peer meanwhile.
    PauseSpell waited_for(const PauseSent& pause, const Filler& queue) const;
    struct Pace {
        Rate rate;
        std::string_view by;  // "shaper", "max_rate"; empty: the port's speed
    };
    Pace pace_of(const Filler& queue) const;
    std::string more_room(const PauseSent& pause) const;
    void tell_pace(const PauseSent& pause, const Filler& queue, RecordedWhy& why) const;
    std::string signal_advice(const PauseSent& pause, const Filler& queue) const;
    std::string advice_for(const DropSpell& drop, const std::string& to) const;

    const Recorded& all_;
    PortId id_;
    const RecordedPort& own_;
};

}  // namespace sluice
