#!/usr/bin/python3
"""`sluice-fabric run --page`: by switch what each switch's socket says, of the fabric what its report says, and a run that is the same with
and without it. With --long, where Chromium is installed, what a browser makes of it.
"""

import json
import os
import signal
import socket
import subprocess
import unittest

import control
import browser
import loopback
from client import connect
from control import Programs, Switch
from pages import Pages, free_port
from waiting import wait_for

FABRIC = """
name = "a slow <host>"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts = 2
host_speed = "25G"
[switch.default]
buffer.size = "1MB"
[switch.default.default.queue.3]
wred = "roce"
[switch.default.wred.roce]
green_min = "50KB"
green_max = "200KB"
green_probability = 20
[host.default]
cc = "none"
[host.h4]
drain = "5G"
[[flow]]
name = "in"
from = ["h1", "h2", "h3"]
to = "h4"
message = "100KB"
stop = "{stop}"
"""
LONG_RUN = "300ms"
NAMES = ["leaf1", "leaf2", "spine1", "spine2"]


class Page(Pages):
    def setUp(self):
        self.folder = Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"
        self.sockets = self.folder / "sockets"
        self.out = self.folder / "out"

    def start(self, *words, stop="5ms"):
        self.port = free_port()
        path = self.folder / "fabric.toml"
        path.write_text(FABRIC.replace("{stop}", stop))
        self.log = open(self.folder / "log", "w+")
        self.addCleanup(self.log.close)
        self.process = subprocess.Popen([self.program, "run", path, "--out", self.out, "--page", str(self.port), *words],
                                        stdout=self.log, stderr=subprocess.STDOUT)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        said = wait_for((self.folder / "log").read_text, lambda text: "page: http" in text, alive=lambda: self.process.poll() is None)
        self.url = self.address(said)

    def interactive(self):
        self.start("--socket", self.sockets, "--interactive")
        self.clients = {name: connect(self.sockets / f"{name}.sock", self.process) for name in NAMES}
        for client in self.clients.values():
            self.addCleanup(client.close)

    def call(self, name, method, **words):
        return self.clients[name].call(method, **words)

    def run_clock(self, duration):
        self.call("leaf1", "clock.run", **{"for": duration})


class Served(Page):
    def test_each_switch_tells_what_its_socket_says(self):
        self.interactive()
        self.run_clock("3ms")
        self.assertEqual(json.loads(self.ask("/switches")[2]), {"title": "a slow <host>", "file": str(self.folder / "fabric.toml"), "host": socket.gethostname(), "switches": NAMES})
        for name in NAMES:
            told = self.next_of(self.listen(f"/live?switch={name}"))
            report = self.call(name, "stats.show")
            for part in ("end_ns", "verdict", "ports", "pools", "ledger", "ecmp"):
                self.assertEqual(told["report"][part], report[part], (name, part))
            self.assertEqual(set(told["thresholds"]), set(report["ports"]))
        whys = [self.call(name, "why.show")["entries"] for name in NAMES]
        self.assertEqual([json.loads(self.ask(f"/why?switch={name}")[2])["result"]["entries"] for name in NAMES], whys)
        self.assertTrue(whys[1])
        self.assertEqual(json.loads(self.ask("/why?switch=leaf2&at=h4")[2])["result"]["entries"], self.call("leaf2", "why.show", at="h4")["entries"])

    def test_listeners_of_one_switch_hear_nothing_of_another(self):
        self.interactive()
        readers = {name: self.listen(f"/live?switch={name}" if name else "/live") for name in ("", "leaf1", "spine2")}
        for name, reader in readers.items():
            self.assertEqual("fabric" in self.next_of(reader), name == "")
        self.run_clock("1ms")
        for name, reader in readers.items():
            told = wait_for(lambda reader=reader: self.next_of(reader), lambda told: told.get("fabric", told.get("report"))["end_ns"] == 1_000_000)
            if name:
                self.assertEqual(told["report"]["ports"], self.call(name, "stats.show")["ports"])

    def test_the_fabric_tells_what_the_report_says(self):
        self.interactive()
        self.run_clock("3ms")
        told = self.next_of(self.listen())["fabric"]
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(control.PATIENCE_S)
        report = json.loads((self.out / "report.json").read_text())
        for part in ("fabric", "name", "end_ns", "verdict", "ledger", "flows", "links", "events"):
            self.assertEqual(told[part], report[part], part)
        self.assertEqual(told["switches"], {name: {key: of[key] for key in ("tier", "verdict", "ledger")} for name, of in report["switches"].items()})

    def test_what_is_not_there_is_refused(self):
        self.interactive()
        for target in ("/live?switch=leaf9", "/live?switch=leaf1%00", "/why", "/why?switch=", "/why?switch=h1"):
            status, _, body = self.ask(target)
            self.assertEqual((status, b"there is no switch" in body), (404, True), target)
        path = self.folder / "fabric.toml"
        for words, said in ((["sweep", path, "--page", "8080"], "sweep takes no --page"), (["run", path, path, "--page", "8080"], "--page wants one file"),
                            (["run", path, "--page", "x", "--out", self.folder / "other"], "--page ")):
            done = loopback.run([self.program, *words])
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_a_run_at_its_pace_is_the_same_and_tells_its_end(self):
        """Seconds of a machine, so that it can be looked at meanwhile."""
        self.start("--threads", "2", stop=LONG_RUN)
        readers = {name: self.listen(f"/live?switch={name}" if name else "/live") for name in ("", "leaf2")}
        first = {name: self.next_of(reader) for name, reader in readers.items()}
        for _ in range(3):
            self.assertEqual(self.ask("/why?switch=leaf2")[0], 200)
        last = {}
        for name, reader in readers.items():
            while "ended" not in (told := self.next_of(reader)):
                pass
            last[name] = told
        self.assertEqual(self.process.wait(control.PATIENCE_S), 0)
        report = json.loads((self.out / "report.json").read_text())
        self.assertLess(first[""]["fabric"]["end_ns"], report["end_ns"])
        for part in ("ledger", "links", "flows", "verdict"):
            self.assertEqual(last[""]["fabric"][part], report[part], part)
        self.assertEqual(last["leaf2"]["report"]["ports"], report["switches"]["leaf2"]["ports"])
        alone = self.folder / "alone"
        done = loopback.run([self.program, "run", self.folder / "fabric.toml", "--out", alone])
        self.assertEqual(done.returncode, 0, done.stderr)
        for file in sorted(alone.iterdir()):
            self.assertEqual((self.out / file.name).read_bytes(), file.read_bytes(), file.name)
        self.assertEqual(sorted(os.listdir(alone)), sorted(os.listdir(self.out)))


