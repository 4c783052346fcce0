// An error in a configuration, or an oddity, with its numbers and the smallest edit that corrects it. Its
// name is a row of findings.def, checked at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

struct KnownFinding {
    std::string_view name;
    bool may_be_forced;
    std::string_view severity;  // usually
    std::string_view when;
};
inline constexpr KnownFinding known_findings[] = {
#define FINDING(name, forced, severity, when) {name, forced, severity, when},
#include "control/config/schema/findings.def"
#undef FINDING
};

constexpr const KnownFinding* find_known(std::string_view name) {
    for (const KnownFinding& known : known_findings)
        if (known.name == name) return &known;
    return nullptr;
}

// For people: how to read findings, and the list of them.
std::string_view findings_introduction();
std::string findings_reference();

class FindingId {
  public:
    // From a literal.
    template <std::size_t size>
    consteval FindingId(
        const char (&name)[size])  // NOLINT(google-explicit-constructor,modernize-avoid-c-arrays)
        : name_(name, size - 1) {
        if (find_known(name_) == nullptr) throw "no finding of findings.def";
    }
    constexpr std::string_view name() const { return name_; }

  private:
    std::string_view name_;
};

enum class Severity : std::uint8_t { error, warning, note };

struct Finding {
    Severity severity = Severity::error;
    std::string id;       // "route-to-nowhere"; stable, for tests and scripts
    std::string path;     // "route 10.1.0.0/16", "port.p1.mtu"
    std::string message;  // with its numbers
    std::string fix;
    SourcePlace place;
    bool forced = false;  // an error by itself

    // A single line, like a ConfigError: `file:line:column: error: path: message [id]; do: fix`.
    std::string text(std::string_view file) const;
};

bool has_error(const std::vector<Finding>& findings);

constexpr std::size_t max_findings_of_a_kind = 100;

// --force makes warnings of errors that only say that a configuration is not lossless. The switch then runs
// and never claims to be lossless: each reason goes to the report, to `qos show` and to the events. A
// configuration that cannot work, or would break an account of the buffer, is always refused.
bool may_be_forced(std::string_view id);
// There are errors, and all may be forced.
bool force_helps(const std::vector<Finding>& findings);

// Makes forced warnings of the errors that may be forced.
void force(std::vector<Finding>& findings);
// Only those that were forced before, word for word.
void force_again(std::vector<Finding>& findings, const std::vector<std::string>& reasons);

// The forced findings as "path: message".
std::vector<std::string> forced_reasons(const std::vector<Finding>& findings);

}  // namespace sluice
