// The way of a new policy to the workers, under traffic.
//
// A change of limits takes two steps: first the tightest of old and new, then, once every worker runs it and
// what is in use fits, the new limits; a group or queue changes pools with the second step. So no cell is
// ever promised twice. Everything else in a policy holds from the first step on. Control's thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "dataplane/policy.hh"
#include "dataplane/switch.hh"

namespace sluice {

class LimitChange {
  public:
    // `workers_stand_still`: they run on this thread, between whose turns this is called, and take up a
    // policy at once, as under the virtual clock. Otherwise `start` and `finish` wait for their
    // acknowledgement.
    LimitChange(Switch& device, bool workers_stand_still)
        : device_(device), workers_stand_still_(workers_stand_still) {}

    // Workers run `policy` or, while the change is pending, its first step. A change that overtakes another
    // starts from what they run now.
    void start(std::unique_ptr<Policy> policy);
    // The second step, if it is due; true when it came.
    bool finish();
    bool is_pending() const { return awaited_ != nullptr; }
    // Cells in use beyond limits that a pending change has cut; a cell beyond two of them counts twice.
    std::int64_t pending_cells() const;

  private:
    void publish(std::unique_ptr<const Policy> policy);

    Switch& device_;
    bool workers_stand_still_;
    std::unique_ptr<Policy> awaited_;  // the second step
};

}  // namespace sluice
