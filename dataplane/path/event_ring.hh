// Events from one worker to control.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "lib/threads/counters.hh"
#include "lib/threads/mailbox.hh"

namespace sluice {

// From one worker to control. What does not fit is counted and gone.
template <class Event>
struct EventRing {
    explicit EventRing(std::size_t capacity) : events(capacity) {}
    bool post(const Event& event) {
        if (events.post({&event, 1}) == 1) [[likely]]
            return true;
        lost.add(1);
        return false;
    }
    // Reader: calls take(event) for all that it holds now, and no more than it can hold.
    template <class Take>
    void drain(Take take) {
        std::size_t left = events.size();
        if (left == 0) return;  // before 64 of them are made
        std::array<Event, 64> some;
        while (left != 0) {
            const std::size_t count = events.collect(std::span(some).first(std::min(left, some.size())));
            for (std::size_t i = 0; i < count; ++i) take(some[i]);
            left -= count;
        }
    }
    Mailbox<Event> events;
    Counter lost;
};

}  // namespace sluice
