#!/usr/bin/python3
"""Every README is true: each command block is run and prints what is shown, each program, option, file and link exists.

    readme_test.py SLUICED SLUICE_TRAFFIC SLUICECTL SLUICE_FABRIC SLUICE_IMPORT SLUICE_PEER [TEST...]
"""

import itertools
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "loopback")]

import loopback  # noqa: E402
from blocks import COMMAND, Block, ROOT, readmes  # noqa: E402
from declared import DECLARED  # noqa: E402
from sessions import PROGRAMS, Scratch, difference, judged, masked, strange, unprivileged  # noqa: E402
from words import Helps, broken_links, missing_parts, missing_paths, named_commands  # noqa: E402

LINES_OF_THE_FRONT_PAGE = 200
READMES = readmes()
GIVEN = {}


def runs(block):
    """Whether this time the block is run."""
    declared = DECLARED.get(block.name())
    if declared is None:
        return not strange(block)
    return declared.long and loopback.LONG and os.getuid() == 0


class Sessions(loopback.Case):
    """A test for each README that has a session."""


def add_sessions(readme):
    sessions = [block for block in readme.blocks if block.session()]

    def test(self):
        scratch = Scratch(self, GIVEN)
        found = []
        for (_, apart), blocks in itertools.groupby(filter(runs, sessions), key=lambda block: (block.section, block.name() in DECLARED)):
            found += judged(scratch, list(blocks), apart)
        self.assertEqual(found, [], "\n" + "\n".join(found))
        if readme.file == "README.md":
            self.assertEqual((scratch.path / "out/buffer.svg").read_text(), (ROOT / "conf/demo.svg").read_text(),
                             "do: tools/run; cp out/buffer.svg conf/demo.svg")

    if any(map(runs, sessions)):
        setattr(Sessions, "test_" + re.sub(r"\W", "_", readme.file), test)


class Table(loopback.Case):
    def test_each_entry_has_its_block_and_its_reason(self):
        blocks = {block.name() for readme in READMES for block in readme.blocks if block.commands()}
        self.assertEqual([name for name in DECLARED if name not in blocks], [], "declared, and in no README")
        self.assertEqual([name for name, each in DECLARED.items() if len(each.reason) < 10], [])

    def test_what_is_not_declared_can_be_run(self):
        """Before anything is run: a command that may change the machine is not."""
        sessions = [block for readme in READMES for block in readme.blocks if block.session() and block.name() not in DECLARED]
        self.assertEqual([f"{block}: {wrong}" for block in sessions for wrong in strange(block)], [], "do: declare the block in declared.py")

    def test_no_two_sessions_have_one_name(self):
        names = [block.name() for readme in READMES for block in readme.blocks if block.session()]
        self.assertEqual(sorted(set(name for name in names if names.count(name) > 1 and name in DECLARED)), [])
        self.assertGreater(len(names), 20)


