"""The common part of the tests of the control socket: a switch that runs, clients of its socket, and sluicectl.

A test file is run as NAME_test.py SLUICED SLUICE_TRAFFIC SLUICECTL [TEST...]; the rest is as in tests/loopback.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from client import Client, Refused, connect  # noqa: E402,F401
from loopback import Case, Programs, Switch  # noqa: E402,F401
from waiting import PATIENCE_S, wait_for  # noqa: E402,F401


# What is only held (spare_memory.hh) takes no memory, unless malloc writes to all that it gives, as Meson lets it do.
UNTOUCHED = {"MALLOC_PERTURB_": "0"}


class Running:
    """sluiced on the configuration of a loopback.Switch, with a socket; interactive unless told otherwise. `process` goes to
    subprocess.Popen."""

    def __init__(self, switch, *arguments, interactive=True, config=None, path=None, environment=None, name="sluice.toml", **process):
        self.test, self.switch = switch.test, switch
        self.folder = switch.folder
        self.path = path or self.folder / "sluice.sock"
        self.config = self.folder / os.fsdecode(name)
        self.config.write_text(config if config is not None else switch.text())
        self.report_path = self.folder / "report.json"
        self.log = open(self.folder / "log", "w+")
        self.test.addCleanup(self.log.close)
        arguments = [*arguments, "--interactive"] if interactive else arguments
        self.process = subprocess.Popen(
            [Programs.sluiced, "--config", self.config, "--report", self.report_path, "--socket", self.path, *arguments],
            **{"stdout": self.log, "stderr": subprocess.STDOUT, **process}, cwd=self.folder,
            env={**os.environ, **(environment or {})})
        self.test.addCleanup(self.kill)
        self.first = self.connect()

    def connect(self):
        """A new client; waits for a switch that only starts."""
        try:
            return self.closed_at_end(connect(self.path, self.process))
        except Exception as error:
            raise AssertionError(f"exit status {self.process.poll()}, and it said: {self.said()}") from error

    def closed_at_end(self, client):
        self.test.addCleanup(client.close)
        return client

    def client(self):
        return self.closed_at_end(Client(self.path))

    def call(self, method, **params):
        return self.first.call(method, **params)

    def refused(self, method, **params):
        with self.test.assertRaises(Refused) as caught:
            self.first.call(method, **params)
        return caught.exception

    def said(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def ctl(self, *words, status=0, given="", **options):
        """sluicectl with these words (one string: split at blanks)."""
        words = words[0].split() if len(words) == 1 else words
        done = subprocess.run([Programs.sluicectl, "--socket", self.path, *words], input=given, text=True,
                              capture_output=True, timeout=PATIENCE_S, **options)
        self.test.assertEqual(done.returncode, status, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout if status in (0, 4) else done.stderr

    def wait_for(self, what, holds):
        """Asks until `holds` of what it gives; fails after PATIENCE_S."""
        return wait_for(what, holds, alive=lambda: self.process.poll() is None)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def stop(self, status=0, accounts=False, ending=signal.SIGTERM):
        """Ends it; every packet is accounted for. `accounts`: the clock has run to the end, so to the frame."""
        self.process.send_signal(ending)
        self.process.wait(PATIENCE_S)
        self.test.assertEqual(self.process.returncode, status, self.said())
        self.test.assertFalse(os.path.exists(self.path), "the socket's file is left")
        report = json.loads(self.report_path.read_text())
        self.test.assertEqual(report["ledger"]["balanced"], True)
        frames = {}
        for capture in sorted((self.folder / "out").glob("*.pcap")):
            frames[capture.stem] = loopback.read_pcap(capture)
        outcome = loopback.Outcome(subprocess.CompletedProcess([], status, self.said(), ""), report, frames, {})
        if accounts:
            self.switch.check_accounts(outcome)
        return outcome


def main():
    Programs.sluicectl = pathlib.Path(sys.argv.pop(3)).resolve()
    loopback.main()
