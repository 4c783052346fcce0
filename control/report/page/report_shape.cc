#include "control/report/page/report_shape.hh"

#include <array>
#include <functional>
#include <utility>

#include "control/config/text/json_text.hh"
#include "control/report/figures/shaped_json.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array of_verdict{JsonPart{"verdict.lossless", part::flag | part::null},
                                JsonPart{"verdict.lossless_packets", part::number},
                                JsonPart{"verdict.lost_packets", part::number},
                                JsonPart{"verdict.headline", part::text},
                                JsonPart{"verdict.reasons.#", part::text},
                                JsonPart{"verdict.interrupted", part::flag},
                                JsonPart{"events.#.at_ns", part::number},
                                JsonPart{"events.#.kind", part::text},
                                JsonPart{"events.#.text", part::text},
                                JsonPart{"end_ns", part::number}};

constexpr std::array of_switch{JsonPart{"clock", part::text},
                               JsonPart{"ledger.rx", part::number},
                               JsonPart{"ledger.tx", part::number},
                               JsonPart{"ledger.dropped", part::number},
                               JsonPart{"ledger.queued", part::number},
                               JsonPart{"ports.*.rx.bytes", part::number},
                               JsonPart{"ports.*.tx.bytes", part::number},
                               JsonPart{"ports.*.missed_packets", part::number},
                               JsonPart{"ports.*.drops.*", part::number},
                               JsonPart{"ports.*.lossless_drops.*", part::number},
                               JsonPart{"ports.*.cnp_sent_packets", part::number},
                               JsonPart{"ports.*.flaps", part::number},
                               JsonPart{"ports.*.link_up", part::flag},
                               JsonPart{"ports.*.pfc.rx_xoff.#", part::number},
                               JsonPart{"ports.*.pfc.tx_xoff.#", part::number},
                               JsonPart{"ports.*.pfc.rx_paused_ns.#", part::number},
                               JsonPart{"ports.*.pfc.tx_paused_ns.#", part::number},
                               JsonPart{"ports.*.queues.#.tx_packets", part::number},
                               JsonPart{"ports.*.queues.#.dropped_packets", part::number},
                               JsonPart{"ports.*.queues.#.ecn_marked_packets", part::number},
                               JsonPart{"ports.*.queues.#.occupancy_bytes", part::number},
                               JsonPart{"ports.*.queues.#.deepest_bytes", part::number},
                               JsonPart{"ports.*.queues.#.latency_ns.p50", part::number},
                               JsonPart{"ports.*.queues.#.latency_ns.p99", part::number},
                               JsonPart{"ports.*.queues.#.latency_ns.max", part::number},
                               JsonPart{"ports.*.priority_groups.#.lossless", part::flag},
                               JsonPart{"ports.*.priority_groups.#.xoff", part::flag},
                               JsonPart{"ports.*.priority_groups.#.xoff_transitions", part::number},
                               JsonPart{"ports.*.priority_groups.#.shared_bytes", part::number},
                               JsonPart{"ports.*.priority_groups.#.shared_watermark_bytes", part::number},
                               JsonPart{"ports.*.priority_groups.#.headroom_watermark_bytes", part::number},
                               JsonPart{"ports.*.priority_groups.#.headroom_size_bytes", part::number},
                               JsonPart{"ports.*.priority_groups.#.headroom_overruns", part::number},
                               JsonPart{"pools.*.shared_bytes", part::number},
                               JsonPart{"pools.*.used_bytes", part::number},
                               JsonPart{"pools.*.watermark_bytes", part::number},
                               JsonPart{"pools.*.headroom_size_bytes", part::number},
                               JsonPart{"pools.*.headroom_used_bytes", part::number},
                               JsonPart{"watchdog.#.port", part::text},
                               JsonPart{"watchdog.#.queue", part::number},
                               JsonPart{"watchdog.#.state", part::text},
                               JsonPart{"watchdog.#.action", part::text},
                               JsonPart{"watchdog.#.detected", part::number},
                               JsonPart{"watchdog.#.restored", part::number},
                               JsonPart{"watchdog.#.total_dropped", part::number},
                               JsonPart{"watchdog.#.total_passed", part::number},
                               JsonPart{"ecmp.*.members.#.via", part::text},
                               JsonPart{"ecmp.*.members.#.port", part::text},
                               JsonPart{"ecmp.*.members.#.packets", part::number},
                               JsonPart{"microbursts.#.port", part::text},
                               JsonPart{"microbursts.#.queue", part::number},
                               JsonPart{"microbursts.#.start_ns", part::number},
                               JsonPart{"microbursts.#.length_ns", part::number},
                               JsonPart{"microbursts.#.threshold_bytes", part::number},
                               JsonPart{"microbursts.#.peak_bytes", part::number},
                               JsonPart{"microbursts.#.peak_at_ns", part::number},
                               JsonPart{"decisions.state", part::text},
                               JsonPart{"decisions.why?.#.sentence", part::text}};

