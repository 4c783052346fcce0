#include "control/fabric/report/size_report.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/compile/hosts.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/report_rows.hh"
#include "control/report/figures/text_table.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<unsigned, 27> shares_drawn{0,   10,  50,  100, 150, 200, 250, 300, 350,
                                                400, 450, 500, 550, 600, 650, 700, 750, 800,
                                                850, 900, 925, 950, 975, 990, 995, 999, 1000};
constexpr std::uint64_t least_bound = 100;

// The bound behind `bound`: 1, 2, 5, 10, ...
std::uint64_t next_bound(std::uint64_t bound) {
    std::uint64_t lead = bound;
    while (lead % 10 == 0) lead /= 10;
    return lead == 2 ? bound / 2 * 5 : bound * 2;
}

// The quantiles by which transports are compared.
Json quantiles_of(const Histogram& histogram, std::int64_t unit_ps) {
    static constexpr std::array compared{Quantile{"p50", 500}, Quantile{"p95", 950}, Quantile{"p99", 990},
                                         Quantile{"max", 1000}};
    return quantiles_or_null(histogram, unit_ps, compared);
}

FIGURE_ROWS(size_figures, SizeReport::Class, "message_sizes.{size}") = {
#include "control/report/figures/rows/fabric/message_size.def"
};

}  // namespace

std::span<const unsigned> drawn_shares() { return shares_drawn; }

Json shares_json(const Histogram& durations) {
    Json json = {{"messages", durations.count()}, {"ns", Json::array()}};
    for (const unsigned share : shares_drawn) json["ns"].push_back(durations.quantile(share).ps / 1000);
    return json;
}

SizeReport::SizeReport(const FabricPlan& plan) {
    std::uint64_t least = UINT64_MAX, most = 0;
    const auto include = [&](std::uint64_t shortest, std::uint64_t longest) {
        least = std::min(least, shortest);
        most = std::max(most, longest);
    };
    for (const FlowConfig& flow : plan.file.flows) {
        const roce::MessageSizes sizes = message_sizes(flow.message);
        include(sizes.min_bytes(), sizes.max_bytes());
    }
    for (const WorkloadPlan& each : plan.workloads)
        for (const ListedFlow& flow : each.list.flows) include(flow.bytes, flow.bytes);
    for (std::uint64_t bytes = least; bytes <= most; bytes = class_of(bytes).to + 1) class_of(bytes);
}

SizeReport::Class& SizeReport::class_of(std::uint64_t bytes) {
    const auto found = classes_.lower_bound(bytes);
    if (found != classes_.end() && found->second.above < bytes) return found->second;
    std::uint64_t above = 0, to = least_bound;
    for (; to < bytes; to = next_bound(to)) above = to;
    Class& made = classes_[to];
    made.above = above;
    made.to = to;
    return made;
}

void SizeReport::add(std::span<const EndedMessage> messages) {
    for (const EndedMessage& message : messages) {
        if (message.failed) continue;
        Class& own = class_of(message.bytes);
        own.took.record(message.took());
        own.slowdown.record(roce::slowdown_of(message.took(), message.ideal));
    }
}

Json SizeReport::json() const {
    Json json = Json::object();
    for (const auto& [to, each] : classes_) json[print_size(to)] = json_of(size_figures, each);
    return json;
}

Json SizeReport::shares() const {
    Json list = Json::array();
    for (const auto& [to, each] : classes_) {
        Json one = {{"above_bytes", each.above}, {"to_bytes", each.to}};
        one.update(shares_json(each.took));
        one["permille"] = Json::array();
        for (const unsigned share : shares_drawn) one["permille"].push_back(each.slowdown.quantile(share).ps);
        list.push_back(std::move(one));
    }
    return list;
}

std::string size_table(const Json& sizes) {
    TextTable table(
        "message size<20|messages>12|p50>12|p99>12|slowdown p50>14|slowdown p95>14|slowdown p99>14|max>8");
    std::size_t classes = 0;
    for (const auto& [name, each] : sizes.items()) {
        if (each["messages"] == 0) continue;
        ++classes;
        const Json &took = each["completion_ns"], &slowdown = each["slowdown_permille"];
        const auto ratio = [&](const char* quantile) {
            return quantile_ratio_text(number(slowdown[quantile]), number(slowdown["max"]));
        };
        table.row({"up to " + name, counted(each["messages"]), quantile_cell(took, "p50"),
                   quantile_cell(took, "p99"), ratio("p50"), ratio("p95"), ratio("p99"), ratio("max")});
    }
    return classes < 2 ? std::string() : table.text();
}

}  // namespace sluice::fabric
