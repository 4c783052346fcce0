#!/usr/bin/python3
"""Collectives of hosts in a fabric: the time of a step against arithmetic, faults, stragglers, refusals."""

import csv
import io
import unittest

import loopback
from scenarios_test import USAGE, Scenarios

HOSTS, RATE, MTU = 8, 100e9, 4096
HEADERS, OVERHEAD, RETH, ACK = 58, 24, 16, 62  # of RoCEv2 with ICRC; preamble, FCS and gap; of a WRITE's first frame
CABLE_NS = 5 / 198e6 * 1e9

STAR = f"""
[topology]
kind = "star"
hosts = {HOSTS}
host_speed = "100G"
host_cable = "5m"
[switch.default]
buffer.size = "8MB"
[host.default]
cc = "none"
mtu = {MTU}
"""

TRAINING = """
[topology]
kind = "leaf-spine"
leaves = 32
spines = 16
hosts = 32
host_speed = "400G"
speed = "800G"
[switch.default]
buffer.size = "64MB"
[host.default]
mtu = 4096
[[collective]]
name = "tensor"
kind = "ring-allreduce"
group_size = 8
bytes = "4MB"
steps = 2
compute = "100us"
[[collective]]
name = "pipeline"
kind = "pipeline"
group_size = 4
group_stride = 8
bytes = "4MB"
start = "500us"
[[collective]]
name = "data"
kind = "ring-allreduce"
group_size = 32
group_stride = 32
bytes = "16MB"
start = "500us"
[[job]]
name = "train"
work = ["data", "tensor", "pipeline"]
hosts = 1024
"""


def job(kind, **keys):
    given = {"hosts": "all", "name": "job", "kind": kind, **keys}
    return "[[collective]]\n" + "".join(f"{key} = {value if isinstance(value, (int, list)) else repr(value)}\n".replace("'", '"')
                                        for key, value in given.items())


