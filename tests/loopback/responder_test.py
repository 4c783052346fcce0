#!/usr/bin/python3
"""The responder: what a port without a kernel answers, byte for byte, and what it leaves unanswered.

A reply leaves at the instant at which its frame came, so arrivals and departures tell that nothing waited."""

import struct

import loopback
from frames import checksum, counting, ethernet, ipv4, ipv6, plain, plain6, raw_ip, raw_mac, routed, udp
from loopback import Switch, gateway_mac, mac, wire_ps

BROADCAST = "ff:ff:ff:ff:ff:ff"
CONTROL = 0xE0  # class selector 7 as TOS: that of errors
DONT_FRAGMENT = 0x4000


def reply_to(n, payload, kind, tags=()):
    """From the port of host n to the host."""
    header = raw_mac(mac(n)) + raw_mac(gateway_mac(n))
    for tpid, tci in tags:
        header += struct.pack(">HH", tpid, tci)
    return (header + struct.pack(">H", kind) + payload).ljust(60, b"\0")


def arp(operation, sender_mac, sender, target_mac, target):
    return struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation) + raw_mac(sender_mac) + raw_ip(sender) + raw_mac(target_mac) + raw_ip(target)


def who_has(target, source=0, sender=None, to=BROADCAST, tags=()):
    return ethernet(arp(1, mac(source), sender or f"10.0.{source}.2", "00:00:00:00:00:00", target), 0x0806, source, to=to, tags=tags)


def is_at(target, n=0, sender=None, tags=()):
    return reply_to(n, arp(2, gateway_mac(n), target, mac(n), sender or f"10.0.{n}.2"), 0x0806, tags)


def icmp(kind, code, rest, payload=b""):
    message = struct.pack(">BBHI", kind, code, 0, rest) + payload
    even = message + b"\0" * (len(message) % 2)
    return message[:2] + struct.pack(">H", checksum(even)) + message[4:]


def icmp6(kind, code, rest, payload, source, to):
    message = struct.pack(">BBHI", kind, code, 0, rest) + payload
    pseudo = raw_ip(source) + raw_ip(to) + struct.pack(">II", len(message), 58) + message
    return message[:2] + struct.pack(">H", checksum(pseudo + b"\0" * (len(pseudo) % 2))) + message[4:]


def ping(to, source=0, size=56, ttl=64, tags=(), **keys):
    body = counting(size)
    return ethernet(ipv4(icmp(8, 0, 0x1234_0001, body), f"10.0.{source}.2", to, protocol=1, ttl=ttl, **keys), 0x0800, source, tags=tags)


def pong(by, n=0, size=56, tags=(), dscp=0):
    body = counting(size)
    return reply_to(n, ipv4(icmp(0, 0, 0x1234_0001, body), by, f"10.0.{n}.2", protocol=1, dscp=dscp), 0x0800, tags)


def ping6(to, source=0, size=56, hops=64, sender=None):
    sender, body = sender or f"2001:db8:{source}::2", counting(size)
    return ethernet(ipv6(icmp6(128, 0, 0x1234_0001, body, sender, to), sender, to, following=58, hops=hops), 0x86DD, source)


def pong6(by, n=0, size=56):
    to, body = f"2001:db8:{n}::2", counting(size)
    return reply_to(n, ipv6(icmp6(129, 0, 0x1234_0001, body, by, to), by, to, following=58), 0x86DD)


def solicit(target, source=0, sender=None, to=None, to_mac=None, option=True, hops=255):
    sender = sender or f"2001:db8:{source}::2"
    last = raw_ip(target)[13:]
    group = to or "ff02::1:ff%02x:%04x" % (last[0], last[1] << 8 | last[2])
    options = b"\x01\x01" + raw_mac(mac(source)) if option else b""
    message = icmp6(135, 0, 0, raw_ip(target) + options, sender, group)
    return ethernet(ipv6(message, sender, group, following=58, hops=hops), 0x86DD, source, to=to_mac or "33:33:ff:%02x:%02x:%02x" % tuple(last))


