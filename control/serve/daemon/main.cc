// sluiced: the switch as a process.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <system_error>

#include "control/config/compile/compile.hh"
#include "control/config/compile/hosts.hh"
#include "control/config/compile/qos.hh"
#include "control/config/lint/judge.hh"
#include "control/config/lint/memory.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/needs_no_driver.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/report/figures/assertions.hh"
#include "control/report/figures/figures.hh"
#include "control/report/figures/measure.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/run_trace.hh"
#include "control/report/figures/summary.hh"
#include "control/serve/daemon/options.hh"
#include "control/serve/daemon/run.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/config_file.hh"
#include "control/serve/server/notify.hh"
#include "control/serve/server/program.hh"
#include "control/serve/server/socket.hh"
#include "control/switch/doctor/doctor.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

constexpr int exit_done = 0;
constexpr int exit_failed = 1;
constexpr int exit_configuration = 2;  // or usage
constexpr int exit_false = 4;          // an assertion
constexpr int exit_signaled = 128;     // plus the signal's number, as a shell has it

// Says why the program ends, and returns its exit status.
int fail(int status, std::string_view why) {
    complain("sluiced: {}\n", why);
    return status;
}

struct Judged {
    Config config;
    std::vector<std::string> forced;  // accepted reasons why it is not lossless
};

// DPDK's shared libraries load every driver there is at the start. sluiced-virtual is sluiced without any,
// and takes this program's place where the run needs none. Returns where it is not installed.
void leave_out_drivers([[maybe_unused]] const Arguments& arguments) {
#ifndef SLUICE_WITHOUT_DRIVERS
    if (arguments.check || !arguments.startup.empty() || !needs_no_driver(arguments.config)) return;
    std::error_code none;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    for (const char* place : {"sluiced-virtual", "../libexec/sluiced-virtual"})
        static_cast<void>(execv((folder / place).c_str(), arguments.words));
#endif
}

// Loads and judges; prints every finding. Nothing when it may not run.
std::optional<Judged> read_config(const Arguments& arguments) {
    const auto [file, why] = startup_choice(arguments.config, arguments.startup);
    if (!why.empty()) complain_as(Priority::notice, "sluiced: {} is read: {}\n", file, why);
    auto loaded = load_config(file);
    if (!loaded) {
        for (const ConfigError& error : loaded.error()) complain("{}\n", error.text());
        return std::nullopt;
    }
    Config config = std::move(*loaded);
    arguments.overrides.apply(config);
    auto findings = judge_config(config, this_machine());
    if (arguments.force) force(findings);
    // A run prints errors and warnings; `--check` prints notes, too.
    for (const Finding& finding : findings)
        if (arguments.check || finding.severity != Severity::note)
            complain_as(finding.severity == Severity::error     ? Priority::error
                        : finding.severity == Severity::warning ? Priority::warning
                                                                : Priority::info,
                        "{}\n", finding.text(file));
    if (has_error(findings)) return std::nullopt;
    if (arguments.check && findings.empty()) say("{}: no findings\n", file);
    return Judged{std::move(config), forced_reasons(findings)};
}

std::string mac_table(const Config& config) {
    std::string text = fmt::format("\n{:<12}  {}\n", "port", "MAC");
    std::size_t index = 0;
    for (const auto& [name, port] : config.ports) {
        const auto mac = configured_mac(config, port, index++);
        text += fmt::format("{:<12}  {}\n", name,
                            mac ? print_mac(*mac) : "its device's, see: sluicectl port show");
    }
    return text;
}

// Files that are written at the end, open before the run; null: not asked for.
struct Outputs {
    std::unique_ptr<OutputFile> report, trace, junit;
};

// The error is the exit status; it has said why.
tl::expected<Outputs, int> open_outputs(const Arguments& arguments, const Config& config) {
    FileRoles roles = configured_files(config);
    roles.reads("the configuration", arguments.config);
    roles.writes("--events", arguments.events);
    roles.writes("--report", arguments.report);
    roles.writes("--trace", arguments.trace);
    roles.writes("--junit", arguments.junit);
    roles.writes("--socket", arguments.socket);
    if (const std::string clash = roles.clash_text(); !clash.empty())
        return tl::unexpected(fail(exit_configuration, clash));
    Outputs made;
    for (const auto& [path, file] :
         {std::pair(arguments.report, &made.report), std::pair(arguments.trace, &made.trace),
          std::pair(arguments.junit, &made.junit)}) {
        if (path.empty()) continue;
        auto opened = OutputFile::create(path);
        if (!opened) return tl::unexpected(fail(exit_failed, opened.error()));
        *file = std::move(*opened);
    }
    return made;
}

// Ends its last line, too.
bool close_file(OutputFile& file) {
    file.write("\n");
    const std::string error = file.close();
    if (!error.empty()) complain("sluiced: {}\n", error);
    return error.empty();
}

bool write_file(OutputFile& file, const std::string& text) {
    file.write(text);
    return close_file(file);
}

// Before the run: false, and says why, when an assertion can never be judged.
bool can_judge(std::span<const Assertion> assertions, RunningSwitch& running) {
    if (assertions.empty()) return true;
    const auto report = make_report(running);
    bool good = true;
    for (const Assertion& each : assertions)
        if (const std::string wrong = check_assertion(each, report, {}); !wrong.empty()) {
            complain("sluiced: --assert {}: {}\n", in_quotes(each.expression.text()), wrong);
            good = false;
        }
    return good;
}

