"""Runs the sessions of a README in a scratch copy of the tree, and compares what they print with what the README shows."""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

from blocks import PROGRAMS, ROOT
from loopback import PATIENCE_S

NOBODY = 65534
OWN = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "sh", "-c",
       'mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec "$@"', "sh"]
KNOWN = {*PROGRAMS, "tools/run", "tools/picture", "cp", "do", "done", "echo", "export", "for", "grep", "python3", "sed"}
MARK = "--- that was command"


class Scratch:
    """A folder that looks like the repository, with the programs in build/ and an out/ of its own."""

    def __init__(self, test, programs):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sluice-readme-")).resolve()
        test.addCleanup(shutil.rmtree, self.path)
        self.bin = self.path / "build"
        for folder in (self.bin, self.path / "out", self.path / "captures"):
            folder.mkdir()
        for each in ("conf", "tests", "tools"):
            (self.path / each).symlink_to(ROOT / each)
        for name, path in programs.items():
            (self.bin / name).symlink_to(path)
        # The captures that someone brings along.
        subprocess.run([self.bin / "sluice-traffic", "generate", "conf/smallest-traffic.toml", "--out", "captures"],
                       cwd=self.path, check=True, capture_output=True, timeout=PATIENCE_S)
        for each in (self.path, self.bin, self.path / "out", self.path / "captures"):
            each.chmod(0o755)
            if unprivileged():
                os.chown(each, NOBODY, NOBODY)
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "SLUICE_BUILD": str(self.bin), "LC_ALL": "C.UTF-8", "HOME": str(self.path)}


def unprivileged():
    """For subprocess: a user without rights, where root runs the tests. So a README that says nothing of root needs none, and no command of
    one changes this machine."""
    if os.getuid() != 0:
        return {}
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    readable = subprocess.run(["test", "-r", ROOT / "README.md"], check=False, **user).returncode == 0
    return user if readable else {}


def strange(block):
    """The words of a session that are neither our programs nor plain ones of a shell, and files outside: such a block is declared, not run."""
    found = []
    for command in block.commands():
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        before, begins = ";", True   # `do` is a shell's word where a command begins, and a key of ours elsewhere
        for word in lexer:
            if begins and word.strip("();&|") and word.removeprefix("build/") not in KNOWN:
                found.append(f"{command}: {word}")
            begins = word in ("&&", "||", ";", "|", "&", "(") or (begins and word == "do")
            if before.startswith(">") and word.startswith(("/", "~")):
                found.append(f"{command}: {before} {word}")
            before = word
    return found


def script(commands, aside):
    """The commands for one bash: each says its number, its exit status and, between two of these, its output. One that goes on behind the
    others has its output in the file `aside`, and is awaited where it listens."""
    lines = ["exec 2>&1"]
    for number, command in enumerate(commands):
        if command.endswith(" &"):
            lines.append(f"{{ {command[:-2]}; }} >{aside} 2>&1 </dev/null &")
            if socket := re.search(r"--socket (\S+)", command):
                lines.append(f"until [ -S {socket[1]} ]; do kill -0 $! || break; sleep 0.02; done; status=0")
        else:
            lines += [f"{command}\nstatus=$?"]
        lines.append(f"printf '\\n{MARK} {number}: %s\\n' $status; (exit $status)")
    return "\n".join([*lines, "kill $(jobs -p) 2>/dev/null; wait"]) + "\n"


def run(scratch, commands, apart=False):
    """[(exit status, [line])] of each; `apart`: as root in the tree itself, in namespaces that go with the shell."""
    where = {"cwd": ROOT} if apart else {"cwd": scratch.path, **unprivileged()}
    shell = subprocess.Popen([*(OWN if apart else []), "bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", env=scratch.environment, start_new_session=True, **where)
    try:
        said, _ = shell.communicate(script(commands, scratch.path / "aside.txt"), timeout=2 * PATIENCE_S)
    finally:
        # What goes on behind the commands is a child of a shell of its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
    outputs, before = [], []
    for line in said.splitlines():
        if marked := re.fullmatch(rf"{MARK} {len(outputs)}: (\d+)", line):
            if before and not before[-1]:
                before.pop()   # the line's end that the mark begins with
            outputs.append((int(marked[1]), before))
            before = []
        else:
            before.append(line.rstrip())
    assert len(outputs) == len(commands), f"bash ended early: {before}"
    return outputs


def masked(line):
    """A line without its figures, for what no two runs have in common."""
    return re.sub(r"\s+", " ", re.sub(r"(?:[\da-f]{2}:){5}[\da-f]{2}|\d+(?:[ .:]\d+)*(?: ?(?:ns|us|ms|s|[KMG]?B|[KMG]bits/sec|[KMG]Bytes))?\b", "#", line)).strip()


def difference(wanted, got):
    """Where the output leaves what the README shows, or nothing. A line `...` is any number of lines."""
    at, skipping = 0, False
    for line in wanted:
        if line.strip() == "...":
            skipping = True
            continue
        if skipping:
            found = next((n for n in range(at, len(got)) if got[n] == line), None)
            if found is None:
                return f"no line is: {line!r}"
            at = found
        elif at == len(got) or got[at] != line:
            return f"shown: {line!r}\n  said: {got[at] if at < len(got) else 'nothing more'!r}"
        at, skipping = at + 1, False
    return None if skipping or at == len(got) else f"said, and not shown: {got[at]!r}"


def wrong(step, following, outcome, mask=False):
    """What is wrong with a command's outcome, or nothing."""
    command, wanted, explained = step
    status, got = outcome
    if status != 0 and (following is None or "$?" not in following[0]):
        return f"exit status {status}:\n  " + "\n  ".join(got[-5:])
    if explained and not wanted or command.endswith(" &"):
        return None
    wanted = [line.rstrip() for line in wanted]
    return difference([masked(line) for line in wanted] if mask else wanted, [masked(line) for line in got] if mask else got)


def judged(scratch, blocks, apart=False):
    """Everything wrong in a section's blocks, which one shell runs. Those that run apart are real: no two runs have the same figures."""
    steps = [(block, step) for block in blocks for step in block.session()]
    outcomes = run(scratch, [step[0] for _, step in steps], apart)
    found = []
    for n, ((block, step), outcome) in enumerate(zip(steps, outcomes)):
        following = steps[n + 1][1] if n + 1 < len(steps) else None
        if said := wrong(step, following, outcome, apart):
            found.append(f"{block}: $ {step[0]}\n  {said}")
    return found


__all__ = ["PROGRAMS", "Scratch", "difference", "judged", "masked", "strange", "unprivileged"]
