#!/usr/bin/python3
"""Advice as people ask for it: rounds over a small fabric, the same bytes however it is run, what is refused, exit codes."""

import json
import signal
import subprocess
import time
import unittest

import browser
import loopback
from loopback import run
from page_test import HOSTILE, data_of
from scenarios_test import DONE, FAILED, FALSE, SMALL, USAGE, Scenarios

# The queue's marks decide how long a message waits; the buffer decides nothing.
FABRIC = SMALL.replace('cc = "none"', 'cc = "dcqcn"') + """
[goal]
keep = ["verdict.lossless"]
least = ["end_ns"]
[advise]
runs = 60
seeds = 5
[advise.range]
"flow.0.message" = ["10KB", "14KB", "20KB", "28KB", "40KB"]
"switch.default.buffer.size" = ["2MB", "3MB", "4MB"]
"""
FILES = ("search.json", "advice.json")
INTERRUPTED = 128


class Answers(Scenarios):
    def advise(self, out, *words, text=FABRIC, status=DONE):
        done = self.fabric("advise", text, "--out", self.folder / out, *words, status=status)
        path = self.folder / out / "advice.json"
        return done, json.loads(path.read_text()) if path.exists() else None

    def bytes_of(self, out):
        rows = sorted((self.folder / out / "runs").glob("*.json"))
        return [(self.folder / out / name).read_bytes() for name in FILES], [(row.name, row.read_bytes()) for row in rows]

    def rows(self, out):
        return [json.loads(row.read_text()) for row in sorted((self.folder / out / "runs").glob("*.json"))]


