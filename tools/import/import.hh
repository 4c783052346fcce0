// A file of another switch as a configuration of Sluice: read, taken table by table, completed.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "tools/import/importing.hh"

namespace sluice::import {

enum class Source : unsigned char { sonic, cumulus };

// By the text: JSON is SONiC's, YAML and `nv set` commands are Cumulus Linux's.
Source source_of(std::string_view text);

// The configuration and the account of `text`; a ReadError when it is no JSON or YAML, or beyond a bound.
tl::expected<Importing, ReadError> import_text(const std::string& text, Source source, const Wishes& wishes);

// The configuration as a file, with a head that says where it comes from and how it is run.
std::string to_file(const Importing& imported, std::string_view from, Source source);

}  // namespace sluice::import
