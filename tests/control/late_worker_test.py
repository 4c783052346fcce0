#!/usr/bin/python3
"""A worker that does not run: a change says so, control goes on, and all is as it should be when the worker is back.

The worker is stopped as a debugger would, by ptrace, which stops one thread and leaves the others alone.
"""

import ctypes
import os
import pathlib

import control
from control import Case, Running, Switch

REFUSED, NOT_TAKEN_UP = -32000, -32004
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000
MOST_UNDER_WAY = 16


class StoppedThread:
    """Stands still until `go_on`."""

    def __init__(self, test, pid, name):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.libc.ptrace.restype = ctypes.c_long
        tasks = {(task / "comm").read_text().strip(): int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}
        self.thread = tasks[name]
        try:
            self.ask(SEIZE)
        except OSError as error:
            test.skipTest(f"SKIPPED: a thread cannot be stopped: {error}")
        self.ask(INTERRUPT)
        os.waitpid(self.thread, WALL)

    def ask(self, what):
        if self.libc.ptrace(what, self.thread, None, None) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    def go_on(self):
        self.ask(DETACH)


class LateWorker(Case):
    def kinds(self, running):
        return [event["kind"] for event in running.call("events.list")["events"]]

    def test_it_is_told_waited_for_once_and_taken_back(self):
        switch = Switch(self, hosts=2, clock="real", workers=2, device="net_null{n},no-rx=1")
        running = Running(switch, "--force", interactive=False)
        route = {"prefix": "10.7.0.0/16", "via": [{"address": "10.0.1.2"}]}
        other = {"prefix": "10.8.0.0/16", "via": [{"address": "10.0.0.2"}]}
        running.call("route.add", routes=[route])
        stopped = StoppedThread(self, running.process.pid, "sluice-w1")

        # Published: every worker that runs has it, and the client is told who has not.
        error = running.refused("route.add", routes=[other])
        self.assertEqual(error.code, NOT_TAKEN_UP, error.message)
        self.assertRegex(error.message, r"^published, but worker 1 has not taken it up for \d+ s$")
        self.assertIn("result", error.data)
        running.wait_for(lambda: self.kinds(running), lambda kinds: kinds.count("worker_late") == 1)

        # A change that needs no table follows without waiting; other clients are served.
        for n in range(MOST_UNDER_WAY - 1):
            error = running.refused("queue.hold", port="h0", queue=3, hold=n % 2 == 0)
            self.assertEqual(error.code, NOT_TAKEN_UP, error.message)
        self.assertEqual(running.client().call("hello")["name"], "sluice")

        # A change that needs memory or tables that the worker may still read is refused, and changes nothing.
        for method, params in (("queue.hold", {"port": "h0", "queue": 3, "hold": False}), ("route.delete", {"routes": ["10.7.0.0/16"]})):
            error = running.refused(method, **params)
            self.assertEqual(error.code, REFUSED, error.message)
            self.assertIn("worker 1 has not taken it up", error.message)
        self.assertEqual({each["prefix"] for each in running.call("route.list")}, {"10.7.0.0/16", "10.8.0.0/16"})

        stopped.go_on()
        running.wait_for(lambda: self.kinds(running), lambda kinds: kinds.count("worker_back") == 1)
        running.call("queue.hold", port="h0", queue=3, hold=False)
        running.call("route.delete", routes=["10.7.0.0/16"])
        running.call("route.add", routes=[route])
        self.assertEqual(running.call("route.lookup", destination="10.8.1.1", source="10.0.1.2")["prefix"], "10.8.0.0/16")
        self.assertEqual(self.kinds(running).count("worker_late"), 1)
        running.stop()


if __name__ == "__main__":
    control.main()
