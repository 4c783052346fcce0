// Flows to drawn hosts and incasts of drawn senders: what is refused, what the seed draws, and how it runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/fabric/plan/drawn_flows.hh"
#include "tests/fabric/plans.hh"
#include "tests/fabric/run_with_rows.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::drawn_flows_test {
namespace {

using namespace sluice::fabric;

const std::string star = "[topology]\nkind = \"star\"\nhosts = 8\nhost_speed = \"100G\"\n";
const std::string flow = "[[flow]]\nname = \"d\"\n";
const std::string random_loop = flow + "from = \"all\"\nto = \"random\"\nmessages = 5\n";
const std::string incast = flow + "from = \"all\"\nto = \"random\"\nincast = 3\nevery = \"20us\"\n";

FabricPlan plan_of(const std::string& text, unsigned seed = 1) {
    auto plan = try_plan(fmt::format("seed = {}\n", seed) + star + text);
    if (!plan) FAIL(plan.error().front().text().c_str());
    return std::move(*plan);
}
FlowList list_of(const std::string& text, unsigned seed = 1) {
    return plan_of(text, seed).workloads.at(0).list;
}

std::string shown(const FlowList& list) {
    std::string text;
    for (const ListedFlow& each : list.flows)
        text += fmt::format("{}>{} {} @ {} after {}\n", each.from, each.to, each.bytes, each.start.ps,
                            each.after == ListedFlow::none ? 0 : each.after + 1);
    return text;
}

}  // namespace

TEST_GROUP(DrawnFlows){};

