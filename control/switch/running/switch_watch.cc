#include "control/switch/running/switch_watch.hh"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/observation.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

SwitchWatch::SwitchWatch(RunningSwitch& running, Mirrors& mirrors, Observation* observation)
    : running_(running),
      mirrors_(mirrors),
      observation_(observation),
      losses_(running),
      links_(running.config().ports.size()) {}

void SwitchWatch::note_news() {
    const Switch& device = running_.device();
    news_ = device.news();
    for (const WatchdogNotice& notice : watchdog_.new_notices(device)) note_watchdog(notice);
    if (observation_ != nullptr) {
        observation_->drain(running_.device());
        note_microbursts();
    }
    for (std::string& fault : mirrors_.take_faults())
        running_.events().note("mirror_failed", std::move(fault));
    if (losses_.is_due()) {
        losses_.note_losses();
        if (!running_.is_virtual()) note_deaf_peers();
    }
    if (!running_.is_virtual()) note_long_turns();
    const std::uint64_t drops = device.lossless_drops();
    const std::uint64_t falls_behind = device.falls_behind();
    const bool dropped = std::exchange(drops_, drops) != drops;
    const bool fell_behind = std::exchange(falls_behind_, falls_behind) != falls_behind;
    if (!dropped && !fell_behind) return;
    for (PortId id = 0; id < device.port_count(); ++id) {
        if (device.view(id).counters().behind.get() != 0)
            running_.events().note_once("fell_behind", "port " + running_.port_names()[id] +
                                                           ": the worker fell behind and paused the peer");
        if (dropped) note_drops(id);
    }
}

void SwitchWatch::note_watchdog(const WatchdogNotice& notice) {
    const std::string what =
        notice.detected ? fmt::format("the peer holds it paused, action {}: {} packets dropped at once",
                                      notice.action, notice.dropped)
                        : fmt::format("restored, action {}: {} packets passed and {} dropped in this storm",
                                      notice.action, notice.passed, notice.dropped);
    running_.events().note(
        notice.detected ? "watchdog_detected" : "watchdog_restored",
        fmt::format("port {} queue {}: {}", running_.port_names()[notice.port], notice.queue, what), notice);
}

void SwitchWatch::note_link(PortId id) {
    const std::string& name = running_.port_names()[id];
    const Surroundings& surroundings = running_.surroundings();
    const LinkCause cause = running_.is_up(name) ? surroundings.link_cause(id) : LinkCause::command;
    if (const auto notice = links_.look(id, cause, running_.now()))
        running_.events().note(notice->is_up() ? "port_up" : "port_down",
                               link_text(name, surroundings.device_port(id), *notice), *notice);
}

// The report has all; the event names a queue's first.
void SwitchWatch::note_microbursts() {
    const auto& bursts = observation_->microbursts();
    for (; microbursts_ < bursts.size(); ++microbursts_) {
        const Observation::Burst& seen = bursts[microbursts_];
        const std::string queue =
            fmt::format("{}.{}", running_.port_names()[seen.burst.port], seen.burst.queue);
        running_.events().note_once(
            "microburst", queue,
            fmt::format("queue {}: first microburst: {} bytes, above {}, for {} ns", queue, seen.peak_bytes,
                        seen.threshold_bytes, seen.burst.length.ps / 1000));
    }
}

void SwitchWatch::note_deaf_peers() {
    const std::vector<std::string>& names = running_.port_names();
    deaf_peers_.judge_second(
        running_.device(), [&](PortId id) { return running_.qos().ports.at(names[id]).headroom.xoff_bytes; });
    for (PortId id = 0; id < names.size(); ++id)
        if (const std::uint8_t deaf = deaf_peers_.deaf(id); deaf != 0)
            running_.events().note_once(
                "peer_deaf", names[id],
                fmt::format("port {}: {}", names[id], deaf_peer_text(names[id], deaf)));
}

void SwitchWatch::note_long_turns() {
    const Duration turn_max = running_.config().turn_max;
    for (unsigned w = 0; w < running_.device().worker_count(); ++w) {
        const std::uint64_t longest = running_.device().turns(static_cast<WorkerId>(w)).longest_ps.get();
        if (longest > static_cast<std::uint64_t>(turn_max.ps) &&
            std::exchange(longest_turn_ps_[w], longest) != longest)
            running_.events().note_once(
                "long_turn",
                fmt::format("worker {}: a turn took longer than turn_max, {}, by which headroom is "
                            "reckoned; worker.show has the longest; do: give it a core of its own, or "
                            "set turn_max to more",
                            w, print_time(turn_max)));
    }
}

void SwitchWatch::note_drops(PortId id) {
    for (std::size_t i = 1; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        if (running_.device().dropped_lossless(id, reason) == 0) continue;
        const bool overrun = reason == DropReason::headroom_overrun;
        running_.events().note_once(
            overrun ? "headroom_overrun" : "lossless_drop",
            fmt::format("port {}: a lossless packet was dropped: {}: {}", running_.port_names()[id],
                        to_string(reason), drop_reason_texts[i].sentence));
    }
}

}  // namespace sluice
