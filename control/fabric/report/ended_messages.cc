#include "control/fabric/report/ended_messages.hh"

#include <algorithm>

namespace sluice::fabric {
namespace {

constexpr Duration gather_interval = milliseconds(1);

}  // namespace

EndedMessages::EndedMessages(Fabric& fabric, bool with_paths, Take take)
    : fabric_(fabric), take_(std::move(take)) {
    if (with_paths) paths_.emplace(fabric);
    fabric_.before_moves([this] { gather(); });
    const FabricPlan& plan = fabric_.plan();
    for (const NodeId host : plan.hosts) at_address_.emplace(plan.host(host).address, host);
    fabric_.keep_results();
    workload_of_.resize(plan.file.flows.size());
    for (const WorkloadPlan& each : plan.workloads) workload_of_[each.flow] = &each;
}

void EndedMessages::look() {
    if (fabric_.now() < next_) return;
    next_ = fabric_.now() + gather_interval;
    gather();
}

void EndedMessages::gather() {
    for (const NodeId host : fabric_.plan().hosts)
        for (const roce::MessageResult& result : fabric_.take_results(host)) add(host, result);
    if (!ended_.empty()) take_(ended_);
    ended_.clear();
}

void EndedMessages::add(NodeId from, const roce::MessageResult& result) {
    const roce::Nic& nic = fabric_.host(from).nic();
    const roce::FlowSettings& flow = nic.flows()[result.flow];
    EndedMessage message{.came = result.came,
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
                         .path = paths_ ? paths_->of(from, result) : MessagePath{},
                         .qp = result.qp,
                         .failed = result.failed};
    const roce::ListedTransfer* transfer = nic.transfer_of(result.qp);
    if (transfer == nullptr) return ended_.push_back(std::move(message));
    message.listed = &workload_of_[flow.id]->list.flows[transfer->message];
    if (message.listed->qps == 1) return ended_.push_back(std::move(message));
    const std::pair key(flow.id, transfer->message);
    const auto [at, is_new] = parts_.try_emplace(key, Parts{message, message.listed->qps});
    Parts& parts = at->second;
    if (!is_new) {
        EndedMessage& whole = parts.whole;
        whole.came = min(whole.came, message.came);
        whole.ended = max(whole.ended, message.ended);
        whole.bytes += message.bytes;
        whole.paused = std::max(whole.paused, message.paused);
        whole.retransmissions += message.retransmissions;
        whole.cnps += message.cnps;
        whole.qp = std::min(whole.qp, message.qp);
        whole.failed |= message.failed;
        if (whole.path != message.path) whole.path = {std::string(several_paths), {}};
    }
    if (--parts.left != 0) return;
    parts.whole.ideal = roce::time_on_empty_path(nic.settings(), flow, message.listed->bytes);
    ended_.push_back(std::move(parts.whole));
    parts_.erase(at);
}

}  // namespace sluice::fabric
