#include "lib/buffer/fill_board.hh"

#include <tuple>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::fill_board_test {
namespace {

using Held = std::vector<std::tuple<PortId, ClassId, std::uint32_t>>;

Held held(const FillBoard& board, PortId port, ClassId group) {
    Held found;
    board.for_each(port, group, [&](PortId egress, ClassId queue, std::uint32_t cells) {
        found.emplace_back(egress, queue, cells);
    });
    return found;
}

}  // namespace

TEST_GROUP(FillBoard){};

TEST(FillBoard, holdsNothingAtFirst) {
    const FillBoard board(3);
    for (PortId port = 0; port < 3; ++port)
        for (ClassId group = 0; group < classes; ++group) CHECK_TRUE(held(board, port, group).empty());
}

TEST(FillBoard, everyPlaceIsItsOwn) {
    FillBoard board(3);
    std::uint32_t cells = 0;
    for (PortId in = 0; in < 3; ++in)
        for (ClassId group = 0; group < classes; ++group)
            for (PortId out = 0; out < 3; ++out)
                for (ClassId queue = 0; queue < classes; ++queue)
                    board.entered({in, group, out, queue}, ++cells);
    cells = 0;
    for (PortId in = 0; in < 3; ++in)
        for (ClassId group = 0; group < classes; ++group) {
            const Held found = held(board, in, group);
            LONGS_EQUAL(3 * classes, found.size());
            for (const auto& [out, queue, count] : found) LONGS_EQUAL(++cells, count);
        }
}

TEST(FillBoard, whatLeavesOrIsWithdrawnIsNotHeld) {
    FillBoard board(2);
    const FillPlace place{0, 3, 1, 4};
    board.entered(place, 10);
    board.withdrawn(place, 3);
    CHECK_TRUE(held(board, 0, 3) == (Held{{PortId{1}, ClassId{4}, 7U}}));
    board.left(place, 6);
    CHECK_TRUE(held(board, 0, 3) == (Held{{PortId{1}, ClassId{4}, 1U}}));
    board.left(place, 1);
    CHECK_TRUE(held(board, 0, 3).empty());
    CHECK_TRUE(held(board, 1, 3).empty());
}

TEST(FillBoard, tellsWhoFillsAQueue) {
    FillBoard board(3);
    board.entered({0, 3, 2, 4}, 10);
    board.entered({1, 3, 2, 4}, 20);
    board.left({1, 3, 2, 4}, 5);
    board.entered({1, 2, 2, 4}, 7);  // another group
    board.entered({0, 3, 2, 5}, 8);  // another queue
    board.entered({2, 3, 2, 4}, 9);
    board.left({2, 3, 2, 4}, 9);
    Held found;
    board.for_each_feeder(3, 2, 4, [&](PortId from, ClassId group, std::uint32_t cells) {
        found.emplace_back(from, group, cells);
    });
    CHECK_TRUE(found == (Held{{PortId{0}, ClassId{3}, 10U}, {PortId{1}, ClassId{3}, 15U}}));
}

}  // namespace sluice::fill_board_test
