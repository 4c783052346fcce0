#!/usr/bin/python3
"""Two leaves, two spines, BGP between them: RoCEv2 while links are cut, a spine starts anew, and routes flap."""

import netns
from lab_case import LabCase
from network import wait_for

CLASS = 3
LINKS = [(leaf, spine) for leaf in ("leaf1", "leaf2") for spine in ("spine1", "spine2")]
ROUTES, ROUNDS = 1000, 5  # 10 000 changes: each round adds and deletes them


class Fabric(LabCase):
    """One fabric for all of them: every test leaves it whole."""

    programs = ("/usr/lib/frr/bgpd",)
    built = None

    def setUp(self):
        super().setUp()
        if Fabric.built is None:
            Fabric.built = self.lab(cleanup=type(self).addClassCleanup).fabric()
            for host, address in (("h1", "10.0.3.2"), ("h3", "10.0.1.2")):
                self.reach(Fabric.built.hosts[host], address)
        self.fabric = self.built
        self.fabric.wait_for_routes()

    def stats(self):
        """The report of every switch."""
        return {name: switch.ask("stats", "show") for name, switch in self.fabric.switches.items()}

    def flows(self, pps=1000, flows=32):
        """Peers of h1 and h3, that send each other RoCEv2."""
        pair = [self.stream(self.fabric, n, to, qps=flows, pps=pps, size=522, start="told") for n, to in ((1, 3), (3, 1))]
        for peer in pair:
            peer.tell("start")
        self.carried(pair, 500)
        return pair

    def carried(self, pair, frames):
        """Waits until so many more have come through both ways."""
        for peer in pair:
            before = peer.show()["received"]
            peer.until(lambda account, wanted=before + frames: account["received"] >= wanted)

    def at_rest(self, pair, before, late=False):
        """Has them stop; when nothing is under way any more: how many frames are lost, and the stats.

        A receive ring that was full since `before`, of a switch that waited for its turn too long, counts what it lost; that is not in it.
        `late`: frames may have been overtaken, by those of their flow that took another way."""
        for peer in pair:
            peer.tell("stop")
        def moving():
            return [peer.show()["received"] for peer in pair], self.under_way()
        last = None
        while (now := moving()) != last:
            last = now
            wait_for(lambda: not self.under_way(), why="frames stay in a switch")
        accounts = [peer.show() for peer in pair]
        self.assertEqual({(account["late"] > 0 and not late, account["bad_icrc"], account["missed"]) for account in accounts},
                         {(False, 0, 0)})
        after = self.stats()
        missed = sum(self.missed(after, name, port) - self.missed(before, name, port) for name in after for port in after[name]["ports"])
        return sum(account["sent"] - account["received"] for account in accounts) - missed, after

    @staticmethod
    def missed(stats, switch, port):
        return stats[switch]["ports"][port]["imissed"]

    def under_way(self):
        return sum(stats["ledger"]["queued"] for stats in self.stats().values())

    def drops(self, before, after):
        """{(switch, port, reason): frames of the lossless class}, since then."""
        found = {}
        for name, stats in after.items():
            for port, counters in stats["ports"].items():
                was = before[name]["ports"][port]["lossless_drops"] if name in before else {}
                for reason, count in counters["lossless_drops"].items():
                    if count > was.get(reason, 0):
                        found[name, port, reason] = count - was.get(reason, 0)
        return found

    def lost_between(self, before, after):
        """{(from, to): frames that one switch sent and that did not get to the other}, since then."""
        def count(stats, switch, port, way):
            return stats[switch]["ports"][port][way]["packets"] + (self.missed(stats, switch, port) if way == "rx" else 0)

        found = {}
        for one, other in [*LINKS, *((spine, leaf) for leaf, spine in LINKS)]:
            sent, got = (count(after, *end) - count(before, *end) for end in ((one, other, "tx"), (other, one, "rx")))
            if sent != got:
                found[one, other] = sent - got
        return found

    def sent_by(self, stats, leaf):
        return [stats[leaf]["ports"][spine]["queues"][CLASS]["tx_packets"] for spine in ("spine1", "spine2")]

    def test_routes_come_by_bgp_and_flows_use_both_spines(self):
        for switch in self.fabric.switches.values():
            self.assertEqual(set(switch.sessions().values()), {"Established"}, switch.name)
            self.assertEqual(len(switch.sessions()), 4)
        for leaf, prefixes in (("leaf1", ("10.0.3.0/24", "2001:db8:4::/64")), ("leaf2", ("10.0.1.0/24", "2001:db8:2::/64"))):
            routes = {route["prefix"]: route for route in self.fabric.switches[leaf].ask("route", "show")}
            for prefix in prefixes:
                self.assertEqual((len(routes[prefix]["via"]), routes[prefix]["source"]), (2, "kernel"))
        before = self.stats()
        pair = self.flows()
        self.carried(pair, 500)
        lost, after = self.at_rest(pair, before)
        self.assertEqual((lost, self.drops(before, after), self.lost_between(before, after)), (0, {}, {}))
        for leaf in ("leaf1", "leaf2"):
            shares = [now - was for now, was in zip(self.sent_by(after, leaf), self.sent_by(before, leaf))]
            self.assertGreater(min(shares), sum(shares) / 8, shares)

    def test_a_cut_link_loses_what_was_on_it_and_nothing_else(self):
        before = self.stats()
        pair = self.flows()
        leaf = self.fabric.switches["leaf1"]
        leaf.namespace.ip("link set spine1 down")
        self.wait_for_ways(1)
        self.carried(pair, 500)
        before_up = self.stats()
        leaf.namespace.ip("link set spine1 up")
        self.fabric.wait_for_routes()
        wait_for(lambda: self.sent_by(self.stats(), "leaf1")[0] > self.sent_by(before_up, "leaf1")[0], why="the link is not used again")
        lost, after = self.at_rest(pair, before, late=True)
        drops, between = self.drops(before, after), self.lost_between(before, after)
        self.assertEqual(lost, sum(drops.values()) + sum(between.values()), (drops, between))
        # At the leaf what was to go out by it, at the spine what was to come back by it.
        self.assertLessEqual(set(between), {("leaf1", "spine1"), ("spine1", "leaf1")})
        self.assertLessEqual({(switch, port) for switch, port, _ in drops}, {("leaf1", "h1"), ("spine1", "leaf2")})
        self.assertLessEqual({reason for *_, reason in drops}, {"link_down", "no_route", "unresolved_next_hop"})

    def wait_for_ways(self, count):
        def ways():
            found = {route["prefix"]: route["via"] for leaf in ("leaf1", "leaf2")
                     for route in self.fabric.switches[leaf].ask("route", "show")}
            return [1 if isinstance(found[prefix], str) else len(found[prefix]) for prefix in ("10.0.1.0/24", "10.0.3.0/24")]

        wait_for(ways, lambda found: found == [count] * 2, "ways")

    def test_a_spine_that_is_killed_and_started_anew(self):
        before = self.stats()
        pair = self.flows()
        spine = self.fabric.switches["spine2"]
        spine.namespace.kill_all()
        self.wait_for_ways(1)
        self.carried(pair, 500)
        spine.start()
        spine.start_routing()
        self.fabric.wait_for_routes()
        wait_for(lambda: sum(port["rx"]["packets"] for port in spine.ask("stats", "show")["ports"].values()), why="it is not used again")
        before["spine2"] = {"ports": {port: {"lossless_drops": {}, "imissed": 0, **{way: {"packets": 0} for way in ("tx", "rx")}}
                                      for port in ("leaf1", "leaf2")}}
        lost, after = self.at_rest(pair, before, late=True)
        drops, between = self.drops(before, after), self.lost_between(before, after)
        # Neither counts the packets that its kernel routed while it was away: as many go in as out.
        self.assertEqual(lost, sum(drops.values()) + sum(between.values()), (drops, between))
        self.assertLessEqual({name for link in between for name in link if name.startswith("spine")}, {"spine2"})

    def test_ten_thousand_route_changes_under_load_lose_nothing(self):
        leaves = [self.fabric.switches[name] for name in ("leaf1", "leaf2")]
        prefixes = [f"20.{n >> 8}.{n & 255}.0/24" for n in range(ROUTES)]

        def known(count):
            for name, ways in (("leaf2", 1), ("leaf1", 2)):
                wait_for(lambda name=name, ways=ways: [len(via) if isinstance(via, list) else 1 for via in self.flapping(name)],
                         lambda found, ways=ways: found == [ways] * count, f"routes of {name}")

        before = self.stats()
        pair = self.flows()
        for turn in range(ROUNDS):
            for verb in ("add", "delete"):
                lines = "".join(f"route {verb} {prefix} via 10.0.3.2\n" for prefix in prefixes)
                leaves[1].namespace.run("ip", "-batch", "-", given=lines)
                if turn in (0, ROUNDS - 1):  # those between come as fast as they can
                    known(ROUTES if verb == "add" else 0)
        self.carried(pair, 500)
        lost, after = self.at_rest(pair, before)
        self.assertEqual((lost, self.drops(before, after), self.lost_between(before, after)), (0, {}, {}))
        self.assertEqual(self.fabric.switches["leaf1"].events("kernel_refused"), [])

    def flapping(self, name):
        return [route["via"] for route in self.fabric.switches[name].ask("route", "show") if route["prefix"].startswith("20.")]


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
