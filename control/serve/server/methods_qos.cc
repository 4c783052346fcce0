// Methods for quality of service: the configuration, the effective values, and the promises that are broken.
#include <fmt/format.h>

#include "control/config/lint/judge.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/report_port.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

Json classes_json(std::uint8_t mask) {
    Json list = Json::array();
    for (unsigned n = 0; n < classes; ++n)
        if ((mask >> n & 1U) != 0) list.push_back(n);
    return list;
}

// The limit on shared use, as an operator writes it.
std::string threshold_text(const Threshold& threshold, const CellSize& cell) {
    if (threshold.is_dynamic()) return fmt::format("dynamic_th {}", threshold.n());
    if (threshold.is_unlimited()) return "none";
    return print_size(static_cast<std::uint64_t>(threshold.limit_cells(0, 0)) * cell.bytes());
}

Json pool_json(const EffectivePool& pool, std::uint64_t cell) {
    return {{"name", pool.name},
            {"direction", pool.direction == PoolDirection::ingress ? "ingress" : "egress"},
            {"size_bytes", pool.size_cells * cell},
            {"reserved_bytes", pool.reserved_cells * cell},
            {"headroom_bytes", pool.headroom_cells * cell},
            {"shared_bytes", pool.shared_cells * static_cast<std::int64_t>(cell)},
            {"shared_headroom_bytes", pool.shared_headroom_cells * cell}};
}

std::string pool_name(const EffectiveQos& qos, PoolDirection direction, unsigned index) {
    const EffectivePool* pool = qos.pool(direction, index);
    return pool == nullptr ? std::string() : pool->name;
}

Json group_json(const RunningSwitch& running, PortId id, const EffectivePort& port, ClassId n) {
    const EffectiveQos& qos = running.qos();
    const GroupLimits& limits = port.group[n];
    const std::uint64_t cell = qos.cell.bytes();
    Json json = {{"group", n},
                 {"pool", pool_name(qos, PoolDirection::ingress, limits.pool)},
                 {"lossless", limits.lossless},
                 {"state", class_state(running.device().policy().ports[id].group[n])},
                 {"threshold", threshold_text(limits.threshold, qos.cell)},
                 {"reserved_bytes", limits.reserved_cells * cell},
                 {"headroom_bytes", limits.headroom_cells * cell},
                 {"headroom_needed_bytes", limits.lossless ? port.headroom.xoff_cells * cell : 0},
                 {"headroom_given", port.headroom_is_given[n]},
                 {"xon_bytes", limits.xon_cells * cell},
                 {"xon_offset_bytes", limits.xon_offset_cells * cell}};
    add_class_wait(json, running, id, n);
    return json;
}

Json queue_json(const EffectiveQos& qos, const EffectivePort& port, unsigned n) {
    const QueueLimits& limits = port.queue[n];
    const QueueSchedule& schedule = port.schedule.queue[n];
    Json json = {{"queue", n},
                 {"pool", pool_name(qos, PoolDirection::egress, limits.pool)},
                 {"lossless", limits.lossless},
                 {"threshold", threshold_text(limits.threshold, qos.cell)},
                 {"reserved_bytes", limits.reserved_cells * qos.cell.bytes()},
                 {"scheduler", schedule.strict ? "strict" : fmt::format("dwrr {}", schedule.weight)},
                 {"wred", port.wred_profile[n] ? Json(port.wred[n]) : Json(nullptr)}};
    if (schedule.min_rate != Rate{}) json["min_rate"] = print_rate(schedule.min_rate);
    if (schedule.max_rate != Rate{}) json["max_rate"] = print_rate(schedule.max_rate);
    return json;
}

Json port_json(const RunningSwitch& running, PortId id) {
    const EffectiveQos& qos = running.qos();
    const std::string& name = running.port_names()[id];
    const EffectivePort& port = qos.ports.at(name);
    Json json = {{"preset", running.config().ports.at(name).qos},
                 {"pfc_mode", to_string(port.mode)},
                 {"lossless", classes_json(port.lossless)},
                 {"sends_pfc", classes_json(port.masks.may_send)},
                 {"obeys_pfc", classes_json(port.masks.honors)},
                 {"priority_groups", Json::array()},
                 {"queues", Json::array()}};
    for (ClassId n = 0; n < classes; ++n) {
        json["priority_groups"].push_back(group_json(running, id, port, n));
        json["queues"].push_back(queue_json(qos, port, n));
    }
    return json;
}

// True for a path of the configuration that concerns quality of service.
bool is_about_qos(std::string_view path) {
    if (path.starts_with("pool.") || path.starts_with("map.") || path.starts_with("buffer.") ||
        path.starts_with("wred."))
        return true;
    if (!path.starts_with("port.") && !path.starts_with("default.")) return false;
    for (const std::string_view part :
         {".qos", ".pfc", ".pfc_mode", ".small_xoff", ".trust", ".map", ".default_tc"})
        if (path.ends_with(part)) return true;
    return path.find(".priority_group.") != std::string_view::npos ||
           path.find(".queue.") != std::string_view::npos || path.find(".map.") != std::string_view::npos;
}

Json configured_json(const Config& config) {
    Json list = Json::array();
    static const Config defaults;
    for (const ConfigChange& change : config_changes(defaults, config))
        if (is_about_qos(change.path) && !change.to.empty())
            list.push_back({{"path", change.path}, {"value", change.to}});
    return list;
}

Json show(Api& api, RpcClient&, RpcParameters&) {
    const RunningSwitch& running = api.running();
    const EffectiveQos& qos = running.qos();
    Json json = {{"cell_bytes", qos.cell.bytes()}, {"pools", Json::array()}, {"ports", Json::object()}};
    for (const EffectivePool& pool : qos.pools) json["pools"].push_back(pool_json(pool, qos.cell.bytes()));
    for (PortId id = 0; id < running.port_names().size(); ++id)
        json["ports"][running.port_names()[id]] = port_json(running, id);
    json["configured"] = configured_json(running.config());
    json["exceptions"] = running.broken_promises();
    for (const Finding& finding : lint_qos(running.config(), qos))
        if (finding.id == "class-queue-lossy")
            json["exceptions"].push_back(finding.path + ": " + finding.message);
    return json;
}

}  // namespace

std::span<const RpcMethod> qos_methods() {
    static const std::vector<RpcMethod> methods{
        {"qos.show", reads, show, "",
         "{cell_bytes: NUMBER, pools: [OBJECT], ports: OBJECT, configured: [{path: PATH, value: TEXT}], "
         "exceptions: [TEXT]}",
         "Buffer, groups, queues and PFC: what is configured, what it comes to, what is not promised."},
    };
    return methods;
}

}  // namespace sluice
