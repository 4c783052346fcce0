#include "tools/fabric/report/collective_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "control/config/values.hh"
#include "tools/fabric/run/pause_words.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;
using Rank = roce::CollectiveRank;

// The least value that `per_mille` of all do not exceed; 0 of none.
std::int64_t quantile(std::vector<std::int64_t> values, std::size_t per_mille) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[std::max<std::size_t>((values.size() * per_mille + 999) / 1000, 1) - 1];
}

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

std::size_t ended_steps(const Rank& rank) {
    const auto steps = rank.steps();
    return steps.size() - (!steps.empty() && !steps.back().ended ? 1 : 0);
}

std::string_view state_of(const std::vector<Member>& members) {
    const auto in = [&](Rank::State state) {
        return [state](const Member& each) { return each.rank->state() == state; };
    };
    if (std::ranges::any_of(members, in(Rank::State::failed))) return "failed";
    return std::ranges::all_of(members, in(Rank::State::done)) ? "done" : "running";
}

Json straggler_json(const std::vector<Member>& members, std::size_t steps) {
    std::vector<std::vector<std::int64_t>> behind(members.size());  // of each, where it was last
    for (std::size_t step = 0; step < steps; ++step) {
        const Time begun = members.front().rank->steps()[step].begun;
        std::vector<std::int64_t> received;
        for (const Member& each : members)
            received.push_back((*each.rank->steps()[step].received - begun).ps);
        const auto last = std::ranges::max_element(received) - received.begin();
        behind[static_cast<std::size_t>(last)].push_back(received[static_cast<std::size_t>(last)] -
                                                         quantile(received, 500));
    }
    const auto most = std::ranges::max_element(behind, {}, &std::vector<std::int64_t>::size);
    if (most->empty()) return {{"host", nullptr}, {"by_ns", nullptr}, {"steps", 0}};
    return {{"host", *members[static_cast<std::size_t>(most - behind.begin())].name},
            {"by_ns", quantile(*most, 500) / 1000},
            {"steps", most->size()}};
}

Json slowest_path_json(const std::vector<Member>& members, std::uint32_t flow) {
    struct Path {
        const std::string *from, *to;
        std::uint64_t messages = 0, bytes = 0;
        std::int64_t mean_ps = 0;
        int size() const { return std::bit_width(bytes / messages); }
    };
    std::map<IpAddress, const std::string*> names;
    for (const Member& each : members) names.emplace(each.nic->settings().address, each.name);
    std::vector<Path> paths;
    for (const Member& each : members) {
        std::map<IpAddress, Path> to;
        for (const roce::QueuePair& pair : each.nic->queue_pairs()) {
            if (pair.flow().id != flow || pair.requester() == nullptr || pair.statistics.completed == 0)
                continue;
            Path& path = to[pair.settings().peer];
            path.messages += pair.statistics.completed;
            path.bytes += pair.statistics.completed_bytes;
            path.mean_ps += pair.statistics.completion_time.ps;
        }
        for (auto& [address, path] : to) {
            path.from = each.name;
            path.to = names.at(address);
            path.mean_ps /= static_cast<std::int64_t>(path.messages);
            paths.push_back(path);
        }
    }
    std::map<int, std::vector<std::int64_t>> of_size;
    for (const Path& path : paths) of_size[path.size()].push_back(path.mean_ps);
    std::map<int, std::int64_t> median;
    for (const auto& [size, means] : of_size) median[size] = std::max<std::int64_t>(quantile(means, 500), 1);
    const auto over_median = [&](const Path& path) { return path.mean_ps * 1000 / median[path.size()]; };
    const auto slowest = std::ranges::max_element(paths, {}, over_median);
    if (slowest == paths.end())
        return {{"from", nullptr}, {"to", nullptr}, {"mean_ns", nullptr}, {"over_median_permille", nullptr}};
    return {{"from", *slowest->from},
            {"to", *slowest->to},
            {"mean_ns", slowest->mean_ps / 1000},
            {"over_median_permille", over_median(*slowest)}};
}

