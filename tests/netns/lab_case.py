"""A test on what tools/lab builds."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import loopback
import netns
from lab import Lab
from loopback import Programs
from network import NAMESPACES, wait_for

libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(namespace):
    """Sockets that are made here are that namespace's for good."""
    with open("/proc/thread-self/ns/net", "rb") as before, open(NAMESPACES / namespace.name, "rb") as there:
        try:
            if libc.setns(there.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            yield
        finally:
            libc.setns(before.fileno(), 0)


def kernel_counters(namespace):
    """{name: count} of its TCP, UDP and IP, as `nstat` knows them."""
    lines = namespace.run("cat", "/proc/net/netstat", "/proc/net/snmp").splitlines()
    found = {head.split(":")[0] + name: int(value) for head, row in zip(lines[::2], lines[1::2])
             for name, value in zip(head.split()[1:], row.split()[1:])}
    return {**found, **{name: int(value) for name, value in map(str.split, namespace.run("cat", "/proc/net/snmp6").splitlines())}}


class LabCase(netns.Case):
    programs = ()  # besides those of every test

    def setUp(self):
        super().setUp()
        for program in ("ethtool", *self.programs):
            if shutil.which(program) is None and not pathlib.Path(program).exists():
                self.skipTest(f"needs {program}; tools/setup test installs it")

    def lab(self, cleanup=None, **keys):
        folder = tempfile.mkdtemp(prefix="sluice-lab-")
        made = Lab(folder, Programs.sluiced.parent, **keys)
        (cleanup or self.addCleanup)(made.down)
        return made

    def stop(self, switch):
        """Ends it, and looks at its accounts."""
        report = switch.stop()
        log = switch.file("log").read_text()
        self.assertNotIn("internal error", log)
        outcome = loopback.Outcome(subprocess.CompletedProcess([], 0, "", log), report, {}, {})
        loopback.Switch(self, hosts=0).check_accounts(outcome)
        return outcome

    reach = staticmethod(Lab.reach)

    def background(self, process):
        """Ended with the test."""
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def listening(self, host, port):
        wait_for(lambda: f":{port} " in host.run("ss", "-Hltn") + " ", why=f"nobody listens at {port}")

    def stream(self, lab, n, *to, **options):
        """Of host n to another; without `to`, it counts what comes."""
        made = lab.stream(n, *to, **options)
        self.addCleanup(made.end)
        return made

    def all_arrive(self, receiver, sent, *rings):
        """Each frame that was sent arrives once and in order, but for those that a ring counts.

        `rings`: (switch, port) on the way. On a busy machine a worker may wait for its turn until the port's receive ring is full."""
        def missed():
            return sum(switch.ask("stats", "show", f"ports.{port}.imissed") for switch, port in rings)

        account = receiver.until(lambda account: account["received"] + missed() >= sent)
        self.assertEqual({key: account[key] for key in ("late", "bad_icrc", "missed")}, {"late": 0, "bad_icrc": 0, "missed": 0})
        self.assertLessEqual(account["received"], sent)
        self.assertLessEqual(account["lost"], missed())

    def tcp(self, sender, receiver, address, port=5001):
        """(socket of the sender, socket of the receiver), connected."""
        with inside(receiver):
            listener = socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
        with inside(sender):
            out = socket.create_connection((address, port), timeout=netns.PATIENCE_S)
        into, _ = listener.accept()
        for one in (listener, out, into):
            self.addCleanup(one.close)
        return out, into
