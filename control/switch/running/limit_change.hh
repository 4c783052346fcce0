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

}  // namespace sluice
