#!/usr/bin/python3
"""XDP ports: what is to be routed goes through the switch, and the interface goes on being the kernel's."""

import json
import os
import signal
import struct
import subprocess
import time

import netns
from frames import ethernet, plain, plain6, routed
from loopback import Programs, flow, gateway_mac
from netns import PATIENCE_S, Cable, KernelHost, sh

MTU = 1500


def program_at(interface):
    """Name of the XDP program at an interface of ours, or None."""
    link = json.loads(sh("ip", "-j", "-d", "link", "show", interface))[0]
    return link.get("xdp", {}).get("prog", {}).get("name")


class XdpCase(netns.Case):
    device = "xdp:sw{n}"

    def cables(self, hosts=2):
        cables = [Cable(self, n, mtu=MTU) for n in range(hosts)]
        for n in range(hosts):  # raw frames go to the port's own MAC, as they do with the other drivers
            sh("ip", "link", "set", f"sw{n}", "address", gateway_mac(n))
        return cables

    def take(self, cable, count):
        frames = []
        while len(frames) < count:
            frame = cable.receive()
            self.assertIsNotNone(frame, f"{len(frames)} of {count} frames came")
            if frame[34:38] != struct.pack(">HH", 7, 7):
                frames.append(frame)
        return frames

    def steering(self, run, port="h0"):
        return run.outcome.port(port)["steering"]


class RawFrames(XdpCase):
    def test_rocev2_leaves_as_it_came_but_for_mac_ttl_and_checksum(self):
        cables, switch = self.cables(), self.switch()
        switch.recipe(flow("roce", count=200, size="random 74..1514"),
                      flow("roce", ip_version=6, count=60, size="random 98..1514", qp=0x600))
        frames = [frame.bytes for frame in switch.sent("h0")]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for first in range(0, len(frames), 32):
                part = frames[first:first + 32]
                cables[0].send(*part)
                self.frames_equal(self.take(cables[1], len(part)), [routed(frame, 1) for frame in part])
        self.assertEqual(run.outcome.drops(), {})
        self.assertEqual(self.steering(run)["roce"], len(frames))

    def test_every_length_and_tag(self):
        frames = [plain(size) for size in range(60, 1515, 13)] + [plain6(size) for size in range(62, 1515, 97)]
        frames += [plain(200, tags=((0x8100, 0x6005),)), plain(1518, tags=((0x8100, 5),))]
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for frame in frames:
                cables[0].send(frame)
                self.frames_equal(self.take(cables[1], 1), [routed(frame, 1)])
        self.assertEqual(run.outcome.drops(), {})

    def test_a_large_packet_buffer_takes_roce_of_mtu_2048(self):
        cables = [Cable(self, n, mtu=3400) for n in range(2)]
        for n in range(2):
            sh("ip", "link", "set", f"sw{n}", "address", gateway_mac(n))
        switch = self.switch(**{"buffer.packet_buffer": 3648})
        switch.default(mtu=3300, speed="10G")
        frames = [plain(size, identification=size) for size in (60, 1514, 2138, 3314)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for frame in frames:
                cables[0].send(frame)
                self.frames_equal(self.take(cables[1], 1), [routed(frame, 1)])
        self.assertEqual(run.outcome.drops(), {})

    def test_a_pause_is_consumed_and_its_end_lets_frames_go(self):
        cables, switch = self.cables(), self.switch()
        frames = [plain(500, dscp=26, identification=n) for n in range(20)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for quanta in (0xFFFF, 0):
                cables[1].send(ethernet(struct.pack(">HH8H", 0x0101, 8, 0, 0, 0, quanta, 0, 0, 0, 0), 0x8808, 1, to="01:80:c2:00:00:01"))
                if quanta != 0:
                    cables[0].send(*frames)
            self.frames_equal(self.take(cables[1], len(frames)), [routed(frame, 1) for frame in frames])
        pfc = run.outcome.port("h1")["pfc"]
        self.assertEqual((pfc["rx_xoff"][3], pfc["rx_xon"][3]), (1, 1))
        self.assertEqual(self.steering(run, "h1")["mac_control"], 2)

    def test_what_is_not_to_be_routed_stays_with_the_kernel(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(ttl=1), plain(ttl=1), plain(to="10.0.0.1"), ethernet(b"", 0x88B5), plain(to="192.0.2.1"))
            self.comes_through(*cables, run)
        steering = self.steering(run)
        self.assertEqual((steering["expired"], steering["local"], steering["not_ip"]), (2, 1, 1))
        self.assertEqual(run.outcome.drops(), {"no_route": 1})


class Kernels(XdpCase):
    def test_kernels_ping_each_other_and_the_switch(self):
        hosts, switch = [KernelHost(self, n, resolves=True) for n in range(2)], self.switch()
        with self.running(switch) as run:
            end = time.monotonic() + PATIENCE_S
            while hosts[0].ping("10.0.1.2", count=1)[0] == 0:
                self.assertLess(time.monotonic(), end, "no answer")
            for sender, address in ((0, "10.0.1.2"), (1, "10.0.0.2"), (0, "2001:db8:1::2"), (1, "2001:db8:0::2")):
                self.assertEqual(hosts[sender].ping(address), (5, 63), address)
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
        for _ in range(100 if os.environ.get("SLUICE_LONG") == "1" else 5):
            process = subprocess.Popen([Programs.sluiced, "--config", config], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            run = netns.Run(process, switch.folder / "none")
            try:
                self.comes_through(*cables, run)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
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

    def test_an_mtu_beyond_the_packet_buffer_is_refused(self):
        self.cables()
        switch = self.switch()
        switch.default(mtu=3000, speed="10G")
        switch.refused(1, "port h0", "MTU 3000", "at most", "buffer.packet_buffer")

    def test_a_packet_buffer_beyond_a_page_is_refused(self):
        self.cables()
        self.switch(**{"buffer.packet_buffer": 8192}).refused(1, "port h0", "within a page", "buffer.packet_buffer")


if __name__ == "__main__":
    netns.main()
