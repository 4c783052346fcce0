#include "lib/pfc/pfc_generator.hh"

#include "lib/values/class_mask.hh"

namespace sluice {

void PfcGenerator::configure(const PfcSendSettings& settings) {
    assert((settings.may_send & ~settings.lossless) == 0 && "a pause map never names a lossy class");
    assert(settings.quanta >= PfcSendSettings::min_quanta && settings.rate.valid_port_speed());
    settings_ = settings;
    refresh_interval_ = settings.rate.byte_time() * quantum_bytes * settings.quanta / 2;
}

std::optional<PauseMap> PfcGenerator::decide_changed(std::uint8_t want_xoff, std::uint8_t want_xon,
                                                     Time now) {
    assert((want_xoff & want_xon) == 0);
    PauseMap map;
    for (ClassId n = 0; n < classes; ++n) {
        const auto among = [n](unsigned mask) { return (mask >> n & 1U) != 0; };
        AssertAction action = AssertAction::none;
        if (among(want_xon) || !among(may_send()))
            action = step(n, AssertEvent::want_xon, now);
        else if (among(want_xoff))
            action = step(n, AssertEvent::want_xoff, now);
        if (action == AssertAction::none && among(off_) && refresh_[n] <= now)
            action = step(n, AssertEvent::refresh_due, now);
        if (action == AssertAction::none) continue;
        map.class_enable = static_cast<std::uint8_t>(map.class_enable | 1U << n);
        map.quanta[n] = action == AssertAction::send_xon ? 0 : settings_.quanta;
    }
    SLUICE_INVARIANT((off_ & ~may_send()) == 0 && (off_ & want_xon) == 0 &&
                     (want_xoff & may_send() & ~off_) == 0);
    return map.class_enable != 0 ? std::optional(map) : std::nullopt;
}

void PfcGenerator::reset(Time now, std::uint8_t priorities) {
    for_each_class(off_ & priorities, [&](ClassId n) { step(n, AssertEvent::link_down, now); });
}

AssertAction PfcGenerator::step(ClassId priority, AssertEvent event, Time now) {
    Counters& counters = counters_[priority];
    AssertAction action = AssertAction::none;
    switch (state(priority)) {
        case AssertState::on:
            if (event != AssertEvent::want_xoff) return action;
            counters.transitions.add(1);
            counters.tx_xoff.add(1);
            counted_to_[priority] = now;
            refresh_[priority] = now + refresh_interval_;
            off_ = static_cast<std::uint8_t>(off_ | 1U << priority);
            action = AssertAction::send_xoff;
            break;
        case AssertState::off:
            if (event == AssertEvent::want_xoff) return action;
            if (event == AssertEvent::refresh_due) {
                counters.tx_xoff.add(1);
                counters.tx_refresh.add(1);
                if (const Time end = refresh_[priority] + refresh_interval_; end < now) {
                    counters.tx_late.add(1);
                    counters.unheld_ps.add(static_cast<std::uint64_t>((now - end).ps));
                }
                refresh_[priority] = now + refresh_interval_;
                action = AssertAction::send_refresh;
                break;
            }
            counters.asserted_ps.set(static_cast<std::uint64_t>(asserted_time(priority, now).ps));
            off_ = static_cast<std::uint8_t>(off_ & ~(1U << priority));
            if (event == AssertEvent::want_xon) {
                counters.tx_xon.add(1);
                action = AssertAction::send_xon;
            }
            break;
    }
    find_earliest();
    return action;
}

void PfcGenerator::settle(Time now) {
    for_each_class(off_, [&](ClassId n) {
        counters_[n].asserted_ps.set(static_cast<std::uint64_t>(asserted_time(n, now).ps));
        counted_to_[n] = now;
    });
}

Duration PfcGenerator::asserted_time(ClassId priority, Time now) const {
    const Duration closed{static_cast<std::int64_t>(counters_[priority].asserted_ps.get())};
    return state(priority) == AssertState::on ? closed : closed + (now - counted_to_[priority]);
}

void PfcGenerator::find_earliest() {
    bool first = true;
    for_each_class(off_, [&](ClassId n) {
        earliest_ = first ? refresh_[n] : min(earliest_, refresh_[n]);
        first = false;
    });
    SLUICE_INVARIANT(has_live_refreshes());
}

bool PfcGenerator::has_live_refreshes() const {
    bool all = true;
    for_each_class(off_, [&](ClassId n) { all = all && earliest_ <= refresh_[n]; });
    return all;
}

}  // namespace sluice
