#!/usr/bin/python3
"""Each benchmark of tools/bench is started once, with rounds of nothing: its programs are stand-ins that only say so."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "workshop" / "benchmarks"))

import loopback  # noqa: E402
import main  # noqa: E402

PROGRAMS = ("sluiced", "sluice-traffic", "sluice-fabric", "tools/workshop/benchmarks/sluice-probe")
LACKS = "is not there|needs|names the other build"  # of this machine, or of the command


class Starts(unittest.TestCase):
    def test_the_programs_of_a_build_that_is_named_from_here(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for name in PROGRAMS:
                program = pathlib.Path("build", name)
                program.parent.mkdir(parents=True, exist_ok=True)
                program.write_text("#!/bin/sh\necho a stand-in >&2; exit 3\n")
                program.chmod(0o755)
            options = types.SimpleNamespace(build=pathlib.Path("build"), rounds=1, seconds=1, htsim=None, l3fwd=None, against=None)
            with contextlib.redirect_stderr(io.StringIO()):
                whys = {name: main.measured(name, options, main.ORDINARY, "")[0]["why"] for name in main.BENCHMARKS}
        self.assertEqual({name: why for name, why in whys.items() if not re.search(f"stand-in|{LACKS}", why)}, {})
        self.assertGreater(sum("stand-in" in why for why in whys.values()), 10)


if __name__ == "__main__":
    loopback.main()
