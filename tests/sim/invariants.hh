// The invariants of a switch after every instant of the virtual clock (mechanisms: section 3, the ledger).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/path/port_context.hh"
#include "dataplane/run/switch.hh"

namespace sluice::sim {

struct Sums {
    std::array<std::int64_t, max_pools> shared{};
    std::array<std::int64_t, max_pools> headroom{};
    std::int64_t cells = 0;
};

class Invariants {
  public:
    // The first thing that is wrong, or empty. `cut_pending`: limits were cut and the second step of the
    // change has not come, so use may be above them. Clears the users' headroom watermarks.
    std::string broken(Switch& device, std::uint64_t buffer_cells, bool cut_pending);

  private:
    std::string broken_overrun(Switch& device, PortContext& port, unsigned n);

    std::vector<std::array<std::uint64_t, classes>> overruns_;  // of each group, up to the instant before
    std::uint64_t generation_ = 0;                              // of the policy, as of the instant before
    Sums egress_before_;                                        // likewise
};

// The further invariant when nothing is queued any more: all occupancies are zero.
std::string broken_after_drain(Switch& device);

}  // namespace sluice::sim
