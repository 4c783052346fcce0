// SONiC's tables in the shapes that its tools write them.
#pragma once

#include <optional>

#include "tools/import/document.hh"

namespace sluice::import {

// One object of tables, whatever the file is: config_db.json itself; a list of tables (configlets); a dump of
// the database ("TABLE|KEY"); swssconfig's list ("TABLE_TABLE:KEY" with "OP": "SET"); a dump with types and
// values. The places stay. An error: a JSON patch, or something that is no table.
std::optional<ReadError> shape_sonic(Item& root);

}  // namespace sluice::import
