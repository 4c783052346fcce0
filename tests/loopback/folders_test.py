#!/usr/bin/python3
"""Folders and files that sluice-fabric writes: a row counts only in its own sweep, and nothing of anybody else is replaced."""

import fcntl
import json
import os
import shutil
import subprocess

import loopback
from loopback import run
from scenarios_test import DONE, FAILED, SMALL, USAGE, VARY, Scenarios
from scenarios_test import asserting as asserted

LARGER = SMALL + VARY
SMALLER = SMALL + VARY.replace('"10KB", "20KB", "40KB"', '"15KB", "30KB"')


class Rows(Scenarios):
    def rows(self, out):
        return sorted(path.name for path in (self.folder / out / "runs").iterdir())

    def read(self, *words, status):
        done = run([self.program, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    REFUSED = {"merge": FAILED, "compare": USAGE, "report": FAILED}

    def readers(self, out):
        """Commands that read the rows of a sweep."""
        return (("merge", out, "--out", self.folder / "merged"), ("compare", out, out), ("report", out, "--html", self.folder / "page.html"))

    def test_a_smaller_sweep_has_no_row_of_a_larger_one(self):
        self.sweep("one", text=LARGER)
        before = (self.folder / "one" / "sweep.csv").read_bytes()
        done, table, _ = self.sweep("one", text=SMALLER)
        _, alone, _ = self.sweep("alone", text=SMALLER)
        self.assertIn("are now in", done.stdout)
        self.assertEqual(table.read_bytes(), alone.read_bytes())
        self.assertEqual(self.rows("one"), self.rows("alone"))
        earlier = self.folder / "one" / "earlier-1"
        self.assertEqual((len(list((earlier / "runs").iterdir())), (earlier / "sweep.csv").read_bytes()), (6, before))
        for words in self.readers(self.folder / "one"):
            self.read(*words, status=DONE)
        self.assertNotIn("not paired", self.read("compare", self.folder / "one", self.folder / "alone", status=DONE).stdout)

    def test_a_row_that_is_not_of_the_sweep_is_refused_and_moved_aside(self):
        out = self.folder / "one"
        self.sweep("one", text=LARGER)
        self.sweep("other", text=SMALLER)
        runs, good = out / "runs", out / "runs" / "000002.json"
        whole = good.read_text()
        for name, text in (("000001.json", (self.folder / "other" / "runs" / "000001.json").read_text()), ("000001.json", whole),
                           ("000077.json", whole), ("000077.json", "a note"), ("000002.json", "{"),
                           ("000002.json", json.dumps({**json.loads(whole), "figures": {}})),
                           ("000002.json", json.dumps({key: value for key, value in json.loads(whole).items() if key != "asserts"})),
                           ("000002.json", json.dumps({**json.loads(whole), "asserts": [1]}))):
            with self.subTest(name=name, text=text[:40]):
                (runs / name).write_text(text)
                for words in self.readers(out):
                    said = self.read(*words, status=self.REFUSED[words[0]]).stderr
                    self.assertIn(f"runs/{name} is not a row of the sweep", said)
                    self.assertIn("do: ", said)
                done, _, _ = self.sweep("one", text=LARGER)
                earlier = sorted(out.glob("earlier-*"), key=lambda path: int(path.name[8:]))[-1]
                self.assertIn(str(earlier), done.stdout)
                self.assertEqual((earlier / "runs" / name).read_text(), text)
                self.assertEqual(self.rows("one"), [f"{n:06}.json" for n in range(6)])
                self.assertEqual(good.read_text(), whole)

    def test_what_is_moved_aside_meets_nothing_of_others(self):
        out = self.folder / "one"
        self.sweep("one", text=LARGER)
        (out / "earlier-1").mkdir()
        (out / "earlier-2").write_text("a note")
        outside = self.folder / "outside"
        row = out / "runs" / "000003.json"
        row.rename(outside)
        os.symlink(outside, row)
        before = outside.read_bytes()
        done, _, _ = self.sweep("one", text=LARGER)
        self.assertIn("earlier-3", done.stdout)
        self.assertTrue((out / "earlier-3" / "runs" / "000003.json").is_symlink())
        self.assertEqual((outside.read_bytes(), list((out / "earlier-1").iterdir()), (out / "earlier-2").read_text()), (before, [], "a note"))

    def test_a_file_without_the_name_of_a_row_is_left_alone(self):
        self.sweep("one", text=LARGER)
        runs = self.folder / "one" / "runs"
        for name in ("notes.txt", "copy.json", "7.json", "0000001.json"):
            shutil.copy(runs / "000000.json", runs / name)
        for words in self.readers(self.folder / "one"):
            self.read(*words, status=DONE)
        done, table, _ = self.sweep("one", text=LARGER)
        self.assertIn("6 runs kept", done.stdout)
        self.assertEqual(len(table.read_text().splitlines()), 7)
        self.assertEqual(len(self.rows("one")), 10)

    def test_a_manifest_that_cannot_be_one(self):
        self.sweep("one", text=LARGER)
        path = self.folder / "one" / "sweep.json"
        manifest = json.loads(path.read_text())
        self.assertIn("version", manifest)
        for change in ({"runs": -1}, {"runs": 0}, {"runs": 1e18}, {"runs": 10**18}, {"runs": None}, {"fingerprint": 5}, {"axes": [1]}, {"axes": {}}, {"name": []}):
            with self.subTest(change):
                path.write_text(json.dumps({**manifest, **change}))
                for words in self.readers(self.folder / "one"):
                    self.assertIn("sweep.json is not a manifest of a sweep", self.read(*words, status=self.REFUSED[words[0]]).stderr)
        self.assertIn("is not as a program of Sluice wrote it", self.fabric("sweep", LARGER, "--out", self.folder / "one", status=FAILED).stderr)

    def test_one_writer_at_a_time(self):
        out = self.folder / "one"
        self.sweep("one", text=LARGER)
        with open(out / ".sluice-outputs", "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for words in (["sweep", self.folder / "scenario.toml", "--out", out], ["merge", out, "--out", out / "."],
                          ["run", self.folder / "scenario.toml", "--out", out]):
                if words[0] == "merge":
                    shutil.copytree(out, self.folder / "copy", dirs_exist_ok=True)
                    words[1] = self.folder / "copy"
                self.assertIn("another program writes there", self.read(*words, status=FAILED).stderr)
        self.sweep("one", text=LARGER)

    def test_shards_of_another_question_are_not_merged(self):
        self.sweep("a", "--shard", "1/2")
        for words in (["--duration", "90us"], ["--set", "seed=7"], ["--assert", "verdict.lossless"]):
            self.sweep("b", "--shard", "2/2", *words)
            done = self.read("merge", self.folder / "a", self.folder / "b", "--out", self.folder / "m", status=FAILED)
            self.assertIn("is of another sweep", done.stderr)
        self.assertFalse((self.folder / "m").exists())

    def test_rows_of_other_words_are_made_again(self):
        self.sweep("one", text=LARGER)
        row = json.loads((self.folder / "one" / "runs" / "000000.json").read_text())
        manifest = json.loads((self.folder / "one" / "sweep.json").read_text())
        self.assertEqual(row["version"], manifest["version"])
        self.assertEqual(row["fingerprint"], manifest["fingerprint"])
        done, _, _ = self.sweep("one", "--duration", "90us", text=LARGER)  # as any other difference in what rows depend on
        self.assertNotIn("kept", done.stdout)
        self.assertIn("earlier-1", done.stdout)


class Outputs(Scenarios):
    """Files of sluice-fabric: compared with one another and with what is read, by identity, before the first run."""

    def setUp(self):
        super().setUp()
        self.scenario = self.folder / "scenario.toml"
        self.scenario.write_text(SMALL)

    def files(self):
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and path.name != ".sluice-outputs"}

    def refused(self, *words, status=USAGE, said="would overwrite"):
        before = self.files()
        done = run([self.program, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        self.assertIn(said, done.stderr)
        self.assertNotIn("lossless:", done.stdout, "nothing ran")
        self.assertEqual(self.files(), before)

    def test_two_outputs_in_one_file(self):
        page = self.folder / "page"
        page.write_text("")
        os.link(page, self.folder / "same")
        os.symlink("page", self.folder / "link")
        for other in (page, self.folder / "." / "page", self.folder / "same", self.folder / "link"):
            self.refused("run", self.scenario, "--junit", page, "--html", other)
        self.refused("run", self.scenario, "--out", self.folder / "o", "--junit", self.folder / "o" / "report.json")
        for folder in ("a", "b"):
            (self.folder / folder).mkdir()
            shutil.copy(self.scenario, self.folder / folder / "x.toml")
        self.refused("run", self.folder / "a" / "x.toml", self.folder / "b" / "x.toml", "--out", self.folder / "o")

    def test_an_output_over_what_is_read(self):
        os.link(self.scenario, self.folder / "hard")
        os.symlink("scenario.toml", self.folder / "soft")
        swept = self.folder / "swept.toml"
        swept.write_text(SMALL + VARY)
        for option in ("--junit", "--html"):
            for over in (self.scenario, self.folder / "hard", self.folder / "soft", f"{self.folder}/./scenario.toml"):
                self.refused("run", self.scenario, option, over)
        self.refused("sweep", swept, "--html", swept, "--out", self.folder / "o")
        own = self.folder / "own"
        own.mkdir()
        shutil.copy(self.scenario, own / "report.json")
        self.refused("run", own / "report.json", "--out", own)
        self.sweep("one", text=SMALL + VARY)
        for name in ("sweep.json", "sweep.jsonl"):
            self.refused("report", self.folder / "one", "--html", self.folder / "one" / name)
        self.refused("merge", self.folder / "one", "--out", self.folder / "." / "one")

    def test_names_that_are_none_for_a_folder(self):
        for name in ("...toml", "..toml"):
            odd = self.folder / name
            shutil.copy(self.scenario, odd)
            self.refused("run", self.scenario, odd, "--out", self.folder / "o", said="do: rename the file")
            swept = self.folder / "in" / name
            swept.parent.mkdir(exist_ok=True)
            swept.write_text(SMALL + VARY)
            self.refused("sweep", swept, said="do: rename the file")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.is_dir()), ["in", "out"])

    def test_files_of_others_stay(self):
        out = self.folder / "o"
        out.mkdir()
        for name in ("report.json", "series.json", "fabric.svg"):
            (out / name).write_text("somebody's")
            self.refused("run", self.scenario, "--out", out, status=FAILED, said=f"{name}: is there, and is not as a program of Sluice wrote it; do: ")
            (out / name).unlink()
        run([self.program, "run", self.scenario, "--out", out]).check_returncode()
        run([self.program, "run", self.scenario, "--out", out]).check_returncode()
        with open(out / "fabric.svg", "a", encoding="utf-8") as drawing:
            drawing.write("<!-- a note -->")
        self.refused("run", self.scenario, "--out", out, status=FAILED, said="fabric.svg: is there")
        for name in ("sweep.csv", "sweep.json", "sweep.jsonl"):
            folder = self.folder / f"with-{name}"
            folder.mkdir()
            (folder / name).write_text("somebody's")
            self.refused("sweep", self.scenario, "--out", folder, "--set", "vary.seeds=2", status=FAILED, said=f"{name}: is there")
        (self.folder / "elsewhere").mkdir()
        os.symlink("../elsewhere", self.folder / "o" / "scenario")
        shutil.copy(self.scenario, self.folder / "other.toml")
        self.refused("run", self.scenario, self.folder / "other.toml", "--out", out, status=FAILED, said="scenario: is there, and is not a folder")
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])

    def test_what_cannot_be_written_is_told_before_the_run(self):
        for option in ("--junit", "--html"):
            self.refused("run", self.scenario, option, self.folder / "no" / "file", status=FAILED, said="No such file or directory")
        self.scenario.write_text(SMALL + VARY)
        self.refused("sweep", self.scenario, "--out", self.folder / "o", "--html", self.folder / "no" / "file", status=FAILED, said="No such file")

    def test_a_page_goes_over_a_page_only(self):
        self.sweep("one", text=SMALL + VARY)
        page = self.folder / "one" / "page.html"
        for _ in range(2):
            run([self.program, "report", self.folder / "one"]).check_returncode()
        page.write_text("somebody's")
        self.refused("report", self.folder / "one", status=FAILED, said="page.html: is there")


