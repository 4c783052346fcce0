// Sections of configuration keys in a man page.
#pragma once

#include <span>

#include "control/config/schema/schema.hh"
#include "control/config/text/man_page.hh"

namespace sluice {

// A subheading for each, and an entry for each key.
void add_keys(ManPage& page, std::span<const SchemaSection> sections);

}  // namespace sluice
