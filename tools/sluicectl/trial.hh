// `set --watch TIME`: a window is measured, the change is made, a window as long is measured, and the change
// is taken back, or kept. The change is a trial of this connection (config.change): however this program
// ends, the switch takes it back by itself.
#pragma once

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// `changes`: entries of config.change; of the arguments `watch`, `keep` and `force`. Throws Failure when
// another change comes meanwhile, because nothing that was measured would be of this one.
Answer try_changes(Context& context, const Json& changes, const Arguments& arguments);

}  // namespace sluice::ctl
