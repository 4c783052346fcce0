#!/usr/bin/python3
"""The switch between interfaces of the kernel: raw frames in and out, and kernels that talk through it."""

import os
import signal
import struct
import time

import netns
from frames import ethernet, plain, plain6, routed
from loopback import flow, pcap_bytes, verify
from netns import PATIENCE_S, Cable, KernelHost


class RawFrames(netns.Case):
    def cables(self, hosts=2):
        return [Cable(self, n) for n in range(hosts)]

    def take(self, cable, count):
        """So many frames that are no probe's."""
        frames = []
        while len(frames) < count:
            frame = cable.receive()
            self.assertIsNotNone(frame, f"{len(frames)} of {count} frames came")
            if frame[34:38] != struct.pack(">HH", 7, 7):
                frames.append(frame)
        return frames

    def through(self, frames, **keys):
        """From h0 to h1 in this order, unchanged but for what a router changes; returns how the run ended."""
        cables, switch = self.cables(), self.switch(**keys)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for first in range(0, len(frames), 32):  # within a socket's memory
                part = frames[first:first + 32]
                cables[0].send(*part)
                came = self.take(cables[1], len(part))
                self.frames_equal(came, [routed(frame, 1) for frame in part])
        self.assertLessEqual(len(frames), run.outcome.port("h0")["rx"]["packets"])
        self.assertLessEqual(run.outcome.port("h0")["rx"]["packets"], len(frames) + run.probes)
        self.assertEqual(run.outcome.drops(), {})
        return run.outcome

    def roce(self):
        made = self.switch()
        made.recipe(flow("roce", count=200, size="random 74..1514"), flow("roce", count=40, size=1514, qp=0x300),
                    flow("roce", ip_version=6, count=60, size="random 98..1514", qp=0x600))
        return [frame.bytes for frame in made.sent("h0")]

    def test_rocev2_leaves_as_it_came_but_for_mac_ttl_and_checksum(self):
        frames = self.roce()
        outcome = self.through(frames)
        self.assertEqual(outcome.port("h1")["queues"][3]["tx_packets"], len(frames))

    def test_jumbo_frames_take_a_large_packet_buffer(self):
        cables, switch = self.cables(), self.switch(**{"buffer.packet_buffer": 16384})
        switch.default(mtu=9000, speed="10G")
        frames = [plain(size, identification=size) for size in (60, 1514, 2048, 4110, 9014)]
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for frame in frames:
                cables[0].send(frame)
                self.frames_equal(self.take(cables[1], 1), [routed(frame, 1)])
        self.assertEqual(run.outcome.drops(), {})

    def test_jumbo_is_refused_with_small_packet_buffers(self):
        self.cables()
        switch = self.switch()
        switch.default(mtu=9000, speed="10G")
        switch.refused(1, "port h0", "MTU 9000", "at most 1900", "buffer.packet_buffer")

    def test_rocev2_through_two_workers(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.through(self.roce(), workers=2)

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

    def test_every_length_and_tag(self):
        self.through([plain(size) for size in range(60, 1515, 13)] + [plain6(size) for size in range(62, 1515, 97)] +
                     [plain(200, tags=((0x8100, 0x6005),)), plain(1518, tags=((0x8100, 5),))])

    def test_frames_for_nobody_are_dropped_for_their_reason(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            cables[0].send(plain(to="192.0.2.1"), plain(ttl=1), plain(ttl=1), plain(to="10.0.0.1"), ethernet(b"", 0x88B5))
            self.comes_through(*cables, run)
        self.assertEqual(run.outcome.drops(), {"no_route": 1, "ttl_expired": 2, "local_address": 1, "not_ip": 1})

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
        self.assertEqual(run.outcome.report["ledger"]["consumed"], 2)

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
        self.assertEqual((ledger["queued"], ledger["dropped"]), (50, 0))
        self.assertEqual(run.outcome.port("h1")["queues"][0]["occupancy_packets"], 50)


class Kernels(netns.Case):
    def test_kernels_ping_each_other(self):
        hosts, switch = [KernelHost(self, n) for n in range(2)], self.switch()
        with self.running(switch) as run:
            end = time.monotonic() + PATIENCE_S
            while hosts[0].ping("10.0.1.2", count=1)[0] == 0:
                self.assertLess(time.monotonic(), end, "no answer")
            for sender, address in ((0, "10.0.1.2"), (1, "10.0.0.2"), (0, "2001:db8:1::2"), (1, "2001:db8:0::2")):
                self.assertEqual(hosts[sender].ping(address), (5, 63), address)
        queues = [run.outcome.port(f"h{n}")["queues"][0]["tx_packets"] for n in range(2)]
        self.assertGreaterEqual(min(queues), 21)
        self.assertLessEqual(set(run.outcome.drops()), {"multicast"})


if __name__ == "__main__":
    netns.main()
