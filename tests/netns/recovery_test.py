#!/usr/bin/python3
"""Recovery of a switch, again and again: kill -9, interfaces that go and come back, are renamed, or change their MTU."""

import json
import subprocess

import netns
from held import MAP_BY_ID, PROGRAM_BY_ID, Held, exists, maps_of
from lab_case import LabCase
from loopback import SOAK
from network import wait_for

CYCLES = 100 if SOAK else 3  # the first warms up, the others must hold no more


class RecoveryCase(LabCase):
    device = "xdp:{interface}"

    def setUp(self):
        super().setUp()
        self.fabric = self.lab(device=self.device).one(hosts=3)
        self.switch, self.hosts = self.fabric.switches["s1"], self.fabric.hosts

    def attached(self):
        """Numbers of the programs at its ports."""
        links = json.loads(self.switch.namespace.run("ip", "-j", "-d", "link", "show"))
        return {link["xdp"]["prog"]["id"] for link in links if "prog" in link.get("xdp", {})}

    def held(self):
        """The resources of its process that might leak: descriptors, KiB of memory."""
        now = Held(self.switch.pid())
        return now.descriptors, now.kilobytes

    def shared_mappings(self):
        return Held(self.switch.pid()).shared_mappings

    def holds_no_more_than(self, descriptors):
        # A client that has just gone may still have its own.
        wait_for(lambda: self.held()[0], lambda count: count <= descriptors, f"more than {descriptors} descriptors")

    def works(self, *names):
        """Hosts reach each other through the switch, not through the kernel that would take its place."""
        def count(key):
            return self.switch.ask("stats", "show", f"ports.{names[0]}.{key}")

        xdp = self.device.startswith("xdp")
        missed, routed = (count("steering")["no_socket"] if xdp else 0), count("rx")["packets"]
        for name in names[1:]:
            self.reach(self.hosts[names[0]], f"10.0.{name[1:]}.2", f"2001:db8:{name[1:]}::2")
        if xdp:
            self.assertEqual(count("steering")["no_socket"], missed)
        self.assertGreater(count("rx")["packets"], routed)


