"""A test of sluice-fabric."""

import json

import loopback
from figures import fabric_catalogue
from loopback import Programs, run

DONE, FAILED, USAGE, FALSE = 0, 1, 2, 4


# A JSON type by the kind of a row. Times of the timeline have fractions.
TYPES = {"counter": int, "gauge": int, "number": (int, float), "flag": bool, "text": str}


def check_rows(case, program, report):
    """Every leaf of a fabric's report has a row of the catalogue, and is of its kind. The paths of these rows."""
    leaves = fabric_catalogue(Programs.sluiced, program).leaves(report)
    case.assertEqual([leaf.path for leaf in leaves if leaf.figure is None], [], "no row in control/report/figures/fabric_figures.def")
    case.assertEqual([leaf for leaf in leaves if leaf.value is not None and leaf.figure.path != "asserts.[].value"
                      and (not isinstance(leaf.value, TYPES[leaf.figure.kind]) or isinstance(leaf.value, bool) != (leaf.figure.kind == "flag"))], [])
    return {leaf.figure.path for leaf in leaves}


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

    def check_rows(self, report):
        check_rows(self, self.program, report)

    def report(self, text, *words, status=DONE):
        self.fabric("run", text, "--out", self.folder / "made", *words, status=status)
        return json.loads((self.folder / "made" / "report.json").read_text())
