#!/usr/bin/python3
"""The scenarios in conf/scenarios hold; with --long, every assertion of each fails when what it asks for is broken."""

import json
import re
import unittest

import loopback
from fabric import check_rows
from figures import fabric_catalogue
from loopback import Programs, run

DONE, FALSE = 0, 4
FOLDER = loopback.ROOT / "conf" / "scenarios"
SCENARIOS = sorted(FOLDER.glob("*.toml"))
# A sweep and a search, which have no verdict of their own.
SEVERAL = [path for path in SCENARIOS if re.search(r"(?m)^\[(vary|find)\]", path.read_text())]

DEFAULT = "switch.default.default"
QUEUE = f"{DEFAULT}.queue"
DSCPS = DEFAULT + '.map.dscp_to_tc={{"3" = {}, "4" = {}, "8" = {}, "0" = {}, "46" = {}, "48" = {}}}'

# What breaks a mechanism: paths that --set takes.
NO_PFC = [f"{DEFAULT}.pfc=[]"]
NO_CC = ['host.default.cc="none"']
GIVES_UP = ["host.default.retry_count=0"]
RETRIES = ["host.default.retry_count=7"]
LOSSY_WIRE = [f"{DEFAULT}.fault.drop_every=50", *GIVES_UP]
RESENDING = [f"{DEFAULT}.fault.drop_every=50", *RETRIES]
DEAD_WIRE = [f"{DEFAULT}.fault.drop_every=1", *GIVES_UP]
NO_ROUTING = ['routing.convergence="1s"', 'routing.detection="1s"']


def event(number, does):
    return f'event.{number}.do="{does}"'


def rail(number, hosts):
    return f"collective.rail{number}.hosts={json.dumps(hosts)}"


# Beside DEAD_WIRE, after which nothing arrives: so whatever asks for a rate, a share or an end fails.
BREAKS = {
    "all-gather": [NO_PFC, ['collective.parameters.rank_order="random"']],
    "all-to-all": [NO_PFC, ["topology.spines=1", 'host.h5.drain="10G"']],
    "allreduce": [NO_PFC, ['collective.servers.rank_order="random"'], ['collective.two-trees.kind="tree-allreduce"']],
    "baseline": [['flow.pings.load="90%"', 'flow.pings.message="1MB"', *NO_CC, 'flow.pings.to="h5"']],
    "deadlock": [['routing.policy="shortest"', "host.default.retry_count=7"]],
    "elephants": [[event(0, "leaf1: set hash_roce_qp false")]],
    "halving-doubling": [["collective.one.qps=16", "collective.sixteen.qps=1"]],
    "incast-8": [],
    "incast-32": [],
    "leaf-loss": [[event(0, "switch leaf2 down")]],
    "link-loss": [[*NO_PFC, *NO_CC, 'flow.across.to="h5"', 'switch.default.buffer.size="2MB"'],
                  [event(1, "link leaf1-spine2 down"), *NO_ROUTING, *RETRIES], [event(1, "leaf1: route delete 10.0.2.0/24"), *RETRIES]],
    "load-balance": [[event(n, "leaf1: set load_balance.mode hash") for n in range(3)], ['switch.default.load_balance.mode="packet"'],
                     ['host.default.recovery="go-back-n"']],
    "long-cables": [[f"{DEFAULT}.priority_group.3.xoff=10000"]],
    "microburst": [['flow.burst.message="1MB"', *NO_CC, 'switch.default.buffer.size="2MB"']],
    "jobs": [NO_PFC, ['job.train.placement="packed"', 'job.moe.placement="packed"']],
    "pause-storm-alert": [['switch.default.watchdog.action="drop"'], [event(2, "leaf2: fault h8 storm_classes [4]")]],
    "pause-storm-drop": [['switch.default.watchdog.action="alert"']],
    "pause-storm-forward": [['switch.default.watchdog.action="drop"']],
    "pipeline": [["collective.coarse.parts=128", "collective.fine.parts=8"]],
    "rails": [[rail(1, [f"s{1 + n // 4}r{1 + n % 4}" for n in range(8)])]],
    "reduce-scatter": [[event(0, "host h20 drain unlimited")]],
    "ring-allreduce": [['collective.ordered.rank_order="random"', 'collective.shuffled.rank_order="topology"']],
    "rolling-restart": [[event(0, "leaf1: route replace 10.0.2.0/24 via 172.16.0.1")],
                        *([event(4 * n, f"leaf1: route replace 10.0.2.0/24 via 172.16.0.{1 + 4 * n}"), event(4 * n + 2, f"switch spine{n + 1} up")]
                          for n in range(4)),
                        [event(15, "switch spine3 up")]],
    "route-change": [[event(0, "leaf1: route delete 10.0.2.0/24")], [event(0, "leaf1: route add 10.0.9.1/32 via 172.16.0.1")]],
    "schedule": [],
    "slow-receiver": [['host.h8.drain="unlimited"', 'flow.slow.from="h2"']],
    "spine-loss": [[event(0, "switch spine3 down")], NO_ROUTING + RETRIES],
    "switch-reset": [[event(0, "switch leaf2 down"), event(1, "switch leaf2 up")], [event(1, "switch leaf3 down"), *NO_ROUTING, *RETRIES],
                     [event(1, "switch leaf3 down"), *RETRIES]],
    "sustained": [LOSSY_WIRE, RESENDING, ['flow.across.from="leaf1"', *NO_CC]],
    "three-classes": [["flow.tcp.dscp=26"], [f"{DEFAULT}.pfc=[0, 3, 4]"]],
    "threshold-change": [[event(0, "sw1: set wred.roce.green_min 20KB"), event(1, "sw1: set wred.roce.green_max 800KB")]],
    "victim": [NO_CC],
}

