// Help and completion, made from the table of commands.
#pragma once

#include <span>
#include <string>

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

std::span<const Command> help_commands();
// All commands, or those of an object.
std::string help_text(std::string_view object);
// What may stand behind these words, and the help of their object; throws Failure when they mean nothing.
std::string what_may_follow(std::span<const std::string> words);

// The words that may follow `words` and begin with `partial`. Names of ports, keys and routes come from the
// switch; when none answers there are just fewer candidates.
Words complete(Context& context, std::span<const std::string> words, std::string_view partial);

}  // namespace sluice::ctl
