// What must hold of a switch after every instant of the virtual clock (mechanisms: section 3, the ledger).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/switch.hh"

namespace sluice::sim {

class Invariants {
  public:
    // The first thing that is wrong, or empty. `cut_pending`: limits were cut and the second step of the
    // change has not come, so use may be above them. Clears the users' headroom watermarks.
    std::string broken(Switch& device, std::uint64_t buffer_cells, bool cut_pending);

  private:
    std::string broken_overrun(Switch& device, PortContext& port, unsigned n);

    std::vector<std::array<std::uint64_t, classes>> overruns_;  // of each group, up to the instant before
    const Policy* policy_ = nullptr;                            // as of the instant before
};

// What must hold besides when nothing is queued any more: all occupancies are zero.
std::string broken_after_drain(Switch& device);

}  // namespace sluice::sim
