// Single values of hosts and flows, of their settings and of the switch.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/hosts.hh"
#include "control/config/text/quantity_text.hh"

namespace sluice {
namespace {

constexpr std::uint32_t billionths_of_a_millionth = 1000;

}  // namespace

roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line) {
    roce::ReactionParameters made = roce::ReactionParameters::of(host.cc, line);
    if (host.cc == roce::CongestionControl::none) return made;
    const auto take = [](auto& constant, const auto& configured) {
        constant = configured.value_or(constant);
    };
    take(made.min_rate, host.rate_min);
    take(made.additive, host.rate_ai);
    take(made.hyper, host.rate_hai);
    take(made.gain, host.gain);
    take(made.first_alpha, host.first_alpha);
    take(made.alpha_period, host.alpha_timer);
    take(made.increase_period, host.increase_timer);
    take(made.byte_counter, host.byte_counter);
    take(made.fast_recovery, host.fast_recovery);
    if (host.cc == roce::CongestionControl::dcqcn_timer) {
        take(made.decrease_period, host.decrease_timer);
        take(made.clamp_target, host.clamp_target);
    }
    return made;
}

roce::MessageSizes message_sizes(const MessageConfig& message) {
    switch (message.kind) {
        case MessageKind::web_search:
            return roce::MessageSizes::web_search();
        case MessageKind::hadoop:
            return roce::MessageSizes::facebook_hadoop();
        case MessageKind::ali_storage:
            return roce::MessageSizes::alibaba_storage();
        case MessageKind::uniform:
            break;
    }
    return roce::MessageSizes::uniform(message.min_bytes, message.max_bytes);
}

roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, std::size_t receivers, Rate line) {
    roce::ArrivalParameters arrivals;
    arrivals.start = Time{static_cast<std::uint64_t>(flow.start.ps)};
    arrivals.spread = flow.spread;
    arrivals.depth = flow.depth.value_or(1);
    if (!flow.load) return arrivals;
    arrivals.kind = flow.on ? roce::ArrivalKind::on_off : roce::ArrivalKind::poisson;
    arrivals.on = flow.on.value_or(Duration{});
    arrivals.off = flow.off.value_or(Duration{});
    // The queue pairs share the load, so each has proportionally longer gaps between messages.
    const std::uint64_t shares = std::uint64_t{flow.qps} * receivers;
    const std::uint32_t ppm =
        std::max<std::uint32_t>(1, flow.load->parts_per_billion / billionths_of_a_millionth);
    arrivals.mean_gap = roce::mean_gap(message_sizes(flow.message).mean_millibytes() * shares, line, ppm);
    return arrivals;
}

std::optional<std::uint8_t> dscp_of_class(const Config& config, const HostConfig& host, ClassId tc) {
    const PortConfig& port = config.ports.at(host.port);
    const ClassMap map = class_map(map_of(config, port), port);
    const auto is_of = [&](std::uint8_t dscp) { return class_of(map, PacketLabel{dscp, host.pcp}) == tc; };
    if (is_of(host.dscp)) return host.dscp;
    for (std::uint8_t dscp = 0; dscp < 64; ++dscp)
        if (is_of(dscp)) return dscp;
    return std::nullopt;
}

PacketLabel data_label(const FlowConfig& flow, const HostConfig& sender) {
    return {flow.dscp.value_or(sender.dscp), flow.pcp ? flow.pcp : sender.pcp};
}

Rate drain_rate(const Config& config, const PacketLabel& label, const std::string& in,
                const std::string& out) {
    const PortConfig &from = config.ports.at(in), &to = config.ports.at(out);
    const ClassId tc = class_of(class_map(map_of(config, from), from), label);
    const QueueConfig& queue = to.queue[map_of(config, to).tc_to_queue[tc]];
    Rate rate = to.speed;
    for (const Rate limit : {to.shaper, queue.max_rate})
        if (limit != Rate{}) rate = std::min(rate, limit);
    return rate;
}

std::uint8_t ack_dscp(const HostConfig& host) {
    return host.ack_dscp.value_or(host.recovery.naks_trimmed ? host.cnp_dscp : host.dscp);
}

roce::RecoverySettings path_recovery(const HostConfig& sender, const HostConfig& receiver) {
    roce::RecoverySettings made = receiver.recovery;
    if (sender.recovery.kind != made.kind) made.kind = roce::Recovery::go_back_n;
    return made;
}

std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b) { return std::min(a.mtu, b.mtu); }

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const SchedulePlan& schedule) {
    using Operation = roce::Program::Operation;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t rank = 0; rank < schedule.programs->size(); ++rank) {
        const auto of_rank = static_cast<std::ptrdiff_t>(pairs.size());
        for (const Operation& each : schedule.programs->at(rank)->operations) {
            if (each.kind != Operation::Kind::send || each.peer == rank) continue;
            pairs.emplace_back(rank, each.peer);
            // The answer to a request.
            if (!roce::Program::is_eager(each, rank, schedule.eager_bytes))
                pairs.emplace_back(each.peer, rank);
        }
        std::sort(pairs.begin() + of_rank, pairs.end());
        pairs.erase(std::unique(pairs.begin() + of_rank, pairs.end()), pairs.end());
    }
    std::ranges::sort(pairs);
    pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
    return pairs;
}

Duration default_timeout(const HostPath& path, const HostConfig& from, const HostConfig& to) {
    constexpr Duration most = milliseconds(500);
    Rate slowest = path.drained;
    for (const HostConfig* end : {&from, &to})
        if (end->drain) slowest = std::min(slowest, *end->drain);
    const double drain_s =
        static_cast<double>(path.buffer_bytes) * 8 / static_cast<double>(slowest.bits_per_second);
    return std::clamp(Duration{static_cast<std::int64_t>(std::min(2 * drain_s, 1.0) * 1e6) * 1'000'000},
                      min_default_timeout, most);
}

std::string timeout_table(const std::vector<FlowConfig>& flows, const std::vector<std::string>& names,
                          const TimeoutOf& of) {
    std::string text;
    for (std::size_t n = 0; n < flows.size(); ++n) {
        if (flows[n].from.empty()) continue;  // a collective or a list
        Duration longest{};
        for (const std::string& from : flows[n].from)
            for (const std::string& to : flows[n].to)
                if (from != to) longest = std::max(longest, of(flows[n], from, to));
        if (text.empty()) text = fmt::format("\n{:<24}  {}\n", "flow", "time-out");
        text += fmt::format("{:<24}  {}\n", names[n], time_text(longest));
    }
    return text;
}

}  // namespace sluice
