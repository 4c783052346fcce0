// sluiced's command line: one table of options, from which parsing, the usage text and the man page are made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/report/figures/assertions.hh"
#include "lib/values/units.hh"

namespace sluice {

enum class LogLevel : std::uint8_t { error, warning, notice, info };

struct Arguments {
    std::string config;
    std::string report;
    std::string trace;
    std::string junit;
    Overrides overrides;
    std::string events;
    std::string socket;
    std::string startup;
    std::string save_folder;
    std::string metrics;
    std::string page;
    std::optional<LogLevel> log;
    bool interactive = false;
    bool check = false;
    bool force = false;
    std::string print;  // "help", "reference", "metrics", "man" and the like: say that and end
    std::optional<Duration> duration;
    std::vector<Assertion> assertions;
};

// The options of the words, or one line that names their error.
tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv);

std::string usage_text();

struct OptionHelp {
    std::string_view name, argument;  // argument: empty where it takes none
    std::string_view sentence;
};
// For the man page.
std::vector<OptionHelp> option_help();
std::string_view exit_status_text();

}  // namespace sluice
