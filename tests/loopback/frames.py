"""Frames by hand, and what a router makes of them: kept apart from sluice-traffic and from the switch."""

import functools
import struct

from loopback import gateway_mac, mac

TPIDS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")


@functools.lru_cache
def raw_mac(text):
    return bytes.fromhex(text.replace(":", ""))


@functools.lru_cache
def raw_ip(text):
    if ":" not in text:
        return bytes(int(part) for part in text.split("."))
    head, _, tail = text.partition("::")
    words = [[int(word, 16) for word in side.split(":") if word] for side in (head, tail)]
    words = words[0] + [0] * (8 - len(words[0]) - len(words[1])) + words[1]
    return struct.pack(">8H", *words)


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(payload, kind, source=0, to=None, tags=()):
    """From host `source` to its gateway, or to the MAC `to`; tags are (TPID, TCI), outermost first."""
    header = raw_mac(to or gateway_mac(source)) + raw_mac(mac(source))
    for tpid, tci in tags:
        header += struct.pack(">HH", tpid, tci)
    return (header + struct.pack(">H", kind) + payload).ljust(60, b"\0")


def ipv4(payload, source="10.0.0.2", to="10.0.1.2", protocol=17, ttl=64, dscp=0, ecn=0, options=b"", fragment=0,
         length=None, identification=0):
    size = 20 + len(options)
    header = struct.pack(">BBHHHBBH4s4s", 0x40 | size // 4, dscp << 2 | ecn, length or size + len(payload),
                         identification, fragment, ttl, protocol, 0, raw_ip(source), raw_ip(to)) + options
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def ipv6(payload, source="2001:db8:0::2", to="2001:db8:1::2", following=17, hops=64, traffic_class=0, length=None):
    return struct.pack(">IHBB16s16s", 6 << 28 | traffic_class << 20, len(payload) if length is None else length,
                       following, hops, raw_ip(source), raw_ip(to)) + payload


def counting(size):
    """A payload that counts up; none where there is no room."""
    return (bytes(range(256)) * (size // 256 + 1))[:max(size, 0)]


def udp(payload=b"", sport=1000, dport=2000):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload


def plain(size=60, source=0, to=1, tags=(), options=b"", **keys):
    """A UDP frame of `size` bytes over IPv4; hosts by number or address (from h0 then); its payload counts up."""
    return made(size, source, to, tuple(tags), options, **keys)


@functools.lru_cache  # tests send the same frame thousands of times
def made(size, source, to, tags, options, **keys):
    ports = {key: keys.pop(key) for key in ("sport", "dport") if key in keys}
    body = udp(counting(size - 14 - 4 * len(tags) - 28 - len(options)), **ports)
    source, sender = (f"10.0.{source}.2", source) if isinstance(source, int) else (source, 0)
    to = f"10.0.{to}.2" if isinstance(to, int) else to
    return ethernet(ipv4(body, source, to, options=options, **keys), 0x0800, sender, tags=tags)


def plain6(size=62, source=0, to=1, tags=(), **keys):
    body = udp(counting(size - 14 - 4 * len(tags) - 48))
    source, sender = (f"2001:db8:{source}::2", source) if isinstance(source, int) else (source, 0)
    to = f"2001:db8:{to}::2" if isinstance(to, int) else to
    return ethernet(ipv6(body, source, to, **keys), 0x86DD, sender, tags=tags)


def pfc(quanta, source=1):
    """A PFC frame; `quanta` by priority, of those that it names."""
    vector = sum(1 << n for n in quanta)
    return ethernet(struct.pack(">HH8H", 0x0101, vector, *(quanta.get(n, 0) for n in range(8))), 0x8808, source,
                    to="01:80:c2:00:00:01")


def l3_offset(frame):
    at = 12
    while frame[at:at + 2] in TPIDS:
        at += 4
    return at + 2


def routed(frame, port, host=None, tag=None):
    """The frame that leaves at `port` to `host` (both numbers): tags off, own MACs on, TTL minus one, checksum made anew."""
    at = l3_offset(frame)
    ip = bytearray(frame[at:])
    kind = frame[at - 2:at]
    if kind == b"\x08\x00":
        ip[8] -= 1
        ip[10:12] = b"\0\0"
        size = (ip[0] & 0xF) * 4
        ip[10:12] = struct.pack(">H", checksum(bytes(ip[:size])))
    else:
        ip[7] -= 1
    header = raw_mac(mac(port if host is None else host)) + raw_mac(gateway_mac(port))
    if tag is not None:
        header += struct.pack(">HH", 0x8100, tag)
    return header + kind + bytes(ip)
