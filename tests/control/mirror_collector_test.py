#!/usr/bin/python3
"""Mirrors to a collector: the packets at its port, as tshark reads them, against a mirror to a file; their class, the ways to the
collector that come and go, and no loop."""

import collections
import pathlib
import struct

import control
from control import Running, Switch
from frames import ethernet, ipv4, plain
from mirrors import NOWHERE, LiveMirrors, Mirroring, tshark
from pcapng import pairs, parse

REFUSED, CONFIGURATION = 1, 2
HEADERS = 20 + 8 + 20  # IPv4, GRE, ERSPAN
RATE = {"rate": 1_000_000, "burst": 4096}
EVENTS = {"drop": 1, "delay": 2, "pause": 3}

Mirrored = collections.namedtuple("Mirrored", "to dscp sequence session traffic_class cut at_ns event queue reason outbound port bytes")


def reasons():
    """The numbers of the drop reasons, by name."""
    catalogue = pathlib.Path(control.loopback.ROOT / "lib" / "frame" / "drop_reasons.def").read_text().splitlines()
    return {line[5:].split(",")[0]: n for n, line in enumerate((line for line in catalogue if line.startswith("DROP(")), 1)}


def erspan(frame):
    """A frame of a capture, if it is ERSPAN over IPv4."""
    data = frame.bytes
    at = 18 if data[12:14] == b"\x81\x00" else 14
    if data[at - 2:at] != b"\x08\x00" or data[at + 9] != 47:
        return None
    flags, protocol, sequence, vlan, session, ns, event, more, port, s = struct.unpack_from(">HHIHHIHHII", data, at + 20)
    assert (flags, protocol, vlan) == (0x1000, 0x22EB, 0x2000) and more & ~8 == 0x8005 and port >> 16 == 5 << 10
    return Mirrored(".".join(str(n) for n in data[at + 16:at + 20]), data[at + 1] >> 2, sequence, session & 0x3FF, session >> 13,
                    session >> 10 & 1, s * 10**9 + ns, event >> 12, event >> 8 & 15, event & 255, more >> 3 & 1, port & 0xFFFF,
                    data[at + HEADERS:])


def both(test, path, *fields):
    """A row of fields for each packet, each a list: of the packet and of the one inside it."""
    return [[value.split(";") for value in row] for row in tshark(test, path, *fields, options=["-E", "aggregator=;"])]


