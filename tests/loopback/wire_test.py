#!/usr/bin/python3
"""Wires: what passes is not changed by a bit, and a rule does to a frame what it says, once, counted, and the same each time."""

import loopback
from frames import ethernet, ipv4, ipv6, pfc, plain, plain6, udp
from loopback import Programs, Switch, run, table

CONF = loopback.ROOT / "conf" / "wire"


def strange_frames():
    """Every kind of frame that a router would not pass on as it came."""
    return [
        plain(60), plain(9014), plain6(62), plain6(1514),
        plain(64, ttl=1), plain(64, ttl=0), plain6(80, hops=1),
        plain(100, tags=((0x8100, 0x6005),)), plain(104, tags=((0x88A8, 0x2007), (0x8100, 0x6005))),
        plain6(110, tags=((0x8100, 0xA001),)),
        ethernet(bytes(46), 0x0806, to="ff:ff:ff:ff:ff:ff"),             # ARP
        ethernet(bytes(range(46)), 0x88CC, to="01:80:c2:00:00:0e"),      # LLDP
        ethernet(bytes(46), 0x8809, to="01:80:c2:00:00:02"),             # LACP
        ethernet(bytes(1200), 0x88B5, to="02:aa:bb:cc:dd:ee"),           # a local experiment
        ethernet(bytes(60), 0x88B5, tags=((0x8100, 1), (0x8100, 2), (0x8100, 3))),
        ethernet(ipv4(udp(bytes(20)), to="224.0.0.5"), 0x0800, to="01:00:5e:00:00:05"),
        ethernet(ipv4(udp(bytes(20)))[:10] + b"\xff\xff" + ipv4(udp(bytes(20)))[12:], 0x0800),  # a wrong checksum
        ethernet(ipv4(udp(bytes(20)), length=9000), 0x0800),
        ethernet(ipv4(udp(bytes(20)), source="127.0.0.1"), 0x0800),
        ethernet(ipv6(udp(bytes(20)), source="fe80::1", to="ff02::1"), 0x86DD, to="33:33:00:00:00:01"),
        ethernet(bytes(46), 0x0800), ethernet(bytes(46), 0x86DD),
    ]


def spaced(list_of_frames, gap_ns=2000):
    return [(n * gap_ns, frame) for n, frame in enumerate(list_of_frames)]


class Wired(loopback.Case):
    def wire(self, rules=None, ports=2, wire=None, **top):
        """Two ports h0 and h1 on wire `w`, each with a capture."""
        switch = Switch(self, hosts=0, **top)
        for n in range(ports):
            switch.ports[f"h{n}"] = {}
        switch.section("wire.w", ports=["h0", "h1"], **(wire or {}))
        for name, keys in (rules or {}).items():
            keys = dict(keys)
            match = keys.pop("match", None)
            switch.section(f"wire.w.impair.{name}", **keys)
            if match:
                switch.section(f"wire.w.impair.{name}.match", **match)
        return switch

    def rule(self, outcome, name, direction="forward"):
        counters = outcome.report["wires"]["w"]["rules"][name][direction]
        return tuple(counters[f"{key}_packets"] for key in ("matched", "acted", "passed"))

    def numbered(self, count, size=100, **keys):
        return [plain(size, identification=n, **keys) for n in range(count)]


