// Plans and errors from the text of a fabric's file.
#pragma once

#include <string>
#include <utility>

#include "control/fabric/plan/fabric_plan.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fabric {

inline tl::expected<FabricPlan, std::vector<ConfigError>> try_plan(const std::string& text) {
    auto file = parse_fabric(text, "f.toml");
    if (!file) return tl::unexpected(file.error());
    return make_plan(std::move(*file));
}

// The first error, or "good".
inline std::string error_of(const std::string& text) {
    const auto plan = try_plan(text);
    return plan ? std::string("good") : plan.error().front().text();
}

// An error fails the running test.
inline FabricPlan plan_of(const std::string& text) {
    auto plan = try_plan(text);
    if (!plan) FAIL((text + plan.error().front().text()).c_str());
    return std::move(*plan);
}

}  // namespace sluice::fabric
