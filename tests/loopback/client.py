"""A client of the control socket: JSON-RPC 2.0, one object a line."""

import json
import socket

from waiting import PATIENCE_S, wait_for


class Refused(Exception):
    """An error that the switch answered with."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message, self.data = error["code"], error["message"], error.get("data", {})


class Client:
    """A connection. `call` waits for its answer; `send_line` and `read_line` are for those who misbehave."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(str(path))
        self.buffer = b""
        self.number = 0
        self.notifications = []

    def send_line(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")

    def read_line(self):
        """The next line; None when the switch has hung up."""
        while b"\n" not in self.buffer:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def call(self, method, **params):
        self.number += 1
        self.send_line({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            answer = self.read_line()
            if answer is None:
                raise ConnectionError("the switch has hung up")
            if "method" in answer:
                self.notifications.append(answer)
            elif "error" in answer:
                raise Refused(answer["error"])
            elif answer["id"] == self.number:
                return answer["result"]

    def until(self, holds):
        """Asks for the report until `holds` of it."""
        return wait_for(lambda: self.call("stats.show"), holds)

    def next_notification(self):
        return self.notifications.pop(0) if self.notifications else self.read_line()

    def until_cut(self):
        """Lines until the switch hangs up."""
        lines = []
        while (line := self.read_line()) is not None:
            lines.append(line)
        return lines

    def close(self):
        self.socket.close()


def connect(path, process):
    """A client of the switch that runs as `process`, as soon as it listens."""
    def attempt():
        try:
            return Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return None

    return wait_for(attempt, alive=lambda: process.poll() is None)
