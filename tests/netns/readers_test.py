#!/usr/bin/python3
"""Independent readers take the switch's frames, as a host gets them: tshark, tcpdump and scapy read each correctly."""

import collections
import logging
import re
import shutil
import subprocess
import unittest

import netns
from frames import l3_offset
from loopback import flow, is_mac_control, pcap_bytes

AF31, ECT0 = 26, 2
PFC, ROCE = "pfc", "roce"
# Checksums are looked at; what follows a BTH is not guessed at.
TSHARK = ["tshark", "-o", "ip.check_checksum:TRUE", "--disable-heuristic", "rpcrdma_infiniband", "--disable-heuristic", "eth_over_ib"]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def ecn(frame):
    return frame[l3_offset(frame) + 1] & 3


class Readers(netns.Case):
    @classmethod
    def setUpClass(cls):
        for program in ("tshark", "tcpdump"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")

    def of_a_congested_port(self):
        """A capture of what two hosts get, and its frames: PFC frames the one that sends too much, RoCEv2, some of it marked, the other."""
        cables, switch = self.cables(2), self.switch()
        switch.recipe(flow("roce", count=300, size=1400, dscp=AF31, ecn="ect0"))
        # XOFF, then room for all the rest: host 0 does not obey.
        switch.section("port.h0.priority_group.3", static_th="100KB", xoff="500KB")
        switch.default(mtu=1500, speed="1G")
        switch.section("watchdog", detection="5s")
        switch.port("h1", shaper="100M")
        with self.running(switch) as run_:
            self.comes_through(*cables, run_)
            cables[0].send(*(frame.bytes for frame in switch.sent("h0")))
            data = self.take(cables[1], 300)
            told = self.told(cables[0])
        self.assertEqual(run_.outcome.drops(), {})
        frames = [*told, *data]
        capture = switch.folder / "seen.pcap"
        capture.write_bytes(pcap_bytes([(1000 * n, frame) for n, frame in enumerate(frames)]))
        return capture, frames

    def told(self, cable):
        """The PFC frames up to the one that lets the class go."""
        frames = []
        while not frames or frames[-1][24:26] != b"\0\0":
            frame = cable.receive()
            self.assertIsNotNone(frame, f"{len(frames)} PFC frames, and no XON")
            self.assertTrue(is_mac_control(frame))
            frames.append(frame)
        return frames

    def test_all_of_them_read_what_it_is(self):
        capture, frames = self.of_a_congested_port()
        kinds = collections.Counter(PFC if is_mac_control(frame) else ROCE for frame in frames)
        marked = sum(ecn(frame) == 3 for frame in frames if not is_mac_control(frame))
        self.assertGreaterEqual(kinds[PFC], 2)
        self.assertGreater(marked, 0)
        self.tshark_reads(capture, kinds, marked)
        self.tcpdump_reads(capture, kinds, marked)
        self.scapy_reads(capture, frames)

    def tshark_reads(self, capture, kinds, marked):
        def count(expression):
            return len(run(*TSHARK, "-r", capture, "-Y", expression, "-T", "fields", "-e", "frame.number").split())

        seen = {"eth.type == 0x8808 && macc.opcode == 0x0101 && eth.dst == 01:80:c2:00:00:01": kinds[PFC],
                "macc.cbfc.enbv == 0x08": kinds[PFC], "infiniband && udp.dstport == 4791": kinds[ROCE],
                "ip.checksum.status == 1": kinds[ROCE], "ip.dsfield.dscp == 26": kinds[ROCE], "ip.dsfield.ecn == 3": marked,
                "_ws.malformed": 0}
        self.assertEqual({expression: count(expression) for expression in seen}, seen)

    def tcpdump_reads(self, capture, kinds, marked):
        lines = run("tcpdump", "-nn", "-e", "-v", "-r", capture).replace("\n    ", " ").splitlines()
        seen = {"MPCP": kinds[PFC], r"\.4791: UDP": kinds[ROCE], r"tos 0x6b,CE, ": marked,
                r"tos 0x6a,ECT\(0\), ": kinds[ROCE] - marked, "bad cksum": 0}
        self.assertEqual({words: sum(re.search(words, line) is not None for line in lines) for words in seen}, seen)

    def scapy_reads(self, capture, frames):
        logging.getLogger("scapy.runtime").setLevel(logging.ERROR)  # it looks for interfaces
        from scapy.contrib.mac_control import MACControlClassBasedFlowControl as Pfc  # pylint: disable=import-outside-toplevel
        from scapy.contrib.roce import BTH  # pylint: disable=import-outside-toplevel
        from scapy.layers.inet import IP  # pylint: disable=import-outside-toplevel
        from scapy.utils import rdpcap  # pylint: disable=import-outside-toplevel
        packets = rdpcap(str(capture))
        self.assertEqual(len(packets), len(frames))
        for packet, frame in zip(packets, frames):
            if is_mac_control(frame):
                self.assertEqual([getattr(packet[Pfc], f"c{n}_enabled") for n in range(8)], [0, 0, 0, 1, 0, 0, 0, 0])
                self.assertEqual(packet[Pfc].c3_pause_time, int.from_bytes(frame[24:26], "big"))
                continue
            self.assertIn(BTH, packet)
            said = packet[IP].chksum
            packet[IP].chksum = None
            self.assertEqual(said, IP(bytes(packet[IP])).chksum)


if __name__ == "__main__":
    netns.main()
