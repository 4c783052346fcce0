// A run of a fabric with its rows of messages (messages.csv) as values.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/fabric/report/message_rows.hh"
#include "control/fabric/scenario/run_once.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fabric {

struct Row {
    std::map<std::string, std::string> fields;
    const std::string& operator[](const std::string& name) const { return fields.at(name); }
    double number(const std::string& name) const { return std::stod(fields.at(name)); }
};

inline std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string each; std::getline(in, each, ',');) fields.push_back(each);
    return fields;
}

inline std::vector<Row> rows_of(const std::string& text) {
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> names = split(line);
    std::vector<Row> rows;
    while (std::getline(in, line)) {
        const std::vector<std::string> values = split(line);
        LONGS_EQUAL(names.size(), values.size());
        Row& row = rows.emplace_back();
        for (std::size_t n = 0; n < names.size(); ++n) row.fields[names[n]] = values[n];
    }
    return rows;
}

struct Ran {
    std::string rows;
    nlohmann::ordered_json report;
};

inline Ran run_with_rows(const std::string& text, unsigned threads = 1) {
    auto file = parse_fabric(text, "test");
    if (!file) FAIL(file.error().front().text().c_str());
    const auto plan = make_plan(std::move(*file));
    if (!plan) FAIL(plan.error().front().text().c_str());
    Ran ran;
    RunOptions options;
    options.threads = threads;
    options.messages = [&](std::string_view rows) { ran.rows += rows; };
    auto outcome = run_once(*plan, options);
    if (!outcome) FAIL(outcome.error().texts.front().c_str());
    for (const std::string& error : outcome->errors) FAIL(error.c_str());
    ran.report = std::move(outcome->report);
    return ran;
}

}  // namespace sluice::fabric
