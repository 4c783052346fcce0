#include "lib/pfc/pfc_honor.hh"

#include "lib/values/class_mask.hh"

namespace sluice {

void PfcHonor::receive(const PauseMap& map, Time start, Time end, Time obeyed, Rate rate,
                       std::uint8_t enabled) {
    expire(start);  // a turn may come late: these pauses ended before the frame came
    const Duration quantum = rate.byte_time() * quantum_bytes;
    for_each_class(map.class_enable, [&](ClassId n) {
        const unsigned bit = 1U << n;
        if ((enabled & bit) == 0) return counters_[n].rx_unexpected.add(1);
        const bool xoff = map.quanta[n] != 0;
        (xoff ? counters_[n].rx_xoff : counters_[n].rx_xon).add(1);
        const Time until = end + quantum * map.quanta[n];
        if ((suspended_ & bit) == 0) return step(n, xoff ? PauseEvent::xoff : PauseEvent::xon, obeyed, until);
        ignored_ = static_cast<std::uint8_t>(xoff ? ignored_ | bit : ignored_ & ~bit);
        if (xoff) deadline_[n] = until;
    });
}

void PfcHonor::forget(Time now, std::uint8_t priorities) {
    expire(now);
    for_each_class(paused_ & priorities, [&](ClassId n) { step(n, PauseEvent::link_down, now); });
    ignored_ = static_cast<std::uint8_t>(ignored_ & ~priorities);
}

void PfcHonor::suspend(Time now, std::uint8_t priorities) {
    expire(now);
    const unsigned taken = paused_ & priorities;
    for_each_class(taken, [&](ClassId n) { resume(n, now); });
    find_earliest();
    suspended_ = static_cast<std::uint8_t>(suspended_ | priorities);
    ignored_ = static_cast<std::uint8_t>(ignored_ | taken);  // their deadlines stay
}

void PfcHonor::obey(Time now, std::uint8_t priorities) {
    expire_ignored(now);
    const unsigned running = ignored_ & priorities;
    suspended_ = static_cast<std::uint8_t>(suspended_ & ~priorities);
    ignored_ = static_cast<std::uint8_t>(ignored_ & ~priorities);
    for_each_class(running, [&](ClassId n) { step(n, PauseEvent::xoff, now, deadline_[n]); });
}

void PfcHonor::expire_ignored(Time now) {
    for_each_class(ignored_, [&](ClassId n) {
        if (deadline_[n] <= now) ignored_ = static_cast<std::uint8_t>(ignored_ & ~(1U << n));
    });
}

void PfcHonor::step(ClassId priority, PauseEvent event, Time now, Time until) {
    const bool is_running = state(priority) == PauseState::running;
    if (event == PauseEvent::xoff) {
        if (is_running) {
            counters_[priority].transitions.add(1);
            pause(priority, now);
        }
        deadline_[priority] = until;
    } else if (is_running) {
        return;
    } else if (event == PauseEvent::expiry) {
        counters_[priority].expired.add(1);
        resume(priority, deadline_[priority]);
    } else {
        resume(priority, now);
    }
    find_earliest();
}

std::uint8_t PfcHonor::still_paused(Time now) const {
    unsigned mask = paused_;
    for_each_class(paused_, [&](ClassId n) {
        if (deadline_[n] <= now) mask &= ~(1U << n);
    });
    return static_cast<std::uint8_t>(mask);
}

void PfcHonor::expire_passed(Time now) {
    for_each_class(paused_, [&](ClassId n) {
        if (deadline_[n] <= now) step(n, PauseEvent::expiry, now);
    });
}

void PfcHonor::settle(Time now) {
    for_each_class(paused_, [&](ClassId n) {
        counters_[n].paused_ps.set(static_cast<std::uint64_t>(paused_time(n, now).ps));
        counted_to_[n] = max(counted_to_[n], min(now, deadline_[n]));
    });
}

Duration PfcHonor::paused_time(ClassId priority, Time now) const {
    const Duration closed{static_cast<std::int64_t>(counters_[priority].paused_ps.get())};
    if (state(priority) == PauseState::running) return closed;
    const Time to = min(now, deadline_[priority]);
    return counted_to_[priority] < to ? closed + (to - counted_to_[priority]) : closed;
}

void PfcHonor::pause(ClassId priority, Time now) {
    paused_ = static_cast<std::uint8_t>(paused_ | 1U << priority);
    counted_to_[priority] = now;
}

void PfcHonor::resume(ClassId priority, Time now) {
    counters_[priority].paused_ps.set(static_cast<std::uint64_t>(paused_time(priority, now).ps));
    paused_ = static_cast<std::uint8_t>(paused_ & ~(1U << priority));
}

void PfcHonor::find_earliest() {
    bool first = true;
    for_each_class(paused_, [&](ClassId n) {
        earliest_ = first ? deadline_[n] : min(earliest_, deadline_[n]);
        first = false;
    });
}

}  // namespace sluice
