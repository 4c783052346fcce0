#!/usr/bin/python3
"""Same input, configuration and seed: same output, byte for byte, however many workers there are."""

import json

import loopback
from loopback import Switch, flow, gateway_mac

TURNS = ("0ns", "500ns", "5us")


def busy(test, turn, hosts=7, **keys):
    """Incast, all to all, ECMP, drops of many kinds, links and routes that come and go: everything that could differ."""
    switch = Switch(test, hosts=hosts, **{"buffer.size": "8MB", **keys})
    switch.section("virtual", turn=turn)
    switch.default(mtu=9216)
    switch.section("wred.low", green_min="5KB", green_max="50KB", green_probability=50)
    switch.section("port.h0.queue.0", size=0, static_th=20_000, wred="low")
    switch.section("port.h0.queue.3", wred="low")
    switch.section("port.h1.queue.0", size=0, static_th=7_000)
    switch.section("port.h4.priority_group.0", static_th=3_000)  # lossy
    switch.section("port.h5.priority_group.3", size=0, static_th=4_000)  # lossless: it pauses
    switch.port("h6", peer="ignore", small_xoff=True)
    switch.section("port.h6.priority_group.3", size=0, static_th=4_000, xoff=8_000)  # and this one overruns
    switch.port("h2", speed="25G")
    switch.section("port.h4.fault", corrupt_chance="2%")
    switch.section("port.h5.fault", pfc_delay="300ns")
    switch.route("10.9.0.0/16", *(f"10.0.{n}.2" for n in range(1, hosts)))
    switch.event("20us", "port h3 down")
    switch.event("40us", "port h3 up")
    switch.event("30us", "route replace 10.9.0.0/16 via 10.0.1.2 via 10.0.4.2 weight 3")
    flows = [flow("malformed", f"h{n}", "h0", variant="all", count=54, gap="1us") for n in range(1, hosts)]
    for n in range(hosts):
        to = f"h{(n + 1) % hosts}"
        flows += [flow("roce", f"h{n}", "h0" if n else "h1", size="random 60..4200", count=200, qps=8, rate="60G"),
                  flow("udp", f"h{n}", to, size="random 60..1500", count=200, flows=40, ip_version=4 + 2 * (n % 2)),
                  flow("tcp", f"h{n}", "10.9.0.1", to_mac=gateway_mac(n), size=300, count=150, flows=150),
                  flow("cnp", f"h{n}", "h2", count=50, gap="1us"),
                  flow("udp", f"h{n}", "h1" if n != 1 else "h0", burst={"frames": 50, "every": "10us"}, size=1000, count=150),
                  flow("udp", f"h{n}", "h5" if n != 5 else "h6", start="25us", gap="100ns", count=100, size=400, vlan=[{"vid": 3, "pcp": 5}])]
    switch.recipe(*flows)
    return switch


class Comparing(loopback.Case):
    def equal(self, first, other, message):
        self.assertEqual(sorted(first.raw), sorted(other.raw))
        for name in first.raw:
            if first.raw[name] != other.raw[name]:
                if name == "report":
                    self.assertEqual(first.report, other.report, message)
                self.frames_equal(first.frames.get(name, []), other.frames.get(name, []), f"{name}: {message}")
                self.assertEqual([f.at_ns for f in first.frames[name]], [f.at_ns for f in other.frames[name]], message)
                self.fail(f"{name}: {message}")


class AloneOrTogether(loopback.Case):
    """Stages that take one frame are made apart from those that take a burst (dataplane/path/ingress_stages.hh)."""

    def test_frames_that_come_alone_fare_as_those_that_come_together(self):
        def quiet(turn):
            switch = Switch(self, hosts=5, **{"buffer.size": "8MB"})
            switch.section("virtual", turn=turn)
            switch.default(mtu=1600)
            switch.port("h2", mtu=1000)
            switch.route("10.9.0.0/16", *(f"10.0.{n}.2" for n in range(1, 5)))
            flows = [flow("malformed", f"h{n}", "h0", variant="all", count=54, gap="900ns") for n in range(1, 5)]
            for n in range(5):
                to = f"h{(n + 1) % 5}"
                flows += [flow("roce", f"h{n}", to, size="random 60..1400", count=300, qps=8, gap="300ns"),
                          flow("cnp", f"h{n}", to, count=50, gap="1us"),
                          flow("udp", f"h{n}", to, size="random 60..1500", count=100, flows=40, ip_version=4 + 2 * (n % 2), gap="700ns"),
                          flow("udp", f"h{n}", to, size=400, count=40, ttl=1, gap="800ns"),
                          flow("tcp", f"h{n}", "10.9.0.1", to_mac=gateway_mac(n), size=300, count=150, flows=150, gap="600ns"),
                          flow("udp", f"h{n}", to, size=200, count=60, vlan=[{"vid": 3, "pcp": 5}], gap="500ns")]
            switch.recipe(*flows)
            return switch.run()

        alone, together = quiet("0ns"), quiet("10us")
        counts = ("rx", "tx", "roce_packets", "cnp_packets", "ce_arrived_packets", "drops", "consumed_packets")
        for name, port in alone.report["ports"].items():
            other = together.report["ports"][name]
            self.assertEqual({key: port[key] for key in counts if key in port}, {key: other[key] for key in counts if key in other}, name)
            for part, keys in (("queues", ("tx", "dropped_packets", "ecn_marked_packets")), ("priority_groups", ("rx", "dropped_packets"))):
                for one, both in zip(port[part], other[part]):
                    self.assertEqual([one.get(key) for key in keys], [both.get(key) for key in keys], (name, part))
            self.assertEqual(sorted(frame.bytes for frame in alone.frames[name]), sorted(frame.bytes for frame in together.frames[name]), name)
        drops = alone.drops()
        for reason in ("ttl_expired", "mtu_exceeded", "ip_bad_checksum"):
            self.assertGreater(drops.get(reason, 0), 0, reason)
        self.assertGreater(alone.report["ledger"]["tx"], 2000)


