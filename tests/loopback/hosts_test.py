#!/usr/bin/python3
"""Simulated hosts behind the ports of a switch: what they deliver, what their congestion control does, and what their figures tell of a
host that is set up wrongly."""

import itertools
import json
import os
import shutil
import subprocess
import zlib

import loopback
from loopback import Programs, run, table, verify

GBPS = 10**9


class Hosts(loopback.Case):
    """A folder with a configuration of hosts h1, h2, ... at 10.0.N.2, each behind the port of its name."""

    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder

    def text(self, flows, hosts=3, default=None, ports=None, each=None, more="", **top):
        top = {"clock": "virtual", "buffer.size": loopback.BUFFER, **top}
        parts = [table("", top), table("[default]", {"speed": "10G", "mtu": 1500})]
        if default:
            parts.append(table("[host.default]", default))
        for n in range(1, hosts + 1):
            name = f"h{n}"
            parts.append(table(f"[port.{name}]", {"address": [f"10.0.{n}.1/24"], **(ports or {}).get(name, {})}))
            parts.append(table(f"[host.{name}]", {"address": f"10.0.{n}.2", **(each or {}).get(name, {})}))
        parts += [table("[[flow]]", flow) for flow in flows]
        return "\n".join(parts) + more

    def run_text(self, text, *arguments, status=0):
        path = self.folder / "sluice.toml"
        path.write_text(text)
        report = self.folder / "report.json"
        done = run([Programs.sluiced, "--config", path, "--report", report, *arguments])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return json.loads(report.read_bytes())

    def run_hosts(self, *flows, arguments=(), **keys):
        report = self.run_text(self.text(flows, **keys), *arguments)
        self.assertEqual(report["ledger"]["queued"], 0)
        self.assertTrue(report["ledger"]["balanced"])
        for name, flow in report["flows"].items():
            self.assertEqual(flow["wrong_payload_packets"], 0, name)
            self.assertEqual(flow["delivered_bytes"], flow["message_bytes"], name)
        return report

    def output(self, name):
        return {"device": f"net_pcap{name[1:]},tx_pcap={self.folder}/out/{name}.pcap"}


def icrc(frame):
    """Invariant CRC of an untagged RoCEv2 frame over IPv4 (IBTA A17.3.3), as on the wire: what routers change counts as ones."""
    ip, udp, bth = 14, 34, 42
    masked = bytearray(frame[:-4])
    masked[ip + 1] = masked[ip + 8] = masked[bth + 4] = 0xFF  # DSCP and ECN, TTL, FECN and BECN
    masked[ip + 10:ip + 12] = masked[udp + 6:udp + 8] = b"\xff\xff"  # checksums
    return zlib.crc32(b"\xff" * 8 + masked[ip:]).to_bytes(4, "little")


INCAST = {"from": ["h1", "h2"], "to": "h3", "qps": 2, "message": "200KB", "depth": 2, "messages": 8}


