#!/usr/bin/python3
"""The verdict: what was lossless, what was lost, why, and what the user may have meant otherwise."""

import subprocess

import loopback
from frames import ethernet, ipv4, plain, udp
from loopback import Switch, flow, run
from waiting import PATIENCE_S

ROCE = 26
US = 1000
WARNING = "WARNING: "


def roce(**keys):
    """A RoCEv2 frame: UDP 4791 with a whole BTH."""
    return ethernet(ipv4(udp(bytes(16), dport=4791), **keys), 0x0800)


class Verdict(loopback.Case):
    def switch(self, frames, **keys):
        switch = Switch(self, hosts=2, **keys)
        switch.give("h0", [(n * US, frame) for n, frame in enumerate(frames)])
        return switch

    def verdict(self, out, **wanted):
        verdict = dict(out.report["verdict"])
        for key, value in wanted.items():
            self.assertEqual(verdict[key], value, key)
        self.assertIs(out.report["lossless"], verdict["reasons"] == [])
        self.assertIs(verdict["interrupted"], False)
        return verdict

    def test_a_run_that_lost_nothing(self):
        out = self.switch([plain(dscp=ROCE)] * 5 + [plain()]).run()
        self.verdict(out, lossless=True, lossless_packets=5, lost_packets=0, reasons=[])
        self.assertIn("lossless: yes, 0 of 5 lossless packets lost\n", out.stdout)

    def test_a_run_that_lost_some(self):
        out = self.switch([plain(dscp=ROCE), plain(dscp=ROCE, to="192.0.2.1"), plain(to="192.0.2.1")]).run()
        reason = "1 lossless packet that came in on h0 was dropped: no_route"
        self.verdict(out, lossless=False, lossless_packets=2, lost_packets=1, reasons=[reason])
        self.assertIn(f"NOT lossless: 1 of 2 lossless packets lost\n  {reason}\n", out.stdout)

    def test_a_run_without_a_lossless_packet_is_no_yes(self):
        out = self.switch([plain()] * 5).run()
        self.verdict(out, lossless=None, lossless_packets=0, lost_packets=0, reasons=[])
        self.assertIn("nothing was lossless", out.stdout)
        self.assertNotIn("lossless: yes", out.stdout)
        switch = self.switch([plain(dscp=ROCE)] * 5)
        switch.default(qos="lossy")
        self.verdict(switch.run(), lossless=None, lossless_packets=0)

    def test_a_promise_that_is_broken_is_a_reason_though_nothing_was_lost(self):
        switch = self.switch([plain(dscp=ROCE)])
        switch.port("h0", peer="ignore")
        self.verdict(switch.run(), lossless=False, lossless_packets=1, lost_packets=0,
                     reasons=["not promised by the peer of h0"])

    def test_frames_that_the_receive_ring_missed_are_a_reason(self):
        switch = self.switch([plain()])
        switch.give("h0", [(n, plain(dscp=ROCE, identification=n)) for n in range(200)])
        switch.section("virtual", turn="50us", rx_ring=32)
        out = switch.run(**{"buffer.size": "12MB"})  # whose headroom such a turn enlarges
        missed = out.port("h0")["imissed"]
        self.assertGreater(missed, 0)
        self.verdict(out, lossless=False, lost_packets=0,
                     reasons=[f"{missed} frames of unknown class were missed by the receive ring of h0"])
        self.assertEqual((out.report["verdict"]["missed_packets"], out.port("h0")["missed_packets"]), (missed, missed))
        self.assertIn(f"NOT lossless: {missed} frames lost before they were classified\n", out.stdout)
        self.assertRegex(out.stdout, rf"(?m)^port .* missed +dropped  why$\n^h0 .* {missed} +0  ring_overrun {missed}$")

    def test_ports_and_workers_are_summed(self):
        for workers in (1, 2, 3):
            switch = Switch(self, hosts=3, workers=workers)
            for n in range(3):
                switch.give(f"h{n}", [(k * US, plain(source=n, to=(n + 1) % 3, dscp=ROCE)) for k in range(10 + n)])
            self.verdict(switch.run(), lossless=True, lossless_packets=33)


