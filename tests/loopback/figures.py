"""The catalogues of figures as `sluiced --figures` and `sluice-fabric figures` print them, and the leaves of a report by their rows."""

import collections
import functools
import subprocess

Figure = collections.namedtuple("Figure", "path kind unit metric sentence")
Leaf = collections.namedtuple("Leaf", "path figure labels value")
Leaf.__doc__ = "A leaf of a report: `figure` is None where no row has it; `labels` are {name: text}."


def rows_of(text, header):
    """The cells of a table in Markdown."""
    before, ruler, rows = text.partition("|---" * header.count(" | ") + "|---|\n")
    assert ruler and before.endswith(header + "\n"), text[:200]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows.splitlines()]


class Catalogue:
    def __init__(self, figures):
        self.figures = figures
        self.tree = {}
        for figure in self.figures:
            node = self.tree
            for segment in figure.path.split("."):
                node = node.setdefault(segment, {})
            node[None] = figure

    def leaves(self, report):
        return list(self._leaves(report, self.tree, "", {}))

    def _leaves(self, value, node, path, labels):
        if not isinstance(value, (dict, list)):
            yield Leaf(path, node.get(None), labels, value)
            return
        wild = next((segment for segment in node if segment and segment[0] in "{["), None)
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            segment = str(key) if str(key) in node else wild
            more = {}
            if segment and segment[0] == "{":
                names = segment[1:-1].split(",")
                more = {names[0]: str(key)} if len(names) == 1 else {name: str(child[name]) for name in names}
            yield from self._leaves(child, node.get(segment, {}), f"{path}.{key}".lstrip("."), {**labels, **more})

    def unknown(self, report):
        """Paths of the leaves that no row has."""
        return [leaf.path for leaf in self.leaves(report) if leaf.figure is None]


@functools.cache
def catalogue(sluiced):
    text = subprocess.run([sluiced, "--figures"], capture_output=True, text=True, check=True).stdout
    assert text.startswith("# Figures of the report\n"), text[:200]
    return Catalogue([Figure(*row) for row in rows_of(text, "| path | kind | unit | metric | meaning |")])


@functools.cache
def fabric_catalogue(sluiced, sluice_fabric):
    """Of a fabric: its own rows, those of each switch, and those of both in a phase."""
    text = subprocess.run([sluice_fabric, "figures"], capture_output=True, text=True, check=True).stdout
    own = [Figure(path, kind, unit, None, sentence) for path, kind, unit, sentence in rows_of(text, "| path | kind | unit | meaning |")]

    def below(place, rows, *parts):
        return [row._replace(path=f"{place}.{row.path}") for row in rows if not parts or row.path.split(".")[0] in parts]

    each = catalogue(sluiced).figures
    return Catalogue(own + below("switches.{switch}", each) + below("phases.{phase}", own, "ledger", "hosts", "flows", "collectives", "links")
                     + below("phases.{phase}.switches.{switch}", each, "ledger", "ports"))


def leaves(of, path=()):
    """Of any JSON: (path, value)."""
    if isinstance(of, (dict, list)) and of:
        for key, value in of.items() if isinstance(of, dict) else enumerate(of):
            yield from leaves(value, (*path, key))
    else:
        yield path, of


def at(of, path):
    for key in path:
        of = of[key]
    return of
