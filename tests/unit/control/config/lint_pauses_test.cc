// Pauses that end before their refresh has come.
#include <fmt/format.h>

#include <string>

#include "tests/unit/control/config/qos_findings.hh"

namespace sluice::lint_pauses_test {

TEST_GROUP(LintPauses){};

// 100G, 5 m, MTU 9100, bytes: a frame of ours 9142, reaction 25216, interfaces 30720, together 65078; with a
// PFC frame 84 and the cable 632, the loop is 65794. Half a quantum is 32.
TEST(LintPauses, refusesAPauseThatEndsBeforeItsRefresh) {
    const std::string head = "[port.p1]\npfc_quanta = ";
    finds_but_not(
        "pause-time",
        "f:2:14: error: port.p1.pfc_quanta: half of a pause of 2033 quanta, 5204ns, is not above the "
        "5206ns by which its refresh may come late",
        head + "2033", head + "2057");
    finds("pause-time",
          "f:2:14: warning: port.p1.pfc_quanta: half of a pause of 2034 quanta, 5207ns, is not above 5263ns, "
          "a bound",
          head + "2034");
    finds("pause-time", "f:2:14: warning: port.p1.pfc_quanta", head + "2056");
    // Exactly what its refresh may take, the loop 65792; and a byte less than what comes surely, 65057.
    finds_but_not("pause-time", "f:3:14: warning: port.p1.pfc_quanta",
                  "[port.p1]\nmtu = 9098\npfc_quanta = 2056", "[port.p1]\nmtu = 9098\npfc_quanta = 2057");
    finds("pause-time", "f:3:14: error", "[port.p1]\nmtu = 9079\npfc_quanta = 2033");
    finds("pause-time", "f:3:14: warning", "[port.p1]\nmtu = 9078\npfc_quanta = 2033");
    finds("pause-time", "", "[port.p1]\npfc_mode = \"off\"\npfc_quanta = 100\n");
    // The peer's own reaction in place of the published one, 1250 bytes.
    const std::string quick = "[port.p1]\nreaction = \"100ns\"\npfc_quanta = ";
    finds_but_not("pause-time", "f:3:14: error", quick + "324", quick + "348");
    finds("pause-time", "f:3:14: warning", quick + "325");
    // Two turns of 12500 bytes, of which one waits in our ring; the fix is enough.
    const std::string turn = "virtual.turn = \"1us\"\n" + head;
    finds_but_not("pause-time", "f:3:14: warning: port.p1.pfc_quanta", turn + "2837", turn + "2838");
    std::string said;
    for (const Finding& each : findings_of(turn + "2057"))
        if (each.id == "pause-time") said = each.fix;
    STRCMP_EQUAL("write pfc_quanta = 2838", said.c_str());
    // A long cable delays a pause and its refresh alike: never an error.
    finds("pause-time", "f:1:1: warning: port.p1.pfc_quanta", "[port.p1]\ncable = \"40km\"\n");
    const std::string real = "clock = \"real\"\n[port.p1]\nspeed = \"400G\"\nmtu = 1500\n";
    finds_but_not("pause-time", "f:2:1: warning: port.p1.pfc_quanta: half", real,
                  "turn_max = \"18us\"\n" + real);
}

TEST(LintPauses, warnsOfAPauseOfASlowHostThatEndsBeforeItsRefresh) {
    const auto host = [](const char* drain, int quanta) {
        return fmt::format(
            "[port.p1]\naddress = [\"10.0.1.1/24\"]\n[host.h1]\nport = \"p1\"\naddress = "
            "\"10.0.1.2\"\npause_quanta = {}\ndrain = \"{}\"\n",
            quanta, drain);
    };
    finds_but_not("host-pause-time", "f:6:16: warning: host.h1.pause_quanta: half of a pause of 2056 quanta",
                  host("10G", 2056), host("10G", 2057));
    finds("host-pause-time", "", host("unlimited", 100));
    finds("host-pause-time", "f:6:16: warning", host("10G", 100));
    finds("host-pause-time", "", host("10G", 100) + "[port.p2]\n[default]\npfc_mode = \"off\"\n");
}

}  // namespace sluice::lint_pauses_test
