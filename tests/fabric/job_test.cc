// Jobs: where they lie, what their figures are made of, what other jobs cost them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/scenario/run_once.hh"
#include "tests/fabric/plans.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::job_test {
namespace {

using namespace sluice::fabric;
using Json = nlohmann::ordered_json;

const std::string leaf_spine = R"(
[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts = 4
[host.default]
cc = "none"
[switch.default]
buffer.size = "4MB"
)";

std::string ring(const std::string& name, const std::string& more = {}) {
    return fmt::format(
        "[[collective]]\nname = \"{}\"\nkind = \"ring-allreduce\"\nbytes = \"400KB\"\nsteps = 5\n{}\n", name,
        more);
}

std::string job(const std::string& name, const std::string& more, const std::string& work) {
    return fmt::format("[[job]]\nname = \"{}\"\nwork = [\"{}\"]\n{}\n", name, work, more);
}

Json report_of(const std::string& text) {
    const FabricPlan plan = plan_of(text);
    auto outcome = run_once(plan, {});
    if (!outcome) FAIL(outcome.error().texts.front().c_str());
    for (const std::string& error : outcome->errors) FAIL(error.c_str());
    return std::move(outcome->report);
}

std::string text_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += name + " ";
    return text;
}

void check_contains(const std::string& text, const std::string& part) {
    if (text.find(part) == text.npos) FAIL(fmt::format("{} is not in {}", part, text).c_str());
}

}  // namespace

TEST_GROUP(Jobs){};

TEST(Jobs, placementIsPackedSpreadDrawnOrNamed) {
    const auto hosts = [](const std::string& placement) {
        return text_of(plan_of(leaf_spine + ring("r") + job("a", "hosts = 6\nplacement = " + placement, "r"))
                           .jobs[0]
                           .hosts);
    };
    STRCMP_EQUAL("h1 h2 h3 h4 h5 h6 ", hosts("\"packed\"").c_str());
    STRCMP_EQUAL("h1 h5 h9 h13 h2 h6 ", hosts("\"spread\"").c_str());
    CHECK_TRUE(hosts("\"random\"") != hosts("\"packed\""));
    CHECK_TRUE(hosts("\"random\"\nseed = 1") != hosts("\"random\"\nseed = 2"));
    STRCMP_EQUAL(hosts("\"random\"\nseed = 1").c_str(), hosts("\"random\"\nseed = 1").c_str());
    const FabricPlan named =
        plan_of(leaf_spine + ring("r") + job("a", "placement = [\"h9\", \"h2..h4\"]", "r"));
    STRCMP_EQUAL("h9 h2 h3 h4 ", text_of(named.jobs[0].hosts).c_str());
    STRCMP_EQUAL("h9 h2 h3 h4 ", text_of(named.collectives[0].hosts).c_str());
    const FabricPlan among = plan_of(leaf_spine + ring("r") +
                                     job("a", "hosts = [\"leaf3\", \"leaf1\"]\nplacement = \"spread\"", "r"));
    STRCMP_EQUAL("h1 h9 h2 h10 h3 h11 h4 h12 ", text_of(among.jobs[0].hosts).c_str());
}

TEST(Jobs, aJobTakesHostsThatNoOtherHas) {
    const FabricPlan plan =
        plan_of(leaf_spine + ring("r") + ring("s") + ring("t") + ring("alone", "hosts = \"leaf1\"") +
                job("a", "hosts = 6", "r") + job("b", "hosts = 6\nplacement = \"spread\"", "s") +
                job("c", "share = true", "t"));
    STRCMP_EQUAL("h7 h9 h13 h8 h10 h14 ", text_of(plan.jobs[1].hosts).c_str());
    LONGS_EQUAL(16, plan.jobs[2].hosts.size());
    STRCMP_EQUAL("alone", plan.jobs[3].name.c_str());
    CHECK_FALSE(plan.jobs[3].is_placed);
    LONGS_EQUAL(4, plan.jobs[3].hosts.size());
}