class Passes(Wired):
    def test_every_frame_passes_unchanged_both_ways(self):
        switch = self.wire()
        there, back = strange_frames(), list(reversed(strange_frames()))
        switch.give("h0", spaced(there))
        switch.give("h1", spaced(back))
        outcome = switch.run()
        self.assertEqual(outcome.drops(), {})
        self.frames_equal(outcome.frames["h1"], there)
        self.frames_equal(outcome.frames["h0"], back)

    def test_ports_beside_a_wire_route_as_ever(self):
        switch = self.wire(ports=2)
        for n in (2, 3):
            switch.host(n)
        switch.give("h0", spaced(self.numbered(5)))
        switch.give("h2", spaced([plain(100, source=2, to=3)] * 5))
        outcome = switch.run()
        self.assertEqual({name: len(got) for name, got in outcome.frames.items()}, {"h0": 0, "h1": 5, "h2": 0, "h3": 5})

    def test_a_frame_that_cannot_leave_whole_is_dropped_with_its_reason(self):
        switch = self.wire()
        switch.port("h1", mtu=1500)
        switch.give("h0", spaced([plain(1514), plain(1600)]) + [loopback.Frame(9000, 500, plain(100))])
        outcome = switch.run()
        self.assertEqual(outcome.drops(), {"mtu_exceeded": 1, "truncated_capture": 1})
        self.assertEqual(len(outcome.frames["h1"]), 1)

    def test_pfc_ends_at_the_wire_or_goes_through_it(self):
        frame = pfc({3: 1000})
        switch = self.wire()
        switch.give("h0", spaced([frame]))
        outcome = switch.run()
        self.assertEqual((len(outcome.frames["h1"]), outcome.report["ledger"]["consumed"]), (0, 1))
        self.assertEqual(outcome.port("h0")["pfc"]["rx_xoff"][3], 1)

        switch = self.wire(wire={"pfc": "pass"})
        for name in ("h0", "h1"):
            switch.port(name, qos="lossy")
        switch.give("h0", spaced([frame]))
        outcome = switch.run(balanced=False)
        self.assertTrue(outcome.report["ledger"]["balanced"])
        self.frames_equal(outcome.frames["h1"], [frame])
        self.assertEqual(outcome.port("h0")["pfc"]["rx_xoff"][3], 0)

    def test_pauses_hold_on_a_wire_as_elsewhere(self):
        """h0 sends 100G into a wire that ends at 10G: its buffer pauses h0, and nothing is lost."""
        switch = self.wire()
        switch.port("h1", speed="10G")
        switch.give("h0", [(n * 100, plain(1014, dscp=26, identification=n)) for n in range(2000)])
        outcome = switch.run()
        self.assertEqual(outcome.drops(), {})
        self.assertEqual(len(outcome.frames["h1"]), 2000)
        self.assertGreater(outcome.port("h0")["pfc"]["tx_xoff"][3], 0)


