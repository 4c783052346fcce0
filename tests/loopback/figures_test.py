#!/usr/bin/python3
"""The catalogue of figures (control/report/figures/rows) against reports and metrics: a row for every leaf, a leaf for every row, and
every number in the metrics."""

import collections
import decimal
import re
import urllib.request

import loopback
from determinism_test import busy
from figures import catalogue
from frames import plain
from loopback import Programs, Switch, flow
from process_test import free_port
from waiting import PATIENCE_S

# Rows that no report of this file meets, by how their paths begin.
ELSEWHERE = {
    "kernel.": "namespaces: ../netns/kernel_test.py",
    "ports.{port}.capabilities.scattered_seen": "a network card: ../unit/nic/receive_losses_test.cc",
    "ports.{port}.physical.": "a network card: ../unit/control/metrics_test.cc",
    "ports.{port}.steering.": "an XDP port: ../netns/xdp_test.py",
    "ports.{port}.uncut_packets": "an interface of the kernel: ../netns/packet_test.py",
    "ports.{port}.beyond_mtu_packets": "an interface of the kernel: ../netns/packet_test.py",
    "ports.{port}.beyond_mtu_in_packets": "an XDP port: ../netns/xdp_test.py",
    "ports.{port}.refused_packets": "an XDP port: ../netns/xdp_test.py",
    "ports.{port}.tap_refused_packets": "a TAP: ../netns/tap_test.py",
}
# The last word of a path, but for labels, and its unit.
SUFFIXES = {"ns": "ns", "packets": "packets", "bytes": "bytes", "cells": "cells", "cycles": "cycles", "per_s": "1/s", "bps": "bit/s",
            "mc": "1/1000 Celsius", "ppm": "1/1000000", "permille": "1/1000"}
BASE_UNITS = {"ns": "seconds", "1/1000 Celsius": "celsius"}
TYPES = {"counter": int, "gauge": int, "number": int, "flag": bool, "text": str}
QUANTILES = {"p50": "0.5", "p99": "0.99", "p999": "0.999", "max": "1"}
HOUR_NS = 3600 * 10**9


def labels_of(path):
    return [name for names in re.findall(r"\{([a-z,]+)\}", path) for name in names.split(",")]


class Rows(loopback.Case):
    """The catalogue by itself."""

    def setUp(self):
        self.figures = catalogue(Programs.sluiced).figures

    def each(self, wrong):
        self.assertEqual([figure.path for figure in self.figures if wrong(figure)], [])

    def test_no_path_and_no_metric_comes_twice(self):
        for values in ([figure.path for figure in self.figures], [figure.metric for figure in self.figures if figure.metric]):
            self.assertEqual([value for value, count in collections.Counter(values).items() if count > 1], [])

    def test_a_row_is_whole(self):
        self.each(lambda figure: figure.kind not in TYPES)
        self.each(lambda figure: not re.fullmatch(r"[A-Z0-9][^|]*[^.]\.", figure.sentence))
        self.each(lambda figure: not re.fullmatch(r"([a-z0-9_]+|\{[a-z]+(,[a-z]+)*\}|\[\])(\.([a-z0-9_]+|\{[a-z]+(,[a-z]+)*\}|\[\]))*",
                                                  figure.path))
        self.each(lambda figure: len(set(labels_of(figure.path))) != len(labels_of(figure.path)))

    def test_a_path_says_its_unit(self):
        for figure in self.figures:
            name = [segment for segment in figure.path.split(".") if segment[0] not in "{["][-1]
            said = [unit for suffix, unit in SUFFIXES.items() if name == suffix or name.endswith("_" + suffix)]
            with self.subTest(path=figure.path):
                if said:
                    self.assertEqual([figure.unit], said)
                else:
                    self.assertIn(figure.unit, ("", "packets"))

    def test_numbers_and_flags_are_metrics_but_in_lists_that_grow(self):
        self.each(lambda figure: (figure.metric == "") != (figure.kind in ("text", "number") or "[]" in figure.path))
        self.each(lambda figure: figure.kind in ("counter", "gauge") and "[]" in figure.path)
        # A number that is not a metric is of such a list, or is a label.
        self.each(lambda figure: figure.kind == "number" and "[]" not in figure.path
                  and figure.path.rsplit(".", 1)[1] not in labels_of(figure.path))

    def test_the_name_of_a_metric_has_its_path_and_unit(self):
        for figure in self.figures:
            if not figure.metric:
                continue
            parts = [segment for segment in figure.path.split(".") if segment[0] != "{"]
            name = "_".join(["sluice", *parts])
            if figure.unit in BASE_UNITS:
                name = name.rsplit("_", 1)[0] + "_" + BASE_UNITS[figure.unit]
            self.assertEqual(figure.metric, name + ("_total" if figure.kind == "counter" else ""))


