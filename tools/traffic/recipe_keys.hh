// The keys of a [[flow]] that belong together, each group into its fields of the flow.
#pragma once

#include <vector>

#include "tools/traffic/recipe.hh"
#include "tools/traffic/table_reader.hh"

namespace sluice::traffic {

void read_pacing(TableReader& reader, Flow& flow);     // start, count, duration, rate, gap, burst
void read_addressed(TableReader& reader, Flow& flow);  // all that is the same for every sender of an IP kind
void read_pfc(TableReader& reader, Flow& flow);
void read_malformations(TableReader& reader, Flow& flow, bool is_v6);

// `vlan = 10` or `{vid = 10, pcp = 3, dei = 0, type = "802.1ad"}`, or a list of those, outermost first.
std::vector<Tag> read_tags(TableReader& reader);

}  // namespace sluice::traffic