class Rules(Wired):
    def passed(self, rules, sent, **keys):
        switch = self.wire(rules, **keys)
        switch.give("h0", spaced(sent))
        outcome = switch.run()
        self.assertEqual(outcome.report["ledger"]["queued"], 0)
        return outcome, [frame.bytes for frame in outcome.frames["h1"]]

    def test_drop(self):
        sent = self.numbered(9)
        outcome, got = self.passed({"r": {"do": "drop", "match": {"nth": 4}}}, sent)
        self.frames_equal(got, sent[:3] + sent[4:])
        self.assertEqual(outcome.drops(), {"impaired": 1})
        self.assertEqual(self.rule(outcome, "r"), (9, 1, 0))
        self.assertEqual(self.rule(outcome, "r", "backward"), (0, 0, 0))
        _, got = self.passed({"r": {"do": "drop", "match": {"every": 3}}}, sent)
        self.frames_equal(got, [frame for n, frame in enumerate(sent, 1) if n % 3])

    def test_a_drop_that_was_asked_for_breaks_no_promise(self):
        outcome, _ = self.passed({"r": {"do": "drop", "match": {"nth": 1}}}, self.numbered(3, dscp=26))
        self.assertIs(outcome.report["verdict"]["lossless"], True)

    def test_mark_ce_changes_ect_alone_and_leaves_the_checksum_right(self):
        rule = {"r": {"do": "mark-ce"}}
        for ecn, marked in ((0, 0), (1, 3), (2, 3), (3, 3)):
            outcome, got = self.passed(rule, [plain(100, dscp=26, ecn=ecn), plain6(100, traffic_class=26 << 2 | ecn)])
            wanted = [plain(100, dscp=26, ecn=marked), plain6(100, traffic_class=26 << 2 | marked)]
            self.frames_equal(got, wanted, ecn)
            self.assertEqual(self.rule(outcome, "r"), (2, 2, 0) if ecn in (1, 2) else (2, 0, 2))
        # Not IP: it passes untouched.
        arp = ethernet(bytes(46), 0x0806)
        outcome, got = self.passed(rule, [arp])
        self.frames_equal(got, [arp])

    def test_corrupt_inverts_one_bit_behind_the_headers(self):
        for frame, headers in ((plain(100), 34), (plain6(100), 54), (plain(1500, tags=((0x8100, 5),)), 38),
                               (ethernet(bytes(46), 0x0806), 14)):
            outcome, got = self.passed({"r": {"do": "corrupt"}}, [frame] * 20)
            places = set()
            for other in got:
                changed = [n for n, (a, b) in enumerate(zip(frame, other)) if a != b]
                self.assertEqual(len(changed), 1)
                self.assertEqual(bin(frame[changed[0]] ^ other[changed[0]]).count("1"), 1)
                self.assertGreaterEqual(changed[0], headers)
                places.add(changed[0])
            self.assertGreater(len(places), 5)

    def test_duplicate(self):
        sent = self.numbered(3)
        outcome, got = self.passed({"r": {"do": "duplicate", "match": {"nth": 2}}}, sent)
        self.frames_equal(got, [sent[0], sent[1], sent[1], sent[2]])
        self.assertEqual(outcome.report["ledger"]["generated"], 1)
        self.assertEqual(outcome.report["wires"]["w"]["forward"]["made_packets"], 1)

    def test_reorder_lets_later_frames_pass(self):
        sent = self.numbered(6)
        for count, order in ((1, (0, 2, 1, 3, 4, 5)), (3, (0, 2, 3, 4, 1, 5))):
            outcome, got = self.passed({"r": {"do": "reorder", "frames": count, "match": {"nth": 2}}}, sent)
            self.frames_equal(got, [sent[n] for n in order], count)
            self.assertEqual(self.rule(outcome, "r"), (6, 1, 0))

    def test_reorder_waits_no_longer_than_its_time(self):
        """The last frame has none behind it."""
        switch = self.wire({"r": {"do": "reorder", "time": "50us", "match": {"nth": 3}}})
        sent = self.numbered(3)
        switch.give("h0", spaced(sent))
        outcome = switch.run()
        self.frames_equal(outcome.frames["h1"], sent)
        self.assertEqual(outcome.frames["h1"][2].at_ns - outcome.frames["h1"][1].at_ns, 2000 + 50_000)

    def test_delay_holds_a_frame_and_others_go_past_it(self):
        sent = self.numbered(5)
        switch = self.wire({"r": {"do": "delay", "time": "5us", "match": {"nth": 2}}})
        switch.give("h0", spaced(sent))
        outcome = switch.run()
        self.frames_equal(outcome.frames["h1"], [sent[n] for n in (0, 2, 3, 1, 4)])
        first, late = outcome.frames["h1"][0].at_ns, outcome.frames["h1"][3].at_ns
        self.assertEqual(late - first, 2000 + 5000)

    def test_what_is_held_is_counted_where_the_run_stops(self):
        switch = self.wire({"r": {"do": "delay", "time": "1s"}})
        switch.give("h0", spaced(self.numbered(5)))
        outcome = switch.run("--duration", "1ms")
        self.assertEqual(outcome.report["ledger"]["queued"], 5)
        self.assertEqual(outcome.report["wires"]["w"]["forward"]["held_packets"], 5)

    def test_what_finds_no_place_to_wait_passes(self):
        """A wire holds 256 frames at most to reorder them."""
        sent = self.numbered(300)
        switch = self.wire({"r": {"do": "reorder", "frames": 60000}})
        switch.give("h0", spaced(sent, 200))
        outcome = switch.run()
        self.assertEqual(self.rule(outcome, "r"), (300, 256, 44))
        self.assertEqual(len(outcome.frames["h1"]), 300)

    def test_the_first_rule_that_takes_a_frame_acts_on_it(self):
        sent = self.numbered(4)
        outcome, got = self.passed({"r1": {"do": "drop", "match": {"nth": 2}}, "r2": {"do": "duplicate", "match": {"nth": 2}},
                                    "r10": {"do": "drop", "match": {"every": 100}}}, sent)
        self.frames_equal(got, [sent[0], sent[2], sent[2], sent[3]])
        self.assertEqual([self.rule(outcome, name)[0] for name in ("r1", "r2", "r10")], [4, 3, 2])

    def test_directions_count_apart(self):
        for direction, there, back in (("both", 2, 2), ("forward", 2, 3), ("backward", 3, 2)):
            switch = self.wire({"r": {"do": "drop", "match": {"nth": 2, "direction": direction}}})
            for port in ("h0", "h1"):
                switch.give(port, spaced(self.numbered(3)))
            outcome = switch.run()
            self.assertEqual((len(outcome.frames["h1"]), len(outcome.frames["h0"])), (there, back), direction)

    def test_dscp(self):
        sent = [plain(100, dscp=n % 4) for n in range(12)]
        outcome, got = self.passed({"r": {"do": "drop", "match": {"dscp": 3}}}, sent)
        self.assertEqual(len(got), 9)
        self.assertEqual(self.rule(outcome, "r"), (3, 3, 0))

    def test_two_runs_and_any_number_of_workers_give_the_same_bytes(self):
        chance = {"probability": "10%"}
        rules = {"a": {"do": "drop", "match": chance}, "b": {"do": "corrupt", "match": chance}, "c": {"do": "duplicate", "match": chance},
                 "d": {"do": "delay", "time": "3us", "match": chance}, "e": {"do": "reorder", "frames": 2, "match": chance}}
        raws, drops = [], []
        for workers, seed in ((1, 1), (1, 1), (2, 1), (1, 2)):
            switch = self.wire(rules, workers=workers, seed=seed)
            for port in ("h0", "h1"):
                switch.give(port, [(n * 40, frame) for n, frame in enumerate(self.numbered(1000))])
            outcome = switch.run()
            raws.append({name: raw for name, raw in outcome.raw.items() if name != "report"})
            drops.append([outcome.report["wires"], outcome.drops("h0"), outcome.drops("h1")])
        self.assertEqual(raws[0], raws[1])
        self.assertEqual(raws[0], raws[2])
        self.assertEqual(drops[0], drops[2])
        self.assertNotEqual(raws[0], raws[3])
        self.assertGreater(drops[0][1]["impaired"], 50)
        self.assertNotEqual(drops[0][1], drops[0][2])

    def test_an_event_adds_a_rule_and_removes_it(self):
        switch = self.wire()
        switch.give("h0", spaced(self.numbered(10)))
        switch.event("5us", "wire add w loss do drop nth 2 direction forward")
        switch.event("12us", "wire remove w loss")
        outcome = switch.run()
        self.assertEqual(outcome.drops(), {"impaired": 1})
        [event] = outcome.report["wires"]["w"]["trace"]
        self.assertEqual((event["rule"], event["at_ns"], event["do"]), ("loss", 8000, "drop"))


