#!/usr/bin/python3
"""SONiC's RoCEv2 test plan (conf/scenarios/sonic-*.toml): with --long, every assertion of it fails when what it asks for is broken.

scenarios_test.py runs each as it is, and with one break."""

import json
import re
import unittest

import loopback
from loopback import Programs, run

FALSE = 4
FOLDER = loopback.ROOT / "conf" / "scenarios"
QUEUE = "switch.default.default.queue"
DSCPS = 'switch.default.default.map.dscp_to_tc={{"3" = {}, "4" = {}, "8" = {}, "0" = {}, "46" = {}, "48" = {}}}'

# What breaks a mechanism: paths that --set takes.
NO_PFC = ["switch.default.default.pfc=[]"]
LOSSY_WIRE = ["switch.default.default.fault.drop_every=50", "host.default.retry_count=0"]
DEAD_WIRE = ["switch.default.default.fault.drop_every=1", "host.default.retry_count=0"]
NO_HEADROOM = [f"switch.default.default.priority_group.{n}.xoff=208" for n in (3, 4)]
ACKS_ASTRAY = ["host.default.ack_dscp=3"]
CNPS_ASTRAY = ["host.default.cnp_dscp=48"]
NO_DCQCN = [f'host.{name}.cc="none"' for name in ("default", "h1", "h2")]
ONE_WITHOUT_DCQCN = ['host.h1.cc="none"', "host.h2.rate_min=\"100M\"", 'flow.1.depth=1', 'flow.1.message="4KB"']
NO_STORAGE_DCQCN = ['host.h5.cc="none"', 'host.h6.cc="none"']
NO_MARKS = [f'{QUEUE}.{n}.wred="none"' for n in (3, 4)]
MARKS = [*(f'{QUEUE}.{n}.wred="steep"' for n in (3, 4)), 'host.default.ecn="ect0"']
SILENT = ["host.default.echo_ce=false"]
SWAPPED = [DSCPS.format(0, 1, 3, 4, 5, 6)]
PAUSED_LOSSY = ["switch.default.default.pfc=[0, 1, 3, 4]", DSCPS.format(3, 4, 0, 1, 5, 6)]
INCAST = ['flow.0.to="h4"', "flow.0.depth=128"]


def weights(**queues):
    return [f"{QUEUE}.{name[1:]}.weight={weight}" for name, weight in queues.items()]


WIRE = [LOSSY_WIRE, DEAD_WIRE, NO_HEADROOM, NO_PFC, ACKS_ASTRAY]
PFC = [*WIRE, MARKS, SWAPPED, PAUSED_LOSSY, ["flow.0.depth=1", "flow.1.depth=1"],
       *(weights(**{f"q{n}": weight}) for n in (0, 1, 3, 4) for weight in (1, 60))]
DCQCN = [*WIRE, CNPS_ASTRAY, NO_DCQCN, NO_DCQCN + NO_HEADROOM, NO_MARKS, SILENT, SWAPPED]
BREAKS = {"no-congestion": [*WIRE, INCAST, INCAST + MARKS, INCAST + NO_HEADROOM, SWAPPED, ['flow.0.depth=1', 'flow.0.message="4KB"']],
          "pfc-propagation": [*WIRE, ['flow.1.to="h3"']],
          "pfc": PFC, "dcqcn": DCQCN, "storage": [*WIRE, CNPS_ASTRAY, NO_STORAGE_DCQCN, NO_MARKS, SILENT, SWAPPED],
          "fairness": [*DCQCN, ONE_WITHOUT_DCQCN]}


class Sonic(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def judged_with(self, path, sets):
        words = [word for each in sets for word in ("--set", each)]
        done = run([self.program, "run", path, "--force", "--out", self.folder, *words])
        self.assertIn(done.returncode, (0, FALSE), done.stdout + done.stderr)
        report = json.loads((self.folder / "report.json").read_text())
        return {(each["that"], each.get("phase")): each["met"] for each in report["asserts"]}

    @unittest.skipUnless(loopback.LONG, "with --long")
    def test_every_assertion_fails_when_its_mechanism_is_broken(self):
        for path in sorted(FOLDER.glob("sonic-*.toml")):
            kind = re.match("sonic-(no-congestion|pfc-propagation|pfc|dcqcn|storage|fairness)", path.stem)[1]
            with self.subTest(path.stem):
                never = None
                for sets in BREAKS[kind]:
                    met = {what for what, held in self.judged_with(path, sets).items() if held}
                    never = met if never is None else never & met
                self.assertEqual(never, set())


if __name__ == "__main__":
    loopback.main()
