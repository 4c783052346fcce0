// Sends and receives without a partner: never named where some order of events gives them one.
#include "control/fabric/schedule/unmatched_messages.hh"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::unmatched_messages_test {
namespace {

using namespace sluice::fabric;
using Operation = roce::Program::Operation;
using Kind = Operation::Kind;

struct Said {
    Kind kind;
    std::uint32_t rank, peer, tag, place;
};

Schedule schedule_of(const std::vector<Said>& operations, std::uint32_t ranks = 4) {
    Schedule schedule;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        ProgramMaker maker;
        for (const Said& each : operations)
            if (each.rank == rank)
                maker.add({.amount = 1,
                           .peer = each.peer,
                           .tag = each.tag,
                           .place = each.place,
                           .kind = each.kind});
        std::uint32_t circle = 0;
        schedule.programs.push_back(maker.finish(circle));
    }
    return schedule;
}

std::string notes_of(const std::vector<Said>& operations) {
    Schedule schedule = schedule_of(operations);
    note_unmatched(schedule, "node");
    return fmt::format("{}", fmt::join(schedule.notes, "\n"));
}

constexpr std::uint32_t any = Operation::any;

Said send(std::uint32_t from, std::uint32_t to, std::uint32_t tag, std::uint32_t place = 0) {
    return {Kind::send, from, to, tag, place};
}
Said receive(std::uint32_t rank, std::uint32_t from, std::uint32_t tag, std::uint32_t place = 0) {
    return {Kind::receive, rank, from, tag, place};
}

// How many receives find a send at most, in any order.
std::size_t most_matches(const std::vector<Said>& operations) {
    std::vector<Said> sends, receives;
    for (const Said& each : operations) (each.kind == Kind::send ? sends : receives).push_back(each);
    std::vector<std::size_t> of(sends.size(), receives.size());
    std::vector<bool> seen;
    const std::function<bool(std::size_t)> place = [&](std::size_t n) {
        const Said& wanted = receives[n];
        for (std::size_t at = 0; at < sends.size(); ++at) {
            const bool fits = sends[at].peer == wanted.rank &&
                              (wanted.peer == any || wanted.peer == sends[at].rank) &&
                              (wanted.tag == any || wanted.tag == sends[at].tag);
            if (!fits || seen[at]) continue;
            seen[at] = true;
            if (of[at] == receives.size() || place(of[at])) {
                of[at] = n;
                return true;
            }
        }
        return false;
    };
    std::size_t matches = 0;
    for (std::size_t n = 0; n < receives.size(); ++n) {
        seen.assign(sends.size(), false);
        matches += place(n) ? 1 : 0;
    }
    return matches;
}

std::size_t counted(const std::vector<std::string>& notes, std::string_view verb) {
    for (const std::string& note : notes)
        if (const std::size_t at = note.find(verb); at != note.npos)
            return std::stoul(note.substr(note.starts_with("at least ") ? 9 : 0));
    return 0;
}

struct Case {
    std::vector<Said> operations;
    std::string wanted;
};

}  // namespace

TEST_GROUP(UnmatchedMessages){};

TEST(UnmatchedMessages, ArePairedByTheirEndsAndTags) {
    const std::vector<Case> cases{
        {{}, ""},
        {{send(0, 1, 5), receive(1, 0, 5)}, ""},
        {{send(0, 1, 5, 7), send(0, 1, 5, 9), receive(1, 0, 5, 3)},
         "1 send has no receive: 1 of rank 0 to rank 1 (node 9)"},
        {{send(0, 1, 5, 9), send(0, 1, 5, 7), receive(1, 0, 5, 3)},
         "1 send has no receive: 1 of rank 0 to rank 1 (node 9)"},
        {{send(0, 1, 5, 7), receive(1, 0, 6, 3)},
         "1 receive has no send, so its rank waits for ever: 1 of rank 1 from rank 0 (node 3)\n"
         "1 send has no receive: 1 of rank 0 to rank 1 (node 7)"},
        {{send(0, 1, 5, 7), receive(1, 2, 5, 3), receive(1, 2, 5, 4)},
         "2 receives have no send, so their ranks wait for ever: 2 of rank 1 from rank 2 (node 4)\n"
         "1 send has no receive: 1 of rank 0 to rank 1 (node 7)"},
        {{send(0, 1, 1, 1), send(0, 2, 1, 2), send(0, 3, 1, 3), send(1, 0, 1, 4), send(2, 0, 1, 5)},
         "5 sends have no receive: 1 of rank 1 to rank 0 (node 4), 1 of rank 2 to rank 0 (node 5), 1 of rank "
         "0 "
         "to rank 1 (node 1), ..."}};
    for (const Case& each : cases) STRCMP_EQUAL(each.wanted.c_str(), notes_of(each.operations).c_str());
}