class Collector(Mirroring):
    def switch(self, on=("drop",), hosts=3, top=None, **keys):
        switch = Switch(self, hosts=hosts, **(top or {}))
        switch.section("mirror.m", on=list(on), **{"collector": "10.0.2.2", **RATE, **keys})
        return switch

    def incast(self, workers=1, **keys):
        """Hosts h0 to h2 write to h3, in a lossless class and in a lossy one with a short queue; the collector is behind h4, and a
        file has the same frames."""
        switch = self.switch(**{"on": ["drop", "delay", "pause"], "hosts": 0, "delay": "5us", "collector": "10.0.4.2", **keys})
        self.write_to_h3(switch, workers)
        switch.host(4)
        self.path = switch.folder / "mirror.pcapng"
        switch.section("mirror.file", **{**switch.sections["mirror.m"], "collector": "none", "file": str(self.path)})
        switch.section("port.h3.queue.0", static_th="20KB")
        return switch

    def mirrored(self, out, port="h2"):
        return [found for found in map(erspan, out.frames[port]) if found]

    def told(self, report):
        return [event["text"] for event in report["events"] if event["kind"] == "mirror_failed"]

    def test_the_collector_has_what_a_file_has(self):
        out = self.incast(snaplen="100", session=77, dscp=10).run()
        interfaces, frames = parse(self.path.read_bytes())
        ports, numbers = [name for name, _ in interfaces], reasons()
        got = self.mirrored(out, "h4")
        self.assertGreater(len(frames), 100)
        self.assertEqual({pairs(frame)[""] for frame in frames}, set(EVENTS))
        self.assertEqual([one.sequence for one in got], list(range(len(frames))))
        self.assertEqual((self.counts(out.report), out.port("h4")["mirrored_packets"]), ((len(frames), 0, 0), len(frames)))
        for one, frame in zip(got, frames):
            said = pairs(frame)
            self.assertEqual((one.to, one.dscp, one.session), ("10.0.4.2", 10, 77))
            self.assertEqual((one.bytes, one.at_ns, one.cut), (frame.bytes, frame.at_ns, int(frame.wire > 100)))
            self.assertEqual((ports[one.port], one.outbound), (frame.interface, int(frame.direction == "out")))
            self.assertEqual((one.event, one.reason), (EVENTS[said[""]], numbers.get(said.get("reason"), 0)))
            if said[""] != "pause":
                self.assertEqual((one.queue, one.traffic_class), (int(said.get("queue", 15)), int(said["class"])))
            else:
                self.assertEqual(one.queue, 15)

    def test_tshark_reads_both_packets(self):
        switch = self.incast()
        out = switch.run()
        rows = both(self, switch.folder / "out" / "h4.pcap", "gre.proto", "ip.dst", "ip.dsfield.dscp", "erspan.spanid", "erspan.truncated",
                      "erspan.pid5.port_index", "erspan.pid5.timestamp", "erspan.timestamp", "erspan.gra", "infiniband.bth.opcode",
                      "macc.cbfc.pause_time.c3", "ip.checksum.status", "_ws.malformed")
        got = self.mirrored(out, "h4")
        rows = [row for row in rows if row[0] != [""]]
        self.assertEqual(len(rows), len(got))
        opcodes = pauses = 0
        for row, one in zip(rows, got):
            proto, to, dscp, session, cut, port, second, ns, unit, opcode, pause, _, _ = row
            self.assertEqual((proto, to[0], dscp[0], session, unit), (["0x22eb"], "10.0.4.2", "8", ["1"], ["2"]))
            self.assertEqual((int(port[0]), int(cut[0]), int(second[0]) * 10**9 + int(ns[0])), (one.port, one.cut, one.at_ns))
            self.assertEqual((opcode != [""], pause != [""]), (one.event != EVENTS["pause"], one.event == EVENTS["pause"]))
            if one.event != EVENTS["pause"]:
                self.assertEqual(len(to), 2, "the packet inside has an address of its own")
                opcodes += 1
            pauses += one.event == EVENTS["pause"]
        self.assertGreater(min(opcodes, pauses), 10)

    def test_any_number_of_workers_sends_the_same_bytes(self):
        def sent(workers):
            switch = self.incast(workers=workers)
            # A second mirror, by a port with a lower number than its mirror's, and both at once.
            switch.host(5)
            switch.section("mirror.also", on=["drop"], collector="10.0.5.2", session=2, **RATE)
            out = switch.run()
            return {name: raw for name, raw in out.raw.items() if name in ("h4", "h5")}
        one = sent(1)
        self.assertGreater(min(map(len, one.values())), 2000)
        for workers in (1, 2, 4):
            self.assertTrue(sent(workers) == one, workers)

    def test_a_whole_queue_at_one_instant(self):
        """More than the hand-off to a worker has room for."""
        def sent(workers):
            switch = self.switch(hosts=4, collector="10.0.3.2", snaplen="64", top={"workers": workers, "buffer.size": "8MB"})
            for port in ("h0", "h1"):
                switch.give(port, [(10 * n, plain(64, source=int(port[1:]), to=2)) for n in range(1000)])
            switch.event("0ns", "queue h2.0 hold")
            switch.event("100us", "port h2 down")
            out = switch.run()
            self.assertEqual(self.counts(out.report), (2000, 0, 0))
            self.assertEqual(len(self.mirrored(out, "h3")), 2000)
            return out.raw["h3"]
        self.assertEqual(sent(1), sent(3))

    def test_two_collectors_that_have_one_pool(self):
        """It does not hold all that both want at one instant: the order in which workers take it decides."""
        def sent(workers):
            switch = self.switch(hosts=5, collector="10.0.3.2", snaplen="64", top={"workers": workers})
            switch.section("mirror.also", collector="10.0.4.2", **RATE)
            for port in ("h0", "h1"):
                switch.give(port, [(10 * n, plain(64, source=int(port[1:]), to=2)) for n in range(2000)])
            switch.event("0ns", "queue h2.0 hold")
            switch.event("100us", "port h2 down")
            out = switch.run()
            self.assertEqual((self.counts(out.report)[0], self.counts(out.report, "also")[0]), (4000, 4000))
            self.assertGreater(min(sum(out.drops(port).values()) for port in ("h3", "h4")), 10)
            return {port: out.raw[port] for port in ("h3", "h4")}
        one = sent(1)
        for workers in (2, 3):
            self.assertTrue(sent(workers) == one, workers)

    def test_what_is_dropped_of_it_makes_no_more(self):
        """The queue to the collector is short and held: most of the mirror's packets are dropped there, or wait."""
        switch = self.drops(count=200, on=["drop", "delay"], delay="1us")
        switch.limit("h2", 0, 8)
        switch.section("mirror.file", on=["drop", "delay"], delay="1us", file=str(switch.folder / "file.pcapng"), rate=0)
        switch.event("0ns", "queue h2.0 hold")
        switch.event("300us", "queue h2.0 release")
        out = switch.run()
        got = self.mirrored(out)
        dropped = out.drops("h2")["queue_limit"]
        self.assertEqual(self.counts(out.report), (200, 0, 0))
        self.assertEqual((out.port("h2")["mirrored_packets"], len(got) + dropped), (200, 200))
        self.assertGreater(dropped, 100)
        self.assertGreater(len(got), 2)
        self.assertEqual(out.report["ledger"]["generated"], 200)
        self.assertEqual({one.reason for one in got}, {reasons()["no_route"]})
        self.assertEqual(self.counts(out.report, "file"), (200, 0, 0), "a file has none of them either")

    def test_erspan_from_elsewhere_is_not_mirrored(self):
        switch = self.switch()
        gre = struct.pack(">HHI", 0x1000, 0x22EB, 1) + bytes(80)
        switch.give("h0", [(1000 * n, ethernet(ipv4(gre, to=NOWHERE, protocol=47), 0x0800)) for n in range(10)] + [(20000, plain(100, to=NOWHERE))])
        out = switch.run()
        self.assertEqual((out.drops()["no_route"], self.counts(out.report)), (11, (1, 0, 0)))

    def test_it_never_goes_in_a_lossless_class(self):
        switch = self.drops(count=50, dscp=26)
        check = switch.run("--check", balanced=False)
        self.assertIn("mirror.m.dscp: DSCP 26 leads to class 3 at port", check.stdout + check.stderr)
        out = switch.run()
        self.assertEqual({one.dscp for one in self.mirrored(out)}, {26})
        queues = [queue["tx_packets"] for queue in out.port("h2")["queues"]]
        self.assertEqual((queues[0], queues[3], sum(queues)), (50, 0, 50))
        # All but one class of that port lossless; then all of them.
        switch.port("h2", pfc=[0, 1, 2, 3, 4, 6, 7], map="own")
        switch.section("map.own", dscp_to_tc={"8": 0})
        switch.top["buffer.size"] = "8MB"
        queues = [queue["tx_packets"] for queue in switch.run().port("h2")["queues"]]
        self.assertEqual((queues[5], sum(queues)), (50, 50))
        switch.port("h2", pfc=list(range(8)))
        out = switch.run()
        self.assertEqual((self.counts(out.report), out.port("h2")["drops"]["ingress_limit"], self.mirrored(out)), ((50, 0, 0), 50, []))
        self.assertEqual(sum(out.port("h2")["lossless_drops"].values()), 0)

    def test_it_takes_no_room_of_lossless_traffic(self):
        """A port full of lossless traffic, whose frames alone decide when it pauses: the mirror changes no pause and no drop."""
        def pauses(collector):
            switch = self.incast(collector="10.0.4.2" if collector else "none", **({} if collector else {"file": "/dev/null"}))
            report = switch.run().report
            return {name: (port["pfc"]["tx_xoff"], port["pfc"]["tx_paused_ns"], port["drops"]) for name, port in report["ports"].items() if name != "h4"}
        self.assertEqual(pauses(True), pauses(False))

    def test_over_ipv6(self):
        switch = self.drops(collector="2001:db8:2::2", snaplen="64")
        out = switch.run()
        self.assertEqual(self.counts(out.report), (20, 0, 0))
        rows = both(self, switch.folder / "out" / "h2.pcap", "ipv6.src", "ipv6.dst", "ipv6.plen", "gre.proto", "erspan.sgt", "ip.dst", "udp.srcport")
        want = [["2001:db8:2::1"], ["2001:db8:2::2"], [str(8 + 20 + 64)], ["0x22eb"], [str(0x1F00 + reasons()["no_route"])], [NOWHERE]]
        self.assertEqual([row[:-1] for row in rows], [want] * 20)
        self.assertEqual([row[-1] for row in rows], [[str(n)] for n in range(1, 40, 2)])

    def test_a_short_mtu_cuts_the_frame_inside(self):
        switch = self.drops()
        switch.port("h2", mtu=100, address=["10.0.2.1/24"])
        switch.neighbors = [neighbor for neighbor in switch.neighbors if neighbor["address"] != "2001:db8:2::2"]
        out = switch.run()
        self.assertEqual([(len(one.bytes), one.cut) for one in self.mirrored(out)], [(100 - HEADERS, 1)] * 20)

    def test_a_tagged_neighbor_gets_tags(self):
        switch = self.drops()
        switch.neighbor_keys("10.0.2.2", vlan=5)
        out = switch.run()
        self.assertEqual({frame.bytes[12:16] for frame in out.frames["h2"]}, {b"\x81\x00\x00\x05"})
        self.assertEqual(len(self.mirrored(out)), 20)

    def test_its_rate_is_kept(self):
        out = self.drops(count=100, rate=100_000, burst=5).run()
        mirrored, suppressed, lost = self.counts(out.report)
        self.assertEqual((mirrored + suppressed, lost, len(self.mirrored(out))), (100, 0, mirrored))
        self.assertIn(mirrored, range(5 + 19, 5 + 21))

    def test_a_collector_without_a_way(self):
        out = self.drops(collector="198.51.100.7").run()
        self.assertEqual(self.counts(out.report), (0, 0, 20))
        self.assertEqual(self.told(out.report), ["mirror m: 198.51.100.7: cannot be sent: no route to the destination; "
                                                 "do: give it a route, a neighbor and a link that is up"])
        switch = self.drops()
        switch.event("10us", "port h2 down")
        switch.event("30us", "port h2 up")
        out = switch.run()
        mirrored, suppressed, lost = self.counts(out.report)
        self.assertEqual((mirrored, suppressed, lost, len(self.mirrored(out))), (10, 0, 10, 10))
        self.assertEqual(len(self.told(out.report)), 1)
        self.assertIn("the egress link is down", self.told(out.report)[0])
        self.assertEqual([one.sequence for one in self.mirrored(out)], list(range(10)))

    def test_the_way_is_that_of_the_routes(self):
        """A group of next hops: all packets by one, and by the other when its link is down."""
        switch = self.drops(collector="198.51.100.7")
        switch.route("198.51.100.0/24", "10.0.1.2", "10.0.2.2")
        switch.event("20us", "port h2 down")
        out = switch.run()
        by = {port: len(self.mirrored(out, port)) for port in ("h1", "h2")}
        self.assertEqual(sum(by.values()), 20)
        self.assertIn(by, ({"h1": 20, "h2": 0}, {"h1": 10, "h2": 10}))

    def test_what_a_check_finds(self):
        cases = {
            "a group": ({"collector": "224.0.0.5"}, "mirror.m.collector: 224.0.0.5 is the address of no host"),
            "all ones": ({"collector": "255.255.255.255"}, "is the address of no host"),
            "loopback": ({"collector": "::1"}, "mirror.m.collector: ::1 is the address of no host"),
            "our own": ({"collector": "10.0.1.1"}, '10.0.1.1 is the address of port "h1": the switch is not a collector'),
            "no rate": ({"rate": 0}, "mirror.m.rate: a mirror without a rate would fill the port to its collector"),
            "a file too": ({"file": "x"}, "a mirror has a file, a FIFO or a collector, this one has several"),
            "no address": ({"collector": "10.0.0"}, "10.0.0"),
            "a long session": ({"session": 1024}, "1024"),
            "a long dscp": ({"dscp": 64}, "64"),
        }
        for name, (keys, wrong) in cases.items():
            with self.subTest(name):
                out = self.switch(**keys).run("--check", status=CONFIGURATION)
                self.assertIn(wrong, out.stdout + out.stderr)
        switch = self.switch(collector="2001:db8::7")
        for port in switch.ports.values():
            port["address"] = port["address"][:1]
        switch.neighbors = [neighbor for neighbor in switch.neighbors if ":" not in neighbor["address"]]
        self.assertIn("no port has an IPv6 address", switch.run("--check", status=CONFIGURATION).stderr)


