"""The common part of the loopback tests: make a switch, give it captures, run it, read its output.

A test file defines unittest cases and ends with `loopback.main()`. It is run as

    NAME_test.py SLUICED SLUICE_TRAFFIC [--update] [TEST...]

and its last line is `N passed, N failed[, N skipped]`, N being test methods. `Switch` is the standard set-up: hosts h0,
h1, ... each on a port of its own name, host n with 10.0.n.2 and 2001:db8:n::2, the switch with 10.0.n.1 and
2001:db8:n::1. `roce_host` puts a simulated host behind a port, `flow_of_hosts` has them send. Every run is checked against the ledger, port by port, before a test looks at anything else.
"""

import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "workshop" / "topology"))

from client import connect  # noqa: E402
from figures import catalogue  # noqa: E402
from waiting import PATIENCE_S  # noqa: E402

LONG, SOAK = (os.environ.get(f"SLUICE_{word}") == "1" for word in ("LONG", "SOAK"))
NANOSECOND_MAGIC = 0xA1B23C4D
# The buffer of a test under the virtual clock that sets none.
BUFFER = "2MB"
ETHERNET = 1

Frame = collections.namedtuple("Frame", "at_ns wire bytes")
Frame.__doc__ = "A frame of a capture: timestamp, length on the wire without FCS, and what the capture holds of it."


class Programs:
    """Set by main()."""

    sluiced = None
    traffic = None
    update = False


# --- captures ---------------------------------------------------------------------------------------------------


def read_pcap(path):
    """The frames of a little-endian nanosecond Ethernet capture, which is what the switch writes."""
    data = pathlib.Path(path).read_bytes()
    magic, major, minor, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, link) == (NANOSECOND_MAGIC, 2, 4, ETHERNET), (path, hex(magic), link)
    frames, at = [], 24
    while at < len(data):
        second, fraction, captured, wire = struct.unpack_from("<IIII", data, at)
        assert at + 16 + captured <= len(data), f"{path}: cut in a record"
        frames.append(Frame(second * 10**9 + fraction, wire, data[at + 16:at + 16 + captured]))
        at += 16 + captured
    return frames


