#!/usr/bin/python3
"""A wire between two RoCE hosts in real time: what a rule does to one packet, both of them and the switch tell alike."""

import netns
from lab_case import LabCase

# An answer that is late by less than 50 s is not sent for again: no stall of a busy machine is so long.
HOST = {"rate": 10_000_000, "scale": 500, "cc": "none", "message": "100KB", "timeout": "100ms"}
MESSAGES, CLASS = 4, 3
WIRE = """
[wire.w]
ports = ["h1", "h2"]

[wire.w.impair.one]
match = {{opcode = "write_middle", direction = "forward", nth = 50}}
do = "{do}"
"""


class Wire(LabCase):
    def transfer(self, do):
        """(the sender's account, the receiver's, the wire's part of the report) of some messages, one packet of which meets the rule."""
        lab = self.lab().one(hosts=2, more=WIRE.format(do=do))
        receiver, sender = lab.roce_host(2, **HOST), lab.roce_host(1, 2, messages=MESSAGES, **HOST)
        for host in (receiver, sender):
            self.addCleanup(host.end)
        sent = sender.until(lambda account: account["completed"] + account["failed"] == MESSAGES)
        received = receiver.show()
        outcome = self.stop(lab.switches["s1"])
        wire = outcome.report["wires"]["w"]
        self.assertEqual((sent["failed"], received["delivered"], received["wrong_payload"]), (0, MESSAGES, 0))
        rule = wire["rules"]["one"]
        self.assertEqual((rule["forward"]["acted_packets"], rule["backward"]["acted_packets"]), (1, 0))
        self.assertEqual([(each["opcode"], each["do"]) for each in wire["trace"]], [("write_middle", do)])
        return sent, received, outcome

    def test_a_lost_packet_is_sent_again(self):
        sent, _, outcome = self.transfer("drop")
        self.assertGreater(sent["retransmitted"], 0)
        self.assertEqual(outcome.port("h1")["drops"], {"impaired": 1})

    def test_a_corrupt_packet_is_refused_and_sent_again(self):
        sent, received, _ = self.transfer("corrupt")
        self.assertGreater(sent["retransmitted"], 0)
        self.assertGreater(received["refused"], 0)

    def test_a_marked_packet_is_answered_by_one_cnp(self):
        sent, received, outcome = self.transfer("mark-ce")
        # On a busy machine the switch's own profile may mark, too, what waited while it did.
        marked = 1 + outcome.port("h2")["queues"][CLASS]["ecn_marked_packets"]
        self.assertEqual((received["marked"], received["cnps_sent"]), (marked, sent["cnps"]))
        self.assertGreater(sent["cnps"], 0)
        if not any(outcome.port(name)["imissed"] for name in ("h1", "h2")):
            self.assertEqual(sent["retransmitted"], 0)


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
