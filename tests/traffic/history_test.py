#!/usr/bin/python3
"""`tools/check history` on the commits of a throw-away repository: what it refuses, and what it lets through.

    history_test.py        the last line is `N passed, N failed`
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
WHO = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in (("NAME", "T"), ("EMAIL", "t@example.net"))}
BODY = "Each one costs 70 cycles, and half of the ports have none."


class History(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sluice-history-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "tools").mkdir()
        for name in ("check", "setup"):
            shutil.copy(ROOT / "tools" / name, self.folder / "tools")
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("Whatever this was")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")

    def run_here(self, *words):
        # Drops the variables of the repository that runs this test, such as a hook's GIT_DIR.
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        return subprocess.run(words, cwd=self.folder, env={**clean, **ALONE, **WHO}, capture_output=True, text=True, check=False)

    def git(self, *words):
        done = self.run_here("git", *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def commit(self, title, body=""):
        self.git("commit", "--quiet", "--allow-empty", "-m", title, *(["-m", body] if body else []))

    def check(self):
        done = self.run_here("tools/check", "history")
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], f"{1 - done.returncode} passed, {done.returncode} failed", done.stdout + done.stderr)
        return done.returncode == 0, done.stdout

    def refused(self, reason, title, body=BODY):
        self.commit(title, body)
        passed, said = self.check()
        self.assertFalse(passed, title)
        self.assertIn(title.strip(), said)
        self.assertIn(reason, said, title)
        self.git("reset", "--quiet", "--hard", "HEAD~1")

    def test_other_titles_are_refused(self):
        for title in ("wip2", "Skip empty queues", "egress:skip empty queues", "egress: Skip empty queues", "egress: ", ": skip them",
                      "README: need no root", "lib, README: need no root", "readme: where time goes; dataplane: what two cost"):
            self.refused("the title ", title)
        for title in ("dataplane: what a crossing does not cost", "egress: skipped empty queues", "egress: skips empty queues",
                      "egress: skipping empty queues", "egress: the empty queues", "egress: wip"):
            self.refused("completes `this commit will ...`", title)

    def test_a_title_of_73_characters_is_refused(self):
        self.refused("73 characters; at most 72", "egress: skip " + "x" * 60)
        self.commit("egress: skip " + "ü" * 59, BODY)
        self.assertEqual(self.check()[0], True)

    def test_a_title_without_a_body_is_refused(self):
        for body in ("", "Signed-off-by: T <t@example.net>"):
            self.refused("no body that says why", "egress: skip empty queues", body)

    def test_every_commit_is_looked_at(self):
        self.commit("wip", BODY)
        self.commit("egress: skip empty queues", BODY)
        passed, said = self.check()
        self.assertFalse(passed)
        self.assertNotIn("empty queues", said)

    def test_imperatives_pass(self):
        for title in ("egress: skip empty queues", "control, tests: pass a port by value", "tools/check: address what is new",
                      "readme: need no root", "dataplane/ports: alias names"):
            self.commit(title, BODY)
        self.assertEqual(self.check()[0], True)

    def test_what_origin_has_and_merges_are_nobodys_concern(self):
        self.assertEqual(self.check()[0], True)
        self.git("checkout", "--quiet", "-b", "other")
        self.commit("egress: skip empty queues", BODY)
        self.git("checkout", "--quiet", "main")
        self.commit("lib: keep a queue's length", BODY)
        self.git("merge", "--quiet", "--no-ff", "-m", "Merge branch 'other'", "other")
        self.assertEqual(self.check()[0], True)
        self.commit("wip")
        self.git("update-ref", "-d", "refs/remotes/origin/main")
        self.assertEqual(self.check()[0], True)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    broken = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - broken} passed, {broken} failed")
    sys.exit(1 if broken or not result.testsRun else 0)
