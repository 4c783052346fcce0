#include "control/config/decisions/explainer.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/config/schema/values.hh"

namespace sluice {

namespace {

using Filler = GroupPaused::Filler;

std::string times_text(std::uint64_t count) {
    return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

std::string packets_text(std::uint64_t count) { return print_count(count, "packet"); }

// "h1", "h1 and h2", "h1, h2 and h3".
std::string list_text(std::span<const std::string> items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        append_item(text, i + 1 == items.size() ? " and " : ", ", items[i]);
    return text;
}

}  // namespace

std::string Explainer::ports(const PortMask& mask) const {
    std::vector<std::string> names;
    mask.for_each([&](PortId port) { names.push_back(all_.ports[port].name); });
    return list_text(names);
}

std::string Explainer::span_text(Time first, Time last) const {
    if (first == last) return "at " + moment_text(all_, first);
    return fmt::format("from {} to {}", moment_text(all_, first), moment_text(all_, last));
}

std::string Explainer::pauses_text(const PauseSpell& pause) const {
    std::string text =
        pause.count == 1
            ? fmt::format("once, at {}, for {}", moment_text(all_, pause.first), time_text(paused(pause)))
            : fmt::format(
                  "{} {}, for {} in all, {} at most", times_text(pause.count),
                  span_text(pause.first, pause.last), time_text(paused(pause)),
                  time_text(std::max(pause.longest, pause.running ? all_.now - pause.last : Duration{})));
    if (pause.running) text += ", and still does";
    return text;
}

namespace {

// A sample has some tens of packets, so its shares are known to tens of per cent.
std::string share_text(std::uint64_t cells, std::uint64_t sum, bool exact) {
    const double percent = 100 * static_cast<double>(cells) / static_cast<double>(sum);
    if (exact || cells == sum) return fmt::format("{:.0f} %", percent);
    return percent < 5 ? "a few %" : fmt::format("about {:.0f} %", 10 * std::round(percent / 10));
}

}  // namespace

std::string Explainer::shares_text(std::span<const Filler> list, std::uint32_t others, bool with_queue,
                                   bool exact) const {
    std::uint64_t sum = others;
    for (const Filler& filler : list) sum += filler.cells;
    std::string text;
    for (const Filler& filler : list) {
        const std::string name = with_queue ? place(filler.port, filler.queue) : all_.ports[filler.port].name;
        append_item(text, ", ", fmt::format("{} ({})", name, share_text(filler.cells, sum, exact)));
    }
    if (others != 0) append_item(text, ", ", fmt::format("others ({})", share_text(others, sum, exact)));
    return text;
}

void Explainer::explain_start(const PauseSent& pause, RecordedWhy& why) const {
    const GroupPaused& start = pause.start;
    if (!start.behind)
        why.details.push_back(fmt::format(
            "at its first pause it held {} of its limit {}, and its pool {} of {}", bytes(start.shared),
            bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(start.limit, 0))),
            bytes(static_cast<std::uint64_t>(start.pool_used)),
            bytes(static_cast<std::uint64_t>(start.pool_size))));
    const auto fillers = std::span(start.fillers).first(start.filler_count);
    if (!fillers.empty())
        why.details.push_back("its packets waited in " +
                              shares_text(fillers, start.other_queues, true, pause.all_counted) +
                              (pause.all_counted ? "" : ", by a sample of them"));
    if (pause.feeders.count != 0)
        why.details.push_back(
            fmt::format("queue {} was filled from {}", place(fillers[0].port, fillers[0].queue),
                        shares_text(std::span(pause.feeders.from).first(pause.feeders.count),
                                    pause.feeders.others, false, pause.all_counted)));
    const std::uint32_t peak = std::max(
        pause.peak_headroom, pause.spell.running ? own_.headroom_now[pause.spell.number] : std::uint32_t{0});
    why.details.push_back(fmt::format("headroom: {} of {} at most, {}", bytes(peak),
                                      bytes(start.headroom_size), print_share(peak, start.headroom_size)));
}

// The effect of a threshold twice as high, at the occupancy of the first pause.
std::string Explainer::more_room(const PauseSent& pause) const {
    const auto n = own_.dynamic[pause.spell.number];
    constexpr int most = 7;
    if (!n || *n == most) return {};
    const double alpha = std::pow(2.0, *n + 1);
    const auto free = static_cast<double>(pause.start.pool_size - pause.start.pool_used);
    const double more = (alpha * free - pause.start.shared) / (1 + alpha);
    if (more < 1) return {};
    return fmt::format("; dynamic_th {} instead of {} would let {} hold {} more before it pauses", *n + 1, *n,
                       place(id_, pause.spell.number), bytes(static_cast<std::uint64_t>(more)));
}

