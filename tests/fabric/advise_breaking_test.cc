// What may break a set of values: each is an edit of the file that makes a plan.
#include <algorithm>
#include <string>
#include <vector>

#include "control/config/text/json_text.hh"
#include "control/fabric/advise/breaking.hh"
#include "control/fabric/scenario/sweep_folder.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_breaking_test {
namespace {

using namespace sluice::fabric;

const std::string leaf_spine = R"(
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts = 3
cable = "41m"
[host.h2]
mtu = 2048
[[flow]]
name = "a"
from = ["h1", "h2"]
to = "h6"
message = "20KB"
stop = "100us"
[[flow]]
name = "b"
from = ["h1", "h2", "h3", "h4"]
to = "h5"
message = "20KB"
stop = "100us"
qps = 3
[[event]]
at = "90us"
do = "link leaf1-spine1 down"
[[event]]
at = "10us"
do = "link leaf1-spine2 down"
)";

FabricConfig read(const std::string& text, const std::vector<std::string>& sets = {}) {
    auto file = parse_fabric(text, "f.toml", sets);
    if (!file) FAIL(file.error().front().text().c_str());
    return std::move(*file);
}
FabricPlan planned(const std::string& text, const std::vector<std::string>& sets = {}) {
    auto plan = make_plan(read(text, sets));
    if (!plan) FAIL(plan.error().front().text().c_str());
    return std::move(*plan);
}
Breakings breakings(const std::string& text) {
    return breakings_of(read(text), planned(text), microseconds(50));
}
std::vector<std::string> names(const Breakings& made) {
    std::vector<std::string> list;
    for (const Breaking& each : made.list) list.push_back(each.name);
    return list;
}
FabricPlan broken(const std::string& text, const std::string& name) {
    const Breakings made = breakings(text);
    const auto found = std::ranges::find(made.list, name, &Breaking::name);
    if (found == made.list.end()) FAIL(name.c_str());
    return planned(text, found->sets);
}

}  // namespace

TEST_GROUP(AdviseBreaking){};

TEST(AdviseBreaking, EachIsAPlan) {
    const std::vector<std::string> wanted{"cables x 1.5",         "senders x 2",   "leaf1 down",
                                          "spine1 down",          "host MTU 1024", "host MTU 4096",
                                          "no congestion control"};
    const Breakings made = breakings(leaf_spine);
    CHECK(names(made) == wanted);
    for (const Breaking& each : made.list) static_cast<void>(planned(leaf_spine, each.sets));
    CHECK(names(breakings_of(read(leaf_spine), planned(leaf_spine), {})) == wanted);
}

TEST(AdviseBreaking, CablesAreHalfAsLongAgain) {
    const FabricPlan before = planned(leaf_spine), after = broken(leaf_spine, "cables x 1.5");
    for (std::size_t n = 0; n < before.topology.links.size(); ++n)
        CHECK_EQUAL((before.topology.links[n].cable_m * 3 + 1) / 2, after.topology.links[n].cable_m);
    const std::string by_hand = R"(
[[node]]
name = "s"
kind = "switch"
[[node]]
name = "h1"
kind = "host"
[[node]]
name = "h2"
kind = "host"
[[link]]
ends = ["h1", "s"]
cable = "7m"
[[link]]
ends = ["h2", "s"]
cable = "99999m"
)";
    const FabricPlan longer = broken(by_hand, "cables x 1.5");
    CHECK_EQUAL(11U, longer.topology.links[0].cable_m);
    CHECK_EQUAL(100'000U, longer.topology.links[1].cable_m);
}

TEST(AdviseBreaking, SendersAreHostsElseQueuePairs) {
    const FabricPlan plan = broken(leaf_spine, "senders x 2");
    CHECK(plan.file.flows[0].from == (std::vector<std::string>{"h1", "h2", "h3", "h4"}));
    CHECK_EQUAL(1U, plan.file.flows[0].qps);
    CHECK_EQUAL(4U, plan.file.flows[1].from.size());
    CHECK_EQUAL(6U, plan.file.flows[1].qps);
}

