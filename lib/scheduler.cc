#include "lib/scheduler.hh"

#include <algorithm>
#include <cassert>

#include "lib/class_mask.hh"

namespace sluice {

namespace {

constexpr std::uint32_t longest_wire_bytes = wire_bytes(max_frame_bytes);
static_assert(255 * quantum_bytes_per_weight + 2 * longest_wire_bytes <= 1U << 20, "a TokenBucket's range");

}  // namespace

void Scheduler::configure(const PortSchedule& settings) {
    strict_ = capped_ = floored_ = 0;
    for (ClassId queue = 0; queue < classes; ++queue) {
        const QueueSchedule& schedule = settings.queue[queue];
        assert(schedule.weight >= 1);
        const std::uint32_t quantum = schedule.weight * quantum_bytes_per_weight;
        quantum_[queue] = static_cast<std::int32_t>(quantum);
        const auto most = static_cast<std::int32_t>(quantum + longest_wire_bytes - 1);
        deficit_[queue] = schedule.strict ? 0 : std::min(deficit_[queue], most);
        // A DWRR queue waits for a turn of the others and sends in turns. Credit has to span the wait, or a
        // queue could not reach its maximum; debt has to span the turn (and a frame sent for the minimum just
        // before), or a queue whose share is above its minimum would look starved between two turns.
        const std::uint32_t turn = schedule.strict ? 0 : quantum;
        maximum_[queue].configure(schedule.max_rate, settings.burst, turn + longest_wire_bytes,
                                  longest_wire_bytes);
        minimum_[queue].configure(schedule.min_rate, settings.burst, longest_wire_bytes,
                                  turn + 2 * longest_wire_bytes);
        const unsigned bit = 1U << queue;
        if (schedule.strict) strict_ = static_cast<std::uint8_t>(strict_ | bit);
        if (maximum_[queue].limits()) capped_ = static_cast<std::uint8_t>(capped_ | bit);
        if (minimum_[queue].limits()) floored_ = static_cast<std::uint8_t>(floored_ | bit);
    }
    shaper_.configure(settings.shaper, settings.burst, 0, longest_wire_bytes);
    limited_ = capped_ != 0 || floored_ != 0 || shaper_.limits();
}

std::optional<Time> Scheduler::next_eligible(std::uint8_t ready, Time now) const {
    if (ready == 0 || !limited_ || within_maximum(ready, now) != 0) return std::nullopt;
    std::optional<Time> soonest;
    for_each_class(ready, [&](ClassId queue) {
        const bool held_back = (capped_ >> queue & 1U) != 0 && !maximum_[queue].may_send(now);
        const Time when = held_back ? maximum_[queue].next_send() : now;
        soonest = soonest ? min(*soonest, when) : when;
    });
    if (shaper_.limits() && !shaper_.may_send(now)) soonest = max(*soonest, shaper_.next_send());
    return soonest;
}

unsigned Scheduler::within_maximum(unsigned ready, Time now) const {
    if (shaper_.limits() && !shaper_.may_send(now)) return 0;
    for_each_class(ready & capped_, [&](ClassId queue) {
        if (!maximum_[queue].may_send(now)) ready &= ~(1U << queue);
    });
    return ready;
}

unsigned Scheduler::below_minimum(unsigned queues, Time now) const {
    unsigned below = 0;
    for_each_class(queues & floored_, [&](ClassId queue) {
        if (minimum_[queue].may_send(now)) below |= 1U << queue;
    });
    return below;
}

int Scheduler::pick_first(unsigned eligible, Time now) {
    if (const unsigned strict = eligible & strict_; strict != 0) {
        const unsigned below = below_minimum(strict, now);
        return highest(below != 0 ? below : strict);
    }
    const unsigned below = below_minimum(eligible, now);
    if (below == 0) return -1;
    // Frame by frame in turn, so that minima that together exceed the link starve nobody.
    return static_cast<int>(behind(guaranteed_, std::countr_zero(rotated(below, guaranteed_))));
}

bool Scheduler::charge_rates(int picked, std::uint32_t wire_bytes, Time now) {
    const auto queue = static_cast<unsigned>(picked);
    if (shaper_.limits()) shaper_.take(wire_bytes, now);
    if ((capped_ >> queue & 1U) != 0) maximum_[queue].take(wire_bytes, now);
    if ((floored_ >> queue & 1U) == 0) return false;
    const bool guaranteed = minimum_[queue].may_send(now);
    minimum_[queue].take(wire_bytes, now);
    if (guaranteed && !is_strict(picked)) guaranteed_ = queue;
    return guaranteed;
}

}  // namespace sluice
