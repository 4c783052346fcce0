// The watches, notes and broken promises of a switch.
#include "control/switch/running/running_switch.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/compile.hh"
#include "control/config/schema/force.hh"
#include "control/config/schema/values.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"
#include "dataplane/ports/port_counters.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

// How often receive rings are looked at: a card has to be asked, and instants of the virtual clock are many.
constexpr Duration ring_period = seconds(1);
constexpr Duration virtual_ring_period = microseconds(10);

// `program`: the one in the place of an XDP port's.
std::string why_down(LinkCause cause, const std::string& interface, const std::string& program) {
    switch (cause) {
        case LinkCause::none:
        case LinkCause::command:
            break;
        case LinkCause::interface_down:
            return fmt::format("its interface {0} is set down; do: ip link set {0} up", interface);
        case LinkCause::no_carrier:
            return fmt::format("its interface {} has no carrier: the peer's end or the cable is down",
                               interface);
        case LinkCause::interface_gone:
            return fmt::format("its interface {} is gone", interface);
        case LinkCause::device_gone:
            return "its card is gone";
        case LinkCause::no_link:
            return "its device has no link: the peer's end or the cable is down";
        case LinkCause::program_removed:
            return fmt::format("its interface {} has no XDP program any more, and takes none", interface);
        case LinkCause::program_replaced:
            return fmt::format(
                "its interface {0} has the XDP program {1} of somebody else; do: ip link set dev {0} xdp off",
                interface, program);
    }
    return "by command";
}

std::string why_up(LinkCause before, const std::string& interface) {
    switch (before) {
        case LinkCause::none:
        case LinkCause::command:
            break;
        case LinkCause::interface_down:
            return fmt::format("its interface {} is up again", interface);
        case LinkCause::no_carrier:
            return fmt::format("its interface {} has a carrier again", interface);
        case LinkCause::interface_gone:
            return fmt::format("its interface {} is back", interface);
        case LinkCause::device_gone:
            return "its card is back";
        case LinkCause::no_link:
            return "its device has a link again";
        case LinkCause::program_removed:
        case LinkCause::program_replaced:
            return fmt::format("its XDP program is at interface {} again", interface);
    }
    return "by command";
}

std::string link_text(const std::string& port, const std::string& interface, const std::string& program,
                      const LinkNotice& notice) {
    const std::string why =
        notice.is_up() ? why_up(notice.before, interface) : why_down(notice.cause, interface, program);
    const bool by_command = (notice.is_up() ? notice.before : notice.cause) == LinkCause::command;
    const char* state = notice.is_up() ? "up" : notice.before == LinkCause::none ? "down" : "still down";
    return fmt::format("port {} {}{}{}", port, state, by_command ? " " : ": ", why);
}

}  // namespace

std::vector<std::string> RunningSwitch::broken_promises() const {
    std::vector<std::string> broken;
    for (const QosProblem& problem : qos_.tolerated) broken.push_back(problem.path() + ": " + problem.wrong);
    for (const std::string& reason : state_.forced) broken.push_back(reason + ": forced");
    for (const auto& [name, port] : config_.ports)
        if (has_our_sender(config_, port) && port.peer == PeerKind::ignore &&
            qos_.ports.at(name).lossless != 0)
            broken.push_back("not promised by the peer of " + name);
    for (std::string& promise : surroundings_.broken_promises()) broken.push_back(std::move(promise));
    for (PortId id = 0; id < names_.size(); ++id)
        if (deaf_peers_.was_deaf(id) != 0) broken.push_back("not obeyed by the peer of " + names_[id]);
    for (const auto& [name, faults] : broken_by_fault_) {
        std::string list;
        for (const std::string_view fault : faults) append_item(list, ", ", fault);
        broken.push_back("not promised: fault injected on " + name + ": " + list);
    }
    return broken;
}

void RunningSwitch::note_once(const std::string& kind, PortId id, std::string text) {
    if (noted_.insert(kind + names_[id]).second) note(kind, std::move(text));
}

void RunningSwitch::note_once(const std::string& kind, std::string text) {
    if (noted_.insert(kind + text).second) note(kind, std::move(text));
}

bool RunningSwitch::wants_control() const {
    return switch_->news() != watched_news_ || now() >= next_rings_ || change_->is_pending() ||
           mirrors_->is_in_use() || observation_->log() != nullptr || slow_path_.has_frames();
}

