"""The common part of exports: what a configuration comes to, port by port, whatever names it has; patches applied; runs compared."""

import copy
import json
import tomllib

from importer import DONE, Case, Programs, run

BUILT_IN = {"speed": "100G", "cable": "5m", "mtu": 9100, "watchdog": {"action": "drop", "detection": "200ms", "restoration": "400ms"}}  # of a port that says nothing
FLOW = """
[[flow]]
from = ["{}"]
to = "{}"
message = "2MB"
messages = 1
[[flow]]
from = ["{}"]
to = "{}"
message = "1MB"
messages = 1
"""


def patched(document, operations):
    """RFC 6902, of what sluice-import writes: add, replace and remove."""
    document = copy.deepcopy(document)
    for operation in operations:
        parts = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        node = document
        for part in parts[:-1]:
            node = node[part]
        if operation["op"] in ("replace", "remove"):
            assert parts[-1] in node, operation
        if operation["op"] == "remove":
            del node[parts[-1]]
        else:
            node[parts[-1]] = operation["value"]
    return document


def texts(value):
    """All that stands where a table has a value."""
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts(member)]
    return [value]


def over(base, own):
    return {**base, **{key: over(base.get(key, {}), value) if isinstance(value, dict) and isinstance(base.get(key, {}), dict) else value for key, value in own.items()}}


def without_presets(value):
    return {key: without_presets(member) for key, member in value.items() if member not in ("preset", "switch")} if isinstance(value, dict) else value


def in_force(config):
    """{port: its keys}, with profiles of WRED and maps in the place of their names; colors that no packet has are left out."""
    ports = {}
    for name, port in config["port"].items():
        own = copy.deepcopy(without_presets(over(over(BUILT_IN, config.get("default", {})), port)))
        own["map"] = config.get("map", {}).get(own.get("map", "default"), own.get("map"))
        for queue in own.get("queue", {}).values():
            wred = config.get("wred", {}).get(queue.get("wred"), {})
            queue["wred"] = {key: value for key, value in wred.items() if not key.startswith(("yellow", "red"))} or queue.get("wred")
        for n, group in own.get("priority_group", {}).items():
            if int(n) not in own.get("pfc", [3]):
                group.pop("xoff", None)
        if own["watchdog"]["action"] == "off":
            own["watchdog"] = {"action": "off"}
        own["priority_group"] = {n: group for n, group in own.get("priority_group", {}).items() if group}
        ports[name] = {key: value for key, value in own.items() if key not in ("address", "small_xoff")}
    return ports


class ExportCase(Case):
    maxDiff = 2000

    def export(self, source, maker, *options, status=DONE, name="there"):
        """(what is said, the file's text, the lines of the account that are about the export)."""
        out = self.folder / name
        out.unlink(missing_ok=True)
        done = run(Programs.importer, source, "--to", maker, "-o", out, "--account", self.account, *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        account = self.account.read_text().splitlines() if self.account.exists() else []
        return done.stdout + done.stderr, out.read_text() if out.exists() else None, [line for line in account if line.startswith(f"{out}:")]

    def fates(self, account):
        """{path: [fate, words]} of the lines that are not said as they are."""
        return {line.split(": ", 3)[1]: line.split(": ", 3)[2:] for line in account if ": said: " not in line}

    def keys(self, text):
        return self.file(text, "keys.toml")

    def refused_keys(self, text, *words, source, options=()):
        said, written, _ = self.export(source, "sonic", "--apply", self.keys(text), *options, status=2)
        self.assertIsNone(written)
        for word in words:
            self.assertIn(word, said)
        return said

    def ran(self, config, hosts):
        """The report of a run of two flows, without what names the configuration."""
        path = self.folder / "run.toml"
        path.write_text(config.read_text() + FLOW.format(hosts[0], hosts[-1], *hosts[:2]))
        report = self.folder / "report.json"
        done = run(Programs.sluiced, "--config", path, "--report", report)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        made = json.loads(report.read_text())
        return {key: made[key] for key in ("ports", "verdict", "flows") if key in made}

    def toml_of(self, source, *options, name="wanted.toml"):
        """`source` as a file of sluiced's: (its path, its keys)."""
        path = self.folder / name
        done = run(Programs.importer, source, "-o", path, *options)
        self.assertEqual(done.returncode, DONE, done.stdout + done.stderr)
        return path, tomllib.loads(path.read_text())
