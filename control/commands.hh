// Operators' commands in words, as timed events and the socket give them.
#pragma once

#include <string>
#include <string_view>

#include "control/api.hh"

namespace sluice {

//   port NAME up|down
//   queue PORT.N hold|release
//   route add|replace PREFIX via ADDRESS [weight N] [via ...]
//   route add|replace PREFIX blackhole
//   route delete PREFIX
//   fault PORT KEY VALUE
//   fault PORT clear
//   watchdog start|stop PORT
//   watchdog big-red-switch on|off
//   decisions on [port P] [egress P] [class N] [verdict V] [KEY VALUE]..., decisions off (decision_filter.hh)
//   set KEY VALUE, set KEY=VALUE                                                    (as config.set of the
//   socket)
// Returns an error's text, or empty. `check_command` judges the words without a running switch.
std::string run_command(Api& api, std::string_view text);
std::string check_command(const Config& config, std::string_view text);

}  // namespace sluice
