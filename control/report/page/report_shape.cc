#include "control/report/page/report_shape.hh"

#include <array>
#include <utility>

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned number_or_null = part::number | part::null;
constexpr unsigned text_or_null = part::text | part::null;

constexpr std::array of_any{
    JsonPart{"verdict.lossless", part::flag | part::null}, JsonPart{"verdict.interrupted", part::flag},
    JsonPart{"{end_ns verdict.lossless_packets verdict.lost_packets events.#.at_ns}", part::number},
    JsonPart{"{verdict.headline verdict.reasons.# events.#.kind events.#.text}", part::text}};

constexpr std::array of_switch{
    JsonPart{"{clock decisions.state decisions.why?.#.sentence}", part::text},
    JsonPart{"ledger.{rx tx dropped queued}", part::number},
    JsonPart{"ports.*.{rx.bytes tx.bytes missed_packets cnp_sent_packets flaps drops.* lossless_drops.*}",
             part::number},
    JsonPart{"ports.*.link_up", part::flag},
    JsonPart{"ports.*.pfc.{rx_xoff.# tx_xoff.# rx_paused_ns.# tx_paused_ns.#}", part::number},
    JsonPart{"ports.*.queues.#.{tx_packets dropped_packets ecn_marked_packets occupancy_bytes deepest_bytes "
             "latency_ns.p50 latency_ns.p99 latency_ns.max}",
             part::number},
    JsonPart{"ports.*.priority_groups.#.{lossless xoff}", part::flag},
    JsonPart{"ports.*.priority_groups.#.{xoff_transitions shared_bytes shared_watermark_bytes "
             "headroom_watermark_bytes headroom_size_bytes headroom_overruns}",
             part::number},
    JsonPart{"pools.*.{shared_bytes used_bytes watermark_bytes headroom_size_bytes headroom_used_bytes}",
             part::number},
    JsonPart{"watchdog.#.{port state action}", part::text},
    JsonPart{"watchdog.#.{queue detected restored total_dropped total_passed}", part::number},
    JsonPart{"ecmp.*.members.#.{via port}", part::text},
    JsonPart{"ecmp.*.members.#.packets", part::number},
    JsonPart{"microbursts.#.port", part::text},
    JsonPart{"microbursts.#.{queue start_ns length_ns threshold_bytes peak_bytes peak_at_ns}", part::number}};

constexpr std::array of_pause_trees{
    JsonPart{"pause_trees.#.{slow_host circle}", part::flag},
    JsonPart{"pause_trees.#.{text switch to chains.#.nodes.+}", part::text},
    JsonPart{"pause_trees.#.{pauses paused_ns hops victims hosts.* chains.#.pauses chains.#.paused_ns}",
             part::count},
    JsonPart{"pause_trees.#.worst_victims.#.{flow from to}", part::text},
    JsonPart{"pause_trees.#.worst_victims.#.waited_ns", part::count}};

constexpr std::array of_fabric{
    JsonPart{"{fabric name question}", part::text},
    JsonPart{"{seed switches.*.tier}", part::number},
    JsonPart{"ledger.{sent made added delivered consumed dropped punted missed overrun lost_on_wire "
             "lost_into_cut lost_by_fault queued on_wire dropped_by.*.*}",
             part::number},
    JsonPart{"ledger.balanced", part::flag},
    JsonPart{"asserts.#.{that where why wrong}", part::text},
    JsonPart{"asserts.#.phase", text_or_null},
    JsonPart{"asserts.#.met", part::flag | part::null},
    JsonPart{"asserts.#.value", part::scalar},
    JsonPart{"collectives.#.{name state}", part::text},
    JsonPart{"collectives.#.{ranks steps bus_bandwidth_bps straggler.steps}", part::number},
    JsonPart{"collectives.#.{straggler.host slowest_path.from slowest_path.to}", text_or_null},
    JsonPart{"collectives.#.{step_ns.p50 step_ns.p99 step_ns.max straggler.by_ns "
             "slowest_path.over_median_permille}",
             number_or_null},
    JsonPart{"jobs.*.{state slow_steps.#.why}", part::text},
    JsonPart{"jobs.*.{hosts steps compute_ns exposed_ns hidden_ns bus_bandwidth_bps}", part::number},
    JsonPart{"jobs.*.{completion_ns step_ns.p50 step_ns.p99 step_ns.max}", number_or_null},
    JsonPart{"jobs.*.lost_to?", text_or_null},
    JsonPart{"message_sizes.*.{above_bytes to_bytes messages}", part::number},
    JsonPart{"message_sizes.*.slowdown_permille.{p50 p95 p99 max}", number_or_null},
    JsonPart{"balance.#.{switch links.#}", part::text},
    JsonPart{"balance.#.mean_load_ppm", part::number},
    JsonPart{"balance.#.{max_over_mean_permille jain_permille}", number_or_null},
    JsonPart{"pauses.#", part::present},
    JsonPart{"pauses_left_out", part::count},
    JsonPart{"pause_cycles.#.at_ns", part::number},
    JsonPart{"pause_cycles.#.text", part::text},
    JsonPart{"pause_timeline.{bin_ns bins rows_left_out rows.#.class rows.#.paused_ns rows.#.parts.#.#}",
             part::number},
    JsonPart{"pause_timeline.{roots.# rows.#.paused rows.#.by}", part::text}};

