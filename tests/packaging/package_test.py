#!/usr/bin/python3
"""The packages' life, with --long and as root: built twice with the same bytes, lintian without errors, and in a clean root with systemd as
its first process installed, run as a service, upgraded with the configuration kept, removed and purged.

    package_test.py SLUICED SLUICE_TRAFFIC SLUICECTL SLUICE_FABRIC SLUICE_IMPORT
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import time

from clean_root import CleanRoot, archive, enter
from late_worker_test import StoppedThread
from programs import NAMES, ROOT, loopback, main, said, unittest

LAB = """
clock = "real"
idle_sleep = "20us"
[buffer]
size = "4MB"
[default]
speed = "1G"
mtu = 1500
[port.p0]
device = "net_af_packet0,iface=eth1"
address = ["10.0.0.1/24"]
[port.p1]
device = "net_af_packet1,iface=eth2"
address = ["10.0.1.1/24"]
"""
SOCKET = "/run/sluice/lab.sock"


def sums(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.deb")}


class Lacking(Exception):
    """What this machine does not have for a step, and why."""


@unittest.skipUnless(loopback.LONG and os.geteuid() == 0, "packages are built and tried as root with --long")
class Packages(loopback.Case):
    no_namespaces = None  # or why not

    def test_a_life_from_the_sources_to_a_purge(self):
        self.packages = ROOT / "out" / "package"
        self.lacking = {}  # {what: why}
        if self.no_namespaces:
            self.lacking["a clean root"] = self.no_namespaces
        for step in sorted(name for name in dir(self) if name.startswith("step_")):
            start = time.monotonic()
            said_of_it = step[5:].replace("_", " ")
            try:
                getattr(self, step)()
                print(f"{said_of_it}: {time.monotonic() - start:.0f} s", flush=True)
            except Lacking as reason:
                print(f"{said_of_it}: not tried, {reason}", flush=True)
        if self.lacking:
            self.skipTest("; ".join(f"no {what}: {why}" for what, why in self.lacking.items()) + "; all else passed")

    def need(self, *things):
        for what in things:
            if what in self.lacking:
                raise Lacking(f"for there is no {what} here")

    def package(self, name):
        return next(self.packages.glob(f"{name}_*.deb"))

    def state(self, unit, *names):
        text = self.root.inside("systemctl", "show", unit, *(f"--property={name}" for name in names))
        return dict(line.split("=", 1) for line in text.splitlines())

    def wait_for_state(self, unit, **wanted):
        self.root.wait_for(lambda: self.state(unit, *wanted) == wanted, f"{unit}: not {wanted}: {self.state(unit, *wanted)}")

    def journal(self, unit, *words):
        return self.root.inside("journalctl", "--quiet", "--no-pager", "--output=cat", f"--unit={unit}", *words)

    def start(self, unit, status=0):
        try:
            self.root.inside("systemctl", "start", unit, status=status)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.journal(unit)}") from None

    def in_root(self, path):
        return pathlib.Path(f"{self.root.path}/{path}")

    # --- built ----------------------------------------------------------------------------------------------------

    def step_1_the_same_sources_and_time_have_the_same_bytes(self):
        first = None
        for recache in (None, "1"):  # the second time nothing comes from ccache
            environment = ["env", *([] if recache is None else [f"CCACHE_RECACHE={recache}"])]
            said("nice", *environment, ROOT / "tools" / "package", "--jobs", "2")  # lintian is part of it
            found = sums(self.packages)
            self.assertEqual(sorted(re.sub("_.*", "", name) for name in found), ["sluice", "sluice-dbgsym", "sluice-doc"])
            first = first or found
        self.assertEqual(found, first)

    def step_2_any_processor_that_the_package_is_for_runs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            said("dpkg-deb", "-x", self.package("sluice"), folder)
            # AVX, and AVX2's and BMI's, would be of x86-64-v3: instructions on ymm registers, and shlx.
            code = said("objdump", "-d", "--no-show-raw-insn", f"{folder}/usr/bin/sluiced")
            self.assertGreater(code.count("\n"), 100_000)
            self.assertEqual(re.findall(r"\t(?:shlx|sarx|mulx|andn|vfmadd\w+)\b", code), [])

    # --- installed ------------------------------------------------------------------------------------------------

    def step_3_it_is_installed_in_a_clean_root(self):
        self.need("a clean root")
        if not archive():
            self.lacking["a clean root"] = "apt knows no archive of the distribution"
            return
        self.root = CleanRoot()
        self.addCleanup(self.root.close)
        self.root.make()
        for name in ("sluice", "sluice-doc"):
            shutil.copy(self.package(name), self.in_root("/"))
        self.root.run("apt-get", "update", "-q")
        self.root.run("apt-get", "install", "-q", "-y", "--no-install-recommends", *(f"/{self.package(name).name}" for name in ("sluice", "sluice-doc")))
        self.root.run("apt-get", "clean")
        self.assertIn("sluice:", self.in_root("/etc/passwd").read_text())
        self.assertEqual(list(self.in_root("/etc/systemd/system").rglob("sluiced*")), [], "nobody asked for a switch yet")
        for name in NAMES:
            self.root.run(name, "help" if name == "sluicectl" else "--help")
        for page in ("man8/sluiced.8.gz", "man5/sluice.toml.5.gz"):
            self.assertTrue(self.in_root(f"/usr/share/man/{page}").exists())
        self.assertIn("Mike Bostock", self.in_root("/usr/share/doc/sluice/copyright").read_text())
        self.assertIn("`device`", self.in_root("/usr/share/doc/sluice-doc/references/configuration.md").read_text())
        # Its own configurations, changed and added by a person.
        default = self.in_root("/etc/sluice/sluice.toml")
        self.assertEqual(default.read_text(), (ROOT / "conf" / "real.toml").read_text())
        default.write_text(re.sub("net_af_packet(.),iface=eth.", r"net_null\1,no-rx=1", LAB))
        self.in_root("/etc/sluice/lab.toml").write_text(LAB)
        self.in_root("/etc/sluice/bad.toml").write_text("nonsense = 1\n")

    def step_4_an_ordinary_user_runs_what_it_brings(self):
        self.need("a clean root")
        run = "cd $(mktemp -d) && sluice-traffic generate {0}/smallest-traffic.toml --out . && " \
              "sluiced --config {0}/smallest.toml --report report.json --assert verdict.lossless && cat report.json"
        text = self.root.run("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "sh", "-c", run.format("/usr/share/sluice/conf"))
        report = json.loads(text[text.index("\n{") + 1:])
        self.assertTrue(report["verdict"]["lossless"] and report["verdict"]["lossless_packets"] > 0, report["verdict"])

        self.assertIn("/usr/share/sluice/conf/scenarios/baseline.toml ", self.root.run("sluice-fabric", "list"))
        self.root.run("sluice-fabric", "check", "/usr/share/sluice/conf/fabrics/leaf-spine.toml")

    def step_4b_a_driver_of_dpdk_that_is_not_there_is_named(self):
        self.need("a clean root")
        [driver] = self.in_root("/usr/lib").glob("*-linux-gnu/dpdk/pmds-*/librte_mempool_ring.so.*.*")
        elsewhere = self.in_root("/driver")
        others = [link for link in driver.parent.glob("librte_mempool_ring.so.*") if link != driver]
        for link in others:
            link.unlink()
        shutil.move(driver, elsewhere)
        # With arguments for EAL a run under the virtual clock loads drivers, too.
        done = self.root.run("sh", "-c", "cd $(mktemp -d); (echo 'eal = [\"--log-level=1\"]'; cat /usr/share/sluice/conf/incast.toml) >incast.toml; "
                                         "sluiced --config incast.toml 2>&1; test $? = 1")
        self.assertIn("do: install librte-mempool-ring", done)
        shutil.move(elsewhere, driver)
        for link in others:
            link.symlink_to(driver.name)

    # --- the service ----------------------------------------------------------------------------------------------

    def step_5_a_switch_is_a_service(self):
        self.need("a clean root")
        root = self.root
        if reason := root.why_no_boot():
            self.lacking["systemd as first process"] = f"{reason} (units are verified by systemd-analyze, and the service by a socket of ours)"
            return
        root.boot()
        for n in (1, 2):
            root.inside("ip", "link", "add", f"eth{n}", "type", "veth", "peer", "name", f"peer{n}")
            for name in (f"eth{n}", f"peer{n}"):
                root.inside("ip", "link", "set", name, "up")
        self.start("sluiced@lab")
        state = self.state("sluiced@lab", "ActiveState", "StatusText", "User", "NRestarts")
        self.assertEqual((state["ActiveState"], state["User"], state["NRestarts"]), ("active", "sluice", "0"))
        self.assertTrue(state["StatusText"].startswith("2 of 2 ports up"), state)
        self.assertIn("p0", root.inside("sluicectl", "--socket", SOCKET, "port", "show"))
        self.assertEqual(root.inside("stat", "-c", "%U %G %a", SOCKET).strip(), "sluice sluice 660")
        # The group may, another user may not.
        ctl = ("sluicectl", "--socket", SOCKET, "hello")
        root.inside("setpriv", "--reuid=nobody", "--regid=sluice", "--clear-groups", *ctl)
        root.inside("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *ctl, status=5)
        # A copy is saved where the service may write, and its configuration is not for clients to overwrite.
        root.inside("sluicectl", "--socket", SOCKET, "config", "save", "copy.toml")
        self.assertTrue(self.in_root("/var/lib/sluice/copy.toml").exists())
        root.inside("sluicectl", "--socket", SOCKET, "config", "save", status=1)
        self.assertEqual(root.inside("systemd-analyze", "security", "--threshold=40", "--no-pager", "sluiced@lab", any_status=True).count("UNSAFE"), 0)
        # On a machine that others use, a switch may report that it fell behind.
        self.assertEqual([line for line in self.journal("sluiced@lab", "--priority=warning").splitlines() if not line.startswith("fell_behind")], [])

    def step_6a_a_reload_is_told_and_two_switches_are_apart(self):
        self.need("a clean root", "systemd as first process")
        root = self.root
        self.in_root("/etc/sluice/lab.toml").write_text(LAB + "nonsense = 1\n")
        root.inside("systemctl", "reload", "sluiced@lab", status=1)
        root.wait_for(lambda: "refused" in self.state("sluiced@lab", "StatusText")["StatusText"], "a refused reload is not told")
        self.assertIn("nonsense", self.journal("sluiced@lab", "--priority=warning"))
        self.in_root("/etc/sluice/lab.toml").write_text(LAB)
        root.inside("systemctl", "reload", "sluiced@lab")
        root.wait_for(lambda: "refused" not in self.state("sluiced@lab", "StatusText")["StatusText"], "a good reload is not told")
        root.inside("sluicectl", "--socket", SOCKET, "set", "port.p0.queue.3.wred=steep")
        root.inside("sluicectl", "--socket", SOCKET, "config", "save", "--startup")
        root.inside("systemctl", "restart", "sluiced@lab")
        self.assertIn("steep", root.inside("sluicectl", "--socket", SOCKET, "config", "get", "port.p0.queue.3.wred"))
        self.assertIn("config save --startup wrote /var/lib/sluice/lab.toml", self.journal("sluiced@lab"))
        root.inside("sluicectl", "--socket", SOCKET, "config", "reset", "--startup")
        root.inside("systemctl", "restart", "sluiced@lab")
        self.start("sluiced")
        root.inside("systemctl", "stop", "sluiced")
        self.assertEqual(self.state("sluiced", "ActiveState", "Result"), {"ActiveState": "inactive", "Result": "success"})
        root.inside("sluicectl", "--socket", SOCKET, "hello")

    def step_6b_xdp_ports_need_what_the_unit_s_comments_say(self):
        self.need("a clean root", "systemd as first process")
        root = self.root
        unit = self.in_root("/lib/systemd/system/sluiced@.service").read_text()
        comment = unit.split("For xdp: ports", 1)[1].split("# For cards", 1)[0]
        settings = "".join(line[4:] for line in comment.splitlines(keepends=True) if line.startswith("#   "))
        self.assertTrue(settings.startswith("[Service]\nAmbientCapabilities=") and settings.count("\n") == 3, settings)
        for n in (3, 4):
            one = ("numrxqueues", "1", "numtxqueues", "1")  # veth takes a program only where the peer sends by no more queues than it receives
            root.inside("ip", "link", "add", f"eth{n}", *one, "type", "veth", "peer", "name", f"peer{n}", *one)
            for name in (f"eth{n}", f"peer{n}"):
                root.inside("ip", "link", "set", name, "up")
        self.in_root("/etc/sluice/xdp.toml").write_text(LAB.replace("net_af_packet0,iface=eth1", "xdp:eth3").replace("net_af_packet1,iface=eth2", "xdp:eth4"))
        self.start("sluiced@xdp", status=1)
        root.inside("systemctl", "stop", "sluiced@xdp")
        drop_in = self.in_root("/etc/systemd/system/sluiced@xdp.service.d")
        drop_in.mkdir(parents=True)
        # This machine may not raise the limit of locked memory that the unit asks for.
        (drop_in / "xdp.conf").write_text(settings + "AmbientCapabilities=CAP_IPC_LOCK\nCapabilityBoundingSet=CAP_IPC_LOCK\n")
        root.inside("systemctl", "daemon-reload")
        self.start("sluiced@xdp")
        self.assertEqual(self.state("sluiced@xdp", "ActiveState", "User"), {"ActiveState": "active", "User": "sluice"})
        root.inside("systemctl", "stop", "sluiced@xdp")
        self.in_root("/etc/sluice/xdp.toml").unlink()

    def step_7_what_cannot_get_better_is_not_tried_again(self):
        self.need("a clean root", "systemd as first process")
        self.start("sluiced@bad", status=1)
        self.wait_for_state("sluiced@bad", ActiveState="failed", ExecMainStatus="2", NRestarts="0")
        self.assertIn("refused", self.state("sluiced@bad", "StatusText")["StatusText"])
        self.assertIn("nonsense", self.journal("sluiced@bad", "--priority=err"))

    def step_8_a_killed_or_stuck_switch_is_started_anew(self):
        self.need("a clean root", "systemd as first process")
        root = self.root
        root.inside("systemctl", "kill", "--signal=KILL", "sluiced@lab")
        self.wait_for_state("sluiced@lab", ActiveState="active", NRestarts="1")
        drop_in = self.in_root("/etc/systemd/system/sluiced@lab.service.d")
        drop_in.mkdir(parents=True)
        (drop_in / "soon.conf").write_text("[Service]\nWatchdogSec=2\n")
        root.inside("systemctl", "daemon-reload")
        root.inside("systemctl", "restart", "sluiced@lab")
        main_process = int(self.state("sluiced@lab", "MainPID")["MainPID"])
        stopped = StoppedThread(self, root.outer_process(main_process), "sluice-w0")
        self.wait_for_state("sluiced@lab", Result="watchdog")
        os.waitpid(stopped.thread, 0x40000000)  # it is dead, and ours to bury, being traced
        self.wait_for_state("sluiced@lab", ActiveState="active", NRestarts="1", Result="success")
        self.assertRegex(self.journal("sluiced@lab", "--priority=err"), r"worker_stuck: worker 0 has made no turn for \d+ s")

    # --- upgraded, removed, purged --------------------------------------------------------------------------------

    def upgrade(self):
        """The package as a later version, with another default configuration."""
        tree = pathlib.Path(tempfile.mkdtemp(prefix="sluice-deb-"))
        self.addCleanup(shutil.rmtree, tree)
        said("dpkg-deb", "-R", self.package("sluice"), tree)
        control = tree / "DEBIAN" / "control"
        control.write_text(re.sub(r"^Version: .*", r"\g<0>+later", control.read_text(), flags=re.M))
        with open(tree / "etc/sluice/sluice.toml", "a") as default:
            default.write("# later\n")
        said("dpkg-deb", "--root-owner-group", "-b", tree, self.in_root("/later.deb"))
        # Without a terminal apt asks so: what a person has changed stays.
        self.root.inside("dpkg", "--force-confdef", "--force-confold", "--install", "/later.deb")
        self.assertIn("+later", self.root.inside("dpkg-query", "-W", "-f", "${Version}", "sluice"))

    def step_9_an_upgrade_keeps_and_a_purge_takes(self):
        self.need("a clean root")
        root = self.root
        booted = "systemd as first process" not in self.lacking
        kept = self.in_root("/etc/sluice/sluice.toml").read_text()
        before = booted and self.state("sluiced@lab", "MainPID")
        self.upgrade()
        self.assertEqual(self.in_root("/etc/sluice/sluice.toml").read_text(), kept)
        self.assertTrue(self.in_root("/etc/sluice/sluice.toml.dpkg-dist").read_text().endswith("# later\n"))
        self.assertEqual(self.in_root("/etc/sluice/lab.toml").read_text(), LAB)
        if booted:
            self.assertEqual(self.state("sluiced@lab", "MainPID"), before, "frames go on until somebody restarts the switch")
            root.inside("systemctl", "restart", "sluiced@lab")

        root.inside("dpkg", "--remove", "sluice-doc", "sluice")
        if booted:
            self.assertNotIn("sluiced", root.inside("sh", "-c", "cat /proc/[0-9]*/comm"))
        self.assertEqual(self.in_root("/etc/sluice/sluice.toml").read_text(), kept)
        self.assertFalse(self.in_root("/usr/bin/sluiced").exists())

        root.inside("dpkg", "--purge", "sluice")
        self.assertEqual(sorted(path.name for path in self.in_root("/etc/sluice").iterdir()), ["bad.toml", "lab.toml"], "a person's own files stay")
        self.assertFalse(os.path.lexists(self.in_root("/usr/share/sluice")))
        for left in ("/run/sluice", "/var/lib/sluice"):
            root.inside("test", "!", "-e", left)
        self.assertNotIn("sluice:", self.in_root("/etc/passwd").read_text())


if __name__ == "__main__":
    if loopback.LONG and os.geteuid() == 0:
        Packages.no_namespaces = enter()
    main()
