#!/usr/bin/python3
"""Every expression that README files, conf and the manuals show is one, and its figures are of the catalogue."""

import re

import loopback
from fabric import FabricCase
from loopback import ROOT, Programs, run

# Where they stand, and what ends them.
SHOWN = (r'--assert(?: |=)"([^"\n]+)"', r"--assert(?: |=)'([^'\n]+)'", r"--assert(?: |=)([a-z][\w.*]+)", r'\b(?:such_)?that = "([^"\n]+)"',
         r"sluicectl (?:assert|wait) ([^`;\n]+)", r"`(?:assert|wait) ([^`\n]+)`", r"(?:assert|wait): ((?:assert|wait) [^;\n]+)")
WORDS_AFTER = re.compile(r"\s+(?:--timeout|timeout)\s.*|\s*(?:\|\||&&|;).*")


def expressions_in(text):
    for shown in SHOWN:
        for found in re.findall(shown, text):
            expression = WORDS_AFTER.sub("", found).strip().strip("\"'")
            if not re.search(r"[A-Z]{3}|\.\.\.", expression):  # PATH OP VALUE
                yield expression


class Expressions(FabricCase):
    def wrong(self, expressions):
        """Those that are none, with the reason."""
        found = {}
        for each in sorted(expressions):
            done = run([self.program, "check", "none.toml", "--assert", each])
            if "--assert" in done.stderr:
                found[each] = done.stderr
        return found

    def test_what_files_and_manuals_show_is_one(self):
        texts = {path: path.read_text() for pattern in ("README.md", "conf/**/*.md", "conf/**/*.toml", "control/**/*.md", "tools/**/*.md", "lib/**/*.md",
                                                        "tests/**/*.md") for path in ROOT.glob(pattern)}
        for program, *words in ((Programs.sluiced, "--help"), (self.program, "--help"), (self.program, "man")):
            texts[program, *words] = run([program, *words]).stdout
        shown = {expression for text in texts.values() for expression in expressions_in(text)}
        self.assertGreater(len(shown), 60)
        self.assertTrue({"queue h4.3 dropped eq 0", "verdict.lossless"} <= shown, shown)
        self.assertEqual(self.wrong(shown), {})

    def test_the_language_is_shown_whole(self):
        text = (ROOT / "control" / "report" / "figures" / "README.md").read_text().split("## Expressions")[1].split("\n## ")[0]
        lines = {line.split("  #")[0].strip() for line in re.findall(r"(?m)^    (.+)$", text)}
        self.assertGreaterEqual(len(lines), 8)
        self.assertEqual(self.wrong(lines), {})

    def test_one_that_is_none_is_found(self):
        self.assertEqual(set(self.wrong(["verdict.lossless", "max ports.*.rx.packets", "flows.a.throughput_bps ge 5ms"])),
                         {"max ports.*.rx.packets", "flows.a.throughput_bps ge 5ms"})


if __name__ == "__main__":
    loopback.main()
