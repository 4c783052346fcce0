#!/usr/bin/python3
"""What `--trace` samples of simulated hosts: bounded, the same whatever the workers, and the run does not notice; and its picture."""

import json
import os
import re
import xml.etree.ElementTree

import loopback
from loopback import Switch, flow, table

MOST_SAMPLES = 1024  # and the end
MOST_THRESHOLDS = 64
CHANGE_US = 200


def incast(test, stop="300us", events=((CHANGE_US, "wred.mine.green_min", "20KB"),), **keys):
    """h0 and h1 write to h2; its queue's profile changes while they do."""
    switch = Switch(test, hosts=0, **{"buffer.size": "2MB"})
    text = switch.text(**keys)
    text += table("[wred.mine]", {"green_min": "100KB", "green_max": "400KB", "green_probability": 20})
    for n in range(3):
        text += table(f"[port.h{n}]", {"address": [f"10.0.{n}.1/24"]}) + table(f"[host.h{n}]", {"address": f"10.0.{n}.2"})
    text += table("[port.h2.queue.3]", {"wred": "mine"})
    text += table("[[flow]]", {"name": "many", "from": ["h0", "h1"], "to": "h2", "qps": 2, "depth": 2, "message": "100KB", "stop": stop})
    text += table("[[flow]]", {"name": "back", "from": ["h2"], "to": "h0", "kind": "read", "message": "10KB", "messages": 5})
    for at_us, key, value in events:
        text += table("[[event]]", {"at": f"{at_us}us", "do": f"set {key} {value}"})
    return switch, text


def traced(switch, text, *arguments):
    path = switch.folder / "trace.json"
    out = switch.run("--trace", path, *arguments, config=text, balanced=False)
    return out, path.read_bytes()


def spaced(number):
    return f"{number:,}".replace(",", " ")


