// Which frames a mirror wants, and their order.
#include "lib/record/mirror.hh"

#include <algorithm>
#include <vector>

#include "lib/record/mirror_ring.hh"

#include <CppUTest/TestHarness.h>

namespace sluice::mirror_test {
namespace {

constexpr std::uint8_t class_3 = 1U << 3;

MirrorHead dropped(DropReason reason) {
    MirrorHead head;
    head.ingress = 1;
    head.reason = reason;
    head.of_classes = class_3;
    return head;
}

MirrorHead delayed(Duration waited) {
    MirrorHead head = dropped(DropReason::none);
    head.event = MirrorEvent::delay;
    head.egress = 2;
    head.waited = waited;
    return head;
}

MirrorFilter filter(MirrorEvent event) {
    MirrorFilter wanted;
    wanted.events = bit_of(event);
    return wanted;
}

}  // namespace

TEST_GROUP(Mirror) {
    MirrorFilter drops = filter(MirrorEvent::drop);
    MirrorHead drop = dropped(DropReason::queue_limit);
};

TEST(Mirror, WantsNothingUnlessToldSo) {
    CHECK_FALSE(MirrorFilter{}.wants(drop));
    CHECK(drops.wants(drop));
    CHECK_FALSE(drops.wants(delayed(seconds(1))));
    CHECK_FALSE(filter(MirrorEvent::pause).wants(drop));
}

TEST(Mirror, ChoosesByReason) {
    drops.reasons = std::uint64_t{1} << static_cast<unsigned>(DropReason::queue_limit);
    CHECK(drops.wants(drop));
    CHECK_FALSE(drops.wants(dropped(DropReason::no_route)));
}

TEST(Mirror, AReasonIsNoMatterOfAPause) {
    MirrorFilter pauses = filter(MirrorEvent::pause);
    pauses.reasons = 0;
    MirrorHead pause;
    pause.event = MirrorEvent::pause;
    pause.egress = 4;
    pause.of_classes = class_3 | 1U;
    CHECK(pauses.wants(pause));
    pauses.of_classes = 1U << 4;
    CHECK_FALSE(pauses.wants(pause));
    pauses.of_classes = class_3;
    CHECK(pauses.wants(pause));
}

TEST(Mirror, ChoosesByClass) {
    drops.of_classes = class_3;
    CHECK(drops.wants(drop));
    drops.of_classes = static_cast<std::uint8_t>(~class_3);
    CHECK_FALSE(drops.wants(drop));
}

TEST(Mirror, ChoosesByEitherPort) {
    drops.ports = PortMask{};
    drops.ports.add(2);
    CHECK_FALSE(drops.wants(drop));
    drop.egress = 2;
    CHECK(drops.wants(drop));
    drops.ports = PortMask{};
    drops.ports.add(1);
    CHECK(drops.wants(drop));
}

TEST(Mirror, WantsAPacketThatHasWaitedForAsLongAsSaid) {
    MirrorFilter delays = filter(MirrorEvent::delay);
    delays.min_wait = microseconds(10);
    CHECK(delays.wants(delayed(microseconds(10))));
    CHECK_FALSE(delays.wants(delayed(microseconds(10) - picoseconds(1))));
}

TEST(Mirror, PolicyAsksForWhatAnyMirrorWants) {
    MirrorPolicy policy;
    CHECK_FALSE(policy.wants(MirrorEvent::drop));
    MirrorFilter delays = filter(MirrorEvent::delay);
    delays.min_wait = microseconds(10);
    drops.min_wait = microseconds(1);  // of a mirror that shows no delay
    policy.set_mirror(0, drops, 64);
    policy.set_mirror(5, delays, 200);
    CHECK(policy.wants(MirrorEvent::drop));
    CHECK(policy.wants(MirrorEvent::delay));
    CHECK_FALSE(policy.wants(MirrorEvent::pause));
    LONGS_EQUAL(200, policy.bytes);
    CHECK(microseconds(10) == policy.min_wait);
    LONGS_EQUAL(1, policy.wanted_by(drop));
    LONGS_EQUAL(1U << 5, policy.wanted_by(delayed(microseconds(20))));
    LONGS_EQUAL(0, policy.wanted_by(delayed(microseconds(9))));
}

TEST(Mirror, OrderIsOneWhoeverCameFirst) {
    std::vector<MirrorHead> heads(5, drop);
    heads[1].sequence = 1;
    heads[2].ingress = 2;
    heads[3] = delayed({});
    heads[4].at = Time{1};
    auto turned = heads;
    std::reverse(turned.begin(), turned.end());
    const auto order = [](const MirrorHead& a, const MirrorHead& b) { return a.order() < b.order(); };
    std::stable_sort(turned.begin(), turned.end(), order);
    for (std::size_t n = 0; n < heads.size(); ++n) CHECK(heads[n].order() == turned[n].order());
}

TEST(Mirror, ARingHoldsAsManyFramesAsItHasSlots) {
    MirrorRing ring(2);
    for (unsigned n = 0; n < 2; ++n) {
        auto* slot = ring.frames.claim();
        CHECK(slot != nullptr);
        slot->head = drop;
        slot->head.sequence = n;
        slot->bytes = max_mirrored_bytes;
        ring.frames.post();
    }
    POINTERS_EQUAL(nullptr, ring.frames.claim());
    LONGS_EQUAL(0, ring.frames.front()->head.sequence);
    LONGS_EQUAL(max_mirrored_bytes, ring.frames.front()->frame().size());
    ring.frames.pop();
    LONGS_EQUAL(1, ring.frames.front()->head.sequence);
    CHECK(ring.frames.claim() != nullptr);
}

}  // namespace sluice::mirror_test
