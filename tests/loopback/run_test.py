#!/usr/bin/python3
"""tools/run with captures of the user's: what it refuses, what it keeps, and how many ports it can make."""

import os
import pathlib
import re
import resource
import subprocess
import tempfile

import loopback
from frames import plain
from loopback import Programs, pcap_bytes

SWITCH_PORTS = 256  # of one switch: lib/values/ids.hh


def stations(count):
    """A capture in which `count` stations send one packet each to the first."""
    frames = []
    for n in range(count):
        source = bytes([2, 0, 0, 0, n >> 8, n & 255])
        frames.append((1000 * n, bytes([2, 0, 0, 0, 0, 0]) + source + plain(200, source=f"10.0.{n >> 8}.{n & 255}", to="10.0.0.0")[12:]))
    return pcap_bytes(frames)


class Run(loopback.Case):
    def setUp(self):
        """A tree like the repository's, with an out/ of its own."""
        folder = tempfile.TemporaryDirectory(prefix="sluice-run-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in ("tools", "conf"):
            (self.root / name).symlink_to(loopback.ROOT / name)
        (self.root / "bin").mkdir()
        for name, program in (("sluiced", Programs.sluiced), ("sluice-traffic", Programs.traffic),
                              ("sluice-fabric", Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric")):
            (self.root / "bin" / name).symlink_to(program)
        self.capture = self.root / "mine.pcap"
        self.capture.write_bytes(stations(3))
        self.out = self.root / "out"

    def run_tool(self, *arguments, status=0, **options):
        done = subprocess.run([self.root / "tools" / "run", *arguments], capture_output=True, text=True, check=False,
                              cwd=self.root, env={**os.environ, "SLUICE_BUILD": str(self.root / "bin")}, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_assertions_are_passed_on(self):
        self.run_tool("--assert", "ledger.balanced", "--assert", "ports.h1.rx.packets eq 1", self.capture)
        said = self.run_tool("--assert", "ledger.balanced eq false", self.capture, status=4)
        self.assertIn("false: ledger.balanced eq false: it is true", said)
        self.assertTrue((self.out / "report.json").exists(), "the run itself is done")
        self.run_tool("--assert", "ports.none.mac eq 1", self.capture, status=2)
        self.assertIn("wants an expression", self.run_tool("--assert", status=2))

    def test_the_demonstration_fits_two_screens_and_ends_with_what_is_next(self):
        said = self.run_tool().splitlines()
        self.assertLess(len(said), 100)
        self.assertEqual([line[:5] for line in said if line.startswith("ACT ")], ["ACT 1", "ACT 2", "ACT 3"])
        row = next(line for line in said if line.startswith("flows.bystander.throughput_bps"))
        self.assertRegex(row, r"^\S+ +[\d.]+ Gb/s +[\d.]+ Gb/s +-[\d.]+ %$")
        self.assertEqual([line.split()[0] for line in said[-7:] if line], ["LOOK", "NEXT", "build/sluiced", "build/sluice-fabric", "tools/run", "README.md,"])
        for file in ("summary.txt", "storm/summary.txt", "incast/none.svg"):
            self.assertTrue((self.out / file).is_file(), file)

    def test_what_takes_long_tells_how_far_it_is(self):
        """`sleep` takes no time here; a log as ninja writes it."""
        script = """source tools/setup
            sleep() { command sleep 0.02; }
            slow() { echo '[1/8] a'; command sleep 0.3; echo '[6/8] b'; command sleep 0.3; }
            run_told log slow; echo over"""
        done = subprocess.run(["bash", "-c", script], cwd=self.root, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], "over")
        self.assertEqual({line.split(",")[0] for line in lines[:-1]}, {"  1 of 8 compiled", "  6 of 8 compiled"})
        self.assertRegex(lines[0], r"about \d+ min left$")

    def kept(self):
        return {str(path.relative_to(self.out)): path.read_bytes() for path in self.out.rglob("*") if path.is_file()}

    def test_what_is_refused_leaves_everything(self):
        self.run_tool(self.capture)
        before = self.kept()
        self.assertEqual(set(before), {"in/h0.pcap", "in/h1.pcap", "in/h2.pcap", "in/sluice.toml.made", "h0.pcap", "h1.pcap",
                                       "h2.pcap", "report.json", "trace.json", "buffer.svg", "summary.txt", "sluice.toml"})
        (self.root / "link.pcap").symlink_to(self.out / "in" / "h0.pcap")
        (self.root / "way").symlink_to(self.out)
        day = 86_400 * 10**9
        (self.root / "long.pcap").write_bytes(pcap_bytes([(n * 50 * 60 * 10**9, plain(200)) for n in range(101 * day // (50 * 60 * 10**9))]))
        for given, words in (("out/in/h0.pcap", "is in out/"), (self.out / "h1.pcap", "is in out/"), ("link.pcap", "is in out/"),
                             ("way/in/h0.pcap", "is in out/"), ("bin/../out/in/h0.pcap", "is in out/"), ("out", "is in out/"),
                             ("nowhere.pcap", "cannot be read"), ("tools/run", "is not a pcap"),
                             ("long.pcap", "100")):
            for captures in ([given], [self.capture, given]):
                with self.subTest(captures=captures):
                    self.assertIn(words, self.run_tool(*captures, status=1))
                    self.assertEqual(self.kept(), before)
        self.assertEqual(self.run_tool(self.capture), self.run_tool(self.capture))
        self.assertEqual(self.kept(), before)

    def test_an_edited_configuration_is_kept(self):
        self.run_tool(self.capture)
        made = (self.out / "sluice.toml").read_text()
        edited = made + "# mine\n"
        (self.out / "sluice.toml").write_text(edited)
        self.capture.write_bytes(stations(4))
        for wanted in ("out/sluice.new1.toml", "out/sluice.new1.toml"):
            said = self.run_tool(self.capture)
            self.assertIn(f"out/sluice.toml was edited and is kept; the configuration of this run is {wanted}", said)
            self.assertEqual((self.out / "sluice.toml").read_text(), edited)
            self.assertIn("[port.h3]", (self.root / wanted).read_text())
        (self.out / "sluice.new1.toml").write_text(edited)
        self.assertIn("the configuration of this run is out/sluice.new2.toml", self.run_tool(self.capture))
        self.assertEqual((self.out / "sluice.new1.toml").read_text(), edited)
        (self.out / "sluice.toml").unlink()
        self.assertNotIn("edited", self.run_tool(self.capture))
        self.assertIn("[port.h3]", (self.out / "sluice.toml").read_text())

    def test_the_demonstration_keeps_an_edited_configuration(self):
        self.run_tool(self.capture)
        edited = (self.out / "sluice.toml").read_text() + "# mine\n"
        (self.out / "sluice.toml").write_text(edited)
        self.run_tool()
        self.assertEqual((self.out / "sluice.toml").read_text(), edited)
        self.assertTrue((self.out / "storm" / "storm.svg").exists())
        self.assertEqual({path.name for path in (self.out / "incast").iterdir()},
                         {f"{name}{end}" for name in ("dcqcn", "none") for end in (".toml", ".txt", ".json", ".trace.json", ".svg")})
        self.assertFalse((self.out / "in" / "sluice.toml.made").exists())

    def test_a_full_disk_leaves_the_run_before(self):
        self.run_tool(self.capture)
        before = self.kept()
        self.capture.write_bytes(stations(300))
        bytes_of_a_file = 16 << 10
        said = self.run_tool(self.capture, status=1, preexec_fn=lambda: limit_file_size(bytes_of_a_file))
        self.assertIn("cannot be written", said)
        self.assertEqual(self.kept(), before)

    def test_as_many_stations_as_a_switch_has_ports(self):
        for count, speeds in ((51, ("1G", "100G", "800G")), (SWITCH_PORTS, ("1G", "25G", "100G", "400G", "800G"))):
            self.capture.write_bytes(stations(count))
            for speed in speeds:
                with self.subTest(count=count, speed=speed):
                    folder = self.root / f"{count}-{speed}"
                    done = loopback.run([Programs.traffic, "split", self.capture, "--out", folder, "--speed", speed])
                    self.assertEqual(done.returncode, 0, done.stderr)
                    done = loopback.run([Programs.sluiced, "--config", folder / "sluice.toml", "--check"])
                    self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.run_tool(self.capture), re.compile(r"^256 frames in, ", re.MULTILINE))


def limit_file_size(limit):
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


if __name__ == "__main__":
    loopback.main()
