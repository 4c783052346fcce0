#include "control/fabric/scenario/interference.hh"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/job_report.hh"
#include "control/fabric/report/schedule_report.hh"
#include "control/fabric/run/commands.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr Duration look_interval = milliseconds(1);
constexpr Duration never = seconds(1'000'000);  // later than any run

// The plan with what other jobs do put off beyond any run; queue pairs keep their numbers, and so their
// paths.
FabricPlan only(const FabricPlan& plan, const JobPlan& job) {
    FabricPlan made = plan;
    for (const JobPlan& other : plan.jobs) {
        if (other.name == job.name) continue;
        for (const std::size_t n : other.collectives) made.collectives[n].settings.start = never;
        for (const std::size_t n : other.workloads) {
            for (ListedFlow& flow : made.workloads[n].list.flows) flow.start = never;
            if (const auto schedule = made.workloads[n].schedule) made.schedules[*schedule].start = never;
        }
    }
    return made;
}

bool is_over(const Fabric& fabric, const JobPlan& job, const FlowProgress& progress) {
    const FabricPlan& plan = fabric.plan();
    return std::ranges::all_of(job.collectives,
                               [&](std::size_t n) {
                                   return collective_state(fabric, static_cast<std::uint32_t>(n)) !=
                                          JobState::running;
                               }) &&
           std::ranges::all_of(job.workloads, [&](std::size_t n) {
               const WorkloadPlan& workload = plan.workloads[n];
               if (workload.schedule) return schedule_state(fabric, workload) != JobState::running;
               const FlowProgress::Flow& flow = progress[workload.flow];
               return flow.messages + flow.failed == workload.list.flows.size();
           });
}

tl::expected<Json, std::string> run_alone(const FabricPlan& plan, const JobPlan& job,
                                          const RunOptions& options) {
    const FabricPlan alone = only(plan, job);
    auto made = Fabric::create(alone, {false, options.threads, options.stage});
    if (!made) return tl::unexpected(made.error());
    Fabric& fabric = **made;
    FlowProgress progress(alone);
    EndedMessages messages(fabric, false, [&](std::span<EndedMessage> ended) { progress.add(ended); });
    schedule_events(fabric);
    Time next{};
    const auto end = options.duration ? std::optional(Time{} + *options.duration) : std::nullopt;
    fabric.loop().run(end, [&] {
        messages.look();
        if (options.is_stopped() || fabric.now() >= Time{} + never) return false;
        if (fabric.now() < next) return true;
        next = fabric.now() + look_interval;
        return !is_over(fabric, job, progress);
    });
    messages.finish();
    Json figures = job_json(fabric, job, progress);
    fabric.close();
    return figures;
}

}  // namespace

void JobTraffic::add(std::span<const EndedMessage> messages) {
    for (const EndedMessage& message : messages)
        if (const JobPlan* job = job_of_[message.flow]; job != nullptr)
            for (const Channel channel : message.path.channels) bytes_[channel][job] += message.bytes;
}

JobTraffic::Meeting JobTraffic::meeting_of(const JobPlan& job) const {
    double most = 0;
    Meeting found;
    for (const auto& [channel, jobs] : bytes_) {
        if (!jobs.contains(&job) || jobs.size() < 2) continue;
        const Link& link = plan_.topology.links[channel / 2];
        std::uint64_t all = 0;
        std::pair<std::uint64_t, const JobPlan*> other{};
        for (const auto& [each, bytes] : jobs) {
            all += bytes;
            if (each != &job) other = std::max(other, {bytes, each});
        }
        const double load = static_cast<double>(all) / static_cast<double>(link.speed.bits_per_second);
        if (load <= most) continue;
        most = load;
        found = {link.name, other.second->name};
    }
    return found;
}

tl::expected<Json, std::string> jobs_alone(const FabricPlan& plan, const RunOptions& options) {
    Json alone = Json::object();
    const auto placed = std::ranges::count_if(plan.jobs, &JobPlan::is_placed);
    if (placed < 2) return alone;
    for (const JobPlan& job : plan.jobs) {
        if (!job.is_placed) continue;
        options.stage("jobs alone", alone.size(), static_cast<std::size_t>(placed));
        auto figures = run_alone(plan, job, options);
        if (!figures) return tl::unexpected(std::move(figures).error());
        alone[job.name] = std::move(*figures);
    }
    return alone;
}

void add_losses(Json& jobs, const Json& alone, const FabricPlan& plan, const JobTraffic& traffic) {
    for (const JobPlan& each : plan.jobs) {
        const std::string& name = each.name;
        const auto found = alone.find(name);
        if (found == alone.end()) continue;
        Json& job = jobs[name];
        job["alone"] = {{"step_ns", (*found)["step_ns"]["mean"]},
                        {"completion_ns", (*found)["completion_ns"]}};
        const bool has_steps = !job["step_ns"]["mean"].is_null() && !job["alone"]["step_ns"].is_null();
        const Json own = has_steps ? job["step_ns"]["mean"] : job["completion_ns"];
        const Json by_itself = job["alone"][has_steps ? "step_ns" : "completion_ns"];
        job["lost_permille"] = nullptr;
        job["lost_to"] = nullptr;
        if (own.is_null() || by_itself.is_null() || own == 0) continue;
        const std::int64_t lost = own.get<std::int64_t>() - by_itself.get<std::int64_t>();
        job["lost_permille"] = lost * 1000 / own.get<std::int64_t>();
        if (lost <= 0) continue;
        const JobTraffic::Meeting meeting = traffic.meeting_of(each);
        job["lost_to"] = fmt::format(
            "{} lost {:.1f} % of its {} to {}", name, static_cast<double>(lost) * 100 / own.get<double>(),
            has_steps ? "step" : "time",
            meeting.job.empty()
                ? "other jobs, with which it shares no link: pauses spread, or load balancing sprays"
                : fmt::format("{} at {}", meeting.job, meeting.link));
    }
}

}  // namespace sluice::fabric
