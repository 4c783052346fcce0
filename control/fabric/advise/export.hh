// What was advised, as files that people use: the fabric's file, the keys of each switch, a command for a
// running one.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// The fabric's file with `sets` over it, in TOML's own order; its comments are lost, which the first line
// says. It is for `folder`, from which files of [[workload]] are named anew; empty: they stay as they are.
// Errors are those of the file and of the sets.
tl::expected<std::string, std::vector<std::string>> recommended_toml(std::string_view text,
                                                                     const std::string& file,
                                                                     const std::vector<std::string>& sets,
                                                                     const std::string& folder = {});

// The keys of sluiced that differ for these switches; `to` is never empty.
struct SwitchChanges {
    std::vector<std::string> switches;  // by name, in the order of the plan
    std::vector<ConfigChange> changes;  // sorted by path
    std::string toml;                   // the same, in sections of sluiced's configuration
};
// The changes from one plan to another, switches that change alike together; none: only keys of hosts differ.
// Both plans have the same switches.
std::vector<SwitchChanges> switch_changes(const FabricPlan& today, const FabricPlan& advised);

// The changes as text: a part of sluiced's configuration, or a part for each of several kinds of switches
// with a comment above it. Empty: there are none.
std::string switch_toml(const std::vector<SwitchChanges>& changes);

// "sluicectl set --watch 10s KEY=VALUE...", which tries the changes on a running switch and takes them back.
// Empty: no key may change while a switch runs. `window`: as TIME of sluicectl.
std::string trial_command(const SwitchChanges& changes, std::string_view window = "10s");

}  // namespace sluice::fabric
