#!/usr/bin/python3
"""Every output on a full disk, into a closed pipe, and closed: it costs what was to be said and nothing else."""

import json
import os
import signal
import subprocess

import control
from control import Case, Programs, Running, Switch
from frames import plain


def full():
    return os.open("/dev/full", os.O_WRONLY)


def closed_pipe():
    """Its reader has gone away."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


BROKEN = {"full disk": full, "closed pipe": closed_pipe}


class Outputs(Case):
    def broken(self, kind):
        """A descriptor of the kind, for a child, and the name under which it can open it."""
        fd = BROKEN[kind]()
        self.addCleanup(os.close, fd)
        return fd, f"/proc/self/fd/{fd}"

    def running(self, *arguments, **process):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(1000 * n, plain(200)) for n in range(10)])
        return Running(switch, "--log", "info", *arguments, **process)

    def works_on(self, running, status=0):
        """It says things, serves clients, passes traffic and ends as it should."""
        for up in (False, True, False, True):
            running.call("port.set", port="h1", up=up)
        running.process.send_signal(signal.SIGHUP)
        running.wait_for(lambda: [event["kind"] for event in running.call("events.list")["events"]], lambda kinds: "reloaded" in kinds)
        self.assertEqual(running.client().call("hello")["name"], "sluice")
        running.call("clock.run")
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(control.PATIENCE_S)
        self.assertEqual(running.process.returncode, status)
        frames = control.loopback.read_pcap(running.folder / "out" / "h1.pcap")
        self.assertEqual(len(frames), 10)

    def test_stderr(self):
        for kind in BROKEN:
            with self.subTest(kind=kind):
                fd, _ = self.broken(kind)
                running = self.running(stderr=fd, stdout=subprocess.DEVNULL)
                self.works_on(running)
                self.assertTrue(json.loads(running.report_path.read_text())["ledger"]["balanced"])

    def test_stdout(self):
        """The summary is lost: the exit status says so, unless a reader went away, who has read enough."""
        for kind in BROKEN:
            with self.subTest(kind=kind):
                fd, _ = self.broken(kind)
                running = self.running(stdout=fd, stderr=subprocess.PIPE)
                self.addCleanup(running.process.stderr.close)
                is_full = kind == "full disk"
                self.works_on(running, status=1 if is_full else 0)
                self.assertEqual(b"stdout cannot be written" in running.process.stderr.read(), is_full)

    def test_both(self):
        for kind in BROKEN:
            with self.subTest(kind=kind):
                fd, _ = self.broken(kind)
                self.works_on(self.running(stdout=fd, stderr=fd), status=1 if kind == "full disk" else 0)

    def test_events(self):
        for kind in BROKEN:
            with self.subTest(kind=kind):
                fd, name = self.broken(kind)
                running = self.running("--events", name, pass_fds=[fd])
                for up in (False, True) * 2000:  # more than a buffer holds
                    running.call("port.set", port="h1", up=up)
                self.assertEqual(running.client().call("hello")["name"], "sluice")
                running.call("clock.run")
                running.process.send_signal(signal.SIGTERM)
                self.assertIn(running.process.wait(control.PATIENCE_S), (0, 1))  # not by a signal
                self.assertTrue(json.loads(running.report_path.read_text())["ledger"]["balanced"])

    def test_report_and_trace(self):
        for kind in BROKEN:
            for option in ("--report", "--trace"):
                with self.subTest(kind=kind, option=option):
                    fd, name = self.broken(kind)
                    switch = Switch(self, hosts=2)
                    path = switch.folder / "sluice.toml"
                    path.write_text(switch.text())
                    done = subprocess.run([Programs.sluiced, "--config", path, option, name], pass_fds=[fd], capture_output=True, text=True,
                                          timeout=control.PATIENCE_S)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn("cannot be written", done.stderr)

    def test_streams_that_are_closed(self):
        """Their numbers are not given to files: what is said would be written into them."""
        for closed in ((2,), (1,), (0, 1, 2)):
            with self.subTest(closed=closed):
                running = self.running("--events", "events", stdin=None, stdout=None, stderr=None,
                                       preexec_fn=lambda closed=closed: [os.close(fd) for fd in closed])
                self.works_on(running)
                for line in (running.folder / "events").read_text().splitlines():
                    json.loads(line)
                self.assertTrue(json.loads(running.report_path.read_text())["ledger"]["balanced"])

    def test_what_only_prints(self):
        switch = Switch(self, hosts=2, **{"buffer.size": "16MB"})  # of which nothing warns
        good, bad = switch.folder / "good.toml", switch.folder / "bad.toml"
        good.write_text(switch.text())
        bad.write_text("nonsense = 1\n")
        running = self.running()
        socket = ["--socket", running.path]
        for program, arguments in ((Programs.sluiced, ["--help"]), (Programs.sluiced, ["--man"]), (Programs.sluiced, ["--reference"]),
                                   (Programs.sluiced, ["--check", "--config", good]), (Programs.traffic, ["--help"]),
                                   (Programs.traffic, ["--help-recipe"]), (Programs.sluicectl, ["help"]),
                                   (Programs.sluicectl, [*socket, "stats", "show"]), (Programs.sluicectl, [*socket, "--json", "config", "keys"])):
            with self.subTest(program=program.name, arguments=arguments[-1]):
                done = subprocess.run([program, *arguments], stdout=self.broken("full disk")[0], stderr=subprocess.PIPE, text=True,
                                      timeout=control.PATIENCE_S)
                self.assertEqual((done.returncode, done.stderr), (1, f"{program.name}: stdout cannot be written\n"))
        for program, arguments, status in ((Programs.sluiced, ["--config", bad], 2), (Programs.sluiced, ["--nonsense"], 2),
                                           (Programs.traffic, ["nonsense"], 2), (Programs.sluicectl, ["nonsense"], 2),
                                           (Programs.sluicectl, [*socket, "route", "delete", "10.99.0.0/16"], 1)):
            with self.subTest(program=program.name, arguments=arguments[-1]):
                done = subprocess.run([program, *arguments], stderr=self.broken("full disk")[0], stdout=subprocess.DEVNULL,
                                      timeout=control.PATIENCE_S)
                self.assertEqual(done.returncode, status)
        self.works_on(running)

    def test_names_that_are_no_utf8(self):
        """They are in events, the log, the report and answers: always JSON, with a mark where a byte was."""
        running = self.running("--events", "events", name=b"caf\xe9.toml")
        running.call("events.subscribe", on=True)
        self.works_on(running)
        lines = [json.loads(line) for line in (running.folder / "events").read_text(encoding="utf-8").splitlines()]
        self.assertIn("caf\ufffd.toml", [line["text"] for line in lines if line["kind"] == "reloaded"][0])
        report = json.loads(running.report_path.read_text(encoding="utf-8"))
        self.assertIn("caf\ufffd.toml", [event["text"] for event in report["events"] if event["kind"] == "reloaded"][0])


if __name__ == "__main__":
    control.main()
