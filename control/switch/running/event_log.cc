#include "control/switch/running/event_log.hh"

#include <utility>

namespace sluice {

void EventLog::note(std::string kind, std::string text, SwitchEvent::Notice notice) {
    events_.push_back({clock_.now() - Time{}, std::move(kind), std::move(text), std::move(notice)});
    ++total_;
    if (events_.size() > max_events) events_.pop_front();
}

void EventLog::note_once(const std::string& kind, const std::string& of, std::string text) {
    if (noted_.insert(kind + of).second) note(kind, std::move(text));
}

}  // namespace sluice
