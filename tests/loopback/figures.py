"""The catalogue of figures as `sluiced --figures` prints it, and the leaves of a report by its rows."""

import collections
import functools
import subprocess

Figure = collections.namedtuple("Figure", "path kind unit metric sentence")
Leaf = collections.namedtuple("Leaf", "path figure labels value")
Leaf.__doc__ = "A leaf of a report: `figure` is None where no row has it; `labels` are {name: text}."


class Catalogue:
    def __init__(self, text):
        title, header, ruler, *rows = [line for line in text.splitlines() if line]
        assert (title, header) == ("# Figures of the report", "| path | kind | unit | metric | meaning |") and set(ruler) == set("|-"), text[:200]
        cells = [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]
        self.figures = [Figure(*row) for row in cells]
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
    return Catalogue(subprocess.run([sluiced, "--figures"], capture_output=True, text=True, check=True).stdout)
