// sluice-fabric: runs a fabric of switches and hosts, or says what is wrong with it, or draws it.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>

#include "control/compile/compile.hh"
#include "control/config/hosts.hh"
#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/report/assertions.hh"
#include "control/server/boundary.hh"
#include "control/text/json_text.hh"
#include "control/text/say.hh"
#include "dataplane/base/output_file.hh"
#include "tools/fabric/commands.hh"
#include "tools/fabric/drawing.hh"
#include "tools/fabric/fabric.hh"
#include "tools/fabric/fabric_lint.hh"
#include "tools/fabric/fabric_report.hh"
#include "tools/fabric/pause_report.hh"
#include "tools/fabric/sockets.hh"

namespace sluice::fabric {
namespace {

enum : int { exit_done = 0, exit_failed = 1, exit_configuration = 2, exit_false = 4, exit_signalled = 128 };

constexpr std::string_view usage =
    "usage: sluice-fabric run FABRIC.toml [--out DIR] [--set PATH=VALUE]... [--seed N] [--duration TIME]\n"
    "                     [--assert EXPRESSION]... [--force] [--socket DIR [--interactive]]\n"
    "       sluice-fabric check FABRIC.toml [--set PATH=VALUE]...\n"
    "       sluice-fabric draw FABRIC.toml [--set PATH=VALUE]...\n"
    "       sluice-fabric why DIR [HOST]\n"
    "       sluice-fabric reference\n"
    "\n"
    "run    simulates it and says what became of every frame; DIR/report.json has it whole, DIR/fabric.svg "
    "shows\n"
    "       where it was paused\n"
    "check  says what is wrong with it, its addresses and routes, and what memory it takes\n"
    "draw   prints the topology as SVG\n"
    "why    says of a run why hosts waited: which pause held which, and where it began\n"
    "\n"
    "--socket DIR makes a control socket for every switch, DIR/NAME.sock, for sluicectl; with --interactive "
    "the\n"
    "clock stands still until a client of one of them lets it run\n"
    "--force runs what is not lossless, or may deadlock, although check says so\n"
    "\n"
    "exit status: 0 done, 2 usage or a file that is refused, 4 an assertion is false, 130 or 143 "
    "interrupted,\n"
    "1 anything else\n";

volatile std::sig_atomic_t signalled = 0;
extern "C" void on_signal(int number) {
    if (signalled != 0) _exit(1);  // the second one ends at once
    signalled = number;
}

struct Arguments {
    std::string verb, file, host, out;
    std::vector<std::string> sets;
    std::string sockets;
    bool force = false, interactive = false;
    std::optional<Duration> duration;
    Assertions assertions;
};

tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv) {
    Arguments arguments;
    std::vector<std::string> words;
    const std::vector<std::string> all(argv + 1, argv + argc);
    for (std::size_t n = 0; n < all.size(); ++n) {
        const std::string& word = all[n];
        if (!word.starts_with("--")) {
            words.push_back(word);
            continue;
        }
        if (word == "--help") return tl::unexpected(std::string());
        if (word == "--force" || word == "--interactive") {
            (word == "--force" ? arguments.force : arguments.interactive) = true;
            continue;
        }
        if (n + 1 == all.size()) return tl::unexpected(word + " wants a value");
        const std::string& value = all[++n];
        if (word == "--out") {
            arguments.out = value;
        } else if (word == "--socket") {
            arguments.sockets = value;
        } else if (word == "--set") {
            arguments.sets.push_back(value);
        } else if (word == "--seed") {
            if (!parse_integer(value)) return tl::unexpected(fmt::format("--seed {}: is no number", value));
            arguments.sets.push_back("seed=" + value);
        } else if (word == "--duration") {
            const auto duration = parse_time(value);
            if (!duration)
                return tl::unexpected(fmt::format("--duration {}: {}", value, duration.error().wrong));
            arguments.duration = *duration;
        } else if (word == "--assert") {
            if (std::string wrong = arguments.assertions.add(value); !wrong.empty())
                return tl::unexpected(fmt::format("--assert {}: {}", value, wrong));
        } else {
            return tl::unexpected(fmt::format("unknown option {}", word));
        }
    }
    if (words.empty()) return tl::unexpected(std::string("no command"));
    if (arguments.interactive && arguments.sockets.empty())
        return tl::unexpected(std::string("--interactive needs --socket"));
    arguments.verb = words[0];
    if (arguments.verb == "reference") return arguments;
    const bool names_host = words[0] == "why" && words.size() == 3;
    if (words.size() != 2 && !names_host) return tl::unexpected(fmt::format("{} wants one file", words[0]));
    arguments.file = words[1];
    if (names_host) arguments.host = words[2];
    return arguments;
}

// How far a run has come, on a terminal, twice a second.
class Progress {
  public:
    explicit Progress(std::optional<Duration> end) : end_(end) {}
    void show(Fabric& fabric) {
        if (!on_terminal_ || ++calls_ % 4096 != 0) return;
        const auto wall = std::chrono::steady_clock::now();
        if (wall < next_) return;
        next_ = wall + std::chrono::milliseconds(500);
        const auto done = static_cast<double>(fabric.loop().now().ps);
        std::string left;
        if (end_ && done > 0) {
            const double spent = std::chrono::duration<double>(wall - start_).count();
            left = fmt::format(", about {:.0f} s left", spent * (static_cast<double>(end_->ps) / done - 1));
        }
        const Fabric::Ledger ledger = fabric.ledger();
        complain("\r{:.3f} ms of virtual time, {} frames sent, {} in flight{}   ", done / 1e9, ledger.sent,
                 ledger.queued + ledger.on_wire, left);
        shown_ = true;
    }
    ~Progress() {
        if (shown_) complain("\r{:78}\r", "");
    }

