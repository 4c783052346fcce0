// From an operator's words on decision records, in the file or as a command, to the filter that workers read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "lib/record/decision_event.hh"
#include "lib/values/port_mask.hh"

namespace sluice {

// The ports of these names, by their numbers in the configuration's order; no names: all.
PortMask port_mask(const Config& config, const std::vector<std::string>& names);
// The settings fixed at the start; `ready` and `on` need rings.
RecordMode record_mode(const Config& config);
// Events of a worker that may be under way to control; 0: nothing is ever recorded.
std::size_t decision_ring(const Config& config);
// `wanted` is checked; ports are numbered in the configuration's order.
DecisionFilter decision_filter(const Config& config, const DecisionsConfig& wanted);

// The words behind `decisions`: "off", or "on" and the packets to record; an error's text. Lists grow with
// every repetition.
//   on [port P]... [egress P]... [class N]... [verdict V]... [source PREFIX] [destination PREFIX]
//      [source_port N] [destination_port N] [qp N]
tl::expected<DecisionsConfig, std::string> parse_decisions(std::span<const std::string> words);
// An error's text when `wanted` names a port that does not exist, or needs rings that the switch does not
// have.
std::string check_decisions(const Config& config, const DecisionsConfig& wanted);

}  // namespace sluice
