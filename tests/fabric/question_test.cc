// The question without a workload: the file that it makes, what it refuses, and a switch like another.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/config_paths.hh"
#include "control/fabric/advise/question.hh"
#include "control/fabric/goal/goal.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "tests/fabric/plans.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::question_test {
namespace {

using namespace sluice::fabric;

// What the options say, or the first that refuses its value.
struct Said {
    Question question;
    std::string error;

    explicit Said(const std::vector<std::pair<std::string, std::string>>& words) {
        const auto options = question_options(question);
        for (const auto& [name, value] : words) {
            const auto option = std::ranges::find(options, std::string_view(name), &Option::name);
            if (option == options.end()) FAIL(("no option " + name).c_str());
            if (const std::string wrong = option->take(value); !wrong.empty() && error.empty())
                error = "--" + name + " " + value + " " + wrong;
        }
    }
};

using Words = std::vector<std::pair<std::string, std::string>>;
const Words usual{
    {"ports", "32"}, {"speed", "400G"}, {"buffer", "64MB"}, {"cable", "100m"}, {"incast", "16"}};

// `usual` with some words changed or added; an empty value takes one away.
Words with(const Words& changes, Words words = usual) {
    for (const auto& [name, value] : changes) {
        std::erase_if(words, [&](const auto& each) { return each.first == name; });
        if (!value.empty()) words.emplace_back(name, value);
    }
    return words;
}

std::string text_of(const Words& words) {
    const Said said(words);
    STRCMP_EQUAL("", said.error.c_str());
    const auto made = question_file(said.question);
    if (!made) FAIL(made.error().front().c_str());
    return made->text;
}
// All errors, a line each; "good": there is none.
std::string error_of_words(const Words& words) {
    const Said said(words);
    if (!said.error.empty()) return said.error;
    const auto made = question_file(said.question);
    std::string text;
    if (!made)
        for (const std::string& line : made.error()) text += line + "\n";
    return made ? "good" : text;
}

const EffectivePool& lossless_pool(const EffectiveQos& qos) { return *qos.pool(PoolDirection::ingress, 0); }

// A plan without an error of lint, and with a goal that it can judge.
FabricPlan checked_plan(const std::string& text) {
    FabricPlan plan = plan_of(text);
    const auto goal = Goal::of(plan.file.scenario, "f.toml");
    CHECK(goal.has_value());
    for (const ConfigError& error : goal->check(plan)) FAIL(error.text().c_str());
    return plan;
}

}  // namespace

TEST_GROUP(Question){};

namespace {

// Headroom of every port, those of idle hosts too, is as computed.
void check_headroom(const FabricPlan& plan, unsigned ports, std::uint64_t xoff_bytes) {
    LONGS_EQUAL(1, plan.switches.size());
    const Config& config = plan.switches.front().config;
    const EffectiveQos qos = effective_qos(config);
    LONGS_EQUAL(0, qos.problems.size());
    LONGS_EQUAL(ports, qos.ports.size());
    LONGS_EQUAL(ports, config.hosts.size());
    for (const auto& [name, port] : qos.ports) {
        CHECK(!port.headroom_is_given[3]);
        LONGS_EQUAL(xoff_bytes, port.group[3].headroom_cells * qos.cell.bytes());
        LONGS_EQUAL(port.headroom.xoff_bytes, xoff_bytes);
    }
}

const FlowConfig& flow(const FabricPlan& plan, const std::string& name) {
    for (const FlowConfig& each : plan.file.flows)
        if (each.name == name) return each;
    FAIL(("no flow " + name).c_str());
    return plan.file.flows.front();
}

}  // namespace

