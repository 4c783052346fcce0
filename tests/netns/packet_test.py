#!/usr/bin/python3
"""AF_PACKET ports, and what a kernel's frames at a packet socket are that frames on a wire are not."""

import json
import socket

import netns
from frames import plain, routed
from lab_case import inside
from netns import KernelHost, sh
from waiting import PATIENCE_S

HEADERS = 28  # of an echo request in IPv4


class OfKernels(netns.Case):
    """Hosts as they come: their kernels leave checksums and segments to cards that are not there."""

    def run_between(self, mtu=1500, **keys):
        hosts, switch = [KernelHost(self, n) for n in range(2)], self.switch(**keys)
        switch.default(mtu=mtu, speed="10G")
        for host in hosts:
            host.run("ip", "link", "set", "eth0", "mtu", mtu)
            sh("ip", "link", "set", f"sw{host.n}", "mtu", mtu)
        return hosts, self.running(switch)

    def udp(self, hosts):
        """Sockets of a sender and of a receiver."""
        made = []
        for host in hosts:
            with inside(host.namespace):
                made.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            self.addCleanup(made[-1].close)
        made[1].bind(("10.0.1.2", 7000))
        made[1].settimeout(PATIENCE_S)
        made[0].connect(("10.0.1.2", 7000))
        return made

    def mac_of(self, interface):
        return json.loads(sh("ip", "-j", "link", "show", interface))[0]["address"]

    def test_jumbo_pings_whole_and_in_fragments(self):
        hosts, running = self.run_between(mtu=9000)
        with running as run:
            self.reaches(hosts[0], "10.0.1.2")
            for size in (8000, 9000 - HEADERS):
                for sender, address in ((0, "10.0.1.2"), (1, "10.0.0.2")):
                    self.assertEqual(hosts[sender].ping(address, size=size), (5, 63), (address, size))
            before = run.call("stats.show")["ports"]["h0"]["rx"]["packets"]
            self.assertEqual(hosts[0].ping("10.0.1.2", size=20000, fragmented=True), (5, 63))
            self.assertGreaterEqual(run.call("stats.show")["ports"]["h0"]["rx"]["packets"] - before, 5 * 3)
        self.assertLessEqual(set(run.outcome.drops()), {"multicast"})

    def test_checksums_left_to_a_card_are_made(self):
        hosts, running = self.run_between()
        with running as run:
            self.reaches(hosts[0], "10.0.1.2")
            out, into = self.udp(hosts)
            for size in (0, 1, 100, 1471, 1472):
                out.send(b"\xA5" * size)
                self.assertEqual(into.recv(2000), b"\xA5" * size)
            counters = hosts[1].run("cat", "/proc/net/snmp").split("Udp: ")[2].split()
            self.assertEqual(int(counters[2]), 0, "InErrors")
        self.assertLessEqual(set(run.outcome.drops()), {"multicast"})

    def test_segments_left_to_a_card_are_counted_and_told(self):
        hosts, running = self.run_between()
        with running as run:
            self.reaches(hosts[0], "10.0.1.2")
            with inside(hosts[1].namespace):
                listener = socket.create_server(("10.0.1.2", 5001))
            with inside(hosts[0].namespace):
                out = socket.create_connection(("10.0.1.2", 5001), timeout=PATIENCE_S)
            self.addCleanup(listener.close)
            self.addCleanup(out.close)
            out.setblocking(False)
            out.send(b"x" * 60000)
            said = run.wait_for_event("uncut_frames")
            self.assertIn("port h0: ", said)
            self.assertIn("ethtool -K", said)
            out.close()
        port = run.outcome.port("h0")
        self.assertGreater(port["uncut_packets"], 0)
        self.assertGreaterEqual(port["imissed"], port["uncut_packets"])

    def test_frames_longer_than_the_interfaces_mtu_are_counted(self):
        cables, switch = self.cables(), self.switch()
        switch.default(mtu=9000, speed="10G")
        sh("ip", "link", "set", "sw1", "mtu", 1500)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(*[plain(1515)] * 3, plain(1514), plain(1518, tags=((0x8100, 5),)), plain(9014))
            self.assertIn("ip link set sw1 mtu 9000", run.wait_for_event("beyond_mtu"))
            self.frames_equal(self.take(cables[1], 2), [routed(plain(1514), 1), routed(plain(1518, tags=((0x8100, 5),)), 1)])
        self.assertEqual(run.outcome.port("h1")["beyond_mtu_packets"], 4)
        self.assertEqual(run.outcome.port("h0")["beyond_mtu_packets"], 0)

    def test_the_interface_keeps_its_mac_and_what_the_kernel_sends_is_not_received(self):
        hosts, switch = [KernelHost(self, n) for n in range(2)], self.switch()
        before = self.mac_of("sw0")
        sh("ip", "address", "add", "192.0.2.1/24", "dev", "sw0")
        sh("ip", "neighbor", "add", "192.0.2.2", "lladdr", "02:00:00:00:00:77", "dev", "sw0", "nud", "permanent")
        with self.running(switch) as run:
            self.reaches(hosts[0], "10.0.1.2")
            received = run.call("stats.show")["ports"]["h0"]["rx"]["packets"]
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                for _ in range(50):
                    out.sendto(b"x", ("192.0.2.2", 9))
            self.assertEqual(hosts[0].ping("10.0.1.2", count=1), (1, 63))
            self.assertLess(run.call("stats.show")["ports"]["h0"]["rx"]["packets"] - received, 20)
            self.assertEqual(self.mac_of("sw0"), before)
            self.assertIn("PERMANENT", sh("ip", "neighbor", "show", "dev", "sw0"))


class Tags(netns.Case):
    def test_a_tag_that_the_kernel_takes_out_comes_back(self):
        """Tags of a VLAN device lie beside the frame (veth has no VLAN offload only where ethtool says so)."""
        cables, switch = self.cables(), self.switch()
        frames = [plain(size, tags=tags) for size in (64, 300, 1518)
                  for tags in (((0x8100, 0x6005),), ((0x88A8, 7),), ((0x88A8, 7), (0x8100, 0xE009)))]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(*frames)
            self.frames_equal(self.take(cables[1], len(frames)), [routed(frame, 1) for frame in frames])


class Strings(netns.Case):
    def refused(self, device, *words):
        self.cables(1)
        switch = self.switch(1)
        switch.port("h0", device=device)
        switch.refused(1, "port h0", *words)

    def test_an_argument_that_it_does_not_have(self):
        self.refused("net_af_packet0,iface=sw0,speed=9", '"speed"', "do: write iface=NAME")

    def test_a_number_that_is_none(self):
        self.refused("net_af_packet0,iface=sw0,framecnt=9x", "framecnt=9x", "from 16 to 32768")

    def test_no_interface(self):
        self.refused("net_af_packet0", "names no interface", "iface=NAME")

    def test_an_interface_that_is_not_there(self):
        self.refused("net_af_packet0,iface=nosuch", "there is no interface nosuch")

    def test_those_of_the_driver_of_dpdk(self):
        cables, switch = self.cables(), self.switch()
        for n in range(2):
            switch.port(f"h{n}", device=f"net_af_packet{n},iface=sw{n},qpairs=1,blocksz=65536,framesz=2048,framecnt=64,qdisc_bypass={n}")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.assertGreaterEqual(run.call("stats.show")["ports"]["h0"]["capabilities"]["receive_ring"], 64)


if __name__ == "__main__":
    netns.main()
