// Judged assertions as a JUnit file, for continuous integration: a suite a run, a case an assertion. Valid
// against junit-10.xsd of Jenkins' xUnit plugin. No time of the machine stands in it.
#pragma once

#include <string>
#include <vector>

namespace sluice {

// One of `failure` and `error` at most; neither: it passed.
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

}  // namespace sluice
