#!/usr/bin/python3
"""sluiced under a service manager: its states, the line on its ports, the watchdog, and what a journal gets.

The manager is a socket here; tests/packaging has a real one.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time

import control
from control import PATIENCE_S, Case, Programs, Running, Switch
from late_worker_test import StoppedThread

ROUNDS = 60  # of control, of 8 ms: time for some pings


class Manager:
    """What is told to $NOTIFY_SOCKET, as {name: value} of each datagram."""

    def __init__(self, test, switch):
        self.test, self.path = test, switch.folder / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        test.addCleanup(self.socket.close)
        self.socket.bind(str(self.path))
        self.socket.settimeout(PATIENCE_S)

    def environment(self, **more):
        return {"NOTIFY_SOCKET": str(self.path), **more}

    def next(self):
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def next_state(self):
        """The next that is not a ping."""
        while (told := self.next()) == {"WATCHDOG": "1"}:
            pass
        return told

    def wait_for_ping(self):
        while self.next() != {"WATCHDOG": "1"}:
            pass

    def pings_until_now(self):
        count = 0
        self.socket.setblocking(False)
        try:
            while True:
                count += self.next() == {"WATCHDOG": "1"}
        except BlockingIOError:
            return count
        finally:
            self.socket.settimeout(PATIENCE_S)


def polling(test, **keys):
    return Switch(test, hosts=2, clock="real", device="net_null{n},no-rx=1", **keys)


class States(Case):
    def test_are_told_with_a_line_on_the_ports(self):
        switch = polling(self)
        manager = Manager(self, switch)
        running = Running(switch, "--force", interactive=False, environment=manager.environment())
        ready = manager.next()
        self.assertEqual((list(ready), ready["READY"]), (["READY", "STATUS"], "1"))
        self.assertTrue(ready["STATUS"].startswith("2 of 2 ports up"), ready)
        running.call("port.set", port="h1", up=False)
        self.assertTrue(manager.next()["STATUS"].startswith("1 of 2 ports up (down: h1)"))

        # A reload says when it began by the manager's clock, and that it is over, good or refused.
        good = running.config.read_text()
        for text, refused in ((good + "\nnonsense = 1\n", True), (good, False)):
            running.config.write_text(text)
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            running.process.send_signal(signal.SIGHUP)
            reloading, ready = manager.next(), manager.next()
            self.assertEqual(list(reloading), ["RELOADING", "MONOTONIC_USEC"])
            self.assertLessEqual(before, int(reloading["MONOTONIC_USEC"]))
            self.assertLessEqual(int(reloading["MONOTONIC_USEC"]), time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000)
            self.assertEqual((ready["READY"], "refused" in ready["STATUS"]), ("1", refused), ready)

        running.process.send_signal(signal.SIGTERM)
        self.assertEqual(manager.next()["STOPPING"], "1")
        self.assertEqual(running.process.wait(PATIENCE_S), 0)
        self.assertEqual(manager.pings_until_now(), 0, "nobody has a watchdog")

    def test_a_refused_configuration_is_told_and_ends_with_2(self):
        switch = polling(self, nonsense=1)
        manager = Manager(self, switch)
        (switch.folder / "sluice.toml").write_text(switch.text())
        command = [Programs.sluiced, "--config", switch.folder / "sluice.toml"]
        done = subprocess.run(command, env={**os.environ, **manager.environment()}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(manager.next()["STATUS"], r"sluice\.toml is refused")
        subprocess.run([*command, "--check"], env={**os.environ, **manager.environment()}, capture_output=True)
        self.assertEqual(manager.pings_until_now(), 0)

    def test_an_interactive_switch_is_ready_too(self):
        switch = Switch(self, hosts=2)
        manager = Manager(self, switch)
        Running(switch, environment=manager.environment(WATCHDOG_USEC="100000"))
        self.assertEqual(manager.next()["READY"], "1")
        manager.wait_for_ping()


class Watchdog(Case):
    def rounds_pass(self, running):
        first = running.call("control.show")["rounds"]
        running.wait_for(lambda: running.call("control.show")["rounds"], lambda rounds: rounds >= first + ROUNDS)

    def kinds(self, running):
        return [event["kind"] for event in running.call("events.list")["events"]]

    def let_go(self, stopped):
        with contextlib.suppress(OSError):  # it goes on already
            stopped.go_on()

    def test_pings_come_until_a_worker_stands_still(self):
        switch = polling(self, workers=2, idle_sleep="20us")
        manager = Manager(self, switch)
        running = Running(switch, "--force", interactive=False, environment=manager.environment(WATCHDOG_USEC="300000"))
        self.assertEqual(manager.next_state()["READY"], "1")
        for _ in range(3):
            manager.wait_for_ping()
        stopped = StoppedThread(self, running.process.pid, "sluice-w1")
        self.addCleanup(self.let_go, stopped)  # nobody could end a process with a thread that is held
        running.wait_for(lambda: self.kinds(running), lambda kinds: "worker_stuck" in kinds)
        manager.pings_until_now()
        self.rounds_pass(running)
        self.assertEqual(manager.pings_until_now(), 0)
        self.assertEqual(self.kinds(running).count("worker_stuck"), 1)
        text = next(event["text"] for event in running.call("events.list")["events"] if event["kind"] == "worker_stuck")
        self.assertRegex(text, r"^worker 1 has made no turn for \d+ s")
        stopped.go_on()
        manager.wait_for_ping()
        running.wait_for(lambda: self.kinds(running), lambda kinds: "worker_back" in kinds)

    def test_another_process_s_or_a_senseless_watchdog_is_told_nothing(self):
        for variables in ({"WATCHDOG_USEC": "3000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "-1"},
                          {"WATCHDOG_USEC": "99999999999999999999"}, {"WATCHDOG_USEC": "3000", "WATCHDOG_PID": ""}):
            switch = polling(self, idle_sleep="20us")
            manager = Manager(self, switch)
            running = Running(switch, "--force", interactive=False, environment=manager.environment(**variables))
            manager.next_state()
            self.rounds_pass(running)
            self.assertEqual(manager.pings_until_now(), 0, variables)
            running.kill()


class Journal(Case):
    def said(self, switch, *arguments, is_journal=True):
        """Both streams of a run that is told to end when it is up."""
        read, write = os.pipe()
        there = os.fstat(write)
        stream = f"{there.st_dev}:{there.st_ino if is_journal else there.st_ino + 1}"
        (switch.folder / "sluice.toml").write_text(switch.text())
        with subprocess.Popen([Programs.sluiced, "--config", switch.folder / "sluice.toml", *arguments], stdout=write, stderr=write,
                              env={**os.environ, "JOURNAL_STREAM": stream}):
            os.close(write)
            with os.fdopen(read) as lines:
                return lines.read().splitlines()

    def test_has_priorities_and_the_result_without_tables(self):
        switch = Switch(self, hosts=2)
        switch.event("0ns", "port h1 down")
        lines = self.said(switch, "--log", "info")
        self.assertRegex(lines[0], r"^<6>routes: 0 IPv4 and 0 IPv6 routes among ")
        self.assertRegex(lines[1], r"^<6>memory: \d+\.\d MB \(packet buffers .*\): ordinary memory \(no hugepages\)$")
        self.assertEqual(lines[2], "<5>port_down: port h1 down by command")
        self.assertRegex(lines[3], r"^0 frames in, 0 out")
        self.assertEqual(len(lines), 5, lines)
        self.assertTrue(lines[4].startswith("lossless: "), lines)

    def test_a_stream_that_goes_elsewhere_is_none(self):
        lines = self.said(Switch(self, hosts=2), "--log", "info", is_journal=False)
        self.assertTrue(lines[0].startswith("sluiced: 0.000000 s: info: routes: "), lines)
        self.assertGreater(len(lines), 8)

    def test_errors_and_warnings_of_the_configuration_have_theirs(self):
        lines = self.said(Switch(self, hosts=2, nonsense=1))
        self.assertEqual([line[:3] for line in lines], ["<3>"] * len(lines), lines)
        self.assertIn("nonsense", lines[0])
        switch = Switch(self, hosts=2, cores=[0])
        lines = [line for line in self.said(switch, "--check") if re.match("<.>", line)]
        self.assertIn("<6>", {line[:3] for line in lines}, lines)


if __name__ == "__main__":
    control.main()
