#include "control/switch/running/observation.hh"

#include <algorithm>
#include <tuple>

#include "control/config/schema/decision_filter.hh"
#include "dataplane/run/switch.hh"

namespace sluice {

Observation::Observation(const Config& config, PortNames ports, std::size_t max_open,
                         const CaptureTimeline* timeline)
    : ports_(std::move(ports)), mode_(record_mode(config)), path_(config.decisions.file) {
    if (mode_ == RecordMode::off) return;
    DecisionJoiner::Sink sink;
    if (!path_.empty())
        sink = [this](const std::string& line) {
            file_->write(line);
            file_->write("\n");
        };
    log_ = std::make_unique<DecisionJoiner>(ports_, max_open, std::move(sink), timeline, config.cell_bytes);
}

tl::expected<std::unique_ptr<Observation>, std::string> Observation::create(const Config& config,
                                                                            PortNames ports,
                                                                            std::size_t max_open,
                                                                            const CaptureTimeline* timeline) {
    std::unique_ptr<Observation> made(new Observation(config, std::move(ports), max_open, timeline));
    if (made->log_ && !made->path_.empty()) {
        auto file = OutputFile::create(made->path_);
        if (!file)
            return tl::unexpected("decisions: " + file.error() + "; do: name a file in a folder that exists");
        made->file_ = std::move(*file);
    }
    return made;
}

void Observation::drain_decisions(Switch& device) {
    if (!log_) return;
    log_->keep(device.policy().decisions.verdicts);
    decisions_lost_ = 0;
    for (unsigned w = 0; w < device.worker_count(); ++w) {
        EventRing<DecisionEvent>* ring = device.decisions(static_cast<WorkerId>(w));
        if (ring == nullptr) continue;
        ring->drain([&](const DecisionEvent& event) { log_->join(event); });
        decisions_lost_ += ring->lost.get();
    }
    log_->settle();
}

void Observation::drain_microbursts(Switch& device) {
    std::vector<Microburst> ended;
    for (unsigned w = 0; w < device.worker_count(); ++w)
        if (auto* ring = device.microbursts(static_cast<WorkerId>(w)))
            ring->drain([&](const Microburst& burst) { ended.push_back(burst); });
    if (!ended.empty()) keep(device, ended, true);
}

void Observation::keep(const Switch& device, std::vector<Microburst>& bursts, bool ended) {
    const auto order = [](const Microburst& burst) {
        return std::tuple(burst.start.ps + static_cast<std::uint64_t>(burst.length.ps), burst.port,
                          burst.queue, burst.start.ps);
    };
    std::sort(bursts.begin(), bursts.end(),
              [&](const Microburst& a, const Microburst& b) { return order(a) < order(b); });
    const Policy& policy = device.policy();
    const std::uint64_t cell = policy.cell.bytes();
    for (const Microburst& burst : bursts) {
        if (bursts_.size() == max_microbursts) {
            ++left_out_;
            continue;
        }
        bursts_.push_back({burst, policy.ports[burst.port].microburst_cells[burst.queue] * cell,
                           burst.peak_cells * cell, ended});
    }
}

void Observation::drain(Switch& device) {
    drain_decisions(device);
    drain_microbursts(device);
}

std::string Observation::finish(Switch& device, Time now) {
    drain(device);
    if (log_) log_->finish(now);
    std::vector<Microburst> running;
    for (PortId id = 0; id < device.port_count(); ++id)
        for (ClassId n = 0; n < classes; ++n) {
            auto burst = device.view(id).microburst(n).running(now);
            if (!burst) continue;
            burst->port = id;
            burst->queue = n;
            running.push_back(*burst);
        }
    keep(device, running, false);
    for (unsigned w = 0; w < device.worker_count(); ++w)
        if (const auto* ring = device.microbursts(static_cast<WorkerId>(w))) left_out_ += ring->lost.get();
    const std::string error = file_ ? file_->close() : std::string();
    return error.empty() ? error : "decisions: " + error;
}

}  // namespace sluice
