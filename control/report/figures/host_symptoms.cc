#include "control/report/figures/host_symptoms.hh"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/peers/host_port.hh"

namespace sluice {
namespace {

using roce::CongestionControl;

// A rate that rises for the time of nic_statistics.hh or longer is a symptom when it fills its link so much
// later: with the defaults an incast of some ten hosts fills it within these 5 ms.
constexpr double filled_within_s = 5e-3;
constexpr double told_from_s = 3e-3;
constexpr double told_below_use = 0.9;
constexpr double told_from_share = 0.1;  // of the time, in which its rate alone held a queue pair

double bits(Rate rate) { return static_cast<double>(rate.bits_per_second); }
double in_seconds(Duration time) { return static_cast<double>(time.ps) / 1e12; }

// The increase that goes on without a CNP, in bits/s a second.
Rate step_of(const roce::ReactionParameters& reaction) {
    return reaction.byte_counter == 0 ? reaction.hyper : reaction.additive;
}
double slope(const roce::ReactionParameters& reaction) {
    return bits(step_of(reaction)) / in_seconds(reaction.increase_period);
}

// Two digits, rounded up.
Rate rounded_up(double rate) {
    const double digit = std::pow(10, std::floor(std::log10(rate)) - 1);
    return {static_cast<std::uint64_t>(std::ceil(rate / digit) * digit)};
}

struct Sender {
    const ReportedHost* host;
    const roce::QueuePair* pair;
    const roce::ReactionParameters& reaction() const { return host->port->nic().settings().reaction; }
    const roce::QpStatistics& figures() const { return pair->statistics; }
};

// The queue pairs whose data one host receives.
struct Incast {
    std::vector<Sender> senders;
    LinkUse link;  // the busiest on their ways

    // The step with which all of them fill the link in time.
    Rate wanted_step(Duration period) const {
        return rounded_up(bits(link.speed) / static_cast<double>(senders.size()) * in_seconds(period) /
                          filled_within_s);
    }
};

class TransferSymptoms {
  public:
    TransferSymptoms(std::span<const ReportedHost> hosts, const BusiestLink& busiest) : busiest_(busiest) {
        for (const ReportedHost& host : hosts) at_address_[host.config->address] = &host;
        for (const ReportedHost& host : hosts)
            for (const roce::QueuePair& pair : host.port->nic().queue_pairs()) {
                const auto to = at_address_.find(pair.settings().peer);
                if (pair.sends_data() && to != at_address_.end())
                    incasts_[to->second].senders.push_back({&host, &pair});
            }
    }

    std::map<std::string, std::vector<std::string>> take() {
        for (const auto& [address, host] : at_address_)
            for (const bool reads : {false, true}) sent_twice(*host, reads);
        for (auto& [to, incast] : incasts_) want_of_increase(*to, incast);
        no_reaction();
        return std::move(told_);
    }

  private:
    void find_link(const ReportedHost& to, Incast& incast) const {
        const ReportedHost* last = nullptr;
        for (const Sender& sender : incast.senders) {
            if (sender.host == last) continue;  // they come host by host
            const LinkUse link = busiest_(sender.host->name, to.name);
            incast.link = last == nullptr ? link : busier(link, incast.link);
            last = sender.host;
        }
    }

