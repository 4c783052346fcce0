#!/usr/bin/python3
"""XDP ports: what is to be routed goes through the switch, and the interface goes on being the kernel's."""

import json
import os
import signal
import subprocess

import netns
from frames import ethernet, plain, routed
from loopback import SOAK, Programs
from netns import KernelHost, sh


def program_at(interface):
    """Name of the XDP program at an interface of ours, or None."""
    link = json.loads(sh("ip", "-j", "-d", "link", "show", interface))[0]
    return link.get("xdp", {}).get("prog", {}).get("name")


class XdpCase(netns.Case):
    device = "xdp:sw{n}"
    cable = {"mtu": 1500, "own_mac": True}

    def steering(self, run, port="h0"):
        return run.outcome.port(port)["steering"]


class RawFrames(netns.FrameTests, XdpCase):
    # Frames of several chunks of a page each, behind the kernel's 256 bytes.
    jumbo = {"cable": {"mtu": 9216}, "mtu": 9216}
    jumbo_sizes = (60, 1514, 2138, 3314, 3839, 3840, 3841, 4096, 4097, 7680, 7681, 8192, 8193, 9014, 9230)

    def steered(self, outcome, port, **frames):
        for verdict, count in frames.items():
            self.assertEqual(outcome.port(port)["steering"][verdict], count, verdict)

    def test_what_is_not_to_be_routed_stays_with_the_kernel(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(ttl=1), plain(ttl=1), plain(to="10.0.0.1"), ethernet(b"", 0x88B5), plain(to="192.0.2.1"))
            self.comes_through(*cables, run)
        steering = self.steering(run)
        self.assertEqual((steering["expired"], steering["local"], steering["not_ip"]), (2, 1, 1))
        self.assertEqual(run.outcome.drops(), {"no_route": 1})

    def test_an_address_that_the_interface_lacks_is_an_event(self):
        """Its ARP goes to the kernel, which answers for addresses of the interface alone."""
        cables, switch = self.cables(), self.switch()
        sh("ip", "address", "add", "10.0.0.1/24", "dev", "sw0")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
        told = [event["text"] for event in run.outcome.report["events"] if event["kind"] == "address_lacking"]
        self.assertFalse([text for text in told if "ip address add 10.0.0.1/24 dev sw0" in text], told)
        [text] = [text for text in told if "ip address add 10.0.1.1/24 dev sw1" in text]
        self.assertIn("port h1: its interface sw1 lacks the address 10.0.1.1, so nobody answers ARP", text)

    def came(self, port, counters):
        return counters["steering"]["routed"] - counters["steering"]["no_socket"]


    def test_frames_of_one_chunk_for_any_kernel(self):
        self.through([plain(size, identification=size) for size in (60, 1514, 2138, 3814)], at_once=1, cable={"mtu": 3800}, mtu=3800)

    def test_port_show_says_what_the_driver_can(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            can = run.call("stats.show")["ports"]["h0"]["capabilities"]
        self.assertEqual((can["driver"], can["max_mtu"]), ("af_xdp, native, copied", 3818))

    def test_several_receive_queues(self):
        """veth's sender chooses its queue, by the frame's flow."""
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        cables, switch = [netns.Cable(self, n, mtu=1500, own_mac=True, queues=2) for n in range(2)], self.switch(workers=2)
        switch.port("h0", device="xdp:sw0", rx_queues=2)
        frames = [plain(200, sport=1000 + n, identification=n) for n in range(64)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(*frames)
            came = self.take(cables[1], len(frames))
        self.assertEqual(sorted(came), sorted(routed(frame, 1) for frame in frames))
        port = run.outcome.port("h0")
        queues = [queue["packets"] for queue in port["rx_queues"]]
        self.assertEqual(sum(queues), port["rx"]["packets"])
        self.assertEqual(port["steering"]["no_socket"], 0)
        self.assertEqual(run.outcome.drops(), {})

    def test_more_receive_queues_than_the_interface_has(self):
        self.cables()
        switch = self.switch()
        switch.port("h0", device="xdp:sw0", rx_queues=16)
        switch.refused(1, "port h0", "receive queue", "ethtool -l sw0")

    def test_frames_longer_than_the_interfaces_mtu_are_counted(self):
        cables, switch = self.cables(), self.switch()
        switch.default(mtu=1500, speed="10G")
        sh("ip", "link", "set", "sw1", "mtu", 1400)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(*[plain(1415)] * 3, plain(1414))
            self.assertIn("ip link set sw1 mtu 1500", run.wait_for_event("beyond_mtu"))
            self.frames_equal(self.take(cables[1], 1), [routed(plain(1414), 1)])
        self.assertEqual(run.outcome.port("h1")["beyond_mtu_packets"], 3)

    def lost(self, run, port="h0"):
        """(longer than the port takes, for want of room)"""
        counters = run.call("stats.show")["ports"][port]
        return counters["beyond_mtu_in_packets"], counters["imissed"]

    def test_frames_longer_than_the_port_takes_are_counted_apart(self):
        cables, switch = self.cables(mtu=9216), self.switch()
        switch.default(mtu=3800, speed="10G")
        sizes = (3841, 3855, 4096, 4097, 8192, 9014, 9230)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(3814), *[plain(size) for size in sizes])
            self.frames_equal(self.take(cables[1], 1), [routed(plain(3814), 1)])
            run.wait_for(lambda: self.lost(run), lambda lost: lost == (len(sizes), 0))
            cables[0].send(*[ethernet(bytes(5000), 0x88B5)] * 3)  # the kernel's, of whatever length
            self.comes_through(*cables, run)
            self.assertIn(f"port h0: {len(sizes)} frames by now that came in were longer than it takes with its MTU of 3800",
                          run.wait_for_event("beyond_mtu"))
        port = run.outcome.port("h0")
        self.assertEqual((port["beyond_mtu_packets"], port["steering"]["too_long"], run.told("ring_overrun")), (len(sizes), len(sizes), []))
        self.assertIn(f"{len(sizes)} frames of unknown class were longer than h0 takes", run.outcome.report["verdict"]["reasons"])

    def test_a_full_ring_and_long_frames_are_told_apart_to_the_end(self):
        def given():
            steering = run.call("stats.show")["ports"]["h0"]["steering"]
            return steering["routed"] - steering["no_socket"] - steering["too_long"]

        cables, switch = self.cables(mtu=9216), self.switch()
        switch.default(mtu=3800, speed="10G")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for turn in range(3):
                run.process.send_signal(signal.SIGSTOP)
                for n in range(1500):
                    cables[0].send(plain(200, dport=9, identification=n))
                    if n % 10 == 0:
                        cables[0].send(plain(5000, dport=9, identification=n))
                run.process.send_signal(signal.SIGCONT)
                self.comes_through(*cables, run)
                self.assertEqual(self.lost(run)[0], 150 * (turn + 1))
                run.wait_for(lambda: given() - run.call("stats.show")["ports"]["h0"]["rx"]["packets"] - self.lost(run)[1],
                             lambda frames: frames == 0)
        missed = run.outcome.port("h0")["imissed"]
        self.assertGreater(missed, 1000)  # how many the rings hold, and the switch takes before it stops, is the machine's
        # Told at first, again while it grew, and the sum.
        self.assertTrue(any(f" for {missed} frames " in text for text in run.told("ring_overrun")[-1:]), run.told("ring_overrun"))
        self.assertTrue(any(text.startswith("port h0: 450 frames ") for text in run.told("beyond_mtu")[-1:]), run.told("beyond_mtu"))

    def test_frames_of_several_buffers_are_never_too_long(self):
        cables, switch = self.cables(mtu=9216), self.switch()
        switch.default(mtu=9216, speed="10G")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(9230))
            self.frames_equal(self.take(cables[1], 1), [routed(plain(9230), 1)])
        self.assertEqual(run.outcome.port("h0")["beyond_mtu_packets"], 0)


