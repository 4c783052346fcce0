#include "control/fabric/scenario/sweep.hh"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <thread>

#include "control/config/text/say.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/scenario/run_once.hh"
#include "control/serve/server/program.hh"

namespace sluice::fabric {
namespace {

// Shared by the processes of a sweep, each of which takes the next run. Written by all.
struct Shared {
    std::atomic<std::size_t> next{0};  // of the runs to do; relaxed: a number is all that it hands out
    std::atomic<std::size_t> done{0};  // relaxed: for progress
};

// The row of one run; null: it was interrupted.
nlohmann::ordered_json run_point(std::string_view text, const std::string& file, const SweepRun& run,
                                 const std::string& mark, const SweepOptions& options) {
    const auto row_of = [&](const tl::expected<nlohmann::ordered_json, std::string>& report) {
        return make_row(run.row, mark, report);
    };
    auto plan = plan_of(text, file, run.sets, run.force);
    if (!plan) return row_of(tl::unexpected(plan.error().front()));
    const auto asserts = Asserts::of(plan->file.scenario, file, options.asserts);
    if (!asserts) return row_of(tl::unexpected(asserts.error().front().text()));
    std::optional<Goal> goal;
    if (plan->file.scenario.goal) {
        auto made = Goal::of(plan->file.scenario, file);
        if (!made) return row_of(tl::unexpected(made.error().front().text()));
        goal = std::move(*made);
    }
    const auto report =
        run_judged(*plan, *asserts, goal ? &*goal : nullptr, options.duration, options.is_stopped);
    return report && report->is_null() ? nlohmann::ordered_json() : row_of(report);
}

}  // namespace

tl::expected<FabricPlan, std::vector<std::string>> plan_of(std::string_view text, const std::string& file,
                                                           const std::vector<std::string>& sets, bool force) {
    const auto refused = [](const std::vector<ConfigError>& errors) {
        std::vector<std::string> texts;
        for (const ConfigError& error : errors) texts.push_back(error.text());
        return tl::unexpected(std::move(texts));
    };
    auto parsed = parse_fabric(text, file, sets);
    if (!parsed) return refused(parsed.error());
    auto plan = make_plan(std::move(*parsed));
    if (!plan) return refused(plan.error());
    std::vector<std::string> findings;
    for (const FabricFinding& each : judge_plan(*plan, force))
        if (each.finding.severity == Severity::error) findings.push_back(each.text(file));
    if (!findings.empty()) return tl::unexpected(std::move(findings));
    return std::move(*plan);
}

SweepResult run_sweep(const SweepFolder& folder, std::string_view text, const std::string& file,
                      const std::vector<SweepPoint>& points, const VaryConfig& vary, const EalOptions& eal,
                      const SweepOptions& options) {
    std::vector<std::size_t> own;  // of this shard
    for (std::size_t run = options.shard - 1; run < points.size(); run += options.shards) own.push_back(run);
    const auto run_of = [&](std::size_t run) {
        const SweepPoint& point = points[run];
        return SweepRun{{run, point.seed, point.row_values(vary), {}, false},
                        point.sets(vary, options.sets),
                        options.force};
    };
    return run_rows(folder, text, file, own, run_of, eal, options);
}

SweepResult run_rows(const SweepFolder& folder, std::string_view text, const std::string& file,
                     const std::vector<std::size_t>& runs,
                     const std::function<SweepRun(std::size_t run)>& run_of, const EalOptions& eal_options,
                     const SweepOptions& options) {
    SweepResult result;
    const std::string& mark = folder.manifest().fingerprint;
    std::vector<std::size_t> left;  // runs that have no row
    for (const std::size_t run : runs)
        if (!folder.has(run) || !run_of(run).row.is_of(folder.row(run))) left.push_back(run);
    result.kept = runs.size() - left.size();
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        result.errors.emplace_back(std::strerror(errno));
        return result;
    }
    const std::unique_ptr<Shared, void (*)(Shared*)> shared(new (memory) Shared,
                                                            [](Shared* at) { munmap(at, sizeof *at); });
    // In a process of its own: 0 when every run that it took has a row.
    const auto work = [&]() -> int {
        const auto eal = Eal::start(eal_options);
        if (!eal) return complain("sluice-fabric: {}\n", eal.error()), 1;
        while (!options.is_stopped()) {
            const std::size_t at = shared->next.fetch_add(1, std::memory_order_relaxed);
            if (at >= left.size()) break;
            const std::size_t run = left[at];
            const auto row = run_point(text, file, run_of(run), mark, options);
            if (row.is_null()) break;
            if (const std::string error = folder.write_row(run, row); !error.empty())
                return complain("sluice-fabric: {}\n", error), 1;
            shared->done.fetch_add(1, std::memory_order_relaxed);
        }
        return 0;
    };
    std::vector<pid_t> workers;
    for (unsigned n = 0; n < options.jobs && n < left.size(); ++n) {
        const pid_t parent = getpid(), pid = fork();
        if (pid == 0) {
            // A killed sweep takes its jobs with it: the next one must not meet them.
            if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
            int status = 1;
            boundary(
                [&] { status = work(); },
                [](const char* what) { complain("sluice-fabric: a job failed: {}\n", without_tag(what)); });
            _exit(status);
        }
        if (pid < 0) {
            result.errors.push_back(fmt::format("no process for a job: {}", std::strerror(errno)));
            break;
        }
        workers.push_back(pid);
    }
    for (const pid_t pid : workers) {
        int status = 0;
        while (waitpid(pid, &status, WNOHANG) == 0) {
            options.progress(result.kept + shared->done.load(std::memory_order_relaxed), runs.size());
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        if (WIFSIGNALED(status))
            result.errors.push_back(
                fmt::format("a job was ended by signal {} ({}){}; do: run it again, it goes on where it was",
                            WTERMSIG(status), strsignal(WTERMSIG(status)),
                            WTERMSIG(status) == SIGKILL ? ", as the kernel does when memory is short" : ""));
        else if (WEXITSTATUS(status) != 0)
            result.errors.emplace_back(
                "a job failed, for the reason above; do: run it again, it goes on where it was");
    }
    result.stopped = options.is_stopped();
    if (!result.stopped && result.errors.empty() &&
        shared->done.load(std::memory_order_relaxed) != left.size())
        result.errors.emplace_back("not every run has a row");
    return result;
}

}  // namespace sluice::fabric