class Deliver(Hosts):
    def test_every_kind_of_message_arrives_whole_and_once(self):
        for kind in ("write", "send", "read"):
            for mtu in (256, 4096):
                with self.subTest(kind=kind, mtu=mtu):
                    report = self.run_hosts({**INCAST, "kind": kind, "message": "1B..300KB"}, default={"mtu": mtu},
                                            ports={f"h{n}": {"mtu": 4200} for n in (1, 2, 3)})
                    flow = report["flows"]["h1..h2-h3"]
                    self.assertEqual((flow["messages"], flow["failed_messages"]), (2 * 2 * 8, 0))
                    self.assertEqual((flow["retransmitted_packets"], report["ledger"]["dropped"]), (0, 0))
                    self.assertIs(report["verdict"]["lossless"], True)

    def test_a_tag_says_the_class_where_the_port_trusts_it(self):
        report = self.run_hosts(INCAST, default={"pcp": 3, "dscp": 0}, ports={f"h{n}": {"trust": "pcp"} for n in (1, 2, 3)})
        self.assertGreater(report["ports"]["h3"]["queues"][3]["tx_packets"], 6000)
        self.assertIs(report["verdict"]["lossless"], True)
        self.assertGreater(report["verdict"]["lossless_packets"], 6000)

    def test_records_of_decisions_name_queue_pair_and_psn(self):
        path = self.folder / "decisions.jsonl"
        self.run_text(self.text([{"from": "h1", "to": "h2", "message": 5000, "messages": 1}], more='\n[decisions]\nrecord = "on"\n'),
                      "--decisions", path)
        packets = [json.loads(line)["arrival"] for line in path.read_text().splitlines() if '"arrival"' in line]
        self.assertEqual([(packet["qp"], packet["psn"]) for packet in packets if packet["opcode"] != 17], [(256, n) for n in range(5)])
        self.assertEqual([(packet["qp"], packet["psn"]) for packet in packets if packet["opcode"] == 17], [(256, 4)])

    def test_a_source_port_is_that_of_the_queue_pair_or_of_the_host(self):
        for whose, of_data in (("qp", 4), ("host", 1)):
            with self.subTest(whose):
                self.run_hosts({**INCAST, "qps": 4, "from": "h1"}, default={"udp_source_port": whose}, ports={name: self.output(name) for name in ("h1", "h3")})
                for name in ("h1", "h3"):  # acknowledgements, data
                    frames = loopback.read_pcap(self.folder / "out" / f"{name}.pcap")
                    ports = {frame.bytes[34:36] for frame in frames if frame.bytes[36:38] == (4791).to_bytes(2, "big")}
                    self.assertEqual(len(ports), of_data, name)

    def test_frames_are_right_for_the_independent_checkers(self):
        self.run_hosts({**INCAST, "kind": "write"}, {"from": "h1", "to": "h3", "kind": "send", "messages": 3, "message": "5KB"},
                       {"from": "h2", "to": "h1", "kind": "read", "messages": 3, "message": "5KB"},
                       ports={name: self.output(name) for name in ("h1", "h2", "h3")})
        captures = [self.folder / "out" / f"h{n}.pcap" for n in (1, 2, 3)]
        said = verify(captures)
        self.assertGreater(said["icrc_good"], 4000)
        self.assertEqual((said["icrc_bad"], said["icrc_unchecked"]), (0, 0))
        if shutil.which("tshark") is None:
            self.skipTest("no tshark")
        opcodes = set()
        for capture in captures:
            opcodes |= self.check_by_tshark(capture)
        sends, writes, reads = {0, 1, 2}, {6, 7, 8}, {12, 13, 14, 15}
        self.assertEqual(opcodes - {129}, sends | writes | reads | {17})  # 129: CNP, 17: ACK

    def test_selective_naks_are_naks_for_tshark(self):
        if shutil.which("tshark") is None:
            self.skipTest("no tshark")
        # What comes from h1 is lost: requests, and the responses to h2's READs.
        flow = self.run_text(self.text([{"from": "h1", "to": "h3", "message": "200KB", "messages": 3}, {"from": "h2", "to": "h1", "kind": "read", "message": "200KB", "messages": 3}],
                                       default={"recovery": "selective", "reorder_window": "5us", "retry_count": "unlimited"},
                                       ports={name: self.output(name) for name in ("h1", "h3")}, more=table("\n[port.h1.fault]", {"drop_chance": "2%"})))["flows"]
        for name in ("h1-h3", "h2-h1"):
            self.assertGreater(flow[name]["sequence_errors"], 5)
        capture = self.folder / "out" / "h1.pcap"
        self.assertLessEqual({12, 17}, self.check_by_tshark(capture))
        fields = ("infiniband.bth.psn", "infiniband.aeth.msn")
        done = subprocess.run(["tshark", "-r", capture, "-Y", "infiniband.aeth.syndrome == 0x60", "-T", "fields", *(word for field in fields for word in ("-e", field))],
                              capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(self.folder)})
        holes = [tuple(map(int, line.split("\t"))) for line in done.stdout.splitlines()]
        self.assertEqual(len(holes), flow["h1-h3"]["sequence_errors"])
        for (first, end), (following, _) in zip(holes, holes[1:] + [(1 << 24, 0)]):
            self.assertLess(first, end)
            self.assertLess(end, following)

    def check_by_tshark(self, capture, most=1000):
        """Its dissector knows the frames as RoCE, finds nothing malformed, and the ICRC that is computed here. Their opcodes."""
        fields = ("infiniband.bth.opcode", "infiniband.invariant.crc", "_ws.malformed")
        done = subprocess.run(["tshark", "-r", capture, "-c", str(most), "-T", "fields", *(word for field in fields for word in ("-e", field))],
                              capture_output=True, text=True, check=True, env={**os.environ, "HOME": str(self.folder)})
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        frames = loopback.read_pcap(capture)[:most]
        self.assertEqual(len(lines), len(frames))
        self.assertGreater(len(frames), 50)
        for frame, (opcode, seen, malformed) in zip(frames, lines):
            wanted = icrc(frame.bytes)
            self.assertEqual((frame.bytes[-4:], malformed), (wanted, ""), frame.bytes.hex())
            if int(opcode) != 129:  # it looks no further into a CNP
                self.assertEqual(int(seen, 16).to_bytes(4, "big"), wanted, frame.bytes.hex())
        return {int(opcode) for opcode, _, _ in lines}

    def test_the_same_bytes_with_any_number_of_workers_and_each_time(self):
        for recovery in ("go-back-n", "selective"):
            with self.subTest(recovery=recovery):
                self.same_bytes(recovery)

    def same_bytes(self, recovery):
        wanted = None
        for workers in (1, 1, 2, 3):
            self.run_hosts(INCAST, {"from": "h3", "to": ["h1", "h2"], "load": 20, "message": "hadoop", "stop": "2ms"},
                           {"from": "h1", "to": "h2", "load": 50, "on": "50us", "off": "100us", "message": "1KB..20KB", "stop": "2ms",
                            "kind": "read"},
                           ports={**{name: self.output(name) for name in ("h1", "h3")}}, workers=workers, default={"recovery": recovery},
                           more='\n[port.h2.fault]\ndrop_chance = "1%"\n')
            got = [(self.folder / name).read_bytes() for name in ("report.json", "out/h1.pcap", "out/h3.pcap")]
            wanted = wanted or got
            self.assertTrue(got == wanted, f"{workers} workers")

    def test_one_more_host_changes_nobody_elses_messages(self):
        """The draws of a queue pair are its own; pairs share only the wire, and here they do not."""
        quiet = {"from": "h1", "to": "h2", "load": 10, "message": "web-search", "stop": "5ms"}
        alone = self.run_hosts(quiet)["flows"]["h1-h2"]
        more = self.run_hosts({"from": "h3", "to": "h4", "message": "1KB", "messages": 50}, quiet, hosts=4)["flows"]["h1-h2"]
        self.assertEqual(alone, more)

    def test_faults_cost_time_and_never_a_message(self):
        flap = "".join(table("\n[[event]]", {"at": f"{at}us", "do": f"port h1 {do}"}) for at, do in
                       ((100, "down"), (130, "up"), (400, "down"), (430, "up")))
        faults = (({"drop_chance": "5%"}, ""), ({"corrupt_chance": "2%"}, ""), ({"duplicate_chance": "5%"}, flap))
        for (fault, more), recovery in itertools.product(faults, ("go-back-n", "selective")):
            with self.subTest(fault=fault, recovery=recovery):
                text = self.text([INCAST], default={"retry_count": "unlimited", "timeout": "200us", "recovery": recovery, "reorder_window": "10us"},
                                 more=table("\n[port.h1.fault]", fault) + more)
                flow = self.run_text(text)["flows"]["h1..h2-h3"]
                self.assertEqual((flow["messages"], flow["failed_messages"], flow["wrong_payload_packets"]), (32, 0, 0))
                self.assertGreater(flow["retransmitted_packets"], 0)
                # Some messages were hit and some were not.
                self.assertGreater(flow["retried_messages"], 0)
                self.assertLess(flow["retried_messages"], flow["messages"])

    def test_a_storm_at_a_hosts_port_holds_its_flow_and_nobody_elses(self):
        """The peer of h3's port says XOFF for 200 us; what goes to h1 does not notice, and nothing is lost."""
        flows = [{"from": "h2", "to": "h3", "message": "20KB", "messages": 10}, {"from": "h4", "to": "h1", "message": "20KB", "messages": 10}]
        def completion(more=""):
            report = self.run_hosts(*flows, hosts=4, more=more)
            self.assertEqual((report["ledger"]["dropped"], [flow["messages"] for flow in report["flows"].values()]), (0, [10, 10]))
            return report, [flow["completion_ns"]["max"] for flow in report["flows"].values()]
        _, (calm, other) = completion()
        report, (stormed, beside) = completion(table("\n[port.h3.fault]", {"storm_classes": [3], "storm_every": "10us", "storm_for": "200us"}))
        self.assertGreater(report["ports"]["h3"]["pfc"]["rx_xoff"][3], 15)
        self.assertLess(calm, 200_000)
        self.assertGreater(stormed, 200_000)
        self.assertEqual(beside, other)
        self.assertEqual([report["hosts"][name]["pauses_sent"] for name in ("h1", "h3")], [0, 0])

    def test_messages_fail_when_retries_are_used_up_and_are_told_so(self):
        text = self.text([{"from": "h1", "to": "h2", "message": "10KB", "messages": 5}], default={"retry_count": 2, "timeout": "50us"},
                         more='\n[[event]]\nat = "12us"\ndo = "port h2 down"\n')
        flow = self.run_text(text)["flows"]["h1-h2"]
        self.assertGreater(flow["failed_messages"], 0)
        self.assertEqual(flow["timeouts"] > 2, True)


