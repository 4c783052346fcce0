#!/usr/bin/python3
"""Where frames go, and what they look like when they leave."""

import collections

import loopback
from frames import plain, plain6, routed
from loopback import Switch, flow, gateway_mac, mac


def spaced(frames, start_ns=0, gap_ns=2000):
    return [(start_ns + gap_ns * n, frame) for n, frame in enumerate(frames)]


class Rewrite(loopback.Case):
    def test_ttl_macs_and_checksum_for_every_ttl(self):
        switch = Switch(self, hosts=2)
        frames = [plain(60 + ttl, ttl=ttl, dscp=ttl % 64, ecn=ttl % 4, identification=ttl * 257) for ttl in range(2, 256)]
        frames += [plain6(62 + hops, hops=hops, traffic_class=hops) for hops in range(2, 256)]
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.frames_equal(out.frames["h1"], [routed(frame, 1) for frame in frames])

    def test_tags_come_off_and_the_next_hop_sets_its_own(self):
        """PCP is the traffic class; two, one and no tags come in, one or none leaves, so the frame grows and shrinks."""
        tags = [(), [(0x8100, 0x6064)], [(0x88A8, 0x60C8), (0x8100, 0x2001)], [(0x9100, 5), (0x8100, 6)]]
        classes = {0: 0, 26: 3, 48: 6, 56: 7}
        frames = [maker(size, tags=tag, **keys(dscp)) for tag in tags for size in (90, 500, 4000)
                  for dscp in classes
                  for maker, keys in ((plain, lambda d: {"dscp": d}), (plain6, lambda d: {"traffic_class": d << 2}))]
        dscps = [dscp for _ in tags for _ in range(3) for dscp in classes for _ in range(2)]
        for vlan in (None, 1, 100, 4094):
            switch = Switch(self, hosts=2)
            if vlan is not None:
                for address in ("10.0.1.2", "2001:db8:1::2"):
                    switch.neighbor_keys(address, vlan=vlan)
            switch.give("h0", spaced(frames))
            out = switch.run()
            tci = [None if vlan is None else classes[dscp] << 13 | vlan for dscp in dscps]
            self.frames_equal(out.frames["h1"], [routed(frame, 1, tag=tag) for frame, tag in zip(frames, tci)])

    def test_every_size_to_jumbo(self):
        """Across the 2048 bytes of one packet buffer, and as long as the switch takes."""
        sizes = [*range(60, 70), *range(2040, 2056), *range(4090, 4102), *range(6140, 6148), *range(8188, 8196), 9216, 9230]
        tags = [(0x8100, 0x6001), (0x8100, 2)]
        frames = [plain(size) for size in sizes] + [plain(9238, tags=tags), plain6(9230), plain6(9238, tags=tags)]
        for vlan in (None, 7):
            switch = Switch(self, hosts=2)
            switch.default(mtu=9216)
            for address in ("10.0.1.2", "2001:db8:1::2") if vlan else ():
                switch.neighbor_keys(address, vlan=vlan)
            switch.give("h0", spaced(frames))
            out = switch.run()
            self.frames_equal(out.frames["h1"], [routed(frame, 1, tag=vlan) for frame in frames])

    def test_mtu_is_of_the_ip_packet_at_the_egress_port(self):
        """Tags do not count, the ingress port's MTU does not matter, padding is not part of the packet."""
        switch = Switch(self, hosts=3)
        switch.port("h0", mtu=68)
        switch.port("h1", mtu=1000)
        switch.port("h2", mtu=9216)
        tags = [(0x88A8, 1), (0x8100, 2)]
        good = [plain(1014), plain(1018, tags=tags[1:]), plain(1022, tags=tags), plain6(1014), plain(1015, to=2), plain(9230, to=2)]
        bad = [plain(1015), plain(1019, tags=tags[1:]), plain6(1015), plain(9230)]
        switch.give("h0", spaced(good + bad))
        out = switch.run()
        self.assertEqual(out.drops(), {"mtu_exceeded": len(bad)})
        self.frames_equal(out.frames["h1"], [routed(frame, 1) for frame in good[:4]])
        self.frames_equal(out.frames["h2"], [routed(frame, 2) for frame in good[4:]])

    def test_a_route_leads_to_the_next_hops_mac(self):
        switch = Switch(self, hosts=2)
        switch.route("192.0.2.0/24", "10.0.1.2")
        switch.route("2001:db8:7::/48", "2001:db8:1::2")
        frames = [plain(to="192.0.2.9"), plain6(to="2001:db8:7::9")]
        switch.give("h0", spaced(frames))
        self.frames_equal(switch.run().frames["h1"], [routed(frame, 1) for frame in frames])

    def test_the_longest_prefix_wins(self):
        switch = Switch(self, hosts=5)
        for prefix, host in (("0.0.0.0/0", 1), ("192.0.0.0/8", 2), ("192.0.2.0/24", 3), ("192.0.2.128/25", 1), ("192.0.2.200/32", 4),
                             ("198.51.100.0/31", 4)):
            switch.route(prefix, f"10.0.{host}.2")
        for prefix, host in (("::/0", 1), ("2001:db8:f000::/36", 2), ("2001:db8:f000::/100", 3), ("2001:db8:f000::1/128", 4)):
            switch.route(prefix, f"2001:db8:{host}::2")
        expected = {"8.8.8.8": 1, "192.1.0.0": 2, "192.0.2.127": 3, "192.0.2.128": 1, "192.0.2.200": 4, "192.0.2.201": 1,
                    "198.51.100.1": 4, "198.51.100.2": 1, "10.0.2.2": 2,
                    "2002::1": 1, "2001:db8:ffff::1": 2, "2001:db8:f000::fff": 3, "2001:db8:f000::1": 4, "2001:db8:e000::1": 1}
        frames = [(host, plain6(to=to) if ":" in to else plain(to=to)) for to, host in expected.items()]
        switch.give("h0", spaced([frame for _, frame in frames]))
        out = switch.run()
        self.assertEqual(out.drops(), {})
        for host in range(1, 5):
            self.frames_equal(out.frames[f"h{host}"], [routed(frame, host) for to, frame in frames if to == host], host)

    def test_hairpin(self):
        """Out where it came in: between two neighbors of one port, and back to the sender."""
        switch = Switch(self, hosts=1)
        switch.neighbor("10.0.0.3", "h0", mac(7))
        frames = [plain(to="10.0.0.3"), plain(to="10.0.0.2", source="10.0.0.3")]
        switch.give("h0", spaced(frames))
        out = switch.run()
        self.frames_equal(out.frames["h0"], [routed(frames[0], 0, host=7), routed(frames[1], 0)])

    def test_icrcs_stay_valid(self):
        """All opcodes, both families, tags on and off: an ICRC covers what a router must leave alone."""
        opcodes = ["send_first", "send_last_immediate", "write_only", "read_request", "read_response_only", "ack", "atomic_ack",
                   "compare_swap"]
        flows = [flow(kind, count=60, ip_version=version, **keys) for version in (4, 6)
                 for kind, keys in (("roce", {"opcodes": opcodes, "size": "random 80..4200"}), ("cnp", {}),
                                    ("roce", {"opcodes": opcodes, "vlan": 7, "ecn": "ce"}), ("cnp", {"vlan": [7, 8]}))]
        for vlan in (None, 9):
            switch = Switch(self, hosts=2)
            for address in ("10.0.1.2", "2001:db8:1::2") if vlan else ():
                switch.neighbor_keys(address, vlan=vlan)
            switch.recipe(*flows)
            switch.run()
            found = loopback.verify([switch.folder / "out" / "h1.pcap"])
            self.assertEqual((found["icrc_good"], found["icrc_bad"], found["icrc_unchecked"], found["cnp"]), (480, 0, 0, 240))
            self.assertEqual(found["ce"], 120)


