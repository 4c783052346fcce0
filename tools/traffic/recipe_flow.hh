// One [[flow]] of a recipe: read, judged, and resolved against the hosts.
#pragma once

#include <string>

#include "tools/traffic/recipe.hh"
#include "tools/traffic/table_reader.hh"

namespace sluice::traffic {

// Appends to `recipe.flows` one flow for each sender. Errors go to `errors`.
void read_flow(const toml::table& table, const std::string& path, Recipe& recipe, ErrorList& errors);

}  // namespace sluice::traffic