def wire_ns(payload, messages=1):
    """Of so many bytes on one link, in messages of one size. A host that receives as much acknowledges every 16 frames meanwhile."""
    frames = messages * -(-payload // messages // MTU)
    return (payload + frames * (HEADERS + OVERHEAD) + messages * RETH + frames // 16 * (ACK + OVERHEAD)) * 8 / RATE * 1e9


def message_ns(payload):
    """A switch passes a frame on as it begins to come."""
    return wire_ns(payload) + 2 * CABLE_NS


ACK_NS = (ACK + OVERHEAD) * 8 / RATE * 1e9 + 2 * CABLE_NS


def step_ns(kind, size):
    """Rounds follow each other on an empty network that blocks nobody; a step ends with its last acknowledgement."""
    chunk = size // HOSTS
    rounds = {
        "ring-allreduce": [chunk] * 2 * (HOSTS - 1),
        "all-gather": [chunk] * (HOSTS - 1),
        "reduce-scatter": [chunk] * (HOSTS - 1),
        "halving-doubling": [size // 2, size // 4, size // 8, size // 8, size // 4, size // 2],
    }
    if kind == "all-to-all":
        return wire_ns(chunk * (HOSTS - 1), HOSTS - 1) + 2 * CABLE_NS + ACK_NS
    if kind == "pipeline":  # the first part passes all stages, the others follow it
        return sum([message_ns(chunk)] * (HOSTS - 1)) + (HOSTS - 1) * wire_ns(chunk) + ACK_NS
    if kind.endswith("tree-allreduce"):  # in one chunk: up two levels of two children, to the root, and all that back
        share = size // 2 if kind.startswith("double") else size
        return 2 * (2 * (wire_ns(share) + message_ns(share)) + message_ns(share)) + ACK_NS
    if kind == "hierarchical-allreduce":  # four servers of two hosts: a ring of four for each half of the data
        in_server = 2_000 + size // 2 * 8 / 400
        return 2 * in_server + 6 * message_ns(size // 8) + ACK_NS
    return sum(map(message_ns, rounds[kind])) + ACK_NS


class Collectives(Scenarios):
    def collective(self, text, **words):
        report, done = self.report(text, **words)
        return report["collectives"][0], report, done

    def test_a_step_takes_what_arithmetic_says(self):
        size = 8 * 64 * MTU
        for kind in ("ring-allreduce", "halving-doubling", "all-to-all", "all-gather", "reduce-scatter", "pipeline", "tree-allreduce",
                     "double-tree-allreduce", "hierarchical-allreduce"):
            with self.subTest(kind):
                more = {"chunk": "1GB"} if "tree" in kind else {}
                if kind == "hierarchical-allreduce":
                    more = {"group_size": 2, "server_latency": "2us", "server_bandwidth": "400G"}
                steps = 1 if "tree" in kind else 3  # the root of a tree begins its next step before the leaves
                made, report, done = self.collective(STAR + job(kind, bytes=size, steps=steps, compute="10us", **more))
                self.assertEqual((made["state"], made["steps"], made["ranks"]), ("done", steps, HOSTS))
                expected = step_ns(kind, size)
                # The frames of all-to-all wait for each other at switch ports.
                self.assertAlmostEqual(made["step_ns"]["p50"] / expected, 1, msg=kind,
                                       delta=0.03 if kind == "all-to-all" else 0.02 if "tree" in kind else 0.002)
                part = 2 * 7 / 8 if "allreduce" in kind or kind == "halving-doubling" else 1 if kind == "pipeline" else 7 / 8
                self.assertAlmostEqual(made["bus_bandwidth_bps"] / (size * 8e9 / made["step_ns"]["mean"] * part), 1, delta=1e-3)
                self.assertTrue(report["verdict"]["lossless"])
                self.assertIn("job", done.stdout)

    def test_channels_share_the_bytes_and_groups_run_side_by_side(self):
        size = 4 * 64 * MTU
        for keys in (dict(channels=4, chunk="64KB"), dict(qps=2), dict(group_stride=2)):
            with self.subTest(keys):
                made, report, _ = self.collective(STAR + job("ring-allreduce", bytes=size, group_size=4, **keys))
                self.assertEqual((made["state"], made["ranks"]), ("done", HOSTS))
                self.assertAlmostEqual(made["bus_bandwidth_bps"] / (size * 8e9 / made["step_ns"]["mean"] * 6 / 4), 1, delta=1e-3)
                self.assertAlmostEqual(made["step_ns"]["mean"] / (6 * message_ns(size // 4) + ACK_NS), 1, delta=0.02)
                pairs = keys.get("channels", 1) * keys.get("qps", 1)
                self.assertEqual({host["queue_pairs"] for host in report["hosts"].values()}, {2 * pairs})

    def test_control_messages_are_a_flow_of_their_own(self):
        made, report, _ = self.collective(STAR + job("tree-allreduce", bytes=1_000_000, chunk="100KB", control="64B", control_class=6))
        self.assertEqual(made["state"], "done")
        flows = {flow["name"]: flow for flow in report["flows"]} if isinstance(report["flows"], list) else report["flows"]
        # Ten chunks go up and down seven links.
        self.assertEqual([flows[name]["messages"] for name in ("job", "job-control")], [140, 140])
        self.assertEqual([flows[name]["delivered_bytes"] for name in ("job", "job-control")], [14_000_000, 140 * 64])

    def test_same_file_same_bytes(self):
        text = STAR + job("ring-allreduce", bytes=300_001, qps=3, steps=2, rank_order="random")
        made = []
        for _ in range(2):
            self.report(text)
            made.append((self.folder / "made" / "report.json").read_bytes())
        self.assertEqual(*made)
        other, _, _ = self.collective("seed = 2\n" + text)
        self.assertEqual(other["state"], "done")

    def test_it_completes_though_frames_are_lost(self):
        for kind in ("ring-allreduce", "all-to-all"):
            made, report, _ = self.collective(STAR + '[switch.sw1.port.h3.fault]\ndrop_every = 20\n' + job(kind, bytes=1_000_000, qps=2))
            self.assertEqual(made["state"], "done")
            self.assertGreater(sum(host["retransmitted_packets"] for host in report["hosts"].values()), 0)
            self.assertEqual(sum(host["wrong_payload_packets"] for host in report["hosts"].values()), 0)

    def test_a_rank_whose_peer_is_gone_has_failed(self):
        made, _, _ = self.collective(STAR + "retry_count = 1\ntimeout = \"50us\"\n" + job("ring-allreduce", bytes=8_000_000)
                                     + '[[event]]\nat = "50us"\ndo = "link h3-sw1 down"\n')
        self.assertEqual((made["state"], made["steps"]), ("failed", 0))

    def test_the_slow_host_is_named(self):
        for kind in ("ring-allreduce", "all-to-all"):
            with self.subTest(kind):
                made, _, done = self.collective(STAR + '[host.h5]\ndrain = "40G"\n' + job(kind, bytes=2_000_000, steps=3, compute="20us"))
                self.assertEqual((made["straggler"]["host"], made["straggler"]["steps"]), ("h5", 3))
                self.assertGreater(made["straggler"]["by_ns"], 1000)
                self.assertIn("h5 in 3 steps", done.stdout)
                if kind == "ring-allreduce":  # all-to-all makes victims of all
                    self.assertEqual((made["slowest_path"]["from"], made["slowest_path"]["to"]), ("h4", "h5"))
                    self.assertGreater(made["slowest_path"]["over_median_permille"], 1500)

    def test_a_phase_has_the_steps_that_end_in_it(self):
        text = STAR + job("ring-allreduce", bytes=2_000_000, steps=9, compute="20us") + """
[[event]]
at = "1200us"
do = "host h5 drain 40G"
[[phase]]
name = "fast"
from = "350us"
to = "1200us"
[[phase]]
name = "idle"
from = "1200us"
to = "1201us"
[[phase]]
name = "slow"
from = "1201us"
[[assert]]
that = "collectives.job.step_ns.p50 ratio to fast gt 2"
phase = "slow"
"""
        made, report, _ = self.collective(text)
        fast, idle, slow = (report["phases"][name]["collectives"][0] for name in ("fast", "idle", "slow"))
        step = step_ns("ring-allreduce", 2_000_000) + 20_000
        # The first step is over before the phase begins, the second goes on then.
        self.assertEqual((fast["steps"], idle["steps"]), (int(1_200_000 // step) - 1, 0))
        self.assertEqual(fast["steps"] + slow["steps"] + 1, made["steps"])
        self.assertEqual([each["state"] for each in (fast, idle, slow)], ["running", "running", "done"])
        self.assertAlmostEqual(fast["step_ns"]["max"] / step_ns("ring-allreduce", 2_000_000), 1, delta=0.01)
        self.assertEqual((idle["bus_bandwidth_bps"], idle["step_ns"]["max"], idle["straggler"]["host"]), (0, None, None))
        self.assertEqual(slow["step_ns"]["max"], made["step_ns"]["max"])
        self.assertEqual((slow["straggler"]["host"], slow["slowest_path"]["to"]), ("h5", "h5"))
        self.assertLess(fast["slowest_path"]["over_median_permille"], 1100)
        self.assertNotIn("completion_ns", slow)
        self.assertTrue(report["asserts"][0]["met"])

    def test_a_sweep_has_a_column_for_each_figure(self):
        text = STAR + job("all-gather", bytes=400_000) + '[vary]\n"collective.job.bytes" = ["400KB", "800KB"]\n'
        _, table, _ = self.sweep("columns", text=text)
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual([row["collectives.job.steps"] for row in rows], ["1", "1"])
        for row, size in zip(rows, (400_000, 800_000), strict=True):
            self.assertAlmostEqual(int(row["collectives.job.step_p50_ns"]) / step_ns("all-gather", size), 1, delta=0.01)
            self.assertEqual(row["collectives.job.step_max_ns"], row["collectives.job.step_p50_ns"])
            self.assertAlmostEqual(int(row["collectives.job.bus_bandwidth_bps"]) / (size * 7e9 / int(row["collectives.job.step_p50_ns"])), 1, delta=1e-3)

    def test_the_slow_link_is_named(self):
        text = '[switch.default]\nbuffer.size = "4MB"\n[host.default]\ncc = "none"\n[[node]]\nname = "sw1"\n'
        for n in range(1, 5):
            text += f'[[node]]\nname = "h{n}"\nkind = "host"\n[[link]]\nends = ["h{n}", "sw1"]\nspeed = "{25 if n == 3 else 100}G"\n'
        made, _, _ = self.collective(text + job("all-to-all", bytes=1_000_000))
        self.assertEqual(made["state"], "done")
        self.assertIn("h3", (made["slowest_path"]["from"], made["slowest_path"]["to"]))

    def test_the_order_of_ranks_is_the_file_s(self):
        order = ["h3", "h1", "h2", "h4"]
        made, report, _ = self.collective(STAR + job("all-gather", hosts=["h1..h4"], rank_order=order, bytes=400_000))
        self.assertEqual(made["state"], "done")
        self.assertEqual([report["hosts"][f"h{n}"]["queue_pairs"] for n in range(1, 6)], [2, 2, 2, 2, 0])

    def test_what_cannot_be_is_refused_with_a_remedy(self):
        for keys, words in ((dict(kind="halving-doubling", hosts=["h1..h6"]), 'name 4 or 8, or write kind = "ring-allreduce"'),
                            (dict(kind="all-gather", hosts="h1"), "name two or more"),
                            (dict(kind="all-gather", bytes=7), "write 8 bytes or more"),
                            (dict(kind="all-gather", rank_order=["h1", "h2"]), "name each of them once"),
                            (dict(kind="all-gather", hosts=["h1", "h9"]), "there is no host"),
                            (dict(kind="ring-reduce"), "ring-allreduce"),
                            (dict(kind="ring-allreduce", group_size=3), "name 6 or 9 hosts"),
                            (dict(kind="hierarchical-allreduce"), "write group_size"),
                            (dict(kind="all-to-all", channels=2), "write qps"),
                            (dict(kind="tree-allreduce", control="64B", control_class=5), "map a DSCP to it there"),
                            (dict(kind="all-gather", name="x"), "another flow, collective or workload")):
            with self.subTest(words):
                text = STAR + job(**keys) + ('[[flow]]\nname = "x"\nfrom = "h1"\nto = "h2"\nmessages = 1\n' if "name" in keys else "")
                done = self.fabric("run", text, status=USAGE)
                self.assertIn(words, done.stderr)
                self.assertRegex(done.stderr, r"scenario\.toml:\d+:\d+: collective\[0\]")

    @unittest.skipUnless(loopback.LONG, "with --long")
    def test_a_training_step_of_1024_hosts(self):
        """Tensor groups of 8 NICs of a server, pipelines over 4 servers, data groups of 32: 29.5 million packets of switches."""
        _, report, _ = self.collective(TRAINING)
        self.assertTrue(report["verdict"]["lossless"])
        own = report["jobs"]["train"]
        # A ring of n moves 2 (n - 1) messages of a rank; 3 of 4 stages hand 8 parts on.
        messages = 1024 * (2 * 7 * 2 + 2 * 31) + 768 * 8
        self.assertEqual((own["state"], own["hosts"], own["messages"]), ("done", 1024, messages))
        self.assertEqual(own["bytes"], 1024 * (2 * 7 * 4_000_000 * 2 // 8 + 2 * 31 * 16_000_000 // 32) + 768 * 4_000_000)
        self.assertEqual([each["steps"] for each in report["collectives"]], [2, 1, 1])


if __name__ == "__main__":
    loopback.main()