def pcap_bytes(frames, link=ETHERNET):
    """A capture of Frames or (at_ns, bytes) pairs."""
    out = [struct.pack("<IHHiIII", NANOSECOND_MAGIC, 2, 4, 0, 0, 262144, link)]
    for frame in frames:
        at_ns, data = frame[0], frame[-1]
        wire = frame.wire if isinstance(frame, Frame) else len(data)
        out.append(struct.pack("<IIII", at_ns // 10**9, at_ns % 10**9, len(data), wire) + data)
    return b"".join(out)


def wire_ps(frame_bytes, gigabits=100):
    """Time of a frame on the wire: FCS, preamble and gap are 24 bytes."""
    return (frame_bytes + 24) * 8000 // gigabits


# --- the switch -------------------------------------------------------------------------------------------------


def mac(n):
    return f"02:00:00:00:00:{n + 1:02x}"


def gateway_mac(n):
    return f"02:00:00:00:ff:{n + 1:02x}"


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {toml(item)}' for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return json.dumps(value)


def table(header, keys):
    return "\n".join([header] + [f"{key} = {toml(value)}" for key, value in keys.items()]) + "\n"


def flow(kind, sender="h0", to="h1", **keys):
    """A flow of a recipe (tools/traffic/README.md); `from` is `sender`, other keys as they are there."""
    keys = {"kind": kind, "from": sender, **({"to": to} if to else {}), **keys}
    return table("[[flow]]", keys)


class Outcome:
    """The files of a run. `frames[port]` are the frames of its output capture."""

    def __init__(self, done, report, frames, raw):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.report, self.frames, self.raw = report, frames, raw

    def port(self, name):
        return self.report["ports"][name]

    def drops(self, name=None):
        """Drops by reason, of one port or of all."""
        total = collections.Counter()
        for port, counters in self.report["ports"].items():
            if name in (None, port):
                total.update(counters["drops"])
        return dict(total)

    def events(self):
        return [(event["at_ns"], event["kind"]) for event in self.report["events"]]


class Switch:
    """A configuration being written, and a folder for its captures."""

    def __init__(self, test, hosts=3, device="net_pcap{n},{rx}tx_pcap={folder}/out/{name}.pcap", **keys):
        self.test = test
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-loopback-"))
        test.addCleanup(lambda: subprocess.run(["rm", "-rf", str(self.folder)], check=True))
        (self.folder / "in").mkdir()
        (self.folder / "out").mkdir()
        self.device = device
        self.top = {"clock": "virtual", **keys}
        self.sections = {}
        self.ports = {}
        self.neighbors = []
        self.rest = []
        self.inputs = {}
        for n in range(hosts):
            self.host(n)

    def host(self, n, name=None, **keys):
        """Port `name` and the host behind it."""
        name = name or f"h{n}"
        self.ports[name] = {
            "mac": gateway_mac(n), "address": [f"10.0.{n}.1/24", f"2001:db8:{n}::1/64"], **keys}
        for address in (f"10.0.{n}.2", f"2001:db8:{n}::2"):
            self.neighbor(address, name, mac(n))
        return name

    def roce_host(self, name, **keys):
        """A simulated host behind port `name` (h0, h1, ...), with the addresses of host n; its port takes no input."""
        n = int(name[1:])
        if name not in self.ports:
            self.host(n)
        self.section(f"host.{name}", **{"address": f"10.0.{n}.2", "mac": mac(n), **keys})
        return name

    def flow_of_hosts(self, senders, to, **keys):
        """A [[flow]] of simulated hosts, by their names."""
        self.rest.append(table("[[flow]]", {"from": senders, "to": to, **keys}))

    def port(self, name, **keys):
        self.ports.setdefault(name, {}).update(keys)

    def default(self, **keys):
        self.sections["default"] = keys

    def section(self, header, **keys):
        self.sections[header] = keys

    def limit(self, port, queue, cells):
        """The queue takes so many cells of 256 bytes and no more; its port's classes are lossy."""
        self.port(port, qos="lossy")
        self.section(f"port.{port}.queue.{queue}", size=0, static_th=cells * 256)

    def neighbor(self, address, port, to, **keys):
        self.neighbors.append({"address": address, "port": port, "mac": to, **keys})

    def neighbor_keys(self, address, **keys):
        for neighbor in self.neighbors:
            if neighbor["address"] == address:
                neighbor.update(keys)

    def route(self, prefix, *via):
        self.rest.append(table("[[route]]", {"prefix": prefix, "via": list(via) or "blackhole"}))

    def event(self, at, do):
        self.rest.append(table("[[event]]", {"at": at, "do": do}))

    def give(self, port, frames):
        """Input of a port: Frames or (at_ns, bytes) pairs."""
        path = self.folder / "in" / f"{port}.pcap"
        path.write_bytes(pcap_bytes(frames))
        self.inputs[port] = path
        return path

    def recipe(self, *flows, hosts=None, extra=None, **keys):
        """Has sluice-traffic make the inputs, for hosts that have a port; `extra`: keys of a host, by name."""
        text = table("", {"seed": 1, **keys})
        for name in hosts or self.ports:
            n = int(name[1:])
            text += table(f"[host.{name}]", {
                "mac": mac(n), "gateway_mac": gateway_mac(n), "ip": [f"10.0.{n}.2", f"2001:db8:{n}::2"],
                **((extra or {}).get(name, {}))})
        path = self.folder / "recipe.toml"
        path.write_text(text + "".join(flows))
        done = run([Programs.traffic, "generate", path, "--out", self.folder / "in"])
        self.test.assertEqual(done.returncode, 0, done.stderr)
        for capture in sorted((self.folder / "in").glob("*.pcap")):
            if read_pcap(capture):
                self.inputs[capture.stem] = capture

    def sent(self, name):
        """The frames that go into a port."""
        return read_pcap(self.inputs[name]) if name in self.inputs else []

    def text(self, **overrides):
        top = {**self.top, **overrides}
        if top["clock"] == "virtual" and "buffer" not in self.sections:
            top.setdefault("buffer.size", BUFFER)
        lines = [table("", top)]
        lines += [table(f"[{header}]", keys) for header, keys in self.sections.items()]
        for n, (name, keys) in enumerate(self.ports.items()):
            rx = f"rx_pcap={self.inputs[name]}," if name in self.inputs else ""
            device = self.device.format(n=n, name=name, rx=rx, folder=self.folder)
            lines.append(table(f"[port.{name}]", {"device": device, **keys}))
        lines += [table("[[neighbor]]", keys) for keys in self.neighbors]
        return "\n".join(lines + self.rest)

    def run(self, *arguments, config=None, status=0, balanced=True, environment=None, script=None, **overrides):
        """Runs sluiced; `overrides` are keys of the top of the configuration.

        `script`: called with a client of the running switch, which is stopped when it returns (`until` makes one)."""
        path = self.folder / "sluice.toml"
        path.write_text(config if config is not None else self.text(**overrides))
        report_path = self.folder / "report.json"
        report_path.unlink(missing_ok=True)
        for old in (self.folder / "out").iterdir():
            old.unlink()
        command = [Programs.sluiced, "--config", path, "--report", report_path, *arguments]
        done = run_by(script, command, self.folder / "sluice.sock") if script else run(command, environment)
        self.test.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        report, frames, raw = None, {}, {}
        if report_path.exists():
            raw["report"] = report_path.read_bytes()
            report = json.loads(raw["report"])
        for capture in sorted((self.folder / "out").glob("*.pcap")):
            raw[capture.stem] = capture.read_bytes()
            if status == 0 and raw[capture.stem][:4] == struct.pack("<I", NANOSECOND_MAGIC):
                frames[capture.stem] = read_pcap(capture)
        outcome = Outcome(done, report, frames, raw)
        if balanced and status == 0:
            self.check_accounts(outcome)
        return outcome

    def check_accounts(self, outcome):
        """Every frame is somewhere: in the ledger as a whole, and at every port; and every figure is in the catalogue."""
        check = self.test.assertEqual
        report = outcome.report
        check(catalogue(Programs.sluiced).unknown(report), [], "no row in control/report/figures/rows")
        ledger, ports = report["ledger"], report["ports"]
        check(ledger["rx"] + ledger["injected"] + ledger["generated"],
              sum(ledger[key] for key in ("tx", "dropped", "punted", "consumed", "queued")), ledger)
        check(ledger["balanced"], True)
        check(ledger["rx"], sum(port["rx"]["packets"] for port in ports.values()))
        check(ledger["tx"], sum(port["tx"]["packets"] for port in ports.values()))
        check(ledger["dropped"], sum(sum(port["drops"].values()) for port in ports.values()))
        ours = {name: port["tx"]["packets"] - sum(queue["tx_packets"] for queue in port["queues"]) for name, port in ports.items()}
        self.test.assertGreaterEqual(min(ours.values(), default=0), 0)  # frames that the switch itself has made
        replied = sum(port.get("replied_packets", 0) + port.get("mirrored_packets", 0) for port in ports.values())
        ways = [wire[way] for wire in report["wires"].values() for way in ("forward", "backward")]
        replied += sum(way["made_packets"] for way in ways) + report.get("trimmed_packets", 0)
        self.test.assertLessEqual(sum(ours.values()), ledger["generated"] - replied)
        check(ledger["punted"], sum(sum(port.get("punted", {}).values()) for port in ports.values()))
        check(ledger["injected"], sum(port.get("injected_packets", 0) + port.get("returned_packets", 0) for port in ports.values()))
        for name, frames in outcome.frames.items():
            check(ports[name]["tx"]["packets"], len(frames), name)
            check(ports[name]["tx"]["bytes"], sum(frame.wire for frame in frames), name)
            check(ours[name], sum(is_mac_control(frame.bytes) for frame in frames), name)
        for name, port in ports.items():
            for n, queue in enumerate(port["queues"]):
                at_least = max(queue["watermark_bytes"], queue["occupancy_bytes"], queue["user_deepest_bytes"], queue["tx_packets"] > 0)
                self.test.assertGreaterEqual(queue["deepest_bytes"], at_least, f"{name}.{n}")
        if report["clock"] != "virtual":
            return
        check(sum(ours.values()), ledger["generated"] - replied)
        simulated = {host["port"]: host for host in report["hosts"].values()}
        for name, port in ports.items():
            sent = self.sent(name)
            elsewhere = port["lost_on_wire_packets"] + port["imissed"] + port["waiting_packets"]
            host = simulated.get(name)
            check(port["rx"]["packets"] + elsewhere, host["sent_packets"] + host["pauses_sent"] if host else len(sent), name)
            if host is None and elsewhere == 0:
                check(port["rx"]["bytes"], sum(len(frame.bytes) for frame in sent), name)
            if ledger["queued"] == 0:  # after a drain the buffer is empty, and hosts have what was sent to them
                if host:
                    check(host["received_packets"] + host["overrun_packets"], port["tx"]["packets"] - ours[name], name)
                used = [group[part] for group in port["priority_groups"] for part in ("reserved_bytes", "shared_bytes", "headroom_bytes")]
                used += [queue["occupancy_bytes"] for queue in port["queues"]]
                check(max(used), 0, name)
        check(ledger["queued"], sum(queue["occupancy_packets"] for port in ports.values() for queue in port["queues"])
              + sum(way["held_packets"] for way in ways))

    def refused(self, status, *words, config=None, **overrides):
        """Runs what must be refused: one line that holds all `words`, the exit status, and no file left behind."""
        before = listing(self.folder)
        (self.folder / "sluice.toml").write_text(config if config is not None else self.text(**overrides))
        done = run([Programs.sluiced, "--config", self.folder / "sluice.toml", "--report", self.folder / "report.json",
                    "--trace", self.folder / "trace.json", "--duration", "10ms"])
        said = done.stderr.strip().splitlines()
        self.test.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.test.assertEqual(len(said), 1, done.stderr)
        for word in words:
            self.test.assertIn(word, said[0])
        self.test.assertEqual(sorted(listing(self.folder) - before - {"sluice.toml"}), [], "left behind")
        return said[0]


def is_mac_control(frame):
    return frame[12:14] == b"\x88\x08"


def listing(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def run(command, environment=None):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE_S, env={**os.environ, **(environment or {})})


def until(holds):
    """A script that waits until `holds` of the switch's report, however long that takes."""
    return lambda client: client.until(holds)


def run_by(script, command, path):
    """The same for a switch that ends when it is told to, which is when `script` returns."""
    process = subprocess.Popen([str(part) for part in [*command, "--socket", path]], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        client = connect(path, process)
        script(client)
        client.close()
        process.terminate()
        out, error = process.communicate(timeout=PATIENCE_S)
    except BaseException:
        process.kill()
        print(*process.communicate())
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def verify(captures):
    """The result of sluice-traffic for the ICRCs in these captures."""
    return json.loads(run([Programs.traffic, "verify", "--json", *captures]).stdout)


def captures_folder():
    """Real captures, which are not part of the repository; None where there are none."""
    places = [os.environ.get("SLUICE_CAPTURES"), ROOT.parent / "shared" / "captures", ROOT / "shared" / "captures"]
    return next((pathlib.Path(place) for place in places if place and pathlib.Path(place).is_dir()), None)


class Case(unittest.TestCase):
    """A test case with what most of them say."""

    maxDiff = 2000

    def frames_equal(self, got, wanted, message=None):
        """Bytes of two lists of frames, one line a frame when they differ."""
        got = [frame[-1] if isinstance(frame, tuple) else frame for frame in got]
        wanted = [frame[-1] if isinstance(frame, tuple) else frame for frame in wanted]
        if got != wanted:
            self.assertEqual([data.hex() for data in got], [data.hex() for data in wanted], message)


def main():
    Programs.update = "--update" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    Programs.sluiced, Programs.traffic = (pathlib.Path(path).resolve() for path in arguments[:2])
    module = sys.modules["__main__"]
    loader = unittest.defaultTestLoader
    if arguments[2:]:
        loader.testNamePatterns = [f"*{name}*" for name in arguments[2:]]
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(loader.loadTestsFromModule(module))
    for case, reason in result.skipped:
        print(f"SKIP: {case.id().split('.')[-1]}: {reason}")
    broken = {case.test_case.id() if hasattr(case, "test_case") else case.id()
              for case, _ in result.failures + result.errors}
    passed = result.testsRun - len(broken) - len(result.skipped)
    print(f"{passed} passed, {len(broken)} failed" + (f", {len(result.skipped)} skipped" if result.skipped else ""))
    sys.exit(1 if broken else 0)
