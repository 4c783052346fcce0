#include "control/report/figures/report_hosts.hh"

#include <algorithm>
#include <string>
#include <vector>

#include "control/config/schema/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/host_symptoms.hh"
#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/peers/host_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// The sum of any number of queue pairs.
struct Sum : roce::QpTotals {
    std::uint64_t senders = 0;  // of data, that are there now
    std::uint64_t rate = 0;     // of those, bits/s
    std::uint64_t target = 0;
    std::uint64_t alpha_ppm = 0;

    using QpTotals::add;
    void add(const roce::QueuePair& pair, Time now) {
        add(pair);
        if (!pair.sends_data()) return;
        constexpr std::uint64_t million = 1'000'000;
        ++senders;
        const roce::ReactionPoint reaction = pair.reaction().at(now);
        rate += reaction.rate().bits_per_second;
        target += reaction.target_rate().bits_per_second;
        alpha_ppm += pair.reaction().alpha(now) / (roce::fraction_one / million);
    }
};

// By class, those that were paused.
Json paused_json(const HostPort& port, Time now) {
    Json json = Json::object();
    for (ClassId n = 0; n < classes; ++n)
        if (const Duration paused = port.paused_time(n, now); paused.ps != 0)
            json[std::to_string(n)] = paused.ps / 1000;
    return json;
}

struct HostSource {
    const HostConfig& host;
    const HostPort& port;
    const roce::Nic& nic;
    Time now;
    Sum sum;
    std::vector<std::string> symptoms;
};

FIGURE_ROWS(host_rows, HostSource, "hosts.{host}") = {
#include "control/report/figures/rows/host.def"
};

struct FlowTotal {
    Sum sum;
    Duration timeout;
    Duration paused;  // of its hosts that send data, in its class
};

struct FlowSource : FlowTotal {
    Time start;
    const roce::FlowStatistics& durations;
};

FIGURE_ROWS(flow_rows, FlowSource, "flows.{flow}") = {
#include "control/report/figures/rows/flow.def"
};

struct DurationsSource {
    const roce::FlowStatistics& durations;
};

FIGURE_ROWS(duration_rows, DurationsSource, "flows.{flow}") = {
#include "control/report/figures/rows/durations.def"
};

Json host_json(const RunningSwitch& running, const HostConfig& host, const HostPort& port,
               const std::vector<std::string>& told) {
    HostSource source{host, port, port.nic(), running.now(), {}, host_symptoms(running, host, port)};
    for (const roce::QueuePair& pair : source.nic.queue_pairs()) source.sum.add(pair, source.now);
    for (const roce::QpTotals& gone : source.nic.gone()) source.sum.add(gone);
    source.symptoms.insert(source.symptoms.end(), told.begin(), told.end());
    return json_of(host_rows, source);
}

Rate speed_of(const RunningSwitch& running, PortId id) {
    return running.config().ports.at(running.port_names()[id]).speed;
}

ToldSymptoms symptoms_within(const RunningSwitch& running) {
    const std::vector<const HostPort*> ports = running.surroundings().hosts();
    std::vector<ReportedHost> hosts;
    for (const auto& [name, host] : running.config().hosts)
        hosts.push_back({name, &host, ports[hosts.size()]});
    const auto port_of = [&](const std::string& host) {
        return *running.find_port(running.config().hosts.at(host).port);
    };
    return transfer_symptoms(hosts, [&](const std::string& from, const std::string& to) {
        return busier(received_on(running, port_of(from)), sent_on(running, port_of(to)));
    });
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
    const std::vector<const HostPort*> ports = running.surroundings().hosts();
    for (auto port = ports.begin(); const auto& [name, host] : running.config().hosts) {
        const auto own = told.find(name);
        json[name] =
            host_json(running, host, **port++, own == told.end() ? std::vector<std::string>() : own->second);
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
        }
    return totals;
}

std::uint64_t bits_per_second(std::uint64_t bytes, double in_ps) {
    return in_ps <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(bytes) * 8e12 / in_ps);
}

Json durations_json(const roce::FlowStatistics& statistics) { return json_of(duration_rows, {statistics}); }

Json flows_json(const Config& world, const std::vector<const HostPort*>& hosts, Time now) {
    std::vector<FlowTotal> totals(world.flows.size());
    for (const HostPort* port : hosts) {
        const roce::Nic& nic = port->nic();
        std::vector<bool> sends(world.flows.size());
        const auto add_paused = [&](const roce::FlowSettings& flow) {
            if (sends[flow.id]) return;
            sends[flow.id] = true;
            totals[flow.id].paused = totals[flow.id].paused + port->paused_time(flow.data.priority, now);
        };
        for (const roce::QueuePair& pair : nic.queue_pairs()) {
            FlowTotal& total = totals[pair.flow().id];
            total.sum.add(pair, now);
            if (pair.requester() != nullptr)
                total.timeout = std::max(total.timeout, pair.flow().requester.timeout);
            if (pair.sends_data()) add_paused(pair.flow());
        }
        for (std::size_t n = 0; n < nic.flows().size(); ++n) {
            const roce::QpTotals& gone = nic.gone()[n];
            FlowTotal& total = totals[nic.flows()[n].id];
            total.sum.add(gone);
            if (gone.requesters == 0) continue;
            total.timeout = std::max(total.timeout, nic.flows()[n].requester.timeout);
            add_paused(nic.flows()[n]);
        }
    }
    Json json;
    const std::vector<std::string> names = flow_names(world);
    make_room(json, names.size());
    const std::vector<roce::FlowStatistics> durations = flow_statistics(world, hosts);
    for (std::size_t n = 0; n < names.size(); ++n)
        json[names[n]] = json_of(flow_rows, {{totals[n]}, Time{} + world.flows[n].start, durations[n]});
    return json;
}

std::uint64_t add_flows(const roce::Nic& nic, Time now, std::vector<FlowMoment>& flows) {
    std::uint64_t cnps = 0;
    const auto add = [&](std::uint32_t id, const roce::QpStatistics& figures) {
        cnps += figures.cnps_sent;
        flows[id].delivered_bytes += figures.delivered_bytes;
    };
    for (const roce::QueuePair& pair : nic.queue_pairs()) {
        add(pair.flow().id, pair.statistics);
        if (pair.sends_data()) flows[pair.flow().id].rate += pair.reaction().at(now).rate().bits_per_second;
    }
    for (std::size_t n = 0; n < nic.flows().size(); ++n) add(nic.flows()[n].id, nic.gone()[n].qp);
    return cnps;
}

Json flows_json(const RunningSwitch& running) {
    // A switch of a fabric has none: flows of its hosts are the fabric's.
    std::vector<const HostPort*> hosts;
    if (!running.config().flows.empty()) hosts = running.surroundings().hosts();
    return flows_json(running.config(), hosts, running.now());
}

}  // namespace sluice
