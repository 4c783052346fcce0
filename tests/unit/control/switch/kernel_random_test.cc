// A mirror of the kernel's tables that loses messages is equal to the kernel's after each full dump.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/unit/control/switch/kernel_told.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::kernel_random_test {

using namespace sluice::kernel_messages;

TEST_GROUP(KernelTablesRandom){};

// Random notices, of which some are lost; after a full dump we have the kernel's tables.
TEST(KernelTablesRandom, losesNothingForGood) {
    std::uint64_t drawn = 0;
    const auto below = [&](std::uint64_t bound) { return draw({23, 7, 0, ++drawn}) % bound; };
    std::map<std::pair<IpPrefix, std::uint32_t>, KernelRoute> kernel;
    std::map<IpAddress, KernelNeighbor> known;
    const auto all = [&] {
        std::vector<KernelMessage> list;
        for (const auto& [key, each] : known) list.emplace_back(each);
        for (const auto& [key, each] : kernel) list.emplace_back(listed(each));
        return list;
    };
    Mirror mirror;
    for (unsigned turn = 0; turn < 300; ++turn) {
        const bool loses = below(3) == 0;
        for (std::uint64_t n = below(40); n > 0; --n) {
            KernelMessage notice;
            if (below(4) == 0) {
                const IpAddress at{
                    {10, 0, static_cast<std::uint8_t>(below(2)), static_cast<std::uint8_t>(below(4))}, false};
                KernelNeighbor each;
                each.index = static_cast<int>(3 + below(3));
                each.address = at;
                if (const auto there = known.find(at); there != known.end()) each.index = there->second.index;
                known.erase(at);
                if (below(3) != 0) {
                    each.mac = mac(static_cast<std::uint8_t>(below(4)));
                    known[at] = each;
                }
                notice = each;
            } else {
                KernelRoute each;
                each.prefix = {{{10, 9, static_cast<std::uint8_t>(below(6))}, false}, 24};
                each.metric = static_cast<std::uint32_t>(below(3));
                const auto there = kernel.find({each.prefix, each.metric});
                if (there != kernel.end() && below(2) == 0) {
                    each = gone(there->second);
                    kernel.erase(there);
                } else {
                    each.replaces = there != kernel.end();
                    for (std::uint64_t legs = 1 + below(3); legs > 0; --legs) {
                        KernelLeg leg{static_cast<int>(3 + below(3)), std::nullopt,
                                      static_cast<std::uint32_t>(1 + below(2))};
                        if (below(6) != 0)
                            leg.via = IpAddress{
                                {10, 0, static_cast<std::uint8_t>(below(2)), static_cast<std::uint8_t>(legs)},
                                false};
                        each.legs.push_back(leg);
                    }
                    kernel[{each.prefix, each.metric}] = each;
                    kernel[{each.prefix, each.metric}].replaces = false;
                }
                notice = each;
            }
            if (!loses || below(4) != 0) mirror.say(notice);
        }
        if (loses) mirror.told(all());
        Mirror wanted;
        wanted.told(all());
        CHECK_TRUE(wanted.given.what == mirror.given.what);
        CHECK_TRUE(wanted.tables.gateways().size() == mirror.tables.gateways().size());
    }
    mirror.told({});
    LONGS_EQUAL(0, mirror.given.what.size());
    LONGS_EQUAL(0, mirror.tables.gateways().size());
}

}  // namespace sluice::kernel_random_test
