#include <fmt/format.h>

#include <limits>

#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_rows.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_work = 64;  // of a job

// A number of hosts, or hosts by name.
schema::Type<JobHosts> hosts_of_job() {
    const auto count = schema::integer<std::uint32_t>(1, max_job_hosts);
    const auto names = schema::names_of_hosts();
    schema::Type<JobHosts> type{"number, or list of hosts",
                                fmt::format("a number from 1 to {}, or hosts", max_job_hosts),
                                "16",
                                {},
                                {}};
    type.read = [count, names](const toml::node& node, schema::Context& context, JobHosts& hosts) {
        hosts = {};
        return node.is_integer() ? count.read(node, context, hosts.count)
                                 : names.read(node, context, hosts.names);
    };
    type.print = [count, names](const JobHosts& hosts, const JobHosts*) {
        return hosts.names.empty() ? count.print(hosts.count, nullptr) : names.print(hosts.names, nullptr);
    };
    return type;
}

// "packed", "spread", "random", or hosts.
schema::Type<std::vector<std::string>> placement() {
    auto type = schema::names_of_hosts();
    type.name = "placement";
    type.allowed = R"("packed", "spread", "random", or a list of hosts)";
    type.example = R"("packed")";
    return type;
}

}  // namespace

schema::Rows<JobConfig> job_rows() {
    using J = JobConfig;
    schema::Rows<J> rows;
    rows.required("name", &J::name, schema::text("a name", 1, 64, "train"), "Its name in reports.");
    rows.required(
        "work", &J::work,
        schema::list_of(schema::text("a collective's or workload's name", 1, 64, "gradients"), max_work),
        "Collectives and workloads that it does, on the same hosts; a job of several ends with the last. "
        "Numbers of a workload's hosts count the job's.");
    rows.key(
        "hosts", &J::hosts, hosts_of_job(),
        "How many hosts it takes of those that no job before it has, or which hosts; 0: all that are free.");
    rows.key("placement", &J::placement, placement(),
             "Which of them and in which order: leaf by leaf (\"packed\"), a host of each leaf in turn "
             "(\"spread\"), "
             "drawn by the seed (\"random\"), or a list, the first host first.");
    rows.key("start", &J::start, schema::time({}, max_time, "1ms"),
             "Added to the start of all that it does.");
    rows.key("seed", &J::seed,
             schema::optional_or(schema::integer_64(0, std::numeric_limits<std::uint64_t>::max()), "fabric"),
             "Seed of a random placement; \"fabric\": the file's.");
    rows.key("share", &J::share, schema::boolean(), "It may have hosts that other jobs have.");
    return rows;
}

}  // namespace sluice::fabric
