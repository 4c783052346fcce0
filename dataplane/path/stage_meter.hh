// TSC cycles of the stages of a worker's turn, counted on demand.
//
// The time between two laps belongs to the stage of the later one, so the stages add up to the whole time
// from the first metered turn to the last. A turn is compiled for both: with `NoLaps` a lap compiles to
// nothing, and the choice is made once a turn.
#pragma once

#include <rte_cycles.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/threads/counters.hh"

namespace sluice {

enum class Stage : std::uint8_t {
#define STAGE(name, sentence) name,
#include "dataplane/path/stages.def"
#undef STAGE
};

struct StageText {
    std::string_view name;
    std::string_view sentence;
};

constexpr std::array stage_texts = {
#define STAGE(name, sentence) StageText{#name, sentence},
#include "dataplane/path/stages.def"
#undef STAGE
};

constexpr std::size_t stage_count = stage_texts.size();

// `session` is control's, the rest the worker's; any thread may read the counters.
class StageMeter {
  public:
    struct Use {
        Counter packets;
        Counter cycles;
    };

    // Control: counts from zero from the worker's next turn on, until `stop`. relaxed: a turn later is soon
    // enough.
    void start() { session_.store(++sessions_, std::memory_order_relaxed); }
    void stop() { session_.store(0, std::memory_order_relaxed); }
    // 0: off.
    std::uint32_t session() const { return session_.load(std::memory_order_relaxed); }

    const Use& use(Stage stage) const { return uses_[static_cast<std::size_t>(stage)]; }
    std::uint64_t turns() const { return turns_.get(); }
    std::uint64_t busy_turns() const { return busy_turns_.get(); }

  private:
    friend class Laps;

    std::atomic<std::uint32_t> session_{0};
    std::uint32_t sessions_ = 0;  // control's own
    std::uint32_t seen_ = 0;      // the worker's: the session that is being counted
    std::uint64_t last_ = 0;      // end of the last lap, cycles
    Counter turns_;
    Counter busy_turns_;
    std::array<Use, stage_count> uses_{};
};

struct NoLaps {
    void lap(Stage, unsigned) {}
};

// The laps of a turn, added up here and to the meter at its end, when it is known whether the turn was idle.
class Laps {
  public:
    // `session`: the meter's, not 0.
    Laps(StageMeter& meter, std::uint32_t session) : meter_(meter) {
        if (session == meter.seen_) return;
        meter.seen_ = session;
        meter.turns_.set(0);
        meter.busy_turns_.set(0);
        for (StageMeter::Use& use : meter.uses_) use.packets.set(0), use.cycles.set(0);
        meter.last_ = rte_rdtsc();
    }

    // The worker has come to the end of `stage` with so many packets.
    void lap(Stage stage, unsigned packets) {
        const std::uint64_t now = rte_rdtsc();
        Sum& sum = sums_[static_cast<std::size_t>(stage)];
        sum.packets += packets;
        sum.cycles += now - meter_.last_;
        meter_.last_ = now;
    }

    // The turn has ended; `work` as it returns it.
    void finish(unsigned work) {
        meter_.turns_.add(1);
        if (work != 0) meter_.busy_turns_.add(1);
        for (std::size_t n = 0; n < stage_count; ++n) {
            const std::size_t stage = work != 0 ? n : static_cast<std::size_t>(Stage::idle);
            meter_.uses_[stage].packets.add(sums_[n].packets);
            meter_.uses_[stage].cycles.add(sums_[n].cycles);
        }
    }

  private:
    struct Sum {
        std::uint64_t packets = 0;
        std::uint64_t cycles = 0;
    };
    StageMeter& meter_;
    std::array<Sum, stage_count> sums_{};
};

}  // namespace sluice
