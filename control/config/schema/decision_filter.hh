// Turns the settings of decision records, of the file or a command, into the filter that workers read.
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

// The ports with these names, by number in the configuration's order; no names: all.
PortMask port_mask(const Config& config, const std::vector<std::string>& names);
// The settings fixed at the start; `ready` and `on` need rings.
RecordMode record_mode(const Config& config);
// Events of a worker that may be under way to control; 0: nothing is ever recorded.
std::size_t decision_ring(const Config& config);
// `wanted` is checked; ports are numbered in the configuration's order.
DecisionFilter decision_filter(const Config& config, const DecisionsConfig& wanted);

// Parses the words behind `decisions`, or returns an error's text. A repeated key adds to its list.
//   on [port P]... [egress P]... [class N]... [verdict V]... [source PREFIX] [destination PREFIX]
//      [source_port N] [destination_port N] [qp N]
tl::expected<DecisionsConfig, std::string> parse_decisions(std::span<const std::string> words);
// An error's text when `wanted` names an unknown port, or the switch has no rings for records.
std::string check_decisions(const Config& config, const DecisionsConfig& wanted);

}  // namespace sluice
