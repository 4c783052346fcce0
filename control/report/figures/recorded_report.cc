#include "control/report/figures/recorded_report.hh"

#include "control/report/figures/report_port.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"
#include "lib/buffer/priority_group.hh"
#include "lib/pfc/pfc_honor.hh"
#include "lib/record/port_recorder.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

template <class Record>
std::vector<Record> records(const LatestEntries<Record>& ring) {
    std::vector<Record> all;
    ring.for_each([&](std::uint64_t, const Record& record) { all.push_back(record); });
    return all;
}

// Under the virtual clock a port that sleeps learns late that a pause has ended.
void end_expired(const PfcHonor& honor, Time now, std::vector<PauseSpell>& received) {
    for (PauseSpell& pause : received) {
        if (!pause.running) continue;
        const Time deadline = honor.deadline(pause.number);
        if (honor.state(pause.number) != PauseState::paused || now < deadline) continue;
        pause.running = false;
        pause.last_paused = deadline - pause.last;
        pause.paused = pause.paused + pause.last_paused;
        pause.longest = std::max(pause.longest, pause.last_paused);
    }
}

RecordedPort::Queue queue_of(const Policy& policy, const PortPolicy& port, const QueueCounters& counters,
                             ClassId n) {
    RecordedPort::Queue queue;
    queue.max_rate = port.schedule.queue[n].max_rate;
    queue.sent = counters.tx.packets.get();
    queue.not_ect = counters.taken_if([](EcnBits bits) { return bits.ecn() == Ecn::not_ect; });
    for (const Counter& marked : counters.marked) queue.marked += marked.get();
    queue.held = (port.held >> n & 1U) != 0;
    if (port.wred[n] == 0) return queue;
    const WredProfile& profile = policy.wred[port.wred[n] - 1U];
    if (profile.ecn && profile.mark_at != MarkAt::sojourn)
        queue.marks_from_bytes = profile.curve(EcnBits::of(Ecn::ect0, Color::green, false)).min();
    return queue;
}

RecordedPort take(const RunningSwitch& running, PortId id) {
    const PortView port = running.device().view(id);
    const Policy& policy = running.device().policy();
    const PortPolicy& own = policy.ports[id];
    RecordedPort taken;
    taken.name = running.port_names()[id];
    taken.speed = own.speed;
    taken.shaper = own.schedule.shaper;
    taken.ignored = ignored_pauses(running, id);
    taken.roce = port.received([](const auto& queue) { return queue.roce.get(); });
    taken.cnps_sent = port.counters().cnp_latency.count();
    for (std::size_t reason = 0; reason < drop_reason_count; ++reason)
        taken.lossless_drops[reason] = running.device().dropped_lossless(id, static_cast<DropReason>(reason));
    taken.priority_to_queue = own.map.pfc_priority_to_queue;
    for (ClassId n = 0; n < classes; ++n) {
        const Threshold& threshold = own.group[n].threshold;
        if (threshold.is_dynamic()) taken.dynamic[n] = threshold.n();
        taken.headroom_now[n] = port.group(n).headroom_cells();
        taken.queue[n] = queue_of(policy, own, port.counters().queue[n], n);
        taken.queue[n].trim_sent = port.counters().trim[n].sent.get();
        taken.queue[n].trim_dropped = port.counters().trim[n].dropped.get();
    }
    const PortRecorder* recorder = port.recorder();
    if (recorder == nullptr) return taken;
    taken.sent = records(recorder->sent());
    taken.received = records(recorder->received());
    if (running.is_virtual()) end_expired(port.honor(), running.now(), taken.received);
    taken.drops = records(recorder->drops());
    taken.bursts = records(recorder->bursts());
    taken.notes = records(recorder->notes());
    return taken;
}

}  // namespace

Recorded take_recorded(RunningSwitch& running) {
    Recorded recorded;
    recorded.cell_bytes = running.device().policy().cell.bytes();
    for (PortId id = 0; id < running.device().port_count(); ++id) recorded.ports.push_back(take(running, id));
    // Behind the records: none of them is of a later time.
    recorded.now = running.now();
    if (!running.is_virtual()) recorded.origin_ns = running.clock().wall_origin_ns();
    return recorded;
}

Json recorded_json(const Recorded& recorded, const std::vector<RecordedWhy>& whys) {
    Json list = Json::array();
    for (const RecordedWhy& why : whys) {
        Json entry = {{"source", "recorder"},
                      {"verdict", why.verdict},
                      {"reason", why.reason},
                      {"port", recorded.ports[why.port].name}};
        for (const auto& [name, number] :
             {std::pair{"group", why.group}, {"queue", why.queue}, {"class", why.priority}})
            if (number) entry[name] = *number;
        entry["count"] = why.count;
        if (why.lossless != 0) entry["lossless"] = why.lossless;
        entry["first"] = {{"at_ns", why.first.ps / 1000}};
        entry["last"] = {{"at_ns", why.last.ps / 1000}};
        if (recorded.origin_ns) {
            const auto unix_ns = [&](Time at) {
                return *recorded.origin_ns + static_cast<std::int64_t>(at.ps / 1000);
            };
            entry["first"]["unix_ns"] = unix_ns(why.first);
            entry["last"]["unix_ns"] = unix_ns(why.last);
        }
        if (why.lasted != Duration{}) entry["lasted_ns"] = why.lasted.ps / 1000;
        entry["going_on"] = why.going_on;
        entry["sentence"] = why.sentence;
        entry["details"] = why.details;
        if (!why.advice.empty()) entry["do"] = why.advice;
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace sluice
