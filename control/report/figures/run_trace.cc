#include "control/report/figures/run_trace.hh"

#include <string>
#include <utility>

#include "control/config/schema/hosts.hh"
#include "control/report/figures/verdict.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/peers/host_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/priority_group.hh"

namespace sluice {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t max_trace_events = 200;

// Pauses of one direction: [at_ps, mask from then on], and by class [slot's width, time on in each slot].
void add_pauses(Json& json, const std::string& name, const PortTrace::Pauses& pauses, Time now) {
    Json& changes = json[name] = Json::array();
    for (const auto& change : pauses.changes) changes.push_back({change.at.ps, change.priorities});
    json[name + "_cut"] = pauses.cut;
    Json& shares = json[name + "_share"] = Json::object();
    for (unsigned n = 0; n < classes; ++n)
        if (const auto slots = pauses.share[n].slots(now); !slots.empty())
            shares[std::to_string(n)] = {{"width_ps", pauses.share[n].width(now).ps}, {"on_ps", slots}};
}

std::optional<WredCurve> curve_of(const Policy& policy, PortId port, ClassId queue) {
    const std::uint16_t number = policy.ports[port].wred[queue];
    if (number == 0) return std::nullopt;
    const WredProfile& profile = policy.wred[number - 1];
    if (profile.mark_at == MarkAt::sojourn) return std::nullopt;
    return profile.curve(EcnBits::of(Ecn::ect0, Color::green, false));
}

}  // namespace

Json make_run_trace(const RunningSwitch& running, const std::string& name) {
    Json ports = Json::object();
    const Switch& device = running.device();
    const std::uint64_t cell = running.config().cell_bytes;
    const auto series = [&](const DepthTrace& trace) {
        Json slots = Json::array();
        for (const auto& slot : trace.slots())
            slots.push_back({slot.start_ps, slot.peak * cell, slot.last * cell});
        return slots;
    };
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortView port = device.view(id);
        const PortTrace* trace = port.trace();
        if (trace == nullptr) continue;
        Json json = {{"queues", Json::object()}, {"groups", Json::object()}};
        for (unsigned n = 0; n < classes; ++n) {
            const std::string key = std::to_string(n);
            if (!trace->queue[n].slots().empty()) json["queues"][key] = series(trace->queue[n]);
            if (port.group(n).shared_watermark.persistent.get() == 0 ||
                !device.policy().ports[id].group[n].lossless)
                continue;
            json["groups"][key] = {{"used", series(trace->group[n])},
                                   {"limit", series(trace->limit[n])},
                                   {"headroom", series(trace->headroom[n])}};
        }
        add_pauses(json, "pauses", trace->sent, running.now());
        add_pauses(json, "holds", trace->obeyed, running.now());
        ports[running.port_names()[id]] = std::move(json);
    }
    Json watchdog = Json::array(), events = Json::array();
    for (const SwitchEvent& event : running.events()) {
        if (const WatchdogNotice* notice = event.watchdog())
            watchdog.push_back(
                {event.at.ps, running.port_names()[notice->port], notice->queue, notice->detected});
        else if (events.size() < max_trace_events)
            events.push_back({event.at.ps, event.kind, event.text});
    }
    return {{"name", name},
            {"verdict", verdict_json(judge_run(running), running.clock().is_interrupted())},
            {"end_ps", running.now().ps},
            {"ports", std::move(ports)},
            {"watchdog", std::move(watchdog)},
            {"events", std::move(events)}};
}

TraceSamples::TraceSamples(const RunningSwitch& running)
    : running_(running), samples_(max_samples, microseconds(1)), thresholds_(running.device().port_count()) {}

void TraceSamples::sample_instant() {
    if (generation_ != running_.generation()) look_at_thresholds();
    if (samples_.wants(running_.now())) samples_.add(running_.now(), sample());
}

void TraceSamples::look_at_thresholds() {
    generation_ = running_.generation();
    for (PortId port = 0; port < thresholds_.size(); ++port)
        for (ClassId queue = 0; queue < classes; ++queue) {
            auto& known = thresholds_[port][queue];
            const auto curve = curve_of(running_.device().policy(), port, queue);
            if (!known.empty() && known.back().curve == curve) continue;
            if (known.size() == max_thresholds) known.pop_back();
            known.push_back({running_.now(), curve});
        }
}

TraceSamples::Sample TraceSamples::sample() const {
    Sample made;
    const Switch& device = running_.device();
    for (PortId id = 0; id < device.port_count(); ++id) {
        const PortCounters& counters = device.view(id).counters();
        for (unsigned n = 0; n < classes; ++n) {
            for (const Counter& marked : counters.queue[n].marked) made.marked += marked.get();
            made.pauses += counters.group[n].xoff.get();
        }
        for (std::size_t reason = 1; reason < drop_reason_count; ++reason)
            made.dropped += device.dropped(id, static_cast<DropReason>(reason));
    }
    made.lost = device.lossless_drops();
    made.flows.resize(running_.config().flows.size());
    for (const auto& [name, host] : running_.config().hosts)
        made.cnps += add_flows(running_.surroundings().host(name)->nic(), running_.now(), made.flows);
    return made;
}

void TraceSamples::add_to(Json& trace) const {
    for (PortId id = 0; id < thresholds_.size(); ++id) {
        Json& port = trace["ports"][running_.port_names()[id]];
        port["thresholds"] = Json::object();
        for (const auto& [queue, slots] : port["queues"].items()) {
            Json changes = Json::array();
            for (const auto& [at, curve] : thresholds_[id][std::stoul(queue)])
                if (curve)
                    changes.push_back({at.ps, curve->min(), curve->max()});
                else
                    changes.push_back({at.ps, nullptr, nullptr});
            port["thresholds"][queue] = std::move(changes);
        }
    }
    trace["samples"] = samples_json();
}

// A column of each figure, under its name in the report.
Json TraceSamples::samples_json() const {
    const std::vector<std::string> names = flow_names(running_.config());
    Json json;
    for (const char* figure : {"at_ps", "ecn_marked_packets", "cnp_sent_packets", "xoff_transitions",
                               "dropped_packets", "lost_packets"})
        json[figure] = Json::array();
    Json& flows = json["flows"] = Json::object();
    for (const std::string& name : names)
        flows[name] = {{"rate_bps", Json::array()}, {"delivered_bytes", Json::array()}};
    const auto row = [&](Time time, const Sample& sample) {
        json["at_ps"].push_back(time.ps);
        json["ecn_marked_packets"].push_back(sample.marked);
        json["cnp_sent_packets"].push_back(sample.cnps);
        json["xoff_transitions"].push_back(sample.pauses);
        json["dropped_packets"].push_back(sample.dropped);
        json["lost_packets"].push_back(sample.lost);
        for (std::size_t n = 0; n < names.size(); ++n) {
            flows[names[n]]["rate_bps"].push_back(sample.flows[n].rate);
            flows[names[n]]["delivered_bytes"].push_back(sample.flows[n].delivered_bytes);
        }
    };
    for (const auto& [time, sample] : samples_.taken()) row(time, sample);
    row(running_.now(), sample());
    return json;
}

}  // namespace sluice
