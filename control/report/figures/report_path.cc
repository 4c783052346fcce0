#include "control/report/figures/report_path.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "lib/frame/drop_reason.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

bool is_drop_reason(std::string_view name) {
    return std::any_of(drop_reason_texts.begin() + 1, drop_reason_texts.end(),
                       [&](const DropReasonText& text) { return text.name == name; });
}

// How much of `path` names a member of `part`: a name may hold dots, and the longest one goes first. 0: none.
std::size_t length_of_name(const Json& part, std::string_view path) {
    if (!part.is_object()) {
        const std::string_view first = path.substr(0, path.find('.'));
        const auto index = parse_integer(first);
        return part.is_array() && index && *index < part.size() ? first.size() : 0;
    }
    std::size_t length = path.size();
    while (!part.contains(path.substr(0, length))) {
        const std::size_t dot = path.rfind('.', length - 1);
        if (dot == std::string_view::npos || dot == 0 || dot >= length) return 0;
        length = dot;
    }
    return length;
}

}  // namespace

ReportPart find_part(const Json& report, std::string_view path) {
    static const Json zero = 0;
    const Json* part = &report;
    std::string_view rest = path;
    std::string_view last;
    while (!rest.empty()) {
        const std::size_t length = length_of_name(*part, rest);
        if (length == 0) {
            if ((last == "drops" || last == "lossless_drops") && is_drop_reason(rest))
                return {&zero, {}, nullptr, {}};
            const std::size_t walked = path.size() - rest.size();
            return {nullptr, std::string(path.substr(0, walked == 0 ? 0 : walked - 1)), part,
                    std::string(rest.substr(0, rest.find('.')))};
        }
        last = rest.substr(0, length);
        part = part->is_array() ? &(*part)[*parse_integer(last)] : &(*part)[std::string(last)];
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return {part, {}, nullptr, {}};
}

std::string ReportPart::error() const {
    if (value != nullptr) return {};
    const std::string where = within_path.empty() ? "the report" : within_path;
    if (within->is_array())
        return fmt::format("{} has {} entries, and none is {}", where, within->size(), in_quotes(missing));
    if (!within->is_object()) return fmt::format("{} has no parts", where);
    Words known;
    for (const auto& [key, member] : within->items()) known.push_back(key);
    const auto exact = find_word(missing, known, "part of " + where);
    return exact ? fmt::format("there is no part of {} {}, perhaps {}", where, in_quotes(missing), *exact)
                 : exact.error();
}

}  // namespace sluice
