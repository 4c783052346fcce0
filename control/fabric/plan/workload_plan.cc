// Workloads of a plan: their files, the hosts of their names and ranks, and what switches must have for them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/plan_names.hh"
#include "control/fabric/plan/schedule_plan.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t max_listed_pairs = 8'000'000;  // of a host, of each list: numbers have 24 bits

class WorkloadReader {
  public:
    WorkloadReader(FabricPlan& plan, PlanNames& names)
        : plan_(plan), file_(plan.file), names_(names), hosts_(plan.topology.names(true)) {}

    void read(const Stage& stage) {
        const std::size_t drawn = plan_.workloads.size();
        for (std::size_t n = 0; n < file_.workloads.size(); ++n) {
            stage("workloads", n, file_.workloads.size());
            read(n, fmt::format("workload[{}]", n));
        }
        for (JobPlan& job : plan_.jobs)
            for (std::size_t& workload : job.workloads) workload += drawn;
    }

  private:
    void read(std::size_t n, const std::string& path) {
        WorkloadConfig& each = file_.workloads[n];
        each.name = each.usual_name();
        if (!names_.take_name(each.name, each.place, path)) return;
        for (const auto& [theirs, ours] : each.hosts)
            if (!names_.is(ours, true))
                names_.unknown(each.place, fmt::format("{}.hosts.{}", path, config_key(theirs)), ours, true);
        const auto beside = [&](const std::string& file) {
            return (std::filesystem::path(file_.file).parent_path() / file).string();
        };
        JobPlan& job = job_of(plan_, n, &JobPlan::workloads);
        if (each.file.empty() == each.text.empty())
            return names_.refuse(each.place, path + ".file",
                                 each.file.empty() ? "the workload has no file" : "it has a text, too",
                                 "write file, or text, one of them");
        const std::vector<std::string>& hosts = job.is_placed ? job.hosts : hosts_;
        const std::string groups = each.groups.empty() ? std::string() : beside(each.groups);
        const std::string own_name = each.file.empty() ? path + ".text" : beside(each.file);
        auto contents = each.file.empty() ? read_workload_text(each.text, own_name, hosts, each, groups)
                                          : read_workload_file(own_name, hosts, each, groups);
        if (!contents) return refuse_file(std::move(contents.error()), each.place, path);
        WorkloadPlan made{path, own_name, static_cast<std::uint32_t>(file_.flows.size()), {}, {}, {}};
        if (auto* list = std::get_if<FlowList>(&*contents))
            take_list(each, std::move(*list), job, std::move(made));
        else
            take_schedule(each, std::move(std::get<Schedule>(*contents)), job, std::move(made));
    }

    void take_list(const WorkloadConfig& each, FlowList list, JobPlan& job, WorkloadPlan made) {
        if (static_cast<const ScheduleKeys&>(each) != ScheduleKeys{})
            return names_.refuse(each.place, made.key,
                                 fmt::format("{} is a list of flows, and rendezvous, groups, allreduce, "
                                             "channels, chunk and the keys of servers are of schedules",
                                             in_quotes(made.path)),
                                 "leave them out");
        if (job.is_placed)
            renumber(list, job);
        else
            job.hosts = hosts_of(list);
        file_.flows.push_back(flow_of(each, list));
        made.list = std::move(list);
        plan_.workloads.push_back(std::move(made));
    }

    void take_schedule(const WorkloadConfig& each, Schedule schedule, JobPlan& job, WorkloadPlan made) {
        auto hosts = hosts_of_ranks(each, schedule, job, made.key);
        if (!hosts) return;
        std::uint32_t first_group = static_cast<std::uint32_t>(plan_.collectives.size());
        for (const SchedulePlan& before : plan_.schedules)
            first_group += static_cast<std::uint32_t>(before.groups.size());
        auto plan = plan_schedule(schedule, each, *hosts, first_group);
        if (!plan) return names_.refuse(each.place, made.key, plan.error());
        if (!names_.count_pairs(queue_pairs_of(*plan), each.place, made.key)) return;
        plan->flow = made.flow;
        if (!job.is_placed) job.hosts = std::move(*hosts);
        file_.flows.push_back(flow_of(each, *plan));
        made.schedule = static_cast<std::uint32_t>(plan_.schedules.size());
        made.contents = std::move(schedule);
        plan_.schedules.push_back(std::move(*plan));
        plan_.workloads.push_back(std::move(made));
    }

