"""The README files of the repository, taken apart: headings, links, words in code, and blocks of code with their commands.

A block is what four blanks indent. One with lines `$ COMMAND` is a session: the lines below a command are its output, a line `...` is any
number of lines, and a comment behind a command stands for its output. In every other block a line that begins with a program is a command,
with its explanation behind two blanks.
"""

import dataclasses
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("sluiced", "sluicectl", "sluice-traffic", "sluice-fabric", "sluice-import", "sluice-peer")
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:build/)?(?:%s)(?= |$)|(?:[A-Z_]+=\S+ )*tools/[a-z]+(?= |$)" % "|".join(PROGRAMS))


@dataclasses.dataclass
class Block:
    file: str      # from the root
    line: int      # of its first line, from 1
    section: str   # the heading above it
    lines: list

    def session(self):
        """[(command, [line of output], explained)], or nothing: not a session."""
        steps = []
        for line in self.lines:
            if line.startswith("$ "):
                command, *comment = re.split(r" +# ", line[2:], maxsplit=1)
                steps.append((command, [], bool(comment)))
            elif steps:
                steps[-1][1].append(line)
        return steps

    def commands(self):
        """The commands of either kind of block."""
        if steps := self.session():
            return [command for command, _, _ in steps]
        return [re.split(r"\s{2,}|\s+#\s", line)[0] for line in self.lines if COMMAND.match(line)]

    def name(self):
        """By which the table of what is not run knows it."""
        return self.file, self.commands()[0]

    def __str__(self):
        return f"{self.file}:{self.line}"


@dataclasses.dataclass
class Readme:
    file: str
    text: str
    blocks: list
    prose: list    # (number, line) of what is not a block

    @property
    def folder(self):
        return (ROOT / self.file).parent


def read(file):
    text = (ROOT / file).read_text()
    blocks, prose, section, open_block = [], [], "", None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    ") and (open_block or not prose or not prose[-1][1].strip() or prose[-1][1].endswith(("\\", ":"))):
            if open_block is None:
                open_block = Block(file, number, section, [])
                blocks.append(open_block)
            open_block.lines.append(line[4:])
        elif not line.strip() and open_block:
            open_block.lines.append("")
        else:
            open_block = None
            prose.append((number, line))
            if line.startswith("#"):
                section = line.lstrip("# ")
    for block in blocks:
        while not block.lines[-1]:
            block.lines.pop()
    return Readme(file, text, blocks, prose)


def readmes():
    """Every Markdown file that is tracked, or is about to be."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [read(file) for file in sorted(set(listed.stdout.split())) if (ROOT / file).exists()]


def anchors(text):
    """The anchors of its headings, as they are made of them."""
    return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in text.splitlines() if line.startswith("#")}


def links(readme):
    """(line, target) of every link and picture."""
    return [(number, target) for number, line in readme.prose for target in re.findall(r"\]\(([^)\s]+)\)", line)]


def spans(readme):
    """(line, text) of all words in code, of which one may go over the end of a line."""
    text = "\n".join(line for _, line in readme.prose)
    numbers = [number for number, _ in readme.prose]
    return [(numbers[text.count("\n", 0, found.start())], " ".join(found[1].split())) for found in re.finditer(r"`([^`]+)`", text)]
