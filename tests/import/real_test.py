#!/usr/bin/python3
"""Public configurations of EOS and NX-OS, no copy of which is here: no crash, a fate for each line, no statement of QoS unknown, and links that are
what the descriptions say. $SLUICE_CHECKOUTS is a folder with checkouts as OWNER/NAME: aristanetworks/avd, microsoft/SDN,
microsoft/AzureStack_Network_Switch_Config_Generator, batfish/batfish, Azure/AzureLocal-Supportability. Without it, or one of them, a test is skipped."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import unittest

import importer
from importer import DONE, IN_PART, REFUSED, Case, Programs, run

AVD, SDN, AZURE_STACK, BATFISH = "aristanetworks/avd", "microsoft/SDN", "microsoft/AzureStack_Network_Switch_Config_Generator", "batfish/batfish"
AZURE_LOCAL = "Azure/AzureLocal-Supportability"
FATE = re.compile(r":(?:(\d+):\d+|-): (.*?): (wrong|left out|assumed|no counterpart|taken): (.*)$")
# Statements of ours, and reasons that would say that the readers do not know one.
OURS = re.compile(r"(?:no |default )?(?:qos (?:profile|map (?:dscp|cos|traffic-class)|trust|cos|dscp|random-detect)|priority-flow-control|(?:uc-|mc-)?tx-queue|random-detect|shape rate|service-profile|"
                  r"service-policy type (?:qos input|queuing|network-qos)|class-map type (?:qos|queuing|network-qos)|policy-map type (?:quality-of-service|qos|queuing|network-qos)|"
                  r"pause (?:no-drop|pfc-cos|buffer-size)|queue-limit|bandwidth (?:percent|remaining|guaranteed)|set (?:qos-group|traffic-class)|match (?:dscp|cos|qos-group)|system qos)\b")
UNKNOWN = re.compile(r"have none of it|has none of it|neither QoS, nor a port")
READ_OVER = re.compile(r"[!#%]|/\*|//|(?:exit|end|EOF|quit|enable|configure.*)$|-----BEGIN|(?:show|copy|write|config) ?")


def checkout(name):
    root = os.environ.get("SLUICE_CHECKOUTS")
    folder = pathlib.Path(root or "") / name
    if not root or not folder.is_dir():
        raise unittest.SkipTest(f"no checkout of {name}: give a folder that has it as SLUICE_CHECKOUTS")
    return folder


def lines_of_ours(text):
    """(number, indentation, statement) of the lines that want a fate: without comments, banners, scripts and certificates."""
    end = None
    for number, line in enumerate(text.split("\n"), 1):
        statement = line.strip()
        if end:
            end = None if end in statement else end
            continue
        banner = re.match(r"banner \S+(?: (\S))?", statement)
        if banner:
            end = "EOF" if not banner[1] else None if statement.count(banner[1], banner.start(1)) > 1 else banner[1]
        elif statement in ("comment", "action bash") or statement.startswith("code"):
            end = "EOF"
        elif statement.startswith("-----BEGIN"):
            end = "-----END"
        if statement and not READ_OVER.match(statement):
            yield number, len(line) - len(line.lstrip()), statement


class Real(Case):
    def import_file(self, path, source):
        """(exit status, what it says as an error, (line, path, fate, why) of the account)."""
        out = self.folder / re.sub(r"\W", "_", str(path)[-100:])
        done = run(Programs.importer, path, "-o", f"{out}.toml", "--account", f"{out}.account", *(["--from", source] if source else []))
        account = pathlib.Path(f"{out}.account")
        lines = account.read_text(errors="replace").splitlines() if account.exists() else []
        return done.returncode, done.stderr, [(int(match[1] or 0), *match.groups()[1:]) for match in (FATE.search(line[len(str(path)):]) for line in lines)]

    def check_file(self, path, status, errors, account):
        self.assertIn(status, (DONE, IN_PART, REFUSED), errors)
        self.assertNotIn("internal error", errors)
        self.assertTrue(account, errors)
        text = path.read_text(errors="replace").split("\n")
        fates = {}
        for line, _, fate, why in account:
            fates.setdefault(line, set()).add(fate)
            if line and fate == "no counterpart" and UNKNOWN.search(why) and OURS.match(text[line - 1].strip()):
                section = next((above for above in reversed(text[:line]) if above[:1].strip()), "")
                self.assertRegex(section, "^vlan |^interface Vlan", f"{path}:{line}: {text[line - 1]}: {why}")  # of a VLAN, it is none of ours
        told_with = []  # sections that are wrong or left out with all that they have
        for number, indent, statement in lines_of_ours("\n".join(text)):
            told_with = [above for above in told_with if above < indent]
            self.assertTrue(number in fates or told_with, f"{path}:{number}: {statement}: no fate")
            if fates.get(number, set()) & {"wrong", "left out"}:
                told_with.append(indent)

    def check_files(self, files, source, least):
        """Each file; `least`: files, of them with a port, and lines taken that there must be."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda path: (path, *self.import_file(path, source)), files))
        with_port = taken = 0
        for path, status, errors, account in done:
            with self.subTest(path):
                self.check_file(path, status, errors, account)
                wrong = [why for _, _, fate, why in account if fate == "wrong"]
                with_port += not any("has no ports" in why for why in wrong)
                taken += sum(fate == "taken" for _, _, fate, _ in account)
        self.assertGreaterEqual((len(done), with_port, taken), least)
        for found, wanted in zip((len(done), with_port, taken), least):
            self.assertGreaterEqual(found, wanted)
        return {path: [line for line in account if line[2] == "wrong" and "has no ports" not in line[3]] for path, _, _, account in done}

    def files(self, name, pattern):
        return sorted(path for path in checkout(name).rglob(pattern) if path.is_file())

    def test_avd(self):
        wrong = self.check_files(self.files(AVD, "molecule/eos_cli_config_gen/intended/configs/*.cfg"), "eos", (100, 5, 200))
        self.assertFalse([lines for lines in wrong.values() if lines])

    def test_avd_designs(self):
        files = [path for path in self.files(AVD, "molecule/*/intended/configs/*.cfg") if "eos_cli_config_gen" not in str(path)]
        wrong = self.check_files(files, "eos", (300, 200, 4000))
        self.assertLessEqual(sum(len(lines) for lines in wrong.values()), len(files) // 20)

    def test_nexus_files_of_microsoft(self):
        wrong = self.check_files(self.files(SDN, "*Nexus*.cfg"), None, (2, 2, 300))
        self.assertFalse([lines for lines in wrong.values() if lines])
        wrong = self.check_files([path for path in self.files(AZURE_STACK, "*.c*g*") if "nxos" in str(path.parent) and path.suffix in (".cfg", ".config")], "nxos", (8, 3, 250))
        self.assertFalse([lines for lines in wrong.values() if lines])

    def test_batfish(self):
        for vendor, source, least in (("cisco_nxos", "nxos", (100, 50, 300)), ("arista", "eos", (100, 25, 500))):
            files = [path for path in self.files(BATFISH, f"src/test/resources/org/batfish/vendor/{vendor}/grammar/testconfigs/*")]
            wrong = self.check_files(files, source, least)
            self.assertLessEqual(sum(len(lines) for lines in wrong.values()), 5)  # its tests of wrong statements

    def test_blocks_of_azure_local(self):
        """Each listing of a guide alone, and all of its listings as one file."""
        files = []
        for guide in self.files(AZURE_LOCAL, "Reference-TOR-*.md"):
            blocks = [block for _, block in re.findall(r"^```(\w*) *\n(.*?)^```", guide.read_text(), re.S | re.M) if re.search(r"^(interface|policy-map|class-map|system qos)", block, re.M)]
            for name, block in [*enumerate(blocks), *([("all", "\n!\n".join(blocks))] if blocks else [])]:
                files.append(self.file(block, f"{guide.stem}-{name}.cfg"))
        wrong = self.check_files(files, "nxos", (12, 8, 80))
        self.assertFalse([lines for lines in wrong.values() if lines])
        _, config, account = self.importing(self.folder / "Reference-TOR-QOS-Policy-Configuration-all.cfg")
        port = next(iter(config["port"]))
        self.assertEqual([self.value(config, port, key) for key in ("pfc", "trust", "mtu")], [[3], "pcp", 9216])
        self.assertEqual([self.value(config, port, "queue", str(n), "weight") for n in (0, 3, 7)], [48, 50, 1])
        wred = config["wred"][self.value(config, port, "queue", "3", "wred")]
        self.assertEqual((wred["green_min"], wred["green_max"], wred["green_probability"]), ("300KB", "300KB", "100%"))

    def test_fleets_of_avd(self):
        """Links are those that descriptions name, and one MTU that is changed is one error, of its link."""
        said = re.compile(r"description .*?_((?:[A-Za-z0-9.]+-)*[A-Za-z0-9.]+)_(Ethernet[\d/]+)$")
        fleets = [folder for folder in self.files_of_fleets() if len(list(folder.glob("*.cfg"))) > 8]
        self.assertGreaterEqual(len(fleets), 4)
        for configs in fleets:
            with self.subTest(configs):
                wanted, devices, port = set(), {path.stem for path in configs.glob("*.cfg")}, None
                for path in configs.glob("*.cfg"):
                    for line in path.read_text().split("\n"):
                        port = line.split()[1] if line.startswith("interface ") else port
                        named = said.match(line.strip()) if port and re.fullmatch(r"Ethernet[\d/]+", port) else None
                        if named and named[1] in devices:
                            wanted.add(frozenset([(path.stem, port.replace("/", "_")), (named[1], named[2].replace("/", "_"))]))
                found = self.fleet(configs)
                self.assertEqual({frozenset((link[end]["device"], link[end]["port"]) for end in "ab") for link in found["links"]}, wanted)
                self.assertFalse([each for each in found["findings"] if each["severity"] == "error"])
        both = ((configs, link) for configs in fleets for link in self.fleet(configs)["links"] if all("mtu" in self.body(configs, link[end]) for end in "ab"))
        configs, link = next(both)
        copy = self.folder / "fleet"
        shutil.copytree(configs, copy)
        body = self.body(copy, link["a"])
        file = copy / f'{link["a"]["device"]}.cfg'
        file.write_text(file.read_text().replace(body, re.sub(r"mtu \d+", "mtu 4000", body)))
        errors = [each for each in self.fleet(copy)["findings"] if each["severity"] == "error"]
        self.assertEqual([(each["aspect"], {each[end]["device"] for end in "ab"}) for each in errors], [("mtu", {link[end]["device"] for end in "ab"})])

    def files_of_fleets(self):
        """Folders whose files are switches of one network."""
        of_networks = re.compile(r"evpn_underlay|l2ls|clos|l3ls|campus|isis")
        return sorted({path.parent for path in self.files(AVD, "molecule/*/intended/configs/*.cfg") if of_networks.search(str(path.parent))})

    def fleet(self, folder):
        done = run(Programs.importer, "--fleet", folder, "--json", self.folder / "fleet.json")
        self.assertIn(done.returncode, (DONE, IN_PART, importer.NOT_LOSSLESS), done.stderr)
        return importer.json.loads((self.folder / "fleet.json").read_text())

    def body(self, folder, end):
        text = (folder / f'{end["device"]}.cfg').read_text()
        return re.search(rf'^interface {end["port"].replace("_", "/")}\n((?:   .*\n)*)', text, re.M)[0]


if __name__ == "__main__":
    importer.main()
