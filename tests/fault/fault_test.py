#!/usr/bin/python3
"""Faults injected on a port's link do exactly what they say, the same each time, and the report says what they break.

    fault_test.py SLUICED SLUICE_TRAFFIC        the last line is `N passed, N failed`
"""

import struct
import sys

import support
from support import flow, incast, pfc_of

PAUSE_NS = 65535 * 512 / 100  # of 65535 quanta at 100 Gb/s


def fault(port, **keys):
    lines = [f"\n[port.{port}.fault]"] + [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class Refused(support.FaultTest):
    def refused(self, text, rest="", events="", top=""):
        self.make(flow(count=1))
        result = self.start({"rest": rest + events, "top": top})
        self.assertEqual(result.exit, 2)
        self.assertIn(text, result.errors)

    def test_real_clock(self):
        self.refused("faults are injected under the virtual clock only", fault("h1", drop_every=2), top='clock = "real"\n')

    def test_real_clock_command(self):
        self.refused("faults are injected under the virtual clock only", top='clock = "real"\n',
                     events='[[event]]\nat = "1us"\ndo = "fault h1 clear"\n')

    def test_more_than_always(self):
        self.refused("is more than 100%", fault("h1", drop_chance='"101%"'))

    def test_no_chance_without_a_unit(self):
        self.refused("is not a string", fault("h1", drop_chance=1))

    def test_unknown_key(self):
        self.refused("drop_evry", fault("h1", drop_evry=2))

    def test_unknown_key_in_a_command(self):
        self.refused("is not a fault; known: drop_every", events='[[event]]\nat = "1us"\ndo = "fault h1 drop_evry 2"\n')

    def test_bad_value_in_a_command(self):
        self.refused("delay: ", events='[[event]]\nat = "1us"\ndo = "fault h1 delay 5"\n')

    def test_command_without_value(self):
        self.refused("wanted: fault PORT KEY VALUE", events='[[event]]\nat = "1us"\ndo = "fault h1 delay"\n')

    def test_command_for_no_port(self):
        self.refused('no port "h9"', events='[[event]]\nat = "1us"\ndo = "fault h9 clear"\n')


class ReceivePath(support.FaultTest):
    def test_without_a_fault_nothing_is_said_of_faults(self):
        self.make(flow(count=100))
        result = self.run_switch()
        self.assertNotIn("faults", result.port("h1"))
        self.assert_promises(result)

    def test_drops_every_nth(self):
        self.make(flow(count=1000))
        result = self.run_switch(fault("h1", drop_every=7))
        self.assertEqual(result.faults("h1")["dropped"], 142)
        self.assertEqual(result.port("h1")["rx"]["packets"], 858)
        self.assertEqual(len(result.data("h3")), 858)
        self.assertNotIn("faults", result.port("h2"))
        kept = [frame[42:] for i, (_, frame) in enumerate(self.sent["h1"], 1) if i % 7]
        self.assertEqual([frame[42:] for _, frame in result.data("h3")], kept)
        self.assert_promises(result)

    def test_drops_by_chance(self):
        self.make(flow(count=4000))
        result = self.run_switch(fault("h1", drop_chance='"10%"'))
        self.assertTrue(330 < result.faults("h1")["dropped"] < 470)
        self.assertEqual(result.port("h1")["rx"]["packets"] + result.faults("h1")["dropped"], 4000)
        other = self.start({"rest": fault("h1", drop_chance='"10%"')}, arguments=("--seed", "6"))
        self.assertNotEqual(result.bytes, other.bytes)

    def test_drops_all(self):
        self.make(flow(count=100))
        result = self.run_switch(fault("h1", drop_chance='"100%"'))
        self.assertEqual(result.report["ledger"]["rx"], 0)

    def test_corrupts_one_bit(self):
        self.make(flow(count=2000))
        result = self.run_switch(fault("h1", corrupt_chance='"5%"'))
        corrupted = result.faults("h1")["corrupted"]
        self.assertTrue(60 < corrupted < 140)
        refused = sum(result.port("h1")["drops"].values())
        sent = {frame[34:] for _, frame in self.sent["h1"]}
        wrong = [frame[34:] for _, frame in result.data("h3") if frame[34:] not in sent]
        for got in wrong:  # in one bit from its original, so in one byte from exactly one that was sent
            self.assertIn(1, [(int.from_bytes(got, "big") ^ int.from_bytes(was, "big")).bit_count() for was in sent if len(was) == len(got)])
        self.assertEqual(len(wrong) + refused, corrupted)
        self.assertEqual(len(result.data("h3")) + refused, 2000)
        self.assert_promises(result)

    def test_delays_in_order(self):
        self.make(flow(count=500))
        plain, late = self.run_switch(), self.run_switch(fault("h1", delay='"5us"'))
        self.assertEqual([at + 5000 for at, _ in plain.data("h3")], [at for at, _ in late.data("h3")])
        self.assertEqual([frame for _, frame in plain.data("h3")], [frame for _, frame in late.data("h3")])
        self.assertEqual(late.faults("h1")["delayed"], 500)
        self.assert_breaks(late, "h1", "delay")

    def test_a_delay_that_gets_shorter_keeps_the_order(self):
        self.make(flow(count=500))
        plain = self.run_switch()
        late = self.run_switch(fault("h1", delay='"20us"'), events=[("30us", "fault h1 delay 1us")])
        self.assertEqual([frame for _, frame in plain.data("h3")], [frame for _, frame in late.data("h3")])
        self.assertEqual(late.report["events"][-1]["text"], "fault on port h1: delay 1us")

    def test_duplicates(self):
        self.make(flow(count=1000, rate='"20G"'))
        result = self.run_switch(fault("h1", duplicate_chance='"100%"'))
        self.assertEqual(result.port("h1")["rx"]["packets"], 2000)
        self.assertEqual(result.faults("h1")["duplicated"], 1000)
        got = [frame for _, frame in result.data("h3")]
        self.assertEqual(got[::2], got[1::2])
        self.assert_breaks(result, "h1", "duplicate_chance")

    def test_a_frame_without_bytes(self):
        self.make(flow(count=1))
        with open(self.folder / "in" / "h1.pcap", "ab") as capture:
            capture.write(struct.pack("<IIII", 1, 0, 0, 0))
        result = self.run_switch(fault("h1", delay='"1us"'))
        self.assertEqual((len(result.data("h3")), sum(result.port("h1")["drops"].values())), (1, 1))

    def test_a_link_that_goes_down_loses_what_is_under_way(self):
        self.make(flow(count=1000, rate='"50G"'))
        result = self.run_switch(fault("h1", delay='"5us"'), events=[("40us", "port h1 down"), ("60us", "port h1 up")])
        port = result.port("h1")
        self.assertGreater(port["lost_on_wire_packets"], 20 * 50e3 / 8 / 1106 * 0.9)
        self.assertEqual(port["rx"]["packets"] + port["lost_on_wire_packets"], 1000)


class OurPfc(support.FaultTest):
    def test_the_incast_is_lossless_without_a_fault(self):
        self.make(incast())
        result = self.run_switch()
        self.assert_promises(result)
        self.assertGreater(result.port("h1")["pfc"]["tx_xoff"][3], 1)
        self.assertEqual(len(result.data("h3")), sum(len(self.sent[h]) for h in ("h1", "h2")))

    def test_lost(self):
        self.make(incast())
        result = self.run_switch(fault("h1", pfc_lose_chance='"100%"'))
        pfc = result.port("h1")["pfc"]
        self.assertEqual(result.faults("h1")["pfc_lost"], pfc["tx_xoff"][3] + pfc["tx_xon"][3])
        self.assertEqual(pfc_of(result.out["h1"]), [])
        self.assertNotEqual(pfc_of(result.out["h2"]), [])
        self.assert_headroom_overrun(result, "h1")
        self.assertNotIn("headroom_overrun", result.port("h2")["drops"])
        self.assert_breaks(result, "h1", "pfc_lose_chance")

    def test_every_second_lost(self):
        self.make(incast())
        result = self.run_switch(fault("h1", pfc_lose_every=2))
        pfc = result.port("h1")["pfc"]
        sent = pfc["tx_xoff"][3] + pfc["tx_xon"][3]
        self.assertEqual(result.faults("h1")["pfc_lost"], sent // 2)
        self.assertEqual(len(pfc_of(result.out["h1"])), sent - sent // 2)
        self.assert_breaks(result, "h1", "pfc_lose_every")

    def test_late(self):
        self.make(incast())
        plain, late = self.run_switch(), self.run_switch(fault("h1", pfc_delay='"200us"'))
        self.assertEqual(pfc_of(late.out["h1"])[0][0], pfc_of(plain.out["h1"])[0][0] + 200_000)
        times = [at for at, _ in late.out["h1"]]
        self.assertEqual(times, sorted(times))
        self.assertEqual(late.faults("h1")["pfc_delayed"], len(pfc_of(late.out["h1"])))
        self.assert_headroom_overrun(late, "h1")
        self.assert_breaks(late, "h1", "pfc_delay")

    def test_twice_does_no_harm(self):
        self.make(incast())
        result = self.run_switch(fault("h1", pfc_duplicate_chance='"100%"'))
        pfc = result.port("h1")["pfc"]
        sent = pfc["tx_xoff"][3] + pfc["tx_xon"][3]
        self.assertEqual(result.faults("h1")["pfc_duplicated"], sent)
        self.assertEqual(len(pfc_of(result.out["h1"])), 2 * sent)
        self.assert_promises(result)

    def test_wrong_class_vector(self):
        self.make(incast())
        result = self.run_switch(fault("h1", pfc_class_vector="0x10"))
        frames = pfc_of(result.out["h1"])
        self.assertEqual({vector for _, vector, _ in frames}, {0x10})
        self.assertEqual(frames[0][2][4], 65535)
        self.assertEqual(result.faults("h1")["pfc_changed"], len(frames))
        self.assertEqual(result.port("h1")["held_packets"], 0)
        self.assert_headroom_overrun(result, "h1")
        self.assert_breaks(result, "h1", "pfc_class_vector")

    def test_quanta(self):
        for quanta, lossless in ((0, False), (1, False), (65535, True)):
            with self.subTest(quanta=quanta):
                self.make(incast())
                result = self.run_switch(fault("h1", pfc_quanta=quanta))
                self.assertEqual({times[3] for _, _, times in pfc_of(result.out["h1"])}, {quanta})
                self.assertEqual(len(result.data("h3")) + sum(result.port("h1")["drops"].values()),
                                 sum(len(self.sent[h]) for h in ("h1", "h2")))
                if lossless:  # an XON that pauses: it expires by itself
                    self.assert_promises(result)
                    self.assertGreater(result.report["end_ns"], PAUSE_NS)
                else:
                    self.assert_headroom_overrun(result, "h1")
                    self.assert_breaks(result, "h1", "pfc_quanta")

    def test_the_command_repairs_it(self):
        self.make(incast())
        result = self.run_switch(fault("h1", pfc_lose_chance='"100%"'), events=[("1us", "fault h1 clear")])
        self.assertEqual(result.faults("h1")["pfc_lost"], 0)
        self.assertNotIn("headroom_overrun", result.port("h1")["drops"])
        self.assert_breaks(result, "h1", "pfc_lose_chance")  # it was not promised for all of the run


class Peer(support.FaultTest):
    def test_storm(self):
        self.make(flow(count=1000))
        result = self.run_switch(fault("h3", storm_classes="[3]", storm_every='"100us"', storm_for='"500us"'))
        port = result.port("h3")
        self.assertEqual(result.faults("h3")["storm_xoff"], 5)
        self.assertEqual(port["pfc"]["rx_xoff"][3], 5)
        self.assertEqual(port["rx"]["packets"], 5)
        self.assertEqual(result.report["ledger"]["consumed"], 5)
        # Paused from the end of the first to the end of the last one's time; what waited then goes.
        first = result.data("h3")[0][0] - self.sent["h1"][0][0]
        self.assertAlmostEqual(first, 400_000 + PAUSE_NS, delta=20)
        self.assertEqual(port["pfc"]["expired"][3], 1)
        self.assertEqual(len(result.data("h3")), 1000)
        self.assert_promises(result)

    def test_a_storm_ends_by_command(self):
        self.make(flow(count=1000))
        result = self.run_switch(fault("h3", storm_classes="[3]", storm_every='"100us"', storm_for='"10s"'),
                                 events=[("250us", "fault h3 clear")])
        self.assertEqual(result.faults("h3")["storm_xoff"], 3)
        self.assertEqual(len(result.data("h3")), 1000)

    def test_a_storm_of_a_lossy_class_is_unexpected(self):
        self.make(flow(count=1000))
        result = self.run_switch(events=[("10us", "fault h3 storm_classes [5]")])
        self.assertEqual(result.faults("h3")["storm_xoff"], 100)
        self.assertEqual(result.port("h3")["pfc"]["rx_unexpected"][5], 100)
        self.assertEqual(result.port("h3")["pfc"]["rx_paused_ns"][3], 0)
        self.assert_promises(result)

    def test_stuck_xoff_expires(self):
        self.make(flow(count=1000))
        result = self.run_switch(events=[("20us", "fault h3 stuck_xoff [3]")])
        pfc = result.port("h3")["pfc"]
        self.assertEqual((pfc["rx_xoff"][3], pfc["rx_xon"][3], pfc["expired"][3]), (1, 0, 1))
        self.assertAlmostEqual(pfc["rx_paused_ns"][3], PAUSE_NS, delta=20)
        times = [at - self.sent["h1"][0][0] for at, _ in result.data("h3")]
        self.assertEqual(len(times), 1000)
        gap = max(b - a for a, b in zip(times, times[1:]))
        self.assertAlmostEqual(gap, PAUSE_NS, delta=200)
        self.assert_promises(result)

    def test_overshoot(self):
        self.make(incast())
        within = self.run_switch(fault("h1", overshoot='"1KB"'))
        pauses = within.port("h1")["pfc"]["tx_xoff"][3] - within.port("h1")["pfc"]["tx_refresh"][3]
        self.assertTrue(0 < within.faults("h1")["overshot_bytes"] <= pauses * 1106)
        self.assert_breaks(within, "h1", "overshoot")
        beyond = self.run_switch(fault("h1", overshoot='"500KB"'))
        self.assert_headroom_overrun(beyond, "h1")
        self.assertNotIn("headroom_overrun", beyond.port("h2")["drops"])
        self.assert_breaks(beyond, "h1", "overshoot")

    def test_slow_receiver(self):
        self.make(flow(count=4000, rate='"40G"'))
        result = self.run_switch(fault("h3", slow_receiver='"10G"'))
        pfc = result.port("h3")["pfc"]
        self.assertGreater(pfc["rx_xoff"][3], 10)
        self.assertEqual((pfc["rx_xoff"][3], pfc["rx_xon"][3]),
                         (result.faults("h3")["slow_xoff"], result.faults("h3")["slow_xon"]))
        times = [at for at, _ in result.data("h3")]
        self.assertEqual(len(times), 4000)
        rate = 4000 * 1106 * 8 / (times[-1] - times[0])  # Gb/s; the buffer of 64 KB comes on top
        self.assertAlmostEqual(rate, 10, delta=0.3)
        self.assertGreater(result.port("h1")["pfc"]["tx_xoff"][3], 0)  # and it spreads to the sender
        self.assert_promises(result)

    def test_a_slow_receiver_that_recovers(self):
        self.make(flow(count=1000))
        result = self.run_switch(fault("h3", slow_receiver='"1G"', slow_buffer='"10KB"'), events=[("50us", "fault h3 clear")])
        self.assertEqual(len(result.data("h3")), 1000)
        self.assertLess(result.report["end_ns"], 300_000)


class TurnGrid(support.FaultTest):
    def test_all_at_once_on_a_grid(self):
        self.make(incast())
        everything = fault("h1", drop_chance='"1%"', corrupt_chance='"1%"', duplicate_chance='"1%"', delay='"1us"',
                           pfc_lose_chance='"10%"', pfc_duplicate_chance='"10%"', pfc_delay='"1us"', overshoot='"5KB"')
        everything += fault("h3", slow_receiver='"50G"', storm_classes="[3, 5]", stuck_xoff="[3]")
        for turn in ("0", '"500ns"', '"5us"'):
            with self.subTest(turn=turn):
                result = self.run_switch(everything, top=f"[virtual]\nturn = {turn}\n")
                faults, port = result.faults("h1"), result.port("h1")
                self.assertEqual(port["rx"]["packets"] + faults["dropped"] + port["imissed"],
                                 len(self.sent["h1"]) + faults["duplicated"])


if __name__ == "__main__":
    sys.exit(support.main(sys.argv[1:]))
