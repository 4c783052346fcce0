// Finds settings of [decisions] that cannot work, or are hardly meant.
#include <fmt/format.h>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "lib/buffer/fill_board.hh"

namespace sluice::lint {
namespace {

constexpr std::uint64_t large_bytes = 1'000'000'000;

}  // namespace

void check_decisions(const Config& config, Findings& findings) {
    const DecisionsConfig& decisions = config.decisions;
    check_ports_named(config, decisions.ports, "decisions-port", "decisions.port", findings);
    check_ports_named(config, decisions.egress, "decisions-port", "decisions.egress", findings);
    if (record_mode(config) == RecordMode::off) {
        if (!decisions.file.empty())
            findings.note("decisions-off", "decisions.file", "records are switched off: the file stays empty",
                          "leave record out, or write record = \"on\"");
        return;
    }
    const std::uint64_t bytes =
        decision_ring(config) * sizeof(DecisionEvent) * config.workers +
        FillBoard::entries(static_cast<unsigned>(config.ports.size())) * 2 * sizeof(Counter);
    if (bytes > large_bytes)
        findings.warn("decisions-memory", "decisions.ring",
                      fmt::format("decision records take {} for {} workers and {} ports", print_size(bytes),
                                  config.workers, config.ports.size()),
                      "write a smaller ring");
}

}  // namespace sluice::lint
