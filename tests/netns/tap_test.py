#!/usr/bin/python3
"""Ports that are not interfaces of the kernel: their TAPs make them ones, and ping, traceroute and `ip` work.

The switch takes frames from a veth's end by libpcap; the kernel's own stack at that end is kept silent, so whoever answers
is at the TAP."""

import json
import pathlib
import re
import signal

import netns
from frames import ethernet, raw_mac
from loopback import SOAK, gateway_mac, mac
from netns import KernelHost, sh

CYCLES = 100 if SOAK else 3


def set_sysctl(name, value):
    pathlib.Path("/proc/sys", *name.split(".")).write_text(f"{value}\n")


class TapHost(KernelHost):
    """Host n, which resolves its gateway as any host does; nobody speaks at the switch's end of its cable."""

    def __init__(self, test, n):
        super().__init__(test, n)
        sh("ip", "link", "set", f"sw{n}", "arp", "off")
        set_sysctl(f"net.ipv6.conf.sw{n}.disable_ipv6", 1)
        for gateway in (f"10.0.{n}.1", f"2001:db8:{n}::1"):
            self.run("ip", "neighbor", "delete", gateway, "dev", "eth0")

    def said(self, *words):
        """The output of a command that may fail."""
        return self.run("sh", "-c", '"$@" 2>&1 || true', "sh", *words)


