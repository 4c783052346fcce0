#include "control/config/schema/schema_man.hh"

#include <fmt/format.h>

namespace sluice {

void add_keys(ManPage& page, std::span<const SchemaSection> sections) {
    for (const SchemaSection& section : sections) {
        page.subheading(section.heading);
        for (const KeyInfo& key : section.keys) {
            page.entry(key.name, key.type,
                       fmt::format("{}{}", key.sentence, key.restart ? " Takes effect at start." : ""));
            // A line of its own for each: they are looked for.
            if (!key.allowed.empty() && key.allowed != key.type) page.line_break("Allowed: " + key.allowed);
            page.line_break("Default: " + key.fallback);
        }
    }
}

}  // namespace sluice
