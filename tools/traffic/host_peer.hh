// A RoCE host in real time: a NIC of lib/roce on an interface, which obeys PFC of its port.
//
// Standard input: `stop` (no more messages), `show` (the account as a line); its end ends all, with the
// account once more. The NIC's time is the clock's divided by the scale; the line, pauses and `at_ns` are by
// the clock itself. A NIC that is asked late acts with the times at which it was due, so a busy machine costs
// rate only.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "lib/roce/nic.hh"
#include "tools/traffic/class_pauses.hh"
#include "tools/traffic/host_options.hh"
#include "tools/traffic/host_watch.hh"
#include "tools/traffic/interface.hh"

namespace sluice::traffic {

class HostPeer {
  public:
    // All of them outlive it. `events`: its lines.
    HostPeer(const HostOptions& options, const HostNic& nic, Interface& interface, std::FILE* events);

    void run();

  private:
    struct Unsent {
        ClassId priority;
        std::uint32_t bytes;
    };

    bool listen();
    std::optional<std::uint64_t> next_ns();
    void receive();
    bool send();
    void show();
    Time nic_time(std::uint64_t at_ns) const;
    std::uint64_t clock_ns(Time at) const;  // rounded up

    const HostOptions& options_;
    Interface& interface_;
    std::uint64_t origin_ns_;
    roce::Nic nic_;
    std::FILE* events_;
    HostWatch watch_;
    ClassPauses pauses_;
    InputLines input_;
    std::array<std::uint8_t, roce::max_packet_bytes> frame_{};
    std::optional<Unsent> unsent_;  // in frame_: the interface had no room
    std::uint64_t wire_free_ns_ = 0;
    std::uint64_t refused_by_interface_ = 0;
};

}  // namespace sluice::traffic
