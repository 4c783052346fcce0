// What lint_qos finds in a configuration, for the tests of its checks.
#pragma once

#include <string>
#include <vector>

#include "control/config/lint/judge.hh"

#include "CppUTest/TestHarness.h"

namespace sluice {

inline std::vector<Finding> findings_of(const std::string& text) {
    const ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return lint_qos(*config, effective_qos(*config));
}

inline std::string all_of(const std::string& text) {
    std::string lines;
    for (const Finding& finding : findings_of(text)) lines += finding.text("f") + "\n";
    return lines;
}

// Its findings with this id begin like `start`, which names place, severity and path; "" when it has none.
inline void finds(const std::string& id, const std::string& start, const std::string& text) {
    std::string got;
    for (const Finding& finding : findings_of(text))
        if (finding.id == id) got += finding.text("f") + "\n";
    if (start.empty())
        STRCMP_EQUAL_TEXT("", got.c_str(), text.c_str());
    else
        STRCMP_EQUAL_TEXT(start.c_str(), got.substr(0, start.size()).c_str(), (text + got).c_str());
}

// The first configuration has it, the second, a step away, has not.
inline void finds_but_not(const std::string& id, const std::string& start, const std::string& bad,
                          const std::string& good) {
    finds(id, start, bad);
    finds(id, "", good);
}

}  // namespace sluice
