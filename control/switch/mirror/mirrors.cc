#include "control/switch/mirror/mirrors.hh"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "control/config/compile/compile.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/switch/mirror/mirror_comment.hh"
#include "dataplane/path/control_path.hh"
#include "dataplane/run/switch.hh"
#include "lib/punt/punt.hh"
#include "lib/record/pcapng.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

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

Mirrors::Mirrors(const Config& config, std::vector<std::string> ports, const CaptureTimeline* timeline)
    : ports_(std::move(ports)),
      workers_(config.workers),
      ring_frames_(mirror_ring_frames(config)),
      timeline_(timeline) {
    for (const std::string& name : ports_) speeds_.push_back(config.ports.at(name).speed.bits_per_second);
}

tl::expected<Mirrors::Outputs, std::string> Mirrors::open_new(const Config& config) {
    Outputs opened;
    for (const auto& [name, mirror] : config.mirrors) {
        const Mirror* known = find(name);
        if (known != nullptr && known->config.file == mirror.file && known->config.fifo == mirror.fifo &&
            known->config.collector.has_value() == mirror.collector.has_value())
            continue;
        if (mirror.collector) {
            opened.emplace(name, std::make_unique<MirrorCollector>(++collectors_));
            continue;
        }
        auto output = mirror.file.empty() ? MirrorOutput::open_fifo(mirror.fifo)
                                          : MirrorOutput::open_file(mirror.file, mirror.file_bytes);
        if (!output) return tl::unexpected(fmt::format("mirror {}: {}", name, output.error()));
        opened.emplace(name, std::move(*output));
    }
    return opened;
}

const Mirrors::Mirror* Mirrors::find(const std::string& name) const {
    for (const auto& mirror : mirrors_)
        if (mirror && mirror->name == name) return mirror.get();
    return nullptr;
}

// Those that stay keep theirs; the others take what is free.
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
        if (!mirror || mirror->name != names[n]) {
            mirror = std::make_unique<Mirror>();
            mirror->name = names[n];
            mirror->before.lost -= lost_in_rings(n);
        }
        mirror->config = config.mirrors.at(names[n]);
        sluice::configure(mirror->bucket, mirror->config.limit);
        if (const auto output = opened.find(names[n]); output != opened.end()) {
            if (mirror->output) {
                static_cast<void>(mirror->output->close());
                mirror->before.mirrored += mirror->output->written();
                mirror->before.lost += mirror->output->lost();
            }
            mirror->output = std::move(output->second);
            mirror->output->begin(header());
            mirror->collector = dynamic_cast<MirrorCollector*>(mirror->output.get());
        }
        if (mirror->collector != nullptr) mirror->collector->configure(mirror->config);
        mirror->output->set_max_bytes(mirror->config.file_bytes);
    }
}

std::string Mirrors::header() const {
    std::string text;
    pcapng::add_section(text, mirror_application);
    for (std::size_t port = 0; port < ports_.size(); ++port)
        pcapng::add_interface(text, ports_[port], max_mirrored_bytes, speeds_[port]);
    return text;
}

bool Mirrors::is_on() const {
    return std::any_of(mirrors_.begin(), mirrors_.end(),
                       [](const auto& mirror) { return mirror && mirror->config.enabled; });
}

bool Mirrors::is_in_use() const {
    return !rings_.empty() || std::any_of(mirrors_.begin(), mirrors_.end(),
                                          [](const auto& mirror) { return mirror != nullptr; });
}

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
    if (!frames_.empty()) {
        look_at_clock(now);
        order_.clear();
        for (const Slot& frame : frames_) order_.push_back(&frame);
        std::stable_sort(order_.begin(), order_.end(),
                         [](const Slot* a, const Slot* b) { return a->head.order() < b->head.order(); });
        for (const Slot* frame : order_) write(*frame);
    }
    for (const auto& mirror : mirrors_)
        if (mirror) mirror->output->flush();
}

