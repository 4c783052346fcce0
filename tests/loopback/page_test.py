#!/usr/bin/python3
"""The page of sluice-fabric: what it says is what report, series and rows say; the same bytes each time; nothing from outside.

With --long, where chromium is installed, also what a browser makes of it.
"""

import html.parser
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import browser
import loopback
from figures import at, leaves
from loopback import Programs, run

VENDOR = loopback.ROOT / "control" / "report" / "page" / "vendor"
HOSTILE = "</script><img src=x onerror=alert(1)><!--&amp;\\u2028{{data}}"

RUN = f"""
name = "one & <two>"
question = "Does it hold?"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts = 3
[switch.default]
buffer.size = "2MB"
[switch.default.default.queue.3]
wred = "roce"
[switch.default.wred.roce]
green_min = "20KB"
green_max = "100KB"
green_probability = 20
[host.default]
cc = "dcqcn"
[[flow]]
name = {json.dumps(HOSTILE)}
from = ["h1", "h2", "h4"]
to = "h5"
message = "40KB"
depth = 4
stop = "300us"
[[flow]]
name = "mixed"
from = "h3"
to = "h6"
message = "1KB..200KB"
load = "50%"
stop = "300us"
[[phase]]
name = "first"
to = "100us"
[[phase]]
name = "second"
from = "100us"
[[assert]]
that = "verdict.lossless"
[[assert]]
that = "max switches.*.ports.*.queues.3.user_watermark_bytes lt 1KB"
phase = "second"
why = "no queue is that short"
"""

SWEEP = """
name = "which"
question = "Which size?"
[topology]
kind = "star"
hosts = 3
[switch.default]
buffer.size = "2MB"
[host.default]
cc = "none"
[[flow]]
from = ["h1", "h2"]
to = "h3"
message = "20KB"
spread = "20us"
stop = "100us"
[[assert]]
that = "sum flows.*.throughput_bps ge 90G"
[vary]
"flow.0.message" = ["10KB", "20KB", "40KB"]
"flow.0.qps" = [1, 2]
seeds = 2
"""

DONE, FALSE = 0, 4


class Reader(html.parser.HTMLParser):
    """The elements of a page, whether they are closed in order, and the text of its scripts."""

    VOID = {"meta", "link", "img", "br", "hr", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.scripts, self.style = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] == "style":
            self.style += data


