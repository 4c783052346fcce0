// Lists of flows in a fabric: each starts when it is due or what it waits for has ended, all bytes arrive,
// and each has a row of results. SLUICE_LONG=1 takes more seeds.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/run_with_rows.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::listed_flows_test {
namespace {

using namespace sluice::fabric;

// A list in a file of its own, gone with it.
class ListFile {
  public:
    explicit ListFile(const std::string& text)
        : path_(fmt::format("{}/sluice-list-{}.csv", std::filesystem::temp_directory_path().string(),
                            getpid())) {
        std::ofstream(path_) << text;
    }
    ~ListFile() { std::filesystem::remove(path_); }
    ListFile(const ListFile&) = delete;
    ListFile& operator=(const ListFile&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

const std::string leaf_spine = R"(
[topology]
kind = "leaf-spine"
leaves = 3
spines = 2
hosts = 3
cable = "60m"
[switch.default]
buffer.size = "4MB"
[results]
messages = "csv"
)";

std::string workload(const ListFile& list) {
    return fmt::format("[[workload]]\nname = \"w\"\nfile = \"{}\"\n", list.path());
}

struct Drawn {
    std::string source, destination, after;
    std::uint64_t bytes;
    unsigned delay_us;  // or its start
};

std::vector<Drawn> drawn_flows(std::uint64_t seed, std::size_t count) {
    std::vector<Drawn> flows;
    std::uint64_t next = 0;
    const auto below = [&](std::uint64_t most) { return draw({seed, 0, 0, next++}) % most; };
    for (std::size_t n = 0; n < count; ++n) {
        const std::uint64_t from = below(9), to = (from + 1 + below(8)) % 9;
        Drawn flow{fmt::format("h{}", from + 1), fmt::format("h{}", to + 1), {}, 1, 0};
        flow.bytes = 1 + below(std::uint64_t{1} << (2 + below(17)));
        flow.delay_us = static_cast<unsigned>(below(40));
        if (n != 0 && below(2) == 0) flow.after = fmt::format("f{}", below(n));
        flows.push_back(std::move(flow));
    }
    return flows;
}

std::string list_of(const std::vector<Drawn>& flows, std::uint64_t seed) {
    std::string list = "name,src,dst,size,start_us,after,qps,class\n";
    for (std::size_t n = 0; n < flows.size(); ++n) {
        const Drawn& flow = flows[n];
        list += fmt::format("f{},{},{},{},{},{},{},{}\n", n, flow.source, flow.destination, flow.bytes,
                            flow.delay_us, flow.after, 1 + draw({seed, 1, 0, n}) % 3,
                            draw({seed, 2, 0, n}) % 4 == 0 ? "0" : "");
    }
    return list;
}

}  // namespace

TEST_GROUP(ListedFlows){};

TEST(ListedFlows, allBytesArriveInTheOrderOfTheList) {
    for (std::uint64_t seed = 1; seed <= tries({300, 8, 3}); ++seed) {
        const std::vector<Drawn> flows = drawn_flows(seed, 60);
        const ListFile list(list_of(flows, seed));
        const Ran ran = run_with_rows(leaf_spine + workload(list));
        const std::vector<Row> rows = rows_of(ran.rows);
        LONGS_EQUAL(flows.size(), rows.size());
        std::map<std::string, const Row*> by_name;
        std::uint64_t bytes = 0;
        for (std::size_t n = 0; n < rows.size(); ++n) {
            by_name[rows[n]["name"]] = &rows[n];
            if (n != 0) CHECK_TRUE(rows[n - 1].number("end_ns") <= rows[n].number("end_ns"));
        }
        for (std::size_t n = 0; n < flows.size(); ++n) {
            const Drawn& flow = flows[n];
            const Row& row = *by_name.at(fmt::format("f{}", n));
            bytes += flow.bytes;
            STRCMP_EQUAL(flow.source.c_str(), row["source"].c_str());
            STRCMP_EQUAL(flow.destination.c_str(), row["destination"].c_str());
            LONGS_EQUAL(flow.bytes, std::stoull(row["bytes"]));
            STRCMP_EQUAL("done", row["state"].c_str());
            if (draw({seed, 1, 0, n}) % 3 == 0) CHECK_TRUE(row.number("slowdown") >= 1);  // one queue pair
            const double delay = flow.delay_us * 1000.0;
            if (flow.after.empty()) {
                DOUBLES_EQUAL(delay, row.number("start_ns"), 0.0005);
                continue;
            }
            // At its sender; at its receiver, which knows before its sender; or a microsecond later.
            const Row& before = *by_name.at(flow.after);
            const double since = row.number("start_ns") - before.number("end_ns") - delay;
            if (before["source"] == flow.source)
                DOUBLES_EQUAL(0, since, 0.0015);
            else if (before["destination"] == flow.source)
                CHECK_TRUE(since < 0 && row.number("start_ns") > before.number("start_ns") + delay);
            else
                DOUBLES_EQUAL(1000, since, 0.0015);
        }
        LONGS_EQUAL(1, ran.report["flows"].size());
        LONGS_EQUAL(bytes, ran.report["flows"][0]["delivered_bytes"].get<std::uint64_t>());
        LONGS_EQUAL(0, ran.report["verdict"]["lost_packets"].get<std::uint64_t>());
        for (const auto& [name, host] : ran.report["hosts"].items())
            LONGS_EQUAL(0, host["queue_pairs"].get<int>());
    }
}

TEST(ListedFlows, aBarrierStartsItsFlowsWhenTheLastHasEnded) {
    const ListFile list(
        "Nodes 9\nConnections 6\nTriggers 2\n0->1 id 1 start 0 size 10000 send_done_trigger 1\n"
        "2->1 id 2 start 0 size 20000 send_done_trigger 1\n3->4 id 3 start 0 size 500000 send_done_trigger "
        "1\n"
        "1->5 id 4 trigger 1 size 7 send_done_trigger 2\n0->8 id 5 trigger 1 size 70000 send_done_trigger 2\n"
        "0->3 id 6 trigger 2 size 9\ntrigger id 1 barrier count 3\ntrigger id 2 barrier count 2\n");
    for (const unsigned qps : {1, 3}) {
        const std::string text = leaf_spine + workload(list) + fmt::format("qps = {}\n", qps);
        const Ran ran = run_with_rows(text), three = run_with_rows(text, 3);
        STRCMP_EQUAL(ran.rows.c_str(), three.rows.c_str());
        std::map<std::string, Row> rows;
        for (const Row& row : rows_of(ran.rows)) rows[row["name"]] = row;
        LONGS_EQUAL(6, rows.size());
        const auto at = [&](const char* name, const char* field) { return rows.at(name).number(field); };
        for (const char* before : {"1", "2"}) CHECK_TRUE(at(before, "end_ns") < at("3", "end_ns"));
        // Neither h2 nor h1 takes part in the last.
        for (const char* flow : {"4", "5"})
            DOUBLES_EQUAL(at("3", "end_ns") + 1000, at(flow, "start_ns"), 0.0015);
        DOUBLES_EQUAL(at("5", "end_ns"), at("6", "start_ns"), 0.0015);
    }
}

TEST(ListedFlows, everySwitchKeepsItsInvariants) {
    const ListFile list(list_of(drawn_flows(1, 60), 1));
    CheckedFabric run(leaf_spine + workload(list), "workload");
    run.drain();
}

TEST(ListedFlows, threadsLeaveTheSameBytes) {
    for (std::uint64_t seed = 1; seed <= tries({50, 2, 1}); ++seed) {
        const ListFile list(list_of(drawn_flows(seed, 80), seed));
        const Ran one = run_with_rows(leaf_spine + workload(list)),
                  three = run_with_rows(leaf_spine + workload(list), 3);
        STRCMP_EQUAL(one.rows.c_str(), three.rows.c_str());
        STRCMP_EQUAL(one.report["flows"].dump().c_str(), three.report["flows"].dump().c_str());
    }
}

TEST(ListedFlows, aMessageOnAnEmptyPathHasASlowdownOfOne) {
    std::string list = "src,dst,size,start_us\n";
    unsigned start = 0;
    for (const std::uint64_t bytes : {1, 3, 64, 1023, 1024, 1025, 2048, 2051, 4096, 10'000, 123'457})
        for (const char* to : {"h2", "h4", "h9"})
            list += fmt::format("h1,{},{},{}\n", to, bytes, start += 200);
    for (const char* speeds :
         {"", "host_speed = \"25G\"\nspeed = \"100G\"\n", "host_speed = \"100G\"\nspeed = \"40G\"\n"}) {
        const ListFile file(list);
        std::string text = leaf_spine;
        text.insert(text.find("[switch.default]"), speeds);
        const Ran ran = run_with_rows(text + "[host.default]\ncc = \"none\"\n" + workload(file));
        const std::vector<Row> rows = rows_of(ran.rows);
        LONGS_EQUAL(33, rows.size());
        for (const Row& row : rows) STRCMP_EQUAL("1.0000", row["slowdown"].c_str());
    }
}

TEST(ListedFlows, rowsTellWhatTheNetworkDid) {
    std::string list = "src,dst,size,start\n";
    for (unsigned n = 1; n < 9; ++n) list += fmt::format("h{},h9,2MB,0\n", n);
    const ListFile file(list);
    std::string text = leaf_spine;
    const Ran ran = run_with_rows(
        text + "[switch.leaf3.port.h9]\nqueue.3.wred = \"none\"\n[host.default]\ncc = \"none\"\n" +
        workload(file));
    const std::vector<Row> rows = rows_of(ran.rows);
    LONGS_EQUAL(8, rows.size());
    double paused = 0;
    for (const Row& row : rows) {
        CHECK_TRUE(row.number("slowdown") > 3);
        paused += row.number("paused_ns");
        CHECK_TRUE(row.number("paused_ns") <= row.number("completion_ns"));
    }
    CHECK_TRUE(paused > 100'000);
}

// Data packets of rows on each link between switches, by their paths.
std::map<std::string, std::uint64_t> packets_by_path(const std::vector<Row>& rows) {
    std::map<std::string, std::uint64_t> packets;
    for (const Row& row : rows) {
        std::istringstream path(row["path"]);
        std::string before, node;
        while (std::getline(path, node, '>')) {
            const auto count = (std::stoull(row["bytes"]) + 1023) / 1024;
            if (before.starts_with("leaf") || before.starts_with("spine"))
                packets[before + ">" + node] += count;
            before = node;
        }
        STRCMP_EQUAL(row["source"].c_str(), row["path"].substr(0, 2).c_str());
        STRCMP_EQUAL(row["destination"].c_str(), before.c_str());
    }
    return packets;
}

// From leaf1 to leaf3 alone, so that no acknowledgement goes their way.
std::string one_way_list(std::uint64_t seed, unsigned count) {
    std::string list = "src,dst,size,start_us\n";
    for (unsigned n = 0; n < count; ++n)
        list += fmt::format("h{},h{},{},{}\n", 1 + draw({seed, 0, 0, n}) % 3, 7 + draw({seed, 1, 0, n}) % 3,
                            1 + draw({seed, 2, 0, n}) % 50'000, draw({seed, 3, 0, n}) % 500);
    return list;
}

TEST(ListedFlows, linksCarryWhatThePathsOfRowsSay) {
    for (std::uint64_t seed = 1; seed <= tries({40, 4, 2}); ++seed) {
        const ListFile file(one_way_list(seed, 60));
        const Ran ran = run_with_rows(leaf_spine + "[host.default]\nmtu = 1024\n" + workload(file));
        const std::vector<Row> rows = rows_of(ran.rows);
        LONGS_EQUAL(60, rows.size());
        const auto by_path = packets_by_path(rows);
        unsigned ways = 0;
        for (const auto& link : ran.report["links"])
            for (const auto& direction : link["directions"]) {
                const auto from = direction["from"].get<std::string>(),
                           to = direction["to"].get<std::string>();
                const auto found = by_path.find(from + ">" + to);
                if (found == by_path.end()) continue;
                LONGS_EQUAL(found->second, direction["packets"].get<std::uint64_t>());
                if (to.starts_with("spine")) ++ways;
            }
        LONGS_EQUAL(2, ways);
    }
}

TEST(ListedFlows, aPathThatIsNotOneIsCalledSeveral) {
    const ListFile file(one_way_list(1, 20));
    const Ran sprayed =
        run_with_rows(leaf_spine + "[switch.leaf1]\nload_balance.mode = \"packet\"\n" + workload(file));
    for (const Row& row : rows_of(sprayed.rows)) STRCMP_EQUAL("several", row["path"].c_str());
    // A cut moves those under way, and those that come later go by the other spine.
    const ListFile long_ones("src,dst,size,start_us\nh1,h7,2MB,0\nh2,h8,20KB,3000\nh1,h7,20KB,0\n");
    const Ran cut = run_with_rows(leaf_spine +
                                  "[routing]\ndetection = \"10us\"\nconvergence = \"10us\"\n"
                                  "[[event]]\nat = \"100us\"\ndo = \"link leaf1-spine1 down\"\n" +
                                  workload(long_ones));
    const std::vector<Row> rows = rows_of(cut.rows);
    LONGS_EQUAL(3, rows.size());
    for (const Row& row : rows) {
        const bool is_cut = row["bytes"] == "2000000", is_late = row["source"] == "h2";
        const std::string path = is_cut ? "several" : is_late ? "h2>leaf1>spine2>leaf3>h8" : "h1>leaf1>spine";
        STRCMP_EQUAL(path.c_str(), row["path"].substr(0, path.size()).c_str());
    }
}

TEST(ListedFlows, slowdownsBySizeAreThoseOfTheRows) {
    for (std::uint64_t seed = 1; seed <= tries({40, 4, 2}); ++seed) {
        const std::string at_bounds = "x,h1,h2,1000,0,,1,\ny,h1,h4,2000,0,,1,\nz,h2,h9,5000,0,,1,\n";
        const ListFile list(list_of(drawn_flows(seed, 100), seed) + at_bounds);
        const Ran ran = run_with_rows(leaf_spine + workload(list));
        const std::vector<Row> rows = rows_of(ran.rows);
        std::uint64_t messages = 0;
        for (const auto& [name, size] : ran.report["message_sizes"].items()) {
            std::vector<double> slowdowns;
            for (const Row& row : rows)
                if (row.number("bytes") > size["above_bytes"].get<double>() &&
                    row.number("bytes") <= size["to_bytes"].get<double>())
                    slowdowns.push_back(row.number("slowdown") * 1000);
            std::ranges::sort(slowdowns);
            LONGS_EQUAL(slowdowns.size(), size["messages"].get<std::uint64_t>());
            messages += slowdowns.size();
            for (const auto& [quantile, share] : {std::pair("p50", 0.5), {"p95", 0.95}, {"p99", 0.99}}) {
                const auto& told = size["slowdown_permille"][quantile];
                if (slowdowns.empty()) {
                    CHECK_TRUE(told.is_null());
                    continue;
                }
                const auto place =
                    static_cast<std::size_t>(std::ceil(share * static_cast<double>(slowdowns.size()))) - 1;
                CHECK_TRUE(told.get<double>() >= slowdowns[place] - 2);
                CHECK_TRUE(told.get<double>() <= slowdowns[place] * 17 / 16 + 2);
            }
        }
        LONGS_EQUAL(rows.size(), messages);
    }
}

// Two hosts send N bytes each to a third one at the same time, without reaction: the queue grows by a frame's
// time for each pair of frames, and then drains: a triangle.
TEST(ListedFlows, depthsOverTimeAreThoseOfATriangle) {
    const ListFile list("src,dst,size,start_us\nh1,h3,100KB,20\nh2,h3,100KB,20\n");
    const std::string text = leaf_spine +
                             "depths = true\n[switch.leaf1.port.h3]\nqueue.3.wred = \"none\"\n"
                             "[host.default]\ncc = \"none\"\n[[phase]]\nname = \"before\"\nto = \"20us\"\n"
                             "[[phase]]\nname = \"burst\"\nfrom = \"20us\"\nto = \"40us\"\n" +
                             workload(list);
    const Ran ran = run_with_rows(text);
    const auto& queue = ran.report["depth_bytes"]["leaf1"]["h3"]["3"];
    const auto deepest = queue["max"].get<double>();
    LONGS_EQUAL(
        ran.report["switches"]["leaf1"]["ports"]["h3"]["queues"][3]["deepest_bytes"].get<std::uint64_t>(),
        queue["max"].get<std::uint64_t>());
    CHECK_TRUE(deepest > 90'000);
    const auto& burst = ran.report["phases"]["burst"]["depth_bytes"]["leaf1"]["h3"]["3"];
    LONGS_EQUAL(0, ran.report["phases"]["before"]["depth_bytes"].size());
    DOUBLES_EQUAL(deepest, burst["max"].get<double>(), 0);
    std::vector<Row> rows = rows_of(ran.rows);
    const double busy_ns = rows.back().number("end_ns") - 20'000;
    DOUBLES_EQUAL(deepest / 2 * busy_ns / 20'000, burst["mean"].get<double>(), deepest / 20);
    DOUBLES_EQUAL(burst["mean"].get<double>() * 20'000,
                  queue["mean"].get<double>() * ran.report["end_ns"].get<double>(), 20'000 * deepest / 50);
}

}  // namespace sluice::listed_flows_test
