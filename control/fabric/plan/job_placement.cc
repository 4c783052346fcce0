#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/plan_names.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint32_t placement_stream = 0x4A4F4253;  // of draws

NodeId leaf_of(const Topology& topology, NodeId host) {
    return topology.links[topology.nodes[host].links.front()].beyond(host).node;
}

// `hosts`, in the order of nodes, in the order in which the job takes them.
std::vector<NodeId> in_order(const Topology& topology, const JobConfig& job, std::vector<NodeId> hosts,
                             std::uint64_t seed) {
    const std::string& how = job.placement.front();
    if (how == "random") {
        const std::uint64_t own = job.seed.value_or(seed);
        for (std::size_t n = hosts.size(); n > 1; --n)
            std::swap(hosts[n - 1], hosts[draw({own, placement_stream, 0, n}) % n]);
        return hosts;
    }
    struct Turn {
        std::size_t number;  // among the hosts of its leaf
        NodeId leaf, host;
    };
    std::vector<Turn> turns;
    std::map<NodeId, std::size_t> seen;
    for (const NodeId host : hosts) {
        const NodeId leaf = leaf_of(topology, host);
        turns.push_back({seen[leaf]++, leaf, host});
    }
    if (how == "spread")
        std::ranges::stable_sort(turns, {},
                                 [](const Turn& each) { return std::pair(each.number, each.leaf); });
    else
        std::ranges::stable_sort(turns, {}, &Turn::leaf);
    std::ranges::transform(turns, hosts.begin(), &Turn::host);
    return hosts;
}

class JobPlacer {
  public:
    JobPlacer(FabricPlan& plan, PlanNames& names) : plan_(plan), file_(plan.file), names_(names) {}

    void place() {
        std::set<std::string> known;
        for (std::size_t n = 0; n < file_.jobs.size(); ++n) {
            const JobConfig& job = file_.jobs[n];
            const std::string path = fmt::format("job[{}]", n);
            if (!known.insert(job.name).second)
                return names_.refuse(job.place, path + ".name",
                                     fmt::format("another job is called {}", in_quotes(job.name)),
                                     "write another name");
            JobPlan made{job.name, {}, true, {}, {}};
            if (!find_work(job, path, made) || !find_hosts(job, path, made)) return;
            for (const std::size_t each : made.collectives) {
                file_.collectives[each].hosts = made.hosts;
                file_.collectives[each].start = file_.collectives[each].start + job.start;
            }
            for (const std::size_t each : made.workloads)
                file_.workloads[each].start = file_.workloads[each].start + job.start;
            plan_.jobs.push_back(std::move(made));
        }
        add_lone(file_.collectives, collective_job_, &JobPlan::collectives, known, "collective");
        add_lone(file_.workloads, workload_job_, &JobPlan::workloads, known, "workload");
    }

  private:
    bool refuse(const JobConfig& job, const std::string& path, std::string wrong, std::string remedy) {
        names_.refuse(job.place, path, std::move(wrong), std::move(remedy));
        return false;
    }

    // The names that reports have for them (fabric_plan.cc).
    static std::string name_of(const CollectiveConfig& each) {
        return each.name.empty() ? std::string(to_string(each.kind)) : each.name;
    }
    static std::string name_of(const WorkloadConfig& each) { return each.usual_name(); }

    template <class Part>
    static std::optional<std::size_t> find(const std::vector<Part>& parts, const std::string& name) {
        for (std::size_t n = 0; n < parts.size(); ++n)
            if (name_of(parts[n]) == name) return n;
        return std::nullopt;
    }

    bool find_work(const JobConfig& job, const std::string& path, JobPlan& made) {
        for (const std::string& name : job.work) {
            const auto collective = find(file_.collectives, name);
            const auto workload = find(file_.workloads, name);
            if (!collective && !workload) {
                std::vector<std::string> all;
                for (const CollectiveConfig& each : file_.collectives) all.push_back(name_of(each));
                for (const WorkloadConfig& each : file_.workloads) all.push_back(name_of(each));
                const std::string near = nearest_name(name, all);
                return refuse(job, path + ".work",
                              fmt::format("there is no collective or workload {}", in_quotes(name)),
                              near.empty() ? "write [[collective]] or [[workload]] with that name"
                                           : fmt::format("write {}", near));
            }
            auto& job_of = collective ? collective_job_ : workload_job_;
            const std::size_t n = collective ? *collective : *workload;
            if (const auto [at, is_new] = job_of.emplace(n, job.name); !is_new)
                return refuse(job, path + ".work",
                              fmt::format("{} is the work of job {}, too", in_quotes(name), at->second),
                              "name it in one job");
            if (collective && !file_.collectives[n].hosts.empty())
                return refuse(job, path + ".work",
                              fmt::format("collective {} has hosts of its own", in_quotes(name)),
                              "write hosts in the job, and not in the collective");
            (collective ? made.collectives : made.workloads).push_back(n);
        }
        return true;
    }

