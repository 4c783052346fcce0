#include "control/fabric/scenario/compare.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/text/json_text.hh"
#include "control/config/text/quantity_text.hh"
#include "control/report/figures/figure_unit.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// The members that tell entries of a list apart.
constexpr std::array identities{"name", "that", "phase", "switch", "port", "queue", "from", "to"};
// Members that repeat others.
constexpr std::array left_out{"pause_timeline", "verdict.headline"};
// Members of the whole report that name it, that its configuration has, too, or that have a table of their
// own.
constexpr std::array not_compared{"fabric", "name", "question", "clock", "seed", "message_sizes"};
constexpr std::string_view configured = "configuration.";
// The figures of a flow for people; its others are among the figures.
constexpr std::array flow_figures{"throughput_bps",        "messages",         "failed_messages",
                                  "retransmitted_packets", "paused_ns",        "completion_ns.p50",
                                  "completion_ns.p99",     "completion_ns.max"};

bool ends_in(std::string_view path, std::string_view name) {
    return path.ends_with(name) && (path.size() == name.size() || path[path.size() - name.size() - 1] == '.');
}

template <class Names>
bool is_among(const Names& names, std::string_view path) {
    return std::ranges::any_of(names, [&](const char* name) { return ends_in(path, name); });
}

// Names of the catalogues' lists whose entries are of one moment each.
const std::set<std::string>& lists_that_grow() {
    static const std::set<std::string> names = [] {
        std::set<std::string> made;
        for (const std::span<const Figure> rows : {figures(), fabric_figures()})
            for (const Figure& figure : rows) {
                const std::string_view list = figure.path.substr(0, figure.path.find(".[]"));
                if (list.size() != figure.path.size()) made.emplace(list.substr(list.rfind('.') + 1));
            }
        return made;
    }();
    return names;
}

// 2: a flag; 0: words; below 1: numbers, relative to the larger one, where a few packets more are few.
double size_of(const Json& before, const Json& after) {
    constexpr double few = 10;
    if (before.is_boolean() || after.is_boolean()) return 2;
    const auto number = [](const Json& value) { return value.is_number() ? value.get<double>() : 0; };
    const double x = number(before), y = number(after);
    return std::abs(x - y) / (std::max(std::abs(x), std::abs(y)) + few);
}

std::string identity_of(const Json& entry) {
    std::string text;
    if (!entry.is_object()) return text;
    for (const char* name : identities)
        if (const auto own = entry.find(name); own != entry.end() && own->is_primitive() && !own->is_null())
            text +=
                (text.empty() ? "" : ".") + (own->is_string() ? own->get<std::string>() : json_text(*own));
    return text;
}

// The members of an object, or the entries of a list by identity or else by place.
std::vector<std::pair<std::string, const Json*>> entries_of(const Json& tree, bool by_identity) {
    std::vector<std::pair<std::string, const Json*>> entries;
    for (const auto& [key, value] : tree.items())
        entries.emplace_back(by_identity ? identity_of(value) : key, &value);
    return entries;
}

bool is_told_apart(const Json& list) {
    std::set<std::string> known;
    return std::ranges::all_of(list, [&](const Json& entry) {
        std::string identity = identity_of(entry);
        return !identity.empty() && known.insert(std::move(identity)).second;
    });
}

struct Difference {
    std::string figure;
    Json before, after;
    double size;
};

class Comparison {
  public:
    std::vector<Difference> configuration, flows, figures;

    void compare(const std::string& path, const Json* before, const Json* after) {
        if (is_among(left_out, path)) return;
        const bool both = before != nullptr && after != nullptr;
        if (both && before->is_object() && after->is_object())
            return compare_entries(path, *before, *after, false);
        if (both && before->is_array() && after->is_array()) return compare_lists(path, *before, *after);
        const Json one = leaf_of(before), other = leaf_of(after);
        if (one != other) add(path, &one, &other);
    }

  private:
    // A row stands for all members of a part that only one report has.
    static Json leaf_of(const Json* value) {
        if (value == nullptr || (value->is_structured() && value->empty())) return nullptr;
        return value->is_structured() ? Json("there") : *value;
    }

    void compare_lists(const std::string& path, const Json& before, const Json& after) {
        const std::string name = path.substr(path.rfind('.') + 1);
        if (lists_that_grow().contains(name)) {
            const Json one = before.size(), other = after.size();
            if (one != other) add(path, &one, &other);
            return;
        }
        compare_entries(path, before, after, is_told_apart(before) && is_told_apart(after));
    }

