#include "control/fabric/report/schedule_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Program = roce::ProgramRank;
using Operation = roce::Program::Operation;

struct RankOfSchedule {
    const std::string* host;
    const roce::Nic* nic;
    const Program* program;
};

std::vector<RankOfSchedule> ranks_of(const Fabric& fabric, std::uint32_t id) {
    std::vector<RankOfSchedule> ranks;
    for (const std::string& host : fabric.plan().schedules[id].hosts) {
        const roce::Nic& nic = fabric.host(fabric.plan().nodes.at(host)).nic();
        for (const Program& each : nic.programs())
            if (each.settings().id == id) ranks.push_back({&host, &nic, &each});
    }
    return ranks;
}

const roce::CollectiveRank& collective_of(const RankOfSchedule& rank,
                                          const roce::ProgramSettings::Part& part) {
    return rank.nic->ranks()[part.rank];
}

// Nothing of its own is under way.
bool is_idle(const RankOfSchedule& rank) {
    return rank.program->is_idle() &&
           std::ranges::all_of(rank.program->settings().collectives,
                               [&](const auto& part) { return collective_of(rank, part).is_idle(); });
}

// All ranks of a server have come to a meeting, and some are still to be told of others.
bool is_meeting(const std::vector<RankOfSchedule>& ranks, const SchedulePlan::Group& group) {
    const std::uint32_t server = group.settings.group().stride;
    std::vector<std::uint32_t> met(group.ranks.size() / server);
    for (std::uint32_t n = 0; n < group.ranks.size(); ++n) {
        const RankOfSchedule& rank = ranks[group.ranks[n]];
        for (const auto& part : rank.program->settings().collectives)
            if (part.collective == group.communication && collective_of(rank, part).is_in_server())
                ++met[n / server];
    }
    return std::ranges::find(met, server) != met.end();
}

// Ranks wait for each other, and nothing is under way that could let them go on.
bool is_stuck(const SchedulePlan& plan, const std::vector<RankOfSchedule>& ranks) {
    return std::ranges::all_of(ranks, is_idle) &&
           std::ranges::none_of(plan.groups, [&](const SchedulePlan::Group& group) {
               return group.settings.is_hierarchical() && is_meeting(ranks, group);
           });
}

JobState state_of(const std::vector<RankOfSchedule>& ranks) {
    const auto in = [&](Program::State state) {
        return [state](const RankOfSchedule& each) { return each.program->state() == state; };
    };
    if (std::ranges::any_of(ranks, in(Program::State::failed))) return JobState::failed;
    return std::ranges::all_of(ranks, in(Program::State::done)) ? JobState::done : JobState::running;
}

std::string operation_text(const WorkloadPlan& workload, const Operation& operation) {
    const auto rank = [&] {
        return operation.peer == Operation::any ? std::string("any rank")
                                                : fmt::format("rank {}", operation.peer);
    };
    const auto tag = [&] {
        return operation.tag == Operation::any ? std::string("any tag")
                                               : fmt::format("tag {}", operation.tag);
    };
    std::string text;
    switch (operation.kind) {
        case Operation::Kind::compute:
            text =
                fmt::format("computes {}", time_text(Duration{static_cast<std::int64_t>(operation.amount)}));
            break;
        case Operation::Kind::send:
            text = fmt::format("sends {} to {} with {}", size_text(operation.amount), rank(), tag());
            break;
        case Operation::Kind::receive:
            text = fmt::format("receives {} from {} with {}", size_text(operation.amount), rank(), tag());
            break;
        case Operation::Kind::collective:
            text =
                fmt::format("takes part in {} of {}", workload.contents.communications[operation.peer].name,
                            size_text(operation.amount));
            break;
    }
    return fmt::format("{} ({} {})", text, workload.contents.place_word, operation.place);
}

struct SlowOperation {
    const std::string& host;
    std::uint32_t rank;
    const Program::Wait& wait;
    std::string operation;
    PauseBlame blame;
    std::string why;
};

FIGURE_ROWS(slow_operation_figures, SlowOperation, "schedules.{schedule}.slow_operations.[]") = {
#include "control/report/figures/rows/fabric/slow_operation.def"
};

struct WaitingOperation {
    const std::string& host;
    std::uint32_t rank;
    std::string operation;
};