    // A symptom of the receiver, once for all senders. A receiver that drains slowly is not a link.
    void want_of_increase(const ReportedHost& to, Incast& incast) {
        if (to.config->drain) return;
        double recovering = 0;
        const Sender* lowest = nullptr;
        Time begin = incast.senders.front().pair->flow().arrivals.start, end{};
        for (const Sender& each : incast.senders) {
            begin = min(begin, each.pair->flow().arrivals.start);
            recovering += in_seconds(each.figures().recovering);
            if (each.figures().recovering.ps != 0 &&
                (lowest == nullptr || each.figures().recovering_from < lowest->figures().recovering_from))
                lowest = &each;
        }
        for (const roce::QueuePair& pair : to.port->nic().queue_pairs())
            end = max(end, pair.statistics.last_delivered);
        const double span = in_seconds(end - begin);
        const auto count = static_cast<double>(incast.senders.size());
        if (lowest == nullptr || span <= 0 || recovering < told_from_share * count * span) return;
        find_link(to, incast);
        const double use = static_cast<double>(incast.link.wire_bytes) * 8 / (bits(incast.link.speed) * span);
        if (use >= told_below_use) return;

        double rates = 0, rise = 0;
        for (const Sender& each : incast.senders) {
            const bool recovers = each.figures().recovering.ps != 0;
            rates += bits(recovers ? each.figures().recovering_from : each.pair->reaction().rate());
            rise += slope(each.reaction());
        }
        const double fills_s = (bits(incast.link.speed) - rates) / rise;  // infinite: never
        if (fills_s < told_from_s) return;
        const roce::ReactionParameters& reaction = lowest->reaction();
        tell(to.name,
             "{:.0f} % of a {} link on the way to it was used, for want of increase: {} had no CNP for 2 ms "
             "and more, and rose from {} by {} every {}, which fills the link in {}; do: {} for {}",
             std::floor(use * 100), print_rate(incast.link.speed),
             print_count(incast.senders.size(), "queue pair"), rate_text(lowest->figures().recovering_from),
             print_rate(step_of(reaction)), print_time(reaction.increase_period),
             std::isfinite(fills_s) ? time_text(static_cast<std::uint64_t>(fills_s * 1e9)) : "no time",
             remedy(*lowest, incast), hosts_text(incast));
    }

    // A default that recovers twice as fast, or else a step that suffices.
    static std::string remedy(const Sender& sender, const Incast& incast) {
        const HostConfig& host = *sender.host->config;
        const roce::ReactionParameters& now = sender.reaction();
        const auto faster = [&](CongestionControl kind) {
            return slope(roce::ReactionParameters::of(kind, now.line_rate)) >= 2 * slope(now);
        };
        if (faster(host.cc)) return "leave rate_ai, rate_hai and increase_timer out";
        if (host.cc != CongestionControl::dcqcn && faster(CongestionControl::dcqcn))
            return "write cc = \"dcqcn\"";
        return fmt::format("write {} = \"{}\"", now.byte_counter == 0 ? "rate_hai" : "rate_ai",
                           print_rate(incast.wanted_step(now.increase_period)));
    }

    // A symptom of each sender once, with the incast that brought it the most CNPs.
    void no_reaction() {
        struct Told {
            std::uint64_t cnps = 0, most = 0;
            const ReportedHost* to = nullptr;
            Incast* incast = nullptr;
        };
        std::map<const ReportedHost*, Told> senders;
        for (auto& [to, incast] : incasts_) {
            std::map<const ReportedHost*, std::uint64_t> cnps;
            for (const Sender& each : incast.senders)
                if (each.host->config->cc == CongestionControl::none)
                    cnps[each.host] += each.figures().cnps_received;
            for (const auto& [host, count] : cnps) {
                Told& told = senders[host];
                told.cnps += count;
                if (count > told.most) told = {told.cnps, count, to, &incast};
            }
        }
        for (const auto& [host, told] : senders) {
            if (told.cnps == 0) continue;
            if (told.incast->link.speed == Rate{}) find_link(*told.to, *told.incast);
            const auto dcqcn = roce::ReactionParameters::of(roce::CongestionControl::dcqcn,
                                                            host->port->nic().settings().reaction.line_rate);
            const Rate step = told.incast->wanted_step(dcqcn.increase_period);
            const bool suffices = step <= host->config->rate_ai.value_or(dcqcn.additive);
            tell(host->name,
                 "{} CNPs came, and it does not react: it has no congestion control; do: write cc = "
                 "\"dcqcn\"{}, with which {} to {} fill their link again within 5 ms after a cut",
                 told.cnps, suffices ? "" : fmt::format(" and rate_ai = \"{}\"", print_rate(step)),
                 print_count(told.incast->senders.size(), "queue pair"), told.to->name);
        }
    }

