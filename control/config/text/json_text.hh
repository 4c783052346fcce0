// JSON as text; json_writer.hh writes it without a tree, and nothing else does. A name may be any bytes (a
// file, an interface): bytes that are no UTF-8 become U+FFFD instead of an exception.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sluice {

// `indent` -1: one line. Byte for byte as dump(), in half of its instructions.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// True of text that stands in JSON as it is: ASCII without control characters, quotes and backslashes.
bool needs_no_escape(std::string_view text);

// Reserves members of an object (or null): a growing one copies them, since const keys cannot be moved.
inline void make_room(nlohmann::ordered_json& object, std::size_t members) {
    if (object.is_null()) object = nlohmann::ordered_json::object();
    object.get_ref<nlohmann::ordered_json::object_t&>().reserve(members);
}

}  // namespace sluice