class Exposition:
    """The text format 0.0.4, read strictly: a family is HELP, TYPE and its samples; nothing comes twice."""

    def __init__(self, text):
        self.help, self.type, self.samples = {}, {}, {}
        assert text.endswith("\n")
        name = None
        for line in text[:-1].split("\n"):
            if found := re.fullmatch(r"# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\]+)", line):
                name = found[1]
                assert name not in self.help, line
                self.help[name] = found[2]
            elif found := re.fullmatch(r"# TYPE (\S+) (counter|gauge)", line):
                assert found[1] == name and name not in self.type, line
                self.type[name] = found[2]
            else:
                found = re.fullmatch(r'(\w+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\n])*"(?:,(?=[a-z])|(?=\})))+)\})? (-?\d+(?:\.\d+)?)', line)
                assert found and found[1] == name and name in self.type, line
                labels = dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', found[2] or ""))
                key = (name, frozenset(labels.items()))
                assert key not in self.samples, line
                self.samples[key] = decimal.Decimal(found[3])


class Reports(loopback.Case):
    def setUp(self):
        self.catalogue = catalogue(Programs.sluiced)
        self.met = set()

    def check(self, report, before=None):
        """Every leaf has a row, and is what the row says; no counter has fallen since the report `before`."""
        leaves = self.catalogue.leaves(report)
        self.assertEqual([leaf.path for leaf in leaves if leaf.figure is None], [], "no row in control/report/figures/rows")
        for leaf in leaves:
            kind = leaf.figure.kind
            if leaf.value is None:
                self.assertIn(kind, ("flag", "text"), leaf.path)
            elif leaf.figure.path != "asserts.[].value":  # of whatever kind the figure is that was judged
                self.assertIs(type(leaf.value), TYPES[kind], leaf)
        counted = {leaf.path: leaf.value for leaf in self.catalogue.leaves(before or {}) if leaf.figure.kind == "counter"}
        self.assertEqual([leaf.path for leaf in leaves if leaf.path in counted and leaf.value < counted[leaf.path]], [])
        self.met |= {leaf.figure for leaf in leaves}

    def scrape(self, client, at):
        """Metrics against the report of the same moment under the virtual clock, names and labels under the real one."""
        report = client.call("stats.show")
        self.check(report)
        shown = Exposition(urllib.request.urlopen(f"http://127.0.0.1:{at}/metrics", timeout=PATIENCE_S).read().decode())
        wanted = {}
        for leaf in self.catalogue.leaves(report):
            if leaf.figure.metric and leaf.value is not None:
                labels = {name: QUANTILES[value] if name == "quantile" else value for name, value in leaf.labels.items()}
                scale = 10**9 if leaf.figure.unit == "ns" else 1
                wanted[leaf.figure.metric, frozenset(labels.items())] = decimal.Decimal(int(leaf.value)) / scale
        self.assertGreater(len(wanted), 500)
        self.assertEqual(sorted(map(str, wanted.keys() ^ shown.samples.keys())), [])
        if report["clock"] == "virtual":
            self.assertEqual({key: (wanted[key], value) for key, value in shown.samples.items() if wanted[key] != value}, {})
        rows = {figure.metric: figure for figure in self.catalogue.figures if figure.metric}
        self.assertEqual(shown.help, {name: figure.sentence for name, figure in rows.items()})
        self.assertEqual(shown.type, {name: "counter" if figure.kind == "counter" else "gauge" for name, figure in rows.items()})

    def run_with_metrics(self, switch, script, *arguments, balanced=False, **keys):
        at = free_port()

        def whole(client):
            script(client)
            self.scrape(client, at)
        self.check(switch.run("--metrics", str(at), *arguments, script=whole, balanced=balanced, **keys).report)

    def everything(self):
        """Traffic of all kinds, faults, a storm, microbursts, decisions, replies, and links that come and go."""
        switch = busy(self, "500ns", watchdog={"detection": "100ms", "restoration": "100ms"})
        switch.sections["default"].update(responder=True, microburst="10KB")
        switch.section("port.h0.fault", storm_classes=[3], storm_every="100us", storm_for="150ms")
        switch.event("300ms", "port h6 down")
        switch.section("load_balance", mode="flowlet")
        switch.section("mirror.drops", file=str(switch.folder / "drops.pcapng"))
        switch.port("h1", shaper="90G")
        switch.section("port.h1.queue.0", max_rate="80G")
        switch.section("mirror.far", collector="10.0.2.2")

        def script(client):
            client.call("clock.run", **{"for": "60us"})
            before = client.call("stats.show")
            client.call("clock.run")
            self.check(client.call("stats.show"), before)
        self.run_with_metrics(switch, script, "--interactive", "--decisions", switch.folder / "decisions.jsonl")

    def a_long_gap(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain(dscp=26)), (2 * HOUR_NS, plain(dscp=26, to="192.0.2.1"))])
        self.check(switch.run("--assert", "ledger.balanced").report)

    def a_class_that_waits(self):
        """To be lossless: a queue is held, so the cells of the lossy class do not leave."""
        switch = Switch(self, hosts=3, **{"buffer.size": "300KB"})
        switch.default(qos="lossy", speed="10G", mtu=1500)
        for name, direction in (("in", "ingress"), ("out", "egress")):
            switch.section(f"pool.{name}", direction=direction, size="300KB")
        switch.section("default.queue.3", static_th=0, wred="none")
        switch.recipe(*(flow("roce", f"h{n}", "h1", size=1082, count=600, rate="9G") for n in (0, 2)))

        def script(client):
            client.call("queue.hold", port="h1", queue=3)
            client.call("clock.run", **{"for": "400us"})
            client.call("config.set", path="default.qos", value="lossless")
            self.check(client.call("stats.show"))
            client.call("queue.hold", port="h1", queue=3, hold=False)
            client.call("clock.run")
        self.run_with_metrics(switch, script, "--interactive")

    def hosts_and_flows(self):
        """An incast whose receiver echoes no CE: it is paused for, marked, and tells its symptom."""
        switch = Switch(self, hosts=0, **{"buffer.size": "1MB"})
        for name, keys in (("h0", {}), ("h1", {}), ("h2", {"echo_ce": False})):
            switch.roce_host(name, **keys)
        switch.section("wred.low", green_min=5_000, green_max=20_000)
        switch.section("port.h2.queue.3", wred="low")
        switch.flow_of_hosts(["h0", "h1"], "h2", qps=2, message="100KB", depth=2, stop="1200us")

        def script(client):
            client.call("clock.run", **{"for": "100us"})
            before = client.call("stats.show")
            client.call("clock.run")
            after = client.call("stats.show")
            self.check(after, before)
            self.assertEqual([bool(host["symptoms"]) for host in after["hosts"].values()], [False, False, True])
        self.run_with_metrics(switch, script, "--interactive", "--trace", switch.folder / "trace.json", balanced=True)

    def a_wire(self):
        switch = Switch(self, hosts=0)
        for name in ("h0", "h1"):
            switch.ports[name] = {}
        switch.section("wire.w", ports=["h0", "h1"])
        switch.section("wire.w.impair.twice", do="duplicate")
        switch.give("h0", [(n * 1000, plain(100, dport=4791)) for n in range(10)])

        def script(client):
            client.call("clock.run", **{"for": "5us"})
            before = client.call("stats.show")
            client.call("clock.run")
            self.check(client.call("stats.show"), before)
        self.run_with_metrics(switch, script, "--interactive", balanced=True)

    def trimmed_packets(self):
        switch = Switch(self, hosts=2)
        switch.default(qos="lossy-trim")
        switch.section("port.h1.queue.3", size=0, static_th="1KB")
        switch.give("h0", [(n, plain(600, dscp=26)) for n in range(10)])
        self.check(switch.run().report)

    def hosts_that_ask_for_trimmed_packets(self):
        switch = Switch(self, hosts=0)
        for name in ("h0", "h1", "h2"):
            switch.roce_host(name, recovery="selective", trim="nak")
            switch.ports[name]["qos"] = "lossy-trim"
        switch.section("port.h2.queue.3", static_th="20KB", wred="none")
        switch.flow_of_hosts(["h0", "h1"], "h2", message="100KB", messages=1)
        self.check(switch.run().report)

    def the_real_clock(self):
        switch = Switch(self, hosts=1, device="net_null{n}", clock="real")
        switch.port("h0", rx_queues=3)

        def script(client):
            client.call("worker.meter", on=True)
            client.until(lambda report: report["workers"][0].get("meter", {}).get("turns"))
        self.run_with_metrics(switch, script)

    def test_a_row_for_every_leaf_and_a_leaf_for_every_row(self):
        for part in (self.everything, self.a_long_gap, self.a_class_that_waits, self.hosts_and_flows, self.a_wire, self.trimmed_packets,
                     self.hosts_that_ask_for_trimmed_packets, self.the_real_clock):
            with self.subTest(part.__name__):
                part()
        unmet = [figure.path for figure in self.catalogue.figures if figure not in self.met]
        self.assertEqual([path for path in unmet if not path.startswith(tuple(ELSEWHERE))], [], "a row that no report has")
        self.assertEqual([prefix for prefix in ELSEWHERE if not any(path.startswith(prefix) for path in unmet)], [])


if __name__ == "__main__":
    loopback.main()
