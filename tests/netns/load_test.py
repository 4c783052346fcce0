#!/usr/bin/python3
"""Kernels with jumbo frames around one switch, under load: whatever is lost is counted, and nothing leaks."""

import contextlib
import json
import random
import socket
import threading

import netns
from held import Held, exists
from lab_case import LabCase, inside, kernel_counters
from ledger import Ledger
from loopback import SOAK
from netns import PATIENCE_S
from network import Failed, wait_for

FLAPS = 100 if SOAK else 5
REMOVALS = 100 if SOAK else 3  # the first warms up, the others must hold no more
SECONDS = 60 if SOAK else 1  # of each iperf3
ADDRESSES = {"h1": "10.0.1.2", "h2": "10.0.2.2"}
FULL = ("queue_limit", "ingress_limit")
DOWN = ("link_down", "no_route", "unresolved_next_hop", "unresolved_timeout", "punt_rate", "punt_full")
UNTOLD = {"not_ip", "multicast", "not_for_us"}  # drops of a packet port, which gets the kernels' own frames, too


class Typing:
    """A TCP stream as ssh has it: a few bytes, each waited for, back and forth until the end."""

    def __init__(self, test, sender, receiver, address, port):
        self.lines, self.error, self.goes_on, self.ended = 0, None, threading.Event(), False
        self.out, self.into = test.tcp(sender, receiver, address, port)
        for one in (self.out, self.into):
            one.settimeout(PATIENCE_S)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.threads = [threading.Thread(target=self.guarded, args=(what,), daemon=True) for what in (self.type, self.echo)]
        self.goes_on.set()
        for thread in self.threads:
            thread.start()

    def guarded(self, what):
        try:
            what()
        except OSError as error:
            self.error = error

    def type(self):
        chance = random.Random(7)
        while self.goes_on.wait() and not self.ended:
            line = chance.randbytes(chance.randrange(1, 200))
            self.out.sendall(line)
            back = b""
            while len(back) < len(line) and (data := self.out.recv(4096)):
                back += data
            if back != line:
                raise OSError(f"{line} came back as {back}")
            self.lines += 1

    def echo(self):
        while data := self.into.recv(4096):
            self.into.sendall(data)

    def end(self):
        self.ended = True
        self.goes_on.set()
        self.threads[0].join(PATIENCE_S if self.error is None else 0)
        for one in (self.out, self.into):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self.threads[1].join(PATIENCE_S)


class Flood:
    """UDP of almost the MTU, from a host to another, until the end; whether it arrives is nobody's concern but the ledger's."""

    def __init__(self, sender, address):
        with inside(sender):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.address, self.ended = address, threading.Event()
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        while not self.ended.wait(0.001):
            with contextlib.suppress(OSError):  # while its interface is down there is no route
                for _ in range(4):
                    self.socket.sendto(bytes(8900), (self.address, 9))

    def end(self):
        self.ended.set()
        self.thread.join()
        self.socket.close()


