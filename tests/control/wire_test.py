#!/usr/bin/python3
"""Rules of a wire while it runs: added, changed, looked at and removed, and no frame is lost on the way but for those that they drop."""

import json
import signal

import control
from control import Case, PATIENCE_S, Running, Switch
from frames import plain


class Wires(Case):
    def wire(self, **keys):
        switch = Switch(self, hosts=0, **keys)
        for name in ("h0", "h1"):
            switch.ports[name] = {}
        switch.section("wire.w", ports=["h0", "h1"])
        return switch

    def running(self, frames=1000, gap_ns=1000):
        switch = self.wire()
        for port in ("h0", "h1"):
            switch.give(port, [(n * gap_ns, plain(200, identification=n, dscp=26)) for n in range(frames)])
        return Running(switch)

    def rule(self, running, name, direction="forward"):
        return running.call("stats.show", path=f"wires.w.rules.{name}.{direction}")

    def test_add_show_and_remove(self):
        running = self.running()
        self.assertIn("wire w has no rules; do: sluicectl wire add w RULE", running.ctl("wire show"))
        running.ctl("wire add w loss do drop every 10 direction forward")
        running.ctl("clock run 100500ns")
        self.assertEqual(self.rule(running, "loss"), {"matched_packets": 101, "acted_packets": 10, "passed_packets": 0})
        said = running.ctl("wire show w")
        self.assertIn("h0 and h1, PFC: end, held 0 and 0", said)
        self.assertRegex(said, r"w +loss +drop +forward +101 +10 +0\n")
        self.assertRegex(said, r"9\.0 us +forward +loss +drop, 200 bytes")
        self.assertIn("wire.w.impair.loss", running.ctl("config diff"))
        running.ctl("wire remove w loss")
        running.ctl("clock run")
        out = running.stop(accounts=True)
        self.assertEqual(out.drops(), {"impaired": 10})

    def test_a_key_of_a_rule_is_a_value_as_any_other(self):
        running = self.running()
        running.ctl("wire add w loss do drop every 2")
        running.ctl("clock run 10us")
        running.ctl("set wire.w.impair.loss.do duplicate")
        self.assertEqual(self.rule(running, "loss")["matched_packets"], 0)  # another rule: it counts anew
        running.ctl("clock run 10us")
        self.assertEqual(self.rule(running, "loss"), {"matched_packets": 10, "acted_packets": 5, "passed_packets": 0})
        self.assertEqual(running.ctl("config get wire.w.impair.loss.match.every").strip(), "2")
        running.ctl("config rollback")
        self.assertEqual(running.ctl("config get wire.w.impair.loss.do").strip(), '"drop"')
        running.stop()

    def test_a_rule_that_another_change_leaves_alone_goes_on_counting(self):
        running = self.running()
        running.ctl("wire add w loss do drop nth 50 direction forward")
        running.ctl("clock run 20500ns")
        running.ctl("wire add w other do duplicate nth 1000000")
        running.ctl("set port.h1.queue.3.wred none")
        running.ctl("clock run 20us")
        self.assertEqual(self.rule(running, "loss")["matched_packets"], 41)
        running.ctl("clock run")
        self.assertEqual(running.stop(accounts=True).drops(), {"impaired": 1})

    def test_what_is_refused_changes_nothing(self):
        running = self.running()
        running.ctl("wire add w loss do drop nth 5")
        for words, said in (("wire add x r do drop", 'no wire "x"'), ("wire add w loss do drop", 'has a rule "loss"; do: remove it'),
                            ("wire remove w none", 'no rule "none"'), ("wire add w r do explode", "wire.w.impair.r.do"),
                            ("wire add w r do delay", "a delay has no time"), ("wire add w r do drop qp all", "qp"),
                            ("wire add w r do drop nth", "wanted: wire add"), ("wire add w r do drop sport 5", "not a key of a rule"),
                            ("set wire.w.ports [\"h1\",\"h0\"]", "cannot change while the switch runs")):
            self.assertIn(said, running.ctl(words, status=1))
        self.assertEqual(list(running.call("stats.show", path="wires.w.rules")), ["loss"])
        running.stop()

    def test_no_more_than_64_rules(self):
        running = self.running(10)
        for n in range(64):
            running.ctl(f"wire add w r{n} do drop nth 1000")
        self.assertIn("at most 64", running.ctl("wire add w r64 do drop nth 1000", status=1))
        running.ctl("wire remove w r0")
        running.ctl("wire add w r64 do drop nth 1")
        running.ctl("clock run")
        self.assertEqual(running.stop(accounts=True).drops(), {"impaired": 2})

    def test_a_hundred_changes_under_load_lose_nothing(self):
        """Frames that a rule holds outlive it."""
        running = self.running(3000, 200)
        for n in range(100):
            running.call("command", command=f"wire add w delay do delay time {1 + n % 7}us every 3")
            running.call("command", command=f"wire add w swap do reorder frames {1 + n % 5} every 4")
            running.call("clock.run", **{"for": "3us"})
            running.call("command", command="wire remove w delay")
            running.call("command", command="wire remove w swap")
            running.call("clock.run", **{"for": "2us"})
        running.ctl("clock run")
        out = running.stop(accounts=True)
        self.assertEqual(out.drops(), {})
        for name in ("h0", "h1"):
            self.assertEqual(sorted(frame.bytes for frame in out.frames[name]), sorted(frame.bytes for frame in running.switch.sent("h0")))
        self.assertNotEqual([frame.bytes for frame in out.frames["h1"]], [frame.bytes for frame in running.switch.sent("h0")])

    def test_a_port_that_goes_down_keeps_the_account(self):
        running = self.running(300)
        running.ctl("wire add w delay do delay time 50us")
        running.ctl("clock run 100us")
        self.assertGreater(running.call("stats.show", path="wires.w.forward.held_packets"), 40)
        running.ctl("command port h0 down")
        running.ctl("clock run 20us")
        running.ctl("command port h1 down")
        running.ctl("clock run 100us")
        self.assertEqual(running.call("stats.show", path="wires.w.forward.held_packets"), 0)
        running.ctl("command port h0 up")
        running.ctl("command port h1 up")
        running.ctl("clock run")
        out = running.stop(accounts=True)
        self.assertEqual(list(out.drops()), ["link_down"])

    def test_a_stop_lets_go_of_what_is_held(self):
        """Under the real clock: rules act, and frames that wait for ten seconds leave when the switch stops."""
        switch = self.wire(clock="real", workers=1)
        sent = [plain(200, identification=n) for n in range(64)]
        switch.give("h0", [(0, frame) for frame in sent])
        switch.section("wire.w.impair.a", do="drop", match={"nth": 3})
        switch.section("wire.w.impair.b", do="delay", time="10s", match={"every": 7})
        switch.section("wire.w.impair.c", do="duplicate", match={"nth": 5})
        running = Running(switch, interactive=False)
        running.wait_for(lambda: running.call("stats.show", path="ports.h0.rx.packets"), lambda count: count == 64)
        ledger = running.call("stats.show", path="ledger")
        self.assertTrue(ledger["balanced"])
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(PATIENCE_S)
        self.assertEqual(running.process.returncode, 0, running.said())
        report = json.loads(running.report_path.read_text())
        self.assertEqual(report["ports"]["h0"]["drops"], {"impaired": 1})
        self.assertEqual((report["ledger"]["rx"], report["ledger"]["generated"], report["ledger"]["tx"], report["ledger"]["queued"]),
                         (64, 1, 64, 0))
        self.assertEqual(report["wires"]["w"]["rules"]["b"]["forward"]["acted_packets"], 9)


if __name__ == "__main__":
    control.main()
