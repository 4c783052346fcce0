// The options of sluicectl, help and completion; these are made from the tables of options and commands.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

struct Repeat {
    std::optional<Duration> every{};
    std::optional<std::uint64_t> count{};
};
struct OptionsSaid {
    Options options{};
    Repeat repeat{};
    std::optional<Duration> wait{};
    bool help = false, version = false;
};
std::vector<Option> options_of(OptionsSaid& said);

std::span<const Command> help_commands();
// All commands, or those of an object.
std::string help_text(std::string_view object);
// What may stand behind these words, and the help of their object; throws Failure when they mean nothing.
std::string what_may_follow(std::span<const std::string> words);

// The words that may follow `words` and begin with `partial`. Names of ports, keys and routes come from the
// switch; when none answers there are just fewer candidates.
Words complete(Context& context, std::span<const std::string> words, std::string_view partial);

// Keys are completed part by part, as paths of files are: a candidate that ends in a dot goes on.
// The keys and sections that `partial` begins: "port.h1.q" has port.h1.qos and port.h1.queue.
Words key_candidates(Context& context, std::string_view partial);
// The words that the key at a path takes; none where it takes numbers or names of things elsewhere.
Words value_candidates(Context& context, std::string_view path);
// Behind `words` of a `set`: a key, or the value of the key before, whether it is said KEY VALUE or
// KEY=VALUE.
Words assignment_candidates(Context& context, std::span<const std::string> words, std::string_view partial);

}  // namespace sluice::ctl
