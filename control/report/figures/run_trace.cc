#include "control/report/figures/run_trace.hh"

#include <string>
#include <string_view>

#include "control/config/schema/hosts.hh"
#include "control/config/text/json_writer.hh"
#include "control/report/figures/verdict.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/path/port_trace.hh"
#include "dataplane/peers/host_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/priority_group.hh"

namespace sluice {
namespace {

constexpr std::size_t max_trace_events = 200;

std::optional<WredCurve> curve_of(const Policy& policy, PortId port, ClassId queue) {
    const std::uint16_t number = policy.ports[port].wred[queue];
    if (number == 0) return std::nullopt;
    const WredProfile& profile = policy.wred[number - 1];
    if (profile.mark_at == MarkAt::sojourn) return std::nullopt;
    return profile.curve(EcnBits::of(Ecn::ect0, Color::green, false));
}

// Pauses of one direction: [at_ps, mask from then on], and by class [slot's width, time on in each slot].
void write_pauses(JsonWriter& json, const std::string& name, const PortTrace::Pauses& pauses, Time now) {
    json.key(name).list([&] {
        for (const auto& change : pauses.changes) json.row(change.at.ps, change.priorities);
    });
    json.key(name + "_cut").value(pauses.cut);
    json.key(name + "_share").object([&] {
        for (unsigned n = 0; n < classes; ++n) {
            const auto slots = pauses.share[n].slots(now);
            if (slots.empty()) continue;
            json.key(std::to_string(n)).object([&] {
                json.key("width_ps").value(pauses.share[n].width(now).ps);
                json.key("on_ps").list([&] {
                    for (const std::int64_t on_ps : slots) json.value(on_ps);
                });
            });
        }
    });
}

// Writes the parts of one port.
struct PortTraceWriter {
    JsonWriter& json;
    const RunningSwitch& running;
    const TraceSamples& samples;
    PortId id;
    const PortTrace& trace;

    void write() const {
        json.key("queues").object([&] {
            each_queue([&](ClassId n) { write_series(std::to_string(n), trace.queue[n].slots(), 0); });
        });
        json.key("groups").object([&] { write_groups(); });
        write_pauses(json, "pauses", trace.sent, running.now());
        write_pauses(json, "holds", trace.obeyed, running.now());
        json.key("thresholds").object([&] {
            each_queue([&](ClassId n) {
                json.key(std::to_string(n));
                samples.write_thresholds(json, id, n);
            });
        });
    }

  private:
    // Queues that were used.
    void each_queue(auto write_member) const {
        for (ClassId n = 0; n < classes; ++n)
            if (!trace.queue[n].slots().empty()) write_member(n);
    }
    void write_groups() const {
        const PortView port = running.device().view(id);
        for (ClassId n = 0; n < classes; ++n) {
            if (port.group(n).shared_watermark.persistent.get() == 0 ||
                !running.device().policy().ports[id].group[n].lossless)
                continue;
            const auto& slots = trace.group[n].slots();
            json.key(std::to_string(n)).object([&] {
                write_series("used", slots, PortTrace::used);
                write_series("limit", slots, PortTrace::limit);
                write_series("headroom", slots, PortTrace::in_headroom);
            });
        }
    }
    // [start, peak, last] of one depth, in ps and bytes.
    void write_series(std::string_view key, const auto& slots, std::size_t depth) const {
        const std::uint64_t cell = running.config().cell_bytes;
        json.key(key).list([&] {
            for (const auto& slot : slots)
                json.row(slot.start_ps, slot.of[depth].peak * cell, slot.of[depth].last * cell);
        });
    }
};

void write_ports(JsonWriter& json, const RunningSwitch& running, const TraceSamples& samples) {
    for (PortId id = 0; id < running.device().port_count(); ++id)
        if (const PortTrace* trace = running.device().view(id).trace())
            json.key(running.port_names()[id]).object([&] {
                PortTraceWriter{json, running, samples, id, *trace}.write();
            });
}

// Storms: [at_ps, port, queue, whether it began].
void write_storms(JsonWriter& json, const RunningSwitch& running) {
    for (const SwitchEvent& event : running.events())
        if (const WatchdogNotice* notice = event.watchdog())
            json.list([&] {
                json.value(event.at.ps);
                json.value(running.port_names()[notice->port]);
                json.value(notice->queue);
                json.value(notice->detected);
            });
}

// The first of the others: [at_ps, kind, text].
void write_events(JsonWriter& json, const RunningSwitch& running) {
    std::size_t written = 0;
    for (const SwitchEvent& event : running.events()) {
        if (event.watchdog() != nullptr) continue;
        if (written++ == max_trace_events) return;
        json.list([&] {
            json.value(event.at.ps);
            json.value(event.kind);
            json.value(event.text);
        });
    }
}

}  // namespace

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
    }
    made.dropped = device.dropped();
    made.lost = device.lossless_drops();
    made.flows.resize(running_.config().flows.size());
    for (const HostPort* host : running_.surroundings().hosts())
        made.cnps += add_flows(host->nic(), running_.now(), made.flows);
    return made;
}

void TraceSamples::write_thresholds(JsonWriter& json, PortId port, ClassId queue) const {
    json.list([&] {
        for (const auto& [at, curve] : thresholds_[port][queue])
            if (curve)
                json.row(at.ps, curve->min(), curve->max());
            else
                json.list([&json, at = at] {
                    json.value(at.ps);
                    json.value(nullptr);
                    json.value(nullptr);
                });
    });
}

void TraceSamples::write_samples(JsonWriter& json) const {
    const Sample last = sample();
    const auto column = [&](std::string_view figure, auto value_of) {
        json.key(figure).list([&] {
            for (const auto& [time, sample] : samples_.taken()) json.value(value_of(sample));
            json.value(value_of(last));
        });
    };
    json.object([&] {
        json.key("at_ps").list([&] {
            for (const auto& [time, sample] : samples_.taken()) json.value(time.ps);
            json.value(running_.now().ps);
        });
        column("ecn_marked_packets", [](const Sample& sample) { return sample.marked; });
        column("cnp_sent_packets", [](const Sample& sample) { return sample.cnps; });
        column("xoff_transitions", [](const Sample& sample) { return sample.pauses; });
        column("dropped_packets", [](const Sample& sample) { return sample.dropped; });
        column("lost_packets", [](const Sample& sample) { return sample.lost; });
        json.key("flows").object([&] {
            const std::vector<std::string> names = flow_names(running_.config());
            for (std::size_t n = 0; n < names.size(); ++n)
                json.key(names[n]).object([&] {
                    column("rate_bps", [n](const Sample& sample) { return sample.flows[n].rate; });
                    column("delivered_bytes",
                           [n](const Sample& sample) { return sample.flows[n].delivered_bytes; });
                });
        });
    });
}

void write_run_trace(OutputFile& file, const RunningSwitch& running, const std::string& name,
                     const TraceSamples& samples) {
    JsonWriter json([&](std::string_view text) { file.write(text); });
    json.object([&] {
        json.key("name").value(name);
        json.key("verdict").tree(verdict_json(judge_run(running), running.clock().is_interrupted()));
        json.key("end_ps").value(running.now().ps);
        json.key("ports").object([&] { write_ports(json, running, samples); });
        json.key("watchdog").list([&] { write_storms(json, running); });
        json.key("events").list([&] { write_events(json, running); });
        json.key("samples");
        samples.write_samples(json);
    });
    json.flush();
}

}  // namespace sluice
