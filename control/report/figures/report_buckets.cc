// The buckets behind a report's quantiles, for figures_since.
#include "control/config/schema/hosts.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/since.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/peers/host_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// `unit`: picoseconds of the quantiles beside it.
void add(Json& quantiles, const Histogram& histogram, std::int64_t unit) {
    if (!quantiles.is_object() || !quantiles.contains("max")) return;
    Json buckets = Json::array();
    histogram.for_each_bucket([&](Duration last, std::uint64_t times) {
        buckets.push_back(last.ps / unit);
        buckets.push_back(times);
    });
    quantiles["buckets"] = std::move(buckets);
}

}  // namespace

void add_buckets(Json& report, RunningSwitch& running) {
    constexpr std::int64_t ns = 1000;
    const Switch& device = running.device();
    for (PortId id = 0; id < device.port_count(); ++id) {
        Json& port = report["ports"][running.port_names()[id]];
        const PortCounters& counters = device.view(id).counters();
        add(port["cnp_latency_ns"], counters.cnp_latency, ns);
        for (unsigned n = 0; n < classes; ++n)
            add(port["queues"][n]["latency_ns"], counters.queue[n].latency, ns);
    }
    if (running.config().flows.empty()) return;
    const auto statistics = flow_statistics(running.config(), running.surroundings().hosts());
    const auto names = flow_names(running.config());
    for (std::size_t n = 0; n < names.size(); ++n) {
        if (!report["flows"].contains(names[n])) continue;
        Json& flow = report["flows"][names[n]];
        add(flow["completion_ns"], statistics[n].completion_time, ns);
        add(flow["slowdown_permille"], statistics[n].slowdown, 1);
    }
}

}  // namespace sluice
