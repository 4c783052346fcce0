#!/usr/bin/python3
"""[goal] of a fabric's file: the best point of a sweep, its exact figures, the same bytes however it was run."""

import csv
import io
import json
import math
import shutil

import loopback
from loopback import run
from scenarios_test import DONE, FAILED, PHASES, SMALL, USAGE, Scenarios

GOAL = """
[goal]
keep = ["verdict.lossless", "all flows.*.failed_messages eq 0"]
least = ["max flows.*.slowdown_permille.p99", {that = "max flows.*.completion_ns.p50", phase = "second"}]
tolerance = "1%"
"""
VARY = """
[vary]
"flow.0.message" = ["10KB", "20KB", "40KB"]
"flow.0.qps" = [1, 2]
"""
WHOLE = SMALL + PHASES + GOAL + VARY


def quantile(values, per_mille):
    return sorted(values)[max(math.ceil(len(values) * per_mille / 1000), 1) - 1]


class Goals(Scenarios):
    def best(self, out):
        return json.loads((self.folder / out / "sweep.json").read_text())["best"]

    def rows(self, lines):
        return [json.loads(line) for line in lines.read_text().splitlines()]

    def test_the_best_point_is_said_and_written(self):
        done, table, lines = self.sweep("one", text=WHOLE)
        rows, best = self.rows(lines), self.best("one")
        figures = [[each["value"] for each in row["goal"]["least"]] for row in rows]
        least = min(first for first, _ in figures)
        alike = [n for n, (first, _) in enumerate(figures) if first <= least * 1.01]
        shortest = min(figures[n][1] for n in alike)
        alike = [n for n in alike if figures[n][1] <= shortest * 1.01]
        self.assertIn(best["run"], alike)
        self.assertEqual(best["values"], rows[best["run"]]["values"])
        self.assertEqual([each["mean"] for each in best["least"]], figures[best["run"]])
        self.assertEqual((best["points"], best["candidates"], best["runs"]), (6, 6, [best["run"]]))
        self.assertIn(f"best: run {best['run']} (flow.0.message = {best['values']['flow.0.message']}, flow.0.qps = {best['values']['flow.0.qps']}); 6 of 6", done.stdout)
        self.assertRegex(done.stdout, r"\n    [\d.]+x +max flows\.\*\.slowdown_permille\.p99\n    [\d.]+ [nu]s +max flows\.\*\.completion_ns\.p50 in second\n")
        cells = list(csv.DictReader(io.StringIO(table.read_text())))[best["run"]]
        self.assertEqual(cells["keep: verdict.lossless"], "true")
        self.assertEqual(float(cells["least: max flows.*.slowdown_permille.p99"]), best["least"][0]["mean"])

    def test_quantiles_are_those_of_messages_csv(self):
        # Messages of many sizes, so that those of a phase are not those of the run.
        text = (WHOLE.replace('message = "20KB"', 'message = "ali-storage"').replace('"flow.0.message" = ["10KB", "20KB", "40KB"]', "seed = [1, 2, 3]")
                + '[results]\nmessages = "csv"\n')
        _, _, lines = self.sweep("exact", text=text)
        for row in self.rows(lines)[::2]:
            sets = [word for path, value in row["values"].items() for word in ("--set", f"{path}={value}")]
            self.report(text, *sets)
            rows = list(csv.DictReader(io.StringIO((self.folder / "made" / "messages.csv").read_text())))
            slowdowns = [float(each["completion_ns"]) * 1000 / float(each["ideal_ns"]) for each in rows]
            late = [float(each["completion_ns"]) for each in rows if float(each["end_ns"]) >= 60_000]
            self.assertGreater(len(late), 3)
            self.assertNotEqual(quantile(late, 500), quantile([float(each["completion_ns"]) for each in rows], 500))
            got = [each["value"] for each in row["goal"]["least"]]
            self.assertAlmostEqual(got[0], quantile(slowdowns, 990), places=6)
            self.assertAlmostEqual(got[1], quantile(late, 500), places=6)
            # The report itself keeps its rounding, so that runs and sweeps compare with those before.
            report = json.loads((self.folder / "made" / "report.json").read_text())
            self.assertEqual(row["figures"]["slowdown_p99_permille"], report["flows"][0]["slowdown_permille"]["p99"])

    def test_jobs_shards_and_a_resumed_sweep_give_the_same_bytes(self):
        self.sweep("one", text=WHOLE)
        names = ("sweep.json", "sweep.jsonl", "sweep.csv")
        bytes_of = lambda out: [(self.folder / out / name).read_bytes() for name in names]
        page = self.folder / "page.html"
        self.sweep("two", "--jobs", "2", "--html", page, text=WHOLE)
        self.assertEqual(bytes_of("one"), bytes_of("two"))
        # The page again, of what is there.
        again = run([self.program, "report", self.folder / "two"])
        self.assertEqual(again.returncode, DONE, again.stderr)
        self.assertEqual((self.folder / "two" / "page.html").read_bytes(), page.read_bytes())
        # A run is lost, and the best point with it: it goes on.
        shutil.copytree(self.folder / "one", self.folder / "cut")
        (self.folder / "cut" / "runs" / "000003.json").unlink()
        done, _, _ = self.sweep("cut", text=WHOLE)
        self.assertIn("5 runs kept from before", done.stdout)
        self.assertEqual(list((self.folder / "cut").glob("earlier-*")), [])
        self.assertEqual(bytes_of("one"), bytes_of("cut"))
        for shard in (1, 2):
            done, _, _ = self.sweep(f"shard{shard}", "--shard", f"{shard}/2", text=WHOLE)
            self.assertIn("best: not known of a shard; do: merge the shards", done.stdout)
            self.assertNotIn("best", json.loads((self.folder / f"shard{shard}" / "sweep.json").read_text()))
        done = run([self.program, "merge", self.folder / "shard2", self.folder / "shard1", "--out", self.folder / "merged"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertIn("best: run ", done.stdout)
        self.assertEqual(bytes_of("one"), bytes_of("merged"))
        done = run([self.program, "merge", self.folder / "merged", "--out", self.folder / "twice"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(bytes_of("one"), bytes_of("twice"))

    def test_without_a_goal_nothing_is_said_of_one(self):
        done, table, lines = self.sweep("plain", text=SMALL + VARY)
        self.assertNotIn("best", done.stdout)
        self.assertEqual([set(row) & {"goal"} for row in self.rows(lines)], [set()] * 6)
        self.assertFalse({"goal", "best"} & set(json.loads((self.folder / "plain" / "sweep.json").read_text())))
        self.assertNotIn("least: ", table.read_text())
        # And with one the figures that were there are the same.
        _, _, judged = self.sweep("judged", text=WHOLE)
        for one, other in zip(self.rows(lines), self.rows(judged)):
            self.assertEqual(one["figures"], other["figures"])

    def test_fewest_keys_changed_decide_among_points_that_are_alike(self):
        # No key of these changes the run's length by a per cent: the file's own values are best, wherever they stand.
        for values, wanted in (('["3MB", "2000KB"]', "2000KB"), ('["2MB", "3MB"]', "2MB")):
            text = SMALL + f'[vary]\n"switch.default.buffer.size" = {values}\n[goal]\nleast = ["end_ns"]\n'
            done, _, _ = self.sweep("keys", text=text)
            best = self.best("keys")
            self.assertEqual((best["values"], best["keys_changed"], best["decided_by"]), ({"switch.default.buffer.size": wanted}, 0, "keys_changed"))
            self.assertIn("no difference from run ", done.stdout)
            self.assertIn(": it changes the fewest keys\n", done.stdout)

    def test_seeds_give_a_mean_with_its_spread(self):
        done, _, lines = self.sweep("seeds", text=SMALL + '[vary]\n"flow.0.message" = ["40KB", "10KB"]\nseeds = 5\n[goal]\nleast = ["end_ns", "max flows.*.completion_ns.p99"]\n')
        best, rows = self.best("seeds"), self.rows(lines)
        own = [row["goal"]["least"][1]["value"] for row in rows if row["run"] in best["runs"]]
        self.assertEqual(len(own), 5)
        self.assertAlmostEqual(best["least"][1]["mean"], sum(own) / 5, places=6)
        self.assertEqual(best["least"][1]["runs"], 5)
        self.assertIsNotNone(best["least"][1]["half_width"])
        done, _, _ = self.sweep("few", text=SMALL + VARY + 'seeds = 2\n[goal]\nleast = ["end_ns"]\n')
        self.assertIsNone(self.best("few")["least"][0]["half_width"])
        self.assertIn("2 seeds a point are too few for a spread; do: seeds = 5 or more", done.stdout)

    def test_where_no_point_keeps_the_nearest_is_named_with_what_fails(self):
        text = SMALL + VARY + '[goal]\nkeep = ["verdict.lossless", "end_ns lt 1us"]\nleast = ["end_ns"]\n'
        done, _, _ = self.sweep("none", text=text)
        best = self.best("none")
        self.assertEqual((best["run"], best["nearest"]["run"], best["candidates"]), (None, 0, 0))
        self.assertIn("end_ns lt 1us: it is ", best["nearest"]["wrong"])
        self.assertRegex(done.stdout, r"best: none, 0 of 6 points meet the goal; the nearest is run 0 \(flow\.0\.message = 10KB, flow\.0\.qps = 1\), where this fails:\n    end_ns lt 1us: it is [\d.]+ us\n")
        # Nor may a point be chosen that lacks the figure.
        done, _, _ = self.sweep("idle", text=SMALL.replace('stop = "100us"', 'start = "1ms"\nstop = "1100us"') + '[[phase]]\nname = "before"\nto = "1us"\n'
                                + VARY + '[goal]\nleast = [{that = "max flows.*.completion_ns.p99", phase = "before"}]\n')
        self.assertIn("max flows.*.completion_ns.p99 in before: ", done.stdout)
        self.assertIn("no message completed", done.stdout)

    def test_a_wrong_goal_is_refused_before_any_run(self):
        line = SMALL.count("\n") + VARY.count("\n") + 1
        for goal, words in (('least = ["end_ns lt 5ms"]', "has no comparison"), ('least = ["flows.incast.messages"]', "in cast"),
                            ('least = ["max switches.leaf*.ports.*.tx.packets"]', "no figure matches"), ('keep = ["verdict.lossless"]', "least"),
                            ('least = [{that = "end_ns", phase = "x"}]', "no phase"), ('least = ["end_ns"]\ntolerance = "-1%"', "tolerance")):
            for verb in ("sweep", "check", "run"):
                with self.subTest(goal, verb=verb):
                    words_of = [] if verb == "check" else ["--out", self.folder / "none"]
                    done = self.fabric(verb, SMALL + VARY + "[goal]\n" + goal + "\n", *words_of, status=USAGE)
                    self.assertIn(words, done.stderr)
                    self.assertRegex(done.stderr, rf"scenario\.toml:({line}|{line + 1}|{line + 2}):\d+: goal")
                    self.assertFalse((self.folder / "none").exists())
        find = '[find]\nleast = "flow.0.depth"\nwithin = "1..9"\nsuch_that = "verdict.lossless"\n'
        self.assertIn("two files", self.fabric("sweep", SMALL + '[goal]\nleast = ["end_ns"]\n' + find, status=USAGE).stderr)

    def test_rows_and_a_manifest_of_another_goal_are_refused(self):
        self.sweep("one", text=WHOLE)
        manifest = self.folder / "one" / "sweep.json"
        known = json.loads(manifest.read_text())
        row = self.folder / "one" / "runs" / "000001.json"
        kept = row.read_text()
        damaged = json.loads(kept)
        for goal in (None, {"keep": [], "least": []}, {"keep": "x", "least": []}):
            damaged["goal"] = goal
            row.write_text(json.dumps(damaged))
            done = run([self.program, "merge", self.folder / "one", "--out", self.folder / "x"])
            self.assertEqual(done.returncode, FAILED)
            self.assertIn("000001.json is not a row of the sweep", done.stderr)
        row.write_text(kept)
        for change in ({"goal": {"keep": [], "least": [{"that": 5, "phase": None, "within": 0.01}], "today": {}}}, {"goal": 5}, {"goal": {"keep": []}}):
            manifest.write_text(json.dumps({**known, **change}))
            done = run([self.program, "merge", self.folder / "one", "--out", self.folder / "x"])
            self.assertEqual(done.returncode, FAILED, change)
            self.assertIn("is not a manifest of a sweep", done.stderr)


if __name__ == "__main__":
    loopback.main()
