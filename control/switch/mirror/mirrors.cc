#include "control/switch/mirror/mirrors.hh"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "control/config/compile/compile.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/switch/kernel/slow_path.hh"
#include "dataplane/path/control_path.hh"
#include "dataplane/run/switch.hh"
#include "lib/punt/punt.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

constexpr std::size_t max_waiting = 4096;  // frames for a collector: a mirror's burst

MirrorFilter filter_of(const Config& config, const MirrorConfig& mirror) {
    MirrorFilter filter;
    if (mirror.enabled)
        for (const MirrorEvent event : mirror.on)
            filter.events = static_cast<std::uint8_t>(filter.events | bit_of(event));
    if (!mirror.classes.empty()) filter.of_classes = 0;
    for (const ClassId n : mirror.classes)
        filter.of_classes = static_cast<std::uint8_t>(filter.of_classes | 1U << n);
    if (!mirror.reasons.empty()) filter.reasons = 0;
    for (const DropReason reason : mirror.reasons)
        filter.reasons |= std::uint64_t{1} << static_cast<unsigned>(reason);
    filter.ports = port_mask(config, mirror.ports);
    filter.min_wait = mirror.delay;
    return filter;
}

}  // namespace

Mirrors::Mirrors(const Config& config, const std::vector<std::string>& ports, const CaptureTimeline* timeline)
    : workers_(config.workers), ring_frames_(mirror_ring_frames(config)), timeline_(timeline) {
    for (const std::string& name : ports)
        ports_.push_back({name, config.ports.at(name).speed.bits_per_second});
}

tl::expected<Mirrors::Outputs, std::string> Mirrors::open_new(const Config& config) {
    Outputs opened;
    for (const auto& [name, mirror] : config.mirrors) {
        const Mirror* known = find(name);
        if (known != nullptr && known->config.file == mirror.file && known->config.fifo == mirror.fifo &&
            known->config.collector.has_value() == mirror.collector.has_value())
            continue;
        if (mirror.collector) {
            opened.emplace(name, make_mirror_collector());
            continue;
        }
        auto stream = open_mirror_stream(mirror, ports_);
        if (!stream) return tl::unexpected(fmt::format("mirror {}: {}", name, stream.error()));
        opened.emplace(name, std::move(*stream));
    }
    return opened;
}

const Mirrors::Mirror* Mirrors::find(const std::string& name) const {
    for (const auto& mirror : mirrors_)
        if (mirror && mirror->name == name) return mirror.get();
    return nullptr;
}

// Known mirrors keep their numbers; new ones take free ones.
Mirrors::Numbers Mirrors::numbers(const Config& config) const {
    Numbers names;
    for (unsigned n = 0; n < max_mirrors; ++n)
        if (mirrors_[n] && config.mirrors.contains(mirrors_[n]->name)) names[n] = mirrors_[n]->name;
    for (const auto& [name, mirror] : config.mirrors)
        if (std::find(names.begin(), names.end(), name) == names.end())
            *std::find(names.begin(), names.end(), std::string()) = name;
    return names;
}

MirrorPolicy Mirrors::policy(const Config& config) {
    MirrorPolicy policy;
    const Numbers names = numbers(config);
    for (unsigned n = 0; n < max_mirrors; ++n) {
        if (names[n].empty()) continue;
        const MirrorConfig& mirror = config.mirrors.at(names[n]);
        policy.set_mirror(n, filter_of(config, mirror), mirror.snap_bytes);
    }
    if (policy.events == 0) return policy;
    while (rings_.size() < workers_) {
        rings_.push_back(std::make_unique<MirrorRing>(ring_frames_));
        ring_list_.push_back(rings_.back().get());
    }
    policy.rings = ring_list_;
    return policy;
}

void Mirrors::configure(const Config& config, Outputs opened) {
    const Numbers names = numbers(config);
    for (unsigned n = 0; n < max_mirrors; ++n) {
        auto& mirror = mirrors_[n];
        if (names[n].empty()) {
            mirror.reset();
            continue;
        }
        const MirrorConfig& wanted = config.mirrors.at(names[n]);
        if (!mirror || mirror->name != names[n])
            mirror = std::make_unique<Mirror>(
                Mirror{names[n], wanted, ++made_, {.lost = std::uint64_t{0} - lost_in_rings(n)}});
        mirror->config = wanted;
        sluice::configure(mirror->bucket, wanted.limit);
        const auto output = opened.find(names[n]);
        if (output != opened.end()) {
            if (mirror->writer) static_cast<void>(mirror->writer->close());
            mirror->counts.lost += std::exchange(mirror->waiting, {}).size();
            mirror->writer = std::move(output->second);
        }
        mirror->writer->configure(wanted, mirror->identity);
        if (output != opened.end()) mirror->writer->begin();
    }
}

bool Mirrors::is_on() const {
    return std::any_of(mirrors_.begin(), mirrors_.end(),
                       [](const auto& mirror) { return mirror && mirror->config.enabled; });
}

bool Mirrors::is_in_use() const { return made_ != 0 || !rings_.empty(); }

void Mirrors::drain(Time now) {
    if (rings_.empty()) return;
    frames_.clear();
    for (const auto& ring : rings_)
        for (unsigned n = 0; n < ring_frames_; ++n) {
            const Slot* slot = ring->frames.front();
            if (slot == nullptr) break;
            frames_.push_back(*slot);
            ring->frames.pop();
        }
    if (frames_.empty()) return;
    look_at_clock(now);
    order_.clear();
    for (const Slot& frame : frames_) order_.push_back(&frame);
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Slot* a, const Slot* b) { return a->head.order() < b->head.order(); });
    for (const Slot* frame : order_) take(*frame);
}

