#include "control/report/figures/report_hosts.hh"

#include <algorithm>
#include <string>
#include <vector>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/host_symptoms.hh"
#include "control/report/figures/quantiles.hh"
#include "dataplane/peers/host_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// Of any number of queue pairs.
struct Sum {
    roce::QpStatistics qp;
    roce::Requester::Counters requester;
    std::uint64_t duplicates = 0;
    std::uint64_t early = 0;
    roce::ReceiveWindow::Counters reordering;
    std::uint64_t senders = 0;  // of data
    std::uint64_t rate = 0;     // of those, bits/s
    std::uint64_t target = 0;
    std::uint64_t alpha_ppm = 0;

    void add(const roce::ReceiveWindow::Counters& from) {
        reordering.inversions += from.inversions;
        reordering.most_depth = std::max(reordering.most_depth, from.most_depth);
        reordering.repeated += from.repeated;
    }

    void add(const roce::QueuePair& pair, Time now) {
        const roce::QpStatistics& from = pair.statistics;
        qp.completed += from.completed;
        qp.retried += from.retried;
        qp.failed += from.failed;
        qp.completed_bytes += from.completed_bytes;
        qp.delivered += from.delivered;
        qp.delivered_bytes += from.delivered_bytes;
        qp.last_delivered = max(qp.last_delivered, from.last_delivered);
        qp.wrong_payload += from.wrong_payload;
        qp.data_packets += from.data_packets;
        qp.data_wire_bytes += from.data_wire_bytes;
        qp.ce_received += from.ce_received;
        qp.not_ect_received += from.not_ect_received;
        qp.acks_sent += from.acks_sent;
        qp.acks_received += from.acks_received;
        qp.cnps_sent += from.cnps_sent;
        qp.cnps_received += from.cnps_received;
        if (const roce::Requester* end = pair.requester()) {
            const roce::Requester::Counters& counters = end->counters();
            requester.retransmissions += counters.retransmissions;
            requester.timeouts += counters.timeouts;
            requester.sequence_errors += counters.sequence_errors;
            requester.rnr_naks += counters.rnr_naks;
            early += counters.early;
            add(end->reordering());
        }
        if (const roce::RcResponder* end = pair.responder()) {
            duplicates += end->counters().duplicates;
            early += end->counters().early;
            add(end->reordering());
        }
        if (!pair.sends_data()) return;
        constexpr std::uint64_t million = 1'000'000;
        ++senders;
        rate += pair.reaction().rate().bits_per_second;
        target += pair.reaction().target_rate().bits_per_second;
        alpha_ppm += pair.reaction().alpha(now) / (roce::fraction_one / million);
    }

    Json json() const {
        return {{"messages", qp.completed},
                {"retried_messages", qp.retried},
                {"failed_messages", qp.failed},
                {"message_bytes", qp.completed_bytes},
                {"delivered_bytes", qp.delivered_bytes},
                {"wrong_payload_packets", qp.wrong_payload},
                {"data_packets", qp.data_packets},
                {"data_wire_bytes", qp.data_wire_bytes},
                {"retransmitted_packets", requester.retransmissions},
                {"timeouts", requester.timeouts},
                {"sequence_errors", requester.sequence_errors},
                {"rnr_naks", requester.rnr_naks},
                {"duplicate_packets", duplicates},
                {"early_packets", early},
                {"reordered_packets", reordering.inversions},
                {"reorder_depth_packets", reordering.most_depth},
                {"repeated_packets", reordering.repeated},
                {"ce_packets", qp.ce_received},
                {"non_ect_packets", qp.not_ect_received},
                {"ack_sent_packets", qp.acks_sent},
                {"ack_received_packets", qp.acks_received},
                {"cnp_sent_packets", qp.cnps_sent},
                {"cnp_received_packets", qp.cnps_received},
                {"rate_bps", rate},
                {"target_rate_bps", target},
                {"alpha_ppm", senders == 0 ? 0 : alpha_ppm / senders}};
    }
};

std::uint64_t per_second(std::uint64_t bytes, Duration in) {
    return in.ps <= 0
               ? 0
               : static_cast<std::uint64_t>(static_cast<double>(bytes) * 8e12 / static_cast<double>(in.ps));
}

Json host_json(const RunningSwitch& running, const HostConfig& host, const HostPort& port,
               const std::vector<std::string>& told) {
    const roce::Nic& nic = port.nic();
    const Time now = running.now();
    Sum sum;
    for (const roce::QueuePair& pair : nic.queue_pairs()) sum.add(pair, now);
    Json json = {{"port", host.port},
                 {"address", print_address(host.address)},
                 {"cc", to_string(host.cc)},
                 {"queue_pairs", nic.queue_pairs().size()},
                 {"sent_packets", nic.statistics().frames_sent},
                 {"received_packets", nic.statistics().frames_received},
                 {"refused_packets", nic.statistics().refused},
                 {"stranger_packets", nic.statistics().strangers},
                 {"overrun_packets", port.overrun()},
                 {"pauses_sent", port.pauses_sent()}};
    json.update(sum.json());
    json["paused_ns"] = Json::object();
    for (ClassId n = 0; n < classes; ++n)
        if (const Duration paused = port.paused_time(n, now); paused.ps != 0)
            json["paused_ns"][std::to_string(n)] = paused.ps / 1000;
    std::vector<std::string> symptoms = host_symptoms(running, host, port);
    symptoms.insert(symptoms.end(), told.begin(), told.end());
    json["symptoms"] = std::move(symptoms);
    return json;
}

