"""Veth pairs, hosts at their ends and a running switch between them.

The test runs in namespaces of its own, made before its first line: cables, hosts and processes go with it, whatever
happens. Namespaces and cables are those of tools/workshop/topology. A `Cable` is a veth pair: the switch has the end `sw0`, `sw1`, ...; the other end is a raw socket here, or the
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
import struct
import subprocess
import sys
import time

for beside in ("tests/loopback", "tests/control", "tools/workshop/topology"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / beside))

import control  # noqa: E402
import loopback  # noqa: E402
from frames import ethernet, plain, plain6, raw_mac, routed  # noqa: E402
from loopback import Programs, flow, gateway_mac, mac  # noqa: E402
from network import NAMESPACES, Failed, Namespace, sh, wait_for, wait_for_link  # noqa: E402,F401
from waiting import PATIENCE_S  # noqa: E402

EVERY_PROTOCOL = 0x0003
MARK = "SLUICE_IN_NAMESPACE"
# Named namespaces are mounts, which go with the mount namespace as processes go with theirs.
OWN = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-c",
       f'mkdir -p {NAMESPACES} && mount -t tmpfs none {NAMESPACES} && exec "$@"', "sh"]


def why_not():
    """The reason why there can be no namespace with a veth pair here, or None."""
    try:
        sh(*OWN, "ip", "link", "add", "end0", "type", "veth", "peer", "name", "end1")
    except Failed as error:
        return f"no namespace with veth pairs: {error}"
    return None


def main(with_sluicectl=False):
    if MARK not in os.environ and (reason := why_not()) is None:
        os.execvpe("unshare", [*OWN, sys.executable, *sys.argv], {**os.environ, MARK: "1"})
    Case.missing = None if MARK in os.environ else reason
    (control if with_sluicectl else loopback).main()


class Cable:
    """A veth pair whose far end is a raw socket. `own_mac`: the switch's end has the port's, so that its kernel takes its frames."""

    def __init__(self, test, n, mtu=9216, own_mac=False, queues=None):
        self.n, self.device = n, f"sw{n}"
        of = ["numtxqueues", queues, "numrxqueues", queues] if queues else []
        sh("ip", "link", "add", self.device, *of, "type", "veth", "peer", "name", f"host{n}", *of)
        test.addCleanup(sh, "ip", "link", "delete", self.device)
        for name in (self.device, f"host{n}"):
            # No address of its own: the kernel has nothing to say on this cable.
            sh("ip", "link", "set", name, "addrgenmode", "none")
            sh("ip", "link", "set", name, "mtu", mtu)
            sh("ip", "link", "set", name, "up")
        if own_mac:
            sh("ip", "link", "set", self.device, "address", gateway_mac(n))
        wait_for_link(self.device)
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
        self.namespace = Namespace(f"host{n}").make()
        test.addCleanup(self.namespace.delete)
        sh("ip", "link", "add", f"sw{n}", "type", "veth", "peer", "name", "eth0", "netns", self.namespace.name)
        test.addCleanup(sh, "ip", "link", "delete", f"sw{n}")
        sh("ip", "link", "set", f"sw{n}", "addrgenmode", "none")
        if resolves:
            sh("ip", "link", "set", f"sw{n}", "address", gateway_mac(n))
        sh("ip", "link", "set", f"sw{n}", "up")
        self.run("ip", "link", "set", "eth0", "address", mac(n), "addrgenmode", "none")
        self.run("ip", "link", "set", "eth0", "up")
        wait_for_link(f"sw{n}")
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
        return self.namespace.run(*words)

    def ping(self, address, **keys):
        return ping(self.namespace, address, **keys)


def ping(namespace, address, count=5, size=1400, wait_s=PATIENCE_S, fragmented=False):
    """(replies, TTL of the last one) of echo requests, each waited for."""
    replies, ttl = 0, None
    for _ in range(count):
        try:
            said = namespace.run("ping", "-n", "-c", "1", "-W", wait_s, "-M", "dont" if fragmented else "do", "-s", size, address)
        except Failed:
            continue
        replies, ttl = replies + 1, int(re.search(r"(?:ttl|hlim)=(\d+)", said)[1])
    return replies, ttl


class Case(loopback.Case):
    missing = None  # why these tests cannot run here; set by main()
    # Set by the kind of device:
    device = "net_af_packet{n},iface=sw{n}"
    cable = {"mtu": 9216}

    def setUp(self):
        if self.missing:
            self.skipTest(self.missing)

    def switch(self, hosts=2, **keys):
        switch = loopback.Switch(self, hosts=hosts, device=self.device, clock="real",
                                 **{"buffer.size": "8MB", **keys})
        switch.default(mtu=1500, speed="10G")
        return switch

    def cables(self, hosts=2, **keys):
        return [Cable(self, n, **{**self.cable, **keys}) for n in range(hosts)]

    @contextlib.contextmanager
    def running(self, switch, stop_by=signal.SIGTERM):
        """The switch runs; `outcome` of what it yields is there when it has been stopped by a signal."""
        config, report = switch.folder / "sluice.toml", switch.folder / "report.json"
        config.write_text(switch.text())
        events = switch.folder / "events.jsonl"
        path = switch.folder / "sluice.sock"
        process = subprocess.Popen([Programs.sluiced, "--config", config, "--report", report, "--events", events, "--socket", path],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="replace")  # an interface's name may have any bytes
        run = Run(process, events, path)
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
        """Sends a frame of its own kind again and again until one has come out: the switch runs, or has read all before.

        No earlier call's frame ends it. Frames that came before are given back."""
        self.calls = getattr(self, "calls", 0) + 1
        probe = plain(source=sender.n, to=receiver.n, sport=7, dport=7, identification=self.calls, **keys)
        end, other = time.monotonic() + PATIENCE_S, []
        while time.monotonic() < end and run.process.poll() is None:
            sender.send(probe)
            run.probes += 1
            while (frame := receiver.receive(wait_s=0.2)) is not None:
                if frame == routed(probe, receiver.n):
                    return other
                other.append(frame)
        self.fail("nothing comes through the switch")

    def take(self, cable, count):
        """So many frames that are not the probe's."""
        frames = []
        while len(frames) < count:
            frame = cable.receive()
            self.assertIsNotNone(frame, f"{len(frames)} of {count} frames came")
            if frame[34:38] != struct.pack(">HH", 7, 7):
                frames.append(frame)
        return frames

    def through(self, frames, at_once=32, cable=None, mtu=1500, **keys):
        """From h0 to h1 in this order, unchanged but for what a router changes; returns how the run ended.

        `at_once`: so many are sent before any is waited for, which is within a socket's memory."""
        cables, switch = self.cables(**(cable or {})), self.switch(**keys)
        switch.default(mtu=mtu, speed="10G")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for first in range(0, len(frames), at_once):
                part = frames[first:first + at_once]
                cables[0].send(*part)
                self.frames_equal(self.take(cables[1], len(part)), [routed(frame, 1) for frame in part])
        self.assertLessEqual(len(frames), run.outcome.port("h0")["rx"]["packets"])
        self.assertLessEqual(run.outcome.port("h0")["rx"]["packets"], len(frames) + run.probes)
        self.assertEqual(run.outcome.drops(), {})
        return run.outcome

    def reaches(self, host, address):
        """Waits until it does."""
        end = time.monotonic() + PATIENCE_S
        while host.ping(address, count=1, wait_s=1)[0] == 0:
            self.assertLess(time.monotonic(), end, f"no answer of {address}")

    def ping_each_other(self, hosts, resolved=True):
        """Waits until the first of two hosts reaches the second; then every ping of either has its answer.

        Not `resolved`: the first packets of IPv6 may be lost, too, because the switch knows no neighbors."""
        self.reaches(hosts[0], "10.0.1.2")
        if not resolved:
            self.reaches(hosts[0], "2001:db8:1::2")
        for sender, address in ((0, "10.0.1.2"), (1, "10.0.0.2"), (0, "2001:db8:1::2"), (1, "2001:db8:0::2")):
            self.assertEqual(hosts[sender].ping(address), (5, 63), address)


