// What most files of the fabric include and hardly ever changes, compiled once: a third of the time that such
// a file takes to compile.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/fabric/run/fabric.hh"
