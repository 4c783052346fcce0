// An error in a configuration, or an oddity, with its numbers and the smallest edit that corrects it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

enum class Severity : std::uint8_t { error, warning, note };

struct Finding {
    Severity severity = Severity::error;
    std::string id;       // "route-to-nowhere"; stable, for tests and scripts
    std::string path;     // "route 10.1.0.0/16", "port.p1.mtu"
    std::string message;  // with its numbers
    std::string fix;
    SourcePlace place;
    bool forced = false;  // an error by itself

    // One line, like a ConfigError: `file:line:column: error: path: message [id]; do: fix`.
    std::string text(std::string_view file) const;
};

bool has_error(const std::vector<Finding>& findings);

constexpr std::size_t max_findings_of_a_kind = 100;

// --force: errors that say a configuration is not lossless, and no more, may be taken for warnings. It runs
// then, and never calls itself lossless: each reason goes to the report, to `qos show` and to the events.
// A configuration that cannot work, or would break an account of the buffer, is always refused.
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
