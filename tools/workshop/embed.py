#!/usr/bin/python3
"""Writes files as C++ strings: embed.py OUTPUT HEADER NAMESPACE FILE...

HEADER declares them in NAMESPACE by their names (`page_html`), and where it ends in `:all` as one array, `files`, of {name without its
extension, text}.
"""

import pathlib
import sys

OCTAL_BEFORE_DIGITS = {byte: f"\\{byte:03o}" for byte in range(256) if byte < 32 or byte > 126}
ESCAPES = {**OCTAL_BEFORE_DIGITS, ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?", ord("\n"): "\\n"}
CHUNK = 8192


def literal(text):
    pieces = (text[at:at + CHUNK] for at in range(0, len(text), CHUNK))
    return "\n".join('    "' + "".join(ESCAPES.get(byte, chr(byte)) for byte in piece) + '"' for piece in pieces) or '    ""'


def main():
    output, (header, _, as_array), namespace, files = sys.argv[1], sys.argv[2].partition(":"), sys.argv[3], map(pathlib.Path, sys.argv[4:])
    parts, array = [f'#include "{header}"\n\nnamespace {namespace} {{\n'], []
    for file in files:
        text = file.read_bytes()
        name = file.name.replace(".", "_").replace("-", "_")
        parts.append(f"static constexpr char {name}_text[] =\n{literal(text)};\n")
        if as_array:
            array.append(f'    {{"{file.stem}", {{{name}_text, {len(text)}}}}},\n')
        else:
            parts.append(f"const std::string_view {name}({name}_text, {len(text)});\n")
    if as_array:
        parts += ["static constexpr File all[] = {\n", *array, "};\nconst std::span<const File> files(all);\n"]
    pathlib.Path(output).write_text("".join([*parts, "}\n"]))


if __name__ == "__main__":
    main()
