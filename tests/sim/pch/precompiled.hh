// The headers that every test of the simulation includes, compiled once: it takes two thirds of the time that
// such a test takes to compile.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/invariants.hh"
#include "tests/sim/sim_switch.hh"