class Taps(netns.Case):
    device = "net_pcap{n},rx_iface_in=sw{n},tx_iface=sw{n}"

    def switch(self, hosts=2, **keys):
        switch = super().switch(hosts=0, **{"kernel.routes": True, **keys})
        for n in range(hosts):
            switch.port(f"h{n}", mac=gateway_mac(n))
        return switch

    def hosts(self):
        for name in ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"):
            set_sysctl(name, 1)
        return [TapHost(self, n) for n in range(2)]

    def interfaces(self):
        """{name: it has a carrier}."""
        return {link["ifname"]: "LOWER_UP" in link["flags"] for link in json.loads(sh("ip", "-json", "link", "show"))}

    def start(self, run):
        """The kernel has the gateways' addresses, at the TAPs."""
        run.wait_for(run.path.exists, bool)
        for n in range(2):
            sh("ip", "address", "add", f"10.0.{n}.1/24", "dev", f"h{n}")
            sh("ip", "-6", "address", "add", f"2001:db8:{n}::1/64", "dev", f"h{n}", "nodad")

    def test_a_name_that_is_taken_is_refused(self):
        sh("ip", "link", "add", "h1", "type", "veth", "peer", "name", "other")
        self.addCleanup(sh, "ip", "link", "delete", "h1")
        self.hosts()
        said = self.switch().refused(1, "port h1: TAP h1", "rename the port")
        self.assertNotIn("h0", self.interfaces(), said)

    def test_somebody_elses_tap_is_refused(self):
        sh("ip", "tuntap", "add", "h1", "mode", "tap")
        self.addCleanup(sh, "ip", "link", "delete", "h1")
        self.hosts()
        self.switch().refused(1, "port h1: TAP h1", "rename the port")

    def test_names_that_are_cut_to_the_same_are_refused(self):
        switch = self.switch(hosts=0)
        for n in range(2):
            switch.port(f"a-long-port-name{n}")
        switch.refused(2, "tap-twice", "a-long-port-nam")

    def test_ping_and_traceroute_to_the_switch_and_through_it(self):
        hosts, switch = self.hosts(), self.switch()
        with self.running(switch) as run:
            self.start(run)
            self.assertIn(gateway_mac(0), sh("ip", "link", "show", "h0"))
            for address in ("10.0.0.1", "2001:db8:0::1", "10.0.1.1"):
                self.reaches(hosts[0], address)
                self.assertEqual(hosts[0].ping(address), (5, 64), address)
            self.ping_each_other(hosts, resolved=False)
            for family, to in (("-4", "10.0.1.2"), ("-6", "2001:db8:1::2")):
                hops = re.findall(r"^ *\d+ +(\S+)", hosts[0].said("traceroute", family, "-I", "-n", "-q", "1", "-m", "4", "-w", "5", to), re.M)
                self.assertEqual([hop.replace(":0:0:0", ":") for hop in hops], [to.replace("1.2", "0.1").replace(":1::2", "::1"), to])
            known = {entry["address"]: entry["source"] for entry in run.call("neighbor.list")}
            self.assertEqual({known.get(f"10.0.{n}.2") for n in range(2)}, {"kernel"})
        port = run.outcome.port("h0")
        self.assertGreater(port["punted"]["arp_nd"], 0)
        self.assertGreaterEqual(port["punted"]["local"], 15)
        self.assertEqual(port["punted"]["ttl"], 2)
        self.assertGreaterEqual(port["injected_packets"], 17)
        self.assertEqual(port["replied_packets"], 0)
        self.assertFalse({"h0", "h1"} & self.interfaces().keys(), "left behind")

    def test_addresses_of_the_configuration_are_the_taps(self):
        """And what somebody else has given it stays."""
        hosts, switch = self.hosts(), self.switch()
        for n in range(2):
            switch.port(f"h{n}", address=[f"10.0.{n}.1/24", f"2001:db8:{n}::1/64"])
        with self.running(switch) as run:
            run.wait_for(run.path.exists, bool)
            sh("ip", "address", "add", "10.0.0.99/32", "dev", "h0")
            self.assertEqual(self.addresses("h0"), {"10.0.0.1/24", "10.0.0.99/32", "2001:db8::1/64"})
            for to in ("10.0.1.2", "2001:db8:1::2", "10.0.0.1", "2001:db8:0::1"):
                self.assertEqual(hosts[0].ping(to)[0], 5, "the very first one, too: " + to)
            run.call("config.set", path="port.h0.address", value=["10.0.0.1/24", "10.0.0.5/24"])
            self.assertEqual(self.addresses("h0"), {"10.0.0.1/24", "10.0.0.99/32", "10.0.0.5/24"})
            self.assertEqual(hosts[0].ping("10.0.0.5")[0], 5)
            run.call("config.set", path="port.h0.address", value=["10.0.0.5/24"])
            self.assertEqual(self.addresses("h0"), {"10.0.0.99/32", "10.0.0.5/24"})
        self.assertEqual(run.outcome.drops(), {})
        self.assertGreater(run.outcome.port("h0")["returned_packets"], 0, "they have waited in the switch, not in the kernel")

    def test_an_address_that_its_tap_does_not_take_is_told(self):
        self.hosts()
        set_sysctl("net.ipv6.conf.default.disable_ipv6", 1)
        self.addCleanup(set_sysctl, "net.ipv6.conf.default.disable_ipv6", 0)
        switch = self.switch()
        switch.port("h0", address=["10.0.0.1/24", "2001:db8::1/64"])
        with self.running(switch) as run:
            self.assertIn("port h0: its TAP does not take 2001:db8::1/64: ", run.wait_for_event("tap_address"))
            self.assertEqual(self.addresses("h0"), {"10.0.0.1/24"})

    def test_the_kernels_short_frames_are_filled_up_with_zeros(self):
        cables, switch = self.cables(mtu=1500), self.switch()
        switch.port("h0", address=["10.0.0.1/24"])
        for n in range(2):
            sh("ip", "link", "set", f"sw{n}", "arp", "off")
        request = b"\0\1\x08\0\6\4\0\1" + raw_mac(mac(0)) + bytes((10, 0, 0, 2)) + bytes(6) + bytes((10, 0, 0, 1))
        with self.running(switch) as run:
            run.wait_for(lambda: self.interfaces().get("h0"), bool)
            cables[0].send(ethernet(request + b"\xff" * 18, 0x0806, to="ff:ff:ff:ff:ff:ff"))
            reply = cables[0].receive()
            while reply[12:14] != b"\x08\x06":
                reply = cables[0].receive()
        self.assertEqual((len(reply), reply[20:22], reply[42:]), (60, b"\0\2", bytes(18)))

    def test_what_a_tap_does_not_take_is_counted(self):
        hosts, switch = self.hosts(), self.switch()
        with self.running(switch) as run:
            self.start(run)
            self.reaches(hosts[0], "10.0.0.1")
            self.assertEqual(run.call("stats.show", path="ports.h0.tap_refused_packets"), 0)
            sh("ip", "link", "set", "h0", "down")
            hosts[0].ping("10.0.0.1", count=3, wait_s=1)
            run.wait_for(lambda: run.call("stats.show", path="ports.h0.tap_refused_packets"), bool)

    def addresses(self, name):
        return {f"{one['local']}/{one['prefixlen']}" for link in json.loads(sh("ip", "-json", "address", "show", "dev", name)) if link
                for one in link["addr_info"] if one["scope"] == "global"}

    def test_a_route_of_the_kernels_and_what_is_too_long_for_it(self):
        hosts, switch = self.hosts(), self.switch()
        switch.port("h1", mtu=1450)
        hosts[1].run("ip", "address", "add", "10.9.0.1/32", "dev", "eth0")
        with self.running(switch) as run:
            self.start(run)
            sh("ip", "route", "add", "10.9.0.0/16", "via", "10.0.1.2")
            self.reaches(hosts[0], "10.9.0.1")
            self.assertEqual(hosts[0].ping("10.9.0.1", size=1422), (5, 63))
            self.assertRegex(hosts[0].said("ping", "-n", "-c", "1", "-W", netns.PATIENCE_S, "-M", "do", "-s", "1423", "10.9.0.1"),
                             r"From 10\.0\.0\.1 .*mtu = 1450")
            # The host knows better now; without DF the kernel makes fragments of it.
            hosts[0].run("ip", "route", "flush", "cache")
            self.assertIn("1 received", hosts[0].said("ping", "-n", "-c", "1", "-W", netns.PATIENCE_S, "-M", "dont", "-s", "1472", "10.9.0.1"))
            self.assertGreater(run.call("stats.show", path="ports.h0.punted.mtu"), 0)

    def test_the_kernel_sees_the_cable(self):
        self.hosts()
        with self.running(self.switch()) as run:
            self.start(run)
            run.wait_for(lambda: self.interfaces()["h0"], bool)
            run.call("port.set", port="h0", up=False)
            run.wait_for(lambda: not self.interfaces()["h0"], bool)
            run.call("port.set", port="h0", up=True)
            run.wait_for(lambda: self.interfaces()["h0"], bool)

    def told(self, run, kind):
        """Texts of its events of that kind."""
        return [event["text"] for event in map(json.loads, run.events.read_text().splitlines()) if event["kind"] == kind]

    def addressed(self, **keys):
        """A switch whose TAPs have their addresses of the configuration."""
        switch = self.switch(**keys)
        for n in range(2):
            switch.port(f"h{n}", address=[f"10.0.{n}.1/24", f"2001:db8:{n}::1/64"])
        return switch

    def link(self, name):
        """(MAC, MTU) of an interface."""
        found = json.loads(sh("ip", "-json", "link", "show", "dev", name))[0]
        return found["address"], found["mtu"]

    def test_one_that_is_deleted_is_made_anew_as_it_was(self):
        hosts, switch = self.hosts(), self.addressed()
        switch.port("h1", mtu=1450)
        hosts[1].run("ip", "address", "add", "10.9.0.1/32", "dev", "eth0")
        with self.running(switch) as run:
            run.wait_for(run.path.exists, bool)
            self.ping_each_other(hosts, resolved=False)
            before, descriptors = {}, self.descriptors(run)
            for n in range(2):
                before[n] = (self.link(f"h{n}"), self.addresses(f"h{n}"))
            for turn in range(1, CYCLES + 1):
                for n in range(2):
                    sh("ip", "link", "delete", f"h{n}")
                    run.wait_for(lambda n=n: self.told(run, "interface_back").count(f"port h{n}: its TAP h{n} is back"),
                                 lambda times, turn=turn: times == turn)
                    self.assertEqual(self.told(run, "interface_gone").count(f"port h{n}: its TAP h{n} has gone; it is made anew"), turn)
                    self.assertEqual((self.link(f"h{n}"), self.addresses(f"h{n}")), before[n])
                for address in ("10.0.1.1", "10.0.1.2", "2001:db8:0::1", "2001:db8:1::2"):
                    self.reaches(hosts[0], address)
                # The mirror follows the one that is there now.
                sh("ip", "route", "add", "10.9.0.0/16", "via", "10.0.1.2")
                self.reaches(hosts[0], "10.9.0.1")
            self.assertEqual((len(self.told(run, "interface_back")), len(self.told(run, "interface_gone"))), (2 * CYCLES, 2 * CYCLES))
            self.assertEqual(self.told(run, "interface_refused"), [])
            run.wait_for(lambda: self.descriptors(run), lambda now: now <= descriptors)
            run.call("port.set", port="h0", up=False)  # its carrier is this one's
            run.wait_for(lambda: not self.interfaces()["h0"], bool)

    def descriptors(self, run):
        return len(list(pathlib.Path(f"/proc/{run.process.pid}/fd").iterdir()))

    def test_one_without_routes_of_the_kernel_comes_back_too(self):
        hosts = self.hosts()
        with self.running(self.addressed(**{"kernel.routes": False, "kernel.taps": True})) as run:
            run.wait_for(run.path.exists, bool)
            self.reaches(hosts[0], "10.0.0.1")
            sh("ip", "link", "delete", "h0")
            run.wait_for_event("interface_back")
            self.reaches(hosts[0], "10.0.0.1")

    def test_one_whose_name_is_taken_meanwhile_comes_back_when_it_is_free(self):
        hosts = self.hosts()
        with self.running(self.addressed()) as run:
            run.wait_for(run.path.exists, bool)
            self.reaches(hosts[0], "10.0.0.1")
            for words in (("set", "h0", "down"), ("set", "h0", "name", "other"), ("add", "h0", "type", "veth", "peer", "name", "nobody"),
                          ("delete", "other")):
                sh("ip", "link", *words)
            said = run.wait_for_event("interface_refused")
            self.assertIn("port h0: TAP h0: cannot be made: ", said)
            self.assertIn("; do: rename the port, or the interface h0 that there is already", said)
            refused = run.call("stats.show", path="ports.h0.tap_refused_packets")
            hosts[0].ping("10.0.0.1", count=2, wait_s=1)
            run.wait_for(lambda: run.call("stats.show", path="ports.h0.tap_refused_packets"), lambda now: now > refused)
            self.assertEqual((len(self.told(run, "interface_refused")), self.told(run, "interface_back")), (1, []))
            sh("ip", "link", "delete", "h0")
            run.wait_for_event("interface_back")
            self.reaches(hosts[0], "10.0.0.1")

    def test_one_that_is_moved_away_is_told_and_works_on(self):
        hosts = self.hosts()
        away = netns.Namespace("away").make()
        with self.running(self.addressed()) as run:
            run.wait_for(run.path.exists, bool)
            self.reaches(hosts[0], "10.0.0.1")
            sh("ip", "link", "set", "h0", "netns", "away")
            self.assertEqual(run.wait_for_event("interface_gone"), "port h0: its TAP h0 is in another network namespace now, whose "
                             "addresses, routes and neighbors are not ours")
            away.ip("address add 10.0.0.1/24 dev h0")
            away.ip("link set h0 up")
            self.reaches(hosts[0], "10.0.0.1")
            self.assertEqual(self.told(run, "interface_back"), [])
            away.delete()  # and the TAP with it
            run.wait_for_event("interface_back")
            self.assertEqual(len(self.told(run, "interface_gone")), 2)
            self.reaches(hosts[0], "10.0.0.1")

    def test_nothing_is_left_when_it_is_killed(self):
        self.hosts()
        before = None
        with self.assertRaisesRegex(AssertionError, "it has ended by itself"), self.running(self.switch()) as run:
            self.start(run)
            before = self.interfaces().keys()
            run.process.send_signal(signal.SIGKILL)
            run.process.wait(netns.PATIENCE_S)
        self.assertLessEqual({"h0", "h1"}, before)
        self.assertFalse({"h0", "h1"} & self.interfaces().keys())


if __name__ == "__main__":
    netns.main()
