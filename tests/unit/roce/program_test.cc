// Programs of ranks: streams, matching, rendezvous, the NIC's turns, collectives, and times that add up.
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/roce/program_world.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::program_test {

TEST_GROUP(Program){};

TEST(Program, MessageTakesOverheadsWireAndLatency) {
    World world({program({send(1000, 1)}), program({receive(1000, 0)})}, {.overhead = nanoseconds(500)});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL(500 + wire_ns(1000) + 500, world.ended_ns(1));
    LONGS_EQUAL(500, world.ended_ns(0));
    LONGS_EQUAL((500 + wire_ns(1000) + latency_ns) * 1000, (world.now - Time{}).ps);
}

TEST(Program, PingPongAddsUp) {
    World world({program({send(10, 1, 1), receive(10, 1, 2)}, {{1, 0}}),
                 program({receive(10, 0, 1), send(10, 0, 2)}, {{1, 0}})},
                {.overhead = nanoseconds(300)});
    world.run();
    LONGS_EQUAL(2 * (300 + wire_ns(10) + 300), world.ended_ns(0));
}

TEST(Program, StreamDoesOneThingAtATime) {
    World world(
        {program({compute(nanoseconds(100)), compute(nanoseconds(200)), compute(nanoseconds(50), 1)})});
    world.run();
    LONGS_EQUAL(300, world.ended_ns(0));
    LONGS_EQUAL(300'000, world.ranks[0].figures(world.now).compute.ps);
}

TEST(Program, SendWaitsForComputationOfItsStream) {
    for (const std::uint16_t stream : {0, 1}) {
        World world({program({compute(nanoseconds(700)), send(10, 1, 0, stream)}, {{1, 0, true}}),
                     program({receive(10, 0)})});
        world.run();
        LONGS_EQUAL((stream == 0 ? 700 : 0) + wire_ns(10), world.ended_ns(1));
    }
}

TEST(Program, SendsGoBeforeComputationsThatAreReadyWithThem) {
    World world({program({compute(nanoseconds(700)), send(10, 1)}), program({receive(10, 0)})});
    world.run();
    LONGS_EQUAL(wire_ns(10), world.ended_ns(1));
}

TEST(Program, BeginOfAnotherIsEnoughForIrequires) {
    for (const bool until_begun : {false, true}) {
        World world(
            {program({compute(nanoseconds(400)), compute(nanoseconds(10), 1)}, {{1, 0, until_begun}})});
        world.run();
        LONGS_EQUAL(until_begun ? 400 : 410, world.ended_ns(0));
    }
}

// The third waits for the begin of the short one and for the end of the long one.
TEST(Program, EndOfTheOneDoesNotStandForThatOfTheOther) {
    World world(
        {program({compute(nanoseconds(10)), compute(nanoseconds(1000), 1), compute(nanoseconds(5), 2)},
                 {{2, 0, true}, {2, 1}})});
    world.run();
    LONGS_EQUAL(1005, world.ended_ns(0));
}

TEST(Program, CollectivesOfAGroupTakeTurns) {
    const Operation all{100, 3, 0, 0, 0, Kind::collective};
    const auto programs =
        std::make_shared<const Programs>(Programs{program({all, all, compute(nanoseconds(7))}, {{2, 1}})});
    ProgramRank rank({.programs = programs, .collectives = {{3, 5}}});
    rank.expire(Time{});
    CHECK(rank.next_collective() == 5U);
    CHECK(!rank.next_collective());
    rank.collective_ended(5, false, Time{100});
    CHECK(rank.next_collective() == 5U);
    LONGS_EQUAL(1, rank.waiting().front());
    rank.collective_ended(5, false, Time{300});
    CHECK(!rank.next_collective());
    LONGS_EQUAL(7300, rank.next_timer()->ps);
    rank.expire(Time{7300});
    CHECK(rank.state() == ProgramRank::State::done);
    LONGS_EQUAL(300, rank.figures(Time{9000}).exposed.ps);
}

TEST(Program, FailedCollectiveFailsTheRank) {
    const Operation all{100, 0, 0, 0, 0, Kind::collective};
    const auto programs = std::make_shared<const Programs>(Programs{program({all, all})});
    ProgramRank rank({.programs = programs, .collectives = {{0, 0}}});
    rank.expire(Time{});
    CHECK(rank.next_collective() == 0U);
    rank.collective_ended(0, true, Time{100});
    CHECK(rank.state() == ProgramRank::State::failed);
    CHECK(rank.failed_operation() == 0U);
    CHECK(!rank.next_collective());
}

TEST(Program, GapAndTimePerByteHoldTheNextMessage) {
    World world(
        {program({send(101, 1, 1), send(50, 1, 2)}), program({receive(101, 0, 1), receive(50, 0, 2)})},
        {.overhead = {}, .gap = nanoseconds(900), .per_byte = nanoseconds(3)});
    world.run();
    // The second leaves g + 100 G after the first, and the receiver takes it so much after the first, which
    // is later: the second is shorter.
    LONGS_EQUAL(wire_ns(101) + 900 + 300, world.ended_ns(1));
}

TEST(Program, GapHoldsMessagesThatCome) {
    // Two senders at once: the receiver takes the second a gap after the first.
    World world({program({send(1, 2)}), program({send(1, 2)}), program({receive(1, 0), receive(1, 1)})},
                {.overhead = {}, .gap = nanoseconds(5000), .per_byte = {}});
    world.run();
    LONGS_EQUAL(latency_ns + 5000, world.ended_ns(2));
}

TEST(Program, UnexpectedMessageIsHandledMeanwhile) {
    World world({program({send(10, 1)}), program({compute(nanoseconds(9000), 1), receive(10, 0)}, {{1, 0}})},
                {.overhead = nanoseconds(500)});
    world.run();
    LONGS_EQUAL(9000, world.ended_ns(1));
}

TEST(Program, MatchesByTagInPostedOrder) {
    // The second tag is awaited first: its message lets the rank go on.
    World world(
        {program({send(1000, 1, 7), send(10, 1, 8)}),
         program({receive(10, 0, 8), compute(nanoseconds(50)), receive(1000, 0, 7)}, {{1, 0}, {2, 1}})});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL(wire_ns(1010) + 50, world.ended_ns(1));
}

TEST(Program, AnySourceTakesWhatComesFirst) {
    constexpr std::uint32_t any = Operation::any;
    // Rank 2 answers the first that comes; only rank 1 gets an answer.
    World world({program({compute(nanoseconds(500)), send(1, 2, 4)}, {{1, 0}}),
                 program({send(1, 2, 5), receive(1, 2, 9)}),
                 program({receive(1, any, any), send(1, 1, 9), receive(1, 0, any)}, {{1, 0}, {2, 0}})});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL(2 * wire_ns(1), world.ended_ns(1));
}

TEST(Program, WildcardsAndExactReceivesKeepPostedOrder) {
    constexpr std::uint32_t any = Operation::any;
    // Posted: (0, any), (0, 3), (any, 3). Messages of tags 3, 3, 3 find them in that order.
    std::vector<Operation> receives{receive(1, 0, any), receive(1, 0, 3), receive(1, any, 3)};
    World world({program({send(1, 1, 3), send(1, 1, 3), send(1, 1, 3)}), program(receives)});
    world.run();
    CHECK(world.done());
    // A message of another tag finds only the first.
    World other({program({send(1, 1, 6), send(1, 1, 3), send(1, 1, 3)}), program(receives)});
    other.run();
    CHECK(other.done());
    // Without it one of tag 6 has no receive, and a receive waits for ever.
    World stuck({program({send(1, 1, 3), send(1, 1, 6), send(1, 1, 3)}), program(receives)});
    stuck.run();
    CHECK(!stuck.done());
    LONGS_EQUAL(1, stuck.ranks[1].waiting().size());
    LONGS_EQUAL(2, stuck.ranks[1].waiting().front());
    CHECK(stuck.ranks[1].is_idle());
}

TEST(Program, RendezvousWaitsForTheReceive) {
    constexpr std::uint64_t bytes = 10'000;
    World world({program({send(bytes, 1), compute(nanoseconds(1))}, {{1, 0}}),
                 program({compute(nanoseconds(20'000)), receive(bytes, 0)}, {{1, 0}})},
                {}, bytes - 1);
    world.run();
    CHECK(world.done());
    const std::int64_t cleared = 20'000 + wire_ns(ProgramRank::handshake_bytes);
    LONGS_EQUAL(cleared + wire_ns(bytes), world.ended_ns(1));
    LONGS_EQUAL(cleared + wire_ns(bytes) + latency_ns + 1, world.ended_ns(0));
    LONGS_EQUAL(3, world.posted);
    LONGS_EQUAL(bytes + 2 * ProgramRank::handshake_bytes, world.posted_bytes);
    World eager({program({send(bytes, 1)}), program({receive(bytes, 0)})}, {}, bytes);
    eager.run();
    LONGS_EQUAL(1, eager.posted);
}

TEST(Program, RendezvousKeepsTheOrderOfMessages) {
    // A large and a small message of one tag: the first receive gets the large one.
    constexpr std::uint64_t bytes = 10'000;
    World world({program({send(bytes, 1), send(1, 1)}),
                 program({receive(bytes, 0), compute(nanoseconds(1)), receive(1, 0)}, {{1, 0}, {2, 0}})},
                {}, bytes - 1);
    world.run();
    CHECK(world.done());
    CHECK(world.ended_ns(1) >= wire_ns(bytes));
}

TEST(Program, LargeMessageGoesInParts) {
    constexpr std::uint64_t bytes = (std::uint64_t{5} << 29) + 1;  // 2.5 GiB
    World world({program({send(bytes, 1)}), program({receive(bytes, 0)})});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL(3, world.posted);
    CHECK(world.posted_bytes == bytes);
}

TEST(Program, MessageToItselfTakesOverheadsAlone) {
    for (const std::uint64_t eager : {std::uint64_t{1}, UINT64_MAX}) {
        World world({program({send(5000, 0), receive(5000, 0)})}, {.overhead = nanoseconds(300)}, eager);
        world.run();
        CHECK(world.done());
        LONGS_EQUAL(600, world.ended_ns(0));
        LONGS_EQUAL(0, world.posted);
    }
}

// They wait for a computation, and then follow each other without a time between.
TEST(Program, ManyMessagesToItselfTakeNoStack) {
    constexpr std::uint32_t count = 200'000;
    std::vector<Operation> operations{compute(nanoseconds(10))};
    for (std::uint32_t n = 1; n <= count; ++n) operations.push_back(send(1, 0));
    auto linked = std::make_shared<Program>(*program(operations));
    for (std::uint32_t n = 1; n <= count; ++n) {
        linked->next.push_back({n, 1});
        linked->waits[n] = 1;
    }
    linked->first.assign(count + 2, count);
    linked->first[0] = 0;
    World world({linked});
    world.run();
    LONGS_EQUAL(10, world.ended_ns(0));
}

TEST(Program, ManySendsTakeTheNicInTurn) {
    constexpr std::uint32_t count = 20'000;
    World world({program(std::vector<Operation>(count, send(1, 1))),
                 program(std::vector<Operation>(count, receive(1, 0)))},
                {.overhead = {}, .gap = nanoseconds(7), .per_byte = {}});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL((count - 1) * 7, world.ended_ns(0));
}

TEST(Program, ManyMessagesWaitForRoom) {
    std::vector<Operation> sends(100, send(1, 1)), receives(100, receive(1, 0));
    World world({program(sends), program(receives)});
    world.run();
    CHECK(world.done());
    LONGS_EQUAL(100, world.posted);
}

TEST(Program, TimesOfARankAddUp) {
    // Computes 1000 while it waits for a message, then waits for the rest of its time.
    World world({program({compute(nanoseconds(5000)), send(10, 1)}, {{1, 0}}),
                 program({receive(10, 0), compute(nanoseconds(1000), 1)})});
    world.run();
    const ProgramRank::Figures figures = world.ranks[1].figures(world.now);
    LONGS_EQUAL(1000'000, figures.compute.ps);
    LONGS_EQUAL(1000'000, figures.hidden.ps);
    LONGS_EQUAL((5000 + wire_ns(10) - 1000) * 1000, figures.exposed.ps);
    LONGS_EQUAL(1, world.ranks[1].slowest().size());
    CHECK(world.ranks[1].slowest()[0].waited == figures.exposed);
}

TEST(Program, WaitIsForTheOperationThatEndsNext) {
    // Both receives begin at once; the second comes 3 us after the first.
    World world({program({send(10, 1, 1), compute(nanoseconds(3000)), send(10, 1, 2)}, {{1, 0}, {2, 1}}),
                 program({receive(10, 0, 2), receive(10, 0, 1)})});
    world.run();
    const auto slowest = world.ranks[1].slowest();
    LONGS_EQUAL(2, slowest.size());
    LONGS_EQUAL(0, slowest[0].operation);
    LONGS_EQUAL(3000, slowest[0].waited.ps / 1000);
    LONGS_EQUAL(wire_ns(10), slowest[1].waited.ps / 1000);
}

TEST(Program, FailedMessageEndsTheRank) {
    World world({program({send(10, 1), compute(nanoseconds(1))}, {{1, 0}}), program({receive(10, 0)})});
    world.fails = true;
    world.run();
    CHECK(world.ranks[0].state() == ProgramRank::State::failed);
    CHECK(world.ranks[0].failed_operation() == 0U);
    CHECK(world.ranks[0].figures(world.now).compute ==
          world.ranks[0].figures(world.now + seconds(1)).compute);
    CHECK(world.ranks[1].state() == ProgramRank::State::running);
}

TEST(Program, EmptyProgramIsDoneAtItsStart) {
    World world({program({})});
    world.run();
    LONGS_EQUAL(0, world.ended_ns(0));
}

// Random graphs of messages: no rank begins an operation before what it waits for, and all end.
TEST(Program, RandomGraphsEnd) {
    std::uint64_t state = 1;
    const auto draw = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>((state >> 33) % below);
    };
    for (unsigned round = 0; round < 200; ++round) {
        const std::uint32_t count = 2 + draw(5);
        std::vector<std::vector<Operation>> operations(count);
        std::vector<std::vector<Edge>> edges(count);
        // A global order of messages; each end waits for some of what its rank did before, so none waits for
        // ever.
        for (unsigned message = 0; message < 60; ++message) {
            const std::uint32_t from = draw(count), to = (from + 1 + draw(count - 1)) % count, tag = draw(3);
            const std::uint64_t bytes = 1 + draw(2000);
            const auto add = [&](std::uint32_t rank, Operation own) {
                own.stream = static_cast<std::uint16_t>(draw(2));
                operations[rank].push_back(own);
                const auto n = static_cast<std::uint32_t>(operations[rank].size() - 1);
                if (n == 0) return;
                edges[rank].push_back({n, n - 1, draw(2) == 0});
                if (const std::uint32_t other = draw(n); other != n - 1) edges[rank].push_back({n, other});
            };
            add(from, send(bytes, to, tag));
            add(to, receive(bytes, from, tag));
            if (draw(3) == 0) add(from, compute(nanoseconds(draw(3000))));
        }
        Programs programs;
        for (std::uint32_t rank = 0; rank < count; ++rank)
            programs.push_back(program(operations[rank], edges[rank]));
        World world(std::move(programs), {nanoseconds(draw(400)), nanoseconds(draw(400)), {}},
                    draw(2) == 0 ? UINT64_MAX : 500);
        world.run();
        CHECK_TEXT(world.done(), std::to_string(round).c_str());
        for (const ProgramRank& each : world.ranks) CHECK(each.waiting().empty() && each.is_idle());
    }
}

}  // namespace sluice::program_test
