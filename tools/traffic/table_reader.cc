#include "tools/traffic/table_reader.hh"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

namespace sluice::traffic {

std::string shown(const toml::node& node) {
    std::ostringstream out;
    node.visit([&out](const auto& value) {
        if constexpr (toml::is_table<decltype(value)>)
            out << "a table";
        else if constexpr (toml::is_array<decltype(value)>)
            out << "a list";
        else
            out << toml::node_view<const toml::node>{value};
    });
    std::string text = out.str();
    std::ranges::replace(text, '\n', ' ');
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

void ErrorList::add(const toml::source_region& where, std::string_view path, std::string_view message) {
    entries_.push_back(
        {where.begin, fmt::format("{}:{}:{}: {}{}{}", file_, where.begin.line, where.begin.column, path,
                                  path.empty() ? "" : ": ", message)});
}

std::vector<std::string> ErrorList::lines() const {
    std::vector<Entry> sorted = entries_;
    std::ranges::stable_sort(sorted, {}, [](const Entry& e) { return std::tuple{e.at.line, e.at.column}; });
    std::vector<std::string> lines;
    for (Entry& entry : sorted) lines.push_back(std::move(entry.line));
    return lines;
}

const toml::node* TableReader::node(std::string_view key) {
    asked_.emplace_back(key);
    return table_.get(key);
}

void TableReader::refuse(const toml::node& node, std::string_view key, std::string_view message) {
    errors_.add(node.source(), path_.empty() ? std::string{key} : fmt::format("{}.{}", path_, key), message);
}

void TableReader::refuse(std::string_view key, std::string_view message) {
    const toml::node* found = table_.get(key);
    refuse(found != nullptr ? *found : static_cast<const toml::node&>(table_), key, message);
}

template <class T>
std::optional<T> TableReader::parsed(std::string_view key, ParsedValue<T> (*parse)(std::string_view),
                                     std::string_view wanted) {
    const toml::node* found = node(key);
    if (found == nullptr) return std::nullopt;
    if (const auto text = found->value_exact<std::string>())
        if (const auto value = parse(*text)) return *value;
    refuse(*found, key, fmt::format("{} is not {}", shown(*found), wanted));
    return std::nullopt;
}

std::optional<std::uint64_t> TableReader::integer(std::string_view key, std::uint64_t least,
                                                  std::uint64_t greatest) {
    const toml::node* found = node(key);
    if (found == nullptr) return std::nullopt;
    const auto value = found->value_exact<std::int64_t>();
    if (value && std::cmp_less_equal(least, *value) && std::cmp_less_equal(*value, greatest))
        return static_cast<std::uint64_t>(*value);
    refuse(*found, key, fmt::format("{} is not an integer from {} to {}", shown(*found), least, greatest));
    return std::nullopt;
}

std::optional<std::string> TableReader::text(std::string_view key) {
    const auto as_it_is = [](std::string_view text) { return ParsedValue<std::string>(text); };
    return parsed<std::string>(key, as_it_is, "a text in quotes");
}

std::optional<Duration> TableReader::duration(std::string_view key) {
    return parsed(key, parse_time, "a time such as \"10us\" or \"2.5ms\" (ps, ns, us, ms, s)");
}

std::optional<Rate> TableReader::rate(std::string_view key) {
    constexpr std::string_view wanted = "a rate such as \"100G\" or \"250M\" (bits a second)";
    const auto rate = parsed(key, parse_rate, wanted);
    if (!rate || rate->bits_per_second > 0) return rate;
    refuse(key, fmt::format("{} is not {}", shown(*table_.get(key)), wanted));
    return std::nullopt;
}

std::optional<MacAddress> TableReader::mac(std::string_view key) {
    return parsed(key, parse_mac, "a MAC address such as \"02:00:00:00:00:01\"");
}

const toml::table* TableReader::table(std::string_view key) {
    const toml::node* found = node(key);
    if (found == nullptr) return nullptr;
    if (const toml::table* value = found->as_table()) return value;
    refuse(*found, key, fmt::format("{} is not a table", shown(*found)));
    return nullptr;
}

std::vector<const toml::node*> TableReader::one_or_more(std::string_view key) {
    const toml::node* found = node(key);
    if (found == nullptr) return {};
    const toml::array* list = found->as_array();
    if (list == nullptr) return {found};
    if (list->empty()) refuse(*found, key, "the list is empty");
    std::vector<const toml::node*> nodes;
    for (const toml::node& element : *list) nodes.push_back(&element);
    return nodes;
}

void TableReader::finish(std::string_view hint) {
    for (const auto& [key, value] : table_) {
        if (std::ranges::find(asked_, key.str()) == asked_.end()) refuse(value, key.str(), hint);
    }
}

}  // namespace sluice::traffic
