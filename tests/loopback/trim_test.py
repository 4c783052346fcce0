#!/usr/bin/python3
"""Packet trimming: the headers of a packet that its queue refuses go on, byte for byte, and every packet is accounted for.

Port h1 holds its queues at first, so what finds room is exact: whole frames wait in queue 3, trimmed ones in queue 5, which is
released before queue 3.
"""

import json
import struct

import loopback
from drops_test import spaced
from ecn_test import cnp
from frames import checksum, l3_offset, plain, plain6, routed
from loopback import Case, Switch

CELL = 256
DATA, TRIMMED, CONTROL = 26, 11, 48  # DSCPs
FULL = 4  # frames of 1000 bytes that find room


def short(frame, size=128, dscp=TRIMMED, traffic_class=5):
    """A frame that has left the switch, as it leaves trimmed; its checksum made anew."""
    at = l3_offset(frame)
    left = bytearray(frame[:size])
    room = len(left) - at
    if at > 14:
        left[14] = left[14] & 0x1F | traffic_class << 5
    if left[at] >> 4 == 6:
        word, length = struct.unpack_from(">IH", left, at)
        struct.pack_into(">IH", left, at, word & ~(0x3F << 22) | dscp << 22, min(length, room - 40))
        return bytes(left)
    left[at + 1] = dscp << 2 | left[at + 1] & 3
    struct.pack_into(">H", left, at + 2, min(struct.unpack_from(">H", left, at + 2)[0], room))
    header = (left[at] & 0xF) * 4
    left[at + 10:at + 12] = b"\0\0"
    left[at + 10:at + 12] = struct.pack(">H", checksum(bytes(left[at:at + header])))
    return bytes(left)


def numbered(count, **keys):
    return [plain(1000, dscp=DATA, identification=n, **keys) for n in range(count)]


