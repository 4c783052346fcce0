// SONiC's tables of a configuration, and what `config apply-patch` takes of a change of them.
#pragma once

#include "tools/import/exporting.hh"
#include "tools/import/merging.hh"

namespace sluice::import {

// The profile of a group whose headroom SONiC's buffer manager computes.
inline constexpr const char* computed_profile = "NULL";

// An entry for each port and class; tells of each what becomes of it.
Tables sonic_tables(Exporting& out);

}  // namespace sluice::import
