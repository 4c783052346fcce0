#!/usr/bin/python3
"""Scenarios of sluice-fabric as people use them: assertions, phases, sweeps that are cut off and go on, shards, searches."""

import csv
import io
import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

import loopback
from loopback import Programs, run

DONE, FAILED, USAGE, FALSE = 0, 1, 2, 4

SMALL = """
name = "small"
question = "Does an incast of two lose anything?"
[topology]
kind = "star"
hosts = 3
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[[flow]]
name = "in cast"
from = ["h1", "h2"]
to = "h3"
message = "20KB"
stop = "100us"
"""

PHASES = """
[[phase]]
name = "first"
to = "60us"
[[phase]]
name = "second"
from = "60us"
"""

VARY = """
[vary]
"flow.0.message" = ["10KB", "20KB", "40KB"]
seeds = 2
"""


# What junit-10.xsd of Jenkins' xUnit plugin (jenkinsci/xunit-plugin, src/main/resources/.../types/model/xsd) demands of each element, written
# anew: attributes it must and may have, children in any order and number, and whether it may have text.
RERUN = ({"type"}, {"message"}, {"stackTrace", "system-out", "system-err"}, True)
JUNIT = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}, False),
    "testsuite": ({"name", "tests", "failures", "errors"},
                  {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
                  {"testsuite", "properties", "testcase", "system-out", "system-err"}, False),
    "testcase": ({"name"}, {"time", "classname", "group"},
                 {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out", "system-err"}, False),
    "failure": (set(), {"type", "message"}, set(), True),
    "error": (set(), {"type", "message"}, set(), True),
    "skipped": (set(), {"type", "message"}, set(), True),
    "properties": (set(), set(), {"property"}, False),
    "property": ({"name", "value"}, set(), set(), False),
    "system-out": (set(), set(), set(), True),
    "system-err": (set(), set(), set(), True),
    "stackTrace": (set(), set(), set(), True),
    "rerunFailure": RERUN, "rerunError": RERUN, "flakyFailure": RERUN, "flakyError": RERUN,
}
JUNIT_TIME = r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?"  # of suites


def junit_faults(node):
    """What that schema would refuse of an element and those below."""
    must, may, children, text = JUNIT[node.tag]
    faults = [f"{node.tag} lacks {name}" for name in sorted(must - set(node.attrib))]
    faults += [f"{node.tag} has {name}" for name in sorted(set(node.attrib) - must - may)]
    if node.tag.startswith("testsuite") and not re.fullmatch(JUNIT_TIME, node.get("time", "")):
        faults.append(f"{node.tag} has time {node.get('time')}")
    if not text and any((part or "").strip() for part in (node.text, *(child.tail for child in node))):
        faults.append(f"{node.tag} has text")
    for child in node:
        faults += junit_faults(child) if child.tag in children else [f"{node.tag} has {child.tag}"]
    return faults


def asserting(that, **words):
    lines = "".join(f'{key} = "{value}"\n' for key, value in words.items())
    return f'[[assert]]\nthat = "{that}"\n{lines}'


class Scenarios(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def fabric(self, verb, text, *words, status=DONE, name="scenario"):
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        done = run([self.program, verb, path, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def report(self, text, *words, status=DONE):
        done = self.fabric("run", text, "--out", self.folder / "made", *words, status=status)
        return json.loads((self.folder / "made" / "report.json").read_text()), done

    def sweep(self, out, *words, text=SMALL + VARY, status=DONE):
        done = self.fabric("sweep", text, "--out", self.folder / out, *words, status=status)
        return done, (self.folder / out / "sweep.csv"), (self.folder / out / "sweep.jsonl")


class Assertions(Scenarios):
    def test_one_that_is_false_is_told_with_its_figure_and_place(self):
        text = SMALL + asserting("verdict.lossless") + asserting("max switches.sw1.ports.*.tx.packets lt 10", why="ten are enough")
        report, done = self.report(text, status=FALSE)
        self.assertEqual([each["met"] for each in report["asserts"]], [True, False])
        told = report["asserts"][1]
        self.assertEqual(told["where"], "switches.sw1.ports.h3.tx.packets")
        self.assertEqual(told["value"], report["switches"]["sw1"]["ports"]["h3"]["tx"]["packets"])
        self.assertIn("assertions: 1 of 2 hold", done.stdout)
        self.assertRegex(done.stdout, r"FALSE +max .*: it is [\d ]+, at switches.sw1.ports.h3.tx.packets\n +ten are enough")
        self.assertIn("Does an incast of two lose anything?", done.stdout)

    def test_what_can_never_be_judged_is_refused_before_the_run(self):
        for that, words in (("verdict.losless", "lossless"), ("flows.incast.messages gt 0", "in cast"),
                            ("all switches.leaf*.ports.*.tx.packets gt 0", "no figure matches"),
                            ("switches.sw1.ports.h1.faults.droped eq 0", "perhaps dropped"),
                            ("verdict.lossless ratio to nothing ge 1", "phase"), ("verdict.lossless maybe", "compares nothing")):
            with self.subTest(that):
                done = self.fabric("run", SMALL + asserting(that), "--out", self.folder / "none", status=USAGE)
                self.assertIn(words, done.stderr)
                self.assertRegex(done.stderr, r"scenario\.toml:\d+:\d+: assert\.that")
                self.assertFalse((self.folder / "none" / "report.json").exists())

    def test_check_says_what_a_run_a_sweep_and_a_search_would_say(self):
        find = '[find]\nleast = "{}"\nwithin = "{}"\nsuch_that = "{}"\n'
        depth, holds = "flow.0.depth", "verdict.lossless"
        first = SMALL.count("\n") + 1  # line of what is asserted
        for text, place, words in ((asserting("verdict.losless"), f"{first}:1: assert.that", "perhaps lossless"),
                                   (asserting("flows.0.throughput_bps ge 5ms"), f"{first}:1: assert.that", "not a rate"),
                                   (asserting("flows.0.completion_ns.p99 lt 5KB"), f"{first}:1: assert.that", "not a time"),
                                   (asserting(holds) + asserting(holds, phase="b"), f"{first + 2}:1: assert", "no phase"),
                                   (asserting("verdict.lossless ratio to b ge 1"), f"{first}:1: assert.that", "there is no [[phase]]"),
                                   ('[vary]\n"flow.0.mesage" = ["1KB"]\n', "run 0 (flow.0.mesage = 1KB)", "do: write message"),
                                   ('[vary]\n"flow.0.message" = ["1KB", "x"]\n', "run 1 (flow.0.message = x): ", "toml: flow[0].message"),
                                   (find.format("flow.0.dept", "1..9", holds), "at flow.0.dept = 1", "do: write depth"),
                                   (find.format(depth, "1KB..9KB", holds), "at flow.0.depth = 1KB", "no"),
                                   (find.format(depth, "1..9", "verdict.losless"), f"{first}:1: find.such_that", "perhaps lossless"),
                                   (find.format(depth, "1..9", holds) + "[vary]\nseeds = 2\n", f"{first}:1: find", "two files")):
            with self.subTest(text):
                said = self.fabric("check", SMALL + text, status=USAGE).stderr
                self.assertIn(place, said)
                self.assertIn(words, said)
        # By the catalogue and the names of the plan.
        for that, words in (("flows.incast.messages gt 0", "in cast"), ("hosts.h4.cc eq none", "h1, h2, h3"), ("links.h1-sw2.cut", "h1-sw1"),
                            ("switches.sw2.lossless", "perhaps sw1"), ("switches.sw1.ports.h9.flaps eq 0", "perhaps h1"),
                            ("switches.sw1.pools.loss.used_bytes eq 0", "may be lossless or lossy"),
                            ("switches.sw1.queues.3.depth eq 0", "\"queues\""), ("switches.sw1.ports.h1.faults.droped eq 0", "perhaps dropped"),
                            ("max pauses.*.until_s lt 5", "perhaps until_ns"), ("max flows.*.name lt 5", "is not a number"), ("hosts.*.messages ge 1", "names 3 figures"),
                            ("flows.9.messages ge 1", "in cast"), ("links.h1-sw1.directions.2.packets ge 1", "directions"), ("flows.0.name lt 5", "no order"),
                            ("flows.0.messages eq many", "cannot be compared"), ("all switches.leaf*.lossless", "no figure matches")):
            with self.subTest(that):
                self.assertIn(words, self.fabric("check", SMALL + asserting(that), status=USAGE).stderr)
        for that in ("flows.0.messages gt 0", "flows.'in cast'.completion_ns.p99 lt 1ms", "all switches.*.ports.h*.queues.*.latency_ns.p99 lt 1ms",
                     "switches.sw1.ports.h1.drops.no_route eq 0", "switches.sw1.ports.h1.faults.dropped eq 0", "count pause_trees.* eq 0",
                     "events.0.kind eq switch_down", "max links.*.directions.1.load_ppm lt 50%", "switches.sw1.watchdog.0.detected eq 0", "ledger sent gt 0",
                     "hosts.h1.switch eq sw1", "sum links.*.directions.*.paused_ns.3 eq 0", "switches.sw1.pools.lossless.used_bytes eq 0"):
            with self.subTest(that):
                self.fabric("check", SMALL + asserting(that))
        self.fabric("check", SMALL + PHASES + asserting("all links.*.directions.*.packets ge 0", phase="second") + asserting("pauses.count eq 0", phase="second"))
        for text in (asserting(holds), VARY, find.format(depth, "1..9", holds)):
            self.assertIn(": OK: ", self.fabric("check", SMALL + text).stdout)

    def test_one_that_asserts_nothing_says_so(self):
        self.assertIn("it asserts nothing", self.fabric("run", SMALL).stdout)

    def test_the_command_line_adds_to_the_file(self):
        report, _ = self.report(SMALL, "--assert", "flows.'in cast'.messages eq 0", status=FALSE)
        self.assertEqual(len(report["asserts"]), 1)

    def test_several_files_have_folders_and_one_junit_file(self):
        good, bad = self.folder / "good.toml", self.folder / "bad.toml"
        good.write_text(SMALL + asserting("verdict.lossless"))
        bad.write_text(SMALL.replace('"small"', '"a <bad> \ufffe one"') + asserting("flows.'in cast'.messages eq 0", why="<nothing>"))
        junit = self.folder / "junit.xml"
        done = run([self.program, "run", good, bad, "--out", self.folder / "all", "--junit", junit])
        self.assertEqual(done.returncode, FALSE, done.stderr)
        for name in ("good", "bad"):
            self.assertTrue((self.folder / "all" / name / "report.json").exists())
        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(junit_faults(suites), [])
        self.assertEqual([(suite.get("name"), suite.get("failures")) for suite in suites], [("small", "0"), ("a <bad> \ufffd one", "1")])
        for suite in suites:
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
            self.assertEqual((int(suite.get("failures")), int(suite.get("errors"))), (len(suite.findall("*/failure")), len(suite.findall("*/error"))))
        self.assertIn("<nothing>", suites[1][0][0].get("message"))

    def test_one_that_cannot_run_is_an_error_of_the_junit_file(self):
        junit = self.folder / "junit.xml"
        self.fabric("run", SMALL + asserting("verdict.losless"), "--junit", junit, status=USAGE)
        suites = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(junit_faults(suites), [])
        self.assertEqual([(suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in suites], [("1", "0", "1")])
        self.assertIn("perhaps lossless", suites[0][0].find("error").text)

    def test_what_jenkins_refuses_of_a_junit_file_is_found(self):
        suite = '<testsuites><testsuite name="a" tests="1" failures="0" errors="0">{}</testsuite></testsuites>'
        parse = xml.etree.ElementTree.fromstring
        for inside in ("", '<testcase name="b"/>', '<testcase name="b"><failure>no</failure></testcase>'):
            self.assertEqual(junit_faults(parse(suite.format(inside))), [])
        for inside, fault in (("<testcase/>", "testcase lacks name"), ('<testcase name="b" id="1"/>', "testcase has id"), ("b", "testsuite has text"),
                              ("<failure/>", "testsuite has failure"), ('<testcase name="b"><testcase name="c"/></testcase>', "testcase has testcase")):
            self.assertEqual(junit_faults(parse(suite.format(inside))), [fault])
        self.assertEqual(junit_faults(parse(suite.replace("tests=", "time=").format(""))), ["testsuite lacks tests"])
        self.assertEqual(junit_faults(parse(suite.replace('name="a"', 'name="a" time="1 s"').format(""))), ["testsuite has time 1 s"])


class Phases(Scenarios):
    def test_figures_of_phases_add_up_to_those_of_the_run(self):
        report, _ = self.report(SMALL + PHASES + asserting("flows.'in cast'.messages gt 0", phase="first"))
        first, second = report["phases"]["first"], report["phases"]["second"]
        self.assertEqual((first["from_ns"], first["to_ns"], second["from_ns"], second["to_ns"]),
                         (0, 60_000, 60_000, report["end_ns"]))
        for phase in (first, second):
            flow = phase["flows"][0]
            mean = flow["delivered_bytes"] * 8e9 / (phase["to_ns"] - phase["from_ns"])
            self.assertAlmostEqual(flow["throughput_bps"] / mean, 1, delta=1e-4)
        for path in (("flows", 0, "messages"), ("flows", 0, "delivered_bytes"), ("hosts", "h1", "sent_packets"),
                     ("switches", "sw1", "ports", "h3", "tx", "packets"), ("links", "h1-sw1", "directions", 0, "bytes"),
                     ("ledger", "sent")):
            parts = []
            for whole in (first, second, report):
                for key in path:
                    whole = whole[key]
                parts.append(whole)
            self.assertEqual(parts[0] + parts[1], parts[2], path)
            self.assertGreater(parts[0], 0, path)
        self.assertNotIn("watermark_bytes", first["switches"]["sw1"]["ports"]["h3"]["queues"][3])
        self.assertNotIn("deepest_bytes", first["switches"]["sw1"]["ports"]["h3"]["queues"][3])
        self.assertIn("user_deepest_bytes", first["switches"]["sw1"]["ports"]["h3"]["queues"][3])
        self.assertIn("user_watermark_bytes", first["switches"]["sw1"]["ports"]["h3"]["queues"][3])

    def test_durations_are_of_the_messages_that_ended_in_the_phase(self):
        report, _ = self.report(SMALL + PHASES)
        longest = [report["phases"][name]["flows"][0]["completion_ns"]["max"] for name in ("first", "second")]
        whole = report["flows"][0]["completion_ns"]["max"]
        self.assertLessEqual(max(longest), whole)
        self.assertGreaterEqual(max(longest), whole * 15 // 16)

    def test_pauses_of_a_phase_are_those_within_it(self):
        report, _ = self.report(SMALL.replace('"20KB"', '"400KB"\ndepth = 8') + PHASES)
        for phase in report["phases"].values():
            within = []
            for pause in report["pauses"]:
                until = report["end_ns"] if pause["until_ns"] is None else pause["until_ns"]
                within.append(min(until, phase["to_ns"]) - max(pause["from_ns"], phase["from_ns"]))
            within = [length for length in within if length > 0]
            self.assertEqual(phase["pauses"], {"count": len(within), "paused_ns": sum(within), "longest_ns": max(within)})

    def test_phases_that_contradict_each_other_are_refused(self):
        for text, words in (('[[phase]]\nname = "a"\nfrom = "2us"\nto = "1us"\n', "ends before"),
                            ('[[phase]]\nname = "a"\n[[phase]]\nname = "b"\nfrom = "1us"\n', "begins before"),
                            ('[[phase]]\nname = "a"\nto = "1us"\n[[phase]]\nname = "a"\nfrom = "1us"\n', "two phases"),
                            (asserting("verdict.lossless", phase="b"), "no phase")):
            with self.subTest(words):
                self.assertIn(words, self.fabric("run", SMALL + text, status=USAGE).stderr)


class Sweeps(Scenarios):
    def test_jobs_and_shards_give_the_same_bytes(self):
        _, table, lines = self.sweep("one")
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual([(row["flow.0.message"], row["seed"]) for row in rows],
                         [(size, seed) for size in ("10KB", "20KB", "40KB") for seed in ("1", "2")])
        self.assertEqual(len({row["completion_max_ns"] for row in rows}), 3)
        _, other, _ = self.sweep("two", "--jobs", "2")
        self.assertEqual(table.read_bytes(), other.read_bytes())
        for shard in (1, 2):
            self.sweep(f"shard{shard}", "--shard", f"{shard}/2")
        missing = run([self.program, "merge", self.folder / "shard1", "--out", self.folder / "merged"])
        self.assertEqual(missing.returncode, FAILED)
        self.assertIn("3 of 6 runs are missing", missing.stderr)
        done = run([self.program, "merge", self.folder / "shard2", self.folder / "shard1", "--out", self.folder / "merged"])
        self.assertEqual(done.returncode, DONE, done.stderr)
        for name in ("sweep.csv", "sweep.jsonl", "sweep.json"):
            self.assertEqual((self.folder / "merged" / name).read_bytes(), (self.folder / "one" / name).read_bytes())

    def test_one_that_was_cut_off_goes_on_where_it_was(self):
        _, table, _ = self.sweep("whole")
        path = self.folder / "scenario.toml"
        out = self.folder / "cut"
        process = subprocess.Popen([self.program, "sweep", path, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        while process.poll() is None and not list(out.glob("runs/*.json")):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=loopback.PATIENCE_S)
        self.assertIn(process.returncode, (DONE, 128 + signal.SIGTERM))
        # The race may end either way: with a row damaged the sweep goes on, too.
        left = sorted(out.glob("runs/*.json"))
        left[0].write_text("{")
        done, again, _ = self.sweep("cut")
        self.assertEqual(table.read_bytes(), again.read_bytes())
        done, again, _ = self.sweep("cut")
        self.assertIn("6 runs kept from before", done.stdout)
        self.assertEqual(table.read_bytes(), again.read_bytes())

    def test_another_question_takes_nothing_from_before(self):
        self.sweep("same")
        done, _, _ = self.sweep("same", text=SMALL.replace("20KB", "30KB") + VARY)
        self.assertNotIn("kept", done.stdout)

    def test_a_point_that_cannot_run_is_told_before_any_runs(self):
        text = SMALL + '[vary]\n"switch.default.buffer.size" = ["2MB", "1KB"]\n'
        done = self.fabric("sweep", text, "--out", self.folder / "none", status=USAGE)
        self.assertIn("run 1 (switch.default.buffer.size = 1KB", done.stderr)
        self.assertFalse((self.folder / "none" / "runs").exists())

    def test_refusals(self):
        for words, said in ((["--jobs", "0"], "--jobs"), (["--shard", "3/2"], "--shard"), (["--shard", "1"], "--shard")):
            self.assertIn(said, self.fabric("sweep", SMALL + VARY, *words, status=USAGE).stderr)
        self.assertIn("neither [vary] nor [find]", self.fabric("sweep", SMALL, status=USAGE).stderr)
        self.assertIn("is not a range", self.fabric("sweep", SMALL + '[vary]\nseed = "5..2"\n', status=USAGE).stderr)
        full = run([self.program, "merge", self.folder, "--out", self.folder / "x"])
        self.assertEqual(full.returncode, FAILED)


LEAVES = """
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts = 2
[switch.default]
buffer.size = "4MB"
[[flow]]
name = "a"
from = "h1"
to = "h3"
message = "20KB"
stop = "100us"
"""


class Patterns(Scenarios):
    def configured(self, *words):
        return self.report(LEAVES, *words)[0]["configuration"]

    def test_each_switch_that_matches_is_set(self):
        one = self.configured("--set", "switch.leaf*.buffer.size=3MB")
        other = self.configured("--set", "switch.leaf1.buffer.size=3MB", "--set", "switch.leaf2.buffer.size=3MB")
        self.assertEqual(one, other)
        self.assertNotEqual(one, self.configured("--set", "switch.leaf1.buffer.size=3MB"))
        _, table, _ = self.sweep("leaves", text=LEAVES + '[vary]\n"switch.leaf?.buffer.size" = ["4MB", "3MB"]\n')
        rows = list(csv.DictReader(io.StringIO(table.read_text())))
        self.assertEqual([row["switch.leaf?.buffer.size"] for row in rows], ["4MB", "3MB"])

    def test_one_that_matches_nothing_is_refused(self):
        done = self.fabric("run", LEAVES, "--set", "switch.tor*.buffer.size=3MB", status=USAGE)
        self.assertIn('no switch matches "tor*"; there are: leaf1, leaf2, spine1', done.stderr)
        text = LEAVES + '[vary]\n"switch.tor*.buffer.size" = ["4MB", "3MB"]\n'
        self.assertIn("no switch matches", self.fabric("sweep", text, "--out", self.folder / "none", status=USAGE).stderr)
        self.assertFalse((self.folder / "none").exists())


FIND = """
[find]
{} = "switch.default.default.priority_group.3.xoff"
within = "{}"
such_that = "verdict.lost_packets eq 0"
precision = "4KB"
"""


class Searches(Scenarios):
    # 219.1 KB are computed for 100G, which covers the worst case; these senders need less.
    TEXT = SMALL.replace('"20KB"', '"400KB"\ndepth = 8')

    def test_the_least_headroom_and_the_runs_beside_it(self):
        done = self.fabric("sweep", self.TEXT + FIND.format("least", "1KB..256KB"), "--force", "--out", self.folder / "found")
        answer = json.loads((self.folder / "found" / "find.json").read_text())
        self.assertIn(f"= {answer['holds']}: it holds there, and not at {answer['fails']}", done.stdout)
        lost = [json.loads((self.folder / "found" / side / "report.json").read_text())["verdict"]["lost_packets"]
                for side in ("holds", "fails")]
        self.assertEqual(lost[0], 0)
        self.assertGreater(lost[1], 0)

    def test_no_change_between_the_ends_is_an_error(self):
        done = self.fabric("sweep", self.TEXT + FIND.format("least", "200KB..256KB"), "--force", "--out", self.folder / "none",
                           status=FAILED)
        self.assertIn("it holds at 200KB and at 256KB", done.stderr)
        done = self.fabric("sweep", self.TEXT + FIND.format("most", "1KB..256KB"), "--force", "--out", self.folder / "none",
                           status=FAILED)
        self.assertIn("write least =", done.stderr)


if __name__ == "__main__":
    loopback.main()
