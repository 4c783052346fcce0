#!/usr/bin/python3
"""Thresholds whose best values are known by closed forms: a sweep with [goal] finds them, and so does advice."""

import json
import math
import pathlib
import re

import loopback
from fabric import DONE, FabricCase
from loopback import run

FILES = pathlib.Path(__file__).parent / "advice"
# A frame of RoCE without its payload: Ethernet, IPv4, UDP, BTH, ICRC; FCS, preamble and gap follow on the wire.
HEADERS, WIRE, RETH, ACK = 14 + 20 + 8 + 12 + 4, 4 + 20, 16, 14 + 20 + 8 + 12 + 4 + 4
LIGHT = 1.98e8  # m/s in fiber
CELL = 256


def frames_of(message, mtu):
    """Lengths of a message's frames, without FCS; the first has a RETH."""
    whole, rest = divmod(message, mtu)
    frames = [mtu + HEADERS] * whole + ([rest + HEADERS] if rest else [])
    return [frames[0] + RETH] + frames[1:]


def time_of(count, speed):
    """Nanoseconds of so many bytes."""
    return count * 8e9 / speed


def idle_path(message, mtu, speed, cable=5):
    """Nanoseconds that a message and its acknowledgement take through one switch where nothing waits: a host's link
    and its switch send a frame at the same time (ideal_ns of the manual)."""
    return time_of(sum(each + WIRE for each in frames_of(message, mtu)) + ACK + WIRE, speed) + 4 * cable / LIGHT * 1e9


