#!/usr/bin/python3
"""`config save`: where a client may have the switch write, and what becomes of the file's own words."""

import os
import resource
import stat

import control
import loopback
from control import Case, Running, Switch

FILE = """# A switch in the lab.

clock = "virtual"
seed = 7   # lucky

[default]   # of every port
queue.3.wred = "steep"

[port.h0]
device = "net_pcap0,tx_pcap=h0.pcap"   # left
mac = "02:00:00:00:ff:01"
address = ["10.0.0.1/24"]
[port.h1]   # right
device = "net_pcap1,tx_pcap=h1.pcap"
address = [
    "10.0.1.1/24",   # the only one
]

[[neighbor]]   # the host
address = "10.0.1.2"
port = "h1"
mac = "02:00:00:00:00:02"
"""


class Save(Case):
    def running(self, *arguments, config=FILE, **options):
        return Running(Switch(self, hosts=0), *arguments, config=config, **options)

    def test_what_it_refuses(self):
        running = self.running()
        outside = running.folder.parent / f"{running.folder.name}-outside.toml"
        (running.folder / "below").mkdir()
        (running.folder / "link.toml").symlink_to(outside)
        (running.folder / "own.toml").symlink_to(running.config)
        (running.folder / "notes").write_text("milk, eggs\n")
        os.mkfifo(running.folder / "fifo")
        before = sorted(path.name for path in running.folder.iterdir())
        running.call("config.set", path="seed", value=8)
        for name, words in ((str(outside), "plain file name"), ("../x.toml", "plain"), ("below/x.toml", "plain"), ("/etc/sluice.toml", "plain"),
                            (str(running.folder / "x.toml"), "plain"), ("", "plain"), (".", "plain"), ("..", "plain"), (".hidden", "plain"),
                            ("--config", "plain"), ("-x", "plain"), ("x\0.toml", "plain"), (str(running.config) + "\0", "plain"),
                            ("a\nb", "plain"), ("a\tb", "plain"), ("a\x7f", "plain"), ("x" * 300, "plain"), ("link.toml", "is a link"),
                            ("own.toml", "is a link"), ("below", "is not a file"), ("fifo", "is not a file"), ("notes", "no configuration"),
                            ("report.json", "is being written already")):
            with self.subTest(name=name):
                error = running.refused("config.save", file=name)
                self.assertEqual(error.code, -32000)
                self.assertIn(words, error.message)
                self.assertIn("--save-folder", error.data["do"])
        self.assertEqual(sorted(path.name for path in running.folder.iterdir()), before)
        self.assertEqual(running.config.read_text(), FILE)
        self.assertEqual((running.folder / "notes").read_text(), "milk, eggs\n")
        self.assertFalse(outside.exists())
        running.stop()

    def test_what_is_saved_for_the_start_is_read_where_it_is_newer(self):
        switch = Switch(self, hosts=0)
        startup = switch.folder / "state" / "lab.toml"
        startup.parent.mkdir()
        words = ["--startup", str(startup), "--save-folder", str(startup.parent)]
        running = Running(switch, *words, config=FILE)
        self.assertIn("wanted: config reset --startup", running.ctl("config reset", status=2))
        running.ctl("set seed=8")
        self.assertIn("the file of config save --startup", running.ctl("config save lab.toml", status=1))
        self.assertEqual(running.ctl("config save --startup"), f"saved to {startup}\n")
        self.assertEqual((startup.read_text(), running.config.read_text()), (FILE.replace("seed = 7", "seed = 8"), FILE))
        self.assertIn("no difference", running.ctl("config diff"))
        running.ctl("set seed=9")
        running.ctl("config save --startup")
        self.assertEqual(startup.read_text(), FILE.replace("seed = 7", "seed = 9"))
        running.ctl("set seed=10")
        running.ctl("config reload")
        self.assertEqual(running.ctl("config get seed"), "9\n")
        for newer, older, why in ((startup, running.config, f"{startup} is read: config save --startup wrote {startup}, which is newer than {running.config}"),
                                  (running.config, startup, f"{running.config} is read: {running.config} is newer than {startup}, which config save --startup wrote")):
            os.utime(older, (1, 1))
            os.utime(newer, (2, 2))
            done = loopback.run([control.Programs.sluiced, "--config", running.config, "--startup", startup, "--check"])
            self.assertEqual(done.stderr.splitlines()[0], f"sluiced: {why}")
        running.ctl("config reload")
        self.assertEqual(running.ctl("config get seed"), "7\n")
        running.config.write_text(FILE + "nonsense = 1\n")
        self.assertIn("nonsense", running.ctl("config reload", status=2))
        self.assertEqual(running.ctl("config get seed"), "7\n")
        for said in ("removed: the next start reads", "nothing was saved for the start: the next start reads"):
            self.assertEqual(running.ctl("config reset --startup"), f"{said} {running.config}\n")
        self.assertFalse(startup.exists())
        running.stop()
        running = self.running()
        self.assertIn("sluiced has no --startup", running.ctl("config save --startup", status=1))
        running.stop()

    def test_it_changes_what_was_changed(self):
        running = self.running()
        running.config.chmod(0o640)
        for path, value in (("seed", 8), ("default.queue.3.wred", "linear"), ("port.h0.microburst", "20KB"), ("port.h1.queue.3.weight", 9)):
            running.call("config.set", path=path, value=value)
        running.call("route.add", routes=[{"prefix": "10.7.0.0/16", "via": ["10.0.1.2"]}])
        self.assertEqual(running.ctl("config save"), f"saved to {running.config}\n")
        wanted = FILE.replace("seed = 7 ", "seed = 8 ").replace('"steep"', '"linear"').replace(
            'address = ["10.0.0.1/24"]\n', 'address = ["10.0.0.1/24"]\nmicroburst = "20KB"\n').replace(
            "    \"10.0.1.1/24\",   # the only one\n]\n", "    \"10.0.1.1/24\",   # the only one\n]\n\n[port.h1.queue.3]\nweight = 9\n")
        wanted += '\n[[route]]\nprefix = "10.7.0.0/16"\nvia = ["10.0.1.2"]\n'
        self.assertEqual(running.config.read_text(), wanted)
        self.assertEqual(stat.S_IMODE(running.config.stat().st_mode), 0o640)
        self.assertEqual(running.call("config.diff", toml=wanted), [])
        # Another name gets a copy with the same words; a second time it is changed in place.
        self.assertEqual(running.call("config.save", file="copy.toml"), {"file": "copy.toml"})
        copy = running.folder / "copy.toml"
        self.assertEqual(copy.read_text(), wanted)
        copy.write_text(wanted + "# mine\n")
        running.call("config.set", path="seed", value=9)
        self.assertEqual(running.call("config.save", file="copy.toml"), {"file": "copy.toml"})
        self.assertEqual(copy.read_text(), wanted.replace("seed = 8", "seed = 9") + "# mine\n")
        self.assertEqual(running.config.read_text(), wanted)
        self.assertEqual([path.name for path in running.folder.iterdir() if path.name.endswith((".toml.sluice-part", ".orig"))], [])
        running.stop()

    def test_what_it_cannot_keep_stays_beside_it(self):
        """A section that goes, and a file that somebody has changed since it was read."""
        running = self.running(config=FILE + "\n[wred.mine]   # to go\ngreen_min = 5\n")
        before = running.config.read_text()
        running.call("config.apply", toml=FILE)
        original = running.folder / "sluice.toml.orig"
        self.assertEqual(running.call("config.save"), {"file": str(running.config), "original": str(original)})
        self.assertEqual(original.read_text(), before)
        self.assertEqual(running.call("config.diff", toml=running.config.read_text()), [])
        running.config.write_text(running.config.read_text() + "# nothing of weight\n")
        self.assertEqual(running.call("config.save"), {"file": str(running.config)})
        running.config.write_text(FILE.replace("seed = 7", "seed = 70"))
        second, third = (original.with_name(f"{original.name}.{n}") for n in (1, 2))
        said = running.ctl("config save")
        self.assertIn(f"what it said before is in {second}\n", said)
        self.assertIn("seed = 70", second.read_text())
        self.assertIn("seed = 7 ", running.config.read_text())
        running.config.write_text("broken = [")
        self.assertEqual(running.call("config.save")["original"], str(third))
        self.assertEqual((original.read_text(), third.read_text()), (before, "broken = ["))
        self.assertIn("seed = 70", second.read_text())
        running.stop()

    def test_a_folder_of_its_own(self):
        folder = Switch(self, hosts=0).folder
        running = self.running("--save-folder", folder)
        running.call("config.set", path="seed", value=8)
        running.call("config.save", file="other.toml")
        self.assertIn("seed = 8   # lucky\n", (folder / "other.toml").read_text())
        self.assertFalse((running.folder / "other.toml").exists())
        running.call("config.save")
        self.assertIn("seed = 8   # lucky\n", running.config.read_text())
        running.stop()

    def test_a_configuration_behind_a_link(self):
        folder = Switch(self, hosts=0).folder
        switch = Switch(self, hosts=0)
        (folder / "real.toml").write_text(FILE)
        (switch.folder / "sluice.toml").symlink_to(folder / "real.toml")
        running = Running(switch, config=FILE)
        running.call("config.set", path="seed", value=8)
        running.call("config.save")
        self.assertTrue(running.config.is_symlink())
        self.assertIn("seed = 8   # lucky\n", (folder / "real.toml").read_text())
        running.stop()

    def test_overrides_do_not_make_the_file_a_stranger(self):
        running = self.running("--seed", "5")
        running.call("config.set", path="default.queue.3.wred", value="linear")
        self.assertEqual(running.call("config.save"), {"file": str(running.config)})
        running.stop()

    def test_without_room_the_file_stays(self):
        running = self.running()
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (100, 100))
        running.call("config.set", path="seed", value=8)
        error = running.refused("config.save")
        self.assertIn("cannot be written: File too large", error.message)
        self.assertEqual(running.config.read_text(), FILE)
        self.assertEqual([path.name for path in running.folder.iterdir() if path.name.endswith((".toml.sluice-part", ".orig"))], [])
        running.kill()


if __name__ == "__main__":
    control.main()
