#!/usr/bin/python3
"""Output files of sluiced: whole or not at all, on a disk without room, too, and by one switch at a time."""

import json
import os
import resource
import signal
import subprocess

import loopback
from client import connect
from frames import plain
from loopback import Programs, Switch
from waiting import PATIENCE_S, wait_for


def with_small_files(limit):
    """Like a full disk: a process that can write `limit` bytes to each file."""
    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return prepare


class Outputs(loopback.Case):
    def switch(self, **keys):
        switch = Switch(self, hosts=2, **keys)
        switch.give("h0", [(1000 * n, plain(200)) for n in range(400)])
        switch.section("decisions", file=str(switch.folder / "out" / "decisions.jsonl"))
        for n in range(40):
            switch.event(f"{100 * n + 500}us", f"port h1 {'up' if n % 2 else 'down'}")
        return switch

    def command(self, switch):
        path = switch.folder / "sluice.toml"
        path.write_text(switch.text())
        out = switch.folder / "out"
        return [Programs.sluiced, "--config", path, "--report", out / "report.json", "--trace", out / "trace.json",
                "--events", out / "events.jsonl"]

    def start(self, command, **options):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, status):
        said = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, status, said)
        return said[1]

    def check_nothing_looks_whole(self, switch, said, why):
        """Of a run for which there was no room: no output but what was there before, and a sentence for each."""
        out = switch.folder / "out"
        for name in ("h1.pcap", "report.json", "trace.json", "decisions.jsonl"):
            self.assertEqual((out / name).read_text(), "before", name)
            self.assertRegex(said, f"(?m)^sluiced: .*out/{name}: cannot be written: {why}$")
        self.assertEqual({path.name for path in out.iterdir()} - {"h0.pcap"},
                         {"h1.pcap", "report.json", "trace.json", "decisions.jsonl", "events.jsonl"})
        lines = (out / "events.jsonl").read_text()
        self.assertTrue(lines.endswith("\n"))
        numbers = [json.loads(line)["number"] for line in lines.splitlines()]
        self.assertEqual(numbers, list(range(len(numbers))))  # those that had room, each whole
        total = 40
        self.assertRegex(said, f"(?m)^sluiced: .*out/events.jsonl: {total - len(numbers)} of {total} events could not be written: {why}$")

    def test_without_room_nothing_looks_whole(self):
        switch = self.switch()
        command = self.command(switch)
        for name in ("h1.pcap", "report.json", "trace.json", "decisions.jsonl"):
            (switch.folder / "out" / name).write_text("before")
        said = self.finish(self.start(command, preexec_fn=with_small_files(2000)), 1)
        self.check_nothing_looks_whole(switch, said, "File too large")
        self.finish(self.start(command), 0)
        self.assertEqual(len(loopback.read_pcap(switch.folder / "out" / "h1.pcap")), 400)
        self.assertEqual(len((switch.folder / "out" / "events.jsonl").read_text().splitlines()), 40)

    def test_a_file_system_that_is_full(self):
        switch = self.switch()
        command = self.command(switch)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", switch.folder / "out"], check=False,
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("a small file system cannot be mounted here: " + mounted.stderr.strip())
        self.addCleanup(lambda: subprocess.run(["umount", switch.folder / "out"], check=True))
        said = self.finish(self.start(command), 1)
        for name in ("h1.pcap", "report.json"):
            self.assertRegex(said, f"(?m)^sluiced: .*out/{name}: cannot be written: No space left on device$")
        self.assertEqual([path.name for path in (switch.folder / "out").iterdir() if path.suffix == ".part"], [])
        self.assertNotIn("report.json", os.listdir(switch.folder / "out"))

    def test_events_that_are_lost_are_an_event(self):
        switch = self.switch()
        report = switch.folder / "report.json"
        command = [*self.command(switch)[:3], "--report", report, "--events", "/dev/full"]
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        said = self.finish(self.start(command), 1)
        self.assertEqual(said, "sluiced: /dev/full: 40 of 40 events could not be written: No space left on device\n")
        noted = [event["text"] for event in json.loads(report.read_text())["events"] if event["kind"] == "events_unwritten"]
        self.assertEqual(len(noted), 1)
        self.assertIn("/dev/full: 1 of 1 events could not be written", noted[0])

    def second_is_refused(self, switch, *options):
        """One switch runs; another that writes one of its files does not start, and leaves the first alone."""
        for capture in (switch.folder / "out").iterdir():
            capture.unlink()
        (switch.folder / "sluice.toml").write_text(switch.text())
        socket = switch.folder / "socket"
        first = self.start([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--socket", socket, *options])
        wait_for(socket.exists, why="no socket", alive=lambda: first.poll() is None)
        other = Switch(self, hosts=2, **switch.top)
        other.port("h1", device=f"net_pcap1,tx_pcap={switch.folder}/out/../out/h1.pcap")
        (other.folder / "sluice.toml").write_text(other.text())
        second = self.start([Programs.sluiced, "--config", other.folder / "sluice.toml", "--duration", "1ms"])
        said = self.finish(second, 1)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("port h1: ", said)
        self.assertIn("out/h1.pcap: is being written already: ", said)
        first.send_signal(signal.SIGTERM)
        return first

    def test_a_capture_has_one_writer(self):
        switch = Switch(self, hosts=2)
        first = self.second_is_refused(switch, "--interactive")
        first.communicate(timeout=PATIENCE_S)
        self.assertEqual(loopback.listing(switch.folder / "out"), {"h0.pcap", "h1.pcap"})
        self.assertEqual(loopback.read_pcap(switch.folder / "out" / "h1.pcap"), [])
        self.finish(self.start([Programs.sluiced, "--config", switch.folder / "sluice.toml"]), 0)

    def test_a_capture_has_one_writer_under_the_real_clock(self):
        switch = Switch(self, hosts=2, clock="real", idle_sleep="20us")
        first = self.second_is_refused(switch)
        self.finish(first, 0)
        self.assertEqual(loopback.listing(switch.folder / "out"), {"h0.pcap", "h1.pcap"})

    def test_a_driver_that_has_no_room(self):
        """Under the real clock DPDK's driver writes, and does not look whether it could."""
        switch = Switch(self, hosts=2, clock="real", idle_sleep="20us")
        switch.give("h0", [(1000 * n, plain(200)) for n in range(400)])
        socket, path = switch.folder / "socket", switch.folder / "sluice.toml"
        path.write_text(switch.text())
        process = self.start([Programs.sluiced, "--config", path, "--socket", socket], preexec_fn=with_small_files(2000))
        client = connect(socket, process)
        self.addCleanup(client.socket.close)
        client.until(lambda report: report["ports"]["h1"]["tx"]["packets"] == 400)
        process.send_signal(signal.SIGTERM)
        said = self.finish(process, 1)
        whole = 24 + 400 * (16 + 200)
        self.assertRegex(said, f"(?m)^sluiced: port h1: .*out/h1.pcap: {whole - 2000} of {whole} bytes could not be written$")

    def test_two_ports_with_one_capture_under_two_names(self):
        switch = Switch(self, hosts=2)
        switch.refused(1, "port h1", "is being written already",
                       config=switch.text().replace("/out/h1.pcap", "/out/../out/h0.pcap"))


if __name__ == "__main__":
    loopback.main()
