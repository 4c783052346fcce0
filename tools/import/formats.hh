// What a text is, before anybody reads it: how it is written, and whose it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/import/document.hh"

namespace sluice::import {

enum class Source : unsigned char { sonic, cumulus };
enum class Syntax : unsigned char { json, yaml, commands };

// The formats that can be read, for a sentence.
inline constexpr std::string_view readable_formats =
    "SONiC's config_db.json, or Cumulus Linux's configuration as nv config show -o yaml or -o commands "
    "prints it";

// Without a byte order mark, and without what a terminal has around a text that was pasted from it: prompts,
// the command that printed it, the answers between commands. They are blanks then, so that places hold.
std::string without_terminal(std::string text);

Syntax syntax_of(std::string_view text);

// The name of another maker's format, which cannot be read: "Arista EOS". Nothing: not known as such.
std::optional<std::string_view> foreign_text(std::string_view text);

}  // namespace sluice::import
