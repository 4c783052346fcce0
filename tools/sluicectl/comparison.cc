#include "tools/sluicectl/comparison.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "control/config/text/quantity_text.hh"
#include "control/report/figures/figure_path.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// Of a part of the report over so many seconds; null: there is none.
using Measure = std::function<Json(const Json& part, double seconds)>;
struct Row {
    const char* figure;
    const char* unit;
    Measure measure;
};

double max_of(const Json& list) {
    double most = 0;
    for (const Json& each : list) most = std::max(most, each.get<double>());
    return most;
}

Measure a_second(const char* path, double factor = 1) {
    return [path, factor](const Json& part, double seconds) -> Json {
        const Json* value = find_part(part, path).value;
        return value == nullptr ? Json(nullptr) : Json(sum_of(*value) * factor / seconds);
    };
}
// Of the class that is paused the longest.
Measure share(const char* path) {
    return [path](const Json& part, double seconds) -> Json {
        const Json* value = find_part(part, path).value;
        if (value == nullptr) return nullptr;
        return (value->is_array() ? max_of(*value) : sum_of(*value)) / ns_a_second / seconds;
    };
}
Measure as_it_is(const char* path) {
    return [path](const Json& part, double) -> Json {
        const Json* value = find_part(part, path).value;
        return value == nullptr ? Json(nullptr) : *value;
    };
}

const std::array port_rows{Row{"in", "bps", a_second("rx.bytes", 8)},
                           Row{"out", "bps", a_second("tx.bytes", 8)},
                           Row{"dropped", "per_s", a_second("drops")},
                           Row{"CNPs in", "per_s", a_second("cnp_packets")},
                           Row{"paused by peer", "share", share("pfc.rx_paused_ns")},
                           Row{"pausing peer", "share", share("pfc.tx_paused_ns")}};
const std::array queue_rows{Row{"sent", "bps", a_second("tx_bytes", 8)},
                            Row{"marked", "per_s", a_second("ecn_marked_packets")},
                            Row{"dropped", "per_s", a_second("dropped_packets")},
                            Row{"wait, median", "ns", as_it_is("latency_ns.p50")},
                            Row{"wait, 99 %", "ns", as_it_is("latency_ns.p99")}};
const std::array group_rows{Row{"XOFF", "per_s", a_second("xoff_transitions")},
                            Row{"dropped", "per_s", a_second("dropped_packets")}};
const std::array flow_rows{Row{"throughput", "bps", a_second("delivered_bytes", 8)},
                           Row{"paused", "share", share("paused_ns")},
                           Row{"CNPs", "per_s", a_second("cnp_received_packets")},
                           Row{"sent again", "per_s", a_second("retransmitted_packets")},
                           Row{"message, median", "ns", as_it_is("completion_ns.p50")},
                           Row{"message, 99 %", "ns", as_it_is("completion_ns.p99")}};

bool is_nothing(const Json& value) { return value.is_null() || value == 0; }

class Rows {
  public:
    Rows(const Window& before, const Window& after) : before_(before), after_(after) {}

    void add(const std::string& place, const std::string& path, std::span<const Row> rows) {
        const Json* was = find_part(before_.report, path).value;
        const Json* now = find_part(after_.report, path).value;
        for (const Row& row : rows) {
            Json before = was == nullptr ? Json(nullptr) : row.measure(*was, before_.seconds);
            Json after = now == nullptr ? Json(nullptr) : row.measure(*now, after_.seconds);
            if (is_nothing(before) && is_nothing(after)) continue;
            list.push_back({{"place", place},
                            {"figure", row.figure},
                            {"unit", row.unit},
                            {"before", std::move(before)},
                            {"after", std::move(after)}});
        }
    }

    Json list = Json::array();

  private:
    const Window& before_;
    const Window& after_;
};

std::string value_text(std::string_view unit, const Json& value) {
    if (value.is_null()) return "-";
    const auto number = value.get<double>();
    if (unit == "bps") return bits_text(number);
    if (unit == "per_s") return times_text(number);
    return unit == "share" ? share_text(number) : quantile_text(static_cast<std::uint64_t>(number));
}

// To half a per cent; of times, which are all quantiles, to the digits that are shown.
bool are_the_same(std::string_view unit, double was, double now) {
    constexpr double same = 0.005;
    if (unit == "ns")
        return two_digits(static_cast<std::uint64_t>(was)) == two_digits(static_cast<std::uint64_t>(now));
    return std::abs(now - was) <= same * std::max(std::abs(was), std::abs(now));
}

std::string difference_text(std::string_view unit, double before, double after) {
    const double difference = after - before;
    return (difference < 0 ? "-" : "+") + value_text(unit, std::abs(difference));
}

}  // namespace

Json comparison(const Window& before, const Window& after) {
    Rows rows(before, after);
    for (const auto& [name, flow] : after.report["flows"].items())
        rows.add("flow " + name, "flows." + name, flow_rows);
    for (const auto& [name, port] : after.report["ports"].items()) {
        rows.add("port " + name, "ports." + name, port_rows);
        for (std::size_t n = 0; n < port["queues"].size(); ++n)
            rows.add(fmt::format("queue {}.{}", name, n), fmt::format("ports.{}.queues.{}", name, n),
                     queue_rows);
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n)
            rows.add(fmt::format("group {}.{}", name, n), fmt::format("ports.{}.priority_groups.{}", name, n),
                     group_rows);
    }
    return std::move(rows.list);
}

std::string comparison_text(const Json& rows) {
    Table table({"<", "<", "before", "after", "difference", ""});
    unsigned unchanged = 0;
    for (const Json& row : rows) {
        const auto& unit = row["unit"].get_ref<const std::string&>();
        const Json &before = row["before"], &after = row["after"];
        const double was = before.is_null() ? 0 : before.get<double>();
        const double now = after.is_null() ? 0 : after.get<double>();
        if (!before.is_null() && !after.is_null() && are_the_same(unit, was, now)) {
            ++unchanged;
            continue;
        }
        const bool both = !before.is_null() && !after.is_null();
        table.row({word_text(row["place"]), word_text(row["figure"]), value_text(unit, before),
                   value_text(unit, after), both ? difference_text(unit, was, now) : "-",
                   both && was != 0 ? fmt::format("{:+.{}f} %", 100 * (now - was) / was, unit == "ns" ? 0 : 1)
                                    : ""});
    }
    const std::string others = unchanged == 0
                                   ? ""
                                   : fmt::format("{} more {} the same to 0.5 %, times to two digits\n",
                                                 unchanged, unchanged == 1 ? "figure is" : "figures are");
    if (rows.empty()) return "nothing came, before or behind the change\n";
    return (table.empty() ? "" : table.text()) + others;
}

}  // namespace sluice::ctl
