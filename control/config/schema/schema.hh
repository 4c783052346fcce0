// The one table of configuration keys, seen from outside: reference text, and a configuration as TOML.
// Reading (config.hh) and these are made from the same rows (schema_*.cc), so none can know a key the others
// do not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// One key, for help, man page and reference.
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
// Which keys may stand elsewhere, too.
std::string_view inherited_keys();
// Those of one section as Markdown, a heading and a table; and the same for each section.
std::string schema_table(const std::string& heading, std::span<const KeyInfo> keys);
std::string schema_reference();
// Sections in a page of the manual: a subheading for each, and an entry for each key.
class ManPage;
void add_keys(ManPage& page, std::span<const SchemaSection> sections);

// Sets one key of [port.NAME.fault] from the text of a command: "drop_every", "100"; "delay", "5us". An
// error's text, or empty; `fault` is unchanged by an error.
std::string set_fault(FaultSettings& fault, std::string_view key, std::string_view value);

// TOML that parses to an equal configuration; with only those values that differ from the defaults.
// Collections must be sorted (`sort_config`), as they are after parsing.
std::string to_toml(const Config& config);

// A key of a configuration and its value.
struct ConfigValue {
    std::string section;  // its header in TOML: port."a.b".queue.3; empty at the top
    std::string path;     // as commands name it: port.a.b.queue.3.wred
    std::string value;    // as TOML
    std::string key() const { return path.substr(path.rfind('.') + 1); }  // no key has a dot
};
// The keys at `path`, below it, or one that has it below itself, as a table has its entries; an empty path:
// all. With `whole` each has the value in force, else only those are there that `to_toml` would write, with
// the text it would write. Routes, neighbors, events and flows are not among them.
std::vector<ConfigValue> config_values(const Config& config, std::string_view path, bool whole);

// `name` as a key of TOML: quoted when it has to be.
std::string config_key(std::string_view name);

// The known name nearest to `name`, or an empty string when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
std::string nearest_key(std::string_view name, const auto& map) {
    std::vector<std::string> known;
    for (const auto& [key, value] : map) known.push_back(key);
    return nearest_name(name, known);
}

}  // namespace sluice
