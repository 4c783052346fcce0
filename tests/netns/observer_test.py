#!/usr/bin/python3
"""PFC and ECN as hosts see them, by a clock that is not the switch's: the observer (observe.bpf.c) at their interfaces."""

import struct

import netns
from frames import ethernet, plain
from observer import observing

AF31, CE, ECT0 = 26, 3, 2
RULE, FREE, MARKER = 4001, 4002, 4003  # UDP ports of the class in question, of another one, of the marker


def pfc(source, quanta, classes=8):
    return ethernet(struct.pack(">HH8H", 0x0101, classes, *(quanta if classes >> n & 1 else 0 for n in range(8))), 0x8808, source,
                    to="01:80:c2:00:00:01")


class Observed(netns.Case):
    # A quantum is 512 bit times: the longest pause lasts 33 ms.
    speed, quantum_ns = "1G", 512

    def slow(self, hosts):
        made = self.switch(hosts=hosts)
        made.default(mtu=1500, speed=self.speed)
        made.section("watchdog", detection="5s")  # a test's pauses are not a storm
        return made

    def test_a_host_that_floods_pfc_pauses_exactly_that_priority(self):
        cables, switch = self.cables(3), self.slow(3)
        with self.running(switch) as run, observing(self, "host1", "host2") as seen:
            self.comes_through(*cables[:2], run)
            for turn in range(50):
                # A frame behind a pause that has come out proves that the switch has read the pause.
                cables[1].send(pfc(1, 0xFFFF), plain(200, source=1, to=2, dport=MARKER, identification=turn))
                self.take(cables[2], 1)
                cables[0].send(plain(300, dscp=AF31, dport=RULE), plain(300, dport=FREE))
            cables[1].send(pfc(1, 0))
            self.comes_through(*cables[:2], run, dscp=AF31)
        rules, free = ([frame["ns"] for frame in seen
                        if frame.get("udp_port") == port and frame["at"] == "host1" and not frame["sent"]] for port in (RULE, FREE))
        paused = self.pauses(seen)
        self.assertEqual((len(rules), len(free)), (50, 50))

        def within(times):
            return [at for at in times if any(begin <= at < end for begin, end in paused)]

        self.assertEqual(within(rules), [])
        self.assertGreater(len(within(free)), 0)

    def pauses(self, seen):
        """(begin, end) for certain of what host 1 asked for: from a marker's coming out to the end of what the quanta before
        it say, or to the pause that ends all."""
        told = [frame for frame in seen if frame["at"] == "host1" and frame["sent"] and "quanta" in frame]
        markers = [frame["ns"] for frame in seen if frame["at"] == "host2" and frame.get("udp_port") == MARKER]
        *asked, over = told
        return [(marker, min(over["ns"], frame["ns"] + frame["quanta"][3] * self.quantum_ns)) for frame, marker in zip(asked, markers)]

    def test_a_congested_port_pauses_exactly_the_hosts_that_feed_it(self):
        cables, switch = self.cables(4), self.slow(4)
        switch.port("h2", shaper="10M")
        for source in (0, 1):  # room for more than a burst, then XOFF, then room for all the rest: these hosts do not obey
            switch.section(f"port.h{source}.priority_group.3", static_th="100KB", xoff="500KB")
        # All that host 3 sends has room, even while the worker is kept from its core.
        switch.section("port.h3.priority_group.3", static_th="200KB", xoff="500KB")
        with self.running(switch) as run, observing(self, "host0", "host1", "host3") as seen:
            self.comes_through(cables[3], cables[0], run)
            for turn in range(300):
                for source in (0, 1):
                    cables[source].send(plain(1400, source=source, to=2, dscp=AF31, identification=turn))
                if turn % 3 == 0:
                    cables[3].send(plain(1400, source=3, to=0, dscp=AF31, identification=turn))
            for source, to in ((3, 0), (0, 2)):
                self.comes_through(cables[source], cables[to], run, dscp=AF31)
        told = {(frame["at"], frame["classes"]) for frame in seen if "quanta" in frame and not frame["sent"]}
        self.assertEqual(told, {("host0", 8), ("host1", 8)})
        for host in ("host0", "host1"):
            quanta = [frame["quanta"][3] for frame in seen if frame["at"] == host and "quanta" in frame]
            self.assertGreater(quanta[0], 0)
            self.assertEqual(quanta[-1], 0, "it is let go in the end")
        self.assertEqual(run.outcome.drops(), {})

    def test_congestion_is_marked_on_what_is_ect(self):
        cables, switch = self.cables(2), self.slow(2)
        switch.port("h1", shaper="10M")  # slower than this test can send, even where it hardly gets a CPU
        with self.running(switch) as run, observing(self, "host1") as seen:
            self.comes_through(*cables, run)
            for turn in range(600):
                cables[0].send(plain(1400, dscp=AF31, ecn=ECT0, dport=RULE, identification=turn),
                               plain(1400, dscp=AF31, dport=FREE, identification=turn))
            self.comes_through(*cables, run, dscp=AF31)
        marked = {port: sum(frame["ecn"] == CE for frame in seen if frame.get("udp_port") == port) for port in (RULE, FREE)}
        self.assertGreater(marked[RULE], 0)
        self.assertEqual(marked[FREE], 0)
        self.assertEqual(marked[RULE], run.outcome.port("h1")["queues"][3]["ecn_marked_packets"])


if __name__ == "__main__":
    netns.main()
