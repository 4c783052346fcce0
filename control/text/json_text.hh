// JSON as text, the only place that writes it. A name may be any bytes (a file, an interface): bytes that are
// no UTF-8 becomes U+FFFD instead of an exception.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice {

// `indent` -1: one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice
