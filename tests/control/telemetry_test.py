#!/usr/bin/python3
"""DPDK's telemetry: the report's figures under /sluice, for a client of its protocol, while packets pass."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading

import control
from control import Case, Programs, Running, Switch
from frames import plain

US = 1000
ROCE = 26


class Client:
    """DPDK's protocol, version 2: packets of a SOCK_SEQPACKET socket; the switch says the first."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(str(path))  # waits: DPDK lets five stand in line, and with a time limit the sixth is turned away
        self.socket.settimeout(control.PATIENCE_S)
        self.info = json.loads(self.socket.recv(1 << 16))

    def ask(self, command):
        """The answer without its one key, which is the command's name."""
        self.socket.send(command.encode())
        answer = json.loads(self.socket.recv(1 << 16))
        (name, value), = answer.items()
        assert name == command.split(",")[0], answer
        return value


class Telemetry(Case):
    def setUp(self):
        """A folder of DPDK's for this test alone."""
        root = os.geteuid() == 0
        self.prefix = f"sluice-test-{os.getpid()}-{self.id().rsplit('.', 1)[1]}"
        base = pathlib.Path("/var/run/dpdk" if root else "/tmp/dpdk")
        if not root:
            os.environ.pop("XDG_RUNTIME_DIR", None)
        try:
            base.mkdir(exist_ok=True)
            probe = base / self.prefix
            probe.mkdir()
        except OSError as error:
            self.skipTest(f"SKIPPED: DPDK's telemetry cannot be tried: {error}")
        self.addCleanup(shutil.rmtree, probe, True)
        self.path = probe / "dpdk_telemetry.v2"

    def client(self):
        client = Client(self.path)
        self.addCleanup(client.socket.close)
        return client

    def switch(self, **keys):
        switch = Switch(self, hosts=3, eal=[f"--file-prefix={self.prefix}"], **keys)
        switch.give("h0", [(n * US, plain(200, dscp=ROCE, to="192.0.2.1" if n % 4 == 0 else 1)) for n in range(40)])
        switch.host(3, name="a-b")
        return switch

    def test_it_is_the_report(self):
        running = Running(self.switch(), "--telemetry")
        client = self.client()
        for seen in range(3):  # each answer is of a report that was made after the question
            self.assertEqual(client.ask("/sluice/ledger")["rx"], seen)
            running.call("clock.run", **{"for": "500ns" if seen == 0 else "1us"})
        running.call("clock.run")
        report = running.call("stats.show")
        self.assertEqual(client.info["pid"], running.process.pid)
        self.assertEqual(client.ask("/sluice/ports"), list(report["ports"]))
        self.assertEqual(client.ask("/sluice/pools"), list(report["pools"]))
        self.assertEqual(client.ask("/sluice/ledger"), {**report["ledger"], "balanced": 1})
        self.assertEqual(client.ask("/sluice/lossless"), {"lossless": 0, "reasons": report["verdict"]["reasons"]})
        for name, pool in report["pools"].items():
            self.assertEqual(client.ask(f"/sluice/pool,{name}"), pool)
        for name, port in report["ports"].items():
            wanted = {key: value for key, value in port.items() if key not in ("queues", "priority_groups")}
            self.assertEqual(client.ask(f"/sluice/port,{name}"), {**wanted, "link_up": int(port["link_up"])})
            for n in range(8):
                self.assertEqual(client.ask(f"/sluice/queue,{name}.{n}"), port["queues"][n])
                group = {key: value if isinstance(value, str) else int(value) for key, value in port["priority_groups"][n].items()}
                self.assertEqual(client.ask(f"/sluice/priority_group,{name}.{n}"), group)
        self.assertEqual(client.ask("/sluice/stats,ports.h0.drops"), {"no_route": 10})
        self.assertEqual(client.ask("/sluice/stats,ports.h1.pfc.rx_xoff"), [0] * 8)
        self.assertEqual(report["ports"]["h1"]["queues"][3]["tx_packets"], 30, "this compared nothing but zeros")
        running.stop(accounts=True)

    def test_what_there_is_not(self):
        running = Running(self.switch(), "--telemetry")
        client = self.client()
        for command in ("/sluice/port,h9", "/sluice/port", "/sluice/port,", "/sluice/ports,h0", "/sluice/queue,h0", "/sluice/queue,h0.8",
                        "/sluice/queue,h0.-1", "/sluice/queue,h9.0", "/sluice/queue,.3", "/sluice/priority_group,h0.x", "/sluice/pool,no",
                        "/sluice/stats,ports.h9", "/sluice/stats,watchdog", "/sluice/stats,seed", "/sluice/none", "/sluice/port," + "x" * 900):
            self.assertIsNone(client.ask(command), command)
        self.assertEqual(len(client.ask("/sluice/ports")), 4, "it answers on")
        for name in client.ask("/"):
            if name.startswith("/sluice/"):
                self.assertGreater(len(client.ask(f"/help,{name}")[name]), 10)
        running.stop()

    def test_a_forced_switch_is_not_called_lossless(self):
        switch = self.switch()
        switch.port("h0", pfc_quanta=305)
        running = Running(switch, "--force", "--telemetry")
        said = self.client().ask("/sluice/lossless")
        self.assertEqual((said["lossless"], len(said["reasons"])), (0, 1))
        self.assertIn("pfc_quanta", said["reasons"][0])
        running.stop()

    def test_only_when_it_is_wanted(self):
        running = Running(self.switch())
        self.assertFalse(self.path.exists())
        running.stop()
        running = Running(self.switch(), "--telemetry")
        self.assertTrue(self.path.exists())
        running.stop()
        self.assertFalse(self.path.exists())

    def test_without_a_socket_it_does_not_start(self):
        self.prefix += "-" + "x" * (100 - len(self.prefix))  # the path of a socket has 107 bytes
        self.addCleanup(shutil.rmtree, self.path.parent.parent / self.prefix, True)
        switch = self.switch()
        path = switch.folder / "sluice.toml"
        path.write_text(switch.text())
        done = subprocess.run([Programs.sluiced, "--config", path, "--telemetry"], text=True, capture_output=True,
                              timeout=control.PATIENCE_S)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("TELEMETRY: ", done.stderr)

    def test_many_ask_while_packets_pass_and_while_it_ends(self):
        """Under the real clock: nothing lossless is lost, counters only grow, and the end waits for nobody."""
        switch = Switch(self, hosts=1, clock="real", device="net_pcap{n},{rx}infinite_rx=1", eal=[f"--file-prefix={self.prefix}"])
        switch.give("h0", [(n * US, plain(1000, to="10.9.1.2", dscp=ROCE)) for n in range(64)])
        text = switch.text() + ('\n[port.n1]\ndevice = "net_null1,no-rx=1"\naddress = ["10.9.1.1/24"]\n'
                                '[[neighbor]]\naddress = "10.9.1.2"\nport = "n1"\nmac = "02:00:00:00:09:01"\n')
        running = Running(switch, "--telemetry", interactive=False, config=text)
        running.wait_for(lambda: running.call("stats.show", path="ports.n1.tx.packets"), lambda count: count > 100)
        seen, gone = [[] for _ in range(8)], []

        def ask(counts):
            try:
                client = self.client()
                while True:
                    port = client.ask("/sluice/port,n1")
                    if port is None:
                        break  # it ends
                    counts.append(port["tx"]["packets"])
                    client.ask("/sluice/queue,n1.3")
            except (OSError, ValueError):
                gone.append(True)  # it has ended
        threads = [threading.Thread(target=ask, args=(counts,)) for counts in seen]
        for thread in threads:
            thread.start()
        running.wait_for(lambda: min(map(len, seen)), lambda count: count > 20)
        self.assertEqual(running.call("stats.show", path="lossless"), True)
        out = running.stop()
        for thread in threads:
            thread.join(control.PATIENCE_S)
            self.assertFalse(thread.is_alive())
        self.assertEqual(out.report["lossless"], True)
        for counts in seen:
            self.assertEqual(counts, sorted(counts))
            self.assertGreater(counts[-1], counts[0])


if __name__ == "__main__":
    control.main()
