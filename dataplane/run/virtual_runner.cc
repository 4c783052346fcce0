#include "dataplane/run/virtual_runner.hh"

#include <algorithm>
#include <utility>

#include "dataplane/run/switch.hh"

namespace sluice {

VirtualRunner::VirtualRunner(const std::vector<Switch*>& switches, Duration turn)
    : calendar_(switches.size()), turn_(turn) {
    woken_.reserve(switches.size());
    ran_.reserve(switches.size());
    for (Switch* device : switches) {
        VirtualSwitch& made = devices_.emplace_back(*device, turn, now_);
        made.awake().report_to(&woken_, static_cast<std::uint32_t>(devices_.size() - 1));
        made.awake().wake();
    }
}

VirtualRunner::~VirtualRunner() {
    for (VirtualSwitch& each : devices_) each.awake().report_to(nullptr, 0);
}

void VirtualRunner::look_at(std::uint32_t number) {
    VirtualSwitch& device = devices_[number];
    device.awake().forget();
    calendar_.set(number, device.next(now_));
}

std::optional<Time> VirtualRunner::next() {
    for (const std::uint32_t number : woken_) look_at(number);
    woken_.clear();
    return calendar_.earliest();
}

void VirtualRunner::rouse() {
    for (const std::uint32_t number : woken_) {
        devices_[number].awake().forget();
        calendar_.set(number, now_);
    }
    woken_.clear();
}

bool VirtualRunner::can_progress() const {
    return std::any_of(devices_.begin(), devices_.end(),
                       [&](const VirtualSwitch& each) { return each.can_progress(now_); });
}

void VirtualRunner::settle_traces() {
    for (VirtualSwitch& each : devices_) each.settle_traces();
}

Time VirtualRunner::on_grid(Time time) const {
    if (turn_.ps == 0) return time;
    const auto turn = static_cast<std::uint64_t>(turn_.ps);
    return {(time.ps + turn - 1) / turn * turn};
}

void VirtualRunner::enter(Time begin, Time until) {
    ran_.clear();
    for (auto at = calendar_.earliest(); at && (*at <= begin || *at < until); at = calendar_.earliest())
        ran_.push_back({*calendar_.take_due(*at), max(*at, begin)});
    std::sort(ran_.begin(), ran_.end(), [](const Due& a, const Due& b) { return a.number < b.number; });
    last_ = begin;
    left_ = instants_;
}

void VirtualRunner::attend(const Due& due) {
    now_ = due.at;
    devices_[due.number].awake().attend();
    devices_[due.number].progress = {};
}

bool VirtualRunner::goes_on_alone(Time next, const Progress& progress) {
    return --left_ != 0 && progress.moved == now_ && next - now_ <= gap_;
}

// To the switch's next instant, if it is in the window.
bool VirtualRunner::goes_on(std::uint32_t number, Time until) {
    VirtualSwitch& device = devices_[number];
    const std::optional<Time> at = device.next(now_);
    if (at) {
        const Time next = on_grid(max(*at, now_));
        if (next < until && (instants_ == 0 || goes_on_alone(next, device.progress))) {
            now_ = next;
            return true;
        }
    }
    device.awake().forget();
    calendar_.set(number, at);
    last_ = max(last_, now_);
    const Progress& own = device.progress;
    if (own.moved) progress_.moved = max(progress_.moved.value_or(*own.moved), *own.moved);
    progress_.idle_frames += own.idle_frames;
    return false;
}

VirtualRunner::Progress VirtualRunner::take_progress() { return std::exchange(progress_, {}); }

}  // namespace sluice
