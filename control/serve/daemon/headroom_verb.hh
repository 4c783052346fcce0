// `sluiced headroom`: what a lossless port takes of a buffer, from its speed, cable and MTU, without a
// configuration. The sums are those of `--check`.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/serve/daemon/options.hh"

namespace sluice {

// The answer for the words behind `sluiced headroom`, or one line that names their error.
tl::expected<std::string, std::string> headroom_answer(const std::vector<std::string>& words);

// For the usage text and the man page.
std::string headroom_usage();
std::vector<OptionHelp> headroom_option_help();
constexpr std::string_view headroom_synopsis = "sluiced headroom --speed RATE [OPTION...]";

}  // namespace sluice
