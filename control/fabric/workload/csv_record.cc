#include "control/fabric/workload/csv_record.hh"

#include <algorithm>

#include "control/fabric/workload/flow_values.hh"

namespace sluice::fabric {

std::optional<char> csv_separator(std::string_view header) {
    const auto count = [&](char each) { return std::ranges::count(header, each); };
    const char most = *std::ranges::max_element(std::string_view(",;\t"), {}, count);
    return count(most) == 0 ? std::nullopt : std::optional(most);
}

CsvRecord::Value CsvRecord::operator[](std::size_t n) const {
    const Cell& cell = cells_[n];
    return {trimmed(std::string_view(text_).substr(cell.begin, cell.size)), cell.place};
}

bool CsvRecord::split(std::string_view line, std::uint32_t number) {
    if (!is_open_) {
        text_.clear();
        cells_.clear();
        begin_cell({number, 1});
    } else {
        text_ += '\n';
    }
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char c = line[at];
        const auto column = static_cast<unsigned>(at + 1);
        if (is_open_) {
            if (c != '"')
                text_ += c;
            else if (at + 1 < line.size() && line[at + 1] == '"')
                text_ += line[++at];
            else
                is_open_ = false;
        } else if (c == separator_) {
            end_cell();
            begin_cell({number, column + 1});
        } else if (trimmed(current()).empty()) {
            if (c != ' ' && c != '\t') cells_.back().place = {number, column};
            is_open_ = c == '"';
            if (!is_open_) text_ += c;
        } else {
            text_ += c;
        }
    }
    if (!is_open_) end_cell();
    return !is_open_;
}

}  // namespace sluice::fabric
