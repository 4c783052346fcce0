#include "control/report/figures/figure_path.hh"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/report/figures/figure_tree.hh"
#include "lib/frame/drop_reason.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Part = FigurePath::Part;
using Match = FigurePath::Match;
using Refusal = tl::unexpected<std::string>;

bool is_drop_reason(std::string_view name) {
    return std::any_of(drop_reason_texts.begin() + 1, drop_reason_texts.end(),
                       [&](const DropReasonText& text) { return text.name == name; });
}

const std::string* own_name(const Json& entry) {
    if (!entry.is_object()) return nullptr;
    const auto name = entry.find("name");
    return name == entry.end() ? nullptr : name->get_ptr<const std::string*>();
}

// The name by which an entry of a list goes.
std::string name_of_entry(const Json& list, std::size_t index) {
    const std::string* name = own_name(list[index]);
    return name != nullptr ? *name : std::to_string(index);
}

struct Member {
    std::string name;
    const Json* value = nullptr;  // null: there is none
};

Member member_of(const Json& at, std::string_view name) {
    if (at.is_object()) {
        const auto found = at.find(name);
        return found == at.end() ? Member{} : Member{std::string(name), &*found};
    }
    if (!at.is_array()) return {};
    const auto named = std::find_if(at.begin(), at.end(), [&](const Json& entry) {
        const std::string* own = own_name(entry);
        return own != nullptr && *own == name;
    });
    if (named != at.end()) return {std::string(name), &*named};
    const auto index = parse_integer(name);
    return index && *index < at.size() ? Member{name_of_entry(at, *index), &at[*index]} : Member{};
}

std::vector<Member> members_of(const Json& at) {
    std::vector<Member> members;
    if (at.is_object())
        for (const auto& [key, value] : at.items()) members.push_back({key, &value});
    for (std::size_t n = 0; at.is_array() && n < at.size(); ++n)
        members.push_back({name_of_entry(at, n), &at[n]});
    return members;
}

Words names_in(const Json& at) {
    Words names;
    for (Member& member : members_of(at)) names.push_back(std::move(member.name));
    return names;
}

class PathWalk {
  public:
    explicit PathWalk(std::span<const Part> parts) : parts_(parts) {}

    FigurePath::Search search;

    void visit(const Json& at, std::size_t n) {
        if (n == parts_.size())
            search.found.push_back({joined(names_, "."), &at});
        else if (parts_[n].match == Match::name)
            visit_name(at, n);
        else if (parts_[n].match == Match::pattern)
            visit_like(at, n);
        else
            visit_begun(at, n);
    }

  private:
    void enter(const Member& member, std::size_t n) {
        names_.push_back(member.name);
        visit(*member.value, n);
        names_.pop_back();
    }
    void miss(const Json& at, const std::string& name, bool is_field = false) {
        search.missing.push_back({names_, &at, name, is_field});
    }

    // A name may hold dots: as many parts as there are names, joined, and then fewer.
    void visit_name(const Json& at, std::size_t n) {
        static const Json zero = 0;
        std::size_t end = n;
        std::string name;
        for (; end < parts_.size() && parts_[end].match == Match::name; ++end)
            append_item(name, ".", parts_[end].text);
        for (; end > n; --end) {
            if (const Member member = member_of(at, name); member.value != nullptr) {
                enter(member, end);
                return;
            }
            if (end - n > 1) name.resize(name.size() - parts_[end - 1].text.size() - 1);
        }
        const bool of_drops =
            !names_.empty() && (names_.back() == "drops" || names_.back() == "lossless_drops");
        if (of_drops && n + 1 == parts_.size() && is_drop_reason(name))
            enter({name, &zero}, n + 1);
        else
            miss(at, name);
    }

    void visit_like(const Json& at, std::size_t n) {
        const std::string& pattern = parts_[n].text;
        bool any = false;
        for (const Member& member : members_of(at)) {
            if (fnmatch(pattern.c_str(), member.name.c_str(), 0) != 0) continue;
            any = true;
            enter(member, n + 1);
        }
        if (!any) miss(at, pattern);
    }

