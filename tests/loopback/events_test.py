#!/usr/bin/python3
"""Timed commands: each comes before the packets of its instant, at both ends of what it switches; and `set` among them."""

import loopback
from frames import plain
from loopback import Programs, Switch, run

TIMES_US = (0, 10, 15, 20, 25)  # of the frames; events are at 10 and 20


def moments(frames):
    """(identification, ns) of IPv4 frames."""
    return [(int.from_bytes(frame.bytes[18:20], "big"), frame.at_ns) for frame in frames]


class BothEnds(loopback.Case):
    def switch(self, first, second, dscp=26):
        switch = Switch(self, hosts=2)
        switch.section("port.h1.queue.0", size=0)
        switch.route("10.9.0.0/16", "10.0.1.2")
        switch.give("h0", [(at * 1000, plain(200, to="10.9.0.1", dscp=dscp, identification=at)) for at in TIMES_US])
        switch.event("10us", first)
        switch.event("20us", second)
        return switch

    def test_what_is_cut_at_one_instant_and_given_back_at_another(self):
        """Frames at 10 and 15 us meet it, those at 0, 20 and 25 us do not."""
        for first, second, dscp, drops in (
                ("watchdog big-red-switch on", "watchdog big-red-switch off", 26, {"watchdog_drop": 2}),
                ("port h1 down", "port h1 up", 26, {"link_down": 2}),
                ("port h0 down", "port h0 up", 26, {}),
                ("route replace 10.9.0.0/16 blackhole", "route replace 10.9.0.0/16 via 10.0.1.2", 26, {"blackhole": 2}),
                ("fault h0 drop_chance 100%", "fault h0 clear", 26, {}),
                ("set port.h1.queue.0.static_th 1", "set port.h1.queue.0.static_th=100KB", 0, {"queue_limit": 2})):
            with self.subTest(first):
                out = self.switch(first, second, dscp).run(balanced="fault" not in first)  # what a fault drops was never received
                self.assertEqual(moments(out.frames["h1"]), [(at, at * 1000) for at in (0, 20, 25)])
                self.assertEqual(out.drops(), drops)

    def test_a_queue_is_held_from_one_instant_to_another(self):
        out = self.switch("queue h1.3 hold", "queue h1.3 release").run()
        slot = (200 + 24) * 80  # ps
        self.assertEqual(moments(out.frames["h1"]), [(0, 0)] + [(at, 20_000 + n * slot // 1000) for n, at in enumerate((10, 15, 20))] +
                         [(25, 25_000)])

    def test_a_turn_takes_a_command_before_all_that_it_receives(self):
        """On a grid of 4 us frames of 10 us are received at 12, where the event of 10 us is in force."""
        switch = self.switch("watchdog big-red-switch on", "watchdog big-red-switch off")
        switch.section("virtual", turn="4us")
        self.assertEqual([at for at, _ in moments(switch.run().frames["h1"])], [0, 20, 25])


class Set(loopback.Case):
    def test_is_judged_as_a_client_s(self):
        """A timed event that is impossible at its time is refused then, and the run goes on."""
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain()), (50_000, plain())])
        switch.event("10us", "set port.h0.priority_group.3.xoff 256")
        switch.event("20us", "set default.pfc [3, 4]")
        out = switch.run()
        self.assertEqual([kind for _, kind in out.events()], ["command_failed", "configuration"])
        self.assertIn("set port.h0.priority_group.3.xoff 256: port.h0.priority_group.3.xoff: 256 bytes of headroom are", out.report["events"][0]["text"])
        self.assertEqual([group["lossless"] for group in out.port("h0")["priority_groups"]], [False] * 3 + [True] * 2 + [False] * 3)

    def test_what_cannot_be_is_found_by_check(self):
        for command, words in (("set port.h0.queue.0.statik_th 1", ["port.h0.queue.0.statik_th"]), ("set port.h0.speed 25G", ["cannot change while"]),
                               ("set port.h0.pfc_quanta 2", ["port.h0.pfc_quanta", "3 to 65535"]), ("set", ["wanted: set KEY VALUE"]),
                               ("set watchdog.action", ["wanted: set KEY VALUE"]), ("set =3", ["wanted: set KEY VALUE"])):
            switch = Switch(self, hosts=2)
            switch.event("10us", command)
            (switch.folder / "sluice.toml").write_text(switch.text())
            done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--check"])
            self.assertEqual(done.returncode, 2, command)
            for word in words + ["event.do"]:
                self.assertIn(word, done.stderr, command)


if __name__ == "__main__":
    loopback.main()