// Gives a frame to each mirror that chose it.
void Mirrors::take(const Slot& frame) {
    const MirrorHead& head = frame.head;
    for_each_class(head.mirrors, [&](unsigned n) {
        Mirror* mirror = mirrors_[n].get();
        if (mirror == nullptr) return;  // removed meanwhile
        mirror->latest = max(mirror->latest, head.at);
        if (mirror->bucket.limits()) {
            if (!mirror->bucket.may_send(mirror->latest)) {
                ++mirror->counts.suppressed;
                return;
            }
            mirror->bucket.spend(1, mirror->latest);
        }
        if (mirror->config.collector && mirror->waiting.size() == max_waiting) {
            ++mirror->counts.lost;
            return;
        }
        const auto bytes = frame.frame().first(std::min<std::size_t>(frame.bytes, mirror->config.snap_bytes));
        mirror->waiting.push_back({head, stamp_of(head.at), {bytes.begin(), bytes.end()}});
    });
}

bool Mirrors::write(Mirror& mirror, const ServedSwitch& of) {
    if (mirror.waiting.empty()) return false;
    const MirrorWriter::Taken taken = mirror.writer->write(mirror.waiting, of);
    mirror.counts.mirrored += taken.written;
    mirror.counts.lost += taken.lost;
    return mirror.config.collector && taken.written != 0;
}

// Port by port, so that the order does not depend on the number of workers.
bool Mirrors::serve(const ServedSwitch& of) {
    drain(of.now);
    std::vector<std::pair<PortId, Mirror*>> sending;
    for (const auto& mirror : mirrors_)
        if (mirror && !mirror->waiting.empty())
            sending.emplace_back(mirror->config.collector ? mirror->writer->look(of) : no_port, mirror.get());
    std::stable_sort(sending.begin(), sending.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    bool any = false;
    for (const auto& [port, mirror] : sending) any |= write(*mirror, of);
    return any;
}

void Mirrors::check_outputs(const ServedSwitch& of) {
    for (const auto& mirror : mirrors_)
        if (mirror) static_cast<void>(mirror->writer->look(of));
}

std::vector<IpAddress> Mirrors::unresolved() const {
    std::vector<IpAddress> all;
    for (const auto& mirror : mirrors_)
        if (mirror && mirror->config.enabled)
            if (const auto address = mirror->writer->unresolved()) all.push_back(*address);
    return all;
}

std::uint64_t Mirrors::stamp_of(Time at) const {
    return timeline_ != nullptr ? timeline_->stamp_of(at) : epoch_ns_ + at.ps / 1000;
}

// Follows steps of the time of day, and the drift of the switch's clock from it.
void Mirrors::look_at_clock(Time now) {
    if (timeline_ != nullptr) return;
    constexpr std::uint64_t tolerated_ns = 1'000'000;
    const auto day = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const std::uint64_t epoch = static_cast<std::uint64_t>(day.count()) - now.ps / 1000;
    const std::uint64_t apart = epoch > epoch_ns_ ? epoch - epoch_ns_ : epoch_ns_ - epoch;
    if (apart > tolerated_ns) epoch_ns_ = epoch;
}

std::uint64_t Mirrors::lost_in_rings(unsigned number) const {
    std::uint64_t lost = 0;
    for (const auto& ring : rings_) lost += ring->lost[number].get();
    return lost;
}

std::vector<std::string> Mirrors::take_faults() {
    std::vector<std::string> faults;
    for (const auto& mirror : mirrors_) {
        if (!mirror) continue;
        const std::string fault = mirror->writer->fault();
        const bool told = std::exchange(mirror->fault_told, !fault.empty());
        if (!fault.empty() && !told) faults.push_back(fmt::format("mirror {}: {}", mirror->name, fault));
    }
    return faults;
}

std::vector<std::string> Mirrors::close(const ServedSwitch& of) {
    for (PortId id = 0; id < of.device.port_count(); ++id) {
        ControlPath* control = of.device.view(id).control();
        if (control == nullptr) continue;
        auto& injected = control->injected;
        for (const auto* left = injected.front(); left != nullptr; left = injected.front()) {
            for (const auto& mirror : mirrors_)
                if (mirror && left->head.origin == InjectHead::Origin::mirrored &&
                    left->head.mirror == mirror->identity)
                    --mirror->counts.mirrored, ++mirror->counts.lost;
            injected.pop();
        }
    }
    drain(of.now);
    std::vector<std::string> errors;
    for (const auto& mirror : mirrors_) {
        if (!mirror) continue;
        if (!mirror->config.collector) write(*mirror, of);
        mirror->counts.lost += std::exchange(mirror->waiting, {}).size();
        if (const std::string error = mirror->writer->close(); !error.empty())
            errors.push_back(fmt::format("mirror {}: {}", mirror->name, error));
    }
    return errors;
}

std::vector<Mirrors::Status> Mirrors::status() const {
    std::vector<Status> all;
    for (unsigned n = 0; n < max_mirrors; ++n) {
        const auto& mirror = mirrors_[n];
        if (!mirror) continue;
        all.push_back({mirror->name, mirror->config, mirror->counts, mirror->writer->state()});
        all.back().counts.lost += lost_in_rings(n);
    }
    std::sort(all.begin(), all.end(), [](const Status& a, const Status& b) { return a.name < b.name; });
    return all;
}

}  // namespace sluice
