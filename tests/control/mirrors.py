"""What the tests of mirrors to files and to collectors share: traffic that has something to mirror, and readers."""

import shutil
import subprocess

from control import Case
from frames import plain

NOWHERE = "192.0.2.1"


def tshark(test, path, *fields, options=()):
    """A row of fields for each packet."""
    if shutil.which("tshark") is None:
        test.skipTest("no tshark here; do: tools/setup test")
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=|", *options]
    done = subprocess.run([*command, *(word for field in fields for word in ("-e", field))], text=True, capture_output=True)
    test.assertEqual((done.returncode, "cut short" in done.stderr), (0, False), done.stderr)
    return [line.split("|") for line in done.stdout.splitlines()]


def counts(mirror):
    return tuple(mirror[f"{what}_packets"] for what in ("mirrored", "suppressed", "lost"))


class Mirroring(Case):
    """`switch` makes one with a mirror "m"."""

    def drops(self, count=20, size=300, **keys):
        """Every second frame of h0 goes nowhere."""
        switch = self.switch(**keys)
        switch.give("h0", [(1000 * n, plain(size, to=NOWHERE if n % 2 else 1, sport=n)) for n in range(2 * count)])
        return switch

    def write_to_h3(self, switch, workers):
        """Hosts h0 to h2 write to h3, which pauses the switch, in a lossless class and in a lossy one."""
        switch.top["workers"] = workers
        for n in range(4):
            switch.roce_host(f"h{n}", cc="none", **({"drain": "60G"} if n == 3 else {}))
        switch.flow_of_hosts(["h0", "h1", "h2"], "h3", message="100KB", messages=3, depth=2)
        switch.flow_of_hosts(["h0", "h1", "h2"], "h3", dscp=0, message="30KB", messages=2)

    def counts(self, report, name="m"):
        return counts(report["mirrors"][name])


class LiveMirrors(Case):
    def run_for(self, running, time="100us"):
        running.call("clock.run", **{"for": time})

    def counts(self, running):
        return {mirror["name"]: counts(mirror) for mirror in running.call("mirror.show")["mirrors"]}
