#!/usr/bin/python3
"""Clients that mean harm or are broken: the switch serves others on, loses no packet, and ends as always."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading

import control
from control import Case, Client, Programs, Refused, Running, Switch
from frames import plain

TOO_MUCH, PARSE_ERROR, INVALID = -32003, -32700, -32600
CLIENTS = 64  # that are served at a time


class Hostile(Case):
    def running(self, arguments=(), **keys):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(1000 * n, plain(200)) for n in range(10)])
        return Running(switch, *arguments, **keys)

    def still_well(self, running):
        """Others are served on, and traffic passes; then the end."""
        self.assertEqual(running.client().call("hello")["name"], "sluice")
        running.call("clock.run")
        out = running.stop(accounts=True)
        self.assertEqual(len(out.frames["h1"]), 10)

    def test_lines_that_are_no_requests(self):
        running = self.running()
        long_id = "x" * 1000
        table = [
            (b"\x00\xff\xfe garbage", PARSE_ERROR), (b"{", PARSE_ERROR), (b'{"a":"\xc3"}', PARSE_ERROR), (b"[]", INVALID), (b"5", INVALID),
            (b'"text"', INVALID), (b"null", INVALID), (b"{}", INVALID), (b'{"jsonrpc":"1.0","method":"hello","id":1}', INVALID),
            (b'{"jsonrpc":"2.0","method":5,"id":1}', INVALID), (b'{"jsonrpc":"2.0","method":"hello","id":1.5}', INVALID),
            (b'{"jsonrpc":"2.0","method":"hello","id":1,"params":[1]}', INVALID), (b'{"jsonrpc":"2.0","method":"hello","id":1,"x":1}', INVALID),
            (b"[" * 1000 + b"]" * 1000, TOO_MUCH), (b'{"a":' * 1000 + b"1" + b"}" * 1000, TOO_MUCH),
            (b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"x":' + b"[" * 40 + b"]" * 40 + b"}}", TOO_MUCH),
            (b"[" + b",".join([b"1"] * 1001) + b"]", TOO_MUCH), (b"1e999999999", PARSE_ERROR), (b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"method":"hello"}', None),
            (b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"' + b"k" * 2000000 + b'":1}}', TOO_MUCH),
        ]
        client = running.client()
        for line, code in table:
            with self.subTest(line=line[:60]):
                client.send_line(line + b"\n")
                answer = client.read_line()
                if code is not None:
                    self.assertEqual(answer["error"]["code"], code, answer)
                else:
                    self.assertIn("error", answer)
                self.assertEqual(client.call("clock.show"), {"now_ns": 0}, "a good line in between")
        client.send_line({"jsonrpc": "2.0", "id": long_id, "method": "hello"})
        self.assertEqual(client.read_line()["id"], long_id)
        client.send_line({"jsonrpc": "2.0", "method": "port.set", "params": {"port": "h9", "up": True}})  # a notification: no answer
        client.send_line(b"\n  \r\n")
        self.assertEqual(client.call("clock.show"), {"now_ns": 0})
        batch = [{"jsonrpc": "2.0", "id": n, "method": "clock.show"} for n in range(1000)]
        client.send_line(batch)
        self.assertEqual([answer["id"] for answer in client.read_line()], list(range(1000)))
        self.still_well(running)

    def test_who_sends_only_garbage_is_cut(self):
        running = self.running()
        client = running.client()
        client.send_line(b"garbage\n" * 100)
        lines = client.until_cut()
        self.assertEqual({line["error"]["code"] for line in lines[:-1]}, {PARSE_ERROR})
        self.assertIn("made no sense", lines[-1]["error"]["message"])
        self.still_well(running)

    def test_a_line_without_end(self):
        running = self.running()
        client = running.client()

        def send():
            try:
                client.send_line(b'{"x":"' + b"a" * (9 << 20))
            except OSError:
                pass  # it was cut
        sender = threading.Thread(target=send)
        sender.start()
        self.assertEqual(running.call("clock.show"), {"now_ns": 0})
        lines = client.until_cut()
        self.assertEqual([line["error"]["code"] for line in lines], [TOO_MUCH])
        sender.join()
        self.still_well(running)

    def test_half_a_line_and_then_silence(self):
        running = self.running()
        client = running.client()
        client.send_line(b'{"jsonrpc":"2.0",')
        self.assertEqual(running.client().call("clock.show"), {"now_ns": 0})
        lines = client.until_cut()
        self.assertIn("did not come", lines[-1]["error"]["message"])
        self.still_well(running)

    def test_a_hundred_connections(self):
        running = self.running()
        clients = [running.client() for _ in range(100)]
        served, turned_away = [running.first], 0
        for client in clients:
            try:
                client.send_line({"jsonrpc": "2.0", "id": 1, "method": "clock.show"})
            except BrokenPipeError:
                pass  # it has been turned away already; why can still be read
            answer = client.read_line()
            if "result" in answer:
                served.append(client)
            else:
                self.assertEqual(answer["error"]["code"], TOO_MUCH)
                turned_away += 1
        self.assertEqual((len(served), turned_away), (CLIENTS, 101 - CLIENTS))
        for client in served:
            self.assertEqual(client.call("clock.show"), {"now_ns": 0})
        running.process.send_signal(signal.SIGSTOP)  # so that it sees at once who closed and who came after
        for client in clients:
            client.close()
        others = [running.client() for _ in range(CLIENTS - 1)]
        running.process.send_signal(signal.SIGCONT)
        for client in others:
            self.assertEqual(client.call("clock.show"), {"now_ns": 0})
            client.close()
        self.still_well(running)

    def test_a_flood_of_requests(self):
        running = self.running()
        client = running.client()
        flood = b"".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "stats.show", "params": {"path": "ledger.rx"}}).encode() + b"\n"
                         for n in range(10000))
        sender = threading.Thread(target=client.send_line, args=(flood,))
        sender.start()
        for _ in range(5):
            self.assertEqual(running.call("clock.show"), {"now_ns": 0})  # has its turn
        for n in range(10000):
            answer = client.read_line()
            self.assertEqual((answer["id"], answer["result"]), (n, 0))
        sender.join()
        self.still_well(running)

    def test_a_subscriber_that_never_reads(self):
        running = self.running()
        client = running.client()
        client.call("events.subscribe", on=True)
        client.call("stats.watch", every="10ms")
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "config.keys"}).encode() + b"\n"

        cut = []

        def send():
            try:
                for _ in range(8000):  # for whose answers it would take several times what a client may leave unread
                    client.send_line(request)
            except OSError:
                cut.append(True)
        sender = threading.Thread(target=send)
        sender.start()
        for n in range(10):
            running.call("port.set", port="h1", up=n % 2 == 1)
        sender.join(control.PATIENCE_S)
        self.assertEqual(cut, [True], "it was not cut")
        self.still_well(running)

    def test_what_is_long_or_deep(self):
        """Each of these took minutes or the stack; all are refused, and at once: the guard is that of a hang."""
        running = self.running()
        words = {"config.get": "path is too long", "config.set": "path is too long", "hello": "members", "config.check": "do: shorten it"}
        for method, params in (
                ("config.set", {"path": "a." * 110_000, "value": "1"}), ("config.set", {"path": "port." + "a." * 110_000 + "speed", "value": "1"}),
                ("config.get", {"path": "port." + "a." * 110_000 + "speed"}), ("hello", {f"k{n}": 0 for n in range(80_000)}),
                ("config.check", {"toml": "a." * 400_000 + "a = 1"}), ("config.check", {"toml": "[" + "a." * 400_000 + "a]"}),
                ("config.check", {"toml": "".join("[[" + ".".join("a" * n) + "]]\n" for n in range(1, 15)) * 20_000}),
                ("config.check", {"toml": "".join(f"x{n}.y = 1\n" for n in range(300_000))}),
                ("config.check", {"toml": "".join(f"[[x{n}]]\n" for n in range(300_000)) * 2})):
            with self.subTest(method=method, params=str(params)[:60]):
                refused = running.refused(method, **params)
                self.assertIn(words[method], refused.message + str(refused.data))
        for method, params in (("config.check", {"toml": "a = " + "[" * 500_000}), ("config.check", {"toml": "a = " + "{a=" * 200_000}),
                               ("config.set", {"path": "seed", "value": "[" * 200_000}), ("stats.show", {"path": "a." * 200_000}),
                               ("stats.show", {"path": "." * 400_000}), ("port.set", {"port": "h" * 500_000, "up": True})):
            with self.subTest(method=method, params=str(params)[:60]):
                running.refused(method, **params)
        self.still_well(running)

    def test_no_descriptors(self):
        """Clients that are there are served, others wait and get in when there are descriptors again."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        running = self.running(arguments=["--metrics", str(port)])
        running.call("hello")  # it has been accepted
        pid = running.process.pid
        most = max(int(fd) for fd in os.listdir(f"/proc/{pid}/fd")) + 1
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
        waiting = Client(running.path)
        self.addCleanup(waiting.close)
        scrape = socket.create_connection(("127.0.0.1", port), timeout=control.PATIENCE_S)
        self.addCleanup(scrape.close)
        waiting.send_line({"jsonrpc": "2.0", "id": 1, "method": "clock.show"})
        scrape.sendall(b"GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
        for _ in range(100):
            self.assertEqual(running.call("clock.show"), {"now_ns": 0})
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        self.assertEqual(waiting.read_line()["result"], {"now_ns": 0})
        self.assertIn(b"200 OK", scrape.recv(1 << 16))
        self.still_well(running)

    def test_no_memory(self):
        """A request that needs more memory than there is, is refused; then everything goes on."""
        running = self.running()
        pid = running.process.pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        used = int(re.search(r"VmSize:\s+(\d+) kB", status)[1]) << 10
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (used + (16 << 20), before[1]))
        toml = "".join(f"[[route]]\nprefix = \"10.{n >> 8}.{n & 255}.0/24\"\nvia = [\"10.0.1.2\"]\n" for n in range(60_000))
        for _ in range(3):
            client = running.client()
            try:
                client.call("config.apply", toml=toml)
                self.fail("it fits")
            except Refused as refused:
                self.assertIn("not enough memory", refused.message)
            except ConnectionError:
                pass  # there was none for the answer either
            self.assertEqual(running.client().call("clock.show"), {"now_ns": 0})
        resource.prlimit(pid, resource.RLIMIT_AS, before)
        self.assertEqual(running.client().call("config.diff", toml=running.config.read_text()), [])
        self.still_well(running)

    def test_clients_that_die(self):
        """In the middle of a line, before its answer, and while it is being written."""
        running = self.running()
        toml = running.config.read_text()
        script = ("import os, signal, socket, sys, json\n"
                  "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                  "line = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': sys.argv[2], 'params': json.loads(sys.argv[3])}).encode() + b'\\n'\n"
                  "s.sendall(line[:int(sys.argv[4])] * int(sys.argv[5]))\n"
                  "os.kill(os.getpid(), signal.SIGKILL)\n")
        for method, params, size, times in (("config.apply", {"toml": toml}, 100, 1), ("config.apply", {"toml": toml}, 10**9, 1),
                                            ("config.keys", {}, 10**9, 100), ("events.subscribe", {"from": 0}, 10**9, 1),
                                            ("clock.run", {"for": "1us"}, 10**9, 3)):
            done = subprocess.run([sys.executable, "-c", script, running.path, method, json.dumps(params), str(size), str(times)])
            self.assertEqual(done.returncode, -signal.SIGKILL)
            running.call("hello")
        self.assertEqual(running.call("config.diff", toml=toml), [])
        self.still_well(running)

    def test_nobody_may_ask(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv")
        running = self.running()
        self.assertEqual(stat.S_IMODE(os.stat(running.path).st_mode), 0o660)
        os.chmod(running.folder, 0o755)
        program = running.folder / "sluicectl"
        shutil.copy(Programs.sluicectl, program)
        os.chmod(program, 0o755)

        def as_nobody():
            return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "--socket", running.path, "hello"],
                                  capture_output=True, text=True)
        done = as_nobody()  # the file's mode
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("not permitted", done.stderr)
        os.chmod(running.path, 0o666)
        done = as_nobody()  # its credentials
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("in its group", done.stderr)
        self.still_well(running)


