#!/usr/bin/python3
"""Bad input: one clear line, the right exit status, and nothing left behind."""

import contextlib
import os
import pathlib
import re
import struct
import sys
import uuid

import loopback
from frames import plain
from loopback import Programs, Switch, pcap_bytes, run

FAILED, CONFIGURATION = 1, 2
GOOD = [(0, plain()), (1000, plain(100))]


@contextlib.contextmanager
def memory_cgroup(case, most_bytes):
    """Runs commands in a cgroup of our own with so much memory; needs root and a place for it."""
    name = f"sluice-test-{uuid.uuid4().hex[:12]}"
    for folder, limit in ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (pathlib.Path("/sys/fs/cgroup"), "memory.max")):
        if not (folder / "cgroup.procs").exists():
            continue
        group = folder / name
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(most_bytes))
        except OSError:
            group.rmdir()
            continue
        break
    else:
        case.skipTest("no cgroup of our own can be made here")
    try:
        yield lambda command: run(["sh", "-c", 'echo $$ > "$0"; exec "$@"', group / "cgroup.procs", *command])
    finally:
        group.rmdir()


class Captures(loopback.Case):
    """Under the virtual clock a capture is read whole before anything starts."""

    def refused(self, data, *words):
        for port in ("h0", "h1"):  # the first port of all, and one whose predecessor has opened its output
            switch = Switch(self, hosts=2)
            switch.give("h0", GOOD)
            path = switch.give(port, GOOD)
            if data is None:
                path.unlink()
            else:
                path.write_bytes(data)
            switch.refused(FAILED, f"port {port}", str(path), *words)

    def test_a_cut_end_is_left_out_and_noted(self):
        """tcpdump was killed: the frames before the last are good."""
        data = pcap_bytes(GOOD)
        for cut, left in ((data[:-1], 1), (data[:-100], 1), (data[:24 + 16 + 10], 0), (data[:24 + 7], 0)):
            switch = Switch(self, hosts=2)
            switch.give("h0", GOOD)
            path = switch.give("h1", GOOD)
            path.write_bytes(cut)
            out = switch.run(balanced=False)
            kinds = ["partial_capture"] if left else ["empty_capture", "partial_capture"]
            self.assertEqual(sorted(kind for _, kind in out.events()), kinds)
            self.assertEqual(out.report["ports"]["h1"]["rx"]["packets"], left)
            self.assertIn(f"{path}: the file is cut", out.report["events"][-1]["text"])

    def test_cut_in_the_file_header(self):
        self.refused(pcap_bytes(GOOD)[:20], "truncated")

    def test_empty_file(self):
        self.refused(b"")

    def test_no_capture_at_all(self):
        self.refused(b"[port.p1]\nspeed = '100G'\n" * 10, "unknown file format")
        self.refused(bytes(4096))

    def test_a_length_that_cannot_be(self):
        self.refused(pcap_bytes(GOOD) + struct.pack("<IIII", 0, 0, 0xFFFFFFF0, 60) + bytes(60), "after 2 frames")

    def test_another_link_layer_is_named(self):
        for number, name in ((113, "LINUX_SLL"), (101, "RAW"), (105, "IEEE802_11"), (276, "LINUX_SLL2")):
            self.refused(pcap_bytes(GOOD, link=number), name, "Ethernet")

    def test_missing_file(self):
        self.refused(None, "No such file")

    def test_a_folder_is_no_capture(self):
        switch = Switch(self, hosts=2)
        path = switch.give("h1", GOOD)
        path.unlink()
        path.mkdir()
        switch.refused(FAILED, "port h1", str(path))

    def test_a_capture_without_frames_is_no_error_and_is_noted(self):
        """A host that only receives: sluice-traffic writes such a capture."""
        switch = Switch(self, hosts=2)
        switch.give("h0", GOOD)
        path = switch.give("h1", [])
        out = switch.run()
        self.assertEqual(out.events(), [(0, "empty_capture")])
        self.assertIn(str(path), out.report["events"][0]["text"])
        self.assertEqual(len(out.frames["h1"]), 2)


