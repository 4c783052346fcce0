// The name of a finding: one of findings.def, which the compiler sees to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

// For people: how to read them, and all of them, with severity and sentence.
std::string_view findings_introduction();
std::string findings_reference();

class FindingId {
  public:
    // From a literal, as it stands where the finding is made.
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

}  // namespace sluice
