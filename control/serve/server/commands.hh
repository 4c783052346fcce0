// Carries out operators' commands (command_words.hh), for timed events and the socket.
#pragma once

#include <string>
#include <string_view>

#include "control/serve/server/api.hh"

namespace sluice {

// An error's text, or empty.
std::string run_command(Api& api, std::string_view text);

}  // namespace sluice
