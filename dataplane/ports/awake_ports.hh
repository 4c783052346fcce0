// The ports of a switch that the virtual clock must look at, and the list of switches that have such: a port
// puts itself in when its next arrival may have changed, control wakes the switch when it has published.
// Under the real clock nobody asks.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/values/port_mask.hh"

namespace sluice {

class AwakePorts {
  public:
    // From now on the switch puts `number` into `woken`, once until `forget`; null: no longer.
    void report_to(std::vector<std::uint32_t>* woken, std::uint32_t number) {
        woken_ = woken;
        number_ = number;
        listed_ = false;
    }

    void wake() {
        if (listed_ || woken_ == nullptr) return;
        listed_ = true;
        woken_->push_back(number_);
    }
    void wake(PortId port) {
        ports.add(port);
        wake();
    }
    // It is looked at until `forget`, and so need not be on the list.
    void attend() { listed_ = true; }
    // It is on the list no more.
    void forget() { listed_ = false; }

    PortMask ports;

  private:
    std::vector<std::uint32_t>* woken_ = nullptr;
    std::uint32_t number_ = 0;
    bool listed_ = false;
};

}  // namespace sluice
