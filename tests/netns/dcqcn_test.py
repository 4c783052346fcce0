#!/usr/bin/python3
"""RoCE hosts in real time around one switch: marks, notifications, rates and pauses in their order, and no loss. Never a time."""

import contextlib
import io
import random
import socket

import netns
from dcqcn import Incast
from frames import ethernet, ipv4, pfc, udp
from lab_case import LabCase, inside
from network import wait_for
from switch import CONGESTED_HOST_PORT

CLASS, LINE = 3, 10_000_000
# An answer that is late by less than 50 s (500 times 100 ms) is not sent for again: no stall of a busy machine is so long.
HOST = {"rate": LINE, "scale": 500, "message": "50KB", "depth": 4, "timeout": "100ms"}
MORE = """
[wred.cc]
ect_min = "5KB"
ect_max = "100KB"
ect_probability = 10
"""
NO_WRED = """
[wred.cc]
ect_min = "10MB"
ect_max = "20MB"
ect_probability = 10

[default.priority_group.3]
static_th = "50KB"
"""


class RoceHosts(LabCase):
    def network(self, more):
        """Three hosts, of which the third has a slow port."""
        self.made = self.lab().one(hosts=3, start=False)
        self.s1 = self.made.switches["s1"]
        # More than one host's line and less than two.
        self.s1.keys["h3"], self.s1.more = CONGESTED_HOST_PORT.format(port="h3", shaper="12M"), more
        self.s1.detection = "5s"  # an honest pause may be long on a busy machine
        self.s1.start()
        for n in (1, 2):
            self.made.reach(self.made.hosts[f"h{n}"], *(f"10.0.{other}.2" for other in (2, 3) if other != n))

    def host(self, n, *to, **options):
        made = self.made.roce_host(n, *to, **{**HOST, **options})
        self.addCleanup(made.end)
        return made

    @staticmethod
    def finish(*senders):
        """Accounts of the senders when their messages are done."""
        for sender in senders:
            sender.tell("stop")
        return [sender.until(lambda account: not account["sending"]) for sender in senders]

    def all_delivered(self, senders, receivers):
        """The switch loses nothing, and every message arrives."""
        completed = sum(account["completed"] for account in senders)
        self.assertEqual(sum(account["delivered"] for account in receivers), completed)
        self.assertGreater(completed, 0)
        for account in [*senders, *receivers]:
            self.assertEqual({key: account[key] for key in ("failed", "failed_qps", "wrong_payload", "missed", "strangers")},
                             {"failed": 0, "failed_qps": 0, "wrong_payload": 0, "missed": 0, "strangers": 0})
        outcome = self.stop(self.s1)
        for name in ("h1", "h2", "h3"):
            group = outcome.port(name)["priority_groups"][CLASS]
            self.assertEqual((group["headroom_overruns"], group["dropped_packets"]), (0, 0), name)
            self.assertEqual(outcome.port(name)["lossless_drops"], {}, name)
        return outcome

    def nothing_is_sent_again(self, senders, outcome):
        """But for what a switch had no room for that waited for its turn on a busy machine."""
        if not any(outcome.port(name)["imissed"] for name in ("h1", "h2", "h3")):
            self.assertEqual([account["retransmitted"] for account in senders], [0] * len(senders))

    def test_marks_lead_to_cnps_and_those_to_lower_rates_until_the_congestion_ends(self):
        self.network(MORE)
        receiver, stays = self.host(3), self.host(1, 3)
        stays.until(lambda account: account["completed"] > 5)
        comes = self.host(2, 3)
        for sender in (stays, comes):
            sender.until(lambda account: account["rate_falls"] > 2 and account["rate_rises"] > 2)
        gone, = self.finish(comes)
        recovered = stays.until(lambda account: account["rate"] == LINE)
        self.assertGreater(recovered["recovered"], 0)
        senders = [*self.finish(stays), gone]
        at_receiver = receiver.show()
        for n, account in enumerate(senders, 1):
            self.assertLess(account["lowest_rate"], LINE)
            self.rates_follow_cnps(n, account)
            self.cnps_follow_marks(n, account)
        outcome = self.all_delivered(senders, [at_receiver])
        self.nothing_is_sent_again(senders, outcome)
        # The receiver has seen the marks of the switch, no more and no fewer.
        self.assertEqual(outcome.port("h3")["queues"][CLASS]["ecn_marked_packets"], at_receiver["marked"])

    def rates_follow_cnps(self, n, account):
        """At a sender: no rate falls before a CNP of its own, none rises before one fell, and line rate comes last."""
        cnps = falls = 0
        rate = LINE
        for event in self.made.events(n)[1:]:
            if event["event"] == "cnp":
                cnps = event["total"]
            if event["event"] == "rate_falls":
                falls += 1
                self.assertGreaterEqual(cnps, falls)
                self.assertLess(event["to"], rate)
            if event["event"] == "rate_rises":
                self.assertGreater(falls, 0)
                self.assertGreater(event["to"], rate)
            if event["event"] == "recovered":
                self.assertEqual(rate, LINE)
            rate = event.get("to", rate)
        self.assertEqual((cnps, falls, rate), (account["cnps"], account["rate_falls"], account["rate"]))

    def cnps_follow_marks(self, n, account):
        """At the receiver: a mark before each CNP; and by the clock of both, a CNP is sent before it arrives."""
        qp = 0x100 + 2 * (n - 1) + 1  # it responds
        marks, sent = 0, []
        for event in self.made.events(3)[1:]:
            if event.get("qp") == qp and event["event"] == "marked":
                marks += 1
            if event.get("qp") == qp and event["event"] == "cnp_sent":
                sent.append(event["at_ns"])
                self.assertGreaterEqual(marks, len(sent))
        arrived = [event["at_ns"] for event in self.made.events(n) if event["event"] == "cnp"]
        self.assertEqual(len(arrived), account["cnps"])
        self.assertGreaterEqual(len(sent), len(arrived))
        self.assertTrue(all(before < after for before, after in zip(sent, arrived)))

    def test_without_congestion_control_pfc_holds_the_senders(self):
        self.network(NO_WRED)
        receiver = self.host(3, cc="none")
        senders = [self.host(n, 3, cc="none") for n in (1, 2)]
        for sender in senders:
            sender.until(lambda account: account["xoff"] > 2 and account["held_ns"] > 0)
        accounts = self.finish(*senders)
        self.assertEqual([(account["cnps"], account["rate_falls"]) for account in accounts], [(0, 0)] * 2)
        for n in (1, 2):
            told = [event["event"] for event in self.made.events(n) if event.get("class") == CLASS]
            self.assertGreater(len(told), 2)
            self.assertEqual(told, [("paused", "resumed")[turn % 2] for turn in range(len(told))])
        wait_for(lambda: receiver.show()["delivered"], lambda count: count == sum(account["completed"] for account in accounts))
        outcome = self.all_delivered(accounts, [receiver.show()])
        self.nothing_is_sent_again(accounts, outcome)
        for n, sender in enumerate(senders, 1):
            told, last = outcome.port(f"h{n}")["pfc"], sender.show()
            self.assertEqual((last["xoff"], last["xon"]), (told["tx_xoff"][CLASS], told["tx_xon"][CLASS]))

    def test_every_pair_of_hosts_agrees_on_its_queue_pairs(self):
        self.network(MORE)
        kinds = {1: "read", 2: "send", 3: "write"}
        hosts = [self.host(n, *(set(kinds) - {n}), kind=kind, qps=2, messages=2, mtu=512, timeout="1ms", retry_count="unlimited") for n, kind in kinds.items()]
        # The first ones send again what they sent before the last one was there.
        accounts = [host.until(lambda account: not account["sending"]) for host in hosts]
        self.assertEqual([account["completed"] for account in accounts], [2 * 2 * 2] * 3)
        receivers = [host.until(lambda account: account["delivered"] == 2 * 2 * 2) for host in hosts]
        self.all_delivered(accounts, receivers)

    def test_frames_that_nobody_should_send_do_nothing(self):
        """Noise, cut RoCEv2 and cut PFC, on the cable of a host that has none else to talk to."""
        self.network(MORE)
        host = self.host(1)
        with inside(self.s1.namespace):
            cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.addCleanup(cable.close)
            cable.bind(("h1", 0))
        rng = random.Random(22)
        bth = bytes((0x81, 0x40, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0))  # of a CNP
        for _ in range(1000):
            noise = rng.randbytes(rng.randrange(1, 300))
            roce = udp(bth + noise, dport=4791)
            for frame in (ethernet(noise, rng.choice((0x0800, 0x86DD, 0x8100, 0x8808))),
                          ethernet(ipv4(roce, "10.0.3.2", "10.0.1.2"), 0x0800)[:rng.randrange(20, 100)],
                          ethernet(ipv4(roce, "10.0.3.2", "10.0.1.2"), 0x0800),
                          pfc({CLASS: 0xFFFF})[:rng.randrange(14, 34)]):
                cable.send(frame)
        account = host.until(lambda account: account["frames_received"] >= 4000)
        self.assertEqual(account["refused"], account["frames_received"])
        self.assertEqual({key: account[key] for key in ("strangers", "cnps", "delivered", "xoff", "frames_sent", "rate_falls")},
                         {"strangers": 0, "cnps": 0, "delivered": 0, "xoff": 0, "frames_sent": 0, "rate_falls": 0})
        self.assertEqual([event["event"] for event in self.made.events(1)], ["start"])


class Act(LabCase):
    def test_tools_lab_dcqcn_shows_a_rate_that_falls_and_rises_and_loses_nothing(self):
        made = self.lab()
        incast = Incast(made, senders=2, mbps=10, scale=500, cc="dcqcn")
        self.addCleanup(incast.end)
        with contextlib.redirect_stdout(io.StringIO()) as told:
            incast.sum_up(incast.play())
        order = dict.fromkeys(event["event"] for event in made.events(1))
        self.assertEqual([event for event in order if event in ("cnp", "rate_falls", "rate_rises")], ["cnp", "rate_falls", "rate_rises"])
        self.assertRegex(told.getvalue(), r"h3 got ([1-9]\d*) messages of \1, [1-9]\d* packets of them marked; the switch lost 0 packets")


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
