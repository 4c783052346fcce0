// Schedules in a fabric: times are those of closed forms and of LogGOPSim, collectives those of
// [[collective]], and a rank that cannot go on is named.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/run_with_rows.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::schedule_test {
namespace {

using namespace sluice::fabric;
using Json = nlohmann::ordered_json;

std::string star(unsigned hosts, const std::string& keys = {}) {
    return fmt::format(
        "[topology]\nkind = \"star\"\nhosts = {}\nhost_speed = \"10G\"\nhost_cable = \"1km\"\n"
        "[host.default]\ncc = \"none\"\nmtu = 256\nack_coalescing = 256\n{}\n",
        hosts, keys);
}

std::string workload(const std::string& text, const std::string& keys = {}) {
    return fmt::format("[[workload]]\nname = \"w\"\n{}\ntext = '''\n{}'''\n", keys, text);
}

Json schedule_of(const std::string& text) { return run_with_rows(text).report["schedules"][0]; }

std::string error_of(const std::string& text) {
    auto file = parse_fabric(text, "test");
    if (!file) return file.error().front().text();
    const auto plan = make_plan(std::move(*file));
    return plan ? std::string() : plan.error().front().text();
}

void check_contains(const std::string& text, const std::string& part) {
    CHECK_TEXT(text.find(part) != text.npos, fmt::format("{} has no {}", text, part).c_str());
}

// A schedule as GOAL's text.
class Goal {
  public:
    explicit Goal(unsigned ranks) : text_(fmt::format("num_ranks {}\n", ranks)) {}

