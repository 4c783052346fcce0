// The data of the page of an answer: advice.json with what a browser does not know of it.
//
// {name, question, headline, units[], rows[]{unit, today, at, tried[], says}, advice}: `units` of the entries
// of `least`; `rows` of `sensitivity`, with values as numbers of the unit, or null where one is a word.
// Units: those of dom.js, bytes, bps, ns, ppm, permille, else count.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::fabric {

// `advice`: of advice_json, with `trials`. `name`, `question`: of the scenario.
nlohmann::ordered_json advice_for_page(const std::string& name, const std::string& question,
                                       nlohmann::ordered_json advice);
// The whole answer as text, for browsers that run no scripts.
std::string advice_page_text(const nlohmann::ordered_json& data);

}  // namespace sluice::fabric
