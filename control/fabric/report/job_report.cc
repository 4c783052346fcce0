#include "control/fabric/report/job_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/pause_report.hh"
#include "control/fabric/report/schedule_report.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/report_hosts.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// Spans of time, joined: sorted, and none meets another.
class Spans {
  public:
    void add(Time from, Time until) {
        if (from < until) spans_.emplace_back(from, until);
    }
    void join() {
        std::ranges::sort(spans_);
        std::vector<Span> joined;
        for (const Span& each : spans_)
            if (joined.empty() || joined.back().second < each.first)
                joined.push_back(each);
            else
                joined.back().second = max(joined.back().second, each.second);
        spans_ = std::move(joined);
    }
    Duration length() const {
        Duration sum{};
        for (const auto& [from, until] : spans_) sum = sum + (until - from);
        return sum;
    }
    Duration shared_with(const Spans& other) const {
        Duration sum{};
        auto theirs = other.spans_.begin();
        for (const auto& [from, until] : spans_) {
            while (theirs != other.spans_.end() && theirs->second <= from) ++theirs;
            for (auto at = theirs; at != other.spans_.end() && at->first < until; ++at)
                sum = sum + (min(until, at->second) - max(from, at->first));
        }
        return sum;
    }
    std::optional<std::pair<Time, Time>> whole() const {
        if (spans_.empty()) return std::nullopt;
        return std::pair(spans_.front().first, spans_.back().second);
    }

  private:
    using Span = std::pair<Time, Time>;
    std::vector<Span> spans_;
};

struct SlowStep {
    const std::string& collective;
    const CollectiveStep& step;
    Duration over;  // the median
    PauseBlame blame;
    std::string why;
};

FIGURE_ROWS(slow_step_figures, SlowStep, "jobs.{job}.slow_steps.[]") = {
#include "control/report/figures/rows/fabric/slow_step.def"
};

std::string why_slow(const FabricPlan& plan, const std::string& collective, const CollectiveStep& step,
                     Duration over, const PauseBlame& blame, const std::string& marked) {
    std::string text = fmt::format(
        "step {} of {} took {}, {} over the median: {} had its data last, {} behind the median host",
        step.number, collective, time_text(step.took()), time_text(over), step.last, time_text(step.behind));
    if (!blame.root.empty())
        text += fmt::format("; {} waited {} because {}", plan.topology.nodes[blame.host].name,
                            time_text(blame.waited), blame.root);
    return marked.empty() ? text : fmt::format("{}; {}", text, marked);
}

struct JobSource {
    std::size_t hosts;
    bool is_placed;
    std::string_view state;
    std::span<const CollectiveStep> steps;  // of its first collective
    Json completion_ns;
    Duration compute, exposed, hidden;
    std::uint64_t bus_bandwidth, messages, bytes;
    Json slow_steps;

    Straggler straggler = straggler_of(steps);
};

FIGURE_ROWS(job_figures, JobSource, "jobs.{job}") = {
#include "control/report/figures/rows/fabric/job.def"
};

// Puts the figures of one job together.
class JobFigures {
  public:
    JobFigures(const Fabric& fabric, const JobPlan& job) : fabric_(fabric), plan_(fabric.plan()), job_(job) {
        for (const std::size_t n : job.collectives) {
            const auto id = static_cast<std::uint32_t>(n);
            steps_.push_back(collective_steps(fabric, id));
            take(collective_state(fabric, id));
            add_spans(plan_.collectives[n].settings, steps_.back());
        }
    }

    Json json(const FlowProgress& flows) {
        std::uint64_t messages = 0, bytes = 0;
        const auto count = [&](std::uint32_t flow) {
            messages += flows[flow].messages;
            bytes += flows[flow].bytes;
        };
        for (const std::size_t n : job_.collectives) count(plan_.collectives[n].flow);
        for (const std::size_t n : job_.workloads) {
            const WorkloadPlan& each = plan_.workloads[n];
            const FlowProgress::Flow& progress = flows[each.flow];
            count(each.flow);
            if (each.schedule) {
                add_schedule(schedule_figures(fabric_, each));
                continue;
            }
            if (progress.messages + progress.failed < each.list.flows.size()) take(JobState::running);
            if (progress.failed != 0) take(JobState::failed);
            if (progress.first) communication_.add(*progress.first, progress.last);
        }
        communication_.join();
        compute_.join();
        const Duration hidden = communication_.shared_with(compute_) + of_schedules_.hidden;
        const Duration all = communication_.length() + of_schedules_.hidden + of_schedules_.exposed;
        if (const auto spanned = communication_.whole()) {
            take_span(spanned->first);
            take_span(spanned->second);
        }
        const auto& whole = whole_;
        return json_of(
            job_figures,
            {.hosts = job_.hosts.size(),
             .is_placed = job_.is_placed,
             .state = to_string(state_),
             .steps = steps_.empty() ? std::span<const CollectiveStep>() : steps_.front(),
             .completion_ns =
                 whole && state_ == JobState::done ? Json(ns(whole->second - whole->first)) : Json(),
             .compute = compute_.length() + of_schedules_.compute,
             .exposed = all - hidden,
             .hidden = hidden,
             .bus_bandwidth = bits_per_second(bus_bytes_, all),
             .messages = messages,
             .bytes = bytes,
             .slow_steps = slow_steps(flows.marked())});
    }

  private:
    void take(JobState state) {
        if (state_ != JobState::failed && state != JobState::done) state_ = state;
    }

    void take_span(Time at) {
        if (!whole_) whole_.emplace(at, at);
        whole_->first = min(whole_->first, at);
        whole_->second = max(whole_->second, at);
    }

