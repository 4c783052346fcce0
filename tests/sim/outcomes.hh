// For shared_pools_test.py, which runs a test program twice and compares: what came of every switch or
// fabric.
#pragma once

#include <cstdint>
#include <string>

#include "dataplane/run/switch.hh"

namespace sluice::sim {

// SLUICE_SHARED_POOLS=1: the switch's pools are shared, as those of workers on several cores, though one
// thread runs it. Before its first instant.
void choose_pools(Switch& device);

// SLUICE_OUTCOMES=FILE: a line there for a switch that has come to its end. `digest`: of all that it did.
bool notes_outcomes();
void note_outcome(const std::string& label, Switch& device, std::uint64_t digest);

}  // namespace sluice::sim
