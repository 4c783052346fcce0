#include "lib/threads/mailbox.hh"

#include <cstring>
#include <thread>

#include "CppUTest/TestHarness.h"

namespace sluice::frame_mailbox_test {
namespace {

using Box = FrameMailbox<unsigned>;

bool post(Box& box, unsigned number, std::uint32_t bytes) {
    Box::Slot* slot = box.claim();
    if (slot == nullptr) return false;
    slot->head = number;
    slot->bytes = bytes;
    std::memset(slot->data.data(), static_cast<int>(number & 0xFF), bytes);
    box.post();
    return true;
}

bool holds(const Box::Slot& slot, unsigned number, std::uint32_t bytes) {
    if (slot.head != number || slot.frame().size() != bytes) return false;
    for (const std::uint8_t byte : slot.frame())
        if (byte != (number & 0xFF)) return false;
    return true;
}

}  // namespace

TEST_GROUP(FrameMailbox){};

TEST(FrameMailbox, refusesWhatItHasNoSlotFor) {
    Box box(2);
    CHECK_TRUE(box.empty());
    POINTERS_EQUAL(nullptr, box.front());
    CHECK_TRUE(post(box, 1, 60));
    CHECK_TRUE(post(box, 2, max_frame_bytes));
    CHECK_FALSE(post(box, 3, 60));
    CHECK_TRUE(holds(*box.front(), 1, 60));
    box.pop();
    CHECK_TRUE(post(box, 4, 0));
    CHECK_TRUE(holds(*box.front(), 2, max_frame_bytes));
    box.pop();
    CHECK_TRUE(holds(*box.front(), 4, 0));
    box.pop();
    CHECK_TRUE(box.empty());
}

TEST(FrameMailbox, whatIsClaimedAndNotPostedIsNotThere) {
    Box box(1);
    CHECK_TRUE(box.claim() != nullptr);
    CHECK_TRUE(box.claim() != nullptr);  // the same one
    CHECK_TRUE(box.empty());
    CHECK_TRUE(post(box, 1, 1));
}

TEST(FrameMailbox, framesComeWholeAndInOrderFromAnotherThread) {
    constexpr unsigned frames = 3000;
    Box box(7);
    std::thread writer([&] {
        for (unsigned n = 0; n < frames;)
            if (post(box, n, n % 300))
                ++n;
            else
                std::this_thread::yield();
    });
    unsigned good = 0;
    for (unsigned n = 0; n < frames;) {
        const Box::Slot* slot = box.front();
        if (slot == nullptr) {
            std::this_thread::yield();
            continue;
        }
        good += holds(*slot, n, n % 300) ? 1 : 0;
        box.pop();
        ++n;
    }
    writer.join();
    LONGS_EQUAL(frames, good);
}

}  // namespace sluice::frame_mailbox_test