class Ecmp(loopback.Case):
    FLOWS = 2048

    def spines(self, weights=(1, 1, 1, 1), flows=None, rounds=1, gap="1us", **keys):
        """h0 and four spines h1..h4 behind one route; every flow sends once a round."""
        switch = Switch(self, hosts=1 + len(weights), **keys)
        switch.route("10.9.0.0/16", *({"address": f"10.0.{n + 1}.2", "weight": weight} for n, weight in enumerate(weights)))
        count = flows or self.FLOWS
        switch.recipe(flow("udp", to="10.9.0.1", to_mac=gateway_mac(0), sport=f"10000..{10000 + count - 1}", flows=count,
                           count=count * rounds, gap=gap, size=100), hosts=["h0"])
        return switch

    @staticmethod
    def paths(out, start_ns=0, end_ns=1 << 62):
        """Port by source port of the frames in this span of time."""
        return {int.from_bytes(frame.bytes[34:36], "big"): name for name, frames in out.frames.items() for frame in frames
                if start_ns <= frame.at_ns < end_ns}

    def test_shares_follow_the_weights(self):
        for weights in ((1, 1, 1, 1), (1, 1, 1, 2), (1, 7), (5, 1, 1)):
            switch = self.spines(weights)
            out = switch.run()
            members = out.report["ecmp"]["10.9.0.0/16"]["members"]
            for n, member in enumerate(members):
                share = weights[n] / sum(weights)
                self.assertEqual((member["port"], member["weight"]), (f"h{n + 1}", weights[n]))
                self.assertEqual(member["packets"], len(out.frames[member["port"]]))
                self.assertEqual(member["bytes"], sum(frame.wire for frame in out.frames[member["port"]]))
                # Four standard deviations of a fair draw, and a bucket of 256 more or less.
                room = 4 * (share * (1 - share) * self.FLOWS) ** 0.5 + self.FLOWS / 256
                self.assertAlmostEqual(member["packets"], share * self.FLOWS, delta=room)

    def test_a_flow_keeps_its_path_and_its_order(self):
        switch = self.spines(rounds=4, flows=256)
        out = switch.run()
        paths = collections.defaultdict(list)
        for name, frames in out.frames.items():
            for frame in frames:
                paths[frame.bytes[34:36]].append((name, int.from_bytes(frame.bytes[18:20], "big")))
        self.assertEqual(len(paths), 256)
        for seen in paths.values():
            self.assertEqual(len({name for name, _ in seen}), 1)
            self.assertEqual([identification for _, identification in seen], sorted(identification for _, identification in seen))

    def test_another_hash_seed_other_paths(self):
        first, second = (self.paths(self.spines(flows=512, hash_seed=seed).run()) for seed in (1, 2))
        moved = sum(first[port] != second[port] for port in first)
        self.assertAlmostEqual(moved / 512, 0.75, delta=0.1)

    def test_the_queue_pair_takes_part_when_configured(self):
        for takes_part in (False, True):
            switch = Switch(self, hosts=5, hash_roce_qp=takes_part)
            switch.route("10.9.0.0/16", *(f"10.0.{n}.2" for n in range(1, 5)))
            switch.recipe(flow("roce", to="10.9.0.1", to_mac=gateway_mac(0), sport=5000, qps=256, count=256, size=100), hosts=["h0"])
            used = [len(frames) for name, frames in switch.run().frames.items() if name != "h0"]
            self.assertEqual(sum(used), 256)
            self.assertEqual(sum(1 for packets in used if packets > 32), 4 if takes_part else 1)

    def test_all_fragments_of_a_packet_take_one_path(self):
        switch = Switch(self, hosts=5)
        switch.route("10.9.0.0/16", *(f"10.0.{n}.2" for n in range(1, 5)))
        fragments = [0x2000, 0x2010, 0x0020]
        frames = [plain(source=f"10.0.0.{n}", to="10.9.0.1", sport=n, dport=4791, fragment=fragment, identification=n)
                  for n in range(3, 103) for fragment in fragments]
        switch.give("h0", spaced(frames))
        seen = collections.defaultdict(set)
        for name, frames in switch.run().frames.items():
            for frame in frames:
                seen[frame.bytes[18:20]].add(name)
        self.assertEqual([len(ports) for ports in seen.values()], [1] * 100)
        self.assertEqual(len(set.union(*seen.values())), 4)

    def test_a_lost_link_moves_its_own_flows_only_and_they_come_back(self):
        flows = 1024
        switch = self.spines((1, 1, 1, 2), flows, rounds=3)
        switch.event(f"{flows}us", "port h2 down")
        switch.event(f"{2 * flows}us", "port h2 up")
        out = switch.run()
        before, during, after = (self.paths(out, n * flows * 1000, (n + 1) * flows * 1000) for n in range(3))
        self.assertEqual(len(before), flows)
        self.assertEqual(len(during), flows)
        moved = {flow for flow in before if before[flow] != during[flow]}
        self.assertEqual(moved, {flow for flow in before if before[flow] == "h2"})
        self.assertEqual(after, before)
        spread = collections.Counter(during[flow] for flow in moved)
        self.assertEqual(set(spread), {"h1", "h3", "h4"})
        self.assertGreater(spread["h4"], max(spread["h1"], spread["h3"]))  # by weight
        self.assertEqual(out.port("h2")["flaps"], 1)
        self.assertEqual(out.events(), [(flows * 1000, "port_down"), (2 * flows * 1000, "port_up")])
        self.assertEqual(out.drops(), {})

    def test_a_group_without_a_link_drops(self):
        switch = self.spines((1, 1), 100)
        switch.event("50us", "port h1 down")
        switch.event("50us", "port h2 down")
        out = switch.run()
        self.assertEqual(out.drops(), {"link_down": 50})
        self.assertEqual(out.report["ledger"]["tx"], 50)

    def test_a_replaced_group_keeps_what_it_can(self):
        """From four members to three: flows of the three stay, up to the new share."""
        flows = 1024
        switch = self.spines(flows=flows, rounds=2)
        switch.event(f"{flows}us", "route replace 10.9.0.0/16 via 10.0.1.2 via 10.0.2.2 via 10.0.3.2")
        out = switch.run()
        before, after = (self.paths(out, n * flows * 1000, (n + 1) * flows * 1000) for n in range(2))
        self.assertEqual({flow for flow in before if before[flow] != after[flow]},
                         {flow for flow in before if before[flow] == "h4"})

    def test_members_of_ipv6(self):
        switch = Switch(self, hosts=3)
        switch.route("2001:db8:9::/48", "2001:db8:1::2", "2001:db8:2::2")
        frames = [plain6(to=f"2001:db8:9::{n:x}") for n in range(1, 401)]
        switch.give("h0", spaced(frames))
        out = switch.run()
        for n in (1, 2):
            self.assertAlmostEqual(len(out.frames[f"h{n}"]), 200, delta=50)