    // A requester timed out and sent data again, although all answers came (ACKs, READ responses) without a
    // gap.
    void sent_twice(const ReportedHost& host, bool reads) {
        std::uint64_t twice = 0, sent = 0, timeouts = 0;
        const roce::FlowSettings* flow = nullptr;  // of the shortest time-out
        for (const roce::QueuePair& pair : host.port->nic().queue_pairs()) {
            const auto to = at_address_.find(pair.settings().peer);
            if (pair.requester() == nullptr || pair.sends_data() == reads || to == at_address_.end())
                continue;
            const roce::QueuePair* there = to->second->port->nic().find_queue_pair(pair.settings().peer_qp);
            if (there == nullptr) continue;  // of a transfer, before its first packet or after its last
            const roce::QueuePair& peer = *there;
            const roce::Requester& requester = *pair.requester();
            sent += (reads ? peer : pair).statistics.data_packets;
            const std::uint64_t again =
                reads ? requester.reordering().repeated : peer.responder()->counters().duplicates;
            const bool lacks_answers =
                reads ? peer.statistics.data_packets >
                            requester.acknowledged_psns() + requester.outstanding_psns() + again
                      : peer.statistics.acks_sent > pair.statistics.acks_received + 1;
            if (again == 0 || lacks_answers || requester.counters().timeouts == 0 ||
                requester.counters().sequence_errors != 0)
                continue;
            twice += again;
            timeouts += requester.counters().timeouts;
            if (flow == nullptr || pair.flow().requester.timeout < flow->requester.timeout)
                flow = &pair.flow();
        }
        if (flow == nullptr) return;
        const Duration timeout = flow->requester.timeout;
        tell(host.name,
             "{} of {} {} were sent twice, and none was lost: {} time-outs of {} ended while {}; do: write "
             "timeout = \"{}\"",
             twice, sent, reads ? "packets of its READs' responses" : "packets", timeouts,
             print_time(timeout), reads ? "its responses were on their way" : "packets waited in queues",
             flow->path_timeout > timeout ? "auto" : print_time(timeout * 4));
    }

    static std::string hosts_text(const Incast& incast) {
        std::vector<const ReportedHost*> hosts;
        for (const Sender& each : incast.senders)
            if (hosts.empty() || hosts.back() != each.host) hosts.push_back(each.host);
        if (hosts.size() == 1) return hosts.front()->name;
        return fmt::format("{} to {}", hosts.front()->name, hosts.back()->name);
    }
    static std::string rate_text(Rate rate) { return fmt::format("{:.2f} Gb/s", bits(rate) / 1e9); }

    template <class... Values>
    void tell(const std::string& name, fmt::format_string<Values...> words, Values&&... values) {
        told_[name].push_back(fmt::format(words, std::forward<Values>(values)...));
    }

    const BusiestLink& busiest_;
    std::map<IpAddress, const ReportedHost*> at_address_;
    std::map<const ReportedHost*, Incast> incasts_;  // `hosts` is one array: in its order
    std::map<std::string, std::vector<std::string>> told_;
};

// A notification point answers CE within the time of a few frames.
constexpr Duration silence_of_cnps = milliseconds(1);

class Symptoms {
  public:
    Symptoms(const RunningSwitch& running, const HostConfig& host, const HostPort& port)
        : running_(running), host_(host), port_(port), nic_(port.nic()) {
        for (const roce::QueuePair& pair : nic_.queue_pairs()) {
            sum_.ce_received += pair.statistics.ce_received;
            sum_.cnps_sent += pair.statistics.cnps_sent;
            sum_.cnps_received += pair.statistics.cnps_received;
            sum_.not_ect_received += pair.statistics.not_ect_received;
            if (pair.statistics.not_ect_received != 0) not_ect_senders_.insert(pair.settings().peer);
        }
    }

    std::vector<std::string> take() {
        notification_point();
        reaction_point();
        cnp_class();
        not_ect();
        slow_receiver();
        return std::move(list_);
    }

