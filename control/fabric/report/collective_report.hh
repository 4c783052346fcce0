// Collectives: the time of each step, its bandwidth, and the rank that kept the others waiting.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

// Messages from one host to another that have been acknowledged.
struct CollectivePath {
    const std::string *from, *to;
    std::uint64_t messages = 0, bytes = 0;
    Duration completion;  // sum of the times that they took
};
// A collective at one moment.
struct CollectiveMoment {
    std::size_t steps = 0;              // that all ranks have ended
    std::vector<CollectivePath> paths;  // always in the same order
};
std::vector<CollectiveMoment> collective_moments(const Fabric& fabric);

// In the file's order. Times are those of steps that all ranks have ended, from the first rank's beginning to
// the last one's end; bandwidths are those of their mean, as nccl-tests defines them (doc/PERFORMANCE.md):
// bytes over time, and that times 2(n-1)/n of an all-reduce, (n-1)/n of the others, 1 of a pipeline.
// straggler: the host whose data was complete last in most steps, and how far behind the median host (by_ns,
// median over those steps). slowest_path: the pair of hosts whose messages took longest until they were
// acknowledged, against the median pair with messages of such a size.
nlohmann::ordered_json collectives_json(const Fabric& fabric);
// Likewise of the steps that ended between two moments, and of the messages that were acknowledged there;
// completion_ns is left out, state is that of now.
nlohmann::ordered_json collectives_between(const Fabric& fabric, const std::vector<CollectiveMoment>& from,
                                           const std::vector<CollectiveMoment>& to);

// The same for people; empty where there is none.
std::string collective_table(const nlohmann::ordered_json& collectives);

}  // namespace sluice::fabric
