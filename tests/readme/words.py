"""Whether what a README names exists: programs with their options and verbs, files, links."""

import functools
import re
import shlex
import subprocess

from blocks import COMMAND, PROGRAMS, ROOT, anchors, links, spans

FOLDERS = ("conf", "control", "dataplane", "lib", "tests", "tools", "shared")
SOURCES = ("cc", "hh", "def", "py", "sh", "md", "svg")
# Names in the change log of what is gone.
GONE = {"--telemetry"}
# Files of others, and those that our tools write.
ELSEWHERE = {"dpdk-devbind.py", "bench.svg"}
# Words that are not options of the program before them, but of what it runs or compares with.
FOREIGN = {"tools/lab": {"-c", "-s", "-D", "-1", "-t"}}


class Helps:
    """What the programs say of themselves."""

    def __init__(self, programs):
        self.programs = programs

    @functools.cache
    def text(self, program):
        path = self.programs.get(program) or ROOT / program
        if program in ("tools/setup", "tools/check"):
            return path.read_text()  # its help is its first lines
        said = ""
        for verb in ([], ["headroom"]) if program == "sluiced" else ([],):
            done = subprocess.run([path, *verb, "--help"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            said += done.stdout + done.stderr
        return said

    @functools.cache
    def has_object(self, word):
        return subprocess.run([self.programs["sluicectl"], "help", word], capture_output=True, check=False).returncode == 0

    def wrong(self, command):
        """What is wrong with one command, without pipes: an option, a verb or a program that nobody knows."""
        try:
            words = shlex.split(command, comments=True)
        except ValueError:
            words = command.split()
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words.pop(0)
        if not words:
            return []
        program = words[0].removeprefix("build/")
        if (ROOT / program).is_dir():
            return []
        if program not in PROGRAMS and not (ROOT / program).is_file():
            return [f"{words[0]}: there is no such program"]
        found = []
        text = self.text(program)
        for word in words[1:]:
            option = re.match(r"\[?(--?[A-Za-z][\w-]*|-\d)", word)
            if option and option[1] not in {"--help", *GONE} and option[1] not in FOREIGN.get(program, ()):
                plain = option[1].lstrip("-") if program == "sluicectl" else option[1]
                if not re.search(rf"(?<![\w-]){re.escape(plain)}(?![\w-])", text):
                    found.append(f"{program} does not know {option[1]}")
        verb = next((word for word in words[1:2] if re.fullmatch(r"[a-z][a-z-]*", word)), None)
        if verb and program == "sluicectl" and not self.has_object(verb):
            found.append(f"sluicectl does not know {verb}")
        elif verb and not re.search(rf"(?<![\w-]){re.escape(verb)}(?![\w-])", text):
            found.append(f"{program} does not know {verb}")
        return found


def simple_commands(line):
    """The commands of a line of shell that are ours."""
    parts = re.split(r"\s*(?:&&|\|\||[;|&]|\$\(|\)|\bdo\b)\s*", line)
    return [part for part in parts if COMMAND.match(part)]


def named_commands(readme):
    """(place, command) of every command that it names, in blocks and in sentences."""
    for block in readme.blocks:
        for line in block.commands():
            for command in simple_commands(line):
                yield str(block), command
    for number, span in spans(readme):
        for command in simple_commands(span):
            yield f"{readme.file}:{number}", command


def broken_links(readme):
    for number, target in links(readme):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = (readme.folder / path).resolve() if path else ROOT / readme.file
        if not place.exists():
            yield f"{readme.file}:{number}: {target}: there is no such file"
        elif anchor:
            guide = place / "README.md" if place.is_dir() else place
            if anchor not in anchors(guide.read_text()):
                yield f"{readme.file}:{number}: {target}: no heading makes this anchor"


@functools.cache
def tracked():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [file for file in listed.stdout.split() if (ROOT / file).exists()]
    return files, {file.rsplit("/", 1)[-1] for file in files}


def exists(readme, path):
    for start in (readme.folder, ROOT):
        if any(True for _ in start.glob(path.rstrip("/"))):
            return True
    files, _ = tracked()
    tail = re.compile("(?:^|/)" + re.escape(path.rstrip("/")).replace(r"\*", "[^/]*") + "(?:$|/|\\.)")
    return any(tail.search(file) for file in files)


def missing_parts(readme):
    """Names at the head of a list's item, in a README on code: `parse`, `wred`: ... are files or folders below it."""
    if not readme.file.startswith(("lib/", "control/", "dataplane/", "tests/")):
        return
    below = [file.removeprefix(f"{readme.folder.relative_to(ROOT)}/") for file in tracked()[0] if (ROOT / file).is_relative_to(readme.folder)]
    stems = {part.partition(".")[0] for file in below for part in file.split("/")}
    for number, line in readme.prose:
        if head := re.match(r"- (`[a-z0-9_]+`(?:(?:, | and )`[a-z0-9_]+`)*)(?: ?\([^)]*\))?:", line):
            for name in re.findall(r"`(\w+)`", head[1]):
                if name not in stems:
                    yield f"{readme.file}:{number}: {name}: nothing here has this name"


def missing_paths(readme):
    """Paths that sentences and commands name, from the root or from the README's folder. Words of tools/test are tests, not paths."""
    named = spans(readme) + [(block.line, command) for block in readme.blocks for command in block.commands()]
    named = [(place, word) for place, text in named for word in text.split()[:1 if text.startswith("tools/test ") else None]]
    for number, word in named:
        word = word.strip("\"'(),;:[]{}").removeprefix("./")
        if re.search(r"[A-Z$<>=|@\\]{2}|[$<>=|@\\]|://", word) and not re.search(r"README|LICENSE|SHA256SUMS", word):
            continue
        first, slash, _ = word.partition("/")
        if slash and first in FOLDERS and first != "shared":
            if not exists(readme, word.split("#")[0]):
                yield f"{readme.file}:{number}: {word}: there is no such file"
        elif not slash and re.fullmatch(rf"[\w*-]+\.(?:{'|'.join(SOURCES)})", word):
            if word not in ELSEWHERE and not any(re.fullmatch(re.escape(word).replace(r"\*", ".*"), name) for name in tracked()[1]):
                yield f"{readme.file}:{number}: {word}: no file has this name"
