// The words behind `set`: values of the configuration, and options that may stand without dashes.
#pragma once

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// KEY=VALUE, KEY = VALUE or KEY VALUE, any number of them, as entries for `config.change`. The option's
// words (`confirm 5s`, `force`, `keep`) go to `arguments`. Throws Failure: a value is missing.
Json values_said(Arguments& arguments);

// For completion: the key whose value comes next behind these words, or nothing: a key does.
std::optional<std::string> key_before(std::span<const std::string> words);

}  // namespace sluice::ctl
