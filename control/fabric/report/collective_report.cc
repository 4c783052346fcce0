#include "control/fabric/report/collective_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Rank = roce::CollectiveRank;

struct Member {
    const std::string* name;
    const roce::Nic* nic;
    const Rank* rank;
};

std::vector<Member> members_of(const Fabric& fabric, std::uint32_t id) {
    std::vector<Member> members;
    for (const std::string& host : fabric.plan().collectives[id].hosts) {
        const roce::Nic& nic = fabric.host(fabric.plan().nodes.at(host)).nic();
        for (const Rank& rank : nic.ranks())
            if (rank.settings().id == id) members.push_back({&host, &nic, &rank});
    }
    return members;
}

std::size_t ended_steps(const std::vector<Member>& members) {
    std::size_t least = SIZE_MAX;
    for (const Member& each : members) {
        const auto steps = each.rank->steps();
        least = std::min(least, steps.size() - (!steps.empty() && !steps.back().ended ? 1 : 0));
    }
    return least;
}

std::vector<CollectivePath> paths_of(const std::vector<Member>& members, std::uint32_t flow) {
    std::map<IpAddress, const std::string*> names;
    for (const Member& each : members) names.emplace(each.nic->settings().address, each.name);
    std::vector<CollectivePath> paths;
    for (const Member& each : members) {
        std::map<IpAddress, CollectivePath> to;
        for (const roce::QueuePair& pair : each.nic->queue_pairs()) {
            if (pair.flow().id != flow || pair.requester() == nullptr) continue;
            CollectivePath& path = to[pair.settings().peer];
            path.messages += pair.statistics.completed;
            path.bytes += pair.statistics.completed_bytes;
            path.completion = path.completion + pair.statistics.completion_time;
        }
        for (auto& [address, path] : to) {
            path.from = each.name;
            path.to = names.at(address);
            paths.push_back(path);
        }
    }
    return paths;
}

JobState state_of(const std::vector<Member>& members) {
    const auto in = [&](Rank::State state) {
        return [state](const Member& each) { return each.rank->state() == state; };
    };
    if (std::ranges::any_of(members, in(Rank::State::failed))) return JobState::failed;
    return std::ranges::all_of(members, in(Rank::State::done)) ? JobState::done : JobState::running;
}

// `number`: of a step that all have ended.
CollectiveStep step_of(const std::vector<Member>& members, std::size_t number) {
    CollectiveStep step{number, members.front().rank->steps()[number].begun, {}, 0, {}, {}};
    const Time begun = step.begun;
    std::vector<std::int64_t> received;
    for (const Member& each : members) {
        const Rank::Step& own = each.rank->steps()[number];
        step.begun = min(step.begun, own.begun);
        step.ended = max(step.ended, *own.ended);
        received.push_back((*own.received - begun).ps);
    }
    const auto last = std::ranges::max_element(received);
    step.rank = static_cast<std::size_t>(last - received.begin());
    step.last = *members[step.rank].name;
    step.behind = {*last - quantile(received, 500)};
    return step;
}

struct SlowestPath {
    Json from, to, mean_ns, over_median_permille;  // null: no message was acknowledged
};

// The slowest pair among messages that were acknowledged between two moments.
SlowestPath slowest_path_of(const CollectiveMoment& from, const CollectiveMoment& to) {
    struct Path {
        const CollectivePath* ends;
        int size;  // of its messages, in powers of two
        std::int64_t mean_ps;
    };
    std::vector<Path> paths;
    std::map<int, std::vector<std::int64_t>> of_size;
    for (std::size_t n = 0; n < to.paths.size(); ++n) {
        const CollectivePath &before = from.paths[n], &after = to.paths[n];
        const std::uint64_t messages = after.messages - before.messages;
        if (messages == 0) continue;
        const std::int64_t sum = (after.completion - before.completion).ps;
        paths.push_back({&after, static_cast<int>(std::bit_width((after.bytes - before.bytes) / messages)),
                         sum / static_cast<std::int64_t>(messages)});
        of_size[paths.back().size].push_back(paths.back().mean_ps);
    }
    std::map<int, std::int64_t> median;
    for (const auto& [size, means] : of_size) median[size] = std::max<std::int64_t>(quantile(means, 500), 1);
    const auto over_median = [&](const Path& path) { return path.mean_ps * 1000 / median[path.size]; };
    const auto slowest = std::ranges::max_element(paths, {}, over_median);
    if (slowest == paths.end()) return {};
    return {*slowest->ends->from, *slowest->ends->to, slowest->mean_ps / 1000, over_median(*slowest)};
}

double mean_ps(std::span<const CollectiveStep> steps) {
    std::int64_t sum = 0;
    for (const CollectiveStep& step : steps) sum += step.took().ps;
    return steps.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(steps.size());
}

struct CollectiveSource {
    const CollectiveConfig& config;
    const roce::CollectiveSettings& settings;
    JobState state;
    const std::vector<CollectiveStep>& steps;
    double mean;  // ps
    std::int64_t completion;
    Straggler straggler;
    SlowestPath slowest_path;
    std::uint64_t bandwidth = bits_per_second(settings.bytes, mean);
    roce::BusFactor bus = roce::bus_factor(settings);

    Json completion_ns() const { return steps.empty() ? Json(nullptr) : Json(completion / 1000); }
};

