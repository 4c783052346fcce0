// Connection matrices of htsim: what is refused, with its place, then what is read.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "control/fabric/workload/flow_list.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::htsim_flows_test {
namespace {

using namespace sluice::fabric;

const std::vector<std::string> hosts{"h1", "h2", "h3", "h4"};

FlowListResult parse(std::string_view text, const FlowListSettings& settings = {}) {
    return parse_flow_list(text, "f", hosts, settings);
}

std::string errors_of(const FlowListResult& list) {
    if (list) return "good";
    std::string text;
    for (const ConfigError& error : list.error()) text += error.text() + "\n";
    return text;
}

FlowList list_of(const std::string& text, const FlowListSettings& settings = {}) {
    auto list = parse(text, settings);
    if (!list) FAIL((errors_of(list) + text).c_str());
    return std::move(*list);
}

// "1: h1>h2 1000 @ 5, 2: h2>h3 10 after 1+3": flows go by their number in the file.
std::string shown(const FlowList& list) {
    std::string text;
    for (std::uint32_t n = 0; n < list.flows.size(); ++n) {
        const ListedFlow& flow = list.flows[n];
        if (!text.empty()) text += ", ";
        text += fmt::format("{}: {}>{} {}", flow.number, hosts[flow.from], hosts[flow.to], flow.bytes);
        if (flow.after == ListedFlow::none)
            text += fmt::format(" @ {}", flow.start.ps);
        else
            text += fmt::format(" after {}", list.flows[flow.after].number);
        for (const auto& [then, before] : list.joins)
            if (then == n) text += fmt::format("+{}", list.flows[before].number);
        if (flow.name != ListedFlow::none) text += fmt::format(" name {}", list.name_of(flow));
    }
    return text;
}

std::string lines(std::initializer_list<std::string_view> all) {
    return fmt::format("{}\n", fmt::join(all, "\n"));
}

// A header of four nodes for so many connections and triggers, then the lines.
std::string matrix(unsigned connections, unsigned triggers, std::initializer_list<std::string_view> all) {
    return fmt::format("Nodes 4\nConnections {}\nTriggers {}\n{}", connections, triggers, lines(all));
}

struct Case {
    std::string text, wanted;
};

}  // namespace

TEST_GROUP(HtsimFlows){};

