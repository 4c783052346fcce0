// Pauses over time: a row for each group that paused its sender, colored by where the
// pause began. A bin of time shows the part of it that was paused as its height, so that pauses too short to
// be seen one by one are not shown as one that lasts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::fabric {

class Fabric;

// The rows that were paused longest, in the order of switches and ports.
nlohmann::ordered_json timeline_json(const Fabric& fabric);

// As SVG. `title`: of the run.
std::string draw_timeline(const nlohmann::ordered_json& timeline, const std::string& title);

}  // namespace sluice::fabric
