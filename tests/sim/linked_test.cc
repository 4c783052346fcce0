// Two switches on one virtual clock with a cable between them: a hot host behind the second pauses the cable,
// and the first pauses its senders. Nothing is lost, and the outcome does not depend on the number of
// workers.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/values/rng.hh"
#include "tests/sim/linked_ports.hh"
#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::linked_test {

using namespace sluice::sim;

namespace {

constexpr PortId ports_each = LinkedPorts::ports_each;
constexpr std::uint64_t frames_each = 3000;

IpAddress address(unsigned net, std::uint8_t host) {
    IpAddress made;
    made.bytes = {10, 0, static_cast<std::uint8_t>(net), host};
    return made;
}

// The configuration of switch `which`: its three ports of six, and routes to the hosts of the other over the
// cable.
Config config_of(unsigned which, unsigned workers) {
    Config all = sim_config(2 * ports_each, gigabits(100), 20, 1500);
    Config config = sim_config(0, gigabits(100));
    config.workers = workers;
    config.buffer_size_bytes = 1'000'000;
    const unsigned first = which * ports_each;
    const unsigned other = (1 - which) * ports_each;
    const unsigned end = first + ports_each - 1;  // of the cable
    for (unsigned id = first; id <= end; ++id) {
        config.ports["p" + std::to_string(id)] = port_of(all, id);
        const MacAddress host{{2, 0, 0, 0, 9, static_cast<std::uint8_t>(id)}};
        const MacAddress peer = id == end ? *port_of(all, other + ports_each - 1).mac : host;
        add(config, NeighborConfig{address(id, 2), "p" + std::to_string(id), peer, {}, {}});
    }
    for (unsigned id = other; id < other + ports_each - 1; ++id)
        add(config, RouteConfig{{address(id, 0), 24}, {{address(end, 2), 1}}, {}});
    return config;
}

struct Outcome {
    std::uint64_t digest = 0;
    std::uint64_t arrived = 0;
    std::uint64_t dropped = 0;
    std::uint64_t cable_xoffs = 0;   // that the second switch sent the first
    std::uint64_t sender_xoffs = 0;  // that the first sent its hosts
    bool operator==(const Outcome&) const = default;
};

// Two switches and the cable.
class Pair {
  public:
    // Switch n of the two has the identity `identity` + n.
    explicit Pair(unsigned workers, std::uint32_t identity = 0) {
        static unsigned number = 0;
        for (unsigned which = 0; which < 2; ++which) {
            RunningOptions options;
            options.name = "linked" + std::to_string(number++);
            options.identity = identity + which;
            auto made = RunningSwitch::create(config_of(which, workers), options, ports[which]);
            if (!made) FAIL(made.error().c_str());
            switches[which] = std::move(*made);
            choose_pools(switches[which]->device());
        }
        LinkPort::join(*ports[0].link, *ports[1].link);
    }
    ~Pair() {
        for (const auto& each : switches) {
            each->device().empty();
            LONGS_EQUAL(0, each->packets_missing());
        }
    }

    // 300 Gb/s for the host behind p3.
    void send() {
        for (SimPort* from : {ports[0].hosts[0], ports[0].hosts[1], ports[1].hosts[1]}) {
            Flow flow;
            flow.to = ports_each;
            flow.frames = frames_each;
            from->add(flow);
        }
    }
    Outcome outcome(Time end) {
        Outcome outcome;
        for (unsigned which = 0; which < 2; ++which) {
            Switch& device = switches[which]->device();
            CHECK_TRUE(device.ledger().balanced());
            LONGS_EQUAL(0, device.ledger().queued);
            outcome.dropped += device.ledger().dropped;
            for (const SimPort* host : ports[which].hosts) {
                CHECK_TEXT(host->disorder().empty(), host->disorder().c_str());
                outcome.digest = scramble(outcome.digest ^ host->digest());
                outcome.arrived += host->departed();
            }
        }
        const auto xoffs = [&](unsigned which, PortId port) {
            return switches[which]->device().port(port).generator.counters(lossless).tx_xoff.get();
        };
        outcome.cable_xoffs = xoffs(1, ports_each - 1);
        outcome.sender_xoffs = xoffs(0, 0) + xoffs(0, 1);
        outcome.digest = scramble(outcome.digest ^ end.ps);
        if (notes_outcomes())
            for (const auto& each : switches) note_outcome("linked", each->device(), outcome.digest);
        return outcome;
    }

    std::array<LinkedPorts, 2> ports;
    std::array<std::unique_ptr<RunningSwitch>, 2> switches;
};

Outcome outcome_of(unsigned workers) {
    Pair pair(workers);
    VirtualLoop loop({pair.switches[0].get(), pair.switches[1].get()}, {});
    pair.send();
    loop.run(std::nullopt);
    return pair.outcome(loop.now());
}

}  // namespace

TEST_GROUP(Linked){};

TEST(Linked, PauseCrossesACableAndNothingIsLost) {
    const Outcome outcome = outcome_of(1);
    LONGS_EQUAL(3 * frames_each, outcome.arrived);
    LONGS_EQUAL(0, outcome.dropped);
    CHECK_TRUE(outcome.cable_xoffs > 0);
    CHECK_TRUE(outcome.sender_xoffs > 0);
}

TEST(Linked, TheOutcomeIsTheSameWithAnyNumberOfWorkersAndEachTime) {
    const Outcome one = outcome_of(1);
    for (const unsigned workers : {1U, 3U, 4U}) CHECK_TRUE(outcome_of(workers) == one);
}

TEST(Linked, SwitchesThatHaveNothingToDoAreNotRunAndChangeNothing) {
    const Outcome alone = outcome_of(1);
    Pair before(1), busy(1), after(1);
    std::vector<RunningSwitch*> all;
    for (Pair* pair : {&before, &busy, &after})
        for (const auto& each : pair->switches) all.push_back(each.get());
    VirtualLoop loop(all, {});
    busy.send();
    unsigned instants = 0;
    loop.run(std::nullopt, [&] {
        if (instants++ == 0) return true;  // the first is everyone's
        loop.for_each_that_ran([](std::uint32_t number) { CHECK_TRUE(number == 2 || number == 3); });
        return true;
    });
    CHECK_TRUE(instants > frames_each);
    CHECK_TRUE(busy.outcome(loop.now()) == alone);
}

TEST(Linked, EachSwitchDrawsByItsIdentityAndTheFirstAsIfItWereAlone) {
    const Pair pair(1), others(1, 7);
    const auto seed_of = [](const Pair& of, unsigned which) {
        return of.switches[which]->device().policy().seed;
    };
    LONGS_EQUAL(config_of(0, 1).seed, seed_of(pair, 0));
    CHECK_TRUE(seed_of(pair, 0) != seed_of(pair, 1));
    CHECK_TRUE(seed_of(pair, 1) != seed_of(others, 0));
    CHECK_TRUE(seed_of(others, 0) != seed_of(others, 1));
}

}  // namespace sluice::linked_test
