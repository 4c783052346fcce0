"""Veth pairs, hosts at their ends and a running switch between them.

The test runs in a network namespace of its own, made before its first line: cables and hosts go with it, whatever
happens. A `Cable` is a veth pair: the switch has the end `sw0`, `sw1`, ...; the other end is a raw socket here, or the
interface of a `KernelHost`, a namespace with a kernel's own IP in it. Addresses are those of the loopback tests.
"""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from frames import plain, raw_mac, routed  # noqa: E402
from loopback import Programs, gateway_mac, mac  # noqa: E402

PATIENCE_S = 60  # until a run that hangs is given up; nothing is measured by it
EVERY_PROTOCOL = 0x0003
MARK = "SLUICE_IN_NAMESPACE"


def why_not():
    """The reason why there can be no namespace with a veth pair here, or None."""
    try:
        done = subprocess.run(["unshare", "--net", "--", "ip", "link", "add", "end0", "type", "veth", "peer", "name", "end1"],
                              capture_output=True, text=True, check=False)
    except OSError as error:
        return f"needs {error.filename}: {error.strerror}"
    return None if done.returncode == 0 else "no network namespace with veth pairs: " + done.stderr.strip()


def main():
    if MARK not in os.environ and (reason := why_not()) is None:
        os.execvpe("unshare", ["unshare", "--net", "--", sys.executable, *sys.argv], {**os.environ, MARK: "1"})
    Case.missing = None if MARK in os.environ else reason
    loopback.main()


def sh(*words, namespace=None):
    enter = ["nsenter", "--target", str(namespace), "--net", "--"] if namespace else []
    return subprocess.run([*enter, *(str(word) for word in words)], capture_output=True, text=True, check=True).stdout


class Cable:
    """A veth pair whose far end is a raw socket."""

    def __init__(self, test, n, mtu=9216):
        self.n, self.device = n, f"sw{n}"
        sh("ip", "link", "add", self.device, "type", "veth", "peer", "name", f"host{n}")
        test.addCleanup(sh, "ip", "link", "delete", self.device)
        for name in (self.device, f"host{n}"):
            # No address of its own: the kernel has nothing to say on this cable.
            sh("ip", "link", "set", name, "addrgenmode", "none")
            sh("ip", "link", "set", name, "mtu", mtu)
            sh("ip", "link", "set", name, "up")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        test.addCleanup(self.socket.close)
        self.socket.bind((f"host{n}", EVERY_PROTOCOL))

    def send(self, *frames):
        for frame in frames:
            self.socket.send(frame)

    def receive(self, wait_s=PATIENCE_S):
        """The next frame of the switch, or None."""
        end = time.monotonic() + wait_s
        while select.select([self.socket], [], [], max(0.0, end - time.monotonic()))[0]:
            frame = self.socket.recv(65536)
            if frame[6:12] == raw_mac(gateway_mac(self.n)):
                return frame
        return None


