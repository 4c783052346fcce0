// The steering program of an XDP port as the switch sees it: loaded, given its sockets, and attached.
// `steer.bpf.c` is the program, `steer.h` their common part. Called by control.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/ports/bpf/steer.h"
#include "lib/frame/ip_address.hh"

struct bpf_object;

namespace sluice {

struct SteerVerdict {
    const char* name;
    bool to_switch;
    const char* what;
};
// By steer_verdict; behind them the counters that are not verdicts.
extern const std::array<SteerVerdict, steer_counters> steer_catalogue;

// Frames by steer_verdict.
using SteerCounts = std::array<std::uint64_t, steer_counters>;
// Sums of a counter map over all processors; zero without one.
SteerCounts read_counts(int map);

// Turns libbpf's output off: our errors say it all.
void silence_libbpf();

// The program at the port's interface: ours, none, or another's, which stays.
enum class SteerPlace : std::uint8_t { here, removed, replaced };

class Steering {
  public:
    // As the program's map has it.
    static steer_prefix key_of(const IpPrefix& prefix);

    // Loads the program; refuses by name an interface that has another. Needs CAP_NET_ADMIN and CAP_BPF.
    // Longer frames, in bytes without FCS, never reach a socket. Here and below: returns an error's text, or
    // empty.
    std::string load(const std::string& interface, int index, std::uint32_t longest_frame);
    // Frames of this queue of the interface go to the socket while the program is attached.
    std::string listen(std::uint32_t queue, int socket);
    // Attaches by the interface's driver, or by the kernel where that has no XDP; replaces the program of a
    // killed switch, as the owner of the interface's queue is the only switch. Again when `check_place` says
    // `removed`.
    std::string attach();
    bool is_native() const;
    // Called now and then.
    SteerPlace check_place();
    SteerPlace place() const { return place_; }
    // Name and number of the program in its place at the last look. Empty: none.
    std::string other() const;
    // Takes the program off and closes it with its maps, in any state. Counts stay.
    void let_go();

    // The machine's own prefixes; packets to their addresses stay with the kernel. At most
    // STEER_MAX_PREFIXES. Does nothing while there is no program.
    std::string set_local(const std::set<IpPrefix>& prefixes);

    // Frames longer than a socket takes, since `load`.
    std::uint64_t too_long() const;
    // Since the port was opened first.
    SteerCounts counters() const;

  private:
    struct Close {
        void operator()(bpf_object* object) const;
    };
    std::string look_for_others();
    std::string why_refused() const;
    int program() const;
    int map(const char* name) const;  // negative: none

    std::string interface_;
    int index_ = 0;
    std::unique_ptr<bpf_object, Close> object_;
    FileDescriptor left_;  // a program of ours that is at the interface; with the way it is attached
    std::uint32_t left_mode_ = 0;
    bool attached_ = false;
    std::uint32_t mode_ = 0, id_ = 0;
    SteerPlace place_ = SteerPlace::here;
    std::uint32_t other_id_ = 0;
    std::set<IpPrefix> known_;
    SteerCounts counted_before_{};
};

// The program's object file as it was compiled.
struct SteerObject {
    const unsigned char* bytes;
    std::size_t size;
};
SteerObject steer_object();

}  // namespace sluice
