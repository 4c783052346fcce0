#include "tools/sluicectl/table.hh"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "control/config/schema/words.hh"
#include "control/config/text/quantity_text.hh"
#include "control/report/figures/figure_path.hh"
#include "control/report/figures/figure_unit.hh"

namespace sluice::ctl {
namespace {

double figure(const Json& number) { return number.is_number() ? number.get<double>() : 0; }

// In the unit in which it is below 10 000, the first with no digit behind the point.
std::string scaled(double value, std::initializer_list<const char*> units) {
    double unit = 1;
    const char* const* name = units.begin();
    for (; value >= 1e4 * unit && name + 1 != units.end(); ++name) unit *= 1e3;
    return fmt::format("{:.{}f} {}", value / unit, unit == 1 ? 0 : 1, *name);
}

std::string rate_text(const Figure& figure, double a_second) {
    switch (figure.unit) {
        case FigureUnit::ns:
            return share_text(a_second / ns_a_second);
        case FigureUnit::bytes:
            return bits_text(8 * a_second);
        default:
            return times_text(a_second);
    }
}

std::string figure_text(const Figure& figure, const Json& value) {
    if (value.is_null()) return word_text(value);
    // An account is to the byte; other bytes are about how much memory.
    const bool is_account = figure.unit == FigureUnit::bytes && figure.kind == FigureKind::counter;
    return is_account ? count_text(value) : sluice::figure_text(value, figure.unit);
}

// With the digits that its bucket knows; `all`: it is one of them.
std::string of_histogram(const Figure& figure, const Json& all, const Json& value, bool longest) {
    if (value.is_null() || !all.contains("max")) return figure_text(figure, value);
    const bool is_rounded = all.contains("max_is_rounded");
    if (longest && !is_rounded) return figure_text(figure, value);
    const auto number = value.get<std::uint64_t>(), most = all["max"].get<std::uint64_t>();
    const std::uint64_t limit = is_rounded ? two_digits(most) : most;
    return figure.unit == FigureUnit::permille ? quantile_ratio_text(number, limit)
                                               : quantile_text(number, limit);
}

}  // namespace

Table::Table(std::vector<std::string> titles) {
    for (std::string& title : titles) {
        has_words_.push_back(title.starts_with('<'));
        if (has_words_.back()) title.erase(0, 1);
    }
    rows_.push_back(std::move(titles));
}

std::string Table::text() const {
    std::vector<std::size_t> widths(has_words_.size(), 0);
    for (const auto& row : rows_)
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    std::string text;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column)
            line += has_words_[column] ? fmt::format("{:<{}}  ", row[column], widths[column])
                                       : fmt::format("{:>{}}  ", row[column], widths[column]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string count_text(const Json& number) {
    std::string text = json_text(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, " ");
    return text;
}

std::string bytes_text(const Json& number) { return scaled(figure(number), {"B", "KB", "MB"}); }
std::string ns_text(const Json& number) { return scaled(figure(number), {"ns", "us", "ms", "s"}); }
std::string bits_text(double bits_a_second) { return scaled(bits_a_second, {"b/s", "kb/s", "Mb/s", "Gb/s"}); }

std::string times_text(double a_second) {
    if (a_second == 0) return "0 /s";
    if (a_second < 1e2) return fmt::format("{:.2g} /s", a_second);
    if (a_second < 1e4) return fmt::format("{:.0f} /s", a_second);
    if (a_second < 1e7) return fmt::format("{:.1f} k/s", a_second / 1e3);
    return fmt::format("{:.1f} M/s", a_second / 1e6);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

double sum_of(const Json& value) {
    if (value.is_number()) return value.get<double>();
    double sum = 0;
    if (value.is_structured())
        for (const Json& each : value) sum += sum_of(each);
    return sum;
}

double largest_of(const Json& value) {
    if (!value.is_array()) return sum_of(value);
    double most = 0;
    for (const Json& each : value) most = std::max(most, sum_of(each));
    return most;
}

std::string packets_text(std::uint64_t packets, double seconds) {
    return seconds == 0 ? count_text(packets) : times_text(static_cast<double>(packets) / seconds);
}

std::string word_text(const Json& value) {
    if (value.is_null()) return "-";
    return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::vector<std::string> Figures::row(std::string first, std::string_view names) const {
    std::vector<std::string> cells{std::move(first)};
    for (const std::string& name : split_words(names)) cells.push_back((*this)(name));
    return cells;
}

std::string Figures::operator()(std::string_view name) const {
    const std::string path = fmt::format("{}.{}", path_, name);
    const Figure* figure = find_figure(path);
    if (figure == nullptr) throw std::logic_error("no figure " + path);
    const Json* value = find_part(*part_, name).value;
    if (value == nullptr) return "-";
    if (seconds_ != 0 && figure->kind == FigureKind::counter && value->is_number())
        return rate_text(*figure, value->get<double>() / seconds_);
    if (std::string_view(figure->path).ends_with(".{quantile}")) {
        const std::size_t dot = name.rfind('.');
        const Json& all = dot == name.npos ? *part_ : *find_part(*part_, name.substr(0, dot)).value;
        return of_histogram(*figure, all, *value, name.ends_with("max"));
    }
    return figure_text(*figure, *value);
}

}  // namespace sluice::ctl
