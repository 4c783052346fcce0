#include "control/report/figures/assertions.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/report/figures/report_path.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// Lists and tables that grow while the switch runs, and parts that a port has only once they were needed.
constexpr std::array<std::string_view, 6> growing{"decisions",   "ecmp",     "events",
                                                  "microbursts", "watchdog", "wires"};
constexpr std::array<std::string_view, 10> late_at_a_port{
    "faults", "injected_packets", "inject_lost_packets", "mirrored_packets",    "physical",
    "punted", "replied_packets",  "returned_packets",    "tap_refused_packets", "unresolved_waiting_packets"};

bool may_come(const ReportPart& part) {
    const std::string_view within = part.within_path;
    const std::string_view first = within.substr(0, within.find('.'));
    if (std::find(growing.begin(), growing.end(), first) != growing.end()) return true;
    return within.starts_with("ports.") &&
           std::find(late_at_a_port.begin(), late_at_a_port.end(), part.missing) != late_at_a_port.end();
}

struct Judgment {
    bool is_true = false;
    std::string wrong;   // why it cannot be judged; empty: it was
    std::string figure;  // the figure found
};

// `is_early`: the run is still to come, and parts that may come with it are not missed.
Judgment judge_one(const Condition& condition, const Json& report, bool is_early) {
    const ReportPart part = find_part(report, condition.path);
    if (part.value == nullptr) {
        if (is_early && may_come(part)) return {};
        return {false, part.error(), {}};
    }
    const auto value = condition.find(*part.value);
    if (!value) return {false, value.error(), {}};
    const auto holds = condition.holds(**value);
    if (!holds) return {false, holds.error(), {}};
    return {*holds, {}, condition.figure(**value)};
}

}  // namespace

std::string Assertions::add(std::string expression) {
    auto condition = Condition::parse(split_words(expression));
    if (!condition) return std::move(condition.error());
    assertions_.push_back({std::move(expression), std::move(*condition)});
    return {};
}

std::vector<std::string> Assertions::check(const Json& report) const {
    std::vector<std::string> wrong;
    for (const auto& [text, condition] : assertions_)
        if (const Judgment judged = judge_one(condition, report, true); !judged.wrong.empty())
            wrong.push_back(fmt::format("--assert {}: {}", in_quotes(text), judged.wrong));
    return wrong;
}

std::vector<Assertions::Judged> Assertions::judge(const Json& report) const {
    std::vector<Judged> all;
    for (const auto& [text, condition] : assertions_) {
        const Judgment judged = judge_one(condition, report, false);
        all.push_back({text, judged.figure,
                       judged.is_true         ? ""
                       : judged.wrong.empty() ? "it is " + judged.figure
                                              : judged.wrong});
    }
    return all;
}

Json assertions_json(const std::vector<Assertions::Judged>& judged, bool interrupted) {
    Json list = Json::array();
    for (const auto& [assertion, figure, wrong] : judged) {
        list.push_back({{"that", assertion}, {"value", figure}, {"met", wrong.empty()}, {"wrong", wrong}});
        if (interrupted)
            list.back().update({{"value", nullptr}, {"met", nullptr}, {"wrong", "the run was interrupted"}});
    }
    return list;
}

std::string assertions_text(const std::vector<Assertions::Judged>& judged) {
    std::string text;
    std::size_t holding = 0;
    for (const auto& [assertion, figure, wrong] : judged) {
        const bool holds = wrong.empty();
        holding += holds ? 1 : 0;
        text += fmt::format("{:<7} {}: {}\n", holds ? "holds" : "FALSE", assertion,
                            holds ? "it is " + figure : wrong);
    }
    return text.empty() ? text : fmt::format("\nassertions: {} of {} hold\n{}", holding, judged.size(), text);
}

}  // namespace sluice
