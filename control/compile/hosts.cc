#include "control/compile/hosts.hh"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint32_t billionths_of_a_millionth = 1000;

roce::ReactionParameters constants_of(roce::CongestionControl cc, Rate line) {
    switch (cc) {
        case roce::CongestionControl::dcqcn:
            return roce::ReactionParameters::paper(line);
        case roce::CongestionControl::dcqcn_timer:
            return roce::ReactionParameters::nic(line);
        case roce::CongestionControl::none:
            break;
    }
    return roce::ReactionParameters::none(line);
}

}  // namespace

roce::ReactionParameters reaction_parameters(const HostConfig& host, Rate line) {
    roce::ReactionParameters made = constants_of(host.cc, line);
    if (host.cc == roce::CongestionControl::none) return made;
    const auto take = [](auto& constant, const auto& said) { constant = said.value_or(constant); };
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
    return roce::MessageSizes::uniform(message.least_bytes, message.most_bytes);
}

roce::ArrivalParameters arrival_parameters(const FlowConfig& flow, Rate line) {
    roce::ArrivalParameters arrivals;
    arrivals.start = Time{static_cast<std::uint64_t>(flow.start.ps)};
    arrivals.spread = flow.spread;
    arrivals.depth = flow.depth.value_or(1);
    if (!flow.load) return arrivals;
    arrivals.kind = flow.on ? roce::ArrivalKind::on_off : roce::ArrivalKind::poisson;
    arrivals.on = flow.on.value_or(Duration{});
    arrivals.off = flow.off.value_or(Duration{});
    // As many queue pairs share the load, each has messages of as much longer gaps.
    const std::uint64_t shares = std::uint64_t{flow.qps} * flow.to.size();
    const std::uint32_t ppm =
        std::max<std::uint32_t>(1, flow.load->parts_per_billion / billionths_of_a_millionth);
    arrivals.mean_gap = roce::mean_gap(message_sizes(flow.message).mean_millibytes() * shares, line, ppm);
    return arrivals;
}

std::uint32_t path_mtu(const HostConfig& a, const HostConfig& b) { return std::min(a.mtu, b.mtu); }

}  // namespace sluice
