"""The common part of the tests of pages: a client of the page's server, and what a browser shows."""

import json
import re
import socket

import control

HOSTILE = "</script><img src=x onerror=window.hit=1>"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Pages(control.Case):
    """`port`: where the page is served."""

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=control.PATIENCE_S)
        self.addCleanup(client.close)
        return client

    def ask(self, target, *, method="GET", host=None, client=None):
        """(status, {header: value}, body), the connection read to its end."""
        client = client or self.connect()
        client.sendall(f"{method} {target} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\n\r\n".encode())
        data = b""
        while chunk := client.recv(1 << 16):
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body

    def listen(self, target="/live"):
        client = self.connect()
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
        reader = client.makefile("rb")
        while reader.readline().strip():
            pass
        return reader

    @staticmethod
    def next_of(reader):
        line = reader.readline()
        reader.readline()
        assert line.startswith(b"data: "), line
        return json.loads(line[6:])

    @staticmethod
    def address(said):
        return re.search(r"page: (\S+)", said)[1]

    # --- in a browser ---
    @staticmethod
    def row(tab, section, key):
        return tab.evaluate(f"[...document.querySelectorAll('#{section} tr[data-key={json.dumps(key)}] td')].map((cell) => cell.querySelector('data')?.value ?? cell.textContent)")

    @staticmethod
    def verdict(tab):
        return tab.evaluate("document.querySelector('.view:not([hidden]) .verdict').textContent")

    def check_width(self, tab, width):
        self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), width)

    def complaints(self, tab):
        return [each for each in tab.complaints if not each.startswith(f"network: http://127.0.0.1:{self.port}/")]
