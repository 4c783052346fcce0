#!/usr/bin/python3
"""The verdict of a switch that runs: classes that change, what receive rings missed, and what is to be mended."""

import json

import control
from control import Case, Running, Switch
from frames import ethernet, ipv4, plain, udp

ROCE = 26
US = 1000
REFUSED = 1


class Verdict(Case):
    def test_packets_count_as_lossless_while_their_class_is(self):
        """h0 sends a packet a microsecond; its class is lossless for 10, lossy for 20, lossless for 30 of them."""
        for workers in (1, 2):
            switch = Switch(self, hosts=2, workers=workers)
            switch.give("h0", [(n * US, plain(dscp=ROCE, identification=n)) for n in range(60)])
            running = Running(switch)

            def counted():
                verdict = running.call("stats.show", path="verdict")
                return verdict["lossless"], verdict["lossless_packets"], verdict["lost_packets"]

            self.assertEqual(counted(), (None, 0, 0))
            running.call("clock.run", **{"for": "9500ns"})
            self.assertEqual(counted(), (True, 10, 0))
            running.ctl("set default.qos lossy")
            self.assertEqual(counted(), (True, 10, 0))
            running.call("clock.run", **{"for": "20us"})
            self.assertEqual(counted(), (True, 10, 0))
            running.ctl("set default.qos lossless")
            running.call("clock.run")
            self.assertEqual(counted(), (True, 40, 0))
            group = running.call("stats.show", path="ports.h0.priority_groups.3")
            self.assertEqual(group["packets"], 60)
            outcome = running.stop(accounts=True)
            self.assertIn("lossless: yes, 0 of 40 lossless packets lost", outcome.stdout)

    def test_the_key_of_a_warning_is_one_that_set_takes(self):
        switch = Switch(self, hosts=2)
        roce = ethernet(ipv4(udp(bytes(16), dport=4791)), 0x0800)
        switch.give("h0", [(n * US, roce) for n in range(10)])
        running = Running(switch)
        running.call("clock.run", **{"for": "3500ns"})
        said = running.ctl("port show h0")
        self.assertIn("WARNING: port h0: 4 RoCEv2 packets came in a class that is not lossless; do: set ", said)
        key, _, value = said.split("do: set ")[1].split("\n")[0].split()
        running.ctl(f"set {key} {value}")
        running.call("clock.run")
        self.assertEqual(running.call("stats.show", path="verdict.lossless_packets"), 6)
        self.assertEqual(running.call("stats.show", path="ports.h0.lossy_roce_packets"), 4)
        self.assertIs(running.call("stats.show", path="verdict.lossless"), True)
        running.stop(accounts=True)

    def overrun(self, **keys):
        switch = Switch(self, hosts=2, **{"buffer.size": "12MB"})  # whose headroom such a turn enlarges
        switch.give("h0", [(n, plain(identification=n)) for n in range(200)])
        switch.section("virtual", turn="50us", rx_ring=32)
        if keys:
            switch.section("decisions", **keys)
        running = Running(switch)
        running.call("clock.run")
        return running, running.call("stats.show", path="ports.h0.imissed")

    def test_what_a_receive_ring_missed_is_shown(self):
        for keys in ({}, {"record": "on"}):
            running, missed = self.overrun(**keys)
            self.assertGreater(missed, 0)
            header, h0, h1, *_ = running.ctl("port show").splitlines()
            self.assertIn(" missed", header)
            column = header.index("missed") + len("missed")
            self.assertEqual([line[:column].split()[-1] for line in (h0, h1)], [str(missed), "0"])
            self.assertIn(f"missed ring_overrun at h0: {missed}\n", running.ctl("why"))
            why = json.loads(running.ctl("--json why"))
            self.assertEqual((why[0]["reason"], why[0]["port"], why[0]["count"]), ("ring_overrun", "h0", missed))
            self.assertIs(running.call("stats.show", path="lossless"), False)
            told = [event["text"] for event in running.call("events.list")["events"] if event["kind"] == "ring_overrun"]
            self.assertEqual(told, [f"port h0: its receive ring had no room, or no packet buffer, for {missed} frames by now; "
                                    "whatever class they were of, they are lost; imissed counts them"])
            running.stop(accounts=True)

    def test_a_class_that_is_lossless_here_and_lossy_there_is_an_exception(self):
        switch = Switch(self, hosts=3)
        switch.port("h1", pfc=[])
        running = Running(switch)
        for shown in (running.ctl("qos show"), running.ctl("qos show h0")):
            self.assertIn("\nexception: port.h1.queue.3: class 3 is lossless where it comes in on h0, and lossy in queue 3: it is dropped "
                          "there\n", shown)
            self.assertNotIn("no exceptions", shown)
        running.call("config.set", path="port.h1.pfc", value=[3])
        shown = running.ctl("qos show")
        self.assertNotIn("\nexception: ", shown)
        self.assertIn("no exceptions", shown)
        running.stop(accounts=True)

    def test_why_says_what_to_do_where_nothing_is_recorded(self):
        running = Running(Switch(self, hosts=2))
        self.assertEqual(running.ctl("why"), "no packet was dropped, marked or paused after classification\n")
        running.stop()
        switch = Switch(self, hosts=2)
        switch.section("decisions", recorder=0)
        running = Running(switch)
        self.assertIn("decisions on", running.ctl("why", status=REFUSED))
        running.stop()

    def test_the_mac_of_a_port_is_shown(self):
        switch = Switch(self, hosts=2)
        switch.ports["h1"].pop("mac")
        running = Running(switch)
        _, h0, h1 = running.ctl("port show").splitlines()
        self.assertEqual([line.split()[1] for line in (h0, h1)], ["02:00:00:00:ff:01", "02:53:4c:00:00:01"])
        running.stop()


if __name__ == "__main__":
    control.main()
