// Rules of faults: which frames match, and which of those are taken.
#include "lib/peer/faults.hh"

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::fault_rule_test {
namespace {

FrameFacts roce(std::uint32_t qp, std::uint32_t psn, std::uint8_t opcode = 0x06, std::uint8_t dscp = 26) {
    return {true, dscp, true, opcode, qp, psn};
}

std::vector<std::uint64_t> taken(const FrameChoice& choice, std::uint64_t frames, std::uint64_t seed = 1) {
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t n = 1; n <= frames; ++n)
        if (choice.takes({seed, 7, 0, n})) numbers.push_back(n);
    return numbers;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_GROUP(FaultRule){};

TEST(FaultRule, anyFrameMatchesWhereNothingIsAsked) {
    CHECK_TRUE(FaultMatch{}.matches({}));
    CHECK_TRUE(FaultMatch{}.matches(roce(5, 9)));
}

TEST(FaultRule, everyConditionIsAsked) {
    FaultMatch match;
    match.qp = 5;
    match.psn = PsnRange{9, 11};
    match.opcode = 0x06;
    match.dscp = 26;
    CHECK_TRUE(match.matches(roce(5, 10)));
    CHECK_FALSE(match.matches(roce(6, 10)));
    CHECK_FALSE(match.matches(roce(5, 12)));
    CHECK_FALSE(match.matches(roce(5, 8)));
    CHECK_FALSE(match.matches(roce(5, 10, 0x07)));
    CHECK_FALSE(match.matches(roce(5, 10, 0x06, 25)));
}

TEST(FaultRule, aFrameThatIsNoRoceMatchesNoConditionOfRoce) {
    const FrameFacts plain{true, 26, false, 0, 0, 0};
    FaultMatch match;
    match.qp = 0;
    CHECK_FALSE(match.matches(plain));
    match = {};
    match.psn = PsnRange{0, 0};
    CHECK_FALSE(match.matches(plain));
    match = {};
    match.opcode = 0;
    CHECK_FALSE(match.matches(plain));
    match = {};
    match.dscp = 26;
    CHECK_TRUE(match.matches(plain));
    match.dscp = 0;
    CHECK_FALSE(match.matches({}));  // no IP packet
}

TEST(FaultRule, aRangeOfPsnsWraps) {
    const PsnRange range{0xFF'FFFE, 1};
    for (const std::uint32_t psn : {0xFF'FFFEU, 0xFF'FFFFU, 0U, 1U}) CHECK_TRUE(range.contains(psn));
    for (const std::uint32_t psn : {0xFF'FFFDU, 2U}) CHECK_FALSE(range.contains(psn));
}

TEST(FaultRule, choosesByNumber) {
    CHECK_TRUE(taken({}, 3) == (Numbers{1, 2, 3}));
    CHECK_TRUE(taken({3, 0, {}}, 7) == (Numbers{3, 6}));
    CHECK_TRUE(taken({0, 4, {}}, 9) == (Numbers{4}));
    CHECK_TRUE(taken({5, 4, {}}, 11) == (Numbers{4, 5, 10}));
}

TEST(FaultRule, choosesByChanceTheSameEachTimeAndOtherwiseWithAnotherSeed) {
    const FrameChoice tenth{0, 0, Chance{Chance::always / 10}};
    const Numbers first = taken(tenth, 10'000);
    CHECK_TRUE(first == taken(tenth, 10'000));
    CHECK_FALSE(first == taken(tenth, 10'000, 2));
    CHECK_TRUE(first.size() > 900 && first.size() < 1100);
    CHECK_TRUE(taken({0, 0, Chance{}}, 100).empty());
    CHECK_TRUE(taken({50, 0, Chance{}}, 100) == (Numbers{50, 100}));
}

TEST(FaultRule, everyActionHasAName) {
    std::string names;
    for (unsigned n = 0; n < fault_action_count; ++n)
        names += std::string(to_string(static_cast<FaultAction>(n))) + " ";
    STRCMP_EQUAL("drop mark-ce corrupt delay reorder duplicate cnp ", names.c_str());
}

}  // namespace sluice::fault_rule_test
