#!/usr/bin/python3
"""The man pages: man and mandoc find nothing wrong with them, and every option, command, key and finding is in them.

    manual_test.py SLUICED SLUICE_TRAFFIC SLUICECTL SLUICE_FABRIC SLUICE_IMPORT
"""

import re
import shutil
import subprocess
import tempfile

from programs import PROGRAM, loopback, main, said, unittest

PAGES = {"sluiced.8": ("sluiced", "--man"), "sluice.toml.5": ("sluiced", "--man-config"), "sluicectl.1": ("sluicectl", "man"),
         "sluice-traffic.1": ("sluice-traffic", "--man"), "sluice-fabric.1": ("sluice-fabric", "man"), "sluice-import.1": ("sluice-import", "--man"),
         "sluice-peer.1": ("sluice-peer", "--man")}


def source(page):
    program, *arguments = PAGES[page]
    return said(PROGRAM[program], *arguments)


def plain(page):
    """The page's text as it was before it became troff, without type faces."""
    text = re.sub(r"\\f[BIR]", "", source(page)).replace(r"\&", "")
    for escape, character in ((r"\-", "-"), (r"\(ha", "^"), (r"\(ti", "~"), (r"\(ga", "`"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\e", "\\")):
        text = text.replace(escape, character)
    return text


def entries(page):
    """The tags of a page, by its headings and subheadings: {(heading, subheading): [tag line]}."""
    found, at = {}, ["", ""]
    lines = plain(page).splitlines()
    for n, line in enumerate(lines):
        if line.startswith(".SH "):
            at = [line[4:], ""]
        elif line.startswith(".SS "):
            at[1] = line[4:]
        elif line == ".TP":
            found.setdefault(tuple(at), []).append(lines[n + 1])
    return found


def markdown_keys(text):
    """{heading: [key]} of a reference in Markdown."""
    keys, heading = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif row := re.match(r"\| `([^`]+)` \|", line):
            keys.setdefault(heading, []).append(row[1])
    return keys


class Versions(loopback.Case):
    def test_each_program_says_which_it_is(self):
        for name, program in PROGRAM.items():
            self.assertRegex(said(program, "--version"), rf"^{name} \d+\.\d+\.\d+( \(DPDK \d+\.\d+\.\d+\))?\n$")


class Format(loopback.Case):
    def formatted(self, page, *command):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/{page}"
            open(path, "w").write(source(page))
            return subprocess.run([*command, path], capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "MANWIDTH": "100"})

    @unittest.skipUnless(shutil.which("man"), "there is no man; do: install man-db")
    def test_man_has_no_warning_and_shows_what_was_meant(self):
        for page in PAGES:
            done = self.formatted(page, "man", "--warnings", "-l")
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("SEE ALSO", done.stdout)
            for wrong in ("’s sluice.toml", "−", "‐‐"):  # signs that troff made more beautiful cannot be copied
                self.assertNotIn(wrong, done.stdout, page)
            self.assertTrue(page.startswith("sluicectl") or "--" in done.stdout, page)

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc: with --long tools/test installs it")
    def test_mandoc_has_no_warning(self):
        for page in PAGES:
            done = self.formatted(page, "mandoc", "-Tlint", "-Wwarning")
            # A date would be the only thing in them that ages by itself.
            left = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(left, [], page)

    def test_only_requests_that_both_know_are_used(self):
        for page in PAGES:
            wrong = [line for line in source(page).splitlines() if line.startswith((".", "'")) and not re.match(r"\.(TH|SH|SS|PP|TP|br|nf|fi)\b", line)]
            self.assertEqual(wrong, [], page)
            name, section = page.rsplit(".", 1)
            self.assertTrue(source(page).startswith(f".TH {name.upper().replace('-', chr(45))} {section} "), page)


class Contents(loopback.Case):
    def test_every_option_is_in_its_page(self):
        for page, program, helps in (("sluiced.8", "sluiced", ["--help"]), ("sluiced.8", "sluiced", ["headroom", "--help"]), ("sluicectl.1", "sluicectl", ["help"]),
                                     ("sluice-traffic.1", "sluice-traffic", ["--help"]), ("sluice-fabric.1", "sluice-fabric", ["--help"]),
                                     ("sluice-import.1", "sluice-import", ["--help"]), ("sluice-peer.1", "sluice-peer", ["--help"])):
            text = said(PROGRAM[program], *helps)
            options = set(re.findall(r"(?<![\w-])--[a-z][a-z_-]*", text.split("\nexit status")[0]))
            self.assertGreater(len(options), 4, page)
            tags = entries(page)[("HEADROOM" if "headroom" in helps else "OPTIONS", "")]
            here = {tag.split()[0] for tag in tags}
            # Words of sluicectl's examples may have dashes as well, and sluiced's usage names an option of a verb.
            elsewhere = {"--timeout", "--confirm", "--man", "--config"}
            elsewhere |= {"sluiced.8": {"--speed", "--output", "--page", "--report"} if helps == ["--help"] else {"--help"}, "sluice-import.1": {"--check"}}.get(page, set())
            self.assertEqual({option for option in options if option not in here} - elsewhere, set(), page)
            self.assertEqual(len(here), len(tags), f"{page}: an option twice")

    def test_the_option_of_a_page_is_in_its_section(self):
        for verb, option in (("PAGE", "--output"), ("DOCTOR", "--config")):
            self.assertEqual([tag.split()[0] for tag in entries("sluiced.8")[(verb, "")]], [option])

    def test_every_command_of_the_help_is_an_entry(self):
        patterns = re.findall(r"^  ([a-z][^-\n]*?)(?:  +.*)?$", said(PROGRAM["sluicectl"], "help").split("from the input")[1], re.M)
        tags = entries("sluicectl.1")[("COMMANDS", "")]
        self.assertGreater(len(patterns), 30)
        self.assertEqual([pattern for pattern in patterns if pattern not in tags], [])
        verbs = re.findall(r"(?m)^(?:usage:|      ) sluice-fabric ([a-z]+)", said(PROGRAM["sluice-fabric"], "--help"))
        self.assertEqual([tag.split()[0] for tag in entries("sluice-fabric.1")[("COMMANDS", "")]], verbs)

    def test_every_key_and_finding_is_an_entry(self):
        for page, reference in (("sluice.toml.5", said(PROGRAM["sluiced"], "--reference")), ("sluice-fabric.1", said(PROGRAM["sluice-fabric"], "reference"))):
            keys = markdown_keys(reference)
            self.assertGreater(sum(map(len, keys.values())), 40)
            found = entries(page)
            for heading, names in keys.items():
                self.assertEqual([tag.split()[0] for tag in found[("KEYS", heading)]], names, f"{page}: {heading}")
        findings = re.findall(r"^(\S+)  \S", said(PROGRAM["sluiced"], "--findings"), re.M)
        self.assertGreater(len(findings), 50)
        self.assertEqual([tag.split()[0] for tag in entries("sluice.toml.5")[("FINDINGS", "")]], findings)

    def test_the_example_is_a_good_configuration(self):
        text = plain("sluice.toml.5").split(".SH EXAMPLE\n.nf\n")[1].split("\n.fi\n")[0]
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text + "\n")
            file.flush()
            self.assertIn("OK: 2 ports", said(PROGRAM["sluiced"], "--config", file.name, "--check"))


if __name__ == "__main__":
    main()