FIGURE_ROWS(waiting_figures, WaitingOperation, "schedules.{schedule}.waiting.[]") = {
#include "control/report/figures/rows/fabric/waiting_operation.def"
};

struct LastRank {
    Json host, by_ns;  // null: not all have ended
};

struct ScheduleSource {
    const std::string& name;
    std::string_view format;
    std::string_view state;
    std::uint64_t operations;
    const ScheduleFigures& figures;
    LastRank straggler;
    Json failure;  // null: none
    Json slow, waiting;

    Json completion_ns() const {
        return figures.ended ? Json(ns(*figures.ended - *figures.begun)) : Json(nullptr);
    }
};

FIGURE_ROWS(schedule_figures_rows, ScheduleSource, "schedules.{schedule}") = {
#include "control/report/figures/rows/fabric/schedule.def"
};

LastRank last_of(const std::vector<RankOfSchedule>& ranks, const ScheduleFigures& figures) {
    if (!figures.ended) return {};
    std::vector<std::int64_t> ended;
    for (const Program::Figures& each : figures.ranks) ended.push_back((*each.ended - Time{}).ps);
    const auto last = std::ranges::max_element(ended);
    return {*ranks[static_cast<std::size_t>(last - ended.begin())].host,
            (*last - quantile(ended, 500)) / 1000};
}

std::string why_waited(const FabricPlan& plan, const SlowOperation& slow, const std::string& marked) {
    std::string text = fmt::format("{} (rank {}) waited {} of {}, computing nothing: it {}", slow.host,
                                   slow.rank, time_text(slow.wait.waited),
                                   time_text(slow.wait.ended - slow.wait.begun), slow.operation);
    if (!slow.blame.root.empty())
        text += fmt::format("; {} waited {} because {}", plan.topology.nodes[slow.blame.host].name,
                            time_text(slow.blame.waited), slow.blame.root);
    return marked.empty() ? text : fmt::format("{}; {}", text, marked);
}

Json slow_json(const Fabric& fabric, const WorkloadPlan& workload, const std::vector<RankOfSchedule>& ranks,
               const MarkedMessages* marked) {
    struct Found {
        std::uint32_t rank;
        const Program::Wait* wait;
    };
    std::vector<Found> found;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
        for (const Program::Wait& each : ranks[rank].program->slowest()) found.push_back({rank, &each});
    std::ranges::stable_sort(found, std::greater(), [](const Found& each) { return each.wait->waited.ps; });
    found.resize(std::min(found.size(), max_slow_operations));
    const FabricPlan& plan = fabric.plan();
    std::vector<bool> is_its(plan.topology.nodes.size());
    for (const RankOfSchedule& each : ranks) is_its[plan.nodes.at(*each.host)] = true;
    Json list = Json::array();
    for (const Found& each : found) {
        const RankOfSchedule& rank = ranks[each.rank];
        SlowOperation slow{*rank.host,
                           each.rank,
                           *each.wait,
                           operation_text(workload, rank.program->program().operations[each.wait->operation]),
                           blame_between(fabric, is_its, each.wait->begun, each.wait->ended),
                           {}};
        slow.why = why_waited(plan, slow,
                              marked == nullptr ? std::string()
                                                : marked->clause(fabric, std::span(&workload.flow, 1),
                                                                 each.wait->begun, each.wait->ended));
        list.push_back(json_of(slow_operation_figures, slow));
    }
    return list;
}

Json waiting_json(const WorkloadPlan& workload, const std::vector<RankOfSchedule>& ranks) {
    Json list = Json::array();
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
        for (const std::uint32_t each : ranks[rank].program->waiting()) {
            if (list.size() == max_waiting) return list;
            list.push_back(
                json_of(waiting_figures,
                        {*ranks[rank].host, rank,
                         operation_text(workload, ranks[rank].program->program().operations[each])}));
        }
    return list;
}

Json failure_json(const WorkloadPlan& workload, const std::vector<RankOfSchedule>& ranks) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
        if (const auto failed = ranks[rank].program->failed_operation())
            return fmt::format("rank {} ({}) {}, and a message of it was not acknowledged", rank,
                               *ranks[rank].host,
                               operation_text(workload, ranks[rank].program->program().operations[*failed]));
    return nullptr;
}

