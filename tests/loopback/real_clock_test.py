#!/usr/bin/python3
"""DPDK's own devices under the real clock. A run ends when what the test waits for has happened, however fast the machine is."""

import os

import loopback
from frames import ethernet, plain, plain6, routed
from loopback import Switch, flow, until

XOFF_3 = ethernet(bytes.fromhex("01010008") + bytes(6) + b"\xff\xff" + bytes(34), 0x8808, source=1, to="01:80:c2:00:00:01")


def received(**ports):
    """Until these ports have received so many frames, and nothing waits inside the switch."""
    return lambda report: report["ledger"]["queued"] == 0 and all(
        report["ports"][name]["rx"]["packets"] >= count for name, count in ports.items())


def told(kind):
    return lambda report: any(event["kind"] == kind for event in report["events"])


class RealClock(loopback.Case):
    def pcap_switch(self, **keys):
        return Switch(self, hosts=3, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", clock="real", **keys)

    def outputs(self, switch):
        """The driver writes microseconds, so the files are read here and not by the harness."""
        return {path.stem: self.read(path) for path in (switch.folder / "out").glob("*.pcap")}

    @staticmethod
    def read(path):
        data, frames, at = path.read_bytes(), [], 24
        while at < len(data):
            captured = int.from_bytes(data[at + 8:at + 12], "little")
            frames.append(data[at + 16:at + 16 + captured])
            at += 16 + captured
        return frames

    def through_files(self, workers):
        switch = self.pcap_switch(workers=workers)
        sent = [maker(size, to=1 + n % 2) for n, (maker, size) in
                enumerate((maker, size) for size in (62, 200, 1500, 3000, 9000) for maker in (plain, plain6) for _ in range(10))]
        bad = [plain(to="192.0.2.1"), plain(ttl=1)]
        switch.give("h0", [(0, frame) for frame in bad + sent])
        switch.give("h1", [(0, plain(source=1, to=2))] * 40)
        out = switch.run(script=until(received(h0=len(bad) + len(sent), h1=40)))
        ledger = out.report["ledger"]
        self.assertEqual(ledger["rx"], len(bad) + len(sent) + 40)
        written = self.outputs(switch)
        self.assertEqual(ledger["tx"], sum(len(frames) for frames in written.values()))
        self.frames_equal(written["h1"], [routed(frame, 1) for n, frame in enumerate(sent) if n % 2 == 0])
        from_h0 = [frame for frame in written["h2"] if frame != routed(plain(source=1, to=2), 2)]
        self.frames_equal(from_h0, [routed(frame, 2) for n, frame in enumerate(sent) if n % 2 == 1])
        self.assertEqual(out.drops("h0"), {"no_route": 1, "ttl_expired": 1})
        self.assertEqual(out.report["clock"], "real")

    def test_files_through_the_driver(self):
        self.through_files(1)

    def test_files_through_two_workers(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.through_files(2)

    def queue_switch(self, **keys):
        """A file for each of two receive queues of h0. Four flows to each of h1 and h2, each in one of the files; a frame's
        flow is its source port, its place there the payload's length."""
        switch = self.pcap_switch(workers=2, **keys)
        switch.port("h0", rx_queues=2)
        flows = {1000 + n: [plain(62 + place, to=1 + n % 2, dscp=26, sport=1000 + n) for place in range(400)] for n in range(8)}
        for queue in (0, 1):
            ours = [flows[1000 + n] for n in range(8) if n % 4 // 2 == queue]
            switch.give(f"h0-{queue}", [(0, frame) for together in zip(*ours) for frame in together])
        inputs = ",".join(f"rx_pcap={switch.inputs[f'h0-{queue}']}" for queue in (0, 1))
        text = switch.text().replace('"net_pcap0,', f'"net_pcap0,{inputs},')
        return switch, text, flows

    def test_a_port_with_two_receive_queues(self):
        """Each polled by a worker of its own: nothing is lost, each flow keeps its order, and counters are sums."""
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        switch, text, flows = self.queue_switch()
        out = switch.run(config=text, script=until(received(h0=3200)))
        port = out.port("h0")
        self.assertEqual([(queue["worker"], queue["packets"]) for queue in port["rx_queues"]], [(0, 1600), (1, 1600)])
        self.assertEqual(port["rx"]["packets"], 3200)
        self.assertEqual(port["rx"]["bytes"], sum(queue["bytes"] for queue in port["rx_queues"]))
        self.assertEqual(port["priority_groups"][3]["packets"], 3200)
        self.assertEqual(port["capabilities"]["receive_spread"], "2 queues by the device itself")
        self.assertEqual((out.drops(), out.report["lossless"]), ({}, True))
        self.assertEqual(out.report["ledger"]["queued"], 0)
        written = self.outputs(switch)
        for sport, frames in flows.items():
            to = 1 + (sport - 1000) % 2
            got = [frame for frame in written[f"h{to}"] if int.from_bytes(frame[34:36], "big") == sport]
            self.frames_equal(got, [routed(frame, to) for frame in frames], f"flow {sport}")

    def test_receive_queues_are_refused_where_nothing_keeps_a_flow_on_one(self):
        """net_ring has 16 rings and no hash."""
        switch = Switch(self, hosts=1, device="net_ring{n}", clock="real")
        switch.port("h0", rx_queues=2)
        switch.refused(1, 'port h0: device "net_ring0": it has no hash by which a flow stays on one receive queue; do: set rx_queues to 1')
        switch.port("h0", rx_queues=16)
        switch.device = "net_pcap{n},rx_iface=lo"
        switch.refused(1, "port h0: ", "it has 1 receive queue; do: set rx_queues to 1")

    def test_null_devices_flood_every_queue(self):
        """One worker polls all: what it receives for itself takes the same way. Buffers in which we sent a pause come back as
        they are, so there are MAC control frames in every queue."""
        switch = Switch(self, hosts=1, device="net_null{n}", clock="real")
        switch.port("h0", rx_queues=3)
        out = switch.run(script=until(
            lambda report: all(queue["packets"] > 0 for queue in report["ports"]["h0"]["rx_queues"])))
        port = out.port("h0")
        self.assertGreater(min(queue["packets"] for queue in port["rx_queues"]), 0)
        self.assertEqual(sum(queue["packets"] for queue in port["rx_queues"]), port["rx"]["packets"])
        ledger = out.report["ledger"]
        self.assertEqual(out.drops(), {"not_ip": ledger["rx"] - ledger["consumed"]})
        self.assertIn("3 queues by RSS of ", port["capabilities"]["receive_spread"])

    def test_a_ring_returns_what_it_is_given(self):
        """A frame out of h1 comes in again and is routed there again, until its TTL has run out."""
        switch = Switch(self, hosts=1, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", clock="real")
        switch.route("10.7.0.0/16", "10.0.9.2")
        switch.give("h0", [(0, plain(to="10.7.0.1", ttl=6))] * 50)
        ring = ('[port.ring]\ndevice = "net_ring9"\npromiscuous = true\naddress = ["10.0.9.1/24"]\n'
                '[[neighbor]]\naddress = "10.0.9.2"\nport = "ring"\nmac = "02:00:00:00:00:99"\n')
        out = switch.run(config=switch.text() + "\n" + ring, script=until(lambda report: report["ledger"]["dropped"] == 50))
        ledger = out.report["ledger"]
        ring = out.port("ring")
        self.assertEqual((ring["rx"]["packets"], ring["tx"]["packets"]), (50 * 5, 50 * 5))
        self.assertEqual(ledger["rx"], 50 * 6)
        self.assertEqual(out.drops(), {"ttl_expired": 50})

    def test_an_idle_worker_sleeps_and_wakes(self):
        """Counted in turns: one that sleeps 5 ms after 256 idle ones has few, however slow the machine. All frames are forwarded."""
        def slept_at_most(report):
            """Turns of a worker that slept whenever it might: 256 idle ones before its first sleep, and after each busy one."""
            busy = report["workers"][0]["busy_turns"]
            return busy + 256 * (1 + busy) + report["end_ns"] // 5_000_000 + 1

        sent = [plain(200)] * 50
        for sleep, enough in ("5ms", lambda report: report["workers"][0]["turns"] > 400), ("0", lambda report: (
                report["workers"][0]["turns"] > slept_at_most(report))):
            switch = self.pcap_switch(idle_sleep=sleep, turn_max="10ms")
            switch.default(qos="lossy")  # no headroom holds what comes in 10 ms
            switch.give("h0", [(0, frame) for frame in sent])
            out = switch.run(script=until(lambda report, enough=enough: report["ledger"]["tx"] == len(sent) and enough(report)))
            self.frames_equal(self.outputs(switch)["h1"], [routed(frame, 1) for frame in sent])
            if sleep != "0":
                self.assertLessEqual(out.report["workers"][0]["turns"], slept_at_most(out.report))

    def test_null_devices_flood(self):
        """net_null makes 64 bytes of zeros for ever: every one is dropped for its reason."""
        switch = Switch(self, hosts=2, device="net_null{n}", clock="real")
        out = switch.run(script=until(lambda report: report["ledger"]["dropped"] > 1000))
        self.assertEqual(out.drops(), {"not_ip": out.report["ledger"]["dropped"]})
        self.assertEqual(sum(queue["tx_packets"] for n in (0, 1) for queue in out.port(f"h{n}")["queues"]), 0)
        can = out.port("h0")["capabilities"]
        self.assertEqual((can["driver"], can["pfc_tx"], can["receive_ring"], can["paced"]), ("net_null", "software", 512, True))
        self.assertNotIn("physical", out.port("h0"))

    def test_infinite_input_is_switched_until_the_end(self):
        """Faster in than out: a queue is full, and still every frame is in the ledger and every buffer comes back."""
        switch = Switch(self, hosts=3, device="net_pcap{n},{rx}infinite_rx=1", clock="real")
        switch.recipe(*(flow("roce", f"h{n}", "h2", size="random 60..1500", count=500) for n in range(2)))
        text = switch.text().replace("net_pcap2,infinite_rx=1", "net_null2,no-rx=1")
        text = text.replace("[port.h2]", '[port.h2]\nspeed = "1G"')
        out = switch.run(config=text, script=until(lambda report: report["ledger"]["dropped"] > 100))
        self.assertLessEqual(set(out.drops()), {"headroom_overrun"})  # who reads a file obeys no pause

    def blocked(self, peer, blocks):
        """Two hosts send without end to a third, which gets nothing until `blocks` of the report."""
        switch = Switch(self, hosts=3, device="net_pcap{n},{rx}infinite_rx=1", clock="real")
        switch.recipe(*(flow("roce", f"h{n}", "h2", size="random 60..1500", count=500) for n in range(2)))
        switch.event("0ms", "queue h2.3 hold")
        for name in ("h0", "h1"):
            switch.port(name, **peer)
        text = switch.text().replace("net_pcap2,infinite_rx=1", "net_null2,no-rx=1")

        def script(client):
            client.until(blocks)
            client.call("queue.hold", port="h2", queue=3, hold=False)
            client.until(lambda report: report["ports"]["h2"]["tx"]["packets"] > 0 and (
                "peer" not in peer or peer["peer"] != "obey" or all(
                    report["ports"][name]["pfc"]["tx_xon"][3] > 0 for name in ("h0", "h1"))))

        return switch.run(config=text, script=script)

    @staticmethod
    def pauses_both(report):
        return all(report["ports"][name]["pfc"]["tx_xoff"][3] > 0 and report["ports"][name]["held_ns"] > 0 for name in ("h0", "h1"))

    @staticmethod
    def overruns(report):
        return any("headroom_overrun" in port["drops"] for port in report["ports"].values())

    def test_a_sender_that_obeys_loses_nothing(self):
        out = self.blocked({"peer": "obey"}, self.pauses_both)
        self.assertEqual((out.drops(), out.report["lossless"]), ({}, True))
        for name in ("h0", "h1"):
            port = out.port(name)
            self.assertEqual(port["pfc_peer"], "obeys")
            self.assertGreater(port["pfc"]["tx_xoff"][3], 0)
            self.assertGreater(port["pfc"]["tx_xon"][3], 0)
            self.assertGreater(port["held_ns"], 0)
            self.assertEqual(port["fell_behind"], 0)
        self.assertGreater(out.port("h2")["tx"]["packets"], 0)
        self.assertEqual((out.port("h2")["pfc_peer"], out.port("h2")["held_ns"]), ("unknown", 0))

    def test_a_sender_that_does_not_is_named(self):
        for peer, said in ({"peer": "ignore"}, "ignores"), ({}, "unknown"):
            out = self.blocked(peer, self.overruns)
            self.assertLessEqual(set(out.drops()), {"headroom_overrun"})
            self.assertGreater(out.drops()["headroom_overrun"], 0)
            self.assertEqual((out.port("h0")["pfc_peer"], out.port("h0")["held_ns"]), (said, 0))
            self.assertEqual("not promised by the peer of h0" in out.report["verdict"]["reasons"], said == "ignores")

    def test_pauses_are_obeyed_and_sent_in_some_turn(self):
        """Only what the accounts have to do with each other: no time is asserted."""
        worker, = self.blocked({"peer": "obey"}, self.pauses_both).report["workers"]
        self.assertGreater(worker["xoffs_sent"], 0)
        self.assertEqual(worker["pauses_obeyed"], 0)
        for took in (worker["busy_turn_ns"], worker["xoff_sent_ns"]):
            self.assertEqual(sorted(took.values()), [took[which] for which in ("p50", "p99", "p999", "max")])
            self.assertLessEqual(took["max"], worker["longest_turn_ns"])

    def test_a_pause_of_the_first_burst_is_obeyed_within_a_turn(self):
        """A device that takes all frames at once leaves none to wait for. It is counted by a turn's end, which may come late."""
        switch = Switch(self, hosts=2, device="net_pcap{n},{rx}infinite_rx=1", clock="real")
        switch.give("h0", [(0, plain(to=1))] * 64)
        switch.give("h1", [(0, XOFF_3)] * 64)
        worker, = switch.run(script=until(lambda report: report["workers"][0]["pauses_obeyed"] == 1)).report["workers"]
        self.assertEqual(worker["pauses_obeyed"], 1)
        self.assertLessEqual(worker["pause_obeyed_ns"]["max"], worker["longest_turn_ns"])

    def test_the_watchdog_polls(self):
        """A peer that floods XOFF: its queue is given up, nobody else notices. While it stops, a switch hears no XOFF; on a busy
        machine that can last, so the storm may not end by itself."""
        switch = Switch(self, hosts=3, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", clock="real")
        switch.give("h0", [(0, plain(to=1 + n % 2, dscp=26)) for n in range(4000)])
        switch.give("h1", [(0, XOFF_3)] * 64)
        switch.port("h1", speed="1G")  # a pause outlasts the time that a busy machine takes from the worker
        text = switch.text().replace(f"tx_pcap={switch.folder}/out/h1.pcap", "infinite_rx=1")
        out = switch.run(config=text + '\n[watchdog]\ndetection = "100ms"\npoll = "10ms"\nrestoration = "60s"\n', script=until(
            lambda report: report["ledger"]["queued"] == 0 and any(entry["total_dropped"] > 0 for entry in report["watchdog"])))
        entry, = (entry for entry in out.report["watchdog"] if entry["port"] == "h1")
        self.assertEqual((entry["state"], entry["detected"], entry["restored"]), ("stormed", 1, 0))
        self.assertGreater(entry["total_dropped"], 0)
        self.assertEqual(out.drops(), {"watchdog_drop": entry["total_dropped"]})
        self.assertIn("watchdog_detected", [kind for _, kind in out.events()])

    def test_a_turn_longer_than_headroom_reckons_with_is_told_once(self):
        """Nobody can parse, queue and write 32 frames in a microsecond."""
        switch = self.pcap_switch(turn_max="1us")
        switch.give("h0", [(0, plain(to=1, dscp=26)) for _ in range(400)])
        out = switch.run(script=until(told("long_turn")))
        text, = (event["text"] for event in out.report["events"] if event["kind"] == "long_turn")
        self.assertIn("worker 0: a turn took longer than turn_max, 1us, by which headroom is reckoned", text)
        self.assertGreater(out.report["workers"][0]["longest_turn_ns"], 1000)

    def test_events_and_links(self):
        switch = self.pcap_switch()
        switch.event("50ms", "port h1 down")
        switch.event("100ms", "port h1 up")
        switch.event("150ms", "queue h1.3 hold")
        out = switch.run(script=until(told("queue_held")))
        self.assertEqual([kind for _, kind in out.events() if kind != "long_turn"], ["port_down", "port_up", "queue_held"])
        self.assertEqual(out.port("h1")["flaps"], 1)
        self.assertTrue(out.port("h1")["link_up"])


if __name__ == "__main__":
    loopback.main()
