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
    bool forced = false;  // an error by itself: force.hh

    // One line, like a ConfigError: `file:line:column: error: path: message [id]; do: fix`.
    std::string text(std::string_view file) const;
};

bool has_error(const std::vector<Finding>& findings);

constexpr std::size_t max_findings_of_a_kind = 100;

}  // namespace sluice
