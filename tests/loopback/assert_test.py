#!/usr/bin/python3
"""--assert: a gate for CI, its exit codes, and what a signal makes of a run."""

import json
import signal
import subprocess
import xml.etree.ElementTree as xml_tree

import loopback
from frames import plain
from loopback import Programs, Switch, run
from waiting import PATIENCE_S, wait_for

ROCE = 26
DONE, FAILED, USAGE, FALSE = 0, 1, 2, 4
INTERRUPTED = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Assert(loopback.Case):
    def switch(self):
        """h0 sends five lossless packets and two without a route; h1 is down from 1 ms on."""
        switch = Switch(self, hosts=2)
        frames = [plain(dscp=ROCE)] * 5 + [plain(to="192.0.2.1")] * 2
        switch.give("h0", [(n * 1000, frame) for n, frame in enumerate(frames)])
        switch.event("1ms", "port h1 down")
        return switch

    TRUE = ("verdict.lossless", "lossless", "ledger.balanced", "verdict.lossless eq true", "verdict.lossless_packets eq 5",
            "ports.h0.drops.no_route eq 2", "ports.h0.drops.no_route == 2", "ports.h0.drops.no_route lt 3", "ports.h0.drops.no_route le 2",
            "ports.h0.drops.no_route gt 1", "ports.h0.drops.no_route ge 2", "ports.h0.drops.no_route ne 3", "ports.h0.drops.no_route != 3",
            "ports.h0.drops.no_route < 3", "ports.h0.drops.no_route <= 2", "ports.h0.drops.no_route > 1", "ports.h0.drops.no_route >= 2",
            "ports.h0.drops.ttl_expired eq 0", "ports.h1.lossless_drops.no_route lt 1",
            "port h1 down", "port h0 up", "queue h1.3 tx_packets eq 5", "group h0.3 packets eq 5", "pool lossless size_bytes gt 1MB",
            "ledger dropped eq 2", "stats clock eq virtual", "clock ne real", "end_ns ge 1ms", "ports.h0.mac eq 02:00:00:00:ff:01",
            "ports.h0.queues.3.tx_packets eq 0", "events.0.kind eq port_down",
            # And the functions, wildcards and quotients that scenarios have.
            "max ports.*.queues.*.tx_packets eq 5", "all ports.*.lossless_drops.no_route eq 0", "count ports.*.mac eq 2", "sum ports.*.rx.packets eq 7",
            "ports.h0.drops.no_route over ports.h0.rx.packets lt 29%", "ports.'h0'.rx.packets eq 7", "any events.*.kind eq port_down")
    UNTRUE = (("ports.h0.drops.no_route lt 2", "2"), ("lossless eq false", "true"), ("port h1 up", "down"), ("queue h1.3 tx_packets ne 5", "5"),
              ("verdict.interrupted", "false"), ("clock eq real", "virtual"), ("verdict.lossless eq null", "true"),
              ("max ports.*.rx.packets lt 7", "7, at ports.h0.rx.packets"), ("end_ns lt 1us", "1000.0 us"))
    # Wrong expressions, and the text of their refusal.
    WRONG = (("", "wanted"), ("ports.h9.drops.no_route eq 0", "h9"), ("ports.h0.drops.no_rout eq 0", "no_rout"), ("verdict.losless", "perhaps lossless"),
             ("ledger.dropped", "neither true nor false"), ("ledger.dropped = 2", "compares nothing"), ("ledger.dropped eq", "wanted"),
             ("ledger.dropped eq 2 3", "wanted"), ("ledger.dropped eq many", "cannot be compared"), ("clock lt 5", "no order"),
             ("lossless gt false", "no order"), ("ports.h0 eq 3", "not a single value"), ("queue h0 dropped eq 0", "PORT.N"), ("planet h0 x eq 1", "no such thing as"),
             ("queue h0.3 droped eq 0", "dropped_packets"), ("pool none size_bytes eq 0", "none"), ("ports.h0.queues.9.tx_packets eq 0", "9"),
             ("nothing.at.all", "nothing"), ("max ports.*.rx.packets", "OP VALUE"), ("max ports.h9.*.packets lt 5", "h9"), ("all ports.x*.rx.packets eq 0", "no figure matches"),
             ("ledger.dropped ratio to idle lt 2", "there is no phase idle"))

    def gate(self, switch, *expressions, status=DONE, **keys):
        out = switch.run(*(word for expression in expressions for word in ("--assert", expression)), status=status, **keys)
        return out.stderr.splitlines()

    def test_true_ones_say_nothing(self):
        self.assertEqual(self.gate(self.switch(), *self.TRUE), [])

    def test_false_ones_say_the_figure(self):
        switch = self.switch()
        for expression, figure in self.UNTRUE:
            with self.subTest(expression=expression):
                self.assertEqual(self.gate(switch, "lossless", expression, "ledger.balanced", status=FALSE),
                                 [f"sluiced: false: {expression}: it is {figure}"])
        self.assertEqual(len(self.gate(switch, *(expression for expression, _ in self.UNTRUE), status=FALSE)), len(self.UNTRUE))
        self.assertTrue((switch.folder / "report.json").exists(), "the run itself is done")
        self.assertEqual(len(loopback.read_pcap(switch.folder / "out" / "h1.pcap")), 5)

    def test_nothing_lossless_is_not_true(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain())])
        self.assertEqual(self.gate(switch, "verdict.lossless", status=FALSE), ["sluiced: false: verdict.lossless: it is null: no packet of a lossless class was sent"])

    def test_wrong_ones_are_refused_before_the_run(self):
        switch = self.switch()
        for expression, word in self.WRONG:
            with self.subTest(expression=expression):
                for old in (switch.folder / "out").iterdir():
                    old.unlink()
                out = switch.run("--assert", expression, "--events", switch.folder / "events", status=USAGE)
                said = out.stderr.splitlines()[0]
                self.assertTrue(said.startswith(f'sluiced: --assert "{expression}"'), said)
                self.assertIn(word, said)
                self.assertEqual((out.stdout, out.report, list((switch.folder / "out").iterdir())), ("", None, []))

    def test_what_comes_with_the_run_is_judged_at_its_end(self):
        switch = self.switch()
        switch.event("2us", "fault h1 drop_every 2")
        self.assertEqual(self.gate(switch, "ports.h1.faults.dropped eq 0", "events.0.at_ns eq 2000"), [])
        self.assertEqual(self.gate(switch, "events.7.kind eq port_down", status=FALSE),
                         ['sluiced: false: events.7.kind eq port_down: events has 2 entries, and none is "7"'])
        self.assertIn("there is no part", self.gate(self.switch(), "ports.h1.faults.dropped eq 0", status=FALSE)[0])

    def test_it_says_how_many_hold_and_writes_them_for_ci(self):
        switch = self.switch()
        xml = switch.folder / "asserts.xml"
        out = switch.run("--junit", xml, "--assert", "verdict.lossless", "--assert", "ports.h0.rx.packets lt 1", status=FALSE)
        received = out.port("h0")["rx"]["packets"]
        self.assertTrue(out.stdout.endswith(f"\nassertions: 1 of 2 hold\nholds   verdict.lossless: it is true\nFALSE   ports.h0.rx.packets lt 1: it is {received}\n"), out.stdout)
        suite = xml_tree.parse(xml).getroot().find("testsuite")
        self.assertEqual((suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")), ("sluice", "2", "1", "0"))
        self.assertEqual([(case.get("name"), [each.get("message") for each in case]) for case in suite],
                         [("verdict.lossless", []), ("ports.h0.rx.packets lt 1", [f"it is {received}"])])
        self.assertNotIn("assertions:", self.switch().run().stdout)

    def test_a_failed_run_goes_before_a_false_assertion(self):
        switch = self.switch()
        (switch.folder / "sluice.toml").write_text(switch.text())
        done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--report", "/dev/full",
                    "--assert", "lossless eq false"])
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("false: lossless eq false: it is true", done.stderr)


