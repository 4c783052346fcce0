#!/usr/bin/python3
"""The PFC watchdog end to end: keys, commands, events and the report, and that a run lasts until its storms have ended.

    watchdog_test.py SLUICED SLUICE_TRAFFIC        the last line is `N passed, N failed`
"""

import sys

import support
from fault_test import fault
from support import flow, pfc_of

SETTINGS = '[watchdog]\ndetection = "100ms"\nrestoration = "100ms"\n'
STORM = {"storm_classes": "[3]", "storm_every": '"100us"'}
NS = 1_000_000


def grouped(number):
    return f"{number:,}".replace(",", " ")


def storm(length='"150ms"', port="h3"):
    return fault(port, storm_for=length, **STORM)


class Refused(support.FaultTest):
    def refused(self, text, top="", event=None):
        self.make(flow(count=1))
        rest = f'[[event]]\nat = "1us"\ndo = "{event}"\n' if event else ""
        result = self.start({"rest": rest, "top": top})
        self.assertEqual(result.exit, 2)
        self.assertIn(text, result.errors)

    def test_values_out_of_range(self):
        for key, value in (("detection", "99ms"), ("detection", "5001ms"), ("restoration", "99ms"), ("restoration", "60001ms"),
                           ("poll", "0ms"), ("action", "shout")):
            with self.subTest(key=key, value=value):
                self.refused(f"watchdog.{key}: ", f'[watchdog]\n{key} = "{value}"\n')

    def test_values_of_a_port_out_of_range(self):
        for key, value in (("detection", "99ms"), ("restoration", "60001ms"), ("action", "shout")):
            for section in ("port.h3.watchdog", "default.watchdog"):
                with self.subTest(key=key, section=section):
                    self.make(flow(count=1))
                    result = self.start({"rest": f'[{section}]\n{key} = "{value}"\n'})
                    self.assertEqual(result.exit, 2)
                    self.assertIn(f"{section}.{key}: ", result.errors)

    def test_commands(self):
        self.refused("wanted: watchdog start|stop PORT, or watchdog big-red-switch on|off", event="watchdog h3 stop")
        self.refused("wanted: watchdog start|stop PORT", event="watchdog big-red-switch")
        self.refused('no port "h9"', event="watchdog stop h9")

    def test_a_switch_that_would_cut_nothing(self):
        for action in ("alert", "off"):
            self.refused("watchdog.action cuts nothing", f'[watchdog]\naction = "{action}"\n', "watchdog big-red-switch on")
            self.refused("watchdog.action cuts nothing", f'[default.watchdog]\naction = "{action}"\n', "watchdog big-red-switch on")


