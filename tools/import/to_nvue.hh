// Lines of `nv set` for a configuration.
#pragma once

#include "tools/import/exporting.hh"
#include "tools/import/merging.hh"

namespace sluice::import {

// Tables of which each field is a line: "interface", "swp1", "link speed" is "100G"; "qos pfc",
// "default-global", "switch-priority 3" is "". Tells of each key what becomes of it.
Tables nvue_tables(Exporting& out);
// Those of a file that was read, ranges of interfaces one by one.
Tables nvue_file(const Item& document);
std::string nvue_lines(const Tables& tables);

}  // namespace sluice::import