TEST(Jobs, whatCannotBeIsRefusedWithARemedy) {
    const std::vector<std::array<std::string, 3>> wrong{
        {job("a", "", "rings"), "there is no collective or workload \"rings\"", "write ring"},
        {job("a", "hosts = 17", "ring"), "it wants 17 hosts, and 16 are free", "share = true"},
        {job("a", "hosts = 10", "ring") + job("b", "hosts = 7", "other"), "it wants 7 hosts, and 6 are free",
         "fewer"},
        {job("a", "hosts = \"h1..h4\"", "ring") + job("b", "placement = [\"h4\", \"h5\"]", "other"),
         "host h4 has job a", "share = true"},
        {job("a", "hosts = 4\nplacement = [\"h1\", \"h2\"]", "ring"), "placement is a list of hosts already",
         "leave hosts out"},
        {job("a", "hosts = 4", "ring") + job("b", "hosts = 4", "ring"), "is the work of job a, too",
         "name it in one job"},
        {job("a", "hosts = 4", "ring") + job("a", "hosts = 4", "other"), "another job is called \"a\"",
         "another name"},
        {job("a", "hosts = 1", "ring"), "it has one host", "name two or more"},
        {job("a", "hosts = \"h99\"", "ring"), "there is no host \"h99\"", "write h9"},
        {job("a", "placement = \"sprad\"", "ring"), "there is no host \"sprad\"", "sluice-fabric check"},
        {job("ring", "hosts = 4", "other") + "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n", "it has no hosts",
         "name the collective in a job's work"}};
    for (const auto& [text, error, remedy] : wrong) {
        const std::string other = text.find("other") == text.npos ? "" : ring("other");
        const std::string said = error_of(leaf_spine + ring("ring") + other + text);
        check_contains(said, error);
        check_contains(said, remedy);
    }
    check_contains(error_of(leaf_spine + ring("ring", "hosts = \"leaf1\"") + job("a", "hosts = 4", "ring")),
                   "collective \"ring\" has hosts of its own");
    check_contains(
        error_of(leaf_spine + ring("ring", "hosts = \"leaf1\"") + ring("o") + job("ring", "hosts = 4", "o")),
        "a job is called \"ring\", too");
}

