#!/usr/bin/python3
"""A flood of clients takes its share of each round of the control thread, and no more; nor more memory than is said.

Nothing here is said of how long anything takes: rounds and handlers are counted, and `control.show` has them.
"""

import json
import pathlib
import re
import socket
import threading
import time

import control
from control import Case, Running, Switch
from frames import plain
from responder_test import ping

MB = 1 << 20
CLIENTS, TURNED_AWAY, SESSIONS = 64, 16, 64  # of the socket, and of the metrics
UNREAD, ANSWER = 128 * MB, 64 * MB           # of all clients together; the largest answer
LINES = CLIENTS * MB + 4 * 2 * 8 * MB        # of requests: 4 may be long, in memory that grows twofold
HANDLERS = 64                                # of clients, a round
MANY = 50                                    # times that a flood has done its worst
LOOKS = 10                                   # of the switch at its links, which are timed, meanwhile
MARGIN = 96 * MB                             # what is made of one long line, and what the allocator keeps
GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def line(method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"


class Flood:
    """Threads that do the same again and again until the flood ends."""

    def __init__(self, test, threads, what):
        self.over, self.done = False, [0] * threads
        self.threads = [threading.Thread(target=self.run, args=(n, what)) for n in range(threads)]
        for thread in self.threads:
            thread.start()
        test.addCleanup(self.end)

    def run(self, n, what):
        while not self.over:
            try:
                what()
                self.done[n] += 1
            except OSError:
                time.sleep(0.001)  # it was cut, or turned away, or the switch has ended

    def end(self):
        self.over = True
        for thread in self.threads:
            thread.join(control.PATIENCE_S)


class Budget(Case):
    def memory(self, running, key):
        of_process = pathlib.Path(f"/proc/{running.process.pid}")
        if b"libasan" in (of_process / "maps").read_bytes():
            self.skipTest("a sanitizer's memory is not the switch's")
        status = (of_process / "status").read_text()
        return int(re.search(rf"{key}:\s+(\d+) kB", status).group(1)) * 1024

    def in_rounds(self, running):
        """Every round has done its own duties, however many wanted to be served."""
        account = running.call("control.show")
        self.assertLessEqual(account["most_handlers"], account["handlers_limit"])
        self.assertLessEqual(account["handlers"], account["rounds"] * account["handlers_limit"])
        return account

    def interactive(self, *arguments):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(1000 * n, plain(200)) for n in range(10)])
        return Running(switch, *arguments, environment=control.UNTOUCHED)

    def still_well(self, running):
        self.assertEqual(running.client().call("hello")["name"], "sluice")
        running.call("clock.run")
        self.assertEqual(len(running.stop(accounts=True).frames["h1"]), 10)

    def scrape(self, port):
        """The whole answer's body; an error when there is none."""
        with socket.create_connection(("127.0.0.1", port), timeout=control.PATIENCE_S) as client:
            client.sendall(GET)
            data = b""
            while part := client.recv(1 << 16):
                data += part
        head, _, body = data.partition(b"\r\n\r\n")
        if b" 200 " not in head[:20]:
            raise ConnectionError(f"no answer: {head[:80]}")
        self.assertEqual(len(body), int(re.search(rb"Content-Length: (\d+)", head).group(1)))
        return body.decode()

    # --- the switch's own duties under floods ---

    def under(self, flood):
        """Under the real clock, while `flood` goes on: a timed event, the responder's answers, another client, and the end."""
        port = free_port()
        switch = Switch(self, hosts=2, clock="real", device="net_pcap{n},{rx}infinite_rx=1")
        switch.give("h0", [(0, ping("10.0.0.1"))])
        switch.port("h0", responder=True)
        switch.event("2s", "port h1 down")
        running = Running(switch, "--metrics", str(port), interactive=False,
                          config=switch.text().replace('"net_pcap1,infinite_rx=1"', '"net_null1,no-rx=1"'))
        looks = running.call("control.show")["link_looks"]
        flooding = Flood(self, 8, lambda: flood(running, port))
        before = running.call("stats.show", path="ports.h0.replied_packets")
        running.wait_for(lambda: sum(flooding.done), lambda n: n > MANY)
        running.wait_for(lambda: [event["kind"] for event in running.call("events.list")["events"]], lambda kinds: "port_down" in kinds)
        running.wait_for(lambda: running.call("stats.show", path="ports.h0.replied_packets"), lambda now: now > before)
        seen = sum(flooding.done)
        running.wait_for(lambda: sum(flooding.done), lambda n: n > seen + MANY)
        running.wait_for(lambda: running.call("control.show")["link_looks"], lambda now: now > looks + LOOKS)
        account = self.in_rounds(running)
        self.assertGreater(account["handlers"], seen)
        self.assertLessEqual(account["handlers_limit"], HANDLERS)
        # What is due waits for the rest of one round.
        self.assertLessEqual(account["events_late_rounds"], 1)
        self.assertLessEqual(account["link_looks_late_rounds"], 1)
        running.stop()  # while it goes on
        flooding.end()

    def test_threads_that_ask_for_metrics(self):
        self.under(lambda running, port: self.scrape(port))

    def test_pipelined_requests(self):
        def ask(running, port):
            client = control.Client(running.path)
            try:
                client.send_line(line("stats.show", path="ledger.rx") * 50)
                for _ in range(50):
                    if client.read_line() is None:
                        raise ConnectionError
            finally:
                client.close()
        self.under(ask)

    def test_connections_that_come_and_go(self):
        def connect(running, port):
            for _ in range(20):
                with socket.socket(socket.AF_UNIX) as one, socket.create_connection(("127.0.0.1", port), timeout=control.PATIENCE_S):
                    one.settimeout(control.PATIENCE_S)
                    one.connect(str(running.path))
        self.under(connect)

    def test_clients_that_leave_their_answers(self):
        """Each asks for some 1.5 MB, and goes when its first answer has begun to come."""
        asked = line("config.keys") * 50

        def ask(running, port):
            with socket.socket(socket.AF_UNIX) as one:
                one.settimeout(control.PATIENCE_S)
                one.connect(str(running.path))
                one.sendall(asked)
                if not one.recv(1, socket.MSG_PEEK):
                    raise ConnectionError
        self.under(ask)

    def test_clients_of_long_lines(self):
        long = line("config.check", toml="x" * (2 * MB))

        def check(running, port):
            client = control.Client(running.path)
            try:
                client.send_line(long)
                if client.read_line() is None:
                    raise ConnectionError
            finally:
                client.close()
        self.under(check)

    # --- memory ---

    def test_clients_that_do_not_read(self):
        """Each asks for some 30 MB. Those that ask one by one are made to wait, those that ask for all in one answer are cut."""
        running = self.interactive()
        asked = line("config.keys")
        self.assertGreater(60 * 1000 * len(json.dumps(running.call("config.keys"))), 1000 * MB)
        before = self.memory(running, "VmRSS")
        clients = [running.client() for _ in range(60)]
        for client in clients[::2]:
            client.send_line(asked * 1000)
        for client in clients[1::2]:
            client.send_line(b"[" + b",".join([asked.strip()] * 1000) + b"]\n")
        running.wait_for(lambda: sum(map(is_cut, clients[1::2])), lambda n: n >= 5)
        account = self.in_rounds(running)
        self.assertEqual(account["unread_limit_bytes"], UNREAD)
        self.assertLessEqual(account["most_unread_bytes"], UNREAD + ANSWER)
        self.assertLess(self.memory(running, "VmHWM") - before, UNREAD + ANSWER + LINES + MARGIN)
        for client in clients:
            client.close()
        self.still_well(running)

    def test_long_lines_of_many_clients(self):
        """They are read a few at a time, and all are answered."""
        running = self.interactive()
        before = self.memory(running, "VmRSS")
        long = line("config.check", toml="x" * (7 * MB))
        clients = [running.client() for _ in range(40)]
        threads = [threading.Thread(target=client.send_line, args=(long,)) for client in clients]
        for thread in threads:
            thread.start()
        for client in clients:
            self.assertIn("id", client.read_line())
        for thread in threads:
            thread.join(control.PATIENCE_S)
        self.in_rounds(running)
        self.assertLess(self.memory(running, "VmHWM") - before, LINES + MARGIN + ANSWER)
        self.still_well(running)

    # --- who does nothing keeps nobody out ---

    def test_idle_connections_do_not_shut_scraping_out(self):
        port = free_port()
        running = self.interactive("--metrics", str(port))
        held = []
        self.addCleanup(lambda: [client.close() for client in held])
        for words in (b"", b"GET /met", b"GET /metrics HTTP/1.1\r\nX: ", GET):  # the last do not read
            for _ in range(SESSIONS + 10):
                held.append(socket.create_connection(("127.0.0.1", port), timeout=control.PATIENCE_S))
                held[-1].sendall(words)
            with self.subTest(words=words):
                self.assertIn("sluice_lossless", self.scrape(port))
        self.still_well(running)

    def test_who_stays_idle_keeps_its_place_while_there_is_room(self):
        port = free_port()
        running = self.interactive("--metrics", str(port))
        with socket.create_connection(("127.0.0.1", port), timeout=control.PATIENCE_S) as slow:
            slow.sendall(GET[:10])
            for _ in range(SESSIONS * 2):
                self.scrape(port)
            slow.sendall(GET[10:])
            self.assertIn(b" 200 ", slow.recv(100))
        self.still_well(running)

    def test_no_more_connections_are_accepted_than_are_served(self):
        running = self.interactive()
        held = [running.client() for _ in range(500)]
        account = running.call("control.show")
        self.assertLessEqual(account["clients"], CLIENTS + TURNED_AWAY)
        for client in held:
            client.close()
        running.wait_for(lambda: running.call("control.show")["clients"], lambda n: n == 1)
        self.still_well(running)

    # --- one rendering ---

    def test_metrics_follow_a_change_at_once(self):
        port = free_port()
        running = self.interactive("--metrics", str(port))
        for up in (False, True, False):
            running.call("port.set", port="h1", up=up)
            running.call("clock.run", **{"for": "1ns"})
            self.assertIn(f'sluice_ports_link_up{{port="h1"}} {int(up)}\n', self.scrape(port))
        self.assertEqual(running.call("control.show")["renderings"], 3)
        running.stop()


def is_cut(client):
    """Without reading what is there."""
    try:
        client.socket.send(b" ", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


if __name__ == "__main__":
    control.main()
