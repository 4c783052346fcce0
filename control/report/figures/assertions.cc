#include "control/report/figures/assertions.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/text/xml_text.hh"
#include "control/report/figures/figures.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

const Json* report_of(const Json& report, const std::string& phase) {
    if (phase.empty()) return &report;
    const auto phases = report.find("phases");
    return phases != report.end() && phases->contains(phase) ? &(*phases)[phase] : nullptr;
}

// "it is 5, at ports.p0.rx.packets: there is none"
std::string finding(const Json& judged) {
    const auto expression = Expression::parse(judged["that"].get<std::string>());
    auto wrong = judged["wrong"].get<std::string>();
    if (!expression) return wrong;
    return expression->finding(
        {false, judged["value"], judged["where"].get<std::string>(), std::move(wrong), false});
}

}  // namespace

tl::expected<Assertion, std::string> assertion_of(const std::string& text) {
    auto expression = Expression::parse(text);
    if (!expression) return tl::unexpected(std::move(expression.error()));
    if (const auto& phase = expression->baseline(); phase)
        return tl::unexpected(fmt::format("there is no phase {}: phases are of a fabric's run", *phase));
    return Assertion{std::move(*expression)};
}

std::string check_assertion(const Assertion& assertion, const Json& report, const Json& phase) {
    const Expression& expression = assertion.expression;
    std::string wrong = expression.check(assertion.phase.empty() ? report : phase);
    if (wrong.empty() && expression.baseline()) wrong = expression.check(phase);
    return wrong;
}

std::string check_assertion(const Assertion& assertion, const NamesOf& names) {
    const Expression& expression = assertion.expression;
    const bool of_phase = !assertion.phase.empty() || expression.baseline();
    std::string wrong =
        assertion.phase.empty() ? expression.check(fabric_figures_tree(), names) : std::string();
    if (wrong.empty() && of_phase) wrong = expression.check(phase_figures_tree(), names);
    return wrong;
}

Json judge_assertions(std::span<const Assertion> assertions, const Json& report) {
    const bool interrupted = report["verdict"]["interrupted"].get<bool>();
    Json list = Json::array();
    for (const Assertion& each : assertions) {
        Json judged = {
            {"that", each.expression.text()}, {"phase", nullptr}, {"value", nullptr}, {"met", nullptr}};
        if (!each.phase.empty()) judged["phase"] = each.phase;
        Judgment judgment;
        if (interrupted) {
            judgment.wrong = "the run was interrupted";
        } else if (const Json* within = report_of(report, each.phase); within == nullptr) {
            judgment.wrong = fmt::format("the run ended before phase {}", each.phase);
            judged["met"] = false;
        } else {
            const auto& baseline = each.expression.baseline();
            judgment = each.expression.judge(*within, baseline ? report_of(report, *baseline) : nullptr);
            judged["value"] = judgment.value;
            judged["met"] = judgment.met;
        }
        judged["where"] = judgment.where;
        judged["why"] = each.why;
        judged["wrong"] = judgment.wrong;
        list.push_back(std::move(judged));
    }
    return list;
}

bool all_met(const Json& judged) {
    return std::ranges::all_of(judged, [](const Json& each) { return each["met"] == true; });
}

std::string assertions_text(const Json& judged) {
    std::string text;
    std::size_t met = 0;
    for (const Json& each : judged) {
        const bool holds = each["met"] == true;
        met += holds ? 1 : 0;
        text += fmt::format("{:<7} {}",
                            holds                   ? "holds"
                            : each["met"].is_null() ? "unknown"
                                                    : "FALSE",
                            each["that"].get<std::string>());
        if (!each["phase"].is_null()) text += fmt::format(" (phase {})", each["phase"].get<std::string>());
        text += fmt::format(": {}\n", finding(each));
        if (const auto why = each["why"].get<std::string>(); !holds && !why.empty())
            text += "        " + why + "\n";
    }
    if (text.empty()) return {};
    return fmt::format("\nassertions: {} of {} hold\n{}", met, judged.size(), text);
}

std::vector<std::string> false_assertions(const Json& judged) {
    std::vector<std::string> all;
    for (const Json& each : judged)
        if (each["met"] == false)
            all.push_back(fmt::format("false: {}: {}", each["that"].get<std::string>(), finding(each)));
    return all;
}

std::vector<JunitCase> junit_cases(const Json& judged) {
    std::vector<JunitCase> cases;
    for (const Json& each : judged) {
        JunitCase one{each["that"].get<std::string>(), {}, {}};
        if (!each["phase"].is_null()) one.name += " in " + each["phase"].get<std::string>();
        if (each["met"] != true) {
            std::string& text = each["met"].is_null() ? one.error : one.failure;
            text = finding(each);
            if (const auto why = each["why"].get<std::string>(); !why.empty()) text += "; " + why;
        }
        cases.push_back(std::move(one));
    }
    return cases;
}

std::string junit_text(const std::vector<JunitSuite>& suites) {
    std::string all;
    for (const JunitSuite& suite : suites) {
        const std::string name = xml_text(suite.name);
        std::size_t failures = 0, errors = 0;
        std::string body;
        for (const JunitCase& each : suite.cases) {
            body += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", name, xml_text(each.name));
            const std::string& text = each.error.empty() ? each.failure : each.error;
            if (text.empty()) {
                body += "/>\n";
                continue;
            }
            const char* element = each.error.empty() ? "failure" : "error";
            ++(each.error.empty() ? failures : errors);
            body += fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{2}</{0}>\n    </testcase>\n",
                                element, each.error.empty() ? "assertion" : "run", xml_text(text));
        }
        all += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}  </testsuite>\n", name,
            suite.cases.size(), failures, errors, body);
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + all + "</testsuites>\n";
}

}  // namespace sluice
