// The way back: a configuration's ports, classes and buffers as tables of SONiC's config_db.json.
#pragma once

#include <nlohmann/json.hpp>

#include "control/config/schema/config.hh"

namespace sluice::import {

// PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER, WRED_PROFILE: by which `import_sonic`
// makes an equal configuration of these parts. Sizes are those of the file where it has them, else the
// effective ones.
nlohmann::ordered_json to_sonic(const Config& config);

}  // namespace sluice::import
