#!/usr/bin/python3
"""sluicectl why on a switch as it is made by default: the recorder's answers, against the counters that it does not read."""

import json
import re
import time

import control
from control import Case, Running, Switch
from frames import plain

REFUSED, USAGE = 1, 2


class Why(Case):
    def incast(self, workers=1, hosts=None, **decisions):
        """Hosts h0 and h1 write to h2; their pauses are many."""
        switch = Switch(self, hosts=0, workers=workers)
        for n in range(3):
            switch.roce_host(f"h{n}", **{"cc": "none", **(hosts or {}).get(f"h{n}", {})})
        switch.section("port.h2.queue.3", wred="none")
        switch.flow_of_hosts(["h0", "h1"], "h2", qps=4, message="100KB", depth=4)
        if decisions:
            switch.section("decisions", **decisions)
        return switch

    def running(self, switch, time="1ms"):
        running = Running(switch)
        running.call("clock.run", **{"for": time})
        return running

    def entries(self, running, **question):
        return running.call("why.show", **{"last": 1000, **question})["entries"]

    def only(self, running, verdict, **question):
        return [entry for entry in self.entries(running, **question) if entry["verdict"] == verdict]

    def group(self, running, port, number=3):
        return running.call("stats.show", path=f"ports.{port}.priority_groups.{number}")

    def test_pauses_are_those_of_the_counters(self):
        running = self.running(self.incast())
        for port in ("h0", "h1"):
            paused = self.only(running, "paused", at=port)
            group = self.group(running, port)
            self.assertGreater(group["xoff_transitions"], 1)
            self.assertEqual(sum(entry["count"] for entry in paused), group["xoff_transitions"])
            asserted = running.call("stats.show", path=f"ports.{port}.pfc.tx_paused_ns.3")
            self.assertAlmostEqual(sum(entry["lasted_ns"] for entry in paused), asserted, delta=0.05 * asserted)
            peak = running.call("stats.show", path=f"ports.{port}.priority_groups.3.headroom_watermark_bytes")
            self.assertIn(f"headroom: {peak / 1000:.1f} KB of ", "\n".join(sum((entry["details"] for entry in paused), [])))
            for entry in paused:
                self.assertEqual((entry["source"], entry["reason"], entry["port"], entry["group"]), ("recorder", "congestion", port, 3))
                self.assertNotIn("unix_ns", entry["first"])
                details = "\n".join(entry["details"])
                self.assertIn("its packets waited in h2.3 (100 %)", details)
                self.assertRegex(details, r"queue h2.3 was filled from h[01] \(about \d0 %\), h[01] \(about \d0 %\)")
                self.assertIn("h2 sends 100G, and these ports may bring 200G", details)
                self.assertIn("queue h2.3 marks nothing: with WRED and ECN senders would slow down", entry["do"])
                self.assertIn("dynamic_th 1 instead of 0", entry["do"])
        said = running.ctl("why h0")
        self.assertRegex(said, r"^h0\.3 paused its sender \d+ times from \d.* us to \d.* us, for .* in all, .* at most")
        self.assertIn("(from the flight recorder: last 256 events per port)\n", said)
        self.assertEqual(running.ctl("why h0.3"), said)
        self.assertEqual(running.ctl("why h0.4"), "no packet was dropped, marked or paused after classification\n")
        self.assertIn("h0.3 paused its sender", running.ctl("why h2"), "h2 is what they waited for")
        self.assertIn("h1.3 paused its sender", running.ctl("why"))
        self.assertEqual(json.loads(running.ctl("--json why h0.3")), self.entries(running, at="h0.3"))
        running.stop()

    def test_a_pause_that_runs_is_told(self):
        switch = self.incast()
        running = self.running(switch, "20us")
        running.ctl("queue hold h2.3")
        running.call("clock.run", **{"for": "1ms"})
        entry = self.only(running, "paused", at="h0")[-1]
        self.assertTrue(entry["going_on"])
        self.assertEqual(entry["reason"], "held")
        self.assertIn("sluicectl queue release h2.3", entry["do"])
        self.assertIn("and still does", entry["sentence"])
        self.assertGreater(entry["lasted_ns"], 500_000)
        before = entry["lasted_ns"]
        running.call("clock.run", **{"for": "1ms"})
        self.assertEqual(self.only(running, "paused", at="h0")[-1]["lasted_ns"], before + 1_000_000)
        running.ctl("queue release h2.3")
        running.call("clock.run", **{"for": "1ms"})
        self.assertEqual(len(self.only(running, "paused", at="h0")), 1)
        running.stop()

    def test_a_slow_peer_is_the_cause(self):
        running = self.running(self.incast(hosts={"h2": {"drain": "10G"}}))
        received = self.only(running, "was_paused", at="h2")
        ended = sum(running.call("stats.show", path=f"ports.h2.pfc.{figure}.3") for figure in ("rx_xon", "expired"))
        self.assertEqual(sum(entry["count"] - entry["going_on"] for entry in received), ended)
        total = running.call("stats.show", path="ports.h2.pfc.rx_paused_ns.3")
        self.assertAlmostEqual(sum(entry["lasted_ns"] for entry in received), total, delta=len(received))
        self.assertIn("because of it h0.3 and h1.3 paused, too", received[0]["details"])
        slow = [entry for entry in self.only(running, "paused") if entry["reason"] == "slow_peer"]
        self.assertEqual({entry["port"] for entry in slow}, {"h0", "h1"})
        self.assertIn("find out why the peer of h2 takes less than h2 sends", slow[0]["do"])
        running.stop()

    def test_a_shaper_is_the_cause(self):
        switch = self.incast()
        switch.port("h2", shaper="5G")
        running = self.running(switch)
        entry = self.only(running, "paused", at="h0")[0]
        self.assertEqual(entry["reason"], "shaped")
        self.assertIn("h2 sends 5G at most, by its shaper, and these ports may bring 200G", entry["details"])
        self.assertIn("raise port.h2.shaper", entry["do"])
        self.assertNotIn("dynamic_th", entry["do"])
        running.stop()
        switch = self.incast()
        switch.sections["port.h2.queue.3"]["max_rate"] = "20G"
        running = self.running(switch)
        entry = self.only(running, "paused", at="h0")[0]
        self.assertIn("queue h2.3 sends 20G at most, by its max_rate, and these ports may bring 200G", entry["details"])
        self.assertIn("raise port.h2.queue.3.max_rate", entry["do"])
        running.stop()

    def test_marks_that_nobody_echoes(self):
        """All is marked, and no CNP comes back: to mark earlier would change nothing."""
        for senders, receiver in (({"cc": "none"}, {"cc": "none", "echo_ce": False}), ({"cc": "dcqcn"}, {"cc": "dcqcn", "echo_ce": False})):
            switch = self.incast(hosts={"h0": senders, "h1": senders, "h2": receiver})
            switch.section("wred.low", green_min=1000, green_max=2000, green_probability=100)
            switch.section("port.h2.queue.3", wred="low")
            running = self.running(switch)
            queue = running.call("stats.show", path="ports.h2.queues.3")
            for entry in self.only(running, "paused", at="h0"):
                self.assertIn(f"queue h2.3 has marked {queue['ecn_marked_packets']:,} of {queue['tx_packets']:,} packets, and no CNP went back".replace(",", " ", 2), entry["do"])
                self.assertIn("the receivers do not echo marks, or there is no congestion control", entry["do"])
                self.assertNotIn("would slow down earlier", entry["do"])
            running.stop()

    def test_losses_come_first_and_as_one(self):
        """The senders ignore pauses: thousands of drops over many pauses, of which the last twenty are told."""
        switch = self.incast()
        for port in ("h0", "h1"):
            switch.sections.pop(f"host.{port}")
        switch.rest.clear()
        for n, port in enumerate(("h0", "h1")):
            switch.port(port, peer="ignore", speed="100G", small_xoff=True)
            switch.section(f"port.{port}.priority_group.3", static_th=4096, xoff=4096)
            # Every 3 ms a burst that overruns the headroom.
            switch.give(port, [(3_000_000 * burst + 90 * i, plain(1000, source=n, to=2, dscp=26)) for burst in range(30) for i in range(100)])
        running = self.running(switch, "200ms")
        lost = sum(running.call("stats.show", path=f"ports.{port}.lossless_drops.headroom_overrun") for port in ("h0", "h1"))
        self.assertGreater(lost, 1000)
        answer = running.call("why.show", last=20)["entries"]
        losses = [entry for entry in answer if "lossless" in entry]
        self.assertEqual(answer[:len(losses)], losses)
        self.assertEqual(sum(entry["lossless"] for entry in losses), lost)
        self.assertEqual({(entry["reason"], entry["port"]) for entry in losses}, {("headroom_overrun", "h0"), ("headroom_overrun", "h1")})
        for loss in losses:
            self.assertIn(f"the peer of {loss['port']} does not obey pauses: switch PFC on there", loss["do"])
        causes = [tuple(map(entry.get, ("verdict", "port", "group", "reason"))) for entry in self.entries(running)]
        self.assertEqual(len(causes), len(set(causes)), causes)
        paused, = self.only(running, "paused", at="h0")
        self.assertEqual(paused["count"], self.group(running, "h0")["xoff_transitions"])
        self.assertGreater(paused["count"], 20)
        self.assertRegex(paused["sentence"], rf"^h0\.3 paused its sender {paused['count']} times from .* to .* ms, for .* in all, .* at most")
        said = running.ctl("why")
        self.assertTrue(said.startswith("headroom_overrun: "), said)
        self.assertIn("the peer of h0 does not obey: frames keep coming", said)
        running.stop()

    def drops(self, **keys):
        switch = Switch(self, hosts=2, **keys)
        switch.give("h0", [(1000 * n, plain(200, to="192.0.2.1" if n < 5 else 1, ttl=1 if n == 9 else 64)) for n in range(10)])
        return switch

    def test_drops_have_their_flow(self):
        running = self.running(self.drops())
        no_route, ttl = self.only(running, "dropped", at="h0")
        self.assertEqual((no_route["reason"], no_route["count"], ttl["reason"], ttl["count"]), ("no_route", 5, "ttl_expired", 1))
        self.assertEqual((no_route["first"]["at_ns"], no_route["last"]["at_ns"]), (0, 4000))
        self.assertIn("the first of them: 10.0.0.2 to 192.0.2.1", no_route["details"][0])
        said = running.ctl("why flow 192.0.2.1 from 10.0.0.2")
        self.assertIn("such a packet is dropped: no route", said)
        self.assertIn("no_route: 5 packets", said)
        said = running.ctl("why flow 10.0.1.2 from 10.0.0.2")
        self.assertIn("such a packet comes in by h0 and leaves by h1: ", said)
        self.assertEqual(running.ctl("why h1"), "no packet was dropped, marked or paused after classification\n")
        running.stop()

    def test_a_flow_is_told_of_the_pauses_on_its_way(self):
        running = self.running(self.incast())
        said = running.ctl("why flow 10.0.2.2 from 10.0.0.2 qp 17")
        self.assertIn("h0.3 paused its sender", said)
        self.assertNotIn("h1.3 paused its sender", said)
        self.assertNotIn("paused its sender", running.ctl("why flow 10.0.1.2 from 10.0.0.2"))
        answer = running.call("why.flow", destination="10.0.2.2")
        self.assertEqual((answer["way"]["from"], answer["way"]["to"]), (None, "h2"))
        self.assertEqual({entry["port"] for entry in answer["entries"] if entry["verdict"] == "paused"}, {"h0", "h1"})
        running.stop()

    def test_packets_that_have_left_count_no_more(self):
        switch = self.incast()
        switch.rest.clear()
        switch.flow_of_hosts(["h0"], "h1", qps=4, message="100KB", depth=4, stop="300us")
        switch.flow_of_hosts(["h0", "h1"], "h2", qps=4, message="100KB", depth=4, start="500us")
        running = self.running(switch)
        paused = self.only(running, "paused", at="h0")
        self.assertGreater(paused[0]["first"]["at_ns"], 500_000)
        self.assertIn("its packets waited in h2.3 (100 %), by a sample of them", paused[0]["details"])
        running.stop()

    def test_links_and_storms(self):
        switch = self.incast()
        switch.section("watchdog", detection="100ms", restoration="100ms")
        running = self.running(switch, "50us")
        running.ctl("port h1 down")
        running.call("clock.run", **{"for": "10us"})
        running.ctl("port h1 up")
        for key, value in (("storm_every", "250us"), ("storm_for", "1s"), ("storm_classes", "[3]")):
            running.ctl(f"fault h2 {key} {value}")
        running.call("clock.run", **{"for": "150ms"})
        down, up = self.only(running, "link", at="h1")
        self.assertEqual((down["reason"], up["reason"]), ("down", "up"))
        storm, = self.only(running, "storm", at="h2.3")
        self.assertEqual((storm["reason"], storm["queue"]), ("begins", 3))
        told = [event["at_ns"] for event in running.call("events.list")["events"] if event["kind"] == "watchdog_detected"]
        self.assertEqual([storm["first"]["at_ns"]], told)
        self.assertEqual(self.entries(running)[0], storm)
        self.assertRegex(running.ctl("why"), r"^the watchdog found at .* that the peer of h2 held queue h2\.3 paused; action drop; it still does\n")
        self.assertEqual(self.only(running, "storm", at="h2.2"), [])
        dropped = [entry for entry in self.only(running, "dropped", at="h2") if entry["reason"] == "watchdog_drop"]
        self.assertEqual(sum(entry["count"] for entry in dropped), sum(
            drops.get("watchdog_drop", 0) for drops in (running.call("stats.show", path=f"ports.{port}.drops") for port in ("h0", "h1"))))
        running.stop()

    def test_any_number_of_workers_records_the_same(self):
        def recorded(workers):
            running = self.running(self.incast(workers=workers, hosts={"h2": {"drain": "40G"}}))
            answer = self.entries(running)
            running.stop()
            return answer
        one = recorded(1)
        self.assertGreaterEqual(len(one), 3)
        for workers in (2, 3):
            self.assertEqual(recorded(workers), one)

    def test_it_can_be_switched_off(self):
        running = self.running(self.incast(recorder=0))
        self.assertEqual(running.call("why.show")["entries"], [])
        self.assertEqual(running.call("why.show")["recorder"], 0)
        said = running.ctl("why", status=REFUSED)
        self.assertIn("recorder = 256", said)
        self.assertIn("decisions on", said)
        running.stop()

    def test_decision_records_come_behind_it(self):
        running = self.running(self.incast(record="on"))
        recorder, decisions = running.ctl("why h0").split("from decision records:\n")
        self.assertIn("its packets waited in h2.3 (100 %)\n", recorder)  # all are counted
        self.assertIn("paused buffer at group h0.3: ", decisions)
        sources = [entry["source"] for entry in json.loads(running.ctl("--json why h0"))]
        self.assertEqual(sorted(set(sources)), ["decisions", "recorder"])
        running.stop()

    def test_the_worst_entries_are_shown(self):
        running = self.running(self.drops(), "100us")
        answer = running.call("why.show", last=1)
        self.assertEqual((answer["left_out"], [entry["reason"] for entry in answer["entries"]]), (1, ["no_route"]))
        self.assertIn("; 1 more: say last N", running.ctl("why h0 last 1"))
        running.stop()

    def test_what_is_refused(self):
        running = self.running(self.drops())
        for place in ("h9", "h0.8", "h0.3.3", "h0.", ".3", "h0.33", "", "\x00", "h0\n", "x" * 10_000):
            with self.subTest(place=place):
                error = running.refused("why.show", at=place)
                self.assertIn("there is no port ", str(error))
        for last in (0, -1, 10**6, "3", None):
            running.refused("why.show", last=last)
        running.refused("why.flow")
        running.refused("why.flow", destination="10.0.1.2", source="::1")
        running.refused("why.show", at="h0", port="h0")
        self.assertIn("h0", running.ctl("why h00", status=USAGE))
        running.ctl("why h0.9", status=USAGE)
        running.ctl("why flow", status=USAGE)
        running.stop()

    def test_the_wall_clock_stands_beside_the_real_one(self):
        switch = self.drops(clock="real")
        running = Running(switch, interactive=False)
        begin = time.time_ns()
        running.wait_for(lambda: self.only(running, "dropped", at="h0"), lambda found: sum(entry["count"] for entry in found) == 6)
        no_route = self.only(running, "dropped", at="h0")[0]
        unix_ns = no_route["first"]["unix_ns"]
        self.assertLess(abs(unix_ns - begin), 600 * 10**9)
        date = time.strftime("%Y-%m-%d %H:%M:", time.gmtime(unix_ns // 10**9))
        self.assertRegex(no_route["sentence"], re.escape(date) + r"\d\d\.\d{6} UTC")
        for _ in range(20):
            self.assertEqual(self.only(running, "dropped", at="h0")[0], no_route)
        running.stop()


if __name__ == "__main__":
    control.main()
