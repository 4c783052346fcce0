#include "lib/queue/scheduler.hh"

#include <algorithm>
#include <cassert>

#include "lib/values/class_mask.hh"

namespace sluice {

namespace {

constexpr std::uint32_t max_wire_bytes = wire_bytes(max_frame_bytes);
static_assert(255 * quantum_bytes_per_weight + 2 * max_wire_bytes <= 1U << 20, "a TokenBucket's range");

Duration time_at(Rate rate, std::uint64_t wire_bytes) {  // at most 2^20 bytes
    return rate.byte_time() * static_cast<std::int64_t>(wire_bytes);
}
// Counts a shaper below 100 bits/s as 100, so that the sum of all turns stays in range.
Duration time_on_link(const PortSchedule& settings, std::uint64_t wire_bytes) {
    return time_at(std::max(link_rate(settings), Rate{100}), wire_bytes);
}

bool has_minimum(const QueueSchedule& queue) { return queue.min_rate != Rate{}; }

// How long a queue below its minimum may have to wait: for a frame under way, one of every queue that is
// below its own, and the worker.
Duration wait_below_minimum(const PortSchedule& settings) {
    const auto frames = 1 + std::count_if(settings.queue.begin(), settings.queue.end(), has_minimum);
    return settings.turn + time_on_link(settings, settings.longest_bytes) * frames;
}

// How long a queue within its maximum may have to wait for a frame: for the worker, a frame under way and one
// of each queue that goes before it or takes turns with it, and the quanta of the latter. A weight below a
// frame waits for more rounds, no longer than its own rate takes for those quanta.
Duration wait_for_turn(const PortSchedule& settings, ClassId queue) {
    const QueueSchedule& own = settings.queue[queue];
    std::uint64_t frames = 1, quanta = 0;
    for (ClassId other = 0; other < classes; ++other) {
        const QueueSchedule& with = settings.queue[other];
        if (other == queue || (own.strict && !(with.strict && other > queue))) continue;
        ++frames;
        if (!with.strict) quanta += with.weight * quantum_bytes_per_weight;
    }
    const std::uint64_t quantum = own.weight * quantum_bytes_per_weight;
    const auto more_rounds = static_cast<std::int64_t>((settings.longest_bytes - 1) / quantum);
    const Duration more =
        std::min(time_on_link(settings, quanta) * more_rounds, time_at(own.max_rate, quantum) * more_rounds);
    return settings.turn + time_on_link(settings, frames * settings.longest_bytes + quanta) +
           (own.strict ? Duration{} : more);
}

std::uint64_t burst_bytes(Rate rate, std::uint32_t burst, std::uint32_t frame, Duration wait) {
    const double while_waiting =
        static_cast<double>(wait.ps) * static_cast<double>(rate.bits_per_second) / 8e12;
    return std::max<std::uint64_t>(burst, frame + static_cast<std::uint64_t>(while_waiting));
}

}  // namespace

std::uint64_t burst_bytes_of_queue(const PortSchedule& settings, ClassId queue) {
    const QueueSchedule& own = settings.queue[queue];
    return burst_bytes(own.max_rate, own.max_burst_bytes, settings.longest_bytes,
                       wait_for_turn(settings, queue));
}

std::uint64_t burst_bytes_of_shaper(const PortSchedule& settings) {
    return burst_bytes(settings.shaper, settings.shaper_burst_bytes, settings.longest_bytes, settings.turn);
}

Rate link_rate(const PortSchedule& settings) {
    return settings.shaper != Rate{} ? std::min(settings.shaper, settings.speed) : settings.speed;
}

// A queue above its own minimum waits until the others have used up their credit, which grows until the last
// of their frames begins; one below it for a frame of each.
std::optional<Duration> delay_by_minimums(const PortSchedule& settings, ClassId queue) {
    std::int64_t frames = 0;
    double part = 0;  // of the link
    for (ClassId other = 0; other < classes; ++other) {
        if (other == queue || !has_minimum(settings.queue[other])) continue;
        ++frames;
        part += static_cast<double>(settings.queue[other].min_rate.bits_per_second) /
                static_cast<double>(link_rate(settings).bits_per_second);
    }
    const Duration one_each = time_on_link(settings, settings.longest_bytes) * frames;
    if (frames == 0 || has_minimum(settings.queue[queue])) return one_each;
    if (part >= 1) return std::nullopt;
    const Duration until_last = wait_below_minimum(settings) - time_on_link(settings, settings.longest_bytes);
    const double credit = part * static_cast<double>(until_last.ps);
    return Duration{static_cast<std::int64_t>((credit + static_cast<double>(one_each.ps)) / (1 - part))};
}

void Scheduler::configure(const PortSchedule& settings) {
    strict_ = capped_ = floored_ = 0;
    for (ClassId queue = 0; queue < classes; ++queue) {
        const QueueSchedule& schedule = settings.queue[queue];
        assert(schedule.weight >= 1);
        const std::uint32_t quantum = schedule.weight * quantum_bytes_per_weight;
        quantum_[queue] = static_cast<std::int32_t>(quantum);
        const auto most = static_cast<std::int32_t>(quantum + max_wire_bytes - 1);
        deficit_[queue] = schedule.strict ? 0 : std::min(deficit_[queue], most);
        // A DWRR queue sends in turns. Credit must span its wait, or it could not reach its maximum; debt
        // must span its turn (and a frame sent for the minimum just before), or a queue above its minimum
        // would look starved between two turns. Credit is a burst, and delays strict queues: no more than
        // needed.
        const std::uint32_t turn = schedule.strict ? 0 : quantum;
        if (schedule.max_rate != Rate{})
            maximum_[queue].configure(schedule.max_rate, wait_for_turn(settings, queue),
                                      schedule.max_burst_bytes, max_wire_bytes);
        else
            maximum_[queue] = {};
        minimum_[queue].configure(schedule.min_rate, wait_below_minimum(settings), 0,
                                  turn + 2 * max_wire_bytes);
        const unsigned bit = 1U << queue;
        if (schedule.strict) strict_ = static_cast<std::uint8_t>(strict_ | bit);
        if (maximum_[queue].limits()) capped_ = static_cast<std::uint8_t>(capped_ | bit);
        if (minimum_[queue].limits()) floored_ = static_cast<std::uint8_t>(floored_ | bit);
    }
    shaper_.configure(settings.shaper, settings.turn, settings.shaper_burst_bytes, max_wire_bytes);
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
    // Frame by frame in turn, so that minimums beyond the link's rate starve no queue.
    if (const unsigned below = below_minimum(eligible, now); below != 0)
        return static_cast<int>(behind(guaranteed_, std::countr_zero(rotated(below, guaranteed_))));
    const unsigned strict = eligible & strict_;
    return strict != 0 ? highest(strict) : -1;
}

void Scheduler::charge_rates(int picked, std::uint32_t wire_bytes, Time now) {
    const auto queue = static_cast<unsigned>(picked);
    const auto bytes = static_cast<std::int32_t>(wire_bytes);
    bool guaranteed = false;  // sent for its minimum: not charged to the deficit
    if ((floored_ >> queue & 1U) != 0) {
        guaranteed = minimum_[queue].may_send(now);
        minimum_[queue].spend(wire_bytes, now);
        if (guaranteed) guaranteed_ = queue;
    }
    if (!guaranteed && !is_strict(picked)) deficit_[queue] -= bytes;
    if (shaper_.limits()) shaper_.spend(wire_bytes, now);
    if ((capped_ >> queue & 1U) == 0) return;
    maximum_[queue].spend(wire_bytes, now);
    // Its turn is over: with the rest of a quantum the next turn would end early.
    if (!maximum_[queue].may_send(now)) deficit_[queue] = std::min(deficit_[queue], bytes - 1);
}

}  // namespace sluice
