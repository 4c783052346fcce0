// Guaranteed rates that the link does not have, or that keep CNPs waiting.
#include <fmt/format.h>

#include <string>

#include "tests/unit/control/config/qos_findings.hh"

namespace sluice::lint_rates_test {
TEST_GROUP(LintRates){};

// A queue at 25 Gb/s: a frame of 9142 bytes takes 2925 ns; the queue has credit for two.
TEST(LintRates, warnsOfMinimumsThatTheLinkDoesNotHaveOrThatHoldCnpsUp) {
    const std::string port = "[port.p1]\nspeed = \"25G\"\n";
    const auto queue = [](int n, const char* rate) {
        return fmt::format("[port.p1.queue.{}]\nmin_rate = \"{}\"\n", n, rate);
    };
    finds("min-rate-sum",
          "f:4:12: warning: port.p1.queue.1.min_rate: min_rate of queues 1, 2 and 5 is 26G together, and the "
          "port sends 25G: not all of it can be kept [min-rate-sum]; do: write minimums of 25G together",
          port + queue(1, "10G") + queue(2, "10G") + queue(5, "6G"));
    finds("min-rate-sum", "", port + queue(1, "10G") + queue(2, "10G") + queue(5, "5G"));
    finds("min-rate-sum",
          "f:5:12: warning: port.p1.queue.1.min_rate: min_rate of queue 1 is 10G together, and",
          port + "shaper = \"9G\"\n" + queue(1, "10G"));
    finds_but_not(
        "min-rate-cnp",
        "f:4:12: warning: port.p1.queue.1.min_rate: min_rate of queue 1 goes before CNPs (queue 6), "
        "which may wait 10372ns for it: more than 10us [min-rate-cnp]; do: write a min_rate for "
        "queue 6 too, or lower ones for the others",
        port + queue(1, "14G"), port + queue(1, "14G") + queue(6, "1G"));
    finds("min-rate-cnp", "", port + queue(1, "13G"));
    finds("min-rate-cnp",
          "f:4:12: warning: port.p1.queue.1.min_rate: min_rate of queues 1 and 2 goes before CNPs "
          "(queue 6), which may wait for ever for it",
          port + queue(1, "20G") + queue(2, "5G"));
    finds("min-rate-cnp",
          "f:4:12: warning: port.p1.queue.1.min_rate: min_rate of queues 1, 2, 3 and 5 goes before CNPs "
          "(queue 6), which may wait 11701ns for it: more than 10us [min-rate-cnp]; do: give fewer queues a "
          "min_rate, or a lower one",
          port + queue(1, "1G") + queue(2, "1G") + queue(3, "1G") + queue(5, "1G") + queue(6, "1G"));
    finds("min-rate-cnp", "", port + queue(1, "14G") + "[port.p1.queue.6]\nscheduler = \"dwrr\"\n");
}

}  // namespace sluice::lint_rates_test
