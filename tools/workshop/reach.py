"""Which tests an edit can reach, for `tools/test --changed`: SUITE/NAME of Meson's tests, a line each.

reach.py BUILD [REVISION]     the edit: what differs from REVISION (HEAD), and what git does not know

A test is reached by what its program is made of (ninja's inputs, and the headers that it has noted), or, where it is a script, by the
script, by what that imports of tests/, by the programs of ours that their text names, and by files whose name or folder it names.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines(*command):
    return subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def changed(revision):
    """Paths in the tree."""
    return set(lines('git', 'diff', '--name-only', revision)) | set(lines('git', 'ls-files', '--others', '--exclude-standard'))


def in_tree(build, path):
    """A path that ninja knows, as one of the tree."""
    return os.path.relpath(os.path.realpath(os.path.join(build, path)), ROOT)


def noted_headers(build):
    """By object, as ninja knows it: what the last compilation has read of the tree."""
    headers, target = collections.defaultdict(set), ''
    for line in lines('ninja', '-C', build, '-t', 'deps'):
        if line.startswith('    '):
            headers[target].add(in_tree(build, line.strip()))
        elif ': #deps' in line:
            target = line.split(': #deps')[0]
    return headers


def program_reach(build, program, headers):
    reached = set()
    for path in lines('ninja', '-C', build, '-t', 'inputs', os.path.relpath(program, build)):
        reached |= {in_tree(build, path)} | headers.get(path, set())
    return reached


def script_text(script):
    """Of the script, and of what it imports of its own folder and of the folders that it names."""
    texts, waiting, seen = [], [script], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        text = path.read_text()
        texts.append(text)
        for name in re.findall(r'^\s*(?:import|from) (\w+)', text, re.M):
            waiting += [other for other in ROOT.glob(f't*/**/{name}.py') if other not in seen]
    return '\n'.join(texts), {str(path.relative_to(ROOT)) for path in seen}


def main():
    build = os.path.abspath(sys.argv[1])
    edit = changed(sys.argv[2] if len(sys.argv) > 2 else 'HEAD')
    headers = noted_headers(build)
    introspect = lambda what: json.loads(''.join(lines('meson', 'introspect', build, what)))
    made = {target['id']: target['filename'] for target in introspect('--targets')}
    programs = {pathlib.Path(path).name: path for paths in made.values() for path in paths if os.access(path, os.X_OK)}
    reach = {}

    def reached_by(path):
        if path not in reach:
            reach[path] = program_reach(build, path, headers)
        return reach[path]

    for test in introspect('--tests'):
        parts = set()
        scripts = [pathlib.Path(word) for word in test['cmd'] if word.endswith('.py')]
        for script in scripts:
            text, files = script_text(script)
            parts |= files
            parts |= {path for path in edit if pathlib.Path(path).name in text or f'{pathlib.Path(path).parent}/' in text}
            for name, path in programs.items():
                if name in text:
                    parts |= reached_by(path)
        for identity in test['depends'] if not scripts else []:
            for path in made[identity]:
                parts |= reached_by(path)
        # What every test of the build is made by.
        if edit & (parts | {'meson.build', 'tests/meson.build'}):
            print(test['suite'][0].split(':')[-1] + '/' + test['name'])


if __name__ == '__main__':
    main()
