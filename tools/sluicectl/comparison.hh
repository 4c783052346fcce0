// Two equal windows side by side: what each port, queue, group and flow did a second before a change and
// behind it.
#pragma once

#include <string>

#include "tools/sluicectl/client.hh"

namespace sluice::ctl {

// A report's differences over a window.
struct Window {
    Json report;
    double seconds = 1;
};

// Rows {place, figure, unit, before, after} of figures that are not 0 in both; the unit is one of bps, per_s,
// share, ns. Null: nothing was there to be measured.
Json comparison(const Window& before, const Window& after);
// As a table with differences, without rows that are the same to half a per cent, which are counted.
std::string comparison_text(const Json& rows);

}  // namespace sluice::ctl
