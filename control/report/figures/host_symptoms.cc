#include "control/report/figures/host_symptoms.hh"

#include <fmt/format.h>

#include <set>

#include "control/config/lint/lint_qos_parts.hh"
#include "control/config/schema/values.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/peers/host_port.hh"

namespace sluice {
namespace {

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
                "point is "
                "off; do: write echo_ce = true",
                milliseconds_of(silence), sum_.ce_received);
        else
            say("CE came and no CNP was sent for {:.1f} ms: its class {} is paused; do: give CNPs a class "
                "that "
                "is not lossless",
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
        const ClassId tc = lint::class_at(said, port, host_.cnp_dscp, true);
        say("its {} CNPs went in class {}, whose queue {} {}: congestion was told of late; do: write "
            "cnp_dscp = {}",
            sum_.cnps_sent, tc, port.map.tc_to_queue[tc], delay, lint::usual_cnp_dscp);
    }

    // Told where they arrive: the last queue on their way is known here.
    void not_ect() {
        if (sum_.not_ect_received == 0) return;
        const EffectivePort& port = running_.qos().ports.at(host_.port);
        const ClassId tc = lint::class_at(running_.config().ports.at(host_.port), port,
                                          nic_.statistics().not_ect_dscp, false);
        const unsigned queue = port.map.tc_to_queue[tc];
        if (!port.wred_profile[queue]) return;
        const std::string first = print_address(*not_ect_senders_.begin());
        const std::string others =
            not_ect_senders_.size() == 1 ? "" : fmt::format(" and {} more", not_ect_senders_.size() - 1);
        say("{} data packets came Not-ECT from {}{} through queue {}, which {} marks: their senders never "
            "hear of "
            "congestion; do: write ecn = \"ect0\" for host {}",
            sum_.not_ect_received, first, others, queue, in_quotes(port.wred[queue]),
            name_of(*not_ect_senders_.begin()));
    }

    void slow_receiver() {
        if (host_.drain && port_.pauses_sent() != 0)
            say("sent {} pauses: it takes in no more than {}; do: write drain = \"unlimited\"",
                port_.pauses_sent(), print_rate(*host_.drain));
        if (port_.overrun() != 0)
            say("lost {} frames that its receive buffer had no room for: port {} does not obey its pauses; "
                "do: write "
                "pfc = [{}] for the port",
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

std::vector<std::string> host_symptoms(const RunningSwitch& running, const HostConfig& host,
                                       const HostPort& port) {
    return Symptoms(running, host, port).take();
}

}  // namespace sluice
