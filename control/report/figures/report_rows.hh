// A report made of the catalogue's rows (figures.def). The file that makes a part has a table of the rows
// within a path, each with a getter of `from`, the source of the part:
//
//     FIGURE_ROWS(ledger_rows, Ledger, "ledger") = {
//     #include "control/report/figures/rows/ledger.def"
//     };
//
// json_of(ledger_rows, ledger) is the part, its members in the rows' order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "control/config/text/json_text.hh"
#include "lib/threads/histogram.hh"
#include "lib/values/units.hh"

namespace sluice {

// The value of a figure that is not there now: the member is left out.
inline nlohmann::ordered_json absent() {
    return nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded);
}
inline nlohmann::ordered_json only_if(bool is_there, nlohmann::ordered_json value) {
    return is_there ? std::move(value) : absent();
}
// `maybe`: an optional or a pointer.
template <class Maybe, class Get>
nlohmann::ordered_json if_there(const Maybe& maybe, Get get) {
    if (!maybe) return absent();
    return std::invoke(get, *maybe);
}
nlohmann::ordered_json or_absent(const auto& optional) {
    return optional ? nlohmann::ordered_json(*optional) : absent();
}
nlohmann::ordered_json or_null(const auto& optional) {
    return optional ? nlohmann::ordered_json(*optional) : nlohmann::ordered_json(nullptr);
}

struct Quantile {
    const char* name;
    unsigned per_mille;
};
inline constexpr std::array usual_quantiles{Quantile{"p50", 500}, Quantile{"p99", 990}, Quantile{"p999", 999},
                                            Quantile{"max", 1000}};

// The quantiles of durations, in units of `unit_ps`.
inline nlohmann::ordered_json quantiles_json(const Histogram& histogram, std::int64_t unit_ps = 1000,
                                             std::span<const Quantile> quantiles = usual_quantiles) {
    nlohmann::ordered_json json;
    for (const Quantile& each : quantiles) json[each.name] = histogram.quantile(each.per_mille).ps / unit_ps;
    return json;
}
// A quantile of nothing is null: as 0 it would be below every limit.
inline nlohmann::ordered_json quantiles_or_null(const Histogram& histogram, std::int64_t unit_ps = 1000,
                                                std::span<const Quantile> quantiles = usual_quantiles) {
    nlohmann::ordered_json json = quantiles_json(histogram, unit_ps, quantiles);
    if (histogram.count() == 0)
        for (nlohmann::ordered_json& each : json) each = nullptr;
    return json;
}

constexpr std::int64_t ns(Duration duration) { return duration.ps / 1000; }
constexpr std::int64_t ns(Time time) { return time.ps / 1000; }

// The path of a part, as an argument of a template.
template <std::size_t length>
struct PartPath {
    std::array<char, length> text{};
    // NOLINTNEXTLINE(modernize-avoid-c-arrays,google-explicit-constructor): as "ledger"
    constexpr PartPath(const char (&literal)[length]) { std::copy_n(literal, length, text.begin()); }
    constexpr std::string_view view() const { return {text.data(), length - 1}; }
};

template <class Source, PartPath part>
struct ReportRow {
    using Get = nlohmann::ordered_json (*)(const Source& from);
    constexpr ReportRow(std::string_view of, Get getter) : path(within(of)), get(getter) {}

    std::string_view path;  // within the part: of a member, or of a member's member
    Get get;

  private:
    // Without the label that ends it.
    static constexpr std::string_view within(std::string_view path) {
        if (!part.view().empty()) {
            if (!path.starts_with(part.view()) || path[part.view().size()] != '.')
                throw std::logic_error("the row is of another part");
            path.remove_prefix(part.view().size() + 1);
        }
        const std::size_t label = path.find_first_of("{[");
        return label == std::string_view::npos ? path : path.substr(0, label - 1);
    }
};

// `to` has none of these members yet.
template <class Source, PartPath part, std::size_t count>
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
void add_rows(nlohmann::ordered_json& to, const ReportRow<Source, part> (&rows)[count], const Source& from) {
    make_room(to, to.size() + count);
    auto& members = to.get_ref<nlohmann::ordered_json::object_t&>();
    for (const auto& row : rows) {
        nlohmann::ordered_json value = row.get(from);
        if (value.is_discarded()) continue;
        const std::size_t dot = row.path.find('.');
        if (dot == std::string_view::npos)
            members.emplace_back(row.path, std::move(value));
        else
            to[std::string(row.path.substr(0, dot))][std::string(row.path.substr(dot + 1))] =
                std::move(value);
    }
}

template <class Source, PartPath part, std::size_t count>
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
nlohmann::ordered_json json_of(const ReportRow<Source, part> (&rows)[count], const Source& from) {
    nlohmann::ordered_json json;
    add_rows(json, rows, from);
    return json;
}

}  // namespace sluice

// NOLINTNEXTLINE(modernize-avoid-c-arrays): its rows are counted by the compiler
#define FIGURE_ROWS(name, Source, part) constexpr ReportRow<Source, part> name[]
#define FIGURE(path, kind, unit, when, sentence, ...) \
    {path, []([[maybe_unused]] const auto& from) -> nlohmann::ordered_json { return __VA_ARGS__; }},
#define PART(path, ...) FIGURE(path, , , , , __VA_ARGS__)
