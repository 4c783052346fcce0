#include "control/fabric/plan/schedule_plan.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "lib/roce/collective_schedule.hh"

namespace sluice::fabric {
namespace {

using roce::CollectiveKind;
using Operation = roce::Program::Operation;
using Sizes = std::shared_ptr<const std::vector<std::uint64_t>>;

bool is_allreduce(CollectiveKind kind) { return kind == CollectiveKind::ring_allreduce; }

// The ranks of each server stand together, as many of each; 1: each has its own, nothing: they are mixed.
std::uint32_t ranks_of_server(const std::vector<std::uint32_t>& ranks, std::uint32_t server) {
    std::uint32_t size = 1;
    while (size < ranks.size() && ranks[size] / server == ranks[0] / server) ++size;
    if (ranks.size() % size != 0) return 1;
    for (std::size_t first = 0; first < ranks.size(); first += size)
        for (std::size_t n = first; n < first + size; ++n)
            if (ranks[n] / server != ranks[first] / server) return 1;
    return size;
}

class SchedulePlanner {
  public:
    SchedulePlanner(const Schedule& schedule, const WorkloadConfig& workload)
        : schedule_(schedule), workload_(workload) {}

    tl::expected<std::vector<SchedulePlan::Group>, std::string> groups() {
        std::vector<SchedulePlan::Group> made;
        for (std::uint32_t n = 0; n < schedule_.communications.size(); ++n) {
            const Communication& each = schedule_.communications[n];
            for (const std::vector<std::uint32_t>& ranks : each.groups) {
                SchedulePlan::Group group{settings_of(each.kind, ranks), n, ranks, {}};
                if (group.settings.kind == CollectiveKind::halving_doubling &&
                    !std::has_single_bit(ranks.size()))
                    return tl::unexpected(
                        fmt::format("{} has {} ranks, and halving-doubling wants a power of two; do: write "
                                    "another allreduce",
                                    each.name, ranks.size()));
                // Within a server there is no queue pair.
                const bool has_network = group.settings.group().size != 1;
                const std::uint64_t least =
                    has_network ? group.settings.shares() * group.settings.queue_pairs : 1;
                group.sizes = sizes_of(ranks.front(), n, least);
                if (group.sizes->empty()) continue;
                group.settings.steps = static_cast<std::uint32_t>(group.sizes->size());
                group.settings.bytes = std::ranges::max(*group.sizes);
                made.push_back(std::move(group));
            }
        }
        return made;
    }

  private:
    roce::CollectiveSettings settings_of(CollectiveKind kind, const std::vector<std::uint32_t>& ranks) const {
        roce::CollectiveSettings made;
        made.kind = is_allreduce(kind) ? workload_.allreduce : kind;
        made.ranks = static_cast<std::uint32_t>(ranks.size());
        made.queue_pairs = workload_.qps;
        made.server_bandwidth = workload_.server_bandwidth;
        made.server_latency = workload_.server_latency;
        made.bytes = 1;
        const std::uint32_t of_server = ranks_of_server(ranks, workload_.server);
        if (of_server == ranks.size() || (of_server != 1 && is_allreduce(kind))) {
            made.kind = CollectiveKind::hierarchical_allreduce;
            made.group_size = of_server;
            made.is_one_way = !is_allreduce(kind);
        }
        if (has_channels(made.kind)) {
            made.channels = workload_.channels;
            made.chunk_bytes = workload_.chunk_bytes;
        }
        return made;
    }

    // The bytes of each of the collectives of a group with this rank.
    Sizes sizes_of(std::uint32_t rank, std::uint32_t communication, std::uint64_t least) {
        const roce::Program& program = *schedule_.programs[rank];
        Sizes& known = sizes_[{&program, communication, least}];
        if (known) return known;
        std::vector<std::uint64_t> sizes;
        for (const Operation& each : program.operations)
            if (each.kind == Operation::Kind::collective && each.peer == communication)
                sizes.push_back(std::max(each.amount, least));
        return known = std::make_shared<const std::vector<std::uint64_t>>(std::move(sizes));
    }

    const Schedule& schedule_;
    const WorkloadConfig& workload_;
    std::map<std::tuple<const roce::Program*, std::uint32_t, std::uint64_t>, Sizes> sizes_;
};

}  // namespace

tl::expected<SchedulePlan, std::string> plan_schedule(const Schedule& schedule,
                                                      const WorkloadConfig& workload,
                                                      std::vector<std::string> hosts,
                                                      std::uint32_t first_group) {
    auto groups = SchedulePlanner(schedule, workload).groups();
    if (!groups) return tl::unexpected(std::move(groups.error()));
    SchedulePlan plan;
    plan.hosts = std::move(hosts);
    plan.programs = std::make_shared<const roce::Programs>(schedule.programs);
    plan.groups = std::move(*groups);
    plan.first_group = first_group;
    plan.start = workload.start;
    plan.traffic_class = workload.traffic_class;
    plan.eager_bytes = workload.rendezvous_bytes.value_or(UINT64_MAX);
    return plan;
}

FlowConfig flow_of(const WorkloadConfig& workload, const SchedulePlan& plan) {
    std::uint64_t least = max_message_bytes, most = 1;
    const auto include = [&](std::uint64_t bytes) {
        least = std::min(least, std::max<std::uint64_t>(bytes, 1));
        most = std::max(most, std::min(bytes, max_message_bytes));
    };
    const roce::Program* last = nullptr;
    for (const auto& program : *plan.programs) {
        if (std::exchange(last, program.get()) == program.get()) continue;
        for (const Operation& each : program->operations)
            if (each.kind == Operation::Kind::send) include(each.amount);
    }
    for (const SchedulePlan::Group& each : plan.groups)
        for (const std::uint64_t bytes : {std::ranges::min(*each.sizes), std::ranges::max(*each.sizes)}) {
            roce::CollectiveSettings settings = each.settings;
            settings.bytes = bytes;
            include(settings.message_bytes() / settings.queue_pairs);
        }
    if (plan.eager_bytes != UINT64_MAX) include(roce::ProgramRank::handshake_bytes);
    FlowConfig flow;
    flow.name = workload.name;
    flow.message.min_bytes = static_cast<std::uint32_t>(std::min(least, most));
    flow.message.max_bytes = static_cast<std::uint32_t>(most);
    flow.messages = 1;
    flow.start = workload.start;
    flow.place = workload.place;
    return flow;
}

std::uint64_t queue_pairs_of(const SchedulePlan& plan) {
    std::uint64_t pairs = pairs_of(plan).size();
    for (const SchedulePlan::Group& each : plan.groups)
        for (std::uint32_t rank = 0; rank < each.settings.ranks; ++rank)
            for (const roce::Strand& strand : roce::strands_of(each.settings, rank))
                pairs += strand.targets.size() * each.settings.queue_pairs;
    return pairs;
}

}  // namespace sluice::fabric