Json schedule_json(const Fabric& fabric, const WorkloadPlan& workload, const MarkedMessages* marked) {
    const std::vector<RankOfSchedule> ranks = ranks_of(fabric, *workload.schedule);
    const ScheduleFigures figures = schedule_figures(fabric, workload);
    return json_of(schedule_figures_rows,
                   {fabric.plan().file.flows[workload.flow].name, to_string(workload.contents.format),
                    figures.is_stuck ? "stuck" : to_string(figures.state), workload.contents.operations(),
                    figures, last_of(ranks, figures), failure_json(workload, ranks),
                    slow_json(fabric, workload, ranks, marked), waiting_json(workload, ranks)});
}

}  // namespace

JobState schedule_state(const Fabric& fabric, const WorkloadPlan& workload) {
    return state_of(ranks_of(fabric, *workload.schedule));
}

ScheduleFigures schedule_figures(const Fabric& fabric, const WorkloadPlan& workload) {
    const SchedulePlan& plan = fabric.plan().schedules[*workload.schedule];
    const std::vector<RankOfSchedule> ranks = ranks_of(fabric, *workload.schedule);
    ScheduleFigures made;
    made.state = state_of(ranks);
    made.is_stuck = made.state == JobState::running && is_stuck(plan, ranks);
    for (const RankOfSchedule& each : ranks) {
        made.ranks.push_back(each.program->figures(fabric.now()));
        const Program::Figures& own = made.ranks.back();
        made.operations += own.operations;
        made.compute = made.compute + own.compute;
        made.exposed = made.exposed + own.exposed;
        made.hidden = made.hidden + own.hidden;
        made.begun = min(made.begun.value_or(own.begun), own.begun);
        if (own.ended) made.ended = max(made.ended.value_or(*own.ended), *own.ended);
    }
    if (made.state != JobState::done) made.ended.reset();
    const auto count = static_cast<std::int64_t>(ranks.size());
    for (Duration* sum : {&made.compute, &made.exposed, &made.hidden}) *sum = {sum->ps / count};
    for (const SchedulePlan::Group& group : plan.groups) {
        if (group.settings.group().size == 1) continue;  // of one server: no link carries it
        const roce::BusFactor bus = roce::bus_factor(group.settings);
        for (const std::uint32_t rank : group.ranks)
            for (const auto& part : ranks[rank].program->settings().collectives)
                if (part.collective == group.communication)
                    made.bus_bytes +=
                        collective_of(ranks[rank], part).ended_bytes() * bus.numerator / bus.denominator;
    }
    return made;
}

Json schedules_json(const Fabric& fabric, const MarkedMessages* marked) {
    Json list = Json::array();
    for (const WorkloadPlan& each : fabric.plan().workloads)
        if (each.schedule) list.push_back(schedule_json(fabric, each, marked));
    return list;
}

std::string schedule_table(const Json& schedules) {
    TextTable table(
        "schedule<20|ranks>8|operations>12|time>12|compute>12|exposed>12|hidden>12|last<20|state<");
    const auto time = [](const Json& time_ns) { return time_ns.is_null() ? "-" : timed(time_ns); };
    std::string whys;
    for (const Json& each : schedules) {
        table.row({words(each["name"]), counted(each["ranks"]), counted(each["operations"]),
                   time(each["completion_ns"]), timed(each["compute_ns"]), timed(each["exposed_ns"]),
                   timed(each["hidden_ns"]),
                   each["straggler"]["host"].is_null() ? "-" : words(each["straggler"]["host"]),
                   words(each["state"])});
        if (!each["failure"].is_null())
            whys += fmt::format("  {}: {}\n", words(each["name"]), words(each["failure"]));
        if (each["state"] != "done")
            for (const Json& waits : each["waiting"])
                whys += fmt::format("  {}: rank {} ({}) {}\n", words(each["name"]), counted(waits["rank"]),
                                    words(waits["host"]), words(waits["operation"]));
        else if (!each["slow_operations"].empty())
            whys += fmt::format("  {}: {}\n", words(each["name"]), words(each["slow_operations"][0]["why"]));
    }
    return table.text() + (whys.empty() ? "" : "\nlongest waits\n" + whys);
}

}  // namespace sluice::fabric