    void rank(unsigned n) { text_ += fmt::format("rank {} {{\n", n); }
    void end() { text_ += "}\n"; }
    void calc(const std::string& label, unsigned ns) { text_ += fmt::format("{}: calc {}\n", label, ns); }
    void send(const std::string& label, std::uint64_t bytes, unsigned to, unsigned tag) {
        text_ += fmt::format("{}: send {}b to {} tag {}\n", label, bytes, to, tag);
    }
    void receive(const std::string& label, std::uint64_t bytes, unsigned from, unsigned tag) {
        text_ += fmt::format("{}: recv {}b from {} tag {}\n", label, bytes, from, tag);
    }
    void wait(const std::string& label, const std::string& before) {
        if (!before.empty()) text_ += fmt::format("{} requires {}\n", label, before);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// Reduces for `calc` ns in each of the first rounds.
std::string ring(unsigned ranks, std::uint64_t bytes, unsigned calc) {
    Goal goal(ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        goal.rank(rank);
        std::string before;
        for (unsigned n = 0; n < 2 * (ranks - 1); ++n) {
            const std::string own = fmt::format("s{}", n), its = fmt::format("r{}", n);
            goal.send(own, bytes / ranks, (rank + 1) % ranks, n);
            goal.wait(own, before);
            goal.receive(its, bytes / ranks, (rank + ranks - 1) % ranks, n);
            before = its;
            if (calc == 0 || n + 1 >= ranks) continue;
            before = fmt::format("c{}", n);
            goal.calc(before, calc);
            goal.wait(before, its);
        }
        goal.end();
    }
    return goal.text();
}

std::string binomial(unsigned ranks, std::uint64_t bytes, unsigned calc) {
    Goal goal(ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        goal.rank(rank);
        const unsigned low = rank == 0 ? ranks : rank & (~rank + 1);
        if (rank != 0) {
            goal.receive("r", bytes, rank - low, 0);
            goal.calc("c", calc);
            goal.wait("c", "r");
        }
        for (unsigned apart = low / 2; apart >= 1; apart /= 2) {
            goal.send(fmt::format("s{}", apart), bytes, rank + apart, 0);
            goal.wait(fmt::format("s{}", apart), rank == 0 ? "" : "c");
        }
        goal.end();
    }
    return goal.text();
}

std::string dissemination(unsigned ranks, std::uint64_t bytes, unsigned) {
    Goal goal(ranks);
    for (unsigned rank = 0; rank < ranks; ++rank) {
        goal.rank(rank);
        std::string before;
        unsigned n = 0;
        for (unsigned apart = 1; apart < ranks; apart *= 2, ++n) {
            const std::string own = fmt::format("s{}", n), its = fmt::format("r{}", n);
            goal.send(own, bytes, (rank + apart) % ranks, n);
            goal.wait(own, before);
            goal.receive(its, bytes, (rank + ranks - apart) % ranks, n);
            goal.wait(its, before);
            before = its;
        }
        goal.end();
    }
    return goal.text();
}

const std::string one_message =
    "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 0\n}\nrank 1 {\nrecv 8b from 0 tag 0\n}\n";

}  // namespace

TEST_GROUP(Schedules){};

// LogGOPSim (spcl/LogGOPSim, commit of 2024) with times in picoseconds: txt2bin, then LogGOPSim -L 10178000
// -o 500000 -g 0 -G 1056 -O 0 -S 2000000000; the last host's time. L is what a message of 8 bytes takes here
// without G, and G is 338 bytes of wire for 256 of payload at 10 Gb/s.
TEST(Schedules, TimesAreThoseOfLogGopSim) {
    struct Known {
        const char* name;
        std::string (*make)(unsigned, std::uint64_t, unsigned);
        unsigned ranks;
        std::uint64_t bytes;
        unsigned calc;
        double loggopsim_ps;
    };
    const std::array known{Known{"ring", ring, 8, 524288, 0, 1125361440},
                           Known{"ring that reduces", ring, 8, 524288, 20000, 1265361440},
                           Known{"ring of small messages", ring, 8, 64, 3000, 177595488},
                           Known{"binomial tree", binomial, 16, 65536, 0, 321531840},
                           Known{"binomial tree that computes", binomial, 16, 65536, 40000, 481531840},
                           Known{"binomial tree of small messages", binomial, 16, 8, 1000, 48741568},
                           Known{"dissemination", dissemination, 16, 65536, 0, 321531840},
                           Known{"dissemination of small messages", dissemination, 16, 8, 0, 44741568}};
    for (const Known& each : known) {
        const Json own = schedule_of(star(each.ranks, "send_overhead = \"500ns\"\nper_byte = \"1056ps\"") +
                                     workload(each.make(each.ranks, each.bytes, each.calc)));
        STRCMP_EQUAL("done", own["state"].get<std::string>().c_str());
        const double ratio = own["completion_ns"].get<double>() * 1000 / each.loggopsim_ps;
        CHECK_TEXT(std::abs(ratio - 1) < 0.01, fmt::format("{}: {}", each.name, ratio).c_str());
    }
}

TEST(Schedules, MessageTakesTheEmptyPathAndIsInTheRows) {
    const Ran ran = run_with_rows(star(2) + workload(one_message) + "[results]\nmessages = \"csv\"\n");
    const std::vector<Row> rows = rows_of(ran.rows);
    LONGS_EQUAL(1, rows.size());
    STRCMP_EQUAL("8", rows[0]["bytes"].c_str());
    STRCMP_EQUAL("w", rows[0]["job"].c_str());
    DOUBLES_EQUAL(1, rows[0].number("slowdown"), 0.001);
    // The row has the acknowledgment's way back, too.
    const double there = ran.report["schedules"][0]["completion_ns"].get<double>();
    CHECK(there > 10'000 && there < 10'300 && rows[0].number("completion_ns") > 2 * there - 100);
}

TEST(Schedules, JobHasTheFiguresOfItsSchedule) {
    const Json report = run_with_rows(star(4) + workload(ring(4, 40'000, 5000)) +
                                      "[[job]]\nname = \"j\"\nwork = [\"w\"]\nhosts = 4\n")
                            .report;
    const Json &own = report["schedules"][0], &job = report["jobs"]["j"];
    for (const char* figure : {"compute_ns", "exposed_ns", "hidden_ns", "completion_ns"})
        LONGS_EQUAL(own[figure].get<std::int64_t>(), job[figure].get<std::int64_t>());
    LONGS_EQUAL(3 * 5000, own["compute_ns"].get<std::int64_t>());
    STRCMP_EQUAL("done", job["state"].get<std::string>().c_str());
    LONGS_EQUAL(4 * 6, job["messages"].get<int>());
    LONGS_EQUAL(4 * 6 * 10'000, job["bytes"].get<int>());
}

TEST(Schedules, RanksThatWaitForEverAreNamed) {
    const Json own =
        schedule_of(star(3) + workload("num_ranks 3\n"
                                       "rank 0 {\nsend 100b to 1 tag 7\n}\n"
                                       "rank 1 {\na: recv 100b from 0 tag 8\nb: calc 5\nb requires a\n}\n"
                                       "rank 2 {\nrecv 4b from -1 tag -1\n}\n"));
    STRCMP_EQUAL("stuck", own["state"].get<std::string>().c_str());
    CHECK(own["completion_ns"].is_null());
    LONGS_EQUAL(2, own["waiting"].size());
    STRCMP_EQUAL("h2", own["waiting"][0]["host"].get<std::string>().c_str());
    STRCMP_EQUAL("receives 100 B from rank 0 with tag 8 (line 6)",
                 own["waiting"][0]["operation"].get<std::string>().c_str());
    STRCMP_EQUAL("receives 4 B from any rank with any tag (line 11)",
                 own["waiting"][1]["operation"].get<std::string>().c_str());
}

TEST(Schedules, RunThatIsCutShortIsNotStuck) {
    auto file = parse_fabric(star(2) + workload(one_message), "test");
    const auto plan = make_plan(std::move(*file));
    RunOptions options;
    options.duration = microseconds(3);
    const auto outcome = run_once(*plan, options);
    STRCMP_EQUAL("running", outcome->report["schedules"][0]["state"].get<std::string>().c_str());
    LONGS_EQUAL(1, outcome->report["schedules"][0]["waiting"].size());
}

TEST(Schedules, RendezvousCostsAQuestionAndAnAnswer) {
    const std::string text =
        "num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 0\n}\nrank 1 {\nrecv 1000b from 0 tag 0\n}\n";
    const auto eager = schedule_of(star(2) + workload(text, "rendezvous = \"1000B\""));
    const auto asks = schedule_of(star(2) + workload(text, "rendezvous = \"999B\""));
    const auto small = schedule_of(star(2) + workload(one_message));
    // The question, the answer, the message, and its acknowledgment, with which the send ends; before, the
    // message alone.
    DOUBLES_EQUAL(3 * small["completion_ns"].get<double>(),
                  asks["completion_ns"].get<double>() - eager["completion_ns"].get<double>(), 500);
}

TEST(Schedules, LostPeerFailsTheSchedule) {
    const Json own =
        schedule_of(star(2, "timeout = \"100us\"\nretry_count = 2") + workload(ring(2, 4'000'000, 0)) +
                    "[[event]]\nat = \"50us\"\ndo = \"link h2-sw1 down\"\n");
    STRCMP_EQUAL("failed", own["state"].get<std::string>().c_str());
    check_contains(own["failure"].get<std::string>(),
                   "rank 0 (h1) sends 2000.0 KB to rank 1 with tag 0 (line 3), and a message of it");
}

TEST(Schedules, RanksGoToTheHostsThatAreNamed) {
    const std::string text = one_message;
    const Json own = schedule_of(star(4) + workload(text, "hosts = {0 = \"h4\", 1 = \"h2\"}"));
    STRCMP_EQUAL("h2", own["slow_operations"][0]["host"].get<std::string>().c_str());
    check_contains(error_of(star(4) + workload(text, "hosts = {0 = \"h2\"}")),
                   "host h2 would have two ranks");
    check_contains(error_of(star(4) + workload(text, "hosts = {7 = \"h2\"}")),
                   "the schedule has no such rank");
    check_contains(error_of(star(4) + workload(text, "hosts = {x = \"h2\"}")),
                   "the schedule has no such rank");
    check_contains(error_of(star(2) + workload(ring(3, 300, 0))), "3 ranks");
    check_contains(error_of(star(2) + workload("src,dst,size,start\n0,1,5,0\n", "rendezvous = \"1KB\"")),
                   "is a list of flows");
    check_contains(error_of(star(2) + "[[workload]]\nname = \"w\"\n"), "the workload has no file");
}

// Layers of a table without computations are collectives one after the other.
TEST(Schedules, CollectivesAreThoseOfCollectiveSections) {
    const std::string table =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 "
        "checkpoints: 0 checkpoint_initiates: 0\n1\n"
        "layer -1 0 ALLREDUCE 400000 0 NONE 0 0 NONE 0 0\n";
    struct Way {
        std::string kind, allreduce, keys;
    };
    const std::array ways{Way{"ring-allreduce", "ring", ""}, Way{"tree-allreduce", "tree", ""},
                          Way{"double-tree-allreduce", "double-tree", "channels = 2\n"},
                          Way{"halving-doubling", "halving-doubling", ""}};
    for (const Way& way : ways) {
        const Json own = run_with_rows(star(4) + workload(table, fmt::format("allreduce = \"{}\"\n{}",
                                                                             way.allreduce, way.keys)))
                             .report;
        const Json other =
            run_with_rows(star(4) + fmt::format("[[collective]]\nkind = \"{}\"\nhosts = \"all\"\n"
                                                "bytes = 400000\n{}",
                                                way.kind, way.keys))
                .report;
        LONGS_EQUAL(other["flows"][0]["messages"].get<int>(), own["flows"][0]["messages"].get<int>());
        // A step ends when the last message is acknowledged, and so does the operation.
        LONGS_EQUAL(other["collectives"][0]["completion_ns"].get<std::int64_t>(),
                    own["schedules"][0]["completion_ns"].get<std::int64_t>());
    }
}

TEST(Schedules, CollectiveWithinAServerTakesNoNetwork) {
    const std::string table =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 "
        "checkpoints: 0 checkpoint_initiates: 0\n2\n"
        "layer -1 1000 ALLREDUCE 4000000 0 NONE 0 0 NONE 0 0\n"
        "layer -1 1000 ALLGATHER 4000000 0 NONE 0 0 NONE 0 0\n";
    const Json report =
        run_with_rows(star(8) +
                      workload(table, "server = 4\nserver_bandwidth = \"800G\"\nserver_latency = \"2us\""))
            .report;
    LONGS_EQUAL(0, report["flows"][0]["messages"].get<int>());
    // Each of 4 ranks takes 3 steps of 2 us and a quarter of 4 MB at 100 GB/s, twice for the all-reduce.
    const Json& own = report["schedules"][0];
    DOUBLES_EQUAL(3 * 3 * (2'000 + 10'000) + own["compute_ns"].get<double>(),
                  own["completion_ns"].get<double>(), 3 * 1000);
}

// Frames of 4 KB at 10 Gb/s take longer than a meeting: a rank comes to several while one is on the wire.
TEST(Schedules, MeetingsInAServerAreToldOneByOne) {
    std::string table =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 "
        "checkpoints: 0 checkpoint_initiates: 0\n12\n";
    for (int layer = 0; layer < 12; ++layer)
        table += fmt::format("l{} -1 {} ALLGATHER 200 {} REDUCESCATTER 200 {} ALLREDUCE 60000 0\n", layer,
                             layer % 3, layer % 2, layer % 4);
    for (const char* turn : {"0ns", "2us"}) {
        const Json own = schedule_of(
            "[topology]\nkind = \"star\"\nhosts = 4\nhost_speed = \"10G\"\n[host.default]\nmtu = 4096\n" +
            fmt::format("[switch.default]\nvirtual.turn = \"{}\"\n", turn) + workload(table, "server = 2"));
        STRCMP_EQUAL("done", own["state"].get<std::string>().c_str());
    }
}

// Seven ranks send to one at once: its longest wait names the sender that CNPs slowed, and the port that
// marks.
TEST(Schedules, AWaitNamesTheMarksThatSlowedIt) {
    Goal goal(8);
    goal.rank(0);
    for (unsigned from = 1; from < 8; ++from) goal.receive(fmt::format("r{}", from), 2'000'000, from, 0);
    goal.end();
    for (unsigned from = 1; from < 8; ++from) {
        goal.rank(from);
        goal.send("s", 2'000'000, 0, 0);
        goal.end();
    }
    const Json own = schedule_of(
        "[topology]\nkind = \"star\"\nhosts = 8\nhost_speed = \"100G\"\n"
        "[switch.default]\nbuffer.size = \"16MB\"\n[switch.default.default.queue.3]\nwred = \"roce\"\n"
        "[switch.default.wred.roce]\ngreen_min = \"20KB\"\ngreen_max = \"100KB\"\ngreen_probability = 20\n" +
        workload(goal.text()));
    const auto why = own["slow_operations"][0]["why"].get<std::string>();
    check_contains(why, "h1 (rank 0) waited");
    check_contains(why, " CNPs for its message to h1, whose way sw1 marks most, to h1");
}

// Random schedules without wildcards: all bytes arrive once, threads change nothing, invariants hold.
TEST(Schedules, RandomSchedulesEndAlikeWithAnyThreads) {
    for (std::uint64_t seed = 1; seed <= tries({40, 4, 2}); ++seed) {
        std::uint64_t next = 0;
        const auto below = [&](std::uint64_t most) { return draw({seed, 7, 0, next++}) % most; };
        constexpr unsigned ranks = 6;
        std::vector<std::string> programs(ranks);
        std::vector<unsigned> sizes(ranks);
        std::uint64_t bytes = 0, messages = 0;
        const auto add = [&](std::uint64_t rank, const std::string& what) {
            programs[rank] += fmt::format("l{}: {} cpu {}\n", sizes[rank], what, below(2));
            if (sizes[rank] != 0)
                programs[rank] += fmt::format("l{} {} l{}\n", sizes[rank],
                                              below(3) == 0 ? "irequires" : "requires", sizes[rank] - 1);
            ++sizes[rank];
        };
        for (unsigned n = 0; n < 60; ++n) {
            const std::uint64_t from = below(ranks), to = (from + 1 + below(ranks - 1)) % ranks;
            const std::uint64_t size = 1 + below(std::uint64_t{1} << (4 + below(14))), tag = below(3);
            add(from, fmt::format("send {}b to {} tag {}", size, to, tag));
            add(to, fmt::format("recv {}b from {} tag {}", size, from, tag));
            if (below(2) == 0) add(from, fmt::format("calc {}", below(3000)));
            bytes += size;
            ++messages;
        }
        std::string text = fmt::format("num_ranks {}\n", ranks);
        for (unsigned rank = 0; rank < ranks; ++rank)
            text += fmt::format("rank {} {{\n{}}}\n", rank, programs[rank]);
        const std::string fabric =
            "[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts = 2\ncable = \"60m\"\n"
            "[switch.default]\nbuffer.size = \"4MB\"\n[host.default]\nsend_overhead = \"200ns\"\n"
            "[results]\nmessages = \"csv\"\n" +
            workload(text, below(2) == 0 ? "rendezvous = \"4KB\"" : "");
        const Ran one = run_with_rows(fabric), three = run_with_rows(fabric, 3);
        STRCMP_EQUAL("done", one.report["schedules"][0]["state"].get<std::string>().c_str());
        CHECK(one.rows == three.rows && one.report["schedules"] == three.report["schedules"]);
        std::uint64_t delivered = 0, large = 0;
        const std::vector<Row> rows = rows_of(one.rows);
        for (const Row& row : rows) {
            const std::uint64_t size = std::stoull(row["bytes"]);
            delivered += size;
            large += size == roce::ProgramRank::handshake_bytes ? 1 : 0;
        }
        if (fabric.find("rendezvous") == fabric.npos)
            CHECK(delivered == bytes && rows.size() == messages);
        else
            CHECK(delivered >= bytes && delivered <= bytes + large * roce::ProgramRank::handshake_bytes);
    }
}

}  // namespace sluice::schedule_test
