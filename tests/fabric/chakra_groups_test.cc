// Groups of ranks in Chakra traces, and one trace for all ranks.
#include "tests/fabric/chakra_traces.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::chakra_groups_test {

using namespace sluice::chakra_traces;

TEST_GROUP(ChakraGroups){};

TEST(ChakraGroups, ATraceSaysItsGroupsAndAFileOfGroupsCountsMore) {
    const std::string list =
        R"(['[{"pg_name": "0", "backend_id": 8, "ranks": [], "group_size": 2, "more": [[1], {"ranks": [3]}]}, {"pg_name": 5, "ranks": [1, 0]}]'])";
    const std::vector<Trace> traces{
        {coll(2, all_reduce, 8, "5"), defines(3, list), coll(4, all_gather, 8, "0")},
        {defines(1, list), coll(2, all_reduce, 8, "5"), coll(4, all_gather, 8)}};
    STRCMP_EQUAL(
        "2 collective@0 8; 3 no 0us; 4 collective@1 16 | 1 no 0us; 2 collective@0 8; 4 collective@1 16 "
        "[all-reduce of "
        "group 5 (0) 1,0] [all-gather of all ranks (3) 0,1]",
        shown(read_all(traces)).c_str());
    STRCMP_CONTAINS("[all-reduce of group 5 (0) 0,1]", shown(read_all(traces, R"({"5": [0, 1]})")).c_str());
    // The same name, other ranks: each trace knows its own group.
    const auto own = [&](std::string ranks) -> Trace {
        return {defines(1, fmt::format(R"([{{"pg_name": "5", "ranks": [{}]}}])", ranks)),
                coll(2, all_reduce, 8, "5")};
    };
    STRCMP_CONTAINS("[all-reduce of group 5 and 1 other (0) 0,1 2,3]",
                    shown(read_all({own("0, 1"), own("0, 1"), own("2, 3"), own("2, 3")})).c_str());
}

TEST(ChakraGroups, OneTraceServesAllRanks) {
    ScheduleSettings settings;
    settings.ranks = 3;
    const std::string bytes = as_protobuf({works(1, 5), coll(2, all_gather, 8)});
    const auto schedule = read({bytes}, {}, settings);
    CHECK(schedule.has_value());
    CHECK_EQUAL(3, schedule->programs.size());
    CHECK(schedule->programs[0] == schedule->programs[2]);
    STRCMP_EQUAL("1 gpu 5us; 2 collective@0 24", shown(*schedule->programs[1]).c_str());
    CHECK_EQUAL(3 * 24, schedule->bytes());
    // Metadata may be missing, or empty.
    CHECK_EQUAL(schedule->digest(), read({bytes.substr(version().size())}, {}, settings)->digest());
    CHECK_EQUAL(schedule->digest(),
                read({message("") + bytes.substr(version().size())}, {}, settings)->digest());
    settings.ranks = 1;
    STRCMP_EQUAL("1 gpu 5us; 2 no 0us",
                 shown(read_all({{works(1, 5), coll(2, all_gather, 8)}}, {}, settings)).c_str());
    std::vector<ChakraFile> files(3, ChakraFile{"a", TextLines::source_of("")});
    settings.ranks = 2;
    STRCMP_EQUAL("a: there are 3 traces, and 2 ranks; do: name a trace for each rank\n",
                 errors_of(read_chakra(files, {}, settings)).c_str());
    STRCMP_EQUAL("traces: there is no trace; do: name a trace for each rank\n", errors_of(read({})).c_str());
}

TEST(ChakraGroups, MoreThan1024CommunicationsAreRefused) {
    Trace trace;
    for (unsigned n = 0; n < 1025; ++n) trace.push_back(rooted(n, broadcast, 8, n));
    ScheduleSettings settings;
    settings.ranks = 2000;
    STRCMP_EQUAL(
        "0: node 1024 needs one more than 1024 groups with common ranks or roots; do: leave some of the "
        "collectives "
        "out\n",
        errors_of(read_all({trace}, {}, settings)).c_str());
}

}  // namespace sluice::chakra_groups_test
