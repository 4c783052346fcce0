#!/usr/bin/python3
"""HTTP of `--metrics` and `--page`: every form of address that HTTP has, a status for what it has not, and a Host that is compared whole."""

import socket

import control
from control import Running, Switch
from pages import Pages, free_port


class Http(Pages):
    def setUp(self):
        self.metrics, self.page = free_port(), free_port()
        Running(Switch(self, hosts=0), "--metrics", str(self.metrics), "--page", str(self.page), config=CONFIG)

    def asked(self, data, port=None):
        """(status, header, body) of these bytes, read to the end."""
        self.port = port or self.metrics
        client = self.connect()
        client.sendall(data)
        answer = b""
        while chunk := client.recv(1 << 16):
            answer += chunk
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1."), data[:100])
        return int(head.split()[1]), head.decode(), body

    def status(self, line, *fields, port=None):
        return self.asked("\r\n".join((line, *fields, "", "")).encode(), port)[0]

    def test_forms_of_an_address(self):
        for target, status in (("/metrics", 200), ("/metrics?x=y", 200), ("/metrics?", 200), ("http://h/metrics", 200), ("HTTP://h:80/metrics?x=/y", 200),
                               ("/metrics/", 404), ("/", 404), ("http://h", 404), ("http://h?/metrics", 404), ("http:///metrics", 400), ("metrics", 400),
                               ("*", 400), ("http://h:port/metrics", 400), ("http://a@h/metrics", 400)):
            self.assertEqual(self.status(f"GET {target} HTTP/1.1", "Host: h"), status, target)
        self.assertEqual(self.status("GET /metrics HTTP/1.0"), 200)

    def test_what_is_no_request_is_answered(self):
        for line, fields, status in (("GET /metrics HTTP/1.1", (), 400), ("GET /metrics HTTP/1.1", ("Host: a", "Host: a"), 400),
                                     ("GET /metrics HTTP/1.1", ("Host: a b",), 400), ("GET /metrics HTTP/1.1", ("Host: [::1",), 400),
                                     ("GET /metrics HTTP/3.0", ("Host: h",), 400), ("GET  HTTP/1.1", ("Host: h",), 400), ("nonsense", (), 400),
                                     ("GET /metrics HTTP/1.1", ("Host: h", "no colon"), 400), ("GET /metrics HTTP/1.1", ("Host: h", "X: " + "x" * 9000), 431),
                                     ("GET /" + "x" * 9000 + " HTTP/1.1", ("Host: h",), 431), ("BREW /metrics HTTP/1.1", ("Host: h",), 405)):
            self.assertEqual(self.status(line, *fields), status, (line[:50], fields))
        status, head, body = self.asked(b"POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
        self.assertEqual((status, body), (405, b"it only reads: GET and HEAD\n"))
        self.assertIn("\r\nAllow: GET, HEAD\r\n", head)
        self.assertEqual(self.status("GET /metrics HTTP/1.1", "Host: h"), 200)

    def test_half_a_request_is_none(self):
        self.port = self.metrics
        with self.connect() as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\n")
            client.shutdown(socket.SHUT_WR)
            self.assertEqual(client.recv(100), b"")

    def test_host_is_compared_whole(self):
        def page(host):
            return self.status("GET /switches HTTP/1.1", f"Host: {host}", port=self.page)

        for host in ("localhost", "LOCALHOST", "localhost.", f"localhost:{self.page}", "127.0.0.1", f"127.0.0.1:{self.page}", "127.9.9.9", "[::1]", "[::1]:80",
                     "[0:0:0:0:0:0:0:1]"):
            self.assertEqual(page(host), 200, host)
        for host in ("", ":80", "1", "18", "127", "127.0.0", "127.0.0.1x", "x127.0.0.1", "local", "localhost..", "localhost.evil.example", "127.0.0.1.evil.example",
                     "evil.example", "evil.example:80", "10.0.0.1", "[::2]", "[fe80::1]", "0x7f000001"):
            self.assertEqual(page(host), 421, host)
        self.assertEqual(self.status("GET /switches HTTP/1.0", port=self.page), 421)
        self.assertEqual(self.status("GET http://evil.example/switches HTTP/1.1", "Host: localhost", port=self.page), 421)
        self.assertEqual(self.status("GET http://localhost/switches HTTP/1.1", "Host: evil.example", port=self.page), 200)


CONFIG = """
[port.h1]
address = ["10.0.1.1/24"]
[host.h1]
address = "10.0.1.2"
"""

if __name__ == "__main__":
    control.main()