TEST(HtsimFlows, WhatIsWrongIsNamedWithItsPlaceAndTheRemedy) {
    const std::vector<Case> cases{
        {"Nodes 4\n", "f: the file lists no flow"},
        {"Nodes four\n", "f:1:1: Nodes stands before one number; do: write Nodes 16"},
        {"Nodes 4 5\n", "f:1:1: Nodes stands before one number"},
        {"Nodes 4\nNodes 4\n", "f:2:1: Nodes is there twice"},
        {"Connections 99999999999999999999\n", "f:1:1: Connections stands before one number"},
        {matrix(1, 0, {"0->1 start 0"}),
         "f:4:1: without a size the connection would never end, as in htsim; do: write how many"},
        {matrix(1, 0, {"0->1 start 0 size 0"}), "f:4:19: without a size the connection would never end"},
        {matrix(1, 0, {"0->1 start 0 size -5"}), R"(f:4:19: size "-5" is negative)"},
        {matrix(1, 0, {"0->1 start -1 size 5"}), R"(f:4:12: start "-1" is negative)"},
        {matrix(1, 0, {"0->1 size 5"}), "f:4:1: the connection has neither a start nor a trigger"},
        {matrix(1, 0, {"0->1 start 0 trigger 1 size 5"}), "f:4:1: the connection has both a start and a"},
        {matrix(1, 0, {"0->1 start 0 size"}), R"(f:4:14: "size" has no value; do: write it once, with)"},
        {matrix(1, 0, {"0->1 start 0 start 1 size 5"}), R"(f:4:14: "start" is there twice)"},
        {matrix(1, 0, {"0->1 start 0 size 5 color 7"}), R"(f:4:21: "color" is not a key of a connection)"},
        {matrix(1, 0, {"0->1 id 0 start 0 size 5"}), R"(f:4:9: id "0" is not from 1 to 4294967295)"},
        {matrix(1, 0, {"0->4 start 0 size 5"}), "f:4:4: there is no node 4: the header says Nodes 4"},
        {"Connections 1\n0->9 start 0 size 5\n", R"(f:2:4: there is no host "9": the fabric has 4)"},
        {matrix(1, 0, {"0->x start 0 size 5"}), R"(f:4:4: there is no host "x")"},
        {matrix(1, 0, {"->1 start 0 size 5"}), "f:4:1: the source is empty"},
        {matrix(1, 0, {"2->2 start 0 size 5"}), "f:4:4: h3 sends to itself"},
        {matrix(2, 0, {"0->1 start 0 size 5"}),
         "f:2:1: the header says Connections 2, and the file has 1; do: write Connections 1"},
        {"Nodes 4\n0->1 start 0 size 5\n", "f:1:1: the header says Connections 0, and the file has 1"},
        {matrix(1, 1, {"0->1 start 0 size 5"}), "f:3:1: the header says Triggers 1, and the file has 0"},
        {matrix(1, 0, {"0->1 start 0 size 5", "failure switch_type TOR switch_id 0 link_id 1"}),
         "the header says Failures 0, and the file has 1"},
        {matrix(1, 0, {"flow 0 1"}), R"(f:4:1: "flow" begins no line of a matrix)"},
        {matrix(1, 1, {"0->1 start 0 size 5", "trigger oneshot"}), "f:5:1: the trigger has no id"},
        {matrix(1, 1, {"0->1 start 0 size 5", "trigger id 1"}), "f:5:1: the trigger has no kind"},
        {matrix(1, 1, {"0->1 start 0 size 5", "trigger id 1 oneshot barrier"}),
         R"(f:5:22: "barrier" does not belong here; do: write: trigger id 3 oneshot)"},
        {matrix(1, 1, {"0->1 start 0 size 5", "trigger id 1 barrier count"}), R"(f:5:22: "count" does not)"},
        {matrix(1, 2, {"0->1 start 0 size 5", "trigger id 1 oneshot", "trigger id 1 oneshot"}),
         "f:6:1: trigger 1 is there twice"},
        {matrix(2, 0, {"0->1 start 0 size 5 send_done_trigger 3", "1->2 trigger 3 size 5"}),
         "f:4:39: no line says of which kind trigger 3 is; do: write: trigger id 3 oneshot"},
        {matrix(1, 1, {"1->2 trigger 3 size 5", "trigger id 3 oneshot"}),
         "f:4:14: no flow activates trigger 3; do: write send_done_trigger 3 for one"},
        {matrix(3, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "1->2 start 0 size 5 recv_done_trigger 3",
                 "2->3 trigger 3 size 5", "trigger id 3 oneshot"}),
         "f:5:39: trigger 3 is a oneshot, and another flow activates it; do: make it multishot, or barrier "
         "count 2"},
        {matrix(2, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "2->3 trigger 3 size 5",
                 "trigger id 3 barrier count 2"}),
         "f:6:1: barrier 3 counts 2 flows, and 1 activates it; do: write count 1"},
        {matrix(2, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "2->3 trigger 3 size 5", "trigger id 3 barrier"}),
         "f:6:1: barrier 3 counts 0 flows"},
        {matrix(3, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "2->3 trigger 3 size 5", "2->1 trigger 3 size 5",
                 "trigger id 3 multishot"}),
         "f:6:14: trigger 3 is activated once, and starts 2 flows"},
        {matrix(1, 1, {"0->1 id 7 trigger 3 size 5 send_done_trigger 3", "trigger id 3 oneshot"}),
         R"(f:4:1: flows wait for each other in a circle: "7" after "7")"},
        {matrix(3, 2,
                {"0->1 start 0 size 5 send_done_trigger 1", "1->2 trigger 1 size 5 send_done_trigger 2",
                 "2->3 trigger 2 size 5 send_done_trigger 1", "trigger id 1 barrier count 2",
                 "trigger id 2 oneshot"}),
         "f:5:1: flows wait for each other in a circle: that of line 5 after that of line 6 after that of"},
        {matrix(1, 0,
                {"0->1 start 0 size 5 prio 1 id 1 " + std::string(60, 'a') +
                 " a a a a a a a a a a a a "
                 "a a a a a a a a a a a a a a"}),
         "f:4:1: the line has more than 31 words"},
        {matrix(1, 0, {"0->1 start 1e30 size 5"}), "is later than 1000000s"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const auto list = parse(text);
        if (const std::string error = errors_of(list); error.find(wanted) == error.npos)
            wrong += fmt::format("{}lacks: {}\n{}\n", error, wanted, text);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(HtsimFlows, ReadsConnectionsAndTurnsTriggersIntoDependencies) {
    const std::vector<Case> cases{
        {"Nodes 4\nConnections 1\n0->1 start 0 size 2000000\n", "1: h1>h2 2000000 @ 0"},
        {"Connections 1\nNodes 4\n0->1 start 0 size 1", "1: h1>h2 1 @ 0"},
        {"# made\n\nNodes 4\r\nConnections 1\r\n0->1 start 0 size 1\r\n", "1: h1>h2 1 @ 0"},
        {"Connections 1 # one\n  0->1\tstart  5 size 1 # the flow\n", "1: h1>h2 1 @ 5"},
        {"Connections 1\nh3->h4 start 0 size 1\n", "1: h3>h4 1 @ 0"},
        {matrix(1, 0, {"3->0 size 7 start 1500000 id 9"}), "1: h4>h1 7 @ 1500000 name 9"},
        {matrix(1, 0, {"3->0 size 7 start 2.5e6"}), "1: h4>h1 7 @ 2500000"},
        {matrix(1, 0, {"3->0 size 7 start 2us"}), "1: h4>h1 7 @ 2000000"},
        {matrix(2, 0, {"3->0 size 7 start 5", "2->0 size 8 start 3"}), "2: h3>h1 8 @ 3, 1: h4>h1 7 @ 5"},
        {matrix(1, 0, {"0->1 start 0 size 1 prio 3 addon"}), "1: h1>h2 1 @ 0"},
        {matrix(2, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "1->2 trigger 3 size 6", "trigger id 3 oneshot"}),
         "1: h1>h2 5 @ 0, 2: h2>h3 6 after 1"},
        {matrix(2, 1,
                {"trigger id 3 oneshot", "1->2 trigger 3 size 6", "0->1 start 0 size 5 recv_done_trigger 3"}),
         "2: h1>h2 5 @ 0, 1: h2>h3 6 after 2"},
        {matrix(3, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "1->2 trigger 3 size 6", "1->3 trigger 3 size 7",
                 "trigger oneshot id 3"}),
         "1: h1>h2 5 @ 0, 2: h2>h3 6 after 1, 3: h2>h4 7 after 1"},
        {matrix(4, 1,
                {"0->1 start 0 size 5 send_done_trigger 3", "1->2 start 1 size 6 recv_done_trigger 3",
                 "2->3 trigger 3 size 7", "2->0 trigger 3 size 8", "trigger id 3 barrier count 2"}),
         "1: h1>h2 5 @ 0, 2: h2>h3 6 @ 1, 3: h3>h4 7 after 1+2, 4: h3>h1 8 after 1+2"},
        {matrix(4, 1,
                {"0->1 start 0 size 1 send_done_trigger 9", "0->2 start 0 size 2 send_done_trigger 9",
                 "0->3 trigger 9 size 3", "0->1 trigger 9 size 4", "trigger id 9 multishot"}),
         "1: h1>h2 1 @ 0, 2: h1>h3 2 @ 0, 3: h1>h4 3 after 1, 4: h1>h2 4 after 2"},
        {matrix(
             4, 1,
             {"0->1 trigger 9 size 1 send_done_trigger 9", "0->2 trigger 9 size 2 send_done_trigger 9",
              "0->3 start 0 size 3 send_done_trigger 9", "0->1 trigger 9 size 4", "trigger id 9 multishot"}),
         "3: h1>h4 3 @ 0, 1: h1>h2 1 after 3, 2: h1>h3 2 after 1, 4: h1>h2 4 after 2"},
        {matrix(1, 2,
                {"0->1 start 0 size 1 send_done_trigger 9", "trigger id 9 multishot",
                 "trigger id 4294967295 barrier count 7"}),
         "1: h1>h2 1 @ 0"},
        {matrix(3, 2,
                {"0->1 start 0 size 1 send_done_trigger 1", "1->2 trigger 1 size 1 send_done_trigger 2",
                 "2->3 trigger 2 size 1", "trigger id 1 oneshot", "trigger id 2 oneshot"}),
         "1: h1>h2 1 @ 0, 2: h2>h3 1 after 1, 3: h3>h4 1 after 2"},
        {matrix(3, 2,
                {"2->3 trigger 2 size 3", "1->2 start 9 size 2 send_done_trigger 2",
                 "0->1 start 0 size 1 recv_done_trigger 2", "trigger id 2 barrier count 2",
                 "trigger id 7 oneshot"}),
         "3: h1>h2 1 @ 0, 2: h2>h3 2 @ 9, 1: h3>h4 3 after 3+2"},
        {matrix(3, 2,
                {"0->1 start 0 size 1 send_done_trigger 1 recv_done_trigger 2",
                 "1->2 trigger 1 size 2 send_done_trigger 2", "2->3 trigger 2 size 3", "trigger id 1 oneshot",
                 "trigger id 2 barrier count 2"}),
         "1: h1>h2 1 @ 0, 2: h2>h3 2 after 1, 3: h3>h4 3 after 1+2"},
        {"Failures 1\nConnections 1\n0->1 start 0 size 1\nfailure switch_type TOR switch_id 0 link_id 1\n",
         "1: h1>h2 1 @ 0"}};
    for (const Case& each : cases) {
        const FlowList list = list_of(each.text);
        CHECK(list.format == WorkloadFormat::htsim);
        std::string got = shown(list);
        if (const std::size_t at = got.find("after 2+3"); at != got.npos) got.replace(at, 9, "after 3+2");
        STRCMP_EQUAL(each.wanted.c_str(), got.c_str());
    }
}