class Trim(Case):
    def switch(self, frames, room=50, data_cells=4 * FULL, trimming=None, queue=None, **keys):
        """h0 sends `frames` to h1, which holds them; `room`: short forms of a cell that find some."""
        switch = Switch(self, hosts=2, **keys)
        switch.default(qos="lossy-trim", peer="ignore", mtu=9216)
        if trimming:
            switch.section("trimming", **trimming)
        switch.section("port.h1.queue.3", size=0, static_th=data_cells * CELL, **(queue or {}))
        switch.section("port.h1.queue.5", size=0, static_th=room * CELL)
        switch.give("h0", spaced(frames))
        for number, at in ((5, "900us"), (3, "1ms")):
            switch.event("0ns", f"queue h1.{number} hold")
            switch.event(at, f"queue h1.{number} release")
        return switch

    def counted(self, part):
        return tuple(part[f"{kind}_packets"] for kind in ("trimmed", "trim_sent", "trim_dropped"))

    def sent(self, out, wanted):
        self.frames_equal(out.frames["h1"], wanted)

    def test_a_hundred_refused_are_fifty_sent_and_fifty_dropped(self):
        frames = numbered(FULL + 100)
        out = self.switch(frames).run()
        whole = [routed(frame, 1) for frame in frames]
        self.sent(out, [short(frame) for frame in whole[FULL:FULL + 50]] + whole[:FULL])
        self.assertEqual(out.drops("h0"), {"queue_limit": 100, "trim_limit": 50})
        self.assertEqual(out.report["ledger"]["generated"], 100)
        port = out.port("h1")
        self.assertEqual(self.counted(out.report), (100, 50, 50))
        self.assertEqual(self.counted(port), (100, 50, 50))
        self.assertEqual(self.counted(port["queues"][3]), (100, 50, 50))
        self.assertEqual([(port["queues"][n]["dropped_packets"], port["queues"][n]["tx_packets"]) for n in (3, 5)], [(100, FULL), (50, 50)])
        self.assertNotIn("trimmed_packets", port["queues"][5])
        self.assertNotIn("trimmed_packets", out.port("h0")["queues"][0])
        self.assertEqual(out.report["verdict"]["lost_packets"], 0)  # nothing was lossless

    def test_nothing_is_trimmed_while_there_is_room(self):
        frames = numbered(FULL)
        out = self.switch(frames).run()
        self.sent(out, [routed(frame, 1) for frame in frames])
        self.assertEqual(self.counted(out.report), (0, 0, 0))

    def test_drop_is_drop(self):
        for keys in ({"queue": {"on_full": "drop"}}, {"trimming": {"trimmable_dscp": [0]}}, {"trimming": {"trimmable_dscp": []}}):
            frames = numbered(FULL + 10)
            out = self.switch(frames, **keys).run()
            self.sent(out, [routed(frame, 1) for frame in frames[:FULL]])
            self.assertEqual(out.drops(), {"queue_limit": 10})

    def test_every_size_of_both_versions_with_and_without_a_tag(self):
        """Frames lie in packet buffers of 768 bytes, and a tag makes some longer than what was charged for them."""
        full = plain(4000, dscp=DATA)
        sizes = (62, 100, 127, 128, 129, 500, 767, 768, 769, 1024, 1025, 1500, 9000)
        others = [frame for size in sizes for frame in (plain(size, dscp=DATA, ecn=1), plain6(size, traffic_class=DATA << 2 | 2))]
        for size in (64, 94, 128, 256, 700, 768, 769, 1024):
            for tag in (None, 100):
                with self.subTest(size=size, tag=tag):
                    switch = self.switch([full] + others, data_cells=16, room=1000, trimming={"size": size})
                    for address in ("10.0.1.2", "2001:db8:1::2") if tag else ():
                        switch.neighbor_keys(address, vlan=tag)
                    out = switch.run()
                    wanted = [routed(frame, 1, tag=tag and 3 << 13 | tag) for frame in others]
                    self.sent(out, [short(frame, size) for frame in wanted] + [routed(full, 1, tag=tag and 3 << 13 | tag)])
                    self.assertEqual(self.counted(out.report), (len(others), len(others), 0))

    def test_options_stay_with_their_header(self):
        frames = [plain(1000, dscp=DATA), plain(1000, dscp=DATA, options=bytes([1] * 40))]
        out = self.switch(frames, data_cells=4, trimming={"size": 64}).run()
        self.sent(out, [short(routed(frames[1], 1), 14 + 60), routed(frames[0], 1)])

    def test_control_and_trimmed_packets_are_dropped(self):
        """All come in class 3, whatever their DSCP."""
        full = numbered(FULL)
        never = [plain(1000, dscp=dscp) for dscp in (TRIMMED, 20, CONTROL, 56)] + [cnp(DATA), cnp(0)]
        usual = plain(1000, dscp=0)
        switch = self.switch(full + never + [usual])
        switch.port("h0", trust="port", default_tc=3)
        switch.port("h1", trim_dscp=20)
        switch.section("map.default", cnp_tc="dscp", dscp_to_tc={"20": 5, "11": 5, "26": 3, "0": 0})
        out = switch.run()
        self.sent(out, [short(routed(usual, 1), dscp=20)] + [routed(frame, 1) for frame in full])
        self.assertEqual(out.drops(), {"queue_limit": len(never) + 1})
        self.assertEqual(self.counted(out.report), (1, 1, 0))

    def test_the_last_hop_may_have_a_dscp_of_its_own(self):
        frames = numbered(FULL + 1)
        switch = self.switch(frames)
        switch.section("map.default", dscp_to_tc={"20": 5, "11": 5, "26": 3, "0": 0})
        switch.port("h1", trim_dscp=20)
        out = switch.run()
        self.sent(out, [short(routed(frames[-1], 1), dscp=20)] + [routed(frame, 1) for frame in frames[:FULL]])

    def test_a_queue_by_number(self):
        frames = numbered(FULL + 3)
        out = self.switch(frames, trimming={"queue": 2}).run()
        self.assertEqual([out.port("h1")["queues"][n]["tx_packets"] for n in (2, 3, 5)], [3, FULL, 0])
        self.sent(out, [short(routed(frame, 1)) for frame in frames[FULL:]] + [routed(frame, 1) for frame in frames[:FULL]])

    def test_an_ingress_limit_drops(self):
        """SAI's action is the queue's."""
        frames = numbered(FULL + 10)
        switch = self.switch(frames, data_cells=100)
        switch.section("port.h0.priority_group.3", size=0, static_th=4 * FULL * CELL)
        out = switch.run()
        self.assertEqual(out.drops(), {"ingress_limit": 10})
        self.assertEqual(self.counted(out.report), (0, 0, 0))

    def test_the_cells_of_what_was_cut_come_back(self):
        """While the short forms wait, h0's group holds a cell for each, and takes as much more."""
        frames = numbered(FULL + 100)
        switch = self.switch(frames)
        switch.section("port.h0.priority_group.3", size=0, static_th=(4 * FULL + 50 + 4) * CELL)
        out = switch.run()
        self.assertEqual(out.drops(), {"queue_limit": 100, "trim_limit": 50})
        self.assertEqual(out.port("h0")["priority_groups"][3]["shared_watermark_bytes"], (4 * FULL + 50 + 4) * CELL)

    def test_any_number_of_workers_gives_the_same_bytes(self):
        frames = numbered(40) + [plain6(9000, traffic_class=DATA << 2) for _ in range(40)]
        for turn in ("0ns", "500ns", "5us"):
            def raw(workers):
                switch = self.switch(frames, room=20, workers=workers)
                switch.section("virtual", turn=turn)
                out = switch.run()
                self.assertGreater(min(self.counted(out.report)), 10)
                report = json.loads(out.raw["report"])
                del report["configuration"]
                return report, out.raw["h1"]
            self.assertEqual(raw(1), raw(2))

    def test_records_and_mirrors_have_the_whole_frame(self):
        frames = numbered(FULL + 3)
        switch = self.switch(frames, room=2)
        decisions = switch.folder / "decisions.jsonl"
        out = switch.run("--decisions", decisions)
        lines = [json.loads(line) for line in decisions.read_text().splitlines()]
        dropped = [line for line in lines if line["verdict"] == "dropped"]
        self.assertEqual([(line["sequence"], line["drop"]["reason"], line["drop"]["trimmed"]) for line in dropped],
                         [(FULL + n, "queue_limit", {"bytes": 128, "queue": 5, "sent": n < 2}) for n in range(3)])
        self.assertIn("did not fit; its first 128 bytes went on by queue h1.5", dropped[0]["drop"]["why"])
        self.assertIn("did not fit; its first 128 bytes found no room in queue h1.5", dropped[2]["drop"]["why"])
        self.assertEqual((len(lines), out.report["decisions"]["given_up"]), (FULL + 3, 0))
        self.assertEqual(len([line for line in lines if line["verdict"] == "sent"]), FULL)
        bare = self.switch(frames, room=2).run()
        self.assertEqual(out.raw["h1"], bare.raw["h1"])

    def test_simulated_hosts_that_describe_their_payload(self):
        def report(payload):
            switch = Switch(self, hosts=0)
            switch.section("default", qos="lossy-trim", mtu=4200)
            for n in range(3):
                switch.roce_host(f"h{n}", cc="none", mtu=4096, payload=payload, ack_dscp=CONTROL)
            switch.section("port.h2.queue.3", size=0, static_th=40_000)
            switch.section("trimming", size=256)
            switch.flow_of_hosts(["h0", "h1"], "h2", message="64KB", messages=20, depth=4)
            out = switch.run("--duration", "20ms", balanced=False).report
            self.assertEqual(out["ledger"]["balanced"], True)
            self.assertGreater(out["trim_sent_packets"], 100)
            del out["configuration"]
            return out
        self.assertEqual(report("carried"), report("described"))


