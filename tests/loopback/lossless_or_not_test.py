#!/usr/bin/python3
"""conf/scenarios/lossless-or-not.toml: each way ends, keeps its promise, and says what it costs."""

import csv
import json

import loopback
from loopback import Programs, run

FILE = loopback.ROOT / "conf" / "scenarios" / "lossless-or-not.toml"
WAYS = ["pfc", "go-back-n", "selective", "trimming"]
MOST_HOPS = 1_500_000  # frames that switches receive, of a variant


class LosslessOrNot(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def sweep(self, name, *words):
        done = run([self.program, "sweep", FILE, "--out", self.folder / name, *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.folder / name

    def test_each_way_keeps_its_promises(self):
        out = self.sweep("jobs", "--jobs", "2")
        rows = {row["variant"]: row for row in csv.DictReader((out / "sweep.csv").read_text().splitlines())}
        self.assertEqual(list(rows), WAYS)
        lines = [json.loads(line) for line in (out / "sweep.jsonl").read_text().splitlines()]
        for line in lines:
            self.assertTrue(line["met"], line)
        again = {}
        for way in WAYS:
            done = run([self.program, "run", FILE, "--variant", way, "--out", self.folder / way])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            report = json.loads((self.folder / way / "report.json").read_text())
            hops = sum(port["rx"]["packets"] for device in report["switches"].values() for port in device["ports"].values())
            self.assertLess(hops, MOST_HOPS)
            again[way] = sum(host["retransmitted_packets"] for host in report["hosts"].values())
            trimmed = sum(host.get("trimmed_packets", 0) for host in report["hosts"].values())
            self.assertEqual(trimmed > 100, way == "trimming")
        self.assertLessEqual(again["selective"], again["go-back-n"])

    def test_the_same_bytes_with_any_jobs(self):
        one, two = (self.sweep(jobs, "--jobs", jobs) for jobs in ("1", "2"))
        self.assertEqual((one / "sweep.csv").read_bytes(), (two / "sweep.csv").read_bytes())


if __name__ == "__main__":
    loopback.main()