class KernelHost:
    """A namespace in which a kernel has host n's addresses, and the switch as its gateway.

    `resolves`: it asks for its gateway's MAC, and this machine's kernel, which has the gateway's addresses, answers."""

    def __init__(self, test, n, resolves=False):
        self.n = n
        self.process = subprocess.Popen(["unshare", "--net", "--", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        test.addCleanup(self.stop)
        here, end = os.readlink("/proc/self/ns/net"), time.monotonic() + PATIENCE_S
        while os.readlink(f"/proc/{self.process.pid}/ns/net") == here:
            test.assertLess(time.monotonic(), end, "unshare makes no namespace")
            time.sleep(0.01)
        sh("ip", "link", "add", f"sw{n}", "type", "veth", "peer", "name", "eth0", "netns", self.process.pid)
        test.addCleanup(sh, "ip", "link", "delete", f"sw{n}")
        sh("ip", "link", "set", f"sw{n}", "addrgenmode", "none")
        if resolves:
            sh("ip", "link", "set", f"sw{n}", "address", gateway_mac(n))
        sh("ip", "link", "set", f"sw{n}", "up")
        self.run("ip", "link", "set", "eth0", "address", mac(n), "addrgenmode", "none")
        self.run("ip", "link", "set", "eth0", "up")
        for family, address, gateway, length in (("-4", f"10.0.{n}.2", f"10.0.{n}.1", 24),
                                                 ("-6", f"2001:db8:{n}::2", f"2001:db8:{n}::1", 64)):
            nodad = ["nodad"] if family == "-6" else []
            self.run("ip", family, "address", "add", f"{address}/{length}", "dev", "eth0", *nodad)
            if resolves:
                sh("ip", family, "address", "add", f"{gateway}/{length}", "dev", f"sw{n}", *nodad)
            else:
                self.run("ip", family, "neighbor", "add", gateway, "lladdr", gateway_mac(n), "dev", "eth0", "nud", "permanent")
            self.run("ip", family, "route", "add", "default", "via", gateway)

    def run(self, *words):
        return sh(*words, namespace=self.process.pid)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def ping(self, address, count=5, size=1400):
        """(replies, TTL of the last one) of echo requests, each waited for."""
        replies, ttl = 0, None
        for _ in range(count):
            done = subprocess.run(["nsenter", "--target", str(self.process.pid), "--net", "--", "ping", "-n", "-c", "1", "-W", "5",
                                   "-M", "do", "-s", str(size), address], capture_output=True, text=True, check=False)
            replies += done.returncode == 0
            found = re.search(r"(?:ttl|hlim)=(\d+)", done.stdout)
            ttl = int(found[1]) if found else ttl
        return replies, ttl


class Case(loopback.Case):
    missing = None  # why these tests cannot run here; set by main()
    device = "net_af_packet{n},iface=sw{n}"

    def setUp(self):
        if self.missing:
            self.skipTest(self.missing)

    def switch(self, hosts=2, **keys):
        switch = loopback.Switch(self, hosts=hosts, device=self.device, clock="real",
                                 **{"buffer.size": "32MB", **keys})
        switch.default(mtu=1500, speed="10G")
        return switch

    @contextlib.contextmanager
    def running(self, switch, stop_by=signal.SIGTERM):
        """The switch runs; `outcome` of what it yields is there when it has been stopped by a signal."""
        config, report = switch.folder / "sluice.toml", switch.folder / "report.json"
        config.write_text(switch.text())
        events = switch.folder / "events.jsonl"
        process = subprocess.Popen([Programs.sluiced, "--config", config, "--report", report, "--events", events], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        run = Run(process, events)
        try:
            yield run
            self.assertIsNone(process.poll(), "it has ended by itself")
            process.send_signal(stop_by)
            said, errors = process.communicate(timeout=PATIENCE_S)
        except BaseException:
            process.kill()
            said, errors = process.communicate()
            print(said, errors)
            raise
        self.assertEqual(process.returncode, 0, said + errors)
        done = subprocess.CompletedProcess(process.args, process.returncode, said, errors)
        run.outcome = loopback.Outcome(done, json.loads(report.read_text()), {}, {})
        switch.check_accounts(run.outcome)

    def comes_through(self, sender, receiver, run, **keys):
        """Sends a frame of its own kind again and again until one has come out: the switch runs, or has read all before."""
        probe = plain(source=sender.n, to=receiver.n, sport=7, dport=7, **keys)
        end, other = time.monotonic() + PATIENCE_S, []
        while time.monotonic() < end and run.process.poll() is None:
            sender.send(probe)
            run.probes += 1
            while (frame := receiver.receive(wait_s=0.2)) is not None:
                if frame == routed(probe, receiver.n):
                    return other
                other.append(frame)
        self.fail("nothing comes through the switch")


class Run:
    def __init__(self, process, events):
        self.process, self.events, self.outcome, self.probes = process, events, None, 0

    def wait_for_event(self, kind):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.events.exists() and f'"{kind}"' in self.events.read_text():
                return
            time.sleep(0.01)
        raise AssertionError(f"no event {kind}")
