#!/usr/bin/python3
"""A threshold that changes: a packet that arrives after the answer finds the new value, one before it the old."""

import control
from control import Case, Running, Switch
from frames import plain, routed

US = 1000
ECT0, CE = 2, 3
ROCE = 26


def ecn(frame):
    return frame[15] & 3


class Thresholds(Case):
    """A packet that arrives after the answer finds the new value, one before it the old; all to the instant."""

    def running(self, dscp=ROCE, bytes=600, count=40, workers=1, ecn=ECT0):
        """A frame every microsecond from h0 to h1; three cells each."""
        switch = Switch(self, hosts=3, workers=workers)
        switch.give("h0", [(n * US, plain(bytes, dscp=dscp, ecn=ecn, identification=n)) for n in range(count)])
        switch.section("wred.mine", green_min=1_000_000, green_max=2_000_000)
        switch.section("port.h1.queue.3", wred="mine")
        switch.section("port.h1.queue.0", size=0, wred="mine")
        switch.section("port.h0.priority_group.3", size=0)
        self.generation = 0
        return Running(switch)

    def set(self, running, path, value):
        """The answer names the generation that every worker runs, and no time has passed for it."""
        before = running.call("clock.show")
        done = running.call("config.set", path=path, value=value)
        self.assertEqual((running.call("clock.show"), [change["path"] for change in done["changes"]]), (before, [path]))
        self.assertGreater(done["generation"], self.generation)
        self.generation = done["generation"]
        return done

    generation = 0  # of the last answer

    def run_for(self, running, time):
        running.call("clock.run", **{"for": time})

    def undisturbed(self, **keys):
        running = self.running(**keys)
        running.call("clock.run")
        return running.stop(accounts=True)

    def test_where_marking_begins(self):
        for workers in (1, 3):
            running = self.running(workers=workers)
            self.run_for(running, "9500ns")
            self.set(running, "wred.mine.green_min", 0)
            self.run_for(running, "10us")
            self.set(running, "wred.mine.green_max", 0)
            self.run_for(running, "10us")
            self.set(running, "wred.mine.green_max", 2_000_000)
            self.set(running, "wred.mine.green_min", 1_000_000)
            running.call("clock.run")
            out = running.stop(accounts=True)
            self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 20 + [CE] * 10 + [ECT0] * 10)
            self.assertEqual(out.report["lossless"], True)
            # No worker waited, and no port: every frame leaves when it would have left.
            self.assertEqual([frame.at_ns for frame in out.frames["h1"]],
                             [frame.at_ns for frame in self.undisturbed().frames["h1"]])

    def test_drops_of_packets_that_cannot_be_marked(self):
        running = self.running(dscp=0, ecn=0)
        self.set(running, "wred.mine.green_min", 0)
        self.set(running, "wred.mine.green_max", 0)
        self.run_for(running, "9500ns")
        self.set(running, "wred.mine.drop_non_ect", False)
        self.run_for(running, "20us")
        self.set(running, "wred.mine.drop_non_ect", "lossy")
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.frames_equal(out.frames["h1"], [routed(frame.bytes, 1) for frame in running.switch.sent("h0")[10:30]])
        self.assertEqual(out.drops(), {"wred_drop": 20})

    def test_the_limit_of_a_queue(self):
        for workers in (1, 3):
            running = self.running(dscp=0, workers=workers)
            self.run_for(running, "9500ns")
            self.set(running, "port.h1.queue.0.static_th", 512)
            self.run_for(running, "20us")
            self.set(running, "port.h1.queue.0.static_th", 768)
            running.call("clock.run")
            out = running.stop(accounts=True)
            sent = running.switch.sent("h0")
            self.frames_equal(out.frames["h1"], [routed(frame.bytes, 1) for frame in sent[:10] + sent[30:]])
            self.assertEqual(out.drops(), {"queue_limit": 20})

    def test_when_a_group_sends_pfc(self):
        """The queue is held, so what its group holds is known: three cells more every microsecond, ten times."""
        def xoffs():
            return running.call("stats.show", path="ports.h0.pfc.tx_xoff.3"), running.call("stats.show", path="ports.h0.pfc.tx_xon.3")
        for workers in (1, 3):
            running = self.running(workers=workers)
            running.call("queue.hold", port="h1", queue=3)
            self.run_for(running, "9500ns")
            self.assertEqual(running.call("stats.show", path="ports.h0.priority_groups.3.shared_bytes"), 30 * 256)
            self.set(running, "port.h0.priority_group.3.static_th", 33 * 256)
            self.run_for(running, "1us")
            self.assertEqual(xoffs(), (0, 0), "33 cells are not above 33")
            self.set(running, "port.h0.priority_group.3.static_th", 32 * 256)
            self.set(running, "port.h0.priority_group.3.static_th", 1_000_000)
            self.run_for(running, "1us")
            self.assertEqual(xoffs(), (0, 0), "no packet came while it was 32")
            self.set(running, "port.h0.priority_group.3.static_th", 38 * 256)
            self.run_for(running, "1us")
            self.assertEqual(xoffs(), (1, 0))
            running.call("queue.hold", port="h1", queue=3, hold=False)
            running.call("clock.run")
            out = running.stop(accounts=True)
            self.assertEqual(len(out.frames["h1"]), 40)
            self.assertEqual((out.report["lossless"], out.drops()), (True, {}))


if __name__ == "__main__":
    control.main()
