#include "control/fabric/report/report_shape.hh"

#include <array>

#include "control/report/page/report_shape.hh"

namespace sluice::fabric {
namespace {

constexpr std::array of_pause_trees{JsonPart{"pause_trees.#.slow_host", part::flag},
                                    JsonPart{"pause_trees.#.circle", part::flag},
                                    JsonPart{"pause_trees.#.text", part::text},
                                    JsonPart{"pause_trees.#.switch", part::text},
                                    JsonPart{"pause_trees.#.to", part::text},
                                    JsonPart{"pause_trees.#.pauses", part::count},
                                    JsonPart{"pause_trees.#.paused_ns", part::count},
                                    JsonPart{"pause_trees.#.hops", part::count},
                                    JsonPart{"pause_trees.#.hosts.*", part::count},
                                    JsonPart{"pause_trees.#.chains.#.nodes.+", part::text},
                                    JsonPart{"pause_trees.#.chains.#.pauses", part::count},
                                    JsonPart{"pause_trees.#.chains.#.paused_ns", part::count},
                                    JsonPart{"pause_trees.#.victims", part::count},
                                    JsonPart{"pause_trees.#.worst_victims.#.flow", part::text},
                                    JsonPart{"pause_trees.#.worst_victims.#.from", part::text},
                                    JsonPart{"pause_trees.#.worst_victims.#.to", part::text},
                                    JsonPart{"pause_trees.#.worst_victims.#.waited_ns", part::count},
                                    JsonPart{"hosts.*", part::present}};

constexpr std::array of_run{JsonPart{"name", part::text},
                            JsonPart{"question", part::text},
                            JsonPart{"fabric", part::text},
                            JsonPart{"seed", part::count},
                            JsonPart{"end_ns", part::count},
                            JsonPart{"verdict.lossless", part::flag | part::null},
                            JsonPart{"verdict.headline", part::text},
                            JsonPart{"verdict.interrupted", part::flag},
                            JsonPart{"verdict.*", part::any},
                            JsonPart{"ledger.dropped_by.*.*", part::count},
                            JsonPart{"ledger.*", part::scalar},
                            JsonPart{"asserts.#.that", part::text},
                            JsonPart{"asserts.#.met", part::flag | part::null},
                            JsonPart{"asserts.#.*", part::any},
                            JsonPart{"switches.*.tier", part::count},
                            JsonPart{"switches.*.ports.*.queues.#.tx_packets", part::count},
                            JsonPart{"switches.*.ports.*.queues.#.dropped_packets", part::count},
                            JsonPart{"switches.*.ports.*.queues.#.ecn_marked_packets", part::count},
                            JsonPart{"switches.*.ports.*.queues.#.deepest_bytes", part::count},
                            JsonPart{"pauses.#", part::present},
                            JsonPart{"pauses_left_out", part::count},
                            JsonPart{"collectives.#.*", part::any},
                            JsonPart{"balance.#.*", part::any},
                            JsonPart{"pause_trees.#.*", part::any},
                            JsonPart{"pause_cycles.#.at_ns", part::count},
                            JsonPart{"pause_cycles.#.text", part::text},
                            JsonPart{"pause_cycles.#.*", part::any},
                            JsonPart{"pause_timeline", part::any},
                            JsonPart{"events.#.at_ns", part::count},
                            JsonPart{"events.#.kind", part::text},
                            JsonPart{"events.#.text", part::text},
                            JsonPart{"events.#.*", part::any}};

// Figures that a phase has not are zero (phase_report.hh).
constexpr std::array of_phase{
    JsonPart{"phases.*.from_ns", part::count},
    JsonPart{"phases.*.to_ns", part::count},
    JsonPart{"phases.*.pauses.count", part::count},
    JsonPart{"phases.*.pauses.paused_ns", part::count},
    JsonPart{"phases.*.pauses.longest_ns", part::count},
    JsonPart{"phases.*.switches.*.ports.*.queues?.#.tx_packets?", part::count},
    JsonPart{"phases.*.switches.*.ports.*.queues?.#.dropped_packets?", part::count},
    JsonPart{"phases.*.switches.*.ports.*.queues?.#.ecn_marked_packets?", part::count},
    JsonPart{"phases.*.switches.*.ports.*.queues?.#.user_deepest_bytes?", part::count}};

// Of the whole run and of a phase.
constexpr std::array of_either{JsonPart{"flows.#.name", part::text},
                               JsonPart{"flows.#.queue_pairs", part::count},
                               JsonPart{"flows.#.messages", part::count},
                               JsonPart{"flows.#.failed_messages", part::count},
                               JsonPart{"flows.#.delivered_bytes", part::count},
                               JsonPart{"flows.#.throughput_bps", part::count},
                               JsonPart{"flows.#.completion_ns.*", part::count | part::null},
                               JsonPart{"flows.#.slowdown_permille.*", part::count | part::null},
                               JsonPart{"flows.#.retransmitted_packets", part::count},
                               JsonPart{"flows.#.cnp_received_packets", part::count},
                               JsonPart{"flows.#.paused_ns", part::count},
                               JsonPart{"links.*.speed_bps", part::count},
                               JsonPart{"links.*.cut", part::flag},
                               JsonPart{"links.*.directions.#.from", part::text},
                               JsonPart{"links.*.directions.#.to", part::text},
                               JsonPart{"links.*.directions.#.load_ppm", part::count},
                               JsonPart{"links.*.directions.#.packets", part::count},
                               JsonPart{"links.*.directions.#.lost_on_wire", part::count},
                               JsonPart{"links.*.directions.#.lost_into_cut", part::count},
                               JsonPart{"links.*.directions.#.paused_ns.*", part::count},
                               JsonPart{"links.*.directions.#.*", part::any}};

JsonShape make_shape_for_run_page() {
    JsonShape shape{};
    return shape.add(of_run)
        .add(parts_of_sharing())
        .add(of_pause_trees)
        .add(of_either)
        .add(of_phase)
        .add(of_either, "phases.*.");
}

}  // namespace

const JsonShape& shape_for_why() {
    static const JsonShape shape = JsonShape{}.add(of_pause_trees);
    return shape;
}

const JsonShape& shape_for_run_page() {
    static const JsonShape shape = make_shape_for_run_page();
    return shape;
}

tl::expected<nlohmann::ordered_json, std::string> read_own(const std::string& path, const JsonShape& shape) {
    auto json = read_shaped_file(path, shape);
    if (!json) return tl::unexpected(path + ": " + std::move(json).error());
    return json;
}

}  // namespace sluice::fabric
