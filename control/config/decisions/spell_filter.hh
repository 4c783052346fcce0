// Which of the recorders' records tell of a place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "control/config/decisions/recorded.hh"

namespace sluice {

// A port, or one of its classes: the group, queue and priority of that number. Empty: everywhere. With `to`:
// of packets that come in by `port`, which may be unknown, and leave by `to`.
struct WhyPlace {
    std::optional<PortId> port;
    std::optional<ClassId> number;
    std::optional<PortId> to;
};

// Records of other ports count where they tell of this one.
class SpellFilter {
  public:
    SpellFilter(const Recorded& all, const WhyPlace& place) : all_(all), place_(place) {}

    bool wants(PortId port, const PauseSent& pause) const {
        const auto fillers = std::span(pause.start.fillers).first(pause.start.filler_count);
        if (place_.to)
            return is_here(port) &&
                   std::any_of(fillers.begin(), fillers.end(),
                               [&](const GroupPaused::Filler& filler) { return filler.port == *place_.to; });
        if (is_here(port) && is_at(place_.number, {pause.spell.number})) return true;
        return std::any_of(fillers.begin(), fillers.end(), [&](const GroupPaused::Filler& filler) {
            return is_here(filler.port) && is_at(place_.number, {filler.queue});
        });
    }
    bool wants(PortId port, const PauseSpell& pause) const {
        if (place_.to) return port == *place_.to;
        return is_here(port) &&
               is_at(place_.number, {pause.number, all_.ports[port].priority_to_queue[pause.number]});
    }
    bool wants(PortId port, const DropSpell& drop) const {
        if (place_.to)
            return (!place_.port || drop.from.contains(*place_.port)) &&
                   (drop.to == PortMask() || drop.to.contains(*place_.to));
        if (!place_.port) return true;
        const bool from = drop.from.contains(*place_.port) && is_at(place_.number, drop.groups);
        const bool to = drop.to.contains(*place_.port) && is_at(place_.number, drop.queues);
        return from || to || (is_here(port) && !place_.number);
    }
    bool wants(PortId port, const BurstSpell& burst) const {
        if (place_.to) return port == *place_.to;
        return is_here(port) && is_at(place_.number, {burst.queue});
    }
    bool wants(PortId port, const PortNote& note) const {
        if (place_.to) return port == *place_.to || place_.port == port;
        const bool of_link = note.kind == PortNote::Kind::link_up || note.kind == PortNote::Kind::link_down;
        return is_here(port) && (of_link || is_at(place_.number, {note.queue}));
    }

  private:
    static bool is_at(const std::optional<ClassId>& wanted, std::uint8_t mask) {
        return !wanted || (mask >> *wanted & 1U) != 0;
    }
    static bool is_at(const std::optional<ClassId>& wanted, std::initializer_list<ClassId> numbers) {
        return !wanted || std::find(numbers.begin(), numbers.end(), *wanted) != numbers.end();
    }
    bool is_here(PortId port) const { return !place_.port || *place_.port == port; }

    const Recorded& all_;
    const WhyPlace& place_;
};

}  // namespace sluice
