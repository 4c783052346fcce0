#include "tests/sim/checked_switch.hh"

#include <fmt/format.h>

#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::sim {
namespace {

unsigned next_number() {
    static unsigned number = 0;  // names of pools and tables are unique in the process
    return ++number;
}

}  // namespace

CheckedSwitch::CheckedSwitch(const Config& config, std::unique_ptr<Surroundings> surroundings,
                             std::string label, unsigned packets, bool checks, unsigned trace_slots)
    : label_(std::move(label)),
      buffer_cells_(config.buffer_size_bytes / config.cell_bytes),
      checks_(checks),
      surroundings_(std::move(surroundings)) {
    RunningOptions options;
    options.name = "sim" + std::to_string(next_number());
    options.packets = packets;
    options.observes = false;
    options.trace_slots = trace_slots;
    auto made = RunningSwitch::create(config, options, *surroundings_);
    if (!made) fail(made.error());
    running_ = std::move(*made);
    choose_pools(device());
    loop_ = std::make_unique<VirtualLoop>(std::vector{running_.get()}, config.virtual_turn);
}

CheckedSwitch::~CheckedSwitch() {
    if (running_) running_->device().empty();
}

void CheckedSwitch::fail(const std::string& what) {
    const double us = loop_ ? static_cast<double>(loop_->now().ps) / 1e6 : 0;
    FAIL(fmt::format("{}{}at {:.6f} us: {}", label_, label_.empty() ? "" : ", ", us, what).c_str());
}

void CheckedSwitch::must(const std::string& error, const char* what) {
    if (!error.empty()) fail(fmt::format("{} was refused: {}", what, error));
    changed();
}

void CheckedSwitch::set_port(PortId port, bool up) {
    must(running_->set_port(running_->port_names()[port], up), "a port command");
}

bool CheckedSwitch::step(Time end) {
    if (loop_->step(end) != VirtualLoop::Step::instant) return false;
    changed();
    if (checks_) {
        const std::string wrong =
            invariants_.broken(device(), buffer_cells_, running_->limit_change().is_pending());
        if (!wrong.empty()) fail(wrong);
    }
    if (on_instant) on_instant();
    return true;
}

void CheckedSwitch::run_until(Time end) {
    while (step(end)) {
    }
    loop_->advance(max(end, now()));
}

void CheckedSwitch::end(std::string wrong, bool all_packets) {
    if (wrong.empty()) wrong = broken_after_drain(device());
    const unsigned missing = wrong.empty() && all_packets ? running_->packets_missing() : 0;
    if (missing != 0) wrong = fmt::format("{} mbufs are not back in the pool", missing);
    if (!wrong.empty()) fail(wrong);
}

}  // namespace sluice::sim