class Pages(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def fabric(self, *words, status=DONE):
        done = run([self.program, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def file(self, name, text):
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        return path

    def run_page(self, *words, status=FALSE):
        out, page = self.folder / "out", self.folder / "run.html"
        self.fabric("run", self.file("run", RUN), "--out", out, "--html", page, *words, status=status)
        return out, page

    def sweep_page(self):
        out, page = self.folder / "swept", self.folder / "sweep.html"
        self.fabric("sweep", self.file("sweep", SWEEP), "--out", out, "--html", page)
        return out, page


def data_of(page):
    return json.loads(Reader(page.read_text()).scripts[0])


class Files(Pages):
    def test_it_is_one_whole_file_that_asks_nobody(self):
        out, page = self.run_page()
        text = page.read_text()
        reader = Reader(text)
        self.assertEqual(reader.open, [])
        self.assertEqual(len(reader.scripts), 3)
        self.assertNotIn("{{", text.replace(json.dumps(HOSTILE)[1:-1].replace("<", "\\u003c"), "").split("<script>")[0])
        tags = {tag for tag, _ in reader.seen}
        self.assertFalse(tags & {"img", "link", "iframe", "object", "base", "form", "audio", "video"}, tags)
        for tag, attributes in reader.seen:
            self.assertFalse({"src", "href", "action", "onerror", "style"} & set(attributes), (tag, attributes))
        self.assertIsNone(re.search(r"@import|\burl\(|sourceMappingURL", reader.style))
        policy = next(attributes["content"] for tag, attributes in reader.seen if attributes.get("http-equiv") == "Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        # Names of XML's namespaces, and the licenses.
        code = re.sub(r"/\*!.*?\*/", "", text, flags=re.S)
        self.assertEqual(set(re.findall(r"https?://[^\s\"'`]+", code)) - {
            "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/2000/xmlns/", "http://www.w3.org/XML/1998/namespace"}, set())
        self.assertTrue("<title>one &amp; &lt;two&gt;</title>" in text)

    def test_its_data_are_the_reports(self):
        out, page = self.run_page()
        report, series = (json.loads((out / name).read_text()) for name in ("report.json", "series.json"))
        (run_of_it,) = data_of(page)["runs"]
        self.assertEqual((run_of_it["name"], run_of_it["series"], run_of_it["errors"]), (report["name"], series, []))
        told = run_of_it["fabric"]
        for key in ("name", "question", "fabric", "seed", "end_ns", "ledger", "asserts", "pause_timeline"):
            self.assertEqual(told[key], report[key], key)
        self.assertEqual(told.pop("pauses"), {"count": len(report["pauses"])})
        shown = list(leaves(told))
        for where, value in shown:
            self.assertEqual(at(report, where), value, where)
        for part in ("verdict", "collectives", "balance", "pause_trees", "pause_cycles", "events", "flows", "links", "switches", "phases"):
            self.assertEqual(len(told[part]), len(report[part]) if part != "verdict" else 6, part)
        self.assertGreater(sum(where[0] == "phases" for where, _ in shown), 100)

    def test_the_samples_end_in_the_reports_totals(self):
        out, _ = self.run_page()
        report, series = (json.loads((out / name).read_text()) for name in ("report.json", "series.json"))
        at = series["at_ns"]
        self.assertEqual(at[-1], report["end_ns"])
        self.assertEqual(at, sorted(at))
        self.assertLessEqual(len(at), 513)
        self.assertGreater(len(at), 100)
        flows = {flow["name"]: flow for flow in report["flows"]}
        self.assertEqual({flow["name"] for flow in series["flows"]}, set(flows))
        for flow in series["flows"]:
            self.assertEqual(flow["delivered_bytes"][-1], flows[flow["name"]]["delivered_bytes"])
            self.assertEqual(flow["delivered_bytes"], sorted(flow["delivered_bytes"]))
        queues = [queue for switch in report["switches"].values() for port in switch["ports"].values() for queue in port["queues"]]
        self.assertGreater(series["ecn_marked_packets"][-1], 0)
        self.assertEqual(series["ecn_marked_packets"][-1], sum(queue["ecn_marked_packets"] for queue in queues))
        self.assertEqual(series["cnp_sent_packets"][-1], sum(flow["cnp_sent_packets"] for flow in flows.values()))
        self.assertGreater(max(max(queue["bytes"]) for queue in series["queues"]), max(queue["deepest_bytes"] for queue in queues) / 2)
        for queue in series["queues"]:
            own = report["switches"][queue["switch"]]["ports"][queue["port"]]["queues"][queue["queue"]]
            self.assertGreater(max(queue["bytes"]), 0)
            self.assertLessEqual(max(queue["bytes"]), own["deepest_bytes"])

    def test_completion_times_are_the_reports_by_flow_and_add_up_by_size(self):
        out, _ = self.run_page()
        report, series = (json.loads((out / name).read_text()) for name in ("report.json", "series.json"))
        completions = series["completions"]
        shares = completions["per_mille"]
        for flow, own in zip(report["flows"], completions["flows"], strict=True):
            self.assertEqual(own["name"], flow["name"])
            self.assertEqual({name: own["ns"][shares.index(share)] for name, share in (("p50", 500), ("p99", 990), ("p999", 999), ("max", 1000))},
                             flow["completion_ns"])
            self.assertEqual((own["messages"], own["ns"]), (flow["messages"], sorted(own["ns"])))
        self.assertEqual(sum(size["messages"] for size in completions["sizes"]), sum(flow["messages"] for flow in report["flows"]))
        fixed = completions["flows"][0]
        self.assertEqual((fixed["least_bytes"], fixed["most_bytes"]), (40_000, 40_000))
        # 1 KB to 200 KB evenly: a hundredth is short, half is long.
        self.assertEqual([(size["above_bytes"], size["to_bytes"]) for size in completions["sizes"]],
                         [(1000 * above, 1000 * to) for above, to in itertools.pairwise((0.5, 1, 2, 5, 10, 20, 50, 100, 200))])
        for size, (name, own) in zip(completions["sizes"], report["message_sizes"].items(), strict=True):
            self.assertEqual(name, f"{size['to_bytes'] // 1000}KB")
            self.assertEqual([own[key] for key in ("above_bytes", "to_bytes", "messages")], [size[key] for key in ("above_bytes", "to_bytes", "messages")])
            self.assertEqual(size["permille"], sorted(size["permille"]))
            for quantile, share in (("p50", 500), ("p95", 950), ("p99", 990), ("max", 1000)):
                at_share = shares.index(share)
                self.assertEqual((own["completion_ns"][quantile], own["slowdown_permille"][quantile]),
                                 (size["ns"][at_share], size["permille"][at_share]) if size["messages"] else (None, None))
        used = [size for size in completions["sizes"] if size["messages"] > 0]
        self.assertEqual(max(size["ns"][-1] for size in used), max(flow["completion_ns"]["max"] for flow in report["flows"]))

    def test_the_run_does_not_notice_it_and_its_bytes_are_the_same(self):
        _, page = self.run_page()
        first = page.read_bytes()
        report = (self.folder / "out" / "report.json").read_bytes()
        self.run_page()
        self.assertEqual(page.read_bytes(), first)
        self.assertEqual((self.folder / "out" / "report.json").read_bytes(), report)
        self.assertNotIn(str(self.folder).encode(), first)
        self.assertNotIn(str(loopback.ROOT).encode(), first)

    def test_report_makes_the_same_page_again(self):
        out, page = self.run_page()
        self.fabric("report", out)
        self.assertEqual((out / "page.html").read_bytes(), page.read_bytes())
        swept, page = self.sweep_page()
        self.fabric("report", swept, "--html", self.folder / "again.html")
        self.assertEqual((self.folder / "again.html").read_bytes(), page.read_bytes())

    def test_several_runs_are_on_one_page_with_what_did_not_run(self):
        page, out = self.folder / "all.html", self.folder / "all"
        other = self.file("other", RUN.replace('"one & <two>"', '"other"').replace("lt 1KB", "lt 1MB"))
        self.fabric("run", self.file("run", RUN), other, "--html", page, "--out", out, status=FALSE)
        runs = data_of(page)["runs"]
        self.assertEqual([run["name"] for run in runs], ["one & <two>", "other"])
        self.assertEqual([all(each["met"] for each in run["fabric"]["asserts"]) for run in runs], [False, True])
        self.fabric("report", out, "--html", self.folder / "again.html")
        self.assertEqual({run["name"] for run in data_of(self.folder / "again.html")["runs"]}, {"one & <two>", "other"})

    def test_a_sweep_has_its_rows_whatever_jobs_and_shards(self):
        out, page = self.sweep_page()
        data = data_of(page)
        rows = [json.loads(line) for line in (out / "sweep.jsonl").read_text().splitlines()]
        self.assertEqual(data["rows"], rows)
        self.assertEqual(len(rows), 12)
        self.assertEqual([axis["path"] for axis in data["sweep"]["axes"]], ["flow.0.message", "flow.0.qps"])
        path = self.folder / "sweep.toml"
        self.fabric("sweep", path, "--out", self.folder / "jobs", "--jobs", "2", "--html", self.folder / "jobs.html")
        self.assertEqual((self.folder / "jobs.html").read_bytes(), page.read_bytes())
        for shard in (1, 2):
            self.fabric("sweep", path, "--out", self.folder / f"s{shard}", "--shard", f"{shard}/2")
        self.fabric("merge", self.folder / "s1", self.folder / "s2", "--out", self.folder / "merged")
        self.fabric("report", self.folder / "merged")
        self.assertEqual((self.folder / "merged" / "page.html").read_bytes(), page.read_bytes())

    def test_refusals(self):
        for words, said in ((["report", self.folder], "neither report.json nor sweep.json"),):
            self.assertIn(said, self.fabric(*words, status=1).stderr)
        out, _ = self.run_page()
        whole = json.loads((out / "report.json").read_text())
        damaged = [{key: value for key, value in whole.items() if key != lost} for lost in whole]
        damaged += [{**whole, key: [7]} for key in whole] + [{**whole, "flows": [{}], "links": {"a": 5}, "switches": {"b": {"ports": {"c": {}}}}}]
        folder = self.folder / "damaged"
        folder.mkdir()
        for report in [*damaged, 7]:
            (folder / "report.json").write_text(json.dumps(report))
            done = run([self.program, "report", folder])
            self.assertIn(done.returncode, (0, 1))  # what the page does not use may be wrong
            self.assertNotRegex(done.stderr, "internal|Assert")
        for text in ("{}", "7", '{"name": 7}'):
            (folder / "sweep.json").write_text(text)
            (folder / "sweep.jsonl").write_text('{"run": 1, "figures": {}}\n')
            self.assertIn(run([self.program, "report", folder]).returncode, (0, 1))
        find = SWEEP.split("[vary]")[0] + '[find]\nleast = "flow.0.message"\nwithin = "1KB..2KB"\n'
        self.assertIn("a search has no page", self.fabric("sweep", self.file("find", find), "--html", self.folder / "f.html", status=2).stderr)


class Bundle(loopback.Case):
    def test_it_is_what_its_sources_were_built_to(self):
        done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=VENDOR, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + "do: npm ci && npm run build in control/report/page/vendor")
        lock = json.loads((VENDOR / "package-lock.json").read_text())["packages"]
        wanted = json.loads((VENDOR / "package.json").read_text())
        for name, version in {**wanted["dependencies"], **wanted["devDependencies"]}.items():
            self.assertEqual(lock[f"node_modules/{name}"]["version"], version)
        self.assertTrue(all("integrity" in each for path, each in lock.items() if path))
        self.assertNotIn("registry", (VENDOR / "package-lock.json").read_text())
        text = (VENDOR / "charts.min.js").read_text()
        for notice in ("Apache License", "Apache ECharts", "Baidu Inc.", "Mike Bostock", "Microsoft Corporation"):
            self.assertTrue(notice in text, notice)

    @unittest.skipUnless(loopback.LONG and shutil.which("npm"), "fetches from npm's registry: with --long, where there is npm")
    def test_a_build_from_the_registry_gives_the_same_bytes(self):
        folder = loopback.Switch(self, hosts=0).folder / "vendor"
        shutil.copytree(VENDOR, folder, ignore=shutil.ignore_patterns("node_modules"))
        (folder / "charts.min.js").unlink()
        for words in (["npm", "ci"], ["npm", "run", "build"]):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("charts.min.js", "SHA256SUMS"):
            self.assertEqual((folder / name).read_bytes(), (VENDOR / name).read_bytes())


@unittest.skipUnless(browser.CHROMIUM and loopback.LONG, "a browser looks at it with --long, where chromium is installed")
class InBrowser(Pages):
    FIGURES = "[...document.querySelectorAll('#{} tbody tr')].map(row => [...row.cells].map(cell => cell.querySelector('data')?.value ?? cell.textContent))"

    def test_what_it_shows_is_what_the_report_says(self):
        out, page = self.run_page()
        report = json.loads((out / "report.json").read_text())
        tab = browser.opened(self, page)
        self.assertEqual(tab.evaluate("document.querySelector('h1').textContent"), report["name"])
        self.assertIn("1 of 2 assertions is false", tab.evaluate("document.querySelector('#verdict').textContent"))
        rows = tab.evaluate(self.FIGURES.format("assertions"))
        self.assertEqual([(row[0][2:], row[1], row[3]) for row in rows],
                         [("holds" if each["met"] else "FALSE", each["that"], json.dumps(each["value"])) for each in report["asserts"]])
        for n, figures in enumerate((report, *report["phases"].values())):
            tab.evaluate(f"(() => {{ const pick = document.querySelector('#flows select'); pick.selectedIndex = {n}; pick.dispatchEvent(new Event('change')); }})()")
            flows = tab.evaluate("[...document.querySelectorAll('#flows table')[0].tBodies[0].rows].map(row => [...row.cells].map(cell => cell.querySelector('data')?.value ?? cell.textContent))")
            self.assertEqual(flows, [[flow["name"], *(str(value) for value in (
                flow["queue_pairs"], flow["throughput_bps"], flow["messages"], flow["failed_messages"], flow["completion_ns"]["p50"],
                flow["completion_ns"]["p99"], flow["completion_ns"]["max"], flow["slowdown_permille"]["p99"], flow["retransmitted_packets"],
                flow["cnp_received_packets"], flow["paused_ns"]))] for flow in figures["flows"]])
            links = tab.evaluate(self.FIGURES.format("links"))
            self.assertEqual([(row[0], row[1], row[6], row[8]) for row in links],
                             [(name, direction["from"], str(direction["load_ppm"]), str(direction["packets"]))
                              for name, link in figures["links"].items() for direction in link["directions"]])
        ledger = tab.evaluate("[...document.querySelectorAll('#ledger table')[0].tBodies[0].rows].map(row => [row.cells[0].textContent, Number(row.cells[1].querySelector('data').value)])")
        self.assertEqual(ledger, [[name.replace("_", " "), value] for name, value in report["ledger"].items() if type(value) is int])
        self.assertIn(report["pause_trees"][0]["text"], tab.evaluate("document.querySelector('.cause').textContent"))
        # A topology, lines over time, slowdown over sizes, a distribution, pauses; and texts of a figure near it.
        self.assertEqual(tab.evaluate("document.querySelectorAll('.chart svg').length"), 5)
        timeline = report["pause_timeline"]
        words = tab.evaluate("[...document.querySelectorAll('#pauses .chart svg text')].map((text) => text.textContent)")
        self.assertLessEqual({f"{row['paused']} by {row['by']}" for row in timeline["rows"]}, set(words))
        filled = tab.evaluate("[...new Set([...document.querySelectorAll('#pauses .chart svg path')].map((path) => path.getAttribute('fill')))]")
        for n, root in enumerate(timeline["roots"]):
            self.assertIn(tab.evaluate(f"color_of({n})"), filled)
            self.assertIn(root, tab.evaluate("document.querySelector('#pauses').textContent"))
        self.assertGreater(tab.evaluate("document.querySelectorAll('.chart svg path').length"), 30)
        self.assertEqual(tab.evaluate("scaled(92345678901, ['b/s', 'kb/s', 'Mb/s', 'Gb/s'])"), "92.3 Gb/s")
        self.assertEqual(tab.evaluate("document.images.length"), 0)
        self.assertEqual(tab.complaints, [])

    def test_keys_reach_everything(self):
        _, page = self.run_page()
        tab = browser.opened(self, page)
        reached = set()
        for _ in range(150):
            tab.press("Tab")
            reached.add(tab.evaluate("(e => e.tagName + (e.className ? '.' + e.className : '') + (e.type ? '.' + e.type : ''))(document.activeElement)"))
        self.assertLessEqual({"A", "DIV.chart", "INPUT.checkbox", "SUMMARY"}, reached)
        self.assertIn("SELECT.select-one", reached)
        tab.evaluate("document.querySelector('#time .chart').focus()")
        zoom = "drawn.map(each => each.zoom()).find(each => each.end - each.start < 100) ?? null"
        self.assertIsNone(tab.evaluate(zoom))
        tab.press("+")
        self.assertAlmostEqual(tab.evaluate(f"(z => z.end - z.start)({zoom})"), 50)
        tab.press("Home")
        self.assertIsNone(tab.evaluate(zoom))
        tab.evaluate("document.querySelector('#time details').open = true")
        self.assertGreater(tab.evaluate("new Promise(done => setTimeout(() => done(document.querySelectorAll('#time details tbody tr').length), 200))"), 20)
        tab.evaluate("document.querySelectorAll('#flows th button')[2].click()")
        self.assertEqual(tab.evaluate("document.querySelectorAll('#flows th')[2].getAttribute('aria-sort')"), "descending")
        self.assertEqual(tab.evaluate("[...document.querySelectorAll('button,select,input')].filter(e => !e.textContent && !e.labels?.length).length"), 0)
        self.assertEqual(tab.complaints, [])

    def test_a_sweep_shows_every_run(self):
        out, page = self.sweep_page()
        rows = [json.loads(line) for line in (out / "sweep.jsonl").read_text().splitlines()]
        tab = browser.opened(self, page)
        shown = tab.evaluate(self.FIGURES.format("runs"))
        self.assertEqual([row[0] for row in shown], [str(row["run"]) for row in rows])
        heads = tab.evaluate("[...document.querySelectorAll('#runs th')].map(head => head.textContent)")
        for name in ("throughput_bps", "completion_p99_ns", "xoff_sent"):
            column = heads.index(name.replace("_", " "))
            self.assertEqual([row[column] for row in shown], [str(row["figures"][name]) for row in rows])
        # At first the figure of the assertion that decides; by choice another.
        tab.evaluate("(s => { s.selectedIndex = [...s.options].findIndex(o => o.textContent === 'completion p99 ns'); "
                     "s.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector('#lines select'))")
        (means,) = tab.evaluate("[[...document.querySelectorAll('#lines tbody tr')].map(row => [...row.cells].map(cell => cell.querySelector('data')?.value ?? cell.textContent))]")
        for size, qps, mean, least, most, runs in means:
            values = [row["figures"]["completion_p99_ns"] for row in rows if row["values"]["flow.0.message"] == size and str(row["values"]["flow.0.qps"]) == qps]
            self.assertEqual((float(mean), float(least), float(most), int(runs)), (sum(values) / 2, min(values), max(values), 2))
        self.assertEqual(tab.evaluate("document.querySelectorAll('.chart svg').length"), 2)
        self.assertEqual(tab.complaints, [])

    def test_dark_and_light_differ_and_paper_is_light(self):
        _, page = self.run_page()
        tab = browser.opened(self, page)
        ink = "[getComputedStyle(document.body).backgroundColor, document.querySelector('.chart svg text').getAttribute('fill') ?? document.querySelector('.chart svg text').style.fill]"
        light = tab.evaluate(ink)
        tab.open(page, dark=True)
        dark = tab.evaluate(ink)
        self.assertNotEqual(light[0], dark[0])
        self.assertEqual(light[0], "rgb(255, 255, 255)")
        lines = "document.querySelector('#time .chart svg').outerHTML"
        before = tab.evaluate(lines)
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        on_paper = tab.evaluate(lines)
        self.assertIn(tab.evaluate("light.series[0]"), on_paper)
        self.assertNotIn(tab.evaluate("dark.series[0]"), on_paper)
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertIn(tab.evaluate("dark.series[0]"), before)
        paper = pathlib.Path(self.folder / "page.pdf")
        tab.print(paper)
        self.assertGreater(len(paper.read_bytes()), 20_000)
        self.assertEqual(tab.complaints, [])


if __name__ == "__main__":
    loopback.main()