class Kernels(XdpCase):
    def test_kernels_ping_each_other_and_the_switch(self):
        hosts, switch = [KernelHost(self, n, resolves=True) for n in range(2)], self.switch()
        with self.running(switch) as run:
            self.ping_each_other(hosts)
            # Its own addresses: the kernel answers, whose TTL nobody has lowered.
            for sender, address in ((0, "10.0.0.1"), (0, "10.0.1.1"), (1, "2001:db8:1::1")):
                self.assertEqual(hosts[sender].ping(address), (5, 64), address)
        self.assertGreaterEqual(min(self.steering(run, port)["routed"] for port in ("h0", "h1")), 20)
        self.assertGreaterEqual(self.steering(run)["local"], 10)
        self.assertEqual(run.outcome.drops(), {})


class Attaching(XdpCase):
    def test_a_clean_end_takes_the_program_off(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.assertEqual(program_at("sw0"), "sluice_steer")
        self.assertIsNone(program_at("sw0"))

    def test_what_a_killed_switch_left_is_cleaned(self):
        cables, switch = self.cables(), self.switch()
        config = switch.folder / "sluice.toml"
        config.write_text(switch.text())
        for _ in range(100 if SOAK else 3):
            process = subprocess.Popen([Programs.sluiced, "--config", config], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            run = netns.Run(process, switch.folder / "none")
            try:
                self.comes_through(*cables, run)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            while cables[1].receive(wait_s=0) is not None:
                pass  # a probe of this one would tell that the next one runs
            self.assertEqual(program_at("sw0"), "sluice_steer")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
        self.assertIsNone(program_at("sw0"))

    def test_somebody_elses_program_is_named_and_left(self):
        self.cables()
        switch = self.switch()
        other = switch.folder / "other.o"
        source = switch.folder / "other.c"
        source.write_text('__attribute__((section("xdp"), used)) int others(void *context) { return 2; }\n'
                          'char _license[] __attribute__((section("license"), used)) = "GPL";\n')
        subprocess.run(["clang-16", "-O2", "-g", "-target", "bpf", "-c", source, "-o", other], check=True)
        sh("ip", "link", "set", "dev", "sw0", "xdp", "obj", other, "sec", "xdp")
        switch.refused(1, "port h0", "others", "of somebody else", "ip link set dev sw0 xdp off")
        self.assertEqual(program_at("sw0"), "others")
        self.assertIsNone(program_at("sw1"))

    def test_an_interface_that_is_not_there_is_refused(self):
        self.switch().refused(1, "port h0", "there is no interface sw0")


if __name__ == "__main__":
    netns.main()
