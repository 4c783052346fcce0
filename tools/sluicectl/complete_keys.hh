// Completion of the configuration's keys and of their values. Keys are completed part by part, as paths of
// files are: a candidate that ends in a dot goes on.
#pragma once

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// The keys and sections that `partial` begins: "port.h1.q" has port.h1.qos and port.h1.queue.
Words key_candidates(Context& context, std::string_view partial);
// The words that the key at a path takes; none where it takes numbers or names of things elsewhere.
Words value_candidates(Context& context, std::string_view path);
// Behind `words` of a `set`: a key, or the value of the key before, whether it is said KEY VALUE or
// KEY=VALUE.
Words assignment_candidates(Context& context, std::span<const std::string> words, std::string_view partial);

}  // namespace sluice::ctl
