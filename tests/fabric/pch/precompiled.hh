// The headers that every test of a fabric includes, compiled once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/fabric/checked_fabric.hh"
