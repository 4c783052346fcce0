#!/usr/bin/python3
"""Instructions a packet of every stage, counted by callgrind, against stages.txt: repeatable where clocks are not.

    stages_test.py SLUICED SLUICE_TRAFFIC COMPILER [TEST...]     COMPILER says how sluiced was made
    stages_test.py SLUICED SLUICE_TRAFFIC COMPILER --update      writes stages.txt anew; say in the commit why it changed

The same program counts the same to the instruction; another compiler or other options do not, and are skipped. A stage
may cost TOLERANCE more, which is what headers of another patch level of DPDK or Boost may move.
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from loopback import Programs, Switch, flow  # noqa: E402

STORED = pathlib.Path(__file__).with_name("stages.txt")
TOLERANCE = 0.02
LEAST = 0.5  # instructions; below that a difference is rounding of a burst

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
HEADER = """# Instructions a packet, by case and stage, as tests/callgrind/stages_test.py --update writes them.
"""


def function(name):
    """parse_stage of "sluice::(anonymous namespace)::parse_stage(sluice::WorkerContext&, ...)"."""
    found = re.match(r"sluice::(?:\(anonymous namespace\)::)?(\w+)\(", name)
    return found[1] if found else None


def inclusive(profile, program):
    """Instructions of every function of ours with all that it calls in `program`; the format is in valgrind's manual."""
    costs, name, ours, call, called = {}, None, False, False, True
    for line in profile.read_text().splitlines():
        if line.startswith("ob="):
            ours = line.endswith("/" + program)
        elif line.startswith("fn="):
            name, called = function(line[3:]) if ours else None, True
        elif line.startswith("cob="):
            called = line.endswith("/" + program)
        elif line.startswith("calls="):
            call = True
        elif re.match(r"[\d+*-]", line):
            if name and (called or not call):
                costs[name] = costs.get(name, 0) + int(line.split()[1])
            if call:
                call, called = False, True
    return costs


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
        done = loopback.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--compress-strings=no",
                             "--compress-pos=no", Programs.sluiced, "--config", config, "--report", report])
        self.assertEqual(done.returncode, 0, done.stderr)
        said = loopback.json.loads(report.read_text())
        packets = said["ledger"]["rx"]
        self.assertEqual((packets, said["ledger"]["tx"]), (4 * 2048, 4 * 2048), "a packet that does not go the whole way")
        costs = inclusive(profile, Programs.sluiced.resolve().name)
        wanted = {name for names in STAGES.values() for name in names} - (set() if case == "queued" else QUEUED)
        missing = sorted(wanted - costs.keys())
        self.assertEqual(missing, [], "not in the profile: did the compiler take it apart, or has it another name?")
        return {stage: sum(costs.get(name, 0) for name in names) / packets for stage, names in STAGES.items()}

    def compare(self, case):
        stored = read_stored()
        if not Programs.update and stored.get("compiler") != COMPILER:
            self.skipTest(f"stages.txt is of {stored.get('compiler')}, this is {COMPILER}")
        counted = self.count(case)
        if Programs.update:
            write_stored({**{key: value for key, value in stored.items() if key[0] != case}, "compiler": COMPILER,
                          **{(case, stage): cost for stage, cost in counted.items()}})
            return
        lines, broken = [f"{'stage':<12}{'stored':>9}{'now':>9}"], False
        for stage, cost in counted.items():
            was = stored.get((case, stage))
            worse = was is None or cost > was + max(LEAST, was * TOLERANCE)
            broken |= worse
            change = "new" if was is None else f"{(cost / was - 1) * 100:+.1f} %" if was else ""
            lines.append(f"{stage:<12}{was or 0:>9.1f}{cost:>9.1f}  {change}{'   <- costs more' if worse else ''}")
        lines.append(f"{'all':<12}{sum(v for k, v in stored.items() if k[0] == case):>9.1f}{sum(counted.values()):>9.1f}")
        if broken:
            self.fail("instructions a packet\n" + "\n".join(lines) + "\nif it is worth it: stages_test.py ... --update")
        if sum(counted.values()) < 0.98 * sum(v for k, v in stored.items() if k[0] == case):
            print(f"{case}: cheaper than stored; --update keeps it\n" + "\n".join(lines))

    def test_eight_classes_by_turns(self):
        self.compare("eight")

    def test_two_classes_that_are_queued(self):
        self.compare("queued")

    def test_ipv6_of_one_class(self):
        self.compare("ipv6")


def read_stored():
    stored = {}
    for line in STORED.read_text().splitlines() if STORED.exists() else []:
        words = line.split()
        if line.startswith("compiler "):
            stored["compiler"] = line.removeprefix("compiler ")
        elif len(words) == 3 and not line.startswith("#"):
            stored[words[0], words[1]] = float(words[2])
    return stored


def write_stored(stored):
    lines = [f"compiler {stored['compiler']}"]
    lines += [f"{key[0]:<8}{key[1]:<12}{cost:>8.2f}" for key, cost in stored.items() if key != "compiler"]
    STORED.write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        print("SKIP: valgrind is not installed")
        sys.exit(77)
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    COMPILER = sys.argv.pop(3)
    loopback.main()
