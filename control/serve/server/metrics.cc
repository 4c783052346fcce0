#include "control/serve/server/metrics.hh"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "control/report/figures/figures.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// Prometheus knows counters and gauges.
std::string_view type_of(const Figure& figure) {
    return figure.kind == FigureKind::counter ? "counter" : "gauge";
}

std::string escaped(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

// The quantile that the report calls p999 is 0.999.
std::string label_value(const FigureLabel& label) {
    if (label.name != "quantile") return escaped(label.value);
    if (label.value == "p50") return "0.5";
    if (label.value == "p99") return "0.99";
    return label.value == "p999" ? "0.999" : "1";
}

std::string labels_text(const std::vector<FigureLabel>& labels) {
    std::string out;
    for (const FigureLabel& label : labels)
        out += fmt::format("{}{}=\"{}\"", out.empty() ? "{" : ",", label.name, label_value(label));
    return out.empty() ? out : out + "}";
}

std::string value_text(const Figure& figure, const Json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    if (figure.unit == FigureUnit::mc) return fmt::format("{:.3f}", value.get<double>() / 1000);
    const auto number = value.get<std::uint64_t>();
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    if (figure.unit == FigureUnit::ns) return fmt::format("{}.{:09}", number / ns_per_s, number % ns_per_s);
    return fmt::format("{}", number);
}

// "port, queue"
std::string label_names(std::string_view path) {
    std::string names;
    for (bool inside = false; const char c : path) {
        if (c == '{' && !names.empty()) names += ", ";
        if (c == '{' || c == '}')
            inside = c == '{';
        else if (inside)
            names += c == ',' ? ", " : std::string(1, c);
    }
    return names;
}

}  // namespace

std::string metrics_text(const Json& report) {
    const auto all = figures();
    std::vector<std::string> names;
    for (const Figure& figure : all) names.push_back(metric_name(figure));
    std::vector<std::string> samples(all.size());
    for_each_leaf(report, [&](const FigureLeaf& leaf) {
        if (leaf.figure == nullptr || (!leaf.value.is_number_integer() && !leaf.value.is_boolean())) return;
        const auto index = static_cast<std::size_t>(leaf.figure - all.data());
        if (!names[index].empty())
            samples[index] += fmt::format("{}{} {}\n", names[index], labels_text(leaf.labels),
                                          value_text(*leaf.figure, leaf.value));
    });
    std::string out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!names[i].empty())
            out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", names[i], all[i].sentence, names[i],
                               type_of(all[i]), samples[i]);
    return out;
}

std::string metrics_reference() {
    std::string out = "# Metrics\n\n| name | kind | labels | meaning |\n|---|---|---|---|\n";
    for (const Figure& figure : figures()) {
        const std::string name = metric_name(figure);
        if (name.empty()) continue;
        out += fmt::format("| `{}` | {} | {} | {} |\n", name, type_of(figure), label_names(figure.path),
                           figure.sentence);
    }
    return out;
}

}  // namespace sluice
