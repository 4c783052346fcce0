#!/usr/bin/python3
"""Instructions of exact instants of the virtual clock, by part, counted by callgrind, against instants.txt (costs.py).

    instants_test.py SLUICED SLUICE_TRAFFIC COMPILER [TEST...]     COMPILER says how the programs were made
    instants_test.py SLUICED SLUICE_TRAFFIC COMPILER --update      writes instants.txt anew; say in the commit why it changed

A figure is for a frame that a switch received, but for PFC: the difference of two runs, of which one is longer.
"""

import json
import random
import re

import costs
import loopback
from loopback import Programs, Switch, flow

# The part of a function is the first whose pattern is found in its name.
PARTS = {
    "judge": r"bound_groups|PoolBounds|judge_groups_in_use|collect_releases",
    "watchdog": r"watch_queues|PfcWatchdog|sample_of|::take$",
    "looks": r"PauseLog|PauseWatch|SwitchWatch|RunningSwitch|LossWatch|Switch::news|Fabric::|Mirrors::|SlowPath::",
    "clock": r"VirtualSwitch|VirtualRunner|VirtualLoop|Calendar|PortAlarms|PortSet|until_sending|next_sending|begin_turn|TimedActions",
    "link": r"LinkPort|LinkExchange",
    "hosts": r"HostSource|HostPort|PeerPort|roce::|SlowReceiver|PauseSender|Capture|PcapReader|StampRanges",
    "report": r"fabric::|Json|TreeText|json_text|Report|basic_json|^_|^(?!.*sluice)",
    "stages": r"",
}
TABLE = costs.Table(__file__, "# Instructions a hop, by case and part, as tests/callgrind/instants_test.py --update writes them.\n")


def permutation(hosts):
    draw, to = random.Random(1), list(range(hosts))
    while any(n == each for n, each in enumerate(to)):
        draw.shuffle(to)
    return to


def flows(hosts, mtu, packets):
    return "".join(f'[[flow]]\nfrom = "h{n + 1}"\nto = "h{to + 1}"\nmessage = {packets * mtu}\nmessages = 1\n' for n, to in enumerate(permutation(hosts)))


def pauses(packets):
    """Leaves of 8 ports; what collides pauses its senders."""
    return f"""topology = {{kind = "leaf-spine", leaves = 8, spines = 4, hosts = 4}}
[switch.default]
buffer.size = "16MB"
hash_roce_qp = true
[switch.default.default.priority_group.3]
size = 0
static_th = 120000
xon_offset = 20000
xoff = "500KB"
[switch.default.default.queue.3]
wred = "none"
[host.default]
cc = "none"
mtu = 4096
ack_every = 1
ack_coalescing = 1
""" + flows(32, 4096, packets)


def ports(packets):
    """Leaves of 40 ports, which DCQCN keeps from pauses."""
    return f"""topology = {{kind = "leaf-spine", leaves = 2, spines = 8, hosts = 32, speed = "400G"}}
[switch.default]
buffer.size = "32MB"
hash_roce_qp = true
[host.default]
cc = "dcqcn"
mtu = 4096
""" + flows(64, 4096, packets)


class Instants(loopback.Case):
    def own(self, command):
        profile = self.folder / "profile"
        costs.count(command, profile)
        return costs.own(profile)

    def of_fabric(self, text):
        """(instructions of each function, hops)."""
        file, out = self.folder / "fabric.toml", self.folder / "made"
        file.write_text(text)
        program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"
        counted = self.own([program, "run", file, "--out", out])
        report = json.loads((out / "report.json").read_text())
        self.assertTrue(report["ledger"]["balanced"])
        received = sum(port["rx"]["packets"] for switch in report["switches"].values() for port in switch["ports"].values())
        return counted, received - report["ledger"]["consumed"]

    def of_switch(self, hosts, apart_ns, frames):
        """Frames of captures, the same for all ports, which begin `apart_ns` after one another."""
        switch = Switch(self, hosts=hosts, device="net_pcap{n},rx_pcap={folder}/in/{name}.pcap", eal=["--force-max-simd-bitwidth=256"])
        switch.section("buffer", size="32MB" if hosts > 4 else "4MB")
        gap = {"gap": f"{hosts * apart_ns}ns"} if apart_ns else {}
        switch.recipe(*(flow("roce", f"h{n}", f"h{(n + 1) % hosts}", size=80, count=frames, start=f"{n * apart_ns}ns", **gap) for n in range(hosts)))
        config, report = switch.folder / "sluice.toml", switch.folder / "report.json"
        config.write_text(switch.text())
        counted = self.own([Programs.sluiced, "--config", config, "--report", report])
        ledger = json.loads(report.read_text())["ledger"]
        self.assertEqual((ledger["rx"], ledger["tx"]), (hosts * frames, hosts * frames))
        return counted, ledger["rx"]

    def compare(self, case, run, few, many):
        self.folder = Switch(self, hosts=0).folder

        def count():
            before, hops_before = run(few)
            after, hops = run(many)
            sums = dict.fromkeys(PARTS, 0)
            for name in before.keys() | after.keys():
                part = next(part for part, pattern in PARTS.items() if re.search(pattern, name))
                sums[part] += after.get(name, 0) - before.get(name, 0)
            self.assertGreater(sums["clock"], 0)
            # What a longer run costs its report is not kept.
            return {part: sums[part] / (hops - hops_before) for part in PARTS if part != "report"}

        TABLE.compare(self, case, count)

    def test_a_fabric_with_pauses(self):
        self.compare("pauses", lambda packets: self.of_fabric(pauses(packets)), 40, 120)

    def test_a_fabric_of_many_ports(self):
        self.compare("ports", lambda packets: self.of_fabric(ports(packets)), 20, 60)

    def test_captures_at_four_ports(self):
        self.compare("captures", lambda frames: self.of_switch(4, 0, frames), 500, 2500)

    def test_captures_at_64_ports_one_frame_at_a_time(self):
        self.compare("alone", lambda frames: self.of_switch(64, 10, frames), 50, 150)


if __name__ == "__main__":
    costs.main(TABLE, __doc__)
