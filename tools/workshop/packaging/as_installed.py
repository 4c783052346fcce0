#!/usr/bin/python3
"""Installed configurations and guides say where things are now: `sluiced` for `build/sluiced`, `/usr/share/sluice/conf/` for `conf/`, and
the words alone of a link to what is not installed.

as_installed.py CONF [FOLDER]    CONF: their folder, under the prefix ($MESON_INSTALL_PREFIX); FOLDER: whose files, CONF unless said
"""
import os
import pathlib
import re
import sys

# A command's path, and what a command is given. A link's target is relative and is none of these.
PROGRAM = re.compile(r"(?<![\w/.-])build/(?=sluice)")
FILE = re.compile(r"(?<![\w/.(-])conf/(?=[\w*])")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")


def as_installed(text, conf, folder):
    """`text` of a file in `folder`."""
    text = LINK.sub(lambda link: link[0] if (folder / link[2]).exists() else link[1], text)
    return FILE.sub(f"{conf}/", PROGRAM.sub("", text))


def main(words):
    if len(words) not in (1, 2):
        raise SystemExit(__doc__.strip())
    conf = pathlib.Path(os.environ["MESON_INSTALL_PREFIX"]) / words[0]
    installed = pathlib.Path(os.environ.get("DESTDIR", "/")) / str(conf).lstrip("/")
    folder = pathlib.Path(words[1]) if len(words) == 2 else installed
    for path in sorted(folder.rglob("*")):
        if path.suffix not in (".toml", ".md"):
            continue
        there = path.stat()
        text = path.read_text()
        changed = as_installed(text, conf, path.parent)
        if changed != text:
            path.write_text(changed)
            os.utime(path, ns=(there.st_atime_ns, there.st_mtime_ns))


if __name__ == "__main__":
    main(sys.argv[1:])
