#!/usr/bin/python3
"""Packet trimming by the control socket: on and off under traffic, to the packet; and what it says of trimmed packets."""

import control
from control import Case, Running, Switch
from frames import plain
from pcapng import parse

US = 1000
DATA = 26
ON_FULL = "port.h1.queue.3.on_full"


class Trimming(Case):
    def switch(self, count, workers=1, room=1000, **queue):
        """A frame every microsecond from h0 to h1, whose queue 3 is held and takes four; `room` for short ones in queue 5."""
        switch = Switch(self, hosts=2, workers=workers)
        switch.default(qos="lossy", peer="ignore")
        switch.section("map.default", dscp_to_tc={"26": 3, "11": 5})
        switch.section("trimming", dscp=11)
        switch.section("port.h1.queue.3", size=0, static_th=4096, **queue)
        switch.section("port.h1.queue.5", size=0, static_th=room * 256)
        switch.event("0ns", "queue h1.3 hold")
        switch.give("h0", [(n * US, plain(1000, dscp=DATA, identification=n)) for n in range(count)])
        return switch

    def queue(self, running):
        return running.call("stats.show", path="ports.h1.queues.3")

    def run_for(self, running, time):
        running.call("clock.run", **{"for": time})

    def test_on_and_off_to_the_packet(self):
        for workers in (1, 2):
            running = Running(self.switch(204, workers))
            self.run_for(running, "3500ns")
            self.assertNotIn("trimmed_packets", self.queue(running))
            for n in range(10):
                self.assertEqual([change["path"] for change in running.call("config.set", path=ON_FULL, value="trim")["changes"]], [ON_FULL])
                self.run_for(running, "10us")
                self.assertEqual(self.queue(running)["trimmed_packets"], 10 * (n + 1))
                running.call("config.set", path=ON_FULL, value="drop")
                self.run_for(running, "10us")
                self.assertEqual((self.queue(running)["trimmed_packets"], self.queue(running)["dropped_packets"]), (10 * (n + 1), 20 * (n + 1)))
            running.call("queue.hold", port="h1", queue=3, hold=False)
            running.call("clock.run")
            out = running.stop(accounts=True)
            self.assertEqual(out.drops(), {"queue_limit": 200})
            short = [int.from_bytes(frame.bytes[18:20], "big") for frame in out.frames["h1"] if frame.wire == 128]
            self.assertEqual(short, [4 + 20 * n + m for n in range(10) for m in range(10)])

    def test_size_and_dscp_under_traffic(self):
        running = Running(self.switch(34, on_full="trim"))
        self.run_for(running, "13500ns")
        running.call("config.set", path="trimming.size", value=256)
        self.run_for(running, "10us")
        running.call("config.set", path="port.h1.trim_dscp", value=20)
        running.call("clock.run")
        running.call("queue.hold", port="h1", queue=3, hold=False)
        out = running.stop()
        self.assertEqual([(frame.wire, frame.bytes[15] >> 2) for frame in out.frames["h1"][:30]], [(128, 11)] * 10 + [(256, 11)] * 10 + [(256, 20)] * 10)

    def test_a_change_that_cannot_be_changes_nothing(self):
        running = Running(self.switch(14, on_full="trim"))
        for path, value, words in (("default.qos", "lossless", "queue 3 is lossless"), ("port.h1.queue.5.on_full", "trim", "takes the trimmed packets"),
                                   ("trimming.size", 63, "is too small"), ("trimming.queue", 3, "takes the trimmed packets")):
            self.assertIn(words, running.refused("config.set", path=path, value=value).message)
        running.call("clock.run")
        self.assertEqual(self.queue(running)["trimmed_packets"], 10)
        running.stop()

    def test_people_are_told(self):
        running = Running(self.switch(14, room=7, on_full="trim"))
        running.call("clock.run", **{"for": "4500ns"})
        running.call("queue.hold", port="h1", queue=5)
        running.call("clock.run", **{"for": "50us"})
        entries = {entry["reason"]: entry for entry in running.call("why.show", at="h1")["entries"]}
        self.assertEqual({reason: entry["count"] for reason, entry in entries.items()}, {"queue_limit": 10, "trim_limit": 2})
        self.assertIn("since the start 10 packets were trimmed there: 8 went on, and 2 found no room again", entries["queue_limit"]["details"])
        self.assertIn("the queue of h1 that takes trimmed packets", entries["trim_limit"]["do"])
        head, row = [line.split() for line in running.ctl("queue show h1.3").splitlines()]
        self.assertEqual(dict(zip(head[3:], row[3:]))["dropped"], "10")
        self.assertIn("trimmed  sent trimmed", running.ctl("queue show h1.3"))
        self.assertRegex(running.ctl("queue show h1.3"), r" 10 +0 +10 +8 ")
        running.stop()

    def test_a_mirror_has_the_frame_before_the_cut_and_after(self):
        switch = self.switch(6, room=1, on_full="trim")
        switch.event("0ns", "queue h1.5 hold")
        path = switch.folder / "drops.pcapng"
        switch.section("mirror.m", file=str(path), on=["drop"], snaplen="256")
        switch.run("--duration", "100us", balanced=False)
        frames = parse(path.read_bytes())[1]
        self.assertEqual([(frame.wire, frame.bytes[15] >> 2, frame.comment.split()[1]) for frame in frames],
                         [(1000, DATA, "reason=queue_limit"), (1000, DATA, "reason=queue_limit"), (128, 11, "reason=trim_limit")])


if __name__ == "__main__":
    control.main()
