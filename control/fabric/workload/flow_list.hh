// The flows of a file that others wrote, one a line: CSV with a header, the list of HPCC's simulator, or the
// connection matrix of htsim.
//
// A flow is data, not a section: 48 bytes, so that a list may have a million. All formats are read as a
// stream, and a line of them has at most 64 KiB. Memory goes to the flows, their names, and triggers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/compile/listed_flow.hh"
#include "control/config/schema/config.hh"
#include "control/fabric/workload/text_lines.hh"
#include "lib/roce/transfers.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// hpcc: the number of flows in the first line, then `src dst pg dport size start` (HPCC, ns3-datacenter) or
// `src dst pg size start` (ConWeave), times in seconds.
// htsim: `Nodes`, `Connections`, `Triggers` and `Failures` with their numbers, then `7->5 id 1 start 0 size
// 2000`, times in picoseconds, and `trigger id 3 oneshot` (csg-htsim, sim/datacenter/connection_matrix.cpp).
// goal, chakra, simai: schedules (schedule_readers.hh).
enum class WorkloadFormat : std::uint8_t { automatic, csv, hpcc, htsim, goal, chakra, simai };
std::string_view to_string(WorkloadFormat format);

constexpr std::uint64_t max_flow_bytes = roce::max_transfer_bytes;
constexpr Duration max_flow_start = seconds(1'000'000);

struct FlowListSettings {
    WorkloadFormat format = WorkloadFormat::automatic;
    double scale_time = 1;                      // > 0; times are multiplied by it
    double scale_bytes = 1;                     // likewise; no flow gets less than 1 byte
    Duration start{};                           // added to the start of every flow that waits for no other
    std::optional<std::uint8_t> traffic_class;  // of flows that name none; absent: the host's, by its DSCP
    std::uint16_t qps = 1;                      // of flows that name none
    std::map<std::string, std::string> hosts;   // the list's name of a host -> ours
};

struct FlowList {
    WorkloadFormat format = WorkloadFormat::csv;
    // Those without `after` first, sorted by start, then the others; otherwise in the file's order.
    std::vector<ListedFlow> flows;
    std::size_t timed = 0;  // how many have no `after`
    // The first of a pair waits for the second, too, beside its `after`; sorted.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> joins;
    std::string names;  // each ended by a NUL
    std::vector<std::string> notes;

    // The flow's name in the file; empty: it has none.
    std::string_view name_of(const ListedFlow& flow) const;
    std::uint64_t bytes() const;         // of all flows; no list overflows it
    std::uint64_t memory_bytes() const;  // that the list takes
    std::uint64_t digest() const;        // of flows, dependencies and names
};

// Puts flows into that order, and sets `timed`; flow.number is its place before. False: they were in order.
bool sort_flows(FlowList& list);

using FlowListResult = tl::expected<FlowList, std::vector<ConfigError>>;

// The flows of a text, or the first ten errors: file, line, column. `hosts`: the fabric's, in the order of
// its nodes; a bare number N in the list is the N-th of them, from 0, unless a host is called so. Each name
// in `settings.hosts` stands for one of them.
FlowListResult read_flow_list(TextLines::Source source, const std::string& file,
                              std::span<const std::string> hosts, const FlowListSettings& settings);
FlowListResult parse_flow_list(std::string_view text, const std::string& file,
                               std::span<const std::string> hosts, const FlowListSettings& settings);

}  // namespace sluice::fabric