class Warnings(loopback.Case):
    def warnings(self, out, port="h0"):
        """They are in the report, and on the screen below the verdict."""
        found = out.port(port)["warnings"]
        self.assertEqual([line[len(WARNING):] for line in out.stdout.splitlines()[2:] if line.startswith(WARNING)], found)
        return found

    def test_roce_in_a_lossy_class_names_the_key_that_mends_it(self):
        cases = (({}, "map.default.roce_tc", 3), ({"qos": "sonic-t0"}, "map.default.roce_tc", 3), ({"pfc": [4]}, "map.default.roce_tc", 4),
                 ({"map": "mine"}, "map.mine.roce_tc", 3))
        for keys, key, value in cases:
            with self.subTest(keys=keys):
                switch = Switch(self, hosts=2)
                switch.port("h0", **keys)
                if "map" in keys:
                    switch.section("map.mine", cnp_tc=5)
                switch.give("h0", [(n * US, roce(identification=n)) for n in range(7)])
                out = switch.run()
                self.assertEqual(out.port("h0")["lossy_roce_packets"], 7)
                self.assertEqual(self.warnings(out), [f"port h0: 7 RoCEv2 packets came in a class that is not lossless; do: set {key} = {value}"])
                # A user who follows the advice gets no such line.
                table, name = key.rsplit(".", 1)
                switch.section(table, **switch.sections.get(table, {}), **{name: value})
                out = switch.run()
                self.assertEqual((self.warnings(out), out.port("h0")["lossy_roce_packets"]), ([], 0))
                self.assertEqual(out.report["verdict"]["lossless_packets"], 7)
                self.assertIs(out.report["verdict"]["lossless"], True)

    def test_where_no_class_is_lossless_it_names_the_preset(self):
        switch = Switch(self, hosts=2)
        switch.default(qos="lossy")
        switch.give("h0", [(0, roce(dscp=ROCE))])
        self.assertEqual(self.warnings(switch.run()),
                         ['port h0: 1 RoCEv2 packet came in a class that is not lossless; do: set port.h0.qos = "lossless"'])
        switch.port("h0", qos="lossless")
        self.assertEqual(self.warnings(switch.run()), [])

    def test_roce_in_its_class_and_cnps_are_no_news(self):
        switch = Switch(self, hosts=2)
        switch.recipe(flow("roce", count=20), flow("cnp", sender="h1", to="h0", count=5))
        out = switch.run()
        self.assertEqual((self.warnings(out), out.port("h1")["cnp_packets"]), ([], 5))

    def test_frames_for_another_mac_name_it_and_the_ports(self):
        switch = Switch(self, hosts=2)
        switch.section("decisions", record="on", verdict=["dropped"])
        strange = [ethernet(ipv4(udp()), 0x0800, to=f"02:de:ad:be:ef:0{n}") for n in range(3)]
        switch.give("h0", [(n * US, frame) for n, frame in enumerate([plain(), *strange])])
        for workers in (1, 2):
            out = switch.run(workers=workers)
            self.assertEqual(self.warnings(out), [
                "port h0: 3 frames were not for the port's MAC 02:00:00:00:ff:01, the first was for 02:de:ad:be:ef:00; "
                "do: send to 02:00:00:00:ff:01, or set port.h0.mac, or port.h0.promiscuous = true"])
            self.assertEqual(out.port("h0")["mac"], "02:00:00:00:ff:01")
            self.assertEqual([entry["sentence"] for entry in out.report["decisions"]["why"]],
                             ["destination MAC is 02:de:ad:be:ef:00, the port's is 02:00:00:00:ff:01"])


class Smallest(loopback.Case):
    """The smallest configuration works with the traffic that goes with it, as it stands there."""

    def test_it_forwards_what_the_generator_makes(self):
        conf = loopback.ROOT / "conf"
        folder = Switch(self, hosts=0).folder
        made = run([loopback.Programs.traffic, "generate", conf / "smallest-traffic.toml", "--out", folder])
        self.assertEqual(made.returncode, 0, made.stderr)
        done = subprocess.run([loopback.Programs.sluiced, "--config", conf / "smallest.toml", "--report", folder / "report.json",
                               "--assert", "verdict.lossless", "--assert", "ledger dropped eq 0"],
                              cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for n in range(2):
            sent, came = (loopback.read_pcap(folder / f"{name}.pcap") for name in (f"in{n}", f"out{1 - n}"))
            self.assertGreater(len(sent), 100)
            self.assertEqual(len(sent), len(came))

    def test_a_check_shows_the_macs(self):
        switch = Switch(self, hosts=2)
        switch.ports["h1"].pop("mac")
        (switch.folder / "sluice.toml").write_text(switch.text())
        done = run([loopback.Programs.sluiced, "--config", switch.folder / "sluice.toml", "--check"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\nh0 +02:00:00:00:ff:01\nh1 +02:53:4c:00:00:01\n")
        switch.give("h0", [(0, plain())])
        self.assertEqual(switch.run().port("h1")["mac"], "02:53:4c:00:00:01")


if __name__ == "__main__":
    loopback.main()