class Advice(Answers):
    def test_the_answer_is_of_rows_that_are_there(self):
        done, advice = self.advise("one", "--runs", "90")
        rows = self.rows("one")
        self.assertEqual([row["run"] for row in rows], list(range(len(rows))))
        self.assertEqual(advice["runs"], len(rows))
        self.assertLessEqual(len(rows), 90)
        self.assertEqual(advice["packets"], sum(row["packets"] for row in rows))
        self.assertGreater(advice["packets"], 0)
        self.assertEqual([each["path"] for each in advice["values"]], ["flow.0.message", "switch.default.buffer.size"])
        self.assertIn(advice["answer"], ("change", "leave it", "no difference"))
        # Each value is one of its key's, and the buffer, which decides nothing, stays as it is.
        self.assertEqual((advice["values"][1]["today"], advice["values"][1]["advised"]), ("2MB", "2MB"))
        # Gains are of held seeds alone, as their rows have them.
        held = {}
        for row in rows:
            if row["seed"] >= 1000 and "trial" not in row:
                held.setdefault(row["values"]["flow.0.message"], []).append(row["goal"]["least"][0]["value"])
        for gain in advice["gain"]:
            self.assertAlmostEqual(gain["today"], sum(held["20KB"]) / 5, places=3)
        self.assertIn("frames sent by hosts", done.stdout)

    def test_what_breaks_is_run_with_its_edit(self):
        _, advice = self.advise("breaks", "--runs", "200")
        tried = {row["trial"] for row in self.rows("breaks") if "trial" in row}
        self.assertEqual(tried, {each["what"] for each in advice["breaks"]})
        self.assertEqual(tried, {"cables x 1.5", "senders x 2", "host MTU 4096", "no congestion control"})
        self.assertIn("host MTU 1024: the hosts have it today", advice["not_tried"])
        of = {each["what"]: each for each in advice["breaks"]}
        self.assertGreater(of["senders x 2"]["after"], of["senders x 2"]["before"])
        self.assertEqual([each["error"] for each in advice["breaks"]], [None] * len(tried))

    def test_jobs_and_a_stopped_search_give_the_same_bytes(self):
        self.advise("one")
        self.advise("two", "--jobs", "2")
        self.assertEqual(self.bytes_of("one"), self.bytes_of("two"))
        self.advise("four", "--jobs", "4")
        self.assertEqual(self.bytes_of("one"), self.bytes_of("four"))
        # Killed when some rows are there, then the same command again.
        path = self.folder / "scenario.toml"
        command = [self.program, "advise", path, "--out", self.folder / "cut"]
        for number in (signal.SIGKILL, signal.SIGTERM):
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                before = len(list((self.folder / "cut" / "runs").glob("*.json")))
                for _ in range(2000):
                    if process.poll() is not None or len(list((self.folder / "cut" / "runs").glob("*.json"))) > before + 3:
                        break
                    time.sleep(0.01)
                process.send_signal(number)
                process.communicate()
            self.assertEqual(process.returncode, -9 if number == signal.SIGKILL else INTERRUPTED + number)
            self.assertFalse((self.folder / "cut" / "advice.json").exists())
        self.advise("cut")
        self.assertEqual(self.bytes_of("one"), self.bytes_of("cut"))
        # A row that is lost, one of another run, and one of other words: they are run again.
        runs = self.folder / "one" / "runs"
        wanted = self.bytes_of("one")
        (runs / "000003.json").unlink()
        (runs / "000005.json").write_text((runs / "000005.json").read_text().replace('"seed":1,', '"seed":2,'))
        (runs / "000007.json").write_text("{}")
        self.advise("one")
        self.assertEqual(self.bytes_of("one"), wanted)

    def test_points_that_check_refuses_have_no_run(self):
        # Forty ports have no room in 2 MB; each alone is good.
        text = FABRIC[:FABRIC.index("[advise.range]")] + '[advise.range]\n"topology.hosts" = [3, 40]\n"switch.default.buffer.size" = ["2MB", "16MB"]\n'
        text = text.replace('size = "2MB"', 'size = "16MB"')
        _, advice = self.advise("refused", text=text)
        rows = self.rows("refused")
        self.assertEqual({row["error"] for row in rows}, {None})
        points = {(row["values"]["topology.hosts"], row["values"]["switch.default.buffer.size"]) for row in rows}
        self.assertEqual(points, {("3", "2MB"), ("3", "16MB"), ("40", "16MB")})

    def test_where_no_point_keeps_the_goal_the_exit_is_4(self):
        text = FABRIC.replace('keep = ["verdict.lossless"]', 'keep = ["end_ns lt 5ns"]')
        done, advice = self.advise("none", text=text, status=FALSE)
        self.assertEqual(advice["answer"], "none keeps")
        self.assertIn("today's values fail: end_ns lt 5ns: ", done.stdout)
        self.assertIn("none keeps the goal; the nearest is run ", done.stdout)

    def test_where_no_run_can_be_judged_it_fails_after_the_first_round(self):
        done, advice = self.advise("judged", text=FABRIC.replace('least = ["end_ns"]', 'least = ["flows.0.slowdown_permille.p90"]').replace('name = "in cast"', 'name = "a"').replace("flows.0", "flows.a"), status=FAILED)
        self.assertIn("no run could be judged: ", done.stderr)
        self.assertIn("perhaps p50", done.stderr)
        self.assertIsNone(advice)
        self.assertEqual({row["error"] is None for row in self.rows("judged")}, {False})

    def test_what_is_refused(self):
        goal = FABRIC[FABRIC.index("[goal]"):FABRIC.index("[advise]")]
        for text, words, said in ((FABRIC.replace(goal, ""), (), "it has no [goal]"),
                                  (FABRIC, ("--runs", "9"), "too few: the first round and the held seeds take 18"),
                                  (FABRIC, ("--shard", "1/2"), "--shard"),
                                  (FABRIC, ("--seed", str(2**63 - 9)), "a smaller seed"),
                                  (FABRIC.replace("verdict.lossless", "verdict.losless"), (), "lossless"),
                                  (FABRIC + '[vary]\nseed = [1, 2]\n', (), "[vary]")):
            with self.subTest(said):
                done, advice = self.advise("refused", *words, text=text, status=USAGE)
                self.assertIn(said, done.stderr)
                self.assertIsNone(advice)

    def test_the_values_are_written_as_files(self):
        slow = FABRIC.replace('least = ["end_ns"]', 'least = ["max flows.*.completion_ns.max"]')
        done, advice = self.advise("one", "--runs", "90", text=slow)
        self.assertEqual(advice["answer"], "change")
        self.assertEqual(advice["values"][0]["advised"], "10KB")
        recommended = self.folder / "one" / "recommended.toml"
        text = recommended.read_text()
        self.assertIn(advice["values"][0]["advised"], text)
        self.assertIn(f"the whole file: {recommended}", done.stdout)
        self.assertFalse((self.folder / "one" / "switch.toml").exists(), "no key of a switch has changed")
        _, again = self.advise("again", "--runs", "90", text=text)
        self.assertIn(again["answer"], ("leave it", "no difference"))

    def test_keys_of_a_switch_become_a_trial(self):
        text = """
topology = {kind = "star", hosts = 6}
[switch.default]
buffer.size = "16MB"
[host.default]
cc = "dcqcn"
[[flow]]
name = "incast"
from = "h1..h4"
to = "h5"
message = "500KB"
stop = "2ms"
[[flow]]
name = "probe"
from = "h6"
to = "h5"
message = "4KB"
load = 1
stop = "2ms"
[goal]
least = ["flows.probe.completion_ns.p99"]
[advise]
groups = ["wred"]
runs = 100
"""
        done, advice = self.advise("marks", text=text)
        self.assertEqual(advice["answer"], "change", done.stdout)
        changed = (self.folder / "marks" / "switch.toml").read_text()
        self.assertIn("[wred.advised]", changed)
        trial = next(line for line in done.stdout.splitlines() if line.startswith("sluicectl set --watch 10s "))
        for key in ("wred.advised.green_min=", "wred.advised.green_max=", "queue.3.wred=advised"):
            self.assertIn(key, trial)

    def test_its_page_has_the_same_answer_and_the_same_bytes(self):
        page, again = self.folder / "page.html", self.folder / "again.html"
        text = FABRIC.replace('name = "small"', f"name = {json.dumps(HOSTILE)}")
        _, advice = self.advise("one", "--html", page, text=text)
        data = data_of(page)["advised"]
        self.assertEqual(data["advice"], advice)
        self.assertEqual((data["name"], data["question"]), (HOSTILE, "Does an incast of two lose anything?"))
        self.assertNotIn("<img", page.read_text())
        self.assertNotIn(str(self.folder), page.read_text())
        # The rows are there, so nothing runs; then two jobs run it anew.
        self.advise("one", "--html", again, text=text)
        self.assertEqual(again.read_bytes(), page.read_bytes())
        self.advise("two", "--html", again, "--jobs", "2", text=text)
        self.assertEqual(again.read_bytes(), page.read_bytes())
        done = run([self.program, "report", self.folder / "one"])
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("is of advise; do: run the same command once more with --html", done.stderr)

    def test_a_page_that_cannot_be_written_is_told_before_the_first_run(self):
        done, advice = self.advise("no page", "--html", self.folder / "no" / "page.html", status=FAILED)
        self.assertIn("No such file or directory", done.stderr)
        self.assertIsNone(advice)
        self.assertFalse((self.folder / "no page").exists())
        done, advice = self.advise("full", "--html", "/dev/full", status=FAILED)
        self.assertIn("No space left on device", done.stderr)
        self.assertIsNotNone(advice)
        done = run([self.program, "advise", self.folder / "scenario.toml", "--out", self.folder / "clash", "--html", self.folder / "scenario.toml"])
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("the scenario", done.stderr)

    def test_headroom_that_is_not_as_computed_has_its_edit(self):
        text = FABRIC.replace('buffer.size = "2MB"\n', 'buffer.size = "2MB"\n[switch.default.default.priority_group.3]\nxoff = "300KB"\n')
        done, advice = self.advise("edit", text=text)
        (row,) = advice["headroom"]
        self.assertNotEqual(row["today"], row["computed"])
        self.assertIn("priority_group.3.xoff", row["edit"])
        self.assertIn(f"computed, not searched; do: {row['edit']}\n", done.stdout)

    def test_a_question_without_a_workload_makes_its_file(self):
        def ask(*words):
            done = run([self.program, "advise", *words, "--out", self.folder / "asked"])
            self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
            return done.stderr

        eight = ("--ports", "8", "--speed", "100G", "--buffer", "8MB", "--cable", "10m", "--incast", "4")
        self.assertIn("a file, or --ports", ask())
        self.assertIn("not both", ask(self.folder / "any.toml", *eight))
        self.assertIn("too few for an incast", ask("--ports", "5", *eight[2:]))
        self.assertIn("9 runs are too few", ask(*eight, "--runs", "9"))
        file = self.folder / "asked" / "fabric.toml"
        made = file.read_text()
        self.assertIn('groups = ["wred"]', made)
        self.assertEqual(run([self.program, "check", file]).returncode, DONE)
        self.assertIn("it is of another question", ask("--ports", "9", *eight[2:]))
        self.assertEqual(file.read_text(), made)

    def test_a_new_question_puts_the_old_answer_aside(self):
        self.advise("again")
        done, _ = self.advise("again", "--runs", "61")
        self.assertIn("are now in ", done.stdout)
        self.assertTrue((self.folder / "again" / "earlier-1" / "advice.json").exists())


