// Conditions on the report, for scripts: "queue p1.3 dropped == 0", "port p0 up".
#pragma once

#include <span>
#include <string>

#include "tools/sluicectl/client.hh"

namespace sluice::ctl {

struct Condition {
    std::string path;   // of the part of the report that holds the field
    std::string field;  // what begins its name there; empty: the part itself
    std::string op;     // == != < <= > >=
    Json wanted;
    bool of_link = false;  // "port P up|down": the value is said in these words

    // Throws Failure (exit_usage).
    static Condition parse(std::span<const std::string> words);
    // Finds the field in what `path` gave; throws Failure (exit_usage) where there is none, or several.
    const Json& find(const Json& part) const;
    bool holds(const Json& value) const;
    // The value in the condition's own words.
    std::string text_of(const Json& value) const;
};

}  // namespace sluice::ctl
