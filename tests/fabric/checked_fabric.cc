#include "tests/fabric/checked_fabric.hh"

#include <fmt/format.h>

#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/run/commands.hh"
#include "lib/values/rng.hh"
#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fabric {

CheckedFabric::CheckedFabric(const std::string& text, std::string label, bool checks)
    : label_(std::move(label)), checks_(checks) {
    auto file = parse_fabric(text, "test");
    if (!file) fail(file.error().front().text());
    auto plan = make_plan(std::move(*file));
    if (!plan) fail(plan.error().front().text());
    plan_ = std::make_unique<FabricPlan>(std::move(*plan));
    for (const EventConfig& event : plan_->file.events)
        if (const std::string error = check_command(*plan_, event.command); !error.empty()) fail(error);
    auto made = Fabric::create(*plan_, {});
    if (!made) fail(made.error());
    fabric_ = std::move(*made);
    for (FabricSwitch& each : fabric_->switches()) sim::choose_pools(each.running->device());
    for (const EventConfig& event : plan_->file.events)
        fabric_->loop().actions().at(Time{} + event.at, [this, &event] { command(event.command); });
    invariants_.resize(fabric_->switches().size());
    if (checks_) fabric_->on_instant([this](std::uint32_t number) { check(number); });
}

CheckedFabric::~CheckedFabric() {
    if (!fabric_) return;
    if (sim::notes_outcomes())
        for (const std::uint64_t all = digest(); FabricSwitch & each : fabric_->switches())
            sim::note_outcome(fmt::format("{} {}", label_, each.plan->name), each.running->device(), all);
    for (const std::string& error : fabric_->close()) fail(error);
}

void CheckedFabric::fail(const std::string& what) {
    const double us = fabric_ ? static_cast<double>(now().ps) / 1e6 : 0;
    FAIL(fmt::format("{}{}at {:.6f} us: {}", label_, label_.empty() ? "" : ", ", us, what).c_str());
}

void CheckedFabric::command(const std::string& text) {
    if (const std::string error = run_command(*fabric_, text); !error.empty()) fail(text + ": " + error);
}

void CheckedFabric::check(std::uint32_t number) {
    FabricSwitch& each = fabric_->switches()[number];
    const Config& config = each.running->config();
    const std::string wrong =
        invariants_[number].broken(each.running->device(), config.buffer_size_bytes / config.cell_bytes,
                                   each.running->limit_change().is_pending());
    if (!wrong.empty()) fail(each.plan->name + ": " + wrong);
}

void CheckedFabric::check() {
    if (!fabric_->ledger().balanced()) fail("the ledger does not balance");
}

void CheckedFabric::run_until(Time end) {
    fabric_->loop().run(end, [this] {
        if (checks_) check();
        return true;
    });
    check();
}

void CheckedFabric::drain() {
    fabric_->loop().run(std::nullopt, [this] {
        if (checks_) check();
        return true;
    });
    check();
    const Fabric::Ledger ledger = fabric_->ledger();
    if (ledger.queued + ledger.on_wire != 0)
        fail(fmt::format("{} frames are left", ledger.queued + ledger.on_wire));
    for (FabricSwitch& each : fabric_->switches()) {
        if (const std::string wrong = sim::broken_after_drain(each.running->device()); !wrong.empty())
            fail(each.plan->name + ": " + wrong);
        for (const auto& [name, host] : each.plan->config.hosts)
            for (const roce::QueuePair& pair : each.ports->simulated(name)->nic().queue_pairs())
                if (pair.statistics.wrong_payload != 0) fail(name + " got wrong payload");
    }
}

LinkId CheckedFabric::link(const std::string& name) const {
    const auto& links = plan_->topology.links;
    for (LinkId id = 0; id < links.size(); ++id)
        if (links[id].name == name) return id;
    FAIL(("no link " + name).c_str());
    return 0;
}

std::uint64_t CheckedFabric::delivered_bytes(const std::string& from, const std::string& to) {
    const IpAddress sender = at(from).plan->config.hosts.at(from).address;
    std::uint64_t sum = 0;
    for (const roce::QueuePair& pair : fabric_->host(node(to)).nic().queue_pairs())
        if (pair.settings().peer == sender) sum += pair.statistics.delivered_bytes;
    return sum;
}

std::uint64_t CheckedFabric::dropped(DropReason reason) {
    std::uint64_t sum = 0;
    for (FabricSwitch& each : fabric_->switches())
        for (PortId id = 0; id < each.running->device().port_count(); ++id)
            sum += each.running->device().dropped(id, reason);
    return sum;
}

std::uint64_t CheckedFabric::lossless_lost() {
    return make_report(*fabric_, false)["verdict"]["lost_packets"].get<std::uint64_t>();
}

std::uint64_t CheckedFabric::digest() {
    std::uint64_t digest = 0;
    for (const char each : make_report(*fabric_, false).dump())
        digest = scramble(digest ^ static_cast<std::uint8_t>(each));
    return digest;
}

}  // namespace sluice::fabric
