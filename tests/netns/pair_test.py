#!/usr/bin/python3
"""Two switches back to back: PFC of one is obeyed by the other, and a generator obeys PFC of the first."""

import netns
from lab_case import LabCase
from loopback import SOAK

CLASS = 3
# A receive ring takes 512 frames. On a busy machine a switch may wait for its turn as long as it takes the sender to fill it: 100 ms, and
# 500 ms where it has an hour in which to wait for that.
PER_SECOND, SLOW, LINK = (1000, "5M", "10M") if SOAK else (5000, "25M", "50M")  # 9 Mb/s, 44 Mb/s
# At what the second switch lets through, about 10 seconds, and an hour.
FRAMES, FLOWS = 2_040_000 if SOAK else 25_000, 8
MORE = """
[default.priority_group.3]
static_th = "100KB"
"""


class BackToBack(LabCase):
    def congested(self, **options):
        """(both switches, the sender, the receiver): more is sent than the last port lets through."""
        lab = self.lab().pair(more=MORE, start=False)
        s1, s2 = lab.switches.values()
        s1.keys["s2"], s2.keys["h2"] = (f'shaper = "{rate}"\n' for rate in (LINK, SLOW))
        # A shaper forgets the turns that its worker has missed, so on such a machine an honest pause may be long.
        s1.detection = s2.detection = "5s"
        s1.start()
        s2.start()
        self.reach(lab.hosts["h1"], "10.0.2.2")
        receiver = self.stream(lab, 2)
        return s1, s2, self.stream(lab, 1, 2, qps=FLOWS, pps=PER_SECOND, **options), receiver

    def test_nothing_is_lost_while_everybody_obeys(self):
        s1, s2, sender, receiver = self.congested(messages=FRAMES // FLOWS)
        sent = sender.until(lambda account: not account["sending"])
        self.assertEqual(sent["sent"], FRAMES)
        self.all_arrive(receiver, FRAMES, (s1, "h1"), (s2, "s1"))
        first, second = self.stop(s1), self.stop(s2)
        for outcome, port in ((first, "h1"), (second, "s1")):
            group = outcome.port(port)["priority_groups"][CLASS]
            self.assertEqual((group["headroom_overruns"], group["dropped_packets"]), (0, 0), port)
            self.assertEqual(outcome.port(port)["lossless_drops"], {}, port)
            self.assertEqual(outcome.port(port)["pfc_peer"], "unknown", "nobody is called deaf who obeys: " + port)
        # PFC of the second switch is obeyed by the first, whose own is obeyed by the sender.
        for outcome, port, other in ((second, "s1", first.port("s2")["pfc"]), (first, "h1", None)):
            told = outcome.port(port)["pfc"]
            self.assertGreater(told["tx_xoff"][CLASS], 0, port)
            if other:
                self.assertEqual((told["tx_xoff"][CLASS], told["tx_xon"][CLASS]), (other["rx_xoff"][CLASS], other["rx_xon"][CLASS]))
                self.assertGreater(other["rx_paused_ns"][CLASS], 0)
            else:
                last = sender.show()
                self.assertEqual((last["xoff"], last["xon"]), (told["tx_xoff"][CLASS], told["tx_xon"][CLASS]))
                self.assertGreater(last["held_ns"], 0)

    def test_a_sender_that_does_not_obey_loses_by_headroom_overrun_alone(self):
        s1, s2, sender, _ = self.congested(pfc="ignore")
        self.wait_for_overrun(s1)
        netns.wait_for(lambda: s1.ask("stats", "show", "ports.h1.pfc_peer"), lambda peer: peer == "ignores")
        self.assertIn("switch PFC on for priority 3 at the peer of h1", str(s1.ask("why", "h1")))
        sender.tell("stop")  # or else the first switch's kernel would route on when the switch has ended
        first, second = self.stop(s1), self.stop(s2)
        self.assertEqual(set(first.port("h1")["lossless_drops"]), {"headroom_overrun"})
        self.assertIn("not obeyed by the peer of h1", first.report["verdict"]["reasons"])
        self.assertEqual(second.port("s1")["pfc_peer"], "unknown")
        self.assertEqual(second.port("s1")["lossless_drops"], {}, "between the switches nothing is lost")

    def wait_for_overrun(self, switch):
        netns.wait_for(lambda: switch.ask("stats", "show", f"ports.h1.priority_groups.{CLASS}.headroom_overruns"))


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