class Questions(Scenarios):
    """What means nothing is refused before the first run."""

    def test_figures_and_what_they_are_compared_with(self):
        for that, words in (("max flows.*.throughput_bps gt 500%", '"500%" is not a rate, as throughput_bps is'),
                            ("flows.0.completion_ns.p99 lt 50%", "is not a time, as completion_ns is"),
                            ("flows.0.delivered_bytes gt 1%", "is not a size, as delivered_bytes is"),
                            ("verdict.lossless eq maybe", '"maybe" cannot be compared with lossless'),
                            ("verdict.lossless gt true", "no order"), ("verdict.lossless eq 5", "cannot be compared"),
                            ("ledger.dropped lt 5ms", '"5ms" is not a number without a unit, as dropped is'), ("ledger.dropped lt 5%", "without a unit"),
                            ("links.h1-sw1.directions.0.load_ppm gt 5ms", "is not a share, as load_ppm is")):
            for file, command in ((asserted(that), ()), ("", ("--assert", that))):
                with self.subTest(that, file=file):
                    said = self.fabric("run", SMALL + file, *command, "--out", self.folder / "none", status=USAGE).stderr
                    self.assertIn(words, said)
                    self.assertFalse((self.folder / "none" / "report.json").exists())

    def test_searches_and_sweeps(self):
        find = '[find]\nleast = "{}"\nwithin = "{}"\nsuch_that = "verdict.lossless"\n'
        for text, words in ((find.format("flow.0.depth", "1..20 x5"), "takes no steps"), (find.format("flow.0.depth", "1..20 log"), "takes no steps"),
                            (find.format("flow.0.depth", "1..20 x2"), "takes no steps"), (find.format("vary.seeds", "1..20"), "says nothing of a run"),
                            ('[vary]\nseed = [1, 2]\nseeds = 2\n', "there are seeds, too"), ('[vary]\n"vary.seeds" = [1, 2]\n', "says nothing of a run"),
                            ('[vary]\n"find.within" = ["1..2"]\n', "says nothing of a run")):
            for verb in ("check", "sweep"):
                with self.subTest(text, verb=verb):
                    self.assertIn(words, self.fabric(verb, SMALL + text, status=USAGE).stderr)
        largest = 2**63 - 1
        said = self.fabric("sweep", SMALL + f"[vary]\nseeds = 2\n", "--seed", str(largest), status=USAGE).stderr
        self.assertIn(f"2 seeds from {largest} on", said)
        self.sweep("last", "--seed", str(largest - 1), text=SMALL + "[vary]\nseeds = 2\n")


