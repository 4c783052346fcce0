#include "lib/clock/calendar.hh"

#include <CppUTest/TestHarness.h>

#include <vector>

#include "lib/values/rng.hh"

namespace sluice::port_alarms_test {
namespace {

std::vector<unsigned> due_of(const PortAlarms& alarms, Time now) {
    PortSet mask;
    alarms.add_due(mask, now);
    std::vector<unsigned> ports;
    mask.for_each([&](PortId id) { ports.push_back(id); });
    return ports;
}

}  // namespace

TEST_GROUP(PortAlarms){};

TEST(PortAlarms, isDueFromItsMomentOn) {
    PortAlarms alarms(3, Time{100});
    alarms.set(1, Time{50});
    CHECK(due_of(alarms, Time{49}).empty());
    CHECK((due_of(alarms, Time{50}) == std::vector<unsigned>{1}));
    CHECK((due_of(alarms, Time{99}) == std::vector<unsigned>{1}));
    CHECK((due_of(alarms, Time{100}) == std::vector<unsigned>{0, 1, 2}));
}

TEST(PortAlarms, saysHowFarTheEarliestIs) {
    PortAlarms alarms(3, Time{100});
    LONGS_EQUAL(100, alarms.until_earliest(Time{0}, Duration{1000}).ps);
    LONGS_EQUAL(60, alarms.until_earliest(Time{0}, Duration{60}).ps);
    alarms.set(2, Time{40});
    LONGS_EQUAL(40, alarms.until_earliest(Time{0}, Duration{1000}).ps);
    LONGS_EQUAL(-5, alarms.until_earliest(Time{45}, Duration{1000}).ps);
}

// As moments one by one are compared, across the wrap of Time and whatever the number of ports, of which not
// each fills a vector.
TEST(PortAlarms, agreesWithTime) {
    for (const std::uint64_t origin : {std::uint64_t{0}, ~std::uint64_t{0} - 500, std::uint64_t{1} << 63}) {
        for (const unsigned ports : {1U, 3U, 4U, 63U, 64U, 65U, 130U, max_ports}) {
            const Time now{origin + 500};
            std::vector<Time> at(ports);
            PortAlarms alarms(ports, now);
            std::vector<unsigned> due;
            Duration least{1'000'000};
            for (unsigned port = 0; port < ports; ++port) {
                at[port] = Time{origin + scramble(origin + ports * max_ports + port) % 1000};
                alarms.set(static_cast<PortId>(port), at[port]);
                if (at[port] <= now) due.push_back(port);
                least = std::min(least, at[port] - now);
            }
            CHECK(due_of(alarms, now) == due);
            LONGS_EQUAL(least.ps, alarms.until_earliest(now, Duration{1'000'000}).ps);
        }
    }
}

}  // namespace sluice::port_alarms_test
