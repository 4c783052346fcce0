// The answer of a search for advice, made of its rows alone: advice.json, and what the terminal shows of it.
//
// {answer: "change" | "leave it" | "no difference" | "none keeps", today_fails, goal[]{that, phase, where},
// values[]{path, today, advised, edge}, base[], starts[]{name, source, values}, found, nearest,
// headroom[]{port, today, computed, edit},
// held{first_seed, seeds, fails[]{name, wrong}, near[]{that, phase, where, least, most, low, high}},
// gain[]{against, source, goal, today, advised, change, spread, verdict},
// front[]{run, name, values, least[], spread[]}, beaten[] likewise,
// sensitivity[]{path, at, same_from, same_to, below, above, ends[], tried[]},
// certificate[]{path, below, above}, breaks[]{what, holds, fails[], goal, before, after, error}, not_tried[],
// runs, packets, trials[]{switches[], command}}
//
// `base`: arguments of --set that make the file's thresholds keys and change no behavior, before any values.
// A gain is said of held seeds only, paired, with its spread of 95 %; `goal` of it counts entries of `least`.
// Its verdict is better, worse, "no difference" where the interval lies within 7 %, "undecided" where it is
// wider, or "too few runs". `near`: what the found set keeps on held seeds, from `least` to `most`, and may
// not keep on another, for of 100 more 95 are expected from `low` to `high` (Student's t, normal figures).
// `advised` is today's value unless the answer is "change"; `found` has the search's set where it differs.
// `below` and `above`: the nearest value tried on that side at which something differs, {value, run, seed,
// wrong} where the goal fails, else {value, run, seed, goal, before, after}; null: there is none. Of a
// certificate that is a failure or a change of the first figure. `front` and `beaten` are means of the
// search's seeds; `name`: of a start, or "found", or null; `beaten` has those with a name that are not of the
// front. `ends`: the range ends at `at` downwards, upwards. `tried`: what was tried beside `at` with enough
// seeds, {side, value, run, wrong, change[]{before, after, spread}}. `trials`: commands for running switches,
// which the caller knows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "control/fabric/advise/search.hh"

namespace sluice::fabric {

// The search is over.
nlohmann::ordered_json advice_json(const AdviseQuestion& question, const AdviseState& state);
// In lines, the answer first.
std::string advice_text(const nlohmann::ordered_json& advice);
// Its answer alone, without the last end of line.
std::string advice_headline(const nlohmann::ordered_json& advice);
// What a row of `sensitivity` comes to, in a sentence without its path.
std::string sensitivity_text(const nlohmann::ordered_json& advice, const nlohmann::ordered_json& row);
// A row of `held.near` in a sentence.
std::string near_text(const nlohmann::ordered_json& advice, const nlohmann::ordered_json& row);
// "today's values fail: ..."; empty: they keep the goal, or have no row yet.
std::string today_fails(const AdviseQuestion& question, const AdviseState& state);

}  // namespace sluice::fabric
