#include "control/serve/daemon/options.hh"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <array>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"

namespace sluice {
namespace {

constexpr std::string_view exit_statuses =
    "0 done, 2 usage or configuration refused, 130 or 143 a virtual run was interrupted by SIGINT or SIGTERM "
    "(its assertions are not judged), 4 an assertion is false, 1 anything else";

constexpr std::array<std::string_view, 4> log_levels{"error", "warning", "notice", "info"};

std::string set_seed(Arguments& out, std::string_view text) {
    const auto seed = parse_integer(text);
    if (!seed) return seed.error().wrong;
    out.overrides.seed = *seed;
    return {};
}

std::string set_duration(Arguments& out, std::string_view text) {
    const auto duration = text == "0" ? ParsedValue<Duration>(Duration{}) : parse_time(text);
    if (!duration) return duration.error().wrong;
    out.duration = *duration;
    return {};
}

std::string set_log(Arguments& out, std::string_view text) {
    const auto level = std::find(log_levels.begin(), log_levels.end(), text);
    if (level == log_levels.end()) return "is none of error, warning, notice, info";
    out.log = static_cast<LogLevel>(level - log_levels.begin());
    return {};
}

std::string add_assertion(Arguments& out, std::string_view text) {
    auto made = assertion_of(std::string(text));
    if (!made) return std::move(made.error());
    out.assertions.push_back(std::move(*made));
    return {};
}

struct Option {
    const char* name;
    const char* argument;  // null: none
    std::string_view sentence;
    std::string (*take)(Arguments&, std::string_view);  // the argument's error, or empty
};

// A member that takes the text as it is; a flag.
template <auto member>
std::string text(Arguments& out, std::string_view value) {
    out.*member = value;
    return {};
}
template <auto member>
std::string flag(Arguments& out, std::string_view) {
    out.*member = true;
    return {};
}
constexpr std::array<std::string_view, 9> printed{"help",     "reference", "figures",    "metrics", "man",
                                                  "findings", "openrpc",   "man-config", "version"};
template <std::size_t which>
std::string print(Arguments& out, std::string_view) {
    out.print = printed[which];
    return {};
}

constexpr std::array all_options{
    Option{"config", "FILE", "the switch: ports, routes, classes (TOML; see --reference and conf/)",
           text<&Arguments::config>},
    Option{"check", nullptr, "say what is wrong with the configuration, or that nothing is, and end",
           flag<&Arguments::check>},
    Option{"force", nullptr,
           "run a configuration although errors say that it is not lossless; the report then says for what",
           flag<&Arguments::force>},
    Option{"report", "FILE", "write what happened to every frame, as one JSON object, at the end",
           text<&Arguments::report>},
    Option{"assert", "EXPRESSION",
           "exit with 4 if this is false of the report at the end, and say what it has: verdict.lossless, "
           "\"ports.p0.drops.no_route lt 3\", \"queue p1.3 dropped eq 0\"; may be said several times",
           add_assertion},
    Option{"junit", "FILE", "write the assertions and whether they hold as JUnit XML, at the end",
           text<&Arguments::junit>},
    Option{"trace", "FILE",
           "write the depth of every queue over time, and of hosts the rates, CNPs and marks, as JSON, at "
           "the end",
           text<&Arguments::trace>},
    Option{"decisions", "FILE",
           "write what was decided of every packet, one JSON object a line, as [decisions] chooses",
           [](Arguments& out, std::string_view file) {
               out.overrides.decisions = file;
               return std::string{};
           }},
    Option{"events", "FILE", "write every event, one JSON object a line, as it happens",
           text<&Arguments::events>},
    Option{"log", "LEVEL",
           "say events of this level and above on stderr: error, warning, notice, info; default: warning "
           "under the real clock, nothing under the virtual one",
           set_log},
    Option{"seed", "N", "overrides the configuration's seed", set_seed},
    Option{"duration", "TIME",
           "end after this time of the switch's clock (\"5ms\"); default: when nothing can happen any more "
           "under the virtual clock, never under the real one",
           set_duration},
    Option{"socket", "PATH", "listen there for sluicectl", text<&Arguments::socket>},
    Option{"startup", "FILE",
           "the file of a client's config save --startup: it is read instead of the configuration where it "
           "is newer",
           text<&Arguments::startup>},
    Option{
        "save-folder", "FOLDER",
        "where a client's config save may write a configuration under another name; default: the folder of "
        "the configuration file",
        text<&Arguments::save_folder>},
    Option{"interactive", nullptr, "the virtual clock stands still until a client of the socket lets it run",
           flag<&Arguments::interactive>},
    Option{"metrics", "[ADDRESS:]PORT",
           "serve Prometheus metrics over HTTP, on 127.0.0.1 unless an address is given",
           text<&Arguments::metrics>},
    Option{"page", "[ADDRESS:]PORT",
           "serve a live page for a browser, on 127.0.0.1 unless an address is given; its own address is on "
           "stderr",
           text<&Arguments::page>},
    Option{"reference", nullptr, "print every configuration key and end", print<1>},
    Option{"figures", nullptr, "print every figure of the report: path, kind, unit, metric, meaning; and end",
           print<2>},
    Option{"findings", nullptr, "print every finding of --check: name, severity, when; and end", print<5>},
    Option{"metrics-reference", nullptr, "print every metric and end", print<3>},
    Option{"openrpc", nullptr, "print the control socket's methods as an OpenRPC document and end", print<6>},
    Option{"man", nullptr, "print the man page sluiced(8) in troff and end", print<4>},
    Option{"man-config", nullptr, "print the man page sluice.toml(5) in troff and end", print<7>},
    Option{"version", nullptr, "print the versions of sluiced and DPDK and end", print<8>},
    Option{"help", nullptr, "print this and end", print<0>},
};

std::string with_argument(const Option& option) {
    return option.argument == nullptr ? fmt::format("--{}", option.name)
                                      : fmt::format("--{} {}", option.name, option.argument);
}

}  // namespace

tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv) {
    std::vector<option> known;
    for (const Option& option : all_options)
        known.push_back({option.name, option.argument == nullptr ? no_argument : required_argument, nullptr,
                         static_cast<int>(known.size()) + 1});
    known.push_back({nullptr, 0, nullptr, 0});
    Arguments out;
    opterr = 0;
    for (int index = 0; (index = getopt_long(argc, argv, ":", known.data(), nullptr)) != -1;) {
        if (index == '?' || index == ':')
            return tl::unexpected(fmt::format("{} {}", in_quotes(argv[optind - 1]),
                                              index == '?' ? "is no option" : "wants an argument"));
        const Option& option = all_options[static_cast<std::size_t>(index) - 1];
        const std::string_view value = optarg == nullptr ? "" : optarg;
        const std::string wrong = option.take(out, value);
        if (!wrong.empty())
            return tl::unexpected(fmt::format("--{} {} {}", option.name, in_quotes(value), wrong));
    }
    if (!out.print.empty()) return out;
    if (optind != argc) return tl::unexpected(fmt::format("unexpected argument {}", in_quotes(argv[optind])));
    if (out.config.empty()) return tl::unexpected<std::string>("--config is missing");
    if (out.interactive && out.socket.empty())
        return tl::unexpected<std::string>("--interactive needs --socket");
    return out;
}

std::string usage_text() {
    constexpr std::size_t indent = 27;
    constexpr std::size_t width = 100;
    std::string out =
        "usage: sluiced --config FILE [OPTION...]\n       sluiced headroom --speed RATE [OPTION...]\n       "
        "sluiced doctor [--config FILE]\n       sluiced page REPORT.json [--output FILE.html]\n\n";
    for (const Option& option : all_options)
        out += fmt::format("  {:<{}}{}\n", with_argument(option), indent - 2,
                           wrapped(option.sentence, indent, width));
    return out + fmt::format("\nexit status: {}\n", wrapped(exit_statuses, 13, width));
}

std::vector<OptionHelp> option_help() {
    std::vector<OptionHelp> all;
    for (const Option& option : all_options)
        all.push_back({option.name, option.argument == nullptr ? "" : option.argument, option.sentence});
    return all;
}

std::string_view exit_status_text() { return exit_statuses; }

}  // namespace sluice
