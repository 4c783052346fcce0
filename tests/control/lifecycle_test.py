#!/usr/bin/python3
"""Signals: SIGHUP reads the file anew or says why not, SIGTERM ends it, a second one at once."""

import os
import pathlib
import signal

import control
from control import Case, Running, Switch
from frames import plain


def seconds_of_work(process):
    """CPU time that the process itself has taken."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


class Signals(Case):
    def running(self, count=40):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(1000 * n, plain(200, dscp=26, ecn=2)) for n in range(count)])
        switch.section("wred.all", green_min=0, green_max=0)
        return Running(switch)

    def reload(self, running, text, kind):
        """Has the file read anew; the events of that."""
        start = running.call("events.list")["next"]
        running.config.write_text(text)
        running.process.send_signal(signal.SIGHUP)
        events = running.wait_for(lambda: running.call("events.list", **{"from": start})["events"],
                                  lambda events: any(event["kind"] == kind for event in events))
        return [event["text"] for event in events if event["kind"] == kind]

    def test_a_good_file_is_taken(self):
        running = self.running()
        text = running.config.read_text()
        running.call("clock.run", **{"for": "9500ns"})
        said = self.reload(running, text + '\n[port.h1.queue.3]\nwred = "all"\n', "reloaded")
        self.assertRegex(said[0], "1 value changed$")
        self.assertIn("0 values changed", self.reload(running, running.config.read_text(), "reloaded")[0])
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual([frame.bytes[15] & 3 for frame in out.frames["h1"]], [2] * 10 + [3] * 30)

    def test_what_the_command_line_says_goes_on_being_said(self):
        first = self.running()
        first.stop()  # two switches cannot write the same captures
        switch = first.switch
        running = Running(switch, "--decisions", switch.folder / "decisions.jsonl", "--seed", "7", path=switch.folder / "other.sock")
        self.assertIn("0 values changed", self.reload(running, running.config.read_text(), "reloaded")[0])
        self.assertEqual(running.call("config.get", path="seed")["value"], "7")
        for key, value in (("file", "elsewhere"), ("ring", 4096), ("record", "off")):
            error = running.refused("config.set", path=f"decisions.{key}", value=value)
            self.assertIn("cannot change while the switch runs", error.message)

    def test_a_bad_file_changes_nothing(self):
        running = self.running()
        text = running.config.read_text()
        before = running.call("config.get"), running.call("qos.show")
        for wrong, words in (("port = [", "sluice.toml"), (text + "\n[watchdog]\ndetection = \"soon\"\n", "soon"),
                             (text.replace('"10.0.1.1/24"', '"10.0.0.1/24"'), "overlaps"),
                             (text.replace("[port.h1]", '[port.h1]\nspeed = "25G"'), "cannot change while"),
                             (text + '\n[port.h1.queue.3]\nwred = "all"\n[[route]]\nprefix = "10.7.0.0/16"\nvia = ["10.0.9.9"]\n', "10.0.9.9")):
            with self.subTest(words=words):
                said = self.reload(running, wrong, "reload_refused")
                self.assertIn(words, " ".join(said))
                self.assertEqual((running.call("config.get"), running.call("qos.show")), before)
        running.config.unlink()
        start = running.call("events.list")["next"]
        running.process.send_signal(signal.SIGHUP)
        running.wait_for(lambda: running.call("events.list", **{"from": start})["events"], bool)
        self.assertEqual((running.call("config.get"), running.call("qos.show")), before)
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual({frame.bytes[15] & 3 for frame in out.frames["h1"]}, {2})

    def test_the_clock_ends_after_106_days(self):
        """2^63 picoseconds; beyond, a moment would be before the origin."""
        running = self.running()
        running.call("clock.run", **{"for": "9000000s"})
        for duration in ("223373s", "9000000s"):
            refused = running.refused("clock.run", **{"for": duration})
            self.assertIn("ends at 9223372036854775807ps", refused.message)
            self.assertIn("at most 223372036854775807ps", refused.data["do"])
        self.assertEqual(running.call("clock.show")["now_ns"], 9_000_000 * 10**9)
        running.call("clock.run", **{"for": "223372s"})
        running.call("port.set", port="h0", up=False)
        self.assertEqual(running.call("events.list")["events"][-1]["at_ns"], 9_223_372 * 10**9)
        running.stop(accounts=True)

    def test_both_signals_end_it(self):
        for ending in (signal.SIGTERM, signal.SIGINT):
            running = self.running()
            running.call("clock.run", **{"for": "9500ns"})
            running.process.send_signal(ending)
            self.assertEqual(running.process.wait(control.PATIENCE_S), 0, running.said())
            self.assertFalse(running.path.exists())

    def test_a_second_signal_ends_at_once(self):
        """It comes before the first can have done anything. Its files do not hinder the next switch."""
        running = self.running()
        running.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, running.process.pid, os.WSTOPPED)  # else it may take the first before it stops
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
            running.process.send_signal(number)
        self.assertEqual(running.process.wait(control.PATIENCE_S), 1)
        self.assertFalse(running.report_path.exists())
        self.assertTrue(running.path.exists())
        again = Running(running.switch)
        again.call("clock.run")
        self.assertEqual(len(again.stop(accounts=True).frames["h1"]), 40)

    def test_an_end_in_the_middle_of_a_run(self):
        """A client's clock.run is interrupted by the signal, which the exit status says, and the accounts balance."""
        for ending, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
            switch = Switch(self, hosts=2)
            # A hundred million pauses outlast any test.
            switch.section("port.h1.fault", storm_classes=[3], storm_every="1us", storm_for="100s")
            switch.section("watchdog", action="off")
            running = Running(switch)
            before = seconds_of_work(running.process)
            running.first.send_line({"jsonrpc": "2.0", "id": 1, "method": "clock.run", "params": {}})
            # A switch whose clock stands still takes next to no time: this one runs.
            running.wait_for(lambda running=running: seconds_of_work(running.process), lambda work, before=before: work > before + 0.5)
            outcome = running.stop(ending=ending, status=status)
            self.assertIs(outcome.report["verdict"]["interrupted"], True)

    def test_subscribers_hear_of_it_all(self):
        running = self.running()
        follower = running.client()
        follower.call("events.subscribe")
        for up in (False, True):
            running.call("port.set", port="h0", up=up)
            running.call("clock.run", **{"for": "1us"})
        self.assertEqual([follower.next_notification()["params"]["kind"] for _ in range(2)], ["port_down", "port_up"])
        watcher = running.client()
        watcher.call("stats.watch", path="ledger.rx", every="10ms")
        first = watcher.next_notification()
        self.assertEqual((first["method"], first["params"]["path"]), ("stats", "ledger.rx"))
        running.call("clock.run", **{"for": "20ms"})
        second = watcher.next_notification()
        self.assertGreater(second["params"]["at_ns"], first["params"]["at_ns"])
        self.assertEqual(second["params"]["value"], running.call("stats.show", path="ledger.rx"))
        running.stop()
        self.assertIsNone(follower.read_line(), "the connection is closed at the end")


if __name__ == "__main__":
    control.main()
