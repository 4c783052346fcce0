"""The programs that the tests of this folder are given, in the order of meson.build; the rest is loopback.py's."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "loopback"), str(ROOT / "tests" / "control")]

import loopback  # noqa: E402

NAMES = ("sluiced", "sluice-traffic", "sluicectl", "sluice-fabric", "sluice-import", "sluice-peer")
PROGRAM = {}


def said(*command, status=0):
    """What a command prints; stderr, too, where it fails otherwise than expected."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != status:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    # Meson may give paths relative to the build, and a test may be elsewhere.
    PROGRAM.update(zip(NAMES, (str(pathlib.Path(path).resolve()) for path in sys.argv[1:1 + len(NAMES)])))
    sys.argv[3:1 + len(NAMES)] = []
    loopback.main()


__all__ = ["NAMES", "PROGRAM", "ROOT", "loopback", "main", "said", "unittest"]
