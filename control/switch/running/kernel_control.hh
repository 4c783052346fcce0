// The kernel as control plane of a running switch: it keeps its own addresses at XDP ports; with
// `kernel.routes` the switch uses its routes and neighbors behind those of the configuration, and it resolves
// neighbors for packets.
//
// The tables follow the kernel's notices, and a periodic full dump, since the kernel does not notify all
// changes and drops notices when there are too many.
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
#include "control/switch/kernel/kernel_tables.hh"

namespace sluice {

class RunningSwitch;

class KernelControl {
  public:
    // Reads the kernel's tables, without changing the switch yet. No answer within a few seconds is an error.
    static tl::expected<std::unique_ptr<KernelControl>, std::string> open(const KernelConfig& config,
                                                                          KernelTables::Ports ports);

    // Has the kernel stop keeping gateways resolved.
    ~KernelControl();
    KernelControl(const KernelControl&) = delete;
    KernelControl& operator=(const KernelControl&) = delete;

    // Other interfaces are the ports from now on: starts a full dump for them.
    void set_ports(KernelTables::Ports ports);

    // Once a round: applies the kernel's messages to the switch, without waiting for more. Calls
    // `own_changed` before routes change, when the machine's addresses or the table `local` have changed.
    void poll(RunningSwitch& running, const std::function<void()>& own_changed);

    const KernelTables& tables() const { return tables_; }
    std::uint64_t overruns() const { return overruns_; }  // times that notices were lost
    std::uint64_t resyncs() const { return resyncs_; }    // times that everything was told
    std::uint64_t refused() const { return refused_; }    // changes that did not fit our tables
    std::uint64_t asks() const { return asks_; }          // for the neighbor that a packet wanted

  private:
    using Clock = std::chrono::steady_clock;

    KernelControl(Netlink netlink, KernelTables::Ports ports, bool routes)
        : netlink_(std::move(netlink)), routes_(routes), ports_(std::move(ports)), tables_(ports_) {}
    // Reads waiting messages, and has neighbors resolved. False during a full dump.
    bool keep_up();
    void read();
    void learn(const KernelMessages& answer);
    void ask_anew();
    void ask_again();
    void ask_next();
    void want_neighbors(RunningSwitch& running);
    void give_changes(RunningSwitch& running);
    void note_links(RunningSwitch& running);
    static void note_mtu(RunningSwitch& running, const std::string& port, const KernelLink& link);
    void note_overruns(RunningSwitch& running);
    void note_not_mirrored(RunningSwitch& running);

    Netlink netlink_;
    bool routes_;                // and neighbors, beside links and addresses
    KernelTables::Ports ports_;  // those of `tables_` follow with the next full dump
    KernelTables tables_;
    // The full dump so far, and the open question; null: there is none.
    std::unique_ptr<KernelTables> fresh_;
    unsigned question_ = 0;
    bool wanted_ = true;  // that everything be asked for
    Clock::time_point last_asked_;
    std::uint64_t resyncs_ = 0;
    std::uint64_t overruns_ = 0, told_overruns_ = 0;
    std::map<IpAddress, Clock::time_point> asked_;  // destinations, lately
    std::uint64_t asks_ = 0;
    std::uint64_t refused_ = 0;
    std::string noted_refusal_;
    std::vector<std::string> not_mirrored_;  // names that no event has told yet
    Clock::time_point told_not_mirrored_{};
    // The number of resyncs when a change was refused, and when notices were lost; the next one mends both.
    std::optional<std::uint64_t> refused_at_, overrun_at_;
};

}  // namespace sluice
