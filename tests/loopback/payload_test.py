#!/usr/bin/python3
"""Payload that frames describe gives the bytes of payload that they carry: reports, decisions, captures, with faults and without."""

import json
import os
import random
import re
import subprocess

import loopback
from hosts_test import Hosts
from loopback import LONG, Programs, run, table, verify

NAMES = ("h1", "h2", "h3", "h4")


def differing(wanted, got):
    """Files that differ; of a report but for what it says that it was asked, and the hash of that."""
    def comparable(name, content):
        if name == "report.json":
            report = json.loads(content)
            return {key: value for key, value in report.items() if key != "configuration"}
        return None if name == ".sluice-outputs" else content
    return [name for name in wanted if comparable(name, wanted[name]) != comparable(name, got[name])]


class Payload(Hosts):
    def outputs(self, text, payload, *words):
        """Every file that a run of `sluiced` leaves, by name."""
        report = self.run_text(text.replace("PAYLOAD", payload), *words, "--decisions", self.folder / "decisions.jsonl", "--events",
                               self.folder / "events.jsonl", "--trace", self.folder / "trace.json")
        files = {path.name: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and path.suffix != ".toml"}
        self.assertGreaterEqual(len(files), 4 + len(NAMES))
        return report, files

    def same(self, text, *words):
        """The report, and what the independent checker says of the ICRCs, of both runs."""
        _, wanted = self.outputs(text, "carried", *words)
        report, got = self.outputs(text, "described", *words)
        self.assertEqual(list(wanted), list(got))
        self.assertEqual(differing(wanted, got), [])
        return report, verify([self.folder / "out" / f"{name}.pcap" for name in NAMES])

    def four(self, flows, more="", ports=None, default=None, **keys):
        """Four hosts, all of whose frames from the switch are captured, and every packet's decisions."""
        ports = {name: {**self.output(name), "mtu": 4200, **(ports or {}).get(name, {})} for name in NAMES}
        return self.text(flows, hosts=4, ports=ports, default={"payload": "PAYLOAD", "mtu": 4096, **(default or {})},
                         more=more + '\n[decisions]\nrecord = "on"\n', **keys)

    MIXED = ({"from": ["h1", "h2"], "to": "h3", "message": "1B..60KB", "messages": 12, "depth": 2},
             {"from": "h3", "to": ["h1", "h4"], "kind": "send", "message": "1B..9KB", "messages": 12},
             {"from": "h4", "to": ["h2", "h3"], "kind": "read", "message": "200B..30KB", "messages": 12})

    def test_every_kind_of_message_and_mtu(self):
        for mtu in (256, 260, 1024, 4096):
            with self.subTest(mtu=mtu):
                report, icrc = self.same(self.four(self.MIXED, default={"mtu": mtu}))
                self.assertGreater(icrc["icrc_good"], 300)
                self.assertEqual((icrc["icrc_bad"], icrc["icrc_unchecked"]), (0, 0))
                self.assertEqual([flow["wrong_payload_packets"] for flow in report["flows"].values()], [0] * 3)

    def test_tags_marks_and_slow_hosts(self):
        """A tag comes off at the switch, and the frame is shorter than what described it."""
        marks = '\n[wred.low]\ngreen_min = "5KB"\ngreen_max = "50KB"\ngreen_probability = "20%"\n[default.queue.3]\nwred = "low"\n'
        for each in ({"h1": {"pcp": 3}, "h4": {"pcp": 3}}, {"h3": {"drain": "3G", "receive_buffer": "16KB", "rnr_chance": "30%"}}):
            report, icrc = self.same(self.four(self.MIXED, marks, each=each, workers=2))
            self.assertGreater(report["hosts"]["h3"]["ce_packets"], 10)
            self.assertEqual((icrc["icrc_bad"], icrc["icrc_unchecked"]), (0, 0))

    def test_faults(self):
        """A corrupted frame fails its ICRC as if it had been carried."""
        for fault in ({"corrupt_chance": "10%", "duplicate_chance": "10%", "delay": "3us"},
                      {"tx_corrupt_chance": "10%", "tx_duplicate_chance": "10%", "tx_delay": "3us"},
                      {"drop_chance": "3%", "tx_drop_chance": "3%", "ber": 1e-6, "tx_ber": 1e-6, "corrupt_chance": "5%"}):
            with self.subTest(fault=fault):
                flap = "".join(table("\n[[event]]", {"at": f"{at}us", "do": f"port h2 {do}"}) for at, do in ((20, "down"), (50, "up")))
                text = self.four(self.MIXED, table("\n[port.h1.fault]", fault) + table("\n[port.h3.fault]", fault) + flap,
                                 default={"retry_count": "unlimited", "timeout": "200us"})
                report, icrc = self.same(text)
                self.assertGreater(sum(host["refused_packets"] for host in report["hosts"].values()), 10)
                if "corrupt_chance" in fault:
                    self.assertGreater(icrc["icrc_bad"], 3)
                self.assertGreater(icrc["icrc_good"], 500)

    def test_random_switches(self):
        for seed in range(200 if LONG else 4):
            draw = random.Random(seed)
            flows = [{"from": sender, "to": [to for to in NAMES if to != sender][:draw.randint(1, 3)], "kind": draw.choice(("write", "send", "read")),
                      "message": draw.choice(("1B..700B", "100KB", "1B..40KB")), "messages": draw.randint(1, 6), "qps": draw.randint(1, 3)}
                     for sender in draw.sample(NAMES, 3)]
            chance = lambda: f"{draw.choice((0, 0, 1, 20))}%"  # noqa: E731
            keys = ("drop_chance", "corrupt_chance", "duplicate_chance")
            fault = {**{key: chance() for key in keys}, **{"tx_" + key: chance() for key in keys}}
            text = self.four(flows, table("\n[port.h2.fault]", fault), seed=seed, **{"buffer.cell": draw.choice((64, 256, 1024))}, workers=draw.randint(1, 2),
                             default={"mtu": draw.choice((256, 264, 1000, 2048, 4096)), "retry_count": 20, "timeout": "100us"})
            with self.subTest(seed=seed):
                self.same(text)


