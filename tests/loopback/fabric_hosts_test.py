#!/usr/bin/python3
"""Hosts of a fabric: rates after an incast, time-outs, and the symptoms that name a key."""

import json
import re

import loopback
from fabric import FabricCase

# The first 5 ms of an incast, and what comes then.
INCAST = """
[topology]
kind = "star"
hosts = {hosts}
host_speed = "{speed}G"
[switch.default]
buffer.size = "{buffer}MB"
[switch.default.default]
mtu = 9100
[host.default]
mtu = 4096
{keys}
[[flow]]
name = "incast"
from = "h1..h{senders}"
to = "h{hosts}"
message = "1MB"
depth = 2
stop = "{stop}"
[[phase]]
name = "begin"
to = "5ms"
[[phase]]
name = "then"
from = "5ms"
to = "{stop}"
"""


class FabricHosts(FabricCase):
    def incast(self, speed, senders=16, stop="10ms", **keys):
        """The report, and the share of the receiver's link in use after 5 ms."""
        text = INCAST.format(hosts=senders + 1, senders=senders, speed=speed, stop=stop, buffer=max(16, speed // 20),
                             keys="\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items()))
        report = self.report(text, "--duration", stop)
        port = report["phases"]["then"]["switches"]["sw1"]["ports"][f"h{senders + 1}"]["tx"]
        wire = 8 * (port["bytes"] + 20 * port["packets"])
        return report, wire / (speed * 1e9 * (report["phases"]["then"]["to_ns"] - 5e6) / 1e9)

    @staticmethod
    def symptoms(report):
        return [symptom for host in report["hosts"].values() for symptom in host["symptoms"]]

    def test_an_incast_fills_its_link_after_5_ms_at_every_speed(self):
        for speed in (25, 100, 200, 400, 800):
            with self.subTest(speed=speed):
                report, use = self.incast(speed, stop="8ms")
                self.assertGreaterEqual(use, 0.9)
                self.assertEqual((report["verdict"]["lost_packets"], self.symptoms(report)), (0, []))

    def test_a_link_unused_for_want_of_increase_is_a_symptom_with_rate_step_time_and_remedy(self):
        report, use = self.incast(200, cc="dcqcn-paper")
        self.assertLess(use, 0.7)
        self.assertEqual([name for name, host in report["hosts"].items() if host["symptoms"]], ["h17"])
        said, = self.symptoms(report)
        told = re.fullmatch(r"(\d+) % of a 200G link on the way to it was used, for want of increase: 16 queue pairs had no CNP for 2 ms and more, and rose "
                            r"from ([\d.]+) Gb/s by 40M every 55us, which fills the link in ([\d.]+) ms; do: write cc = \"dcqcn\" for h1 to h16", said)
        self.assertTrue(told, said)
        self.assertLess(int(told[1]), 90)
        longest_ms = (200 / 16 - float(told[2])) / 0.04 * 0.055  # from the lowest of the rates
        self.assertTrue(0.75 * longest_ms < float(told[3]) <= longest_ms + 0.1, said)

    def test_the_remedy_is_a_step_where_the_defaults_are_too_slow(self):
        for keys in ({}, {"cc": "none"}):
            with self.subTest(**keys):
                report, use = self.incast(100, senders=4, **keys)
                said = self.symptoms(report)[0]
                step = re.search(r'rate_ai = "(\d+M)"', said)
                self.assertTrue(step, said)
                report, better = self.incast(100, senders=4, rate_ai=step[1])
                self.assertGreaterEqual(better, 0.9)
                self.assertEqual(self.symptoms(report), [])
                if not keys:
                    self.assertLess(use, better)

    def test_the_default_timeout_outlasts_an_incast_and_one_that_does_not_is_a_symptom(self):
        text = """
[topology]
kind = "leaf-spine"
leaves = 3
spines = 2
hosts = 8
host_speed = "10G"
speed = "40G"
[switch.default]
buffer.size = "8MB"
[host.default]
cc = "none"
{}
[[flow]]
name = "incast"
from = "h1..h23"
to = "h24"
qps = 20
message = "16KB"
messages = 1
"""
        drained_ns = 2 * 3 * 8_000_000 * 8 / 10
        self.assertRegex(self.fabric("check", text.format("")).stdout, r"\nflow +time-out\nincast +38\.4 ms\n")
        self.assertIn("\ntime-out of all flows: 38.4 ms\n", self.fabric("run", text.format("")).stdout)
        report = self.report(text.format(""))
        self.assertEqual((report["flows"][0]["timeout_ns"], report["flows"][0]["retransmitted_packets"]), (drained_ns, 0))
        self.assertNotIn("twice", json.dumps(self.symptoms(report)))
        report = self.report(text.format('timeout = "4ms"'))
        self.assertEqual((report["flows"][0]["timeout_ns"], report["verdict"]["lost_packets"]), (4_000_000, 0))
        self.assertGreater(report["flows"][0]["retransmitted_packets"], 100)
        said = [symptom for symptom in self.symptoms(report) if "twice" in symptom]
        self.assertGreater(len(said), 5)
        self.assertRegex(said[0], r'^\d+ of \d+ packets were sent twice, and none was lost: \d+ time-outs of 4ms ended while .*; do: write timeout = "auto"$')

        report = self.report(text.format('timeout = "1ms"').replace('from = "h1..h23"\nto = "h24"', 'from = "h24"\nto = "h1..h23"\nkind = "read"'))
        self.assertEqual((report["verdict"]["lost_packets"], report["flows"][0]["sequence_errors"]), (0, 0))
        said, = (symptom for host in report["hosts"].values() for symptom in host["symptoms"] if "twice" in symptom)
        self.assertIn(said, report["hosts"]["h24"]["symptoms"])
        again = report["hosts"]["h24"]["repeated_packets"]
        self.assertRegex(said, rf'^{again} of \d+ packets of its READs\' responses were sent twice, and none was lost: \d+ time-outs of 1ms .*; do: write timeout = "auto"$')

    def test_a_lost_response_is_no_symptom_of_the_time_out(self):
        """Each READ has one packet, which comes after its time-out: no gap tells that it was lost."""
        text = """
[topology]
kind = "star"
hosts = 2
host_cable = "2km"
[switch.default]
buffer.size = "16MB"
[switch.default.default]
qos = "lossy"
[host.default]
cc = "none"
timeout = "15us"
[switch.sw1.port.h2.fault]
drop_every = {}
[[flow]]
from = "h1"
to = "h2"
kind = "read"
message = "1KB"
messages = 200
"""
        for drop_every, told in ((0, 1), (50, 0)):
            report = self.report(text.format(drop_every))
            self.assertEqual(len([symptom for symptom in report["hosts"]["h1"]["symptoms"] if "twice" in symptom]), told)
            self.assertGreater(report["hosts"]["h1"]["repeated_packets"], 300)

    def test_the_default_timeout_knows_shapers_on_the_way(self):
        """12 MB of a leaf or spine, three on the way between leaves, one within a leaf."""
        text = """
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts = 2
speed = "100G"
[switch.default]
buffer.size = "12MB"
[[flow]]
name = "f"
from = "{}"
to = "h4"
message = "16KB"
messages = 1
kind = "{}"
"""
        def timeout(more="", sender="h1", kind="write"):
            return re.search(r"\nflow +time-out\nf +(\S+ \S+)\n", self.fabric("check", text.format(sender, kind) + more).stdout).group(1)
        self.assertEqual((timeout(), timeout(sender="h3")), ("5760.0 us", "4000.0 us"))
        for kind in ("write", "read"):
            for place in ("leaf1.port.spine1", "spine1.port.leaf1", "spine1.port.leaf2", "leaf2.port.h4"):
                self.assertEqual(timeout(f'[switch.{place}]\nshaper = "25G"\n', kind=kind), "23.0 ms", place)
                self.assertEqual(timeout(f'[switch.{place}.queue.3]\nmax_rate = "20G"\n', kind=kind), "28.8 ms", place)
                self.assertEqual(timeout(f'[switch.{place}.queue.0]\nmax_rate = "20G"\n', kind=kind), "5760.0 us", place)
        for shaper, most, drained in (("20G", "25G", "28.8 ms"), ("25G", "20G", "28.8 ms"), ("400G", "200G", "5760.0 us")):
            self.assertEqual(timeout(f'[switch.leaf2.port.h4]\nshaper = "{shaper}"\nqueue.3.max_rate = "{most}"\n'), drained)
        self.assertEqual(timeout('[switch.leaf2.port.h4]\nshaper = "25G"\n', sender="h3"), "7680.0 us")
        self.assertEqual(timeout('[switch.spine1.port.leaf2]\nshaper = "25G"\n', sender="h3"), "4000.0 us")

    def test_a_sender_without_congestion_control_is_told_once(self):
        text = INCAST.format(hosts=6, senders=4, speed=100, stop="6ms", buffer=16, keys='cc = "none"')
        more = '[[flow]]\nname = "other"\nfrom = "h1..h4"\nto = "h5"\nmessage = "1MB"\ndepth = 2\nstop = "6ms"\n'
        report = self.report(text + more)
        for name in ("h1", "h2", "h3", "h4"):
            said, = report["hosts"][name]["symptoms"]
            self.assertRegex(said, f"^{report['hosts'][name]['cnp_received_packets']} CNPs came, .* 4 queue pairs to h[56] fill")


if __name__ == "__main__":
    loopback.main()
