#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/config/text/say.hh"
#include "control/report/figures/figure_path.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// A report's differences over a window.
struct Window {
    Json report;
    double seconds = 1;
};

struct Row {
    const char* figure;
    const char* unit;
    const char* path;  // in its part of the report
};
constexpr std::array port_rows{
    Row{"in", "bps", "rx.bytes"},
    Row{"out", "bps", "tx.bytes"},
    Row{"dropped", "per_s", "drops"},
    Row{"CNPs in", "per_s", "cnp_packets"},
    Row{"paused by peer", "share", "pfc.rx_paused_ns"},
    Row{"peer paused", "share", "pfc.tx_paused_ns"},
};
constexpr std::array queue_rows{
    Row{"sent", "bps", "tx_bytes"},
    Row{"marked", "per_s", "ecn_marked_packets"},
    Row{"dropped", "per_s", "dropped_packets"},
    Row{"wait p50", "ns", "latency_ns.p50"},
    Row{"wait p99", "ns", "latency_ns.p99"},
};
constexpr std::array group_rows{
    Row{"XOFF", "per_s", "xoff_transitions"},
    Row{"dropped", "per_s", "dropped_packets"},
};
constexpr std::array flow_rows{
    Row{"throughput", "bps", "delivered_bytes"},   Row{"paused", "share", "paused_ns"},
    Row{"CNPs", "per_s", "cnp_received_packets"},  Row{"sent again", "per_s", "retransmitted_packets"},
    Row{"message p50", "ns", "completion_ns.p50"}, Row{"message p99", "ns", "completion_ns.p99"},
};

// The row of a part of the report over so many seconds, by its unit; null: there is none. A share is that of
// the class that is paused the longest; "ns" are quantiles as they are.
Json measured(const Row& row, const Json* part, double seconds) {
    const Json* value = part == nullptr ? nullptr : find_part(*part, row.path).value;
    if (value == nullptr) return nullptr;
    const std::string_view unit = row.unit;
    if (unit == "ns") return *value;
    if (unit == "share") return largest_of(*value) / ns_a_second / seconds;
    return sum_of(*value) * (unit == "bps" ? 8 : 1) / seconds;
}

bool is_nothing(const Json& value) { return value.is_null() || value == 0; }

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

// Rows {place, figure, unit, before, after} of figures that are not 0 in both; the unit is one of bps, per_s,
// share, ns. Null: nothing was there to be measured.
Json comparison(const Window& before, const Window& after) {
    Json list = Json::array();
    const auto add = [&](const std::string& place, const std::string& path, std::span<const Row> rows) {
        const Json* was = find_part(before.report, path).value;
        const Json* now = find_part(after.report, path).value;
        for (const Row& row : rows) {
            Json then = measured(row, was, before.seconds), later = measured(row, now, after.seconds);
            if (is_nothing(then) && is_nothing(later)) continue;
            list.push_back({{"place", place},
                            {"figure", row.figure},
                            {"unit", row.unit},
                            {"before", std::move(then)},
                            {"after", std::move(later)}});
        }
    };
    for (const auto& [name, flow] : after.report["flows"].items())
        add("flow " + name, "flows." + name, flow_rows);
    for (const auto& [name, port] : after.report["ports"].items()) {
        add("port " + name, "ports." + name, port_rows);
        for (std::size_t n = 0; n < port["queues"].size(); ++n)
            add(fmt::format("queue {}.{}", name, n), fmt::format("ports.{}.queues.{}", name, n), queue_rows);
        for (std::size_t n = 0; n < port["priority_groups"].size(); ++n)
            add(fmt::format("group {}.{}", name, n), fmt::format("ports.{}.priority_groups.{}", name, n),
                group_rows);
    }
    return list;
}

// As a table with differences, without rows that are the same to half a per cent, which are counted.
std::string comparison_text(const Json& rows) {
    Table table({"<", "<", "before", "after", "difference", ""});
    unsigned unchanged = 0;
    for (const Json& row : rows) {
        const auto& unit = row["unit"].get_ref<const std::string&>();
        const Json &before = row["before"], &after = row["after"];
        const double was = before.is_null() ? 0 : before.get<double>();
        const double now = after.is_null() ? 0 : after.get<double>();
        const bool both = !before.is_null() && !after.is_null();
        if (both && are_the_same(unit, was, now)) {
            ++unchanged;
            continue;
        }
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

// The connection ends with the command, so that the switch takes the change back, unless it is done().
class Connection {
  public:
    explicit Connection(Context& context) : context_(context) {}
    ~Connection() {
        if (!is_done_) context_.hang_up();
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    void done() { is_done_ = true; }

  private:
    Context& context_;
    bool is_done_ = false;
};

Window measured(Context& context, Duration window) {
    const Sample before = sample(context, "");
    pass_time(context, window, true);
    const Sample after = sample(context, "");
    return {between(before, after, ""), static_cast<double>(after.now_ns - before.now_ns) / 1e9};
}

// The window, where it can be measured and a change be made at all.
Duration window_of(Context& context, const Arguments& arguments) {
    constexpr Duration shortest = microseconds(1), longest = seconds(3600);
    const Duration window = time_said(arguments, "watch");
    if (window < shortest || window > longest)
        throw Failure{exit_usage, fmt::format("watch {}: allowed: 1us to 1h", print_time(window))};
    if (arguments.has("confirm"))
        throw Failure{exit_usage,
                      "watch takes the change back by itself; do: leave confirm out, or say keep"};
    const Json hello = context.call("hello");
    if (hello["clock"] == "virtual" && hello["interactive"] != true)
        throw Failure{exit_refused,
                      "a virtual clock that runs by itself is only looked at; do: start sluiced with "
                      "--interactive"};
    return window;
}

void progress(const std::string& text) {
    if (isatty(STDERR_FILENO) == 1) complain("{}\n", text);
}

}  // namespace

Answer try_changes(Context& context, const Json& changes, const Arguments& arguments) {
    const Duration window = window_of(context, arguments);
    const bool keep = arguments.has("keep");
    progress(fmt::format("{} before the change ...", print_time(window)));
    const Window before = measured(context, window);
    constexpr Duration patience = seconds(30);
    Json parameters = {
        {"changes", changes}, {"confirm", print_time(window + window + patience)}, {"trial", true}};
    Connection connection(context);
    Json done = context.call("config.change", with_options(std::move(parameters), arguments));
    done.erase("confirm_by_ns");  // nobody needs to confirm it
    done.erase("waiting");
    if (done["changes"].empty()) {
        connection.done();
        return applied(std::move(done));
    }
    progress(fmt::format("{} behind it ...", print_time(window)));
    const Window after = measured(context, window);
    context.call(keep ? "config.confirm" : "config.rollback", {{"trial", true}});
    connection.done();

    const bool is_virtual = context.call("hello")["clock"] == "virtual";
    std::string text = applied(done).text;
    Json rows = comparison(before, after);
    text += fmt::format("\n{} before, and {} behind it{}:\n{}", ns_text(before.seconds * 1e9),
                        ns_text(after.seconds * 1e9),
                        is_virtual ? ", by which the switch's clock has run on" : "", comparison_text(rows));
    text += keep ? "kept\n" : "taken back; to keep it: --keep\n";
    return {{{"applied", std::move(done)},
             {"before_ns", static_cast<std::uint64_t>(before.seconds * 1e9)},
             {"after_ns", static_cast<std::uint64_t>(after.seconds * 1e9)},
             {"rows", std::move(rows)},
             {"kept", keep}},
            std::move(text)};
}

}  // namespace sluice::ctl
