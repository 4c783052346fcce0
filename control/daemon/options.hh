// sluiced's command line: one table of options, from which parsing, the usage text and the man page are made.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "control/config/overrides.hh"
#include "control/report/assertions.hh"
#include "lib/units.hh"

namespace sluice {

enum class LogLevel : std::uint8_t { error, warning, notice, info };

struct Arguments {
    std::string config;
    std::string report;
    std::string trace;
    Overrides overrides;
    std::string events;
    std::string socket;
    std::string save_folder;
    std::string metrics;
    std::optional<LogLevel> log;
    bool interactive = false;
    bool check = false;
    bool force = false;
    std::string print;  // "help", "reference", "metrics" or "man": say that and end
    std::optional<Duration> duration;
    Assertions assertions;
};

// The options of the words, or one line that names their error.
tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv);

std::string usage_text();
// In troff, for man(1): the options, and every configuration key.
std::string man_page();

}  // namespace sluice
