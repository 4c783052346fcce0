#!/usr/bin/python3
"""SONiC's test plan of packet trimming, case by case, with its numbers: github.com/sonic-net/sonic-mgmt, docs/testplan/
Packet_Trimming_Testplan.md. conf/scenarios/README.md says what is another thing here.

h0 is its tester, h1 and h2 are its Ethernet0 and Ethernet4. Its congestion, a scheduler of 1 byte/s, is a queue that is held.
"""

import struct

import loopback
from client import Refused
from drops_test import extension, spaced
from frames import ethernet, ipv4, ipv6, plain, plain6, routed, udp
from loopback import Case, Switch
from trim_test import CELL, short

SIZE, DSCP, QUEUE = 256, 48, 6  # config switch-trimming global --size 256 --dscp 48 --queue 6
FULL = 4  # frames of 1500 bytes that a queue takes
FRAME_CELLS = 6
EGRESS = ("h1", "h2")


def tcp(size):
    return struct.pack(">HHIIBBHHH", 1000, 80, 1, 2, 5 << 4, 0x10, 1024, 0, 0) + bytes(size)


class Plan(Case):
    def switch(self, queues=(0,), hold=True, size=SIZE, dscps=(DSCP,), **keys):
        """`queues` trim, take FULL frames, and are held; traffic class n leaves by queue n. `dscps`: of h1 and of h2."""
        switch = Switch(self, hosts=3, **keys)
        switch.default(qos="lossy", peer="ignore")
        switch.section("trimming", size=size, dscp=dscps[0], queue=QUEUE)
        switch.section("map.default", cnp_tc=7, dscp_to_tc={str(n): n for n in range(6)} | {str(dscp): QUEUE for dscp in (DSCP, *dscps)})
        for port, dscp in zip(EGRESS, dscps * (2 // len(dscps))):
            switch.port(port, trim_dscp=dscp)
            for queue in queues:
                switch.section(f"port.{port}.queue.{queue}", size=0, static_th=FULL * FRAME_CELLS * CELL, on_full="trim")
                if hold:
                    switch.event("0ns", f"queue {port}.{queue} hold")
        return switch

    def fill(self, dscp=0, to=1):
        return [plain(1500, to=to, dscp=dscp)] * FULL

    def counted(self, part):
        return tuple(part[f"{kind}_packets"] for kind in ("trimmed", "trim_sent", "trim_dropped"))

    def trimmed(self, out, wanted, port=1):
        """The frames that left by queue 6, which is the only one that is not held."""
        self.frames_equal(out.frames[f"h{port}"], wanted)

    def run_held(self, switch, **keys):
        return switch.run("--duration", "10ms", **keys)

    def test_case_1_configuration(self):
        switch = self.switch()
        shown = []
        switch.run("--interactive", balanced=False, script=lambda client: shown.extend(
            client.call("config.get", path=f"trimming.{key}")["value"] for key in ("size", "dscp", "queue")))
        self.assertEqual(shown, [f'"{SIZE}B"', str(DSCP), str(QUEUE)])
        for key, wrong in (("size", 63), ("size", 1025), ("dscp", -1), ("dscp", 64), ("queue", -1), ("queue", 8)):
            switch = self.switch()
            switch.sections["trimming"][key] = wrong
            switch.refused(2, f"trimming.{key}")

    def test_case_2_size(self):
        for made in (ipv4(udp(bytes(1458))), ipv4(tcp(1446), protocol=6), ipv6(udp(bytes(1438))), ipv6(tcp(1426), following=6)):
            frame = ethernet(made, 0x86DD if made[0] >> 4 == 6 else 0x0800)
            self.assertEqual(len(frame), 1500)
            switch = self.switch()
            switch.give("h0", spaced(self.fill() + [frame] * 100))
            out = self.run_held(switch)
            self.trimmed(out, [short(routed(frame, 1), SIZE, DSCP)] * 100)  # TTL and checksum, too
            self.assertEqual((out.port("h1")["queues"][0]["dropped_packets"], out.port("h1")["queues"][6]["tx_bytes"]), (100, 100 * SIZE))
        # The plan has 4084 bytes of 5000 here.
        jumbo = plain(5000)
        switch = self.switch(size=1024)
        switch.give("h0", spaced(self.fill() + [jumbo] * 100))
        self.trimmed(self.run_held(switch), [short(routed(jumbo, 1), 1024, DSCP)] * 100)

    def test_case_3_dscp(self):
        large, small = plain(1500), plain(100)
        switch = self.switch()
        switch.give("h0", spaced(self.fill() + [large, small]))
        out = self.run_held(switch)
        self.trimmed(out, [short(routed(frame, 1), SIZE, DSCP) for frame in (large, small)])
        self.assertEqual([len(frame.bytes) for frame in out.frames["h1"]], [256, 100])
        # Asymmetric, and queues that are not congested.
        switch = self.switch(dscps=(10, 20))
        frames = [frame for to in (1, 2) for frame in [*self.fill(to=to), plain(1500, to=to), plain(1500, to=to, dscp=1)]]
        switch.give("h0", spaced(frames))
        out = self.run_held(switch)
        for port, dscp in ((1, 10), (2, 20)):
            self.trimmed(out, [short(routed(plain(1500, to=port), port), SIZE, dscp), routed(plain(1500, to=port, dscp=1), port)], port)

    def test_case_4_buffer_models(self):
        for limit in ({"static_th": FULL * FRAME_CELLS * CELL}, {"dynamic_th": -4}):
            switch = self.switch()
            for port in EGRESS:
                switch.section(f"port.{port}.queue.0", size=0, on_full="trim", **limit)
            switch.give("h0", spaced([plain(1500)] * 200))
            out = self.run_held(switch)
            queue = out.port("h1")["queues"][0]
            self.assertEqual(queue["occupancy_packets"] + queue["trimmed_packets"], 200)
            self.assertGreater(queue["trimmed_packets"], 10)
            self.trimmed(out, [short(routed(plain(1500), 1), SIZE, DSCP)] * queue["trimmed_packets"])

    def test_case_5_ports_and_groups(self):
        """A group of two next hops stands for the plan's port channel."""
        switch = self.switch()
        switch.route("10.9.0.0/16", "10.0.1.2", "10.0.2.2")
        frames = [plain(1500, to="10.9.0.1", sport=n) for n in range(200)]
        switch.give("h0", spaced(frames))
        out = self.run_held(switch)
        left = [self.counted(out.port(port)) for port in EGRESS]
        self.assertEqual([trimmed - sent for trimmed, sent, _ in left], [0, 0])
        self.assertEqual(sum(trimmed for trimmed, _, _ in left), 200 - 2 * FULL)
        self.assertGreater(min(left)[0], 50)

    def test_case_6_lossless_queues(self):
        """The plan sends trimmed packets by a lossless queue; here that is refused, as is to trim in one."""
        switch = self.switch()
        switch.sections["default"].update(qos="lossless", pfc=[4], peer="obey")
        switch.sections["trimming"]["queue"] = 4
        self.assertIn("trimming.queue: queue 4 of h1 is lossless", switch.run(status=2).stderr)
        switch.sections["trimming"]["queue"] = QUEUE
        switch.give("h0", spaced([frame for _ in range(50) for frame in (plain(1500), plain(1500, dscp=4))]))
        out = self.run_held(switch)
        self.assertEqual((out.report["lossless"], out.port("h1")["queues"][4]["tx_packets"]), (True, 50))
        self.assertEqual(self.counted(out.report), (50 - FULL, 50 - FULL, 0))

    def test_case_7_packets_that_are_not_to_be_trimmed(self):
        """By DSCP; the plan names them by source, in an ACL."""
        frames = [frame for dscp in (0, 1) for frame in [plain(1500, dscp=dscp)] * 100]
        for trimmable, wanted in (([0], [0] * 100), ("all", [0] * 100 + [1] * 100)):
            switch = self.switch()
            switch.sections["map.default"]["dscp_to_tc"]["1"] = 0
            switch.sections["trimming"]["trimmable_dscp"] = trimmable
            switch.give("h0", spaced(self.fill() + frames))
            out = self.run_held(switch)
            self.trimmed(out, [short(routed(plain(1500, dscp=dscp), 1), SIZE, DSCP) for dscp in wanted])
            self.assertEqual(out.drops(), {"queue_limit": 200})

    def test_case_8_persistence(self):
        switch = self.switch(dscps=(10, 20))
        switch.give("h0", spaced(self.fill() + [plain(1500)] * 100))
        saved = []
        switch.run("--interactive", balanced=False, script=lambda client: saved.append(client.call("config.get")["toml"]))
        self.assertEqual(self.run_held(switch, config=saved[0]).raw["h1"], self.run_held(switch).raw["h1"])

    def test_case_9_ports_that_go_down_and_up(self):
        switch = self.switch()
        frames = []
        for n in range(10):
            at = 100_000 * n
            frames += [(at + 1000 + 1000 * k, frame) for k, frame in enumerate(self.fill() + [plain(1500, identification=n)] * 10)]
            switch.event(f"{at + 50_000}ns", "port h1 down")
            switch.event(f"{at + 60_000}ns", "port h1 up")
        switch.give("h0", frames)
        out = self.run_held(switch)
        self.trimmed(out, [short(routed(plain(1500, identification=n), 1), SIZE, DSCP) for n in range(10) for _ in range(10)])
        self.assertEqual(out.drops(), {"queue_limit": 100, "link_down": 10 * FULL})

    def test_case_10_toggles(self):
        switch = self.switch()
        frames = [(1000 + 1000 * k, plain(1500, identification=k)) for k in range(FULL + 200)]
        for n in range(20):
            switch.event(f"{1000 * (FULL + 10 * n) - 500}ns", f"set port.h1.queue.0.on_full {'drop' if n % 2 else 'trim'}")
        switch.give("h0", frames)
        out = self.run_held(switch)
        trimmed = [k for k in range(200) if k // 10 % 2 == 0]
        self.trimmed(out, [short(routed(frames[FULL + k][1], 1), SIZE, DSCP) for k in trimmed])
        self.assertEqual((self.counted(out.report), out.drops()), ((100, 100, 0), {"queue_limit": 200}))

    def test_case_11_a_segment_routing_header(self):
        """The switch routes it as any IPv6 packet: the header stays, and the outer DSCP is the new one; SHIFT and DECAP are not there."""
        inner = ipv6(udp(bytes(1200)), traffic_class=1 << 2)
        header = extension(41, 24)  # to IPv6 in IPv6
        frame = ethernet(ipv6(header + inner, following=43), 0x86DD)
        switch = self.switch()
        switch.give("h0", spaced(self.fill() + [frame] * 100))
        out = self.run_held(switch)
        self.trimmed(out, [short(routed(frame, 1), SIZE, DSCP)] * 100)
        self.assertEqual(out.frames["h1"][0].bytes[78:80], inner[:2])

    def test_case_12_changes_together(self):
        switch = self.switch()
        values = {}

        def script(client):
            def value(key):
                return client.call("config.get", path=f"trimming.{key}")["value"]
            client.call("config.change", changes=[{"path": "trimming.size", "value": 128}, {"path": "trimming.dscp", "value": 10},
                                                  {"path": "map.default.dscp_to_tc", "value": '{"10" = 6, "48" = 6}'}])
            values["changed"] = value("size"), value("dscp")
            for wrong in ([{"path": "trimming.size", "value": 300}, {"path": "trimming.dscp", "value": 64}],
                          [{"path": "trimming.size", "value": 300}, {"path": "trimming.trimmable_dscp", "value": [48]}]):
                with self.assertRaises(Refused):
                    client.call("config.change", changes=wrong)
            values["kept"] = value("size"), value("dscp")
        switch.run("--interactive", balanced=False, script=script)
        self.assertEqual(values["changed"], values["kept"])
        self.assertEqual(values["kept"], ('"128B"', "10"))

    def test_case_13_counters(self):
        """Steps 4 to 12, in one run: queue 1 and 2 of h1, queue 1 of h2, and that again while queue 6 of h2 is blocked."""
        switch = self.switch(queues=(1, 2))
        frames = [frame for dscp, to in ((1, 1), (2, 1), (1, 2)) for frame in self.fill(dscp, to) + [plain(1500, dscp=dscp, to=to)] * 100]
        blocked = [plain(64, dscp=DSCP, to=2)] + [plain(1500, dscp=1, to=2)] * 100
        switch.give("h0", spaced(frames) + [(1_000_000 + 2000 * n, frame) for n, frame in enumerate(blocked)])
        switch.section("port.h2.queue.6", size=0, static_th=CELL)
        switch.event("900us", "queue h2.6 hold")
        out = self.run_held(switch)
        queues = {(port, n): self.counted(out.port(port)["queues"][n]) for port in EGRESS for n in (1, 2)}
        self.assertEqual(queues, {("h1", 1): (100, 100, 0), ("h1", 2): (100, 100, 0), ("h2", 1): (200, 100, 100), ("h2", 2): (0, 0, 0)})
        self.assertEqual([self.counted(out.port(port)) for port in EGRESS], [(200, 200, 0), (200, 100, 100)])
        self.assertEqual(self.counted(out.report), (400, 300, 100))
        self.assertEqual([out.port("h2")["queues"][n]["dropped_packets"] for n in (1, 6)], [200, 100])
        self.assertEqual(out.drops(), {"queue_limit": 400, "trim_limit": 100})


if __name__ == "__main__":
    loopback.main()
