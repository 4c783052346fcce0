#!/usr/bin/python3
"""A worker's turns ask for no memory, give none back and make no system call, whatever comes and whatever changes.

The trap is packet_path_trap.cc, preloaded; it ends the process with a backtrace. Devices are those of DPDK that need none
either: captures that are repeated from memory, and net_null.
"""

import os

import control
from control import Case, Running, Switch
from frames import ethernet, ipv4, plain, plain6, udp

TRAP = os.environ.get("SLUICE_TRAP", "")
ROCE = 26  # DSCP of the lossless class


def pause(quanta):
    """PFC for class 3."""
    return ethernet(bytes.fromhex("01010008") + bytes(6) + quanta.to_bytes(2, "big") + bytes(34), 0x8808, to="01:80:c2:00:00:01")


class PacketPath(Case):
    def start(self, workers):
        switch = Switch(self, hosts=2, clock="real", workers=workers, device="net_pcap{n},{rx}infinite_rx=1")
        switch.section("decisions", record="ready")
        switch.section("watchdog", detection="100ms", poll="10ms")
        switch.section("mirror.all", on=["drop", "delay", "pause"], delay="1us", file=str(switch.folder / "mirror.pcapng"))
        switch.section("mirror.far", on=["drop", "delay", "pause"], delay="1us", collector="10.9.2.2", rate=100_000)
        switch.port("h0", peer="obey")  # the other one goes on, whatever is held
        for n in range(2):
            usual = [plain(60 + 37 * k, source=n, to=f"10.7.0.{k + 1}", dscp=dscp, ecn=ecn)
                     for k, (dscp, ecn) in enumerate((dscp, ecn) for dscp in (ROCE, 0, 8, ROCE) for ecn in (0, 1, 2, 3))]
            usual += [plain6(100, source=n, to=f"2001:db8:{1 - n}::2"), plain(200, source=n, to=1 - n, tags=((0x8100, 7),)),
                      plain(90, source=n, to=1 - n, dscp=48), plain(1514, source=n, to="10.7.0.9", dscp=ROCE)]
            bad = [plain(ttl=1, source=n), plain(to="192.0.2.1", source=n), ethernet(b"", 0x0806, source=n),
                   ethernet(ipv4(udp()), 0x0800, source=n, to="01:00:5e:00:00:01")]
            switch.give(f"h{n}", [(0, frame) for frame in (usual + bad) * 4 + [pause(200), *usual, pause(0), *usual]])
        switch.route("10.7.0.0/16", "10.9.1.2", "10.9.2.2")
        text = switch.text()
        for n in (1, 2):  # one is too slow for all of it
            text += (f'\n[port.n{n}]\ndevice = "net_null{n},no-rx=1"\naddress = ["10.9.{n}.1/24"]\nspeed = "{(1, 100)[n - 1]}G"\n'
                     f'[[neighbor]]\naddress = "10.9.{n}.2"\nport = "n{n}"\nmac = "02:00:00:00:09:0{n}"\n')
        return Running(switch, interactive=False, config=text, environment={"LD_PRELOAD": TRAP})

    def quiet(self, workers):
        running = self.start(workers)

        def goes_on():
            self.assertIsNone(running.process.poll(), running.said())
            at = running.call("stats.show", path="ledger")
            running.wait_for(lambda: running.call("stats.show", path="ledger"),
                             lambda now: now["rx"] > at["rx"] + 5000 and now["tx"] > at["tx"] + 500)
        goes_on()
        for line in ("worker meter on", "set default.queue.3.wred steep", "decisions on port h0", "decisions off", "worker meter off",
                     "queue hold n2.3", "queue release n2.3", "port n1 down", "port n1 up", "route replace 10.7.0.0/16 via 10.9.2.2",
                     "route replace 10.7.0.0/16 via 10.9.2.2 weight 3 via 10.9.1.2", "watchdog stop n1", "watchdog start n1",
                     "watchdog big-red-switch on", "watchdog big-red-switch off", "watermark clear", "port h0 down", "port h0 up",
                     "set port.n1.queue.0.weight 9", "set --watch 5ms default.queue.3.wred=sonic port.n1.queue.0.weight=3",
                     "unset default.queue.3 port.n1.queue.0", "queue show over 1ms"):
            running.ctl(line)
            goes_on()
        report = running.call("stats.show")
        self.assertGreater(report["ledger"]["consumed"], 0)
        self.assertGreater(report["mirrors"]["all"]["mirrored_packets"], 0)
        self.assertGreater(report["ports"]["n2"]["mirrored_packets"], 0)
        self.assertGreater(report["ports"]["h0"]["held_ns"], 0)
        self.assertGreater(sum(worker["pauses_obeyed"] for worker in report["workers"]), 0)
        self.assertGreater(sum(report["ports"]["h0"]["pfc"]["tx_xoff"]), 0)
        self.assertGreater(sum(queue["ecn_marked_packets"] for queue in report["ports"]["n1"]["queues"]), 0)
        running.process.terminate()
        running.process.wait(control.PATIENCE_S)
        self.assertEqual(running.process.returncode, 0, running.said())
        self.assertEqual(running.said().count("packet path trap: armed\n"), workers, running.said())
        self.assertEqual(running.said().count("packet path trap: nothing was caught"), workers)

    def test_one_worker(self):
        self.quiet(1)

    def test_two_workers(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        self.quiet(2)

    def test_a_wire_and_all_that_its_rules_do(self):
        switch = Switch(self, hosts=0, clock="real", device="net_pcap{n},{rx}infinite_rx=1")
        for name in ("h0", "h1"):
            switch.ports[name] = {}
            switch.give(name, [(0, plain(200 + 13 * n, dport=4791, dscp=ROCE if n % 2 else 0, ecn=2)) for n in range(40)])
        switch.section("wire.w", ports=["h0", "h1"])
        actions = {"drop": "", "mark-ce": "", "corrupt": "", "delay": "time 20us", "reorder": "frames 3", "duplicate": "", "cnp": "sender_qp 7"}
        running = Running(switch, interactive=False, environment={"LD_PRELOAD": TRAP})
        for action, keys in actions.items():
            running.ctl(f"wire add w {action} do {action} probability 5% {keys}")
        running.wait_for(lambda: running.call("stats.show", path="wires.w"),
                         lambda wire: all(rule[way]["acted_packets"] > 50 for rule in wire["rules"].values() for way in ("forward", "backward")))
        for action in actions:
            running.ctl(f"wire remove w {action}")
        running.process.terminate()
        running.process.wait(control.PATIENCE_S)
        self.assertEqual(running.process.returncode, 0, running.said())
        self.assertIn("packet path trap: nothing was caught", running.said())

    def test_the_trap_works(self):
        for prove, words in (("memory", "trap: malloc 1"), ("call", "trap: system call")):
            with self.subTest(prove=prove):
                switch = Switch(self, hosts=1, clock="real", device="net_null{n},no-rx=1")
                out = switch.run("--duration", "10s", environment={"LD_PRELOAD": TRAP, "SLUICE_TRAP_PROVE": prove}, status=-6)
                self.assertIn(words, out.stderr)
                self.assertIn("sluiced", out.stderr)


if __name__ == "__main__":
    control.main()
