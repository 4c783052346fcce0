"""The common part: sluice-import on a file, what it says and writes.

A test file is run as NAME_test.py SLUICED SLUICE_TRAFFIC SLUICE_IMPORT [TEST...]; the rest is as in tests/loopback.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from loopback import PATIENCE_S, Programs  # noqa: E402

FILES = pathlib.Path(__file__).resolve().parent / "files"
SONIC, YAML, COMMANDS = FILES / "three-ports.json", FILES / "roce.yaml", FILES / "roce.nv"
PRESET_PCP = (0, 0, 0, 3, 0, 0, 6, 7)  # the classes of a map that says nothing of them
DONE, FAILED, IN_PART, REFUSED, NOT_LOSSLESS = 0, 1, 1, 2, 4

def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, **options)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out, self.account = self.folder / "sluice.toml", self.folder / "account"

    def importing(self, source, *options, status=DONE):
        """(what it says, the configuration as TOML, the lines of the account)."""
        self.out.unlink(missing_ok=True)
        done = run(Programs.importer, source, "-o", self.out, "--account", self.account, *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        text = self.out.read_text() if self.out.exists() else ""
        return done.stdout + done.stderr, tomllib.loads(text), self.account.read_text().splitlines() if self.account.exists() else []

    def file(self, content, name="config_db.json"):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())
        return path

    def refused(self, content, *words, name="config_db.json", options=()):
        """Nothing is written, and each word is said, in one line each of some length."""
        said, config, _ = self.importing(self.file(content, name), *options, status=REFUSED)
        self.assertFalse(self.out.exists())
        for word in words:
            self.assertIn(word, said)
        for line in said.splitlines():
            self.assertLess(len(line), 1000)
        self.assertNotIn("internal error", said)
        return said

    def changed(self, change):
        """three-ports.json after `change` of its tables."""
        tables = json.loads(SONIC.read_text())
        change(tables)
        return tables

    def check(self, config=None):
        """Loads, and runs for a moment under its clock."""
        done = run(Programs.sluiced, "--config", config or self.out, "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def value(self, config, port, *path):
        """A key of a port, or else of [default]."""
        for section in (config["port"][port], config.get("default", {})):
            for name in path:
                section = section.get(name) if isinstance(section, dict) else None
            if section is not None:
                return section
        return None


def main():
    Programs.importer = pathlib.Path(sys.argv.pop(3)).resolve()
    loopback.main()
