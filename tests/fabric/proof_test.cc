// What is published of pauses in fabrics, and what a failure may cost, to the packet. SLUICE_LONG=1: over
// longer times.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/fabric/checked_fabric.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::proof_test {

using namespace sluice::fabric;

namespace {

constexpr Time at_us(std::int64_t us) { return Time{} + microseconds(us); }
constexpr bool unchecked = false;  // invariants are other tests' matter, and take most of the time
constexpr unsigned max_seeds = 64;

std::uint64_t sent(CheckedFabric& run, const char* device, const char* port) {
    return run.port(device, port).counters.queue[3].tx.packets.get();
}

// Three hosts at one switch and a fourth at the next, where all of them send to h5.
std::string sharing(unsigned uplinks, unsigned seed) {
    std::string text = fmt::format(
        "seed = {}\n[[node]]\nname = \"left\"\n[[node]]\nname = \"right\"\n[switch.default]\n"
        "buffer.size = \"2MB\"\n[host.default]\ncc = \"none\"\nmtu = 4096\n[[flow]]\nfrom = \"h1..h4\"\n"
        "to = \"h5\"\nmessage = \"256KB\"\ndepth = 4\n",
        seed);
    for (unsigned n = 1; n <= 5; ++n)
        text += fmt::format(
            "[[node]]\nname = \"h{0}\"\nkind = \"host\"\n[[link]]\nends = [\"h{0}\", \"{1}\"]\nspeed = "
            "\"40G\"\n",
            n, n <= 3 ? "left" : "right");
    for (unsigned n = 0; n < uplinks; ++n)
        text += "[[link]]\nends = [\"left\", \"right\"]\nspeed = \"40G\"\n";
    return text;
}

// Gb/s on the wire of h1 to h4: their frames are equal, and fill the link to h5.
std::array<double, 4> shares(CheckedFabric& run) {
    run.run_until(at_us(10'000));
    std::array<double, 4> bytes{};
    const auto add = [&](double sign) {
        for (unsigned n = 0; n < 4; ++n)
            bytes[n] += sign * static_cast<double>(run.delivered_bytes(fmt::format("h{}", n + 1), "h5"));
    };
    add(-1);
    const std::uint64_t before = run.port("right", "h5").counters.tx.packets.get();
    run.run_until(at_us(is_long() ? 110'000 : 30'000));
    add(1);
    CHECK_TRUE(run.port("right", "h5").counters.tx.packets.get() > before);
    const double all = bytes[0] + bytes[1] + bytes[2] + bytes[3];
    for (double& each : bytes) each *= 40 / all;
    LONGS_EQUAL(0, run.lossless_lost());
    return bytes;
}

// Four senders at leaf 1 to h16 at leaf 4, `more` at leaf 3, and the victim from leaf 1 to leaf 2, which
// shares no link with those. `probe`: one frame a flow, one flow after the other.
std::string victim(const char* cc, unsigned more, unsigned seed, bool probe) {
    std::string text = fmt::format(
        "seed = {}\n[topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts = 5\n"
        "host_speed = \"40G\"\n[switch.default]\nbuffer.size = \"2MB\"\n[switch.default.default.queue.3]\n"
        "wred = \"roce\"\n[switch.default.wred.roce]\ngreen_min = \"5KB\"\ngreen_max = \"200KB\"\n"
        "green_probability = 1\n[host.default]\ncc = \"{}\"\n",
        seed, cc);
    unsigned flows = 0;
    const auto flow = [&](const std::string& from, const char* to) {
        text += fmt::format("[[flow]]\nfrom = \"{}\"\nto = \"{}\"\n", from, to);
        text += probe ? fmt::format("message = \"1KB\"\nmessages = 1\nstart = \"{}us\"\n", 10 + 20 * flows++)
                      : std::string("message = \"1MB\"\ndepth = 2\n");
    };
    for (const char* from : {"h1", "h2", "h3", "h4"}) flow(from, "h16");
    flow("h5", "h6");
    for (unsigned n = 0; n < more; ++n) flow(fmt::format("h{}", 11 + n), "h16");
    return text;
}

// With which two of the four go by each uplink, so that two of them share the victim's.
unsigned seed_of_victim() {
    for (unsigned seed = 1; seed <= max_seeds; ++seed) {
        CheckedFabric run(victim("none", 0, seed, true), {}, unchecked);
        run.run_until(at_us(85));
        if (sent(run, "leaf1", "spine1") == 2 && sent(run, "leaf1", "spine2") == 2) return seed;
    }
    FAIL("no seed splits four flows evenly");
    return 0;
}

double victim_gigabits(const char* cc, unsigned more, unsigned seed, int settle_ms, int ms) {
    CheckedFabric run(victim(cc, more, seed, false), {}, unchecked);
    run.run_until(at_us(settle_ms * 1000));
    const std::uint64_t before = run.delivered_bytes("h5", "h6");
    run.run_until(at_us((settle_ms + ms) * 1000));
    LONGS_EQUAL(0, run.lossless_lost());
    return static_cast<double>(run.delivered_bytes("h5", "h6") - before) * 8 / (ms * 1e6);
}

}  // namespace

TEST_GROUP(Proofs){};

TEST(Proofs, OneUplinkOfThreeAndOnePortOfOneShareByPort) {
    CheckedFabric run(sharing(1, 1), "one uplink", unchecked);
    const auto rate = shares(run);
    DOUBLES_EQUAL(20, rate[3], 20 * 0.03);
    for (unsigned n = 0; n < 3; ++n) DOUBLES_EQUAL(6.67, rate[n], 6.67 * 0.03);
}

TEST(Proofs, TwoUplinksOfThreeAndOnePortOfOneShareByPort) {
    for (unsigned seed = 1; seed <= max_seeds; ++seed) {
        CheckedFabric run(sharing(2, seed), "two uplinks", unchecked);
        run.run_until(at_us(20));
        // Both carry some of three flows: one carries two.
        if (sent(run, "left", "right") == 0 || sent(run, "left", "right-2") == 0) continue;
        auto rate = shares(run);
        DOUBLES_EQUAL(13.33, rate[3], 13.33 * 0.03);
        std::sort(rate.begin(), rate.begin() + 3);
        DOUBLES_EQUAL(6.67, rate[0], 6.67 * 0.03);
        DOUBLES_EQUAL(6.67, rate[1], 6.67 * 0.03);
        DOUBLES_EQUAL(13.33, rate[2], 13.33 * 0.03);
        return;
    }
    FAIL("no seed uses both uplinks");
}

TEST(Proofs, AVictimSharesNoLinkWithTwoMoreSendersAndDcqcnKeepsItsRate) {
    const unsigned seed = seed_of_victim();
    const int settle_ms = is_long() ? 20 : 5, ms = is_long() ? 50 : 5;
    const double alone = victim_gigabits("none", 0, seed, settle_ms, ms);
    const double joined = victim_gigabits("none", 2, seed, settle_ms, ms);
    CHECK_TRUE(joined < 12);
    CHECK_TRUE(joined < 0.75 * alone);
    for (const unsigned more : {0U, 2U}) {
        if (more == 0 && !is_long()) continue;
        const double kept = victim_gigabits("dcqcn", more, seed, is_long() ? 100 : 30, ms);
        if (kept < 17) FAIL(fmt::format("DCQCN: {:.1f} Gb/s with {} more", kept, more).c_str());
    }
}

namespace {

// Every pair of leaves, both ways, over four spines.
const std::string full_load = R"(
[topology]
kind = "leaf-spine"
leaves = 3
spines = 4
hosts = 4
speed = "100G"
[routing]
detection = "4us"
convergence = "100us"
[switch.default]
buffer.size = "4MB"
[host.default]
cc = "none"
timeout = "500us"
retry_count = "unlimited"
[[flow]]
name = "across"
from = "leaf1"
to = "leaf2"
message = "32KB"
depth = 2
stop = "2500us"
[[flow]]
name = "back"
from = "leaf3"
to = "leaf1"
message = "32KB"
depth = 2
stop = "2500us"
)";
constexpr std::array<const char*, 3> leaves{"leaf1", "leaf2", "leaf3"};

std::uint64_t to_spine2(CheckedFabric& run) {
    std::uint64_t packets = 0;
    for (const char* leaf : leaves) packets += run.port(leaf, "spine2").counters.tx.packets.get();
    return packets;
}

std::uint64_t dropped_by_leaves(CheckedFabric& run) {
    std::uint64_t packets = 0;
    for (const char* leaf : leaves) packets += run.at(leaf).running->device().ledger().dropped;
    return packets;
}

}  // namespace

TEST(Proofs, ASpineThatDiesLosesWhatWasInItAndOnTheWayToItUntilItIsSeenAndNothingAfter) {
    CheckedFabric run(full_load, {}, unchecked);
    run.run_until(at_us(500));
    const std::uint64_t share_from = to_spine2(run);
    run.run_until(at_us(1000));
    const double share = static_cast<double>(to_spine2(run) - share_from);
    Switch& spine = run.at("spine2").running->device();
    // It dies when frames are both on its cables and in it.
    Time died = at_us(1000);
    std::uint64_t on_wire = 0, inside = 0;
    for (; on_wire == 0 || inside == 0; died = died + nanoseconds(100)) {
        CHECK_TRUE(died < at_us(1020));
        run.run_until(died);
        on_wire = 0;
        for (const LinkId id : run.fabric().plan().topology.nodes[run.node("spine2")].links)
            for (const LinkPort* end : run.fabric().ends(id)) on_wire += end->under_way();
        inside = spine.ledger().queued;
    }
    const std::uint64_t sent_before = to_spine2(run);

    run.command("switch spine2 down");
    LONGS_EQUAL(on_wire, run.fabric().ledger().lost_on_wire);
    run.run_until(died + microseconds(3));
    LONGS_EQUAL(inside, spine.ledger().dropped);
    LONGS_EQUAL(inside, run.dropped(DropReason::link_down));
    LONGS_EQUAL(0, dropped_by_leaves(run));
    std::uint64_t waiting = 0, into_cut = 0;
    for (Time now = died + microseconds(3); run.at("leaf1").ports->link("spine2")->link_up();
         now = now + nanoseconds(100)) {
        CHECK_TRUE(now < died + microseconds(5));
        waiting = 0;
        for (const char* leaf : leaves)
            for (const EgressQueue& queue : run.port(leaf, "spine2").queue)
                waiting += queue.packets.packets();
        into_cut = run.fabric().ledger().lost_into_cut;
        LONGS_EQUAL(to_spine2(run) - sent_before, into_cut);
        run.run_until(now + nanoseconds(100));
    }
    CHECK_TRUE(waiting > 0 && into_cut > 0);
    const std::uint64_t dropped = dropped_by_leaves(run);
    // What the last 100 ns before it was seen have brought is in one of the two.
    const Fabric::Ledger seen = run.fabric().ledger();
    LONGS_EQUAL(to_spine2(run) - sent_before, seen.lost_into_cut);
    CHECK_TRUE(dropped + seen.lost_into_cut >= waiting + into_cut);
    CHECK_TRUE(dropped + seen.lost_into_cut <= waiting + into_cut + 64);
    LONGS_EQUAL(inside + dropped, run.dropped(DropReason::link_down));

    run.run_until(died + microseconds(500));
    const Fabric::Ledger later = run.fabric().ledger();
    LONGS_EQUAL(seen.dropped, later.dropped);
    LONGS_EQUAL(seen.lost_into_cut, later.lost_into_cut);
    LONGS_EQUAL(on_wire, later.lost_on_wire);
    run.command("switch spine2 up");
    run.run_until(died + microseconds(700));
    const std::uint64_t back_from = to_spine2(run);
    run.run_until(died + microseconds(1200));
    CHECK_TRUE(static_cast<double>(to_spine2(run) - back_from) > 0.8 * share);
    run.drain();
    LONGS_EQUAL(later.dropped, run.fabric().ledger().dropped);
    LONGS_EQUAL(later.lost_into_cut, run.fabric().ledger().lost_into_cut);
    // Senders by other spines have sent nothing twice.
    unsigned twice = 0, pairs = 0;
    for (FabricSwitch& each : run.fabric().switches())
        for (const auto& [name, host] : each.plan->config.hosts)
            for (const roce::QueuePair& pair : each.ports->simulated(name)->nic().queue_pairs()) {
                if (pair.requester() == nullptr || pair.statistics.completed == 0) continue;
                ++pairs;
                twice += pair.requester()->counters().retransmissions != 0 ? 1 : 0;
            }
    CHECK_TRUE(twice > 0);
    CHECK_TRUE(twice < pairs / 2);
}

}  // namespace sluice::proof_test
