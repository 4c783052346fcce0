// Keeps up with the kernel's routes, neighbors and addresses: its notices, and now and then everything anew,
// for not all that changes is told, and notices are lost when there are too many.
#pragma once

#include <chrono>
#include <memory>

#include "control/switch/kernel/kernel_tables.hh"

namespace sluice {

class KernelMirror {
  public:
    // With all there is; a kernel that does not answer within a few seconds is an error.
    static tl::expected<std::unique_ptr<KernelMirror>, std::string> open(KernelTables::Ports ports,
                                                                         const Netlink::Options& options);
    // Tells the kernel to stop keeping the addresses resolved.
    ~KernelMirror();
    KernelMirror(const KernelMirror&) = delete;
    KernelMirror& operator=(const KernelMirror&) = delete;

    // Other interfaces are the ports from now on: everything is asked for anew, for them.
    void set_ports(KernelTables::Ports ports);

    // Takes in messages, and has neighbors resolved; does not wait. False during a full dump: half a dump is
    // not to be acted on.
    bool poll();

    KernelTables& tables() { return tables_; }
    const KernelTables& tables() const { return tables_; }
    std::uint64_t overruns() const { return overruns_; }  // times that notices were lost
    std::uint64_t resyncs() const { return resyncs_; }    // times that everything was told

  private:
    using Clock = std::chrono::steady_clock;

    KernelMirror(Netlink netlink, KernelTables::Ports ports, bool routes)
        : netlink_(std::move(netlink)), routes_(routes), ports_(std::move(ports)), tables_(ports_) {}
    void read();
    void learn(const KernelMessages& answer);
    void ask_again();
    void ask_next();

    Netlink netlink_;
    bool routes_;                // and neighbors, beside links and addresses
    KernelTables::Ports ports_;  // those of `tables_` follow when everything has been told for them
    KernelTables tables_;
    // Everything, as far as it has been told yet, and the question that is not yet answered; null: none is.
    std::unique_ptr<KernelTables> fresh_;
    unsigned question_ = 0;
    bool wanted_ = true;  // that everything be asked for
    Clock::time_point last_asked_;
    std::uint64_t overruns_ = 0;
    std::uint64_t resyncs_ = 0;
};

}  // namespace sluice
