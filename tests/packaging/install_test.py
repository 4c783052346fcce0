#!/usr/bin/python3
"""What `meson install` installs, and that systemd takes the units and finds them closed enough.

    install_test.py SLUICED SLUICE_TRAFFIC SLUICECTL SLUICE_FABRIC SLUICE_IMPORT        $SLUICE_BUILD: the build directory
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import tomllib

from programs import NAMES, PROGRAM, ROOT, loopback, main, said, unittest

MOST_EXPOSED = 40  # of 100, as systemd-analyze reckons it
PAGES = ("man8/sluiced.8", "man5/sluice.toml.5", "man1/sluicectl.1", "man1/sluice-traffic.1", "man1/sluice-peer.1", "man1/sluice-fabric.1", "man1/sluice-import.1")
UNITS = ("sluiced.service", "sluiced@.service")


class Installed(loopback.Case):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="sluice-install-")
        cls.addClassCleanup(holder.cleanup)
        cls.root = pathlib.Path(holder.name)
        said("meson", "install", "-C", os.environ["SLUICE_BUILD"], "--no-rebuild", "--quiet", "--destdir", cls.root)
        # The prefix is the build directory's.
        cls.prefix = next(cls.root.rglob("bin/sluiced")).parents[1]
        cls.units = cls.prefix / "lib" / "systemd" / "system"

    def test_everything_has_its_place(self):
        share = self.prefix / "share"
        wanted = [self.prefix / "bin" / name for name in NAMES] + [share / "man" / page for page in PAGES] + [self.units / unit for unit in UNITS]
        wanted += [share / "bash-completion/completions" / name for name in NAMES]
        wanted += [self.prefix / "bin/sluice-picture", *(share / "sluice/tools" / name for name in ("picture", "svg.py", "quantities.py"))]
        client = next(self.prefix.rglob("sluice/client.py")).parent
        wanted += [client / name for name in ("__init__.py", "client.py", "switch.py", "py.typed")]
        wanted += [self.prefix / "libexec/sluiced-virtual", self.prefix / "lib/sysusers.d/sluice.conf",
                   share / "doc/sluice/LICENSE", share / "doc/sluice/LICENSE.page", share / "sluice/charts.min.js"]
        tracked = subprocess.run(["git", "ls-files", "conf"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        self.assertGreater(len(tracked), 20)
        wanted += [share / "sluice" / file for file in tracked]
        self.assertEqual([str(path) for path in wanted if not path.is_file() or (path.stat().st_size == 0 and path.name != "py.typed")], [])
        found = {path for path in self.root.rglob("*") if path.is_file()}
        self.assertEqual(sorted(map(str, found - set(wanted))), [], "installed, and nobody wants it")

    def test_configurations_say_where_things_are_now(self):
        share = self.prefix / "share" / "sluice" / "conf"
        installed = str(share)[len(str(self.root)):]
        named = set()
        for path in (path for path in share.rglob("*") if path.suffix in (".toml", ".md")):
            text = path.read_text()
            self.assertNotIn("build/sluice", text, path)
            self.assertEqual(re.findall(r"(?<![\w/(-])conf/\w+", text), [], path)
            links = re.findall(r"\[[^\]]*\]\(([^)#:]+)", text) if path.suffix == ".md" else []
            self.assertEqual([link for link in links if not (path.parent / link).exists()], [], path)
            named.update(re.findall(re.escape(installed) + r"/[\w./-]*\w", text))
            if path.suffix == ".toml":  # comments alone are others
                self.assertEqual(tomllib.loads(text), tomllib.loads((ROOT / "conf" / path.relative_to(share)).read_text()))
        self.assertGreater(len(named), 5)
        self.assertEqual([file for file in named if not (self.root / file.lstrip("/")).exists()], [])

    def test_scenarios_are_found_where_they_are_installed(self):
        said_here = subprocess.run([PROGRAM["sluice-fabric"], "list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        self.assertTrue(said_here.startswith("conf/scenarios/"), said_here[:100])
        folder = str(self.prefix / "share/sluice/conf/scenarios")[len(str(self.root)):]
        code = pathlib.Path(PROGRAM["sluice-fabric"]).read_bytes()
        self.assertIn(folder.encode(), code)

    def test_a_page_finds_its_charts_beside_the_program_or_in_the_data_folder(self):
        holder = tempfile.TemporaryDirectory(prefix="sluice-page-")
        self.addCleanup(holder.cleanup)
        folder = pathlib.Path(holder.name)
        installed, bare = self.prefix / "bin" / "sluiced", folder / "bin" / "sluiced"
        said(installed, "--config", ROOT / "conf" / "incast.toml", "--duration", "100us", "--report", folder / "report.json")
        for program in (PROGRAM["sluiced"], installed):
            said(program, "page", folder / "report.json", "--output", folder / "page.html")
            self.assertIn("Apache ECharts", (folder / "page.html").read_text())
        bare.parent.mkdir()
        shutil.copy(installed, bare)
        said(bare, "--config", ROOT / "conf" / "incast.toml", "--duration", "100us")
        for words in (["page", folder / "report.json"], ["--config", ROOT / "conf" / "incast.toml", "--page", "18080"]):
            done = subprocess.run([bare, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            for place in (bare.parent, folder / "share" / "sluice"):
                self.assertIn(str(place / "charts.min.js"), done.stderr)
        self.assertFalse((folder / "report.html").exists())

    def test_licenses_of_the_page_are_whole(self):
        text = (self.prefix / "share/doc/sluice/LICENSE.page").read_text()
        for word in ("Apache License", "Mike Bostock", "Baidu Inc.", "Microsoft Corporation"):
            self.assertIn(word, text)
        for file in ("echarts/LICENSE", "echarts/NOTICE", "zrender/LICENSE", "tslib/LICENSE.txt"):
            self.assertIn(f"{file}\n", text)
        self.assertNotIn("(function", text)
        done = said(ROOT / "tools/workshop/packaging/copyright.py", ROOT)
        self.assertIn("License: Apache-2.0 and BSD-3-clause-d3 and BSD-3-clause-zrender and 0BSD", done)
        self.assertIn("dataplane/ports/bpf/steer.bpf.c", done)
        self.assertNotIn("TERMS AND CONDITIONS FOR USE", done)

    def test_completions_are_scripts_that_bash_takes(self):
        for name in NAMES:
            said("bash", "-n", self.prefix / "share/bash-completion/completions" / name)

    def test_each_program_is_completed(self):
        script = self.prefix / "share/bash-completion/completions/sluice-import"

        def completed(name, *words):
            """What the last word becomes."""
            done = said("bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf "%s\\n" "${COMPREPLY[@]}"', "-", script, name, *words)
            return done.split()
        for name, verb in (("sluiced", "doctor"), ("sluice-traffic", "generate"), ("sluice-fabric", "sweep")):
            self.assertIn(verb, completed(PROGRAM[name], ""))
            self.assertEqual(completed(PROGRAM[name], verb[:3]), [verb])
        for name, option in (("sluiced", "--interactive"), ("sluice-traffic", "--speed"), ("sluice-fabric", "--junit"), ("sluice-import", "--cable")):
            self.assertIn(option, completed(PROGRAM[name], "--"))
            self.assertEqual(completed(PROGRAM[name], option[:-1]), [option])
        self.assertIn("--cable", completed(PROGRAM["sluiced"], "headroom", "--ca"))
        self.assertEqual(completed(PROGRAM["sluice-fabric"], "merge", "--"), ["--out", "--man", "--version", "--help"])
        self.assertEqual(completed(PROGRAM["sluicectl"], "watchd"), ["watchdog"])
        self.assertRegex(script.read_text(), "(?m)^complete -o default .* sluice-import ")  # names of files, where no word fits

    def test_the_client_and_the_picture_run_where_they_are(self):
        client = next(self.prefix.rglob("sluice/client.py")).parents[1]
        said("python3", "-c", f"import sys; sys.path.insert(0, {str(client)!r}); import sluice; sluice.connect")
        done = subprocess.run([self.prefix / "bin/sluice-picture"], capture_output=True, text=True)
        self.assertIn("TRACE.json OUT.svg", done.stderr)

    def test_a_switch_runs_by_what_the_unit_names(self):
        for unit, switch in zip(UNITS, ("sluice", "%i")):
            text = (self.units / unit).read_text()
            self.assertNotIn("@", re.sub(r"sluiced@lab|@system-service", "", text), "a word that meson.build gives no value")
            start = re.search(r"^ExecStart=(\S+) --config (\S+) --startup (\S+) --socket (\S+) ", text, re.M)
            self.assertEqual(str(self.prefix)[len(str(self.root)):] + "/bin/sluiced", start[1])
            self.assertTrue(start[2].endswith(f"/sluice/{switch}.toml"), start[2])
            self.assertEqual((start[3], start[4]), (f"/var/lib/sluice/{switch}.toml", f"/run/sluice/{switch}.sock"))

    def test_units_say_what_the_service_is_promised_to_do(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as refused:
            refused.write("nonsense = 1\n")
            refused.flush()
            status = subprocess.run([PROGRAM["sluiced"], "--config", refused.name], capture_output=True).returncode
        for unit in UNITS:
            lines = (self.units / unit).read_text().splitlines()
            for line in ("Type=notify", "User=sluice", "Restart=on-failure", f"RestartPreventExitStatus={status}", "NoNewPrivileges=yes",
                         f"ExecReload={str(self.prefix)[len(str(self.root)):]}/bin/sluicectl --socket /run/sluice/{'%i' if '@' in unit else 'sluice'}.sock config reload"):
                self.assertIn(line, lines, unit)
            self.assertTrue(any(re.fullmatch(r"WatchdogSec=[1-9]\d*", line) for line in lines), unit)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_units_are_verified_and_closed_enough(self):
        root = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        for unit in UNITS:
            text = (self.units / unit).read_text()
            # verify looks whether the programs are there, which are not yet installed.
            path = root / unit
            path.write_text(re.sub(r"^(Exec\w+)=\S+/bin/", rf"\1={self.prefix}/bin/", text, flags=re.M))
            name = root / unit.replace("@.", "@lab.")
            if name != path:
                name.symlink_to(path)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(name)], capture_output=True, text=True)
            said_of_ours = [line for line in done.stderr.splitlines() if "sluice" in line]
            self.assertEqual((done.returncode, said_of_ours), (0, []), unit)
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", "--no-pager", str(name)],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)


if __name__ == "__main__":
    main()