TEST(Question, AsksOfAStarWithAHostAtEveryPort) {
    const FabricPlan plan = checked_plan(text_of(usual));
    check_headroom(plan, 32, 751'616);  // of `sluiced headroom --speed 400G --cable 100m`
    const EffectiveQos qos = effective_qos(plan.switches.front().config);
    LONGS_EQUAL(23'358'464, lossless_pool(qos).shared_cells * qos.cell.bytes());
    LONGS_EQUAL(3, plan.file.flows.size());
    LONGS_EQUAL(16, flow(plan, "incast1").from.size());
    CHECK(flow(plan, "incast1").to == std::vector<std::string>{"h17"});
    CHECK(flow(plan, "probe1").from == std::vector<std::string>{"h18"});
    CHECK(flow(plan, "probe1").to == std::vector<std::string>{"h17"});
    CHECK(flow(plan, "bystander1").from == std::vector<std::string>{"h1"});
    CHECK(flow(plan, "bystander1").to == std::vector<std::string>{"h18"});
    for (const FlowConfig& each : plan.file.flows) {
        CHECK(each.spread == microseconds(10));
        CHECK(each.stop == milliseconds(20));
    }
    const ScenarioConfig& scenario = plan.file.scenario;
    CHECK(scenario.phases.front().from == milliseconds(5));
    LONGS_EQUAL(2, scenario.goal->keep.size());
    LONGS_EQUAL(3, scenario.goal->least.size());
    STRCMP_EQUAL("max flows.probe*.completion_ns.p99", scenario.goal->least.front().that.c_str());
}

TEST(Question, IsAWholeFileAndTheSameEachTime) {
    const std::string text = text_of(usual);
    CHECK(text == text_of(usual));
    CHECK(text.starts_with(
        "# Made by: sluice-fabric advise --ports 32 --speed 400G --buffer 64MB --cable 100m --incast 16\n"));
    CHECK(!says(text, "[advise]"));
    STRCMP_EQUAL("\n[advise]\ngroups = [\"wred\"]\nruns = 96\n", advise_section().c_str());
}

TEST(Question, AsksOfAsManyIncastsAsThereArePortsFor) {
    const FabricPlan plan = checked_plan(text_of(with({{"ports", "55"}})));
    LONGS_EQUAL(9, plan.file.flows.size());  // three incasts of 18 ports; one is left
    CHECK(flow(plan, "incast3").to == std::vector<std::string>{"h53"});
    STRCMP_EQUAL("h52", flow(plan, "incast3").from.back().c_str());
    CHECK(flow(plan, "probe3").from == std::vector<std::string>{"h54"});
    LONGS_EQUAL(4, plan.file.scenario.goal->keep.size());
    // The most that a goal has entries for.
    const FabricPlan most = checked_plan(text_of(
        with({{"ports", "256"}, {"incast", "2"}, {"speed", "10G"}, {"cable", "5m"}, {"buffer", "1GB"}})));
    LONGS_EQUAL(GoalConfig::max_keep, most.file.scenario.goal->keep.size());
    LONGS_EQUAL(3 * (GoalConfig::max_keep - 1), most.file.flows.size());
}

TEST(Question, LastsLongerWhereMessagesAreSlow) {
    // 20 ms have room for eight messages of each sender at 100G, but not at 25G: 8 x 16 x 1 MB take 41 ms.
    CHECK(says(text_of(with({{"speed", "100G"}})), "\nfrom = \"5ms\"\nto = \"20ms\"\n"));
    CHECK(says(text_of(with({{"speed", "25G"}})), "\nfrom = \"14ms\"\nto = \"56ms\"\n"));
    CHECK(says(text_of(with({{"message", "8MB"}})), "\nfrom = \"7ms\"\nto = \"28ms\"\n"));
    // 200 probes of 4 KB at 1 % of 1G take 640 ms.
    CHECK(says(text_of(with({{"speed", "1G"}, {"message", "1KB"}})), "\nfrom = \"214ms\"\nto = \"856ms\"\n"));
}

TEST(Question, HasMoreMessagesOutstandingWhereOneIsTooFew) {
    CHECK(!says(text_of(usual), "depth"));
    CHECK(!says(text_of(with({{"incast", "8"}, {"message", "64KB"}})), "depth"));
    // Four round trips of 2.27 us at 400G are 453 KB.
    CHECK(says(text_of(with({{"incast", "2"}, {"message", "64KB"}})), "\ndepth = 4\n"));
}

TEST(Question, TakesTheOptionsOfHeadroom) {
    const FabricPlan cells = checked_plan(text_of(with({{"cell", "64"}, {"mtu", "1024"}})));
    LONGS_EQUAL(64, cells.switches.front().config.cell_bytes);
    LONGS_EQUAL(1024, cells.file.host_default.mtu);
    const FabricPlan two = checked_plan(text_of(with({{"classes", "2"}, {"ports", "24"}})));
    CHECK(two.switches.front().config.port_defaults.pfc == std::vector<ClassId>({3, 4}));
    check_headroom(two, 24, 751'616);
    const FabricPlan sold = checked_plan(
        text_of(with({{"profile", "tomahawk3"}, {"buffer", ""}, {"speed", "100G"}, {"cable", "5m"}})));
    STRCMP_EQUAL("tomahawk3", sold.switches.front().config.buffer_profile.c_str());
    CHECK(sold.switches.front().config.buffer_size_bytes == buffer_profile("tomahawk3")->size_bytes);
    LONGS_EQUAL(buffer_profile("tomahawk3")->cell_bytes, sold.switches.front().config.cell_bytes);
}

TEST(Question, RefusesWrongValuesWithTheirOption) {
    struct Case {
        Words words;
        const char* error;
    };
    const std::vector<Case> cases{
        {{{"ports", "17"}},
         "--ports: 17 ports are too few for an incast of 16: its senders, a receiver and an idle host take "
         "18; do: say --ports 18 or more, or --incast 15 or less\n"},
        {{{"ports", "3"}}, "--ports 3 is not from 4 to 256"},
        {{{"ports", "257"}}, "--ports 257 is not from 4 to 256"},
        {{{"ports", "-1"}}, "--ports -1 "},
        {{{"ports", ""}}, "--ports: it is not said; do: say --ports N, such as 32\n"},
        {{{"speed", "401G"}}, "--speed 401G is not a speed of a port"},
        {{{"speed", ""}}, "--speed: it is not said; do: say --speed RATE, such as 400G\n"},
        {{{"buffer", "0B"}}, "--buffer 0B is not from "},
        {{{"buffer", ""}}, "--buffer: it is not said; do: say --buffer SIZE, such as 64MB\n"},
        {{{"buffer", "20MB"}},
         "--ports: 32 of 400G with 100m of cable have no room in 20MB for their headroom, 19 at most; do: "
         "say --ports 19, more --buffer, a shorter --cable or fewer --classes\n"},
        {{{"buffer", "1MB"}}, "--buffer: the switch is refused: "},
        {{{"cable", "0m"}}, "--cable 0m is not from 1m to "},
        {{{"cable", "1e9m"}}, "--cable 1e9m "},
        {{{"cable", ""}}, "--cable: it is not said; do: say --cable LENGTH, such as 100m\n"},
        {{{"incast", "1"}}, "--incast 1 is not from 2 to 254"},
        {{{"incast", ""}},
         "--incast: it is not said; do: say --incast N, the senders of one incast, such as 16\n"},
        {{{"message", "999B"}}, "--message 999B is not from 1KB to 64MB"},
        {{{"message", "1GB"}}, "--message 1GB is not from 1KB to 64MB"},
        {{{"mtu", "1022"}}, "--mtu 1022 is not a multiple of 4"},
        {{{"mtu", "8192"}}, "--mtu 8192 is not from 256 to 4096"},
        {{{"profile", "x"}}, "--profile x is none of: none, "},
        {{{"cell", "32"}}, "--cell 32 is not from 64"},
        {{{"classes", "9"}}, "--classes 9 is not from 1 to 8"},
        {{{"like", ""}, {"ports", ""}, {"speed", ""}}, "--ports: it is not said"},
    };
    for (const Case& each : cases) {
        const std::string error = error_of_words(with(each.words));
        if (!error.starts_with(each.error)) STRCMP_EQUAL(each.error, error.c_str());
    }
}

// --like: files of sluiced.
TEST_GROUP(LikeSwitch) {
    std::string file = "question_test." + std::to_string(getpid()) + ".toml";

    void teardown() override { std::remove(file.c_str()); }
    std::string like(const std::string& text, const Words& more = {{"incast", "2"}}) {
        std::ofstream(file) << text;
        return text_of(with({{"like", file}}, more));
    }
    std::string refused(const std::string& text, const Words& more = {{"incast", "2"}}) {
        std::ofstream(file) << text;
        const std::string error = error_of_words(with({{"like", file}}, more));
        return error;
    }
};

namespace {

const std::string real_switch = R"(
clock = "real"
workers = 2
[buffer]
size = "32MB"
cell = 208
[pool.p]
direction = "ingress"
size = "24MB"
[pool."q.r"]
direction = "egress"
size = "32MB"
[wred."a.b"]
green_min = "200KB"
green_max = "900KB"
green_probability = 7
[map.other]
dscp_to_tc = {"10" = 4}
[default]
map = "other"
pfc = [4]
speed = "100G"
cable = "40m"
mtu = 4200
priority_group.4 = {pool = "p", dynamic_th = -2, xoff = "300KB", small_xoff = false}
queue.4 = {wred = "a.b", pool = "q.r"}
[port.Ethernet0]
address = ["10.0.0.0/31"]
device = "net_null0"
[port.Ethernet4]
address = ["10.0.0.2/31"]
device = "net_null1"
[port."Ethernet8"]
address = ["10.0.0.4/31"]
device = "net_null2"
[port.Ethernet12]
address = ["10.0.0.6/31"]
device = "net_null3"
[[neighbor]]
address = "10.0.0.1"
port = "Ethernet0"
mac = "02:00:00:00:00:01"
[[route]]
prefix = "10.9.0.0/16"
via = ["10.0.0.1"]
)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == text.npos) FAIL(from.c_str());
    return text.replace(at, from.size(), to);
}
const std::string lossless_switch = changed(real_switch, ", small_xoff = false", "");

}  // namespace