class Events(loopback.Case):
    def test_routes_come_change_and_go_at_their_instant(self):
        """A frame that arrives at the instant of an event sees what the event has made."""
        switch = Switch(self, hosts=3)
        switch.event("10us", "route add 10.8.0.0/16 via 10.0.1.2")
        switch.event("20us", "route replace 10.8.0.0/16 via 10.0.2.2")
        switch.event("30us", "route delete 10.8.0.0/16")
        switch.event("40us", "route add 10.8.0.0/16 via 10.0.1.2 weight 3 via 10.0.2.2")
        times = [0, 9_990, 10_000, 19_990, 20_000, 29_990, 30_000, 39_990]
        switch.give("h0", [(at, plain(to="10.8.1.1", identification=n)) for n, at in enumerate(times)])
        out = switch.run()
        self.assertEqual(out.drops(), {"no_route": 4})
        self.assertEqual([frame.at_ns for frame in out.frames["h1"]], [10_000, 19_990])
        self.assertEqual([frame.at_ns for frame in out.frames["h2"]], [20_000, 29_990])
        self.assertEqual([member["weight"] for member in out.report["ecmp"]["10.8.0.0/16"]["members"]], [3, 1])

    def test_a_blackhole_comes_and_goes_by_its_name(self):
        switch = Switch(self, hosts=3)
        switch.route("10.8.0.0/16", "10.0.1.2")
        switch.event("10us", "route add 10.8.1.0/24 blackhole")
        switch.event("20us", "route replace 10.8.1.0/24 via 10.0.2.2")
        switch.event("30us", "route replace 10.8.1.0/24 blackhole")
        switch.event("40us", "route delete 10.8.1.0/24")
        switch.give("h0", [(at, plain(to="10.8.1.1")) for at in (0, 15_000, 25_000, 35_000, 45_000)])
        out = switch.run()
        self.assertEqual(([f.at_ns for f in out.frames["h1"]], [f.at_ns for f in out.frames["h2"]]), ([0, 45_000], [25_000]))
        self.assertEqual((out.drops(), out.events()), ({"blackhole": 2}, []))

    def test_a_deleted_route_uncovers_the_wider_one(self):
        switch = Switch(self, hosts=3)
        switch.route("10.8.0.0/16", "10.0.1.2")
        switch.route("10.8.1.0/24", "10.0.2.2")
        switch.event("10us", "route delete 10.8.1.0/24")
        switch.event("20us", "route delete 10.8.0.0/16")
        switch.give("h0", [(at, plain(to="10.8.1.1")) for at in (0, 15_000, 25_000)])
        out = switch.run()
        self.assertEqual(([f.at_ns for f in out.frames["h2"]], [f.at_ns for f in out.frames["h1"]]), ([0], [15_000]))
        self.assertEqual(out.drops(), {"no_route": 1})

    def test_a_command_that_cannot_be_done_is_an_event_and_changes_nothing(self):
        switch = Switch(self, hosts=2)
        switch.route("10.8.0.0/16", "10.0.1.2")
        switch.event("10us", "route delete 10.7.0.0/16")
        switch.event("11us", "route add 10.8.0.0/16 via 10.0.0.2")
        switch.give("h0", [(at, plain(to="10.8.1.1")) for at in (0, 15_000)])
        out = switch.run()
        self.assertEqual(out.events(), [(10_000, "command_failed"), (11_000, "command_failed")])
        self.assertEqual(len(out.frames["h1"]), 2)

    def test_a_port_that_is_down_neither_sends_nor_receives(self):
        """Queued frames go with the link; what arrives meanwhile is lost on the wire, which no counter of ours owns."""
        switch = Switch(self, hosts=3)
        switch.give("h0", [(0, plain(1500))] * 20)
        switch.give("h1", [(0, plain(1500, source=1, to=2)), (5_000, plain(source=1, to=0)), (20_000, plain(source=1, to=0))])
        switch.give("h2", [(0, plain(1500, source=2))] * 20)
        switch.event("1us", "port h1 down")
        switch.event("10us", "port h1 up")
        out = switch.run()
        started = [frame.at_ns for frame in out.frames["h1"]]
        self.assertEqual(started, [n * 121_920 // 1000 for n in range(9)])  # 1524 bytes of 80 ps each
        self.assertEqual(out.drops(), {"link_down": 40 - len(started)})
        self.assertEqual(out.port("h1")["lost_on_wire_packets"], 1)
        self.assertEqual(len(out.frames["h0"]), 1)
        self.assertEqual(out.port("h1")["flaps"], 1)

    def test_events_past_the_last_frame_happen_and_those_past_the_end_do_not(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain())])
        switch.event("1ms", "port h1 down")
        self.assertEqual(switch.run().events(), [(1_000_000, "port_down")])
        out = switch.run("--duration", "900us")
        self.assertEqual((out.events(), out.report["end_ns"]), ([], 900_000))

    def test_frames_past_the_end_stay_where_they_are(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", spaced([plain()] * 10, gap_ns=1000))
        (switch.folder / "sluice.toml").write_text(switch.text())
        out = switch.run("--duration", "4500ns", balanced=False)
        self.assertEqual(len(out.frames["h1"]), 5)
        self.assertEqual(out.report["ledger"]["rx"], 5)
        self.assertTrue(out.report["ledger"]["balanced"])


if __name__ == "__main__":
    loopback.main()
