// `top`: the pages of top_view on a terminal, from looks at a switch at regular times, until a key ends it.
#pragma once

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// The terminal is as it was before, however it ends. Throws Failure: this is no terminal, or nobody answers
// at the first look; one that goes away later is asked again and again.
Answer top(Context& context, const Arguments& arguments);

}  // namespace sluice::ctl
