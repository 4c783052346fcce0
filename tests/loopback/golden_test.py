#!/usr/bin/python3
"""A small run kept as text: every frame that came out and what was counted, line by line.

    golden_test.py SLUICED SLUICE_TRAFFIC --update      write golden/*.txt anew; look at the difference before committing it
"""

import json
import re

import loopback
from frames import plain, plain6
from loopback import Programs, Switch, flow

# Keys that will be there whatever else a report comes to say.
COUNTED = re.compile(r"end_ns|lossless|ledger\.|ecmp\.|events\[|ports\.\w+\.(rx|tx|drops|pfc|cnp_packets|flaps|queues\[\d\]\.tx_packets)\b")
GOLDEN = loopback.ROOT / "tests" / "loopback" / "golden"


class Golden(loopback.Case):
    def compare(self, name, out):
        lines = ["# port, nanoseconds, bytes of a frame of the output captures"]
        for port in sorted(out.frames):
            lines += [f"{port} {frame.at_ns} {frame.wire} {frame.bytes.hex()}" for frame in out.frames[port]]
        lines += ["# the report, in part, without what is zero"]
        lines += [line for line in self.flat("", out.report) if COUNTED.match(line)]
        text = "\n".join(lines) + "\n"
        path = GOLDEN / f"{name}.txt"
        if Programs.update:
            path.write_text(text)
        self.assertTrue(path.exists(), "run with --update to write it")
        if path.read_text() != text:
            self.assertEqual(path.read_text().splitlines(), text.splitlines())

    def flat(self, path, value):
        if isinstance(value, dict):
            for key, item in value.items():
                yield from self.flat(f"{path}.{key}" if path else key, item)
        elif isinstance(value, list):
            for n, item in enumerate(value):
                yield from self.flat(f"{path}[{n}]", item)
        elif value:
            yield f"{path} = {json.dumps(value)}"

    def test_a_little_of_everything(self):
        switch = Switch(self, hosts=4)
        switch.section("port.h2.queue.0", size=0, static_th=512)
        switch.neighbor_keys("10.0.1.2", vlan=30)
        switch.route("10.9.0.0/16", "10.0.1.2", {"address": "10.0.2.2", "weight": 2})
        switch.event("3us", "port h2 down")
        switch.event("4us", "port h2 up")
        switch.recipe(flow("roce", opcodes=["write_first", "write_last", "ack"], size=80, count=6, qps=2, gap="300ns"),
                      flow("roce", "h1", "h2", ip_version=6, size=96, count=2, ecn="ce"),
                      flow("cnp", "h1", "h0", count=2, gap="1us"), flow("pfc", "h1", to=None, pfc={"3": 65535, "4": 0}),
                      flow("udp", "h0", "10.9.0.1", to_mac=loopback.gateway_mac(0), flows=8, count=8, start="2us", gap="400ns"),
                      flow("udp", "h3", "h2", count=6, size=100), flow("tcp", "h1", "h2", count=6, size=66),
                      flow("malformed", "h3", "h1", variant=["bad_checksum", "qinq", "ttl_1", "arp"], count=4, start="1us", gap="100ns"))
        self.compare("everything", switch.run())

    def test_one_incast(self):
        switch = Switch(self, hosts=3)
        switch.section("virtual", turn="500ns")
        switch.section("port.h0.priority_group.3", size=0, static_th=512)  # two cells: it pauses
        for n in range(2):
            switch.give(f"h{n}", [(10 * n, plain(64, source=n, to=2, dscp=26, identification=k)) for k in range(5)]
                        + [(600, plain6(70, source=n, to=2))])
        self.compare("incast", switch.run())


if __name__ == "__main__":
    loopback.main()
