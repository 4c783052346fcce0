#!/usr/bin/python3
"""Makes conf/monitoring from the catalogue of figures: alert rules and a configuration for Prometheus, and a dashboard for Grafana.

    tools/workshop/monitoring.py SLUICED          writes the files
    tools/workshop/monitoring.py SLUICED --check  exits with 1 when they are not what it would write

The tables below say what is asked; what a metric means, the dashboard has from `sluiced --metrics-reference`. A metric that is not there is
an error.
"""

import json
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "conf" / "monitoring"

PAUSE_SHARE = 0.1
MADE = "# Made by tools/workshop/monitoring.py; tests/control/monitoring_test.py compares."

# Alerts are judged as often as a switch is asked.
PROMETHEUS = f"""{MADE}
# sluiced --metrics 9464, here; one target for each switch.
global: {{scrape_interval: 5s, evaluation_interval: 5s}}
scrape_configs:
  - job_name: sluice
    static_configs:
      - targets: ["127.0.0.1:9464"]
rule_files: [alerts.yml]
"""

# name, severity, how long it holds, expression, summary, what to do
ALERTS = (
    ("SluiceDown", "critical", "30s", "up{job=\"sluice\"} == 0",
     "{{ $labels.instance }} does not answer", "journalctl -u sluiced; systemctl status sluiced"),
    ("SluiceNotLossless", "critical", "0s",
     "increase(sluice_verdict_lost_packets_total[10m]) > 0 or increase(sluice_verdict_missed_packets_total[10m]) > 0"
     " or (sluice_verdict_lossless == 0 and changes(sluice_verdict_lossless[10m]) > 0)",
     "{{ $labels.instance }} lost lossless packets in the last ten minutes, or broke another promise", "sluicectl --json stats show has verdict.reasons"),
    ("SluiceLosslessDrops", "critical", "0s", "increase(sluice_ports_lossless_drops_total[5m]) > 0",
     "lossless packets that came in on {{ $labels.port }} are dropped: {{ $labels.reason }}", "sluicectl why {{ $labels.port }}"),
    ("SluiceHeadroomOverrun", "critical", "0s", "increase(sluice_ports_priority_groups_headroom_overruns_total[5m]) > 0",
     "the headroom of {{ $labels.port }}, priority {{ $labels.priority }}, is too small, or its peer does not obey PFC",
     "sluiced headroom --speed ... says what it takes; sluicectl why {{ $labels.port }}"),
    ("SluiceHeadroomNearlyFull", "warning", "0s",
     "sluice_ports_priority_groups_headroom_watermark_bytes > 0.8 * sluice_ports_priority_groups_headroom_size_bytes > 0",
     "{{ $labels.port }}, priority {{ $labels.priority }}, has used more than four fifths of its headroom",
     "sluicectl pfc show {{ $labels.port }}"),
    # The second part: a storm that lasts longer than the first sees.
    ("SluicePauseStorm", "critical", "0s",
     "increase(sluice_watchdog_detected_total[5m]) > 0 or sluice_watchdog_detected_total - sluice_watchdog_restored_total > 0",
     "the peer of {{ $labels.port }} held queue {{ $labels.queue }} paused without end", "sluicectl watchdog show"),
    ("SluicePaused", "warning", "1m", f"rate(sluice_ports_pfc_rx_paused_seconds_total[1m]) > {PAUSE_SHARE}",
     "the peer of {{ $labels.port }} pauses priority {{ $labels.priority }} for {{ $value | humanizePercentage }} of the time",
     "the peer is slow, or congested behind it: look there"),
    ("SluicePauses", "warning", "1m", f"rate(sluice_ports_pfc_tx_paused_seconds_total[1m]) > {PAUSE_SHARE}",
     "the peer of {{ $labels.port }} is paused in priority {{ $labels.priority }} for {{ $value | humanizePercentage }} of the time",
     "sluicectl why {{ $labels.port }}: lower the marking thresholds of the queue that fills it"),
    ("SluiceFellBehind", "warning", "0s", "increase(sluice_ports_fell_behind_total[5m]) > 0",
     "a worker did not keep up with {{ $labels.port }}, and paused its peer", "sluicectl worker show; sluiced doctor"),
    ("SluiceMissed", "critical", "0s", "increase(sluice_ports_imissed_total[5m]) > 0",
     "the receive ring of {{ $labels.port }} had no room: frames of unknown class are lost", "sluicectl worker show; sluiced doctor"),
    ("SluiceReceiveErrors", "critical", "0s", "increase(sluice_ports_rx_errors_total[5m]) > 0",
     "the device of {{ $labels.port }} received frames with errors: frames of unknown class are lost",
     "sluicectl port show {{ $labels.port }}; check the cable, the module and the MTU at both ends"),
    ("SluiceCnpDropped", "warning", "0s",
     "(sum by (instance) (sluice_ports_cnp_packets_total) - sum by (instance) (sluice_ports_cnp_sent_packets_total))"
     " - (sum by (instance) (sluice_ports_cnp_packets_total offset 5m) - sum by (instance) (sluice_ports_cnp_sent_packets_total offset 5m)) > 0",
     "{{ $value }} congestion notifications came to {{ $labels.instance }} in five minutes and were not sent on",
     "give CNPs a class of strict priority: sluicectl queue show"),
    ("SluiceFlaps", "warning", "0s", "increase(sluice_ports_flaps_total[10m]) > 2",
     "the link of {{ $labels.port }} comes and goes", "check the cable and the module"),
    ("SluiceLinkDown", "warning", "1m", "sluice_ports_link_up == 0", "the link of {{ $labels.port }} is down", "ip link; check the cable"),
    ("SluiceLedger", "critical", "1m", "sluice_ledger_balanced == 0",
     "{{ $labels.instance }} does not account for every frame", "this is a fault of the switch: keep what sluicectl --json stats show says"),
)