TEST(HtsimFlows, NotesCountWhatRunsOtherwise) {
    const std::vector<Case> cases{
        {"Nodes 9\nConnections 1\n0->1 start 0 size 1\n", "the matrix has 9 nodes, the fabric 4 hosts"},
        {matrix(3, 2,
                {"0->1 start 0 size 1 send_done_trigger 1", "0->2 trigger 1 size 1 send_done_trigger 2",
                 "2->3 trigger 2 size 1", "trigger id 1 oneshot", "trigger id 2 oneshot"}),
         "1 of 2 waits: the flow starts when its own sender knows of the end, where htsim tells it at once"},
        {matrix(4, 1,
                {"0->1 start 0 size 1 send_done_trigger 9", "0->2 start 0 size 2 send_done_trigger 9",
                 "0->3 trigger 9 size 3", "0->1 trigger 9 size 4", "trigger id 9 multishot"}),
         "2 flows of multishot triggers: each waits for one flow, in the file's order"},
        {matrix(1, 1, {"0->1 start 0 size 1 prio 3 addon", "trigger id 9 multishot"}),
         "1 trigger without a flow to start\nprio of 1 flow left out\naddon of 1 flow left out"},
        {"Failures 1\nConnections 1\n0->1 start 0 size 1\nfailure switch_type TOR switch_id 0 link_id 1\n",
         "1 failure left out: [[event]] cuts links"},
        {matrix(2, 1,
                {"0->1 start 0 size 1 recv_done_trigger 1", "1->2 trigger 1 size 1", "trigger id 1 oneshot"}),
         ""}};
    for (const Case& each : cases)
        STRCMP_EQUAL(each.wanted.c_str(),
                     fmt::format("{}", fmt::join(list_of(each.text).notes, "\n")).c_str());
}

