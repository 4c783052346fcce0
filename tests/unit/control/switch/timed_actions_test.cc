#include "control/switch/running/timed_actions.hh"

#include <string>

#include "CppUTest/TestHarness.h"

namespace sluice::timed_actions_test {

TEST_GROUP(TimedActions) {
    TimedActions actions;
    std::string done;

    Time after(std::int64_t us) { return Time{} + microseconds(us); }
    void add(std::int64_t us, char name) {
        actions.at(after(us), [this, name] { done += name; });
    }
};

TEST(TimedActions, NothingComesBeforeItsTimeOrTwice) {
    CHECK_FALSE(actions.next().has_value());
    add(2, 'b');
    add(1, 'a');
    CHECK_TRUE(actions.next() == after(1));
    actions.run_due(after(0));
    STRCMP_EQUAL("", done.c_str());
    actions.run_due(after(1));
    STRCMP_EQUAL("a", done.c_str());
    CHECK_TRUE(actions.next() == after(2));
    for (unsigned times = 0; times < 2; ++times) actions.run_due(after(9));
    STRCMP_EQUAL("ab", done.c_str());
    CHECK_FALSE(actions.next().has_value());
}

TEST(TimedActions, ThoseOfOneTimeComeInTheOrderOfCalls) {
    for (const char name : {'a', 'b', 'c'}) add(1, name);
    actions.run_due(after(1));
    STRCMP_EQUAL("abc", done.c_str());
}

TEST(TimedActions, AnActionMayAddOthers) {
    actions.at(after(1), [this] {
        add(1, 'a');
        add(2, 'b');
    });
    actions.run_due(after(1));
    STRCMP_EQUAL("a", done.c_str());
    CHECK_TRUE(actions.next() == after(2));
}

}  // namespace sluice::timed_actions_test
