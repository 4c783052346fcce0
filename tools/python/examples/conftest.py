"""A switch for each test: two ports and a simulated host behind each, its clock still until a test lets it run."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))  # not needed where the package is installed

import sluice  # noqa: E402

CONFIG = """
buffer.size = "2MB"
[port.p0]
address = ["10.0.0.1/24"]
[port.p1]
address = ["10.0.1.1/24"]
[host.p0]
address = "10.0.0.2"
[host.p1]
address = "10.0.1.2"
[[flow]]
from = "p0"
to = "p1"
message = "100KB"
stop = "200us"
"""


@pytest.fixture
def switch(tmp_path):
    config, path = tmp_path / "sluice.toml", tmp_path / "sluice.sock"
    config.write_text(CONFIG)
    sluiced = subprocess.Popen([os.environ.get("SLUICED", "sluiced"), "--config", config, "--socket", path, "--interactive"])
    try:
        with sluice.connect(path, patience_s=60) as client:
            yield client
    finally:
        sluiced.terminate()
        sluiced.wait()