PauseSpell Explainer::waited_for(const PauseSent& pause, const Filler& queue) const {
    const RecordedPort& egress = all_.ports[queue.port];
    PauseSpell waited;
    for (const PauseSpell& other : egress.received) {
        if (egress.priority_to_queue[other.number] != queue.queue || !meet(other, pause.spell)) continue;
        waited.paused = waited.paused + paused(other);
        waited.count += other.count;
    }
    return waited;
}

Explainer::Pace Explainer::pace_of(const Filler& queue) const {
    const RecordedPort& egress = all_.ports[queue.port];
    Pace pace{egress.speed, {}};
    for (const auto& [rate, by] :
         {std::pair(egress.shaper, "shaper"), std::pair(egress.queue[queue.queue].max_rate, "max_rate")})
        if (rate.bits_per_second != 0 && rate.bits_per_second < pace.rate.bits_per_second) pace = {rate, by};
    return pace;
}

std::string_view Explainer::cause_of(const PauseSent& pause) const {
    if (pause.behind * 2 > pause.spell.count) return "behind";
    if (pause.start.filler_count == 0) return "congestion";
    const Filler& queue = pause.start.fillers[0];
    if (all_.ports[queue.port].queue[queue.queue].held) return "held";
    constexpr int min_share = 20;  // of the time: below it the queue was slow for another reason
    const PauseSpell waited = waited_for(pause, queue);
    const Duration whole = end_of(pause.spell) - pause.spell.first;
    if (waited.count != 0 && waited.paused * min_share >= whole) return "slow_peer";
    return pace_of(queue).by.empty() ? "congestion" : "shaped";
}

void Explainer::explain_slow_peer(const PauseSent& pause, const Filler& queue, RecordedWhy& why) const {
    const RecordedPort& egress = all_.ports[queue.port];
    const PauseSpell waited = waited_for(pause, queue);
    why.details.push_back(fmt::format("the peer of {} paused queue {} itself, {}, for {} in all", egress.name,
                                      place(queue.port, queue.queue), times_text(waited.count),
                                      time_text(waited.paused)));
    why.advice = fmt::format(
        "find out why the peer of {} takes less than {} sends; a threshold of this switch only delays it",
        egress.name, egress.name);
}

void Explainer::explain_cause(const PauseSent& pause, RecordedWhy& why) const {
    if (why.reason == "behind") {
        why.details.push_back(
            fmt::format("{} of the pauses were sent because the worker fell behind", pause.behind));
        why.advice = "give the worker a core of its own, more workers to its ports, or turn_max more time";
        return;
    }
    if (pause.start.filler_count == 0) return;
    const Filler& queue = pause.start.fillers[0];
    const std::string name = place(queue.port, queue.queue);
    if (why.reason == "held") {
        why.advice = fmt::format("queue {0} is held by command; do: sluicectl queue release {0}", name);
        return;
    }
    if (why.reason == "slow_peer") return explain_slow_peer(pause, queue, why);
    tell_pace(pause, queue, why);
    const std::string signal = signal_advice(pause, queue);
    why.advice = why.reason == "shaped" ? fmt::format("raise port.{}.{}; {}", all_.ports[queue.port].name,
                                                      pace_of(queue).by == "shaper"
                                                          ? "shaper"
                                                          : fmt::format("queue.{}.max_rate", queue.queue),
                                                      signal)
                                        : signal + more_room(pause);
}

// Compares the rate of the queue with the rates that may fill it.
void Explainer::tell_pace(const PauseSent& pause, const Filler& queue, RecordedWhy& why) const {
    const Pace pace = pace_of(queue);
    std::uint64_t may_bring = 0;
    for (std::uint32_t i = 0; i < pause.feeders.count; ++i)
        may_bring += all_.ports[pause.feeders.from[i].port].speed.bits_per_second;
    if (may_bring <= pace.rate.bits_per_second && pace.by.empty()) return;
    why.details.push_back(fmt::format(
        "{} sends {}{}{}",
        pace.by == "max_rate" ? "queue " + place(queue.port, queue.queue) : all_.ports[queue.port].name,
        print_rate(pace.rate), pace.by.empty() ? "" : fmt::format(" at most, by its {}", pace.by),
        may_bring == 0 ? std::string()
                       : fmt::format(", and these ports may bring {}", print_rate({may_bring}))));
}

