"""A connection: JSON-RPC 2.0, one object a line. `Switch` (switch.py) has the methods by name."""

from __future__ import annotations

import collections
import json
import os
import socket
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, TypedDict, TypeVar, Union

if TYPE_CHECKING:
    from sluice.switch import Switch

API = 1
Self = TypeVar("Self", bound="Client")
Path = Union[str, "os.PathLike[str]"]


class Notification(TypedDict):
    """What comes without a request: `event` after events.subscribe, `stats` after stats.watch."""

    method: str
    params: Any


class Refused(RuntimeError):
    """The switch answered with an error. `data` has, where known: path, value, allowed, do."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error.get("data", {})


class HungUp(ConnectionError):
    """The switch has ended, or has cut a client that asks for too much."""


class Client:
    """Sends lines and reads them; nothing is sent or read but by a call. Not for several threads."""

    def __init__(self, path: Path, timeout_s: Optional[float] = None) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.notifications: collections.deque[Notification] = collections.deque()
        self._buffer = b""
        self._number = 0
        try:
            self.socket.settimeout(timeout_s)
            self.socket.connect(os.fspath(path))
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method; raises Refused. Notifications that come before it are kept."""
        self._number += 1
        self.send_line(request(method, params, self._number))
        while True:
            answer = self.read_line()
            if answer is None:
                raise HungUp("the switch has hung up")
            if "method" in answer:
                self.notifications.append(answer)
            elif "error" in answer:
                raise Refused(answer["error"])
            elif answer["id"] == self._number:
                return answer["result"]

    def next_notification(self) -> Optional[Notification]:
        """The next one, waited for if need be; None when the switch has hung up."""
        return self.notifications.popleft() if self.notifications else self.read_line()

    def send_line(self, line: Any) -> None:
        """A line of bytes as it is, or one that is made from a value."""
        self.socket.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")

    def read_bytes(self) -> Optional[bytes]:
        """The next line, without its end; None when the switch has hung up."""
        while b"\n" not in self._buffer:
            try:
                data = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def read_line(self) -> Any:
        line = self.read_bytes()
        return None if line is None else json.loads(line)


def request(method: str, params: dict[str, Any], number: int = 1) -> bytes:
    """The line of a request, for those who send many before they read an answer."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def connect(path: Optional[Path] = None, timeout_s: Optional[float] = 60, patience_s: float = 0) -> Switch:
    """A switch by its socket's path, $SLUICE_SOCKET without one. `patience_s`: how long to try while it does not listen yet."""
    from sluice.switch import Switch

    where = path if path is not None else os.environ["SLUICE_SOCKET"]
    end = time.monotonic() + patience_s
    while True:
        try:
            switch = Switch(where, timeout_s)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() >= end:
                raise
            time.sleep(0.02)
            continue
        api = switch.hello()["api"]
        if api != API:
            switch.close()
            raise RuntimeError(f"the switch speaks API {api}, this client {API}")
        return switch