@unittest.skipUnless(loopback.LONG and browser.CHROMIUM, "with --long, and where Chromium is installed")
class Seen(Page):
    def shown(self, tab):
        return tab.evaluate("document.querySelector('select').value + ' ' + [...document.querySelectorAll('.view:not([hidden]) section')].map((each) => each.id).join(' ')")

    def wait_shown(self, tab, name):
        wait_for(lambda: tab.evaluate("document.querySelector('select')?.value ?? ''"), lambda value: value == name)
        wait_for(lambda: self.verdict(tab), lambda text: "lossless" in text)

    def test_choosing_a_switch(self):
        self.interactive()
        self.run_clock("3ms")
        with browser.Browser() as tab:
            tab.open(self.url)
            self.wait_shown(tab, "the fabric")
            self.assertEqual(tab.evaluate("document.querySelector('h1').textContent"), "a slow <host>")
            ledger = self.call("leaf2", "stats.show")["ledger"]
            self.assertEqual(self.row(tab, "switches", "leaf2")[4:], [str(ledger[name]) for name in ("rx", "tx", "dropped", "queued")])
            # Keys alone: the chooser, then a section, then a link of the table.
            tab.evaluate("document.querySelector('select').focus()")
            tab.press("ArrowDown")
            self.wait_shown(tab, "leaf1")
            self.assertEqual(tab.evaluate("location.hash"), "#switch=leaf1")
            for name, index in (("leaf1", 0), ("leaf2", 1)):
                if index:
                    tab.evaluate(f"location.hash = 'switch={name}&section=buffer'")
                    self.wait_shown(tab, name)
                group = self.call(name, "stats.show")["ports"]["h3" if index else "h1"]["priority_groups"][3]
                row = self.row(tab, "buffer", "h3.3" if index else "h1.3")
                self.assertEqual(row[2:5], [str(group[figure]) for figure in ("xoff_transitions", "shared_bytes", "shared_watermark_bytes")])
            self.assertEqual(tab.evaluate("document.activeElement.textContent"), "Buffer")
            self.assertLess(abs(tab.evaluate("document.querySelector('#buffer').getBoundingClientRect().top")), 200)
            tab.evaluate("document.querySelector('.view:not([hidden]) nav a').focus()")
            tab.press("Enter")
            self.assertEqual(tab.evaluate("location.hash"), "#switch=leaf2&section=ports")
            tab.evaluate("document.querySelector('#why button').click()")
            wait_for(lambda: tab.evaluate("document.querySelector('.answer').textContent"), lambda text: "paused" in text)
            tab.evaluate("location.hash = 'switch=nowhere'")
            self.wait_shown(tab, "the fabric")
            self.assertIn("There is no switch nowhere", tab.evaluate("document.querySelector('#page').textContent"))
            tab.evaluate("document.querySelector('#switches tr[data-key=spine1] a').click()")
            self.wait_shown(tab, "spine1")
            self.assertEqual(self.row(tab, "ports", "leaf1")[0], "leaf1")
            self.run_clock("1ms")
            wait_for(lambda: tab.evaluate("document.querySelector('.view:not([hidden]) .facts').textContent"), lambda text: "4.00000 ms" in text)
            self.assertEqual(self.complaints(tab), [])

    def test_a_link_leads_to_its_switch_at_any_width(self):
        self.interactive()
        self.run_clock("3ms")
        with browser.Browser() as tab:
            for width in (320, 1280, 2560):
                for dark in (False, True):
                    for name in ("the fabric", "leaf2"):
                        tab.open("data://,")
                        tab.open(self.url + ("" if name == "the fabric" else f"#switch={name}"), dark=dark, width=width)
                        self.wait_shown(tab, name)
                        self.check_width(tab, width)
            self.assertEqual(self.complaints(tab), [])

    def test_the_end_is_said(self):
        with browser.Browser() as tab:
            self.start(stop=LONG_RUN)
            tab.open(self.url + "#switch=leaf2")
            wait_for(lambda: tab.evaluate("document.querySelector('#page').textContent"), lambda text: "The run has ended; these are its last figures." in text)
            report = json.loads(wait_for(lambda: (self.out / "report.json").exists() and (self.out / "report.json").read_text()))
            group = report["switches"]["leaf2"]["ports"]["h3"]["priority_groups"][3]
            self.assertEqual(self.row(tab, "buffer", "h3.3")[2:5], [str(group[figure]) for figure in ("xoff_transitions", "shared_bytes", "shared_watermark_bytes")])
            self.assertEqual(self.complaints(tab), [])


if __name__ == "__main__":
    control.main()