class Refusals(Case):
    def refused(self, sections, *words):
        switch = Switch(self, hosts=2)
        for header, keys in sections.items():
            switch.section(header, **keys)
        switch.refused(2, *words)

    def test_what_cannot_be(self):
        trim = {"port.h1.queue.3": {"on_full": "trim"}}
        lossy = {"default": {"qos": "lossy"}}
        known = {"trimming": {"dscp": 11}, "map.default": {"dscp_to_tc": {"11": 5, "26": 3}}}
        self.refused({**trim, **known}, "port.h1.queue.3.on_full: queue 3 is lossless", "[trim-lossless]", 'write on_full = "drop"')
        self.refused({**lossy, **trim}, "trimming.dscp: queues trim, and trimmed packets have no DSCP", "[trim-dscp]", "write dscp = 11")
        self.refused({**lossy, **known, "port.h1.queue.5": {"on_full": "trim"}}, "port.h1.queue.5.on_full", "takes the trimmed packets",
                     "[trim-own-queue]")
        for dscp, word in ((48, "network control"), (11, "trimmed ones")):
            self.refused({**lossy, **trim, **known, "trimming": {"dscp": 11, "trimmable_dscp": [26, dscp]}}, "trimming.trimmable_dscp",
                         word, "[trim-never]", f"leave {dscp} out")
        for key, value in (("size", 63), ("size", 1025), ("dscp", 64), ("queue", 8), ("trimmable_dscp", [64])):
            self.refused({**lossy, "trimming": {key: value}}, f"trimming.{key}", "allowed")
        self.refused({**lossy, "port.h1.queue.3": {"on_full": "cut"}}, "port.h1.queue.3.on_full", '"drop"', '"trim"')


if __name__ == "__main__":
    loopback.main()