    void add_schedule(const ScheduleFigures& figures) {
        take(figures.state);
        if (figures.ended) {
            take_span(*figures.begun);
            take_span(*figures.ended);
        }
        of_schedules_.compute = of_schedules_.compute + figures.compute;
        of_schedules_.exposed = of_schedules_.exposed + figures.exposed;
        of_schedules_.hidden = of_schedules_.hidden + figures.hidden;
        bus_bytes_ += figures.bus_bytes / figures.ranks.size();
    }

    void add_spans(const roce::CollectiveSettings& settings, const std::vector<CollectiveStep>& steps) {
        const roce::BusFactor bus = roce::bus_factor(settings);
        for (std::size_t n = 0; n < steps.size(); ++n) {
            communication_.add(steps[n].begun, steps[n].ended);
            compute_.add(steps[n].begun, steps[n].begun + settings.overlap);
            if (n + 1 < steps.size()) compute_.add(steps[n].ended, steps[n + 1].begun);
            bus_bytes_ += settings.bytes * bus.numerator / bus.denominator;
        }
    }

    Json slow_steps(const MarkedMessages& marked) const {
        struct Found {
            std::size_t collective;
            const CollectiveStep* step;
            Duration over;
        };
        std::vector<Found> found;
        for (std::size_t n = 0; n < steps_.size(); ++n) {
            std::vector<std::int64_t> times;
            for (const CollectiveStep& step : steps_[n]) times.push_back(step.took().ps);
            const std::int64_t median = quantile(times, 500);
            for (const CollectiveStep& step : steps_[n])
                if (step.took().ps > median) found.push_back({n, &step, {step.took().ps - median}});
        }
        std::ranges::stable_sort(found, std::greater(), [](const Found& each) { return each.over.ps; });
        found.resize(std::min(found.size(), max_slow_steps));
        std::vector<bool> is_its(plan_.topology.nodes.size());
        for (const std::string& name : job_.hosts) is_its[plan_.nodes.at(name)] = true;
        Json list = Json::array();
        for (const Found& each : found) {
            const std::string& name = plan_.file.collectives[job_.collectives[each.collective]].name;
            PauseBlame blame = blame_between(fabric_, is_its, each.step->begun, each.step->ended);
            const std::uint32_t flow = plan_.collectives[job_.collectives[each.collective]].flow;
            std::string why =
                why_slow(plan_, name, *each.step, each.over, blame,
                         marked.clause(fabric_, std::span(&flow, 1), each.step->begun, each.step->ended));
            list.push_back(
                json_of(slow_step_figures, {name, *each.step, each.over, std::move(blame), std::move(why)}));
        }
        return list;
    }

    const Fabric& fabric_;
    const FabricPlan& plan_;
    const JobPlan& job_;
    std::vector<std::vector<CollectiveStep>> steps_;  // of its collectives
    JobState state_ = JobState::done;
    Spans communication_, compute_;
    // The means of ranks, whose times are known only as sums.
    struct {
        Duration compute{}, exposed{}, hidden{};
    } of_schedules_;
    std::optional<std::pair<Time, Time>> whole_;  // from its begin to its end
    std::uint64_t bus_bytes_ = 0;
};

}  // namespace

void FlowProgress::add(std::span<const EndedMessage> messages) {
    for (const EndedMessage& message : messages) {
        Flow& flow = flows_[message.flow];
        marked_.add(message);
        flow.first = min(flow.first.value_or(message.came), message.came);
        flow.last = max(flow.last, message.ended);
        if (message.failed) {
            ++flow.failed;
            continue;
        }
        ++flow.messages;
        flow.bytes += message.bytes;
    }
}

Json job_json(const Fabric& fabric, const JobPlan& job, const FlowProgress& flows) {
    return JobFigures(fabric, job).json(flows);
}

Json jobs_json(const Fabric& fabric, const FlowProgress& flows) {
    Json json = Json::object();
    for (const JobPlan& job : fabric.plan().jobs) json[job.name] = job_json(fabric, job, flows);
    return json;
}

std::string job_table(const Json& jobs) {
    TextTable table(
        "job<20|hosts>8|steps>8|p50>12|max>12|compute>12|exposed>12|hidden>12|bus bandwidth>16|state<");
    const auto time = [](const Json& time_ns) { return time_ns.is_null() ? "-" : timed(time_ns); };
    const bool any_placed =
        std::ranges::any_of(jobs, [](const Json& job) { return job["placed"].get<bool>(); });
    std::string whys, losses;
    for (const auto& [name, each] : jobs.items()) {
        const Json& slow = each["slow_steps"];
        if (!slow.empty() && number(slow[0]["over_median_ns"]) * 10 >= number(slow[0]["took_ns"]))
            whys += fmt::format("  {}: {}\n", name, words(slow[0]["why"]));
        if (const auto lost = each.find("lost_to"); lost != each.end() && !lost->is_null())
            losses += fmt::format("{}\n", words(*lost));
        if (!any_placed) continue;
        table.row({name, counted(each["hosts"]), counted(each["steps"]), time(each["step_ns"]["p50"]),
                   time(each["step_ns"]["max"]), timed(each["compute_ns"]), timed(each["exposed_ns"]),
                   timed(each["hidden_ns"]),
                   fmt::format("{:.2f} Gb/s", each["bus_bandwidth_bps"].get<double>() / 1e9),
                   words(each["state"])});
    }
    if (!losses.empty()) losses.insert(0, "\n");
    return table.text() + losses + (whys.empty() ? "" : "\nslowest steps\n" + whys);
}

}  // namespace sluice::fabric
