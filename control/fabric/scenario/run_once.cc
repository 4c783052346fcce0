#include "control/fabric/scenario/run_once.hh"

#include <chrono>
#include <memory>

#include "control/fabric/report/depth_report.hh"
#include "control/fabric/report/ended_messages.hh"
#include "control/fabric/report/exact_quantiles.hh"
#include "control/fabric/report/fabric_report.hh"
#include "control/fabric/report/job_report.hh"
#include "control/fabric/report/message_rows.hh"
#include "control/fabric/report/phase_report.hh"
#include "control/fabric/report/schedule_report.hh"
#include "control/fabric/report/series.hh"
#include "control/fabric/report/size_report.hh"
#include "control/fabric/run/commands.hh"
#include "control/fabric/run/sockets.hh"
#include "control/fabric/scenario/interference.hh"
#include "control/report/figures/report.hh"

namespace sluice::fabric {
namespace {

// Phases of a run as it goes: takes down where each begins and ends.
class Phases {
  public:
    // Before the run. The fabric's clock goes on to the end of the last phase. The user's watermarks of all
    // switches begin anew with each phase. Of two that meet, one ends first. `depths`: null: they are off.
    Phases(Fabric& fabric, const std::vector<PhaseConfig>& phases, DepthReport* depths)
        : fabric_(fabric), phases_(phases), depths_(depths) {
        for (const PhaseConfig& phase : phases_) {
            fabric_.loop().actions().at(Time{} + phase.from, [this] { begin(); });
            if (phase.to) fabric_.loop().actions().at(Time{} + *phase.to, [this, &phase] { end(phase); });
        }
    }
    Phases(const Phases&) = delete;
    Phases& operator=(const Phases&) = delete;

    // After the run, by name, in order of time. One may go on until the end, or have been cut short.
    nlohmann::ordered_json reports() {
        for (const PhaseConfig& phase : phases_)
            if (!reports_.contains(phase.name)) end(phase);
        return std::move(reports_);
    }

  private:
    void begin() {
        for (FabricSwitch& each : fabric_.switches()) each.running->clear_user_watermarks();
        if (depths_ != nullptr) depths_->begin_phase();
        began_ = moment_of(fabric_);
    }
    void end(const PhaseConfig& phase) {
        if (!began_) return;
        auto& report = reports_[phase.name] = phase_report(fabric_, *began_, moment_of(fabric_));
        if (depths_ != nullptr) report["depth_bytes"] = depths_->of_phase();
        began_.reset();
    }

