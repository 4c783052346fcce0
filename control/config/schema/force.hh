// --force: errors that say a configuration is not lossless, and no more, may be taken for warnings. It runs
// then, and never calls itself lossless: each reason goes to the report, to `qos show` and to the events.
// A configuration that cannot work, or would break an account of the buffer, is always refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/finding.hh"

namespace sluice {

bool may_be_forced(std::string_view id);
// Every error may: then saying --force helps.
bool force_helps(const std::vector<Finding>& findings);

// Makes forced warnings of the errors that may be forced.
void force(std::vector<Finding>& findings);
// Only of those that were forced before, word for word.
void force_again(std::vector<Finding>& findings, const std::vector<std::string>& reasons);

// Of the forced ones: "path: message".
std::vector<std::string> forced_reasons(const std::vector<Finding>& findings);

}  // namespace sluice