  private:
    void notification_point() {
        const std::optional<Time> since = nic_.statistics().unanswered_since;
        if (!since || running_.now() - *since < silence_of_cnps) return;
        const Duration silence = running_.now() - *since;
        if (!host_.echo_ce)
            say("CE came and no CNP was sent for {:.1f} ms ({} packets with CE in all): its notification "
                "point is off; do: write echo_ce = true",
                milliseconds_of(silence), sum_.ce_received);
        else
            say("CE came and no CNP was sent for {:.1f} ms: its class {} is paused; do: give CNPs a class "
                "that is not lossless",
                milliseconds_of(silence), nic_.settings().cnp.priority);
    }

    void reaction_point() {
        if (sum_.cnps_received != 0 && host_.cc != roce::CongestionControl::none && host_.ignore_cnp)
            say("{} CNPs came, and it ignores them: its reaction point is off; do: write ignore_cnp = false",
                sum_.cnps_received);
    }

    void cnp_class() {
        if (sum_.cnps_sent == 0) return;
        const PortConfig& said = running_.config().ports.at(host_.port);
        const EffectivePort& port = running_.qos().ports.at(host_.port);
        const std::string delay = lint::host_cnp_delay(said, port, host_.cnp_dscp);
        if (delay.empty()) return;
        const ClassId tc = lint::class_at(said, port, {host_.cnp_dscp, {}, true});
        say("its {} CNPs went in class {}, whose queue {} {}: congestion was told of late; do: write "
            "cnp_dscp = {}",
            sum_.cnps_sent, tc, port.map.tc_to_queue[tc], delay, lint::usual_cnp.dscp);
    }

    // A symptom of the receiver: the last queue on their way is known here.
    void not_ect() {
        if (sum_.not_ect_received == 0) return;
        const EffectivePort& port = running_.qos().ports.at(host_.port);
        const ClassId tc =
            lint::class_at(running_.config().ports.at(host_.port), port, {nic_.statistics().not_ect_dscp});
        const unsigned queue = port.map.tc_to_queue[tc];
        if (!port.wred_profile[queue]) return;
        const std::string first = print_address(*not_ect_senders_.begin());
        const std::string others =
            not_ect_senders_.size() == 1 ? "" : fmt::format(" and {} more", not_ect_senders_.size() - 1);
        say("{} data packets came Not-ECT from {}{} through queue {}, which {} marks: their senders never "
            "hear of congestion; do: write ecn = \"ect0\" for host {}",
            sum_.not_ect_received, first, others, queue, in_quotes(port.wred[queue]),
            name_of(*not_ect_senders_.begin()));
    }

    void slow_receiver() {
        if (host_.drain && port_.pauses_sent() != 0)
            say("sent {} pauses: it takes in no more than {}; do: write drain = \"unlimited\"",
                port_.pauses_sent(), print_rate(*host_.drain));
        if (port_.overrun() != 0)
            say("lost {} frames that its receive buffer had no room for: port {} does not obey its pauses; "
                "do: write pfc = [{}] for the port",
                port_.overrun(), host_.port, nic_.flows().front().data.priority);
    }

    // In a fabric the sender may be at another switch.
    std::string name_of(const IpAddress& address) const {
        for (const auto& [name, host] : running_.config().hosts)
            if (host.address == address) return name;
        return print_address(address);
    }
    static double milliseconds_of(Duration duration) { return static_cast<double>(duration.ps) / 1e9; }

    template <class... Values>
    void say(fmt::format_string<Values...> words, Values&&... values) {
        list_.push_back(fmt::format(words, std::forward<Values>(values)...));
    }

    const RunningSwitch& running_;
    const HostConfig& host_;
    const HostPort& port_;
    const roce::Nic& nic_;
    roce::QpStatistics sum_;
    std::set<IpAddress> not_ect_senders_;
    std::vector<std::string> list_;
};

}  // namespace

std::map<std::string, std::vector<std::string>> transfer_symptoms(std::span<const ReportedHost> hosts,
                                                                  const BusiestLink& busiest) {
    return TransferSymptoms(hosts, busiest).take();
}

std::vector<std::string> host_symptoms(const RunningSwitch& running, const HostConfig& host,
                                       const HostPort& port) {
    return Symptoms(running, host, port).take();
}

}  // namespace sluice
