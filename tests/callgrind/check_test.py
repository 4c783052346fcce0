#!/usr/bin/python3
"""What `sluice-fabric check` costs as a fabric grows: instructions near the size of what it writes down, where clocks say little."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from loopback import Programs  # noqa: E402

LEAF_SPINE = """topology = {{kind = "leaf-spine", leaves = {n}, spines = {n}, hosts = {n}}}
switch.default.buffer.size = "1GB"
[[flow]]
from = "h1"
to = "h2"
"""
RING = """topology = {{kind = "ring", switches = {n}, hosts = 1}}
routing = {{circles = "allow"}}
switch.default.buffer.size = "2MB"
[[flow]]
from = "h1"
to = "h2"
"""


class CheckCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "fabric.toml")

    def check(self, text, n, *arguments, under=()):
        self.file.write_text(text.format(n=n))
        return subprocess.run([*under, Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric", "check", self.file, *arguments], capture_output=True, text=True, check=True)

    def growth(self, text, small, large):
        """How many times the instructions, less those of a start."""
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        counts = [int(re.search(r"Collected : (\d+)", self.check(
            text, n, under=("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")).stderr)[1]) for n in (3, small, large)]
        return (counts[2] - counts[0]) / (counts[1] - counts[0])

    def test_four_times_the_leaves_spines_and_hosts(self):
        self.assertLess(self.growth(LEAF_SPINE, 8, 32), 24)

    def test_ten_times_a_ring(self):
        self.assertLess(self.growth(RING, 25, 250), 40)

    def test_long_tables_and_circles_are_cut_unless_all_is_asked_for(self):
        run = self.check(RING, 120)
        self.assertIn("sw1 > sw2 > sw3 > sw4 > sw5 > sw6 > sw7 > sw8 > ... 104 more ... > sw113 > ", run.stderr)
        self.assertLess(max(map(len, run.stderr.splitlines())), 700)
        self.assertIn("... and 14 180 rows more: --all\n", run.stdout)
        self.assertLess(len(run.stdout.splitlines()), 330)
        whole = self.check(RING, 120, "--all").stdout
        self.assertNotIn("--all", whole)
        self.assertIn("sw120           10.0.119.0/24       sw119\n", whole)


if __name__ == "__main__":
    loopback.main()
