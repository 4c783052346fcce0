// The assertions of a run: judged on its report at the end, and written for people and for machines.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/report/figures/expression.hh"

namespace sluice {

struct Assertion {
    Expression expression;
    std::string phase{};  // whose figures it judges; empty: those of the whole run
    std::string why{};    // for people
};

// An assertion of a switch, whose run has no phases. An error is a sentence about the text.
tl::expected<Assertion, std::string> assertion_of(const std::string& text);

// Before the run: an error of one that can never be judged, or empty. `report` and `phase` (of any phase) are
// of a run in which nothing has happened.
std::string check_assertion(const Assertion& assertion, const nlohmann::ordered_json& report,
                            const nlohmann::ordered_json& phase);
// The same without any run, by the catalogues of a fabric.
std::string check_assertion(const Assertion& assertion, const NamesOf& names);
// After the run, on its report with its phases: that, phase, value, met (null: interrupted), where, why,
// wrong.
nlohmann::ordered_json judge_assertions(std::span<const Assertion> assertions,
                                        const nlohmann::ordered_json& report);

// True when each that judge_assertions() judged is met.
bool all_met(const nlohmann::ordered_json& judged);
// "assertions: 3 of 4 hold", and a line for each with its figure; empty: there is none.
std::string assertions_text(const nlohmann::ordered_json& judged);
// "false: THAT: it is 5" for each that is.
std::vector<std::string> false_assertions(const nlohmann::ordered_json& judged);

// A JUnit file, for continuous integration: a suite a run, a case an assertion. Valid against junit-10.xsd of
// Jenkins' xUnit plugin. It holds no time of the machine.
// At most one of `failure` and `error` is set; neither: it passed.
struct JunitCase {
    std::string name;
    std::string failure;  // the assertion is false
    std::string error;    // it could not be judged: the run went wrong
};

struct JunitSuite {
    std::string name;
    std::vector<JunitCase> cases;
};

std::string junit_text(const std::vector<JunitSuite>& suites);
std::vector<JunitCase> junit_cases(const nlohmann::ordered_json& judged);

}  // namespace sluice
