#include "control/report/figures/junit.hh"

#include <fmt/format.h>

#include "control/config/text/xml_text.hh"

namespace sluice {

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
