#!/usr/bin/python3
"""`sluiced --page`: what it serves is the report, to whom it may, and no client keeps the switch or another from anything. With --long, where
Chromium is installed, what a browser makes of it: figures equal to the socket's, a storm without a reload, nothing that a name injects.
"""

import http.server
import json
import re
import signal
import socket
import threading
import unittest

import control
import browser
import loopback
from control import Running, Switch
from pages import HOSTILE, Pages, free_port
from waiting import wait_for

CONFIG = """
[buffer]
size = "2MB"
[default]
speed = "10G"
[default.queue.3]
wred = "roce"
[wred.roce]
green_min = "50KB"
green_max = "200KB"
green_probability = 20
[host.default]
cc = "none"
[port.h1]
address = ["10.0.1.1/24"]
[port.h2]
address = ["10.0.2.1/24"]
[port.h3]
address = ["10.0.3.1/24"]
[host.h1]
address = "10.0.1.2"
[host.h2]
address = "10.0.2.2"
[host.h3]
address = "10.0.3.2"
[[flow]]
from = ["h1", "h2"]
to = "h3"
message = "1MB"
stop = "50ms"
"""


class Page(Pages):
    def page(self, address="127.0.0.1", config=CONFIG):
        self.port = free_port()
        where = f"{address}:{self.port}" if address else str(self.port)
        running = Running(Switch(self, hosts=0), "--page", where, config=config)
        self.url = self.address(wait_for(running.said, lambda text: "page: http" in text))
        return running


