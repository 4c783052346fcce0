// A fabric from the text of its file, whose switches are held to the invariants of tests/sim after every
// instant, and whose ledger balances after every window of the clock; what is broken fails the running test
// with `label`, which names the seed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/fabric/run/fabric.hh"
#include "dataplane/path/port_context.hh"
#include "tests/sim/invariants.hh"

namespace sluice::fabric {

class CheckedFabric {
  public:
    explicit CheckedFabric(const std::string& text, std::string label = {}, bool checks = true);
    ~CheckedFabric();

    Fabric& fabric() { return *fabric_; }
    Time now() { return fabric_->loop().now(); }
    // Timed events of the file included.
    void run_until(Time end);
    // Until nothing can happen any more; then nothing may be left anywhere.
    void drain();
    void command(const std::string& text);

    NodeId node(const std::string& name) const { return plan_->nodes.at(name); }
    LinkId link(const std::string& name) const;
    FabricSwitch& at(const std::string& name) { return fabric_->switches()[plan_->switch_of[node(name)]]; }
    PortContext& port(const std::string& device, const std::string& name) {
        FabricSwitch& of = at(device);
        return of.running->device().port(of.ports->id_of(name));
    }
    // Payload that the queue pairs between these hosts have delivered so far, in the order of `from`.
    std::uint64_t delivered_bytes(const std::string& from, const std::string& to);
    std::uint64_t dropped(DropReason reason);  // by all switches
    std::uint64_t lossless_lost();             // anywhere
    std::uint64_t digest();

  private:
    void check(std::uint32_t number);  // a switch, after an instant of it
    void check();                      // all, after a window of the clock
    void fail(const std::string& what);

    std::string label_;
    bool checks_;
    std::unique_ptr<FabricPlan> plan_;
    std::unique_ptr<Fabric> fabric_;
    std::vector<sim::Invariants> invariants_;
};

}  // namespace sluice::fabric
