// The kernel as control plane of a running switch: its addresses stay with it at XDP ports; with
// `kernel.routes` its routes and neighbors are the switch's, behind those of the configuration, and it
// resolves the neighbors that packets want.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/config/routes/routes.hh"
#include "control/switch/kernel/kernel_mirror.hh"
#include "control/switch/kernel/tap.hh"

namespace sluice {

class Switch;

// What the kernel's part needs of the switch that it serves.
class MirroringSwitch {
  public:
    virtual ~MirroringSwitch() = default;
    virtual const Config& config() const = 0;
    virtual Switch& device() = 0;
    // Destinations of the switch's own packets whose neighbors are to be found out.
    virtual std::vector<IpAddress> wanted_neighbors() const = 0;
    // Null: the port has none.
    virtual const Tap* tap(const std::string& port) const = 0;
    virtual void note(const std::string& kind, std::string text) = 0;
    // The machine's addresses, and prefixes of the table `local`, from now on.
    virtual void take_own(std::set<IpPrefix> of_machine) = 0;
    virtual bool may_change_routes() const = 0;
    // An error's text, or empty, and the entries that did not fit the tables.
    virtual std::string change_routes(const RouteChanges& changes) = 0;
    virtual Routes::LeftOut left_out() const = 0;
};

class KernelControl {
  public:
    // Knows all that the kernel has; gives nothing of it to the switch yet.
    static tl::expected<std::unique_ptr<KernelControl>, std::string> open(const KernelConfig& config,
                                                                          KernelTables::Ports ports);

    // Other interfaces are the ports from now on.
    void set_ports(KernelTables::Ports ports) { mirror_->set_ports(std::move(ports)); }

    // Once a round: applies the kernel's messages to the switch. Does not wait for the kernel.
    void poll(MirroringSwitch& running);

    const KernelMirror& mirror() const { return *mirror_; }
    std::uint64_t refused() const { return refused_; }  // changes that did not fit our tables
    std::uint64_t asks() const { return asks_; }        // for the neighbor that a packet wanted

  private:
    using Clock = std::chrono::steady_clock;

    KernelControl(std::unique_ptr<KernelMirror> mirror, bool routes)
        : mirror_(std::move(mirror)), routes_(routes) {}
    void want_neighbors(MirroringSwitch& running);
    void give_changes(MirroringSwitch& running);
    void note_links(MirroringSwitch& running);
    static void note_mtu(MirroringSwitch& running, const std::string& port, const KernelLink& link);
    void note_overruns(MirroringSwitch& running);
    void note_not_mirrored(MirroringSwitch& running);

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
