#include "control/fabric/report/message_rows.hh"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "control/config/schema/hosts.hh"

namespace sluice::fabric {
namespace {

constexpr Duration flush_interval = milliseconds(1);

std::string nanoseconds_text(std::int64_t ps) { return fmt::format("{}.{:03}", ps / 1000, ps % 1000); }

// A field of CSV (RFC 4180).
std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string quoted = "\"";
    for (const char each : text) quoted += each == '"' ? "\"\"" : std::string(1, each);
    return quoted + "\"";
}

}  // namespace

MessageRows::MessageRows(Fabric& fabric, std::function<void(std::string_view)> write)
    : fabric_(fabric), write_(std::move(write)), jobs_(flow_names(fabric.plan().world())) {
    const FabricPlan& plan = fabric_.plan();
    for (const NodeId host : plan.hosts) at_address_.emplace(plan.host(host).address, host);
    workload_of_.resize(jobs_.size());
    for (const WorkloadPlan& each : plan.workloads) workload_of_[each.flow] = &each;
    write_(
        "job,name,source,destination,bytes,start_ns,end_ns,completion_ns,ideal_ns,slowdown,"
        "retransmitted_packets,cnps,paused_ns,queue_pair,state\n");
}

void MessageRows::look() {
    if (fabric_.now() < next_) return;
    next_ = fabric_.now() + flush_interval;
    flush();
}

void MessageRows::finish() { flush(); }

void MessageRows::flush() {
    for (const NodeId host : fabric_.plan().hosts)
        for (const roce::MessageResult& result : fabric_.take_results(host)) take(host, result);
    std::ranges::sort(rows_, [this](const Row& a, const Row& b) {
        if (a.ended != b.ended) return a.ended < b.ended;
        return std::tuple(name_of(a), a.from, a.to, a.qp) < std::tuple(name_of(b), b.from, b.to, b.qp);
    });
    std::string text;
    for (const Row& row : rows_) text += text_of(row);
    rows_.clear();
    if (!text.empty()) write_(text);
}

void MessageRows::take(NodeId from, const roce::MessageResult& result) {
    const roce::Nic& nic = fabric_.host(from).nic();
    const roce::FlowSettings& flow = nic.flows()[result.flow];
    Row row{.came = result.came,
            .ended = result.ended,
            .bytes = result.bytes,
            .ideal = result.ideal,
            .paused = result.paused,
            .retransmissions = result.retransmissions,
            .cnps = result.cnps,
            .flow = flow.id,
            .listed = nullptr,
            .from = from,
            .to = at_address_.at(result.peer),
            .qp = result.qp,
            .failed = result.failed};
    const roce::ListedTransfer* transfer = nic.transfer_of(result.qp);
    if (transfer == nullptr) return rows_.push_back(row);
    row.listed = &workload_of_[flow.id]->list.flows[transfer->message];
    if (row.listed->qps == 1) return rows_.push_back(row);
    const std::pair key(flow.id, transfer->message);
    const auto [at, is_new] = parts_.try_emplace(key, Parts{row, row.listed->qps});
    Parts& parts = at->second;
    if (!is_new) {
        Row& whole = parts.row;
        whole.came = min(whole.came, row.came);
        whole.ended = max(whole.ended, row.ended);
        whole.bytes += row.bytes;
        whole.paused = std::max(whole.paused, row.paused);
        whole.retransmissions += row.retransmissions;
        whole.cnps += row.cnps;
        whole.qp = std::min(whole.qp, row.qp);
        whole.failed |= row.failed;
    }
    if (--parts.left != 0) return;
    parts.row.ideal = roce::time_on_empty_path(nic.settings(), flow, row.listed->bytes);
    rows_.push_back(parts.row);
    parts_.erase(at);
}

std::string MessageRows::name_of(const Row& row) const {
    if (row.listed == nullptr) return jobs_[row.flow];
    const std::string_view name = workload_of_[row.flow]->list.name_of(*row.listed);
    return name.empty() ? fmt::format("{}.{}", jobs_[row.flow], row.listed->number) : std::string(name);
}

std::string MessageRows::text_of(const Row& row) const {
    const Topology& topology = fabric_.plan().topology;
    const Duration took = row.ended - row.came;
    return fmt::format("{},{},{},{},{},{},{},{},{},{:.4f},{},{},{},{},{}\n", field(jobs_[row.flow]),
                       field(name_of(row)), field(topology.nodes[row.from].name),
                       field(topology.nodes[row.to].name), row.bytes,
                       nanoseconds_text((row.came - Time{}).ps), nanoseconds_text((row.ended - Time{}).ps),
                       nanoseconds_text(took.ps), nanoseconds_text(row.ideal.ps),
                       static_cast<double>(took.ps) / static_cast<double>(row.ideal.ps), row.retransmissions,
                       row.cnps, nanoseconds_text(row.paused.ps), row.qp, row.failed ? "failed" : "done");
}

}  // namespace sluice::fabric