HERE = "{instance=~\"$instance\"}"
PORT = "{instance=~\"$instance\", port=~\"$port\"}"


def rate(metric, by="port"):
    return f"sum by ({by}) (rate({metric}{PORT}[$__rate_interval]))"


# row: (title, panel...); panel: (title, unit, [(legend, expression)])
ROWS = (
    ("Is it lossless?",
     ("Verdict", "bool_yes_no", [("{{instance}}", f"sluice_verdict_lossless{HERE}")]),
     ("Lossless packets lost", "short", [("{{instance}}", f"sluice_verdict_lost_packets_total{HERE}")]),
     ("Storms now", "short", [("{{port}} queue {{queue}}", f"sluice_watchdog_detected_total{PORT} - sluice_watchdog_restored_total{PORT}")]),
     ("Drops", "pps", [("{{port}} {{reason}}", rate("sluice_ports_drops_total", "port, reason"))])),
    ("Traffic",
     ("Received", "bps", [("{{port}}", f"8 * {rate('sluice_ports_rx_bytes_total')}")]),
     ("Sent", "bps", [("{{port}}", f"8 * {rate('sluice_ports_tx_bytes_total')}")]),
     ("Links up", "short", [("{{port}}", f"sluice_ports_link_up{PORT}")]),
     ("ECMP shares", "percentunit", [("{{group}} {{member}}", f"sum by (group, member) (rate(sluice_ecmp_members_bytes_total{HERE}[$__rate_interval]))"
                                      f" / ignoring (member) group_left sum by (group) (rate(sluice_ecmp_members_bytes_total{HERE}[$__rate_interval]))")])),
    ("Congestion",
     ("Queues", "bytes", [("{{port}} queue {{queue}}", f"sluice_ports_queues_occupancy_bytes{PORT}")]),
     ("Packets marked CE", "pps", [("{{port}} queue {{queue}}", rate("sluice_ports_queues_ecn_marked_packets_total", "port, queue"))]),
     ("CNPs", "pps", [("received on {{port}}", rate("sluice_ports_cnp_packets_total")), ("sent on {{port}}", rate("sluice_ports_cnp_sent_packets_total"))]),
     ("Latency from enqueue to dequeue, p99", "s", [("{{port}} queue {{queue}}", "sluice_ports_queues_latency_seconds{instance=~\"$instance\", port=~\"$port\", quantile=\"0.99\"}")])),
    ("Pauses",
     ("Share of time that peers are paused by us", "percentunit", [("{{port}} priority {{priority}}", rate("sluice_ports_pfc_tx_paused_seconds_total", "port, priority"))]),
     ("Share of time paused by peers", "percentunit", [("{{port}} priority {{priority}}", rate("sluice_ports_pfc_rx_paused_seconds_total", "port, priority"))]),
     ("XOFF sent", "pps", [("{{port}} priority {{priority}}", rate("sluice_ports_pfc_tx_xoff_total", "port, priority"))]),
     ("XOFF received", "pps", [("{{port}} priority {{priority}}", rate("sluice_ports_pfc_rx_xoff_total", "port, priority"))])),
    ("Buffer",
     ("Pools", "bytes", [("{{pool}}", f"sluice_pools_used_bytes{HERE}"), ("{{pool}}, all that is shared", f"sluice_pools_shared_bytes{HERE}")]),
     ("Priority groups", "bytes", [("{{port}} priority {{priority}}", f"sluice_ports_priority_groups_shared_bytes{PORT}")]),
     ("Headroom in use", "bytes", [("{{port}} priority {{priority}}", f"sluice_ports_priority_groups_headroom_bytes{PORT}")]),
     ("Highest use of headroom", "percentunit", [("{{port}} priority {{priority}}", f"sluice_ports_priority_groups_headroom_watermark_bytes{PORT}"
                                                  f" / (sluice_ports_priority_groups_headroom_size_bytes{PORT} > 0)")])),
    ("Workers",
     ("Share of time busy", "percentunit", [("{{worker}}", f"sum by (worker) (rate(sluice_workers_busy_seconds_total{HERE}[$__rate_interval]))"
                                             f" / sum by (worker) (rate(sluice_workers_time_seconds_total{HERE}[$__rate_interval]))")]),
     ("Longest turn", "s", [("{{worker}}", f"sluice_workers_longest_turn_seconds{HERE}")]),
     ("Fell behind", "short", [("{{port}}", f"increase(sluice_ports_fell_behind_total{PORT}[$__rate_interval])")]),
     ("Missed by receive rings", "pps", [("{{port}}", rate("sluice_ports_imissed_total"))]),
     ("Received with errors", "pps", [("{{port}}", rate("sluice_ports_rx_errors_total"))])),
)