    // The first hosts, or those that `hosts` gives to the numbers of ranks.
    std::optional<std::vector<std::string>> hosts_of_ranks(const WorkloadConfig& each,
                                                           const Schedule& schedule, const JobPlan& job,
                                                           const std::string& path) {
        const std::vector<std::string>& all = job.is_placed ? job.hosts : hosts_;
        const std::size_t ranks = schedule.programs.size();
        std::vector<std::string> hosts(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(ranks));
        const auto refuse = [&](const std::string& name, std::string wrong, std::string remedy) {
            names_.refuse(each.place, fmt::format("{}.hosts.{}", path, config_key(name)), std::move(wrong),
                          std::move(remedy));
            return std::nullopt;
        };
        std::set<std::uint64_t> said;
        for (const auto& [theirs, ours] : each.hosts) {
            const auto rank = parse_integer(theirs);
            if (!rank || *rank >= ranks)
                return refuse(theirs, fmt::format("the schedule has no such rank, but {}", ranks),
                              "write the number of a rank, from 0");
            if (!said.insert(*rank).second)
                return refuse(theirs, fmt::format("rank {} is there twice", *rank), "leave one out");
            if (std::ranges::find(all, ours) == all.end())
                return refuse(theirs, fmt::format("host {} is none of its job's", ours),
                              fmt::format("write one of job {}'s hosts", job.name));
            hosts[*rank] = ours;
        }
        std::set<std::string> seen;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            if (!seen.insert(hosts[rank]).second) {
                names_.refuse(each.place, path + ".hosts",
                              fmt::format("host {} would have two ranks, one of them {}", hosts[rank], rank),
                              "map every rank, or swap two");
                return {};
            }
        return hosts;
    }

    std::vector<std::string> hosts_of(const FlowList& list) const {
        std::vector<bool> takes_part(hosts_.size());
        for (const ListedFlow& flow : list.flows) takes_part[flow.from] = takes_part[flow.to] = true;
        std::vector<std::string> found;
        for (std::size_t n = 0; n < hosts_.size(); ++n)
            if (takes_part[n]) found.push_back(hosts_[n]);
        return found;
    }

    // From places among the job's hosts to those among all.
    void renumber(FlowList& list, const JobPlan& job) const {
        std::vector<std::uint32_t> place_of;
        for (const std::string& name : job.hosts)
            place_of.push_back(static_cast<std::uint32_t>(
                std::ranges::lower_bound(plan_.hosts, plan_.nodes.at(name)) - plan_.hosts.begin()));
        for (ListedFlow& flow : list.flows) {
            flow.from = place_of[flow.from];
            flow.to = place_of[flow.to];
        }
    }

    // An error that names no line of the file has the place of the section.
    void refuse_file(std::vector<ConfigError> errors, SourcePlace place, const std::string& path) {
        for (ConfigError& error : errors)
            if (error.place.line != 0)
                names_.errors().push_back(std::move(error));
            else
                names_.refuse(place, path + ".file",
                              fmt::format("{}: {}", in_quotes(error.file), error.wrong),
                              std::move(error.remedy));
    }

    FabricPlan& plan_;
    FabricConfig& file_;
    PlanNames& names_;
    std::vector<std::string> hosts_;
};

void check_list(const FabricPlan& plan, const WorkloadPlan& workload, PlanNames& names) {
    const SourcePlace place = plan.file.flows[workload.flow].place;
    std::set<std::pair<std::uint32_t, std::uint8_t>> seen;
    std::vector<std::uint64_t> queue_pairs(plan.hosts.size());
    for (const ListedFlow& flow : workload.list.flows) {
        queue_pairs[flow.from] += flow.qps;
        queue_pairs[flow.to] += flow.qps;
        if (flow.tc == ListedFlow::by_default || !seen.emplace(flow.from, flow.tc).second) continue;
        check_class(plan, plan.hosts[flow.from], flow.tc, place, workload.key, names,
                    fmt::format("{}:{}: ", workload.path, flow.line),
                    "map a DSCP to it there, or give the flow another class");
    }
    const auto most = std::ranges::max_element(queue_pairs);
    if (most == queue_pairs.end() || *most <= max_listed_pairs) return;
    const NodeId host = plan.hosts[static_cast<std::size_t>(most - queue_pairs.begin())];
    names.refuse(place, workload.key,
                 fmt::format("host {} would have {} queue pairs, {} at most", plan.topology.nodes[host].name,
                             *most, max_listed_pairs),
                 "split the list, or write fewer qps or messages");
}

void check_schedule_class(const FabricPlan& plan, const WorkloadPlan& workload, PlanNames& names) {
    const SchedulePlan& schedule = plan.schedules[*workload.schedule];
    if (!schedule.traffic_class) return;
    for (const std::string& host : schedule.hosts)
        if (!check_class(plan, plan.nodes.at(host), *schedule.traffic_class,
                         plan.file.flows[workload.flow].place, workload.key + ".class", names, {},
                         "map a DSCP to it there, or write another class"))
            return;
}

}  // namespace

void read_workloads(FabricPlan& plan, PlanNames& names, const Stage& stage) {
    if (!plan.file.workloads.empty()) WorkloadReader(plan, names).read(stage);
}

bool check_class(const FabricPlan& plan, NodeId sender, ClassId tc, SourcePlace place,
                 const std::string& path, PlanNames& names, std::string_view where, std::string remedy) {
    if (dscp_of_class(plan.switch_at(sender).config, plan.host(sender), tc)) return true;
    names.refuse(place, path,
                 fmt::format("{}switch {} puts no DSCP of host {} into class {}", where,
                             plan.switch_at(sender).name, plan.topology.nodes[sender].name, tc),
                 std::move(remedy));
    return false;
}

void check_workloads(const FabricPlan& plan, PlanNames& names) {
    for (const WorkloadPlan& each : plan.workloads)
        if (each.schedule)
            check_schedule_class(plan, each, names);
        else
            check_list(plan, each, names);
}

}  // namespace sluice::fabric