    Fabric& fabric_;
    const std::vector<PhaseConfig>& phases_;
    DepthReport* depths_;
    std::optional<RunMoment> began_;  // the phase that goes on
    nlohmann::ordered_json reports_ = nlohmann::ordered_json::object();
};

tl::unexpected<NoRun> no_run(std::string error) { return tl::unexpected(NoRun{{std::move(error)}, false}); }

// False: it was interrupted.
bool run_through(FabricSockets* sockets, Fabric& fabric, const RunOptions& options,
                 const std::function<bool()>& goes_on) {
    constexpr unsigned steps_a_round = 256;
    unsigned steps = 0;
    const auto end = options.duration ? std::optional(Time{} + *options.duration) : std::nullopt;
    const bool ended = fabric.loop().run(end, [&] {
        if (sockets != nullptr && ++steps % steps_a_round == 0) sockets->serve(std::chrono::microseconds(0));
        return goes_on();
    });
    if (sockets != nullptr) sockets->finish();
    return ended;
}

// The clock moves when a client says so. Likewise, but a clock that stands still is stopped, not interrupted.
bool run_interactive(FabricSockets& sockets, const RunOptions& options,
                     const std::function<bool()>& goes_on) {
    bool interrupted = false;
    sockets.let_clients_advance([&] {
        interrupted = !goes_on();
        return !interrupted;
    });
    while (!options.is_stopped()) sockets.serve(std::chrono::milliseconds(20));
    return !interrupted;
}

// The title of the page.
std::string title_of(const FabricPlan& plan) {
    const FabricConfig& file = plan.file;
    return file.scenario.name.empty() ? file.file.substr(file.file.rfind('/') + 1) : file.scenario.name;
}

tl::unexpected<NoRun> never_judged(const std::vector<ConfigError>& errors) {
    NoRun why{{}, true};
    for (const ConfigError& error : errors) why.texts.push_back(error.text());
    return tl::unexpected(std::move(why));
}

// Errors of assertions and of the goal by the names of the plan.
std::vector<ConfigError> wrong_by_plan(const RunOptions& options, const FabricPlan& plan) {
    std::vector<ConfigError> wrong;
    if (options.asserts != nullptr) wrong = options.asserts->check(plan);
    return wrong.empty() && options.goal != nullptr ? options.goal->check(plan) : wrong;
}

// The same on a run in which nothing has happened.
std::vector<ConfigError> wrong_at_start(const RunOptions& options, Fabric& fabric, const SizeReport& sizes,
                                        const FlowProgress& progress) {
    RunMoment start{fabric.now(), make_report(fabric, false), flow_statistics(fabric),
                    collective_moments(fabric)};
    start.figures["message_sizes"] = sizes.json();
    start.figures["schedules"] = schedules_json(fabric, &progress.marked());
    start.figures["jobs"] = jobs_json(fabric, progress);
    const nlohmann::ordered_json phase = phase_report(fabric, start, start);
    std::vector<ConfigError> wrong;
    if (options.asserts != nullptr) wrong = options.asserts->check(start.figures, phase);
    return wrong.empty() && options.goal != nullptr ? options.goal->check(start.figures, phase) : wrong;
}

}  // namespace

tl::expected<RunOutcome, NoRun> run_once(const FabricPlan& plan, const RunOptions& options) {
    const bool asserts = options.asserts != nullptr && !options.asserts->empty();
    const bool judges = asserts || options.goal != nullptr;
    if (judges)
        if (const auto wrong = wrong_by_plan(options, plan); !wrong.empty()) return never_judged(wrong);
    nlohmann::ordered_json alone = nlohmann::ordered_json::object();
    if (plan.file.results.alone) {
        auto ran = jobs_alone(plan, options);
        if (!ran) return no_run(ran.error());
        alone = std::move(*ran);
    }
    auto made = Fabric::create(plan, {options.interactive, options.threads, options.stage});
    if (!made) return no_run(made.error());
    Fabric& fabric = **made;
    std::optional<FabricSeries> series;
    if (options.series) series.emplace(fabric);
    std::optional<MessageRows> rows;
    if (options.messages && plan.file.results.messages) rows.emplace(plan, options.messages);
    SizeReport sizes(plan);
    FlowProgress progress(plan);
    JobTraffic traffic(plan);
    std::optional<ExactQuantiles> exact;
    if (options.goal != nullptr) exact.emplace(plan);
    EndedMessages messages(fabric, rows.has_value() || plan.file.results.alone,
                           [&](std::span<EndedMessage> ended) {
                               sizes.add(ended);
                               progress.add(ended);
                               traffic.add(ended);
                               if (exact) exact->add(ended);
                               if (rows) rows->take(ended);
                           });
    const auto goes_on = [&] {
        if (series) series->sample_instant();
        messages.look();
        return options.goes_on(fabric);
    };
    if (judges)
        if (const auto wrong = wrong_at_start(options, fabric, sizes, progress); !wrong.empty())
            return never_judged(wrong);
    std::optional<DepthReport> depths;
    if (plan.file.results.depths) depths.emplace(fabric);
    Phases phases(fabric, plan.file.scenario.phases, depths ? &*depths : nullptr);
    schedule_events(fabric);
    std::unique_ptr<FabricSockets> sockets;
    if (!options.sockets.empty() || !options.page.empty()) {
        auto opened = FabricSockets::open(fabric, {options.sockets, options.page, title_of(plan),
                                                   [&fabric] { return make_overview(fabric); }});
        if (!opened) return no_run(opened.error());
        sockets = std::move(*opened);
        if (!options.page.empty()) options.on_page(sockets->page_address());
    }
    const bool ended = options.interactive ? run_interactive(*sockets, options, goes_on)
                                           : run_through(sockets.get(), fabric, options, goes_on);
    for (FabricSwitch& each : fabric.switches()) each.running->watch().losses().note_losses(true);
    sockets.reset();
    messages.finish();
    RunOutcome outcome;
    outcome.interrupted = !ended;
    if (std::string error = fabric.loop().gave_up(); !error.empty())
        outcome.errors.push_back(std::move(error));
    outcome.report = make_report(fabric, outcome.interrupted);
    outcome.report["schedules"] = schedules_json(fabric, &progress.marked());
    outcome.report["jobs"] = jobs_json(fabric, progress);
    add_losses(outcome.report["jobs"], alone, plan, traffic);
    outcome.report["message_sizes"] = sizes.json();
    if (depths) outcome.report["depth_bytes"] = depths->of_run();
    if (series) outcome.series = series->json(sizes);
    outcome.report["configuration"] = configuration_json(plan.asked);
    outcome.report["phases"] = phases.reports();
    outcome.report["asserts"] =
        asserts ? judge_assertions(options.asserts->list(), outcome.report) : nlohmann::ordered_json::array();
    if (exact)
        exact->lend_to(outcome.report, [&](const nlohmann::ordered_json& report) {
            outcome.goal = options.goal->judge(report);
        });
    for (auto& [name, phase] : outcome.report["phases"].items()) shorten_phase(phase, outcome.report);
    for (std::string& error : fabric.close()) outcome.errors.push_back(std::move(error));
    if (!outcome.report["ledger"]["balanced"].get<bool>())
        outcome.errors.emplace_back("internal error: the ledger does not balance");
    return outcome;
}

tl::expected<nlohmann::ordered_json, std::string> run_judged(const FabricPlan& plan, const Asserts& asserts,
                                                             const Goal* goal,
                                                             std::optional<Duration> duration,
                                                             const std::function<bool()>& is_stopped) {
    RunOptions options;
    options.duration = duration;
    options.asserts = &asserts;
    options.goal = goal;
    options.goes_on = [&](Fabric&) { return !is_stopped(); };
    options.is_stopped = is_stopped;
    auto outcome = run_once(plan, options);
    if (!outcome) return tl::unexpected(outcome.error().texts.front());
    if (outcome->interrupted) return nullptr;
    if (!outcome->errors.empty()) return tl::unexpected(outcome->errors.front());
    if (goal != nullptr) outcome->report["goal"] = std::move(outcome->goal);
    return std::move(outcome->report);
}

std::string junit_text(const std::vector<ScenarioResult>& results) {
    std::vector<JunitSuite> suites;
    for (const ScenarioResult& result : results) {
        JunitSuite& suite = suites.emplace_back(JunitSuite{result.name, {}});
        std::string all;
        for (const std::string& error : result.errors) all += error + "\n";
        if (!all.empty()) suite.cases.push_back({"run", {}, all});
        if (result.report.is_null()) continue;
        for (JunitCase& each : junit_cases(result.report["asserts"])) suite.cases.push_back(std::move(each));
    }
    return sluice::junit_text(suites);
}

}  // namespace sluice::fabric