class Storms(support.FaultTest):
    def watchdog(self, result, port="h3"):
        entries = {(entry["port"], entry["queue"]): entry for entry in result.report["watchdog"]}
        self.assertEqual(list(entries), [("h1", 3), ("h2", 3), ("h3", 3)])
        return entries[port, 3]

    def events(self, result, kind):
        return [event for event in result.report["events"] if event["kind"] == kind]

    def kinds(self, result):
        return [event["kind"] for event in result.report["events"] if event["kind"] != "empty_capture"]

    def test_without_a_storm(self):
        self.make(flow(count=100))
        entry = self.watchdog(self.run_switch(top=SETTINGS))
        self.assertEqual(entry, {"port": "h3", "queue": 3, "state": "operational", "action": "drop", "detection_ns": 100 * NS,
                                 "restoration_ns": 100 * NS, "detected": 0, "restored": 0, "storm_passed": 0, "storm_dropped": 0, "total_passed": 0, "total_dropped": 0})

    def test_the_run_lasts_until_the_storm_has_ended(self):
        self.make(flow(count=1000))  # the last frame long before the detection
        result = self.run_switch(storm(), top=SETTINGS)
        entry = self.watchdog(result)
        passed = len(result.data("h3"))
        self.assertLess(passed, 5)
        self.assertEqual((entry["state"], entry["detected"], entry["restored"]), ("operational", 1, 1))
        self.assertEqual((entry["storm_dropped"], entry["total_dropped"], entry["total_passed"]), (1000 - passed, 1000 - passed, 0))
        self.assertEqual(result.port("h1")["drops"], {"watchdog_drop": 1000 - passed})
        self.assertEqual(result.report["verdict"]["reasons"], [f"{grouped(1000 - passed)} lossless packets that came in on h1 were dropped: watchdog_drop"])
        detected, = self.events(result, "watchdog_detected")
        restored, = self.events(result, "watchdog_restored")
        self.assertEqual(detected["at_ns"], 100 * NS)
        last = 149_900_000  # the last XOFF of the storm
        self.assertEqual(restored["at_ns"], last + 100 * NS)
        self.assertEqual(result.report["end_ns"], restored["at_ns"])
        for event in (detected, restored):
            self.assertEqual((event["port"], event["queue"], event["action"]), ("h3", 3, "drop"))
        self.assertEqual((restored["passed_packets"], restored["dropped_packets"]), (0, 1000 - passed))
        self.assertEqual(result.port("h3")["pfc"]["rx_xoff"][3], 1500)

    def test_a_port_has_its_own_times_and_action(self):
        """h2 and h3 are stormed alike: h2 says so, h3 has its packets dropped, later found and sooner given back."""
        self.make(flow(count=1000) + flow(to="h2", count=1000, qp=0x300))
        own = '[default.watchdog]\naction = "alert"\n[port.h3.watchdog]\naction = "drop"\ndetection = "140ms"\nrestoration = "110ms"\n'
        result = self.run_switch(storm('"200ms"') + storm('"200ms"', "h2") + own, top='[watchdog]\ndetection = "100ms"\nrestoration = "300ms"\n')
        last = 199_900_000
        self.assertEqual([(event["port"], event["action"], event["at_ns"]) for event in self.events(result, "watchdog_detected")],
                         [("h2", "alert", 100 * NS + 88), ("h3", "drop", 140 * NS)])  # its first packet came behind h3's
        self.assertEqual([(event["port"], event["at_ns"]) for event in self.events(result, "watchdog_restored")],
                         [("h3", last + 110 * NS), ("h2", last + 300 * NS)])
        self.assertEqual(len(result.data("h2")), 1000)
        self.assertEqual(len(result.data("h3")) + self.watchdog(result)["total_dropped"], 1000)
        self.assertGreater(self.watchdog(result)["total_dropped"], 900)
        told = {entry["port"]: (entry["action"], entry["detection_ns"], entry["restoration_ns"]) for entry in result.report["watchdog"]}
        self.assertEqual(told, {"h1": ("alert", 100 * NS, 300 * NS), "h2": ("alert", 100 * NS, 300 * NS), "h3": ("drop", 140 * NS, 110 * NS)})

    def test_a_storm_one_frame_too_short(self):
        self.make(flow(count=1000))
        result = self.run_switch(storm('"99700us"'), top=SETTINGS)
        self.assertEqual(self.watchdog(result)["detected"], 0)
        self.assertEqual(len(result.data("h3")), 1000)
        self.assert_promises(result)
        result = self.run_switch(storm('"99800us"'), top=SETTINGS)
        self.assertEqual(self.watchdog(result)["detected"], 1)

    def test_what_the_storm_held_back_goes_on_after_the_detection(self):
        # The storm fills h1's group; h1 is paused, for h2 as well, until the watchdog sets it free.
        self.make(flow(count=3000) + flow(to="h2", count=3000, qp=0x300))
        calm, result = self.run_switch(top=SETTINGS), self.run_switch(storm(), top=SETTINGS)
        self.assertGreater(result.port("h1")["held_packets"], 0)
        self.assertEqual(len(result.data("h2")), len(calm.data("h2")))
        self.assertEqual(len(result.data("h3")) + self.watchdog(result)["total_dropped"], 3000)
        self.assertEqual(self.watchdog(result)["restored"], 1)

    def test_the_default_is_200_and_400_ms(self):
        self.make(flow(count=10))
        result = self.run_switch(storm('"250ms"'))
        detected, = self.events(result, "watchdog_detected")
        restored, = self.events(result, "watchdog_restored")
        self.assertEqual(detected["at_ns"], 200 * NS)
        self.assertEqual(restored["at_ns"], 249_900_000 + 400 * NS)

    def test_forward_breaks_a_promise_and_says_so(self):
        self.make(flow(count=1000))
        result = self.run_switch(storm(), top=SETTINGS + 'action = "forward"\n')
        entry = self.watchdog(result)
        self.assertEqual(len(result.data("h3")), 1000)
        self.assertEqual((entry["detected"], entry["storm_dropped"]), (1, 0))
        self.assertGreater(entry["storm_passed"], 900)
        self.assertEqual(result.report["verdict"]["reasons"], [f"{grouped(entry['storm_passed'])} packets were sent to the peer of h3 against its pause (watchdog)"])

    def test_alert_only_says_so(self):
        self.make(flow(count=1000))
        result = self.run_switch(storm(), top=SETTINGS + 'action = "alert"\n')
        self.assertEqual(len(self.events(result, "watchdog_detected")), 1)
        self.assertEqual(len(result.data("h3")), 1000)
        self.assert_promises(result)

    def test_off(self):
        self.make(flow(count=1000))
        result = self.run_switch(storm(), top='[watchdog]\naction = "off"\n')
        self.assertEqual((self.watchdog(result)["state"], self.watchdog(result)["detected"]), ("off", 0))
        self.assertEqual(len(result.data("h3")), 1000)

    def test_stop_and_start_by_command(self):
        self.make(flow(count=1000))
        result = self.run_switch(storm('"250ms"'), top=SETTINGS, events=[("50ms", "watchdog stop h3"), ("120ms", "watchdog start h3")])
        detected, = self.events(result, "watchdog_detected")
        self.assertEqual(detected["at_ns"], 220 * NS)
        self.assertEqual(self.kinds(result)[:3], ["watchdog_stopped", "watchdog_started", "watchdog_detected"])

    def test_the_big_red_switch(self):
        self.make(flow(duration='"2ms"') + flow("h1", "h2", kind="udp", duration='"2ms"', rate='"10G"'))
        calm = self.run_switch(top=SETTINGS)
        result = self.run_switch(top=SETTINGS, events=[("500us", "watchdog big-red-switch on"), ("1ms", "watchdog big-red-switch off")])
        entry = self.watchdog(result)
        self.assertEqual((entry["state"], entry["detected"]), ("operational", 0))
        self.assertAlmostEqual(entry["total_dropped"], len(calm.data("h3")) / 4, delta=len(calm.data("h3")) / 100)
        self.assertEqual(len(result.data("h3")) + entry["total_dropped"], len(calm.data("h3")))
        self.assertEqual(len(result.data("h2")), len(calm.data("h2")))
        start = self.sent["h1"][0][0]
        gap = [at - start for at, _ in result.data("h3")]
        self.assertEqual([at for at in gap if 501_000 < at < 999_000], [])
        self.assertEqual(self.kinds(result), ["big_red_switch_on", "lossless_drop", "big_red_switch_off"])
        self.assertEqual(pfc_of(result.out["h3"]), [])


if __name__ == "__main__":
    sys.exit(support.main(sys.argv[1:]))
