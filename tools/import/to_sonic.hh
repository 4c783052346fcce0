// SONiC's tables of a configuration, and what `config apply-patch` takes of a change of them.
#pragma once

#include <optional>

#include "tools/import/exporting.hh"
#include "tools/import/merging.hh"

namespace sluice::import {

// The profile of a group whose headroom SONiC's buffer manager computes.
inline constexpr const char* computed_profile = "NULL";

// An entry for each port and class; tells of each what becomes of it. `trim_class`: the tc_value by which a
// file gives trimmed packets the DSCP of each port; absent: none is needed while ports have the same DSCP.
Tables sonic_tables(Exporting& out, std::optional<ClassId> trim_class);

}  // namespace sluice::import
