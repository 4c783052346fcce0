// Two end points over a wire that loses, doubles, reorders, corrupts and delays, and is down for a while:
// every message is delivered once, in order, with the right content, and completes; or it fails after its
// retries. SLUICE_LONG=1: 10^5 seeds. A seed that fails is printed.
#include <cstdio>

#include "lib/roce/packet.hh"
#include "lib/values/rng.hh"
#include "tests/tries.hh"
#include "tests/unit/roce/rc_pair.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::random_rc_test {
namespace {

using namespace sluice::roce;

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : seed_(scramble(seed)) {}
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>((scramble(seed_ + drawn_++) >> 32) * n >> 32);
    }
    bool per_mille(std::uint32_t n) { return below(1000) < n; }

  private:
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

struct Tally {
    std::uint64_t completed = 0, failed = 0, retransmissions = 0, rnr = 0, refused = 0, timeouts = 0,
                  gaps = 0, asked = 0, ignored = 0;
};

std::string run_seed(std::uint64_t seed, bool may_fail, Recovery recovery, Tally& tally) {
    Dice dice(seed);
    RequesterSettings requester;
    requester.mtu = min_path_mtu << dice.below(3);
    requester.window_bytes = dice.below(3) == 0 ? 0 : std::uint64_t{1} + dice.below(40'000);
    requester.ack_every = 1 + dice.below(20);
    requester.max_reads = 1 + dice.below(4);
    requester.messages = 1 + dice.below(10);
    requester.timeout = microseconds(60 + dice.below(300));
    requester.retry_count = may_fail ? dice.below(8) : unlimited_retries;
    requester.rnr_retry = may_fail && dice.below(2) == 0 ? dice.below(4) : unlimited_retries;
    requester.first_psn = dice.below(2) == 0 ? psn_mask - dice.below(100) : dice.below(psn_mask);
    ResponderSettings responder;
    responder.mtu = requester.mtu;
    responder.ack_every = 1 + dice.below(30);
    responder.max_reads = requester.max_reads + dice.below(2);
    responder.first_psn = requester.first_psn;
    if (recovery == Recovery::selective)
        requester.recovery = {recovery, min_receive_window << dice.below(3),
                              microseconds(dice.below(3) == 0 ? 0 : dice.below(60)), dice.below(2) == 0};
    responder.recovery = requester.recovery;
    RcPair pair(requester, responder, dice.below(4) == 0);
    pair.traces = false;

    const std::uint32_t loss = dice.below(51);
    const std::uint32_t twice = dice.below(30), late = dice.below(60), corrupt = dice.below(20);
    const std::uint32_t busy = dice.below(3) == 0 ? dice.below(150) : 0;
    const std::uint32_t cut = dice.below(2) == 0 ? dice.below(200) : 0;
    const std::uint32_t down_from = dice.below(400);
    const std::uint32_t down_until = down_from + (dice.below(4) == 0 ? dice.below(60) : 0);
    pair.fate = [&](bool, unsigned n) {
        Fate fate;
        if (dice.per_mille(twice)) fate.copies = 2;
        if (dice.per_mille(loss) || (n >= down_from && n < down_until)) fate.copies = 0;
        if (dice.per_mille(late)) fate.late_us = dice.below(40);
        fate.copy_late_us = dice.below(dice.below(8) == 0 ? 500 : 20);
        fate.corrupt = dice.per_mille(corrupt);
        fate.trimmed = dice.per_mille(cut);
        return fate;
    };
    pair.rnr = [&]() -> std::optional<std::uint8_t> {
        if (!dice.per_mille(busy)) return std::nullopt;
        return static_cast<std::uint8_t>(1 + dice.below(8));
    };
    const std::size_t messages = 5 + dice.below(30);
    std::uint32_t most = 1;
    pair.each_turn = [&] {
        while (pair.posted() < messages) {
            const auto kind = static_cast<Requester::Kind>(dice.below(3));
            most = dice.below(10) == 0 ? 60'000 : dice.below(2) == 0 ? requester.mtu * 2 + 2 : 5000;
            if (!pair.post(kind, 1 + dice.below(most))) return;
            if (dice.below(4) == 0) return;
        }
    };
    pair.run();
    tally.refused += pair.refused();
    const Requester::Counters& counters = pair.requester().counters();
    tally.retransmissions += counters.retransmissions;
    tally.rnr += counters.rnr_naks;
    tally.timeouts += counters.timeouts;
    tally.gaps += counters.sequence_errors;
    tally.asked += pair.asked();
    tally.ignored += pair.trimmed_ignored();
    if (!pair.complaint().empty()) return pair.complaint();
    const bool failed = pair.requester().state() == Requester::State::failed;
    if (failed && !may_fail) return "failed in spite of unlimited retries";
    if (pair.completions().size() != pair.posted()) return "a message without an end";
    if (!failed && pair.posted() != messages) return "a message that could not be posted";
    for (const auto& completion : pair.completions()) ++(completion.failed ? tally.failed : tally.completed);
    return {};
}

std::uint64_t seeds() { return tries({.in_long = 100'000, .usual = 2000, .sanitized = 300}); }

Tally run_all(std::uint64_t first, bool may_fail, Recovery recovery) {
    Tally tally;
    for (std::uint64_t n = 0; n < seeds() / 2; ++n) {
        const std::string complaint = run_seed(first + n, may_fail, recovery, tally);
        if (!complaint.empty()) FAIL(("seed " + std::to_string(first + n) + ": " + complaint).c_str());
    }
    return tally;
}

}  // namespace

TEST_GROUP(RandomRc){};

TEST(RandomRc, messagesAreDeliveredOnceOrFail) {
    for (const Recovery recovery : {Recovery::go_back_n, Recovery::selective}) {
        const Tally tally = run_all(1'000'000, true, recovery);
        CHECK_TRUE(tally.failed > 0 && tally.completed > tally.failed);
        CHECK_TRUE(tally.rnr > 0 && tally.refused > 0);
    }
}

TEST(RandomRc, noneFailsWithUnlimitedRetries) {
    std::uint64_t again[2];
    for (const Recovery recovery : {Recovery::go_back_n, Recovery::selective}) {
        const Tally tally = run_all(2'000'000, false, recovery);
        LONGS_EQUAL(0, tally.failed);
        CHECK_TRUE(tally.retransmissions > seeds() && tally.rnr > 0 && tally.timeouts > 0 && tally.gaps > 0);
        again[static_cast<unsigned>(recovery)] = tally.retransmissions;
        CHECK_TRUE(tally.ignored > seeds() && (tally.asked > seeds()) == (recovery == Recovery::selective));
    }
    CHECK_TRUE(again[1] * 2 < again[0]);  // of the same wires
}

}  // namespace sluice::random_rc_test