# SONiC's RoCEv2 test plan.
NO_HEADROOM = [f"{DEFAULT}.priority_group.{n}.xoff=208" for n in (3, 4)]
ACKS_ASTRAY = ["host.default.ack_dscp=3"]
CNPS_ASTRAY = ["host.default.cnp_dscp=48"]
NO_DCQCN = [f'host.{name}.cc="none"' for name in ("default", "h1", "h2")]
ONE_WITHOUT_DCQCN = ['host.h1.cc="none"', "host.h2.rate_min=\"100M\"", 'flow.1.depth=1', 'flow.1.message="4KB"']
NO_STORAGE_DCQCN = ['host.h5.cc="none"', 'host.h6.cc="none"']
NO_MARKS = [f'{QUEUE}.{n}.wred="none"' for n in (3, 4)]
MARKS = [*(f'{QUEUE}.{n}.wred="steep"' for n in (3, 4)), 'host.default.ecn="ect0"']
SILENT = ["host.default.echo_ce=false"]
SWAPPED = [DSCPS.format(0, 1, 3, 4, 5, 6)]
PAUSED_LOSSY = [f"{DEFAULT}.pfc=[0, 1, 3, 4]", DSCPS.format(3, 4, 0, 1, 5, 6)]
INCAST = ['flow.0.to="h4"', "flow.0.depth=128"]
WEIGHTS = [[f"{QUEUE}.{n}.weight={weight}"] for n in (0, 1, 3, 4) for weight in (1, 60)]
WIRE = [LOSSY_WIRE, NO_HEADROOM, NO_PFC, ACKS_ASTRAY]
DCQCN = [*WIRE, CNPS_ASTRAY, NO_DCQCN, NO_DCQCN + NO_HEADROOM, NO_MARKS, SILENT, SWAPPED]
SONIC = {
    "no-congestion": [*WIRE, INCAST, INCAST + MARKS, INCAST + NO_HEADROOM, SWAPPED, ['flow.0.depth=1', 'flow.0.message="4KB"']],
    "pfc-propagation": [*WIRE, ['flow.1.to="h3"']],
    "pfc": [*WIRE, MARKS, SWAPPED, PAUSED_LOSSY, ["flow.0.depth=1", "flow.1.depth=1"], *WEIGHTS],
    "dcqcn": DCQCN,
    "storage": [*WIRE, CNPS_ASTRAY, NO_STORAGE_DCQCN, NO_MARKS, SILENT, SWAPPED],
    "fairness": [*DCQCN, ONE_WITHOUT_DCQCN],
}
KINDS = "|".join(sorted(SONIC, key=len, reverse=True))