class LoadTests:
    """A case says what the device is, and how many frames of an interface that is set down the kernel may have for itself."""

    programs = ("iperf3",)
    BACKLOG = 0

    def setUp(self):
        super().setUp()
        try:
            self.fabric = self.lab(mtu=9000, device=self.device).one(hosts=2)
        except Failed as error:
            if "frames of several buffers" in str(error):
                self.skipTest("this kernel's AF_XDP has no frames of several buffers (Linux 6.6)")
            raise
        self.switch, self.hosts = self.fabric.switches["s1"], self.fabric.hosts
        # Without a switch at an interface its kernel would do the work.
        self.switch.namespace.set({"ipv4/ip_forward": 0})
        self.reach(self.hosts["h1"], ADDRESSES["h2"])
        self.ledger = Ledger(self, self.switch, self.hosts)

    def finish(self, lost=()):
        """All books closed; `lost`: reasons for which the switch may have dropped packets, besides those of the kernels' own."""
        self.ledger.check()
        outcome = self.stop(self.switch)
        self.assertLessEqual(set(outcome.drops()), UNTOLD | set(lost))
        return outcome

    # --- interfaces that stay ---

    def pings(self):
        for sender, receiver in (("h1", "h2"), ("h2", "h1")):
            for size, fragmented in ((8000, False), (8000, True), (20_000, True)):
                self.assertEqual(netns.ping(self.hosts[sender], ADDRESSES[receiver], count=3, size=size, fragmented=fragmented), (3, 63))
            with self.assertRaisesRegex(Failed, "message too long"):
                self.hosts[sender].run("ping", "-c", "1", "-M", "do", "-s", 9000, ADDRESSES[receiver])

    def iperf(self, *words):
        """The client's output, from h1 to h2."""
        server = self.background(self.hosts["h2"].start("iperf3", "--server", "--one-off"))
        self.listening(self.hosts["h2"], 5201)
        said = json.loads(self.hosts["h1"].run("iperf3", "--json", "--client", ADDRESSES["h2"], "--time", SECONDS, *words))
        server.wait()
        return said["end"]

    def at_host(self, name, way):
        return json.loads(self.hosts[name].run("ip", "-s", "-j", "link", "show", "eth0"))[0]["stats64"][way]

    def test_pings_and_iperf3(self):
        """The former whole and in fragments; UDP as fast as a host can."""
        self.pings()
        self.ledger.check()
        self.assertEqual(sum(self.report(name)["imissed"] for name in self.hosts), 0)
        tcp = self.iperf("--bidir")
        for key in ("sum_received", "sum_received_bidir_reverse"):
            self.assertGreater(tcp[key]["bytes"], 1 << 20)
        self.ledger.check()
        udp = self.iperf("--udp", "--bandwidth", "0", "--length", 8900)["sum"]
        self.assertGreater(udp["packets"], 1000)
        outcome = self.finish(lost=FULL)
        h1, h2 = outcome.port("h1"), outcome.port("h2")
        self.assertLessEqual(udp["lost_packets"], sum((
            self.at_host("h1", "tx")["dropped"], h1["imissed"], sum(outcome.drops().values()), h2["refused_packets"],
            self.at_host("h2", "rx")["dropped"], kernel_counters(self.hosts["h2"])["UdpRcvbufErrors"])))
        self.assertEqual([port["beyond_mtu_packets"] + port["uncut_packets"] for port in (h1, h2)], [0, 0])

    # --- interfaces that do not stay ---

    def report(self, name):
        return self.switch.ask("stats", "show", f"ports.{name}")

    def flap(self, name, at_host):
        """Down and up, at one end of its cable."""
        space, interface = (self.hosts[name], "eth0") if at_host else (self.switch.namespace, name)
        flaps = self.report(name)["flaps"]
        space.ip(f"link set {interface} down")
        wait_for(lambda: self.report(name)["flaps"], lambda now: now == flaps + 1, "the switch does not see it")
        space.ip(f"link set {interface} up")
        if at_host:
            space.ip(f"route replace default via 10.0.{name[1:]}.1")
        wait_for(lambda: self.report(name)["link_up"], why="the switch does not see it")

    def remove(self, name):
        gone, back = (len(self.switch.events(kind)) for kind in ("interface_gone", "interface_back"))
        self.switch.namespace.ip(f"link delete {name}")
        wait_for(lambda: self.switch.events("interface_gone"), lambda now: len(now) > gone, "no event")
        self.fabric.plug_in(int(name[1:]), self.switch)
        wait_for(lambda: self.switch.events("interface_back"), lambda now: len(now) > back, "it is not taken again")

    def all_type(self, streams):
        """TCP goes on."""
        before = [stream.lines for stream in streams]
        wait_for(lambda: [stream.error or stream.lines for stream in streams],
                 lambda now: any(stream.error for stream in streams) or all(lines > old + 10 for lines, old in zip(now, before)), "TCP stands still")
        self.assertEqual([stream.error for stream in streams], [None] * len(streams))

    def test_flaps_and_removals_under_load(self):
        h1, h2 = self.hosts["h1"], self.hosts["h2"]
        streams = [Typing(self, h1, h2, ADDRESSES["h2"], 5001), Typing(self, h2, h1, ADDRESSES["h1"], 5002)]
        flood = Flood(h1, ADDRESSES["h2"])
        pid, bpf, warm = self.switch.pid(), set(), None
        self.addCleanup(flood.end)
        for stream in streams:
            self.addCleanup(stream.end)

        def quiet():
            nonlocal flood
            flood.end()
            for stream in streams:
                stream.goes_on.clear()

        def loud():
            nonlocal flood
            flood = Flood(h1, ADDRESSES["h2"])
            self.addCleanup(flood.end)
            for stream in streams:
                stream.goes_on.set()

        self.all_type(streams)
        for at_host in (True, False):
            for turn in range(int(at_host), FLAPS, 2):
                self.flap(("h1", "h2")[turn // 2 % 2], at_host)
                self.all_type(streams)
            quiet()
            self.ledger.check(to_kernel_alone=0 if at_host else self.BACKLOG * FLAPS)
            loud()
        for _ in range(REMOVALS):
            self.remove("h2")
            self.all_type(streams)
            held = Held(pid)
            bpf |= held.bpf
            warm = warm or held
        quiet()
        self.ledger.check("h1")
        self.ledger.begin("h2")
        now = Held(pid)
        self.assertEqual((now.kinds, len(now.bpf), now.shared_mappings), (warm.kinds, len(warm.bpf), warm.shared_mappings))
        self.assertLess(now.kilobytes, warm.kilobytes + 4096)
        loud()
        self.all_type(streams)
        for stream in streams:
            stream.end()
        flood.end()
        outcome = self.finish(lost=(*FULL, *DOWN))
        self.assertEqual(sum(outcome.port(name)["flaps"] for name in self.hosts), FLAPS + REMOVALS)
        self.assertEqual("xdp" in self.device, bool(bpf))
        wait_for(lambda: [one for one in bpf if exists(*one)], lambda left: not left, "BPF objects stay")


class XdpUnderLoad(LoadTests, LabCase):
    device = "xdp:{interface}"


class PacketsUnderLoad(LoadTests, LabCase):
    device = "net_af_packet{number},iface={interface}"
    BACKLOG = 1000  # net.core.netdev_max_backlog


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
