#!/usr/bin/python3
"""Every method of the socket while control may not allocate, or not open anything: done as a whole or not at all, and said.

memory_limit.cc, preloaded, sets what the control thread may allocate.
"""

import json
import mmap
import os
import resource
import struct

import control
from control import Case, Client, Refused, Running, Switch
from frames import plain
from methods_test import calls

UNLIMITED, COUNTED = -1, 1 << 60
WITHOUT_SPARE = 1 << 19  # the spare memory is larger
READ = 4000  # enough to read a request
TOO_MUCH = -32003


class MemoryLimit:
    """The bytes that the switch's control thread may allocate from now on, shared with it."""

    def __init__(self, test, folder):
        self.path = folder / "memory_limit"
        self.path.write_bytes(bytes(32))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 32)
        test.addCleanup(self.map.close)
        self.lift()

    def environment(self):
        return {"LD_PRELOAD": os.environ["SLUICE_MEMORY_LIMIT_LIBRARY"], "SLUICE_MEMORY_LIMIT": str(self.path)}

    def set(self, limit, largest=COUNTED):
        self.map[8:32] = struct.pack("qqq", largest, 0, 0)
        self.map[0:8] = struct.pack("q", limit)

    def lift(self):
        """Gives how many requests were refused, and the most that was in use."""
        self.map[0:8] = struct.pack("q", UNLIMITED)
        return struct.unpack("qq", self.map[16:32])


class Limits(Case):
    def start(self):
        switch = Switch(self, hosts=3)
        switch.give("h0", [(1000 * n, plain(200)) for n in range(20)])
        switch.section("decisions", record="on")
        limit = MemoryLimit(self, switch.folder)
        running = Running(switch, environment=limit.environment())
        running.call("hello")  # it has been accepted
        return running, limit

    def state(self, running):
        """The state that changes can alter. Not the events: one may tell of the memory that was missing."""
        state = [running.call(method) for method in ("config.get", "qos.show", "route.list", "neighbor.list", "clock.show")]
        state += [running.call("stats.show", path=path) for path in ("ports", "ledger", "pools")]
        return json.dumps(state).replace(str(running.folder), "FOLDER")

    def reference(self):
        """How the switch stands before the calls and after each, and the memory that each takes."""
        running, limit = self.start()
        states, used = [self.state(running)], []
        for method, params in calls(running.config.read_text()):
            limit.set(COUNTED)
            running.call(method, **params)
            used.append(limit.lift()[1])
            states.append(self.state(running))
        return states, used

    def attempt(self, running, method, params):
        """The answer: a result, an error, or nothing when the switch had no memory to say anything."""
        try:
            return running.call(method, **params), None
        except Refused as error:
            return None, error
        except ConnectionError:
            return None, None

    def test_memory(self):
        """A request that has begun ends with the spare memory; one that finds none does not begin."""
        states, used = self.reference()
        running, limit = self.start()
        backed = 0
        for (method, params), before, after, most in zip(calls(running.config.read_text()), states, states[1:], used):
            with self.subTest(method=method):
                self.assertGreater(most, 500, "its memory is not seen")
                limit.set(0, largest=WITHOUT_SPARE)
                self.attempt(running, "hello", {})  # takes the spare memory
                result, error = self.attempt(running, method, params)
                refused, _ = limit.lift()
                self.assertGreater(refused, 0)
                self.assertIsNone(result)
                if error is None:
                    running.first = running.closed_at_end(Client(running.path))
                else:
                    self.assertEqual((error.code, "memory" in error.message), (TOO_MUCH, True), error.message)
                self.assertTrue(self.state(running) == before, "refused, and something has changed")
                limit.set(READ)
                result, error = self.attempt(running, method, params)
                refused, _ = limit.lift()
                backed += refused != 0
                self.assertEqual(error, None)
                self.assertTrue(self.state(running) == after)
        self.assertGreater(backed, 20)
        running.stop()

    def test_descriptors(self):
        states, _ = self.reference()
        running, _ = self.start()
        taken = {int(name) for name in os.listdir(f"/proc/{running.process.pid}/fd")}
        free = min(set(range(len(taken) + 1)) - taken)
        usual = resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE)
        refused = []
        for (method, params), before, after in zip(calls(running.config.read_text()), states, states[1:]):
            with self.subTest(method=method):
                resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (free, usual[1]))
                result, error = self.attempt(running, method, params)
                self.assertTrue(result is not None or error is not None, "hung up")
                self.assertEqual(self.state(running), after if error is None else before)
                resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, usual)
                if error is not None:
                    self.assertIn("open files", error.message)
                    refused.append(method)
                    running.call(method, **params)
        self.assertEqual(refused, ["config.unsaved", "config.save", "config.reload"], "they open the file")
        self.assertEqual(running.client().call("hello")["name"], "sluice")
        running.stop()


if __name__ == "__main__":
    control.main()
