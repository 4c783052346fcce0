// The readers of schedules, one for each format.
//
// Each reads its text as a stream; what it keeps are the programs. Errors have file, line or node, and what
// to do; there are ten at most.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "control/fabric/schedule/schedule.hh"
#include "control/fabric/workload/text_lines.hh"

namespace sluice::fabric {

// GOAL as text (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re): a program for each rank, calc in nanoseconds.
ScheduleResult read_goal(TextLines::Source source, const std::string& file, const ScheduleSettings& settings);
// The line is the first one of such a text: num_ranks 16.
bool is_goal_header(std::string_view line);

// Chakra execution traces (mlcommons/chakra, schema/protobuf/et_def.proto), as protobuf or as JSON.
struct ChakraFile {
    std::string name;
    TextLines::Source source;
};
// A file for each rank in their order, or one that all of settings.ranks run. `groups`: JSON of the groups of
// ranks by their names, as astra-sim's --comm-group-configuration; nothing: all ranks are the only group,
// unless traces define others.
ScheduleResult read_chakra(std::span<ChakraFile> files, std::optional<ChakraFile> groups,
                           const ScheduleSettings& settings);
// These are the first bytes of such a trace: of a JSON object, or of a message of protobuf.
bool is_chakra_start(std::string_view bytes);

// A table of layers (aliyun/SimAI): what each layer computes and exchanges forward and backward, and how
// ranks are grouped.
ScheduleResult read_simai(TextLines::Source source, const std::string& file,
                          const ScheduleSettings& settings);
// The line is the first one of such a table: HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ...
bool is_simai_header(std::string_view line);

}  // namespace sluice::fabric