class Words(loopback.Case):
    def test_programs_options_and_verbs(self):
        helps = Helps({name: str(path) for name, path in GIVEN.items()})
        commands = [(place, command) for readme in READMES for place, command in named_commands(readme)]
        self.assertGreater(len(commands), 100)
        found = [f"{place}: {command}: {wrong}" for place, command in commands for wrong in helps.wrong(command)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_links(self):
        found = [wrong for readme in READMES for wrong in broken_links(readme)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_paths(self):
        found = [wrong for readme in READMES for judge in (missing_paths, missing_parts) for wrong in judge(readme)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_every_folder_with_a_readme_can_be_found(self):
        """From the front page, by links."""
        texts = {readme.file: readme for readme in READMES}
        seen, waiting = set(), ["README.md"]
        while waiting:
            file = waiting.pop()
            if file in seen or file not in texts:
                continue
            seen.add(file)
            for target in re.findall(r"\]\(([^)\s#]+)", texts[file].text):
                place = (texts[file].folder / target).resolve()
                if place.exists() and place.is_relative_to(ROOT):
                    place = place / "README.md" if place.is_dir() else place
                    waiting.append(str(place.relative_to(ROOT)))
        self.assertEqual(sorted(set(texts) - seen), [])


class FrontPage(loopback.Case):
    readme = next(readme for readme in READMES if readme.file == "README.md")

    def test_its_length(self):
        self.assertLessEqual(len(self.readme.text.splitlines()), LINES_OF_THE_FRONT_PAGE)

    def test_each_answer_of_the_cookbook_is_in_it(self):
        for path in (ROOT / "conf/cookbook").iterdir():
            self.assertIn(f"(conf/cookbook/{path.name})", self.readme.text)

    def workflow(self):
        block = next(block for block in self.readme.blocks if block.lines[0] == "on: push")
        steps = [found[1] for line in block.lines if (found := re.search(r"\brun: (.*?)\}?$", line))]
        return block, steps

    def gate(self, capture):
        """The exit status of the workflow's steps behind the installation, in a folder of a user without rights."""
        block, (install, *steps) = self.workflow()
        self.assertIn("tools/setup run && ", install)
        scratch = Scratch(self, GIVEN)
        where = scratch.path / "checkout"
        (where / "captures").mkdir(parents=True)
        (where / "captures/mine.pcap").write_bytes(capture)
        user = unprivileged()
        if user:
            os.chown(where, user["user"], user["group"])
        said = ""
        for step in steps:  # as the runner calls it
            done = subprocess.run(["bash", "-e", "-c", step], cwd=where, capture_output=True, text=True, timeout=loopback.PATIENCE_S, **user,
                                  env={"PATH": f"{scratch.bin}:/usr/bin:/bin", "HOME": str(where)})
            said += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, said
        return 0, said

    def test_the_gate_opens_and_shuts(self):
        scratch = Scratch(self, GIVEN)
        lossless = (scratch.path / "captures/in0.pcap").read_bytes()
        status, said = self.gate(lossless)
        self.assertEqual(status, 0, said)
        self.assertIn("lossless: yes, 0 of 1 000 lossless packets lost", said)
        recipe = (ROOT / "conf/smallest-traffic.toml").read_text()
        (scratch.path / "lossy.toml").write_text(recipe.replace('kind = "roce"', 'kind = "udp"'))
        subprocess.run([GIVEN["sluice-traffic"], "generate", "lossy.toml", "--out", "lossy"], cwd=scratch.path, check=True, capture_output=True)
        status, said = self.gate((scratch.path / "lossy/in0.pcap").read_bytes())
        self.assertEqual(status, 4, said)
        self.assertEqual(self.gate(b"no capture")[0], 1)

    def test_the_workflow_is_one(self):
        block, steps = self.workflow()
        self.assertLessEqual(len(block.lines), 12)
        self.assertEqual(len(steps), 3)
        try:
            import yaml
        except ImportError:
            self.skipTest("there is no yaml module for Python")
        read = yaml.safe_load("\n".join(block.lines))
        job = read["jobs"]["lossless"]
        self.assertEqual((job["container"], len(job["steps"])), ("debian:12", 5))
        self.assertEqual([step["run"] for step in job["steps"] if "run" in step], steps)


class Machinery(unittest.TestCase):
    """The comparison, by itself: what it must find, and what it must not."""

    def test_difference(self):
        said = ["a", "b", "c", "d"]
        for wanted in (["a", "b", "c", "d"], ["a", "..."], ["...", "d"], ["a", "...", "c", "d"], ["..."], ["...", "b", "...", "d"]):
            self.assertIsNone(difference(wanted, said), wanted)
        for wanted in ([], ["a"], ["a", "b", "c"], ["a", "b", "c", "d", "e"], ["...", "c"], ["x", "..."], ["...", "x", "..."], ["a", "c", "..."],
                       ["...", "c", "b", "..."], ["a", "...", "e"]):
            self.assertIsNotNone(difference(wanted, said), wanted)

    def test_what_is_strange(self):
        for command in ("rm -rf out", "sluiced --config x; ip link show", "echo 1 > /proc/sys/vm/nr_hugepages", "echo $(systemctl status)",
                        "for f in a b; do tools/lab down; done", "cat x | sh"):
            self.assertNotEqual(strange(Block("x", 1, "", ["$ " + command])), [], command)
        for command in ("for f in a b; do echo $f $(sluicectl stats show flows.$f); done", "python3 -c 'import json; print(1)'", "echo 1 >out/x",
                        "sluicectl assert queue h4.3 dropped eq 0; echo $?"):
            self.assertEqual(strange(Block("x", 1, "", ["$ " + command])), [], command)

    def test_masks(self):
        self.assertEqual(masked("64 bytes: icmp_seq=1  time=0.159 ms"), masked("64 bytes: icmp_seq=12 time=1.2 ms"))
        self.assertNotEqual(masked("lost 8, late 0"), masked("lost 8, later 0"))

    def test_a_wrong_word_is_found(self):
        helps = Helps({name: str(path) for name, path in GIVEN.items()})
        for command in ("sluiced --confg FILE", "sluicectl prt show", "sluice-fabric rn x.toml", "tools/run --asert x", "tools/nothing",
                        "build/sluiced --config y --ot y", "sluicectl set a b --cnfirm 1s"):
            self.assertTrue(COMMAND.match(command), command)
            self.assertEqual(len(helps.wrong(command)), 1, command)
        for command in ("sluiced --config FILE --check", "sluicectl set a b --confirm 1s", "sluice-fabric run x --out y"):
            self.assertEqual(helps.wrong(command), [], command)


def main():
    GIVEN.update(zip(PROGRAMS_IN_ORDER, (pathlib.Path(path).resolve() for path in sys.argv[1:])))  # Meson may give relative ones
    sys.argv[3:7] = []
    loopback.main()


PROGRAMS_IN_ORDER = ("sluiced", "sluice-traffic", "sluicectl", "sluice-fabric", "sluice-import", "sluice-peer")
assert set(PROGRAMS_IN_ORDER) == set(PROGRAMS)
for each in READMES:
    add_sessions(each)

if __name__ == "__main__":
    main()