class Served(Page):
    def test_files_and_what_they_may(self):
        self.page()
        for target, kind, part in (("/", "text/html", b'<script src="page.js">'), ("/page.css", "text/css", b"--paper"), ("/page.js", "text/javascript", b"EventSource")):
            status, headers, body = self.ask(target)
            self.assertEqual(status, 200)
            self.assertEqual(headers["Content-Type"], f"{kind}; charset=utf-8")
            self.assertIn("script-src 'self';", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(int(headers["Content-Length"]), len(body))
            self.assertIn(part, body)
            self.assertEqual(self.ask(target, method="HEAD")[2], b"")
        for target, method, status in (("/nothing", "GET", 404), ("/live?switch=h1", "GET", 404), ("/why?switch=h1", "GET", 404), ("/live", "POST", 405), ("/why?" + "a" * 600, "GET", 414)):
            self.assertEqual(self.ask(target, method=method)[0], status)

    def test_there_is_one_switch_with_its_file_and_machine(self):
        running = self.page()
        self.assertEqual(json.loads(self.ask("/switches")[2]), {"title": running.config.stem, "file": str(running.config), "host": socket.gethostname(), "switches": []})

    def test_a_run_tells_its_last_figures_and_that_it_ends(self):
        """At its own pace: no client moves this clock."""
        self.port = free_port()
        running = Running(Switch(self, hosts=0), "--page", str(self.port), "--duration", "60s", interactive=False, config=CONFIG.replace("50ms", "60s"))
        reader = self.listen()
        first = self.next_of(reader)["report"]["end_ns"]
        wait_for(lambda: self.next_of(reader)["report"]["end_ns"], lambda now: now > first)  # a busy machine may tell an instant twice
        running.process.send_signal(signal.SIGINT)
        while "ended" not in (told := self.next_of(reader)):
            pass
        running.process.wait(control.PATIENCE_S)
        report = json.loads(running.report_path.read_text())
        for part in ("end_ns", "verdict", "ports", "pools", "ledger"):
            self.assertEqual(told["report"][part], report[part], part)

    def test_the_figures_are_the_reports(self):
        running = self.page()
        running.ctl("clock run 3ms")
        reader = self.listen()
        told = self.next_of(reader)
        report = running.call("stats.show")
        self.assertEqual(told["report"]["ports"], report["ports"])
        self.assertEqual(told["report"]["verdict"], report["verdict"])
        self.assertEqual(told["thresholds"]["h3"]["3"], {"min_bytes": 50000, "max_bytes": 200000})
        running.ctl("clock run 1ms")
        wait_for(lambda: self.next_of(reader)["report"]["end_ns"], lambda now: now == 4_000_000)

    def test_why_is_the_sockets(self):
        running = self.page()
        running.ctl("clock run 10ms")
        answer = json.loads(self.ask("/why?at=h1")[2])
        self.assertEqual(answer["result"]["entries"], running.call("why.show", at="h1")["entries"])
        self.assertIn("error", json.loads(self.ask("/why?at=%00%22")[2]))

    def test_beyond_loopback_the_data_want_the_token(self):
        self.page(address="0.0.0.0")
        token = re.search(r"\?token=([0-9a-f]{32})$", self.url)[1]
        self.assertEqual(self.ask("/", host="switch.example")[0], 200)
        for query in ("", "?token=", "?token=" + "0" * 32, f"?token={token}0", f"?token={token[:-1]}"):
            for path in ("/live", "/why", "/switches"):
                status, _, said = self.ask(path + query)
                self.assertEqual(status, 403, query)
                self.assertIn(b"the token is wrong" if len(query) > 7 else b"the address has no token", said)
        self.assertEqual(self.ask(f"/why?token={token}", host="switch.example")[0], 200)
        self.assertIn("report", self.next_of(self.listen(f"/live?token={token}")))
        self.assertEqual(self.page().said().count("token"), 0)

    def test_a_flood_leaves_the_switch_and_the_others(self):
        running = self.page()
        reader = self.listen()
        self.next_of(reader)
        silent = [self.connect() for _ in range(80)]       # says nothing
        deaf = [self.connect() for _ in range(20)]         # asks and never reads
        for client in deaf:
            client.sendall(b"GET /page.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        gone = [self.listen() for _ in range(20)]          # leaves in the middle
        for each in gone:
            each.close()
        running.ctl("clock run 1ms")
        self.assertEqual(self.ask("/why")[0], 200)
        self.assertEqual(self.next_of(self.listen())["report"]["end_ns"], 1_000_000)
        self.assertTrue(running.call("control.show")["handlers_limit"] > 0)
        del silent

    def test_a_wrong_address_is_refused(self):
        for where in ("x", "0", "70000", "1.2.3.4.5:80"):
            done = loopback.run([control.Programs.sluiced, "--config", loopback.ROOT / "conf" / "incast.toml", "--page", where])
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("--page ", done.stderr)


@unittest.skipUnless(browser.CHROMIUM, "Chromium is not installed")
class Head(Page):
    def test_the_title_and_the_head_name_the_switch(self):
        running = self.page()
        with browser.Browser() as tab:
            tab.open(self.url)
            host = socket.gethostname()
            wait_for(lambda: tab.evaluate("document.title"), lambda title: title.endswith(f"{running.config.stem} on {host} \u2013 Sluice"))
            self.assertTrue(tab.evaluate("document.getElementById('page').innerText").startswith(f"{running.config.stem}\n\n{running.config} on {host}\n"))

    def test_a_chart_without_lines_is_left_out(self):
        running = self.page()
        shown = "[...document.querySelectorAll('#queues .chart, #pauses .chart')].filter((box) => !box.hidden).length"
        with browser.Browser() as tab:
            tab.open(self.url)
            wait_for(lambda: self.row(tab, "ports", "h3"))
            self.assertEqual(tab.evaluate(shown), 0)
            running.ctl("clock run 5ms")
            wait_for(lambda: tab.evaluate(shown), lambda charts: charts == 2)

    def test_a_wrong_token_says_so(self):
        self.page(address="0.0.0.0")
        with browser.Browser() as tab:
            for query, said in (("", "the address has no token"), ("?token=0", "the token is wrong")):
                tab.open(f"http://127.0.0.1:{self.port}/{query}")
                wait_for(lambda: self.verdict(tab), lambda text, said=said: said in text)
                self.assertNotIn("does not answer", tab.evaluate("document.body.innerText"))


@unittest.skipUnless(loopback.LONG and browser.CHROMIUM, "with --long, and where Chromium is installed")
class Seen(Page):
    def test_figures_and_a_storm_without_a_reload(self):
        running = self.page()
        running.ctl("clock run 5ms")
        with browser.Browser() as tab:
            tab.open(self.url)
            wait_for(lambda: self.row(tab, "ports", "h3"))
            group = running.call("stats.show")["ports"]["h1"]["priority_groups"][3]
            row = self.row(tab, "buffer", "h1.3")
            self.assertEqual(row[2:5], [str(group[name]) for name in ("xoff_transitions", "shared_bytes", "shared_watermark_bytes")])
            self.assertEqual(row[6:9], [str(group[name]) for name in ("headroom_watermark_bytes", "headroom_size_bytes", "headroom_overruns")])
            self.assertRegex(self.verdict(tab), "lossless: yes, 0 of ")
            tab.evaluate("window.mine = true")
            running.ctl("fault h3 storm_for 10s")
            running.ctl("fault h3 storm_classes [3]")
            running.ctl("clock run 400ms")
            wait_for(lambda: self.verdict(tab), lambda text: text.startswith("NOT lossless"))
            self.assertIn("1", self.row(tab, "watchdog", "h3.3"))
            self.assertTrue(tab.evaluate("window.mine && document.querySelector('#events tbody').textContent.includes('storm')"))
            # Keys alone: to the button, which asks.
            tab.evaluate("document.querySelector('#why button').focus()")
            tab.press("Enter")
            wait_for(lambda: tab.evaluate("document.querySelector('.answer').textContent"), lambda text: "paused" in text)
            self.assertEqual(self.complaints(tab), [])

    def test_no_width_is_too_small_or_large(self):
        running = self.page()
        running.ctl("clock run 5ms")
        with browser.Browser() as tab:
            for width in (320, 1280, 2560):
                for dark in (False, True):
                    tab.open(self.url, dark=dark, width=width)
                    wait_for(lambda: self.row(tab, "ports", "h3"))
                    self.check_width(tab, width)
            self.assertEqual(self.complaints(tab), [])

    def test_a_name_injects_nothing(self):
        """What a switch would say whose ports, peers and events were all hostile, told by another server."""
        running = self.page()
        running.ctl("clock run 1ms")
        told = json.dumps(self.next_of(self.listen()))
        for name in ("h1", "lossless", "drop", "operational"):
            told = told.replace(f'"{name}"', json.dumps(HOSTILE))
        told = json.loads(told)
        told["report"]["verdict"].update(lossless=False, reasons=[HOSTILE])
        told["report"]["events"] = [{"at_ns": 1, "kind": HOSTILE, "text": HOSTILE}]
        files = {target: self.ask(target) for target in ("/", "/page.js", "/page.css", "/switches")}
        files["/live"] = (200, {**files["/"][1], "Content-Type": "text/event-stream"}, f"data: {json.dumps(told)}\n\n".encode())

        class Hostile(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, headers, body = files[self.path]
                self.send_response(status)
                for header in ("Content-Type", "Content-Security-Policy"):
                    self.send_header(header, headers[header])
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as server, browser.Browser() as tab:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            tab.open(f"http://127.0.0.1:{server.server_address[1]}/")
            wait_for(lambda: tab.evaluate("document.querySelector('#ports tbody').textContent"), lambda text: HOSTILE in text)
            self.assertIn(HOSTILE, tab.evaluate("document.querySelector('#events tbody').textContent"))
            self.assertIsNone(tab.evaluate("window.hit ?? null"))
            self.assertEqual(tab.evaluate("document.images.length"), 0)
            server.shutdown()


if __name__ == "__main__":
    control.main()
