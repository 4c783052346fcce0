#include "tools/import/account.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"

namespace sluice::import {
namespace {

std::string_view name_of(Fate fate) { return known_fates[static_cast<unsigned>(fate)].name; }

void mark(const Item& node) {
    node.accounted = true;
    for (const auto& member : node.members) mark(*member);
}

// Makes one pattern of `port.Ethernet0.speed` and `port.Ethernet4.speed`.
std::string without_numbers(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit) out += c;
        if (digit && (out.empty() || out.back() != '#')) out += '#';
    }
    return out;
}

std::string place_text(const SourcePlace& place) {
    return place.line == 0 ? std::string("-") : fmt::format("{}:{}", place.line, place.column);
}

// Names of the file may have any character; a line is one line.
std::string words_of(const Line& line) {
    return without_controls(line.remedy.empty() ? line.what : line.what + "; do: " + line.remedy);
}

}  // namespace

void Account::add(Fate fate, const Item& node, std::string what, std::string remedy) {
    const bool is_new = said_.emplace(&node, what).second;
    if (!is_new || (fate == Fate::taken && node.accounted)) return;
    mark(node);
    lines_.push_back({fate, node.place, node.path(), std::move(what), std::move(remedy)});
}

void Account::add_alone(Fate fate, const Item& node, std::string what, std::string remedy) {
    if (node.accounted) return;
    node.accounted = true;
    lines_.push_back({fate, node.place, node.path(), std::move(what), std::move(remedy)});
}

void Account::nothing_in(const Item& node, const std::string& section, const std::string& why) {
    if (!node.accounted) lines_.push_back({Fate::nothing, node.place, section, why});
    node.accounted = true;
    for (const auto& member : node.members) nothing_in(*member, section, why);
}

void Account::tell(Fate fate, std::string path, std::string what) {
    if (told_.emplace(path, what).second) lines_.push_back({fate, {}, std::move(path), std::move(what)});
}

void Account::keep_new(const Account& other) {
    std::erase_if(lines_, [&](const Line& line) { return other.told_.contains({line.path, line.what}); });
}

void Account::find_rest(const Item& node) {
    if (node.repeated.line != 0) {
        nothing(node, fmt::format("its key comes again at {}, which holds", place_text(node.repeated)));
        return;
    }
    if (node.members.empty() && !node.accounted) nothing(node, "Sluice has none of it");
    for (const auto& member : node.members) find_rest(*member);
}

void Account::close(const Item& root) {
    find_rest(root);
    sort();
}

void Account::sort() {
    std::ranges::stable_sort(lines_, {}, [](const Line& line) {
        return std::tuple(line.fate, line.place.line, line.place.column);
    });
}

std::size_t Account::count(Fate fate) const {
    return static_cast<std::size_t>(std::ranges::count(lines_, fate, &Line::fate));
}

std::string Account::all(std::string_view file) const {
    std::string out;
    for (const Line& line : lines_)
        out += fmt::format("{}:{}: {}: {}: {}\n", file, place_text(line.place), without_controls(line.path),
                           name_of(line.fate), words_of(line));
    return out;
}

std::string Account::summary(std::string_view file, std::initializer_list<Fate> fates) const {
    struct Group {
        const Line* first;
        std::size_t count;
    };
    std::vector<Group> groups;
    std::map<std::tuple<Fate, std::string, std::string>, std::size_t> known;
    for (const Line& line : lines_) {
        const auto [at, is_new] = known.try_emplace(
            {line.fate, without_numbers(line.path), without_numbers(line.what)}, groups.size());
        if (is_new) groups.push_back({&line, 0});
        ++groups[at->second].count;
    }
    std::string out;
    for (const Fate fate : fates) {
        if (!has(fate)) continue;
        out += fmt::format("{}: {} {}\n", file, print_count(count(fate), "line"), name_of(fate));
        if (fate == Fate::taken) {  // as they are
            out.insert(out.size() - 1, ": --account FILE has them");
            continue;
        }
        for (const Group& group : groups) {
            if (group.first->fate != fate) continue;
            const std::string more =
                group.count > 1 ? fmt::format(" (and {} more)", group.count - 1) : std::string();
            out += fmt::format("  {:>8}  {}: {}{}\n", place_text(group.first->place),
                               without_controls(group.first->path), words_of(*group.first), more);
        }
    }
    return out;
}

std::optional<std::int64_t> read_number(Account& account, const Item& node, std::int64_t low,
                                        std::int64_t high) {
    if (!node.is_word()) {
        account.wrong(node, "must be a word or a number");
        return std::nullopt;
    }
    const bool negative = node.word.starts_with('-');
    const auto size = parse_integer(std::string_view(node.word).substr(negative ? 1 : 0));
    if (size && *size <= INT64_MAX) {
        const auto value = negative ? -static_cast<std::int64_t>(*size) : static_cast<std::int64_t>(*size);
        if (value >= low && value <= high) return value;
    }
    account.wrong(node, fmt::format("{} is not a number from {} to {}", in_quotes(node.word), low, high));
    return std::nullopt;
}

}  // namespace sluice::import