FIGURE_ROWS(collective_figures, CollectiveSource, "collectives.{collective}") = {
#include "control/report/figures/rows/fabric/collective.def"
};

Json collective_json(const Fabric& fabric, std::uint32_t id, const CollectiveMoment& from,
                     const CollectiveMoment& to) {
    const CollectivePlan& plan = fabric.plan().collectives[id];
    const CollectiveConfig& config = fabric.plan().file.collectives[id];
    const std::vector<Member> members = members_of(fabric, id);
    std::vector<CollectiveStep> steps;
    for (std::size_t number = from.steps; number < to.steps; ++number)
        steps.push_back(step_of(members, number));
    const Time end = steps.empty() ? Time{} : steps.back().ended;
    return json_of(collective_figures,
                   {config, plan.settings, state_of(members), steps, mean_ps(steps),
                    (end - Time{} - plan.settings.start).ps, straggler_of(steps), slowest_path_of(from, to)});
}

}  // namespace

std::vector<CollectiveStep> collective_steps(const Fabric& fabric, std::uint32_t collective) {
    const std::vector<Member> members = members_of(fabric, collective);
    std::vector<CollectiveStep> steps;
    for (std::size_t number = 0; number < ended_steps(members); ++number)
        steps.push_back(step_of(members, number));
    return steps;
}

JobState collective_state(const Fabric& fabric, std::uint32_t collective) {
    return state_of(members_of(fabric, collective));
}

Json step_times_json(std::span<const CollectiveStep> steps) {
    std::vector<std::int64_t> times;
    for (const CollectiveStep& step : steps) times.push_back(step.took().ps);
    // A duration of no step is null: as 0 it would be below every limit.
    const auto in_ns = [&](std::int64_t ps) { return times.empty() ? Json(nullptr) : Json(ps / 1000); };
    return {{"mean", in_ns(static_cast<std::int64_t>(mean_ps(steps)))},
            {"p50", in_ns(quantile(times, 500))},
            {"p99", in_ns(quantile(times, 990))},
            {"max", in_ns(quantile(times, 1000))}};
}

std::string_view to_string(JobState state) {
    switch (state) {
        case JobState::running:
            return "running";
        case JobState::done:
            return "done";
        case JobState::failed:
            break;
    }
    return "failed";
}

Straggler straggler_of(std::span<const CollectiveStep> steps) {
    struct Last {
        std::string host;
        std::vector<std::int64_t> behind;
    };
    std::map<std::size_t, Last> by_rank;
    for (const CollectiveStep& step : steps) {
        Last& last = by_rank[step.rank];
        last.host = step.last;
        last.behind.push_back(step.behind.ps);
    }
    const auto most =
        std::ranges::max_element(by_rank, {}, [](const auto& each) { return each.second.behind.size(); });
    if (most == by_rank.end()) return {};
    const Last& last = most->second;
    return {last.host, quantile(last.behind, 500) / 1000, last.behind.size()};
}

std::vector<CollectiveMoment> collective_moments(const Fabric& fabric) {
    std::vector<CollectiveMoment> moments;
    for (std::uint32_t id = 0; id < fabric.plan().collectives.size(); ++id) {
        const std::vector<Member> members = members_of(fabric, id);
        moments.push_back({ended_steps(members), paths_of(members, fabric.plan().collectives[id].flow)});
    }
    return moments;
}

Json collectives_json(const Fabric& fabric) {
    const std::vector<CollectiveMoment> now = collective_moments(fabric);
    Json list = Json::array();
    for (std::uint32_t id = 0; id < now.size(); ++id) {
        CollectiveMoment start;
        start.paths.resize(now[id].paths.size());
        list.push_back(collective_json(fabric, id, start, now[id]));
    }
    return list;
}

Json collectives_between(const Fabric& fabric, const std::vector<CollectiveMoment>& from,
                         const std::vector<CollectiveMoment>& to) {
    Json list = Json::array();
    for (std::uint32_t id = 0; id < to.size(); ++id) {
        list.push_back(collective_json(fabric, id, from[id], to[id]));
        list.back().erase("completion_ns");
    }
    return list;
}

std::string collective_table(const Json& collectives) {
    TextTable table("collective<20|ranks>8|steps>8|p50>12|p99>12|max>12|bus bandwidth>16|last<");
    const auto time = [](const Json& ns) { return ns.is_null() ? "-" : timed(ns); };
    for (const Json& each : collectives) {
        const Json &took = each["step_ns"], &straggler = each["straggler"], &path = each["slowest_path"];
        std::string last = words(each["state"]);
        if (!straggler["host"].is_null())
            last = fmt::format("{} in {}, by {}", words(straggler["host"]),
                               print_count(number(straggler["steps"]), "step"), time(straggler["by_ns"]));
        if (!path["from"].is_null())
            last += fmt::format("; slowest path {} > {}, {:.2f} of the median", words(path["from"]),
                                words(path["to"]), path["over_median_permille"].get<double>() / 1e3);
        table.row({words(each["name"]), counted(each["ranks"]), counted(each["steps"]), time(took["p50"]),
                   time(took["p99"]), time(took["max"]),
                   fmt::format("{:.2f} Gb/s", each["bus_bandwidth_bps"].get<double>() / 1e9), last});
    }
    return table.text();
}

}  // namespace sluice::fabric
