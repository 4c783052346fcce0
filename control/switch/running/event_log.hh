// The last max_events events, in order, numbered from 0 since the start.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "control/switch/running/limit_change.hh"
#include "control/switch/running/link_watch.hh"
#include "control/switch/running/run_clock.hh"
#include "control/switch/running/watchdog.hh"

namespace sluice {

struct SwitchEvent {
    // The figures of the event, if any.
    using Notice = std::variant<std::monostate, WatchdogNotice, ClassNotice, LinkNotice>;

    Duration at;
    std::string kind;  // "port_down", ...
    std::string text;
    Notice notice{};

    // Null for another kind of event.
    const WatchdogNotice* watchdog() const { return std::get_if<WatchdogNotice>(&notice); }
    const ClassNotice* of_class() const { return std::get_if<ClassNotice>(&notice); }
    const LinkNotice* link() const { return std::get_if<LinkNotice>(&notice); }
};

class EventLog {
  public:
    static constexpr std::size_t max_events = 10'000;

    // `clock` outlives it.
    explicit EventLog(const RunClock& clock) : clock_(clock) {}

    void note(std::string kind, std::string text, SwitchEvent::Notice notice = {}) {
        events_.push_back({clock_.now() - Time{}, std::move(kind), std::move(text), std::move(notice)});
        ++total_;
        if (events_.size() > max_events) events_.pop_front();
    }
    // Notes the same words once in a run; with `of`, a port or queue, once for it, whatever the words.
    void note_once(const std::string& kind, std::string text) { note_once(kind, text, text); }
    void note_once(const std::string& kind, const std::string& of, std::string text) {
        if (noted_.insert(kind + of).second) note(kind, std::move(text));
    }

    std::uint64_t total() const { return total_; }
    std::uint64_t lost() const { return total_ - events_.size(); }  // the oldest
    // Null: not kept any more, or not yet there.
    const SwitchEvent* find(std::uint64_t number) const {
        return number < lost() || number >= total_ ? nullptr : &events_[number - lost()];
    }
    auto begin() const { return events_.begin(); }
    auto end() const { return events_.end(); }

  private:
    const RunClock& clock_;
    std::deque<SwitchEvent> events_;
    std::uint64_t total_ = 0;
    std::set<std::string> noted_;  // once: kind and words, or what it was of
};

}  // namespace sluice