// Advice on earlier marks, by the effect of the marks so far.
std::string Explainer::signal_advice(const PauseSent& pause, const Filler& queue) const {
    constexpr std::uint64_t enough = 100;  // packets: fewer marks may still be on their way
    const RecordedPort::Queue& of = all_.ports[queue.port].queue[queue.queue];
    const std::string name = place(queue.port, queue.queue);
    if (!of.marks_from_bytes)
        return fmt::format(
            "queue {} marks nothing: with WRED and ECN senders would slow down before they are paused", name);
    std::uint64_t cnps = 0, roce = 0;
    for (std::uint32_t i = 0; i < pause.feeders.count; ++i) {
        cnps += all_.ports[pause.feeders.from[i].port].cnps_sent;
        roce += all_.ports[pause.feeders.from[i].port].roce;
    }
    const std::uint64_t ect = of.sent - std::min(of.not_ect, of.sent);
    if (of.sent >= enough && ect * 10 < of.sent)
        return fmt::format(
            "{} of {} came to queue {} without ECT, and are never marked: switch ECN on at the senders",
            grouped_text(of.not_ect), packets_text(of.sent), name);
    if (of.marked >= enough && roce >= enough && cnps == 0)
        return fmt::format(
            "to mark earlier changes nothing: queue {} has marked {} of {}, and no CNP went back to the "
            "senders: the receivers do not echo marks, or there is no congestion control; switch DCQCN on "
            "at both",
            name, grouped_text(of.marked), packets_text(of.sent));
    if (of.marked >= enough && of.marked * 10 >= ect * 9)
        return fmt::format(
            "to mark earlier changes nothing: queue {} has marked {} of {}; find out whether the senders "
            "heed the {} that went back to them",
            name, grouped_text(of.marked), packets_text(of.sent), print_count(cnps, "CNP"));
    return fmt::format(
        "senders that heed ECN would slow down earlier if queue {} marked from less than {} on", name,
        size_text(*of.marks_from_bytes));
}

RecordedWhy Explainer::explain(const PauseSent& pause, std::string_view cause) const {
    RecordedWhy why = about("paused", cause, pause.spell);
    why.group = pause.spell.number;
    why.sentence =
        fmt::format("{} paused its sender {}", place(id_, pause.spell.number), pauses_text(pause.spell));
    explain_start(pause, why);
    explain_cause(pause, why);
    if ((own_.ignored >> pause.spell.number & 1U) != 0) {
        why.details.push_back(fmt::format("the peer of {} does not obey: frames keep coming", own_.name));
        why.advice = fmt::format("switch PFC on for priority {} at the peer of {}; {}", pause.spell.number,
                                 own_.name, why.advice);
    }
    return why;
}

RecordedWhy Explainer::explain(const PauseSpell& pause) const {
    RecordedWhy why = about("was_paused", "peer", pause);
    why.priority = pause.number;
    const ClassId queue = own_.priority_to_queue[pause.number];
    why.sentence = fmt::format("the peer of {} paused class {}, which queue {} sends, {}", own_.name,
                               pause.number, place(id_, queue), pauses_text(pause));
    std::vector<std::string> others;
    for (PortId id = 0; id < all_.ports.size(); ++id)
        for (const PauseSent& other : all_.ports[id].sent)
            if (other.start.filler_count != 0 && other.start.fillers[0].port == id_ &&
                other.start.fillers[0].queue == queue && meet(other.spell, pause))
                others.push_back(place(id, other.spell.number));
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    if (!others.empty())
        why.details.push_back(fmt::format("because of it {} paused, too", list_text(others)));
    why.advice = fmt::format("find out why the peer of {} takes less than {} sends", own_.name, own_.name);
    return why;
}

std::string Explainer::advice_for(const DropSpell& drop, const std::string& to) const {
    PortMask deaf;
    drop.from.for_each([&](PortId port) {
        if (all_.ports[port].ignored != 0) deaf.add(port);
    });
    switch (drop.reason) {
        case DropReason::headroom_overrun:
            if (deaf != PortMask())
                return fmt::format("the peer of {} does not obey pauses: switch PFC on there", ports(deaf));
            return "find out whether the peer obeys pauses; sluiced --check shows how much headroom it needs";
        case DropReason::queue_limit:
            return fmt::format("a higher threshold of the queue of {}, or slower senders", to);
        case DropReason::trim_limit:
            return fmt::format(
                "more weight or a higher threshold for the queue of {} that takes trimmed "
                "packets, or a smaller trimming.size",
                to);
        case DropReason::ingress_limit:
            return "a higher threshold of the group, or slower senders";
        case DropReason::wred_drop:
            return "senders that speak ECN are marked instead";
        case DropReason::no_route:
        case DropReason::unresolved_next_hop:
        case DropReason::unresolved_timeout:
            return "sluicectl route get shows the way of such a packet";
        default:
            return {};
    }
}

namespace {

std::string flow_text(const FlowKey& flow) {
    if (flow.kind != FrameKind::ipv4 && flow.kind != FrameKind::ipv6) return {};
    const bool v6 = flow.kind == FrameKind::ipv6;
    std::string text = fmt::format("{} to {}, protocol {}", print_address({flow.source, v6}),
                                   print_address({flow.destination, v6}), flow.protocol);
    if ((flow.source_port | flow.destination_port) != 0)
        text += fmt::format(", ports {} to {}", flow.source_port, flow.destination_port);
    if (flow.roce) text += fmt::format(", queue pair {}", flow.destination_qp);
    return text;
}

}  // namespace