TEST(LikeSwitch, TakesItsBufferAndItsPorts) {
    const FabricPlan plan = checked_plan(like(lossless_switch));
    const Config& star = plan.file.switch_default;
    Config own = *parse_config(lossless_switch, "");
    CHECK(star.pools == own.pools);
    CHECK(star.wred == own.wred);
    CHECK(star.maps == own.maps);
    LONGS_EQUAL(32'000'000, star.buffer_size_bytes);
    LONGS_EQUAL(208, star.cell_bytes);
    CHECK(star.clock == ClockKind::virtual_time);
    CHECK(star.ports.empty());
    LONGS_EQUAL(4, plan.hosts.size());
    for (const auto& [name, port] : plan.switches.front().config.ports) {
        const PortConfig& theirs = own.ports.at("Ethernet0");
        CHECK(port.speed == gigabits(100));
        LONGS_EQUAL(40, port.cable_m);
        LONGS_EQUAL(4200, port.mtu);
        CHECK(port.priority_group == theirs.priority_group);
        CHECK(port.queue == theirs.queue);
        CHECK(port.pfc == theirs.pfc);
        STRCMP_EQUAL("other", port.map.c_str());
    }
    LONGS_EQUAL(4096, plan.file.host_default.mtu);
    LONGS_EQUAL(10, plan.file.host_default.dscp);  // the only one that leads to the lossless class
}

