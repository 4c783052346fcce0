#!/usr/bin/python3
"""Mirrors: what is in their files against the counters and captures that they do not read, files that cannot be written, and FIFOs
whose reader comes and goes."""

import collections
import fcntl
import os
import pathlib
import resource
import select
import shutil
import subprocess
import time

import control
from control import Programs, Running, Switch
from frames import plain
from mirrors import NOWHERE, LiveMirrors, Mirroring, tshark
from pcapng import pairs, parse

REFUSED, FAILED, CONFIGURATION = 1, 1, 2
F_SETPIPE_SZ = 1031  # linux/fcntl.h; in Python from 3.10 on


class Mirror(Mirroring):
    def switch(self, on=("drop",), hosts=3, **keys):
        switch = Switch(self, hosts=hosts)
        self.path = switch.folder / "mirror.pcapng"
        switch.section("mirror.m", on=list(on), **{"file": str(self.path), **keys})
        return switch

    def incast(self, workers=1, **keys):
        """Hosts h0 to h2 write to h3, in a lossless class and in a lossy one with a short queue."""
        switch = self.switch(on=["drop", "delay", "pause"], hosts=0, delay="5us", rate=0, **keys)
        self.write_to_h3(switch, workers)
        switch.section("default.queue.0", static_th="20KB")
        return switch

    def frames(self, path=None):
        return parse(pathlib.Path(path or self.path).read_bytes())[1]

    def test_it_has_what_the_counters_count(self):
        report = self.incast().run().report
        frames = [pairs(frame) for frame in self.frames()]
        self.assertEqual(self.counts(report), (len(frames), 0, 0))
        said = collections.Counter((frame["ingress"], frame["reason"]) for frame in frames if frame[""] == "drop")
        counted = {(name, reason): count for name, port in report["ports"].items() for reason, count in port["drops"].items() if count}
        self.assertGreater(sum(counted.values()), 10)
        self.assertEqual(dict(said), counted)
        for way in ("sent", "received"):
            pauses = [frame for frame in self.frames() if frame.comment.startswith(f"pause {way} ")]
            port = collections.Counter(pairs(frame)["port"] for frame in pauses)
            self.assertGreater(len(pauses), 3, way)
            direction = "tx" if way == "sent" else "rx"
            kinds = ("xoff", "xon", "refresh") if way == "sent" else ("xoff", "xon")
            for name, figures in report["ports"].items():
                self.assertEqual(port[name], sum(figures["pfc"][f"{direction}_{kind}"][3] for kind in kinds), (way, name))
        waits = [int(frame["waited_ns"]) for frame in frames if frame[""] == "delay"]
        self.assertGreater(len(waits), 10)
        self.assertGreaterEqual(min(waits), 5000)
        self.assertLessEqual(max(waits), max(queue["latency_ns"]["max"] for queue in report["ports"]["h3"]["queues"] if queue["tx_packets"]))

    def test_any_number_of_workers_writes_the_same_bytes(self):
        def written(workers):
            self.incast(workers=workers).run()
            return self.path.read_bytes()
        one = written(1)
        self.assertGreater(len(parse(one)[1]), 100)
        for workers in (1, 2, 4):
            self.assertEqual(written(workers), one, workers)

    def test_a_link_that_goes_down_discards_a_whole_queue(self):
        """All of one instant, more than the rings of the real clock hold."""
        def written(workers):
            switch = self.switch(rate=0)
            switch.top["workers"] = workers
            for port in ("h0", "h1"):
                switch.give(port, [(10 * n, plain(64, source=int(port[1:]), to=2)) for n in range(1000)])
            switch.event("0ns", "queue h2.0 hold")
            switch.event("100us", "port h2 down")
            report = switch.run().report
            self.assertEqual(self.counts(report), (2000, 0, 0))
            return self.path.read_bytes()
        self.assertEqual(written(1), written(3))

    def test_frames_and_times_are_those_of_the_captures(self):
        switch = self.drops(size=300, snaplen="100")
        switch.run()
        given = [frame for n, frame in enumerate(switch.sent("h0")) if n % 2]
        frames = self.frames()
        self.assertEqual(len(frames), len(given))
        for n, (frame, sent) in enumerate(zip(frames, given)):
            self.assertEqual((frame.wire, frame.bytes), (300, sent.bytes[:100]))
            self.assertEqual(frame.at_ns, sent.at_ns)
            self.assertEqual((frame.interface, frame.direction), ("h0", "in"))
            self.assertEqual(pairs(frame), {"": "drop", "reason": "no_route", "ingress": "h0", "class": "0", "lossless": "no",
                                            "sequence": str(2 * n + 1), "at_ns": str(frame.at_ns)})
            self.assertTrue(frame.comment.endswith(": no route to the destination"), frame.comment)

    def test_a_delay_is_the_time_in_the_queue(self):
        switch = self.switch(on=["delay"], delay="15us", snaplen="64")
        switch.give("h0", [(1000 * n, plain(300)) for n in range(30)])
        switch.event("0ns", "queue h1.0 hold")
        switch.event("25us", "queue h1.0 release")
        out = switch.run()
        waits = [gone.at_ns - came.at_ns for gone, came in zip(out.frames["h1"], switch.sent("h0"))]
        wanted = [wait for wait in waits if wait >= 15000]
        self.assertIn(len(wanted), range(5, 25))
        frames = self.frames()
        self.assertEqual([int(pairs(frame)["waited_ns"]) for frame in frames], wanted)
        for frame, gone in zip(frames, out.frames["h1"]):
            self.assertEqual((frame.interface, frame.direction, frame.bytes, frame.at_ns), ("h1", "out", gone.bytes[:64], gone.at_ns))
            self.assertEqual((pairs(frame)["egress"], pairs(frame)["queue"]), ("h1", "0"))

    def test_tshark_reads_it(self):
        switch = self.incast()
        report = switch.run().report
        rows = tshark(self, self.path, "frame.interface_name", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.comment",
                      "macc.cbfc.pause_time.c3", "infiniband.bth.opcode")
        frames = self.frames()
        self.assertEqual((len(rows), len(rows)), (len(frames), report["mirrors"]["m"]["mirrored_packets"]))
        for (interface, epoch, length, captured, comment, quanta, opcode), frame in zip(rows, frames):
            self.assertEqual((interface, int(epoch.replace(".", "")), int(length), int(captured), comment),
                             (frame.interface, frame.at_ns, frame.wire, len(frame.bytes), frame.comment))
            self.assertEqual((quanta != "", opcode != ""), (comment.startswith("pause"), not comment.startswith("pause")))

    def test_it_chooses(self):
        def mirrored(**keys):
            switch = self.switch(**keys)
            switch.give("h0", [(1000 * n, plain(100, to=NOWHERE if n % 2 else 1, ttl=1 if n % 4 == 0 else 64, dscp=26)) for n in range(40)])
            switch.give("h1", [(1000 * n, plain(100, source=1, to=2, ttl=1)) for n in range(10)])
            switch.run()
            return collections.Counter((pairs(frame)["ingress"], pairs(frame)["reason"]) for frame in self.frames())
        ttl, lost, other = ("h0", "ttl_expired"), ("h0", "no_route"), ("h1", "ttl_expired")
        everything = {ttl: 10, lost: 20, other: 10}
        self.assertEqual(mirrored(), everything)
        self.assertEqual(mirrored(reason=["ttl_expired"]), {ttl: 10, other: 10})
        self.assertEqual(mirrored(port=["h1"]), {other: 10})
        self.assertEqual(mirrored(**{"class": [3]}), {ttl: 10, lost: 20})
        self.assertEqual(mirrored(port=["h2"]), {})
        self.assertEqual(mirrored(enabled=False), {})
        self.assertEqual(mirrored(on=["pause", "delay"]), {})

    def test_its_rate_is_kept_and_the_rest_counted(self):
        report = self.drops(count=100, rate=100_000, burst=5).run().report  # 200 us
        mirrored, suppressed, lost = self.counts(report)
        self.assertEqual((mirrored + suppressed, lost), (100, 0))
        self.assertIn(mirrored, range(5 + 19, 5 + 21))
        self.assertEqual(len(self.frames()), mirrored)

    def test_two_mirrors_have_a_rate_each(self):
        switch = self.drops(rate=1, burst=3)
        switch.section("mirror.other", file=str(switch.folder / "other"), rate=0, snaplen="64")
        report = switch.run().report
        self.assertEqual((self.counts(report), self.counts(report, "other")), ((3, 17, 0), (20, 0, 0)))
        self.assertEqual([len(frame.bytes) for frame in self.frames(switch.folder / "other")], [64] * 20)
        self.assertEqual([len(frame.bytes) for frame in self.frames()], [128] * 3)

    def test_a_full_file_becomes_the_one_before(self):
        report = self.drops(count=1000, rate=0, file_size="64KB").run().report
        before = self.path.with_name(self.path.name + ".1")
        for path in (self.path, before):
            self.assertLessEqual(path.stat().st_size, 64000)
        older, newer = self.frames(before), self.frames()
        numbers = [int(pairs(frame)["sequence"]) for frame in older + newer]
        self.assertEqual(numbers, list(range(numbers[0], 2000, 2)))
        self.assertGreater(len(older), 100)
        self.assertLess(len(numbers), 1000)
        self.assertEqual(self.counts(report), (1000, 0, 0))

    def test_a_full_disk_costs_frames_and_no_part_of_one(self):
        limit = 100_001
        running = Running(self.drops(count=1000, rate=0))
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        running.call("clock.run")
        mirrored = len(self.frames())
        self.assertIn("cannot be written: File too large", running.ctl("mirror show"))
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        out = running.stop(status=FAILED)
        self.assertIn(f"mirror m: {self.path}: {1000 - mirrored} of 1000 frames could not be written: File too large", running.said())
        self.assertEqual(self.counts(out.report), (mirrored, 0, 1000 - mirrored))
        self.assertGreater(mirrored, 100)
        self.assertLessEqual(self.path.stat().st_size, limit)

    def test_a_disk_that_has_room_again(self):
        running = Running(self.drops(count=1000, rate=0))
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
        running.call("clock.run", **{"for": "1ms"})
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        before = len(self.frames())
        running.call("clock.run")
        frames = self.frames()
        self.assertEqual([int(pairs(frame)["sequence"]) for frame in frames[before:]], list(range(1001, 2000, 2)))
        self.assertEqual(self.counts(running.stop(status=FAILED).report), (len(frames), 0, 1000 - len(frames)))

    def test_a_device_that_takes_nothing(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        out = self.drops(file="/dev/full").run(status=FAILED)
        self.assertIn("mirror m: /dev/full: 20 of 20 frames could not be written: No space left on device", out.stderr)
        self.assertEqual(self.counts(out.report), (0, 0, 20))
        told = [event["text"] for event in out.report["events"] if event["kind"] == "mirror_failed"]
        self.assertEqual(told, ["mirror m: /dev/full: cannot be written: No space left on device; do: make room, or name another file"])
        self.assertEqual(self.counts(self.drops(file="/dev/null").run().report), (20, 0, 0))

    def test_what_is_refused_at_the_start(self):
        switch = self.drops()
        folder = switch.folder
        text, fifo = folder / "text", folder / "fifo"
        text.write_text("not a capture\n")
        os.mkfifo(fifo)
        os.symlink(self.path, folder / "link")
        cases = {
            "no such folder": ({"file": str(folder / "no" / "x")}, "No such file or directory; do: name a file in a folder that exists"),
            "a folder": ({"file": str(folder)}, "Is a directory"),
            "a text": ({"file": str(text)}, "it is a file of something else, and no mirror's; do: name another file, or remove this one"),
            "a FIFO": ({"file": str(fifo)}, "FIFO"),
            "no FIFO": ({"file": "", "fifo": str(text)}, "it is not a FIFO; do: write file instead of fifo"),
            "no folder of a FIFO": ({"file": "", "fifo": str(folder / "no" / "x")}, "No such file or directory"),
        }
        for name, (keys, wrong) in cases.items():
            with self.subTest(name):
                switch.section("mirror.m", **{"file": str(self.path), **keys})
                config = switch.text()
                out = switch.run(status=FAILED, config=config)
                self.assertIn("sluiced: mirror m: ", out.stderr)
                self.assertIn(wrong, out.stderr)
                self.assertEqual((text.read_text(), (folder / "sluice.toml").read_text()), ("not a capture\n", config))
        switch.section("mirror.m", file=str(folder / "sluice.toml"))
        self.assertIn("mirror.m.file would overwrite the configuration", switch.run(status=CONFIGURATION).stderr)
        switch.section("mirror.m", file=str(self.path))
        switch.section("mirror.n", file=str(folder / "link"))
        self.assertIn("[file-written-twice]", switch.run(status=CONFIGURATION).stderr)
        self.assertFalse(self.path.exists(), "a start that failed leaves no file")

    def test_what_a_check_finds(self):
        switch = self.drops()
        cases = {
            "no output": ({"file": ""}, 'mirror.m.file: a mirror needs a file, a FIFO or a collector [mirror-output]; do: write file = "out/drops.pcapng"'),
            "two outputs": ({"fifo": "y"}, "mirror.m.file: a mirror has a file, a FIFO or a collector, this one has several"),
            "the same file": ({"file": "./n.pcapng"}, 'mirror.n.file: mirror.m.file writes "./n.pcapng" too [file-written-twice]; do: give each a file of its own'),
            "an input": ({"file": str(switch.inputs["h0"])}, "port.h0.device: mirror.m.file writes "),
            "no such port": ({"port": ["h7"]}, 'mirror.m.port: there is no port "h7" [mirror-port]; do: write "h'),
            "reasons of pauses": ({"on": ["pause"], "reason": ["no_route"]}, "mirror.m.reason: reasons are those of drops"),
            "a wrong reason": ({"reason": ["bad_luck"]}, "bad_luck"),
            "a long snaplen": ({"snaplen": "257"}, "257"),
        }
        for name, (keys, wrong) in cases.items():
            with self.subTest(name):
                switch.section("mirror.m", **{"file": str(self.path), **keys})
                switch.section("mirror.n", file="n.pcapng")
                out = switch.run("--check", balanced=False, status=0 if name == "reasons of pauses" else CONFIGURATION)
                self.assertIn(wrong, out.stdout + out.stderr)
        del switch.sections["mirror.n"]
        for n in range(9):
            switch.section(f"mirror.m{n}", file=f"{n}")
        self.assertIn("8", switch.run("--check", status=CONFIGURATION).stderr)


class Live(LiveMirrors):
    def running(self, **keys):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(1000 * n, plain(300, to=NOWHERE)) for n in range(1000)])
        for name, mirror in keys.items():
            switch.section(f"mirror.{name}", **mirror)
        return Running(switch)

    def test_mirrors_come_and_go(self):
        running = self.running()
        first, second = running.folder / "first", running.folder / "second"
        self.assertEqual(running.call("mirror.show"), {"mirrors": []})
        self.run_for(running)
        running.ctl(f"set mirror.a.file={first} mirror.a.rate=0")
        self.run_for(running)
        running.ctl(f"set mirror.b.file={second} mirror.b.rate=0")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (200, 0, 0), "b": (100, 0, 0)})
        said = running.ctl("mirror show").splitlines()
        self.assertEqual(said[0].split(), ["mirror", "shows", "mirrored", "suppressed", "lost", "state", "written", "to"])
        self.assertEqual(said[1].split(), ["a", "drop", "200", "0", "0", "written", str(first)])
        running.ctl("set mirror.a.enabled=false")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (200, 0, 0), "b": (200, 0, 0)})
        self.assertIn("stopped", running.ctl("mirror show"))
        running.ctl("unset mirror.a")
        running.ctl("set mirror.b.snaplen=64")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"b": (300, 0, 0)})
        self.assertIn("sluice_mirrors_mirrored_packets", metrics_reference())
        self.assertEqual((len(parse(first.read_bytes())[1]), len(parse(second.read_bytes())[1])), (200, 300))
        running.ctl(f"set mirror.b.file={running.folder}/third")
        self.run_for(running)
        self.assertEqual(self.counts(running), {"b": (400, 0, 0)}, "counts go on in another file")
        self.assertEqual(len(parse((running.folder / "third").read_bytes())[1]), 100)
        running.stop()

    def test_a_change_that_cannot_write_changes_nothing(self):
        running = self.running(a={"file": "a.pcapng", "rate": 0})
        before = running.call("config.get")
        for words in ("mirror.a.file=no/x", "mirror.b.file=sluice.toml", "mirror.b.file=a.pcapng", "mirror.b.fifo=sluice.toml",
                      "mirror.b.on=[\"pause\"]"):
            with self.subTest(words):
                running.ctl(f"set {words}", status=REFUSED)
                self.assertEqual(running.call("config.get"), before)
        # A change that fails elsewhere leaves no file of the mirror it would have made.
        running.ctl("set mirror.b.file=b.pcapng port.h0.mtu=99999", status=REFUSED)
        self.assertFalse((running.folder / "b.pcapng").exists())
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (101, 0, 0)})  # those of both ends
        running.stop()

    def reader(self, fifo):
        """Opened at once, read when told."""
        return os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    def all_of(self, reader):
        data = b""
        while select.select([reader], [], [], 0)[0]:
            piece = os.read(reader, 1 << 20)
            if not piece:
                break
            data += piece
        return data

    def state(self, running, wanted):
        running.wait_for(lambda: running.call("mirror.show")["mirrors"][0]["state"], lambda state: state == wanted)

    def test_readers_of_a_fifo_come_and_go(self):
        running = self.running(a={"fifo": "fifo", "rate": 0})
        fifo = running.folder / "fifo"
        self.run_for(running)
        self.assertEqual(self.counts(running), {"a": (0, 0, 101)}, "nobody reads")
        for round in (1, 2):
            self.state(running, "has no reader")
            reader = self.reader(fifo)
            self.state(running, "read")
            self.run_for(running)
            interfaces, frames = parse(self.all_of(reader))
            self.assertEqual([name for name, _ in interfaces], ["h0", "h1"])
            self.assertGreaterEqual(len(frames), 100)
            os.close(reader)
            self.state(running, "has no reader")
            self.run_for(running)
        (mirrored, suppressed, lost), = self.counts(running).values()
        rx = running.call("stats.show", path="ledger.rx")
        self.assertEqual((mirrored + lost, suppressed), (rx, 0))
        self.assertGreaterEqual(mirrored, 200)
        self.assertGreaterEqual(lost, 300)
        running.stop()
        self.assertFalse(fifo.exists(), "made by the switch, and removed by it")

    def test_a_reader_that_does_not_read_stops_nothing(self):
        running = self.running(a={"fifo": "fifo", "rate": 0, "snaplen": "256"})
        reader = self.reader(running.folder / "fifo")
        self.state(running, "read")
        fcntl.fcntl(reader, F_SETPIPE_SZ, 4096)  # a page, which the header and some frames fill
        self.run_for(running, "1ms")
        (mirrored, suppressed, lost), = self.counts(running).values()
        self.assertEqual(mirrored + lost, 1000)
        self.assertGreater(lost, 900)
        self.assertEqual(len(parse(self.all_of(reader))[1]), mirrored, "blocks are whole")
        os.close(reader)
        running.stop()

    def test_tshark_reads_a_fifo(self):
        if shutil.which("tshark") is None:
            self.skipTest("no tshark here; do: tools/setup test")
        running = self.running(a={"fifo": "fifo", "rate": 0})
        reader = subprocess.Popen(["tshark", "-n", "-l", "-i", running.folder / "fifo", "-c", "100", "-T", "fields", "-e", "frame.comment"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(reader.kill)
        self.state(running, "read")
        self.run_for(running, "200us")
        said = reader.communicate(timeout=control.PATIENCE_S)[0].splitlines()
        self.assertEqual(len(said), 100)
        self.assertTrue(all(line.startswith("drop reason=no_route ingress=h0 ") for line in said), said[:3])
        self.state(running, "has no reader")
        running.stop()

    def test_a_fifo_that_was_there_stays(self):
        switch = Switch(self, hosts=1)
        fifo = switch.folder / "mine"
        os.mkfifo(fifo)
        switch.section("mirror.a", fifo=str(fifo))
        switch.run()
        self.assertTrue(fifo.exists())

    def test_under_the_real_clock_it_has_the_time_of_day(self):
        switch = Switch(self, hosts=2, clock="real")
        switch.give("h0", [(1000 * n, plain(300, to=NOWHERE)) for n in range(100)])
        path = switch.folder / "real.pcapng"
        switch.section("mirror.a", file=str(path), burst=30, rate=1)
        begin = time.time_ns()
        running = Running(switch, interactive=False)
        running.wait_for(lambda: sum(self.counts(running)["a"]), lambda total: total == 100)
        mirrored, suppressed, lost = self.counts(running)["a"]
        self.assertGreaterEqual(mirrored, 30)
        frames = parse(path.read_bytes())[1]
        self.assertEqual((len(frames), lost), (mirrored, 0))
        for frame in frames:
            self.assertLess(abs(frame.at_ns - begin), 600 * 10**9)
        running.stop()


def metrics_reference():
    return subprocess.run([Programs.sluiced, "--metrics-reference"], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    control.main()
