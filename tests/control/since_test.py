#!/usr/bin/python3
"""Since when: what clearing changes in tables, what it leaves alone; rates; and a change with a window before and behind it."""

import concurrent.futures
import re
import signal
import socket
import subprocess
import urllib.request

import control
from control import Case, Programs, Running, Switch
from frames import plain

US = 1000
WRED = "port.h1.queue.3.wred"


class Since(Case):
    def switch(self, count=100, **keys):
        """A RoCE frame of 200 bytes every microsecond from h0 to h1."""
        switch = Switch(self, hosts=3, **{"buffer.size": "16MB", **keys})
        switch.give("h0", [(n * US, plain(200, dscp=26, ecn=2)) for n in range(count)])
        switch.section("wred.all", green_min=0, green_max=0)
        return switch

    def running(self, *arguments, **keys):
        return Running(self.switch(**keys), *arguments)

    def run_for(self, running, time):
        running.call("clock.run", **{"for": time})

    def row(self, said, place):
        """The cells of a table's line: those are at least two blanks apart."""
        line = next(line for line in said.splitlines() if line.startswith(place + " "))
        return re.split(r"  +", line)

    def test_cleared_tables_and_whole_totals(self):
        """Tables begin anew; the report, the metrics and the file at the end go on from the start."""
        running = self.running()
        self.run_for(running, "9500ns")
        totals = running.call("stats.show", path="ports.h1.queues.3.tx_packets")
        self.assertEqual(totals, 10)
        running.ctl("stats clear")
        self.assertIn("since 0 ns ago", running.ctl("queue show h1.3"))
        self.assertEqual(self.row(running.ctl("queue show h1.3"), "h1.3")[1], "0")
        self.run_for(running, "20us")
        self.assertEqual(self.row(running.ctl("queue show h1.3"), "h1.3")[1:3], ["20", "4 000"])
        self.assertEqual(self.row(running.ctl("queue show h1.3 total"), "h1.3")[1:3], ["30", "6 000"])
        self.assertEqual(self.row(running.ctl("port show"), "h0")[5:7], ["20", "4 000"])
        self.assertEqual(running.call("stats.show", path="ports.h1.queues.3.tx_packets"), 30)
        said = running.call("stats.since", path="ports.h1.queues.3.tx_packets")
        self.assertEqual(said, {"now_ns": 29500, "since_ns": 9500, "by": said["by"], "value": 20})
        self.assertEqual(running.call("stats.since", path="ledger.rx", **{"from": "start"})["value"], 30)
        running.ctl("assert queue h1.3 tx_packets == 30")
        self.assertIn('"tx_packets": 30', running.ctl("--json queue show h1.3"))
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual(out.report["ports"]["h1"]["queues"][3]["tx_packets"], 100)

    def test_metrics_keep_totals(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            where = "127.0.0.1:%d" % probe.getsockname()[1]
        running = self.running("--metrics", where)

        def sent():
            text = urllib.request.urlopen(f"http://{where}/metrics", timeout=control.PATIENCE_S).read().decode()
            return [line for line in text.splitlines() if line.startswith("sluice_ports_queues_tx_packets_total") and 'port="h1",queue="3"' in line]
        self.run_for(running, "9500ns")
        before = sent()
        running.call("stats.clear")
        self.assertEqual(sent(), before)
        self.assertTrue(before[0].endswith(" 10"), before)
        running.stop()

    def test_peaks_and_quantiles_begin_anew(self):
        """A hundred frames wait behind a held queue; those that come after the clearing wait no more than their own time."""
        running = self.running(count=200)
        running.call("queue.hold", port="h1", queue=3)
        self.run_for(running, "99500ns")
        running.call("queue.hold", port="h1", queue=3, hold=False)
        self.run_for(running, "5us")
        total = running.call("stats.show", path="ports.h1.queues.3")
        running.call("stats.clear")
        empty = running.call("stats.since", path="ports.h1.queues.3")["value"]
        self.assertEqual((empty["watermark_bytes"], empty["deepest_bytes"], set(empty["latency_ns"].values())), (0, 0, {None}))
        self.run_for(running, "5us")
        now = running.call("stats.since", path="ports.h1.queues.3")["value"]
        self.assertGreater(total["watermark_bytes"], 10_000)
        self.assertEqual(now["watermark_bytes"], 0)
        self.assertTrue(0 < now["deepest_bytes"] < 1000, now["deepest_bytes"])  # a frame at a time
        self.assertGreater(total["deepest_bytes"], total["watermark_bytes"])
        self.assertGreater(total["latency_ns"]["max"], 9000)
        self.assertLess(now["latency_ns"]["max"], 1000)
        after = running.call("stats.show", path="ports.h1.queues.3")
        self.assertEqual((after["watermark_bytes"], after["latency_ns"]["max"]), (total["watermark_bytes"], total["latency_ns"]["max"]))
        group = running.call("stats.since", path="ports.h0.priority_groups.3")["value"]
        self.assertLess(group["shared_watermark_bytes"], running.call("stats.show", path="ports.h0.priority_groups.3.shared_watermark_bytes"))
        running.stop()

    def test_quantiles_of_the_whole_run_are_those_of_the_report(self):
        """From the start the buckets give what the report says, to the nanosecond."""
        running = self.running()
        running.call("stats.clear")  # at 0: nothing has come
        running.call("queue.hold", port="h1", queue=3)
        self.run_for(running, "20us")
        running.call("queue.hold", port="h1", queue=3, hold=False)
        running.call("clock.run")
        for path in ("ports.h1.queues.3.latency_ns", "ports.h1.cnp_latency_ns"):
            said = running.call("stats.since", path=path)["value"]
            self.assertEqual({name: value or 0 for name, value in said.items()}, running.call("stats.show", path=path))
        running.stop()

    def test_rates(self):
        running = self.running()
        self.assertIn("no time has passed", running.ctl("queue show rates", status=1))
        self.run_for(running, "10us")
        running.ctl("stats clear")
        running.call("config.set", path=WRED, value="all")
        self.run_for(running, "20us")
        row = self.row(running.ctl("queue show h1.3 rates"), "h1.3")
        self.assertEqual((row[1], row[2], row[5]), ("1000.0 k/s", "1600.0 Mb/s", "1000.0 k/s"))
        row = self.row(running.ctl("port show rates"), "h1")
        self.assertEqual(row[3:6], ["1600.0 Mb/s", "1000.0 k/s", "1000.0 k/s"])
        said = running.ctl("--json queue show h1.3 rates")
        self.assertIn('"window_ns": 20000', said)
        self.assertIn("stands still", running.ctl("port show over 1ms", status=1))
        for wrong in ("0", "-1s", "soon", ""):
            running.ctl("port", "show", "over", wrong, status=2)
        running.stop()

    def test_the_share_of_time_paused(self):
        """h1 is held by its peer for half of the window."""
        switch = self.switch()
        xoff = bytes.fromhex("0180c2000001") + bytes(6) + bytes.fromhex("880801010008") + bytes(6) + b"\x03\xd1" + bytes(8)
        switch.give("h1", [(10 * US, xoff + bytes(60 - len(xoff)))])  # 977 quanta: 5 us at 100G
        running = Running(switch)
        self.run_for(running, "10us")
        running.ctl("stats clear")
        self.run_for(running, "10us")
        share = self.row(running.ctl("pfc show h1 rates"), "h1")[4]
        self.assertRegex(share, r"^(49\.\d|50\.\d) %$")
        running.stop()

    def test_a_session_of_its_own(self):
        running = self.running()
        self.assertIn("a session is a shell", running.ctl("stats clear session", status=2))
        said = subprocess.run(
            [Programs.sluicectl, "--socket", running.path], text=True, capture_output=True, timeout=control.PATIENCE_S,
            input="clock run 9500ns\nstats clear session\nclock run 5us\nqueue show h1.3\nqueue show h1.3 rates\n").stdout
        self.assertIn("in this session", said)
        self.assertEqual(self.row(said, "h1.3")[1], "5")
        self.assertIn("1000.0 k/s", said)
        self.assertEqual(self.row(running.ctl("queue show h1.3"), "h1.3")[1], "15", "others see totals")
        self.assertNotIn("since", running.ctl("queue show h1.3"))
        running.stop()

    def test_back_and_forth_twice(self):
        running = self.running()
        for sent in (10, 20):
            self.run_for(running, "10us")
            running.ctl("watermark clear")
            self.run_for(running, "5us")
            self.assertEqual(self.row(running.ctl("queue show h1.3"), "h1.3")[1], "5", sent)
        running.stop()

    def test_a_virtual_clock_that_runs_by_itself(self):
        """Is only looked at: nobody clears, nobody tries a change."""
        switch = self.switch()
        switch.give("h0", [(1_000_000 * n, plain(200)) for n in range(200_000)])
        running = Running(switch, interactive=False)
        self.assertIn("only looked at", running.ctl("stats clear", status=1))
        self.assertIn("only looked at", running.ctl(f"set --watch 1ms {WRED}=all", status=1))
        self.assertIn("a second, over", running.ctl("port show over 1ms"))
        running.stop(status=143)  # before its end

    def watched(self, running, *words, status=0):
        return running.ctl("set", "--watch", "10us", f"{WRED}=all", *words, status=status)

    def test_a_change_that_is_watched(self):
        running = self.running()
        self.run_for(running, "500ns")
        before = running.call("config.get")
        said = self.watched(running)
        self.assertRegex(said, r"queue h1\.3  marked +0 /s +1000\.0 k/s +\+1000\.0 k/s")
        self.assertIn("taken back", said)
        self.assertNotIn("queue h1.3  sent", said, "it is the same")
        self.assertEqual(running.call("config.get"), before)
        self.assertEqual(running.call("clock.show")["now_ns"], 20500)
        self.assertEqual(running.call("stats.show", path="ports.h1.queues.3.ecn_marked_packets"), 10)
        self.assertIn("kept", self.watched(running, "--keep"))
        self.assertEqual(running.call("config.get", path=WRED)["value"], '"all"')
        self.assertIn("nothing changes", self.watched(running))
        self.assertIn("no such key", running.ctl("set --watch 10us nonsense=1", status=1))
        self.assertIn("leave confirm out", running.ctl(f"set --watch 10us {WRED}=steep --confirm 1s", status=2))
        self.assertIn("keep belongs to watch", running.ctl(f"set {WRED}=steep --keep", status=2))
        for time in ("0", "1ns", "2000000s", "soon"):
            running.ctl("set", "watch", time, WRED + "=steep", status=2)
        self.assertEqual(running.call("config.get", path=WRED)["value"], '"all"')
        running.stop()

    def real(self):
        """Frames without end under the real clock."""
        switch = Switch(self, hosts=2, clock="real", device="net_pcap{n},{rx}infinite_rx=1")
        switch.give("h0", [(0, plain(200, dscp=26, ecn=2))] * 32)
        switch.give("h1", [(0, plain(200, source=1, to=0))] * 32)
        switch.section("wred.all", green_min=0, green_max=0)
        return Running(switch, interactive=False)

    def test_killed_in_the_middle(self):
        """The switch takes the change back by itself, at once, and the next may try one."""
        running = self.real()
        for _ in range(2):
            trying = subprocess.Popen([Programs.sluicectl, "--socket", running.path, "set", "--watch", "100ms", WRED + "=all", "--keep"],
                                      stdout=subprocess.DEVNULL)
            # Stopped behind its change, so that it is killed before it could keep it.
            running.wait_for(lambda: running.call("config.get", path=WRED)["value"], lambda value: value == '"all"')
            trying.send_signal(signal.SIGSTOP)
            entries = running.call("config.history")["entries"]
            if entries[-1]["what"] == "trial":
                trying.kill()
                trying.wait()
                running.wait_for(lambda: running.call("config.get", path=WRED)["value"], lambda value: value != '"all"')
                self.assertEqual(running.call("config.history")["entries"][-1]["what"], "its client is gone")
            else:  # it was faster than we
                trying.kill()
                trying.wait()
                running.call("config.rollback")
        said = running.ctl("port show over 20ms")
        self.assertRegex(said, r"h0 +\d")
        self.assertIn("taken back", running.ctl(f"set --watch 20ms {WRED}=all"))
        running.stop()

    def test_a_hundred_at_once(self):
        """Set, clear, watch, look: each is done or refused in words, and at the end all is as it was."""
        running = self.running()
        self.run_for(running, "500ns")
        before = running.call("config.get")
        lines = [f"set --watch 1us {WRED}=all", "stats clear", f"set {WRED}=steep --confirm 1s", "queue show h1.3", "config history",
                 f"unset {WRED}", "qos roce lossless", "port show rates", "config diff", "config rollback"]

        def ask(number):
            done = subprocess.run([Programs.sluicectl, "--socket", running.path, *lines[number % len(lines)].split()], text=True,
                                  capture_output=True, timeout=control.PATIENCE_S)
            return number, done.returncode, done.stdout + done.stderr
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            answers = list(pool.map(ask, range(100)))
        for number, status, said in answers:
            self.assertIn(status, (0, 1), f"{lines[number % len(lines)]}: {said}")
            self.assertTrue(said or status == 0)
            self.assertNotIn("internal error", said)
        self.assertIn(0, {status for _, status, _ in answers})
        running.ctl("unset " + WRED)
        self.assertEqual(running.call("config.get"), before)
        running.call("clock.run")
        running.stop(accounts=True)


if __name__ == "__main__":
    control.main()