class Words(Scenarios):
    """Text of others, on a terminal and in a spreadsheet."""

    def test_a_cell_is_no_formula(self):
        text = SMALL.replace('cc = "none"', 'cc = "dcqcn"') + '[vary]\n"name" = ["=1+1", "+a", "-b", "@c", "-5", "plain"]\n'
        _, table, _ = self.sweep("one", text=text)
        cells = [line.split(",")[1] for line in table.read_text().splitlines()[1:]]
        self.assertEqual(cells, ["'=1+1", "'+a", "'-b", "'@c", "-5", "plain"])

    def test_no_control_character_reaches_a_terminal(self):
        said = self.fabric("run", SMALL.replace('name = "small"', 'name = "a\u009b31mred"').replace("two lose", "two\u009d lose"), status=2)
        self.assertIn("name: \"a\\u009B31mred\" has a control character", said.stderr)
        self.assertIn("two\\u009D lose", said.stderr)
        for text in (said.stdout, said.stderr):
            self.assertFalse({c for c in text if 0x80 <= ord(c) < 0xA0})
        said = self.fabric("run", SMALL.replace('name = "small"', 'name = "näme €"'))
        self.assertIn("näme €", said.stdout)


class Jobs(Scenarios):
    def limited(self, limit, *words):
        (self.folder / "scenario.toml").write_text(SMALL + VARY)
        return subprocess.run(["bash", "-c", f'ulimit -c 0; ulimit {limit}; exec "$@"', "-", self.program, *words], capture_output=True, text=True,
                              check=False, timeout=loopback.PATIENCE_S)

    def test_one_that_fails_says_why(self):
        for limit in ("-v 80000", "-n 8", "-f 1"):
            with self.subTest(limit):
                done = self.limited(limit, "sweep", self.folder / "scenario.toml", "--out", self.folder / limit, "--jobs", "2")
                self.assertEqual(done.returncode, FAILED, done.stderr)
                self.assertNotIn("internal error", done.stderr)
                why = [line for line in done.stderr.splitlines() if line.startswith("sluice-fabric: ") and "a job failed, for" not in line]
                self.assertTrue(why, done.stderr)

    def test_a_file_that_may_not_grow_ends_no_program(self):
        done = self.limited("-f 1", "run", self.folder / "scenario.toml", "--out", self.folder / "o")
        self.assertEqual(done.returncode, FAILED, done.stderr)
        self.assertIn("report.json: cannot be written: File too large", done.stderr)


if __name__ == "__main__":
    loopback.main()
