// Fabrics drawn from seeds: whatever goes wrong in them, every switch keeps its invariants after every
// instant and every frame is accounted for after every window of the clock, nothing is left in the end, and
// no lossless packet is lost where nothing goes wrong. SLUICE_LONG=1 takes 10 000 seeds, SLUICE_SEED=N that
// one.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/random_fabric.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::random_test {

using namespace sluice::fabric;

namespace {

void run_seed(std::uint64_t seed) {
    const RandomFabric made = random_fabric(seed);
    CheckedFabric run(made.text, fmt::format("SLUICE_SEED={}", seed));
    run.drain();
    if (!made.whole) return;
    LONGS_EQUAL_TEXT(0, run.lossless_lost(), fmt::format("SLUICE_SEED={}", seed).c_str());
    // What was dropped comes again, behind others.
    const bool in_order = made.ordered && run.dropped(DropReason::queue_limit) == 0 &&
                          run.dropped(DropReason::ingress_limit) == 0;
    for (NodeId node = 0; node < run.fabric().plan().topology.nodes.size(); ++node)
        if (run.fabric().plan().topology.nodes[node].is_host)
            for (const roce::QueuePair& pair : run.fabric().host(node).nic().queue_pairs()) {
                const std::string label = fmt::format("SLUICE_SEED={}", seed);
                if (pair.requester() != nullptr)
                    LONGS_EQUAL_TEXT(pair.flow().messages, pair.statistics.completed, label.c_str());
                const auto& came = pair.requester() != nullptr ? pair.requester()->reordering()
                                                               : pair.responder()->reordering();
                if (in_order) LONGS_EQUAL_TEXT(0, came.inversions, label.c_str());
            }
}

}  // namespace

TEST_GROUP(RandomFabrics){};

TEST(RandomFabrics, LoseNothingUnaccountedAndDrain) {
    if (const char* one = std::getenv("SLUICE_SEED")) return run_seed(std::strtoull(one, nullptr, 10));
    const std::uint64_t seeds = is_long() ? 500 : 12;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) run_seed(seed);
}

}  // namespace sluice::random_test
