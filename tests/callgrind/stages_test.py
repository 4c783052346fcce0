#!/usr/bin/python3
"""Instructions a packet of every stage, counted by callgrind, against stages.txt (costs.py).

    stages_test.py SLUICED SLUICE_TRAFFIC COMPILER [TEST...]     COMPILER says how sluiced was made
    stages_test.py SLUICED SLUICE_TRAFFIC COMPILER --update      writes stages.txt anew; say in the commit why it changed
"""

import json

import costs
import loopback
from loopback import Programs, Switch, flow

# The functions of each stage; a call into another library (memory, the C library) is not its own.
STAGES = {
    "parse": ["parse_stage"],
    "lookup": ["lookup_stage"],
    "route": ["route_stage"],
    "admit": ["admit_stage"],
    "hand_off": ["hand_off_stage"],
    "judge": ["judge_groups_in_use", "collect_releases"],
    "enqueue": ["enqueue"],
    "pass": ["pass"],
    "schedule": ["queue_aside", "pick_only", "pick_frames", "release_stage"],
    "congestion": ["depart_stage"],
    "send": ["settle"],
}
QUEUED = {"queue_aside", "pick_only", "pick_frames", "release_stage", "depart_stage"}  # not of packets that pass an idle port
TABLE = costs.Table(__file__, "# Instructions a packet, by case and stage, as tests/callgrind/stages_test.py --update writes them.\n")


class Stages(loopback.Case):
    def switch(self, case):
        """Four ports, each host sends to the next; a turn brings bursts of 24 of eight classes, and of 6 of one. They
        pass idle ports; `queued`: bursts of two classes that bring more than a quantum do not."""
        switch = Switch(self, hosts=4, eal=["--force-max-simd-bitwidth=256"])
        switch.section("buffer", size="16MB")
        switch.section("virtual", turn="50ns" if case == "ipv6" else "200ns")
        for port in switch.ports:
            switch.port(port, speed="400G", peer="ignore", small_xoff=True)
            for queue in (0, 1) if case == "queued" else ():
                switch.section(f"port.{port}.queue.{queue}", weight=1)
        if case != "ipv6":
            switch.section("map.eight", dscp_to_tc={str(8 * n): n for n in range(8)})
            switch.default(map="eight")
        ways = [(f"h{n}", f"h{(n + 1) % 4}") for n in range(4)]
        dscps, version = {"eight": (range(0, 64, 8), 4), "queued": ((0, 8), 4), "ipv6": ((26,), 6)}[case]
        switch.recipe(*(flow("roce", sender, to, dscp=dscp, ip_version=version, size=80, flows=1024 // len(dscps),
                             count=2048 // len(dscps)) for sender, to in ways for dscp in dscps))
        return switch

    def count(self, case):
        """Instructions a packet by stage, and what sluiced said."""
        switch = self.switch(case)
        profile = switch.folder / "profile"
        config = switch.folder / "sluice.toml"
        report = switch.folder / "report.json"
        config.write_text(switch.text())
        costs.count([Programs.sluiced, "--config", config, "--report", report], profile)
        said = json.loads(report.read_text())
        packets = said["ledger"]["rx"]
        self.assertEqual((packets, said["ledger"]["tx"]), (4 * 2048, 4 * 2048), "a packet that does not go the whole way")
        counted = costs.inclusive(profile, Programs.sluiced.resolve().name)
        wanted = {name for names in STAGES.values() for name in names} - (set() if case == "queued" else QUEUED)
        missing = sorted(wanted - counted.keys())
        self.assertEqual(missing, [], "not in the profile: did the compiler take it apart, or has it another name?")
        return {stage: sum(counted.get(name, 0) for name in names) / packets for stage, names in STAGES.items()}

    def compare(self, case):
        TABLE.compare(self, case, lambda: self.count(case))

    def test_eight_classes_by_turns(self):
        self.compare("eight")

    def test_two_classes_that_are_queued(self):
        self.compare("queued")

    def test_ipv6_of_one_class(self):
        self.compare("ipv6")


if __name__ == "__main__":
    costs.main(TABLE, __doc__)
