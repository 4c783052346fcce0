#!/usr/bin/python3
"""sluiced as a process: metrics over HTTP, events as lines, and references."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import loopback
from client import connect
from frames import plain
from loopback import Programs, Switch, run
from waiting import PATIENCE_S


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Running:
    """sluiced in the background."""

    def __init__(self, test, switch, *arguments, **environment):
        path = switch.folder / "sluice.toml"
        path.write_text(switch.text())
        self.process = subprocess.Popen([Programs.sluiced, "--config", path, "--report", switch.folder / "report.json", *map(str, arguments)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
        test.addCleanup(self.process.kill)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        out, error = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, error


class Drivers(loopback.Case):
    def test_a_run_loads_those_of_dpdk_only_when_it_may_need_them(self):
        for asked, loads in (({}, False), ({"eal": ["--force-max-simd-bitwidth=256"]}, True)):
            switch = Switch(self, hosts=1, **asked)
            running = Running(self, switch, "--interactive", "--socket", switch.folder / "sock")
            connect(switch.folder / "sock", running.process).close()
            maps = pathlib.Path(f"/proc/{running.process.pid}/maps").read_text()
            self.assertEqual("/librte_" in maps, loads)
            running.end()


class Metrics(loopback.Case):
    def served(self, real):
        switch = Switch(self, hosts=2)
        at, where = free_port(), switch.folder / "sock"
        if real:
            switch.top["clock"] = "real"
            switch.device = "net_null{n},no-rx=1"
        running = Running(self, switch, "--metrics", at, "--socket", where, *([] if real else ["--interactive"]))
        connect(where, running.process).close()
        return switch, running, f"http://127.0.0.1:{at}"

    def test_every_line_is_of_the_text_format_and_other_paths_are_not_found(self):
        for real in (False, True):
            _, running, url = self.served(real)
            answer = urllib.request.urlopen(url + "/metrics", timeout=PATIENCE_S)
            self.assertIn("version=0.0.4", answer.headers["Content-Type"])
            lines = answer.read().decode().splitlines()
            values = [line for line in lines if not line.startswith("#")]
            self.assertGreater(len(values), 500)
            for line in values:
                self.assertRegex(line, r'^sluice_[a-z0-9_]+(\{([a-z]+="[^"]*",?)+\})? \d+(\.\d+)?$')
            self.assertIn('sluice_ports_link_up{port="h1"} 1', values)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(url + "/", timeout=PATIENCE_S)
            self.assertEqual(refused.exception.code, 404)
            with socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), timeout=PATIENCE_S) as hostile:
                hostile.sendall(b"\0\xff garbage\r\n\r\n" + bytes(100_000))
            urllib.request.urlopen(url + "/metrics", timeout=PATIENCE_S).read()
            status, _, error = running.end()
            self.assertEqual((status, error), (0, ""))

    def test_a_wrong_address_is_refused(self):
        switch = Switch(self, hosts=2)
        for wrong in ("nowhere", "1.2.3.4.5:80", "127.0.0.1:0", "127.0.0.1:70000"):
            path = switch.folder / "sluice.toml"
            path.write_text(switch.text())
            done = run([Programs.sluiced, "--config", path, "--metrics", wrong])
            self.assertEqual(done.returncode, 1)
            self.assertIn("--metrics", done.stderr)


class Events(loopback.Case):
    def test_are_lines_that_agree_with_the_report(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain()), (100_000, plain())])
        switch.event("10us", "port h1 down")
        switch.event("20us", "port h1 up")
        out = switch.run("--events", switch.folder / "events.jsonl", "--log", "notice")
        lines = [json.loads(line) for line in (switch.folder / "events.jsonl").read_text().splitlines()]
        self.assertEqual([(line["at_ns"], line["kind"]) for line in lines], out.events())
        self.assertEqual([line["number"] for line in lines], [0, 1])
        self.assertEqual(out.stderr.splitlines(), [
            "sluiced: 0.000010 s: notice: port_down: port h1 down by command",
            "sluiced: 0.000020 s: notice: port_up: port h1 up by command"])
        self.assertEqual(switch.run().stderr, "")  # the virtual clock says nothing by itself

    def test_begin_with_what_routes_take(self):
        switch = Switch(self, hosts=3, **{"buffer.size": "16MB"})
        switch.route("10.7.0.0/16", "10.0.1.2")
        switch.route("10.8.0.0/25", "10.0.1.2", "10.0.2.2")
        first, second = (switch.run("--log", "info").stderr.splitlines()[0] for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(first, "sluiced: 0.000000 s: info: routes: 2 IPv4 and 0 IPv6 routes among 20 prefixes, 7 groups of next hops, "
                         "262 buckets; tables for longer prefixes: 6 of 4126 and 34 of 4284; 18.3 MB of memory")


class Endless(loopback.Case):
    """Runs in which a port would send refreshed pauses for ever."""

    def test_a_run_without_progress_ends(self):
        """A held queue, a group in XOFF, and the next frame a day later: half a thousand million refreshes."""
        switch = Switch(self, hosts=1, device="net_pcap{n},{rx}no-tx=1")
        switch.default(speed="800G")
        switch.section("port.h0.priority_group.3", static_th="5KB")
        switch.route("10.9.0.0/16", "10.0.0.2")
        frame = plain(1000, to="10.9.0.1", dscp=26)
        switch.give("h0", [(0, frame)] * 100 + [(86_400 * 10**9, frame)])
        switch.event("0ns", "queue h0.3 hold")
        out = switch.run(status=1)
        last = out.report["events"][-1]
        self.assertEqual(last["kind"], "no_progress")
        self.assertIn(f"sluiced: {last['text']}", out.stderr)
        self.assertRegex(last["text"], r"no frame has moved since .*, and 1000001 PFC frames were sent since")
        self.assertEqual((out.report["ledger"]["balanced"], out.report["ledger"]["queued"]), (True, 100))
        self.assertLess(out.report["end_ns"], 60 * 10**9)

    def test_pauses_that_would_fill_the_wire_are_refused(self):
        """Half of two quanta is shorter than the frame that refreshes them."""
        for speed in (10, 400):
            for quanta, status in ((2, 2), (3, 0)):
                switch = Switch(self, hosts=3)
                switch.section("buffer", size="16MB")
                switch.default(speed=f"{speed}G", pfc_quanta=quanta)
                switch.section("default.priority_group.3", size=0, static_th="20KB")
                for n in range(3):
                    switch.give(f"h{n}", [(i, plain(1000, source=n, to=(n + 1) % 3 if i % 2 else (n + 2) % 3, dscp=26)) for i in range(300)])
                (switch.folder / "sluice.toml").write_text(switch.text())
                done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--force"])
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertEqual("pfc_quanta: 2 is too small" in done.stderr, status == 2, done.stderr)


class References(loopback.Case):
    def test_are_printed(self):
        for option, words in (("--reference", ["queue.N", "`wred`"]), ("--figures", ["| `ports.{port}.pfc.tx_xoff.{priority}` | counter | packets |"]),
                              ("--metrics-reference", ["`sluice_ports_pfc_tx_xoff_total`"]),
                              ("--help", ["--interactive"])):
            done = run([Programs.sluiced, option])
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for word in words:
                self.assertIn(word, done.stdout)


if __name__ == "__main__":
    loopback.main()
