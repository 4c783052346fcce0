// The table of configuration keys: reference text, and a configuration as TOML. Reading (config.hh) uses the
// same rows (schema_*.cc).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// A key, for help, man page and reference.
struct KeyInfo {
    std::string section;   // "port.NAME.queue.N"; empty at the top; "[[route]]" keys have "route[]"
    std::string name;      // "queue_limit"
    std::string type;      // "size"
    std::string allowed;   // allowed values
    std::string fallback;  // the default as TOML; "required" where there is none
    std::string sentence;
    bool restart = false;  // cannot change while the switch runs

    std::string path() const { return section.empty() ? name : section + "." + name; }
};

// All keys, a section's together, in the order of the table.
const std::vector<KeyInfo>& schema_keys();
struct SchemaSection {
    std::string heading;  // "[port.NAME]", "[[route]]", "Top level"
    std::vector<KeyInfo> keys;
};
std::vector<SchemaSection> schema_sections();
// The sentence about keys that may be in other sections, too.
std::string_view inherited_keys();
// A section as Markdown, with a heading and a table; and all sections.
std::string schema_table(const std::string& heading, std::span<const KeyInfo> keys);
std::string schema_reference();
// Adds sections to a man page: a subheading for each, and an entry for each key.
class ManPage;
void add_keys(ManPage& page, std::span<const SchemaSection> sections);

// Sets a key of [port.NAME.fault] from the words of a command: "drop_every", "100"; "delay", "5us". Returns
// an error's text, with `fault` unchanged, or empty.
std::string set_fault(FaultSettings& fault, std::string_view key, std::string_view value);

// TOML that parses to an equal configuration: the values that differ from the defaults. Collections must be
// sorted (`sort_config`).
std::string to_toml(const Config& config);

// A key of a configuration and its value.
struct ConfigValue {
    std::string section;  // its header in TOML: port."a.b".queue.3; empty at the top
    std::string path;     // as commands name it: port.a.b.queue.3.wred
    std::string value;    // as TOML
    std::string key() const { return path.substr(path.rfind('.') + 1); }  // no key has a dot
};
// The keys at `path` and below it, or the table that `path` is an entry of; an empty path: all. With `whole`
// all keys and their values in force, else those that `to_toml` writes. Lists are left out.
std::vector<ConfigValue> config_values(const Config& config, std::string_view path, bool whole);

// `name` as a key of TOML, quoted when necessary.
std::string config_key(std::string_view name);

// The known name nearest to `name`, or an empty string when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
std::string nearest_key(std::string_view name, const auto& map) {
    std::vector<std::string> known;
    for (const auto& [key, value] : map) known.push_back(key);
    return nearest_name(name, known);
}

}  // namespace sluice