TEST(LikeSwitch, ItsHostsHaveLosslessPacketsThatFit) {
    STRCMP_EQUAL("good", error_of(like(changed(lossless_switch, "mtu = 4200", "mtu = 1500"))).c_str());
    CHECK(says(like(changed(lossless_switch, "mtu = 4200", "mtu = 1500")), "\nmtu = 1024\n"));
    CHECK(says(
        refused(changed(lossless_switch, "mtu = 4200", "mtu = 1500"), {{"incast", "2"}, {"mtu", "2048"}}),
        "--mtu: ports of MTU 1500 have no room for a payload of 2048; do: say --mtu 1024\n"));
    const std::string by_pcp = changed(changed(lossless_switch, "dscp_to_tc = {\"10\" = 4}",
                                               "dscp_to_tc = {\"10\" = 1}\npcp_to_tc = {\"5\" = 4}"),
                                       "mtu = 4200", "mtu = 4200\ntrust = \"pcp\"");
    CHECK(says(like(by_pcp), "\npcp = 5\n"));
    CHECK(says(refused(changed(lossless_switch, "pfc = [4]", "pfc = []")),
               "--like: no class of its ports is lossless"));
}

TEST(LikeSwitch, RefusesPortsOfOneSpeedThatDiffer) {
    const std::string own =
        refused(changed(lossless_switch, "[port.Ethernet4]",
                        "[port.Ethernet4]\ncable = \"300m\"\nmtu = 9000\npriority_group.4.xoff = \"400KB\""));
    CHECK(says(own, file + ":"));
    CHECK(says(
        own,
        "port.Ethernet4 differs from port.Ethernet0 of the same speed in cable (\"300m\", not \"40m\")"));
    CHECK(says(own, "mtu (9000, not 4200)"));
    CHECK(says(own, "priority_group.4.xoff (\"400KB\", not \"300KB\")"));
    CHECK(!says(own, "Ethernet8"));
    // Ports of another speed may differ.
    const std::string mixed =
        changed(lossless_switch, "[port.Ethernet12]", "[port.Ethernet12]\nspeed = \"25G\"\nmtu = 1500");
    CHECK(says(refused(mixed),
               "its ports have several speeds, 25G (Ethernet12), 100G (Ethernet0, Ethernet4, Ethernet8); do: "
               "say --speed of those to ask for"));
    CHECK(says(refused(mixed, {{"incast", "2"}, {"speed", "10G"}}),
               "--speed: " + file + " has no port of 10G; do: say one of 25G (Ethernet12), 100G ("));
    CHECK(says(refused(mixed, {{"incast", "2"}, {"speed", "100G"}}),
               "--ports: 3 ports are too few for an incast of 2: its senders, a receiver and an idle host "
               "take 4; do: say --ports 4 or more\n"));
    const Said said({{"like", file}, {"incast", "2"}, {"speed", "100G"}, {"ports", "4"}});
    const auto made = question_file(said.question);
    CHECK(made.has_value());
    LONGS_EQUAL(2, made->notes.size());
    CHECK(says(made->notes.front(), "Ethernet12 of 25G was left out"));
    CHECK(says(made->notes.back(), "virtual clock"));
}

TEST(LikeSwitch, RefusesWhatIsNoSwitchAndWhatIsSaidTwice) {
    CHECK(says(refused("[port.p0]\nspeed = 5x\n"), file + ":2"));
    CHECK(says(refused(""), "it has no ports; do: name the configuration of a switch"));
    CHECK(says(error_of_words({{"like", "/nowhere/x.toml"}, {"incast", "2"}}), "/nowhere/x.toml"));
    CHECK(says(refused(lossless_switch,
                       {{"incast", "2"}, {"cell", "256"}, {"classes", "1"}, {"profile", "tomahawk3"}}),
               "--profile: --like says it; do: leave it out, or change it in a copy of the file of "
               "--like\n--cell: "));
    CHECK(says(refused(lossless_switch, {}), "--incast: it is not said"));
    // A longer cable than its headroom is for is as wrong as there.
    CHECK(says(refused(lossless_switch, {{"incast", "2"}, {"cable", "2km"}}),
               "--like: the switch is refused: port.p0.priority_group.4.xoff: "));
}

}  // namespace sluice::question_test
