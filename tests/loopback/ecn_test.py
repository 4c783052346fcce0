#!/usr/bin/python3
"""WRED and ECN from the wire's side: which bytes change, which counters tell it, and that ICRCs live through it."""

import loopback
from frames import checksum, ethernet, ipv4, l3_offset, plain, plain6, routed, udp
from loopback import Switch, flow, verify

import struct

NOT_ECT, ECT1, ECT0, CE = range(4)
ALL = {"green_min": 0, "green_max": 0}  # every ECT packet is marked


def marked(frame):
    """The frame with CE, its checksum made anew."""
    at = l3_offset(frame)
    ip = bytearray(frame[at:])
    if frame[at - 2:at] == b"\x86\xdd":
        ip[1] |= 0x30
    else:
        ip[1] |= 3
        ip[10:12] = b"\0\0"
        size = (ip[0] & 0xF) * 4
        ip[10:12] = struct.pack(">H", checksum(bytes(ip[:size])))
    return frame[:at] + bytes(ip)


def spaced(frames):
    return [(1000 * n, frame) for n, frame in enumerate(frames)]


def cnp(dscp, ecn=ECT0):
    """A congestion notification packet; its ICRC does not matter to a switch."""
    bth = bytes.fromhex("8100ffff40000118000000000000000000000000") + bytes(16)
    return ethernet(ipv4(udp(bth, dport=4791), dscp=dscp, ecn=ecn), 0x0800)


