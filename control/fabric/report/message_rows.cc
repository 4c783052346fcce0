#include "control/fabric/report/message_rows.hh"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "control/config/schema/hosts.hh"

namespace sluice::fabric {
namespace {

std::string nanoseconds_text(std::int64_t ps) { return fmt::format("{}.{:03}", ps / 1000, ps % 1000); }

// A field of CSV (RFC 4180).
std::string field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    std::string quoted = "\"";
    for (const char each : text) quoted += each == '"' ? "\"\"" : std::string(1, each);
    return quoted + "\"";
}

}  // namespace

MessageRows::MessageRows(const FabricPlan& plan, std::function<void(std::string_view)> write)
    : plan_(plan),
      write_(std::move(write)),
      names_(flow_names(plan.world())),
      jobs_(names_),
      list_of_(names_.size()) {
    for (const WorkloadPlan& each : plan.workloads) list_of_[each.flow] = &each.list;
    const std::vector<const JobPlan*> jobs = plan.jobs_of_flows();
    for (std::size_t flow = 0; flow < jobs.size(); ++flow)
        if (jobs[flow] != nullptr) jobs_[flow] = jobs[flow]->name;
    write_(
        "job,name,source,destination,bytes,start_ns,end_ns,completion_ns,ideal_ns,slowdown,"
        "retransmitted_packets,cnps,paused_ns,queue_pair,path,state\n");
}

void MessageRows::take(std::span<EndedMessage> messages) {
    std::ranges::sort(messages, [this](const EndedMessage& a, const EndedMessage& b) {
        if (a.ended != b.ended) return a.ended < b.ended;
        return std::tuple(name_of(a), a.from, a.to, a.qp) < std::tuple(name_of(b), b.from, b.to, b.qp);
    });
    std::string text;
    for (const EndedMessage& message : messages) text += text_of(message);
    write_(text);
}

std::string MessageRows::name_of(const EndedMessage& message) const {
    if (message.listed == nullptr) return names_[message.flow];
    const std::string_view name = list_of_[message.flow]->name_of(*message.listed);
    return name.empty() ? fmt::format("{}.{}", names_[message.flow], message.listed->number)
                        : std::string(name);
}

std::string MessageRows::text_of(const EndedMessage& message) const {
    const auto& nodes = plan_.topology.nodes;
    return fmt::format("{},{},{},{},{},{},{},{},{},{:.4f},{},{},{},{},{},{}\n", field(jobs_[message.flow]),
                       field(name_of(message)), field(nodes[message.from].name),
                       field(nodes[message.to].name), message.bytes,
                       nanoseconds_text((message.came - Time{}).ps),
                       nanoseconds_text((message.ended - Time{}).ps), nanoseconds_text(message.took().ps),
                       nanoseconds_text(message.ideal.ps),
                       static_cast<double>(message.took().ps) / static_cast<double>(message.ideal.ps),
                       message.retransmissions, message.cnps, nanoseconds_text(message.paused.ps), message.qp,
                       field(message.path.text), message.failed ? "failed" : "done");
}

}  // namespace sluice::fabric
