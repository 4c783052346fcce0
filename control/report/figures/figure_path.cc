#include "control/report/figures/figure_path.hh"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/report/figures/figures.hh"
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

bool is_pattern(std::string_view part) { return part.find_first_of("*?[") != part.npos; }

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

// A report.
struct JsonTree {
    using Place = const Json*;
    struct Member {
        std::string name;
        Place place = nullptr;  // null: there is none
    };

    static Member member_of(const Words& /*within*/, Place at, std::string_view name, bool /*is_joined*/) {
        if (at->is_object()) {
            const auto found = at->find(name);
            return found == at->end() ? Member{} : Member{std::string(name), &*found};
        }
        if (!at->is_array()) return {};
        const auto named = std::ranges::find_if(*at, [&](const Json& entry) {
            const std::string* own = own_name(entry);
            return own != nullptr && *own == name;
        });
        if (named != at->end()) return {std::string(name), &*named};
        const auto index = parse_integer(name);
        return index && *index < at->size() ? Member{name_of_entry(*at, *index), &(*at)[*index]} : Member{};
    }
    static std::vector<Member> members_of(const Words& /*within*/, Place at, std::string_view /*pattern*/) {
        std::vector<Member> members;
        if (at->is_object())
            for (const auto& [key, value] : at->items()) members.push_back({key, &value});
        for (std::size_t n = 0; at->is_array() && n < at->size(); ++n)
            members.push_back({name_of_entry(*at, n), &(*at)[n]});
        return members;
    }
    static bool is_list(Place at) { return at->is_array(); }
    static std::size_t unnamed_in(Place at) {
        const auto has_name = [](const Json& entry) { return own_name(entry) != nullptr; };
        return at->is_array() && std::ranges::none_of(*at, has_name) ? at->size() : 0;
    }
    static const Json* value_of(Place at) { return at; }
};

// A catalogue, whose labels stand for names.
struct CatalogueTree {
    using Place = const FigureNode*;
    struct Member {
        std::string name;
        Place place = nullptr;
    };
    const NamesOf& names;

    // Those of a label; nothing: any name is one.
    std::optional<LabelNames> names_of(const Words& within, const FigureNode& node) const {
        if (node.segment != "{reason}") return names(within, node.segment.substr(1, node.segment.size() - 2));
        LabelNames reasons;
        for (std::size_t n = 1; n < drop_reason_texts.size(); ++n)
            reasons.names.emplace_back(drop_reason_texts.at(n).name);
        return reasons;
    }
    // `is_joined`: of several parts, which a label that any name may stand for does not take.
    Member member_of(const Words& within, Place at, std::string_view name, bool is_joined) const {
        const FigureNode* node = at->find(name);
        if (node == nullptr) return {};
        Member member{std::string(name), node};
        if (!node->is_label()) return member;
        const auto known = names_of(within, *node);
        if (!known) return is_joined ? Member{} : member;
        if (std::ranges::find(known->names, name) != known->names.end()) return member;
        const auto index = parse_integer(name);
        if (known->is_list && index && *index < known->names.size()) return {known->names[*index], node};
        return {};
    }
    // A label that any name may stand for has one that is as the pattern.
    std::vector<Member> members_of(const Words& within, Place at, std::string_view pattern) const {
        std::vector<Member> members;
        for (const FigureNode& node : at->children) {
            if (!node.is_label()) {
                members.push_back({std::string(node.segment), &node});
            } else if (const auto known = names_of(within, node); known) {
                for (const std::string& name : known->names) members.push_back({name, &node});
            } else if (!pattern.empty()) {
                members.push_back({std::string(pattern), &node});
            }
        }
        return members;
    }
    static bool is_list(Place /*at*/) { return false; }
    static std::size_t unnamed_in(Place /*at*/) { return 0; }
    static const Json* value_of(Place at) {
        static const Json number = 0, flag = true, text = "", part = Json::object();
        if (at->figure == nullptr) return &part;
        return at->figure->kind == FigureKind::flag   ? &flag
               : at->figure->kind == FigureKind::text ? &text
                                                      : &number;
    }
};

template <class Tree>
class PathWalk {
  public:
    using Place = typename Tree::Place;
    using Member = typename Tree::Member;

    PathWalk(const Tree& tree, std::span<const Part> parts) : tree_(tree), parts_(parts) {}

    FigurePath::Search search;

