// The kernel as control plane of a running switch: its addresses stay with it at XDP ports; with
// `kernel.routes` its routes and neighbors are the switch's, behind those of the configuration, and it
// resolves the neighbors that packets want.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/routes/routes.hh"
#include "control/switch/kernel/kernel_mirror.hh"

namespace sluice {

class RunningSwitch;

class KernelControl {
  public:
    // Knows all that the kernel has; gives nothing of it to the switch yet.
    static tl::expected<std::unique_ptr<KernelControl>, std::string> open(const KernelConfig& config,
                                                                          KernelTables::Ports ports);

    // Other interfaces are the ports from now on.
    void set_ports(KernelTables::Ports ports) { mirror_->set_ports(std::move(ports)); }

    // Once a round: applies the kernel's messages to the switch. Does not wait for the kernel. `own_changed`:
    // called before routes change, when the machine's addresses or prefixes of the table `local` have.
    void poll(RunningSwitch& running, const std::function<void()>& own_changed);

    const KernelMirror& mirror() const { return *mirror_; }
    std::uint64_t refused() const { return refused_; }  // changes that did not fit our tables
    std::uint64_t asks() const { return asks_; }        // for the neighbor that a packet wanted

  private:
    using Clock = std::chrono::steady_clock;

    KernelControl(std::unique_ptr<KernelMirror> mirror, bool routes)
        : mirror_(std::move(mirror)), routes_(routes) {}
    void want_neighbors(RunningSwitch& running);
    void give_changes(RunningSwitch& running);
    void note_links(RunningSwitch& running);
    static void note_mtu(RunningSwitch& running, const std::string& port, const KernelLink& link);
    void note_overruns(RunningSwitch& running);
    void note_not_mirrored(RunningSwitch& running);

    std::unique_ptr<KernelMirror> mirror_;
    bool routes_;
    std::map<IpAddress, Clock::time_point> asked_;  // destinations, lately
    std::uint64_t asks_ = 0;
    std::uint64_t refused_ = 0;
    std::string noted_refusal_;
    std::vector<std::string> not_mirrored_;  // names that no event has told yet
    Clock::time_point told_not_mirrored_{};
    std::uint64_t overruns_ = 0;
    // Resyncs there had been when a change was refused, and when notices were lost; the next one mends both.
    std::optional<std::uint64_t> refused_at_, overrun_at_;
};

}  // namespace sluice
