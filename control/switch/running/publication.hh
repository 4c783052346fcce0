// Publishes policies to the workers, and tracks whether all run the last one. Control's thread only.
//
// A worker takes up a policy with its next turn. `publish` waits for that, under the real clock for at most
// `patience`. After that the worker is late: it does not run, and takes the policy up when it runs again.
// Until then all that it may read stays in memory, and no call waits for it again.
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
    // Policies in flight: a bound for the memory that a late worker holds.
    static constexpr unsigned max_under_way = 16;

    // `workers_stand_still`: the virtual clock's, which run on this thread and take up a policy at once.
    Publication(Switch& device, bool workers_stand_still)
        : device_(device), workers_stand_still_(workers_stand_still) {}

    void publish(std::unique_ptr<const Policy> policy);
    // Every worker runs the last policy.
    bool is_taken_up() const;
    bool is_full() const { return !is_taken_up() && under_way_ >= max_under_way; }

    // "worker 1 has not taken it up for 2 s", for a late worker; empty: all run the last policy.
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