TEST(Jobs, figuresAreThoseOfItsCollective) {
    const Json report = report_of(leaf_spine + ring("r", "compute = \"50us\"\noverlap = \"10us\"") +
                                  job("a", "hosts = 8\nstart = \"1ms\"", "r"));
    const Json &own = report["jobs"]["a"], &collective = report["collectives"][0];
    STRCMP_EQUAL("done", own["state"].get<std::string>().c_str());
    LONGS_EQUAL(8, own["hosts"].get<int>());
    LONGS_EQUAL(5, own["steps"].get<int>());
    CHECK_TRUE(own["step_ns"] == collective["step_ns"]);
    CHECK_TRUE(own["straggler"]["host"] == collective["straggler"]["host"]);
    LONGS_EQUAL(collective["completion_ns"].get<std::int64_t>(), own["completion_ns"].get<std::int64_t>());
    const auto mean = own["step_ns"]["mean"].get<std::int64_t>();
    CHECK_TRUE(mean > 10'000);
    LONGS_EQUAL(5 * 10'000, own["hidden_ns"].get<std::int64_t>());
    DOUBLES_EQUAL(5.0 * static_cast<double>(mean - 10'000), own["exposed_ns"].get<double>(), 5);
    DOUBLES_EQUAL(5 * 10'000 + 4 * 50'000, own["compute_ns"].get<double>(), 4 * 2'000);
    // 14 messages of 50 KB from each of 8 ranks.
    LONGS_EQUAL(5 * 14 * 8, own["messages"].get<int>());
    LONGS_EQUAL(5 * 14 * 400'000, own["bytes"].get<int>());
    DOUBLES_EQUAL(collective["bus_bandwidth_bps"].get<double>(), own["bus_bandwidth_bps"].get<double>(),
                  collective["bus_bandwidth_bps"].get<double>() / 100);
}

TEST(Jobs, moreComputeThanCommunicationHidesAllOfIt) {
    const Json report = report_of(leaf_spine + ring("r", "overlap = \"1ms\"") + job("a", "hosts = 4", "r"));
    const Json& own = report["jobs"]["a"];
    LONGS_EQUAL(0, own["exposed_ns"].get<std::int64_t>());
    LONGS_EQUAL(5'000'000, own["compute_ns"].get<std::int64_t>());
    CHECK_TRUE(own["completion_ns"].get<std::int64_t>() > 4'000'000);
}

TEST(Jobs, aSlowStepNamesTheSlowHost) {
    std::string large = ring("r", "compute = \"200us\"");
    large.replace(large.find("400KB"), 5, "8MB");
    const Json report = report_of(leaf_spine + large + job("a", "hosts = 8", "r") +
                                  "[[event]]\nat = \"4ms\"\ndo = \"host h6 drain 10G\"\n");
    const Json& slow = report["jobs"]["a"]["slow_steps"];
    CHECK_TRUE(!slow.empty());
    CHECK_TRUE(slow[0]["step"].get<int>() >= 3);
    const auto why = slow[0]["why"].get<std::string>();
    check_contains(why, "because h6 receives too slowly from leaf2");
    CHECK_TRUE(slow[0]["waited_ns"].get<std::int64_t>() > 0);
    CHECK_TRUE(slow[0]["waited_ns"].get<std::int64_t>() <= slow[0]["took_ns"].get<std::int64_t>());
    CHECK_TRUE(report["pause_trees"][0]["jobs"]["a"].get<std::int64_t>() > 0);
}

// Two rings over both leaves meet on the uplinks; a third lies apart.
TEST(Jobs, lossesNameTheOtherJobAndTheLink) {
    const std::string three = leaf_spine + ring("r") + ring("s") + ring("t") +
                              job("a", "placement = [\"h1\", \"h5\", \"h2\", \"h6\"]", "r") +
                              job("b", "placement = [\"h3\", \"h7\", \"h4\", \"h8\"]", "s") +
                              job("c", "hosts = \"leaf4\"", "t");
    const Json plain = report_of(three), report = report_of(three + "[results]\nalone = true\n");
    const Json& jobs = report["jobs"];
    CHECK_FALSE(plain["jobs"]["a"].contains("alone"));
    for (const char* name : {"a", "b", "c"}) {
        CHECK_TRUE(jobs[name]["step_ns"] == plain["jobs"][name]["step_ns"]);  // the run does not notice it
        CHECK_TRUE(jobs[name]["alone"]["step_ns"] <= jobs[name]["step_ns"]["mean"]);
    }
    LONGS_EQUAL(0, jobs["c"]["lost_permille"].get<int>());
    CHECK_TRUE(jobs["c"]["lost_to"].is_null());
    CHECK_TRUE(jobs["a"]["alone"]["step_ns"] ==
               report_of(leaf_spine + ring("r") +
                         job("a", "placement = [\"h1\", \"h5\", \"h2\", \"h6\"]",
                             "r"))["jobs"]["a"]["step_ns"]["mean"]);
    CHECK_TRUE(jobs["a"]["lost_permille"].get<int>() > 50);
    check_contains(jobs["a"]["lost_to"].get<std::string>(), " of its step to b at leaf");
}

// What an event costs a job is not the other's doing: it comes in the run alone, too.
TEST(Jobs, eventsComeInRunsAlone) {
    const Json jobs = report_of(leaf_spine + ring("r") + ring("s") + job("a", "hosts = \"leaf1\"", "r") +
                                job("b", "hosts = \"leaf2\"", "s") +
                                "[[event]]\nat = \"10us\"\ndo = \"host h2 drain 10G\"\n"
                                "[results]\nalone = true\n")["jobs"];
    for (const char* name : {"a", "b"}) {
        CHECK_TRUE(jobs[name]["alone"]["step_ns"] == jobs[name]["step_ns"]["mean"]);
        LONGS_EQUAL(0, jobs[name]["lost_permille"].get<int>());
    }
    CHECK_TRUE(jobs["a"]["step_ns"]["mean"].get<int>() > 2 * jobs["b"]["step_ns"]["mean"].get<int>());
}

TEST(Jobs, numbersOfAWorkloadCountTheHostsOfItsJob) {
    const std::string path =
        fmt::format("{}/sluice-job-{}.csv", std::filesystem::temp_directory_path().string(), getpid());
    std::ofstream(path) << "src,dst,size,start_us\n0,1,10KB,0\n2,h15,10KB,5\n";
    const std::string workload = fmt::format("[[workload]]\nname = \"w\"\nfile = \"{}\"\n", path);
    const FabricPlan plan =
        plan_of(leaf_spine + workload + job("a", "placement = [\"h9\", \"h15\", \"h3\"]", "w"));
    const auto names = plan.topology.names(true);
    const auto& flows = plan.workloads[0].list.flows;
    STRCMP_EQUAL("h9", names[flows[0].from].c_str());
    STRCMP_EQUAL("h15", names[flows[0].to].c_str());
    STRCMP_EQUAL("h15", names[flows[1].to].c_str());
    check_contains(error_of(leaf_spine + workload + job("a", "hosts = 1", "w")), path + ":2");
    const Json report = report_of(leaf_spine + workload +
                                  job("a", "placement = [\"h9\", \"h15\", \"h3\"]\nstart = \"1ms\"", "w"));
    LONGS_EQUAL(2, report["jobs"]["a"]["messages"].get<int>());
    LONGS_EQUAL(20'000, report["jobs"]["a"]["bytes"].get<int>());
    STRCMP_EQUAL("done", report["jobs"]["a"]["state"].get<std::string>().c_str());
    CHECK_TRUE(report["jobs"]["a"]["completion_ns"].get<std::int64_t>() < 100'000);
    std::filesystem::remove(path);
}

}  // namespace sluice::job_test
