#!/usr/bin/python3
"""The report on workers: under the real clock their turns and, while it is wanted, cycles by stage."""

import os
import re

import control
from control import Case, Running, Switch
from frames import plain

STAGES = ["idle", "turn", "receive", "parse", "lookup", "route", "admit", "hand_off", "judge", "enqueue", "pass",
          "schedule", "congestion", "send"]
ON_THE_WAY = STAGES[2:9] + ["pass", "send"]  # of every packet that finds its port idle
QUEUED = ["schedule", "congestion"]


class Workers(Case):
    def real(self, workers=1, dscp=0):
        """An endless input whose sender obeys, and an output that swallows."""
        switch = Switch(self, hosts=1, clock="real", workers=workers, device="net_pcap{n},{rx}infinite_rx=1")
        switch.port("h0", peer="obey")
        switch.give("h0", [(n * 1000, plain(200, to="10.7.0.1", source=0, dscp=dscp)) for n in range(64)])
        switch.route("10.7.0.0/16", "10.9.1.2")
        text = switch.text().replace("address = [", "promiscuous = true\naddress = [", 1)
        text += ('\n[port.n1]\ndevice = "net_null1,no-rx=1"\naddress = ["10.9.1.1/24"]\n'
                 '[[neighbor]]\naddress = "10.9.1.2"\nport = "n1"\nmac = "02:00:00:00:09:01"\n')
        return Running(switch, interactive=False, config=text)

    def meters(self, running):
        return [worker.get("meter") for worker in running.call("worker.show")["workers"]]

    def test_cycles_by_stage_while_they_are_wanted(self):
        running = self.real()
        running.wait_for(lambda: running.call("worker.show")["workers"][0]["busy_turns"], lambda turns: turns > 10)
        self.assertEqual(self.meters(running), [None])
        self.assertNotIn("stage", running.ctl("worker show"))
        running.ctl("worker meter on")
        meter, = running.wait_for(lambda: self.meters(running), lambda all: all[0]["stages"]["send"]["packets"] > 1000)
        self.assertEqual(list(meter["stages"]), STAGES)
        self.assertTrue(meter["on"])
        for name in ON_THE_WAY:
            with self.subTest(stage=name):
                stage = meter["stages"][name]
                self.assertGreater(stage["packets"], 0)
                self.assertGreater(stage["cycles"], 0)
        self.assertEqual(meter["stages"]["turn"]["packets"], 0)
        said = running.ctl("worker show")
        for name in STAGES:
            self.assertRegex(said, rf"(?m)^{name} +[\d ]+ ")
        self.assertGreater(running.call("stats.show", path="workers.0.meter.stages.parse.cycles"), 0)
        running.ctl("queue hold n1.0")
        running.wait_for(lambda: running.call("stats.show", path="ledger.queued"), lambda queued: queued > 100)
        running.ctl("queue release n1.0")
        running.wait_for(lambda: self.meters(running)[0]["stages"],
                         lambda stages: all(stages[name]["packets"] > 0 for name in QUEUED))
        running.stop()

    def test_lengths_of_turns_and_reactions(self):
        running = self.real(dscp=26)

        def worker():
            return running.call("worker.show")["workers"][0]
        running.wait_for(worker, lambda now: now["busy_turns"] > 10)
        self.assertEqual((worker()["xoffs_sent"], worker()["pauses_obeyed"]), (0, 0))
        self.assertNotIn("reaction", running.ctl("worker show"))
        running.ctl("queue hold n1.3")
        seen = running.wait_for(worker, lambda now: now["xoffs_sent"] > 0)
        self.assertGreater(seen["xoff_sent_ns"]["max"], 0)
        self.assertLessEqual(seen["busy_turn_ns"]["max"], seen["longest_turn_ns"])
        self.assertGreater(seen["busy_turn_ns"]["p50"], 0)
        said = running.ctl("worker show")
        self.assertRegex(said, r"(?m)^ +0 +XOFF sent +1 ")
        self.assertNotIn("pause obeyed", said)
        self.assertRegex(said.splitlines()[0], "turn p50 +p99 +max")
        self.assertGreater(running.call("stats.show", path="ports.h0.held_ns"), 0)
        running.ctl("queue release n1.3")
        sent = running.call("stats.show", path="ledger.tx")
        running.wait_for(lambda: running.call("stats.show", path="ledger.tx"), lambda now: now > sent + 100)
        running.stop()

    def test_off_keeps_the_figures(self):
        running = self.real()
        running.call("worker.meter", on=True)
        running.wait_for(lambda: self.meters(running), lambda all: all[0] and all[0]["turns"] > 100)
        running.call("worker.meter", on=False)

        def some_turns():
            def turns():
                return running.call("worker.show")["workers"][0]["turns"]
            before = turns()
            running.wait_for(turns, lambda now: now > before + 100)
        some_turns()  # the one under way was still metered
        kept = self.meters(running)
        some_turns()
        self.assertEqual(self.meters(running), kept)
        self.assertFalse(kept[0]["on"])
        self.assertIn("until it was switched off", running.ctl("worker show"))
        running.stop()

    def test_every_worker_has_its_own(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        running = self.real(workers=2)
        running.call("worker.meter", on=True)
        first, second = running.wait_for(lambda: self.meters(running), lambda all: all[0] and all[1] and
                                         all[0]["stages"]["hand_off"]["packets"] > 0 and all[1]["stages"]["schedule"]["packets"] > 0)
        self.assertEqual((first["stages"]["schedule"]["packets"], second["stages"]["receive"]["packets"]), (0, 0))
        said = running.call("worker.show")["workers"]
        self.assertEqual([worker["ports"] for worker in said], [["h0"], ["n1"]])
        self.assertEqual(said[1]["rx_packets"], 0)
        running.stop()

    def test_the_virtual_clock_has_none(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain(200))])
        running = Running(switch)
        running.call("clock.run")
        self.assertEqual(running.call("worker.show"), {"workers": [{"ports": ["h0", "h1"], "rx_packets": 1, "tx_packets": 1}]})
        self.assertNotIn("workers", running.call("stats.show"))
        self.assertIn("set clock to real", running.ctl("worker meter on", status=1))
        self.assertNotRegex(running.ctl("worker show"), re.compile("stage|cycle"))
        running.stop()


if __name__ == "__main__":
    control.main()
