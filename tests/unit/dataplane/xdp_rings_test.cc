#include "dataplane/ports/bpf/xdp_rings.hh"

#include <algorithm>

// Last: it redefines `new`.
#include "CppUTest/TestHarness.h"

using namespace sluice;

namespace {

using Places = std::vector<std::uint64_t>;

// Eight slots; `held` are those from `consumer` on.
XdpRing ring(std::uint32_t consumer, const Places& held) {
    XdpRing made{consumer + static_cast<std::uint32_t>(held.size()), consumer, Places(8, 0xDEAD)};
    for (std::uint32_t n = 0; n < held.size(); ++n) made.slots[(consumer + n) & 7U] = held[n];
    return made;
}

// Its entries at positions before its consumer's.
XdpRing after(XdpRing made, const Places& past) {
    for (std::uint32_t n = 0; n < past.size(); ++n)
        made.slots[(made.consumer - past.size() + n) & 7U] = past[n];
    return made;
}

void holds(const Places& wanted, const XdpRings& rings) {
    const Places found = packets_in(rings).places;
    CHECK_TRUE(found == wanted);
}

}  // namespace

TEST_GROUP(XdpRings){};

TEST(XdpRings, nothingIsInRingsThatAreNotThere) {
    holds({}, {});
    LONGS_EQUAL(0, packets_in({}).to_receive);
}

TEST(XdpRings, whatTheKernelWasToFillAndWhatItHasFilled) {
    XdpRings rings;
    rings.fill = ring(6, {100, 200, 300});
    rings.receive = ring(0xFFFF'FFFF, {400, 500});
    holds({100, 200, 300, 400, 500}, rings);
    LONGS_EQUAL(5, packets_in(rings).to_receive);
}

TEST(XdpRings, theOffsetOfTheDataIsNoPartOfThePlace) {
    XdpRings rings;
    rings.receive = ring(0, {100 | std::uint64_t{384} << 48});
    rings.completion = ring(5, {200 | std::uint64_t{128} << 48});
    rings.transmit = ring(6, {});
    holds({100, 200}, rings);
    LONGS_EQUAL(1, packets_in(rings).to_receive);
}

TEST(XdpRings, positionsThatMakeNoSenseAreNotFollowed) {
    XdpRings rings;
    rings.fill = ring(0, {100});
    rings.fill.producer = 9;  // of eight slots
    rings.transmit = ring(0, {200});
    rings.completion = ring(2, {});  // more sent than was to be sent
    holds({}, rings);
}

TEST(XdpRings, whatIsSentAndWhatIsYetToBe) {
    XdpRings rings;
    rings.transmit = ring(10, {300, 400, 500});
    rings.completion = after(ring(8, {100, 200}), {100, 200});  // 8 and 9 of ten
    holds({100, 200, 300, 400, 500}, rings);
}

// The kernel tells how far it has read when it has read all: of five to be sent two have been, and are free.
TEST(XdpRings, whatTheDriverHasFreedIsNotFreedAgain) {
    XdpRings rings;
    rings.transmit = ring(10, {100, 200, 300, 400, 500});
    rings.completion = after(ring(12, {}), {100, 200});
    holds({300, 400, 500}, rings);
}

TEST(XdpRings, whatIsToldTwiceIsOnce) {
    XdpRings rings;
    rings.transmit = ring(10, {100, 200, 300});
    rings.completion = ring(10, {100, 200});  // not yet freed
    holds({100, 200, 300}, rings);
}

// Sent out of order: the first is under way still. Which one it is cannot be told by numbers, so a packet
// that was completed lately stays out.
TEST(XdpRings, whatMayBeFreeStaysOut) {
    XdpRings rings;
    rings.transmit = ring(10, {100, 200, 300});
    rings.completion = after(ring(12, {}), {300, 200});
    holds({}, rings);
}
