#!/usr/bin/python3
"""Many routes over the socket, in pipelined requests of 10 000: 100 000, or a million with SLUICE_LONG=1."""

import ipaddress
import os
import subprocess
import threading

import control
from control import PATIENCE_S, UNTOUCHED, Case, Programs, Running, Switch

ROUTES = 1_000_000 if os.environ.get("SLUICE_LONG") == "1" else 100_000
EACH = 10_000


def prefix_of(number):
    return f"{ipaddress.ip_address((20 << 24) + (number << 8))}/24"


def via_of(number):
    return [f"10.0.{number % 3}.2"]


class Routes(Case):
    def pipeline(self, running, method, entry):
        """All requests are sent before an answer is waited for; how many routes each changed."""
        client = running.client()
        client.socket.settimeout(PATIENCE_S)

        def send():
            for first in range(0, ROUTES, EACH):
                client.send_line({"jsonrpc": "2.0", "id": first, "method": method,
                                  "params": {"routes": [entry(number) for number in range(first, first + EACH)]}})

        sender = threading.Thread(target=send)
        sender.start()
        answers = [client.read_line() for _ in range(0, ROUTES, EACH)]
        sender.join()
        self.assertEqual([answer.get("result", answer)["changed"] for answer in answers], [EACH] * (ROUTES // EACH))

    def test_they_come_and_are_looked_up_saved_and_gone(self):
        running = Running(Switch(self, hosts=3), environment=UNTOUCHED)
        self.pipeline(running, "route.add", lambda number: {"prefix": prefix_of(number), "via": via_of(number)})
        running.first.socket.settimeout(PATIENCE_S)

        error = running.refused("route.add", routes=[{"prefix": "9.0.0.0/24", "via": "blackhole"},
                                                     {"prefix": prefix_of(ROUTES // 2), "via": "blackhole"}])
        self.assertIn("is there already", error.message)
        self.assertIsNone(running.call("route.lookup", destination="9.0.0.1")["prefix"])
        for number in (0, 1, 2, EACH - 1, EACH, ROUTES // 2 + 1, ROUTES - 1):
            found = running.call("route.lookup", destination=prefix_of(number).replace(".0/24", ".77"))
            self.assertEqual((found["prefix"], found["port"]), (prefix_of(number), f"h{number % 3}"))
        after = str(ipaddress.ip_address((20 << 24) + (ROUTES << 8)))
        self.assertIsNone(running.call("route.lookup", destination=after)["prefix"])

        # A threshold beside them: neither judges nor shows them.
        done = running.call("config.set", path="port.h0.queue.0.static_th", value="100KB")
        self.assertEqual([change["path"] for change in done["changes"]], ["port.h0.queue.0.static_th"])
        running.call("config.save", file="saved.toml")
        saved = running.folder / "saved.toml"
        checked = subprocess.run([Programs.sluiced, "--config", saved, "--check"], capture_output=True, text=True,
                                 timeout=PATIENCE_S)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn(f"{ROUTES:,} routes".replace(",", " "), checked.stdout)
        if ROUTES <= 100_000:  # more is not a line that the socket takes
            self.assertEqual(running.call("config.diff", toml=saved.read_text()), [])

        self.pipeline(running, "route.delete", prefix_of)
        self.assertEqual(running.call("route.list"), [])
        self.assertIsNone(running.call("route.lookup", destination="20.0.0.77")["prefix"])
        running.stop()

    def test_a_request_that_does_not_fit_changes_nothing(self):
        """256 tables, of which the ports' own addresses and neighbors take one or two."""
        running = Running(Switch(self, hosts=3, fib={"ipv4_tables": 256}))
        hosts = [{"prefix": f"20.{number}.0.1/32", "via": via_of(number)} for number in range(250)]
        before = running.call("config.get")
        error = running.refused("route.add", routes=[{"prefix": "9.0.0.0/8", "via": "blackhole"}, *hosts])
        self.assertIn("the forwarding table is full", error.message)
        self.assertIn("fib.ipv4_tables", error.message)
        self.assertEqual(running.call("config.get"), before)
        self.assertIsNone(running.call("route.lookup", destination="9.0.0.1")["prefix"])
        self.assertEqual(running.call("route.add", routes=hosts[:20])["changed"], 20)
        found = running.call("route.lookup", destination=hosts[7]["prefix"][:-3])
        self.assertEqual((found["prefix"], found["port"]), (hosts[7]["prefix"], "h1"))
        running.stop()


if __name__ == "__main__":
    control.main()