def catalogue(sluiced):
    """{metric: its meaning}"""
    text = subprocess.run([sluiced, "--metrics-reference"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"(?m)^\| `([a-z0-9_]+)` \|.*\| ([^|]+) \|$", text))


def metrics(expression):
    return re.findall(r"\bsluice_[a-z0-9_]+", expression)


def known(expression, meanings):
    for metric in metrics(expression):
        if metric not in meanings:
            sys.exit(f"tools/workshop/monitoring.py: {metric} is not a metric of sluiced --metrics-reference")
    return expression


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def alerts_text(meanings):
    lines = [MADE, "groups:", "  - name: sluice", "    rules:"]
    for name, severity, lasting, expression, summary, remedy in ALERTS:
        lines += [f"      - alert: {name}", f"        expr: {quoted(known(expression, meanings))}", f"        for: {lasting}", "        labels:",
                  f"          severity: {severity}", "        annotations:", f"          summary: {quoted(summary)}", f"          remedy: {quoted(remedy)}"]
    return "\n".join(lines) + "\n"


def panel(number, place, title, unit, targets, meanings):
    x, y = place
    meaning = {metric: meanings[metric] for _, expression in targets for metric in metrics(known(expression, meanings))}
    return {
        "id": number, "type": "stat" if unit == "bool_yes_no" else "timeseries", "title": title,
        "description": "\n".join(f"{metric}: {text}" for metric, text in meaning.items()),
        "datasource": {"type": "prometheus", "uid": "${source}"}, "gridPos": {"x": x, "y": y, "w": 6, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": chr(ord("A") + n), "expr": expression, "legendFormat": legend, "datasource": {"type": "prometheus", "uid": "${source}"}}
                    for n, (legend, expression) in enumerate(targets)],
    }


def variable(name, label, metric):
    query = f"label_values({metric}, {name})"
    return {"name": name, "label": label, "type": "query", "datasource": {"type": "prometheus", "uid": "${source}"},
            "query": {"query": query, "refId": name}, "definition": query, "refresh": 2, "includeAll": True, "multi": True,
            "current": {"text": ["All"], "value": ["$__all"]}}


def dashboard_text(meanings):
    panels, number = [], 0
    for row, (title, *of_row) in enumerate(ROWS):
        number += 1
        panels.append({"id": number, "type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"x": 0, "y": 9 * row, "w": 24, "h": 1}})
        for column, (name, unit, targets) in enumerate(of_row):
            number += 1
            panels.append(panel(number, (6 * column, 9 * row + 1), name, unit, targets, meanings))
    board = {"uid": "sluice", "title": "Sluice", "tags": ["sluice"], "schemaVersion": 38, "editable": True, "refresh": "5s",
             "time": {"from": "now-15m", "to": "now"},
             "templating": {"list": [{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
                                     variable("instance", "switch", "sluice_end_seconds_total"), variable("port", "port", "sluice_ports_rx_packets_total")]},
             "panels": panels}
    return json.dumps(board, indent=1) + "\n"


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    meanings = catalogue(sys.argv[1])
    wanted = {FOLDER / "prometheus.yml": PROMETHEUS, FOLDER / "alerts.yml": alerts_text(meanings), FOLDER / "dashboard.json": dashboard_text(meanings)}
    if sys.argv[2:]:
        old = [path.name for path, text in wanted.items() if not path.exists() or path.read_text() != text]
        sys.exit(f"not as tools/workshop/monitoring.py makes them: {' '.join(old)}" if old else 0)
    for path, text in wanted.items():
        path.write_text(text)


if __name__ == "__main__":
    main()
