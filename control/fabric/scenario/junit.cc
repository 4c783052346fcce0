#include "control/fabric/scenario/junit.hh"

#include <utility>

#include "control/report/figures/assertions.hh"

namespace sluice::fabric {
namespace {

std::vector<JunitCase> cases_of(const ScenarioResult& result) {
    std::vector<JunitCase> cases;
    if (!result.errors.empty()) {
        std::string all;
        for (const std::string& error : result.errors) all += error + "\n";
        cases.push_back({"run", {}, all});
    }
    if (result.report.is_null()) return cases;
    for (JunitCase& each : junit_cases(result.report["asserts"])) cases.push_back(std::move(each));
    return cases;
}

}  // namespace

std::string junit_text(const std::vector<ScenarioResult>& results) {
    std::vector<JunitSuite> suites;
    for (const ScenarioResult& result : results) suites.push_back({result.name, cases_of(result)});
    return sluice::junit_text(suites);
}

}  // namespace sluice::fabric