class Outputs(loopback.Case):
    def test_output_folder_missing(self):
        for name in ("h0", "h1"):
            switch = Switch(self, hosts=2)
            switch.give("h0", GOOD)
            text = switch.text().replace(f"/out/{name}.pcap", f"/nowhere/{name}.pcap")
            switch.refused(FAILED, f"port {name}", "No such file", config=text)

    def test_report_cannot_be_written(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", GOOD)
        (switch.folder / "sluice.toml").write_text(switch.text())
        for option in ("--report", "--trace"):
            done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", option, switch.folder / "nowhere" / "x.json"])
            self.assertEqual(done.returncode, FAILED)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn("nowhere/x.json", done.stderr)

    def test_a_full_disk(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        switch = Switch(self, hosts=2)
        switch.give("h0", GOOD * 1000)
        out = switch.run(config=switch.text().replace(f"{switch.folder}/out/h1.pcap", "/dev/full"), status=FAILED)
        self.assertEqual(len(out.stderr.strip().splitlines()), 1, out.stderr)
        self.assertIn("/dev/full", out.stderr)
        self.assertIn("No space left", out.stderr)

    def test_outputs_of_an_earlier_run_survive_a_refusal(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", GOOD)
        first = switch.run()
        (switch.folder / "in" / "h0.pcap").write_bytes(b"")
        done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--report", switch.folder / "report.json"])
        self.assertEqual(done.returncode, FAILED)
        for name in ("h0", "h1"):
            self.assertEqual((switch.folder / "out" / f"{name}.pcap").read_bytes(), first.raw[name])
        self.assertEqual((switch.folder / "report.json").read_bytes(), first.raw["report"])


class Configuration(loopback.Case):
    def switch(self, **keys):
        switch = Switch(self, hosts=2, **keys)
        switch.give("h0", GOOD)
        return switch

    def line_of(self, text, needle):
        return next(n for n, line in enumerate(text.splitlines(), 1) if needle in line)

    def test_route_to_nowhere(self):
        switch = self.switch()
        switch.route("10.9.0.0/16", "10.0.1.77")
        said = switch.refused(CONFIGURATION, "10.9.0.0/16", "10.0.1.77", "neighbo")
        self.assertIn(f"sluice.toml:{self.line_of(switch.text(), '[[route]]')}:", said)

    def test_two_ports_of_one_name(self):
        switch = self.switch()
        text = switch.text() + '\n[port.h1]\nspeed = "10G"\n'
        said = switch.refused(CONFIGURATION, "h1", config=text)
        self.assertIn(f"sluice.toml:{len(text.splitlines()) - 1}:", said)

    def test_two_ports_that_write_one_file(self):
        switch = self.switch()
        switch.refused(CONFIGURATION, "h0", "h1", "h0.pcap", config=switch.text().replace("out/h1.pcap", "out/h0.pcap"))

    def test_an_output_that_is_an_input(self):
        switch = self.switch()
        switch.refused(CONFIGURATION, "in/h0.pcap", config=switch.text().replace("out/h1.pcap", "in/h0.pcap"))

    def test_two_ports_of_one_device(self):
        switch = self.switch()
        switch.refused(CONFIGURATION, "net_pcap0", "h0", "h1", config=switch.text().replace("net_pcap1,", "net_pcap0,"))

    def test_more_workers_than_cores(self):
        cores = os.cpu_count()
        if cores >= 16:
            self.skipTest("more cores than a switch has workers")
        switch = Switch(self, hosts=cores + 1, device="net_null{n}", clock="real", workers=cores + 1)
        switch.refused(CONFIGURATION, str(cores + 1), str(cores), "workers")

    def test_more_workers_than_there_may_be(self):
        self.switch(workers=17).refused(CONFIGURATION, "17", "16")

    def test_a_device_that_needs_the_real_clock(self):
        Switch(self, hosts=1, device="net_ring0").refused(CONFIGURATION, "net_ring0", "real clock")

    def test_a_neighbor_at_no_port(self):
        switch = self.switch()
        switch.neighbor("10.0.7.2", "h7", loopback.mac(7))
        switch.refused(CONFIGURATION, "10.0.7.2", "h7")

    def test_events_that_cannot_be(self):
        for command, word in (("port h9 down", "h9"), ("port h1 sideways", "up|down"), ("reboot", "reboot"),
                              ("route add 10.1.0.0/33 via 10.0.1.2", "10.1.0.0/33"), ("route add 10.7.0.0/16 via 10.0.1.9", "10.0.1.9"),
                              ("route add 10.7.0.0/16", "10.7.0.0/16\" has no next hop"),
                              ("route replace 10.7.0.0/16", "10.7.0.0/16\" has no next hop"),
                              ("route add 10.7.0.0/16 blackhole via 10.0.1.2", "wanted: route"),
                              ("route add 10.7.0.0/16 via 10.0.1.2 blackhole", "wanted: route"),
                              ("route add 10.7.0.0/16 via blackhole", "blackhole"),
                              ("route add 10.7.0.0/16 weight 2 via 10.0.1.2", "wanted: route"),
                              ("route delete 10.7.0.0/16 via 10.0.1.2", "delete names no next hop")):
            switch = self.switch()
            switch.event("1us", command)
            switch.refused(CONFIGURATION, "event", word)

    def test_wrong_values_are_placed(self):
        for wrong, words in (('speed = "100X"', ["port.h1.speed", "100X"]), ("mtu = 20", ["port.h1.mtu", "20"]), ("sped = 3", ["sped", "speed"])):
            switch = self.switch()
            text = switch.text().replace("[port.h1]", f"[port.h1]\n{wrong}")
            said = switch.refused(CONFIGURATION, *words, config=text)
            self.assertIn(f"sluice.toml:{self.line_of(text, wrong)}:", said)

    def test_all_mistakes_are_told_at_once(self):
        switch = self.switch()
        text = switch.text().replace("[port.h1]", '[port.h1]\nspeed = "100X"\nmtu = "x"') + '\n[[event]]\nat = "5"\ndo = "port h0 up"\n'
        (switch.folder / "sluice.toml").write_text(text)
        done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--check"])
        self.assertEqual((done.returncode, len(done.stderr.strip().splitlines())), (CONFIGURATION, 3), done.stderr)

    def test_no_configuration(self):
        switch = self.switch()
        for name, word in (("nowhere.toml", "No such file"), ("in", "")):
            done = run([Programs.sluiced, "--config", switch.folder / name])
            self.assertEqual(done.returncode, CONFIGURATION)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(word, done.stderr)

    def test_a_configuration_that_is_not_toml(self):
        for text in ("[port.h1", "\x00\x01\x02", "port = ", '"' * 1000):
            self.switch().refused(CONFIGURATION, "sluice.toml:", config=text)

    def test_check_changes_nothing(self):
        switch = self.switch(**{"buffer.size": "16MB"})
        (switch.folder / "sluice.toml").write_text(switch.text())
        before = loopback.listing(switch.folder)
        done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--check", "--report", switch.folder / "report.json"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith(f"{switch.folder}/sluice.toml: no findings\n"), done.stdout)
        self.assertEqual(loopback.listing(switch.folder), before)

    def test_check_tells_the_worst_first_and_a_run_no_notes(self):
        switch = self.switch(**{"buffer.size": "16MB"})
        for given, status, check, told in (
                ('xoff = 256\n[port.h0.queue.3]\nwred = "none"\n', CONFIGURATION, ["error", "warning", "note"], ["error", "warning"]),
                ('lossless = true\n[port.h0.queue.3]\nwred = "none"\n', 0, ["warning", "note"], ["warning"]),
                ("lossless = true\n", 0, ["note"], [])):
            text = switch.text() + f"[default]\npfc = [3, 4]\n[port.h0.priority_group.3]\n{given}"
            (switch.folder / "sluice.toml").write_text(text)
            for options, wanted in ((["--check"], check), ([], told)):
                done = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", *options])
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertNotIn("no findings", done.stdout)
                self.assertEqual([line.split(": ")[1] for line in done.stderr.splitlines()], wanted)

    def test_a_command_line_that_cannot_be(self):
        for arguments in ([], ["--config"], ["--config", "x", "--bogus"], ["--config", "x", "--seed", "-1"],
                          ["--config", "x", "--duration", "5"], ["--config", "x", "y"]):
            done = run([Programs.sluiced, *arguments])
            self.assertEqual(done.returncode, CONFIGURATION, arguments)
            self.assertRegex(done.stderr, r"\Asluiced: .+; see: sluiced --help\n\Z", arguments)

    def test_a_buffer_that_no_machine_has(self):
        """Refused with the sum and what to do, not killed later."""
        switch = self.switch()
        switch.section("buffer", size="400GB")
        switch.section("watchdog", action="off")  # it warns of how long such a buffer takes to drain
        said = switch.refused(CONFIGURATION, "buffer.size", "the switch takes", "packet buffers", "[memory]", "write a smaller size")
        self.assertIn(f"sluice.toml:{self.line_of(switch.text(), 'size = ')}:", said)
        self.assertEqual(loopback.listing(switch.folder / "out"), set())

    def test_a_buffer_that_its_cgroup_has_no_room_for(self):
        """Before, the kernel killed it without a word."""
        with memory_cgroup(self, 300_000_000) as inside:
            switch = self.switch()
            switch.section("buffer", size="100MB")
            (switch.folder / "sluice.toml").write_text(switch.text())
            done = inside([Programs.sluiced, "--config", switch.folder / "sluice.toml"])
            self.assertEqual(done.returncode, CONFIGURATION, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertRegex(done.stderr, r"the switch takes \d+\.\d MB \(packet buffers .*\) of memory, and the cgroup /\S* has \d+\.\d MB of 300\.0 MB left \[memory\]")
            switch.section("buffer", size="16MB")
            (switch.folder / "sluice.toml").write_text(switch.text())
            done = inside([Programs.sluiced, "--config", switch.folder / "sluice.toml"])
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_sum_is_what_a_run_takes(self):
        if any(mark in pathlib.Path(Programs.sluiced).read_bytes() for mark in (b"__asan_init", b"__tsan_init")):
            self.skipTest("a sanitizer takes memory of its own")
        for size in ("1MB", "64MB"):
            switch = self.switch()
            switch.section("buffer", size=size)
            (switch.folder / "sluice.toml").write_text(switch.text())
            checked = run([Programs.sluiced, "--config", switch.folder / "sluice.toml", "--check"])
            told = int(re.search(r"^    sum +(\d+)", checked.stdout, re.M).group(1))
            command = f"import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
            done = run([sys.executable, "-c", command, Programs.sluiced, "--config", switch.folder / "sluice.toml"])
            taken = int(done.stdout.split()[-1]) * 1024
            self.assertLessEqual(taken, told, size)
            if size == "1MB":  # packet buffers are made as they are needed
                self.assertLessEqual(told, taken + 64_000_000, size)


class RealClock(loopback.Case):
    """Refusals that need a started device."""

    def test_a_device_that_does_not_start(self):
        for device in ("net_nosuch0", "net_pcap1,iface=nosuch0", "net_af_packet1,iface=nosuch0", "net_pcap1,bogus=1"):
            switch = Switch(self, hosts=2, device="net_null{n}", clock="real")
            switch.refused(FAILED, "port h1", device, config=switch.text().replace('"net_null1"', f'"{device}"'))

    def test_a_device_that_would_write_beyond_a_packet_buffer(self):
        for device in ("net_null1,size=2049", "net_null1,size=64,copy=1,size=0x1000", "net_null1,size=-1"):
            switch = Switch(self, hosts=2, device="net_null{n}", clock="real")
            text = switch.text().replace('"net_null1"', f'"{device}"')
            switch.refused(CONFIGURATION, "port.h1.device", "larger than a packet buffer", "at most 2048", config=text)

    def test_an_input_that_is_missing_or_broken(self):
        for data in (None, b"", b"no capture"):
            switch = Switch(self, hosts=2, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", clock="real")
            for name in ("h0", "h1"):
                switch.give(name, GOOD)
            path = switch.inputs["h1"]
            path.unlink()
            if data is not None:
                path.write_bytes(data)
            switch.refused(FAILED, "port h1")

    def test_an_argument_that_a_driver_does_not_know(self):
        switch = Switch(self, hosts=1, device="net_null{n},size=64,foo=1", clock="real")
        switch.refused(FAILED, "port h0", 'net_null has no argument "foo"; do: write of these: size=<int>')

    def test_a_device_whose_other_side_maps_packets_and_no_hugepages(self):
        switch = Switch(self, hosts=1, device="net_virtio_user{n},path=/dev/vhost-net", clock="real", eal=["--no-huge"])
        switch.refused(FAILED, "net_virtio_user needs", "MB of hugepages", "nr_hugepages")

    def test_a_pci_device_that_is_not_there(self):
        switch = Switch(self, hosts=1, device="0000:ff:1f.7", clock="real")
        switch.refused(FAILED, "0000:ff:1f.7")


if __name__ == "__main__":
    loopback.main()
