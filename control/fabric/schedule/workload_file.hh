// The file of a workload, whatever its format: a list of flows, or the schedule of ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "control/fabric/schedule/schedule.hh"
#include "control/fabric/workload/flow_list.hh"

namespace sluice::fabric {

// What schedules have beside a list of flows.
struct ScheduleKeys {
    std::optional<std::uint64_t> rendezvous_bytes;  // larger messages wait for their receiver; nothing: none
    std::string groups;                             // file of Chakra's groups, beside the traces; empty: none
    // How their all-reduces run: a ring, a tree, a double tree, halving and doubling.
    roce::CollectiveKind allreduce = roce::CollectiveKind::ring_allreduce;
    std::uint32_t channels = 1;
    std::optional<std::uint64_t> chunk_bytes;
    std::uint32_t server = 1;  // ranks of a server, in their order
    Rate server_bandwidth = gigabits(3600);
    Duration server_latency = microseconds(1);
    bool operator==(const ScheduleKeys&) const = default;
};

using WorkloadContents = std::variant<FlowList, Schedule>;
using WorkloadResult = tl::expected<WorkloadContents, std::vector<ConfigError>>;

// The contents of a regular file, or the first ten errors: file, line, column. Of Chakra's traces `file` may
// have %d for the number of the rank, or be what stands before ".0.et" in the name of the first.
WorkloadResult read_workload_file(const std::string& file, std::span<const std::string> hosts,
                                  const FlowListSettings& settings, const std::string& groups = {});
// The same of a text; `file` is for errors.
WorkloadResult read_workload_text(const std::string& text, const std::string& file,
                                  std::span<const std::string> hosts, const FlowListSettings& settings,
                                  const std::string& groups = {});

// The format of a text that begins so, or automatic: of none.
WorkloadFormat format_of(std::string_view beginning);

}  // namespace sluice::fabric
