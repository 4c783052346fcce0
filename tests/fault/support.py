"""Two hosts write to a third through three ports at 100 Gb/s; a fault is put somewhere and the outcome compared."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

from loopback import PATIENCE_S, read_pcap  # noqa: E402

SLUICED = TRAFFIC = None  # set by main()

RECIPE_HOSTS = "seed = 1\n" + "".join(f"""
[host.h{n}]
mac = "02:00:00:00:00:0{n}"
gateway_mac = "02:00:00:00:ff:0{n}"
ip = ["10.0.{n}.2"]
speed = "100G"
""" for n in (1, 2, 3))

PORT = """
[port.h{n}]
device = "net_pcap{n},rx_pcap={folder}/in/h{n}.pcap,tx_pcap={folder}/out/h{n}.pcap"
mac = "02:00:00:00:ff:0{n}"
address = ["10.0.{n}.1/24"]

[[neighbor]]
address = "10.0.{n}.2"
port = "h{n}"
mac = "02:00:00:00:00:0{n}"
"""
GROUP = """
[default.priority_group.3]
static_th = "100KB"
"""


def flow(sender="h1", to="h3", kind="roce", **keys):
    keys = {"size": 1082, "rate": '"80G"', "duration": '"100us"'} | keys
    if "count" in keys:
        keys.pop("duration")
    lines = ["[[flow]]", f'from = "{sender}"', f'to = "{to}"', f'kind = "{kind}"']
    return "\n".join(lines + [f"{key} = {value}" for key, value in keys.items()]) + "\n"


def incast(duration="200us"):
    return flow("h1", duration=f'"{duration}"') + flow("h2", duration=f'"{duration}"', qp=0x200)


def frames_of(capture):
    """(nanoseconds, bytes) of each frame."""
    return [(frame.at_ns, frame.bytes) for frame in read_pcap(capture)]


def pfc_of(frames):
    """(nanoseconds, class-enable vector, quanta of the eight classes) of the PFC frames."""
    return [(at, *struct.unpack_from(">H", frame, 16), struct.unpack_from(">8H", frame, 18))
            for at, frame in frames if frame[12:16] == b"\x88\x08\x01\x01"]


class Result:
    def __init__(self, folder, process):
        self.exit, self.errors = process.returncode, process.stderr
        report = folder / "report.json"
        self.report = json.loads(report.read_text()) if report.exists() else None
        self.out = {name: frames_of(folder / "out" / f"{name}.pcap") for name in ("h1", "h2", "h3")} if self.report else {}
        self.bytes = [(folder / "out" / f"{name}.pcap").read_bytes() for name in self.out]

    def port(self, name):
        return self.report["ports"][name]

    def faults(self, name):
        return self.port(name)["faults"]

    def data(self, name):
        return [(at, frame) for at, frame in self.out[name] if frame[12:14] != b"\x88\x08"]


class FaultTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def make(self, recipe):
        (self.folder / "in").mkdir(exist_ok=True)
        (self.folder / "out").mkdir(exist_ok=True)
        (self.folder / "recipe.toml").write_text(RECIPE_HOSTS + recipe)
        done = subprocess.run([TRAFFIC, "generate", self.folder / "recipe.toml", "--out", self.folder / "in"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.sent = {name: frames_of(self.folder / "in" / f"{name}.pcap") for name in ("h1", "h2", "h3")}

    def start(self, config, workers=1, arguments=()):
        ports = "".join(PORT.format(n=n, folder=self.folder) for n in (1, 2, 3))
        (self.folder / "sluice.toml").write_text(f"seed = 5\nworkers = {workers}\n" + config.get("top", "") + GROUP + ports +
                                                 config.get("rest", ""))
        (self.folder / "report.json").unlink(missing_ok=True)
        done = subprocess.run([SLUICED, "--config", self.folder / "sluice.toml", "--report", self.folder / "report.json",
                               *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        return Result(self.folder, done)

    def run_switch(self, fault="", events=(), top="", arguments=()):
        """Runs with one worker and with two: the same bytes, and a ledger that balances."""
        rest = fault + "".join(f'\n[[event]]\nat = "{at}"\ndo = "{command}"\n' for at, command in events)
        one, two = (self.start({"rest": rest, "top": top}, workers, arguments) for workers in (1, 2))
        for result in (one, two):
            self.assertEqual(result.exit, 0, result.errors)
            self.assertTrue(result.report["ledger"]["balanced"])
            self.assertEqual(result.report["ledger"]["queued"], 0)
        self.assertEqual(one.bytes, two.bytes)
        self.assertEqual(one.report, two.report)
        return one

    def assert_promises(self, result):
        self.assertIs(result.report["lossless"], True)

    def assert_breaks(self, result, port, *keys):
        self.assertIn(f"not promised: fault injected on {port}: {', '.join(keys)}", result.report["verdict"]["reasons"])

    def assert_headroom_overrun(self, result, port):
        self.assertGreater(result.port(port)["drops"].get("headroom_overrun", 0), 0)
        self.assertTrue(any("dropped: headroom_overrun" in line for line in result.report["verdict"]["reasons"]))


def main(arguments):
    global SLUICED, TRAFFIC
    SLUICED, TRAFFIC = arguments
    suite = unittest.defaultTestLoader.loadTestsFromModule(__import__("__main__"))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 0 if failed == 0 and result.testsRun else 1
