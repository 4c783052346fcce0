// Exit codes, and the exception that ends a command.
#pragma once

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

}  // namespace sluice::ctl
