#include "control/fabric/scenario/junit.hh"

#include <fmt/format.h>

#include "control/config/text/json_text.hh"
#include "control/report/figures/junit.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::vector<JunitCase> cases_of(const ScenarioResult& result) {
    std::vector<JunitCase> cases;
    if (!result.errors.empty()) {
        std::string all;
        for (const std::string& error : result.errors) all += error + "\n";
        cases.push_back({"run", {}, all});
    }
    if (result.report.is_null()) return cases;
    for (const Json& each : result.report["asserts"]) {
        JunitCase one{each["that"].get<std::string>(), {}, {}};
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
    std::vector<JunitSuite> suites;
    for (const ScenarioResult& result : results) suites.push_back({result.name, cases_of(result)});
    return sluice::junit_text(suites);
}

}  // namespace sluice::fabric
