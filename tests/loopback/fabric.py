"""A test of sluice-fabric."""

import json

import loopback
from loopback import Programs, run

DONE, FAILED, USAGE, FALSE = 0, 1, 2, 4


class FabricCase(loopback.Case):
    def setUp(self):
        self.folder = loopback.Switch(self, hosts=0).folder
        self.program = Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric"

    def fabric(self, verb, text, *words, status=DONE):
        path = self.folder / "fabric.toml"
        path.write_text(text)
        done = run([self.program, verb, path, *words])
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def report(self, text, *words, status=DONE):
        self.fabric("run", text, "--out", self.folder / "made", *words, status=status)
        return json.loads((self.folder / "made" / "report.json").read_text())
