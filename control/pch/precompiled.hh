// What most files of control include and hardly ever changes, compiled once: a third of the time that such a
// file takes to compile.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "control/config/schema/config.hh"