class Socket(Case):
    def switch(self):
        return Switch(self, hosts=2)

    def refused_start(self, running):
        done = subprocess.run([Programs.sluiced, "--config", running.config, "--socket", running.path, "--interactive"],
                              capture_output=True, text=True, timeout=control.PATIENCE_S)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_one_switch_a_socket(self):
        """The second one is refused before it touches anything: both would write the same captures."""
        running = Running(self.switch())
        self.assertIn("a running switch has this socket", self.refused_start(running))
        self.assertEqual(running.call("clock.show"), {"now_ns": 0}, "the first one is untouched")
        running.client()
        running.stop()

    def test_a_stale_socket_is_replaced_and_a_file_is_not(self):
        switch = self.switch()
        running = Running(switch)
        running.process.kill()
        running.process.wait()
        self.assertTrue(os.path.exists(running.path), "what a killed switch leaves")
        running = Running(switch)
        running.stop()
        running.path.write_text("not a socket")
        self.assertIn("not a socket", self.refused_start(running))
        self.assertEqual(running.path.read_text(), "not a socket")

    def test_a_socket_that_somebody_else_has_made_stays(self):
        running = Running(self.switch())
        os.unlink(running.path)
        other = socket.socket(socket.AF_UNIX)
        other.bind(str(running.path))
        self.addCleanup(other.close)
        running.process.send_signal(signal.SIGTERM)
        self.assertEqual(running.process.wait(control.PATIENCE_S), 0)
        self.assertTrue(os.path.exists(running.path))

    def test_paths_that_cannot_be(self):
        running = Running(self.switch())
        running.stop()
        for path, words in (("x" * 108, "107 bytes"), ("nowhere/at/all.sock", "No such file")):
            running.path = path
            self.assertIn(words, self.refused_start(running))


if __name__ == "__main__":
    control.main()
