// Verbs of sluiced that run no switch.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "control/config/schema/config.hh"

namespace sluice {

// `sluiced headroom`: what a lossless port takes of a buffer, from its speed, cable and MTU, without a
// configuration. The sums are those of `--check`.
struct HeadroomQuestion {
    Config config;
    std::uint64_t lossless_classes = 1;
};
std::vector<Option> headroom_options(HeadroomQuestion& question);
int headroom_verb(const HeadroomQuestion& question);  // the exit status

// `sluiced page`: a report after the end as a page for a browser, one file.
// Writes the page to `output`, or where that is empty beside the report, and says where. The exit status.
int page_verb(const std::string& report, std::string output);

}  // namespace sluice