    void compare_entries(const std::string& path, const Json& before, const Json& after, bool by_identity) {
        const auto entries = entries_of(before, by_identity), now = entries_of(after, by_identity);
        std::map<std::string_view, const Json*> others(now.begin(), now.end());
        for (const auto& [key, value] : entries) {
            const auto other = others.extract(key);
            compare_entry(path, key, value, other ? other.mapped() : nullptr);
        }
        for (const auto& [key, value] : now)
            if (others.contains(key)) compare_entry(path, key, nullptr, value);
    }
    void compare_entry(const std::string& path, const std::string& key, const Json* before,
                       const Json* after) {
        const bool is_switch = path.starts_with("switches.") && path.find('.', 9) == path.npos;
        if (path.empty() && (key == "asserts" || is_among(not_compared, key))) return;
        if (is_switch && (key == "hosts" || key == "flows")) return;  // once, of the whole fabric
        compare(path.empty() ? key : path + "." + key, before, after);
    }

    void add(const std::string& path, const Json* before, const Json* after) {
        const bool of_flow = path.starts_with("flows.") && is_among(flow_figures, path);
        if (path.starts_with(configured))
            return configuration.push_back({path.substr(configured.size()), *before, *after, 0});
        auto& list = of_flow || path.starts_with("collectives.") ? flows : figures;
        list.push_back({path, *before, *after, size_of(*before, *after)});
    }
};

// Over all leaves of that name, or in a list of it. `within`: in such a list.
void add_up(const Json& tree, std::string_view name, bool is_most, std::uint64_t& total,
            bool within = false) {
    if (!tree.is_structured()) return;
    for (const auto& [key, value] : tree.items()) {
        const bool is_wanted = within || key == name;
        if (value.is_number_unsigned() && is_wanted) {
            const auto own = value.get<std::uint64_t>();
            total = is_most ? std::max(total, own) : total + own;
        }
        add_up(value, name, is_most, total, is_wanted && value.is_array());
    }
}

// The totals that people ask for first, by their names in a row of a sweep.
std::vector<Difference> totals_of(const Json& before, const Json& after) {
    struct Total {
        const char *figure, *within, *name;
        bool is_most;
    };
    const char* switches = before.contains("switches") ? "switches" : "ports";
    const std::array totals{Total{"xoff_sent", switches, "tx_xoff", false},
                            Total{"deepest_queue_bytes", switches, "deepest_bytes", true},
                            Total{"marked_packets", switches, "ecn_marked_packets", false},
                            Total{"cnp_packets", "flows", "cnp_sent_packets", false},
                            Total{"lost_lossless_packets", "verdict", "lost_packets", false}};
    std::vector<Difference> found;
    for (const Total& each : totals) {
        std::array<std::uint64_t, 2> sums{};
        const std::array reports{&before, &after};
        for (std::size_t n = 0; n < sums.size(); ++n)
            if (const auto within = reports.at(n)->find(each.within); within != reports.at(n)->end())
                add_up(*within, each.name, each.is_most, sums.at(n));
        if (sums[0] != sums[1]) found.push_back({each.figure, sums[0], sums[1], 0});
    }
    return found;
}

std::vector<Difference> assertions_of(const Json& before, const Json& after) {
    std::vector<std::pair<std::string, std::array<Json, 2>>> all;
    const std::array reports{&before, &after};
    for (std::size_t n = 0; n < reports.size(); ++n) {
        const auto list = reports.at(n)->find("asserts");
        if (list == reports.at(n)->end() || !list->is_array()) continue;
        for (const Json& each : *list) {
            if (!each.is_object()) continue;
            const auto met = each.find("met");
            const std::string said = identity_of(each);
            auto known = std::ranges::find_if(all, [&](const auto& one) { return one.first == said; });
            if (known == all.end()) known = all.insert(known, {said, {}});
            known->second.at(n) = met == each.end() || !met->is_boolean() ? "unknown"
                                  : *met                                  ? "holds"
                                                                          : "FALSE";
        }
    }
    std::vector<Difference> found;
    for (auto& [said, met] : all)
        if (met[0] != met[1]) found.push_back({said, std::move(met[0]), std::move(met[1]), 0});
    return found;
}

// Two figures of slowdown over message size, beside each other: every class that either has. Empty: they are
// the same.
Json sizes_of(const Json& before, const Json& after) {
    std::map<std::uint64_t, Json> classes;
    const auto take = [&](const Json& report, const char* side) {
        const auto sizes = report.find("message_sizes");
        if (sizes == report.end() || !sizes->is_object()) return Json();
        for (const auto& [name, value] : sizes->items()) {
            const auto to = value.is_object() ? value.find("to_bytes") : value.end();
            if (to == value.end() || !to->is_number_unsigned()) continue;
            Json& entry = classes.try_emplace(to->get<std::uint64_t>(), Json{{"size", name}}).first->second;
            entry[side] = value;
        }
        return *sizes;
    };
    const Json one = take(before, "before"), other = take(after, "after");
    Json made = Json::array();
    if (one == other) return made;
    for (auto& [to, entry] : classes) {
        for (const char* side : {"before", "after"})
            if (!entry.contains(side)) entry[side] = nullptr;
        made.push_back(std::move(entry));
    }
    return made;
}