class Interrupted(loopback.Case):
    def start(self, switch, *arguments):
        """A switch in the background, which runs when this returns."""
        path, socket = switch.folder / "sluice.toml", switch.folder / "socket"
        path.write_text(switch.text())
        process = subprocess.Popen([str(part) for part in (Programs.sluiced, "--config", path, "--report", switch.folder / "report.json",
                                                           "--socket", socket, *arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_for(socket.exists, why="no socket", alive=lambda: process.poll() is None)
        return process

    def end(self, switch, process, number):
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, error, json.loads((switch.folder / "report.json").read_text())["verdict"]

    def test_a_virtual_run(self):
        """A hundred million pauses outlast any test."""
        for number, status in INTERRUPTED.items():
            switch = Switch(self, hosts=2)
            switch.default(qos="lossless")
            switch.section("port.h1.fault", storm_classes=[3], storm_every="1us", storm_for="100s")
            switch.section("watchdog", action="off")
            switch.give("h0", [(0, plain(dscp=ROCE))])
            process = self.start(switch, "--assert", "lossless", "--assert", "ledger.balanced eq false")
            found, out, error, verdict = self.end(switch, process, number)
            self.assertEqual((found, error), (status, "sluiced: the run was interrupted: its assertions are not judged\n"))
            self.assertIs(verdict["interrupted"], True)
            self.assertIn("INTERRUPTED", out)

    def test_a_real_clock_is_stopped_not_interrupted(self):
        for number in INTERRUPTED:
            for expression, status in (("ledger.balanced", DONE), ("ledger.balanced eq false", FALSE)):
                switch = Switch(self, hosts=2, clock="real", device="net_null{n},no-rx=1")
                found, out, _, verdict = self.end(switch, self.start(switch, "--assert", expression), number)
                self.assertEqual((found, verdict["interrupted"]), (status, False))
                self.assertNotIn("INTERRUPTED", out)

    def test_a_virtual_clock_that_stands_still_is_stopped_not_interrupted(self):
        switch = Switch(self, hosts=2)
        found, _, _, verdict = self.end(switch, self.start(switch, "--interactive"), signal.SIGTERM)
        self.assertEqual((found, verdict["interrupted"]), (DONE, False))


if __name__ == "__main__":
    loopback.main()