std::uint64_t per_second(std::uint64_t bytes, double ps) {
    return ps <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(bytes) * 8e12 / ps);
}

Json collective_json(const Fabric& fabric, std::uint32_t id) {
    const CollectivePlan& plan = fabric.plan().collectives[id];
    const CollectiveConfig& config = fabric.plan().file.collectives[id];
    const std::vector<Member> members = members_of(fabric, id);
    std::size_t steps = plan.settings.steps;
    for (const Member& each : members) steps = std::min(steps, ended_steps(*each.rank));
    std::vector<std::int64_t> times;
    std::int64_t sum = 0, completion = 0;
    const Time start = plan.settings.start;
    for (std::size_t step = 0; step < steps; ++step) {
        Time begun = members.front().rank->steps()[step].begun, ended = begun;
        for (const Member& each : members) {
            begun = min(begun, each.rank->steps()[step].begun);
            ended = max(ended, *each.rank->steps()[step].ended);
        }
        times.push_back((ended - begun).ps);
        sum += times.back();
        completion = (ended - start).ps;
    }
    const double mean = steps == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(steps);
    const std::uint64_t bandwidth = per_second(plan.settings.bytes, mean);
    const roce::BusFactor factor = roce::bus_factor(plan.settings.kind, plan.settings.ranks);
    return {{"name", config.name},
            {"kind", to_string(config.kind)},
            {"state", state_of(members)},
            {"ranks", plan.settings.ranks},
            {"bytes", plan.settings.bytes},
            {"steps", steps},
            {"step_ns",
             {{"mean", static_cast<std::int64_t>(mean) / 1000},
              {"p50", quantile(times, 500) / 1000},
              {"p99", quantile(times, 990) / 1000},
              {"max", quantile(times, 1000) / 1000}}},
            {"completion_ns", completion / 1000},
            {"algorithm_bandwidth_bps", bandwidth},
            {"bus_bandwidth_bps", bandwidth * factor.numerator / factor.denominator},
            {"straggler", straggler_json(members, steps)},
            {"slowest_path", slowest_path_json(members, plan.flow)}};
}

}  // namespace

Json collectives_json(const Fabric& fabric) {
    Json list = Json::array();
    for (std::uint32_t id = 0; id < fabric.plan().collectives.size(); ++id)
        list.push_back(collective_json(fabric, id));
    return list;
}

std::string collective_table(const Json& collectives) {
    if (collectives.empty()) return {};
    const auto time = [](const Json& ns) { return text_of_time(ns.get<std::int64_t>()); };
    std::string text = fmt::format("\n{:<20}{:>8}{:>8}{:>12}{:>12}{:>12}{:>16}  {}\n", "collective", "ranks",
                                   "steps", "p50", "p99", "max", "bus bandwidth", "last");
    for (const Json& each : collectives) {
        text +=
            fmt::format("{:<20}{:>8}{:>8}{:>12}{:>12}{:>12}{:>11.2f} Gb/s  ", each["name"].get<std::string>(),
                        each["ranks"].get<std::uint64_t>(), each["steps"].get<std::uint64_t>(),
                        time(each["step_ns"]["p50"]), time(each["step_ns"]["p99"]),
                        time(each["step_ns"]["max"]), each["bus_bandwidth_bps"].get<double>() / 1e9);
        const Json& last = each["straggler"];
        const Json& path = each["slowest_path"];
        text += last["host"].is_null() ? each["state"].get<std::string>()
                                       : fmt::format("{} in {}, by {}", last["host"].get<std::string>(),
                                                     print_count(last["steps"].get<std::uint64_t>(), "step"),
                                                     time(last["by_ns"]));
        if (!path["from"].is_null())
            text +=
                fmt::format("; slowest path {} > {}, {:.2f} of the median", path["from"].get<std::string>(),
                            path["to"].get<std::string>(), path["over_median_permille"].get<double>() / 1e3);
        text += "\n";
    }
    return text;
}

}  // namespace sluice::fabric
