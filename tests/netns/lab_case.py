"""A test on what tools/lab builds."""

import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

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


class Peer:
    """sluice-peer on a host (tools/traffic)."""

    def __init__(self, test, host, *words):
        program = Programs.traffic.parent / "sluice-peer"
        self.process = host.start(program, "--interface", "eth0", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=None, text=True)
        test.background(self.process)
        test.addCleanup(self.process.stdout.close)
        test.addCleanup(self.process.stdin.close)
        self.show()  # it listens

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def show(self):
        self.tell("show")
        return json.loads(self.process.stdout.readline())

    def until(self, holds):
        """Its account when it `holds`, for which it may take as long as it goes on changing."""
        last, end = None, 0
        while not holds(account := self.show()):
            if account != last:
                last, end = account, time.monotonic() + netns.PATIENCE_S
            assert time.monotonic() < end, f"stands still: {account}"
            time.sleep(0.05)
        return account


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
        outcome = loopback.Outcome(subprocess.CompletedProcess([], 0, "", switch.file("log").read_text()), report, {}, {})
        loopback.Switch(self, hosts=0).check_accounts(outcome)
        return outcome

    def reach(self, host, *addresses):
        """Waits until it has reached each of them: then the switch knows these neighbours."""
        for address in addresses:
            wait_for(lambda: netns.ping(host, address, count=1, wait_s=1)[0], why=f"{host.name} does not reach {address}")

    def background(self, process):
        """Ended with the test."""
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def listening(self, host, port):
        wait_for(lambda: f":{port} " in host.run("ss", "-Hltn") + " ", why=f"nobody listens at {port}")

    def peer(self, lab, n, to=None, **options):
        """On host n; sends to host `to` by the switch behind it. Options are sluice-peer's."""
        words = [word for key, value in options.items() for word in ([f"--{key}"] + ([] if value is True else [value]))]
        host = lab.hosts[f"h{n}"]
        if to is not None:
            switch = next(switch for switch in lab.switches.values() if f"h{n}" in switch.ports)
            gateway = next(link["address"] for link in switch.namespace.links() if link["ifname"] == f"h{n}")
            words += ["--from", f"10.0.{n}.2", "--to", f"10.0.{to}.2", "--gateway", gateway]
        return Peer(self, host, *words)

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