class Refused(Hosts):
    def refused(self, text, *words):
        path = self.folder / "sluice.toml"
        path.write_text(text)
        done = run([Programs.sluiced, "--config", path, "--report", self.folder / "report.json"])
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "report.json").exists())

    def test_with_place_and_remedy(self):
        pair = {"from": "h1", "to": "h2", "messages": 1}
        self.refused(self.text([{**pair, "to": "h9"}]), "flow h1-h9: there is no host", "[flow-host]; do: write h")
        self.refused(self.text([{**pair, "to": "h1"}]), "host h1 would send to itself [flow-self]; do: ")
        self.refused(self.text([{**pair, "message": 0}]), "message: 0 is too small")
        self.refused(self.text([pair], each={"h2": {"address": "10.0.1.77"}}), "host.h2.address: 10.0.1.77 is outside the subnet", "; do: ")
        self.refused(self.text([pair], clock="real"), "a simulated host needs the virtual clock", "sluice-peer")
        self.refused(self.text([{"from": "h1", "to": "h2"}]), "flow h1-h2 never ends; do: write stop or messages")

    def test_an_endless_flow_runs_for_as_long_as_is_said(self):
        report = self.run_text(self.text([{"from": "h1", "to": "h2"}]), "--duration", "100us")
        self.assertEqual(report["end_ns"], 100_000)
        self.assertGreater(report["flows"]["h1-h2"]["delivered_bytes"], 10**10 / 8 * 80e-6)