def breaks_of(name):
    sonic = re.match(f"sonic-({KINDS})", name)
    return [DEAD_WIRE, *(SONIC[sonic[1]] if sonic else BREAKS[name])]


class BuiltIn(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def run_all(self, *words, paths):
        done = run([self.program, "run", *paths, "--out", self.folder / "out", *words])
        self.assertIn(done.returncode, (DONE, FALSE), done.stdout + done.stderr)
        return done

    def test_each_holds(self):
        self.assertGreaterEqual(len(SCENARIOS), 35)
        paths = [path for path in SCENARIOS if path not in SEVERAL]
        done = self.run_all(paths=paths)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        seen = set()
        for path in paths:
            report = json.loads((self.folder / "out" / path.stem / "report.json").read_text())
            self.assertNotEqual(report["asserts"], [], path.name)
            with self.subTest(path.name):
                seen |= check_rows(self, self.program, report)
        # The only one that trims is a sweep (lossless_or_not_test.py).
        self.run_all("--variant", "trimming", paths=[FOLDER / "lossless-or-not.toml"])
        seen |= check_rows(self, self.program, json.loads((self.folder / "out" / "report.json").read_text()))
        # Switches have runs of their own (figures_test.py), of which phases have a part, and events.
        rows = [row.path for row in fabric_catalogue(Programs.sluiced, self.program).figures if not row.path.startswith(("switches.", "phases.", "events."))]
        self.assertEqual([path for path in rows if path not in seen], [], "no scenario has the figure")

    def test_sweeps_and_searches_can_run(self):
        for path in SEVERAL:
            done = run([self.program, "check", "--force", path])
            self.assertEqual(done.returncode, DONE, done.stderr)

    def test_they_are_listed_with_their_questions(self):
        done = run([self.program, "list", FOLDER])
        self.assertEqual(done.returncode, DONE)
        self.assertEqual(len(done.stdout.splitlines()), len(SCENARIOS))
        self.assertTrue(all(line.endswith("?") for line in done.stdout.splitlines()))

    def test_each_is_broken_on_purpose(self):
        self.assertEqual({path.stem for path in SCENARIOS if not path.stem.startswith("sonic-") and path not in SEVERAL}, set(BREAKS))

    def held(self, path, sets):
        """The assertions that hold in spite of a break."""
        words = [word for each in sets for word in ("--set", each)]
        self.run_all("--force", "--duration", "2s", *words, paths=[path])  # hosts that never give up have no end
        report = json.loads((self.folder / "out" / "report.json").read_text())
        return {f'{each["that"]} ({each["phase"]})' for each in report["asserts"] if each["met"]}

    @unittest.skipUnless(loopback.LONG, "with --long")
    def test_every_assertion_fails_when_its_mechanism_is_broken(self):
        for path in SCENARIOS:
            if path in SEVERAL:
                continue
            with self.subTest(path.stem):
                never, *others = (self.held(path, sets) for sets in breaks_of(path.stem))
                self.assertEqual(never.intersection(*others), set())

    @unittest.skipUnless(loopback.LONG, "with --long")
    def test_sweeps_and_searches_have_an_answer(self):
        for path in SEVERAL:
            with self.subTest(path.stem):
                done = run([self.program, "sweep", path, "--force", "--jobs", "2", "--out", self.folder / path.stem])
                self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        met = [json.loads(line)["met"] for line in (self.folder / "kmin" / "sweep.jsonl").read_text().splitlines()]
        self.assertEqual(met, sorted(met, reverse=True))
        self.assertEqual(len(set(met)), 2)


if __name__ == "__main__":
    loopback.main()