class Live(LiveMirrors):
    def running(self, count=1000, **keys):
        switch = Switch(self, hosts=3, **keys)
        switch.give("h0", [(1000 * n, plain(300, to=NOWHERE)) for n in range(count)])
        return Running(switch)

    def test_collectors_come_and_go_under_traffic(self):
        running = self.running()
        self.run_for(running)
        running.ctl("set mirror.a.collector=10.0.2.2 mirror.a.rate=1000000")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (100, 0, 0)})
        said = running.ctl("mirror show").splitlines()[1].split()
        self.assertEqual(said, ["a", "drop", "100", "0", "0", "sent", "by", "h2", "10.0.2.2"])
        running.ctl("set mirror.a.dscp=46 mirror.a.session=9")
        self.run_for(running)
        running.ctl("set mirror.a.collector=10.0.1.2")
        self.run_for(running)
        running.ctl("set mirror.a.collector=198.51.100.7")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (300, 0, 100)}, "counts go on with another collector")
        self.assertIn("cannot be sent: no route to the destination", running.ctl("mirror show"))
        running.ctl(f"set mirror.a.collector=none mirror.a.file={running.folder}/a.pcapng")
        self.run_for(running)
        running.ctl("set mirror.a.collector=10.0.2.2 mirror.a.file=''")
        self.run_for(running)
        running.ctl("unset mirror.a")
        self.run_for(running)
        out = running.stop(accounts=False)
        got = {port: [one for one in map(erspan, out.frames[port]) if one] for port in ("h1", "h2")}
        self.assertEqual((len(got["h1"]), len(got["h2"])), (100, 300))
        self.assertEqual([(one.dscp, one.session) for one in got["h2"]], [(8, 1)] * 100 + [(46, 9)] * 200)
        self.assertEqual([one.sequence for one in got["h2"][:200] + got["h1"]], list(range(300)))
        self.assertEqual(len(parse((running.folder / "a.pcapng").read_bytes())[1]), 100)
        self.assertEqual(out.report["ledger"]["generated"], 400, "those of a mirror that is no more, too")
        self.assertEqual({name: port.get("mirrored_packets") for name, port in out.report["ports"].items()}, {"h0": None, "h1": 100, "h2": 300})

    def test_a_class_that_becomes_lossless_while_they_wait(self):
        """Packets that are queued in a class that becomes lossless, and those that come then."""
        running = self.running()
        running.ctl("set mirror.a.collector=10.0.2.2 mirror.a.rate=1000000 mirror.a.dscp=32")
        running.ctl("queue hold h2.4")
        running.ctl("queue hold h2.0")
        self.run_for(running)
        running.ctl("set map.default.dscp_to_tc.32=4")
        self.run_for(running)
        running.ctl("set port.h2.pfc=[3,4]")
        self.run_for(running)
        running.ctl("queue release h2.4")
        running.ctl("queue release h2.0")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (401, 0, 0)})
        out = running.stop()
        self.assertEqual(len([one for one in map(erspan, out.frames["h2"]) if one]), 401)
        queues = [queue["tx_packets"] for queue in out.report["ports"]["h2"]["queues"]]
        self.assertEqual((queues[0], queues[4], sum(queues)), (301, 100, 401))
        self.assertEqual(out.report["verdict"]["lost_packets"], 0)

    def test_a_change_that_is_refused_changes_nothing(self):
        running = self.running()
        running.ctl("set mirror.a.collector=10.0.2.2 mirror.a.rate=1000000")
        before = running.call("config.get")
        for words in ("mirror.a.rate=0", "mirror.a.collector=10.0.2.1", "mirror.a.file=x", "mirror.a.collector=none",
                      "mirror.b.collector=10.0.1.2 port.h0.mtu=99999"):
            with self.subTest(words):
                running.ctl(f"set {words}", status=REFUSED)
                self.assertEqual(running.call("config.get"), before)
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (101, 0, 0)})
        running.stop()

    def test_under_the_real_clock(self):
        """Stopped with packets on their way: each is with the collector, or counted as lost."""
        for round in range(3):
            switch = Switch(self, hosts=3, clock="real")
            switch.give("h0", [(1000 * n, plain(300, to=NOWHERE)) for n in range(400)])
            switch.section("mirror.a", collector="10.0.2.2", rate=1_000_000, burst=4096)
            running = Running(switch, interactive=False)
            if round == 0:
                running.wait_for(lambda: self.counts(running)["a"], lambda counts: counts == (400, 0, 0))
            else:
                running.wait_for(lambda: running.call("stats.show", path="ledger.dropped"), bool)
            report = running.stop().report
            dropped = report["ports"]["h0"]["drops"]["no_route"]
            mirrored, suppressed, lost = (report["mirrors"]["a"][f"{what}_packets"] for what in ("mirrored", "suppressed", "lost"))
            self.assertEqual((mirrored + lost, suppressed), (dropped, 0), round)
            self.assertEqual(report["ports"]["h2"].get("mirrored_packets", 0), mirrored, round)
            self.assertEqual(report["ports"]["h2"]["tx"]["packets"], mirrored, round)


if __name__ == "__main__":
    control.main()
