// Cumulus Linux's other form: a file of `nv set` commands, as `nv config show -o commands` prints them.
#pragma once

#include <string>

#include "tools/import/document.hh"

namespace sluice::import {

// {"set": ...}, as the YAML of the same configuration, but that a value is a key without members.
Document read_commands(const std::string& text);

}  // namespace sluice::import
