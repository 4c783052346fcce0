#include "control/switch/doctor/doctor.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/text/wrapped.hh"

namespace sluice {

std::string doctor_text(const std::vector<Diagnosis>& found) {
    constexpr std::array<std::string_view, 3> marks{"ok", "note", "WRONG"};
    constexpr std::size_t indent = 26, width = 130;
    std::string text;
    for (const Diagnosis& each : found) {
        text += fmt::format("{:<7}{:<18} {}\n", marks[static_cast<std::size_t>(each.health)], each.subject,
                            wrapped(each.what, indent, width));
        if (!each.remedy.empty()) text += fmt::format("{:{}}do: {}\n", "", indent, each.remedy);
    }
    return text;
}

bool is_wrong(const std::vector<Diagnosis>& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const Diagnosis& each) { return each.health == Health::wrong; });
}

}  // namespace sluice
