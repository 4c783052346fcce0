#!/usr/bin/python3
"""Prints the licenses of what a bundle of JavaScript is made of: its first comment, as control/report/page/vendor/build.js writes it.

vendored_licenses.py BUNDLE
"""
import pathlib
import sys


def licenses(bundle):
    """The text of the comment; each license begins with the path of its file, NAME/LICENSE or the like."""
    text = pathlib.Path(bundle).read_text()
    begin, end = text.find("/*!"), text.find("*/")
    if begin != 0 or end < 0:
        raise SystemExit(f"{bundle}: no comment with licenses at its beginning")
    return text[3:end].strip().replace("* /", "*/")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__.strip())
    print(licenses(sys.argv[1]))