class Deterministic(Comparing):
    """Made below: one method a turn."""


def same_bytes(turn):
    def test(self):
        switch = busy(self, turn)
        first = switch.run()
        drops = first.drops()
        for reason in ("queue_limit", "ingress_limit", "headroom_overrun", "link_down", "ttl_expired", "truncated_capture", "ip_bad_checksum"):
            self.assertGreater(drops.get(reason, 0), 0, reason)  # else the test would show little
        self.assertGreater(first.report["ledger"]["tx"], 3000)
        self.assertGreater(first.report["ledger"]["generated"], 0)
        self.assertGreater(first.port("h5")["held_packets"], 0)
        self.equal(first, switch.run(), "a second run")
        for workers in (2, 3, 4, 7):
            self.equal(first, switch.run(workers=workers), f"{workers} workers")
    return test


for _turn in TURNS:
    setattr(Deterministic, f"test_runs_and_workers_agree_at_a_turn_of_{_turn}", same_bytes(_turn))


class Placement(Comparing):
    def test_it_does_not_matter_which_worker_has_a_port(self):
        switch = busy(self, "500ns", workers=3)
        first = switch.run()
        for n in range(7):
            switch.port(f"h{n}", worker=(n * 2 + 1) % 3)
        self.equal(first, switch.run(), "other owners")
        for n in range(7):
            switch.port(f"h{n}", worker=2)
        self.equal(first, switch.run(), "one owner")

    def test_turns_differ(self):
        """The grid is really there: the same traffic waits for it."""
        outs = [busy(self, turn).run() for turn in TURNS]
        for a, b in ((0, 1), (1, 2)):
            self.assertNotEqual([f.at_ns for f in outs[a].frames["h0"]], [f.at_ns for f in outs[b].frames["h0"]])

    def test_the_trace_too(self):
        switch = busy(self, "0ns")
        texts = []
        for workers in (1, 4):
            switch.run("--trace", switch.folder / f"trace{workers}", workers=workers)
            texts.append((switch.folder / f"trace{workers}").read_bytes())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len(json.loads(texts[0])["ports"]), 7)


class Seed(Comparing):
    def test_the_report_says_the_seed(self):
        switch = busy(self, "0ns")
        first = switch.run()
        self.assertEqual(first.report["seed"], 1)
        self.assertEqual(switch.run(seed=5).report["seed"], 5)
        self.assertEqual(switch.run("--seed", "7", seed=5).report["seed"], 7)

    def test_the_report_says_what_was_asked(self):
        """Not where files are, nor who does what."""
        switch = busy(self, "500ns", workers=3)
        switch.port("h6", worker=1)
        report = switch.run("--assert", "ledger.balanced", "--assert", "ports.h0.tx.packets eq 0", status=4).report
        asked = report["configuration"]
        self.assertEqual({key: asked.get(key) for key in ("virtual.turn", "wred.low.green_min", "port.h6.small_xoff", "event.0", "port.h0", "seed", "workers")},
                         {"virtual.turn": '"500ns"', "wred.low.green_min": '"5KB"', "port.h6.small_xoff": "true", "event.0": "20us port h3 down", "port.h0": "a port",
                          "seed": None, "workers": None})
        self.assertFalse([key for key in asked if key.endswith((".device", ".worker"))])
        self.assertNotIn(str(switch.folder), json.dumps(asked))
        self.assertEqual([(each["that"], each["met"]) for each in report["asserts"]], [("ledger.balanced", True), ("ports.h0.tx.packets eq 0", False)])

    def test_the_order_of_sections_does_not_matter(self):
        """Ports in natural order, neighbors and routes by address: a file may list them as it likes."""
        switch = busy(self, "0ns")
        first = switch.run()
        switch.ports = dict(reversed(switch.ports.items()))
        switch.neighbors.reverse()
        switch.rest.reverse()
        self.equal(first, switch.run(), "reversed file")


if __name__ == "__main__":
    loopback.main()
