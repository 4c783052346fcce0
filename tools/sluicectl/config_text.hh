// Changes of the configuration and findings on it, as text.
#pragma once

#include <string>

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

std::string changes_text(const Json& changes);  // a line each
std::string findings_text(const Json& findings, bool with_notes);
std::string changes_count(const Json& count);  // "2 changes"

// What a change has done (APPLIED of the API).
Answer applied(Json json);
// `parameters` with the `confirm` and `force` that the user has said.
Json with_options(Json parameters, const Arguments& arguments);

}  // namespace sluice::ctl
