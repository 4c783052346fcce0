#!/usr/bin/python3
"""Prints debian/copyright: our license, and those of what is vendored, each from the file that has it.

copyright.py ROOT
"""
import pathlib
import re
import sys

from vendored_licenses import licenses

# The files in the bundle's comment, and the names of their licenses for Debian; nothing: no license of its own. A new one is to be named here.
BUNDLE = "control/report/page/vendor/charts.min.js"
NAMES = {"echarts/LICENSE": "Apache-2.0", "echarts/NOTICE": None, "echarts/licenses/LICENSE-d3": "BSD-3-clause-d3",
         "zrender/LICENSE": "BSD-3-clause-zrender", "tslib/LICENSE.txt": "0BSD"}
# Debian has the text; it says so where a package would repeat it.
COMMON = {name: f"On Debian systems the text of this license is in /usr/share/common-licenses/{name}." for name in ("Apache-2.0", "GPL-2")}
# The kernel takes some of its functions' users under the GPL only; LICENSE says so of them.
DUAL = ("dataplane/ports/bpf/steer.bpf.c", "dataplane/ports/bpf/steer.h")


def parts(text):
    """{file: text} of the bundle's comment."""
    found, at = {}, None
    for line in text.splitlines():
        if re.fullmatch(r"[a-z0-9-]+/(licenses/)?(LICENSE|NOTICE)[-.\w]*", line):
            if line not in NAMES:
                raise SystemExit(f"{BUNDLE}: {line} is new; do: give its license a name in tools/workshop/packaging/copyright.py")
            at = found.setdefault(line, [])
        elif at is not None:
            at.append(line)
    if found.keys() != NAMES.keys():
        raise SystemExit(f"{BUNDLE}: without {', '.join(NAMES.keys() - found.keys())}")
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def field(text):
    """Text as a field's further lines."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.splitlines())


def holders(text):
    return [line.strip().removeprefix("Copyright ").removeprefix("(c) ") for line in text.splitlines()
            if re.match(r"\s*Copyright (\(c\) )?(\d{4}|Microsoft)", line)]


def copyright_file(root):
    own = (root / "LICENSE").read_text()
    for file in DUAL:
        if not (root / file).exists() or pathlib.Path(file).name not in own:
            raise SystemExit(f"{file}: is not there, or LICENSE does not name it; do: correct tools/workshop/packaging/copyright.py")
    vendored = parts(licenses(root / BUNDLE))
    of_bundle = [name for file in vendored for name in [NAMES[file]] if name]
    stanzas = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sluice",
               f"Files: *\nCopyright: {holders(own)[0]}\nLicense: BSD-3-clause\n{field(own.split(chr(10), 1)[1].strip())}",
               f"Files: {' '.join(DUAL)}\nCopyright: {holders(own)[0]}\nLicense: BSD-3-clause or GPL-2",
               f"License: GPL-2\n{field(COMMON['GPL-2'])}",
               f"Files: {BUNDLE}\nCopyright: " + "\n ".join(holder for text in vendored.values() for holder in holders(text)) +
               "\nLicense: " + " and ".join(of_bundle) +
               "\nComment: It is in the pages that sluiced and sluice-fabric serve and write. Notice of Apache ECharts:\n" + field(vendored["echarts/NOTICE"])]
    for file, text in vendored.items():
        if NAMES[file]:
            stanzas.append(f"License: {NAMES[file]}\n{field(COMMON.get(NAMES[file], text))}")
    return "\n\n".join(stanzas) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.strip())
    print(copyright_file(pathlib.Path(sys.argv[1])), end="")
