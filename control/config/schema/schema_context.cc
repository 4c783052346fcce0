// The place where reading is, the errors that it has found, and how a message shows a node.
#include <algorithm>
#include <utility>

#include "control/config/schema/schema_types.hh"

namespace sluice::schema {
namespace {

constexpr std::size_t max_text_shown = 60;

}  // namespace

void Context::refuse(const toml::source_region& at, std::string wrong, std::string allowed,
                     std::string remedy) {
    if (full()) {
        left_out_ = true;
        return;
    }
    if (!alternative_.empty()) allowed += fmt::format(", or {}", toml_string(alternative_));
    errors_.push_back({file_, place_of(at), path(), std::move(wrong), std::move(allowed), std::move(remedy)});
}

void Context::note_place(const toml::node& node) {
    for (const Segment& segment : path_)
        if (segment.name.data() == nullptr) return;
    source_.places.emplace(path(), place_of(node.source()));
}

std::string Context::path() const {
    std::string out;
    for (const auto& [name, index] : path_) {
        if (name.data() == nullptr)
            out += fmt::format("[{}]", index);
        else
            append_item(out, ".",
                        name.size() > max_text_shown ? in_quotes(name, max_text_shown) : toml_key(name));
    }
    return out;
}

std::vector<ConfigError> Context::take_errors() {
    std::stable_sort(errors_.begin(), errors_.end(), [](const ConfigError& a, const ConfigError& b) {
        return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    if (left_out_)
        errors_.push_back(
            {file_, {}, {}, "more is wrong than is shown here", {}, "correct the above and try again"});
    return std::move(errors_);
}

std::string show(const toml::node& node) {
    if (const auto* string = node.as_string()) return in_quotes(string->get(), max_text_shown);
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (node.is_array()) return "the list";
    if (node.is_table()) return "the table";
    return "the date or time";
}

std::string toml_key(std::string_view text) {
    const bool bare = !text.empty() && text.find_first_not_of(
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789_-") == text.npos;
    return bare ? std::string(text) : toml_string(text);
}

SourcePlace place_of(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

}  // namespace sluice::schema
