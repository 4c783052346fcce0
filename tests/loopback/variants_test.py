#!/usr/bin/python3
"""[[variant]] of sluice-fabric as people use it: run, check, assertions and sweeps."""

import csv
import io

import loopback
import scenarios_test
from scenarios_test import FALSE, LEAVES, SMALL, USAGE, asserting

VARIANTS = """
[[variant]]
name = "short"
set = {"flow.in cast.message" = "10KB"}
[[variant]]
name = "two-hosts"
set = {"topology.hosts" = 2, "flow.in cast.from" = "h1", "flow.in cast.to" = "h2"}
"""


class Variants(scenarios_test.Scenarios):
    def refused(self, text, *words, verb="run", said):
        done = self.fabric(verb, text, "--out", self.folder / "none", *words, status=USAGE) if verb != "check" else \
            self.fabric(verb, text, *words, status=USAGE)
        for each in said:
            self.assertIn(each, done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_one_is_what_its_values_on_the_command_line_are(self):
        text = SMALL + VARIANTS
        plain, _ = self.report(SMALL)
        self.assertEqual(self.report(text)[0], plain)
        one, done = self.report(text, "--variant", "short")
        self.assertIn("small, variant short\n", done.stdout)
        other, _ = self.report(SMALL, "--set", "flow.in cast.message=10KB")
        self.assertEqual(one["configuration"].pop("variant"), '"short"')
        self.assertEqual(one, other)
        self.assertNotEqual(one["flows"], plain["flows"])
        self.assertEqual(self.report(text, "--variant", "short", "--set", "flow.in cast.message=20KB")[0]["flows"], plain["flows"])

    def test_assertions_hold_for_their_variant_alone(self):
        text = SMALL + VARIANTS + asserting("verdict.lossless") + asserting("end_ns lt 1", variant="short", why="never")
        report, done = self.report(text)
        self.assertEqual([each["that"] for each in report["asserts"]], ["verdict.lossless"])
        self.assertIn("assertions of variants are not judged: 1; do: choose one with --variant: short, two-hosts", done.stderr)
        report, done = self.report(text, "--variant", "short", status=FALSE)
        self.assertEqual([each["met"] for each in report["asserts"]], [True, False])
        self.assertIn("never", done.stdout + done.stderr)
        self.assertNotIn("not judged", done.stderr)
        self.report(text, "--variant", "two-hosts")

    def test_what_is_wrong_with_one_is_told_before_any_run(self):
        text = SMALL + VARIANTS
        self.refused(text, "--variant", "shrt", said=['there is no variant "shrt"', "short, two-hosts"])
        self.refused(text, "--variant", "short", "--variant", "short", said=["a run has one variant"])
        broken = text + '[[variant]]\nname = "broken"\nset = {"switch.default.bufer" = 1}\n'
        for verb, words, said in (("run", ["--variant", "broken"], "variant broken: "), ("check", [], "variant broken: "),
                                  ("sweep", [], "(variant = broken)")):
            vary = '[vary]\nvariant = "all"\n' if verb == "sweep" else ""
            self.refused(broken + vary, *words, verb=verb, said=[said, "scenario.toml:", "bufer", "(set by variant broken)"])
        self.fabric("check", broken, "--variant", "short")
        self.report(broken)

    def test_an_assertion_whose_path_a_variant_takes_away_is_told_before_any_run(self):
        named = SMALL + VARIANTS + asserting("switches.sw1.ports.h3.link_up")
        said = ["switches.sw1.ports.h3.link_up"]
        self.refused(named, verb="check", said=said + ["variant two-hosts: "])
        self.refused(named + '[vary]\nvariant = "all"\n', verb="sweep", said=said + ["(variant = two-hosts)"])
        self.assertIn("switches.sw1.ports.h3", self.fabric("run", named, "--variant", "two-hosts", status=USAGE).stderr)
        self.fabric("check", named, "--variant", "short")
        self.fabric("check", SMALL + VARIANTS + asserting("switches.sw1.ports.h3.link_up", variant="short"))

    def test_they_are_an_axis_of_a_sweep_with_any_jobs(self):
        text = SMALL + VARIANTS + asserting("verdict.lossless") + asserting("end_ns ge 1", variant="short") + \
            '[vary]\nvariant = "all"\n"switch.default.seed" = [1, 2]\n'
        done, table, _ = self.sweep("one", text=text)
        self.assertIn("variant=two-hosts", done.stdout)
        self.assertNotIn("not judged", done.stderr)
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual([row["variant"] for row in rows], ["short"] * 2 + ["two-hosts"] * 2)
        self.assertEqual([row["holds: end_ns ge 1"] for row in rows], ["true"] * 2 + [""] * 2)
        self.assertEqual([row["holds: verdict.lossless"] for row in rows], ["true"] * 4)
        one, _ = self.report(text, "--variant", "two-hosts", "--set", "switch.default.seed=2")
        self.assertEqual(rows[3]["end_ns"], str(one["end_ns"]))
        _, other, _ = self.sweep("two", "--jobs", "2", text=text)
        self.assertEqual(table.read_bytes(), other.read_bytes())
        self.sweep("page", "--html", self.folder / "page.html", text=text)
        self.assertIn("two-hosts", (self.folder / "page.html").read_text())
        self.refused(text, "--variant", "short", verb="sweep", said=["a run has one variant", "takes no --variant"])

    def test_any_threads_give_the_same_bytes(self):
        reports = []
        for threads in ("1", "2", "4"):
            text = LEAVES + '[[variant]]\nname = "x"\nset = {"topology.spines" = 2}\n'
            self.report(text, "--variant", "x", "--threads", threads)
            reports.append((self.folder / "made" / "report.json").read_bytes())
        self.assertEqual(reports, reports[:1] * 3)


if __name__ == "__main__":
    loopback.main()
