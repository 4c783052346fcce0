#include "control/serve/server/budget.hh"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <vector>

#include "control/serve/server/rendering.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::budget_test {

using namespace std::chrono_literals;

// A loop whose clients never stop asking.
TEST_GROUP(Budget) {
    boost::asio::io_context io;
    Budget::Clock::time_point clock{};
    std::vector<unsigned> turns;

    Budget budget(unsigned handlers, std::chrono::microseconds time) {
        return Budget({handlers, time}, [this] { return clock; });
    }
    // A client that asks for the next turn after each.
    void ask_on(unsigned client, std::chrono::microseconds takes = 0us) {
        boost::asio::post(io, [this, client, takes] {
            if (client >= turns.size()) turns.resize(client + 1);
            ++turns[client];
            clock += takes;
            ask_on(client, takes);
        });
    }
};

TEST(Budget, ARoundOfAFloodEndsAfterItsHandlers) {
    Budget rounds = budget(64, 1h);
    for (unsigned client = 0; client < 100; ++client) ask_on(client);
    for (unsigned round = 1; round <= 10; ++round) {
        rounds.serve(io, 1ms);
        LONGS_EQUAL(round, rounds.account().rounds);
        LONGS_EQUAL(64 * round, rounds.account().handlers);
        LONGS_EQUAL(round, rounds.account().used_up);
    }
    LONGS_EQUAL(64, rounds.account().most_handlers);
}

TEST(Budget, BeginsNoHandlerAfterItsTime) {
    Budget rounds = budget(64, 2ms);
    ask_on(0, 500us);
    rounds.serve(io, 0us);
    LONGS_EQUAL(4, turns[0]);
    rounds.serve(io, 0us);
    LONGS_EQUAL(8, turns[0]);
    LONGS_EQUAL(2, rounds.account().used_up);
}

TEST(Budget, OneHandlerMayBeLongerThanTheRoundAndEndsIt) {
    Budget rounds = budget(64, 2ms);
    ask_on(0, 1s);
    rounds.serve(io, 0us);
    LONGS_EQUAL(1, turns[0]);
}

TEST(Budget, ClientsTakeTurns) {
    Budget rounds = budget(64, 1h);
    for (unsigned client = 0; client < 8; ++client) ask_on(client);
    for (unsigned round = 0; round < 10; ++round) rounds.serve(io, 0us);
    for (const unsigned had : turns) LONGS_EQUAL(80, had);
    // A newcomer waits for one turn of each client that was there.
    bool served = false;
    boost::asio::post(io, [&] { served = true; });
    rounds.serve(io, 0us);
    CHECK_TRUE(served);
}

TEST(Budget, AQuietRoundLeavesNothing) {
    const auto guard = boost::asio::make_work_guard(io);
    Budget rounds = budget(64, 1h);
    unsigned done = 0;
    for (unsigned n = 0; n < 3; ++n) boost::asio::post(io, [&] { ++done; });
    rounds.serve(io, 1us);
    rounds.serve(io, 1us);
    LONGS_EQUAL(3, done);
    LONGS_EQUAL(2, rounds.account().rounds);
    LONGS_EQUAL(3, rounds.account().handlers);
    LONGS_EQUAL(0, rounds.account().used_up);
}

TEST_GROUP(Rendering) {
    Rendering rendering;
    unsigned made = 0;
    Rendering::Clock::time_point now{};

    std::string at(const Rendering::Mark& mark) {
        return *rendering.at(mark, now, [this] { return std::to_string(++made); });
    }
};

TEST(Rendering, IsMadeOnceForAllWhoAskInATime) {
    for (unsigned n = 0; n < 1000; ++n) STRCMP_EQUAL("1", at({7, 3, {}}).c_str());
    now += Rendering::lifetime - 1ns;
    STRCMP_EQUAL("1", at({7, 3, {}}).c_str());
    now += 1ns;
    STRCMP_EQUAL("2", at({7, 3, {}}).c_str());
    LONGS_EQUAL(2, made);
}

TEST(Rendering, IsThrownAwayByAChangeAnEventAndTheVirtualClock) {
    STRCMP_EQUAL("1", at({7, 3, {}}).c_str());
    STRCMP_EQUAL("2", at({8, 3, {}}).c_str());
    STRCMP_EQUAL("3", at({8, 4, {}}).c_str());
    STRCMP_EQUAL("4", at({8, 4, Time{} + microseconds(1)}).c_str());
    STRCMP_EQUAL("4", at({8, 4, Time{} + microseconds(1)}).c_str());
}

TEST(Rendering, StaysWithWhoStillReadsIt) {
    const auto old = rendering.at({1, 0, {}}, now, [] { return std::string("old"); });
    at({2, 0, {}});
    STRCMP_EQUAL("old", old->c_str());
}

}  // namespace sluice::budget_test