void RunningSwitch::watch() {
    watched_news_ = switch_->news();
    for (const WatchdogNotice& notice : watchdog_.look(*switch_)) note_watchdog(notice);
    if (options_.observes) observation_->drain(*switch_);
    note_microbursts();
    for (std::string& fault : mirrors_->take_faults()) note("mirror_failed", std::move(fault));
    if (now() >= next_rings_) {
        look_at_rings();
        if (!is_virtual()) note_deaf_peers();
    }
    for (unsigned w = 0; w < switch_->worker_count(); ++w) {
        const std::uint64_t longest = switch_->turns(static_cast<WorkerId>(w)).longest_ps.get();
        if (!is_virtual() && longest > static_cast<std::uint64_t>(config_.turn_max.ps) &&
            std::exchange(watched_longest_[w], longest) != longest)
            note_once("long_turn",
                      fmt::format("worker {}: a turn took longer than turn_max, {}, by which headroom is "
                                  "reckoned; worker.show has the longest; do: give it a core of its own, or "
                                  "set turn_max to more",
                                  w, print_time(config_.turn_max)));
    }
    const std::uint64_t drops = switch_->lossless_drops();
    const std::uint64_t falls_behind = switch_->falls_behind();
    const bool dropped = std::exchange(watched_drops_, drops) != drops;
    const bool fell_behind = std::exchange(watched_falls_behind_, falls_behind) != falls_behind;
    if (!dropped && !fell_behind) return;
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        if (switch_->view(id).counters().behind.get() != 0)
            note_once("fell_behind", "port " + names_[id] + ": the worker fell behind and paused the peer");
        if (dropped) note_drops(id);
    }
}

// Frames that a port lost: the event, its words, and the figure that counts them.
struct RunningSwitch::FrameLoss {
    std::string_view kind, words;  // {0}: how many, {1}: the port's interface, {2}: its MTU
    std::uint64_t count;
};

void RunningSwitch::look_at_rings(bool at_end) {
    next_rings_ = now() + (is_virtual() ? virtual_ring_period : ring_period);
    for (PortId id = 0; id < switch_->port_count(); ++id) {
        const PortAccount account = switch_->view(id).io().account();
        for (const FrameLoss& loss :
             {FrameLoss{
                  "ring_overrun",
                  "its receive ring had no room, or no packet buffer, for {0}; whatever class they were "
                  "of, they are lost; imissed counts them",
                  account.missed - account.uncut},
              FrameLoss{"rx_errors",
                        "its device received {0} with errors, and handed none of them over; whatever class "
                        "they were of, they are lost; rx_errors counts them; do: see what it counts: "
                        "sluicectl port show {3}; check the cable, the module and the MTU at both ends",
                        account.rx_errors},
              FrameLoss{"uncut_frames",
                        "{0} were several in one, which a host's kernel left for its card to cut; they are "
                        "lost; uncut_packets counts them; do, at the host's end of {1}: ethtool -K INTERFACE "
                        "tso off gso off",
                        account.uncut},
              FrameLoss{
                  "frames_refused",
                  "its interface {1} had no room for {0}; they are lost; refused_packets counts them; a "
                  "veth's room is net.core.netdev_max_backlog",
                  account.refused},
              FrameLoss{"beyond_mtu",
                        "{0} were longer than the MTU of its interface lets out; they are lost; "
                        "beyond_mtu_packets counts them; do: ip link set {1} mtu {2}",
                        account.beyond_mtu - account.beyond_mtu_in},
              FrameLoss{
                  "beyond_mtu",
                  "{0} that came in were longer than it takes with its MTU of {2}; they are lost; "
                  "beyond_mtu_in_packets counts them; do: set the port's mtu to that of the hosts behind "
                  "{1} (at most 9216; above 3818 it takes Linux 6.6), or theirs to {2}",
                  account.beyond_mtu_in}})
            if (loss.count != 0) note_loss(id, loss, at_end);
    }
}

void RunningSwitch::note_loss(PortId id, const FrameLoss& loss, bool at_end) {
    if (!losses_[{id, loss.words}].is_to_tell(loss.count, now(), at_end)) return;
    const DevicePort* device = device_port(id);
    const std::string interface = device != nullptr ? device->interface_name() : names_[id];
    const std::string frames = fmt::format("{} frames {}", loss.count, at_end ? "in all" : "by now");
    note(std::string(loss.kind), fmt::format("port {}: {}", names_[id],
                                             fmt::format(fmt::runtime(loss.words), frames, interface,
                                                         config_.ports.at(names_[id]).mtu, names_[id])));
}