def advertise(target, n=0, to=None, by=None, flags=0xE000_0000):
    to = to or f"2001:db8:{n}::2"
    message = icmp6(136, 0, flags, raw_ip(target) + b"\x02\x01" + raw_mac(gateway_mac(n)), by or target, to)
    return reply_to(n, ipv6(message, by or target, to, following=58, hops=255, traffic_class=CONTROL), 0x86DD)


def about(frame, kind, code, rest=0, n=0):
    """The ICMP error about a frame of host n, without tags."""
    packet = frame[14:14 + struct.unpack(">H", frame[16:18])[0]]
    return reply_to(n, ipv4(icmp(kind, code, rest, packet[:548]), f"10.0.{n}.1", f"10.0.{n}.2", protocol=1, dscp=CONTROL >> 2), 0x0800)


def about6(frame, kind, code, rest=0, n=0):
    packet = frame[14:14 + 40 + struct.unpack(">H", frame[18:20])[0]]
    source, to = f"2001:db8:{n}::1", f"2001:db8:{n}::2"
    return reply_to(n, ipv6(icmp6(kind, code, rest, packet[:1232], source, to), source, to, following=58, traffic_class=CONTROL), 0x86DD)


class Responder(loopback.Case):
    def switch(self, hosts=2, **keys):
        switch = Switch(self, hosts=hosts, **keys)
        switch.default(responder=True)
        return switch

    def answers(self, *pairs, switch=None, dropped=None, punted=None):
        """Each frame of h0, 100 us after the one before, has its answer of h0, or none, and nothing else comes out."""
        switch = switch or self.switch()
        frames = [frame for frame, _ in pairs]
        switch.give("h0", [(n * 100_000, frame) for n, frame in enumerate(frames)])
        outcome = switch.run()
        wanted = [(n, answer) for n, (_, answer) in enumerate(pairs) if answer is not None]
        self.frames_equal(outcome.frames["h0"], [answer for _, answer in wanted])
        for (n, _), frame in zip(wanted, outcome.frames["h0"]):
            self.assertEqual(frame.at_ns, n * 100_000, "at once")
        self.assertEqual(outcome.port("h0")["replied_packets"], len(wanted))
        self.assertEqual(outcome.report["ledger"]["generated"], len(wanted))
        self.assertEqual(outcome.drops(), dropped or {})
        if punted is not None:
            self.assertEqual({key: n for key, n in outcome.port("h0")["punted"].items() if n}, punted)
        self.assertIs(outcome.report["lossless"], True)
        return outcome

    # --- what is refused ---

    def test_without_it_the_same_frames_are_dropped_with_their_reasons(self):
        switch = Switch(self, hosts=2)
        frames = [who_has("10.0.0.1"), solicit("2001:db8:0::1"), ping("10.0.0.1"), ping6("2001:db8:0::1"), plain(ttl=1)]
        switch.give("h0", [(n * 1000, frame) for n, frame in enumerate(frames)])
        outcome = switch.run()
        self.assertEqual(outcome.frames["h0"], [])
        self.assertEqual(outcome.drops(), {"not_ip": 1, "multicast": 1, "local_address": 2, "ttl_expired": 1})
        self.assertNotIn("punted", outcome.port("h0"))

    def test_nothing_is_said_to_who_asks_wrongly(self):
        good = who_has("10.0.0.1")
        bad_sum = bytearray(ping("10.0.0.1"))
        bad_sum[-1] ^= 1
        bad_sum6 = bytearray(ping6("2001:db8:0::1"))
        bad_sum6[-1] ^= 1
        self.answers(
            (good[:20] + b"\0\2" + good[22:], None),  # a reply
            (good[:14] + b"\0\6" + good[16:], None),  # not Ethernet
            (good[:40], None),  # cut
            (who_has("10.0.0.9"), None),  # nobody's
            (who_has("10.0.1.1"), None),  # another port's
            (who_has("10.0.1.2"), None),  # another port's host: no proxy
            (who_has("10.0.0.1", sender="10.0.0.1"), None),  # tells, and asks nothing
            (good[:22] + b"\x01" + good[23:], None),  # of a group's hardware address
            (solicit("2001:db8:0::9"), None),
            (solicit("2001:db8:1::1"), None),
            (solicit("2001:db8:0::1", hops=254), None),
            (solicit("2001:db8:0::1", to="ff02::1"), None),
            (solicit("2001:db8:0::1", sender="::", option=True), None),  # an option that cannot be there
            (bytes(bad_sum), None),
            (bytes(bad_sum6), None),
            (ping("10.0.0.1", fragment=0x2000), None),  # not put together
            (ping("10.0.0.1", fragment=3), None),
            (ethernet(ipv4(icmp(13, 0, 0), to="10.0.0.1", protocol=1), 0x0800), None),
        )

    def test_no_error_is_sent_about_what_must_not_have_one(self):
        about_it = ipv4(udp(b"x" * 16), "10.0.1.2", "10.0.0.2")
        self.answers(
            (ethernet(ipv4(icmp(11, 0, 0, about_it), protocol=1, ttl=1), 0x0800), None),  # about an error
            (ethernet(ipv4(icmp(5, 0, 0, about_it), protocol=1, ttl=1), 0x0800), None),  # or a redirect
            (ethernet(ipv4(icmp(200, 0, 0, about_it), protocol=1, ttl=1), 0x0800), None),  # or what may be one
            (plain(ttl=1, fragment=0x2001), None),  # a fragment but the first
            (ethernet(ipv4(udp(), source="10.0.0.255", ttl=1), 0x0800), None),  # to a directed broadcast
            (ethernet(ipv4(udp(), source="10.0.1.1", ttl=1), 0x0800), None),  # to ourselves
            (ethernet(ipv6(icmp6(1, 0, 0, b"", "2001:db8:0::2", "2001:db8:1::2"), following=58, hops=1), 0x86DD), None),
            (ethernet(ipv6(struct.pack(">BBHI", 17, 0, 0x10, 1) + udp(), following=44, hops=1), 0x86DD), None),
            punted={"ttl": 8})

    def test_a_port_without_an_address_has_nothing_to_say_it_from(self):
        switch = self.switch()
        switch.port("h0", address=["10.0.0.1/24"])
        frame = plain(ttl=1)
        self.answers((plain6(hops=1), None), (frame, about(frame, 11, 0)), switch=switch)

    def test_frames_for_others_and_data_to_groups_stay_dropped(self):
        self.answers(
            (plain(60).replace(raw_mac(gateway_mac(0)), raw_mac(mac(9))), None),
            (ethernet(arp(1, mac(0), "10.0.0.2", BROADCAST, "10.0.0.1"), 0x0806, to=mac(9)), None),
            (ethernet(ipv4(udp(), to="239.1.1.1"), 0x0800, to="01:00:5e:01:01:01"), None),
            (ethernet(ipv6(udp(), to="ff0e::1"), 0x86DD, to="33:33:00:00:00:01"), None),
            dropped={"not_for_us": 1, "not_ip": 1, "multicast": 2}, punted={})

    # --- what holds ---

    def test_arp(self):
        tags = ((0x8100, 0x6005),)
        self.answers((who_has("10.0.0.1"), is_at("10.0.0.1")),
                     (who_has("10.0.0.1", to=gateway_mac(0)), is_at("10.0.0.1")),  # it only wants to know whether we still are
                     (who_has("10.0.0.1", sender="0.0.0.0"), is_at("10.0.0.1", sender="0.0.0.0")),  # a probe
                     (who_has("10.0.0.1", tags=tags), is_at("10.0.0.1", tags=tags)),
                     punted={"arp_nd": 4})

    def test_neighbor_discovery(self):
        own = "2001:db8:0::1"
        self.answers(
            (solicit(own), advertise(own)),
            (solicit(own, to=own, to_mac=gateway_mac(0)), advertise(own)),
            (solicit(own, sender="fe80::2", option=False), advertise(own, to="fe80::2")),
            (solicit(own, sender="::", option=False),
             raw_mac("33:33:00:00:00:01") + advertise(own, to="ff02::1", flags=0xA000_0000)[6:]),
            (solicit(own, sender="fe80::2", to=own, to_mac=gateway_mac(0)), advertise(own, to="fe80::2")),
            punted={"arp_nd": 5})

    def test_echo(self):
        tags = ((0x88A8, 7), (0x8100, 9))
        self.answers(
            (ping("10.0.0.1"), pong("10.0.0.1")),
            (ping("10.0.1.1", size=1400), pong("10.0.1.1", size=1400)),  # of another port: it is ours
            (ping("10.0.0.1", size=0), pong("10.0.0.1", size=0)),
            (ping("10.0.0.1", size=9000), pong("10.0.0.1", size=9000)),
            (ping("10.0.0.1", ttl=1), pong("10.0.0.1")),  # the end of a traceroute
            (ping("10.0.0.1", tags=tags), pong("10.0.0.1", tags=tags)),
            (ping("10.0.0.1", dscp=26, ecn=1, options=b"\1\1\1\0"), pong("10.0.0.1", dscp=26)),
            (ping6("2001:db8:0::1"), pong6("2001:db8:0::1")),
            (ping6("2001:db8:1::1", size=1401, hops=1), pong6("2001:db8:1::1", size=1401)),
            punted={"local": 9})

    def test_who_asks_a_port_of_ours_for_udp_is_told_that_there_is_none(self):
        frame, frame6 = plain(100, to="10.0.1.1", ttl=1), plain6(100, to="2001:db8:1::1")
        self.answers((frame, about(frame, 3, 3)), (frame6, about6(frame6, 1, 4)), punted={"local": 2})

    def test_time_exceeded(self):
        frames = [plain(ttl=1), plain(1500, ttl=0), ping("10.0.1.2", ttl=1), plain(ttl=1, fragment=0x2000), plain(576, ttl=1, options=b"\1" * 8)]
        frames6 = [plain6(hops=1), plain6(1500, hops=0), ping6("2001:db8:1::2", hops=1)]
        self.answers(*[(frame, about(frame, 11, 0)) for frame in frames], *[(frame, about6(frame, 3, 0)) for frame in frames6],
                     punted={"ttl": 8})

    def test_packets_too_big(self):
        switch = self.switch()
        switch.port("h1", mtu=1400)
        big, big6 = plain(1500, fragment=DONT_FRAGMENT), plain6(1500)
        error = about6(big6, 2, 0, 1400)
        self.assertEqual(len(error), 14 + 1280)
        self.answers((big, about(big, 3, 4, 1400)), (big6, error),
                     (plain(1500), None),  # it may be fragmented, which we do not
                     switch=switch, punted={"mtu": 3})

    def test_replies_have_their_queues(self):
        """Errors and what is not IP are network control; a reply to a ping has the class of its question."""
        switch = self.switch()
        switch.port("h0", address=["10.0.0.1/24", "2001:db8:0::1/64"])
        frame = plain(ttl=1)
        outcome = self.answers((who_has("10.0.0.1"), is_at("10.0.0.1")), (frame, about(frame, 11, 0)),
                               (ping("10.0.0.1", dscp=26), pong("10.0.0.1", dscp=26)), (ping("10.0.0.1"), pong("10.0.0.1")), switch=switch)
        self.assertEqual([queue["tx_packets"] for queue in outcome.port("h0")["queues"]], [1, 0, 0, 1, 0, 0, 0, 2])

    def test_replies_of_a_lossless_class_pause_nobody(self):
        switch = self.switch(**{"buffer.size": "8MB"})
        switch.event("0", "queue h0.3 hold")
        switch.event("1ms", "queue h0.3 release")
        switch.give("h0", [(n * 1000, ping("10.0.0.1", size=9000, dscp=26)) for n in range(60)])
        outcome = switch.run()
        self.frames_equal(outcome.frames["h0"], [pong("10.0.0.1", size=9000, dscp=26)] * 60)
        groups, port = outcome.port("h0")["priority_groups"], outcome.port("h0")
        self.assertEqual((groups[3]["shared_watermark_bytes"], groups[3]["headroom_watermark_bytes"]), (0, 0))
        self.assertGreater(groups[7]["shared_watermark_bytes"], 400_000)
        self.assertEqual(port["pfc"]["tx_xoff"], [0] * 8)

    def test_the_rate_of_a_class_is_limited_by_itself(self):
        switch = self.switch()
        switch.section("punt.ttl", rate=1000, burst=3)
        switch.section("punt.local", rate=0)
        expired = plain(ttl=1)
        step = wire_ps(len(about(expired, 11, 0))) // 1000 + 1
        frames = [(n * step, expired) for n in range(10)]
        frames += [(1_000_000 + n * 1_000_000, frame) for n in range(3) for frame in (expired, expired)]  # one a millisecond
        frames += [(9_000_000, ping("10.0.0.1")), (9_000_000, who_has("10.0.0.1"))]
        switch.give("h0", frames)
        outcome = switch.run()
        self.frames_equal(outcome.frames["h0"], [about(expired, 11, 0)] * 6 + [is_at("10.0.0.1")])
        self.assertEqual([frame.at_ns for frame in outcome.frames["h0"]][:3], [0, step, 2 * step])
        self.assertEqual(outcome.drops(), {"punt_rate": 10, "local_address": 1})
        self.assertEqual(outcome.port("h0")["punted"], {"arp_nd": 1, "control": 0, "local": 0, "ttl": 6, "mtu": 0, "unresolved": 0})

    def test_what_control_has_no_room_for_is_counted(self):
        """On a grid of turns a burst is there at once, and nothing is taken in between."""
        switch = self.switch(**{"virtual.turn": "1ms"})
        for name in switch.ports:
            switch.port(name, qos="lossy")
        switch.section("punt.local", rate=1_000_000, burst=4096)
        switch.give("h0", [(n * 200, ping("10.0.0.1")) for n in range(100)])
        outcome = switch.run()
        self.assertEqual(outcome.drops(), {"punt_full": 35})  # the first came alone
        self.frames_equal(outcome.frames["h0"], [pong("10.0.0.1")] * 65)

    def test_what_cannot_leave_is_dropped_and_counted(self):
        switch = self.switch()
        switch.limit("h0", 0, 1)
        switch.give("h0", [(0, ping("10.0.0.1", size=300))])
        outcome = switch.run()
        self.assertEqual(outcome.frames["h0"], [])
        self.assertEqual((outcome.report["ledger"]["punted"], outcome.report["ledger"]["generated"]), (1, 1))
        self.assertEqual(outcome.drops(), {"queue_limit": 1})

    def test_the_same_with_any_number_of_workers(self):
        """Everything at the same instants on every port, through queues that fill."""
        for turn in ("0ns", "5us"):
            switch = self.switch(hosts=5, **{"virtual.turn": turn, "buffer.size": "2MB"})
            for name in switch.ports:
                switch.port(name, qos="lossy")
            for n in range(5):
                kinds = [who_has(f"10.0.{n}.1", n), ping(f"10.0.{(n + 1) % 5}.1", n, size=1000), plain(300, source=n, to=(n + 2) % 5),
                         ethernet(ipv4(udp(), f"10.0.{n}.2", "10.0.0.2", ttl=1), 0x0800, n), solicit(f"2001:db8:{n}::1", n)]
                switch.give(f"h{n}", [(k * 700, kinds[k % len(kinds)]) for k in range(400)])
            first = switch.run(workers=1)
            self.assertGreater(first.report["ledger"]["punted"], 100)
            for workers in (2, 3, 5):
                other = switch.run(workers=workers)
                self.assertEqual(first.raw.keys(), other.raw.keys())
                for name, raw in first.raw.items():
                    self.assertEqual(raw, other.raw[name], f"{name} with {workers} workers, turn {turn}")

    def test_ports_are_served_in_their_order_whoever_owns_them(self):
        """At one instant all ports have more to send than the pool holds: who comes first gets it."""
        switch = self.switch(hosts=5, **{"virtual.turn": "1ms", "buffer.size": "1MB"})
        for n, name in enumerate(switch.ports):
            switch.port(name, qos="lossy")
            switch.give(name, [(10_000 + k * 1000, ping(f"10.0.{n}.1", n, size=9000)) for k in range(60)])
        first = switch.run(workers=1)
        self.assertGreater(first.drops().get("ingress_limit", 0), 50)
        for workers in (2, 3):
            other = switch.run(workers=workers)
            for name, raw in first.raw.items():
                self.assertEqual(raw, other.raw[name], f"{name} with {workers} workers")

    def test_decisions_say_that_a_packet_was_punted(self):
        switch = self.switch()
        switch.section("decisions", file=str(switch.folder / "decisions.jsonl"))
        switch.give("h0", [(0, ping("10.0.0.1")), (1000, plain(ttl=1)), (2000, plain())])
        outcome = switch.run()
        lines = [loopback.json.loads(line) for line in (switch.folder / "decisions.jsonl").read_text().splitlines()]
        self.assertEqual([(line["verdict"], line.get("punt", {}).get("class"), line["whole"]) for line in lines],
                         [("punted", "local", True), ("punted", "ttl", True), ("sent", None, True)])
        self.assertEqual(outcome.report["decisions"]["verdicts"]["punted"], 2)
        self.frames_equal(outcome.frames["h1"], [routed(plain(), 1)])


