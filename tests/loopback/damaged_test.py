#!/usr/bin/python3
"""Reports, rows and manifests of our own that were damaged: every verb that reads one says what is wrong in a sentence, and ends."""

import copy
import json
import random
import re
import shutil

import loopback
from loopback import Programs, run
from scenarios_test import DONE, FAILED, PHASES, SMALL, USAGE, VARY, Scenarios, asserting

SEED, SAMPLES = 7, 80
WRONG = (None, True, -1, 1.5, 1e300, 10**18, "x", [], {}, [{}], {"a": {}})


def places(of, path=()):
    """Of every member and entry; of lists and of objects with names only the first, which stands for all."""
    yield path
    if isinstance(of, dict):
        for key, value in of.items():
            yield from places(value, (*path, key))
    elif isinstance(of, list):
        for n, value in enumerate(of[:1]):
            yield from places(value, (*path, n))


def damaged(whole, rng):
    """One member is missing, another one, of another kind or there twice; the members near the root each in turn."""
    paths = [path for path in places(whole) if path]
    near = [path for path in paths if len(path) <= 2]
    for path in rng.sample(near, min(len(near), SAMPLES)) + rng.sample(paths, min(len(paths), SAMPLES)):
        made = copy.deepcopy(whole)
        within = made
        for key in path[:-1]:
            within = within[key]
        if rng.random() < 0.4:
            del within[path[-1]]
        else:
            within[path[-1]] = rng.choice(WRONG)
        yield path, json.dumps(made)


class Damaged(Scenarios):
    def judged(self, words, what):
        """A sentence and an exit status of ours."""
        done = run([self.program if words[0] != "page" else Programs.sluiced, *words])
        said = done.stderr
        self.assertIn(done.returncode, (DONE, FAILED, USAGE), (what, words, said))
        self.assertEqual(done.returncode != DONE, said != "", (what, words, said))
        self.assertNotRegex(said, "internal error|json.exception|Assert", (what, words))
        self.assertLessEqual(said.count("\n"), 1, (what, words))
        return done

    def readers_of_report(self, out):
        return (("why", out), ("why", out, "h1"), ("report", out, "--html", self.folder / "run.html"),
                ("page", out / "report.json", "--output", self.folder / "page.html"))

    def readers_of_sweep(self, out):
        return (("merge", out, "--out", self.folder / "merged"), ("compare", out, out), ("report", out, "--html", self.folder / "sweep.html"))

    def test_a_report(self):
        report, _ = self.report(SMALL.replace('"20KB"', '"400KB"\ndepth = 8') + PHASES + asserting("flows.'in cast'.messages ge 0", phase="first"))
        self.assertGreater(len(report["pause_trees"]), 0)
        out = self.folder / "made"
        for words in self.readers_of_report(out):
            self.assertEqual(self.judged(words, "whole").returncode, DONE)
        refused = 0
        for path, text in damaged(report, random.Random(SEED)):
            (out / "report.json").write_text(text)
            for words in self.readers_of_report(out):
                refused += self.judged(words, path).returncode == FAILED
        self.assertGreater(refused, SAMPLES // 2)

    def test_a_report_that_names_what_it_lacks(self):
        report, _ = self.report(SMALL)
        out = self.folder / "made"
        (out / "report.json").write_text(json.dumps({**report, "pause_trees": [{}]}))
        for words in self.readers_of_report(out)[:3]:
            self.assertRegex(self.judged(words, "").stderr, f'{re.escape(str(out))}/report.json: .*"pause_trees.0.slow_host" is missing')
        (out / "report.json").write_text(json.dumps(report, indent=2)[:-1000])
        for words in self.readers_of_report(out):
            self.assertIn("it is truncated", self.judged(words, "").stderr)
        (out / "report.json").write_text('{"of_no_use": ' + "[" * 2_000_000)
        for words in self.readers_of_report(out):
            self.assertIn("more than 32 levels", self.judged(words, "").stderr)
        (out / "report.json").write_text(json.dumps(report))
        (out / "series.json").write_text('{"a": [')
        self.assertIn("series.json: it is truncated", self.judged(("report", out), "").stderr)

    def test_rows_and_manifests(self):
        out = self.folder / "one"
        self.sweep("one", text=SMALL + VARY)
        for words in self.readers_of_sweep(out):
            self.assertEqual(self.judged(words, "whole").returncode, DONE)
        rng = random.Random(SEED)
        for name in ("runs/000001.json", "sweep.json"):
            file = out / name
            whole = file.read_text()
            for path, text in (*damaged(json.loads(whole), rng), ("cut", whole[:-20]), ("deep", '{"run": ' + "[" * 2_000_000)):
                file.write_text(text)
                for words in self.readers_of_sweep(out):
                    done = self.judged(words, (name, path))
                    if path == "cut":
                        self.assertIn("it is truncated", done.stderr)
                shutil.rmtree(self.folder / "merged", ignore_errors=True)
            file.write_text(whole)
        shutil.rmtree(out / "runs")
        lines = out / "sweep.jsonl"
        whole = lines.read_text().splitlines(keepends=True)
        for path, text in (*damaged(json.loads(whole[1]), rng), ("cut", whole[1][:-20]), ("twice", whole[0])):
            lines.write_text(whole[0] + text.strip() + "\n" + "".join(whole[2:]))
            for words in self.readers_of_sweep(out):
                self.judged(words, (lines.name, path))


class Large(Scenarios):
    def test_a_phase_leaves_out_what_says_nothing(self):
        """And the rest is what the run has, which ends with the phase: what is missing is zero, or the run's text."""
        report, _ = self.report(SMALL + '[[phase]]\nname = "all"\n')

        def differences(part, whole, path):
            name = path[-1]
            if isinstance(whole, dict):
                for key, value in whole.items():
                    yield from differences(part.get(key, None if isinstance(value, str) else 0 if not isinstance(value, (dict, list)) else type(value)()), value, (*path, key))
            elif isinstance(whole, list):
                for n, value in enumerate(whole):
                    yield from differences(part[n] if n < len(part) else 0 if not isinstance(value, (dict, list)) else type(value)(), value, (*path, n))
            elif part != whole and not (part is None and isinstance(whole, str)):
                if name != "deepest_bytes" and not str(name).endswith(("watermark_bytes", "_per_s")):
                    yield path, part, whole

        of_phase, of_run = (where["switches"]["sw1"]["ports"] for where in (report["phases"]["all"], report))
        self.assertEqual(list(differences(of_phase, of_run, ("ports",))), [])
        self.assertNotIn("mac", of_phase["h3"])
        self.assertLess(len(json.dumps(of_phase)), len(json.dumps(of_run)) / 4)

    def test_a_report_above_the_length_of_a_configuration_is_read(self):
        report, _ = self.report(SMALL + PHASES)
        path = self.folder / "made" / "report.json"
        with open(path, "w") as file:
            file.write('{"of_no_use": [')
            for _ in range(80):
                file.write('"' + "x" * 1_000_000 + '",\n')
            file.write('0],' + json.dumps(report)[1:])
        for words in (("why", path.parent), ("report", path.parent)):
            done = run(["bash", "-c", 'ulimit -v 4000000; exec "$@"', "sh", self.program, *words])
            self.assertEqual(done.returncode, DONE, done.stderr)


if __name__ == "__main__":
    loopback.main()
