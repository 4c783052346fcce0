// Configurations from text, as tests accept and refuse them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::config_text {

// The errors of `text`, one a line, or "accepted".
inline std::string errors_of(std::string_view text) {
    const ConfigResult config = parse_config(text, "f");
    if (config) return "accepted";
    std::string out;
    for (const ConfigError& error : config.error()) append_item(out, "\n", error.text());
    return out;
}

// `text` is refused with exactly the errors that begin like `starts`, in that order.
inline void refuses(std::string_view text, const std::vector<std::string>& starts) {
    const ConfigResult config = parse_config(text, "f");
    CHECK_FALSE_TEXT(config.has_value(), std::string(text).c_str());
    if (config) return;
    std::string got, wanted;
    for (std::size_t i = 0; i < std::max(starts.size(), config.error().size()); ++i) {
        const std::string line = i < config.error().size() ? config.error()[i].text() : "nothing";
        got += (i < starts.size() ? line.substr(0, starts[i].size()) : line) + "\n";
        wanted += (i < starts.size() ? starts[i] : "nothing") + "\n";
    }
    STRCMP_EQUAL(wanted.c_str(), got.c_str());
}

inline Config accepted(std::string_view text) {
    ConfigResult config = parse_config(text, "f");
    const std::string errors = config ? "" : errors_of(text);
    CHECK_TRUE_TEXT(config.has_value(), errors.c_str());
    return config ? std::move(*config) : Config{};
}

}  // namespace sluice::config_text