    bool find_hosts(const JobConfig& job, const std::string& path, JobPlan& made) {
        static const std::set<std::string> words{"packed", "spread", "random"};
        const bool is_list = job.placement.size() != 1 || !words.contains(job.placement.front());
        const bool is_named = is_list || !job.hosts.names.empty();
        if (is_list && (!job.hosts.names.empty() || job.hosts.count != 0))
            return refuse(job, path + ".hosts", "placement is a list of hosts already", "leave hosts out");
        const std::size_t errors_before = names_.errors().size();
        const auto named = !is_named ? names_.expand({"all"}, job.place, path)
                           : is_list ? names_.expand(job.placement, job.place, path + ".placement")
                                     : names_.expand(job.hosts.names, job.place, path + ".hosts");
        if (names_.errors().size() != errors_before) return false;
        std::vector<NodeId> hosts;
        for (const std::string& name : named) {
            const NodeId host = plan_.nodes.at(name);
            const auto taken = taken_.find(host);
            if (taken == taken_.end() || job.share || taken->second->share)
                hosts.push_back(host);
            else if (is_named)
                return refuse(job, path + (is_list ? ".placement" : ".hosts"),
                              fmt::format("host {} has job {}", name, taken->second->name),
                              "name another host, or write share = true");
        }
        if (!is_list) {
            std::ranges::sort(hosts);
            hosts = in_order(plan_.topology, job, std::move(hosts), file_.seed);
        }
        const std::size_t wanted = job.hosts.count == 0 ? hosts.size() : job.hosts.count;
        if (hosts.empty() || wanted > hosts.size())
            return refuse(
                job, path + ".hosts",
                fmt::format("it wants {}, and {} free", print_count(std::max<std::size_t>(wanted, 1), "host"),
                            hosts.empty() ? "none is" : fmt::format("{} are", hosts.size())),
                "write fewer hosts, or share = true");
        hosts.resize(wanted);
        for (const NodeId host : hosts) {
            taken_.emplace(host, &job);
            made.hosts.push_back(plan_.topology.nodes[host].name);
        }
        return true;
    }

    template <class Part>
    void add_lone(const std::vector<Part>& parts, const std::map<std::size_t, std::string>& job_of,
                  std::vector<std::size_t> JobPlan::*list, const std::set<std::string>& known,
                  const char* what) {
        for (std::size_t n = 0; n < parts.size(); ++n) {
            if (job_of.contains(n)) continue;
            JobPlan made{name_of(parts[n]), {}, false, {}, {}};
            if constexpr (std::same_as<Part, CollectiveConfig>)
                if (parts[n].hosts.empty())
                    names_.refuse(parts[n].place, fmt::format("{}[{}].hosts", what, n), "it has no hosts",
                                  "name two or more, or name the collective in a job's work");
            if (known.contains(made.name)) {
                names_.refuse(parts[n].place, fmt::format("{}[{}].name", what, n),
                              fmt::format("a job is called {}, too", in_quotes(made.name)),
                              "write another name, or name it in the job's work");
                continue;
            }
            (made.*list).push_back(n);
            plan_.jobs.push_back(std::move(made));
        }
    }

    FabricPlan& plan_;
    FabricConfig& file_;
    PlanNames& names_;
    std::map<std::size_t, std::string> collective_job_, workload_job_;
    std::map<NodeId, const JobConfig*> taken_;
};

}  // namespace

bool place_jobs(FabricPlan& plan, PlanNames& names) {
    const std::size_t before = names.errors().size();
    JobPlacer(plan, names).place();
    return names.errors().size() == before;
}

}  // namespace sluice::fabric