    void visit(Place at, std::size_t n) {
        if (n == parts_.size())
            search.found.push_back({joined(names_, "."), Tree::value_of(at)});
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
        visit(member.place, n);
        names_.pop_back();
    }
    void miss(Place at, const std::string& name, bool is_field = false) {
        MissingPart missing{names_, name, is_field};
        if (!is_pattern(name) && !std::exchange(is_told_, true)) {
            missing.unnamed = Tree::unnamed_in(at);
            if (missing.unnamed == 0) missing.known = names_in(at);
        }
        search.missing.push_back(std::move(missing));
    }
    Words names_in(Place at) const {
        Words names;
        for (Member& member : tree_.members_of(names_, at, {})) names.push_back(std::move(member.name));
        return names;
    }

    // A name may hold dots: as many parts as there are names, joined, and then fewer.
    void visit_name(Place at, std::size_t n) {
        static const Json zero = 0;
        std::size_t end = n;
        std::string name;
        for (; end < parts_.size() && parts_[end].match == Match::name; ++end)
            append_item(name, ".", parts_[end].text);
        for (; end > n; --end) {
            if (const Member member = tree_.member_of(names_, at, name, end - n > 1);
                member.place != nullptr) {
                enter(member, end);
                return;
            }
            if (end - n > 1) name.resize(name.size() - parts_[end - 1].text.size() - 1);
        }
        const bool of_drops =
            !names_.empty() && (names_.back() == "drops" || names_.back() == "lossless_drops");
        if (of_drops && n + 1 == parts_.size() && is_drop_reason(name))
            search.found.push_back({fmt::format("{}.{}", joined(names_, "."), name), &zero});
        else
            miss(at, name);
    }

    void visit_like(Place at, std::size_t n) {
        const std::string& pattern = parts_[n].text;
        bool any = false;
        for (const Member& member : tree_.members_of(names_, at, pattern)) {
            if (member.name != pattern && fnmatch(pattern.c_str(), member.name.c_str(), 0) != 0) continue;
            any = true;
            enter(member, n + 1);
        }
        if (!any) miss(at, pattern);
    }

    void visit_begun(Place at, std::size_t n) {
        const std::string& begun = parts_[n].text;
        const auto name = Tree::is_list(at) ? begun : find_word(begun, names_in(at), "field");
        const Member member = tree_.member_of(names_, at, name ? *name : begun, false);
        if (member.place != nullptr)
            enter(member, n + 1);
        else
            miss(at, begun, true);
    }

    const Tree& tree_;
    std::span<const Part> parts_;
    Words names_;           // of the part that is visited
    bool is_told_ = false;  // the names that are known where one is missing
};

}  // namespace

std::vector<Part> parts_at_dots(std::string_view path, Match match) {
    std::vector<Part> parts;
    while (!path.empty()) parts.push_back({std::string(take_first(path, '.')), match});
    return parts;
}

std::string MissingPart::error() const {
    const std::string where = within_names.empty() ? "the report" : joined(within_names, ".");
    if (unnamed != 0)
        return fmt::format("{} has {} entries, and none is {}", where, unnamed, in_quotes(name));
    if (known.empty()) return fmt::format("{} has no parts", where);
    const std::string what = (is_field ? "field of " : "part of ") + where;
    const auto exact = find_word(name, known, what);
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
    const auto named =
        std::ranges::find_if(missing, [](const MissingPart& part) { return !is_pattern(part.name); });
    return !found.empty() || named == missing.end() ? std::string() : named->error();
}

FigurePath::Search FigurePath::find(const Json& report) const {
    const JsonTree tree;
    PathWalk<JsonTree> walk(tree, parts_);
    walk.visit(&report, 0);
    return std::move(walk.search);
}

FigurePath::Search FigurePath::find(const FigureNode& catalogue, const NamesOf& names) const {
    const CatalogueTree tree{names};
    PathWalk<CatalogueTree> walk(tree, parts_);
    walk.visit(&catalogue, 0);
    return std::move(walk.search);
}

bool FigurePath::names_one() const {
    return std::ranges::none_of(parts_, [](const Part& part) { return part.match == Match::pattern; });
}

bool FigurePath::has_whole_names() const {
    return std::ranges::none_of(parts_, [](const Part& part) { return part.match == Match::beginning; });
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
    auto search = FigurePath(parts_at_dots(path, Match::name)).find(report);
    if (!search.found.empty()) return {search.found.front().value, {}};
    return {nullptr, std::move(search.missing.front())};
}

}  // namespace sluice