TEST(DrawnFlows, WhatContradictsItselfIsRefusedWithARemedy) {
    const std::string from_all = flow + "from = \"all\"\n";
    const std::vector<std::pair<std::string, std::string>> cases{
        {from_all + "to = \"random\"\n",
         "f.toml:5:1: flow[0].to: nothing says how many messages a closed loop to drawn hosts has; do: write "
         "messages = N (of a sender)"},
        {from_all + "to = \"random\"\nstop = \"1ms\"\n", "nothing says how many messages a closed loop"},
        {from_all + "to = \"random\"\nload = 50\n",
         "flow[0].to: nothing says when drawn messages end; do: write stop = \"20ms\", or messages = N"},
        {from_all + "to = \"random\"\nmessages = 1\nkind = \"read\"\n", "flow[0].kind: a READ is of hosts"},
        {from_all + "to = \"random\"\nmessages = 1\nevery = \"1ms\"\n", "flow[0].every: there is no incast"},
        {from_all + "to = \"h1\"\nevery = \"1ms\"\n", "flow[0].every: there is no incast"},
        {flow + "from = \"h1\"\nto = [\"random\", \"h1\"]\nmessages = 1\n",
         "flow[0].to: host h1 would send to itself; do: write more hosts in to"},
        {from_all + "to = [\"random\", \"h9\"]\nmessages = 1\n", "flow[0].to: there is no host \"h9\""},
        {from_all + "to = \"random\"\nmessages = 500001\n",
         "flow[0].messages: drawn flows have more than 4000000 messages, the queue pairs of each counted"},
        {from_all + "to = \"random\"\nmessages = 250001\nqps = 2\n", "more than 4000000 messages"},
        {random_loop + from_all + "to = \"random\"\nmessages = 499996\n", "flow[1].messages: drawn flows"},
        {from_all + "to = \"random\"\nload = 100\nmessage = \"1B\"\nstop = \"1s\"\n", "more than 4000000"},
        {from_all + "to = \"random\"\nmessages = 1\nstart = \"1000001s\"\n",
         "flow[0].start: a message would begin later than 1000000s"},
        {from_all + "to = \"random\"\nmessages = 1\nspread = \"8000000s\"\nstart = \"8000000s\"\n", "later"},
        {from_all + "to = \"random\"\nmessages = 90\nload = 1\non = \"1ns\"\noff = \"1000s\"\n",
         "later than"},
        {from_all + "to = \"h1\"\nincast = 3\n", "flow[0].incast: nothing says how often it comes"},
        {from_all + "to = \"h1\"\nincast = 3\nevery = \"1ms\"\n", "flow[0].to: nothing says when drawn"},
        {from_all + "to = \"h1\"\nincast = 8\nevery = \"1ms\"\nmessages = 1\n",
         "flow[0].incast: beside the receiver there are 7 senders; do: write 7 at most, or more hosts in "
         "from"},
        {flow + "from = [\"h1\", \"h2\"]\nto = \"random\"\nincast = 2\nevery = \"1ms\"\nmessages = 1\n",
         "beside the receiver there is 1 sender"},
        {from_all + "to = [\"h1\", \"h2\"]\nincast = 3\nevery = \"1ms\"\nmessages = 1\n",
         "flow[0].to: an incast goes to one host; do: write one, or \"random\""},
        {incast + "messages = 1\nload = 5\n", "flow[0].incast: its messages come together"},
        {incast + "messages = 1\ndepth = 5\n", "it has no load, on, off or depth"},
        {flow + "from = \"all\"\nto = \"h1\"\nincast = 0\n", "flow[0].incast: 0 is too small"},
        {flow + "from = \"all\"\nto = \"h1\"\nincast = 3\nevery = 0\n", "flow[0].every"},
        {"[[collective]]\nkind = \"all-gather\"\nhosts = \"all\"\nincast = 3\n", "incast"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const auto plan = try_plan(star + text);
        std::string error = plan ? "good" : "";
        if (!plan)
            for (const ConfigError& each : plan.error()) error += each.text() + "\n";
        if (error.find(wanted) == error.npos)
            wrong += fmt::format("{}\nlacks: {}\n{}\n", error, wanted, text);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(DrawnFlows, AMessageNeverGoesToItsSender) {
    for (const char* to : {"\"random\"", "[\"random\", \"h2..h4\"]"}) {
        const FlowList list = list_of(flow + "from = \"all\"\nmessages = 300\nto = " + to);
        CHECK_EQUAL(8 * 300, list.flows.size());
        std::map<std::pair<std::uint32_t, std::uint32_t>, int> pairs;
        for (const ListedFlow& each : list.flows) {
            CHECK(each.from != each.to);
            ++pairs[{each.from, each.to}];
        }
        const bool is_all = std::string_view(to) == "\"random\"";
        CHECK_EQUAL(is_all ? 8 * 7 : 8 * 3 - 3, pairs.size());
        for (const auto& [pair, count] : pairs) {  // of 300, each of n receivers has 300 / n +- five sigma
            const double share = is_all ? 300 / 7.0 : pair.first >= 1 && pair.first <= 3 ? 150 : 100;
            DOUBLES_EQUAL(share, count, 5 * std::sqrt(share));
            if (!is_all) CHECK(pair.second >= 1 && pair.second <= 3);
        }
    }
}

TEST(DrawnFlows, AClosedLoopBeginsAMessageWhenTheOneDepthBeforeItEnds) {
    const FlowList list = list_of(random_loop + "depth = 2\nstart = \"3us\"\nqps = 4\n");
    CHECK_EQUAL(16, list.timed);
    CHECK_EQUAL(40, list.flows.size());
    for (const ListedFlow& each : list.flows) {
        CHECK_EQUAL(4, each.qps);
        if (each.after == ListedFlow::none) {
            CHECK(each.start == microseconds(3));
            CHECK((each.number - 1) % 5 < 2);
            continue;
        }
        const ListedFlow& before = list.flows[each.after];
        CHECK(each.start == Duration{});
        CHECK_EQUAL(each.number, before.number + 2);
        CHECK_EQUAL(each.from, before.from);
    }
}

TEST(DrawnFlows, ALoadIsOfEachSenderAndEndsAtStop) {
    const FlowList list = list_of(flow +
                                  "from = [\"h1\", \"h2\"]\nto = \"random\"\nload = 40\nqps = 3\n"
                                  "message = \"1KB..19KB\"\nstart = \"1ms\"\nstop = \"41ms\"\n");
    std::map<std::uint32_t, double> bytes;
    for (const ListedFlow& each : list.flows) {
        CHECK(each.start >= milliseconds(1) && each.start < milliseconds(41));
        CHECK(each.after == ListedFlow::none);
        bytes[each.from] += static_cast<double>(each.bytes);
    }
    CHECK_EQUAL(2, bytes.size());
    for (const auto& [from, sum] : bytes) DOUBLES_EQUAL(40e-3 * 100e9 / 8 * 0.4, sum, 0.04 * sum);
    CHECK_EQUAL(
        2 * 7,
        list_of(flow + "from = [\"h1\", \"h2\"]\nto = \"random\"\nload = 40\nmessages = 7\n").flows.size());
}

TEST(DrawnFlows, AnIncastHasItsSendersAtOneTime) {
    for (const char* to : {"random", "h2"}) {
        std::string text = incast + "stop = \"2ms\"\nstart = \"1ms\"\n";
        text.replace(text.find("random"), 6, to);
        const FlowList list = list_of(text);
        CHECK_EQUAL(3 * 50, list.flows.size());
        std::set<std::uint32_t> receivers, senders;
        for (std::size_t n = 0; n < list.flows.size(); n += 3) {
            std::set<std::uint32_t> own;
            for (std::size_t k = n; k < n + 3; ++k) {
                const ListedFlow& each = list.flows[k];
                CHECK(each.start == milliseconds(1) + microseconds(20) * static_cast<std::int64_t>(n / 3));
                CHECK_EQUAL(list.flows[n].to, each.to);
                CHECK(each.from != each.to);
                own.insert(each.from);
            }
            CHECK_EQUAL(3, own.size());
            senders.merge(own);
            receivers.insert(list.flows[n].to);
        }
        CHECK_EQUAL(std::string_view(to) == "h2" ? 1 : 8, receivers.size());
        CHECK_EQUAL(std::string_view(to) == "h2" ? 7 : 8, senders.size());
    }
    const FlowList all = list_of(flow +
                                 "from = \"all\"\nto = \"h2\"\nincast = 7\nevery = \"1ms\"\nmessages = 2\n"
                                 "spread = \"5us\"\n");
    CHECK_EQUAL(14, all.flows.size());
    std::set<std::int64_t> starts;
    for (const ListedFlow& each : all.flows) starts.insert(each.start.ps % milliseconds(1).ps);
    CHECK(starts.size() > 7 && *starts.rbegin() < microseconds(5).ps);
}

TEST(DrawnFlows, DrawsAreOfTheSeedAndTheName) {
    const std::string one = shown(list_of(random_loop)), incasts = shown(list_of(incast + "messages = 9\n"));
    STRCMP_EQUAL(one.c_str(), shown(list_of(random_loop)).c_str());
    CHECK(one != shown(list_of(random_loop, 2)));
    CHECK(incasts != shown(list_of(incast + "messages = 9\n", 2)));
    const FabricPlan plan = plan_of(
        "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n[[flow]]\nname = \"e\"\n"
        "from = \"all\"\nto = \"random\"\nmessages = 5\n" +
        random_loop);
    CHECK_EQUAL(2, plan.workloads.size());
    CHECK_EQUAL(2, plan.workloads[1].flow);
    STRCMP_EQUAL("flow[2]", plan.workloads[1].key.c_str());
    STRCMP_EQUAL(one.c_str(), shown(plan.workloads[1].list).c_str());
    CHECK(one != shown(plan.workloads[0].list));
}

TEST(DrawnFlows, AFlowWithoutANameGetsOne) {
    const FabricPlan plan = plan_of(
        "[[flow]]\nfrom = \"all\"\nto = \"random\"\nmessages = 1\n"
        "[[flow]]\nfrom = \"all\"\nto = \"random\"\nmessages = 1\n");
    STRCMP_EQUAL("h1..h8-h1..h8", plan.file.flows[0].name.c_str());
    STRCMP_EQUAL("h1..h8-h1..h8-2", plan.file.flows[1].name.c_str());
    CHECK(plan.file.flows[0].from.empty() && plan.file.flows[0].to.empty());
}

TEST(DrawnFlows, CheckSaysWhatIsDrawn) {
    const std::string text = plan_text(plan_of(random_loop + "message = \"2KB\"\n"));
    const std::string wanted =
        "flow \"d\": drawn by the seed, 40 messages of 80.0 KB between 8 of 8 hosts, starts from 0 ns to 0 "
        "ns, 32 messages after another; with its hosts the list takes ";
    if (text.find(wanted) == text.npos) FAIL((text + "\nlacks: " + wanted).c_str());
}

TEST(DrawnFlows, AClosedLoopRunsAsOneFlow) {
    for (const char* kind : {"write", "send"})
        for (unsigned seed = 1; seed <= tries({20, 2, 1}); ++seed) {
            const std::string text =
                fmt::format("seed = {}\n", seed) + star + "[results]\nmessages = \"csv\"\n" + random_loop +
                fmt::format("kind = \"{}\"\nmessage = \"1B..200KB\"\ndepth = 2\nqps = 3\n", kind);
            const Ran ran = run_with_rows(text), threads = run_with_rows(text, 3);
            STRCMP_EQUAL(ran.rows.c_str(), threads.rows.c_str());
            const std::vector<Row> rows = rows_of(ran.rows);
            LONGS_EQUAL(40, rows.size());
            const FlowList list =
                list_of(random_loop + "message = \"1B..200KB\"\ndepth = 2\nqps = 3\n", seed);
            std::map<std::string, const Row*> by_name;
            for (const Row& row : rows) by_name[row["name"]] = &row;
            for (const ListedFlow& each : list.flows) {
                const Row& row = *by_name.at(fmt::format("d.{}", each.number));
                STRCMP_EQUAL(fmt::format("h{}", each.from + 1).c_str(), row["source"].c_str());
                STRCMP_EQUAL(fmt::format("h{}", each.to + 1).c_str(), row["destination"].c_str());
                LONGS_EQUAL(each.bytes, std::stoull(row["bytes"]));
                if (each.after == ListedFlow::none) continue;
                const Row& before = *by_name.at(fmt::format("d.{}", list.flows[each.after].number));
                DOUBLES_EQUAL(before.number("end_ns"), row.number("start_ns"), 0.0015);
            }
            LONGS_EQUAL(1, ran.report["flows"].size());
            LONGS_EQUAL(list.bytes(), ran.report["flows"][0]["delivered_bytes"].get<std::uint64_t>());
        }
}

TEST(DrawnFlows, NoMessageOfAClosedLoopBeginsAtItsStopOrLater) {
    const std::string text = star + "[results]\nmessages = \"csv\"\n" + flow +
                             "from = \"all\"\nto = \"random\"\nmessages = 100\nmessage = \"100KB\"\n";
    const std::vector<Row> all = rows_of(run_with_rows(text).rows);
    const std::vector<Row> some = rows_of(run_with_rows(text + "stop = \"200us\"\n").rows);
    LONGS_EQUAL(800, all.size());
    const auto before = [](const Row& row) { return row.number("start_ns") < 200'000; };
    LONGS_EQUAL(std::ranges::count_if(all, before), some.size());
    CHECK(some.size() > 50 && std::ranges::all_of(some, before));
}

TEST(DrawnFlows, IncastsRunEveryT) {
    const std::vector<Row> rows = rows_of(run_with_rows(star + "[results]\nmessages = \"csv\"\n" + incast +
                                                        "messages = 4\nmessage = \"10KB\"\n")
                                              .rows);
    LONGS_EQUAL(12, rows.size());
    std::map<double, int> starts;
    for (const Row& row : rows) ++starts[row.number("start_ns")];
    LONGS_EQUAL(4, starts.size());
    for (const auto& [start, count] : starts) {
        LONGS_EQUAL(3, count);
        DOUBLES_EQUAL(0, std::fmod(start, 20'000), 0.001);
    }
}

}  // namespace sluice::drawn_flows_test
