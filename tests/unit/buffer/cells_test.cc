#include "lib/buffer/cells.hh"

#include <cstdint>

#include "CppUTest/TestHarness.h"

namespace sluice::cells_test {

static_assert(CellSize{256}.rounded_down(std::uint64_t{1} << 40) == std::nullopt,
              "a size is never cut to the bits of a count");
static_assert(CellSize{256}.cells(64) == 1 && CellSize{256}.cells(257) == 2 &&
              CellSize{144}.cells(9114) == 64);

TEST_GROUP(Cells){};

TEST(Cells, multiplicationIsTheDivisionForEveryFrame) {
    for (const std::uint32_t bytes :
         {64, 65, 96, 127, 144, 192, 208, 254, 255, 256, 509, 2048, 9999, 16'383, 16'384}) {
        const CellSize size(bytes);
        std::uint32_t wrong = 0;
        for (std::uint32_t frame = 1; frame <= 65'535; ++frame)
            wrong += size.cells(frame) != frame / bytes + (frame % bytes != 0);
        LONGS_EQUAL(0, wrong);
    }
}

TEST(Cells, promisesRoundUpAndLimitsRoundDown) {
    LONGS_EQUAL(2, *CellSize{254}.rounded_up(255));
    LONGS_EQUAL(1, *CellSize{254}.rounded_down(507));
    LONGS_EQUAL(0, *CellSize{254}.rounded_up(0));
}

TEST(Cells, aSizeBeyondAnyBufferIsNoCountOfCells) {
    for (const std::uint32_t bytes : {64, 254, 256, 2048}) {
        const CellSize size(bytes);
        const std::uint64_t most = std::uint64_t{sluice::max_buffer_cells} * bytes;
        UNSIGNED_LONGS_EQUAL(sluice::max_buffer_cells, *size.rounded_up(most));
        UNSIGNED_LONGS_EQUAL(sluice::max_buffer_cells, *size.rounded_down(most + bytes - 1));
        CHECK_FALSE(size.rounded_up(most + 1).has_value());
        CHECK_FALSE(size.rounded_down(most + bytes).has_value());
        CHECK_FALSE(size.rounded_up(UINT64_MAX).has_value());
        CHECK_FALSE(size.rounded_down(UINT64_MAX).has_value());
    }
}

TEST(Cells, aFrameOf64BytesIsOneCell) {
    for (const std::uint32_t bytes : {64, 96, 144, 192, 208, 254, 256})
        LONGS_EQUAL(1, CellSize{bytes}.cells(64));
}

}  // namespace sluice::cells_test
