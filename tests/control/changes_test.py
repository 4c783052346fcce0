#!/usr/bin/python3
"""A change that was acknowledged holds for every packet that arrives after the answer, and loses none that is lossless."""

import control
from control import Case, Running, Switch
from frames import plain, routed

US = 1000
ECT0, CE = 2, 3
ROCE = 26


def ecn(frame):
    return frame[15] & 3


class Changes(Case):
    def switch(self, count=40, hosts=3, **keys):
        """A frame every microsecond from h0 to h1, all of RoCE's class."""
        switch = Switch(self, hosts=hosts, **keys)
        switch.give("h0", [(n * US, plain(200, dscp=ROCE, ecn=ECT0, identification=n)) for n in range(count)])
        switch.section("wred.all", green_min=0, green_max=0)
        return switch

    def no_loss(self, out):
        self.assertEqual(out.report["lossless"], True)
        self.assertEqual(out.drops(), {})

    def test_a_wred_profile(self):
        """Set after the packets of 0 to 9 us: those are as they were, all others are marked."""
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        done = running.call("config.set", path="port.h1.queue.3.wred", value="all")
        self.assertEqual(running.call("stats.show", path="ports.h1.queues.3.tx_packets"), 10)
        running.call("clock.run", **{"for": "20us"})
        running.call("config.rollback")
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertGreater(done["generation"], 1)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 10 + [CE] * 20 + [ECT0] * 10)
        self.no_loss(out)

    def test_a_route(self):
        switch = self.switch()
        switch.give("h0", [(n * US, plain(200, to="10.7.0.1", dscp=ROCE)) for n in range(40)])
        switch.route("10.7.0.0/16", "10.0.1.2")
        running = Running(switch)
        for via, until in (("10.0.2.2", "9500ns"), ("10.0.1.2", "10us")):
            running.call("clock.run", **{"for": until})
            running.call("route.replace", routes=[{"prefix": "10.7.0.0/16", "via": [via]}])
        running.call("clock.run", **{"for": "10us"})
        running.call("route.delete", routes=["10.7.0.0/16"])
        running.call("clock.run")
        out = running.stop(accounts=True)
        sent = switch.sent("h0")
        self.frames_equal(out.frames["h1"], [routed(frame.bytes, 1) for frame in sent[:10] + sent[20:30]])
        self.frames_equal(out.frames["h2"], [routed(frame.bytes, 2) for frame in sent[10:20]])
        self.assertEqual(out.drops("h0"), {"no_route": 10})

    def test_a_neighbor_moves(self):
        running = Running(self.switch(count=20))
        running.call("clock.run", **{"for": "9500ns"})
        running.call("neighbor.replace", neighbors=[{"address": "10.0.1.2", "port": "h2", "mac": "02:00:00:00:00:03"}])
        running.call("clock.run")
        out = running.stop(accounts=True)
        sent = running.switch.sent("h0")
        self.frames_equal(out.frames["h1"], [routed(frame.bytes, 1) for frame in sent[:10]])
        self.frames_equal(out.frames["h2"], [routed(frame.bytes, 2) for frame in sent[10:]])
        self.no_loss(out)

    def test_one_address_behind_several_ports(self):
        running = Running(self.switch(count=20))
        at = lambda port, last: {"address": "169.254.0.1", "port": port, "mac": f"02:00:00:00:00:{last:02}"}
        running.call("neighbor.add", neighbors=[at("h1", 2), at("h2", 3)])
        hop = lambda port, weight=1: {"address": "169.254.0.1", "weight": weight, "port": port}
        running.call("route.add", routes=[{"prefix": "10.7.0.0/16", "via": [hop("h1")]}, {"prefix": "10.8.0.0/16", "via": [hop("h2")]},
                                          {"prefix": "10.9.0.0/16", "via": [hop("h1"), hop("h2", 3)]}])
        listed = {route["prefix"]: route["via"] for route in running.call("route.list")}
        self.assertEqual(listed, {"10.7.0.0/16": [hop("h1")], "10.8.0.0/16": [hop("h2")], "10.9.0.0/16": [hop("h1"), hop("h2", 3)]})
        self.assertEqual([running.call("route.lookup", destination=f"10.{n}.0.1")["port"] for n in (7, 8)], ["h1", "h2"])
        shares = [running.call("route.lookup", destination="10.9.0.1", sport=n)["port"] for n in range(100)]
        self.assertTrue(10 < shares.count("h1") < 40, shares)
        self.assertIn("10.9.0.0/16\n    nexthop via 169.254.0.1 dev h1 weight 1\n    nexthop via 169.254.0.1 dev h2 weight 3\n", running.ctl("route show"))
        # Which one a request means, it says; none goes that a route goes by.
        self.assertIn("at several ports", running.refused("neighbor.delete", neighbors=["169.254.0.1"]).message)
        self.assertIn("169.254.0.1 dev h2", running.refused("neighbor.delete", neighbors=[{"address": "169.254.0.1", "port": "h2"}]).message)
        self.assertIn("dev h0", running.refused("route.add", routes=[{"prefix": "10.6.0.0/16", "via": [hop("h0")]}]).message)
        running.call("neighbor.replace", neighbors=[at("h2", 9)])
        running.call("neighbor.replace", neighbors=[at("h0", 8)])
        known = {entry["port"]: entry["mac"] for entry in running.call("neighbor.list") if entry["address"] == "169.254.0.1"}
        self.assertEqual(known, {"h0": "02:00:00:00:00:08", "h1": "02:00:00:00:00:02", "h2": "02:00:00:00:00:09"})
        # As a file has it, and an event.
        toml = running.call("config.get")["toml"]
        self.assertIn('via = [{address = "169.254.0.1", port = "h1"}, {address = "169.254.0.1", port = "h2", weight = 3}]', toml)
        self.assertEqual(running.call("config.diff", toml=toml), [])
        self.assertEqual(running.call("config.get", path="neighbor.169.254.0.1")["value"].count("; "), 2)
        running.call("command", command="route replace 10.7.0.0/16 via 169.254.0.1 dev h2 weight 2")
        running.ctl("route replace 10.8.0.0/16 dev h1 via 169.254.0.1")
        self.assertEqual([running.call("route.lookup", destination=f"10.{n}.0.1")["port"] for n in (7, 8)], ["h2", "h1"])
        # Without a port it is all of them.
        running.ctl("route replace 10.9.0.0/16 via 169.254.0.1")
        shares = {running.call("route.lookup", destination="10.9.0.1", sport=n)["port"] for n in range(100)}
        self.assertEqual(shares, {"h0", "h1", "h2"})
        running.ctl("neigh delete 169.254.0.1 dev h0")
        shares = {running.call("route.lookup", destination="10.9.0.1", sport=n)["port"] for n in range(100)}
        self.assertEqual(shares, {"h1", "h2"})
        running.stop()

    def test_a_queue_is_held_and_released(self):
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        for _ in range(2):  # the second changes nothing
            running.call("queue.hold", port="h1", queue=3)
        running.call("queue.hold", port="h2", queue=3, hold=False)
        self.assertEqual([event["kind"] for event in running.call("events.list")["events"]], ["queue_held"])
        running.call("clock.run", **{"for": "20us"})
        self.assertEqual(running.call("stats.show", path="ports.h1.queues.3.occupancy_packets"), 20)
        running.call("queue.hold", port="h1", queue=3, hold=False)
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual(len(out.frames["h1"]), 40)
        self.no_loss(out)

    def test_limits_under_traffic(self):
        """Two senders at line rate into one port; the group's limit is moved up and down while it pauses them."""
        switch = self.switch(hosts=3)
        switch.section("buffer", size="4MB")
        for sender in (0, 2):
            switch.give(f"h{sender}", [(n * 120, plain(1500, source=sender, dscp=ROCE)) for n in range(6000)])
        running = Running(switch)
        for number, value in enumerate((-3, 2, -6, 0, -8, -1, 1)):
            running.call("clock.run", **{"for": "50us"})
            done = running.call("config.set", path=f"port.h{number % 2 * 2}.priority_group.3.dynamic_th", value=value)
            self.assertEqual(len(done["changes"]), 1)
            running.ctl("qos show")
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual(len(out.frames["h1"]), 12000)
        self.assertGreater(out.port("h0")["pfc"]["tx_xoff"][3], 0, "nobody was paused: this tries nothing")
        self.no_loss(out)

    def test_unconfirmed_goes_back_by_the_clock_of_the_switch(self):
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        done = running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        self.assertEqual(done["confirm_by_ns"], 19500)
        running.call("clock.run", **{"for": "9us"})
        self.assertEqual(running.call("config.get", path="port.h1.queue.3.wred")["value"], '"all"')
        running.call("clock.run", **{"for": "1us"})  # 19.5 us
        running.wait_for(lambda: running.call("config.get", path="port.h1.queue.3.wred")["value"], lambda value: value != '"all"')
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 10 + [CE] * 10 + [ECT0] * 20)
        self.assertIn((19500, "configuration"), out.events())
        self.assertTrue(any("not confirmed" in event["text"] for event in out.report["events"]))

    def test_a_long_run_does_not_outlast_the_confirmation(self):
        """One clock.run over the moment: the change rolls back then, not when the run is over."""
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 10 + [CE] * 10 + [ECT0] * 20)

    def value(self, running, path="port.h1.queue.3.wred"):
        return running.call("config.get", path=path)["value"]

    def test_a_change_without_confirm_keeps_what_waits(self):
        """As a commit does on a router, and says so."""
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        running.call("config.set", path="port.h2.queue.3.wred", value="all", confirm="10us")
        running.refused("config.set", path="port.h2.queue.3.wred", value="nowhere")
        running.refused("config.set", path="port.h2.speed", value="25G")
        said = running.ctl("set port.h0.microburst 300KB")
        self.assertIn("kept as well: 2 changes", said)
        self.assertIn("nothing waits", running.refused("config.confirm").message)
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 10 + [CE] * 30)
        self.assertTrue(any("confirmed: kept 2 changes" in event["text"] for event in out.report["events"]))

    def test_what_is_applied_again_keeps_it_as_well(self):
        running = Running(self.switch())
        running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        done = running.call("config.apply", toml=running.call("config.get")["toml"])
        self.assertEqual((done["changes"], done["kept"]), ([], 1))
        running.call("clock.run")
        self.assertEqual(self.value(running), '"all"')
        running.stop()

    def test_a_refused_change_keeps_nothing(self):
        running = Running(self.switch())
        running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        running.refused("config.set", path="port.h2.queue.3.wred", value="nowhere")
        running.call("clock.run")
        self.assertNotEqual(self.value(running), '"all"')
        running.stop()

    def test_changes_that_wait_go_back_together(self):
        """The second gives both its time; routes that the first brought go as well, those added beside them stay."""
        running = Running(self.switch())
        running.call("clock.run", **{"for": "9500ns"})
        toml = running.config.read_text()
        more = '\n[port.h1.queue.3]\nwred = "all"\n[[route]]\nprefix = "10.7.0.0/16"\nvia = ["10.0.1.2"]\n'
        running.call("config.apply", toml=toml + more, confirm="10us")
        running.call("clock.run", **{"for": "5us"})
        done = running.call("config.set", path="default.microburst", value="300KB", confirm="10us")
        self.assertEqual((done["confirm_by_ns"], done["waiting"]), (24500, 2))
        self.assertIn("3 changes roll back at 24.5 us", running.ctl("set port.h2.queue.3.wred all --confirm 10us"))
        running.call("clock.run")
        self.assertEqual(running.call("config.diff", toml=toml), [])
        self.assertIn("nothing has been changed", running.refused("config.rollback").message)
        out = running.stop(accounts=True)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [ECT0] * 10 + [CE] * 15 + [ECT0] * 15)
        self.assertTrue(any("not confirmed in time: 3 changes" in event["text"] for event in out.report["events"]))

    def test_rolled_back_while_more_wait(self):
        running = Running(self.switch())
        running.call("config.set", path="port.h1.queue.3.wred", value="all", confirm="10us")
        running.call("config.set", path="port.h2.queue.3.wred", value="all", confirm="20us")
        done = running.call("config.rollback")
        self.assertEqual((done["confirm_by_ns"], done["waiting"]), (20000, 1))
        self.assertEqual(self.value(running), '"all"')
        self.assertEqual(running.call("config.rollback").get("waiting"), None)
        self.assertIn("nothing waits", running.refused("config.confirm").message)
        running.call("clock.run")
        running.stop()

    def test_as_many_may_wait_as_can_go_back(self):
        running = Running(self.switch())
        for number in range(16):
            done = running.call("config.set", path="default.microburst", value=f"{300 + number}KB", confirm="10us")
        self.assertEqual(done["waiting"], 16)
        self.assertIn("16 changes wait", running.refused("config.set", path="default.microburst", value="1MB", confirm="10us").message)
        running.call("clock.run")
        self.assertEqual(running.call("config.diff", toml=running.config.read_text()), [])
        running.stop()

    def test_confirmed_stays(self):
        running = Running(self.switch())
        toml = running.config.read_text() + "\n[port.h1.queue.3]\nwred = \"all\"\n"
        running.call("config.apply", toml=toml, confirm="5us")
        running.call("config.confirm")
        self.assertIn("nothing waits", running.refused("config.confirm").message)
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual([ecn(frame.bytes) for frame in out.frames["h1"]], [CE] * 40)
        self.no_loss(out)

    def test_nothing_changes_when_one_thing_is_wrong(self):
        running = Running(self.switch())
        toml = running.config.read_text()
        before = running.call("config.get"), running.call("config.get"), running.call("qos.show")
        for wrong in ('[port.h1.queue.3]\nwred = "all"\n[pool.small]\ndirection = "ingress"\nsize = "1KB"\n',
                      '[port.h1.queue.3]\nwred = "all"\n[port.h2.queue.3]\nwred = "nowhere"\n',
                      '[port.h1.queue.3]\nwred = "all"\n[[route]]\nprefix = "10.7.0.0/16"\nvia = ["10.0.9.9"]\n'):
            running.refused("config.apply", toml=toml + "\n" + wrong)
        self.assertEqual((running.call("config.get"), running.call("config.get"), running.call("qos.show")), before)
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual({ecn(frame.bytes) for frame in out.frames["h1"]}, {ECT0})


