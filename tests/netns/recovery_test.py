#!/usr/bin/python3
"""What happens to a switch, again and again: kill -9, interfaces that go, are renamed, or change their MTU."""

import ctypes
import json
import os
import pathlib
import struct

import netns
from lab_case import LabCase
from loopback import LONG
from network import wait_for

CYCLES = 100 if LONG else 5
BPF, PROGRAM_BY_ID, MAP_BY_ID, INFO = 321, 13, 14, 15  # of x86-64; commands of bpf(2)
MAPS_AT = 52  # in bpf_prog_info: of how many there is room, and where, for their numbers

libc = ctypes.CDLL(None, use_errno=True)


def descriptor(command, number):
    """Of a program or a map by its number; None when there is none any more."""
    attribute = ctypes.create_string_buffer(struct.pack("III", number, 0, 0), 128)
    found = libc.syscall(BPF, command, attribute, 12)
    return found if found >= 0 else None


def exists(command, number):
    found = descriptor(command, number)
    if found is not None:
        os.close(found)
    return found is not None


def maps_of(program):
    """Numbers of a program's maps."""
    numbers, found = (ctypes.c_uint32 * 16)(), descriptor(PROGRAM_BY_ID, program)
    info = ctypes.create_string_buffer(256)
    struct.pack_into("=IQ", info, MAPS_AT, len(numbers), ctypes.addressof(numbers))
    attribute = ctypes.create_string_buffer(struct.pack("IIQ", found, len(info), ctypes.addressof(info)), 128)
    done = libc.syscall(BPF, INFO, attribute, 16)
    os.close(found)
    assert done == 0, os.strerror(ctypes.get_errno())
    return list(numbers[:struct.unpack_from("I", info, MAPS_AT)[0]])


class Recovery(LabCase):
    def setUp(self):
        super().setUp()
        self.fabric = self.lab().one(hosts=3)
        self.switch, self.hosts = self.fabric.switches["s1"], self.fabric.hosts

    def attached(self):
        """Numbers of the programs at its ports."""
        links = json.loads(self.switch.namespace.run("ip", "-j", "-d", "link", "show"))
        return {link["xdp"]["prog"]["id"] for link in links if "prog" in link.get("xdp", {})}

    def held(self):
        """What its process holds that might become more: descriptors, KiB of memory."""
        process = pathlib.Path("/proc") / str(self.switch.pid())
        memory = next(int(line.split()[1]) for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        return len(list((process / "fd").iterdir())), memory

    def holds_no_more_than(self, descriptors):
        # A client that has just gone may still have its own.
        wait_for(lambda: self.held()[0], lambda count: count <= descriptors, f"more than {descriptors} descriptors")

    def works(self, *names):
        """Hosts reach each other through the switch, not through the kernel that would take its place."""
        before = self.switch.ask("stats", "show", f"ports.{names[0]}.steering")["no_socket"]
        for name in names[1:]:
            self.reach(self.hosts[names[0]], f"10.0.{name[1:]}.2", f"2001:db8:{name[1:]}::2")
        steering = self.switch.ask("stats", "show", f"ports.{names[0]}.steering")
        self.assertEqual(steering["no_socket"], before)
        self.assertGreater(steering["routed"], 0)

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

    def test_an_interface_that_goes_and_comes_back(self):
        for turn in range(CYCLES):
            self.works("h1", "h2", "h3")
            port, other = ("h2", "h3") if turn % 2 == 0 else ("h3", "h2")
            told = len(self.switch.events("interface_gone"))
            self.switch.namespace.ip(f"link delete {port}")
            wait_for(lambda: self.switch.events("interface_gone"), lambda now, told=told: len(now) > told, "no event")
            self.assertIn(f"port {port}: its interface {port} has gone; do: start the switch anew", self.switch.events("interface_gone")[-1])
            self.works("h1", other)
            self.fabric.plug_in(int(port[1:]), self.switch)
            self.works("h1", other)
            self.switch.restart()
        self.works("h1", "h2", "h3")

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
            then("interface_mtu", "port h2: the MTU of its interface swp2 is 1400 now, the port's is 1500; what is longer is lost beyond "
                 "the port's counters; do: ip link set swp2 mtu 1500", "swp2 mtu 1400")
            then("interface_mtu", "port h2: the MTU of its interface swp2 is 1500 now, the port's is 1500", "swp2 mtu 1500")
            named("swp2", "h2")
            self.works("h1", "h2")
            warm = warm or self.held()
        self.holds_no_more_than(warm[0])
        self.assertLess(self.held()[1], warm[1] + 2048)
        self.assertEqual(len(self.attached()), 3)


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
