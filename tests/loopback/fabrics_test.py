#!/usr/bin/python3
"""sluice-fabric as people use it: the examples, its answers, what it refuses, and what an interruption leaves."""

import json
import pathlib
import re
import resource
import signal
import subprocess
import xml.etree.ElementTree

import loopback
from fabric import DONE, FAILED, FALSE, USAGE, FabricCase
from loopback import Programs, run

EXAMPLES = sorted((loopback.ROOT / "conf" / "fabrics").glob("*.toml"))

SMALL = """
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts = 2
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[host.h4]
drain = "20G"
[[flow]]
name = "slow"
from = ["h1", "h2"]
to = "h4"
message = "100KB"
depth = 8
stop = "500us"
[[flow]]
name = "victim"
from = "h1"
to = "h3"
message = "100KB"
stop = "500us"
"""

# Enough hosts for several threads.
LARGE = (SMALL.replace("hosts = 2", "hosts = 16\ncable = \"40m\"").replace("2MB", "16MB")
         .replace("\"h4\"", "\"h20\"").replace("host.h4", "host.h20").replace("\"h3\"", "\"h18\""))

RING = """
[topology]
kind = "ring"
switches = 3
[routing]
policy = "clockwise"
[switch.default]
buffer.size = "2MB"
"""


class Fabrics(FabricCase):
    def test_examples_run_as_they_say(self):
        self.assertGreaterEqual(len(EXAMPLES), 5)
        for path in EXAMPLES:
            with self.subTest(path.name):
                out = self.folder / path.stem
                self.assertIn(f"build/sluice-fabric run conf/fabrics/{path.name} --out out/{path.stem}\n", path.read_text())
                done = run([self.program, "run", path, "--out", out])
                self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
                self.assertNotIn("error", done.stderr)
                report = json.loads((out / "report.json").read_text())
                self.check_rows(report)
                self.assertTrue(report["ledger"]["balanced"])
                self.assertTrue(all(flow["messages"] > 0 for flow in report["flows"]))
                self.assertEqual(report["verdict"]["lossless"], path.stem != "spine-loss")
                tree = xml.etree.ElementTree.parse(out / "fabric.svg")
                self.assertEqual(len(tree.findall(".//{*}line")), 2 * len(report["links"]))
                kept = path.with_suffix(".svg")  # README.md shows it
                if kept.exists():
                    self.assertEqual(kept.read_text(), (out / "fabric.svg").read_text(), "do: copy it from the run")

    def test_the_report_has_what_it_promises(self):
        report = self.report(SMALL)
        self.assertEqual(list(report["switches"]), ["leaf1", "leaf2", "spine1", "spine2"])
        self.assertEqual(list(report["hosts"]), ["h1", "h2", "h3", "h4"])
        self.assertEqual([flow["name"] for flow in report["flows"]], ["slow", "victim"])
        link = report["links"]["leaf1-spine2"]
        self.assertEqual([way["from"] for way in link["directions"]], ["leaf1", "spine2"])
        self.assertEqual(report["switches"]["leaf1"]["ports"]["h1"]["rx"]["packets"], link_packets(report, "h1-leaf1", "h1"))
        for pause in report["pauses"]:
            self.assertIn(pause["switch"], report["switches"])
        self.assertEqual(report["pause_trees"][0]["text"], "h4 receives too slowly from leaf2, at 20G")
        ledger = report["ledger"]
        self.assertEqual(ledger["sent"] + ledger["made"] + ledger["added"],
                         sum(value for key, value in ledger.items() if key not in ("sent", "made", "added", "balanced", "dropped_by")))
        self.assertEqual(ledger["dropped_by"], {})

    def test_two_runs_give_the_same_bytes(self):
        made = []
        for name in ("one", "two"):
            self.fabric("run", SMALL, "--out", self.folder / name, "--seed", "7")
            made.append([(self.folder / name / part).read_bytes() for part in ("report.json", "fabric.svg")])
        self.assertEqual(made[0], made[1])

    def test_why_goes_back_to_the_slow_host(self):
        self.report(SMALL)
        answer = run([self.program, "why", self.folder / "made", "h1"]).stdout
        self.assertIn("because h4 receives too slowly from leaf2, at 20G", answer)
        self.assertRegex(answer, r"h1 was paused by leaf1, leaf1 by spine\d, spine\d by leaf2, leaf2 by h4: .* in \d+ pauses")
        self.assertIn("victim from h1 to h3", answer)
        self.assertIn("h3 waited for no pause", run([self.program, "why", self.folder / "made", "h3"]).stdout)
        for words, status, text in ((("made", "h9"), USAGE, "there is no host"), (("nowhere",), FAILED, "cannot be read")):
            done = run([self.program, "why", self.folder / words[0], *words[1:]])
            self.assertEqual(done.returncode, status)
            self.assertIn(text, done.stderr)
        (self.folder / "made" / "report.json").write_text("{}")
        self.assertIn('"pause_trees" is missing', run([self.program, "why", self.folder / "made"]).stderr)

    def test_the_summary_fits_a_screen(self):
        wide = SMALL.replace("2MB", "8MB").replace("hosts = 2", "hosts = 16").replace('["h1", "h2"]', '"h1..h15"').replace('"h4"', '"h32"').replace("[host.h4]", "[host.h32]")
        flaps = "".join(f'[[event]]\nat = "{n + 100}us"\ndo = "link leaf1-spine1 {"up" if n % 2 else "down"}"\n' for n in range(20))
        said = self.fabric("run", wide + flaps, "--out", self.folder / "made").stdout
        self.assertLess(len(said.splitlines()), 60, said)
        report = json.loads((self.folder / "made" / "report.json").read_text())
        self.assertGreater(sum(len(host["symptoms"]) for host in report["hosts"].values()), 10)
        self.assertRegex(said, r"SYMPTOM: h1\.\.h15: .* \(figures of the first\)\n")
        self.assertGreater(said.index("SYMPTOM"), said.index("busiest links"))
        self.assertIn(f"and {len(report['events']) - 8} more (report)", said)

    def test_the_balance_of_every_ecmp_group_is_reported(self):
        report = self.report(SMALL)
        self.assertEqual(sorted((group["switch"], group["links"]) for group in report["balance"]),
                         [("leaf1", ["leaf1-spine1", "leaf1-spine2"]), ("leaf2", ["leaf2-spine1", "leaf2-spine2"])])
        for group in report["balance"]:
            loads = [next(way["load_ppm"] for way in report["links"][link]["directions"] if way["from"] == group["switch"]) for link in group["links"]]
            self.assertAlmostEqual(group["mean_load_ppm"], sum(loads) / 2, delta=1)
            self.assertAlmostEqual(group["max_over_mean_permille"], 2000 * max(loads) / sum(loads), delta=1)
            self.assertAlmostEqual(group["jain_permille"], 500 * sum(loads) ** 2 / sum(load * load for load in loads), delta=1)

    def test_a_timeline_shows_who_held_whom(self):
        timeline = self.report(SMALL)["pause_timeline"]
        self.assertEqual(timeline["roots"][0], "h4 receives too slowly from leaf2, at 20G")
        rows = {(row["paused"], row["by"]): row for row in timeline["rows"]}
        self.assertIn(("h1", "leaf1"), rows)
        for row in rows.values():
            self.assertAlmostEqual(sum(part[2] for part in row["parts"]) * timeline["bin_ns"] / 1000, row["paused_ns"], delta=timeline["bin_ns"])
            self.assertTrue(all(part[0] < timeline["bins"] and 0 <= part[2] <= 1000 for part in row["parts"]))

    def test_the_picture_marks_where_pauses_began(self):
        report = self.report(SMALL)
        root = xml.etree.ElementTree.parse(self.folder / "made" / "fabric.svg").getroot()
        (mark,) = [each for each in root.findall(".//{*}rect") if each.get("fill") == "none"]
        self.assertEqual(mark.find("{*}title").text, report["pause_trees"][0]["text"])
        host = next(each for each in root.findall(".//{*}circle") if each.find("{*}title").text == "h4")
        self.assertAlmostEqual(float(mark.get("x")) + float(mark.get("width")) / 2, float(host.get("cx")), delta=0.2)
        self.assertAlmostEqual(float(mark.get("y")) + float(mark.get("height")) / 2, float(host.get("cy")), delta=0.2)

    def test_pictures_follow_dark_mode_and_width(self):
        self.report(SMALL)
        text = (self.folder / "made" / "fabric.svg").read_text()
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn('style="max-width:100%;height:auto"', text)

    def test_assertions_decide(self):
        self.report(SMALL, "--assert", "verdict.lossless", "--assert", "links.leaf1-spine1.directions.0.packets ge 0")
        done = self.fabric("run", SMALL, "--assert", "ledger.dropped gt 5", status=FALSE)
        self.assertIn("false: ledger.dropped gt 5: it is 0", done.stderr)
        self.assertIn("leaf9", self.fabric("run", SMALL, "--assert", "switches.leaf9.lossless", status=USAGE).stderr)

    def test_check_shows_what_is_made(self):
        done = self.fabric("check", SMALL)
        self.assertIn("4 switches, 4 hosts, 8 links, 2 flows", done.stdout)
        self.assertRegex(done.stdout, r"h3-leaf2 +100G +5m +10\.0\.2\.1 +02:48:")
        self.assertRegex(done.stdout, r"leaf1 +1 +4 +1 +spine1, spine2\n")
        self.assertRegex(done.stdout, r"leaf1 +10\.0\.2\.0/24 +spine1, spine2\n")
        self.assertRegex(done.stdout, r"spine2 +10\.0\.1\.0/24 +leaf1\n")
        xml.etree.ElementTree.fromstring(self.fabric("draw", SMALL).stdout)
        self.assertIn("| `kind` |", run([self.program, "reference"]).stdout)

    def test_a_circle_of_pauses_is_refused_unless_forced(self):
        refused = self.fabric("run", RING, status=USAGE).stderr
        self.assertIn("sw1 > sw2 > sw3 > sw1; closed by routes to 10.0.1.0/24", refused)
        self.assertIn("pause-cycle", self.fabric("run", RING, "--force").stderr)

    def test_an_expected_warning_is_a_note_and_one_that_does_not_come_is_told(self):
        self.assertIn("warning: host.h4.drain", self.fabric("run", SMALL).stderr)
        expected = 'expect = ["host-drain"]\n' + SMALL
        self.assertNotIn("host-drain", self.fabric("run", expected).stderr)
        self.assertIn("note: host.h4.drain", self.fabric("check", expected).stderr)
        self.assertIn('warning: expect: "host-drain" is expected and has not come [expected-missing]',
                      self.fabric("run", expected.replace('drain = "20G"', "mtu = 1024")).stderr)
        self.assertIn("pause-cycle", self.fabric("run", 'expect = ["pause-cycle"]\n' + RING, status=USAGE).stderr)  # an error stays one

    def test_a_long_start_says_how_far_it_is(self):
        large = '[topology]\nkind = "leaf-spine"\nleaves = 128\nspines = 128\nhosts = 128\n[switch.default]\nbuffer.size = "120MB"\n'
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = self.fabric("check", large).stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = [line for line in said.splitlines() if line.startswith("sluice-fabric: ")]
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        self.assertLessEqual(len(lines), seconds)
        if seconds > 3:
            self.assertRegex("\n".join(lines), r"(?m)^sluice-fabric: (switches|routes to leaves|checks of switches): \d+ of \d+$|(circles of pauses|ways of flows)$")
        self.assertNotIn("sluice-fabric: ", self.fabric("check", SMALL).stderr)

    def test_what_is_shipped_has_no_warning_that_it_does_not_expect(self):
        conf = loopback.ROOT / "conf"
        of_fabrics = [*EXAMPLES, *(conf / "scenarios").glob("*.toml"), conf / "cookbook" / "sweep.toml"]
        of_switches = [path for path in (*conf.glob("*.toml"), *(conf / "wire").glob("*.toml"), *(conf / "cookbook").glob("*.toml"))
                       if path not in of_fabrics and not path.stem.endswith("-traffic")]
        self.assertGreater(min(len(of_fabrics), len(of_switches)), 10)
        for command, paths in (([self.program, "check"], of_fabrics), ([Programs.sluiced, "--check", "--config"], of_switches)):
            for path in paths:
                with self.subTest(path.name):
                    warned = set(re.findall(r" warning: .*?\[([a-z-]+)\]", run([*command, path]).stderr))
                    self.assertEqual(warned, {"host-data-class"} if path.name == "mirror.toml" else set())  # its drops are of a lossy class

    def test_what_is_wrong_is_said_and_nothing_runs(self):
        event = SMALL + '[[event]]\nat = "1us"\ndo = "{}"\n'
        for text, wrong in ((event.format("link leaf1-spine9 down"), "there is no link \"leaf1-spine9\"; do: write leaf1-spine"),
                            (event.format("switch h1 down"), "there is no switch \"h1\""),
                            (event.format("host h1 drain 10"), "drain"), (event.format("leaf1: port h9 down"), "h9"),
                            (event.format("link h1-leaf1 to h1 pfc_delay 5us"), "\"pfc_delay\" is not a fault of frames to a host; known: drop_every"),
                            (event.format("link h1-leaf1 to h2 drop_every 5"), "\"h2\" is at no end of h1-leaf1"),
                            (event.format("link h1-leaf1 ber 2"), "is not from 0 to 0.001"),
                            (event.format("explode now"), "is not a command"),
                            (event.format("link leaf1-spine1 sideways 5"), "is not a fault"),
                            (SMALL + '[[flow]]\nfrom = "h1"\nto = "h1"\n', "host h1 would send to itself"),
                            (SMALL + '[[flow]]\nfrom = "h1"\nto = "h3"\n', "never ends; do: write stop"),
                            (SMALL + "[switch.leaf1.buffer]\nsize = \"1KB\"\n", "switch leaf1"), ("[topology\n", "fabric.toml:1:10"), ("", "topology")):
            with self.subTest(wrong):
                done = self.fabric("run", text, "--out", self.folder / "none", status=USAGE)
                self.assertIn(wrong, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertFalse((self.folder / "none").exists())
        for words in ((), ("run",), ("fly", "x"), ("run", "a", "b"), ("run", "x", "--sed", "1"), ("run", "x", "--duration", "soon"), ("run", "x", "--out")):
            self.assertEqual(run([self.program, *words]).returncode, USAGE, words)
        self.assertIn("cannot be read", run([self.program, "run", self.folder / "missing.toml"]).stderr)

    def test_an_output_that_cannot_be_written_is_said(self):
        (self.folder / "file").write_text("")
        self.fabric("run", SMALL, "--out", self.folder / "file", status=FAILED)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([self.program, "run", self.folder / "fabric.toml"], stdout=full, stderr=subprocess.PIPE, check=False, text=True)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("stdout cannot be written", done.stderr)

    def test_a_signal_leaves_a_report_that_says_so(self):
        path = self.folder / "long.toml"
        path.write_text(SMALL.replace('stop = "500us"', 'stop = "100s"'))
        out = self.folder / "long"
        process = subprocess.Popen([self.program, "run", path, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not out.exists():  # made right before the run
            if process.poll() is not None:
                self.fail(process.stderr.read())
        # Before its handler is there a signal ends it without a report.
        while process.poll() is None and not catches(process.pid, signal.SIGINT):
            pass
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertIn("INTERRUPTED", said)
        self.assertTrue(json.loads((out / "report.json").read_text())["verdict"]["interrupted"])


    def test_each_switch_has_a_socket_and_the_clock_is_one(self):
        ctl = Programs.sluiced.parent / "tools" / "sluicectl" / "sluicectl"
        path, sockets, out = self.folder / "fabric.toml", self.folder / "sockets", self.folder / "live"
        path.write_text(SMALL + '[routing]\ndetection = "10us"\nconvergence = "10us"\n')
        process = subprocess.Popen([self.program, "run", path, "--socket", sockets, "--interactive", "--out", out],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def at(switch, *words):
            done = run([ctl, "--socket", sockets / f"{switch}.sock", *words])
            self.assertEqual(done.returncode, DONE, done.stderr)
            return done.stdout

        def ports(switch):
            return json.loads(at(switch, "--json", "stats", "show"))["ports"]

        last = sockets / "spine2.sock"  # the last that is made
        while not last.exists():
            if process.poll() is not None:
                self.fail(process.stderr.read())
        at("leaf1", "clock", "run", "100us")
        self.assertEqual({json.loads(at(name, "--json", "stats", "show"))["end_ns"] for name in ("leaf1", "leaf2", "spine2")}, {100_000})
        before = ports("leaf2")["h4"]["tx"]["bytes"]
        at("leaf2", "set", "host.h4.drain", "unlimited")
        at("leaf1", "port", "spine1", "down")
        self.assertEqual(ports("spine1")["leaf1"]["link_up"], True)
        at("spine2", "clock", "run", "100us")
        self.assertEqual(ports("spine1")["leaf1"]["link_up"], False)
        self.assertGreater(ports("leaf2")["h4"]["tx"]["bytes"] - before, 100_000 * 60 / 8)  # above 60 Gb/s
        at("leaf1", "port", "spine1", "up")
        at("leaf1", "clock", "run", "100us")
        self.assertEqual(ports("spine1")["leaf1"]["link_up"], True)
        process.terminate()
        said, complaints = process.communicate()
        self.assertEqual((process.returncode, list(sockets.iterdir())), (DONE, []), said + complaints)
        report = json.loads((out / "report.json").read_text())
        self.assertEqual((report["end_ns"], report["verdict"]["interrupted"]), (300_000, False))

    def test_any_number_of_threads_leaves_the_same_bytes(self):
        made = []
        for threads in (1, 2, 4):
            out = self.folder / f"threads-{threads}"
            done = self.fabric("run", LARGE, "--threads", str(threads), "--out", out)
            self.assertNotIn("thread", done.stderr)
            made.append((done.stdout, *(path.read_bytes() for path in sorted(out.iterdir()))))
        self.assertEqual(len(made[0]), 5)
        self.assertEqual(made[1:], [made[0]] * 2)

    def test_clients_change_the_same_with_any_number_of_threads(self):
        ctl = Programs.sluiced.parent / "tools" / "sluicectl" / "sluicectl"
        path, made = self.folder / "fabric.toml", []
        path.write_text(LARGE)
        for threads in (1, 2):
            sockets, out = self.folder / f"sockets-{threads}", self.folder / f"live-{threads}"
            process = subprocess.Popen([self.program, "run", path, "--socket", sockets, "--interactive", "--out", out,
                                        "--threads", str(threads)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not (sockets / "spine2.sock").exists():
                if process.poll() is not None:
                    self.fail(process.stderr.read())
            for switch, *words in (("leaf1", "clock", "run", "50us"), ("leaf2", "set", "host.h20.drain", "unlimited"),
                                   ("leaf1", "port", "spine1", "down"), ("spine2", "clock", "run", "100us")):
                done = run([ctl, "--socket", sockets / f"{switch}.sock", *words])
                self.assertEqual(done.returncode, DONE, done.stderr)
            process.terminate()
            said, complaints = process.communicate()
            self.assertEqual(process.returncode, DONE, complaints)
            self.assertNotIn("thread", complaints)
            made.append((said, (out / "report.json").read_bytes()))
        self.assertEqual(made[0], made[1])

    def test_threads_that_would_wait_for_one_another_are_not_taken_and_said(self):
        done = self.fabric("run", SMALL, "--threads", "2")
        self.assertRegex(done.stderr, r"(?m)^sluice-fabric: \S+ stays on one thread: its hosts send at most \d+ bytes in the \S+ ns that .*$")
        for words, why in ((("--threads", "0"), '--threads "0" is not from 1 to 64'),
                           (("--threads", "65"), '--threads "65" is not from 1 to 64'),
                           (("--threads",), "--threads wants a value")):
            self.assertIn(why, self.fabric("run", SMALL, *words, status=USAGE).stderr)
        self.assertIn("sweep takes no --threads", self.fabric("sweep", SMALL, "--threads", "2", status=USAGE).stderr)

    def test_sockets_that_only_look_change_no_byte(self):
        made = []
        for name, words in (("without", ()), ("with", ("--socket", self.folder / "look"))):
            self.fabric("run", SMALL, "--out", self.folder / name, *words)
            made.append((self.folder / name / "report.json").read_bytes())
        self.assertEqual(made[0], made[1])
        self.assertIn("--interactive needs --socket", self.fabric("run", SMALL, "--interactive", status=USAGE).stderr)


def link_packets(report, link, sender):
    return next(way["packets"] for way in report["links"][link]["directions"] if way["from"] == sender)


def catches(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (number - 1) & 1)


if __name__ == "__main__":
    loopback.main()
