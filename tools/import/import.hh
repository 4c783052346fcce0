// A file of another switch as a configuration of Sluice: read, taken table by table, completed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "tools/import/formats.hh"
#include "tools/import/importing.hh"

namespace sluice::import {

// The configuration and the account of `text`, by `said` or by what it is; a ReadError when it is no JSON or
// YAML, another maker's, or beyond a bound.
tl::expected<Importing, ReadError> import_text(const std::string& text, std::optional<Source> said,
                                               const Wishes& wishes);

// The configuration as a file, with a head that says where it comes from and how it is run.
std::string to_file(const Importing& imported, std::string_view from);

}  // namespace sluice::import