SMALL = """
seed = SEED
[topology]
kind = "KIND"
hosts = 3
[switch.default]
buffer.size = "8MB"
buffer.cell = CELL
[switch.default.default]
mtu = 4200
[host.default]
mtu = MTU
payload = "PAYLOAD"
timeout = "200us"
retry_count = 20
[host.h2]
drain = "30G"
[[flow]]
from = ["h1", "h4", "h5"]
to = "h2"
message = "1B..200KB"
messages = 3
[[flow]]
from = "h6"
to = ["h1", "h3"]
kind = "read"
message = "70KB"
messages = 3
[[flow]]
from = "h3"
to = "h4"
kind = "send"
message = "1B..9KB"
messages = 30
"""


FULL = """
[switch.default]
buffer.size = "16MB"
buffer.cell = 256
[switch.default.default]
mtu = 4200
[host.default]
mtu = 4096
cc = "none"
payload = "PAYLOAD"
"""


class Fabrics(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def files(self, text, *words):
        (self.folder / "fabric.toml").write_text(text)
        done = run([self.program, "run", self.folder / "fabric.toml", "--out", self.folder / "made", *words])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {path.name: path.read_bytes() for path in (self.folder / "made").iterdir()}

    def same(self, text, *words):
        wanted, got = (self.files(text.replace("PAYLOAD", payload), *words) for payload in ("carried", "described"))
        self.assertEqual(differing(wanted, got), [])
        return json.loads(got["report.json"])

    def test_described_unless_told(self):
        mixed = SMALL.replace("SEED", "1").replace("KIND", "dumbbell").replace("CELL", "256").replace("MTU", "4096")
        room = {}
        for payload in ("carried", "described", None):
            (self.folder / "fabric.toml").write_text(mixed.replace("PAYLOAD", payload) if payload else mixed.replace('payload = "PAYLOAD"', ""))
            said = run([self.program, "check", self.folder / "fabric.toml"]).stdout
            room[payload] = int(re.search(r"packet buffers of (\d+) bytes", said).group(1))
        self.assertEqual(room, {"carried": 768, "described": 320, None: 320})

    def test_random_fabrics_with_faults_and_cuts(self):
        for seed in range(60 if LONG else 3):
            draw = random.Random(seed)
            kind = draw.choice(("dumbbell", "leaf-spine", "ring"))
            text = SMALL.replace("SEED", str(seed)).replace("KIND", kind).replace("CELL", draw.choice(("128", "256", "1024")))
            text = text.replace("MTU", draw.choice(("256", "1024", "4096")))
            link = {"dumbbell": "left-right", "leaf-spine": "leaf1-spine1", "ring": "sw1-sw2"}[kind]
            for at, do in ((5, f"link h1-{self.leaf(kind)} corrupt_chance {draw.choice((0, 2, 30))}%"),
                           (6, f"link {link} duplicate_chance {draw.choice((0, 5))}%"), (7, f"link {link} corrupt_chance {draw.choice((1, 20))}%"),
                           (8, f"link {link} delay 1us"), (40, f"link {link} down"), (draw.choice((45, 1500)), f"link {link} up")):
                text += table("\n[[event]]", {"at": f"{at}us", "do": do})
            with self.subTest(seed=seed, kind=kind):
                report = self.same(text)
                self.assertTrue(report["ledger"]["balanced"])
                self.assertEqual([flow["wrong_payload_packets"] for flow in report["flows"]], [0] * 3)

    def test_packets_that_go_round_are_quoted_in_replies(self):
        """An ICMP error has 576 bytes of a packet that died, more than described ones have."""
        routes = "".join(table(f"\n[[switch.sw{at}.route]]", {"prefix": "10.0.3.0/24", "via": [via]}) for at, via in ((1, "172.16.0.1"), (2, "172.16.0.0")))
        text = ('[topology]\nkind = "ring"\nswitches = 3\nhosts = 1\n[routing]\npolicy = "by-hand"\n[switch.default]\nbuffer.size = "2MB"\n'
                '[switch.default.default]\nresponder = true\n[host.default]\npayload = "PAYLOAD"\nretry_count = 2\ntimeout = "20us"\n' +
                table("[[flow]]", {"from": "h1", "to": "h3", "message": "9KB", "messages": 2}) + routes)
        report = self.same(text, "--force")
        self.assertGreater(sum(switch["ports"][port]["punted"]["ttl"] for switch in report["switches"].values() for port in switch["ports"]), 5)
        self.assertGreater(report["hosts"]["h1"]["refused_packets"], 5)

    @staticmethod
    def leaf(kind):
        return {"dumbbell": "left", "leaf-spine": "leaf1", "ring": "sw1"}[kind]

    def peak_mb(self, text, *words):
        """The report of a run, and its resident memory at most."""
        (self.folder / "fabric.toml").write_text(text)
        with subprocess.Popen([self.program, "run", self.folder / "fabric.toml", "--out", self.folder / "made", *words],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            _, status, used = os.wait4(program.pid, 0)
            program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, 0)
        return json.loads((self.folder / "made" / "report.json").read_text()), used.ru_maxrss / 1000

    def test_memory_is_that_of_headers(self):
        """Four full switches; without a load the fabric has a portion of packet buffers."""
        text = table("[topology]", {"kind": "leaf-spine", "leaves": 3, "spines": 1, "hosts": 12}) + FULL
        text += table("[[flow]]", {"from": "h13..h36", "to": ["h1", "h2"], "message": "1MB", "messages": 1})
        _, idle = self.peak_mb(text.replace("PAYLOAD", "described"), "--duration", "1ns")
        whole, carried = self.peak_mb(text.replace("PAYLOAD", "carried"))
        report, described = self.peak_mb(text.replace("PAYLOAD", "described"))
        self.assertEqual((report["ledger"], report["flows"]), (whole["ledger"], whole["flows"]))
        self.assertGreater(carried - idle, 30)
        self.assertLess(described - idle, (carried - idle) / 6, f"{idle} idle, {carried} carried, {described} described (MB)")

    def test_memory_of_64_switches(self):
        """Of 38 and 48 ports and 16 MB each, with 1056 hosts that send by a permutation."""
        if not LONG:
            self.skipTest("with --long")
        hosts = 48 * 22
        text = table("[topology]", {"kind": "leaf-spine", "leaves": 48, "spines": 16, "hosts": 22}) + FULL.replace("PAYLOAD", "described")
        for n in range(hosts):
            text += table("[[flow]]", {"from": f"h{n + 1}", "to": f"h{(n + 7 * 22 + 5) % hosts + 1}", "message": "256KB", "messages": 1})
        report, peak = self.peak_mb(text)
        print(f"64 switches of 16 MB, 1056 hosts: {peak:.0f} MB at most")
        self.assertEqual((len(report["switches"]), sum(flow["messages"] for flow in report["flows"])), (64, hosts))
        self.assertTrue(report["ledger"]["balanced"] and report["verdict"]["lossless"])
        self.assertLess(peak, 8000)


if __name__ == "__main__":
    loopback.main()