class Proxy(loopback.Case):
    """Hosts of one subnet, 10.0.0.0/24 and 2001:db8:0::/64, on h0 and h1: host 9 is h1's."""

    def run_with(self, frames, proxy_arp=True):
        switch = Switch(self, hosts=3)
        switch.default(responder=True, proxy_arp=proxy_arp)
        switch.neighbor("10.0.0.9", "h1", mac(9))
        switch.neighbor("2001:db8:0::9", "h1", mac(9))
        switch.give("h0", [(n * 100_000, frame) for n, frame in enumerate(frames)])
        return switch.run()

    def test_it_answers_for_hosts_behind_other_ports_alone(self):
        v6 = "2001:db8:0::9"
        asked = [who_has("10.0.0.9"), who_has("10.0.1.2"), solicit(v6), solicit(v6, sender="fe80::2")]
        own = "2001:db8:0::1"
        wanted = [is_at("10.0.0.9"), is_at("10.0.1.2"), advertise(v6, by=own, flags=0xC000_0000),
                  advertise(v6, by=own, to="fe80::2", flags=0xC000_0000)]
        unanswered = [who_has("10.0.0.2", sender="10.0.0.3"), who_has("10.0.0.7"), who_has("172.16.0.1"), who_has("10.0.0.9", sender="0.0.0.0"),
                      solicit("2001:db8:0::2", sender="fe80::3"), solicit("2001:db8:0::7"), solicit(v6, sender="::", option=False)]
        outcome = self.run_with(asked + unanswered)
        self.frames_equal(outcome.frames["h0"], wanted)
        self.assertEqual(self.run_with(asked, proxy_arp=False).frames["h0"], [])

    def test_what_the_answer_promises_holds(self):
        frame = plain(to="10.0.0.9")
        outcome = self.run_with([who_has("10.0.0.9"), frame])
        self.frames_equal(outcome.frames["h1"], [routed(frame, 1, host=9)])


if __name__ == "__main__":
    loopback.main()
