#!/usr/bin/python3
"""Writes files as C++ strings: embed.py OUTPUT FILE... Their names are those of the files, in sluice::fabric::page_files."""

import pathlib
import sys

OCTAL_BEFORE_DIGITS = {byte: f"\\{byte:03o}" for byte in range(256) if byte < 32 or byte > 126}
ESCAPES = {**OCTAL_BEFORE_DIGITS, ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?", ord("\n"): "\\n"}
CHUNK = 8192


def literal(text):
    pieces = (text[at:at + CHUNK] for at in range(0, len(text), CHUNK))
    return "\n".join('    "' + "".join(ESCAPES.get(byte, chr(byte)) for byte in piece) + '"' for piece in pieces) or '    ""'


def main():
    output, *files = map(pathlib.Path, sys.argv[1:])
    parts = ['#include "tools/fabric/page/page_files.hh"\n\nnamespace sluice::fabric::page_files {\n']
    for file in files:
        text = file.read_bytes()
        name = file.name.replace(".", "_")
        parts.append(f"static constexpr char {name}_text[] =\n{literal(text)};\nconst std::string_view {name}({name}_text, {len(text)});\n")
    output.write_text("".join([*parts, "}\n"]))


if __name__ == "__main__":
    main()
