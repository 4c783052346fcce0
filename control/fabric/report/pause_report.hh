// Pauses of a run for people and programs: each with its cause, and gathered by the root that began them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/run/pause_watch.hh"
#include "control/report/figures/shaped_json.hh"

namespace sluice::fabric {

class Fabric;

// Every pause, in the order in which they began; at most 10 000.
nlohmann::ordered_json pauses_json(const Fabric& fabric);
std::size_t pauses_left_out(const Fabric& fabric);  // for which that list has no room
// By root, the longest first: the hosts that waited, the chains of pauses, the flows that were victims.
nlohmann::ordered_json pause_trees_json(const Fabric& fabric);
nlohmann::ordered_json pause_cycles_json(const Fabric& fabric);
// A row for each of the groups that paused their senders longest, in the order of switches and ports: the
// share of each bin of time that was paused, by root.
nlohmann::ordered_json timeline_json(const Fabric& fabric);

// The root that kept one of some hosts paused longest between two moments, and that host. `is_its`: by node.
struct PauseBlame {
    Duration waited{};
    NodeId host = 0;
    std::string root;  // as a sentence; empty: none of them was paused
};
PauseBlame blame_between(const Fabric& fabric, const std::vector<bool>& is_its, Time from, Time until);

// The node at which most time of pauses began: a host that takes packets too slowly, else the switch whose
// queue stood; empty: nobody was paused.
std::string culprit_of(const nlohmann::ordered_json& trees);

// The parts of a report that why_text uses, and the names of hosts.
const JsonShape& shape_for_why();
// The reason why `host` waited, from a report's trees; without a host the roots of all.
std::string why_text(const nlohmann::ordered_json& trees, const std::string& host);

}  // namespace sluice::fabric
