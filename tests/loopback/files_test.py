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
        self.assertEqual([path.name for path in (switch.folder / "out").iterdir() if path.suffix == ".sluice-part"], [])
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
        switch.refused(2, "port.h1.device: port.h0.device writes", "[file-written-twice]",
                       config=switch.text().replace("/out/h1.pcap", "/out/../out/h0.pcap"))

    def refused_before_the_run(self, switch, *words, status, said):
        """In one sentence; and every file is as it was."""
        files = lambda: {path: path.read_bytes() for path in switch.folder.rglob("*") if path.is_file()}  # noqa: E731
        before = files()
        done = self.finish(self.start([Programs.sluiced, "--config", switch.folder / "sluice.toml", *words]), status)
        self.assertIn(said, done)
        self.assertEqual(files(), before)

    def test_no_output_is_an_input_or_another_output(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain())])
        folder, config = switch.folder, switch.folder / "sluice.toml"
        switch.section("decisions", file=str(folder / "decisions"))
        switch.section("mirror.m", file=str(folder / "mirror"))
        config.write_text(switch.text())
        os.link(config, folder / "hard")
        os.symlink("sluice.toml", folder / "soft")
        for option in ("--report", "--trace", "--events"):
            for over in (config, folder / "hard", folder / "soft", f"{folder}/./sluice.toml", f"{folder}/out/../sluice.toml"):
                self.refused_before_the_run(switch, option, over, status=2, said=f"{option} would overwrite the configuration")
            capture = next(folder.rglob("h0*.pcap"))
            for over in (capture, folder / "out" / "h1.pcap", folder / "decisions", folder / "mirror", folder / "mirror.1"):
                self.refused_before_the_run(switch, option, over, status=2, said=f"{option} would overwrite ")
        for first, second in (("--report", "--trace"), ("--report", "--events"), ("--trace", "--events"), ("--report", "--socket")):
            self.refused_before_the_run(switch, first, folder / "new", second, folder / "." / "new", status=2, said="would overwrite what --")

    def test_an_output_that_cannot_be_written_is_told_before_the_run(self):
        switch = Switch(self, hosts=2)
        (switch.folder / "sluice.toml").write_text(switch.text())
        for option in ("--report", "--trace", "--events"):
            self.refused_before_the_run(switch, option, switch.folder / "no" / "file", status=1, said="No such file or directory")

    def test_a_mirror_turns_over_into_no_file_of_others(self):
        switch = Switch(self, hosts=2)
        mirror, before = switch.folder / "m.pcapng", switch.folder / "m.pcapng.1"
        switch.section("mirror.m", file=str(mirror), on=["drop"])
        (switch.folder / "sluice.toml").write_text(switch.text())
        stranger = bytes.fromhex("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000")
        for path in (mirror, before):
            for content in (b"a note", stranger):
                path.write_bytes(content)
                self.refused_before_the_run(switch, status=1, said="is a file of something else")
            path.unlink()
        switch.section("mirror.n", file=str(before))
        (switch.folder / "sluice.toml").write_text(switch.text())
        self.refused_before_the_run(switch, status=2, said="[file-written-twice]")

    def test_a_page_goes_over_a_page_only_unless_it_is_named(self):
        switch = Switch(self, hosts=2)
        switch.run()
        report, page = switch.folder / "report.json", switch.folder / "report.html"
        command = [Programs.sluiced, "page", report]
        for _ in range(2):
            self.finish(self.start(command), 0)
        page.write_text("of somebody else")
        self.assertIn("report.html: is there", self.finish(self.start(command), 1))
        self.assertEqual(page.read_text(), "of somebody else")
        os.symlink("report.json", switch.folder / "link")
        self.assertIn("would overwrite the report", self.finish(self.start([*command, "--output", switch.folder / "link"]), 1))
        self.finish(self.start([*command, "--output", page]), 0)


if __name__ == "__main__":
    loopback.main()
