// A switch on two fake cards with one worker, its turns and rounds of control by the test's own hand.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/nic/on_cards.hh"

#include "CppUTest/TestHarness.h"

namespace sluice {

class OneWorker : public SwitchOnCards {
  public:
    void starts(bool force = false, const std::string& p0_keys = {}, const std::string& p1_keys = {}) {
        STRCMP_EQUAL("", start({{}, p0_keys, p1_keys}, force).c_str());
        if (running) running->clock().set(clock_);
    }
    void round(Duration passes = milliseconds(16)) {
        now = now + passes;
        worker_turn(0);
        running->watch().note_news();
        alone->devices()->poll_links(now);
    }
    static void arrive(fake::Card& card, unsigned frames, std::uint8_t ttl = 64) {
        for (unsigned n = 0; n < frames; ++n) SwitchOnCards::arrive(card, {.ttl = ttl});
    }
    std::vector<std::string> events(const std::string& kind) const {
        std::vector<std::string> texts;
        for (const SwitchEvent& event : running->events())
            if (event.kind == kind) texts.push_back(event.text);
        return texts;
    }
    std::string promises() const {
        std::string all;
        for (const std::string& promise : running->broken_promises()) all += promise + "\n";
        return all;
    }

  private:
    // Control's, as the rounds go by.
    struct RoundClock : SwitchClock {
        explicit RoundClock(const Time& of_test) : at(of_test) {}
        Time now() const override { return at; }
        const Time& at;
    };
    RoundClock clock_{now};
};

}  // namespace sluice
