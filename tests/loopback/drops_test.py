#!/usr/bin/python3
"""Every reason to discard a frame, alone and all together, and every frame accounted for."""

import re
import struct

import loopback
from frames import ethernet, ipv4, ipv6, l3_offset, plain, plain6, raw_mac, routed, udp
from loopback import Frame, Switch, flow, gateway_mac

CATALOGUE = loopback.ROOT / "lib" / "frame" / "drop_reasons.def"
REASONS = re.findall(r"^DROP\((\w+),", CATALOGUE.read_text(), re.M)

def cut(frame, captured):
    return Frame(0, len(frame), frame[:captured])


def with_byte(frame, at, value):
    return frame[:at] + bytes([value]) + frame[at + 1:]


def fixed(frame):
    """The frame with a right IPv4 checksum again."""
    words = frame[14:24] + b"\0\0" + frame[26:34]
    total = sum(struct.unpack(">10H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return frame[:24] + struct.pack(">H", ~total & 0xFFFF) + frame[26:]


def extension(following, size):
    return struct.pack(">BB", following, size // 8 - 1) + bytes([1, size - 4]) + bytes(size - 4)


# Frames that h0 sends, by the reason for which each must be discarded.
REFUSED = {
    "truncated_capture": [cut(plain(200), 100), cut(plain(60), 59), cut(plain6(200), 0), cut(plain(9000), 8999)],
    "frame_too_short": [plain()[:13], plain()[:1], raw_mac(gateway_mac(0)) + raw_mac("02:00:00:00:00:01") + b"\x81\x00\x00"],
    "frame_too_long": [plain(9239), plain(12000)],
    "too_many_tags": [plain(100, tags=[(0x8100, 1)] * 3), plain(100, tags=[(0x88A8, 1), (0x8100, 2), (0x9100, 3)])],
    "not_ip": [ethernet(bytes(46), 0x0806), ethernet(bytes(46), 0x88CC), ethernet(bytes(46), 0x0600),
               ethernet(bytes(46), 0x0806, to="ff:ff:ff:ff:ff:ff"), ethernet(bytes(46), 0x88B5, tags=[(0x8100, 7)])],
    "multicast": [ethernet(ipv4(udp(), to="239.1.2.3"), 0x0800, to="01:00:5e:01:02:03"),
                  ethernet(ipv4(udp()), 0x0800, to="ff:ff:ff:ff:ff:ff"), plain(to="224.0.0.1"),
                  plain6(to="ff0e::1"), ethernet(ipv6(udp()), 0x86DD, to="33:33:00:00:00:01")],
    "group_source": [with_byte(plain(), 6, 0x03), with_byte(plain6(), 6, 0xFF)],
    "not_for_us": [ethernet(ipv4(udp()), 0x0800, to="02:de:ad:be:ef:00"), ethernet(ipv4(udp()), 0x0800, to=gateway_mac(1))],
    "ip_bad_version": [with_byte(plain(), 14, 0x55), with_byte(plain6(), 14, 0x40), with_byte(plain(), 14, 0x65)],
    "ip_bad_header_length": [fixed(with_byte(plain(), 14, 0x44)), fixed(with_byte(plain(60), 14, 0x4F))],
    "ip_bad_length": [ethernet(ipv4(udp(), length=19), 0x0800), ethernet(ipv4(udp(), length=47), 0x0800),
                      ethernet(ipv6(udp(), length=21), 0x86DD), plain()[:33], plain6()[:53]],
    "ip_bad_checksum": [with_byte(plain(), 24, plain()[24] ^ 1), with_byte(plain(options=bytes([1] * 40), size=110), 60, 2)],
    "headers_too_long": [ethernet(ipv6(extension(60, 256) + extension(17, 64) + udp(), following=0), 0x86DD),
                         ethernet(ipv6(extension(17, 200) + udp(sport=1, dport=4791, payload=bytes(20)), following=0), 0x86DD)],
    "ipv6_bad_extension": [ethernet(ipv6(b"\x11\x00\x01\x04", following=0), 0x86DD),
                           ethernet(ipv6(extension(17, 16)[:8], following=60), 0x86DD)],
    "martian_source": [plain(source="127.0.0.1"), plain(source="0.0.0.1"), plain(source="224.0.0.1"),
                       plain(source="255.255.255.255"), plain6(source="::1"), plain6(source="::"), plain6(source="ff02::1")],
    "martian_destination": [plain(to="127.0.0.1"), plain(to="0.1.2.3"), plain(to="240.0.0.1"), plain(to="255.255.255.255"),
                            plain6(to="::1"), plain6(to="::")],
    "link_local": [plain(to="169.254.1.1"), plain(source="169.254.1.1"), plain6(to="fe80::1"), plain6(source="fe80::1"),
                   plain6(to="febf::1")],
    "ttl_expired": [plain(ttl=0), plain(ttl=1), plain6(hops=0), plain6(hops=1)],
    "local_address": [plain(to="10.0.0.1"), plain(to="10.0.2.1"), plain6(to="2001:db8:1::1")],
    "no_route": [plain(to="192.0.2.1"), plain6(to="2001:db9::1")],
    "blackhole": [plain(to="10.66.0.1"), plain6(to="2001:db8:66::1")],
    "unresolved_next_hop": [plain(to="10.0.1.77"), plain6(to="2001:db8:1::77")],
    "mtu_exceeded": [plain(1515, to=2), plain6(1515, to=2), plain(1519, to=2, tags=[(0x8100, 1)])],
    "link_down": [plain(to="10.0.3.2"), plain6(to="2001:db8:3::2"), plain(to="10.3.0.1")],
}

# Frames right at the edge of the same rules, which must come out, with the port where.
ROUTED = [
    (1, plain(60)), (1, plain(46)), (1, plain(42)), (1, plain(options=bytes([1] * 40), size=110)),
    (1, plain(9122)), (2, plain(1514, to=2)), (2, plain(1518, to=2, tags=[(0x8100, 1)])),
    (2, plain(1522, to=2, tags=[(0x88A8, 1), (0x8100, 1)])), (1, plain(100, tags=[(0x9100, 1), (0x8100, 2)])),
    (1, plain(ttl=2)), (1, plain6(hops=2)), (1, plain(source="1.0.0.1")), (1, plain(source="223.255.255.255")),
    (1, plain(source="126.255.255.255")), (1, plain(source="128.0.0.1")), (1, plain6(source="::2")), (1, plain6(source="::1:1")),
    (1, plain(source="169.253.255.255")), (1, plain(source="169.255.0.1")), (1, plain6(source="fec0::1")),
    (1, ethernet(ipv6(extension(60, 64) + extension(17, 64) + udp(), following=0), 0x86DD)),
    (1, ethernet(ipv4(udp(bytes(18), dport=4791)), 0x0800)),  # too short for a BTH: it is UDP
    (1, ethernet(ipv4(b"", protocol=59), 0x0800)), (1, ethernet(ipv6(b"", following=59), 0x86DD)),
]


def standard(test):
    switch = Switch(test, hosts=4)
    switch.default(mtu=9216)
    switch.port("h2", mtu=1500)
    switch.route("10.66.0.0/16")
    switch.route("2001:db8:66::/48")
    switch.route("10.3.0.0/16", "10.0.3.2")
    switch.event("0ns", "port h3 down")
    return switch


def spaced(frames, start_ns=1000, gap_ns=2000):
    """Frames or bytes, one by one, far enough apart that none waits for another."""
    return [(frame._replace(at_ns=start_ns + gap_ns * n) if isinstance(frame, Frame)
             else (start_ns + gap_ns * n, frame)) for n, frame in enumerate(frames)]


class Refused(loopback.Case):
    """One method a reason, made below: what must be discarded, each frame for that reason and no other."""


def refuses(reason):
    def test(self):
        frames = REFUSED[reason]
        switch = standard(self)
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.assertEqual(out.drops(), {reason: len(frames)})
        self.assertEqual(out.drops("h0"), {reason: len(frames)})
        self.assertEqual(out.report["ledger"]["tx"], 0)
    return test


for _reason in REFUSED:
    setattr(Refused, f"test_{_reason}", refuses(_reason))


class Accounts(loopback.Case):
    def test_every_reason_of_the_catalogue_is_tried(self):
        elsewhere = {"ingress_limit", "headroom_overrun", "queue_limit", "wred_drop", "watchdog_drop", "punt_rate", "punt_full", "impaired",
                     "unresolved_timeout", "trim_limit"}
        # class Buffer below, timing_test.py, ecn_test.py, ../fault, responder_test.py, ../netns/kernel_test.py, trim_test.py
        self.assertEqual(sorted(REFUSED), sorted(set(REASONS) - elsewhere))

    def test_each_frame_has_its_own_reason_when_all_come_together(self):
        """Back to back, so that bursts mix what stays with what goes, at three turns."""
        frames = [frame for n in range(7) for reason in REFUSED for frame in REFUSED[reason][n:n + 1]]
        good = [ROUTED[n % len(ROUTED)] for n in range(len(frames))]
        mixed = [frame for pair in zip(frames, (frame for _, frame in good)) for frame in pair]
        for turn in ("0ns", "500ns", "5us"):
            switch = standard(self)
            switch.section("virtual", turn=turn)
            switch.section("buffer", size="4MB")  # whose headroom a turn enlarges
            switch.give("h0", spaced(mixed, gap_ns=5))
            out = switch.run()
            self.assertEqual(out.drops(), {reason: len(frames) for reason, frames in REFUSED.items()})
            for port in (1, 2):
                self.frames_equal(out.frames[f"h{port}"], [routed(frame, port) for to, frame in good if to == port])

    def test_what_is_at_the_edge_of_a_rule_is_routed(self):
        switch = standard(self)
        switch.give("h0", spaced([frame for _, frame in ROUTED]))
        out = switch.run()
        self.assertEqual(out.drops(), {})
        for port in (1, 2):
            self.frames_equal(out.frames[f"h{port}"], [routed(frame, port) for to, frame in ROUTED if to == port])

    def test_drops_are_counted_at_the_port_where_a_frame_came_in(self):
        switch = standard(self)
        for n in range(3):
            switch.give(f"h{n}", spaced([plain(source=n, to="192.0.2.1")] * (n + 1)))
        out = switch.run()
        self.assertEqual([out.drops(f"h{n}") for n in range(3)], [{"no_route": n + 1} for n in range(3)])

    def test_a_lossless_frame_that_is_dropped_ends_the_promise(self):
        for dscp, tells in ((26, True), (0, False)):
            switch = standard(self)
            switch.give("h0", spaced([plain(to="192.0.2.1", dscp=dscp), plain(dscp=dscp)]))
            out = switch.run()
            self.assertEqual(out.report["lossless"] is not True, tells)
            if tells:
                self.assertEqual(len(out.report["verdict"]["reasons"]), 1)
                self.assertRegex(out.report["verdict"]["reasons"][0], "1 lossless.*h0.*no_route")

    def test_promiscuous_takes_any_unicast_destination_and_no_group(self):
        strange = ethernet(ipv4(udp()), 0x0800, to="02:de:ad:be:ef:00")
        group = ethernet(ipv4(udp()), 0x0800, to="03:de:ad:be:ef:00")
        switch = standard(self)
        switch.port("h0", promiscuous=True)
        switch.give("h0", spaced([strange, group]))
        out = switch.run()
        self.assertEqual(out.drops(), {"multicast": 1})
        self.frames_equal(out.frames["h1"], [routed(strange, 1)])


class Buffer(loopback.Case):
    def incast(self, dscp, **keys):
        """Two senders into h2, twice as fast as it can send; h0's group has room for four frames of four cells."""
        switch = Switch(self, hosts=3)
        switch.default(qos="lossy" if dscp == 0 else "lossless", peer="ignore", small_xoff=True)
        switch.section(f"port.h0.priority_group.{0 if dscp == 0 else 3}", size=0, static_th=4096, **keys)
        for n in range(2):
            switch.give(f"h{n}", [(0, plain(1000, source=n, to=2, dscp=dscp, identification=k)) for k in range(40)])
        return switch

    def test_ingress_limit(self):
        out = self.incast(0).run()
        self.assertEqual(set(out.drops()), {"ingress_limit"})
        self.assertGreater(out.drops("h0")["ingress_limit"], 10)
        self.assertEqual(out.drops("h1"), {})
        self.assertEqual(out.port("h0")["priority_groups"][0]["shared_watermark_bytes"], 4096)

    def test_headroom_overrun(self):
        out = self.incast(26, xoff=2048).run()
        self.assertEqual(set(out.drops()), {"headroom_overrun"})
        group = out.port("h0")["priority_groups"][3]
        self.assertEqual(group["headroom_overruns"], out.drops("h0")["headroom_overrun"])
        self.assertEqual((group["shared_watermark_bytes"], group["headroom_watermark_bytes"]), (4096, 2048))
        self.assertGreater(out.report["ledger"]["generated"], 0)  # the pauses that the peer ignores
        self.assertNotEqual(out.report["lossless"], True)

    def test_queue_limit(self):
        switch = self.incast(0)
        switch.sections.pop("port.h0.priority_group.0")
        switch.limit("h2", 0, 16)
        out = switch.run()
        self.assertEqual(set(out.drops()), {"queue_limit"})
        self.assertEqual(out.port("h2")["queues"][0]["watermark_bytes"], 4096)


class Everything(loopback.Case):
    """One capture of all kinds of traffic and every malformation that sluice-traffic knows."""

    MALFORMED = {  # reason, or None: it is routed; by variant, for IPv4 and IPv6
        "truncated": ("truncated_capture",) * 2, "short_ip": ("ip_bad_length", None), "bad_checksum": ("ip_bad_checksum", 0),
        "bad_version": ("ip_bad_version",) * 2, "bad_ihl": ("ip_bad_header_length", 0), "ttl_0": ("ttl_expired",) * 2,
        "ttl_1": ("ttl_expired",) * 2, "fragment": (None, None), "options": (None, 0), "ipv6_extension": (0, None),
        "long_options_chain": (0, "headers_too_long"), "short_bth": (None, None), "bad_udp_length": (None, None),
        "bad_icrc": (None, None), "martian_source": ("martian_source",) * 2, "group_source_mac": ("group_source",) * 2,
        "multicast": ("multicast",) * 2, "broadcast": ("multicast", 0), "wrong_mac": ("not_for_us",) * 2,
        "arp": ("not_ip", 0), "lldp": ("not_ip",) * 2, "unknown_ethertype": ("not_ip",) * 2, "runt": (None, 0),
        "giant": ("frame_too_long",) * 2, "tagged": (None, None), "priority_tagged": (None, None), "qinq": (None, None),
        "three_tags": ("too_many_tags",) * 2, "length_beyond_frame": ("ip_bad_length",) * 2,
    }

    def test_every_malformed_variant_has_its_fate(self):
        for version in (4, 6):
            for variant, fates in self.MALFORMED.items():
                fate = fates[0 if version == 4 else 1]
                if fate == 0:
                    continue
                with self.subTest(variant=variant, version=version):
                    switch = Switch(self, hosts=2)
                    switch.recipe(flow("malformed", variant=variant, count=4, gap="20us", ip_version=version))
                    out = switch.run()
                    self.assertEqual(out.drops(), {} if fate is None else {fate: 4})
                    if fate is None:
                        self.frames_equal(out.frames["h1"], [routed(frame.bytes, 1) for frame in switch.sent("h0")])

    def test_one_capture_of_everything_goes_through(self):
        flows = []
        counts = {"roce": 0, "cnp": 0, "consumed": 0, "routed": 0}
        drops = {}
        for version in (4, 6):
            ip = {"ip_version": version}
            flows += [flow("roce", count=40, qps=4, size="random 60..4000", **ip), flow("cnp", count=10, **ip),
                      flow("tcp", count=30, size="random 60..1500", flows=5, **ip),
                      flow("udp", count=30, size="random 60..1500", flows=5, **ip),
                      flow("udp", count=20, vlan=[{"vid": 5, "pcp": 2}], size=200, **ip),
                      flow("roce", count=20, vlan=[{"vid": 5, "pcp": 3}], **ip),
                      flow("cnp", count=5, vlan=[{"vid": 9, "type": "802.1ad"}, {"vid": 5, "pcp": 3}], **ip),
                      flow("malformed", variant="all", count=27 if version == 4 else 23, **ip)]
            counts["roce"] += 40 + 10 + 20 + 5
            counts["cnp"] += 10 + 5
            counts["routed"] += 40 + 10 + 30 + 30 + 20 + 20 + 5
            for variant, fates in self.MALFORMED.items():
                fate = fates[0 if version == 4 else 1]
                if fate is None:
                    counts["routed"] += 1
                elif fate != 0:
                    drops[fate] = drops.get(fate, 0) + 1
        flows += [flow("pfc", to=None, pfc={"3": 65535}, count=7, gap="3us"), flow("pfc", to=None, pfc={"3": 0, "4": 9}, count=3),
                  flow("pause", to=None, count=2)]
        switch = Switch(self, hosts=2)
        switch.recipe(*flows, hosts=["h0", "h1"])
        strange = ethernet(struct.pack(">H", 0x0102) + bytes(44), 0x8808, to="01:80:c2:00:00:01")
        frames = switch.sent("h0")
        # PAUSE and PFC for another station, as a switch in between may flood them, are nobody's here.
        others = [ethernet(bytes.fromhex(code) + bytes(44), 0x8808, to="02:00:00:00:99:99") for code in ("0001ffff", "01010008")]
        switch.give("h0", frames + [(frames[-1].at_ns + 1000 * (n + 1), bad) for n, bad in enumerate([strange, *others])])
        out = switch.run()
        h0 = out.port("h0")
        self.assertEqual(out.drops(), drops)
        self.assertEqual(len(out.frames["h1"]), counts["routed"])
        self.assertEqual(out.report["ledger"]["consumed"], 7 + 3 + 2 + 3)
        self.assertEqual(h0["pfc"]["rx_xoff"], [0, 0, 0, 7, 0, 0, 0, 0])
        self.assertEqual(h0["pfc"]["rx_unexpected"], [0, 0, 0, 0, 3, 0, 0, 0])  # PFC is on for 3 only
        self.assertEqual(h0["pfc"]["rx_xon"], [0, 0, 0, 3, 0, 0, 0, 0])
        self.assertEqual((h0["pfc"]["rx_pause_global"], h0["pfc"]["rx_unknown"]), (2, 3))
        self.assertEqual(out.frames["h0"], [])
        # These malformed frames are RoCEv2 all the same.
        whole = {"options", "ipv6_extension", "bad_udp_length", "bad_icrc", "tagged", "priority_tagged", "qinq"}
        known = sum(1 for name in whole for fate in self.MALFORMED[name] if fate is None)
        self.assertGreaterEqual(h0["roce_packets"], counts["roce"] + known)
        self.assertEqual(h0["cnp_packets"], counts["cnp"])
        # With a port in and a port out, equally fast, the frames leave in order, and some are left out.
        came = iter(routed(frame.bytes, 1) for frame in frames if len(frame.bytes) > 34 and self.can_live(frame.bytes))
        for number, frame in enumerate(out.frames["h1"]):
            self.assertTrue(any(frame.bytes == data for data in came), f"frame {number} of the output")
        self.assertEqual(loopback.verify([switch.folder / "out" / "h1.pcap"])["icrc_bad"], 2)  # the two bad_icrc

    @staticmethod
    def can_live(frame):
        at = l3_offset(frame)
        return len(frame) > at + 20 and frame[at + (8 if frame[at - 2:at] == b"\x08\x00" else 7)] > 1


class Kinds(loopback.Case):
    def test_mac_control_is_consumed_whatever_its_destination(self):
        switch = Switch(self, hosts=2)
        pfc = struct.pack(">HH8H", 0x0101, 0x00FF, *range(8))
        frames = [ethernet(pfc, 0x8808, to=to) for to in ("01:80:c2:00:00:01", gateway_mac(0), "02:de:ad:be:ef:00")]
        frames += [ethernet(b"", 0x8808)[:14], ethernet(struct.pack(">H", 0x0101), 0x8808)[:20]]  # short ones
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.assertEqual(out.report["ledger"]["consumed"], 5)
        # Two are for us; what is for somebody else or is too short says nothing.
        pfc = out.port("h0")["pfc"]
        self.assertEqual([pfc["rx_xoff"], pfc["rx_xon"]], [[0, 0, 0, 2, 0, 0, 0, 0], [0] * 8])
        self.assertEqual(pfc["rx_unexpected"], [2, 2, 2, 0, 2, 2, 2, 2])
        self.assertEqual(pfc["rx_unknown"], 3)

    def test_ce_marked_arrivals_and_classes_are_counted(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", spaced([plain(ecn=3), plain6(traffic_class=3), plain(ecn=2), plain(dscp=26), plain(dscp=48),
                                  plain(dscp=3), plain(dscp=56)]))
        out = switch.run()
        self.assertEqual(out.port("h0")["ce_arrived_packets"], 2)
        self.assertEqual([group["packets"] for group in out.port("h0")["priority_groups"]], [3, 0, 0, 2, 0, 0, 1, 1])
        self.assertEqual([queue["tx_packets"] for queue in out.port("h1")["queues"]], [3, 0, 0, 2, 0, 0, 1, 1])

    def test_the_cnp_of_a_real_adapter_is_recognized(self):
        vector = bytes.fromhex("e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000"
                               "0118000000000000000000000000000000000000000082fd002a")
        switch = Switch(self, hosts=2)
        switch.port("h0", promiscuous=True)
        switch.route("10.0.18.0/24", "10.0.1.2")
        switch.give("h0", [(0, vector)])
        out = switch.run()
        self.assertEqual((out.port("h0")["cnp_packets"], out.port("h0")["roce_packets"]), (1, 1))
        self.assertEqual(out.port("h1")["queues"][6]["tx_packets"], 1)
        self.frames_equal(out.frames["h1"], [routed(vector, 1)])
        self.assertEqual(loopback.verify([switch.folder / "out" / "h1.pcap"])["icrc_good"], 1)


if __name__ == "__main__":
    loopback.main()
