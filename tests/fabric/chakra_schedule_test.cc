// Chakra traces as schedules: what is refused, then what their nodes become.
#include <algorithm>
#include <array>

#include "tests/fabric/chakra_traces.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::chakra_schedule_test {
namespace {

using namespace sluice::chakra_traces;

const std::string pairs = R"({"1": [0, 1], "2": [3, 2], "all": [0, 1, 2, 3], "one": [0], "far": [0, 9]})";

std::vector<Trace> four(const Trace& trace) { return {trace, trace, trace, trace}; }

}  // namespace

TEST_GROUP(ChakraSchedule){};

TEST(ChakraSchedule, BytesThatAreNoTraceAreRefusedWithTheirPlace) {
    struct Case {
        std::string bytes, wanted;
    };
    const std::string good = as_protobuf({works(1, 5)});
    const std::vector<Case> cases{
        {"", "0: the file is empty; do: name an execution trace of Chakra"},
        {"num_ranks 2\n", "0: it is a text, and no JSON"},
        {"\x1F\x8B\x08", "0: it is compressed; do: gunzip it"},
        {version(), "0: no trace has a node"},
        {good + "\x05",
         "0: byte 37: a message has 5 bytes, and the file ends after 0; do: name an execution"},
        {good + "\x05\x08\x01", "0: byte 37: a message has 5 bytes, and the file ends after 2"},
        {good + "\x85", "0: byte 37: the file ends within the length of a message"},
        {good + std::string(11, '\xFF'), "0: byte 37: the length of a message has more than 64 bits"},
        {good + varint(1U << 25U) + "x", "0: byte 37: a message has 33554432 bytes, more than 16777216"},
        {good + std::string(1, '\0'), "0: byte 37: a message is empty"},
        {version() + message("\x08"), "0: byte 8: this is not a node: a field is longer than its message"},
        {version() + message("\x12\x05wxyz"), "0: byte 8: this is not a node: a field is longer"},
        {version() + message(field(1, 7) + "\x1A\x01x"),
         "0: byte 8: this is not a node: a field has no number or"},
        {version() + message(field(1, 7) + "\x1B"),
         "0: byte 8: this is not a node: a field has no number or type"},
        {version() + message(field(1, 7) + "\x07"),
         "0: byte 8: this is not a node: a field has no number or type"},
        {version() + message("\x08" + std::string(11, '\x80')),
         "0: byte 8: this is not a node: a varint has more"},
        {version() + message(field(5, "\x80")),
         "0: byte 8: this is not a node: a field is longer than its message"},
        {version() + message(field(1, 7) + field(3, 8)), "0: node 7: its type is 8, and there are 8: from 0"},
        {version() + message(field(1, 7) + field(3, 4) + field(10, field(1, "comm_size") + field(9, -5ULL))),
         "0: node 7: comm_size is -5, not a whole number from 0; do: correct the node"},
        {version() + message(field(1, 7) + field(3, 4) + field(10, field(1, "is_cpu_op") + field(9, 2))),
         "0: node 7: is_cpu_op is 2, not true or false"},
        {version() + message(field(1, 7) + field(3, 4) + field(10, field(1, "comm_type") + field(29, "SUM"))),
         R"(0: node 7: comm_type is "SUM", not a type of collectives)"},
        {version() + message(field(1, 7) + field(3, 4) + field(10, field(1, "pg_name") + field(30, "x"))),
         "0: node 7: pg_name is a list or nothing, not the name of a group"},
        {version() + message(field(2, "a")) + message(field(1, 1)),
         "0: none of its 2 nodes has a type, as in a trace of PyTorch's that is not converted; do: run "
         "chakra"}};
    std::string wrong;
    for (const auto& [bytes, wanted] : cases)
        if (const std::string error = errors_of(read({bytes})); !error.starts_with(wanted))
            wrong += fmt::format("{}\nis not {}\n", error, wanted);
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(ChakraSchedule, NodesThatDoNotFitTogetherAreRefused) {
    struct Case {
        std::vector<Trace> traces;
        std::string wanted;
    };
    const std::vector<Case> cases{
        {{{works(1, 5), works(1, 6)}},
         "0: two nodes have id 1: number 1 and number 2 of the file; do: give each"},
        {{{works(3, 1, {3})}},
         "0: node 3 waits for itself, in a circle of data_deps; do: correct its data_deps"},
        {{{works(1, 1, {2}), works(2, 1, {1})}}, "0: node 1 waits for itself, in a circle of data_deps"},
        {{{works(1, 2'000'000'000'000)}}, "0: node 1 takes 2000000000000 us, more than 1000000s once scaled"},
        {{{sends(1, 1, 8, 0)}},
         "0: node 1 sends to rank 1, so not all ranks can run this trace; do: name a trace"},
        {{{receives(1, 1, 8, 0), sends(2, 1, 8, 0)}},
         "0: node 1 receives from rank 1, so not all ranks can run"},
        {{{coll(1, all_reduce, 8, "1")}},
         "0: node 1 takes part in a group of 2 of 4 ranks, so not all ranks can"},
        {four({coll(1, all_reduce, 8, "7")}),
         R"(0: node 1 names group "7", and nothing says which ranks it has)"},
        {four({coll(1, all_reduce, 8, "far")}),
         "0: node 1 takes part in group \"far\", which has rank 9, and there"},
        {four({defines(1, R"([{"pg_name": "5", "ranks": [2, 2]}])"), coll(2, all_reduce, 8, "5")}),
         "0: node 2 takes part in group 5, which has rank 2 twice; do: correct the ranks of the group"},
        {four({rooted(1, broadcast, 8, 4)}),
         "0: node 1 has root 4, which is not in all ranks; do: write a rank"},
        {four({coll(1, all_reduce, 1ULL << 32U)}),
         "0: node 1 has comm_size 4294967296 for 4 ranks, more than 2GiB"},
        {four({coll(1, all_gather, 1ULL << 30U)}),
         "0: node 1 has comm_size 1073741824 for 4 ranks, more than 2GiB"},
        {four({coll(1, all_gather, 1ULL << 62U)}),
         "0: node 1 has comm_size 4611686018427387904 for 4 ranks, more"},
        {{{sends(1, 1, 1ULL << 41U, 0)}, {works(1, 1)}},
         "0: node 1 has a message of 2199023255552 bytes, more than"},
        {{{with(sends(1, 1, 8, 0), "comm_src", 1)}, {works(1, 1)}},
         "0: node 1 sends as rank 1, and the trace is that of rank 0; do: name the traces in the order of"},
        {{{works(1, 1)}, {with(receives(4, 0, 8, 0), "comm_dst", 0)}},
         "1: node 4 receives as rank 0, and the trace is that of rank 1"},
        {{{sends(1, 1, 8, 0xFFFF'FFFF)}, {works(1, 1)}},
         "0: node 1 has comm_dst 1 and comm_tag 4294967295, and they"},
        {{{sends(1, 0xFFFF'FFFF, 8, 0)}, {works(1, 1)}},
         "0: node 1 has comm_dst 4294967295 and comm_tag 0, and"},
        {{{sends(1, 2, 8, 0)}, {works(1, 1)}},
         "0 and 1 more: node 1 of rank 0 sends to rank 2, and there are 2"},
        {{{works(1, 1)}, {works(1, 1)}, {coll(6, all_reduce, 8, "1")}, {works(1, 1)}},
         "2: node 6 takes part in group 1, which does not have rank 2; do: name the traces in the order of "
         "their"},
        {{{coll(1, all_reduce, 8)}, {coll(2, all_reduce, 9)}},
         "0 and 1 more: node 2 of rank 1 is number 1 of all-reduce of all ranks with 9 bytes, and that of "
         "rank"},
        {{{coll(1, all_reduce, 8)}, {coll(2, barrier, 8)}},
         "0 and 1 more: node 1 of rank 0 is number 1 of all-reduce of all ranks, and rank 1 has only 0"}};
    std::string wrong;
    for (const auto& [traces, wanted] : cases) {
        ScheduleSettings settings;
        settings.ranks = 4;
        if (const std::string error = errors_of(read_all(traces, pairs, settings));
            !error.starts_with(wanted))
            wrong += fmt::format("{}is not {}\n", error, wanted);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(ChakraSchedule, NodesBecomeOperationsInEachForm) {
    struct Case {
        std::vector<Trace> traces;
        std::string wanted;
    };
    const std::vector<Case> cases{
        {{{works(1, 5, {}, true), works(2, 7, {1}), works(3, 1, {1, 2})}, {}},
         "1 cpu 5us; 2 gpu 7us after 1; 3 gpu 1us after 1+2 | "},
        {{{works(0, 5), works(2, 7, {3}), works(3, 1)}, {}}, "0 gpu 5us; 3 gpu 1us; 2 gpu 7us after 3 | "},
        {{{controlled(works(4, 5, {3}), {2}), works(2, 1), works(3, 1)}, {}},
         "2 gpu 1us; 3 gpu 1us; 4 gpu 5us after 2+3 | "},
        {{{controlled(works(4, 5, {2}), {2, 2}), works(2, 1)}, {}}, "2 gpu 1us; 4 gpu 5us after 2 | "},
        {{{sends(1, 1, 100, 7, {2}), works(2, 3, {}, true)}, {receives(5, 0, 100, 7)}},
         "2 cpu 3us; 1 send>1 100 #7 after 2 | 5 receive<0 100 #7"},
        {{{with(sends(1, 1, 100, 7), "comm_src", 0)}, {with(receives(5, 0, 100, 7), "comm_dst", 1)}},
         "1 send>1 100 #7 | 5 receive<0 100 #7"},
        {{{sends(1, 1, 0, 0), receives(2, 1, 5, 0)}, {receives(1, 0, 0, 0), sends(2, 0, 5, 0)}},
         "1 send>1 1 #0; 2 receive<1 5 #0 | 1 receive<0 1 #0; 2 send>0 5 #0"},
        {four({coll(1, all_reduce, 100)}),
         "1 collective@0 100 | 1 collective@0 100 | 1 collective@0 100 | 1 collective@0 100 [all-reduce of "
         "all "
         "ranks (0) 0,1,2,3]"},
        {four({coll(1, all_gather, 100, "all")}),
         "1 collective@0 400 | 1 collective@0 400 | 1 collective@0 400 | 1 collective@0 400 [all-gather of "
         "group "
         "\"all\" (3) 0,1,2,3]"},
        {{{coll(1, reduce_scatter, 100, "1")}, {coll(2, reduce_scatter, 100, "1")}, {}, {}},
         "1 collective@0 100 | 2 collective@0 100 |  |  [reduce-scatter of group 1 (4) 0,1]"},
        {{{coll(1, reduce_scatter_block, 100)}, {coll(1, reduce_scatter_block, 100)}},
         "1 collective@0 100 | 1 collective@0 100 [reduce-scatter of all ranks (4) 0,1]"},
        {{{coll(1, all_to_all, 64)}, {coll(1, all_to_all, 64)}},
         "1 collective@0 64 | 1 collective@0 64 [all-to-all of all ranks (2) 0,1]"},
        {{{coll(1, barrier, 64)}, {coll(1, barrier, 0)}},
         "1 collective@0 2 | 1 collective@0 2 [barrier of all ranks (0) 0,1]"},
        {{{coll(1, broadcast, 64)}, {coll(1, broadcast, 64)}},
         "1 collective@0 64 | 1 collective@0 64 [broadcast of all ranks (5) 0,1]"},
        {four({rooted(1, broadcast, 64, 2)}),
         "1 collective@0 64 | 1 collective@0 64 | 1 collective@0 64 | 1 collective@0 64 [broadcast of all "
         "ranks "
         "with root 2 (5) 2,3,0,1]"},
        {four({rooted(1, reduce, 64, 2)}),
         "1 collective@0 64 | 1 collective@0 64 | 1 collective@0 64 | 1 collective@0 64 [reduce of all ranks "
         "with "
         "root 2 (5) 1,0,3,2]"},
        {{{coll(1, broadcast, 8), rooted(2, broadcast, 8, 1), rooted(3, broadcast, 8, 0)},
          {coll(1, broadcast, 8), rooted(2, broadcast, 8, 1), rooted(3, broadcast, 8, 0)}},
         "1 collective@0 8; 2 collective@1 8; 3 collective@0 8 | 1 collective@0 8; 2 collective@1 8; 3 "
         "collective@0 8 [broadcast of all ranks (5) 0,1] [broadcast of all ranks with root 1 (5) 1,0]"},
        {{{rooted(1, all_reduce, 8, 0)}, {rooted(1, all_reduce, 8, 9)}},
         "1 collective@0 8 | 1 collective@0 8 [all-reduce of all ranks (0) 0,1]"},
        {{{coll(1, all_reduce, 8, "1")},
          {coll(1, all_reduce, 8, "1")},
          {coll(1, all_reduce, 9, "2")},
          {coll(1, all_reduce, 9, "2")}},
         "1 collective@0 8 | 1 collective@0 8 | 1 collective@0 9 | 1 collective@0 9 [all-reduce of group 1 "
         "and 1 "
         "other (0) 0,1 3,2]"},
        {{{coll(1, all_reduce, 8, "1")},
          {coll(1, all_reduce, 8, "1")},
          {coll(1, all_to_all, 9, "2")},
          {coll(1, all_to_all, 9, "2")}},
         "1 collective@0 8 | 1 collective@0 8 | 1 collective@1 9 | 1 collective@1 9 [all-reduce of group 1 "
         "(0) "
         "0,1] [all-to-all of group 2 (2) 3,2]"},
        {{{coll(1, all_reduce, 8, "1"), coll(2, all_reduce, 8, "0")},
          {coll(2, all_reduce, 8, "0"), coll(1, all_reduce, 8, "1")}},
         "1 collective@0 8; 2 collective@1 8 | 2 collective@1 8; 1 collective@0 8 [all-reduce of group 1 (0) "
         "0,1] "
         "[all-reduce of all ranks (0) 0,1]"},
        {{{coll(1, all_reduce, 8, "one", {2}), works(2, 1)}, {}}, "2 gpu 1us; 1 no 0us after 2 | "},
        {{{of_type(1, load, 3), of_type(2, store, 4), of_type(3, metadata, 5), of_type(4, invalid, 6)}, {}},
         "1 gpu 3us; 2 gpu 4us; 3 no 0us; 4 no 0us | "},
        {{{works(1ULL << 40U, 1), works(7, 2, {1ULL << 40U})}, {}}, "1 gpu 1us; 7 gpu 2us after 1 | "}};
    std::string wrong;
    for (const auto& [traces, wanted] : cases)
        for (const auto form : {as_protobuf, as_graph, as_messages}) {
            std::vector<std::string> texts;
            for (const Trace& each : traces) texts.push_back(form(each));
            if (const std::string got = shown(read(texts, pairs)); got != wanted)
                wrong += fmt::format("{}\nis not {}\n{}\n", got, wanted, texts[0]);
        }
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(ChakraSchedule, NotesCountWhatRunsOtherwise) {
    struct Case {
        std::vector<Trace> traces;
        std::string wanted;
    };
    TestNode call = coll(1, all_reduce, 0);
    call.attributes = {{"is_cpu_op", true}};
    TestNode kernel = call;
    kernel.attributes = {{"comm_type", std::uint64_t{all_reduce}}};
    TestNode unknown = coll(2, all_reduce, 8);
    unknown.attributes.front().second = std::uint64_t{10};
    TestNode lonely = of_type(2, send);
    lonely.attributes = {{"comm_size", std::uint64_t{8}}};
    const std::vector<Case> cases{
        {{{works(1, 5)}, {works(1, 5)}}, ""},
        {{{works(1, 5)}, {}}, "1 trace without a node: its rank does nothing"},
        {{{works(1, 0), with(works(2, 0), "num_ops", 7)}, {works(1, 0)}},
         "3 computations without a duration (1 with num_ops): taken as 0 ns"},
        {{{works(1, 0)}, {works(1, 0)}}, "2 computations without a duration: taken as 0 ns"},
        {{{of_type(1, invalid), works(2, 1)}, {works(1, 1)}}, "1 node of type INVALID_NODE: taken as 0 ns"},
        {{{of_type(1, load, 3), of_type(2, store, 3)}, {works(1, 1)}},
         "2 nodes of type MEM_LOAD or MEM_STORE: taken as computations"},
        {{{call}, {works(1, 1)}}, "1 communication of the CPU without comm_size: taken as computations"},
        {{{kernel}, {works(1, 1)}}, "1 collective without comm_size: as long as its trace says"},
        {{{unknown, of_type(3, collective)}, {works(1, 1)}},
         "2 collectives without a comm_type that is known: as long as its trace says"},
        {{{coll(1, gather, 8), coll(2, scatter, 8), coll(3, gather, 8)}, {works(1, 1)}},
         "2 gathers that cannot be replayed: as long as its trace says\n1 scatter that cannot be replayed: "
         "as long as its "
         "trace says"},
        {{{lonely}, {works(1, 1)}}, "1 message without comm_dst or comm_src: as long as its trace says"},
        {{{works(1, 1), works(2, 1, {7, 8})}, {works(1, 1)}},
         "2 waits for nodes that are not in the trace: left out"},
        {{{coll(1, all_reduce, 0)}, {coll(1, all_reduce, 0)}}, "2 operations of 0 bytes: taken as 1 byte"},
        {{{with(coll(1, all_reduce, 5), "involved_dim", 1)},
          {with(coll(1, all_reduce, 5), "comm_priority", 2)}},
         "1 node with involved_dim: left out, their group takes part\n1 node with comm_priority: left out"},
        {{{coll(1, all_reduce, 5, "one")}, {works(1, 1)}},
         "1 collective in a group of one rank: taken as 0 ns"},
        {{{defines(1, R"([{"pg_name": 7, "ranks": [-1]}])")}, {works(1, 1)}},
         "1 list of process groups that cannot be read: left out"},
        {{{controlled(works(1, 1), {1, 8}), works(2, 1, {1})}, {controlled(works(1, 1), {9})}},
         "1 trace with ctrl_deps in a circle: all its ctrl_deps left out\n1 wait for nodes that are not in "
         "the "
         "trace: left out"}};
    for (const Case& each : cases)
        for (const auto form : {as_protobuf, as_graph})
            STRCMP_EQUAL(each.wanted.c_str(),
                         notes_of(read({form(each.traces[0]), form(each.traces[1])}, pairs)).c_str());
}

TEST(ChakraSchedule, TimesAndBytesAreScaledButBarriers) {
    ScheduleSettings settings;
    settings.ranks = 2;
    settings.scale_time = 0.5;
    settings.scale_bytes = 3;
    const Trace trace{works(1, 5), coll(2, all_gather, 8), coll(3, barrier, 8)};
    STRCMP_CONTAINS("1 gpu 2.5us; 2 collective@0 48; 3 collective@1 2",
                    shown(read_all({trace}, {}, settings)).c_str());
    STRCMP_CONTAINS("send>1 15",
                    shown(read_all({{sends(1, 1, 5, 0)}, {receives(1, 0, 5, 0)}}, {}, settings)).c_str());
}

TEST(ChakraSchedule, ALongTraceIsReadAsItIsWritten) {
    constexpr std::uint64_t count = 100'000;
    Trace trace;
    for (std::uint64_t n = 0; n < count; ++n)
        trace.push_back(works(3 * (n ^ 1), n % 50 + 1, n < 2 ? Numbers{} : Numbers{3 * (n - n % 2 - 1)}));
    const auto schedule = read_all({trace});
    CHECK(schedule.has_value());
    const roce::Program& program = *schedule->programs[0];
    CHECK_EQUAL(count, program.size());
    CHECK_EQUAL(count - 2, program.next.size());
    CHECK(std::ranges::count(program.waits, 0U) == 2);
    CHECK_EQUAL(schedule->digest(), read({as_graph(trace)})->digest());
}

TEST(ChakraSchedule, ATraceThatIsCutIsRefusedUnlessAMessageEndsThere) {
    const Trace trace{works(300, 5), coll(2, all_reduce, 1000, {}, {300}), sends(3, 1, 70'000, 5)};
    const std::string whole = as_protobuf(trace),
                      other = as_protobuf({receives(1, 0, 70'000, 5), coll(2, all_reduce, 1000)});
    unsigned good = 0;
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
        good += read({whole.substr(0, cut), other}).has_value() ? 1 : 0;
    CHECK_EQUAL(1, good);  // with the collective, and without the message
    CHECK(read({whole, other}).has_value());
    for (const auto form : {as_graph, as_messages}) {
        const std::string text = form(trace);
        for (std::size_t cut = 1; cut + 1 < text.size(); ++cut) {
            const std::string error = errors_of(read({text.substr(0, cut), other}));
            CHECK(error.find("ends before its last object does") != error.npos || form == as_messages);
        }
    }
}

TEST(ChakraSchedule, SourcesGiveAFewBytesAtOnceOrFail) {
    TestNode large = works(1, 5);
    large.inputs = std::string(70'000, 'x');
    for (const std::string& text :
         {as_protobuf({large, coll(2, all_reduce, 8)}), as_graph({large, coll(2, all_reduce, 8)})}) {
        std::string_view left = text;
        std::vector<ChakraFile> files{{"f", [&left](std::span<char> block) -> std::ptrdiff_t {
                                           const std::size_t got = left.copy(
                                               block.data(), std::min<std::size_t>(block.size(), 1));
                                           left.remove_prefix(got);
                                           return static_cast<std::ptrdiff_t>(got);
                                       }}};
        CHECK_EQUAL(read({text})->digest(), read_chakra(files, {}, {})->digest());
        for (const std::size_t most : {std::size_t{0}, text.size() / 2}) {
            left = std::string_view(text).substr(0, most);
            files[0].source = [&left](std::span<char> block) -> std::ptrdiff_t {
                const std::size_t got = left.copy(block.data(), block.size());
                left.remove_prefix(got);
                errno = EIO;
                return got == 0 ? -1 : static_cast<std::ptrdiff_t>(got);
            };
            STRCMP_EQUAL("f: the file cannot be read: Input/output error; do: name a file that may be read\n",
                         errors_of(read_chakra(files, {}, {})).c_str());
        }
    }
}

TEST(ChakraSchedule, TenErrorsAreToldAtMost) {
    Trace trace;
    for (std::uint64_t n = 0; n < 100; ++n) trace.push_back(works(n, 1ULL << 50U));
    CHECK_EQUAL(10, read_all({trace, trace}).error().size());
    Trace twins(100, works(1, 1));
    CHECK_EQUAL(10, read_all({twins}).error().size());
}

TEST(ChakraSchedule, ATraceIsKnownByItsFirstBytes) {
    for (const std::string& bytes :
         {as_protobuf({works(1, 5)}), as_protobuf({}), message(field(1, 7) + field(3, 4)),
          message(field(2, "a") + field(3, 4)), message("") + message(field(1, 7)), as_graph({}),
          as_messages({}), std::string("  {\n"), std::string("\xEF\xBB\xBF{"),
          message(field(2, field(1, "schema") + field(29, "1.0.1")))})
        CHECK(is_chakra_start(bytes));
    for (const std::string_view bytes :
         {"", "num_ranks 2\nrank 0 {\n", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8",
          "src,dst,size,start\n", "2\n0 1 3 100 1000 2\n0 2 3 100 1000 2\n0 3 3 100 1000 2\n", "Nodes 4\n",
          "\n\n\n\n", "[1, 2]", "\x1F\x8B\x08", "\x7F\x45LF\x02\x01\x01", "\xD4\xC3\xB2\xA1\x02"})
        CHECK(!is_chakra_start(bytes));
}

}  // namespace sluice::chakra_schedule_test
