// The way of a new policy to the workers, under traffic. Control's thread only.
//
// Limits of the ingress half promise memory, so they change in two steps: first the tightest of old and new,
// then, once every worker runs it and use fits the new limits, those. A group changes pools with the second
// step. So no cell is ever promised twice. Everything else in a policy, queues' limits included, holds from
// the first step on.
//
// Where the second step cannot follow at once, the use that it waits for falls under any load: a group that
// becomes lossless is `changing`, that is in XOFF, with as much of its headroom as is free; another group
// that changes pools takes nothing more from the shared part of the old one; cells above a reserve that was
// cut count as shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/switch/running/publication.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

class Switch;

class LimitChange {
  public:
    // `workers_stand_still`: they run on this thread, between whose turns this is called, and take up a
    // policy at once, as under the virtual clock. Otherwise `start` and `finish` wait for their
    // acknowledgement.
    LimitChange(Switch& device, bool workers_stand_still)
        : device_(device), publication_(device, workers_stand_still) {}

    Publication& publication() { return publication_; }
    const Publication& publication() const { return publication_; }

    // Workers run `policy` or, while the change is pending, its first step. A change that overtakes another
    // starts from the limits that they run now.
    void start(std::unique_ptr<Policy> policy);
    // The second step, if it is due; true when it came.
    bool finish();
    bool is_pending() const { return awaited_ != nullptr; }
    // Cells in use beyond the new limits of a pending change; a cell beyond two of them counts twice.
    std::int64_t pending_cells() const;

    struct QueueName {
        PortId port;
        ClassId queue;
    };
    // Of a pending change, where the cells wait that it waits for: the fullest queue of the classes that hold
    // them. Nothing when none of these queues holds a packet.
    std::optional<QueueName> fullest_queue() const;

  private:
    // Cells beyond the new limits: of a group's headroom, and of each pool.
    struct Excess {
        std::array<std::int64_t, max_pools> pool{};
        std::vector<std::array<std::int64_t, classes>> group;  // by port
    };
    Excess excess() const;
    std::unique_ptr<Policy> while_waiting() const;

    Switch& device_;
    Publication publication_;
    std::unique_ptr<Policy> awaited_;  // the second step
    bool is_waiting_ = false;          // `while_waiting` has been published for it
};

// What a priority group does for its class now, whatever is configured: "lossless", "changing" (in XOFF until
// it is lossless) or "lossy".
constexpr std::string_view class_state(const GroupLimits& limits) {
    return limits.changing ? "changing" : limits.lossless ? "lossless" : "lossy";
}

// A wait that began or ended.
struct ClassNotice {
    PortId port;
    ClassId priority;
    bool begins;
    bool lossless;       // at its end: else it was taken back
    Duration lasted;     // at its end
    std::uint64_t lost;  // at its end: packets that the group refused meanwhile
};

// Lossless classes that wait for their new limits: since when, their losses meanwhile, and when the wait
// began and ended. Reads the policy that the workers run; changes nothing.
class ClassChanges {
  public:
    // The changes since the last call, in order of ports and classes. After each policy that is published.
    std::vector<ClassNotice> new_notices(const Switch& device, Time now);
    // Nothing: the class does not wait.
    std::optional<Time> since(PortId port, ClassId priority) const {
        return port < waits_.size() ? waits_[port][priority].since : std::nullopt;
    }

  private:
    struct Wait {
        std::optional<Time> since;
        std::uint64_t dropped = 0;  // by the group, when it began
    };
    std::vector<std::array<Wait, classes>> waits_;
};

// Of an event. `change`: the one for which the class waits.
std::string class_text(const ClassNotice& notice, const std::vector<std::string>& port_names,
                       const LimitChange& change);

}  // namespace sluice