class ComesBack:
    """An interface of a port goes, and one of its name comes; a case says what the device is."""

    def goes(self, name):
        told = len(self.switch.events("interface_gone"))
        self.switch.namespace.ip(f"link delete {name}")
        wait_for(lambda: self.switch.events("interface_gone"), lambda now: len(now) > told, "no event")
        self.assertEqual(self.switch.events("interface_gone")[-1],
                         f"port {name}: its interface {name} has gone; it is taken again as soon as {name} is there and up")

    def comes(self, name):
        told = len(self.switch.events("interface_back"))
        self.fabric.plug_in(int(name[1:]), self.switch)
        wait_for(lambda: self.switch.events("interface_back"), lambda now: len(now) > told, "it is not taken again")
        self.assertEqual(self.switch.events("interface_back")[-1], f"port {name}: its interface {name} is back")

    def add_another(self, name, mtu=1500):
        """An interface of that name, not up, with nobody behind it."""
        queues = "numtxqueues 1 numrxqueues 1"
        self.switch.namespace.ip(f"link add {name} mtu {mtu} {queues} type veth peer name nobody mtu {mtu} {queues}")
        self.switch.namespace.ip("link set nobody up")

    def report(self, name):
        return self.switch.ask("stats", "show", f"ports.{name}")

    def lives(self, programs):
        return [exists(PROGRAM_BY_ID, number) for number in programs]

    def test_again_and_again_while_others_lose_nothing(self):
        self.works("h1", "h2", "h3")
        receiver = self.stream(self.fabric, 3)
        sender = self.stream(self.fabric, 1, 3, qps=4, pps=1000)
        warm, before = None, self.report("h2")
        for turn in range(1, CYCLES + 1):
            old = self.attached()
            maps = [number for program in old for number in maps_of(program)]
            self.goes("h2")
            self.reach(self.hosts["h1"], "10.0.3.2")
            self.assertFalse(self.report("h2")["link_up"])
            self.assertEqual(len(self.attached()), len(old) - len(old) // 3)
            self.comes("h2")
            self.works("h1", "h2", "h3")
            gone = old - self.attached()
            self.assertEqual(len(gone), len(old) // 3)
            wait_for(lambda gone=gone: self.lives(gone), lambda there: not any(there), "the program of an interface that has gone stays")
            wait_for(lambda gone=gone, maps=maps: sum(exists(MAP_BY_ID, number) for number in maps), lambda left, maps=maps: left <= len(maps) * 2 // 3,
                     "its maps stay")
            self.assertEqual(self.report("h2")["flaps"] - before["flaps"], turn)
            warm = warm or (*self.held(), self.shared_mappings())
        self.holds_no_more_than(warm[0])
        self.assertLess(self.held()[1], warm[1] + 4096)
        self.assertEqual(self.shared_mappings(), warm[2])
        sender.tell("stop")
        sent = sender.until(lambda account: not account["sending"])
        self.all_arrive(receiver, sent["sent"], (self.switch, "h1"))
        outcome = self.stop(self.switch)
        for name in ("h1", "h3"):
            self.assertEqual((outcome.port(name)["lossless_drops"], outcome.port(name)["flaps"]), ({}, 0))
        after = outcome.port("h2")
        for key in ("rx", "tx"):
            self.assertGreater(after[key]["packets"], before[key]["packets"], "counters begin anew")
        if "steering" in after:
            self.assertGreater(after["steering"]["routed"], before["steering"]["routed"], "counters begin anew")

    def test_under_its_own_traffic(self):
        """Frames on their way to the port are dropped as the link is down; every buffer comes back."""
        self.works("h1", "h2", "h3")
        sender = self.stream(self.fabric, 1, 2, qps=4, pps=5000)
        for _ in range(CYCLES):
            sent = self.report("h2")["tx"]["packets"]
            wait_for(lambda: self.report("h2")["tx"]["packets"], lambda now, sent=sent: now > sent + 100, "nothing gets there")
            self.goes("h2")
            wait_for(lambda: self.report("h1")["drops"], lambda drops: sum(drops.values()) > 100, "nothing is dropped")
            self.comes("h2")
            self.works("h1", "h2")
        sender.tell("stop")
        # All of them at the end: nothing is left with a driver that could be forgiven.
        for name in ("h1", "h2", "h3"):
            self.goes(name)
        wait_for(lambda: [self.report(name)["link_up"] for name in ("h1", "h2", "h3")], lambda up: not any(up))
        self.assertEqual(self.attached(), set())
        self.assertTrue(self.stop(self.switch).report["ledger"]["balanced"])

    def test_another_mtu_is_told(self):
        self.goes("h2")
        self.add_another("h2", mtu=1400)
        self.switch.namespace.ip("link set h2 up")
        self.assertIn("h2 is back; its MTU is 1400, the port's 1500: ", wait_for(lambda: self.switch.events("interface_back"), bool)[0])

    def test_moved_away_and_back(self):
        away = netns.Namespace("sluice-lab-away").make()
        self.works("h1", "h2", "h3")
        for turn in range(CYCLES):
            told = len(self.switch.events("interface_gone"))
            self.switch.namespace.ip(f"link set h2 netns {away.name}")
            wait_for(lambda: self.switch.events("interface_gone"), lambda now, told=told: len(now) > told, "no event")
            self.works("h1", "h3")
            told = len(self.switch.events("interface_back"))
            away.ip(f"link set h2 netns {self.switch.namespace.name}")
            self.switch.namespace.ip("address add 10.0.2.1/24 dev h2")
            self.switch.namespace.ip("address add 2001:db8:2::1/64 dev h2")
            if turn == 0:
                looked = self.switch.ask("stats", "show")["end_ns"] + 2_000_000_000  # by then it has been looked for
                wait_for(lambda: self.switch.ask("stats", "show")["end_ns"], lambda now, looked=looked: now > looked)
                self.assertEqual(len(self.switch.events("interface_back")), told, "it is not up yet")
            self.switch.namespace.ip("link set h2 up")
            wait_for(lambda: self.switch.events("interface_back"), lambda now, told=told: len(now) > told, "it is not taken again")
            self.works("h1", "h2", "h3")


class XdpComesBack(ComesBack, RecoveryCase):
    def test_one_with_somebody_elses_program_is_refused_until_it_is_off(self):
        source, other = self.switch.file("other.c"), self.switch.file("other.o")
        source.write_text('__attribute__((section("xdp"), used)) int others(void *context) { return 2; }\n'
                          'char _license[] __attribute__((section("license"), used)) = "GPL";\n')
        subprocess.run(["clang-16", "-O2", "-g", "-target", "bpf", "-c", source, "-o", other], check=True)
        self.goes("h2")
        self.add_another("h2")
        self.switch.namespace.ip(f"link set dev h2 xdp obj {other} sec xdp")
        self.switch.namespace.ip("link set h2 up")
        self.assertIn('"others"', wait_for(lambda: self.switch.events("interface_refused"), bool)[0])
        descriptors = self.held()[0]
        self.switch.namespace.ip("link set dev h2 xdp off")
        wait_for(lambda: self.switch.events("interface_back"), bool, "it is not taken")
        self.assertGreater(self.held()[0], descriptors)
        self.assertEqual(len(self.switch.events("interface_refused")), 1)


class PacketsComeBack(ComesBack, RecoveryCase):
    device = "net_af_packet{number},iface={interface}"


class Recovery(RecoveryCase):
    def test_killed_and_started_again(self):
        self.works("h1", "h2", "h3")
        descriptors, memory = self.held()
        self.assertEqual(len(self.attached()), 3)
        for _ in range(CYCLES):
            old, maps = self.attached(), [number for program in self.attached() for number in maps_of(program)]
            self.assertTrue(maps and all(exists(MAP_BY_ID, number) for number in maps))
            self.switch.restart()
            self.works("h1", "h2", "h3")
            self.assertEqual(len(self.attached()), 3)
            wait_for(lambda old=old, maps=maps: [exists(PROGRAM_BY_ID, number) for number in old] + [exists(MAP_BY_ID, number) for number in maps],
                     lambda there: not any(there), "programs or maps of a killed switch stay")
        self.holds_no_more_than(descriptors)
        self.assertLess(self.held()[1], memory * 1.2)
        self.stop(self.switch)
        self.assertEqual(self.attached(), set())

    def test_new_names_and_mtus_while_it_runs(self):
        def then(kind, text, *lines):
            """Of changes that follow each other at once only the last may be told."""
            before = len(self.switch.events(kind))
            for line in lines:
                self.switch.namespace.ip("link set " + line)
            wait_for(lambda: self.switch.events(kind)[before:], lambda told: told == [text], f"not: {text}")

        def named(old, new):
            then("interface_renamed", f"port h2: its interface {old} is called {new} now",
                 f"{old} down", f"{old} name {new}", f"{new} up")

        self.works("h1", "h2")
        warm = None
        for _ in range(CYCLES):
            named("h2", "swp2")
            then("interface_mtu", "port h2: the MTU of its interface swp2 is 1400 now, the port's is 1500; the port loses longer frames, and "
                 "counts them; do: ip link set swp2 mtu 1500", "swp2 mtu 1400")
            then("interface_mtu", "port h2: the MTU of its interface swp2 is 1500 now, the port's is 1500", "swp2 mtu 1500")
            named("swp2", "h2")
            self.works("h1", "h2")
            warm = warm or self.held()
        self.holds_no_more_than(warm[0])
        self.assertLess(self.held()[1], warm[1] + 2048)
        self.assertEqual(len(self.attached()), 3)


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
