#!/usr/bin/python3
"""The kernel as control plane: what `ip` says in the switch's namespace is what the switch does."""

import json
import signal
import subprocess

import netns
from figures import catalogue
from frames import plain, raw_mac, routed
from kernel_case import FLOWS, KernelCase, ip
from loopback import Programs, mac
from netns import KernelHost, sh

RENAMES = 100
ROUTES = 12_000  # of the overrun: many times what its socket holds


def flows(to, count=64):
    return [plain(to=to, sport=1000 + n, dport=9) for n in range(count)]


class Routes(KernelCase):
    def test_a_route_of_several_next_hops_comes_changes_and_goes(self):
        cables, switch = self.cables(3), self.switch(3)
        with self.running(switch) as run:
            self.comes_through(*cables[:2], run)
            ip("route add 10.9.0.0/16 nexthop via 10.0.1.2 weight 3 nexthop via 10.0.2.2")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.1.2": 3, "10.0.2.2": 1})
            found = run.call("route.lookup", destination="10.9.7.7")
            self.assertEqual((found["prefix"], found["source"]), ("10.9.0.0/16", "kernel"))
            counts = self.arrived(cables, flows("10.9.7.7"), run)
            self.assertEqual(sum(counts.values()), 64)
            self.assertGreater(counts[1], counts[2])
            self.assertGreater(counts[2], 0)

            ip("route replace 10.9.0.0/16 via 10.0.2.2")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.2.2": 1})
            self.assertEqual(self.arrived(cables, flows("10.9.7.7"), run), {1: 0, 2: 64})

            for word in ("prohibit", "unreachable", "blackhole"):
                ip(f"route replace {word} 10.9.7.0/24")
                self.wait_for_route(run, "10.9.7.0/24", word)
            self.addCleanup(ip, "route delete blackhole 10.9.7.0/24")
            ip("route delete 10.9.0.0/16")
            self.wait_for_route(run, "10.9.0.0/16", None)
            self.assertEqual(self.arrived(cables, flows("10.9.7.7", 5) + flows("10.9.8.8", 3), run), {1: 0, 2: 0})
        self.assertEqual(run.outcome.drops(), {"blackhole": 5, "no_route": 3})

    def test_ipv6_legs_come_and_go_one_by_one(self):
        self.cables(3)
        for n in range(3):
            ip(f"address add 2001:db8:{n}::1/64 dev sw{n} nodad")
        with self.running(self.switch(3)) as run:
            ip("-6 route add 2001:db8:9::/48 nexthop via 2001:db8:1::2 weight 2 nexthop via 2001:db8:2::2")
            self.wait_for_route(run, "2001:db8:9::/48", {"2001:db8:1::2": 2, "2001:db8:2::2": 1})
            ip("-6 route delete 2001:db8:9::/48 via 2001:db8:2::2")
            self.wait_for_route(run, "2001:db8:9::/48", {"2001:db8:1::2": 2})
            ip("-6 route append 2001:db8:9::/48 via 2001:db8:2::9")
            run.wait_for(lambda: self.routes(run)[("2001:db8:9::/48", "kernel")][0], lambda via: "2001:db8:2::9" in via)

    def test_next_hop_objects(self):
        self.cables(3)
        with self.running(self.switch(3)) as run:
            for line in ("add id 1 via 10.0.1.2 dev sw1", "add id 2 via 10.0.2.2 dev sw2", "add id 10 group 1/2,2"):
                ip("nexthop " + line)
            ip("route add 10.9.0.0/16 nhid 10")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.1.2": 1, "10.0.2.2": 2})
            ip("nexthop replace id 1 via 10.0.1.3 dev sw1")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.1.3": 1, "10.0.2.2": 2})
            ip("nexthop delete id 10")  # takes the route with it, without a word
            self.wait_for_route(run, "10.9.0.0/16", None)

    def test_a_neighbor_that_changes_its_mac(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            ip("neighbor replace 10.0.1.2 lladdr 02:00:00:00:00:77 dev sw1")
            run.wait_for(lambda: run.call("neighbor.list"), lambda known: "02:00:00:00:00:77" in str(known))
            cables[0].send(plain(dport=9))
            frame = cables[1].receive()
            while frame[36:38] != FLOWS:
                frame = cables[1].receive()
            self.assertEqual(frame[:6], raw_mac("02:00:00:00:00:77"))
            ip("neighbor delete 10.0.1.2 dev sw1")
            run.wait_for(lambda: run.call("neighbor.list"), lambda known: "10.0.1.2" not in str(known))
            cables[0].send(*flows("10.0.1.2", 2))
            run.wait_for(lambda: run.call("stats.show", path="ports.h0.drops"), lambda drops: drops.get("unresolved_timeout") == 2)
            self.assertEqual(run.call("stats.show", path="ports.h0.unresolved_waiting_packets"), 0)
        self.assertEqual(run.outcome.drops()["unresolved_timeout"], 2)
        self.assertEqual((run.outcome.port("h0")["punted"]["unresolved"], run.outcome.port("h0")["returned_packets"]), (2, 2))
        self.assertGreaterEqual(run.outcome.report["kernel"]["asks"], 1)

    def test_what_nobody_answers_for_is_kept_in_bounds_and_given_up(self):
        cables, switch = self.cables(), self.switch(**{"punt.unresolved.burst": 200})
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for sent in (40, 80, 100):
                cables[0].send(*[plain(to="10.0.1.77", dscp=26, dport=9) for _ in range(40 if sent <= 80 else 20)])
                run.wait_for(lambda: run.call("stats.show", path="ports.h0.punted.unresolved"), lambda punted, sent=sent: punted == sent)
                # Taken by control, too, whose ring does not hold them all.
                run.wait_for(lambda: run.call("stats.show", path="ports.h0.unresolved_waiting_packets"),
                             lambda waiting, sent=sent: waiting == min(sent, 64))
                run.wait_for(lambda: run.call("stats.show", path="ports.h0.drops"),
                             lambda drops, sent=sent: drops.get("unresolved_next_hop", 0) == max(sent - 64, 0))
            cables[0].send(plain(ttl=1))
            # Others have room.
            cables[0].send(*flows("10.0.1.78", 20))
            run.wait_for(lambda: run.call("stats.show", path="ports.h0.unresolved_waiting_packets"), lambda waiting: waiting == 84)
            ip("neighbor replace 10.0.1.78 lladdr 02:00:00:00:00:78 dev sw1")
            came = []
            while len(came) < 20:
                frame = cables[1].receive()
                self.assertIsNotNone(frame, f"{len(came)} of 20")
                if frame[36:38] == FLOWS:
                    came.append(frame)
            self.frames_equal([frame[14:] for frame in came], [routed(frame, 1)[14:] for frame in flows("10.0.1.78", 20)])
            self.assertEqual({frame[:6] for frame in came}, {raw_mac("02:00:00:00:00:78")})
            run.wait_for(lambda: run.call("stats.show", path="ports.h0.drops"), lambda drops: drops.get("unresolved_timeout") == 64)
        port = run.outcome.port("h0")
        self.assertEqual(port["lossless_drops"], {"unresolved_next_hop": 36, "unresolved_timeout": 64})
        self.assertLess(run.outcome.report["kernel"]["asks"], 60, "asked for with every packet")
        # Nobody is there to answer for other classes.
        self.assertEqual({punt: count for punt, count in port["punted"].items() if count}, {"unresolved": 120})
        self.assertEqual(port["drops"]["ttl_expired"], 1)
        self.assertEqual((port["returned_packets"], port["inject_lost_packets"]), (120, 0))
        self.assertIn("unresolved_timeout", str(run.outcome.report["verdict"]["reasons"]))

    def test_one_next_hop_behind_every_port(self):
        """169.254.0.1 and fe80::1, as routing daemons have their neighbors at ports without numbers."""
        cables, switch = self.cables(3), self.switch(3)
        with self.running(switch) as run:
            self.comes_through(*cables[:2], run)
            for gateway in ("169.254.0.1", "fe80::1"):
                for n in (1, 2):
                    ip(f"neighbor replace {gateway} lladdr {mac(10 + n)} dev sw{n}")
            for n in (1, 2):
                ip(f"route add 10.{40 + n}.0.0/16 via 169.254.0.1 dev sw{n} onlink")
                ip(f"-6 route add 2001:db8:{40 + n}::/48 via fe80::1 dev sw{n}")
            ip("route add 10.9.0.0/16 nexthop via 169.254.0.1 dev sw1 onlink nexthop via 169.254.0.1 dev sw2 weight 3 onlink")
            run.wait_for(lambda: {route["prefix"]: [(hop["address"], hop["port"], hop["weight"]) for hop in route["via"]] for route in run.call("route.list")},
                         lambda found: found == {"10.9.0.0/16": [("169.254.0.1", "h1", 1), ("169.254.0.1", "h2", 3)],
                                                 "10.41.0.0/16": [("169.254.0.1", "h1", 1)], "10.42.0.0/16": [("169.254.0.1", "h2", 1)],
                                                 "2001:db8:41::/48": [("fe80::1", "h1", 1)], "2001:db8:42::/48": [("fe80::1", "h2", 1)]})
            for n in (1, 2):
                for to in (f"10.{40 + n}.0.1", f"2001:db8:{40 + n}::1"):
                    self.assertEqual(run.call("route.lookup", destination=to)["port"], f"h{n}")
            known = [(entry["address"], entry["port"], entry["mac"]) for entry in run.call("neighbor.list")]
            self.assertLessEqual({(gateway, f"h{n}", mac(10 + n)) for n in (1, 2) for gateway in ("169.254.0.1", "fe80::1")}, set(known))
            self.assertEqual(self.arrived(cables, flows("10.41.0.1", 8), run), {1: 8, 2: 0})
            self.assertEqual(self.arrived(cables, flows("10.42.0.1", 8), run), {1: 0, 2: 8})
            came = self.arrived(cables, flows("10.9.0.1", 64), run)
            self.assertEqual(sum(came.values()), 64)
            self.assertTrue(4 < came[1] < 28, came)
            ip("link set sw2 down")  # the kernel forgets its routes and neighbors there
            run.wait_for(lambda: run.call("route.lookup", destination="10.42.0.1")["prefix"], lambda prefix: prefix is None)
            self.assertEqual(run.call("route.lookup", destination="10.41.0.1")["port"], "h1")
            self.assertEqual(run.call("route.lookup", destination="10.9.0.1")["port"], "h1")

    def test_static_routes_come_before_the_kernels(self):
        cables, switch = self.cables(3), self.switch(3)
        switch.neighbor("10.0.1.2", "h1", mac(1))
        switch.route("10.9.0.0/16", "10.0.1.2")
        with self.running(switch) as run:
            self.comes_through(*cables[:2], run)
            ip("route add 10.9.0.0/16 via 10.0.2.2")
            ip("route add 10.9.7.0/24 via 10.0.2.2")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.2.2": 1}, used=False)
            self.wait_for_route(run, "10.9.7.0/24", {"10.0.2.2": 1})
            self.assertEqual(run.call("route.lookup", destination="10.9.1.1")["source"], "static")
            self.assertEqual(run.call("route.lookup", destination="10.9.7.7")["source"], "kernel")
            self.assertEqual(self.arrived(cables, flows("10.9.1.1", 8), run), {1: 8, 2: 0})
            done = subprocess.run([Programs.sluicectl, "--socket", run.path, "route", "show"], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.splitlines(), ["10.9.0.0/16 via 10.0.1.2", "10.9.0.0/16 via 10.0.2.2 dev h2 source kernel unused",
                                                        "10.9.7.0/24 via 10.0.2.2 dev h2 source kernel"])
            run.call("route.delete", routes=["10.9.0.0/16"])
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.2.2": 1})
            self.assertEqual(self.arrived(cables, flows("10.9.1.1", 8), run), {1: 0, 2: 8})

    def test_a_route_by_another_interface_is_counted_and_hides_shorter_ones(self):
        cables = self.cables()
        ip("link add other0 type veth peer name other1")
        self.addCleanup(ip, "link delete other0")
        ip("link set other0 up")
        with self.running(self.switch()) as run:
            self.comes_through(*cables, run)
            ip("route add 10.9.0.0/16 via 10.0.1.2")
            ip("route add 10.9.7.0/24 dev other0")
            self.wait_for_route(run, "10.9.7.0/24", "elsewhere")
            self.assertEqual(self.arrived(cables, flows("10.9.1.1", 4) + flows("10.9.7.7", 3), run), {1: 4})
            told = run.call("stats.show")["kernel"]
            self.assertEqual(told["routes_elsewhere"], 1)
            rows = [figure.path for figure in catalogue(Programs.sluiced).figures if figure.path.startswith("kernel.")]
            self.assertEqual([f"kernel.{name}" for name in told], rows)
        self.assertEqual(run.outcome.drops(), {"no_route": 3})

    def test_a_throw_ends_the_search_and_what_is_left_out_is_named(self):
        cables = self.cables()
        with self.running(self.switch()) as run:
            self.comes_through(*cables, run)
            ip("route add default via 10.0.1.2")
            ip("route add throw 10.9.0.0/16")
            self.addCleanup(ip, "route delete throw 10.9.0.0/16")
            ip("route add 10.6.0.0/16 via 10.0.1.2")
            ip("route add 10.6.0.0/16 tos 0x10 via 10.0.0.2")
            self.wait_for_route(run, "10.9.0.0/16", "throw")
            self.assertEqual(self.arrived(cables, flows("10.9.1.1", 3) + flows("10.8.1.1", 4) + flows("10.6.1.1", 5), run), {1: 9})
            self.assertIn("10.9.0.0/16", run.wait_for_event("kernel_not_mirrored", "throw"))
            run.wait_for_event("kernel_not_mirrored", "10.6.0.0/16 tos 0x10")
            rules = run.call("stats.show", path="kernel.rules")
            for family in ("", "-6 "):
                ip(f"{family}rule add priority 77 fwmark 7 lookup 100")
                self.addCleanup(ip, f"{family}rule delete priority 77")
                run.wait_for_event("kernel_not_mirrored", f"ip {family}rule 77: from all fwmark 0x7/0xffffffff lookup 100")
            told = run.call("stats.show")["kernel"]
            self.assertEqual((told["throws"], told["routes_by_tos"], told["rules"], told["routes_elsewhere"]), (1, 1, rules + 2, 0))
        self.assertEqual(run.outcome.drops(), {"no_route": 3})

    def test_lost_news_are_asked_for_anew(self):
        cables, switch = self.cables(), self.switch(**{"kernel.receive_buffer": 4096})
        prefixes = [f"20.{n >> 8}.{n & 255}.0/24" for n in range(ROUTES)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for verb in ("add", "delete"):
                before = run.call("stats.show")["kernel"]
                run.process.send_signal(signal.SIGSTOP)  # so that it cannot read in time
                subprocess.run(["ip", "-batch", "-"], check=True, text=True,
                               input="".join(f"route {verb} {prefix} via 10.0.1.2\n" for prefix in prefixes))
                run.process.send_signal(signal.SIGCONT)
                found = run.wait_for(lambda: self.routes(run), lambda found: len(found) == (ROUTES if verb == "add" else 0))
                self.assertEqual({prefix for prefix, _ in found}, set(prefixes if verb == "add" else []))
                self.assertGreater(run.call("stats.show")["kernel"]["overruns"], before["overruns"])
            self.assertIn("asked for anew", run.wait_for_event("kernel_overrun"))
            self.assertIn("routes", run.wait_for_event("kernel_resynced"))
            self.comes_through(*cables, run)
        self.assertEqual(run.outcome.drops(), {})

    def test_routes_that_do_not_fit_keep_nothing_else_out(self):
        self.cables()
        with self.running(self.switch(fib={"ipv4_tables": 256})) as run:
            subprocess.run(["ip", "-batch", "-"], check=True, text=True,
                           input="".join(f"route add 20.{n >> 8}.{n & 255}.1/32 via 10.0.1.2\n" for n in range(400)))
            ip("route add 30.0.0.0/8 via 10.0.1.2")
            self.wait_for_route(run, "30.0.0.0/8", {"10.0.1.2": 1})
            self.assertIn("the forwarding table is full", run.wait_for_event("kernel_refused"))
            self.assertGreater(len(self.routes(run)), 240)


class Interfaces(KernelCase):
    def test_a_new_name_is_told_and_is_the_same_port(self):
        cables = self.cables()
        with self.running(self.switch()) as run:
            self.comes_through(*cables, run)
            ip("link set sw1 down")
            ip("link set sw1 name swp1")
            self.addCleanup(ip, "link set swp1 name sw1")  # before the cable's own
            ip("link set swp1 up")
            ip(f"neighbor replace 10.0.1.2 lladdr {mac(1)} dev swp1")
            self.assertEqual(run.wait_for_event("interface_renamed"), "port h1: its interface sw1 is called swp1 now")
            self.comes_through(*cables, run)
            ip("link set swp1 down")
            # The kernel takes the carrier away first, and gives it last: a look in between sees that.
            self.assertIn(" down: its interface swp1 is set down; do: ip link set swp1 up", run.wait_for_event("port_down", "swp1 is set"))
            ip("link set swp1 up")
            self.assertIn("port h1 up: its interface swp1 ", run.wait_for_event("port_up", "swp1"))

    def test_an_interface_with_ever_another_name_has_not_gone(self):
        cables = self.cables()
        with self.running(self.switch()) as run:
            self.comes_through(*cables, run)
            ip("link set sw1 down")
            subprocess.run(["ip", "-batch", "-"], check=True, text=True, stdout=subprocess.DEVNULL,
                           input="link set sw1 name swp1\nlink set swp1 name sw1\n" * RENAMES)
            ip("link set sw1 up")
            ip(f"neighbor replace 10.0.1.2 lladdr {mac(1)} dev sw1")
            self.comes_through(*cables, run)
            self.assertEqual(run.told("interface_gone"), [])

    def test_a_name_that_is_not_utf_8_is_told_as_far_as_it_goes(self):
        cables, name = self.cables(), "s\udcff\udc80w"  # bytes that Python could not decode
        with self.running(self.switch()) as run:
            self.comes_through(*cables, run)
            ip("link set sw1 down")
            sh("ip", "link", "set", "sw1", "name", name)
            self.addCleanup(sh, "ip", "link", "set", name, "name", "sw1")  # before the cable's own
            told = "s\ufffd\ufffdw"
            self.assertEqual(run.wait_for_event("interface_renamed"), f"port h1: its interface sw1 is called {told} now")
            sh("ip", "link", "set", name, "up")
            self.assertIn(f"port h1 up: its interface {told} ", run.wait_for_event("port_up", told))
            ip(f"neighbor replace 10.0.1.2 lladdr {mac(1)} dev {name}")
            self.comes_through(*cables, run)
            self.assertIn(told, json.dumps(run.call("events.list"), ensure_ascii=False))

    def test_one_that_goes_is_told_and_takes_its_routes_along(self):
        cables = self.cables(3)
        with self.running(self.switch(3)) as run:
            self.comes_through(*cables[:2], run)
            ip("route add 10.9.0.0/16 via 10.0.2.2")
            self.wait_for_route(run, "10.9.0.0/16", {"10.0.2.2": 1})
            ip("link delete sw2")
            self.assertIn("port h2: its interface sw2 has gone", run.wait_for_event("interface_gone"))
            self.wait_for_route(run, "10.9.0.0/16", None)
            self.assertIsNone(run.call("route.lookup", destination="10.0.2.2")["prefix"])
            ip("link add sw2 type veth peer name other1")  # of the same name, yet another; the cable's cleanup takes it away
            self.comes_through(*cables[:2], run)


class Kernels:
    """Hosts, kernels and routers between them, and not a word in the switch's configuration."""

    def switch_knows(self, run):
        """The kernel's addresses and subnets are the switch's; it knows no neighbor."""
        for address in ("10.0.1.2", "10.0.0.2", "2001:db8:1::2", "2001:db8:0::2"):
            run.wait_for(lambda address=address: run.call("route.lookup", destination=address).get("source"), lambda source: source == "kernel subnet")

    def hosts(self):
        hosts = [KernelHost(self, n, resolves=True) for n in range(2)]
        for n, host in enumerate(hosts):  # without a link-local address a kernel solicits no neighbor
            ip(f"address add fe80::1/64 dev sw{n} nodad")
            host.run("ip", "address", "add", "fe80::2/64", "dev", "eth0", "nodad")
        return hosts

    def test_ping_with_nothing_but_what_ip_says(self):
        hosts = self.hosts()
        with self.running(self.switch()) as run:
            self.switch_knows(run)
            for sender, address in ((0, "10.0.1.2"), (0, "2001:db8:1::2"), (1, "10.0.0.2"), (1, "2001:db8:0::2")):
                self.assertEqual(hosts[sender].ping(address), (5, 63), "the very first one, too: " + address)
            for sender, address in ((0, "10.0.0.1"), (0, "10.0.1.1"), (1, "2001:db8:1::1")):
                self.reaches(hosts[sender], address)
        self.assertGreaterEqual(min(run.outcome.port(f"h{n}")["queues"][0]["tx_packets"] for n in range(2)), 20)
        self.assertLessEqual(set(run.outcome.drops()), {"multicast", "local_address", "link_local", "not_ip", "not_for_us"})

    def test_a_gateway_is_resolved_before_a_packet_wants_it(self):
        hosts = self.hosts()
        for line in ("link set lo up", "address add 10.9.0.1/32 dev lo", "address add 2001:db8:9::1/128 dev lo"):
            hosts[1].run("ip", *line.split())
        with self.running(self.switch()) as run:
            ip("route add 10.9.0.0/16 via 10.0.1.2")
            ip("-6 route add 2001:db8:9::/48 via 2001:db8:1::2")
            known = run.wait_for(lambda: [(entry["address"], entry["mac"]) for entry in run.call("neighbor.list")],
                                 lambda known: {"10.0.1.2", "2001:db8:1::2"} <= {address for address, _ in known})
            self.assertEqual(dict(known)["10.0.1.2"], mac(1))
            self.reaches(hosts[0], "10.9.0.1")
            self.reaches(hosts[0], "2001:db8:9::1")
            self.assertEqual(hosts[0].ping("10.9.0.1"), (5, 63))
            self.assertIn("managed", ip("neighbor show 10.0.1.2"))
        # The kernel need not keep the neighbors any longer.
        self.assertNotIn("managed", ip("neighbor show 10.0.1.2"))

    def test_a_mirrors_collector_is_resolved(self):
        """No packet has wanted it before; the first frames of the mirror are lost, and say so."""
        hosts = self.hosts()
        switch = self.switch()
        switch.port("h1", address=["10.0.1.1/24"])
        switch.section("mirror.m", collector="10.0.1.2")
        with self.running(switch) as run:
            def mirrored():
                hosts[0].ping("192.0.2.1", count=1, wait_s=0.01)
                return run.call("mirror.show")["mirrors"][0]
            found = run.wait_for(mirrored, lambda mirror: mirror["mirrored_packets"] > 0)
            self.assertEqual(found["state"], "sent by h1")
            self.assertIn(("10.0.1.2", mac(1)), [(entry["address"], entry["mac"]) for entry in run.call("neighbor.list")])
        self.assertGreaterEqual(run.outcome.report["kernel"]["asks"], 1)
        self.assertEqual(run.outcome.port("h1")["mirrored_packets"], run.outcome.report["mirrors"]["m"]["mirrored_packets"])

    def test_the_table_local_is_the_kernels_on_any_interface(self):
        hosts = self.hosts()
        ip("link set lo up")
        with self.running(self.switch()) as run:
            self.reaches(hosts[0], "10.0.1.2")
            ip("route add default via 10.0.1.2")
            ip("-6 route add default via 2001:db8:1::2")
            source = lambda address: run.call("route.lookup", destination=address).get("source")
            run.wait_for(lambda: source("10.255.0.1"), lambda found: found == "kernel")
            for address, length in (("10.255.0.1", 32), ("2001:db8:255::1", 128)):
                ip(f"address add {address}/{length} dev lo")
                run.wait_for(lambda address=address: source(address), lambda found: found == "kernel address")
                self.reaches(hosts[0], address)  # the kernel tells of an address of IPv6 before it takes packets to it
                self.assertEqual(hosts[0].ping(address)[0], 5, address)
                self.assertIn(f"local {address} source kernel address\n", subprocess.run(
                    [Programs.sluicectl, "--socket", run.path, "route", "get", address], capture_output=True, text=True, check=True).stdout)
                ip(f"address delete {address}/{length} dev lo")
                run.wait_for(lambda address=address: source(address), lambda found: found == "kernel")
            ip("route add local 10.254.0.0/16 dev lo")
            run.wait_for(lambda: source("10.254.1.1"), lambda found: found == "kernel address")
            self.assertEqual(hosts[0].ping("10.254.1.1")[0], 5)
            ip("route delete local 10.254.0.0/16 dev lo")
            run.wait_for(lambda: source("10.254.1.1"), lambda found: found == "kernel")

    def test_addresses_come_and_go_while_it_runs(self):
        hosts = self.hosts()
        with self.running(self.switch()) as run:
            self.reaches(hosts[0], "10.0.1.2")
            self.assertEqual(run.call("route.lookup", destination="10.0.0.77").get("source"), "kernel subnet")
            ip("address add 10.0.0.77/32 dev sw0")
            run.wait_for(lambda: run.call("route.lookup", destination="10.0.0.77"), lambda found: found["source"] == "kernel address")
            self.reaches(hosts[0], "10.0.0.77")
            ip("address delete 10.0.0.77/32 dev sw0")
            run.wait_for(lambda: run.call("route.lookup", destination="10.0.0.77"), lambda found: found["source"] == "kernel subnet")


class KernelsOfPackets(Kernels, KernelCase):
    pass


class KernelsOfXdp(Kernels, KernelCase):
    device = "xdp:sw{n}"


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
