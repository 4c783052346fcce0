// Reads one TOML table key by key, checks type and range, and gathers errors instead of stopping at the
// first. A key that nobody asked for is an error too: `finish` reports it.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/values.hh"

namespace sluice::traffic {

// A value as an error shows it.
std::string shown(const toml::node& node);

class ErrorList {
  public:
    explicit ErrorList(std::string_view file) : file_{file} {}
    void add(const toml::source_region& where, std::string_view path, std::string_view message);
    // In the order of the file.
    std::vector<std::string> lines() const;

  private:
    struct Entry {
        toml::source_position at;
        std::string line;
    };
    std::string file_;
    std::vector<Entry> entries_;
};

class TableReader {
  public:
    TableReader(const toml::table& table, std::string path, ErrorList& errors)
        : table_{table}, path_{std::move(path)}, errors_{errors} {}

    // Each gives nothing if the key is absent or wrong; wrong is then already reported.
    std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t least, std::uint64_t greatest);
    std::optional<std::string> text(std::string_view key);
    std::optional<Duration> duration(std::string_view key);
    std::optional<Rate> rate(std::string_view key);
    std::optional<MacAddress> mac(std::string_view key);
    // Sets `out` to the value of one of these words. False: the key is absent or wrong.
    template <class T>
    bool choice(std::string_view key,
                std::type_identity_t<std::initializer_list<std::pair<std::string_view, T>>> words, T& out) {
        const toml::node* found = node(key);
        if (found == nullptr) return false;
        std::string known;
        for (const auto& [word, value] : words) {
            if (found->value_exact<std::string_view>() == word) return out = value, true;
            append_item(known, ", ", fmt::format("\"{}\"", word));
        }
        refuse(*found, key, fmt::format("{} is not one of {}", shown(*found), known));
        return false;
    }
    const toml::table* table(std::string_view key);
    // The value itself, or each element of a list; an empty list is refused.
    std::vector<const toml::node*> one_or_more(std::string_view key);

    const toml::node* node(std::string_view key);  // null if absent
    bool has(std::string_view key) const { return table_.contains(key); }
    // Where there is none, use `refuse_whole`.
    void refuse(std::string_view key, std::string_view message);
    void refuse(const toml::node& node, std::string_view key, std::string_view message);
    void refuse_whole(std::string_view message) { errors_.add(table_.source(), path_, message); }
    void finish(std::string_view hint = "unknown key");

    const std::string& path() const { return path_; }
    ErrorList& errors() { return errors_; }

  private:
    template <class T>
    std::optional<T> parsed(std::string_view key, ParsedValue<T> (*parse)(std::string_view),
                            std::string_view wanted);

    const toml::table& table_;
    std::string path_;
    ErrorList& errors_;
    std::vector<std::string> asked_;
};

}  // namespace sluice::traffic