// Port by port, so that workers under the virtual clock take the frames in one order however many they are.
bool Mirrors::send(const ServedSwitch& of) {
    std::vector<std::pair<PortId, MirrorCollector*>> sending;
    for (const auto& mirror : mirrors_)
        if (mirror && mirror->collector != nullptr && mirror->collector->is_waiting())
            sending.emplace_back(mirror->collector->find_way(of).value_or(no_port), mirror->collector);
    std::stable_sort(sending.begin(), sending.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    bool any = false;
    for (const auto& [port, collector] : sending) any |= collector->send(of);
    return any;
}

void Mirrors::check_outputs(const ServedSwitch& of) {
    for (const auto& mirror : mirrors_) {
        if (!mirror) continue;
        mirror->output->check_reader(MirrorOutput::Clock::now());
        if (mirror->collector != nullptr) static_cast<void>(mirror->collector->find_way(of));
    }
}

std::vector<IpAddress> Mirrors::unresolved() const {
    std::vector<IpAddress> all;
    for (const auto& mirror : mirrors_)
        if (mirror && mirror->config.enabled && mirror->collector != nullptr)
            if (const auto address = mirror->collector->unresolved()) all.push_back(*address);
    return all;
}

void Mirrors::write(const Slot& frame) {
    const MirrorHead& head = frame.head;
    std::string comment;
    for_each_class(head.mirrors, [&](unsigned n) {
        Mirror* mirror = mirrors_[n].get();
        if (mirror == nullptr) return;  // removed meanwhile
        mirror->latest = max(mirror->latest, head.at);
        if (mirror->bucket.limits()) {
            if (!mirror->bucket.may_send(mirror->latest)) {
                ++mirror->suppressed;
                return;
            }
            mirror->bucket.spend(1, mirror->latest);
        }
        if (comment.empty()) comment = mirror_comment(head, frame.frame(), ports_);
        mirror->output->write(
            {head, frame.frame().first(std::min<std::size_t>(frame.bytes, mirror->config.snap_bytes)),
             stamp_of(head.at), comment});
    });
}

std::uint64_t Mirrors::stamp_of(Time at) const {
    return timeline_ != nullptr ? timeline_->stamp_of(at) : epoch_ns_ + at.ps / 1000;
}

// The time of day is set now and then, and the switch's clock drifts from it.
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

Mirrors::Counts Mirrors::counts(unsigned number) const {
    const Mirror& mirror = *mirrors_[number];
    return {mirror.before.mirrored + mirror.output->written(), mirror.suppressed,
            mirror.before.lost + mirror.output->lost() + lost_in_rings(number)};
}

std::vector<std::string> Mirrors::take_faults() {
    std::vector<std::string> faults;
    for (const auto& mirror : mirrors_) {
        if (!mirror) continue;
        const std::string fault = mirror->output->fault();
        const bool told = std::exchange(mirror->fault_told, !fault.empty());
        if (!fault.empty() && !told) faults.push_back(fmt::format("mirror {}: {}", mirror->name, fault));
    }
    return faults;
}

std::vector<std::string> Mirrors::close(Switch& device) {
    for (PortId id = 0; id < device.port_count(); ++id) {
        ControlPath* control = device.view(id).control();
        if (control == nullptr) continue;
        auto& injected = control->injected;
        for (const auto* left = injected.front(); left != nullptr; left = injected.front()) {
            for (const auto& mirror : mirrors_)
                if (mirror && mirror->collector != nullptr &&
                    left->head.origin == InjectHead::Origin::mirrored &&
                    left->head.mirror == mirror->collector->identity())
                    mirror->collector->take_back();
            injected.pop();
        }
    }
    std::vector<std::string> errors;
    for (const auto& mirror : mirrors_) {
        if (!mirror) continue;
        if (const std::string error = mirror->output->close(); !error.empty())
            errors.push_back(fmt::format("mirror {}: {}", mirror->name, error));
    }
    return errors;
}

std::vector<Mirrors::Status> Mirrors::status() const {
    std::vector<Status> all;
    for (unsigned n = 0; n < max_mirrors; ++n)
        if (mirrors_[n])
            all.push_back({mirrors_[n]->name, mirrors_[n]->config, counts(n), mirrors_[n]->output->state()});
    std::sort(all.begin(), all.end(), [](const Status& a, const Status& b) { return a.name < b.name; });
    return all;
}

}  // namespace sluice