class Trace(loopback.Case):
    def test_the_run_does_not_notice_it(self):
        switch, text = incast(self)
        for arguments in ((), ("--duration", "150us"), ("--duration", "9ms")):
            without = switch.run(*arguments, config=text, balanced=False)
            out, _ = traced(switch, text, *arguments)
            plain = json.loads(out.raw["report"])
            whole = json.loads(without.raw["report"])
            for name, port in plain["ports"].items():  # the only figures that a trace adds
                for queue, other in zip(port["queues"], whole["ports"][name]["queues"]):
                    self.assertEqual([key for key in queue if key not in other], ["mean_bytes", "deviation_bytes"])
                    queue.pop("mean_bytes"), queue.pop("deviation_bytes")
            self.assertEqual((plain, out.stdout), (whole, without.stdout), arguments)

    def test_the_report_has_the_mean_of_each_queue(self):
        """Between the least and the highest that the slots of the trace leave open."""
        switch, text = incast(self, stop="1ms")
        out, trace = traced(switch, text)
        end_ps = out.report["end_ns"] * 1000
        slots = json.loads(trace)["ports"]["h2"]["queues"]["3"]
        ends = [start for start, _, _ in slots[1:]] + [end_ps]
        most = sum(max(peak, before) * (end - start)
                   for (start, peak, _), end, (_, _, before) in zip(slots, ends, [(0, 0, 0), *slots])) / end_ps
        queue = out.report["ports"]["h2"]["queues"][3]
        self.assertGreater(most, 10_000)
        self.assertLessEqual(queue["mean_bytes"], most)
        self.assertGreater(queue["mean_bytes"], most / 2)
        self.assertGreater(queue["deviation_bytes"], 0)
        self.assertLess(queue["deviation_bytes"], queue["watermark_bytes"])
        idle = out.report["ports"]["h2"]["queues"][0]
        self.assertEqual((idle["mean_bytes"], idle["deviation_bytes"]), (0, 0))

    def test_it_is_the_same_with_any_number_of_workers(self):
        switch, text = incast(self)
        _, first = traced(switch, text)
        self.assertEqual(traced(switch, text)[1], first, "a second run")
        for workers in (2, 3):
            self.assertEqual(traced(switch, incast(self, workers=workers)[1])[1], first, f"{workers} workers")

    def test_without_hosts_there_are_marks_and_drops(self):
        switch = Switch(self, hosts=2)
        switch.recipe(flow("roce", size=1000, count=10), flow("udp", size=1000, count=5, ttl=1))
        out = switch.run("--trace", switch.folder / "trace.json")
        trace = json.loads((switch.folder / "trace.json").read_text())
        self.assertEqual(trace["samples"]["flows"], {})
        self.assertEqual((trace["samples"]["dropped_packets"][-1], trace["samples"]["lost_packets"][-1]), (5, 0))
        self.assertEqual((trace["name"], trace["verdict"]), ("sluice", out.report["verdict"]))
        self.assertEqual(trace["ports"]["h1"]["thresholds"], {"3": [[0, 400_000, 1_600_000]]})

    def test_its_totals_are_the_reports(self):
        switch, text = incast(self)
        out, raw = traced(switch, text)
        samples = json.loads(raw)["samples"]
        queues = [queue for port in out.report["ports"].values() for queue in port["queues"]]
        groups = [group for port in out.report["ports"].values() for group in port["priority_groups"]]
        totals = {"ecn_marked_packets": sum(queue["ecn_marked_packets"] for queue in queues),
                  "cnp_sent_packets": sum(host["cnp_sent_packets"] for host in out.report["hosts"].values()),
                  "xoff_transitions": sum(group["xoff_transitions"] for group in groups)}
        self.assertEqual((samples["dropped_packets"][-1], samples["lost_packets"][-1]), (0, 0))
        for name, total in totals.items():
            self.assertGreater(total, 0, name)
            self.assertEqual(samples[name][-1], total, name)
            self.assertEqual(samples[name], sorted(samples[name]), name)
        self.assertEqual(list(samples["flows"]), ["many", "back"])
        for name, columns in samples["flows"].items():
            for column in columns:
                self.assertEqual(columns[column][-1], out.report["flows"][name][column], (name, column))
            self.assertEqual({len(column) for column in columns.values()}, {len(samples["at_ps"])})
        line = 100_000_000_000
        self.assertEqual(samples["flows"]["many"]["rate_bps"][0], 4 * line, "four queue pairs start at line rate")
        self.assertLess(min(samples["flows"]["many"]["rate_bps"]), 2 * line, "and are cut")
        self.assertEqual(samples["flows"]["back"]["rate_bps"][0], line, "of READs, who answers has the rate")

    def test_there_is_one_for_each_microsecond_until_there_would_be_too_many(self):
        switch, text = incast(self)
        at = json.loads(traced(switch, text)[1])["samples"]["at_ps"]
        self.assertLess(at[-1], MOST_SAMPLES * 10**6)
        slots = [moment // 10**6 for moment in at[:-1]]
        self.assertEqual(len(slots), len(set(slots)))
        self.assertEqual(slots[:200], list(range(200)), "something happens in every microsecond of an incast")
        switch, text = incast(self, stop="5ms")
        out, raw = traced(switch, text)
        at = json.loads(raw)["samples"]["at_ps"]
        self.assertGreater(out.report["end_ns"], 5_000_000)
        self.assertTrue(MOST_SAMPLES / 4 < len(at) <= MOST_SAMPLES + 1, len(at))
        self.assertEqual(at, sorted(at))
        self.assertEqual(at[-1] // 1000, out.report["end_ns"])

    def test_shares_are_all_of_the_paused_time(self):
        switch, text = incast(self, stop="1ms")
        out, raw = traced(switch, text)
        for name, port in json.loads(raw)["ports"].items():
            self.assertIs(port["pauses_cut"], False)
            pfc = out.report["ports"][name]["pfc"]
            for key, figure in (("pauses_share", "tx_paused_ns"), ("holds_share", "rx_paused_ns")):
                for n in range(8):
                    share = port[key].get(str(n), {"on_ps": []})["on_ps"]
                    self.assertAlmostEqual(sum(share) / 1000, pfc[figure][n], delta=1, msg=(name, key, n))
        self.assertGreater(sum(out.report["ports"]["h0"]["pfc"]["tx_paused_ns"]), 0)

    def test_headroom_is_that_of_the_groups(self):
        switch, text = incast(self)
        out, raw = traced(switch, text)
        group = json.loads(raw)["ports"]["h0"]["groups"]["3"]
        self.assertEqual(max(peak for _, peak, _ in group["headroom"]),
                         out.report["ports"]["h0"]["priority_groups"][3]["headroom_watermark_bytes"])

    def test_events_have_their_time(self):
        switch, text = incast(self)
        out, raw = traced(switch, text)
        events = json.loads(raw)["events"]
        self.assertEqual([[at // 1000, kind] for at, kind, _ in events],
                         [[event["at_ns"], event["kind"]] for event in out.report["events"] if event["kind"] != "watchdog_detected"])
        self.assertTrue(events)

    def test_thresholds_are_those_of_their_time(self):
        switch, text = incast(self)
        ports = json.loads(traced(switch, text)[1])["ports"]
        self.assertEqual(ports["h2"]["thresholds"]["3"], [[0, 100_000, 400_000], [CHANGE_US * 10**6, 20_000, 400_000]])
        self.assertEqual(ports["h0"]["thresholds"]["3"], [[0, 400_000, 1_600_000]])
        self.assertEqual(ports["h0"]["thresholds"]["6"], [[0, None, None]], "of CNPs")
        switch, text = incast(self, events=[(n, "wred.mine.green_min", f"{n}KB") for n in range(1, 100)])
        changes = json.loads(traced(switch, text)[1])["ports"]["h2"]["thresholds"]["3"]
        self.assertEqual(len(changes), MOST_THRESHOLDS)
        self.assertEqual(changes[-1][:2], [99 * 10**6, 99_000])


class Picture(loopback.Case):
    def draw(self, switch, path="trace.json"):
        """Its texts as (x from, x to, y, text), and the picture; nothing is outside, nothing over another."""
        file = switch.folder / "picture.svg"
        done = loopback.run([loopback.ROOT / "tools" / "picture", switch.folder / path, file])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        root = xml.etree.ElementTree.parse(file).getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts = []
        for each in root.iter(space + "text"):
            size = float(each.get("font-size"))
            width = len(each.text) * size * (0.6 if each.get("font-weight") == "bold" else 0.53)
            x = float(each.get("x")) - width * {"start": 0, "middle": 0.5, "end": 1}[each.get("text-anchor", "start")]
            texts.append((x, x + width, float(each.get("y")), each.text))
        _, _, right, bottom = map(float, root.get("viewBox").split())
        for n, (left, end, y, text) in enumerate(texts):
            self.assertTrue(0 <= left and end <= right and 0 < y < bottom, text)
            for other in texts[:n]:
                apart = other[1] <= left or end <= other[0] or abs(other[2] - y) >= 9
                self.assertTrue(apart, (text, other[3]))
        return [text for *_, text in texts], root.findall(space + "polyline")

    def test_what_it_refuses(self):
        switch = Switch(self, hosts=0)
        verdict = {"lossless": None, "lossless_packets": 0, "lost_packets": 0, "reasons": [], "headline": "lossless: nothing was lossless"}
        columns = {name: [0] for name in ("at_ps", "ecn_marked_packets", "cnp_sent_packets", "dropped_packets", "lost_packets")}
        (switch.folder / "trace.json").write_text(json.dumps(
            {"name": "n", "verdict": verdict, "end_ps": 0, "ports": {}, "watchdog": [], "events": [], "samples": {**columns, "flows": {}}}))
        tool = loopback.ROOT / "tools" / "picture"
        self.assertIn("TRACE.json OUT.svg", loopback.run([tool, switch.folder / "trace.json"]).stderr)
        done = loopback.run([tool, switch.folder / "trace.json", switch.folder / "none" / "p.svg"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be written", done.stderr)
        os.symlink("trace.json", switch.folder / "link")
        for same in ("trace.json", "link"):
            self.assertIn("is the trace itself", loopback.run([tool, switch.folder / "trace.json", switch.folder / same]).stderr)
        self.draw(switch)  # nothing happened: no error

    def test_rates_queue_signals_and_pauses_on_one_axis(self):
        switch, text = incast(self)
        traced(switch, text)
        samples = json.loads((switch.folder / "trace.json").read_text())["samples"]
        texts, lines = self.draw(switch)
        deepest, = [title for title in texts if title.startswith("depth of egress queues, the")]
        titles = ["rate of flows: payload delivered; dashed: may be sent", deepest,
                  f"CE marks, in each 5 us; {spaced(samples['ecn_marked_packets'][-1])} in all",
                  f"CNPs sent, in each 5 us; {samples['cnp_sent_packets'][-1]} in all",
                  "priority groups against their limit", "headroom in use", "PFC: peer paused by us, and its share of the time"]
        self.assertEqual([title for title in texts if title in titles], titles)
        for label in ("many", "back", "h2.3", "WRED min of h2.3: 20 KB", "WRED max of h2.3: 400 KB", "100 Gb/s"):
            self.assertIn(label, texts)
        self.assertFalse([label for label in texts if re.match(r"\d{4,} [GM]?b/s", label)], "rates have their unit")
        self.assertEqual(sum(line.get("stroke-dasharray") is not None for line in lines), 2 + 4 + 1 + 2,
                         "two flows, two thresholds before and after the change, one limit, and two in legends")
        came = json.loads((switch.folder / "report.json").read_text())["verdict"]["lossless_packets"]
        self.assertIn(f"lossless: yes, 0 of {spaced(came)} lossless packets lost", texts)
        self.assertTrue([title for title in texts if title.startswith("sluice: ")], "its name")

    def test_without_hosts(self):
        switch = Switch(self, hosts=3)
        switch.recipe(*(flow("roce", f"h{n}", "h2", size=1000, count=500, rate="100G") for n in (0, 1)))
        switch.run("--trace", switch.folder / "trace.json")
        texts, _ = self.draw(switch)
        self.assertIn("depth of egress queues", texts)
        self.assertIn("WRED min of h2.3: 400 KB", texts)
        self.assertFalse([text for text in texts if text.startswith(("rate", "CNPs", "WRED max"))], "far above, or not there")

    def night(self, spans, slots, whole):
        """A trace of five hours with these pauses of h1.3: [from, to] in minutes, and the time in each of `slots` slots."""
        minute = 60 * 10**12
        end = 300 * minute
        width = -(-end // slots)
        on = [0] * slots
        for start, stop in spans:
            for n in range(slots):
                on[n] += max(int(min(stop * minute, (n + 1) * width) - max(start * minute, n * width)), 0)
        changes = [change for start, stop in spans for change in ([int(start * minute), 8], [int(stop * minute), 0])]
        times = [n * end // 100 for n in range(101)]
        port = {"queues": {"3": [[0, 1000, 1000]]}, "thresholds": {}, "groups": {}, "holds": [], "holds_cut": False, "holds_share": {},
                "pauses": changes if whole else changes[:2], "pauses_cut": not whole,
                "pauses_share": {"3": {"width_ps": width, "on_ps": on}}}
        return {"name": "night", "end_ps": end, "ports": {"h1": port}, "watchdog": [],
                "verdict": {"lossless": False, "lossless_packets": 5_000_000, "lost_packets": 12, "reasons": ["12 were"],
                            "headline": "NOT lossless: 12 of 5 000 000 lossless packets lost"},
                "events": [[n * end // 60, "port_down" if n % 2 else "config_changed", "text"] for n in range(60)],
                "samples": {"at_ps": times, "ecn_marked_packets": [n * 10**6 for n in range(101)], "cnp_sent_packets": [0] * 101,
                            "dropped_packets": [n // 8 for n in range(101)], "lost_packets": [n // 8 for n in range(101)], "flows": {}}}

    def drawn(self, trace):
        switch = Switch(self, hosts=0)
        (switch.folder / "trace.json").write_text(json.dumps(trace))
        texts, _ = self.draw(switch)
        root = xml.etree.ElementTree.parse(switch.folder / "picture.svg").getroot()
        return texts, [bar for bar in root.iter("{http://www.w3.org/2000/svg}rect") if bar.get("fill") == "#e3a43b"]

    def test_a_long_run_has_units_of_its_own(self):
        texts, _ = self.drawn(self.night([(60, 90)], 1000, True))
        for label in ("night: 5 h", "NOT lossless: 12 of 5 000 000 lossless packets lost", "1 h", "5 h",
                      "CE marks, in each 2 min; 100 000 000 in all", "drops, in each 2 min; 12 in all, 12 of them lossless"):
            self.assertIn(label, texts)

    def test_pauses_that_can_be_seen_are_drawn_each(self):
        texts, bars = self.drawn(self.night([(60, 90), (100, 160)], 1000, True))
        self.assertIn("h1.3 30 %", texts)
        self.assertEqual(len(bars), 2)
        self.assertEqual({float(bar.get("height")) for bar in bars}, {14.0})
        self.assertAlmostEqual(float(bars[1].get("width")) / float(bars[0].get("width")), 2, places=1)

    def test_pauses_that_merge_are_a_share_of_the_time(self):
        """One second in ten for an hour: a bar as wide as it takes, and a tenth as high."""
        spans = [(60 + n / 6, 60 + n / 6 + 1 / 60) for n in range(360)]
        for whole in (True, False):
            texts, bars = self.drawn(self.night(spans, 1000, whole))
            self.assertIn("h1.3 2 %", texts)
            self.assertTrue([text for text in texts if text.startswith("PFC") and text.endswith("; as height where single ones cannot be seen")])
            self.assertGreater(len(bars), 20)
            for bar in bars[1:-1]:
                self.assertAlmostEqual(float(bar.get("height")), 1.4, delta=0.5)
            first, last = bars[0], bars[-1]
            self.assertAlmostEqual(float(last.get("x")) + float(last.get("width")) - float(first.get("x")), (980 - 92 - 24) / 5, delta=6)

    def test_a_cut_list_of_pauses_leaves_out_none(self):
        texts, bars = self.drawn(self.night([(10, 20), (100, 160)], 1000, False))
        self.assertIn("h1.3 23 %", texts)
        self.assertGreater(max(float(bar.get("x")) for bar in bars), 400)

    def test_events_without_room_are_counted(self):
        texts, _ = self.drawn(self.night([(60, 90)], 1000, True))
        said, = [text for text in texts if text.startswith("60 events")]
        nameless = int(re.search(r"(\d+) without", said)[1])
        self.assertEqual(sum(text in ("port_down", "config_changed") for text in texts), 60 - nameless)
        self.assertGreater(nameless, 0)


if __name__ == "__main__":
    loopback.main()
