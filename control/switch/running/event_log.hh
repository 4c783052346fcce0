// The last max_events events, in order, numbered from 0 since the start.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "control/switch/kernel/link_watch.hh"
#include "control/switch/running/class_changes.hh"
#include "control/switch/running/watchdog.hh"
#include "lib/values/units.hh"

namespace sluice {

struct SwitchEvent {
    Duration at;
    std::string kind;  // "port_down", ...
    std::string text;
    std::optional<WatchdogNotice> watchdog{};  // the figures of a watchdog's event
    std::optional<ClassNotice> of_class{};     // likewise, of a class on its way to lossless
    std::optional<LinkNotice> link{};          // likewise of a port that went up or down
};

class EventLog {
  public:
    static constexpr std::size_t max_events = 10'000;

    void add(SwitchEvent event) {
        events_.push_back(std::move(event));
        ++total_;
        if (events_.size() > max_events) events_.pop_front();
    }
    std::uint64_t total() const { return total_; }
    std::uint64_t lost() const { return total_ - events_.size(); }  // the oldest
    // Null: no longer, or not yet.
    const SwitchEvent* find(std::uint64_t number) const {
        return number < lost() || number >= total_ ? nullptr : &events_[number - lost()];
    }
    auto begin() const { return events_.begin(); }
    auto end() const { return events_.end(); }

  private:
    std::deque<SwitchEvent> events_;
    std::uint64_t total_ = 0;
};

}  // namespace sluice