class CongestionControl(Hosts):
    """Marks and what they do. The queue marks low, so that little traffic shows much."""
    LOW = '\n[wred.low]\ngreen_min = "5KB"\ngreen_max = "50KB"\ngreen_probability = "1%"\n[default.queue.3]\nwred = "low"\n'
    LONG = {"from": ["h1", "h2"], "to": "h3", "message": "1MB", "depth": 2, "stop": "3ms"}

    def incast(self, *flows, **keys):
        return self.run_hosts(*(flows or [self.LONG]), more=self.LOW, **{"buffer.size": "4MB", **keys})

    def queue(self, report):
        return report["ports"]["h3"]["queues"][3]["watermark_bytes"]

    def test_marks_slow_the_senders_and_without_a_reaction_the_queue_fills(self):
        reports = {cc: self.incast(default={"cc": cc}) for cc in ("dcqcn", "dcqcn-timer", "none")}
        for cc in ("dcqcn", "dcqcn-timer"):
            flow = reports[cc]["flows"]["h1..h2-h3"]
            self.assertLess(flow["rate_bps"], 20 * GBPS)
            self.assertGreater(flow["cnp_received_packets"], 5)
            self.assertLess(self.queue(reports[cc]), self.queue(reports["none"]))
        flow = reports["none"]["flows"]["h1..h2-h3"]
        self.assertEqual((flow["rate_bps"], flow["alpha_ppm"]), (20 * GBPS, 10**6))
        self.assertGreater(flow["paused_ns"], 0)
        self.assertGreater(flow["throughput_bps"], 9 * GBPS)
        self.assertEqual(reports["none"]["hosts"]["h1"]["paused_ns"].keys(), {"3"})

    def test_each_misconfiguration_has_its_symptom(self):
        right = self.incast()
        self.assertEqual([host["symptoms"] for host in right["hosts"].values()], [[], [], []])
        mute = self.incast(each={"h3": {"echo_ce": False}})
        self.assertRegex(mute["hosts"]["h3"]["symptoms"][0], r"^CE came and no CNP was sent for [3-9]\.[0-9] ms \([0-9]+ packets with CE in all\): "
                         "its notification point is off; do: write echo_ce = true$")
        self.assertEqual(mute["flows"]["h1..h2-h3"]["cnp_sent_packets"], 0)
        deaf = self.incast(each={"h1": {"ignore_cnp": True}})
        self.assertIn("its reaction point is off", deaf["hosts"]["h1"]["symptoms"][0])
        self.assertEqual((deaf["hosts"]["h1"]["rate_bps"], deaf["hosts"]["h2"]["symptoms"]), (10 * GBPS, []))
        none = self.incast(each={"h1": {"cc": "none"}})
        self.assertIn("it has no congestion control", none["hosts"]["h1"]["symptoms"][0])
        unmarked = self.incast(default={"ecn": "not-ect"})
        self.assertEqual(unmarked["flows"]["h1..h2-h3"]["ce_packets"], 0)
        self.assertGreater(self.queue(unmarked), self.queue(right))
        packets = unmarked["hosts"]["h3"]["non_ect_packets"]
        self.assertEqual(unmarked["hosts"]["h3"]["symptoms"],
                         [f'{packets} data packets came Not-ECT from 10.0.1.2 and 1 more through queue 3, which "low" marks: their senders '
                          'never hear of congestion; do: write ecn = "ect0" for host h1'])
        self.assertEqual(self.run_hosts(self.LONG, default={"ecn": "not-ect"}, more='\n[default.queue.3]\nwred = "none"\n',
                                        **{"buffer.size": "4MB"})["hosts"]["h3"]["symptoms"], [])

    def test_a_cnp_dscp_of_data_is_a_symptom_where_the_port_looks_at_it(self):
        """By default the opcode says what is a CNP, and its DSCP is no matter."""
        harmless = self.incast(default={"cnp_dscp": 26})
        self.assertGreater(harmless["ports"]["h1"]["queues"][6]["tx_packets"], 0)
        self.assertEqual(harmless["hosts"]["h3"]["symptoms"], [])
        astray = self.incast(default={"cnp_dscp": 26}, ports={f"h{n}": {"map": "trusting"} for n in (1, 2, 3)},
                             **{"map.trusting": {"cnp_tc": "dscp"}})
        self.assertEqual(astray["ports"]["h1"]["queues"][6]["tx_packets"], 0)
        sent = astray["hosts"]["h3"]["cnp_sent_packets"]
        self.assertGreater(sent, 0)
        self.assertRegex(astray["hosts"]["h3"]["symptoms"][0], f"^its {sent} CNPs went in class 3, whose queue 3 may be paused.*: congestion "
                         "was told of late; do: write cnp_dscp = 48$")

    def test_a_run_that_ends_before_a_cnp_could_go_blames_nobody(self):
        text = self.text([self.LONG], more=self.LOW, each={"h3": {"echo_ce": False}}, **{"buffer.size": "4MB"})
        hosts = self.run_text(text, "--duration", "900us")["hosts"]
        self.assertGreater(hosts["h3"]["ce_packets"], 0)
        self.assertEqual(hosts["h3"]["symptoms"], [])

    def test_a_slow_host_pauses_the_switch_and_nothing_is_lost(self):
        report = self.run_hosts(INCAST, each={"h3": {"drain": "5G", "receive_buffer": "64KB"}})
        slow = report["hosts"]["h3"]
        self.assertGreater(slow["pauses_sent"], 5)
        self.assertEqual((slow["overrun_packets"], report["ledger"]["dropped"]), (0, 0))
        self.assertEqual(slow["symptoms"], [f'sent {slow["pauses_sent"]} pauses: it takes in no more than 5G; do: write drain = "unlimited"'])
        self.assertGreater(report["ports"]["h3"]["pfc"]["rx_xoff"][3], 0)
        self.assertLess(report["flows"]["h1..h2-h3"]["throughput_bps"], 5 * GBPS)

    def test_a_slow_host_whose_pauses_nobody_honors_loses_and_counts(self):
        text = self.text([INCAST], default={"timeout": "1ms"}, each={"h3": {"drain": "2G", "receive_buffer": "16KB"}},
                         ports={"h3": {"pfc": []}})
        report = self.run_text(text)
        self.assertGreater(report["hosts"]["h3"]["overrun_packets"], 0)
        self.assertRegex(report["hosts"]["h3"]["symptoms"][-1], r"^lost [0-9]+ frames .*: port h3 does not obey its pauses; do: write pfc = \[3\]")
        flow = report["flows"]["h1..h2-h3"]
        self.assertGreater(flow["retransmitted_packets"], 0)
        self.assertEqual(flow["wrong_payload_packets"], 0)

    def test_a_slow_hosts_levels_and_quanta_are_keys(self):
        def slow(**keys):
            report = self.run_hosts(INCAST, each={"h3": {"drain": "5G", "receive_buffer": "64KB", **keys}})
            self.assertEqual(report["ledger"]["dropped"], 0)
            return report["hosts"]["h3"]["pauses_sent"]
        usual = slow()
        self.assertEqual(slow(receive_xon="32KB"), usual)
        self.assertGreater(slow(receive_xon="60KB"), 2 * usual)
        self.assertGreater(slow(pause_quanta=100), 2 * usual)

    def test_a_host_without_receives_answers_rnr_naks(self):
        send = {**INCAST, "kind": "send"}
        def rnr(**keys):
            return self.run_text(self.text([send], each={"h3": {"rnr_chance": "50%"}}, default={"cc": "none", **keys}))["flows"]["h1..h2-h3"]
        flow = rnr()
        self.assertEqual((flow["messages"], flow["failed_messages"], flow["wrong_payload_packets"]), (32, 0, 0))
        self.assertGreater(flow["rnr_naks"], 20)
        self.assertLess(flow["throughput_bps"], self.run_hosts(send, default={"cc": "none"})["flows"]["h1..h2-h3"]["throughput_bps"])
        self.assertLess(rnr(rnr_timer="5ms")["throughput_bps"], flow["throughput_bps"] / 2)
        failed = rnr(rnr_retry=0)
        self.assertEqual((failed["messages"] < 32, failed["failed_messages"] > 0), (True, True))

    def test_acknowledgements_are_coalesced_as_said(self):
        def received(each):
            flow = {"from": "h1", "to": "h2", "message": "1MB", "messages": 1}
            return self.run_hosts(flow, default={"ack_coalescing": each})["hosts"]["h1"]["received_packets"]
        self.assertEqual(received(1), 977)  # packets of 1024 bytes
        self.assertEqual([received(16), received(32)], [62, 31])

    def test_a_flows_tag_is_its_datas(self):
        report = self.run_hosts({**INCAST, "pcp": 3}, default={"dscp": 0}, ports={f"h{n}": {"trust": "pcp"} for n in (1, 2, 3)})
        self.assertGreater(report["ports"]["h3"]["queues"][3]["tx_packets"], 6000)
        self.assertEqual(report["ports"]["h1"]["queues"][3]["tx_packets"], 0)  # ACKs have none

    def test_the_published_packets_of_1000_bytes_can_be_said(self):
        report = self.run_hosts({**INCAST, "message": "94KB"}, default={"mtu": 940}, ports={"h3": self.output("h3")})
        self.assertEqual(report["flows"]["h1..h2-h3"]["data_packets"], 32 * 100)
        frames = [frame.wire for frame in loopback.read_pcap(self.folder / "out" / "h3.pcap")]
        self.assertEqual(max(frames), 940 + 58 + 16)  # the first of a WRITE has a RETH
        self.assertEqual(frames.count(998), 32 * 99)

    def test_a_window_bounds_what_is_outstanding(self):
        report = self.incast(default={"cc": "none", "window": "20KB"})
        self.assertLess(self.queue(report), 4 * 20_000 * 1.2)
        self.assertEqual(report["flows"]["h1..h2-h3"]["paused_ns"], 0)


if __name__ == "__main__":
    loopback.main()
