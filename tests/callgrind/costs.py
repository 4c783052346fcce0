"""What callgrind counted, and tables of it that tests keep beside them: repeatable where clocks are not.

The same program counts the same to the instruction; another compiler or other options do not, and are skipped. A figure
may be TOLERANCE more, which is what headers of another patch level of DPDK or Boost may move."""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "loopback"))

import loopback  # noqa: E402
from loopback import Programs  # noqa: E402

TOLERANCE = 0.02
LEAST = 0.5  # instructions; below that a difference is rounding of a burst


def count(command, profile):
    """Runs the command, and leaves its profile there."""
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--compress-strings=no",
                           "--compress-pos=no", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stderr[-4000:]}")


def blocks(profile):
    """(object, function, instructions, the called function's object or None) of each line of costs; the format is in
    valgrind's manual."""
    of, name, called, call = "", "", "", False
    with open(profile, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("ob="):
                of = line[3:].strip()
            elif line.startswith("fn="):
                name, called = line[3:].strip(), of
            elif line.startswith("cob="):
                called = line[4:].strip()
            elif line.startswith("calls="):
                call = True
            elif re.match(r"[\d+*-]", line):
                yield of, name, int(line.split()[1]), called if call else None
                if call:
                    call, called = False, of


def function(name):
    """sluice::PauseLog::count of "void sluice::PauseLog::count<int>(sluice::Time) const"; templates are one."""
    out, depth = [], 0
    for at, letter in enumerate(name.replace("(anonymous namespace)::", "")):
        if letter == "(" and depth == 0:
            break
        if letter == "<":
            depth += 1
        if depth == 0:
            out.append(letter)
        if letter == ">" and depth != 0 and name[at - 1] != "-":
            depth -= 1
    return "".join(out).split(" ")[-1]


def own(profile):
    """Instructions of every function, without those that it calls."""
    costs = {}
    for _, name, cost, called in blocks(profile):
        if called is None:
            key = function(name)
            costs[key] = costs.get(key, 0) + cost
    return costs


def inclusive(profile, program):
    """Instructions of every function of `program` in no class, by its last name, with all that it calls in it: a call into another library
    (memory, the C library) is not its own."""
    costs = {}
    for of, name, cost, called in blocks(profile):
        found = re.fullmatch(r"sluice::(\w+)", function(name))
        if found and of.endswith("/" + program) and (called is None or called.endswith("/" + program)):
            costs[found[1]] = costs.get(found[1], 0) + cost
    return costs


class Table:
    """A file of a line `CASE PART INSTRUCTIONS` each, made by a compiler that it names."""

    def __init__(self, test, header):
        self.path = pathlib.Path(test).with_name(pathlib.Path(test).name.replace("_test.py", ".txt"))
        self.header, self.compiler = header, None  # main() says which

    def read(self):
        stored = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else []:
            words = line.split()
            if line.startswith("compiler "):
                stored["compiler"] = line.removeprefix("compiler ")
            elif len(words) == 3 and not line.startswith("#"):
                stored[words[0], words[1]] = float(words[2])
        return stored

    def write(self, stored):
        lines = [f"compiler {stored['compiler']}"]
        lines += [f"{key[0]:<9}{key[1]:<12}{cost:>9.2f}" for key, cost in stored.items() if key != "compiler"]
        self.path.write_text(self.header + "\n".join(lines) + "\n")

    def compare(self, test, case, measure):
        """Fails where a part costs more than the file says; with --update writes what `measure()` says: {part: instructions}."""
        stored = self.read()
        if not Programs.update and stored.get("compiler") != self.compiler:
            test.skipTest(f"{self.path.name} is of {stored.get('compiler')}, this is {self.compiler}")
        counted = measure()
        if Programs.update:
            self.write({**{key: value for key, value in stored.items() if key[0] != case}, "compiler": self.compiler,
                        **{(case, part): cost for part, cost in counted.items()}})
            return
        lines, broken = [f"{'part':<12}{'stored':>9}{'now':>9}"], False
        for part, cost in counted.items():
            was = stored.get((case, part))
            worse = was is None or cost > was + max(LEAST, was * TOLERANCE)
            broken |= worse
            change = "new" if was is None else f"{(cost / was - 1) * 100:+.1f} %" if was else ""
            lines.append(f"{part:<12}{was or 0:>9.1f}{cost:>9.1f}  {change}{'   <- costs more' if worse else ''}")
        before = sum(value for key, value in stored.items() if key[0] == case)
        lines.append(f"{'all':<12}{before:>9.1f}{sum(counted.values()):>9.1f}")
        if broken:
            test.fail("instructions\n" + "\n".join(lines) + f"\nif it is worth it: {self.path.stem}_test.py ... --update")
        if sum(counted.values()) < 0.98 * before:
            print(f"{case}: cheaper than stored; --update keeps it\n" + "\n".join(lines))


def main(table, doc):
    """Of a test with such a table: its third word is the compiler."""
    if shutil.which("valgrind") is None:
        print("SKIP: valgrind is not installed")
        sys.exit(77)
    if len(sys.argv) < 4:
        sys.exit(doc)
    table.compiler = sys.argv.pop(3)
    loopback.main()