@unittest.skipUnless(browser.CHROMIUM and loopback.LONG, "a browser looks at it with --long, where chromium is installed")
class InBrowser(Answers):
    TEXTS = "[...document.querySelectorAll('#{} tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"

    def page(self, name, *words, text=FABRIC, status=DONE):
        page = self.folder / f"{name}.html"
        done, advice = self.advise(name, "--html", page, *words, text=text, status=status)
        return browser.opened(self, page), page, advice, done

    def text(self, tab, section):
        return tab.evaluate(f"document.querySelector('#{section}').innerText")

    def test_it_shows_the_answer(self):
        text = FABRIC.replace('least = ["end_ns"]', 'least = ["max flows.*.completion_ns.max", "end_ns"]')
        tab, page, advice, done = self.page("whole", "--runs", "200", text=text)
        self.assertEqual(advice["answer"], "change")
        self.assertIn(tab.evaluate("document.querySelector('#verdict').textContent").replace("\u2192", "->").replace("\u00b1", "+-") + "\n", done.stdout)
        self.assertEqual(tab.evaluate("[...document.querySelectorAll('section')].map((each) => each.id)"),
                         ["values", "gain", "front", "sensitivity", "certificate", "headroom", "breaks", "not-tried"])
        self.assertEqual([row[:3] for row in tab.evaluate(self.TEXTS.format("values"))],
                         [[each["path"], each["today"], each["advised"] if each["advised"] != each["today"] else "as today"] for each in advice["values"]])
        self.assertEqual([(row[0], row[6]) for row in tab.evaluate(self.TEXTS.format("gain"))], [(each["against"], each["verdict"]) for each in advice["gain"]])
        self.assertEqual(len(tab.evaluate(self.TEXTS.format("front"))), len(advice["front"]) + len(advice["beaten"]) + ("today" not in [each["name"] for each in advice["front"] + advice["beaten"]]))
        words = tab.evaluate("[...document.querySelectorAll('#front .chart svg text')].map((each) => each.textContent)")
        self.assertTrue({"advised", "today"} <= set(words), words)
        # A small picture for each key, with a point for each value that was tried and those of the set in the middle.
        self.assertEqual(tab.evaluate("document.querySelectorAll('#sensitivity .chart svg').length"), len(advice["sensitivity"]))
        tab.evaluate("document.querySelector('#sensitivity details').open = true")
        self.assertEqual(len(tab.evaluate(self.TEXTS.format("sensitivity"))), sum(len(each["change"]) for row in advice["sensitivity"] for each in row["tried"]))
        rows = tab.evaluate(self.TEXTS.format("certificate"))
        for n, key in enumerate(advice["certificate"]):
            for m, side in enumerate(("below", "above")):
                row = rows[2 * n + m]
                self.assertEqual((row[2], row[3] if key[side] else None, row[6]), (side, key[side] and key[side]["value"], str(key[side]["run"]) if key[side] else ""))
        self.assertEqual({row[0] for row in tab.evaluate(self.TEXTS.format("breaks"))}, {each["what"] for each in advice["breaks"]})
        for each in advice["not_tried"]:
            self.assertIn(each, self.text(tab, "not-tried"))
        self.assertIn(f"It took {len(self.rows('whole'))} runs", self.text(tab, "not-tried"))
        papers = set()
        for width in (320, 1280):
            for dark in (False, True):
                tab.open(page, dark=dark, width=width)
                self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), width)
                papers.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(papers), 2)
        self.assertEqual(tab.complaints, [])

    def test_a_part_without_runs_says_so_in_place_of_a_picture(self):
        tab, _, advice, _ = self.page("few", "--runs", "29", text=FABRIC.replace("seeds = 5", "seeds = 10"))
        self.assertEqual([row["tried"] for row in advice["sensitivity"]], [[], []])
        for section, said in (("gain", "there is no other start set"), ("front", "No set has run with all seeds. No run was left for it; do: advise with --runs 100."),
                              ("sensitivity", "No run was left for it; do: advise with --runs 100."), ("certificate", "not tried: no run was left, --runs 100")):
            self.assertIn(said, self.text(tab, section))
        self.assertEqual(tab.evaluate("document.querySelectorAll('.chart').length"), 0)
        tab, _, advice, _ = self.page("none", text=FABRIC.replace('keep = ["verdict.lossless"]', 'keep = ["end_ns lt 5ns"]'), status=FALSE)
        for section in ("gain", "front", "sensitivity", "certificate", "breaks"):
            self.assertIn("No set keeps the goal, so none was measured further.", self.text(tab, section))
        self.assertIn(f"Nearest, run {advice['nearest']['run']}", self.text(tab, "values"))
        self.assertEqual(tab.complaints, [])

    def test_names_are_text(self):
        tab, _, _, _ = self.page("hostile", text=FABRIC.replace('name = "small"', f"name = {json.dumps(HOSTILE)}"))
        self.assertEqual(tab.evaluate("document.querySelector('h1').textContent"), HOSTILE)
        self.assertEqual(tab.evaluate("document.images.length"), 0)
        self.assertEqual(tab.complaints, [])


if __name__ == "__main__":
    loopback.main()
