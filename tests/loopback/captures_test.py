#!/usr/bin/python3
"""Captures that others recorded, as tools/run switches them: split into hosts, through the switch, every frame counted."""

import collections
import pathlib
import re
import struct
import subprocess

import loopback
from frames import l3_offset
from loopback import Programs, Switch, read_pcap, run

FOLDER = loopback.captures_folder()


class Split(loopback.Case):
    def loop(self, *captures, extra=""):
        """The outcome of `split` and `sluiced` over captures, with `extra` lines of configuration."""
        switch = Switch(self, hosts=0)
        done = run([Programs.traffic, "split", *captures, "--out", switch.folder / "loop"])
        self.assertEqual(done.returncode, 0, done.stderr)
        loop = switch.folder / "loop"
        with (loop / "sluice.toml").open("a") as config:
            config.write(extra)
        switch.inputs = {path.stem: path for path in (loop / "in").glob("*.pcap")}
        report = loop / "report.json"
        done = subprocess.run([Programs.sluiced, "--config", loop / "sluice.toml", "--report", report], capture_output=True,
                              text=True, check=False, cwd=switch.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = {path.stem: read_pcap(path) for path in loop.glob("*.pcap")}
        out = loopback.Outcome(done, loopback.json.loads(report.read_text()), frames, {})
        switch.check_accounts(out)
        return switch, out

    def every_frame_is_accounted_for(self, name):
        switch, out = self.loop(FOLDER / name)
        sent = {port: switch.sent(port) for port in switch.inputs}
        self.assertEqual(sum(len(frames) for frames in sent.values()), self.count(FOLDER / name))
        # Every frame that came out was sent: the same payload behind the rewritten headers, as often.
        came = collections.Counter(self.essence(frame.bytes) for frames in sent.values() for frame in frames)
        gone = collections.Counter(self.essence(frame.bytes) for frames in out.frames.values() for frame in frames)
        self.assertEqual(gone - came, collections.Counter())
        return switch, out

    @staticmethod
    def essence(frame):
        """The fields that a router must keep: the IP packet but for TTL and checksum."""
        ip = bytearray(frame[l3_offset(frame):])
        if len(ip) >= 20 and ip[0] >> 4 == 4:
            ip[8] = ip[10] = ip[11] = 0
        elif len(ip) >= 40:
            ip[7] = 0
        return bytes(ip)

    @staticmethod
    def count(path):
        """Frames of a classic pcap of either byte order."""
        data = pathlib.Path(path).read_bytes()
        order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        count, at = 0, 24
        while at < len(data):
            at += 16 + struct.unpack_from(f"{order}I", data, at + 8)[0]
            count += 1
        return count


class Real(Split):
    def test_every_capture(self):
        if FOLDER is None:
            self.skipTest("no folder of real captures (shared/captures beside the repository, or SLUICE_CAPTURES)")
        for path in sorted(FOLDER.glob("*.pcap")):
            with self.subTest(path.name):
                self.every_frame_is_accounted_for(path.name)

    def test_every_roce_packet_keeps_its_icrc_when_all_are_marked(self):
        if FOLDER is None or not (FOLDER / "roce-real.pcap").exists():
            self.skipTest("no roce-real.pcap")
        every_queue = "".join(f'[default.queue.{n}]\nwred = "all"\n' for n in range(8))
        switch, _ = self.loop(FOLDER / "roce-real.pcap", extra="\n[wred.all]\ngreen_min = 0\ngreen_max = 0\n" + every_queue)
        before = loopback.verify([FOLDER / "roce-real.pcap"])
        after = loopback.verify(sorted((switch.folder / "loop").glob("*.pcap")))
        self.assertGreater(after["ce"], before["ce"] + 20)
        for key in ("roce", "icrc_good", "icrc_bad"):
            self.assertEqual(after[key], before[key], key)

    def test_every_roce_packet_comes_out_whole(self):
        if FOLDER is None or not (FOLDER / "roce-real.pcap").exists():
            self.skipTest("no roce-real.pcap")
        switch, out = self.every_frame_is_accounted_for("roce-real.pcap")
        before = loopback.verify([FOLDER / "roce-real.pcap"])
        after = loopback.verify(sorted((switch.folder / "loop").glob("*.pcap")))
        self.assertGreater(before["roce"], 100)
        for key in ("roce", "icrc_good", "icrc_bad", "icrc_unchecked", "cnp", "ce"):
            self.assertEqual(after[key], before[key], key)
        self.assertEqual(before["icrc_bad"], 0)
        self.assertEqual(sum(port["roce_packets"] for port in out.report["ports"].values()), before["roce"])

    def test_all_of_them_merged(self):
        """Years lie between some of them, which are left out, and told."""
        if FOLDER is None:
            self.skipTest("no folder of real captures")
        switch = Switch(self, hosts=0)
        loop = switch.folder / "loop"
        done = run([Programs.traffic, "split", *sorted(FOLDER.glob("*.pcap")), "--out", loop])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([Programs.sluiced, "--config", loop / "sluice.toml"], capture_output=True, text=True, check=False,
                              cwd=switch.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        stamps = sorted(frame.at_ns for path in (loop / "in").glob("*.pcap") for frame in read_pcap(path))
        gaps = sum(after - before > 3600 * 10**9 for before, after in zip(stamps, stamps[1:]))
        self.assertEqual(re.findall(r"(\d+) gaps? above an hour", done.stdout), [str(gaps)] if gaps else [])


class Demonstration(loopback.Case):
    def acted(self, name, folder):
        """The report of conf/NAME.toml with its traffic, and the captures in `folder`; the same bytes twice."""
        switch = Switch(self, hosts=0)
        folder = switch.folder / folder
        done = run([Programs.traffic, "generate", loopback.ROOT / "conf" / f"{name}-traffic.toml", "--out", folder / "in"])
        self.assertEqual(done.returncode, 0, done.stderr)
        reports = []
        for attempt in range(2):
            report = switch.folder / f"report{attempt}.json"
            done = subprocess.run([Programs.sluiced, "--config", loopback.ROOT / "conf" / f"{name}.toml", "--report", report],
                                  capture_output=True, text=True, check=False, cwd=switch.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            reports.append((report.read_bytes(), {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}))
        self.assertEqual(reports[0], reports[1])
        report = loopback.json.loads(reports[0][0])
        self.assertTrue(report["ledger"]["balanced"])
        self.assertEqual(report["ledger"]["queued"], 0)
        return report, folder

    def test_the_first_act_of_tools_run(self):
        """conf/demo.toml with its traffic: what tools/run shows is what it promises."""
        report, folder = self.acted("demo", "out")
        self.assertTrue(report["lossless"])
        self.assertGreater(report["ports"]["h4"]["queues"][3]["watermark_bytes"], 10_000)  # the incast
        self.assertEqual(report["ports"]["s2"]["flaps"], 1)
        shares = {member["port"]: member["packets"] for member in report["ecmp"]["10.9.0.0/16"]["members"]}
        self.assertEqual(len(shares), 4)
        self.assertGreater(shares["s4"], max(shares["s1"], shares["s2"], shares["s3"]))
        self.assertEqual(loopback.verify(sorted(folder.glob("*.pcap")))["icrc_bad"], 0)
        self.assertEqual(sum(sum(port["drops"].values()) for port in report["ports"].values()), 0)
        self.assertEqual([warning for port in report["ports"].values() for warning in port["warnings"]], [])

    def test_malformed_frames_are_dropped_each_with_its_reason(self):
        """conf/malformed.toml: what READMEs ask it for; the RoCE packets beside them are all there."""
        report, _ = self.acted("malformed", "out")
        self.assertEqual((report["verdict"]["lossless"], report["verdict"]["lossless_packets"]), (True, 209))
        drops = report["ports"]["h2"]["drops"]
        self.assertGreater(len(drops), 8)
        self.assertEqual(drops["ttl_expired"], 2)

    def test_the_second_act_of_tools_run(self):
        """conf/storm.toml: found after 100 ms, ended 100 ms after the last XOFF; only what was for the stormed queue is lost."""
        report, folder = self.acted("storm", "out/storm")
        acted = {(entry["port"], entry["queue"]): entry for entry in report["watchdog"] if entry["detected"]}
        self.assertEqual(list(acted), [("h4", 3)])
        entry = acted["h4", 3]
        self.assertEqual((entry["state"], entry["restored"], entry["total_passed"]), ("operational", 1, 0))
        times = {event["kind"]: event["at_ns"] for event in report["events"] if event["kind"].startswith("watchdog")}
        self.assertEqual(times, {"watchdog_detected": 120_000_000, "watchdog_restored": 319_750_000})
        lost = {name: port["lossless_drops"] for name, port in report["ports"].items() if port["lossless_drops"]}
        self.assertEqual(lost, {"h1": {"watchdog_drop": entry["total_dropped"]}})
        decided = (folder / "decisions.jsonl").read_text().splitlines()
        self.assertEqual(sum('"reason":"watchdog_drop"' in line for line in decided), entry["total_dropped"])
        # The storm reached h1, which h2 waited for, and nothing of that was lost.
        self.assertGreater(report["ports"]["h1"]["pfc"]["tx_paused_ns"][3], 1_000_000)
        sent = {name: port["queues"][3]["tx_packets"] for name, port in report["ports"].items()}
        self.assertEqual(sent, {"h1": 0, "h2": 2400, "h3": 2400, "h4": 800 - entry["total_dropped"]})
        # A pause after the restoration is obeyed again.
        self.assertGreater(report["ports"]["h4"]["queues"][3]["latency_ns"]["max"], 300_000)

    def test_the_third_act_of_tools_run(self):
        """conf/incast.toml: with DCQCN a flow beside the incast keeps its throughput, without it pauses take it; nothing is lost."""
        switch = Switch(self, hosts=0)
        text = (loopback.ROOT / "conf" / "incast.toml").read_text()
        self.assertIn('\ncc = "dcqcn"', text)
        reports = {}
        for name in ("dcqcn", "none"):
            report = switch.run(config=text.replace('\ncc = "dcqcn"', f'\ncc = "{name}"'), balanced=False).report
            self.assertEqual((report["lossless"], report["verdict"]["lost_packets"], report["ledger"]["queued"]), (True, 0, 0))
            self.assertGreater(report["flows"]["incast"]["throughput_bps"], 90e9)
            reports[name] = report
        beside = {name: report["flows"]["bystander"] for name, report in reports.items()}
        self.assertGreater(beside["dcqcn"]["throughput_bps"], 1.5 * beside["none"]["throughput_bps"])
        self.assertLess(2 * beside["dcqcn"]["completion_ns"]["p99"], beside["none"]["completion_ns"]["p99"])
        pauses = {name: sum(group["xoff_transitions"] for port in report["ports"].values() for group in port["priority_groups"])
                  for name, report in reports.items()}
        self.assertTrue(0 < 10 * pauses["dcqcn"] < pauses["none"], pauses)


if __name__ == "__main__":
    loopback.main()
