// Gives policies to the workers, and knows whether they have taken them up.
//
// A worker takes up a policy with its next turn. `publish` waits for that, under the real clock for at most
// `patience`. A worker that has not done so by then is late: it does not run. The policy stays published, and
// the worker takes it up when it runs again. Until then everything that it may read stays in memory, and
// nobody waits for it a second time. Control's thread only.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/path/policy.hh"
#include "lib/values/ids.hh"

namespace sluice {

class Switch;

class Publication {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{2};
    // Policies under way at once: a bound for the memory that waits for a late worker.
    static constexpr unsigned max_under_way = 16;

    // `workers_stand_still`: they run on this thread, between whose turns this is called, and take up a
    // policy at once, as under the virtual clock.
    Publication(Switch& device, bool workers_stand_still)
        : device_(device), workers_stand_still_(workers_stand_still) {}

    void publish(std::unique_ptr<const Policy> policy);
    // Every worker runs what was published last.
    bool is_taken_up() const;
    bool is_full() const { return !is_taken_up() && under_way_ >= max_under_way; }

    // "worker 1 has not taken it up for 2 s", of a worker that has been waited for in vain; empty: all run
    // what was published last.
    std::string late() const;
    // Once a round: the events since the last call.
    enum class Notice : std::uint8_t { none, late, back };
    Notice notice();

  private:
    struct Lateness {
        Clock::time_point since;
        std::array<std::uint64_t, max_workers> turns;  // of each worker, then
        bool told = false;
    };
    std::array<std::uint64_t, max_workers> turns() const;

    Switch& device_;
    bool workers_stand_still_;
    unsigned under_way_ = 0;  // published since all workers ran the last one
    std::optional<Lateness> late_;
};

}  // namespace sluice
