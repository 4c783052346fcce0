#!/usr/bin/python3
"""The switch between interfaces of the kernel: raw frames in and out, and kernels that talk through it."""

import os
import signal
import threading

import netns
from frames import ethernet, plain, raw_mac, routed
from loopback import gateway_mac, pcap_bytes, verify
from netns import KernelHost, sh


class RawFrames(netns.FrameTests, netns.Case):
    jumbo = {"mtu": 9216}
    jumbo_sizes = (60, 1514, 2048, 2049, 4110, 9014, 9230)

    def test_a_port_takes_nothing_of_another_interface(self):
        """The kernel gives a packet socket everything until it is bound; here while the switch makes its ports."""
        cables, switch = self.cables(), self.switch()
        switch.default(mtu=1500, speed="10G")
        over, of_h1 = threading.Event(), raw_mac(gateway_mac(1)) + plain()[6:]

        def send_without_end():
            while not over.is_set():
                cables[0].send(*[of_h1] * 32)

        sender = threading.Thread(target=send_without_end)
        sender.start()
        try:
            with self.running(switch) as run:
                self.comes_through(*cables, run)
        finally:
            over.set()
            sender.join()
        self.assertEqual(run.outcome.port("h1")["rx"]["packets"], 0)

    def test_rocev2_through_two_workers(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.through(self.roce(), workers=2)

    def test_flows_over_two_receive_queues_keep_their_order(self):
        """The kernel spreads them; a flow is a source port here, a frame's place in it the IP identification."""
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        cables, switch = self.cables(), self.switch(workers=2)
        switch.port("h0", device="net_af_packet0,iface=sw0,qpairs=2", rx_queues=2)
        flows = {1000 + n: [plain(200, sport=1000 + n, identification=place) for place in range(20)] for n in range(64)}
        came = []
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for together in zip(*flows.values()):
                cables[0].send(*together)
                came += self.take(cables[1], len(together))
        for sport, frames in flows.items():
            got = [frame for frame in came if int.from_bytes(frame[34:36], "big") == sport]
            self.frames_equal(got, [routed(frame, 1) for frame in frames], f"flow {sport}")
        port = run.outcome.port("h0")
        queues = [queue["packets"] for queue in port["rx_queues"]]
        self.assertEqual(sum(queues), port["rx"]["packets"])
        self.assertGreater(min(queues), 0)
        self.assertEqual([queue["worker"] for queue in port["rx_queues"]], [0, 1])
        self.assertEqual(run.outcome.drops(), {})

    def test_receive_queues_that_nobody_polls_are_refused(self):
        self.cables()
        switch = self.switch()
        switch.port("h0", device="net_af_packet0,iface=sw0,qpairs=2")
        switch.refused(2, "port.h0.rx_queues", "the device has qpairs=2, each of which gets frames", "write rx_queues = 2")

    def test_icrcs_still_hold(self):
        frames = self.roce()[::5]
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(*frames)
            came = self.take(cables[1], len(frames))
        capture = switch.folder / "out" / "h1.pcap"
        capture.write_bytes(pcap_bytes([(0, frame) for frame in came]))
        said = verify([capture])
        self.assertEqual((said["icrc_good"], said["icrc_bad"], said["icrc_unchecked"]), (len(frames), 0, 0))

    def test_frames_for_nobody_are_dropped_for_their_reason(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(to="192.0.2.1"), plain(ttl=1), plain(ttl=1), plain(to="10.0.0.1"), ethernet(b"", 0x88B5))
            self.comes_through(*cables, run)
        self.assertEqual(run.outcome.drops(), {"no_route": 1, "ttl_expired": 2, "local_address": 1, "not_ip": 1})

    def test_a_link_that_goes_or_comes_is_told_with_its_cause(self):
        def told():
            return [(event["kind"], event["cause"]) for event in run.call("events.list")["events"] if event.get("port") == "h0"]

        def changes(cause, how, up):
            """The port's link is then so, for this cause, and that was told; returns the port."""
            known = len(told())
            how()
            port = run.wait_for(lambda: run.call("stats.show", path="ports.h0"),
                                lambda port: port["link_up"] == up and ("link_down_cause" in port) != up)
            self.assertEqual(port.get("link_down_cause"), None if up else cause)
            # An interface that is set up may say that it has no carrier before it has one.
            self.assertEqual([kind for kind, _ in told()[known:]][-1], "port_up" if up else "port_down")
            if not up:
                self.assertEqual(told()[known:], [("port_down", cause)])
            return port

        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.assertEqual((told(), run.call("stats.show", path="ports.h0")["link_since_ns"]), ([], 0))
            since = 0
            for flaps, (cause, interface) in enumerate((("interface_down", "sw0"), ("no_carrier", "host0")), 1):
                down = changes(cause, lambda: sh("ip", "link", "set", interface, "down"), up=False)
                self.assertEqual(down["flaps"], flaps)
                up = changes(cause, lambda: sh("ip", "link", "set", interface, "up"), up=True)
                self.assertLess(since, down["link_since_ns"])
                self.assertLess(down["link_since_ns"], up["link_since_ns"])
                since = up["link_since_ns"]
            changes("command", lambda: run.call("port.set", port="h0", up=False), up=False)
            changes("command", lambda: run.call("port.set", port="h0", up=True), up=True)
            events = {event["cause"]: event["text"] for event in run.call("events.list")["events"] if event["kind"] == "port_down"}
            self.assertIn("ip link set sw0 up", events["interface_down"])
            self.assertIn("sw0 has no carrier", events["no_carrier"])
        self.assertEqual(run.outcome.port("h0")["flaps"], 3)

    def test_sigterm_ends_a_run_that_holds_frames(self):
        self.held_until(signal.SIGTERM)

    def test_sigint_ends_a_run_that_holds_frames(self):
        self.held_until(signal.SIGINT)

    def held_until(self, stop_by):
        cables, switch = self.cables(), self.switch()
        switch.event("0ms", "queue h1.0 hold")
        with self.running(switch, stop_by) as run:
            self.comes_through(*cables, run, dscp=26)
            run.wait_for_event("queue_held")
            cables[0].send(*[plain(identification=n) for n in range(50)])
            self.assertEqual(self.comes_through(*cables, run, dscp=26), [])  # what came before has been read, then
        ledger = run.outcome.report["ledger"]
        self.assertEqual((ledger["queued"], ledger["dropped"]), (50, 0), run.outcome.drops())
        self.assertEqual(run.outcome.port("h1")["queues"][0]["occupancy_packets"], 50)


class Kernels(netns.Case):
    def test_kernels_ping_each_other(self):
        hosts, switch = [KernelHost(self, n) for n in range(2)], self.switch()
        with self.running(switch) as run:
            self.ping_each_other(hosts)
        queues = [run.outcome.port(f"h{n}")["queues"][0]["tx_packets"] for n in range(2)]
        self.assertGreaterEqual(min(queues), 21)
        self.assertLessEqual(set(run.outcome.drops()), {"multicast"})

    def test_fragments_pass_as_they_came(self):
        self.fragments_pass()

    def test_fragments_pass_two_receive_queues(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.fragments_pass(queues=2)

    def fragments_pass(self, queues=1):
        hosts, switch = [KernelHost(self, n) for n in range(2)], self.switch(workers=queues)
        for n in range(2):
            switch.port(f"h{n}", device=f"net_af_packet{n},iface=sw{n},qpairs={queues}", rx_queues=queues)
        with self.running(switch) as run:
            self.reaches(hosts[0], "10.0.1.2")
            before = run.call("stats.show")["ports"]
            for size in (1473, 4000, 20000):  # in 2, 3 and 14 fragments
                for sender, address in ((0, "10.0.1.2"), (1, "10.0.0.2")):
                    self.assertEqual(hosts[sender].ping(address, size=size, fragmented=True), (5, 63), (address, size))
        for port in ("h0", "h1"):
            came = run.outcome.port(port)["rx"]["packets"] - before[port]["rx"]["packets"]
            self.assertGreaterEqual(came, 10 * (2 + 3 + 14), "each fragment is a frame")
        self.assertLessEqual(set(run.outcome.drops()), {"multicast"})


if __name__ == "__main__":
    netns.main()