void RunningSwitch::note_watchdog(const WatchdogNotice& notice) {
    const std::string queue = fmt::format("port {} queue {}", names_[notice.port], notice.queue);
    if (notice.detected)
        note("watchdog_detected",
             fmt::format("{}: the peer holds it paused, action {}: {} packets dropped at once", queue,
                         notice.action, notice.dropped),
             notice);
    else
        note("watchdog_restored",
             fmt::format("{}: restored, action {}: {} packets passed and {} dropped in this storm", queue,
                         notice.action, notice.passed, notice.dropped),
             notice);
}

void RunningSwitch::look_at_link(PortId id) {
    const LinkCause cause = is_up(names_[id]) ? surroundings_.link_cause(id) : LinkCause::command;
    const auto notice = links_.look(id, cause, now());
    if (!notice) return;
    const DevicePort* device = device_port(id);
    std::string interface;  // by its present name
    if (device != nullptr && device->interface()) interface = device->interface()->name();
    if (device != nullptr && interface.empty()) interface = device->interface_name();
    const Steering* steering = device != nullptr ? device->steering() : nullptr;
    const std::string program = steering != nullptr ? steering->other() : "";
    events_.add({now() - Time{}, notice->is_up() ? "port_up" : "port_down",
                 link_text(names_[id], interface, program, *notice), std::nullopt, std::nullopt, notice});
}

// Every one is in the report; an event says that there are any.
void RunningSwitch::note_microbursts() {
    const auto& bursts = observation_->microbursts();
    for (; watched_microbursts_ < bursts.size(); ++watched_microbursts_) {
        const Observation::Burst& seen = bursts[watched_microbursts_];
        const std::string queue = fmt::format("{}.{}", names_[seen.burst.port], seen.burst.queue);
        if (noted_.insert("microburst" + queue).second)
            note("microburst",
                 fmt::format("queue {}: first microburst: {} bytes, above {}, for {} ns", queue,
                             seen.peak_bytes, seen.threshold_bytes, seen.burst.length.ps / 1000));
    }
}

void RunningSwitch::note_deaf_peers() {
    deaf_peers_.look(*switch_, [&](PortId id) { return qos_.ports.at(names_[id]).headroom.xoff_bytes; });
    for (PortId id = 0; id < names_.size(); ++id)
        if (const std::uint8_t deaf = deaf_peers_.deaf(id); deaf != 0)
            note_once("peer_deaf", id,
                      fmt::format("port {}: {}", names_[id], deaf_peer_text(names_[id], deaf)));
}

void RunningSwitch::note_classes() {
    for (const ClassNotice& notice : class_changes_.look(*switch_, now())) {
        std::string text = fmt::format("port {} class {}: ", names_[notice.port], notice.priority);
        if (notice.begins) {
            text += fmt::format("becomes lossless, and pauses its peer until {} cells have left",
                                pending_cells());
            if (const auto queue = awaited_queue())
                text += fmt::format(", most of them from queue {}.{}", names_[queue->port], queue->queue);
        } else {
            text += fmt::format("{} after {}; it lost {} packets meanwhile",
                                notice.lossless ? "lossless" : "lossy again", print_time(notice.lasted),
                                notice.lost);
        }
        events_.add({now() - Time{}, notice.begins ? "class_changing" : "class_changed", std::move(text),
                     std::nullopt, notice});
    }
}

void RunningSwitch::note_forced(const std::vector<std::string>& before) {
    for (const std::string& reason : state_.forced)
        if (std::find(before.begin(), before.end(), reason) == before.end())
            note("forced", "not lossless, and forced: " + reason);
}

void RunningSwitch::note_drops(PortId id) {
    for (std::size_t i = 1; i < drop_reason_count; ++i) {
        const auto reason = static_cast<DropReason>(i);
        if (switch_->dropped_lossless(id, reason) == 0) continue;
        const bool overrun = reason == DropReason::headroom_overrun;
        note_once(overrun ? "headroom_overrun" : "lossless_drop",
                  fmt::format("port {}: a lossless packet was dropped: {}: {}", names_[id], to_string(reason),
                              drop_reason_texts[i].sentence));
    }
}

void RunningSwitch::note(std::string kind, std::string text, std::optional<WatchdogNotice> watchdog) {
    const Duration at = switch_ ? now() - Time{} : Duration{};
    events_.add({at, std::move(kind), std::move(text), std::move(watchdog)});
}

}  // namespace sluice
