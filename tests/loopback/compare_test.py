#!/usr/bin/python3
"""sluice-fabric compare: what differs between two runs of either program, in words and as JSON; what cannot be compared is refused."""

import json
import shutil

import loopback
from loopback import Programs, run
from scenarios_test import DONE, SMALL, USAGE, VARY, Scenarios, asserting

DIFFER = 1
ASSERTED = SMALL + asserting("flows.*.messages gt 0") + asserting("flows.*.completion_ns.max lt 20us")


class Compare(Scenarios):
    def made(self, name, text):
        path = self.folder / "scenario.toml"
        path.write_text(text)
        run([self.program, "run", path, "--out", self.folder / name])
        return self.folder / name

    def compare(self, a, b, *words, status=DONE):
        done = run([self.program, "compare", a, b, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        self.assertEqual(done.stdout if status == USAGE else done.stderr, "")
        return done

    def differences(self, a, b):
        return json.loads(self.compare(a, b, "--json").stdout)

    def test_two_runs_of_a_fabric(self):
        a, b = self.made("a", ASSERTED), self.made("b", ASSERTED.replace("20KB", "200KB"))
        found = self.differences(a, b / "report.json")
        self.assertTrue(found["differ"])
        flows = {each["figure"]: (each["before"], each["after"]) for each in found["flows"]}
        reports = [json.loads((folder / "report.json").read_text()) for folder in (a, b)]
        for figure in ("messages", "throughput_bps"):
            self.assertEqual(flows[f"flows.in cast.{figure}"], tuple(report["flows"][0][figure] for report in reports))
        self.assertEqual(flows["flows.in cast.completion_ns.p99"], tuple(report["flows"][0]["completion_ns"]["p99"] for report in reports))
        self.assertEqual(found["configuration"], [{"figure": "flow.0.message", "before": '"20KB"', "after": '"200KB"'}])
        self.assertEqual(found["assertions"], [{"figure": "flows.*.completion_ns.max lt 20us", "before": "holds", "after": "FALSE"}])
        deepest = [max(queue["deepest_bytes"] for port in report["switches"]["sw1"]["ports"].values() for queue in port["queues"]) for report in reports]
        self.assertIn({"figure": "deepest_queue_bytes", "before": deepest[0], "after": deepest[1]}, found["totals"])
        self.assertFalse([each for name in ("totals", "configuration", "assertions", "flows", "figures") for each in found[name]
                          if each["before"] == each["after"]])
        text = self.compare(a, b).stdout
        self.assertRegex(text, rf"^A  {a}: .*\nB  {b}: .*\ntotals +A +B +change\n")
        self.assertRegex(text, r"(?m)^flows\.in cast\.completion_ns\.max +[\d.]+ [nu]s +[\d.]+ us +\+[\d.]+ %$")
        self.assertRegex(text, r"(?m)^flows\.\*\.completion_ns\.max lt 20us +holds +FALSE$")
        self.assertRegex(text, r"(?m)^and \d+ more; do: --all, or --json$")
        whole = self.compare(a, b, "--all").stdout
        self.assertNotIn("more; do:", whole)
        self.assertEqual(len([line for line in whole.splitlines()[2:] if line]), sum(len(found[name]) + 1 for name in found if found[name] not in (True, [])))

    def test_a_report_says_what_its_file_does(self):
        text = SMALL.replace('["h1", "h2"]', '"h1..h2"').replace('to = "h3"', 'to = "h3"\nqps = 2') + '[switch.sw1]\nhash_seed = 7\n[switch.sw1.port.h1.queue.3]\nwred = "none"\n'
        asked = json.loads((self.made("a", text) / "report.json").read_text())["configuration"]
        self.assertEqual(asked, {"flow.0.from": '"h1..h2"', "flow.0.message": '"20KB"', "flow.0.name": '"in cast"', "flow.0.qps": "2", "flow.0.stop": '"100us"',
                                 "flow.0.to": '"h3"', "host.default.cc": '"none"', "switch.default.buffer.size": '"2MB"', "switch.sw1.hash_seed": "7",
                                 "switch.sw1.port.h1": "a port", "switch.sw1.port.h1.queue.3.wred": '"none"', "topology": "a topology", "topology.hosts": "3"})

    def test_the_largest_difference_comes_first(self):
        figures = self.differences(self.made("a", SMALL), self.made("b", SMALL.replace("20KB", "200KB")))["figures"]
        numbers = [(each["before"] or 0, each["after"] or 0) for each in figures if isinstance(each["before"] or each["after"], int)]
        sizes = [abs(a - b) / (max(a, b) + 10) for a, b in numbers if not isinstance(a, bool)]
        self.assertGreater(len(sizes), 20)
        self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_long_files_and_pipes(self):
        """Beyond the 64 MiB that a configuration may have."""
        long = ["x" * 1_000_000] * 70
        self.sweep("sweep", text=SMALL + VARY)
        rows = self.folder / "sweep" / "sweep.jsonl"
        first, *rest = rows.read_text().splitlines()
        rows.write_text("\n".join([json.dumps({**json.loads(first), "more": long}), *rest]) + "\n")
        shutil.copytree(self.folder / "sweep", self.folder / "rows")
        shutil.rmtree(self.folder / "rows" / "runs")
        self.assertFalse(self.differences(self.folder / "sweep", self.folder / "rows")["differ"])
        good = self.made("a", SMALL) / "report.json"
        padded = self.folder / "padded.json"
        padded.write_text(json.dumps({**json.loads(good.read_text()), "more": long}))
        done = run(["bash", "-c", '"$0" compare "$1" <(cat "$2") --json', self.program, good, padded])
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertEqual({each["figure"].partition(".")[0] for each in json.loads(done.stdout)["figures"]}, {"more"})

    def test_exit_status(self):
        a, b = self.made("a", SMALL), self.made("b", SMALL.replace("20KB", "40KB"))
        shutil.copytree(a, self.folder / "same")
        self.assertRegex(self.compare(a, self.folder / "same", "--exit-code").stdout, r"\A(.*\n){2}nothing differs\n\Z")
        self.compare(a, b, "--exit-code", status=DIFFER)
        self.compare(a, b, "--exit-code", "--json", status=DIFFER)

    def test_sweeps(self):
        text = SMALL.replace('stop = "100us"', 'stop = "100us"\nspread = "20us"') + "[vary]\nseeds = 6\n"
        self.sweep("a", text=text)
        self.sweep("b", text=text.replace("20KB", "40KB"))
        a, b = self.folder / "a", self.folder / "b"
        self.assertRegex(self.compare(a, a, "--exit-code").stdout, r"(\d+) of \1 figures are the same in every run")
        self.assertRegex(self.compare(a, b, "--exit-code", status=DIFFER).stdout, r"completion_max_ns .*changed\n")
        found = self.differences(a, b)
        verdicts = {each["figure"]: each["verdict"] for each in found["figures"]}
        self.assertEqual((found["differ"], verdicts["completion_max_ns"], self.differences(a, a)["differ"]), (True, "changed", False))

    def test_two_runs_of_a_switch(self):
        switch = loopback.Switch(self, hosts=0)
        text = (loopback.ROOT / "conf" / "incast.toml").read_text()
        for name, status in (("dcqcn", 0), ("none", 4)):
            (self.folder / f"{name}.json").write_text(
                json.dumps(switch.run("--assert", "hosts.h1.cc eq dcqcn", config=text.replace('\ncc = "dcqcn"', f'\ncc = "{name}"'), balanced=False, status=status).report))
        a, b = self.folder / "dcqcn.json", self.folder / "none.json"
        found = self.differences(a, b)
        self.assertEqual(found["configuration"], [{"figure": "host.default.cc", "before": None, "after": '"none"'}])
        self.assertEqual(found["assertions"], [{"figure": "hosts.h1.cc eq dcqcn", "before": "holds", "after": "FALSE"}])
        self.assertIn("flows.bystander.throughput_bps", [each["figure"] for each in found["flows"]])
        shown = self.compare(a, b).stdout
        for words in (r'host\.default\.cc +default +"none"$', r"hosts\.h1\.cc eq dcqcn +holds +FALSE$", r"xoff_sent +\d+ +[\d ]+ \+", r"flows\.bystander\.throughput_bps +[\d.]+ Gb/s +[\d.]+ Gb/s +-[\d.]+ %", r"cnp_packets +\d+ "):
            self.assertRegex(shown, rf"(?m)^{words}")

    def test_what_cannot_be_compared(self):
        run_a = self.made("a", SMALL)
        self.sweep("sweep", text=SMALL + VARY)
        switch = self.folder / "switch.json"
        switch.write_text(json.dumps(loopback.Switch(self, hosts=0).run(
            config=(loopback.ROOT / "conf" / "incast.toml").read_text(), balanced=False).report))
        (self.folder / "empty").mkdir()
        for other, words in ((switch, "is a report of sluice-fabric, .*switch.json is a report of sluiced; do: name two of one kind"),
                             (self.folder / "sweep", "is a sweep; do: name two of one kind"),
                             (self.folder / "empty", "empty has neither report.json nor sweep.json; do: name"),
                             (self.folder / "none", "cannot be read"), (self.folder / "scenario.toml", "it is not a report: it is not valid JSON from line 2, column 2; do: name")):
            for pair in ((run_a, other), (other, run_a)):
                self.compare(*pair, status=USAGE)
            self.assertRegex(self.compare(run_a, other, status=USAGE).stderr, words)
        for words, said in ((["compare", run_a], "B is missing"), (["compare", run_a, run_a, run_a], "unexpected argument"),
                            (["check", self.folder / "scenario.toml", "--json"], "check takes no --json")):
            done = run([self.program, *words])
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
            self.assertIn(said, done.stderr)

    def test_damaged_reports_are_refused_in_a_sentence(self):
        good = self.made("a", SMALL)
        whole = (good / "report.json").read_text()
        report = json.loads(whole)
        damaged = self.folder / "damaged.json"
        texts = [(whole[:size], "it is truncated: it ends in line ") for size in (1, 100, len(whole) // 2, len(whole) - 3)]
        texts += [("[" * 100_000, "it is a list, not an object"), ('{"ports": ' + "[" * 50 + "]" * 50 + "}", "levels"), ("", "it is empty"), ("1e999", "one of its numbers is too large"),
                  ("{}", "damaged.json"), ("[]", "damaged.json"), ("null", "damaged.json"), ('{"ports": {}}', "damaged.json"), ('{"switches": 3}', "damaged.json")]
        texts += [(json.dumps({**report, name: 5}), "damaged.json") for name in ("verdict", "flows", "links", "switches", "ledger")]
        texts += [(json.dumps({key: value for key, value in report.items() if key != name}), "damaged.json") for name in ("verdict", "flows", "links")]
        for text, words in texts:
            with self.subTest(text[:60] + " ... " + text[-20:]):
                damaged.write_text(text)
                said = self.compare(good, damaged, status=USAGE).stderr
                self.assertIn(words, said)
                self.assertIn("it is not a report", said)
                self.assertEqual(said.count("\n"), 1)


if __name__ == "__main__":
    loopback.main()