Rate speed_of(const RunningSwitch& running, PortId id) {
    return running.config().ports.at(running.port_names()[id]).speed;
}

ToldSymptoms symptoms_within(const RunningSwitch& running) {
    std::vector<ReportedHost> hosts;
    for (const auto& [name, host] : running.config().hosts)
        hosts.push_back({name, &host, running.host(name)});
    const auto port_of = [&](const std::string& host) {
        return *running.find_port(running.config().hosts.at(host).port);
    };
    return transfer_symptoms(hosts, [&](const std::string& from, const std::string& to) {
        return busier(received_on(running, port_of(from)), sent_on(running, port_of(to)));
    });
}

// A quantile of nothing is null: as 0 it would be less than whatever it is compared with.
Json null_if_empty(const Histogram& histogram, Json quantiles) {
    if (histogram.count() == 0)
        for (Json& each : quantiles) each = nullptr;
    return quantiles;
}

Json milli_quantiles(const Histogram& histogram) {
    const auto value = [](Duration duration) { return duration.ps; };
    return {{"p50", value(histogram.quantile(500))},
            {"p99", value(histogram.quantile(990))},
            {"p999", value(histogram.quantile(999))},
            {"max", value(histogram.max())}};
}

}  // namespace

LinkUse sent_on(const RunningSwitch& running, PortId id) {
    const Traffic& tx = running.device().view(id).counters().tx;
    return {speed_of(running, id), tx.bytes.get() + tx.packets.get() * wire_overhead_bytes};
}

LinkUse received_on(const RunningSwitch& running, PortId id) {
    const PortView port = running.device().view(id);
    return {speed_of(running, id), port.received([](const ReceiveCounters& queue) {
                return queue.rx.bytes.get() + queue.rx.packets.get() * wire_overhead_bytes;
            })};
}

Json hosts_json(const RunningSwitch& running, const ToldSymptoms& told) {
    Json json;
    make_room(json, running.config().hosts.size());
    for (const auto& [name, host] : running.config().hosts) {
        const auto own = told.find(name);
        json[name] = host_json(running, host, *running.host(name),
                               own == told.end() ? std::vector<std::string>() : own->second);
    }
    return json;
}

Json hosts_json(const RunningSwitch& running) { return hosts_json(running, symptoms_within(running)); }

std::vector<roce::FlowStatistics> flow_statistics(const Config& world,
                                                  const std::vector<const HostPort*>& hosts) {
    std::vector<roce::FlowStatistics> totals(world.flows.size());
    for (const HostPort* port : hosts)
        for (std::size_t n = 0; n < port->nic().flows().size(); ++n) {
            roce::FlowStatistics& total = totals[port->nic().flows()[n].id];
            const roce::FlowStatistics& own = port->nic().flow_statistics(n);
            total.completion_time.add(own.completion_time);
            total.slowdown.add(own.slowdown);
            if (total.by_size.empty()) total.by_size = std::vector<Histogram>(own.by_size.size());
            for (std::size_t size = 0; size < own.by_size.size(); ++size)
                total.by_size[size].add(own.by_size[size]);
        }
    return totals;
}

Json durations_json(const roce::FlowStatistics& statistics) {
    const Histogram &times = statistics.completion_time, &slowdown = statistics.slowdown;
    return {{"completion_ns", null_if_empty(times, quantiles_json(times))},
            {"slowdown_permille", null_if_empty(slowdown, milli_quantiles(slowdown))}};
}

Json flows_json(const Config& world, const std::vector<const HostPort*>& hosts, Time now) {
    struct Total {
        Sum sum;
        std::uint64_t queue_pairs = 0;
        Duration timeout;
        Duration paused;  // of its hosts that send data, in its class
    };
    std::vector<Total> totals(world.flows.size());
    for (const HostPort* port : hosts) {
        const roce::Nic& nic = port->nic();
        std::vector<bool> sends(world.flows.size());
        for (const roce::QueuePair& pair : nic.queue_pairs()) {
            Total& total = totals[pair.flow().id];
            total.sum.add(pair, now);
            if (pair.requester() != nullptr) {
                ++total.queue_pairs;
                total.timeout = std::max(total.timeout, pair.flow().requester.timeout);
            }
            if (!pair.sends_data() || sends[pair.flow().id]) continue;
            sends[pair.flow().id] = true;
            total.paused = total.paused + port->paused_time(pair.flow().data.priority, now);
        }
    }
    Json json;
    const std::vector<std::string> names = flow_names(world);
    make_room(json, names.size());
    const std::vector<roce::FlowStatistics> durations = flow_statistics(world, hosts);
    for (std::size_t n = 0; n < names.size(); ++n) {
        const Total& total = totals[n];
        const roce::QpStatistics& qp = total.sum.qp;
        Json flow = {{"queue_pairs", total.queue_pairs}, {"timeout_ns", total.timeout.ps / 1000}};
        flow.update(total.sum.json());
        flow["throughput_bps"] =
            per_second(qp.delivered_bytes, qp.last_delivered - (Time{} + world.flows[n].start));
        flow["paused_ns"] = total.paused.ps / 1000;
        flow.update(durations_json(durations[n]));
        json[names[n]] = std::move(flow);
    }
    return json;
}

Json flows_json(const RunningSwitch& running) {
    // Of a fabric's switch: flows of its hosts are the fabric's.
    std::vector<const HostPort*> hosts;
    if (!running.config().flows.empty())
        for (const auto& [name, host] : running.config().hosts) hosts.push_back(running.host(name));
    return flows_json(running.config(), hosts, running.now());
}

}  // namespace sluice