class Refused(Wired):
    def test_what_cannot_be_is_refused_with_its_place(self):
        ports = "[port.p1]\n[port.p2]\n[port.p3]\n"
        wire = '[wire.w]\nports = ["p1", "p2"]\n'

        def rule(text):
            return ports + wire + f"[wire.w.impair.r]\n{text}\n"

        for text, *words in (
                (ports + '[wire.w]\nports = ["p1", "p1"]\n', "wire.w.ports", "twice"),
                (ports + '[wire.w]\nports = ["p1"]\n', "5:9", "wire.w.ports", "joins two ports, not 1"),
                (ports + '[wire.w]\nports = ["p1", "p2", "p3"]\n', "wire.w.ports", "3 values"),
                (ports + '[wire.w]\n', "wire.w", "ports"),
                (ports + '[wire.w]\nports = ["p1", "p9"]\n', "wire.w.ports", 'no port "p9"'),
                (ports + wire + '[wire.x]\nports = ["p2", "p3"]\n', "wire.x.ports", "an end of wire w already"),
                (ports.replace("[port.p1]\n", '[port.p1]\naddress = ["10.0.0.1/24"]\n') + wire, "port.p1.address", "end of wire w"),
                (ports.replace("[port.p1]\n", "[port.p1]\nresponder = true\n") + wire, "port.p1.responder", "answers nothing"),
                (ports + wire + table("[[neighbor]]", {"address": "10.0.0.2", "port": "p1", "mac": "02:00:00:00:00:01"}),
                 "neighbor 10.0.0.2", "nothing is routed"),
                (ports + wire + 'pfc = "maybe"\n', "wire.w.pfc"),
                (ports + wire + 'pfc = "pass"\n', "port.p1.qos", "lossless classes of its own"),
                (rule(""), "wire.w.impair.r", '"do" is missing'),
                (rule('do = "explode"'), "wire.w.impair.r.do", "mark-ce"),
                (rule('do = "delay"'), "wire.w.impair.r.time", "no time"),
                (rule('do = "drop"\ntime = "1us"'), "wire.w.impair.r.time", "delay or reorder"),
                (rule('do = "drop"\nframes = 3'), "wire.w.impair.r.frames", "reorder"),
                (rule('do = "drop"\nsender_qp = 3'), "wire.w.impair.r.sender_qp", "cnp"),
                (rule('do = "drop"\nmatch = {qp = 16777216}'), "match.qp"),
                (rule('do = "drop"\nmatch = {psn = "5..x"}'), "match.psn", "not a range"),
                (rule('do = "drop"\nmatch = {psn = -1}'), "match.psn"),
                (rule('do = "drop"\nmatch = {opcode = "write"}'), "match.opcode", "write_first"),
                (rule('do = "drop"\nmatch = {dscp = 64}'), "match.dscp"),
                (rule('do = "drop"\nmatch = {direction = "p1"}'), "match.direction", "forward"),
                (rule('do = "drop"\nmatch = {probability = "0%"}'), "match.probability", "no frame"),
                (rule('do = "drop"\nmatch = {probability = "101%"}'), "match.probability"),
                (rule('do = "cnp"\nmatch = {opcode = "cnp"}'), "match.opcode", "no CNP"),
                (rule('do = "drop"\nmatch = {sport = 3}'), "match", "sport"),
        ):
            with self.subTest(text=text):
                Switch(self, hosts=0).refused(2, *words, config=text)

    def test_a_host_is_no_port_and_has_one_way(self):
        ports = "[port.p1]\n[port.p2]\n" + '[port.p3]\naddress = ["10.0.3.1/24"]\n'
        hosts = table("[host.h1]", {"port": "p1", "address": "10.0.0.1"}) + table("[host.h3]", {"port": "p3", "address": "10.0.3.2"})
        Switch(self, hosts=0).refused(2, "is a host, behind port p3", config=ports + hosts[hosts.index("[host.h3]"):]
                                      + '[wire.w]\nports = ["h3", "p2"]\n')
        flow = table("[[flow]]", {"from": "h1", "to": "h3", "messages": 1})
        Switch(self, hosts=0).refused(2, "do not meet", config=ports + hosts + flow + '[wire.w]\nports = ["p1", "p2"]\n')

    def test_events_of_rules_that_cannot_be(self):
        for event, *words in (("wire add x r do drop", 'no wire "x"'), ("wire add w r", "wanted: wire add"),
                              ("wire add w r do drop sport 3", "not a key of a rule"),
                              ("wire add w r do drop nth many", "nth"), ("wire remove x r", 'no wire "x"'), ("wire add w r nth 3", "do")):
            switch = self.wire()
            switch.event("1us", event)
            switch.refused(2, "event.do", *words)


class Examples(loopback.Case):
    def test_every_example_holds_what_it_asserts(self):
        examples = sorted(CONF.glob("*.toml"))
        self.assertGreaterEqual(len(examples), 4)
        for example in examples:
            with self.subTest(example=example.name):
                self.assertIn("[[assert]]", example.read_text())
                done = run([Programs.sluiced, "--config", example])
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_assertion_of_a_file_that_is_false_is_the_exit_status(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", spaced([plain(100)]))
        switch.rest.append(table("[[assert]]", {"that": "ledger tx eq 1"}))
        switch.run()
        switch.rest.append(table("[[assert]]", {"that": "ledger tx eq 2"}))
        outcome = switch.run(status=4)
        self.assertIn("false: ledger tx eq 2: it is 1", outcome.stderr)
        switch.rest.append(table("[[assert]]", {"that": "ledger tx"}))
        switch.run(status=2, balanced=False)


if __name__ == "__main__":
    loopback.main()
