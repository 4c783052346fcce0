// The options of sluice-peer, what it says of itself, and its NIC (lib/roce).
//
// The words are those of a simulated host's configuration. Times of the NIC are scaled: a line of `rate`
// whose time runs `scale` times slower is, in the NIC's own time, one of rate x scale. So all of DCQCN is
// that of such a line, its times multiplied and its rates divided by the scale. Every host is given the same
// list of all hosts, in which its place makes its queue pairs' numbers
// (`queue_pair_number`): two of them agree without a word.
//
// Without answers a host is an end of an unreliable connection (IBTA 9.8): a message is complete when it is
// sent, and nobody acknowledges, sends again or notifies. The one that receives counts gaps of PSNs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "lib/roce/nic_settings.hh"

namespace sluice::traffic {

struct HostOptions {
    std::string interface;
    std::vector<IpAddress> hosts;  // at most max_hosts, all different
    std::optional<IpAddress> address;
    std::optional<MacAddress> gateway;
    Rate rate{100'000'000};
    std::uint32_t scale = 1000;
    Rate speed = gigabits(1);  // of the switch's port, by which pauses are timed
    Duration reaction{};       // to PFC; scaled
    bool obeys_pfc = true;
    bool answers = true;
    bool waits = false;            // for `start` before its first message
    std::uint64_t per_second = 0;  // frames; 0: as many as `rate` has room for

    roce::CongestionControl cc = roce::CongestionControl::dcqcn;
    std::uint32_t mtu = 1024;
    std::uint8_t dscp = 26;
    std::uint8_t cnp_dscp = 48;
    Duration cnp_interval = microseconds(50);  // scaled, as `timeout`
    std::uint64_t window_bytes = 0;
    Duration timeout = milliseconds(4);
    unsigned retry_count = 7;

    std::vector<IpAddress> to;
    std::uint32_t qps = 1;
    roce::Requester::Kind kind = roce::Requester::Kind::write;
    std::uint32_t message_bytes = 1'000'000;
    std::uint32_t depth = 1;
    std::uint64_t messages = UINT64_MAX;  // of each queue pair
    std::optional<Duration> stop;         // not scaled
    std::string events;                   // a file; empty: standard output

    Rate nic_rate() const { return {rate.bits_per_second * scale}; }
};

inline constexpr std::size_t max_hosts = 16;
inline constexpr std::uint32_t max_peer_qps = 1024;

// Says what is wrong with options that are good one by one; empty: nothing.
std::string wrong_with(const HostOptions& options);
// `work`: a host's; the exit status.
Program peer_program(HostOptions& options, int (*work)(const HostOptions&));

// At any host: of its queue pair k of those with the host in place `peer` of the list.
constexpr std::uint32_t first_host_qp = 0x100;
constexpr std::uint32_t queue_pair_number(std::uint32_t peer, bool requests, std::uint32_t k,
                                          std::uint32_t qps) {
    return first_host_qp + (2 * peer + (requests ? 0 : 1)) * qps + k;
}

struct HostNic {
    roce::NicSettings settings;
    std::vector<roce::FlowSettings> flows;
    std::vector<roce::QpSettings> queue_pairs;
};
HostNic make_host_nic(const HostOptions& options, const MacAddress& mac);

}  // namespace sluice::traffic