TEST(AdviseBreaking, CollectivesAndWorkloadsHaveMoreQueuePairs) {
    const std::string text = R"(
topology = {kind = "star", hosts = 4}
[[collective]]
kind = "ring-allreduce"
hosts = "all"
bytes = "1MB"
qps = 2
[[collective]]
kind = "all-to-all"
hosts = "all"
bytes = "1MB"
qps = 33
[[workload]]
text = "num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"
qps = 3
)";
    const FabricPlan plan = broken(text, "senders x 2");
    CHECK_EQUAL(4U, plan.file.collectives[0].queue_pairs);
    CHECK_EQUAL(33U, plan.file.collectives[1].queue_pairs);
    CHECK_EQUAL(6U, plan.file.workloads[0].qps);
}

TEST(AdviseBreaking, DrawnFlowsHaveMoreSendersToo) {
    const std::string star = "[topology]\nkind = \"star\"\nhosts = 8\n";
    const std::string incast =
        "[[flow]]\nfrom = \"all\"\nto = \"h1\"\nincast = {}\nmessages = 2\nevery = \"1ms\"\n";
    const auto with = [&](const std::string& count) {
        return star + std::string(incast).replace(incast.find("{}"), 2, count);
    };
    CHECK(read(with("3"), breakings(with("3")).list[1].sets).flows[0].incast == 6U);
    CHECK(read(with("5"), breakings(with("5")).list[1].sets).flows[0].qps == 2U);
    const Breakings idle = breakings(star);
    CHECK_FALSE(idle.left_out.empty());
    CHECK(idle.left_out[0].find("senders x 2") == 0);
}

TEST(AdviseBreaking, FirstSwitchOfEachTierGoesDownAtHalfTimeBesideTheFilesEvents) {
    const FabricPlan plan = broken(leaf_spine, "spine1 down");
    CHECK_EQUAL(3U, plan.file.events.size());
    STRCMP_EQUAL("link leaf1-spine2 down", plan.file.events[0].command.c_str());
    STRCMP_EQUAL("switch spine1 down", plan.file.events[1].command.c_str());
    CHECK(plan.file.events[1].at == microseconds(50));
    STRCMP_EQUAL("link leaf1-spine1 down", plan.file.events[2].command.c_str());
    const std::string star = "[topology]\nkind = \"star\"\nhosts = 3\n";
    for (const std::string& name : names(breakings(star))) CHECK(name.find("down") == name.npos);
}

TEST(AdviseBreaking, HostsOfTheFileFollowToo) {
    const FabricPlan plan = broken(leaf_spine, "host MTU 1024");
    for (const NodeId host : plan.hosts) CHECK_EQUAL(1024U, plan.host(host).mtu);
    const FabricPlan free = broken(leaf_spine, "no congestion control");
    for (const NodeId host : free.hosts) CHECK(free.host(host).cc == roce::CongestionControl::none);
    const std::string star =
        "[topology]\nkind = \"star\"\nhosts = 3\n[host.default]\nmtu = 1024\ncc = \"none\"\n";
    CHECK(names(breakings(star)) == (std::vector<std::string>{"cables x 1.5", "host MTU 4096"}));
    CHECK_EQUAL(3U, breakings(star).left_out.size());
}

TEST_GROUP(RowHead){};

TEST(RowHead, RowIsOfItsRunAlone) {
    const RowHead head{3, 7, {{"a", "1"}}, {}, true};
    const nlohmann::ordered_json row = make_row(head, "0", tl::unexpected(std::string("no room")));
    CHECK(head.is_of(row));
    CHECK(row["packets"] == 0);
    CHECK_FALSE(row.contains("trial"));
    CHECK_FALSE(head.is_of(nullptr));
    CHECK_FALSE((RowHead{4, 7, {{"a", "1"}}, {}, true}).is_of(row));
    CHECK_FALSE((RowHead{3, 8, {{"a", "1"}}, {}, true}).is_of(row));
    CHECK_FALSE((RowHead{3, 7, {{"a", "2"}}, {}, true}).is_of(row));
    CHECK_FALSE((RowHead{3, 7, {{"a", "1"}}, "x", true}).is_of(row));
    const RowHead trial{3, 7, {{"a", "1"}}, "x", false};
    const nlohmann::ordered_json of_trial = make_row(trial, "0", tl::unexpected(std::string("no room")));
    CHECK(trial.is_of(of_trial));
    CHECK_FALSE(head.is_of(of_trial));
    CHECK_FALSE(of_trial.contains("packets"));
}

}  // namespace sluice::advise_breaking_test
