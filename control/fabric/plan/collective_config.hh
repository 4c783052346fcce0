// [[collective]]: what the hosts of a job do together, step by step (lib/roce/collective.hh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/config/schema/host_config.hh"
#include "control/config/schema/schema_rows.hh"
#include "control/config/schema/source_place.hh"
#include "lib/roce/collective.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

struct CollectiveConfig {
    std::string name;  // empty: its kind
    roce::CollectiveKind kind{};
    std::vector<std::string> hosts;  // as flows name them; the plan has them in the order of ranks
    std::uint64_t bytes = 1'000'000;
    std::uint32_t parts = 8;
    std::uint32_t qps = 1;
    std::uint32_t steps = 1;
    Duration compute{}, start{};
    std::vector<std::string> rank_order{"topology"};  // or "random", or the hosts
    SourcePlace place;
};

constexpr std::size_t max_collectives = 64;
constexpr std::size_t max_ranks = 1024;

std::string_view to_string(roce::CollectiveKind kind);
schema::Rows<CollectiveConfig> collective_rows();

// Puts hosts into the order of ranks. An error's text with what to do, or empty.
std::string order_ranks(CollectiveConfig& collective, std::uint64_t seed);

// The collective without its file: what its ranks follow.
roce::CollectiveSettings settings_of(const CollectiveConfig& collective);
// The flow of its name that its queue pairs belong to: it names no hosts, and ends with the collective.
FlowConfig flow_of(const CollectiveConfig& collective);

}  // namespace sluice::fabric