class Known(FabricCase):
    def best(self, text):
        """The sweep's best point, and a row of each run with its figures of [goal]."""
        out = self.folder / "sweep"
        self.fabric("sweep", text, "--out", out)
        rows = [json.loads(line) for line in (out / "sweep.jsonl").read_text().splitlines()]
        return json.loads((out / "sweep.json").read_text())["best"], rows

    def advice(self, text, ranges, *words, runs=120):
        """The answer on keys whose values are `ranges`, in the place of the file's [vary]."""
        text = re.sub(r"^\[vary\]\n(?:.+\n)*", "", text, flags=re.MULTILINE)
        ranges = "".join(f"{json.dumps(path)} = {json.dumps(values)}\n" for path, values in ranges.items())
        out = self.folder / f"advice-{len(list(self.folder.glob('advice-*')))}"
        self.fabric("advise", f"{text}\n[advise]\nruns = {runs}\n[advise.range]\n{ranges}", "--out", out, *words)
        return json.loads((out / "advice.json").read_text())

    def text(self, name, **changes):
        """A file of the folder, with other values for keys, which it has once."""
        text = (FILES / f"{name}.toml").read_text()
        for key, value in changes.items():
            text, count = re.subn(rf"^{key} = .*$", f"{key} = {json.dumps(value)}", text, flags=re.MULTILINE)
            self.assertEqual(count, 1, key)
        return text

    def least(self, row, n=0):
        return row["goal"]["least"][n]["value"]

    def test_least_alpha_of_a_burst_that_pauses_nobody(self):
        senders, mtu, path = 4, 4096, "switch.default.default.priority_group.3.dynamic_th"
        report = self.report(self.text("least-alpha"))
        pool = report["switches"]["sw1"]["pools"]["lossless"]
        reserved = math.ceil(2 * 9100 / CELL)  # of each group: two frames of the MTU
        shared = pool["size_bytes"] // CELL - 6 * reserved - pool["headroom_size_bytes"] // CELL
        self.assertEqual(shared * CELL, pool["shared_bytes"])
        cells = math.ceil((mtu + HEADERS) / CELL)

        def most(n):  # cells that each of the groups may hold
            alpha = 2.0 ** n
            return reserved + alpha * shared / (1 + senders * alpha)

        # A receiver takes one of `senders` frames that come, so a sender's group holds the others. The bursts are
        # three frames to either side of what the limit for each exponent has room for.
        for n in range(-4, 3):
            limit = most(n) / cells * senders / (senders - 1)
            for frames, wanted in ((math.floor(limit) - 3, n), (math.ceil(limit) + 3, n + 1)):
                with self.subTest(frames=frames, wanted=wanted):
                    held = frames * (senders - 1) / senders * cells
                    self.assertEqual(min(each for each in range(-4, 4) if most(each) >= held), wanted)
                    best, rows = self.best(self.text("least-alpha", message=f"{frames * mtu}B"))
                    self.assertEqual(best["values"], {path: str(wanted)})
                    self.assertEqual([row["goal"]["keep"][1]["met"] for row in rows], [each >= wanted for each in range(-4, 4)])

        # Advice from the least exponent on says where the goal fails: just below the one that is the least.
        frames, wanted = math.ceil(most(-2) / cells * senders / (senders - 1)) + 3, -1
        for today, answer in ((-4, "change"), (wanted, "leave it")):
            advice = self.advice(self.text("least-alpha", message=f"{frames * mtu}B", dynamic_th=today), {path: list(range(-4, 4))})
            self.assertEqual(advice["answer"], answer)
            self.assertEqual(advice["today_fails"] is None, today == wanted)
            advised = int(advice["values"][0]["advised"])
            self.assertGreaterEqual(advised, wanted)
            if today == wanted:
                self.assertEqual(advised, wanted)
                below = advice["certificate"][0]["below"]
                self.assertEqual((below["value"], "pfc.tx_xoff" in below["wrong"]), (str(wanted - 1), True))

    def test_a_burst_below_kmin_is_never_marked(self):
        message, mtu, senders, speed = 1_000_000, 4096, 4, 100e9
        text = self.text("one-burst")
        # The receiver's link is busy from the first frame's arrival on.
        own = [each + WIRE for each in frames_of(message, mtu)]
        expected = idle_path(message, mtu, speed) + time_of((senders - 1) * sum(own), speed)
        best, rows = self.best(text)
        self.assertEqual((best["values"], best["keys_changed"]), ({"switch.default.wred.burst.green_min": "4200KB"}, 0))
        for row in rows:
            is_below = int(row["values"]["switch.default.wred.burst.green_min"][:-2]) * 1000 < senders * message
            marked = self.report(text, "--set", f"switch.default.wred.burst.green_min={row['values']['switch.default.wred.burst.green_min']}")
            marked = marked["switches"]["sw1"]["ports"]["h5"]["queues"][3]["ecn_marked_packets"]
            if is_below:
                self.assertGreater(marked, 0)
                self.assertGreater(self.least(row), expected * 1.1)
            else:
                self.assertEqual(marked, 0)
                self.assertAlmostEqual(self.least(row), expected, delta=2)
        self.assertEqual(len({self.least(row) for row in rows[2:]}), 1)

        advice = self.advice(text, {"switch.default.wred.burst.green_min": ["100KB", "4200KB"]})
        self.assertEqual((advice["answer"], advice["values"][0]["advised"]), ("leave it", "4200KB"))
        same = advice["sensitivity"][0]
        self.assertEqual((same["same_from"], same["same_to"], same["below"]["value"]), ("4200KB", "4200KB", "100KB"))
        self.assertAlmostEqual(same["below"]["before"], expected, delta=2)
        self.assertGreater(same["below"]["after"], expected * 1.1)
        self.assertEqual(self.advice(text.replace("4200KB", "4100KB"), {"switch.default.wred.burst.green_min": ["4100KB", "4200KB"]})["answer"], "no difference")

    def test_the_queue_of_a_settled_incast_is_the_fixed_point_of_dcqcn(self):
        # Zhu, Ghobadi, Misra, Padhye: ECN or Delay, CoNEXT 2016, section 3: all in packets and seconds.
        mtu, speed, probe = 1024, 40e9, 1000
        packet = mtu + HEADERS + WIRE
        path = idle_path(probe, mtu, speed)
        capacity, ai = speed / 8 / packet, 40e6 / 8 / packet
        counter, timer, tau = 10e6 / packet, 55e-6, 50e-6

        def queue(senders, low, high, probability):  # bytes of cells
            share = (ai * senders ** 2 / (tau * capacity ** 2) * (1 / counter + senders / (timer * capacity)) ** 2) ** (1 / 3)
            self.assertLess(share, probability)
            return low + share / probability * (high - low)

        in_cells = math.ceil((mtu + HEADERS) / CELL) * CELL
        for senders, low, high, percent in ((10, 40, 1600, 10), (5, 40, 1600, 10), (10, 200, 1600, 10), (10, 40, 400, 5)):
            with self.subTest(senders=senders, low=low, high=high, percent=percent):
                text = self.text("settled-probe", green_min=f"{low}KB", green_max=f"{high}KB", green_probability=percent)
                report = self.report(text.replace("h1..h10", f"h1..h{senders}"))
                settled = report["phases"]["settled"]
                median = next(flow for flow in settled["flows"] if flow["name"] == "probe")["completion_ns"]["p50"]
                got = (median - path) * speed / 8e9 / packet * in_cells
                self.assertAlmostEqual(got / queue(senders, low * 1000, high * 1000, percent / 100), 1, delta=0.35)
                self.assertAlmostEqual(settled["depth_bytes"]["sw1"]["h11"]["3"]["p50"] / queue(senders, low * 1000, high * 1000, percent / 100), 1, delta=0.35)

    def test_the_least_depth_is_at_the_edge_of_the_range(self):
        values = ["40KB", "80KB", "160KB", "320KB"]
        best, rows = self.best(self.text("settled-probe", green_min="160KB") + f'[vary]\n"switch.default.wred.paper.green_min" = {json.dumps(values)}\n')
        self.assertEqual(best["values"], {"switch.default.wred.paper.green_min": values[0]})
        self.assertEqual([self.least(row) for row in rows], sorted(self.least(row) for row in rows))

    def test_advice_goes_to_the_edge_and_says_so(self):
        path, values = "switch.default.wred.paper.green_min", ["40KB", "80KB", "160KB", "320KB"]
        advice = self.advice(self.text("settled-probe", green_min="160KB"), {path: values}, runs=60)
        self.assertEqual([(each["path"], each["today"], each["advised"], each["edge"]) for each in advice["values"]],
                         [(path, "160KB", values[0], f"{values[0]}..{values[-1]}")])
        self.assertEqual((advice["answer"], advice["gain"][0]["verdict"]), ("change", "better"))

    def test_an_idle_fabric_has_no_difference(self):
        text = self.text("idle")
        best, rows = self.best(text)
        self.assertEqual((best["values"], best["keys_changed"], best["decided_by"]),
                         ({"switch.default.wred.idle.green_min": "100KB", "switch.default.wred.idle.green_max": "400KB"}, 0, "keys_changed"))
        self.assertEqual({(self.least(row), self.least(row, 1)) for row in rows},
                         {(self.least(rows[0]), math.ceil((2000 + HEADERS + RETH) / CELL) * CELL)})
        self.assertAlmostEqual(self.least(rows[0]), idle_path(2000, 4096, 100e9), delta=2)
        self.assertEqual(run([self.program, "check", self.folder / "fabric.toml"]).returncode, DONE)

        ranges = {"switch.default.wred.idle.green_min": ["8KB", "100KB", "400KB"], "switch.default.wred.idle.green_max": ["400KB", "1MB"]}
        advice = self.advice(text, ranges)
        self.assertEqual((advice["answer"], [each["advised"] for each in advice["values"]]), ("no difference", ["100KB", "400KB"]))
        self.assertEqual([(each["below"], each["above"]) for each in advice["sensitivity"]], [(None, None)] * 2)
        self.assertEqual([(each["below"], each["above"]) for each in advice["certificate"]], [(None, None)] * 2)
        self.assertEqual({each["verdict"] for each in advice["gain"]} - {"no difference"}, set())


if __name__ == "__main__":
    loopback.main()
