// Schedules: how far their ranks came, what they computed and waited for, and which operations took longest.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/mark_blame.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

inline constexpr std::size_t max_slow_operations = 8;  // that are explained, of a schedule
inline constexpr std::size_t max_waiting = 16;         // that are named

// What the ranks of a schedule did up to now.
struct ScheduleFigures {
    JobState state = JobState::done;
    bool is_stuck = false;             // running, and nothing is under way
    std::optional<Time> begun, ended;  // the first rank, the last; nothing: none has begun, not all ended
    std::uint64_t operations = 0;      // that have ended, of all ranks
    std::vector<roce::ProgramRank::Figures> ranks;
    // Means over ranks.
    Duration compute{}, exposed{}, hidden{};
    std::uint64_t bus_bytes = 0;  // of the collectives of all ranks that have ended, as a link carries them
};
JobState schedule_state(const Fabric& fabric, const WorkloadPlan& workload);
ScheduleFigures schedule_figures(const Fabric& fabric, const WorkloadPlan& workload);

// `marked`: of the run so far, for causes; null: they are not known.
nlohmann::ordered_json schedules_json(const Fabric& fabric, const MarkedMessages* marked = nullptr);
// For people: a table, the slowest operation of each, and what ranks that are stuck wait for.
std::string schedule_table(const nlohmann::ordered_json& schedules);

}  // namespace sluice::fabric
