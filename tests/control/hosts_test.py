#!/usr/bin/python3
"""Simulated RoCE hosts from the operator's side: what the tables say, and what changes while they send."""

import json
import re

import control
from control import Case, Programs, Running, Switch

REFUSED, USAGE = 1, 2
LINE = 100_000_000_000  # bits/s
LOW = {"green_min": 30_000, "green_max": 60_000}  # an incast of two is marked at once


def in_ns(text):
    value, unit = text.split()
    return float(value) * {"ns": 1, "us": 1e3, "ms": 1e6}[unit]


class Hosts(Case):
    def switch(self, qps=2, **flow):
        """Hosts h0 and h1 send to h2 without end."""
        switch = Switch(self, hosts=0)
        for n in range(3):
            switch.roce_host(f"h{n}")
        switch.section("wred.low", **LOW)
        switch.section("port.h2.queue.3", wred="low")
        switch.flow_of_hosts(["h0", "h1"], "h2", **{"name": "incast", "qps": qps, "message": "20KB", "depth": 4, **flow})
        return switch

    def running(self, **keys):
        return Running(self.switch(**keys))

    def host(self, running, name, *figures):
        host = running.call("stats.show", path="hosts." + name)
        return host[figures[0]] if len(figures) == 1 else [host[figure] for figure in figures]

    def run_for(self, running, time="100us"):
        running.call("clock.run", **{"for": time})

    def rows(self, text):
        """Tables as {first title: {first cell: {title: cell}}}; columns are two blanks apart."""
        tables = {}
        for block in text.split("\n\n"):
            header, *rows = [re.split(r" {2,}", line.strip()) for line in block.strip().splitlines()]
            tables[header[0]] = {row[0]: dict(zip(header, row)) for row in rows}
        return tables

    def test_what_is_refused(self):
        running = self.running()
        before = running.call("config.get")
        for line, words in (("set host.nobody.cc none", "host.nobody"), ("set host.h0.cc cubic", "known word"), ("set host.h0.ecco_ce true", "perhaps host.NAME.echo_ce"),
                            ("set host.h0.g 2", "from 0 to 1"), ("set host.h0.rate_min 0", "host.h0.rate_min"), ("set host.h0.drain 1", "host.h0.drain"),
                            ("set host.h0.rate_min 200G", "above the 100G"), ("set host..cc none", ""), ("set host none", ""), ("set host.h0 none", ""),
                            ("set flow.0.qps 3", "no such key"), ("set flow.0 3", "no such key"), ("set flow.incast.qps 3", "no such key"),
                            ("set flow[0].qps 3", "no such key"), ("set flow[].qps 3", ""), ("set host.default.address 10.0.9.9", ""),
                            ("set host.h0.address 10.0.0.1", ""), ("set host.h0.port h1", "")):
            with self.subTest(line=line):
                said = self.refusal(running, line)
                self.assertIn(words, said)
        for key, value in (("mtu", 2048), ("dscp", 0), ("port", "h7"), ("mac", "02:00:00:00:00:77"), ("address", "10.0.0.9"), ("ecn", "ect1"),
                           ("window", "1MB"), ("ring", 8), ("receive_xon", 9), ("pause_quanta", 99), ("rnr_chance", "1%"), ("rnr_timer", "20us"), ("ack_coalescing", 4), ("recovery", "selective"), ("receive_window", 64), ("reorder_window", "1us"), ("cnp_interval", "1us"), ("receive_buffer", "1MB")):
            with self.subTest(key=key):
                self.assertIn("while the switch runs", self.refusal(running, f"set host.h0.{key} {value}"))
        self.assertEqual(running.call("config.get"), before)
        self.run_for(running)
        running.stop()

    def refusal(self, running, line):
        done = control.loopback.run([Programs.sluicectl, "--socket", running.path, *line.split()])
        self.assertIn(done.returncode, (REFUSED, USAGE), done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_the_tables_say_what_the_report_says(self):
        running = self.running(message="1KB..5KB", qps=8)
        self.run_for(running, "2ms")
        report = running.call("stats.show")
        hosts = self.rows(running.ctl("host show"))["host"]
        self.assertEqual(list(hosts), ["h0", "h1", "h2"])
        for name, row in hosts.items():
            host = report["hosts"][name]
            self.assertEqual(row["cc"], "dcqcn")
            self.assertEqual(row["rate"], f"{round(host['rate_bps'] / 1e6) / 1e3:g} Gb/s")
            self.assertEqual(row["target"], f"{round(host['target_rate_bps'] / 1e6) / 1e3:g} Gb/s")
            self.assertEqual(row["alpha"], f"{host['alpha_ppm'] / 1e4:.2f} %")
            for title, figure in (("CNPs in", "cnp_received_packets"), ("CNPs out", "cnp_sent_packets"), ("CE in", "ce_packets"),
                                  ("sent", "data_packets"), ("retransmitted", "retransmitted_packets")):
                self.assertEqual(row[title].replace(" ", ""), str(host[figure]), title)
            self.assertEqual([paused.split(":")[0] for paused in row["paused"].split(", ")], list(host["paused_ns"]) or ["-"])
        self.assertGreater(report["hosts"]["h0"]["cnp_received_packets"], 0)
        self.assertGreater(report["hosts"]["h2"]["ce_packets"], 0)
        flow = report["flows"]["incast"]
        tables = self.rows(running.ctl("flow show inc"))
        row = tables["flow"]["incast"] | tables["messages of"]["incast"]
        self.assertEqual((row["queue pairs"], row["completed"].replace(" ", "")), ("16", str(flow["messages"])))
        self.assertEqual((row["retried"], row["failed"]), ("0", "0"))
        self.assertEqual(row["throughput"], f"{round(flow['throughput_bps'] / 1e6) / 1e3:g} Gb/s")
        self.assertEqual(row["slowdown p50"], f"{flow['slowdown_permille']['p50'] / 1e3:.2g}")
        for title, quantile in (("p50", "p50"), ("p99.9", "p999")):
            self.assertRegex(row[title], r"^(\d\.\d|\d\d0?) [um]s$", "two digits are all that a bucket knows")
            self.assertAlmostEqual(in_ns(row[title]), flow["completion_ns"][quantile], delta=0.1 * flow["completion_ns"][quantile])
            self.assertLessEqual(in_ns(row[title]), flow["completion_ns"]["max"])
        self.assertEqual(row["max"], f"{flow['completion_ns']['max'] / 1e3:.1f} us")
        self.assertNotEqual(row["p99.9"], row["max"])
        self.assertEqual(json.loads(running.ctl("--json host show h2")), report["hosts"]["h2"])
        self.assertEqual(json.loads(running.ctl("--json flow show")), report["flows"])
        self.assertIn("perhaps h1", running.ctl("host show h12", status=USAGE))
        self.assertIn("perhaps incast", running.ctl("flow show incats", status=USAGE))
        self.assertIn("may be", running.ctl("host show h", status=USAGE))
        running.stop()

    def test_congestion_control_changes_while_they_send(self):
        running = self.running()
        self.run_for(running)
        self.assertLess(self.host(running, "h0", "rate_bps"), 2 * LINE)
        running.ctl("set host.h0.cc none")
        self.run_for(running)
        self.assertEqual(self.host(running, "h0", "cc", "rate_bps", "target_rate_bps"), ["none", 2 * LINE, 2 * LINE])
        self.assertLess(self.host(running, "h1", "rate_bps"), 2 * LINE)
        self.assertIn('SYMPTOM: host h0', running.ctl("host show"))
        self.assertIn('write cc = "dcqcn"', running.ctl("host show h0"))
        running.ctl("set host.h0.cc dcqcn")
        self.run_for(running)
        self.assertLess(self.host(running, "h0", "rate_bps"), 2 * LINE)
        self.assertNotIn("SYMPTOM", running.ctl("host show"))
        # A constant of one host alone: its rate does not fall below.
        running.ctl("set host.h1.rate_min 90G")
        self.run_for(running)
        self.assertGreaterEqual(self.host(running, "h1", "rate_bps"), 180 * 10**9)
        running.stop()

    def test_the_notification_point_and_the_reaction_point_are_switched(self):
        running = self.running()
        running.ctl("set host.h2.echo_ce false")
        self.run_for(running)
        self.assertEqual(self.host(running, "h2", "cnp_sent_packets"), 0)
        self.assertGreater(self.host(running, "h2", "ce_packets"), 0)
        self.assertNotIn("SYMPTOM", running.ctl("host show h2"))  # it may still come
        self.run_for(running, "1ms")
        self.assertRegex(running.ctl("host show h2"), r"no CNP was sent for 1\.[01] ms \(.* write echo_ce = true")
        running.ctl("set host.h2.echo_ce true")
        self.assertNotIn("SYMPTOM", running.ctl("host show h2"))
        running.ctl("set host.h0.ignore_cnp true")
        self.run_for(running)
        self.assertGreater(self.host(running, "h2", "cnp_sent_packets"), 0)
        self.assertEqual(self.host(running, "h0", "rate_bps"), 2 * LINE)
        self.assertLess(self.host(running, "h1", "rate_bps"), 2 * LINE)
        self.assertIn("write ignore_cnp = false", running.ctl("host show h0"))
        running.stop()

    def test_a_notification_point_that_is_switched_off_later_is_found(self):
        running = self.running()
        for name in ("h0", "h1"):
            running.ctl(f"set host.{name}.rate_min 60G")  # the queue stands, whatever they hear
        self.run_for(running, "200us")
        self.assertGreater(self.host(running, "h2", "cnp_sent_packets"), 0)
        running.ctl("set host.h2.echo_ce false")
        self.run_for(running, "1500us")
        symptom = self.host(running, "h2", "symptoms")[0]
        self.assertIn("its notification point is off; do: write echo_ce = true", symptom)
        line = f"SYMPTOM: host h2: {symptom}\n"
        for place in ("", " h2"):
            self.assertEqual(running.ctl("why" + place), line)
        self.assertEqual(json.loads(running.ctl("--json why h2")), [{"verdict": "symptom", "host": "h2", "port": "h2", "sentence": symptom}])
        self.assertEqual(running.ctl("why h0"), "no packet was dropped, marked or paused after classification\n")
        self.assertIn("perhaps h2", self.refusal(running, "why h22"))
        running.stop()

    def test_a_host_becomes_slow_and_fast_again(self):
        running = self.running()
        for name in ("h0", "h1"):
            running.ctl(f"set host.{name}.cc none")  # rates rise slowly
        running.ctl("set host.h2.drain 10G")
        self.run_for(running, "1ms")
        self.assertGreater(self.host(running, "h2", "pauses_sent"), 0)
        self.assertIn("h2: pauses_sent", running.ctl("host show"))
        self.assertIn("it takes in no more than 10G; do: ", running.ctl("why h2"))
        slow = running.call("stats.show", path="flows.incast.delivered_bytes")
        running.ctl("set host.h2.drain unlimited")
        self.run_for(running, "1ms")
        fast = running.call("stats.show", path="flows.incast.delivered_bytes") - slow
        self.assertGreater(fast, 4 * slow)
        running.stop()

    def test_hosts_and_flows_are_saved(self):
        running = self.running(kind="send", message="1KB..20KB", stop="50us")
        for key, value in (("host.h0.cc", "dcqcn-timer"), ("host.h1.drain", "40G"), ("host.default.rate_ai", "5M"), ("host.h2.g", "1/16")):
            running.ctl("set", key, value)
        saved = running.call("config.get")["toml"]
        running.ctl("config save saved.toml")
        self.assertIn("no difference", running.ctl(f"config diff {running.folder / 'saved.toml'}"))
        running.call("clock.run")
        first = running.stop(accounts=True)
        again = Running(running.switch, config=(running.folder / "saved.toml").read_text(), path=running.folder / "again.sock")
        self.assertEqual(again.call("config.get")["toml"], saved)
        again.call("clock.run")
        second = again.stop(accounts=True)
        self.assertEqual((second.report["hosts"], second.report["flows"]), (first.report["hosts"], first.report["flows"]))

    def test_a_run_ends_while_frames_are_on_their_way(self):
        for keys in ({}, {"drain": "1G"}):
            switch = self.switch()
            switch.roce_host("h2", **keys)
            running = Running(switch)
            self.run_for(running, "77us")
            out = running.stop()
            self.assertGreater(out.report["flows"]["incast"]["data_packets"], 0)

    def test_the_summary_tells_of_flows_and_symptoms(self):
        switch = self.switch(stop="1200us")
        switch.roce_host("h2", echo_ce=False)
        out = switch.run()
        flow = out.report["flows"]["incast"]
        lines = out.stdout.splitlines()
        row = re.split(r" {2,}", next(line for line in lines if line.startswith("incast ")))
        self.assertEqual(row[:3], ["incast", f"{flow['messages']:,}".replace(",", " "), f"{flow['throughput_bps'] / 1e9:.3f} Gb/s"])
        self.assertEqual(row[6:9], [f"{flow['slowdown_permille']['p99'] / 1e3:.2g}", "0", "0"])
        for median_and_99 in row[3:5]:
            self.assertRegex(median_and_99, r"^(\d\.\d|\d\d0?) [um]s$")
        self.assertEqual([line for line in lines if line.startswith("SYMPTOM")],
                         [f"SYMPTOM: host h2: {symptom}" for symptom in out.report["hosts"]["h2"]["symptoms"]])
        self.assertIn("write echo_ce = true", out.stdout)
        bare = Switch(self, hosts=2)
        self.assertNotIn("flow", bare.run().stdout)

    def test_decisions_name_queue_pairs_and_tell_of_cnps(self):
        switch = self.switch()
        switch.section("decisions", record="ready")
        running = Running(switch)
        running.ctl("decisions on")
        self.run_for(running, "60us")
        records = running.call("decisions.list", last=1000)["records"]
        told = {}
        for record in records:
            arrival = record.get("arrival", {})
            if record["verdict"] == "marked":
                self.assertTrue(record["sentence"].endswith(f"; a packet to queue pair {arrival['qp']} of 10.0.2.2"), record)
                told["marked"] = True
            elif arrival.get("opcode") == 0x81:
                port = record["route"]["egress"]
                self.assertEqual(record["sentence"], f"a CNP: queue pair {arrival['qp']} of 10.0.{port[1]}.2, behind port {port}, is to lower its rate")
                told[port] = True
            elif record["verdict"] == "sent":
                self.assertEqual(record["sentence"], "")
                told["sent"] = True
        self.assertEqual(set(told), {"marked", "h0", "h1", "sent"})
        self.assertRegex(running.ctl("decisions list last 1000"), "sent h2#[0-9]+: a CNP: queue pair ")
        self.assertRegex(running.ctl("why"), "a packet to queue pair [0-9]+ of 10.0.2.2")
        running.stop()

    def test_completion(self):
        running = self.running()

        def complete(*words):
            done = control.loopback.run([Programs.sluicectl, "--complete", *words], {"SLUICE_SOCKET": str(running.path)})
            return done.stdout.split()
        self.assertEqual(complete("host", "show", ""), ["h0", "h1", "h2"])
        self.assertEqual(complete("flow", "show", "i"), ["incast"])
        self.assertEqual(complete("set", "host.h1.cc"), ["host.h1.cc"])
        self.assertEqual(complete("set", "host.h1.cc", "d"), ["dcqcn", "dcqcn-paper", "dcqcn-timer"])
        self.assertEqual(complete("set", "host.h1.cc", "n"), ["none"])
        self.assertEqual(complete("set", "host.h1.echo_ce", "f"), ["force", "false"])
        self.assertEqual(complete("set", "host.h7.cc", "n"), [])
        running.stop()


if __name__ == "__main__":
    control.main()
