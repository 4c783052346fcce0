#!/usr/bin/python3
"""A class that becomes lossless or lossy while it has packets."""

import control
from control import Case, Running, Switch
from frames import plain

ROCE = 26


class Becoming(Case):
    """A class that becomes lossless: at once where there is room; else its peer is paused until there is."""

    def incast(self, **keys):
        """h0 and h2 write to h1, all of RoCE's class."""
        switch = Switch(self, hosts=3)
        switch.default(speed="10G", mtu=1500, **keys)
        switch.section("buffer", size="1MB")
        for sender in (0, 2):
            switch.give(f"h{sender}", [(n * 1231, plain(1500, source=sender, dscp=ROCE)) for n in range(3000)])
        return switch

    def groups(self, running, key="state"):
        return [running.call("stats.show", path=f"ports.h{n}.priority_groups.3").get(key) for n in (0, 2)]

    def xoffs(self, running):
        return [running.call("stats.show", path=f"ports.h{n}.pfc.tx_xoff.3") for n in (0, 2)]

    def test_lossy_and_back(self):
        """Every way to take it back: no lossless packet is lost, and each packet lost in between was lossy."""
        for between, back in (("0ns", "rollback"), ("20us", "rollback"), ("20us", "confirm"), ("20us", "set"), ("20us", "port")):
            running = Running(self.incast())
            running.call("clock.run", **{"for": "1ms"})
            before = running.call("stats.show", path="ports.h0.pfc.tx_xoff.3")
            wish = {"confirm": "20us"} if back == "confirm" else {}
            path, value = ("port.h0.pfc", "[]") if back == "port" else ("default.qos", "lossy")
            running.call("config.set", path=path, value=value, **wish)
            self.assertEqual(self.groups(running)[0], "lossy", back)
            running.call("clock.run", **{"for": between})
            if back == "set":
                running.call("config.set", path=path, value="lossless")
            elif back != "confirm":
                running.call("config.rollback")
            else:
                running.wait_for(lambda: self.groups(running, "lossless"), lambda lossless: lossless == [True, True])
            self.assertEqual(self.groups(running), ["lossless"] * 2, back)
            lost = running.call("stats.show", path="ledger.dropped")
            running.call("clock.run")
            self.assertGreater(running.call("stats.show", path="ports.h0.pfc.tx_xoff.3"), before, "nobody was paused any more")
            out = running.stop(accounts=True)
            self.assertEqual(out.report["ledger"]["dropped"], lost, back)
            if between == "0ns":
                self.assertEqual(lost, 0)
            self.assertEqual([out.port(f"h{n}")["lossless_drops"] for n in (0, 2)], [{}, {}], back)

    def held(self):
        """The queue is held, so the cells that the lossy class has do not leave, and do not fit beside the new headrooms."""
        switch = self.incast(qos="lossy")
        switch.section("buffer", size="300KB")
        switch.section("pool.in", direction="ingress", size="300KB")
        switch.section("pool.out", direction="egress", size="300KB")
        switch.section("default.queue.3", static_th=0, wred="none")
        running = Running(switch)
        running.call("queue.hold", port="h1", queue=3)
        running.call("clock.run", **{"for": "400us"})
        return running

    def test_the_last_screen_says_what_has_not_ended(self):
        running = self.held()
        running.call("config.set", path="default.qos", value="lossless")
        running.call("clock.run", **{"for": "50us"})
        said = running.stop().stdout
        self.assertRegex(said, r"\nlossless +class +state +Tx XOFF/XON ")
        for port in ("h0", "h2"):
            self.assertRegex(said, rf"\n{port} +3 +changing +1/0 ")
            self.assertRegex(said, rf"\nclass {port}\.3 is changing since 400\.0 us, waiting for [\d ]+ cells, most of them in queue h1\.3\n")

    def test_until_there_is_room(self):
        running = self.held()
        lossy = running.call("stats.show", path="ledger.dropped")
        self.assertGreater(lossy, 0, "there is room left: this tries nothing")
        for end in ("rollback", "release"):
            since = running.call("clock.show")["now_ns"]
            running.call("config.set", path="default.qos", value="lossless")
            self.assertEqual(self.groups(running), ["changing"] * 2)
            self.assertEqual(self.groups(running, "lossless"), [True] * 2)
            self.assertEqual(self.groups(running, "changing_since_ns"), [since] * 2)
            self.assertEqual(self.groups(running, "waiting_queue"), ["h1.3"] * 2)
            cells = self.groups(running, "waiting_cells")[0]
            self.assertGreater(cells, 0)
            before = self.xoffs(running)
            running.call("clock.run", **{"for": "1us"})
            self.assertEqual(self.xoffs(running), [count + 1 for count in before], "XOFF goes at once")
            running.call("clock.run", **{"for": "50us"})
            said = running.ctl("qos show")
            self.assertRegex(said, r"\n *h0\.3 +lossless +changing ")
            self.assertIn("class h0.3 is changing since ", said)
            self.assertRegex(said, r", waiting for \d+ cells, most of them in queue h1\.3\n")
            self.assertNotIn("no exceptions", said)
            self.assertIn("is changing since", running.ctl("buffer show"))
            dropped = running.call("stats.show", path="ledger.dropped")
            running.call("clock.run", **{"for": "100us"})
            self.assertEqual(running.call("stats.show", path="ledger.dropped"), dropped, "nobody is paused")
            self.assertEqual(self.groups(running), ["changing"] * 2)
            if end == "rollback":
                xons = running.call("stats.show", path="ports.h0.pfc.tx_xon.3")
                running.call("config.rollback")
                self.assertEqual(self.groups(running), ["lossy"] * 2)
                running.call("clock.run", **{"for": "1us"})
                self.assertEqual(running.call("stats.show", path="ports.h0.pfc.tx_xon.3"), xons + 1, "XON goes at once")
        running.call("queue.hold", port="h1", queue=3, hold=False)
        running.call("clock.run")
        self.assertEqual(self.groups(running), ["lossless"] * 2)
        self.assertNotIn("changing", running.ctl("qos show"))
        out = running.stop(accounts=True)
        changes = [event for event in out.report["events"] if event["kind"] in ("class_changing", "class_changed")]
        self.assertEqual([(event["kind"], event["port"], event["priority"], event.get("lossless")) for event in changes],
                         [(kind, port, 3, lossless) for kind, lossless in (("class_changing", None), ("class_changed", False),
                                                                           ("class_changing", None), ("class_changed", True))
                          for port in ("h0", "h1", "h2")])
        lost = sum(sum(out.port(f"h{n}")["lossless_drops"].values()) for n in (0, 2))
        self.assertEqual(sum(event.get("lost_packets", 0) for event in changes), lost)
        self.assertEqual(out.report["lossless"] is True, lost == 0, "what it loses counts")


if __name__ == "__main__":
    control.main()