TEST(UnmatchedMessages, OfAnySourceOrTagTakeWhatOthersLeave) {
    const std::vector<Case> cases{
        {{send(0, 1, 5), receive(1, any, 5)}, ""},
        {{send(0, 1, 5), receive(1, 0, any)}, ""},
        {{send(0, 1, 5), send(2, 1, 6), receive(1, any, any), receive(1, 0, any)}, ""},
        {{send(0, 1, 5), receive(1, any, 6, 8)},
         "at least 1 receive has no send, so its rank waits for ever: 1 of rank 1 from any rank (node 8)\n"
         "at least 1 send has no receive: 1 of rank 0 to rank 1 (node 0)"},
        {{send(0, 1, 5), receive(1, 0, 5), receive(1, 0, any, 8)},
         "at least 1 receive has no send, so its rank waits for ever: 1 of rank 1 from rank 0 (node 8)"},
        {{send(0, 1, 5, 2), send(2, 1, 5, 3), receive(1, any, any)},
         "at least 1 send has no receive: 1 of rank 2 to rank 1 (node 3)"},
        {{send(0, 1, 5), receive(1, 0, any), receive(1, any, 5), receive(1, any, any, 4)},
         "at least 2 receives have no send, so their ranks wait for ever: 2 of rank 1 from any rank (node "
         "4)"},
        {{send(0, 1, 5, 7), receive(1, 2, any, 8)},
         "at least 1 receive has no send, so its rank waits for ever: 1 of rank 1 from rank 2 (node 8)\n"
         "at least 1 send has no receive: 1 of rank 0 to rank 1 (node 7)"},
        {{send(0, 1, 5, 2), send(2, 1, 5, 3), send(2, 1, 6, 4), receive(1, 2, 6), receive(1, any, any)},
         "at least 1 send has no receive: 1 of rank 2 to rank 1 (node 3)"},
        {{send(0, 1, 5, 1), send(0, 2, 5, 2), send(1, 2, 5, 3), receive(2, any, any)},
         "at least 2 sends have no receive: 1 of rank 0 to rank 1 (node 1), 1 of rank 1 to rank 2 (node 3)"},
        {{receive(1, 0, any, 1), receive(2, any, 5, 2), receive(2, 0, any, 3), send(0, 2, 5)},
         "at least 2 receives have no send, so their ranks wait for ever: 1 of rank 1 from rank 0 (node 1), "
         "1 of rank 2 from any rank (node 2)"},
        {{send(0, 1, 5), receive(1, any, 5), send(0, 2, 5, 6)},
         "at least 1 send has no receive: 1 of rank 0 to rank 2 (node 6)"}};
    for (const Case& each : cases) STRCMP_EQUAL(each.wanted.c_str(), notes_of(each.operations).c_str());
}

// No more than the best of all orders leaves over; without receives of any exactly so many.
TEST(UnmatchedMessages, AreNoMoreThanTheBestOrderLeaves) {
    std::uint64_t seed = 1;
    const auto drawn = [&](std::uint32_t below) {
        seed = scramble(seed);
        return static_cast<std::uint32_t>(seed % below);
    };
    std::size_t named = 0;
    for (unsigned run = 0; run < 3000; ++run) {
        const bool with_wild = run % 3 != 0;
        std::vector<Said> operations;
        std::size_t sends = 0;
        for (std::uint32_t left = drawn(14); left-- > 0;) {
            const std::uint32_t rank = drawn(3), peer = (rank + 1 + drawn(2)) % 3, tag = drawn(2);
            const bool is_send = drawn(2) == 0;
            sends += is_send ? 1 : 0;
            if (is_send)
                operations.push_back(send(rank, peer, tag));
            else
                operations.push_back(receive(rank, with_wild && drawn(3) == 0 ? any : peer,
                                             with_wild && drawn(3) == 0 ? any : tag));
        }
        Schedule schedule = schedule_of(operations, 3);
        note_unmatched(schedule, "node");
        const std::size_t matches = most_matches(operations), receives = operations.size() - sends;
        const std::size_t lone_sends = counted(schedule.notes, "no receive:");
        const std::size_t lone_receives = counted(schedule.notes, "no send,");
        CHECK(lone_sends <= sends - matches);
        CHECK(lone_receives <= receives - matches);
        if (!with_wild) {
            CHECK_EQUAL(sends - matches, lone_sends);
            CHECK_EQUAL(receives - matches, lone_receives);
        }
        named += lone_sends + lone_receives;
    }
    CHECK(named > 1000);
}

}  // namespace sluice::unmatched_messages_test
