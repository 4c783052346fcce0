// Words of other switches and shells (SONiC, Cumulus Linux, Onyx, IOS, Junos, iproute2), and how the same is
// said here. Asked only for what is no command of ours.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace sluice::ctl {

struct OtherWords {
    const char* theirs;  // the first words of a command
    const char* ours;    // a command of ours, or two; h1: the port that was said, [h1]: if one was
};
std::span<const OtherWords> other_words();

// "here: buffer show h4", of the longest entry that `words` begin with; empty: there is none.
std::string said_here(std::span<const std::string> words);

}  // namespace sluice::ctl
