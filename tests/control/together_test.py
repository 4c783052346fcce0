#!/usr/bin/python3
"""Changes together: all or none, judged together, with one publication; back to the default; trials; and who changed what."""

import os
import pwd

import control
from control import Case, Running, Switch
from frames import plain

WRED = "port.h1.queue.3.wred"
MINE = [{"path": "wred.mine.green_min", "value": "20KB"}, {"path": "wred.mine.green_max", "value": "40KB"}, {"path": WRED, "value": "mine"}]


class Together(Case):
    def running(self, **keys):
        switch = Switch(self, hosts=3, **{"buffer.size": "16MB", **keys})
        switch.give("h0", [(1000 * n, plain(200)) for n in range(20)])
        return Running(switch)

    def value(self, running, path=WRED):
        return running.call("config.get", path=path)["value"]

    def test_one_publication(self):
        """A profile and its user in one go, which neither order of single changes with a look in between could judge."""
        running = self.running()
        before = running.call("config.set", path="seed", value=1)["generation"]
        done = running.call("config.change", changes=list(reversed(MINE)))
        self.assertEqual([change["path"] for change in done["changes"]], sorted(one["path"] for one in MINE))
        self.assertEqual(done["generation"], before + 1)
        done = running.call("config.change", changes=[{"path": WRED}, {"path": "wred.mine"}])
        self.assertEqual((done["generation"], [change["to"] for change in done["changes"]]), (before + 2, [None] * 3))
        self.assertEqual(running.call("config.rollback")["generation"], before + 3)
        self.assertEqual(self.value(running), '"mine"')
        running.stop()

    def test_all_or_none(self):
        running = self.running()
        before = running.call("config.get")
        for changes, words in (
                (MINE[:2] + [{"path": "port.h1.mtu", "value": 99999}], "port.h1.mtu"),
                (MINE[:2] + [{"path": "port.h1.mtuu", "value": 9000}], "no such key"),
                (MINE[:2] + [{"path": "port.h1.mtuu"}], "no such key"),
                (MINE[:2] + [{"path": "port.h9.mtu"}], "h9"),
                (MINE[:2] + [{"path": "port.h1.speed", "value": "25G"}], "cannot change while"),
                (MINE[:2] + [{"path": "port.h1"}], "cannot change while"),
                (MINE[2:], "mine"), (MINE + [{"path": WRED}], "twice"),
                (MINE[:1] + [{"path": "default.port.mtu", "value": 9000}, {"path": "default.mtu", "value": 9000}], "twice"),
                ([{"path": "x" * 2000}], "too long"), ([{"path": ""}], "no such key"), ([{"path": "."}], "no such key"),
                ([{"path": "seed", "value": "1\nworkers = 2"}], "more than one line")):
            with self.subTest(changes=changes):
                self.assertIn(words, running.refused("config.change", changes=changes).message)
                self.assertEqual(running.call("config.get"), before)
        for changes in ([], {}, 5, "seed=1", [5], [{}], [{"path": 5}], [{"value": 5}], [{"path": "seed", "value": 1, "more": 2}],
                        [{"path": "seed", "more": 2}], [{"path": f"wred.w{n}.green_min", "value": "1KB"} for n in range(257)]):
            with self.subTest(changes=str(changes)[:80]):
                self.assertEqual(running.refused("config.change", changes=changes).code, -32602)
        self.assertEqual(running.refused("config.change", changes=MINE, trial=True).code, -32602)
        self.assertEqual((running.call("config.get"), running.call("config.history")["entries"]), (before, []))
        running.stop()

    def test_back_and_forth_twice(self):
        running = self.running()
        before = running.call("config.get")
        for _ in range(2):
            running.ctl(f"set wred.mine.green_min=20KB wred.mine.green_max=40KB {WRED}=mine")
            self.assertIn('-> default', running.ctl(f"unset {WRED} wred.mine"))
            self.assertEqual(running.call("config.get"), before)
            self.assertIn("nothing changes", running.ctl("unset " + WRED))
        running.stop()

    def test_confirm_as_one(self):
        running = self.running()
        self.assertEqual(running.call("config.change", changes=MINE, confirm="10us")["waiting"], 1)
        running.call("clock.run", **{"for": "10us"})
        self.assertNotEqual(self.value(running), '"mine"')
        self.assertEqual([entry["what"] for entry in running.call("config.history")["entries"]], ["set", "not confirmed"])
        running.stop()

    def test_a_trial_is_taken_back(self):
        """By its client, at its time, when its client hangs up; each time the configuration is what it was."""
        running = self.running()
        before = running.call("config.get")
        client = running.client()
        client.call("config.change", changes=MINE, confirm="1000s", trial=True)
        self.assertIn("nothing is tried", running.refused("config.rollback", trial=True).message)
        self.assertEqual(self.value(running), '"mine"')
        self.assertEqual(len(client.call("config.rollback", trial=True)["changes"]), 3)
        self.assertEqual(running.call("config.get"), before)
        client.call("config.change", changes=MINE, confirm="5us", trial=True)
        running.call("clock.run", **{"for": "5us"})
        self.assertEqual(running.call("config.get"), before)
        with self.assertRaises(control.Refused) as caught:
            client.call("config.rollback", trial=True)
        self.assertIn("its time was over", caught.exception.message)
        client.call("config.change", changes=MINE, confirm="1000s", trial=True)
        client.close()
        running.wait_for(lambda: running.call("config.get"), lambda now: now == before)
        self.assertEqual([entry["what"] for entry in running.call("config.history")["entries"]],
                         ["trial", "rollback", "trial", "not confirmed", "trial", "its client is gone"])
        running.stop()

    def test_one_trial_at_a_time(self):
        running = self.running()
        client = running.client()
        client.call("config.change", changes=MINE, confirm="1000s", trial=True)
        self.assertIn("tries a change", running.refused("config.change", changes=MINE, confirm="1000s", trial=True).message)
        client.call("config.rollback", trial=True)
        running.call("config.set", path=WRED, value="steep", confirm="1000s")
        with self.assertRaises(control.Refused) as caught:
            client.call("config.change", changes=MINE, confirm="1000s", trial=True)
        self.assertIn("to be confirmed", caught.exception.message)
        running.stop()

    def test_another_change_is_made_as_if_there_was_no_trial(self):
        running = self.running()
        client = running.client()
        client.call("config.change", changes=MINE, confirm="1000s", trial=True)
        running.refused("config.set", path="port.h2.mtu", value=99999)
        self.assertEqual(self.value(running), '"mine"', "what was refused has changed nothing")
        generation = running.call("config.set", path="port.h2.microburst", value="300KB")["generation"]
        self.assertNotEqual(self.value(running), '"mine"')
        self.assertEqual(self.value(running, "port.h2.microburst"), '"300KB"')
        with self.assertRaises(control.Refused) as caught:
            client.call("config.rollback", trial=True)
        self.assertIn("another change", caught.exception.message)
        self.assertEqual(running.call("config.rollback")["generation"], generation + 1, "one step back is to before the trial")
        self.assertEqual(running.call("config.unsaved")["changes"], [])
        running.refused("config.rollback")
        client.close()
        running.ctl("hello")
        running.stop()

    def test_another_change_that_only_ends_the_trial(self):
        """It says what was: nothing is left to confirm or to go back to."""
        running = self.running()
        before = running.call("config.get")
        client = running.client()
        for confirm in ({}, {"confirm": "1us"}):
            client.call("config.change", changes=MINE, confirm="1000s", trial=True)
            self.assertEqual(len(running.call("config.change", changes=[{"path": WRED}], **confirm)["changes"]), 3)
            self.assertEqual(running.call("config.get"), before)
            running.call("clock.run", **{"for": "5us"})
            running.refused("config.confirm")
            running.refused("config.rollback")
        running.stop()

    def test_a_trial_that_is_kept(self):
        running = self.running()
        client = running.client()
        client.call("config.change", changes=MINE, confirm="1us", trial=True)
        self.assertEqual(running.call("config.confirm"), {"kept": 1})
        client.close()
        running.call("clock.run", **{"for": "10us"})
        self.assertEqual(self.value(running), '"mine"')
        running.stop()

    def test_history_has_who_and_when(self):
        running = self.running()
        running.call("config.set", path="port.h2.microburst", value="300KB")
        running.call("clock.run", **{"for": "3us"})
        running.call("config.apply", toml=running.config.read_text())
        entries = running.call("config.history")["entries"]
        self.assertEqual([(entry["number"], entry["at_ns"], entry["what"], len(entry["changes"])) for entry in entries],
                         [(0, 0, "set", 1), (1, 3000, "apply", 1)])
        for entry in entries:
            self.assertEqual((entry["pid"], entry["uid"], entry["user"]), (os.getpid(), os.getuid(), pwd.getpwuid(os.getuid()).pw_name))
        for value in range(100):
            running.call("config.set", path="port.h2.microburst", value=f"{300 + value % 2}KB")
        said = running.call("config.history")
        self.assertEqual((len(said["entries"]), said["entries"][0]["number"], said["lost"]), (64, 38, 38))
        running.stop()

    def test_history_is_bounded(self):
        """However long the values are."""
        running = self.running()
        changes = [{"path": f"wred.w{n}.green_min", "value": "1KB"} for n in range(30)]
        running.call("config.change", changes=changes)
        entry = running.call("config.history")["entries"][-1]
        self.assertEqual((len(entry["changes"]), entry["left_out"]), (16, 14))
        hosts = [f"10.0.1.{n}" for n in range(2, 12)]
        running.call("neighbor.replace", neighbors=[{"address": each, "port": "h1", "mac": "02:00:00:00:00:02"} for each in hosts])
        toml = running.call("config.get")["toml"] + f'[[route]]\nprefix = "10.7.0.0/16"\nvia = {hosts}\n'
        self.assertGreater(len(running.call("config.apply", toml=toml)["changes"][0]["to"]), 200)
        said = running.call("config.history")["entries"][-1]["changes"][0]["to"]
        self.assertEqual((len(said), said[-3:]), (123, "..."))
        running.stop()

    def test_unsaved(self):
        running = self.running()
        self.assertEqual(running.call("config.unsaved"), {"file": str(running.config), "changes": []})
        running.call("config.change", changes=MINE)
        self.assertEqual(sorted(change["path"] for change in running.call("config.unsaved")["changes"]), sorted(one["path"] for one in MINE))
        running.call("config.save")
        self.assertEqual(running.call("config.unsaved")["changes"], [])
        running.config.write_text("port = [")
        self.assertIn("sluice.toml", running.refused("config.unsaved").message)
        running.config.unlink()
        self.assertIn("sluice.toml", running.refused("config.unsaved").message)
        running.stop()

    def test_modes_of_roce(self):
        running = self.running()
        running.call("config.set", path="port.h2.qos", value="sonic-t0")
        for mode, sends, obeys in (("lossless", [3], [3]), ("semi-lossless", [], [3]), ("lossy", [], []), ("lossless", [3], [3])):
            said = running.ctl("qos roce " + mode)
            self.assertIn("h2 (sonic-t0)", said)
            running.call("clock.run", **{"for": "1us"})
            port = running.call("qos.show")["ports"]["h1"]
            self.assertEqual((port["preset"], port["sends_pfc"], port["queues"][3]["wred"]), (mode, sends, "linear"))
            self.assertEqual([n for n in port["obeys_pfc"] if n == 3], obeys)
        running.stop()

    def test_wait_for_a_switch_that_starts(self):
        """The socket is not there yet, then it is; and when it never comes the time is over."""
        switch = Switch(self, hosts=3)
        path = switch.folder / "late.sock"
        waiting = control.subprocess.Popen([control.Programs.sluicectl, "--socket", path, "wait", "port", "h0", "up", "--timeout", "60s"])
        running = Running(switch, path=path)
        self.assertEqual(waiting.wait(control.PATIENCE_S), 0)
        running.stop()
        self.assertIn("out of time", running.ctl("wait port h0 up --timeout 1ms", status=4))


if __name__ == "__main__":
    control.main()
