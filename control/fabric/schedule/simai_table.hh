// A table of layers of SimAI, or of the older astra-sim, as it is read: checked, in picoseconds and bytes.
//
// The first line has the policy and the sizes of groups, the second the number of layers, then a line for
// each layer: name, dependency, then compute time (ns), collective and bytes of the forward pass, the same of
// the input gradient and of the weight gradient, and the time that an update takes behind a collective
// (aliyun/SimAI, astra-sim/workload/Workload.cc). Private to the reader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/schedule/schedule.hh"
#include "control/fabric/schedule/simai_header.hh"
#include "control/fabric/workload/text_lines.hh"

namespace sluice::fabric::simai {

struct Exchange {
    std::optional<roce::CollectiveKind> kind;  // nothing: no collective
    Family family = nobody;
    bool is_empty = false;    // the table says 0 bytes
    bool runs = false;        // the policy runs it: set by who makes the program
    std::uint64_t bytes = 0;  // of a rank's whole buffer, in [1, max_bytes]
};
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 36;

struct Pass {
    std::uint64_t compute = 0;  // ps
    Exchange exchange;
};

struct Layer {
    std::uint32_t line = 0;
    Pass forward, input_gradient, weight_gradient;
    std::uint64_t update = 0;  // ps, behind each collective of the layer
};

struct Table {
    Policy policy = Policy::micro;
    std::uint32_t ranks = 0;
    Groups groups{};  // by Family
    std::vector<Layer> layers;
    std::uint32_t last_bottom_layer = 0;  // of HYBRID_DLRM
    // Before the backward pass of a layer, the forward pass from another one on to it runs again.
    std::map<std::uint32_t, std::uint32_t> again_from;  // by layer
    std::vector<std::string> notes;
};

// What is wrong is in `errors`; the table is of use where they have none.
Table read_table(TextLines& lines, const ScheduleSettings& settings, ScheduleErrors& errors);

}  // namespace sluice::fabric::simai