    void visit_begun(const Json& at, std::size_t n) {
        const std::string& begun = parts_[n].text;
        const auto name = at.is_object() ? find_word(begun, names_in(at), "field") : begun;
        const Member member = name ? member_of(at, *name) : Member{};
        if (member.value != nullptr)
            enter(member, n + 1);
        else
            miss(at, begun, true);
    }

    std::span<const Part> parts_;
    Words names_;  // of the part that is visited
};

std::vector<Part> parts_at_dots(std::string_view path) {
    std::vector<Part> parts;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        parts.push_back({std::string(path.substr(0, end)), Match::name});
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return parts;
}

bool is_pattern(std::string_view part) { return part.find_first_of("*?[") != part.npos; }

}  // namespace

std::string MissingPart::error() const {
    const std::string where = within_names.empty() ? "the report" : joined(within_names, ".");
    if (!within->is_structured() || (within->is_object() && within->empty()))
        return fmt::format("{} has no parts", where);
    const bool has_names =
        within->is_object() || std::any_of(within->begin(), within->end(),
                                           [](const Json& entry) { return own_name(entry) != nullptr; });
    if (!has_names)
        return fmt::format("{} has {} entries, and none is {}", where, within->size(), in_quotes(name));
    const std::string what = (is_field ? "field of " : "part of ") + where;
    const auto exact = find_word(name, names_in(*within), what);
    return exact ? fmt::format("there is no {} {}, perhaps {}", what, in_quotes(name), *exact)
                 : exact.error();
}

bool MissingPart::comes_with_run() const {
    Words names = within_names;
    names.push_back(name);
    return sluice::comes_with_run(names);
}

FigurePath::FigurePath(std::vector<Part> parts) : parts_(std::move(parts)) {
    for (const Part& part : parts_) append_item(text_, ".", part.text);
}

tl::expected<FigurePath, std::string> FigurePath::parse(std::string_view text) {
    std::vector<Part> parts;
    std::string part;
    const auto end_part = [&] {
        if (part.empty()) return false;
        const Match match = is_pattern(part) ? Match::pattern : Match::name;
        parts.push_back({std::exchange(part, {}), match});
        return true;
    };
    bool quoted = false;
    for (const char c : text) {
        if (c == '\'') {
            quoted = !quoted;
        } else if (c == '.' && !quoted) {
            if (!end_part()) return Refusal(in_quotes(text) + " has an empty part");
        } else {
            part += c;
        }
    }
    if (!end_part()) return Refusal(in_quotes(text) + " has an empty part");
    FigurePath path(std::move(parts));
    path.text_ = text;
    return path;
}

std::string FigurePath::Search::error() const {
    const auto named = std::find_if(missing.begin(), missing.end(),
                                    [](const MissingPart& part) { return !is_pattern(part.name); });
    return !found.empty() || named == missing.end() ? std::string() : named->error();
}

FigurePath::Search FigurePath::find(const Json& report) const {
    PathWalk walk(parts_);
    walk.visit(report, 0);
    return std::move(walk.search);
}

bool FigurePath::names_one() const {
    return std::none_of(parts_.begin(), parts_.end(),
                        [](const Part& part) { return part.match == Match::pattern; });
}

bool FigurePath::has_whole_names() const {
    return std::none_of(parts_.begin(), parts_.end(),
                        [](const Part& part) { return part.match == Match::beginning; });
}

Words FigurePath::literal_parts() const {
    Words parts;
    for (const Part& part : parts_) {
        if (part.match != Match::name) break;
        parts.push_back(part.text);
    }
    return parts;
}

ReportPart find_part(const Json& report, std::string_view path) {
    const std::vector<Part> parts = parts_at_dots(path);
    PathWalk walk(parts);
    walk.visit(report, 0);
    if (!walk.search.found.empty()) return {walk.search.found.front().value, {}};
    return {nullptr, std::move(walk.search.missing.front())};
}

}  // namespace sluice
