#include "dataplane/run/thread_team.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::thread_team_test {

TEST_GROUP(ThreadTeam){};

// Also of more threads than there are cores, which sleep in between.
TEST(ThreadTeam, EachDoesItsPartOfEveryRoundAndAllSeeWhatOthersDidInTheRoundBefore) {
    constexpr unsigned rounds = 2000;
    for (const unsigned threads : {1U, 2U, 5U}) {
        std::vector<std::uint64_t> done[2] = {std::vector<std::uint64_t>(threads),
                                              std::vector<std::uint64_t>(threads)};
        unsigned round = 0;
        std::vector<unsigned> wrong(threads);
        ThreadTeam team(threads, [&](unsigned number) {
            for (const std::uint64_t before : done[(round + 1) % 2]) wrong[number] += before != round ? 1 : 0;
            done[round % 2][number] = round + 1;
        });
        LONGS_EQUAL(threads, team.threads());
        for (; round < rounds; ++round) team.run();
        for (const unsigned each : wrong) LONGS_EQUAL(0, each);
        for (const std::uint64_t each : done[(rounds - 1) % 2]) LONGS_EQUAL(rounds, each);
    }
}

}  // namespace sluice::thread_team_test