// `asked`: the configuration that it began with.
int finish(const Arguments& arguments, const Config& asked, const Outputs& outputs, RunningSwitch& running,
           const TraceSamples& samples, const RunEnd& end) {
    std::vector<std::string> errors{end.gave_up, end.events_unwritten};
    for (std::string& error : running.close()) errors.push_back(std::move(error));
    std::erase(errors, "");
    bool good = errors.empty();
    for (const std::string& error : errors) complain("sluiced: {}\n", error);
    auto report = make_report(running);
    const auto judged = judge_assertions(arguments.assertions, report);
    report["configuration"] = configuration_json(keys_asked(Config{}, asked));
    report["asserts"] = judged;
    if (outputs.report) good &= write_file(*outputs.report, json_text(report, 2));
    if (outputs.trace) {
        const std::string name = std::filesystem::path(arguments.config).stem().string();
        write_run_trace(*outputs.trace, running, name, samples);
        good &= close_file(*outputs.trace);
    }
    // A journal keeps the result; the tables are for people who wait for them.
    say("{}", goes_to_journal(STDOUT_FILENO) ? verdict_text(report) : summarize(report));
    running.device().empty();
    const unsigned missing = running.packets_missing();
    if (missing != 0) complain("sluiced: internal error: {} packet buffers did not come back\n", missing);
    const bool balanced = report["ledger"]["balanced"].get<bool>();
    if (!balanced) complain("sluiced: internal error: the ledger does not balance\n");
    if (outputs.junit) {
        const JunitSuite suite{std::filesystem::path(arguments.config).stem().string(), junit_cases(judged)};
        good &= write_file(*outputs.junit, junit_text({suite}));
    }
    if (running.clock().is_interrupted()) {
        if (!judged.empty()) complain("sluiced: the run was interrupted: its assertions are not judged\n");
        return exit_signaled + stopped_by();
    }
    say("{}", assertions_text(judged));
    for (const std::string& each : false_assertions(judged)) complain("sluiced: {}\n", each);
    if (!good || !balanced || missing != 0) return exit_failed;
    return all_met(judged) ? exit_done : exit_false;
}

int doctor(Arguments& arguments) {
    const MachineFacts facts = machine_facts();
    say("{}", doctor_text(diagnose(facts)));
    if (arguments.config.empty()) return exit_done;
    const auto judged = read_config(arguments);
    if (!judged) return exit_configuration;
    const auto found = diagnose(judged->config, facts);
    say("\nfor {}\n{}", arguments.config, doctor_text(found));
    return is_wrong(found) ? exit_configuration : exit_done;
}

int run_switch(Arguments& arguments) {
    leave_out_drivers(arguments);
    const auto judged = read_config(arguments);
    if (!judged) {
        if (!arguments.check)
            notify_service_manager(
                fmt::format("STATUS={} is refused: the journal says why", arguments.config));
        return exit_configuration;
    }
    const Config& config = judged->config;
    if (arguments.check) {
        say("{}: OK: {}, {}, {}\n", arguments.config, print_count(config.ports.size(), "port"),
            print_count(config.routes->size(), "route"), print_count(config.neighbors->size(), "neighbor"));
        const EffectiveQos qos = effective_qos(config);
        say("{}{}{}{}{}", mac_table(config), profile_table(config, qos), qos_tables(qos),
            timeout_table(config), memory_table(config));
        return exit_done;
    }
    if (const std::string flow = endless_flow(config);
        !flow.empty() && !arguments.duration && !arguments.interactive) {
        complain("{}: flow {} never ends; do: write stop or messages for it, or run with --duration\n",
                 arguments.config, flow);
        return exit_configuration;
    }
    if (const std::string why = arguments.socket.empty() ? "" : cannot_listen(arguments.socket); !why.empty())
        return fail(exit_failed, arguments.socket + ": " + why);
    const auto outputs = open_outputs(arguments, config);
    if (!outputs) return outputs.error();
    if (const std::string cards = StandaloneSwitch::unusable_cards(config); !cards.empty())
        return fail(exit_failed, cards);
    const auto eal = Eal::start(eal_options(config));
    if (!eal) return fail(exit_failed, eal.error());
    StandaloneOptions options;
    if (!arguments.trace.empty()) options.running.trace_slots = 4096;
    options.running.forced = judged->forced;
    options.force = arguments.force;
    const auto alone = StandaloneSwitch::create(config, options);  // ends before EAL does
    if (!alone) return fail(exit_failed, alone.error());
    for (const ExpectationConfig& expectation : config.expectations) {
        auto assertion = assertion_of(expectation.that);
        if (!assertion) {
            complain("{}:{}: assert.that: {}\n", arguments.config, expectation.place.line, assertion.error());
            return exit_configuration;
        }
        arguments.assertions.push_back(std::move(*assertion));
    }
    if (!can_judge(arguments.assertions, (*alone)->running())) return exit_configuration;
    TraceSamples samples((*alone)->running());
    if (VirtualLoop* loop = (*alone)->virtual_loop(); loop != nullptr && !arguments.trace.empty())
        loop->on_instant([&samples](std::uint32_t) { samples.sample_instant(); });
    const RunEnd end = run(**alone, arguments, eal->memory_note());
    if (!end.not_started.empty()) return fail(exit_failed, end.not_started);
    return finish(arguments, config, *outputs, (*alone)->running(), samples, end);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluiced", exit_failed, [&] {
        Arguments arguments;
        arguments.words = argv;
        return run(sluiced_program(arguments, run_switch, doctor), argc, argv);
    });
}
