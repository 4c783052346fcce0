// Compiles wires into the policies of their ports, and numbers their rules, for the counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "control/config/schema/config.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

// An unchanged rule keeps its number and counters; a new or changed one gets the next number. Names of
// removed rules are kept for the trace.
class WireRuleIds {
  public:
    void take_up(const Config& config);
    // 0: there is no such rule.
    std::uint64_t id_of(const std::string& wire, const std::string& rule) const;
    // "loss", also of a removed rule.
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

// The wires have no errors.
void compile_wires(const Config& config, const WireRuleIds& ids, Policy& policy);

}  // namespace sluice
