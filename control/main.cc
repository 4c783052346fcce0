// sluiced: the switch as a process.
#include <fmt/format.h>
#include <getopt.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <thread>

#include "control/commands.hh"
#include "control/config.hh"
#include "control/judge.hh"
#include "control/qos.hh"
#include "control/report.hh"
#include "control/run.hh"
#include "control/schema.hh"
#include "control/socket.hh"
#include "control/summary.hh"
#include "control/values.hh"

namespace sluice {
namespace {

constexpr int exit_done = 0;
constexpr int exit_failed = 1;
constexpr int exit_configuration = 2;

constexpr const char* usage =
    "usage: sluiced --config FILE [--check] [--report FILE] [--trace FILE] [--decisions FILE]\n"
    "               [--seed N] [--duration TIME] [--socket PATH] [--interactive]\n"
    "\n"
    "  --config FILE    the switch: ports, routes, classes (TOML; see control/README.md and conf/)\n"
    "  --check          say what is wrong with the configuration, or that nothing is, and end\n"
    "  --report FILE    write what happened to every frame, as one JSON object, at the end\n"
    "  --trace FILE     write the depth of every queue over time, as JSON, at the end\n"
    "  --decisions FILE write what was decided of every packet, one JSON object a line, as [decisions] "
    "chooses\n"
    "  --seed N         overrides the configuration's seed\n"
    "  --duration TIME  end after this time of the switch's clock (\"5ms\"); default: when nothing can "
    "happen any\n"
    "                   more under the virtual clock, never under the real one\n"
    "  --socket PATH    listen there for sluicectl\n"
    "  --interactive    the virtual clock stands still until a client of the socket lets it run\n"
    "  --reference      print every configuration key and end\n"
    "\n"
    "exit status: 0 done, 2 configuration refused, 1 anything else\n";

struct Arguments {
    std::string config;
    std::string report;
    std::string trace;
    std::string decisions;
    std::string socket;
    bool interactive = false;
    bool check = false;
    std::optional<std::uint64_t> seed;
    std::optional<Duration> duration;
};

int usage_error(const std::string& what) {
    fmt::print(stderr, "sluiced: {}\n{}", what, usage);
    return exit_configuration;
}

// An exit status when the process should end now.
std::optional<int> parse_arguments(int argc, char** argv, Arguments& out) {
    enum {
        opt_config = 1,
        opt_check,
        opt_report,
        opt_trace,
        opt_decisions,
        opt_seed,
        opt_duration,
        opt_socket,
        opt_interactive,
        opt_help,
        opt_reference
    };
    const option options[] = {{"config", required_argument, nullptr, opt_config},
                              {"check", no_argument, nullptr, opt_check},
                              {"report", required_argument, nullptr, opt_report},
                              {"trace", required_argument, nullptr, opt_trace},
                              {"decisions", required_argument, nullptr, opt_decisions},
                              {"seed", required_argument, nullptr, opt_seed},
                              {"duration", required_argument, nullptr, opt_duration},
                              {"socket", required_argument, nullptr, opt_socket},
                              {"interactive", no_argument, nullptr, opt_interactive},
                              {"help", no_argument, nullptr, opt_help},
                              {"reference", no_argument, nullptr, opt_reference},
                              {nullptr, 0, nullptr, 0}};
    for (int opt = 0; (opt = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        switch (opt) {
            case opt_config:
                out.config = optarg;
                break;
            case opt_check:
                out.check = true;
                break;
            case opt_report:
                out.report = optarg;
                break;
            case opt_trace:
                out.trace = optarg;
                break;
            case opt_decisions:
                out.decisions = optarg;
                break;
            case opt_seed: {
                const auto seed = parse_integer(optarg);
                if (!seed)
                    return usage_error(fmt::format("--seed {} {}", quoted(optarg), seed.error().wrong));
                out.seed = *seed;
                break;
            }
            case opt_socket:
                out.socket = optarg;
                break;
            case opt_interactive:
                out.interactive = true;
                break;
            case opt_duration: {
                const auto duration = std::string_view(optarg) == "0" ? Duration{} : parse_time(optarg);
                if (!duration)
                    return usage_error(
                        fmt::format("--duration {} {}", quoted(optarg), duration.error().wrong));
                out.duration = *duration;
                break;
            }
            case opt_help:
                fmt::print("{}", usage);
                return exit_done;
            case opt_reference:
                fmt::print("{}", schema_reference());
                return exit_done;
            default:
                fmt::print(stderr, "{}", usage);
                return exit_configuration;
        }
    }
    if (optind != argc) return usage_error(fmt::format("unexpected argument {}", quoted(argv[optind])));
    if (out.config.empty()) return usage_error("--config is missing");
    if (out.interactive && out.socket.empty()) return usage_error("--interactive needs --socket");
    return std::nullopt;
}

// Loads and judges; prints every finding. Nothing when it may not run.
std::optional<Config> read_config(const Arguments& arguments) {
    auto loaded = load_config(arguments.config);
    if (!loaded) {
        for (const ConfigError& error : loaded.error()) fmt::print(stderr, "{}\n", error.text());
        return std::nullopt;
    }
    Config config = std::move(*loaded);
    if (arguments.seed) config.seed = *arguments.seed;
    if (!arguments.decisions.empty()) {
        config.decisions.file = arguments.decisions;
        if (config.decisions.record == RecordMode::off) config.decisions.record = RecordMode::on;
    }
    const auto findings = judge(config, Machine{std::thread::hardware_concurrency()});
    for (const Finding& finding : findings) fmt::print(stderr, "{}\n", finding.text(arguments.config));
    if (has_error(findings)) return std::nullopt;
    return config;
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::trunc);
    file << text << '\n';
    file.close();
    if (!file) fmt::print(stderr, "sluiced: {}: cannot be written\n", path);
    return static_cast<bool>(file);
}

int finish(const Arguments& arguments, RunningSwitch& running) {
    bool good = true;
    for (const std::string& error : running.close()) {
        fmt::print(stderr, "sluiced: {}\n", error);
        good = false;
    }
    const auto report = make_report(running);
    if (!arguments.report.empty()) good &= write_file(arguments.report, report.dump(2));
    if (!arguments.trace.empty()) good &= write_file(arguments.trace, make_depth_trace(running).dump());
    fmt::print("{}", summarise(report));
    running.device().empty();
    const unsigned missing = running.packets_missing();
    if (missing != 0)
        fmt::print(stderr, "sluiced: internal error: {} packet buffers did not come back\n", missing);
    const bool balanced = report["ledger"]["balanced"].get<bool>();
    if (!balanced) fmt::print(stderr, "sluiced: internal error: the ledger does not balance\n");
    return good && balanced && missing == 0 ? exit_done : exit_failed;
}

int run_main(int argc, char** argv) {
    Arguments arguments;
    if (const auto status = parse_arguments(argc, argv, arguments)) return *status;
    const auto config = read_config(arguments);
    if (!config) return exit_configuration;
    if (arguments.check) {
        fmt::print("{}: good: {} ports, {} routes, {} neighbours\n", arguments.config, config->ports.size(),
                   config->routes.size(), config->neighbors.size());
        fmt::print("{}", qos_tables(effective_qos(*config)));
        return exit_done;
    }
    if (const std::string why = arguments.socket.empty() ? "" : cannot_listen(arguments.socket);
        !why.empty()) {
        fmt::print(stderr, "sluiced: {}: {}\n", arguments.socket, why);
        return exit_failed;
    }
    const auto eal = Eal::start(RunningSwitch::eal_options(*config));
    if (!eal) {
        fmt::print(stderr, "sluiced: {}\n", eal.error());
        return exit_failed;
    }
    RunningOptions options;
    if (!arguments.trace.empty()) options.trace_slots = 4096;
    auto running = RunningSwitch::create(*config, options);
    if (!running) {
        fmt::print(stderr, "sluiced: {}\n", running.error());
        return exit_failed;
    }
    const std::string error =
        run(**running, {arguments.duration, arguments.config, arguments.socket, arguments.interactive});
    if (!error.empty()) {
        fmt::print(stderr, "sluiced: {}\n", error);
        running->reset();
        return exit_failed;
    }
    const int status = finish(arguments, **running);
    running->reset();  // before EAL ends
    return status;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::run_main(argc, argv); }
