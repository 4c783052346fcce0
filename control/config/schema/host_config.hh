// Simulated RoCE hosts and their flows, as the file has them: [host.NAME] and [[flow]].
//
// A host is behind a port, under the virtual clock. Derived values are absent here: constants of DCQCN come
// from `cc` and the port's speed (compile/hosts.hh), the MAC address from the index (hosts.hh).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/source_place.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"
#include "lib/peer/faults.hh"
#include "lib/roce/dcqcn.hh"
#include "lib/roce/receive_window.hh"
#include "lib/values/units.hh"

namespace sluice {

// Constants of the reaction point; absent: those of `cc`.
struct ReactionConfig {
    std::optional<std::uint64_t> gain;  // parts of roce::fraction_one, as first_alpha
    std::optional<std::uint64_t> first_alpha;
    std::optional<Duration> alpha_timer;  // > 0, as the other two
    std::optional<Duration> increase_timer;
    std::optional<Duration> decrease_timer;     // cc = dcqcn-timer
    std::optional<std::uint64_t> byte_counter;  // wire bytes; 0: none
    std::optional<std::uint32_t> fast_recovery;
    std::optional<Rate> rate_ai;
    std::optional<Rate> rate_hai;
    std::optional<Rate> rate_min;      // > 0
    std::optional<bool> clamp_target;  // cc = dcqcn-timer
    bool operator==(const ReactionConfig&) const = default;
};

constexpr Duration min_default_timeout = milliseconds(4);

struct HostConfig : ReactionConfig {
    std::string port;  // the host's name unless the file says another
    IpAddress address;
    std::optional<MacAddress> mac;
    roce::CongestionControl cc = roce::CongestionControl::dcqcn;
    std::uint32_t mtu = 1024;  // see roce::valid_mtu
    std::uint8_t dscp = 26;    // of requests and READ responses
    std::uint8_t cnp_dscp = 48;
    std::optional<std::uint8_t> ack_dscp;  // absent: dscp
    std::optional<std::uint8_t> pcp;       // of the same, in a priority tag; absent: untagged
    Ecn ecn = Ecn::ect0;                   // of requests, READ responses and acknowledgements
    Duration cnp_interval = microseconds(50);
    roce::CnpScope cnp_scope = roce::CnpScope::queue_pair;
    bool echo_ce = true;      // the notification point is on
    bool ignore_cnp = false;  // the reaction point is deaf

    std::uint64_t window_bytes = 0;   // payload outstanding of a queue pair; 0: unlimited
    std::uint32_t ack_every = 64;     // packets
    std::uint32_t reads = 16;         // READs outstanding of a queue pair
    std::optional<Duration> timeout;  // absent: by the buffers of the path (control/config/compile/hosts.hh)
    std::optional<unsigned> retry_count = 7;  // absent: unlimited
    std::optional<unsigned> rnr_retry;        // likewise
    Chance rnr_chance;                        // that a SEND finds no receive posted
    Duration rnr_timer = microseconds(10);    // the time it then names, rounded up to one of IBTA's
    std::uint32_t ack_coalescing = 16;        // packets at most that one of its ACKs is for
    bool trim_marks = true;                   // trimmed packets that it asks for count as marked
    roce::RecoverySettings recovery;  // between two hosts: selective if both are, as the receiver says

    bool port_of_qp = true;          // a UDP source port for each queue pair, else one for all
    bool describes_payload = false;  // else frames carry it
    std::uint32_t ring_frames = 4;   // of each class, in the transmit ring
    std::optional<Rate> drain;       // absent: as it comes
    std::uint64_t receive_buffer_bytes = 64'000;
    std::optional<std::uint64_t> receive_xon_bytes;  // absent: half of it
    std::uint16_t pause_quanta = 0xFFFF;
    // LogGP's o, g and G, for schedules (lib/roce/program_rank.hh), which only fabrics run:
    Duration send_overhead{};
    Duration gap{};
    Duration per_byte{};
    SourcePlace place;
    bool operator==(const HostConfig&) const = default;
};

enum class FlowKind : std::uint8_t { write, send, read };
enum class MessageKind : std::uint8_t { uniform, web_search, hadoop, ali_storage };

constexpr std::uint64_t max_message_bytes = 1ULL << 30;

struct MessageConfig {
    MessageKind kind = MessageKind::uniform;
    std::uint32_t min_bytes = 1'000'000;  // of uniform, in [1, max_message_bytes]
    std::uint32_t max_bytes = 1'000'000;  // >= min_bytes
    bool operator==(const MessageConfig&) const = default;
};

// Every host of `from` sends to every other one of `to`: as a closed loop of `depth`, or by Poisson with a
// load.
struct FlowConfig {
    std::string name;  // empty: made (hosts.hh)
    std::vector<std::string> from, to;
    std::uint32_t qps = 1;  // of each pair
    FlowKind kind = FlowKind::write;
    MessageConfig message;
    std::optional<std::uint32_t> depth;  // messages outstanding of a queue pair; absent: 1
    std::optional<Chance> load;          // payload, of the line rate of each host in `from`
    std::optional<Duration> on, off;     // with load: bursts of it
    std::uint64_t messages = 0;          // of a queue pair; 0: endless
    Duration start{};
    Duration spread{};  // each queue pair starts later by a drawn part of it
    std::optional<Duration> stop;
    std::optional<std::uint8_t> dscp;  // absent: the host's, as pcp
    std::optional<std::uint8_t> pcp;
    // sluiced has none of these two (control/fabric/plan/drawn_flows.hh):
    std::optional<std::uint32_t> incast;  // senders that are drawn each time
    std::optional<Duration> every;        // from one incast to the next; > 0
    SourcePlace place;
    bool operator==(const FlowConfig&) const = default;

    // Senders and receivers of its data, which a READ sends the other way.
    const std::vector<std::string>& senders() const { return kind == FlowKind::read ? to : from; }
    const std::vector<std::string>& receivers() const { return kind == FlowKind::read ? from : to; }
    // Hosts of the list but this one, which does not send to itself.
    static std::size_t others(const std::vector<std::string>& hosts, std::string_view host) {
        return hosts.size() - static_cast<std::size_t>(std::ranges::count(hosts, host));
    }
};

constexpr std::size_t max_flows = 4096;
constexpr std::uint32_t max_pair_qps = 1000;
constexpr std::size_t max_host_qps = 65'536;  // both sides counted

}  // namespace sluice