std::string sizes_text(const Json& sizes) {
    TextTable table("slowdown, messages<20|number A>12|B>12|p50 A>8|B>8|p95 A>8|B>8|p99 A>8|B>8");
    for (const Json& each : sizes) {
        const auto cells = [&](const char* path, auto text) {
            std::array<std::string, 2> both;
            for (std::size_t n = 0; n < both.size(); ++n) {
                const Json& side = each[n == 0 ? "before" : "after"];
                const Json value = side.is_object() ? side.value(Json::json_pointer(path), Json()) : Json();
                both.at(n) = value.is_number_unsigned() ? text(number(value)) : "-";
            }
            return both;
        };
        const auto counts = cells("/messages", [](std::uint64_t n) { return grouped_text(n); });
        if (counts == std::array<std::string, 2>{"0", "0"}) continue;
        std::vector<std::string> row{fmt::format("up to {}", words(each["size"])), counts[0], counts[1]};
        for (const char* quantile : {"p50", "p95", "p99"})
            for (std::string& cell : cells(fmt::format("/slowdown_permille/{}", quantile).c_str(),
                                           [](std::uint64_t n) { return quantile_ratio_text(n); }))
                row.push_back(std::move(cell));
        table.row(row);
    }
    return table.text();
}

Json list_json(std::vector<Difference> list) {
    std::ranges::stable_sort(list, std::greater(), &Difference::size);
    Json made = Json::array();
    for (Difference& each : list)
        made.push_back({{"figure", std::move(each.figure)},
                        {"before", std::move(each.before)},
                        {"after", std::move(each.after)}});
    return made;
}

// At most `most` bytes, and no part of a character.
std::string cut_text(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end) + "...";
}

constexpr std::size_t max_words = 40;  // of a value that is words

std::string value_words(const std::string& path, const Json& value) {
    if (value.is_null()) return "-";
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return cut_text(value.get<std::string>(), max_words);
    if (!value.is_number_unsigned())
        return value.is_number() ? fmt::format("{:.4g}", value.get<double>())
                                 : cut_text(json_text(value), max_words);
    const FigureUnit unit = unit_of(path);
    const bool is_quantile = ends_in(path, "p50") || ends_in(path, "p99") || ends_in(path, "p999");
    if (unit != FigureUnit::ns || !is_quantile) return figure_text(value, unit);
    const auto number = value.get<std::uint64_t>();
    return quantile_text(number, number);
}

std::string change_text(const Json& before, const Json& after) {
    if (!before.is_number() || !after.is_number() || before.get<double>() == 0) return {};
    const double from = before.get<double>();
    return fmt::format("{:+.1f} %", (after.get<double>() - from) / std::abs(from) * 100);
}

}  // namespace

Json compare_reports(const Json& before, const Json& after) {
    Comparison comparison;
    comparison.compare({}, &before, &after);
    Json made = {{"differ", false},
                 {"totals", list_json(totals_of(before, after))},
                 {"configuration", list_json(std::move(comparison.configuration))},
                 {"assertions", list_json(assertions_of(before, after))},
                 {"message_sizes", sizes_of(before, after)},
                 {"flows", list_json(std::move(comparison.flows))},
                 {"figures", list_json(std::move(comparison.figures))}};
    for (const auto& [name, list] : made.items())
        if (list.is_array() && !list.empty()) made["differ"] = true;
    return made;
}

std::string differences_text(const Json& differences, std::size_t rows_shown) {
    if (differences["differ"] == false) return "nothing differs\n";
    std::string text;
    for (const auto& [name, list] : differences.items()) {
        if (!list.is_array() || list.empty()) continue;
        if (name == "message_sizes") {
            text += sizes_text(list);
            continue;
        }
        const std::size_t shown = std::min(list.size(), rows_shown);
        std::size_t width = 40;
        for (std::size_t n = 0; n < shown; ++n)
            width = std::max(width, list[n]["figure"].get_ref<const std::string&>().size());
        const auto add = [&](std::string_view label, const std::string& one, const std::string& other,
                             const std::string& change) {
            const std::string row = fmt::format("{:<{}}{:>16}{:>16}{:>12}", label, width, one, other, change);
            text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
        };
        text += "\n";
        add(name, "A", "B", "change");
        for (std::size_t n = 0; n < shown; ++n) {
            const auto& path = list[n]["figure"].get_ref<const std::string&>();
            const Json &before = list[n]["before"], &after = list[n]["after"];
            const auto words = [&, is_key = name == "configuration"](const Json& value) {
                return is_key && value.is_null() ? "default" : value_words(path, value);
            };
            std::string one = words(before), other = words(after);
            if (one == other)
                one = cut_text(json_text(before), max_words), other = cut_text(json_text(after), max_words);
            add(path, one, other, change_text(before, after));
        }
        if (list.size() > shown)
            text += fmt::format("and {} more; do: --all, or --json\n", grouped_text(list.size() - shown));
    }
    return text.substr(1);
}

}  // namespace sluice::fabric