constexpr std::array of_sharing{
    JsonPart{"collectives.#.name", part::text},
    JsonPart{"collectives.#.state", part::text},
    JsonPart{"collectives.#.ranks", part::number},
    JsonPart{"collectives.#.steps", part::number},
    JsonPart{"collectives.#.step_ns.p50", part::number | part::null},
    JsonPart{"collectives.#.step_ns.p99", part::number | part::null},
    JsonPart{"collectives.#.step_ns.max", part::number | part::null},
    JsonPart{"collectives.#.bus_bandwidth_bps", part::number},
    JsonPart{"collectives.#.straggler.host", part::text | part::null},
    JsonPart{"collectives.#.straggler.by_ns", part::number | part::null},
    JsonPart{"collectives.#.straggler.steps", part::number},
    JsonPart{"collectives.#.slowest_path.from", part::text | part::null},
    JsonPart{"collectives.#.slowest_path.to", part::text | part::null},
    JsonPart{"collectives.#.slowest_path.over_median_permille", part::number | part::null},
    JsonPart{"balance.#.switch", part::text},
    JsonPart{"balance.#.links.#", part::text},
    JsonPart{"balance.#.mean_load_ppm", part::number},
    JsonPart{"balance.#.max_over_mean_permille", part::number | part::null},
    JsonPart{"balance.#.jain_permille", part::number | part::null}};

constexpr std::array of_fabric{JsonPart{"fabric", part::text},
                               JsonPart{"name", part::text},
                               JsonPart{"ledger.sent", part::number},
                               JsonPart{"ledger.delivered", part::number},
                               JsonPart{"ledger.dropped", part::number},
                               JsonPart{"ledger.queued", part::number},
                               JsonPart{"ledger.on_wire", part::number},
                               JsonPart{"flows.#.name", part::text},
                               JsonPart{"flows.#.throughput_bps", part::number},
                               JsonPart{"flows.#.messages", part::number},
                               JsonPart{"flows.#.failed_messages", part::number},
                               JsonPart{"flows.#.completion_ns.p50", part::number},
                               JsonPart{"flows.#.completion_ns.p99", part::number},
                               JsonPart{"flows.#.completion_ns.max", part::number},
                               JsonPart{"flows.#.retransmitted_packets", part::number},
                               JsonPart{"flows.#.cnp_received_packets", part::number},
                               JsonPart{"flows.#.paused_ns", part::number},
                               JsonPart{"links.*.speed_bps", part::number},
                               JsonPart{"links.*.cut", part::flag},
                               JsonPart{"links.*.directions.#.from", part::text},
                               JsonPart{"links.*.directions.#.to", part::text},
                               JsonPart{"links.*.directions.#.packets", part::number},
                               JsonPart{"links.*.directions.#.bytes", part::number},
                               JsonPart{"links.*.directions.#.paused_ns.*", part::number},
                               JsonPart{"links.*.directions.#.lost_on_wire", part::number},
                               JsonPart{"links.*.directions.#.lost_into_cut", part::number},
                               JsonPart{"pause_trees.#.text", part::text},
                               JsonPart{"pause_trees.#.paused_ns", part::number},
                               JsonPart{"pause_trees.#.pauses", part::number},
                               JsonPart{"switches.*.tier", part::number}};

JsonShape shape_of_switch() {
    JsonShape shape{};
    shape.add(of_verdict).add(of_switch);
    return shape;
}

JsonShape shape_of_fabric() {
    JsonShape shape{};
    shape.add(of_verdict)
        .add(of_fabric)
        .add(of_sharing)
        .add(of_verdict, "switches.*.")
        .add(of_switch, "switches.*.");
    return shape;
}

using ReadBy = std::function<tl::expected<Json, std::string>(const JsonShape& shape)>;

tl::expected<Json, std::string> read_as(const ReadBy& read, const JsonShape& shape) {
    auto report = read(shape);
    if (!report)
        return tl::unexpected("it is no report as this version writes it: " + std::move(report).error());
    return report;
}

// Of the fabric's own view a switch has few figures.
Json by_switch(Json fabric) {
    Json switches = std::move(fabric["switches"]);
    Json& few = fabric["switches"] = Json::object();
    make_room(few, switches.size());
    for (const auto& [name, of] : switches.items()) {
        const Json& verdict = of["verdict"];
        few[name] = {
            {"tier", of["tier"]},
            {"verdict", {{"lossless", verdict["lossless"]}, {"lost_packets", verdict["lost_packets"]}}},
            {"ledger", of["ledger"]}};
    }
    return {{"fabric", std::move(fabric)}, {"switches", std::move(switches)}};
}

tl::expected<Json, std::string> for_page(const ReadBy& read) {
    static const JsonShape either{{"ports?", part::present}, {"switches?", part::present}};
    const auto found = read(either);
    if (!found) return tl::unexpected(found.error());
    if (found->contains("switches")) {
        static const JsonShape shape = shape_of_fabric();
        auto fabric = read_as(read, shape);
        if (fabric && (*fabric)["switches"].empty()) return tl::unexpected(std::string("it has no switches"));
        return fabric ? by_switch(std::move(*fabric)) : fabric;
    }
    if (!found->contains("ports"))
        return tl::unexpected(std::string(
            "it is no report: it has neither ports nor switches; do: name what sluiced --report has written, "
            "or report.json of sluice-fabric run"));
    static const JsonShape shape = shape_of_switch();
    auto report = read_as(read, shape);
    return report ? Json{{"report", std::move(*report)}} : report;
}

}  // namespace

std::span<const JsonPart> parts_of_sharing() { return of_sharing; }

tl::expected<Json, std::string> report_for_page(std::string_view text) {
    return for_page([&](const JsonShape& shape) { return read_shaped(text, shape); });
}

std::string wrong_with_report(const Json& report) {
    const auto shown = for_page([&](const JsonShape& shape) { return shaped(report, shape); });
    return shown ? std::string() : shown.error();
}

}  // namespace sluice
