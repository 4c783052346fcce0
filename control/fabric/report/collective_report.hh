// Collectives: the time of each step, its bandwidth, and the rank that kept the others waiting.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
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

// A step that all ranks have ended.
struct CollectiveStep {
    std::size_t number;
    Time begun, ended;  // of the first rank, and of the last
    std::size_t rank;   // whose data was complete last,
    std::string last;   // and its host
    Duration behind;    // the median host, in that

    Duration took() const { return ended - begun; }
};
std::vector<CollectiveStep> collective_steps(const Fabric& fabric, std::uint32_t collective);
enum class JobState : std::uint8_t { running, done, failed };
// {mean, p50, p99, max} in ns; null: there is no step.
nlohmann::ordered_json step_times_json(std::span<const CollectiveStep> steps);

std::string_view to_string(JobState state);
JobState collective_state(const Fabric& fabric, std::uint32_t collective);

// The host that ended most steps last, and the median time by which its data was behind the median host's.
struct Straggler {
    nlohmann::ordered_json host, by_ns;  // null: there was no step
    std::size_t steps = 0;
};
Straggler straggler_of(std::span<const CollectiveStep> steps);

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
