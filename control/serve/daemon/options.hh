// sluiced's command line: one table, from which parsing, the help and the man page are made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "control/config/schema/config.hh"
#include "control/report/figures/assertions.hh"
#include "control/serve/daemon/verbs.hh"
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
    std::optional<Duration> duration;
    std::vector<Assertion> assertions;
    HeadroomQuestion headroom;
    std::string page_output;
    char** words = nullptr;  // the command line itself
};

// `work` runs a switch, or judges one; `doctor` looks at the machine.
Program sluiced_program(Arguments& out, int (*work)(Arguments&), int (*doctor)(Arguments&));

std::string config_man_page();  // sluice.toml(5)

}  // namespace sluice
