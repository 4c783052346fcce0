#!/usr/bin/python3
"""What a wire does to simulated hosts at its ends: each loss, mark and swap has the answer that RC and DCQCN give it."""

import loopback
from loopback import Switch, table


class Hosts(loopback.Case):
    """Two simulated hosts at the ends of a wire."""

    def hosts(self, rules=None, flow=None, host=None, wire=None, **top):
        parts = [table("", {"clock": "virtual", "buffer.size": loopback.BUFFER, **top}), table("[default]", {"speed": "100G"}),
                 table("[host.default]", {"cc": "none", "timeout": "200us", **(host or {})})]
        for n in (1, 2):
            parts += [f"[port.p{n}]\n", table(f"[host.h{n}]", {"port": f"p{n}", "address": f"10.0.0.{n}"})]
        parts.append(table("[wire.w]", {"ports": ["p1", "p2"], **(wire or {})}))
        parts += [table(f"[wire.w.impair.{name}]", keys) for name, keys in (rules or {}).items()]
        parts.append(table("[[flow]]", {"from": "h1", "to": "h2", "message": "64KB", "messages": 4, **(flow or {})}))
        return "\n".join(parts)

    def outcome(self, rules=None, **keys):
        """Of a run in which every message arrives whole and once."""
        outcome = Switch(self, hosts=0).run(config=self.hosts(rules, **keys))
        flow = outcome.report["flows"]["h1-h2"]
        self.assertEqual((flow["messages"], flow["failed_messages"], flow["wrong_payload_packets"]), (4, 0, 0))
        self.assertEqual(outcome.report["ledger"]["queued"], 0)
        return outcome

    def rule(self, outcome, name):
        counters = outcome.report["wires"]["w"]["rules"][name]["forward"]
        return tuple(counters[f"{key}_packets"] for key in ("matched", "acted", "passed"))

    def figures(self, outcome, *names):
        flow = outcome.report["flows"]["h1-h2"]
        return tuple(flow[name] for name in names)

    def test_without_rules_a_wire_is_a_cable(self):
        outcome = self.outcome()
        self.assertEqual(self.figures(outcome, "retransmitted_packets", "timeouts", "sequence_errors", "duplicate_packets"), (0, 0, 0, 0))
        self.assertIs(outcome.report["verdict"]["lossless"], True)

    def test_the_loss_of_the_nth_packet_gives_one_nak_and_one_go_back(self):
        outcome = self.outcome({"r": {"do": "drop", "match": {"nth": 20, "opcode": "write_middle"}}})
        self.assertEqual(self.figures(outcome, "sequence_errors", "timeouts"), (1, 0))
        self.assertGreater(self.figures(outcome, "retransmitted_packets")[0], 0)
        [event] = outcome.report["wires"]["w"]["trace"]
        self.assertEqual((event["opcode"], event["done"]), ("write_middle", True))

    ANSWERS = ("ack", "nak", "rnr_nak", "cnp", "repeated", "untracked")

    def answers(self, outcome, direction):
        """What the wire itself saw, with no figure of a host."""
        return {name: outcome.report["wires"]["w"][direction][f"{name}_packets"] for name in self.ANSWERS}

    def test_the_wire_counts_answers_and_what_comes_again(self):
        outcome = self.outcome()
        self.assertGreaterEqual(self.answers(outcome, "backward")["ack"], 4)
        self.assertEqual({**self.answers(outcome, "backward"), "ack": 0}, dict.fromkeys(self.ANSWERS, 0))
        self.assertEqual(self.answers(outcome, "forward"), dict.fromkeys(self.ANSWERS, 0))
        for kind, opcode in (("write", "write_middle"), ("send", "send_middle")):
            with self.subTest(kind=kind):
                outcome = self.outcome({"r": {"do": "drop", "match": {"nth": 20, "opcode": opcode}}}, flow={"kind": kind})
                again = self.figures(outcome, "retransmitted_packets")[0]
                self.assertGreater(again, 0)
                self.assertEqual(self.answers(outcome, "forward"), {**dict.fromkeys(self.ANSWERS, 0), "repeated": again})
                self.assertEqual(self.answers(outcome, "backward")["nak"], 1)
        outcome = self.outcome({"r": {"do": "mark-ce", "match": {"direction": "forward"}}}, host={"cnp_interval": "5us"})
        self.assertGreater(self.answers(outcome, "backward")["cnp"], 0)
        self.assertEqual(self.answers(outcome, "backward")["cnp"], outcome.report["hosts"]["h2"]["cnp_sent_packets"])

    def test_read_responses_that_come_again_count_at_their_direction(self):
        outcome = self.outcome({"r": {"do": "drop", "match": {"nth": 20, "opcode": "read_response_middle"}}}, flow={"kind": "read"})
        self.assertGreater(self.answers(outcome, "backward")["repeated"], 0)
        self.assertEqual(self.answers(outcome, "backward")["nak"], 0)

    def test_the_loss_of_the_last_packet_of_a_message_gives_a_time_out(self):
        outcome = self.outcome({"r": {"do": "drop", "match": {"nth": 4, "opcode": "write_last"}}})
        self.assertEqual(self.figures(outcome, "sequence_errors", "timeouts"), (0, 1))

    def test_a_psn_is_found_and_its_retransmission_is_spared(self):
        outcome = self.outcome({"r": {"do": "drop", "match": {"psn": 7, "nth": 1, "direction": "forward"}}})
        [event] = outcome.report["wires"]["w"]["trace"]
        self.assertEqual((event["psn"], event["direction"]), (7, "forward"))
        self.assertEqual(self.rule(outcome, "r")[0], 2)  # once lost, once sent again
        self.assertEqual(self.figures(outcome, "sequence_errors"), (1,))

    def test_a_corrupt_packet_fails_its_icrc_and_counts_as_lost(self):
        for describes in (False, True):
            outcome = self.outcome({"r": {"do": "corrupt", "match": {"nth": 20, "opcode": "write_middle"}}},
                                   host={"payload": "described"} if describes else None)
            self.assertEqual(outcome.report["hosts"]["h2"]["refused_packets"], 1)
            self.assertEqual(self.figures(outcome, "sequence_errors", "timeouts"), (1, 0))

    def test_a_duplicate_is_a_duplicate_at_the_responder(self):
        outcome = self.outcome({"r": {"do": "duplicate", "match": {"nth": 20, "opcode": "write_middle"}}})
        self.assertEqual(self.figures(outcome, "duplicate_packets", "timeouts", "sequence_errors"), (1, 0, 0))

    REORDERED = ("reordered_packets", "reorder_depth_packets")

    def test_reordering_gives_a_nak(self):
        outcome = self.outcome({"r": {"do": "reorder", "frames": 3, "match": {"nth": 20, "opcode": "write_middle"}}})
        self.assertEqual(self.figures(outcome, "sequence_errors", "timeouts"), (1, 0))
        # The first time the packet comes as it was held back; what came meanwhile comes again.
        self.assertEqual(self.figures(outcome, *self.REORDERED), (1, 3))
        again, repeated = self.figures(outcome, "retransmitted_packets", "repeated_packets")
        self.assertGreater(again, 3)
        self.assertEqual(again, repeated)

    SELECTIVE = {"recovery": "selective", "reorder_window": "20us"}

    def test_selective_recovery_takes_reordering(self):
        for kind, opcode in (("write", "write_middle"), ("send", "send_middle"), ("read", "read_response_middle")):
            with self.subTest(kind=kind):
                outcome = self.outcome({"r": {"do": "reorder", "frames": 3, "match": {"every": 8, "opcode": opcode}}}, flow={"kind": kind}, host=self.SELECTIVE)
                self.assertEqual(self.figures(outcome, "retransmitted_packets", "sequence_errors", "timeouts", "repeated_packets"), (0, 0, 0, 0))
                reordered, depth = self.figures(outcome, *self.REORDERED)
                self.assertGreater(reordered, 20)
                self.assertEqual(depth, 3)

    def test_selective_recovery_sends_again_what_is_lost_alone(self):
        for kind, opcode in (("write", "write_middle"), ("send", "send_middle"), ("read", "read_response_middle")):
            with self.subTest(kind=kind):
                outcome = self.outcome({"r": {"do": "drop", "match": {"nth": 20, "opcode": opcode}}}, flow={"kind": kind}, host=self.SELECTIVE)
                self.assertEqual(self.figures(outcome, "retransmitted_packets", "sequence_errors", "timeouts", "repeated_packets"), (1, 1, 0, 0))

    def test_both_ends_or_none_recover_selectively(self):
        text = self.hosts({"r": {"do": "drop", "match": {"nth": 20, "opcode": "write_middle"}}}).replace(
            "[host.h1]", '[host.h1]\nrecovery = "selective"')
        outcome = Switch(self, hosts=0).run(config=text)
        self.assertGreater(self.figures(outcome, "repeated_packets")[0], 0)

    def test_a_delay_within_the_time_out_costs_time_alone(self):
        outcome = self.outcome({"r": {"do": "delay", "time": "50us", "match": {"nth": 4, "opcode": "write_last"}}})
        self.assertEqual(self.figures(outcome, "timeouts", "sequence_errors", "retransmitted_packets"), (0, 0, 0))

    def test_marks_give_cnps_at_their_interval(self):
        rules = {"r": {"do": "mark-ce", "match": {"direction": "forward"}}}
        counts = {}
        for interval in ("5us", "10us", "20us"):
            outcome = self.outcome(rules, host={"cnp_interval": interval, "cc": "none"}, flow={"message": "1MB"})
            counts[interval] = outcome.report["hosts"]["h2"]["cnp_sent_packets"]
            self.assertEqual(outcome.report["hosts"]["h1"]["cnp_received_packets"], counts[interval])
            duration_us = outcome.report["end_ns"] / 1000
            self.assertLessEqual(counts[interval], duration_us / int(interval[:-2]) + 1)
        self.assertGreater(counts["5us"], 1.8 * counts["10us"])
        self.assertGreater(counts["10us"], 1.8 * counts["20us"])

    def test_a_cnp_that_the_wire_makes_slows_the_sender(self):
        for rule in ({"do": "cnp"}, {"do": "cnp", "sender_qp": 0x100}):
            rule = {**rule, "match": {"every": 50, "opcode": "write_middle", "direction": "forward"}}
            outcome = self.outcome({"r": rule}, host={"cc": "dcqcn"}, flow={"message": "256KB"})
            matched, acted, passed = self.rule(outcome, "r")
            self.assertGreater(acted, 5)
            self.assertEqual(outcome.report["hosts"]["h1"]["cnp_received_packets"], acted)
            self.assertEqual(outcome.report["hosts"]["h2"]["cnp_sent_packets"], 0)
            self.assertEqual(outcome.report["wires"]["w"]["forward"]["made_packets"], acted)
            self.assertEqual(matched // 50, acted + passed)

    def test_the_sender_of_one_of_several_queue_pairs_is_not_guessed(self):
        rule = {"do": "cnp", "match": {"every": 50, "opcode": "write_middle", "direction": "forward"}}
        outcome = Switch(self, hosts=0).run(config=self.hosts({"r": rule}, flow={"qps": 2, "message": "256KB"}))
        received = outcome.report["hosts"]["h1"]["cnp_received_packets"]
        self.assertEqual(self.rule(outcome, "r")[1], received)
        self.assertGreater(self.rule(outcome, "r")[2], received)

    def test_a_slow_host_pauses_through_the_wire(self):
        for pass_on in (False, True):
            text = self.hosts(wire={"pfc": "pass" if pass_on else "end"}, flow={"message": "1MB"})
            text = text.replace('[host.h2]\n', '[host.h2]\ndrain = "20G"\n')
            if pass_on:
                text = text.replace("[default]\n", '[default]\nqos = "lossy"\n')
            outcome = Switch(self, hosts=0).run(config=text, balanced=False)
            self.assertTrue(outcome.report["ledger"]["balanced"])
            self.assertEqual(outcome.report["flows"]["h1-h2"]["messages"], 4)
            if not pass_on:
                self.assertEqual(outcome.report["hosts"]["h2"]["overrun_packets"], 0)
                self.assertGreater(outcome.port("p2")["pfc"]["rx_xoff"][3], 0)


if __name__ == "__main__":
    loopback.main()
