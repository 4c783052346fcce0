#include "tools/fabric/scenario/junit.hh"

#include <fmt/format.h>

#include "control/text/json_text.hh"
#include "control/text/xml_text.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

// A case of a suite, its failure or error inside.
struct Case {
    std::string name, failure, error;
};

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::vector<Case> cases_of(const ScenarioResult& result) {
    std::vector<Case> cases;
    if (!result.errors.empty()) {
        std::string all;
        for (const std::string& error : result.errors) all += error + "\n";
        cases.push_back({"run", {}, all});
    }
    if (result.report.is_null()) return cases;
    for (const Json& each : result.report["asserts"]) {
        Case one{each["that"].get<std::string>(), {}, {}};
        if (!each["phase"].is_null()) one.name += " in " + each["phase"].get<std::string>();
        if (each["met"] != true) {
            const auto wrong = each["wrong"].get<std::string>();
            one.failure = wrong.empty() ? fmt::format("it is {}, at {}", value_text(each["value"]),
                                                      each["where"].get<std::string>())
                                        : wrong;
            if (const auto why = each["why"].get<std::string>(); !why.empty()) one.failure += "; " + why;
        }
        cases.push_back(std::move(one));
    }
    return cases;
}

}  // namespace

std::string junit_text(const std::vector<ScenarioResult>& results) {
    std::string suites;
    for (const ScenarioResult& result : results) {
        const std::string name = xml_text(result.name);
        std::size_t failures = 0, errors = 0;
        std::string body;
        const std::vector<Case> cases = cases_of(result);
        for (const Case& each : cases) {
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
        suites += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}  </testsuite>\n", name,
            cases.size(), failures, errors, body);
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + suites + "</testsuites>\n";
}

}  // namespace sluice::fabric
