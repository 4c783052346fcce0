#!/usr/bin/python3
"""Runs a test program twice, with the pools of one thread and with those of workers on several cores: the same must come of every switch.

    shared_pools_test.py PROGRAM [ARGUMENT...]     arguments of the program, such as -g GROUP
"""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile


def run(folder, ways):
    """The lines of the program's outcomes (tests/sim/outcomes.hh)."""
    file = pathlib.Path(folder, ways)
    done = subprocess.run(sys.argv[1:], env={**os.environ, "SLUICE_OUTCOMES": str(file), "SLUICE_SHARED_POOLS": "1" if ways == "shared" else "0"})
    if done.returncode != 0:
        sys.exit(f"with {ways} pools: exit status {done.returncode}")
    return file.read_text().splitlines()


if len(sys.argv) < 2:
    sys.exit(__doc__)
with tempfile.TemporaryDirectory() as folder:
    exclusive, shared = run(folder, "exclusive"), run(folder, "shared")
if not exclusive:
    sys.exit("FAIL: shared_pools: no switch has come to its end")
for number, (one, other) in enumerate(itertools.zip_longest(exclusive, shared), start=1):
    if one != other:
        sys.exit(f"FAIL: shared_pools: switch {number} of {len(exclusive)} differs\n  exclusive {one}\n  shared    {other}")
print(f"{len(exclusive)} switches came to the same with shared pools")
