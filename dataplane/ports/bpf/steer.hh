// The steering program of an XDP port as the switch sees it: the object that net_af_xdp loads and attaches,
// and its maps, which the driver does not know. `steer.bpf.c` is the program, `steer.h` their common part.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/ports/bpf/steer.h"
#include "dataplane/ports/bpf/xdp_rings.hh"

namespace sluice {

struct SteerVerdict {
    const char* name;
    bool to_switch;
    const char* what;
};
// By steer_verdict; after them `no_socket`, which counts beside a verdict.
extern const std::array<SteerVerdict, steer_counters> steer_catalogue;

// Frames by steer_verdict.
using SteerCounts = std::array<std::uint64_t, steer_counters>;
// Of a counter map, over all processors; zero without one.
SteerCounts read_counts(int map);

// Not only errors but all that libbpf has to say is said by ours.
void silence_libbpf();

class Steering {
  public:
    // IPv6, or IPv4 mapped into it.
    using Address = std::array<std::uint8_t, 16>;
    static Address mapped(const std::uint8_t* v4) {
        return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, v4[0], v4[1], v4[2], v4[3]};
    }

    // Makes way at the interface: a program that a killed switch left is taken off; somebody else's is
    // refused by name. Needs CAP_NET_ADMIN and CAP_BPF.
    static tl::expected<Steering, std::string> prepare(const std::string& interface);

    // The value of net_af_xdp's argument xdp_prog.
    std::string object_path() const;

    // The driver has attached the program: finds its maps and the driver's socket, which is the one that came
    // since `prepare`. An error's text, or empty.
    std::string find_maps();

    // The interface has gone. Before the driver is closed: where in its UMEM packets begin that it does not
    // give back.
    XdpPackets packets_left() const;
    // After that: closes the program, maps and socket that the driver leaves open. Counters stay.
    void let_go();
    // Continues the counts of another one of the same port.
    void continue_from(const Steering& before) { counted_before_ = before.counters(); }

    // The machine's own addresses from now on; packets to one of them stay with the kernel. At most
    // STEER_MAX_ADDRESSES. An error's text, or empty. Nothing happens while there is no program.
    std::string set_local(const std::set<Address>& addresses);

    // Since the port was opened first.
    SteerCounts counters() const;

    // Frames that the driver does not count as missed. While its socket is open, after find_maps.
    std::uint64_t beyond_ring() const;

  private:
    Steering() = default;
    int interface_ = 0;
    FileDescriptor object_;
    FileDescriptor local_;
    FileDescriptor counters_;
    std::set<Address> known_;
    std::set<int> others_;   // descriptors that there were before the driver's
    std::set<int> drivers_;  // its own, of sockets and BPF objects
    SteerCounts counted_before_{};
};

// The program's object file as it was compiled.
struct SteerObject {
    const unsigned char* bytes;
    std::size_t size;
};
SteerObject steer_object();

}  // namespace sluice
