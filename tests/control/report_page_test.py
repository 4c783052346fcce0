#!/usr/bin/python3
"""`sluiced page`: one file that shows a report, a switch's or a fabric's by switch; what is not a report is refused, with its place. Where
Chromium is installed, what a browser makes of it.
"""

import copy
import html.parser
import json
import re
import unittest

import control
import browser
import loopback
from control import Programs, Switch
from fabric_page_test import FABRIC, NAMES
from figures import at, leaves
from live_page_test import CONFIG
from pages import HOSTILE, Pages

DONE, FAILED, USAGE = 0, 1, 2


class Reader(html.parser.HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.inside, self.title = [], [], "", ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.inside = tag
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside == "title":
            self.title += data

    def handle_endtag(self, tag):
        self.inside = ""


class Page(Pages):
    port = 0  # nothing is served

    @classmethod
    def setUpClass(cls):
        cls.reports = {}

    def setUp(self):
        self.folder = Switch(self, hosts=0).folder

    def report(self, kind="switch"):
        """Its path. A fresh copy, of a run made once."""
        if kind not in self.reports:
            config = self.folder / f"{kind}.toml"
            if kind == "switch":
                config.write_text(CONFIG.replace("50ms", "5ms"))
                words = [Programs.sluiced, "--config", config, "--report", self.folder / "made.json"]
            else:
                config.write_text(FABRIC.replace("{stop}", "3ms"))
                words = [Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric", "run", config, "--out", self.folder / "out"]
            done = loopback.run(words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.reports[kind] = (self.folder / ("made.json" if kind == "switch" else "out/report.json")).read_text()
        path = self.folder / f"{kind}.json"
        path.write_text(self.reports[kind])
        return path

    def page(self, path, *words, status=DONE):
        done = loopback.run([Programs.sluiced, "page", path, *words])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done


class Files(Page):
    def test_it_is_one_file_that_asks_nobody_and_has_the_reports_figures(self):
        for kind in ("switch", "fabric"):
            path = self.report(kind)
            self.assertEqual(self.page(path).stdout, f"{self.folder / kind}.html\n")
            text = (self.folder / f"{kind}.html").read_text()
            reader = Reader(text)
            for tag, attributes in reader.tags:
                self.assertNotIn(tag, ("img", "link", "iframe", "base", "form"))
                self.assertFalse({"src", "href", "style", "onerror"} & set(attributes), (tag, attributes))
            policy = next(attributes["content"] for _, attributes in reader.tags if attributes.get("http-equiv") == "Content-Security-Policy")
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("connect-src", policy)
            self.assertNotIn(str(self.folder), text)
            report, data = json.loads(path.read_text()), json.loads(reader.scripts[0])["runs"][0]
            told = data["report" if kind == "switch" else "fabric"]
            if kind == "fabric":
                self.assertEqual((list(told["switches"]), data["name"], reader.title), (NAMES, "a slow <host>", "a slow <host>"))
                self.assertEqual(told.pop("pauses"), {"count": len(report["pauses"])})
            told = list(leaves(told))
            self.assertGreater(len(told), 100)
            for where, value in told:
                self.assertEqual(at(report, where), value, where)
            self.page(path, "--output", self.folder / "again.html")
            self.assertEqual((self.folder / "again.html").read_text(), text)

    def test_what_a_running_switch_shows_is_a_report_too(self):
        running = control.Running(Switch(self, hosts=0), config=CONFIG)
        running.ctl("clock run 1ms")
        path = self.folder / "live.json"
        path.write_text(running.ctl("--json", "stats", "show"))
        self.page(path)

    def test_usage(self):
        path = self.report()
        for words, said in (([], "REPORT.json is missing"), ([path, path], "unexpected argument"), ([path, "--output"], "--output wants a value: FILE.html"), ([path, "--onto", "x"], "is not an option"),
                            ([path, "--output", path], "is the report itself")):
            done = loopback.run([Programs.sluiced, "page", *words])
            self.assertEqual((done.returncode, said in done.stderr, done.stderr.endswith("; see: sluiced page --help\n")), (USAGE, True, True), words)
        self.assertIn("usage: sluiced page", loopback.run([Programs.sluiced, "page", "--help"]).stdout)
        for words, said in (([self.folder / "nowhere.json"], "the report cannot be read: No such file"), ([self.folder], "cannot be read: Is a directory"),
                            ([path, "--output", self.folder / "no" / "page.html"], "No such file")):
            self.assertIn(said, self.page(*words, status=FAILED).stderr)


class Refused(Page):
    def refused(self, text):
        path = self.folder / "bad.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        said = self.page(path, status=FAILED).stderr
        self.assertTrue(said.startswith(f"sluiced page: {path}: "), said)
        self.assertLess(len(said), 500 + len(str(path)))
        self.assertFalse((self.folder / "bad.html").exists())
        return said

    def test_what_is_no_json_or_no_report(self):
        whole = self.report().read_text()
        for text, said in (("", "it is empty"), ('{"ports":\n  x}', "it is not valid JSON from line 2, column 3"), (whole[:-50], "it is truncated: it ends in line"), (whole + "}", "it is not valid JSON"),
                           (b"\xff\xfe\x00", "it is not valid JSON from line 1, column 1"), (b'{"ports": {"\xff": 1}}', "it is not valid JSON"),
                           ("7", "it is 7, not an object"), ("[]", "it is a list, not an object"), ("null", "it is null, not an object"), ("{}", "neither ports nor switches"),
                           ('{"ports": {}}', "'verdict' is missing"), ('{"switches": 7}', "'switches' is 7, not an object"),
                           ('{"a":' + "[" * 100_000, "more than 32 levels"), ('{"a":' * 50 + "1" + "}" * 50, "more than 32 levels"),
                           (whole.replace('"end_ns": ', '"end_ns": 1e999, "x": ', 1), "numbers is too large")):
            self.assertIn(said.replace("'", '"'), self.refused(text), text[:50])

    def test_every_part_that_is_missing_or_of_another_kind(self):
        """Of each kind of leaf one, by the data of the page."""
        for kind in ("switch", "fabric"):
            path = self.report(kind)
            self.page(path)
            (data,) = json.loads(Reader((self.folder / f"{kind}.html").read_text()).scripts[0])["runs"]
            part, whole = ("report" if kind == "switch" else "fabric"), json.loads(path.read_text())
            data[part].pop("pauses", None)  # of which there is the number
            seen, tried = set(), 0
            for where, value in leaves(data[part]):
                named = ("ports", "pools", "links", "switches", "hosts", "ecmp")
                shape = tuple("#" if isinstance(key, int) else "*" if where[n - 1:n] and where[n - 1] in named else key for n, key in enumerate(where))
                if shape in seen or not isinstance(at(whole, where), type(value)):
                    continue
                seen.add(shape)
                for wrong in ([], {"a": HOSTILE}, HOSTILE if not isinstance(value, str) else 7):
                    if wrong == value or (value == [] and wrong == []):
                        continue
                    bad = copy.deepcopy(whole)
                    at(bad, where[:-1])[where[-1]] = wrong
                    self.assertIn('"' + ".".join(map(str, where)), self.refused(json.dumps(bad)).replace("\\", ""))
                    tried += 1
                    break
                if isinstance(where[-1], str) and shape[-1] != "*" and where[-2:-1] not in (("drops",), ("lossless_drops",), ("paused_ns",)):
                    bad = copy.deepcopy(whole)
                    del at(bad, where[:-1])[where[-1]]
                    self.assertIn(" is missing", self.refused(json.dumps(bad)))
            self.assertGreater(tried, 30)

    def test_a_switch_of_a_fabric_is_named(self):
        report = json.loads(self.report("fabric").read_text())
        report["switches"]["spine1"]["pools"] = []
        self.assertIn('"switches.spine1.pools" is a list, not an object', self.refused(json.dumps(report)))

    def test_a_name_does_not_reach_the_terminal(self):
        report = json.loads(self.report().read_text())
        report["ports"]["\x1b[31m" + "x" * 10_000] = 7
        said = self.refused(json.dumps(report))
        self.assertNotIn("\x1b", said)


def hostile(report):
    """With names and texts that are HTML, all of them the same."""
    text = json.dumps(report)
    for name in ("h1", "lossless", "drop", "operational", "leaf1", "in", "a slow <host>"):
        text = text.replace(f'"{name}": {{', json.dumps(HOSTILE) + ": {").replace(f': "{name}"', f": {json.dumps(HOSTILE)}")
    report = json.loads(text)
    report["verdict"]["lossless"] = False
    report["verdict"]["reasons"] = [HOSTILE]
    report["events"] = [{"at_ns": 1, "kind": HOSTILE, "text": HOSTILE}]
    return report


class Hostile(Page):
    def test_a_name_ends_no_script(self):
        for kind in ("switch", "fabric"):
            path = self.report(kind)
            path.write_text(json.dumps(hostile(json.loads(path.read_text()))))
            self.page(path)
            text = (self.folder / f"{kind}.html").read_text()
            self.assertNotIn("<img", text)
            self.assertEqual(len(re.findall("</script>", text)), 3)
            self.assertIn("\\u003cimg", text)


@unittest.skipUnless(browser.CHROMIUM, "Chromium is not installed")
class Seen(Page):
    def check_switch(self, tab, report, name):
        port = report["ports"][name]
        self.assertEqual(self.row(tab, "ports", name)[6], str(sum(port["drops"].values())))
        self.assertAlmostEqual(float(self.row(tab, "ports", name)[2]), port["rx"]["bytes"] * 8e9 / report["end_ns"], delta=1)
        group = port["priority_groups"][3]
        self.assertEqual(self.row(tab, "buffer", f"{name}.3")[2:5], [str(group[figure]) for figure in ("xoff_transitions", "shared_bytes", "shared_watermark_bytes")])
        self.assertEqual(self.row(tab, "pauses", f"{name}.3")[1:2], [str(paused)] if (paused := port["pfc"]["tx_paused_ns"][3]) else [])
        queue = port["queues"][3]
        if queue["tx_packets"]:
            self.assertEqual(self.row(tab, "queues", f"{name}.3")[1:6], [str(queue[figure]) for figure in ("occupancy_bytes", "deepest_bytes", "tx_packets", "ecn_marked_packets", "dropped_packets")])

    def test_a_switch(self):
        path = self.report()
        self.page(path)
        report = json.loads(path.read_text())
        tab = browser.opened(self, self.folder / "switch.html")
        for name in report["ports"]:
            self.check_switch(tab, report, name)
        self.assertEqual(tab.evaluate("document.querySelectorAll('#queues .chart:not([hidden]) svg').length"), int(bool(report["microbursts"])))
        self.assertIn("not when each was", tab.evaluate("document.querySelector('#pauses').textContent"))
        self.assertIn("has no answers", tab.evaluate("document.querySelector('#why').textContent"))
        self.assertEqual(tab.complaints, [])
        # Without what there is to draw there is a sentence, not an empty chart.
        report["microbursts"] = []
        path.write_text(json.dumps(report))
        self.page(path)
        tab.open(self.folder / "switch.html")
        self.assertEqual(tab.evaluate("document.querySelectorAll('.chart svg').length"), 0)
        self.assertIn("No queue was above", tab.evaluate("[...document.querySelectorAll('#queues p:not([hidden])')].map((each) => each.textContent).join()"))

    def test_a_microburst_is_at_its_peak_at_one_instant_alone(self):
        path = self.report()
        report = json.loads(path.read_text())
        kept = {"port": "h3", "queue": 3, "ended": True, "threshold_bytes": 400_000, "marked_packets": 0, "dropped_packets": 0, "fed_by": []}
        report["microbursts"] = [{**kept, "start_ns": 1_000_000, "length_ns": 3_000_000, "peak_bytes": 1_500_000, "peak_at_ns": 1_100_000}]
        path.write_text(json.dumps(report))
        self.page(path)
        tab = browser.opened(self, self.folder / "switch.html")
        line = max(tab.evaluate("""[...document.querySelectorAll('#queues .chart svg path')]
            .filter((path) => path.getAttribute('fill') === 'none' && path.getAttribute('stroke') === color_of(0))
            .map((path) => path.getAttribute('d').match(/[-0-9.]+/g).map(Number))"""), key=len)
        points = list(zip(line[::2], line[1::2]))
        (left, _), (right, _), top, floor = points[0], points[-1], min(y for _, y in points), max(y for _, y in points)
        (at,) = {x for x, y in points if y < floor}
        self.assertAlmostEqual((at - left) / (right - left), 1 / 30, delta=0.01)
        axis = tab.evaluate("[...document.querySelectorAll('#queues .chart svg text')].filter((text) => text.textContent === '0 B').map((text) => text.getBoundingClientRect().y - text.closest('svg').getBoundingClientRect().y + text.getBoundingClientRect().height / 2)")[0]
        self.assertAlmostEqual((axis - floor) / (axis - top), 200 / 1500, delta=0.02)

    def test_names_of_lines_are_above_the_plot_at_any_width(self):
        path = self.report()
        report = json.loads(path.read_text())
        [template, *_] = report["microbursts"]
        report["microbursts"] = [{**template, "port": port, "queue": n} for port in report["ports"] for n in range(8)]
        path.write_text(json.dumps(report))
        self.page(path)
        tab = browser.opened(self, self.folder / "switch.html")
        for width in (400, 1280):
            tab.open(self.folder / "switch.html", width=width)
            texts = tab.evaluate("[...document.querySelectorAll('#queues .chart svg text')].map((text) => [text.textContent, text.getBoundingClientRect().top, text.getBoundingClientRect().bottom])")
            names, others = ([each for each in texts if (each[0][0] == "h") == is_name] for is_name in (True, False))
            self.assertEqual(len(names), 8)
            self.assertLess(max(bottom for _, _, bottom in names), min(top for _, top, _ in others))

    def test_a_table_that_is_too_wide_says_that_it_scrolls(self):
        path = self.report()
        self.page(path)
        tab = browser.opened(self, self.folder / "switch.html")
        hint = "getComputedStyle(document.querySelector('#ports .scroll'), '::before').content"
        self.assertEqual(tab.evaluate(hint), "none")
        tab.open(self.folder / "switch.html", width=400)
        self.assertIn("Scroll sideways", tab.evaluate(hint))

    def test_an_empty_section_says_why_in_a_line(self):
        path = self.report()
        report = json.loads(path.read_text())
        report["watchdog"], report["ecmp"] = [], {}
        path.write_text(json.dumps(report))
        self.page(path)
        tab = browser.opened(self, self.folder / "switch.html")
        for section, said in (("watchdog", "WatchdogThe PFC watchdog watches no queue."), ("ecmp", "ECMPNo route has several next hops.")):
            self.assertEqual(tab.evaluate(f"document.querySelector('#{section}').innerText.replaceAll('\\n', '')"), said)

    def test_a_fabric_by_switch(self):
        path = self.report("fabric")
        self.page(path)
        report = json.loads(path.read_text())
        tab = browser.opened(self, self.folder / "fabric.html")
        self.assertIn(report["pause_trees"][0]["text"], tab.evaluate("document.querySelector('.cause').textContent"))
        for group in report["balance"]:
            self.assertEqual(self.row(tab, "balance", f"{group['switch']} {' '.join(group['links'])}")[2:], [str(group[name]) for name in ("mean_load_ppm", "max_over_mean_permille", "jain_permille")])
        self.assertIn("no collectives", tab.evaluate("document.querySelector('#collectives').innerText"))
        self.assertEqual(tab.evaluate("document.title"), "lossless \u2013 a slow <host> \u2013 Sluice")
        flows = report["flows"][0]
        self.assertEqual(self.row(tab, "flows", "in")[1:4], [str(flows[name]) for name in ("queue_pairs", "throughput_bps", "messages")])
        for name in NAMES:
            tab.evaluate(f"location.hash = 'switch={name}'")
            control.wait_for(lambda name=name: tab.evaluate("document.querySelector('select').value"), lambda value, name=name: value == name)
            for port in report["switches"][name]["ports"]:
                if report["switches"][name]["ports"][port]["pfc"]["tx_paused_ns"][3]:
                    self.check_switch(tab, report["switches"][name], port)
        self.assertEqual(tab.complaints, [])

    def test_any_width_dark_and_light_and_a_name_injects_nothing(self):
        for kind in ("switch", "fabric"):
            path = self.report(kind)
            path.write_text(json.dumps(hostile(json.loads(path.read_text()))))
            self.page(path)
            tab = browser.opened(self, self.folder / f"{kind}.html")
            papers = set()
            for width in (320, 1280, 2560):
                for dark in (False, True):
                    tab.open(self.folder / f"{kind}.html", dark=dark, width=width)
                    self.check_width(tab, width)
                    papers.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
            self.assertEqual(len(papers), 2)
            self.assertIn(HOSTILE, tab.evaluate("document.querySelector('.view:not([hidden])').textContent"))
            if kind == "fabric":
                tab.evaluate("document.querySelector('#switches tbody a').click()")
                control.wait_for(lambda: tab.evaluate("document.querySelector('select').value"), lambda value: value == HOSTILE)
            self.assertIsNone(tab.evaluate("window.hit ?? null"))
            self.assertEqual(tab.evaluate("document.images.length"), 0)
            self.assertEqual(tab.complaints, [])


if __name__ == "__main__":
    control.main()
