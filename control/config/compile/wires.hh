// Compiles wires into the policies of their ports, and gives rules the numbers by which their counters are
// found.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "control/config/schema/config.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

// A rule keeps its number, and so its counters, while nothing of it changes; a new or changed one gets the
// next. Names of rules that are gone are kept for the trace.
class WireRuleIds {
  public:
    void take_up(const Config& config);
    // 0: there is no such rule.
    std::uint64_t id_of(const std::string& wire, const std::string& rule) const;
    // "loss"; of a rule that is gone too.
    const std::string& name_of(std::uint64_t id) const;

  private:
    struct Known {
        ImpairConfig config;
        std::uint64_t id = 0;
    };
    std::map<std::pair<std::string, std::string>, Known> known_;  // by wire and rule
    std::map<std::uint64_t, std::string> names_;
    std::uint64_t last_ = 0;
};

// Lint has found the wires good.
void compile_wires(const Config& config, const WireRuleIds& ids, Policy& policy);

}  // namespace sluice
