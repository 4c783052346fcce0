#!/usr/bin/python3
"""--to nvue: what is written is read back as it was, and only changed lines of a patch."""

import importer
from exporter import ExportCase, in_force
from importer import COMMANDS, SONIC, YAML

ADVISED = '[wred.advised]\ngreen_min = "200KB"\ngreen_max = "800KB"\ngreen_probability = "10%"\ndrop_non_ect = false\n[default.queue.3]\nwred = "advised"\n'


def used(config):
    """in_force, without queues that no class of these files goes to."""
    ports = in_force(config)
    for port in ports.values():
        port["queue"] = {n: queue for n, queue in port["queue"].items() if n in ("0", "3", "6")}
    return ports


class Nvue(ExportCase):
    def there_and_back(self, source, buffer, hosts):
        _, text, account = self.export(source, "nvue", name="there.nv")
        _, was = self.toml_of(source, "--buffer", buffer, name="was.toml")
        _, again = self.toml_of(self.folder / "there.nv", "--buffer", buffer, name="again.toml")
        self.assertEqual(used(again), used(was))
        self.assertEqual(again["pool"], was["pool"])
        self.assertEqual(again.get("watchdog"), was.get("watchdog"))
        self.assertEqual([(route["prefix"], route["via"]) for route in again.get("route", [])], [(route["prefix"], route["via"]) for route in was.get("route", [])])
        self.assertEqual(self.ran(self.folder / "again.toml", hosts)["ports"], self.ran(self.folder / "was.toml", hosts)["ports"])
        return text, account

    def test_there_and_back_is_equal_and_runs_alike(self):
        for source, buffer, hosts in ((COMMANDS, "16MB", ["swp1", "swp2"]), (YAML, "42MB", ["swp1", "swp3"])):
            with self.subTest(source=source.name):
                text, account = self.there_and_back(source, buffer, hosts)
                self.assertFalse([line for line in account if ": rounded: " in line])
                for line in text.splitlines():
                    self.assertTrue(line.startswith("nv set "), line)
        self.assertIn("nv set interface swp1-3 link speed 100G\n", text)
        self.assertIn("nv set vrf default router static 192.0.2.0/24 via 10.1.1.0\n", text)
        self.assertNotIn("100.64.", text)

    def test_a_patch_has_the_changed_lines_alone(self):
        keys = self.keys(ADVISED)
        _, text, account = self.export(YAML, "nvue", "--apply", keys, "--patch", name="there.nv")
        lines = text.splitlines()
        self.assertIn("nv set qos congestion-control early traffic-class 3 min-threshold 200000", lines)
        self.assertIn("nv set qos congestion-control default-global traffic-class 3 max-threshold 800000", lines)
        self.assertEqual({line.split()[3] for line in lines}, {"congestion-control"})
        self.assertTrue(any("early traffic-class 3 min-threshold: said: 100000 -> 200000" in line for line in account))
        patched = self.folder / "patched.yaml"
        commands = "".join(f"{line}\n" for line in lines)
        self.export(YAML, "nvue", name="whole.nv")
        patched = self.file((self.folder / "whole.nv").read_text().replace("default-global_2", "early") + commands, "patched.nv")
        _, made = self.toml_of(patched, "--buffer", "42MB", name="made.toml")
        _, wanted = self.toml_of(YAML, "--apply", keys, name="wanted.toml")
        self.assertEqual(used(made), used(wanted))
        said, text, _ = self.export(COMMANDS, "nvue", "--patch", name="none.nv")
        self.assertEqual((text, "nothing changes" in said), ("", True))

    def test_sonic_becomes_nvue_with_what_it_cannot_say(self):
        _, text, account = self.export(SONIC, "nvue", name="there.nv")
        fates = self.fates(account)
        self.assertEqual(fates["port.Ethernet4"], ["assumed", "is swp2 there: ports are numbered in order"])
        for path, fate, words in (("port.Ethernet0.priority_group.3.dynamic_th", "cannot be said", "NVUE's own threshold"), ("pool.ingress_pool.shared_headroom", "cannot be said", "headroom"),
                                  ("port.Ethernet0.queue.6.max_rate", "cannot be said", "port's speed"), ("port.Ethernet0.queue.0.weight", "rounded", "%"),
                                  ("port.Ethernet0.watchdog.restoration", "cannot be said", "polling"), ("map.LAB.tc_to_priority_group", "cannot be said", "group")):
            self.assertEqual(fates[path][0], fate, path)
            self.assertIn(words, fates[path][1])
        # Headrooms are as large as they were, and one for the lossless classes of a port.
        self.assertIn("port-buffer 225504\n", text)
        self.assertIn("xoff-threshold 1248\n", text)
        _, again = self.toml_of(self.folder / "there.nv", name="again.toml")
        group = in_force(again)["swp2"]["priority_group"]["3"]
        self.assertEqual((group["xoff"], str(group["size"])), ("200KB", "19136B"))

    def test_rounding_never_makes_a_headroom_smaller_or_marking_later(self):
        config = self.file('[default]\npfc = [3, 4]\n[default.priority_group.3]\nxoff = "250KB"\n[default.priority_group.4]\nxoff = "260KB"\n[wred.w]\ngreen_min = 123457\ngreen_max = 654321\ngreen_probability = "0.2%"\n'
                           '[default.queue.3]\nwred = "w"\n[watchdog]\ndetection = "123.4ms"\n[port.swp1]\n[port.swp2]\n', "sluice.toml")
        _, text, account = self.export(config, "nvue", name="there.nv")
        for line in ("min-threshold 123457", "max-threshold 654321", "probability 1", "polling-interval 124"):
            self.assertIn(f" {line}\n", text)
        self.assertTrue(any("priority_group.3.xoff: rounded: 260 000 bytes there instead of 250 000 bytes: 10 000 bytes more (4 %)" in line for line in account), account[:4])
        _, again = self.toml_of(self.folder / "there.nv", name="again.toml")
        self.assertEqual([in_force(again)["swp1"]["priority_group"][n]["xoff"] for n in "34"], ["260KB", "260KB"])


if __name__ == "__main__":
    importer.main()
