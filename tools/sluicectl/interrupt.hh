// Ctrl-C ends a wait, not always the program.
#pragma once

#include <chrono>
#include <optional>

namespace sluice::ctl {

// Thrown where Ctrl-C (SIGINT) came while something was waited for.
struct Interrupted {};

// From now on Ctrl-C is heard while waiting, and only then. Before, it ends the program as ever.
void catch_interrupts();

// False when nothing can be read within `patience` (absent: for ever).
bool wait_for_input(int fd, std::optional<std::chrono::nanoseconds> patience);
void pause_for(std::chrono::nanoseconds time);

}  // namespace sluice::ctl
