#include "control/switch/running/route_lookup.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/path/fib.hh"
#include "dataplane/run/switch.hh"
#include "lib/frame/flow_hash.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

// The hash of such a packet, from its headers.
std::uint32_t hash_of(const FlowQuestion& question, const HashKey& key) {
    Parsed parsed;
    parsed.kind = question.destination.is_v6 ? FrameKind::ipv6 : FrameKind::ipv4;
    parsed.protocol = question.protocol;
    parsed.roce = question.queue_pair.has_value();
    parsed.flow = {std::uint32_t{question.source_port} << 16 | question.destination_port,
                   question.queue_pair.value_or(0), question.protocol};
    std::array<std::uint8_t, sizeof(Ipv6Header)> header{};
    const std::size_t bytes = question.destination.is_v6 ? 16 : 4;
    const std::size_t at =
        question.destination.is_v6 ? offsetof(Ipv6Header, source) : offsetof(Ipv4Header, source);
    std::copy_n(question.source.bytes.begin(), bytes, header.begin() + at);
    std::copy_n(question.destination.bytes.begin(), bytes, header.begin() + at + bytes);
    return flow_hash(parsed, header.data(), key);
}

// The mode of load balancing of such a packet, which is RC with a queue pair; the strongest of any class.
LoadBalance mode_of(const FlowQuestion& question, const NextHopGroup& group, RunningSwitch& running) {
    const BalancePolicy& policy = running.device().policy().balance;
    if (!policy.active) return LoadBalance::hash;
    if (group.balance != NextHopGroup::by_policy) return static_cast<LoadBalance>(group.balance);
    const auto transport = question.queue_pair ? RoceTransport::rc : RoceTransport::none;
    LoadBalance mode = LoadBalance::hash;  // of any class
    for (const auto& of_class : policy.mode)
        mode = std::max(mode, of_class[static_cast<std::size_t>(transport)]);
    return mode;
}

}  // namespace

FlowAnswer look_up(RunningSwitch& running, const FlowQuestion& question) {
    const Policy& policy = running.device().policy();
    FlowAnswer answer;
    answer.match = running.routes().match(question.destination);
    answer.next_hop_group = policy.fib->lookup(question.destination);
    const NextHopGroup& group = policy.next_hop_groups[answer.next_hop_group];
    const std::string route = answer.match ? print_prefix(answer.match->prefix) : "no route";
    answer.drop = group.drop;
    if (group.drop != DropReason::none) {
        answer.why = group.drop == DropReason::local_address
                         ? fmt::format(
                               "{}: an address of our own: the kernel or the responder has its packets, or "
                               "they are dropped as local_address",
                               route)
                         : fmt::format("{}: dropped as {}", route, to_string(group.drop));
        return answer;
    }
    const auto port_of = [&](std::uint32_t hop) { return policy.next_hops[hop].port; };
    const std::uint32_t* table = policy.buckets.data() + group.first_bucket;
    answer.buckets = 1U << group.log2_buckets;
    if (group.log2_buckets != 0) answer.hash = hash_of(question, policy.hash);
    answer.bucket = bucket_of(group.log2_buckets, answer.hash);
    answer.first = running.port_names()[port_of(table[answer.bucket])];
    const std::uint32_t taken = running.device().hashed_hop(group, answer.hash);
    if (taken == no_member) {
        answer.drop = DropReason::link_down;
        answer.why = fmt::format("{}: no member is up: dropped as link_down", route);
        return answer;
    }
    answer.taken = running.port_names()[port_of(taken)];
    answer.why = group.log2_buckets == 0
                     ? fmt::format("{}: one next hop, port {}", route, answer.taken)
                     : fmt::format("{}: hash {} is bucket {} of {}, port {}", route, answer.hash,
                                   answer.bucket, answer.buckets, answer.first);
    const LoadBalance mode = group.log2_buckets == 0 ? LoadBalance::hash : mode_of(question, group, running);
    if (mode != LoadBalance::hash)
        answer.why += fmt::format("; balanced by {}: each {} may take another member (group show)",
                                  to_string(mode), mode == LoadBalance::packet ? "packet" : "flowlet");
    if (answer.taken != answer.first)
        answer.why += fmt::format(", which is down: the flow walks on to port {}", answer.taken);
    return answer;
}

}  // namespace sluice