class FrameTests:
    """Tests with raw frames for any kind of device. A case of that kind says `jumbo`, and what it `steered`."""

    jumbo = {}  # keys of `through`
    jumbo_sizes = ()

    def roce(self):
        made = self.switch()
        made.recipe(flow("roce", count=200, size="random 74..1514"), flow("roce", count=40, size=1514, qp=0x300),
                    flow("roce", ip_version=6, count=60, size="random 98..1514", qp=0x600))
        return [frame.bytes for frame in made.sent("h0")]

    def steered(self, outcome, port, **frames):
        """A port whose steering counts verdicts counted so many."""

    def came(self, port, counters):
        """Frames that the kernel had for a port of these counters."""
        return json.loads(sh("ip", "-s", "-j", "link", "show", f"sw{port[1:]}"))[0]["stats64"]["rx"]["packets"]

    def test_rocev2_leaves_as_it_came_but_for_mac_ttl_and_checksum(self):
        frames = self.roce()
        outcome = self.through(frames)
        self.assertEqual(outcome.port("h1")["queues"][3]["tx_packets"], len(frames))
        self.steered(outcome, "h0", roce=len(frames))

    def test_every_length_and_tag(self):
        self.through([plain(size) for size in range(60, 1515, 13)] + [plain6(size) for size in range(62, 1515, 97)] +
                     [plain(200, tags=((0x8100, 0x6005),)), plain(1518, tags=((0x8100, 5),))])

    def test_larger_frames(self):
        self.through([plain(size, identification=size) for size in self.jumbo_sizes], at_once=1, **self.jumbo)

    def test_a_pause_is_consumed_and_its_end_lets_frames_go(self):
        cables, switch = self.cables(), self.switch()
        frames = [plain(500, dscp=26, identification=n) for n in range(20)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for quanta in (0xFFFF, 0):
                cables[1].send(ethernet(struct.pack(">HH8H", 0x0101, 8, 0, 0, 0, quanta, 0, 0, 0, 0), 0x8808, 1, to="01:80:c2:00:00:01"))
                if quanta != 0:
                    cables[0].send(*frames)
            self.frames_equal(self.take(cables[1], len(frames)), [routed(frame, 1) for frame in frames])
        pfc = run.outcome.port("h1")["pfc"]
        self.assertEqual((pfc["rx_xoff"][3], pfc["rx_xon"][3]), (1, 1))
        self.assertEqual(run.outcome.report["ledger"]["consumed"], 2)
        self.steered(run.outcome, "h1", mac_control=2)

    def test_what_its_ring_has_no_room_for_is_counted(self):
        def unaccounted(port):
            counters = run.call("stats.show")["ports"][port]
            return self.came(port, counters) - counters["rx"]["packets"] - counters["imissed"]

        def stopped():
            return pathlib.Path(f"/proc/{run.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

        cables, switch = self.cables(3), self.switch(3)
        with self.running(switch) as run:
            run.call("stats.show")  # from here on its ports hear everything
            run.process.send_signal(signal.SIGSTOP)
            run.wait_for(stopped, bool)
            for turn in range(1500):
                cables[0].send(plain(200, dport=9, identification=turn))
                if turn < 10:
                    cables[2].send(plain(200, source=2, dport=9, identification=turn))
            run.process.send_signal(signal.SIGCONT)
            self.comes_through(*cables[:2], run)
            for port in ("h0", "h2"):
                run.wait_for(lambda port=port: unaccounted(port), lambda frames: frames == 0)
            self.assertIn("port h0: its receive ring had no room", run.wait_for_event("ring_overrun"))
        self.assertGreaterEqual(run.outcome.port("h0")["imissed"], 900)
        self.assertEqual(run.outcome.port("h2")["imissed"], 0, "each port has its own")
        self.assertIn("missed", str(run.outcome.report["verdict"]["reasons"]))


class Run:
    def __init__(self, process, events, path=None):
        self.process, self.events, self.path, self.outcome, self.probes = process, events, path, None, 0

    def wait_for_event(self, kind, words=""):
        """The text of the last of this kind that has these words."""
        return self.wait_for(lambda: [text for text in self.told(kind) if words in text], bool)[-1]

    def told(self, kind):
        """Texts of its events of that kind."""
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        return [event["text"] for event in map(json.loads, lines) if event["kind"] == kind]

    def wait_for(self, what, holds):
        """Asks until `holds` of what it gives, which it returns."""
        return wait_for(what, holds, alive=lambda: self.process.poll() is None)

    def call(self, method, **parameters):
        """The answer of the control socket, once there is one."""
        client = control.connect(self.path, self.process)
        try:
            return client.call(method, **parameters)
        finally:
            client.close()