// What became of the packets that these queues have trimmed.
void Explainer::tell_trimmed(const DropSpell& drop, RecordedWhy& why) const {
    std::uint64_t sent = 0, dropped = 0;
    drop.to.for_each([&](PortId port) {
        for_each_class(drop.queues, [&](ClassId n) {
            sent += all_.ports[port].queue[n].trim_sent;
            dropped += all_.ports[port].queue[n].trim_dropped;
        });
    });
    if (sent + dropped != 0)
        why.details.push_back(
            fmt::format("since the start {} were trimmed there: {} went on, and {} found no room again",
                        packets_text(sent + dropped), grouped_text(sent), grouped_text(dropped)));
}

RecordedWhy Explainer::explain(const DropSpell& drop) const {
    RecordedWhy why = about("dropped", to_string(drop.reason), drop.packets, drop.first, drop.last);
    why.lossless = drop.lossless;
    const std::string to = ports(drop.to);
    std::string of;
    for_each_class(drop.classes, [&](ClassId n) { append_item(of, ", ", std::to_string(n)); });
    why.sentence = fmt::format(
        "{}: {} of class {} from {}{} dropped, {} lossless, {}: {}", why.reason, packets_text(drop.packets),
        of, ports(drop.from), to.empty() ? "" : " to " + to, grouped_text(drop.lossless),
        span_text(drop.first, drop.last), drop_reason_texts[static_cast<std::size_t>(drop.reason)].sentence);
    if (const std::string flow = flow_text(drop.flow); !flow.empty())
        why.details.push_back("the first of them: " + flow);
    std::uint64_t in_all = 0;
    drop.from.for_each([&](PortId port) {
        in_all += all_.ports[port].lossless_drops[static_cast<std::size_t>(drop.reason)];
    });
    if (drop.lossless != 0 && in_all > drop.lossless)
        why.details.push_back(fmt::format("since the start {} lossless packets that came in by {} were",
                                          grouped_text(in_all), ports(drop.from)));
    if (drop.reason == DropReason::queue_limit) tell_trimmed(drop, why);
    why.advice = advice_for(drop, to);
    return why;
}

RecordedWhy Explainer::explain(const BurstSpell& burst) const {
    RecordedWhy why = about("microburst", "burst", burst.count, burst.first, burst.last);
    why.queue = burst.queue;
    why.lasted = burst.above;
    why.sentence = fmt::format("queue {} burst {} {}, for {} in all, up to {}", place(id_, burst.queue),
                               times_text(burst.count), span_text(burst.first, burst.last),
                               time_text(burst.above), bytes(burst.peak_cells));
    why.details.push_back(fmt::format("fed by {}; {} marked and {} dropped meanwhile", ports(burst.fed_by),
                                      packets_text(burst.marked), grouped_text(burst.dropped)));
    return why;
}

RecordedWhy Explainer::explain(const Storms& storms) const {
    const bool runs_on = storms.count > storms.ended;
    RecordedWhy why = about("storm", runs_on ? "begins" : "ends", std::max(storms.count, storms.ended),
                            storms.first, runs_on ? storms.last : storms.end);
    why.queue = storms.queue;
    why.going_on = runs_on;
    const std::string queue = place(id_, storms.queue);
    if (storms.count == 0)
        why.sentence = fmt::format("a storm on queue {} ended at {}", queue, moment_text(all_, storms.end));
    else
        why.sentence =
            fmt::format("the watchdog found {}{} that the peer of {} held queue {} paused; action {}",
                        storms.count == 1 ? "" : times_text(storms.count) + " ",
                        span_text(storms.first, storms.last), own_.name, queue, to_string(storms.action));
    if (runs_on)
        why.sentence += "; it still does";
    else if (storms.count != 0)
        why.sentence += fmt::format("; it ended at {}", moment_text(all_, storms.end));
    if (storms.ended != 0)
        why.details.push_back(
            fmt::format("{} passed and {} dropped meanwhile", packets_text(storms.passed), storms.dropped));
    why.advice = fmt::format("find out why the peer of {} pauses without end", own_.name);
    return why;
}

RecordedWhy Explainer::explain(const LinkChanges& changes) const {
    RecordedWhy why =
        about("link", changes.is_up ? "up" : "down", changes.count, changes.first, changes.last);
    why.sentence = fmt::format("the link of {} went {} {}{}", own_.name, why.reason,
                               changes.count == 1 ? "" : times_text(changes.count) + " ",
                               span_text(changes.first, changes.last));
    return why;
}

}  // namespace sluice