// Parts of the whole run and of a phase.
constexpr std::array of_part{
    JsonPart{"{flows.#.name links.*.directions.#.from links.*.directions.#.to}", part::text},
    JsonPart{"flows.#.{queue_pairs messages failed_messages throughput_bps retransmitted_packets "
             "cnp_received_packets paused_ns}",
             part::number},
    JsonPart{"flows.#.{completion_ns.p50 completion_ns.p99 completion_ns.max slowdown_permille.p99 "
             "slowdown_permille.max}",
             number_or_null},
    JsonPart{"links.*.speed_bps", part::number},
    JsonPart{"links.*.cut", part::flag},
    JsonPart{"links.*.directions.#.{load_ppm packets bytes lost_on_wire lost_into_cut paused_ns.*}",
             part::number}};

// Figures that a phase lacks are zero (phase_report.hh).
constexpr std::array of_phase{
    JsonPart{"{from_ns to_ns}", part::number}, JsonPart{"pauses.{count paused_ns longest_ns}", part::number},
    JsonPart{"switches.*.ports.*.queues?.#.{tx_packets? dropped_packets? ecn_marked_packets? "
             "user_deepest_bytes?}",
             part::number}};

JsonShape shape_of_fabric() {
    JsonShape shape{};
    shape.add(of_any).add(of_fabric).add(of_part).add(of_pause_trees);
    shape.add(of_any, "switches.*.").add(of_switch, "switches.*.");
    return shape.add(of_phase, "phases.*.").add(of_part, "phases.*.");
}

JsonShape shape_of_switch() { return JsonShape{}.add(of_any).add(of_switch); }

tl::expected<Json, std::string> for_page(const auto& read) {
    static const JsonShape either{{"ports?", part::present}, {"switches?", part::present}};
    static const JsonShape of_fabrics = shape_of_fabric(), of_switches = shape_of_switch();
    const auto found = read(either);
    if (!found) return tl::unexpected(found.error());
    const bool is_fabric = found->contains("switches");
    if (!is_fabric && !found->contains("ports"))
        return tl::unexpected(
            std::string("it is not a report: it has neither ports nor switches; do: name what sluiced "
                        "--report has written, or report.json of sluice-fabric run"));
    auto report = read(is_fabric ? of_fabrics : of_switches);
    if (!report)
        return tl::unexpected("it is not a report as this version writes it: " + std::move(report).error());
    Json& shown = *report;
    if (!is_fabric) return Json{{"report", std::move(shown)}};
    if (shown["switches"].empty()) return tl::unexpected(std::string("it has no switches"));
    // As a phase has it.
    shown["pauses"] = {{"count", shown["pauses"].size() + shown["pauses_left_out"].get<std::size_t>()}};
    shown.erase("pauses_left_out");
    return Json{{"fabric", std::move(shown)}};
}

}  // namespace

std::span<const JsonPart> parts_of_pause_trees() { return of_pause_trees; }

tl::expected<Json, std::string> report_for_page(std::string_view text) {
    return for_page([&](const JsonShape& shape) { return read_shaped(text, shape); });
}

tl::expected<Json, std::string> report_file_for_page(const std::string& path) {
    return for_page([&](const JsonShape& shape) { return read_shaped_file(path, shape); });
}

}  // namespace sluice
