#include "control/fabric/report/series.hh"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/hosts.hh"
#include "control/fabric/report/fabric_report.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/buffer_use.hh"
#include "lib/values/class_mask.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// The places of the largest figures, in their own order.
std::vector<std::size_t> largest(const std::vector<std::uint64_t>& figures, std::size_t most) {
    std::vector<std::size_t> places(figures.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, std::greater(), [&](std::size_t place) { return figures[place]; });
    places.resize(std::min(places.size(), most));
    std::ranges::sort(places);
    return places;
}

}  // namespace

FabricSeries::Sample FabricSeries::sample() const {
    Sample made;
    std::uint32_t queue = 0;
    for (const FabricSwitch& each : fabric_.switches()) {
        const Switch& device = each.running->device();
        for (PortId id = 0; id < device.port_count(); ++id) {
            const PortView port = device.view(id);
            const PortCounters& counters = port.counters();
            for (unsigned n = 0; n < classes; ++n) {
                for (const Counter& marked : counters.queue[n].marked) made.marked += marked.get();
                made.pauses += counters.group[n].xoff.get();
            }
            for_each_class(port.backlog(), [&](ClassId n) {
                if (const std::uint32_t cells = port.use(n).used_cells(); cells != 0)
                    made.depths.push_back({queue + n, cells});
            });
            queue += classes;
        }
    }
    made.flows.resize(fabric_.plan().file.flows.size());
    for (const HostPort* host : hosts_) made.cnps += add_flows(host->nic(), fabric_.now(), made.flows);
    return made;
}

Json FabricSeries::json(const SizeReport& sizes) const {
    const Sample end = sample();
    std::vector<const Sample*> samples;
    Json json = {{"at_ns", Json::array()},
                 {"ecn_marked_packets", Json::array()},
                 {"cnp_sent_packets", Json::array()},
                 {"xoff_transitions", Json::array()}};
    const auto row = [&](Time at, const Sample& sample) {
        json["at_ns"].push_back(at.ps / 1000);
        json["ecn_marked_packets"].push_back(sample.marked);
        json["cnp_sent_packets"].push_back(sample.cnps);
        json["xoff_transitions"].push_back(sample.pauses);
        samples.push_back(&sample);
    };
    for (const auto& [at, sample] : samples_.taken()) row(at, sample);
    row(fabric_.now(), end);
    json["flows"] = flows_json(samples);
    json["flows_left_out"] = end.flows.size() - json["flows"].size();
    json["queues"] = queues_json(samples);
    json["completions"] = completions_json(sizes);
    return json;
}

Json FabricSeries::flows_json(const std::vector<const Sample*>& samples) const {
    const std::vector<std::string> names = flow_names(fabric_.plan().world());
    std::vector<std::uint64_t> delivered;
    for (const FlowMoment& flow : samples.back()->flows) delivered.push_back(flow.delivered_bytes);
    Json json = Json::array();
    for (const std::size_t n : largest(delivered, max_flows)) {
        Json rates = Json::array(), bytes = Json::array();
        for (const Sample* sample : samples) {
            rates.push_back(sample->flows[n].rate);
            bytes.push_back(sample->flows[n].delivered_bytes);
        }
        json.push_back({{"name", names[n]}, {"rate_bps", rates}, {"delivered_bytes", bytes}});
    }
    return json;
}

Json FabricSeries::queues_json(const std::vector<const Sample*>& samples) const {
    std::map<std::uint32_t, std::uint64_t> peaks;
    for (const Sample* sample : samples)
        for (const Depth& depth : sample->depths)
            peaks[depth.queue] = std::max<std::uint64_t>(peaks[depth.queue], depth.cells);
    std::vector<std::uint32_t> queues;
    std::vector<std::uint64_t> figures;
    for (const auto& [queue, peak] : peaks) queues.push_back(queue), figures.push_back(peak);
    std::map<std::uint32_t, Json> columns;
    for (const std::size_t n : largest(figures, max_queues)) columns[queues[n]] = Json::array();
    for (const Sample* sample : samples) {
        for (auto& [queue, column] : columns) column.push_back(0);
        for (const Depth& depth : sample->depths)
            if (const auto found = columns.find(depth.queue); found != columns.end())
                found->second.back() = depth.cells;
    }
    Json json = Json::array();
    std::uint32_t first = 0;  // of the switch
    for (const FabricSwitch& each : fabric_.switches()) {
        const auto& ports = each.running->port_names();
        const auto end = static_cast<std::uint32_t>(first + ports.size() * classes);
        for (auto at = columns.lower_bound(first); at != columns.end() && at->first < end; ++at) {
            for (Json& cells : at->second)
                cells = cells.get<std::uint64_t>() * each.running->config().cell_bytes;
            json.push_back({{"switch", each.plan->name},
                            {"port", ports[(at->first - first) / classes]},
                            {"queue", (at->first - first) % classes},
                            {"bytes", std::move(at->second)}});
        }
        first = end;
    }
    return json;
}

Json FabricSeries::completions_json(const SizeReport& sizes) const {
    const std::vector<std::string> names = flow_names(fabric_.plan().world());
    const std::vector<roce::FlowStatistics> statistics = flow_statistics(fabric_);
    Json flows = Json::array();
    for (std::size_t n = 0; n < std::min(names.size(), max_flows); ++n) {
        const auto message = message_sizes(fabric_.plan().file.flows[n].message);
        Json one = {
            {"name", names[n]}, {"least_bytes", message.min_bytes()}, {"most_bytes", message.max_bytes()}};
        one.update(shares_json(statistics[n].completion_time));
        flows.push_back(std::move(one));
    }
    return {{"per_mille", drawn_shares()}, {"flows", std::move(flows)}, {"sizes", sizes.shares()}};
}

}  // namespace sluice::fabric
