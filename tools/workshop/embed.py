#!/usr/bin/python3
"""Writes files as C++ strings: embed.py OUTPUT NAME FILE... defines embedded::NAME of control/config/text/embedded_files.hh."""

import pathlib
import sys

OCTAL_BEFORE_DIGITS = {byte: f"\\{byte:03o}" for byte in range(256) if byte < 32 or byte > 126}
ESCAPES = {**OCTAL_BEFORE_DIGITS, ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?", ord("\n"): "\\n"}
CHUNK = 8192


def literal(text):
    pieces = (text[at:at + CHUNK] for at in range(0, len(text), CHUNK))
    return "\n".join('    "' + "".join(ESCAPES.get(byte, chr(byte)) for byte in piece) + '"' for piece in pieces) or '    ""'


def main():
    output, name, *files = sys.argv[1:]
    entries = ((pathlib.Path(file).name, pathlib.Path(file).read_bytes()) for file in files)
    array = [f'    {{"{file}",\n     {{\n{literal(text)},\n     {len(text)}}}}},\n' for file, text in entries]
    pathlib.Path(output).write_text("".join([
        '#include "control/config/text/embedded_files.hh"\n\nnamespace sluice::embedded {\nstatic constexpr File all[] = {\n', *array,
        f"}};\nconst std::span<const File> {name}(all);\n}}\n"]))


if __name__ == "__main__":
    main()