TEST(HtsimFlows, SettingsCountForItToo) {
    FlowListSettings settings;
    settings.scale_time = 2;
    settings.scale_bytes = 0.5;
    settings.start = microseconds(1);
    settings.hosts = {{"0", "h4"}};
    STRCMP_EQUAL("1: h4>h2 500 @ 1000010, 2: h2>h3 4 after 1",
                 shown(list_of(matrix(2, 1,
                                      {"0->1 start 5 size 1000 send_done_trigger 3", "1->2 trigger 3 size 8",
                                       "trigger id 3 oneshot"}),
                               settings))
                     .c_str());
    settings = {};
    settings.format = WorkloadFormat::htsim;
    STRCMP_EQUAL(
        "f:1:1: \"src,dst,size,start\" begins no line of a matrix; do: write SOURCE->DESTINATION, trigger "
        "or failure, behind Nodes and Connections\n"
        "f:1:1: the header says Connections 0, and the file has 1; do: write Connections 1\n",
        errors_of(parse("src,dst,size,start\n0->1 start 0 size 1\n", settings)).c_str());
}

TEST(HtsimFlows, ABarrierOfMoreWaitsThanTheListMayHaveIsRefused) {
    std::string text = "Connections 4200\nTriggers 1\ntrigger id 1 barrier count 2100\n";
    for (unsigned n = 0; n < 2100; ++n)
        text += "0->1 start 0 size 1 send_done_trigger 1\n1->2 trigger 1 size 1\n";
    const std::string error = errors_of(parse(text));
    STRCMP_CONTAINS("flows wait for more than 4000000 others in all; do: write barriers of fewer flows",
                    error.c_str());
}

TEST(HtsimFlows, ALongMatrixIsReadAsItIsWritten) {
    constexpr unsigned count = 100'000;
    std::string text = fmt::format("Connections {}\nTriggers {}\n", count, count - 1);
    for (unsigned n = 0; n < count; ++n)
        text += fmt::format("{}->{} id {} {} size {} send_done_trigger {}\n", n % 3, n % 3 + 1, n + 1,
                            n == 0 ? "start 0" : fmt::format("trigger {}", n), n + 1, n + 1);
    for (unsigned n = 1; n < count; ++n) text += fmt::format("trigger id {} oneshot\n", n);
    text.replace(text.find("Triggers 99999"), 14, "Triggers 100000") += "trigger id 100000 multishot\n";
    const FlowList list = list_of(text);
    CHECK_EQUAL(count, list.flows.size());
    CHECK_EQUAL(1, list.timed);
    bool same = true;
    for (unsigned n = 1; n < count; ++n) same &= list.flows[n].after == n - 1 && list.flows[n].bytes == n + 1;
    CHECK(same);
}

}  // namespace sluice::htsim_flows_test
