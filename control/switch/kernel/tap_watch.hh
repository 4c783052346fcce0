// Watches the ports' TAPs while the switch runs: a deleted one is made anew, as `PortWatch` takes an
// interface again that is back. Called by control now and then under the real clock.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/switch/kernel/port_watch.hh"
#include "control/switch/kernel/slow_path.hh"
#include "lib/frame/headers.hh"

namespace sluice {

class TapWatch {
  public:
    // The least time between two makings of one: repeated deletes must not keep control busy.
    static constexpr Duration make_period = seconds(1);

    // In order of the ports, which are known by id: names and MACs.
    std::vector<PortNotice> find_changes(SlowPath& slow_path, const Config& config,
                                         const std::vector<std::string>& names,
                                         const std::vector<MacAddress>& macs, Time now);

  private:
    struct Watched {
        bool is_gone = false;
        Time next_make{};
        std::string last_error{};
    };
    std::vector<Watched> taps_;  // by port
};

}  // namespace sluice
