"""A client of the control socket: tools/python's, which waits as long as tests do."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "python"))

import sluice  # noqa: E402
from sluice import Refused  # noqa: E402,F401
from waiting import PATIENCE_S, wait_for  # noqa: E402


class Client(sluice.Switch):
    def __init__(self, path):
        super().__init__(path, PATIENCE_S)

    def until(self, holds):
        """Asks for the report until `holds` of it."""
        return wait_for(self.stats_show, holds)

    def until_cut(self):
        """Lines until the switch hangs up."""
        lines = []
        while (line := self.read_line()) is not None:
            lines.append(line)
        return lines


def connect(path, process):
    """A client of the switch that runs as `process`, as soon as it listens."""
    def attempt():
        try:
            return Client(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return None

    return wait_for(attempt, alive=lambda: process.poll() is None)
