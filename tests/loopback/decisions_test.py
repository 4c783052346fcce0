#!/usr/bin/python3
"""Decision records and microbursts through sluiced: one line a packet that agrees with captures and counters."""

import collections
import json
import os

import loopback
from determinism_test import busy
from frames import plain
from loopback import Switch, until

CONFIGURATION, FAILED = 2, 1


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def packets(lines):
    return [line for line in lines if "sequence" in line]


class Records(loopback.Case):
    def recorded(self, switch, *arguments, **overrides):
        path = switch.folder / "decisions.jsonl"
        out = switch.run("--decisions", path, *arguments, **overrides)
        return out, records(path), path.read_bytes()

    def agree(self, switch, out, lines):
        """Records against the report and the captures."""
        frames = packets(lines)
        self.assertEqual(len(frames), out.report["ledger"]["rx"] - out.report["ledger"]["consumed"])
        self.assertEqual(len({(line["port"], line["sequence"]) for line in frames}), len(frames))
        self.assertTrue(all(line["whole"] for line in frames))
        drops = collections.defaultdict(collections.Counter)
        queues, marks, left = collections.Counter(), collections.Counter(), collections.defaultdict(list)
        for line in frames:
            if line["verdict"] == "dropped":
                drops[line["port"]][line["drop"]["reason"]] += 1
            else:
                self.assertIn(line["verdict"], ("sent", "marked"))
                route = line["route"]
                queues[route["egress"], route["queue"]] += 1
                marks[route["egress"], route["queue"]] += line["verdict"] == "marked"
                left[route["egress"]].append(line["departure"]["at_ps"] // 1000)
        for name, port in out.report["ports"].items():
            self.assertEqual(dict(drops[name]), port["drops"], name)
            for n, queue in enumerate(port["queues"]):
                self.assertEqual(queues[name, n], queue["tx_packets"], (name, n))
                self.assertEqual(marks[name, n], queue["ecn_marked_packets"], (name, n))
            self.assertEqual(sorted(left[name]), [frame.at_ns for frame in out.frames[name]
                                                  if not loopback.is_mac_control(frame.bytes)], name)
            for n, group in enumerate(port["priority_groups"]):
                signals = collections.Counter(line["signal"] for line in lines
                                              if line.get("group") == n and line["port"] == name)
                self.assertEqual(signals["xoff"], group["xoff_transitions"], (name, n))
        said = out.report["decisions"]
        self.assertEqual((said["state"], said["lost"], said["given_up"]), ("on", 0, 0))
        self.assertEqual(said["recorded"], len(lines))
        for verdict, count in said["verdicts"].items():
            self.assertEqual(count, sum(line["verdict"] == verdict for line in lines), verdict)
        explained = collections.Counter()
        for why in said["why"]:
            explained[why["verdict"]] += why["count"]
            self.assertTrue(why["sentence"])
        self.assertEqual(explained["dropped"], said["verdicts"]["dropped"])
        self.assertEqual(explained["paused"], sum(line.get("signal") == "xoff" for line in lines))

    def test_records_agree_with_counters_and_captures_whatever_the_number_of_workers(self):
        for turn in ("0ns", "500ns"):
            switch = busy(self, turn)
            bare = switch.run()
            out, lines, first = self.recorded(switch)
            self.agree(switch, out, lines)
            self.assertGreater(len(lines), 4000)
            reasons = {line["drop"]["reason"] for line in lines if line["verdict"] == "dropped"}
            self.assertGreater(sum(line["verdict"] == "marked" for line in lines), 20)
            self.assertLessEqual({"wred_drop", "queue_limit", "ingress_limit", "headroom_overrun", "link_down", "ttl_expired"}, reasons)
            for workers in (2, 4):
                again, _, text = self.recorded(switch, workers=workers)
                self.assertEqual(text == first, True, f"{workers} workers at {turn}")
                self.assertEqual(again.raw["report"], out.raw["report"])
            # Observation changes nothing but what it says itself.
            self.assertEqual(bare.report.pop("decisions"), {"state": "off"})
            out.report.pop("decisions")
            self.assertEqual(bare.report, out.report)
            for name in bare.frames:
                self.assertEqual(bare.raw[name] == out.raw[name], True, name)

    def test_a_record_says_what_the_frame_was(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain(200, dscp=26, ecn=2, sport=7, dport=8)), (50_000, plain(60, ttl=1)),
                           (90_000, plain(100, tags=((0x8100, 5),), to="10.7.0.1"))])
        _, lines, _ = self.recorded(switch)
        sent, expired, nowhere = lines
        arrival = {"at_ps": 0, "captured_ns": 0, "bytes": 200, "kind": "ipv4", "tags": 0, "dscp": 26, "ecn": "ect0", "fragment": False,
                   "protocol": 17, "source": "10.0.0.2", "destination": "10.0.1.2", "source_port": 7, "destination_port": 8}
        self.assertEqual(sent["arrival"], arrival)
        self.assertEqual(sent["class"], {"tc": 3, "group": 3, "lossless": True})
        self.assertEqual((sent["route"]["egress"], sent["route"]["queue"]), ("h1", 3))
        self.assertEqual((expired["verdict"], expired["drop"]["reason"]), ("dropped", "ttl_expired"))
        self.assertNotIn("route", expired)
        self.assertEqual((nowhere["drop"]["reason"], nowhere["arrival"]["tags"]), ("no_route", 1))
        self.assertNotIn("egress", nowhere["route"])

    def test_a_command_switches_them_on_and_off(self):
        switch = Switch(self, hosts=3)
        switch.limit("h2", 0, 8)
        for n in range(2):
            switch.give(f"h{n}", [(100 * k, plain(1000, source=n, to=2)) for k in range(400)])
        path = switch.folder / "all.jsonl"
        switch.run("--decisions", path)
        every = packets(records(path))
        switch.event("10us", "decisions on port h1 verdict dropped")
        switch.event("20us", "decisions on verdict sent class 0")
        switch.event("30us", "decisions off")
        out, lines, _ = self.recorded(switch, "--seed", "1")
        self.assertEqual([kind for _, kind in out.events() if kind != "microburst"], ["decisions"] * 3)
        # With a file they are on from the start; a verdict is judged when a record is complete.
        def end(line):
            return (line.get("departure") or line["drop"])["at_ps"]
        def wanted(line):
            at, done = line["arrival"]["at_ps"], end(line)
            if at < 10**7:
                chosen = True
            elif at < 2 * 10**7:
                chosen = line["port"] == "h1"
            else:
                chosen = at < 3 * 10**7
            verdicts = {"sent", "dropped"} if done < 10**7 else {"dropped"} if done < 2 * 10**7 else {"sent"} if done < 3 * 10**7 else {"sent", "dropped"}
            return chosen and line["verdict"] in verdicts
        self.assertEqual([(line["port"], line["sequence"]) for line in lines],
                         [(line["port"], line["sequence"]) for line in every if wanted(line)])
        # Without a file the report alone says why.
        out = switch.run()
        self.assertEqual(out.report["decisions"]["state"], "ready")
        self.assertIn("lossy queue h2.0 held 2048 B", out.report["decisions"]["why"][0]["sentence"])
        self.assertIn("lossy queue h2.0 held 2048 B", out.stdout)

    def test_a_pause_names_what_filled_the_group(self):
        switch = Switch(self, hosts=3)
        switch.section("port.h0.priority_group.3", size=0, static_th="5120")  # 20 cells
        for n, port in enumerate(("h1", "h2")):
            switch.event("0ns", f"queue {port}.3 hold")
            switch.event("5us", f"queue {port}.3 release")
        switch.give("h0", [(100 * k, plain(1000, to=1 + k % 3 // 2, dscp=26)) for k in range(8)])  # 4 cells each
        out, lines, _ = self.recorded(switch)
        pause = next(line for line in lines if line.get("signal") == "xoff")
        self.assertEqual((pause["port"], pause["group"], pause["shared"], pause["headroom"]), ("h0", 3, 20, 4))
        self.assertEqual(pause["filled_by"], [{"egress": "h1", "queue": 3, "cells": 16}, {"egress": "h2", "queue": 3, "cells": 8}])
        fired = [line["sequence"] for line in packets(lines) if line.get("ingress", {}).get("fired_xoff")]
        self.assertEqual(fired, [5])
        self.assertIn("filled by h1.3 (4096 B), h2.3 (2048 B)", out.stdout)

    def test_a_small_ring_loses_and_counts(self):
        switch = busy(self, "500ns")
        bare = switch.run()
        switch.section("decisions", ring=16)
        out, lines, _ = self.recorded(switch)
        said = out.report["decisions"]
        self.assertGreater(said["lost"], 0)
        self.assertEqual(said["recorded"], len(lines))
        self.assertRegex(out.stdout, r"decisions: \d[\d ]* events are missing: the ring was full")
        self.assertTrue(all("arrival" in line for line in packets(lines)))
        for name in bare.frames:
            self.assertEqual(bare.raw[name] == out.raw[name], True, name)

    def under_the_real_clock(self, workers):
        switch = Switch(self, hosts=3, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", clock="real", workers=workers)
        switch.give("h0", [(0, plain(size, to=1 + n % 2, dscp=26 * (n % 3 == 0))) for n, size in enumerate(range(60, 3000, 20))]
                    + [(0, plain(ttl=1))])
        switch.give("h1", [(0, plain(source=1, to=2))] * 40)
        sent = sum(len(switch.sent(name)) for name in ("h0", "h1"))
        out, lines, _ = self.recorded(switch, script=until(
            lambda report: report["ledger"]["rx"] == sent and report["ledger"]["queued"] == 0))
        frames = packets(lines)
        self.assertEqual(out.report["decisions"]["lost"], 0)
        self.assertEqual(len(frames), out.report["ledger"]["rx"])
        self.assertTrue(all(line["whole"] for line in frames))
        verdicts = collections.Counter(line["verdict"] for line in frames)
        self.assertEqual(verdicts["sent"], out.report["ledger"]["tx"] - out.report["ledger"]["generated"])
        self.assertEqual(verdicts["dropped"], out.report["ledger"]["dropped"])
        for line in frames:
            if line["verdict"] == "sent":
                # Both by the turn of one worker; another one's turn may have begun before this packet came.
                self.assertLessEqual(line["egress"]["at_ps"], line["departure"]["at_ps"])

    def test_under_the_real_clock(self):
        self.under_the_real_clock(1)

    def test_under_the_real_clock_with_two_workers(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.under_the_real_clock(2)

    def test_what_is_refused(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain())])
        switch.section("decisions", port=["h7"])
        switch.refused(CONFIGURATION, "decisions.port", "no port", "h7")
        switch.section("decisions", file=str(switch.folder / "none" / "file"))
        switch.refused(FAILED, "decisions", "cannot be written", "none/file")
        switch.section("decisions", record="off")
        switch.event("1us", "decisions on")
        switch.refused(CONFIGURATION, "event.do", "record = \"ready\"")
        switch.section("decisions", record="ready")
        switch.rest.clear()
        switch.event("1us", "decisions on port h9")
        switch.refused(CONFIGURATION, "event.do", "no port \"h9\"")


class Microbursts(loopback.Case):
    def test_an_incast_is_one_burst_with_its_feeders(self):
        switch = Switch(self, hosts=4)
        switch.port("h3", microburst="10KB")
        for n in (0, 2):
            switch.give(f"h{n}", [(k * 82, plain(1000, source=n, to=3)) for k in range(100)])
        out = switch.run()
        [burst] = out.report["microbursts"]
        self.assertEqual((burst["port"], burst["queue"], burst["fed_by"], burst["dropped_packets"]), ("h3", 0, ["h0", "h2"], 0))
        # Every 82 ns two frames of 4 cells come, and 0.08 ns before the next two one has gone.
        self.assertEqual(burst["threshold_bytes"], 39 * 256)
        self.assertEqual(burst["peak_bytes"], 100 * 4 * 256)
        self.assertEqual(burst["start_ns"], 9 * 82)  # ten frames are above 39 cells
        self.assertEqual(burst["peak_at_ns"], 99 * 82)
        self.assertTrue(burst["ended"])
        self.assertIn("fed by", out.stdout)
        self.assertEqual([kind for _, kind in out.events()], ["microburst"])

    def test_zero_switches_them_off_and_the_default_is_by_speed(self):
        switch = Switch(self, hosts=3, **{"buffer.size": "8MB"})
        for n in range(2):
            switch.give(f"h{n}", [(k * 730, plain(9000, source=n, to=2)) for k in range(100)])
        [burst] = switch.run().report["microbursts"]
        self.assertEqual(burst["threshold_bytes"], 400_000 // 256 * 256)
        switch.default(microburst=0)
        self.assertEqual(switch.run().report["microbursts"], [])
        switch.section("port.h2.queue.0", microburst="200KB")
        [burst] = switch.run().report["microbursts"]
        self.assertEqual(burst["threshold_bytes"], 200_000 // 256 * 256)

    def test_the_same_whatever_the_number_of_workers(self):
        switch = busy(self, "500ns")
        switch.sections["default"]["microburst"] = 20_000
        first = switch.run().report
        self.assertGreater(len(first["microbursts"]), 2)
        starts = [burst["start_ns"] for burst in first["microbursts"]]
        self.assertEqual(starts, sorted(starts))
        for workers in (2, 4):
            self.assertEqual(switch.run(workers=workers).report, first)


if __name__ == "__main__":
    loopback.main()