class Marks(loopback.Case):
    def switch(self, hosts=2, **wred):
        switch = Switch(self, hosts=hosts)
        switch.section("wred.test", **(wred or ALL))
        for n in range(hosts):
            for queue in (0, 3):
                switch.section(f"port.h{n}.queue.{queue}", wred="test")
        return switch

    def test_ect_becomes_ce_and_nothing_else_changes(self):
        switch = self.switch()
        frames = []
        for ecn in (ECT0, ECT1):
            for size in (60, 700, 1514, 2100, 4500, 9000):  # several mbufs from 2048 bytes on
                frames.append(plain(size, ecn=ecn, dscp=26))
                frames.append(plain(size, ecn=ecn, dscp=26, options=bytes(range(1, 9))))
                frames.append(plain(size, ecn=ecn, dscp=26, tags=((0x8100, 5), (0x88A8, 7))))
                frames.append(plain6(max(size, 62), traffic_class=26 << 2 | ecn))
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.frames_equal(out.frames["h1"], [marked(routed(frame, 1)) for frame in frames])
        queue = out.port("h1")["queues"][3]
        self.assertEqual(queue["ecn_marked_packets"], len(frames))
        self.assertEqual(queue["ect_packets"], len(frames))
        self.assertEqual(queue["non_ect_packets"], 0)
        self.assertEqual(out.port("h0")["ce_arrived_packets"], 0)

    def test_tagged_next_hops_are_marked_behind_the_tag(self):
        switch = self.switch()
        for address in ("10.0.1.2", "2001:db8:1::2"):
            switch.neighbor_keys(address, vlan=100)
        frames = [plain(100, ecn=ECT0, dscp=26), plain6(100, traffic_class=26 << 2 | ECT1), plain(9000, ecn=ECT1, dscp=26)]
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.frames_equal(out.frames["h1"], [marked(routed(frame, 1, tag=3 << 13 | 100)) for frame in frames])

    def test_not_ect_and_ce_pass_a_lossless_queue_as_they_are(self):
        switch = self.switch()
        frames = [make(200, **keys) for _ in range(5) for make, keys in (
            (plain, {"ecn": NOT_ECT, "dscp": 26}), (plain, {"ecn": CE, "dscp": 26}),
            (plain6, {"traffic_class": 26 << 2}), (plain6, {"traffic_class": 26 << 2 | CE}))]
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.frames_equal(out.frames["h1"], [routed(frame, 1) for frame in frames])
        queue = out.port("h1")["queues"][3]
        self.assertEqual(queue["ecn_marked_packets"], 0)
        self.assertEqual((queue["ect_packets"], queue["non_ect_packets"]), (10, 10))
        self.assertEqual(queue["colours"]["green"], {
            "passed_packets": 20, "marked_packets": 0, "dropped_packets": 0, "ce_arrived_packets": 10})
        self.assertEqual(out.port("h0")["ce_arrived_packets"], 10)
        self.assertEqual(out.report["lossless"], True)

    def test_not_ect_of_a_lossy_queue_is_dropped_by_its_curve(self):
        """One frame of 1000 bytes goes past its own empty queue; the next find it above the step."""
        switch = self.switch(green_min=1, green_max=1)
        switch.event("0ns", "queue h1.0 hold")
        switch.event("1ms", "queue h1.0 release")
        frames = [plain(1000, ecn=NOT_ECT, identification=n) for n in range(5)] + [plain(1000, ecn=ECT0)]
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.assertEqual(out.drops("h0"), {"wred_drop": 4})
        # The ECT one leaves nothing behind, so it is not marked.
        self.frames_equal(out.frames["h1"], [routed(frame, 1) for frame in (frames[0], frames[5])])
        queue = out.port("h1")["queues"][0]
        self.assertEqual((queue["wred_dropped_packets"], queue["dropped_packets"], queue["ecn_marked_packets"]), (4, 4, 0))
        self.assertEqual(out.report["lossless"], True)  # a lossy class lost them

    def test_plain_red_drops_ect_of_a_lossy_queue_as_others(self):
        """ecn = false: nothing is marked; a lossless queue drops nothing, and the CE of others stays."""
        frames = [plain(1000, ecn=ecn, dscp=dscp, identification=n)
                  for n, (dscp, ecn) in enumerate((dscp, ecn) for dscp in (0, 26) for ecn in (NOT_ECT, ECT0, ECT1, CE, ECT0))]
        switch = self.switch(green_min=1, green_max=1, ecn=False)
        for queue in (0, 3):
            switch.event("0ns", f"queue h1.{queue} hold")
            switch.event("1ms", f"queue h1.{queue} release")
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.assertEqual(out.drops("h0"), {"wred_drop": 4})
        self.assertEqual(sorted(frame.bytes for frame in out.frames["h1"]), sorted(routed(frame, 1) for frame in frames[:1] + frames[5:]))
        queues = out.port("h1")["queues"]
        self.assertEqual([(queues[n]["wred_dropped_packets"], queues[n]["ecn_marked_packets"]) for n in (0, 3)], [(4, 0), (0, 0)])
        self.assertIn("wred.test has ecn = false, and a lossless queue drops nothing", out.stderr)

    def test_roce_keeps_its_icrc(self):
        switch = self.switch()
        switch.recipe(flow("roce", count=300, size="random 90..4000", ecn="ect0"), flow("roce", count=50, ecn="ect1", sender="h1", to="h0"))
        out = switch.run()
        seen = verify(sorted((switch.folder / "out").glob("*.pcap")))
        self.assertEqual((seen["roce"], seen["icrc_good"], seen["ce"]), (350, 350, 350))
        self.assertEqual(out.port("h1")["queues"][3]["ecn_marked_packets"], 300)

    def test_the_default_profile_grows_with_the_speed(self):
        """linear at 25G: 100/400 KB; a burst of 500 KB is marked where it leaves 400 KB and more behind."""
        switch = Switch(self, hosts=2)
        switch.port("h1", speed="25G")
        switch.event("0ns", "queue h1.3 hold")
        switch.event("1ms", "queue h1.3 release")
        frames = [plain(1024, ecn=ECT0, dscp=26, identification=n) for n in range(500)]
        switch.give("h0", [(90 * n, frame) for n, frame in enumerate(frames)])
        out = switch.run()
        ce = [frame.bytes[15] & 3 == CE for frame in out.frames["h1"]]
        certain = 400_000 // 1024 + 1  # left behind from which all are marked
        self.assertTrue(all(ce[:500 - certain]))
        self.assertFalse(any(ce[500 - 100_000 // 1024 - 1:]))
        self.assertTrue(5 < sum(ce[500 - certain:]) < 60)


class Cnps(loopback.Case):
    def test_go_first_unmarked_and_unpaused_whatever_their_dscp(self):
        switch = Switch(self, hosts=2)
        switch.section("wred.test", **ALL)
        for queue in range(8):
            switch.section(f"port.h1.queue.{queue}", wred="test")
        switch.port("h1", pfc_mode="asymmetric")
        # The peer of h1 pauses all eight priorities for 335 us.
        pause = bytes.fromhex("0180c2000001" "020000000001" "8808" "0101" "00ff" + "ffff" * 8).ljust(60, b"\0")
        switch.give("h1", [(0, pause)])
        frames = [cnp(dscp) for dscp in (0, 26, 48, 63)]
        switch.give("h0", spaced([plain(1000, ecn=ECT0, dscp=26)] * 20 + frames))
        out = switch.run()
        self.frames_equal([frame.bytes for frame in out.frames["h1"]][:4], [routed(frame, 1) for frame in frames])
        port = out.port("h1")
        self.assertEqual(port["queues"][6]["tx_packets"], 4)
        self.assertEqual(port["queues"][6]["ecn_marked_packets"], 0)
        self.assertEqual(port["pfc"]["rx_unexpected"][6], 1)
        self.assertEqual(port["cnp_latency_ns"], {"p50": 0, "p99": 0, "p999": 0, "max": 0})
        self.assertEqual(out.port("h0")["cnp_packets"], 4)
        self.assertGreater(out.port("h0")["cnp_per_s"], 0)
        self.assertEqual(port["queues"][3]["tx_packets"], 20)
        self.assertGreater(port["queues"][3]["latency_ns"]["max"], 300_000)


class Refusals(loopback.Case):
    def test_wrong_profiles(self):
        for keys, words in (
                ({"green_probability": 101}, ["wred.test.green_probability", "0 to 100"]),
                ({"green_probability": -1}, ["wred.test.green_probability"]),
                ({"weight": 16}, ["wred.test.weight"]),
                ({"mark_at": "exit"}, ["wred.test.mark_at", "dequeue"]),
                ({"mark_at": "sojourn"}, ["wred.test.sojourn_max", "needs it"]),
                ({"green_min": 20, "green_max": 10}, ["wred.test.green_min", "20", "10"]),
                ({"blue_min": 20}, ["wred.test", "blue_min"])):
            with self.subTest(keys):
                switch = Switch(self, hosts=2)
                switch.section("wred.test", **keys)
                switch.section("port.h1.queue.3", wred="test")
                switch.refused(2, *words)

    def test_an_unknown_profile_is_named_with_those_there_are(self):
        switch = Switch(self, hosts=2)
        switch.section("port.h1.queue.3", wred="dcqcn")
        switch.refused(2, "port.h1.queue.3.wred", "dcqcn", "linear, steep, sonic, none")


if __name__ == "__main__":
    loopback.main()
