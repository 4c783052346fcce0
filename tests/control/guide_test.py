#!/usr/bin/python3
"""The session that README.md shows is what a switch and sluicectl say, word for word."""

import os
import subprocess

import control
from control import Case, Programs, Running, Switch

ROOT = control.loopback.ROOT


def session():
    """(command, what it prints) of the guide's section on tuning."""
    text = (ROOT / "README.md").read_text().split("\n## Tune a running switch\n")[1].split("\n## ")[0]
    steps = []
    for line in text.splitlines():
        if line.startswith("    $ "):
            steps.append((line[6:], ""))
        elif line.startswith("    "):
            steps[-1] = (steps[-1][0], steps[-1][1] + line[4:] + "\n")
    return steps


class Guide(Case):
    def test_its_session(self):
        switch = Switch(self, hosts=0)
        running = Running(switch, config=(ROOT / "conf" / "incast.toml").read_text())
        steps = session()
        self.assertEqual([command.split()[0] for command, _ in steps[:2]], ["build/sluiced", "export"])
        self.assertIn("--config conf/incast.toml", steps[0][0])
        environment = {**os.environ, "SLUICE_SOCKET": str(running.path), "PATH": f"{Programs.sluicectl.parent}:{os.environ['PATH']}"}
        for command, wanted in steps[2:]:
            done = subprocess.run(["bash", "-c", command], text=True, capture_output=True, env=environment, timeout=control.PATIENCE_S)
            self.assertEqual((done.stdout, done.stderr), (wanted, ""), command)
        self.assertGreater(len(steps), 15)
        running.stop()


if __name__ == "__main__":
    control.main()
