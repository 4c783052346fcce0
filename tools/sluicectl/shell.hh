// Commands line by line: from a terminal with history and completion, or from any input.
#pragma once

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// Runs one line's command and prints its output. Returns the exit status.
using RunLine = int (*)(Context&, const Words&);

// A line's words: blanks separate, double quotes hold together, # begins a comment. Throws Failure.
Words words_of(std::string_view line);
// Until the end of the input or `exit`. On a terminal a failure ends nothing; else the first one ends it. The
// status of the last command.
int run_shell(Context& context, RunLine run);

}  // namespace sluice::ctl
