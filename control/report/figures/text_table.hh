// Tables of a report for a terminal, and the cells that they have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/text/quantity_text.hh"

namespace sluice {

// Columns: "port<12|in>14|why<": a head, to the left or right, and a width; without one as wide as its text.
class TextTable {
  public:
    // `most`: rows that are shown.
    explicit TextTable(std::string_view columns, std::size_t most = std::numeric_limits<std::size_t>::max())
        : most_(most) {
        while (!columns.empty()) {
            const std::string_view column = columns.substr(0, columns.find('|'));
            const std::size_t side = column.find_last_of("<>");
            heads_.emplace_back(column.substr(0, side));
            formats_.push_back(fmt::format("{{:{}}}", column.substr(side)));
            columns.remove_prefix(std::min(column.size() + 1, columns.size()));
        }
    }

    void row(const std::vector<std::string>& cells) {
        row_of([&]() -> const auto& { return cells; });
    }
    // `cells` makes those of a row that is shown.
    void row_of(const auto& cells) {
        if (++rows_ <= most_) text_ += line(cells());
    }
    std::size_t left_out() const { return rows_ - std::min(rows_, most_); }
    // A blank line, the heads and the rows; empty: there are no rows.
    std::string text() const { return rows_ == 0 ? std::string() : "\n" + line(heads_) + text_; }

  private:
    std::string line(const std::vector<std::string>& cells) const {
        std::string text;
        for (std::size_t n = 0; n < cells.size(); ++n) {
            if (n != 0 && formats_[n][2] == '<' && formats_[n - 1][2] == '>') text += "  ";
            text += fmt::format(fmt::runtime(formats_[n]), cells[n]);
        }
        return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }

    std::vector<std::string> heads_, formats_;
    std::size_t most_, rows_ = 0;
    std::string text_;
};

inline std::uint64_t number(const nlohmann::ordered_json& json) { return json.get<std::uint64_t>(); }
inline std::string counted(const nlohmann::ordered_json& json) { return grouped_text(number(json)); }
inline std::string timed(const nlohmann::ordered_json& ns) { return time_text(number(ns)); }
inline std::string sized(const nlohmann::ordered_json& bytes) { return size_text(number(bytes)); }
inline std::string percent(double ppm) { return fmt::format("{:.1f} %", ppm / 1e4); }
inline std::string words(const nlohmann::ordered_json& json) { return json.get<std::string>(); }
// A quantile of these: "p50"; "-": there are none.
inline std::string quantile_cell(const nlohmann::ordered_json& quantiles, const char* which) {
    const nlohmann::ordered_json& max = quantiles["max"];
    return max.is_null() ? "-" : quantile_text(number(quantiles[which]), number(max));
}
inline std::uint64_t sum_of(const nlohmann::ordered_json& numbers) {
    std::uint64_t sum = 0;
    for (const auto& each : numbers) sum += number(each);
    return sum;
}

// The entries of a list, the one with the largest `key` first.
std::vector<const nlohmann::ordered_json*> largest_first(const nlohmann::ordered_json& list, auto key) {
    std::vector<const nlohmann::ordered_json*> sorted;
    for (const auto& entry : list) sorted.push_back(&entry);
    std::ranges::stable_sort(sorted, std::greater(), [&](const auto* entry) { return key(*entry); });
    return sorted;
}

}  // namespace sluice