  private:
    std::optional<Duration> end_;
    bool on_terminal_ = isatty(STDERR_FILENO) == 1;
    bool shown_ = false;
    std::uint64_t calls_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point next_ = start_ + std::chrono::seconds(1);
};

// Reads and judges; says every finding. Nothing: it may not run.
std::optional<FabricPlan> read_fabric(const Arguments& arguments) {
    auto loaded = load_fabric(arguments.file, arguments.sets);
    const auto say_errors = [](const std::vector<ConfigError>& errors) {
        for (const ConfigError& error : errors) complain("{}\n", error.text());
    };
    if (!loaded) return say_errors(loaded.error()), std::nullopt;
    auto plan = make_plan(std::move(*loaded));
    if (!plan) return say_errors(plan.error()), std::nullopt;
    bool good = true;
    for (const EventConfig& event : plan->file.events)
        if (const std::string error = check_command(*plan, event.command); !error.empty()) {
            complain("{}\n", ConfigError{arguments.file, event.place, "event.do", error, {}, {}}.text());
            good = false;
        }
    for (const FabricFinding& each : judge(*plan, arguments.force)) {
        good &= each.finding.severity != Severity::error;
        if (arguments.verb == "check" || each.finding.severity != Severity::note)
            complain("{}\n", each.text(arguments.file));
    }
    if (!good) return std::nullopt;
    return std::move(*plan);
}

std::string write_file(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    if (!file) return file.error();
    (*file)->write(text);
    (*file)->write("\n");
    return (*file)->close();
}

// Load and pauses of a report, for the picture.
Shades shades_of(const nlohmann::ordered_json& report) {
    Shades shades{{}, report["fabric"].get<std::string>()};
    const double end_ns = std::max(report["end_ns"].get<double>(), 1.0);
    for (const auto& link : report["links"]) {
        auto& made = shades.links.emplace_back();
        for (unsigned n = 0; n < 2; ++n) {
            const auto& direction = link["directions"][n];
            made[n].load = direction["load_ppm"].get<double>() / 1e6;
            for (const auto& paused : direction["paused_ns"])
                made[n].paused = std::max(made[n].paused, paused.get<double>() / end_ns);
        }
    }
    return shades;
}

int finish(const Arguments& arguments, Fabric& fabric, bool interrupted) {
    bool good = true;
    const auto failed = [&](const std::string& error) {
        if (error.empty()) return;
        complain("sluice-fabric: {}\n", error);
        good = false;
    };
    failed(fabric.loop().gave_up());
    const auto report = make_report(fabric, interrupted);
    if (!arguments.out.empty()) failed(write_file(arguments.out + "/report.json", json_text(report, 2)));
    if (!arguments.out.empty())
        failed(write_file(arguments.out + "/fabric.svg", draw(fabric.plan().topology, shades_of(report))));
    say("{}", summarise(report));
    for (const std::string& error : fabric.close()) failed(error);
    if (!report["ledger"]["balanced"].get<bool>()) failed("internal error: the ledger does not balance");
    if (interrupted) return exit_signalled + signalled;
    const auto failures = arguments.assertions.failures(report);
    for (const std::string& line : failures) complain("sluice-fabric: {}\n", line);
    return !good ? exit_failed : failures.empty() ? exit_done : exit_false;
}

// False: a signal stopped it.
bool run_through(FabricSockets* sockets, Fabric& fabric, std::optional<Duration> duration,
                 Progress& progress) {
    constexpr unsigned steps_a_round = 256;
    unsigned steps = 0;
    return fabric.loop().run(duration ? std::optional(Time{} + *duration) : std::nullopt, [&] {
        progress.show(fabric);
        if (sockets != nullptr && ++steps % steps_a_round == 0) sockets->serve(std::chrono::microseconds(0));
        return signalled == 0;
    });
}

// The clock moves when a client says so. Likewise, but a clock that stands still is stopped, not interrupted.
bool run_interactive(FabricSockets& sockets, Fabric& fabric, Progress& progress) {
    bool interrupted = false;
    sockets.let_clients_advance([&] {
        progress.show(fabric);
        interrupted = signalled != 0;
        return !interrupted;
    });
    while (signalled == 0) sockets.serve(std::chrono::milliseconds(20));
    return !interrupted;
}

int run(const Arguments& arguments, const FabricPlan& plan) {
    Config world;
    world.flows = plan.file.flows;
    if (const std::string flow = endless_flow(world);
        !flow.empty() && !arguments.duration && !arguments.interactive) {
        complain("{}: flow {} never ends; do: write stop or messages for it, or run with --duration\n",
                 arguments.file, flow);
        return exit_configuration;
    }
    if (std::error_code error; !arguments.out.empty()) {
        std::filesystem::create_directories(arguments.out, error);
        if (!error && !std::filesystem::is_directory(arguments.out))
            error = std::make_error_code(std::errc::not_a_directory);
        if (error) {
            complain("sluice-fabric: {}: {}\n", arguments.out, error.message());
            return exit_failed;
        }
    }
    const auto eal = Eal::start(eal_options(plan));
    if (!eal) {
        complain("sluice-fabric: {}\n", eal.error());
        return exit_failed;
    }
    auto fabric = Fabric::create(plan, arguments.interactive);
    if (!fabric) {
        complain("sluice-fabric: {}\n", fabric.error());
        return exit_failed;
    }
    const auto wrong = arguments.assertions.check(make_report(**fabric, false));
    for (const std::string& line : wrong) complain("sluice-fabric: {}\n", line);
    if (!wrong.empty()) return exit_configuration;
    for (const EventConfig& event : plan.file.events)
        (*fabric)->loop().actions().at(Time{} + event.at, [&fabric, &event] {
            if (const std::string error = run_command(**fabric, event.command); !error.empty())
                (*fabric)->note("command_failed", event.command + ": " + error);
        });
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
    Progress progress(arguments.duration);
    std::unique_ptr<FabricSockets> sockets;
    if (!arguments.sockets.empty()) {
        auto opened = FabricSockets::open(**fabric, arguments.sockets);
        if (!opened) {
            complain("sluice-fabric: {}\n", opened.error());
            return exit_failed;
        }
        sockets = std::move(*opened);
    }
    const bool ended = arguments.interactive
                           ? run_interactive(*sockets, **fabric, progress)
                           : run_through(sockets.get(), **fabric, arguments.duration, progress);
    sockets.reset();
    const int status = finish(arguments, **fabric, !ended);
    fabric->reset();  // before EAL ends
    return status;
}

// Of a run's report.
int why(const Arguments& arguments) {
    const auto text = read_config_file(arguments.file + "/report.json");
    if (!text) return complain("{}\n", text.error().text()), exit_failed;
    const auto report = nlohmann::ordered_json::parse(*text, nullptr, false);
    if (!report.is_object() || !report.contains("pause_trees") || !report.contains("hosts")) {
        complain("sluice-fabric: {}/report.json is no report of a fabric\n", arguments.file);
        return exit_failed;
    }
    if (!arguments.host.empty() && !report["hosts"].contains(arguments.host)) {
        complain("sluice-fabric: there is no host {}\n", in_quotes(arguments.host));
        return exit_configuration;
    }
    const std::string answer = why_text(report["pause_trees"], arguments.host);
    say("{}", answer.empty() ? (arguments.host.empty() ? "nobody" : arguments.host) + " waited for no pause\n"
                             : answer);
    return exit_done;
}

int run_main(int argc, char** argv) {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) {
        if (arguments.error().empty()) return say("{}", usage), exit_done;
        complain("sluice-fabric: {}\n{}", arguments.error(), usage);
        return exit_configuration;
    }
    if (arguments->verb == "reference") return say("{}", fabric_reference()), exit_done;
    if (arguments->verb == "why") return why(*arguments);
    if (arguments->verb != "run" && arguments->verb != "check" && arguments->verb != "draw") {
        complain("sluice-fabric: there is no command {}\n{}", in_quotes(arguments->verb), usage);
        return exit_configuration;
    }
    auto plan = read_fabric(*arguments);
    if (!plan) return exit_configuration;
    if (arguments->verb == "check") return say("{}", plan_text(*plan)), exit_done;
    if (arguments->verb == "draw") return say("{}", draw(plan->topology, {})), exit_done;
    return run(*arguments, *plan);
}

}  // namespace
}  // namespace sluice::fabric

int main(int argc, char** argv) {
    using namespace sluice;
    hold_standard_streams();
    outlive_readers();
    int status = fabric::exit_failed;
    boundary([&] { status = fabric::run_main(argc, argv); },
             [](const char* what) { complain("sluice-fabric: internal error: {}\n", what); });
    return all_said("sluice-fabric") || status != fabric::exit_done ? status : fabric::exit_failed;
}
