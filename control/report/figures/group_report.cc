#include "control/report/figures/group_report.hh"

#include "control/report/figures/report_rows.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/run/switch.hh"
#include "lib/route/port_load.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

LoadBalance mode_of(const RunningSwitch& running, const EcmpGroup& group) {
    return group.load_balance.value_or(running.config().load_balance.mode);
}

// Whether some of its packets may be balanced by more than their hash.
bool is_balanced(const RunningSwitch& running, const EcmpGroup& group) {
    if (group.load_balance) return *group.load_balance != LoadBalance::hash;
    return running.device().policy().balance.balances();
}

struct MemberSource {
    RunningSwitch& running;
    const EcmpGroup::Member& member;
};

FIGURE_ROWS(member_rows, MemberSource, "ecmp.{group}.members.{member}") = {
#include "control/report/figures/rows/ecmp_member.def"
};

struct BalanceSource {
    LoadBalance mode;
    BalanceCounts counts;
};

FIGURE_ROWS(balance_rows, BalanceSource, "ecmp.{group}.balance") = {
#include "control/report/figures/rows/ecmp_balance.def"
};

Json balance_json(RunningSwitch& running, const EcmpGroup& group) {
    return json_of(balance_rows, {mode_of(running, group), running.device().balance_counts(group.number)});
}

// Of a port for its queues, and the part of its speed that it has used of late.
Json quality_json(RunningSwitch& running, PortId port) {
    constexpr std::uint64_t million = 1'000'000;
    const Switch& device = running.device();
    const Policy& policy = device.policy();
    const PortLoad& load = device.load(port);
    const Duration byte_time = policy.ports[port].speed.byte_time();
    const LoadScale& scale = policy.balance.scale;
    const auto interval = static_cast<std::uint64_t>(scale.interval.ps);
    const std::uint64_t busy =
        load.sent_bytes(running.now(), scale) * static_cast<std::uint64_t>(byte_time.ps) / LoadScale::average;
    Json bands = Json::array(), stopped = Json::array();
    std::uint64_t queued = 0;
    for (ClassId queue = 0; queue < classes; ++queue) {
        const LinkQuality quality = device.quality(port, queue, running.now());
        bands.push_back(quality.band());
        if (quality.is_stopped) stopped.push_back(queue);
        queued += load.queued_bytes(queue);
    }
    return {{"up", device.link_up(port)},
            {"load_ppm", std::min(busy * million / interval, million)},
            {"queued_bytes", queued},
            {"bands", std::move(bands)},
            {"stopped_queues", std::move(stopped)}};
}

}  // namespace

Json ecmp_json(RunningSwitch& running) {
    Json json = Json::object();
    for (const EcmpGroup& group : running.routes().ecmp()) {
        Json members = Json::array();
        for (const auto& member : group.members) members.push_back(json_of(member_rows, {running, member}));
        json[group.name] = {{"members", std::move(members)}};
        if (is_balanced(running, group)) json[group.name]["balance"] = balance_json(running, group);
    }
    return json;
}

Json groups_json(RunningSwitch& running) {
    Json json = Json::array();
    const bool known = running.device().policy().balance.active;
    const RemoteQuality* const remote = running.device().policy().balance.remote;
    for (const EcmpGroup& group : running.routes().ecmp()) {
        Json members = Json::array();
        for (const auto& member : group.members) {
            members.push_back(json_of(member_rows, {running, member}));
            if (known) members.back().update(quality_json(running, member.port));
            if (remote != nullptr)
                members.back()["told_bands"] = remote->bands(member.port, group.number, running.now());
        }
        json.push_back({{"group", group.name}, {"number", group.number}});
        json.back().update(balance_json(running, group));
        json.back()["members"] = std::move(members);
    }
    return json;
}

}  // namespace sluice
