#!/usr/bin/python3
"""A container's machine: /sys without all its parts. A switch without cards needs few of them, and says which."""

import subprocess

import netns
from frames import plain
from loopback import Programs, Switch

# Parts of /sys that systemd-nspawn gives a container: module is none of them.
GIVEN = ("block", "bus", "class", "dev", "devices", "kernel")
WITH = """
set -e
kept=$(mktemp -d); mount --rbind /sys "$kept"; mount -t tmpfs none /sys
for part in {parts}; do mkdir "/sys/$part"; mount --bind "$kept/$part" "/sys/$part"; done
exec "$@"
"""


class Container(netns.Case):
    def run_with(self, parts, *words):
        """How sluiced ends where /sys has these parts."""
        return subprocess.run(["unshare", "--mount", "sh", "-c", WITH.format(parts=" ".join(parts)), "sh", Programs.sluiced, *words],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def virtual(self):
        switch = Switch(self, hosts=2)
        switch.give("h0", [(0, plain())])
        (switch.folder / "out").mkdir(exist_ok=True)
        (switch.folder / "sluice.toml").write_text(switch.text())
        return switch.folder / "sluice.toml"

    def test_a_virtual_run_wants_no_modules(self):
        done = self.run_with(GIVEN, "--config", self.virtual())
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nor_do_ports_on_interfaces(self):
        self.cables()
        switch = self.switch()
        (switch.folder / "sluice.toml").write_text(switch.text())
        done = self.run_with(GIVEN, "--config", switch.folder / "sluice.toml", "--duration", "10ms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_doctor_says_that_cards_want_them(self):
        done = self.run_with(GIVEN, "doctor")
        self.assertRegex(done.stdout, "note +sysfs +there is no /sys/module, where DPDK finds vfio, for cards\n +do: mount -t sysfs sysfs /sys\n")
        self.assertEqual(done.returncode, 0)

    def test_without_cpus_nothing_starts_and_all_say_what_to_mount(self):
        config = self.virtual()
        for words in (["--config", config], ["doctor"], ["doctor", "--config", config]):
            done = self.run_with((), *words)
            self.assertEqual(done.returncode == 0, words == ["doctor"])  # which judges no configuration
            said = done.stdout + done.stderr
            self.assertIn("there is no /sys/devices/system/cpu, where DPDK finds CPUs", said)
            self.assertIn("do: mount -t sysfs sysfs /sys", said)


if __name__ == "__main__":
    netns.main()
