// The kernel as control plane of a running switch: its addresses stay with it at XDP ports; with
// `kernel.routes` its routes and neighbors are the switch's, behind those of the configuration, and it
// resolves the neighbors that packets want.
//
// It keeps up by the kernel's notices, and now and then asks for everything anew, for not all that changes is
// told, and notices are lost when there are too many.
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
    // Knows all that the kernel has; gives nothing of it to the switch yet. A kernel that does not answer
    // within a few seconds is an error.
    static tl::expected<std::unique_ptr<KernelControl>, std::string> open(const KernelConfig& config,
                                                                          KernelTables::Ports ports);

    // Tells the kernel to stop keeping the addresses resolved.
    ~KernelControl();
    KernelControl(const KernelControl&) = delete;
    KernelControl& operator=(const KernelControl&) = delete;

    // Other interfaces are the ports from now on: everything is asked for anew, for them.
    void set_ports(KernelTables::Ports ports);

    // Once a round: applies the kernel's messages to the switch. Does not wait for the kernel. `own_changed`:
    // called before routes change, when the machine's addresses or prefixes of the table `local` have.
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
    // Takes in messages, and has neighbors resolved; does not wait. False during a full dump: half a dump is
    // not to be acted on.
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
    KernelTables::Ports ports_;  // those of `tables_` follow when everything has been told for them
    KernelTables tables_;
    // Everything, as far as it has been told yet, and the question that is not yet answered; null: none is.
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
    // Resyncs there had been when a change was refused, and when notices were lost; the next one mends both.
    std::optional<std::uint64_t> refused_at_, overrun_at_;
};

}  // namespace sluice
