"""Reads the pcapng that the switch writes: little-endian, enhanced packet blocks. A part of a block at the end is an error."""

import collections
import re
import struct

Frame = collections.namedtuple("Frame", "interface at_ns wire bytes comment direction")

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6


def options(data):
    found, at = {}, 0
    while at < len(data):
        code, size = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        found[code] = data[at + 4:at + 4 + size]
        at += 4 + (size + 3) // 4 * 4
    return found


def parse(data):
    """Interfaces (name, speed) and Frames of one section."""
    interfaces, frames, at = [], [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        assert size % 4 == 0 and at + size <= len(data), f"cut in the block at {at} of {len(data)}"
        assert struct.unpack_from("<I", data, at + size - 4)[0] == size, f"the block at {at} ends otherwise than it begins"
        body = data[at + 8:at + size - 4]
        if kind == SECTION:
            assert at == 0 and struct.unpack_from("<IHH", body) == (0x1A2B3C4D, 1, 0)
        elif kind == INTERFACE:
            said = options(body[8:])
            assert struct.unpack_from("<H", body)[0] == 1 and said[9] == b"\x09"
            interfaces.append((said[2].decode(), struct.unpack("<Q", said[8])[0]))
        else:
            assert kind == PACKET, kind
            interface, high, low, captured, wire = struct.unpack_from("<IIIII", body)
            said = options(body[20 + (captured + 3) // 4 * 4:])
            frames.append(Frame(interfaces[interface][0], high << 32 | low, wire, body[20:20 + captured], said[1].decode(),
                                {1: "in", 2: "out"}[struct.unpack("<I", said[2])[0]]))
        at += size
    assert interfaces, "no header"
    return interfaces, frames


def pairs(frame):
    """NAME=VALUE of a comment; its first word is under ""."""
    return {"": frame.comment.split(" ")[0], **dict(re.findall(r"(\w+)=([^ :]+)", frame.comment.split(": ")[0]))}
