// Takes a new policy to the workers under traffic. Control's thread only.
//
// Ingress limits promise memory, so they change in two steps: first the tightest of old and new, then, once
// every worker runs it and use fits them, the new ones. A group changes pools with the second step. So no
// cell is ever promised twice. The rest of a policy, with the limits of queues, holds from the first step on.
//
// While the second step waits, use falls under any load: a group that becomes lossless is `changing`, that is
// in XOFF, with the headroom that is free; another group that changes pools takes nothing more from the
// shared part of the old one; cells above a reduced reserve count as shared.
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
    // `workers_stand_still`: see Publication. Otherwise `start` and `finish` wait for the workers.
    LimitChange(Switch& device, bool workers_stand_still)
        : device_(device), publication_(device, workers_stand_still) {}

    Publication& publication() { return publication_; }
    const Publication& publication() const { return publication_; }

    // Publishes `policy` or its first step. A change that overtakes another starts from the workers' limits.
    void start(std::unique_ptr<Policy> policy);
    // Publishes the second step if it is due; true when it did.
    bool finish();
    bool is_pending() const { return awaited_ != nullptr; }
    // Cells in use beyond the new limits of a pending change; a cell beyond two of them counts twice.
    std::int64_t pending_cells() const;

    struct QueueName {
        PortId port;
        ClassId queue;
    };
    // The fullest queue of the classes whose cells a pending change waits for; nothing: all are empty.
    std::optional<QueueName> fullest_queue() const;

  private:
    // Cells beyond the new limits, by pool and by group's headroom.
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

// The state of a priority group: "lossless", "changing" (in XOFF until it is lossless) or "lossy".
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

// Observes lossless classes that wait for their new limits, and their losses meanwhile.
class ClassChanges {
  public:
    // The waits that began or ended since the last call, in order of ports and classes.
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

// The text of an event. `change`: the one that the class waits for.
std::string class_text(const ClassNotice& notice, const std::vector<std::string>& port_names,
                       const LimitChange& change);

}  // namespace sluice
