// Sends without a receive, and receives without a send, as far as counts prove them for any order of events.
//
// A rank with such a receive never ends. Messages of one source, destination and tag match by number; a
// receive of any source or any tag takes what others leave.
#pragma once

#include <string_view>

#include "control/fabric/schedule/schedule.hh"

namespace sluice::fabric {

// Adds notes, with the places of a few. The schedule has been checked; `place_word` as in check_schedule.
void note_unmatched(Schedule& schedule, std::string_view place_word);

}  // namespace sluice::fabric