class RealClock(Case):
    """Workers run on; what may not grow once the answer has come, and the queue has no packet from before, stays."""

    def switch(self, frames):
        """An endless input whose sender obeys, so that nothing is lost however slow the machine is, and two outputs that swallow."""
        switch = Switch(self, hosts=1, clock="real", device="net_pcap{n},{rx}infinite_rx=1")
        switch.port("h0", peer="obey")
        switch.give("h0", frames)
        switch.route("10.7.0.0/16", "10.9.1.2")
        switch.section("wred.mine", green_min=1_000_000, green_max=2_000_000)
        switch.section("port.n1.queue.3", wred="mine")
        switch.section("port.n1.queue.0", size=0)
        switch.section("port.h0.priority_group.3", size=0)
        text = switch.text().replace("address = [", "promiscuous = true\naddress = [", 1)
        for n in (1, 2):
            text += (f'\n[port.n{n}]\ndevice = "net_null{n},no-rx=1"\naddress = ["10.9.{n}.1/24"]\n'
                     f'[[neighbor]]\naddress = "10.9.{n}.2"\nport = "n{n}"\nmac = "02:00:00:00:09:0{n}"\n')
        return Running(switch, interactive=False, config=text)

    def test_thresholds_under_the_real_clock(self):
        running = self.switch([(n * US, plain(1000, to="10.7.0.1", dscp=dscp, ecn=ECT0, source=0))
                               for n, dscp in enumerate((ROCE, 0) * 32)])

        def figure(path):
            return running.call("stats.show", path=path)

        def drained():
            for path in ("ports.n1.queues.3", "ports.n1.queues.0"):
                running.wait_for(lambda: figure(path + ".occupancy_packets"), lambda held: held == 0)

        def set_and_see(path, value, grows, stays):
            """After the answer `grows` goes on and `stays` does not."""
            generation = self.generation
            done = running.call("config.set", path=path, value=value)
            self.generation = done["generation"]
            self.assertGreater(self.generation, generation)
            drained()
            at = [figure(path) for path in stays]
            start = figure(grows)
            running.wait_for(lambda: figure(grows), lambda count: count > start + 100)
            self.assertEqual([figure(path) for path in stays], at, path)
        sent, marked = "ports.n1.queues.3.tx_packets", "ports.n1.queues.3.ecn_marked_packets"
        lossy, dropped = "ports.n1.queues.0.tx_packets", "ports.h0.drops.queue_limit"
        running.wait_for(lambda: figure(sent), lambda count: count > 100)
        self.assertEqual(figure(marked), 0)
        for _ in range(3):
            set_and_see("wred.mine.green_min", 0, sent, [])
            set_and_see("wred.mine.green_max", 0, marked, [])
            set_and_see("wred.mine.green_max", 2_000_000, sent, [])
            set_and_see("wred.mine.green_min", 1_000_000, sent, [marked])
            set_and_see("port.n1.queue.0.static_th", 256, dropped, [lossy])
            set_and_see("port.n1.queue.0.static_th", 10_000_000, lossy, [dropped])
            # PFC shows nothing here, for a worker whose peer sends without end falls behind and holds it paused.
            set_and_see("port.h0.priority_group.3.static_th", 256, sent, [])
            set_and_see("port.h0.priority_group.3.static_th", 1_000_000, sent, [])
        report = running.call("stats.show")
        self.assertEqual(report["lossless"], True)
        running.stop()

    generation = 0  # of the last answer

    def test_a_route_under_the_real_clock(self):
        """An endless input, two outputs that swallow: after the answer only the new one grows, once the old queue is empty."""
        running = self.switch([(n * US, plain(1000, to="10.7.0.1", dscp=ROCE, source=0)) for n in range(64)])

        def sent(n):
            return running.call("stats.show", path=f"ports.n{n}.tx.packets")
        running.wait_for(lambda: sent(1), lambda count: count > 100)
        self.assertEqual(sent(2), 0)
        for now, before, address in ((2, 1, "10.9.2.2"), (1, 2, "10.9.1.2")):
            running.call("route.replace", routes=[{"prefix": "10.7.0.0/16", "via": [address]}])
            running.wait_for(lambda: running.call("stats.show", path=f"ports.n{before}.queues.3.occupancy_packets"), lambda held: held == 0)
            at, other = sent(before), sent(now)
            running.wait_for(lambda: sent(now), lambda count: count > other + 100)
            self.assertEqual(sent(before), at, "packets that arrived after the answer took the old route")
        running.call("config.set", path="port.n1.queue.3.wred", value="steep")
        running.ctl("port n2 down")
        running.ctl("wait port n2 down --timeout 60s")
        report = running.call("stats.show")
        self.assertEqual(report["lossless"], True)
        running.stop()


if __name__ == "__main__":
    control.main()
