"""What a process holds that might leak: descriptors, memory, mappings, BPF objects."""

import collections
import ctypes
import os
import pathlib
import re
import struct

BPF, PROGRAM_BY_ID, MAP_BY_ID, LINK_BY_ID, INFO = 321, 13, 14, 30, 15  # of x86-64; commands of bpf(2)
MAPS_AT = 52  # in bpf_prog_info: of how many there is room, and where, for their numbers
BPF_OBJECTS = {"prog_id": PROGRAM_BY_ID, "map_id": MAP_BY_ID, "link_id": LINK_BY_ID}  # as /proc/PID/fdinfo calls their numbers

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


class Held:
    """At present, by a process. `bpf`: (command that finds it, number) of each object that it has a descriptor of."""

    def __init__(self, pid):
        process = pathlib.Path("/proc") / str(pid)
        kinds, self.bpf = collections.Counter(), set()
        for entry in (process / "fd").iterdir():
            try:
                target, info = os.readlink(entry), (process / "fdinfo" / entry.name).read_text()
            except FileNotFoundError:  # closed meanwhile
                continue
            # An interface that is back has another index, and its lock another name.
            target = re.sub(r"-interface-\d+$", "-interface", target.partition(":")[0])
            kinds[target] += 1
            words = [line.split() for line in info.splitlines()]
            self.bpf |= {(BPF_OBJECTS[key[0][:-1]], int(key[1])) for key in words if len(key) == 2 and key[0][:-1] in BPF_OBJECTS}
        self.kinds, self.descriptors = dict(kinds), sum(kinds.values())
        self.kilobytes = next(int(line.split()[1]) for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        maps = (process / "maps").read_text().splitlines()
        # Mappings of libbpf and of sockets' rings: a leak keeps one of each.
        self.shared_mappings = sum(" rw-s " in line and ("/dev/zero" in line or "socket:" in line) for line in maps)
        self.mappings = len(maps)
