// Exit codes, the exception that ends a command, and Ctrl-C, which ends a wait, not always the program.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace sluice::ctl {

constexpr int exit_done = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;  // or configuration
constexpr int exit_no_daemon = 3;
constexpr int exit_false = 4;  // a condition, or it did not come true in time
constexpr int exit_not_permitted = 5;

struct Failure {
    int status = exit_refused;
    std::string message;
};

// Thrown where Ctrl-C (SIGINT) came while something was waited for.
struct Interrupted {};

// From now on Ctrl-C is heard while waiting, and only then. Before, it ends the program as ever.
void catch_interrupts();

// False when nothing can be read within `patience` (absent: for ever).
bool wait_for_input(int fd, std::optional<std::chrono::nanoseconds> patience);
void pause_for(std::chrono::nanoseconds time);

}  // namespace sluice::ctl
