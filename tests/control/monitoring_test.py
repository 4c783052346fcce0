#!/usr/bin/python3
"""conf/monitoring is what tools/workshop/monitoring.py makes, and every alert fires on what it is for and on nothing else; with --long: a Prometheus that scrapes a switch in a storm says so and answers every query of the dashboard.

Grafana is in no distribution's archive: its dashboard is judged by its queries alone.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

import control
import loopback
from control import Case, Programs, Running, Switch
from waiting import wait_for

FOLDER = loopback.ROOT / "conf" / "monitoring"
MAKER = loopback.ROOT / "tools" / "workshop" / "monitoring.py"
HAS_PROMETHEUS = shutil.which("promtool") is not None and shutil.which("prometheus") is not None

INSTANCE = 'instance="a:1"'
# Over time, a sample each 5 s: when an alert fires, and that it ends.
COURSES = {
    "a storm of ten seconds": ("SluicePauseStorm", {"sluice_watchdog_detected_total": "0x11 1x300", "sluice_watchdog_restored_total": "0x13 1x300"},
                               {"55s": False, "65s": True, "80s": True, "7m": False}),
    "a storm of ten minutes": ("SluicePauseStorm", {"sluice_watchdog_detected_total": "0x11 1x300", "sluice_watchdog_restored_total": "0x131 1x300"},
                               {"65s": True, "9m": True, "12m": False}),
    "lossless packets lost": ("SluiceNotLossless", {"sluice_verdict_lossless": "1x11 0x300", "sluice_verdict_lost_packets_total": "0x11 7x300"},
                              {"55s": False, "65s": True, "9m": True, "12m": False}),
    "frames of no class lost": ("SluiceNotLossless", {"sluice_verdict_lossless": "0x300", "sluice_verdict_missed_packets_total": "5x11 7x300"},
                                {"55s": False, "65s": True, "12m": False}),
}
# Each alert's series that make it fire, and those that come near and do not. `AxN` of promtool: N more samples, a minute apart.
FIRES = {
    "SluiceDown": ({f'up{{job="sluice",{INSTANCE}}}': "0x10"}, {f'up{{job="sluice",{INSTANCE}}}': "1x10"}),
    "SluiceNotLossless": ({"sluice_verdict_lossless": "1 0x9"}, {"sluice_verdict_lossless": "0x10", "sluice_verdict_lost_packets_total": "7x10",
                                                                 "sluice_verdict_missed_packets_total": "7x10"}),
    "SluiceLosslessDrops": ({'sluice_ports_lossless_drops_total{port="h1",reason="watchdog_drop"}': "0x6 3x4"},
                            {'sluice_ports_lossless_drops_total{port="h1",reason="watchdog_drop"}': "3x10"}),
    "SluiceHeadroomOverrun": ({'sluice_ports_priority_groups_headroom_overruns_total{port="h1",priority="3"}': "0x6 1x4"},
                              {'sluice_ports_priority_groups_headroom_overruns_total{port="h1",priority="3"}': "1x10"}),
    "SluiceHeadroomNearlyFull": (
        {"sluice_ports_priority_groups_headroom_watermark_bytes": "81x10", "sluice_ports_priority_groups_headroom_size_bytes": "100x10"},
        {"sluice_ports_priority_groups_headroom_watermark_bytes": "79x10", "sluice_ports_priority_groups_headroom_size_bytes": "100x10"}),
    "SluicePauseStorm": ({"sluice_watchdog_detected_total": "0x5 2x5", "sluice_watchdog_restored_total": "0x5 1x5"},
                         {"sluice_watchdog_detected_total": "2x10", "sluice_watchdog_restored_total": "2x10"}),
    "SluicePaused": ({'sluice_ports_pfc_rx_paused_seconds_total{port="h1",priority="3"}': "0+7x10"},
                     {'sluice_ports_pfc_rx_paused_seconds_total{port="h1",priority="3"}': "0+5x10"}),
    "SluicePauses": ({'sluice_ports_pfc_tx_paused_seconds_total{port="h1",priority="3"}': "0+7x10"},
                     {'sluice_ports_pfc_tx_paused_seconds_total{port="h1",priority="3"}': "0+5x10"}),
    "SluiceFellBehind": ({'sluice_ports_fell_behind_total{port="h1"}': "0x6 1x4"}, {'sluice_ports_fell_behind_total{port="h1"}': "1x10"}),
    "SluiceMissed": ({'sluice_ports_imissed_total{port="h1"}': "0x6 9x4"}, {'sluice_ports_imissed_total{port="h1"}': "9x10"}),
    "SluiceReceiveErrors": ({'sluice_ports_rx_errors_total{port="h1"}': "0x6 9x4"}, {'sluice_ports_rx_errors_total{port="h1"}': "9x10"}),
    "SluiceCnpDropped": (
        {f'sluice_ports_cnp_packets_total{{port="h1",{INSTANCE}}}': "0+9x10", f'sluice_ports_cnp_sent_packets_total{{port="h2",{INSTANCE}}}': "0+8x10"},
        {f'sluice_ports_cnp_packets_total{{port="h1",{INSTANCE}}}': "5+9x10", f'sluice_ports_cnp_sent_packets_total{{port="h2",{INSTANCE}}}': "0+9x10"}),
    "SluiceFlaps": ({'sluice_ports_flaps_total{port="h1"}': "0x3 4x7"}, {'sluice_ports_flaps_total{port="h1"}': "0x3 1x7"}),
    "SluiceLinkDown": ({'sluice_ports_link_up{port="h1"}': "1x3 0x6"}, {'sluice_ports_link_up{port="h1"}': "1x10"}),
    "SluiceLedger": ({"sluice_ledger_balanced": "0x10"}, {"sluice_ledger_balanced": "1x10"}),
}

STORM = """
[buffer]
size = "2MB"
[default]
speed = "10G"
[host.default]
cc = "none"
[port.h1]
address = ["10.0.1.1/24"]
[port.h2]
address = ["10.0.2.1/24"]
[host.h1]
address = "10.0.1.2"
[host.h2]
address = "10.0.2.2"
[[flow]]
from = "h1"
to = "h2"
message = "1MB"
stop = "50ms"
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Files(Case):
    def test_they_are_what_the_catalogue_makes(self):
        done = subprocess.run([MAKER, Programs.sluiced, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_unknown_metric_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "tools" / "workshop" / "monitoring.py"
            other.parent.mkdir(parents=True)
            other.write_text(MAKER.read_text().replace("sluice_ports_flaps_total", "sluice_ports_flips_total"))
            done = subprocess.run(["python3", other, Programs.sluiced], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("sluice_ports_flips_total is not a metric", done.stderr)

    def test_remedies_are_commands(self):
        remedies = re.findall(r'remedy: "(.*)"', (FOLDER / "alerts.yml").read_text())
        self.assertEqual(len(remedies), len(FIRES))
        commands = {each.removeprefix("--json ") for remedy in remedies for each in re.findall(r"sluicectl ((?:--json )?\w+)", remedy)}
        self.assertGreater(len(commands), 4)
        for word in commands:
            done = subprocess.run([Programs.sluicectl, "help", word.split()[0]], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, word)

    def test_each_alert_has_its_case(self):
        self.assertEqual([line.split()[-1] for line in (FOLDER / "alerts.yml").read_text().splitlines() if "- alert:" in line], list(FIRES))


class InAFolder(Case):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="sluice-monitoring-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        shutil.copy(FOLDER / "alerts.yml", self.folder)

@unittest.skipUnless(shutil.which("promtool"), "where promtool is installed")
class Rules(InAFolder):
    def promtool(self, *words):
        done = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_alert_fires_on_what_it_is_for_alone(self):
        self.promtool("check", "rules", "alerts.yml")
        self.promtool("check", "config", FOLDER / "prometheus.yml")
        self.prove("1m", [(name, series, {"9m": fires}) for name, cases in FIRES.items() for fires, series in zip((True, False), cases)])

    def test_alerts_begin_and_end(self):
        self.prove("5s", COURSES.values())

    def prove(self, interval, cases):
        """Each: an alert, series, and at which times it fires."""
        tests = [{"interval": interval, "input_series": [{"series": key, "values": values} for key, values in series.items()],
                  "promql_expr_test": [{"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})', "eval_time": at,
                                        "exp_samples": [{"labels": "{}", "value": 1}] if fires else []} for at, fires in times.items()]}
                 for name, series, times in cases]
        (self.folder / "test.yml").write_text(json.dumps({"rule_files": ["alerts.yml"], "evaluation_interval": interval, "tests": tests}))
        self.promtool("test", "rules", "test.yml")


@unittest.skipUnless(loopback.LONG and HAS_PROMETHEUS, "with --long, and where Prometheus is installed")
class Prometheus(InAFolder):
    def ask(self, port, path, **words):
        address = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return {"status": f"{error.code}: {error.read()}"}  # 503 while it starts
        except OSError:
            return {"status": "not there"}

    def test_a_switch_in_a_storm_is_seen(self):
        metrics, own = free_port(), free_port()
        running = Running(Switch(self, hosts=0), "--metrics", str(metrics), config=STORM)
        config = (FOLDER / "prometheus.yml").read_text().replace("127.0.0.1:9464", f"127.0.0.1:{metrics}").replace("5s", "1s")
        (self.folder / "prometheus.yml").write_text(config)
        with open(self.folder / "log", "w") as log:
            server = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{own}", "--storage.tsdb.path=data"],
                                      cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

        def firing():
            alerts = self.ask(own, "alerts").get("data", {}).get("alerts", [])
            return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

        def samples():
            return self.ask(own, "query", query="count_over_time(sluice_verdict_lossless[1m])").get("data", {}).get("result", [])

        running.ctl("clock run 1ms")
        wait_for(samples, lambda found: found and int(found[0]["value"][1]) > 1, alive=lambda: server.poll() is None)
        self.assertEqual(firing(), set())
        running.ctl("fault h2 storm_for 10s")
        running.ctl("fault h2 storm_classes [3]")
        running.ctl("clock run 400ms")
        wait_for(firing, lambda names: {"SluicePauseStorm", "SluiceNotLossless"} <= names, alive=lambda: server.poll() is None)

        def queries_without_an_answer():
            empty = set()
            for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
                for target in panel.get("targets", []):
                    query = target["expr"].replace("$instance", ".*").replace("$port", ".*").replace("$__rate_interval", "1m")
                    answer = self.ask(own, "query", query=query)
                    self.assertEqual(answer["status"], "success", f"{query}: {answer}")
                    if not answer["data"]["result"]:
                        empty.add(panel["title"])
            return empty

        # It has one way to each host, and workers have turns in real time only. A rate wants two scrapes of a new series.
        wait_for(queries_without_an_answer, lambda empty: empty == {"ECMP shares", "Longest turn", "Share of time busy"})


if __name__ == "__main__":
    control.main()
