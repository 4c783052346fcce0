#!/usr/bin/python3
"""Cumulus Linux: YAML and commands of NVUE, and what `qos roce` stands for."""

import importer
from importer import COMMANDS, IN_PART, YAML, Case


class Cumulus(Case):
    def test_what_roce_stands_for(self):
        said, config, _ = self.importing(COMMANDS)
        self.check()
        self.assertEqual(list(config["port"]), ["swp1", "swp2", "swp3", "swp4"])
        value = lambda *path: self.value(config, "swp2", *path)  # noqa: E731
        self.assertEqual((value("speed"), value("cable"), value("pfc"), value("mtu")), ("400G", "100m", [3], 9216))
        taken, preset = config["map"]["default-global"], {3: 3, 26: 3, 48: 6, 56: 7}
        self.assertEqual([taken["dscp_to_tc"].get(str(dscp), preset.get(dscp, 0)) for dscp in (0, 7, 8, 24, 26, 31, 32, 48, 63)], [0, 0, 1, 3, 3, 3, 4, 6, 7])
        self.assertEqual(([taken["pcp_to_tc"].get(str(pcp), tc) for pcp, tc in enumerate(importer.PRESET_PCP)], taken["cnp_tc"]), ([*range(8)], "dscp"))
        self.assertEqual([taken["tc_to_queue"].get(str(tc), tc) for tc in range(8)], [0, 0, 0, 3, 0, 0, 6, 0])
        self.assertEqual((value("queue", "6", "scheduler"), value("queue", "3", "weight"), value("queue", "0", "weight")), ("strict", 50, 50))
        self.assertEqual((config["wred"]["roce"]["green_min"], config["wred"]["roce"]["green_max"], config["wred"]["roce"]["green_probability"]),
                         ("150KB", "1500KB", "100%"))
        self.assertEqual(config["pool"]["roce-reserved-ingress"]["size"], "8MB")
        self.assertIn("lossless: 4 ports with PFC", said)
        self.assertIn("the file does not say the model", said)

    def test_modes_of_roce(self):
        for mode, pfc in (("lossless", [3]), ("lossless-single-ipool", [3]), ("lossy", []), ("lossy-multi-tc", [])):
            with self.subTest(mode=mode):
                _, config, _ = self.importing(self.file(COMMANDS.read_text() + f"nv set qos roce mode {mode}\n", "roce.nv"))
                self.assertEqual(self.value(config, "swp1", "pfc"), pfc)
                ingress = [name for name, pool in config.get("pool", {}).items() if pool.get("direction", "ingress") == "ingress"]
                self.assertEqual(len(ingress), {"lossless": 2, "lossless-single-ipool": 1}.get(mode, 0))
                self.check()
        self.refused(COMMANDS.read_text() + "nv set qos roce mode perfect\n", "set.qos.roce.mode", "perfect", name="roce.nv")

    def test_yaml_with_profiles_of_its_own(self):
        _, config, account = self.importing(YAML)
        self.check()
        self.assertEqual(list(config["port"]), ["swp1", "swp2", "swp3"])
        value = lambda port, *path: self.value(config, port, *path)  # noqa: E731
        self.assertEqual((value("swp1", "cable"), value("swp1", "queue", "3", "wred"), value("swp3", "queue", "3", "wred")), ("30m", "roce", "early.3"))
        self.assertEqual(config["wred"]["early.3"], {"green_min": "100KB", "green_max": "300KB", "green_probability": "50%", "drop_non_ect": False})
        self.assertEqual(config["map"]["default-global"]["dscp_to_tc"]["8"], 3)
        self.assertEqual((value("swp1", "watchdog", "action"), value("swp3", "watchdog", "action")), ("off", "drop"))
        self.assertEqual([(route["prefix"], route["via"]) for route in config["route"]], [("192.0.2.0/24", ["10.1.1.0"])])
        self.assertEqual(config["host"]["swp1"]["address"], "10.1.1.0")
        self.assertTrue(any("a Spectrum-2: 42MB of buffer" in line for line in account))
        self.assertTrue(any("set.interface.eth0: no counterpart" in line for line in account))

    def test_yaml_and_commands_are_the_same(self):
        commands = ("nv set interface swp1-2 link speed 100G\nnv set interface swp1-2 qos pfc profile p\nnv set qos pfc p switch-priority 3\n"
                    "nv set qos pfc p cable-length 40\nnv set qos mapping default-global trust l3\nnv set qos egress-scheduler default-global traffic-class 6 mode strict\n")
        yaml = ("- set:\n    interface:\n      swp1-2:\n        link: {speed: 100G}\n        qos: {pfc: {profile: p}}\n    qos:\n      pfc:\n        p:\n"
                "          switch-priority: {'3': {}}\n          cable-length: 40\n      mapping: {default-global: {trust: l3}}\n"
                "      egress-scheduler: {default-global: {traffic-class: {'6': {mode: strict}}}}\n")
        _, one, _ = self.importing(self.file(commands, "a.nv"))
        _, other, _ = self.importing(self.file(yaml, "a.yaml"))
        self.assertEqual(one, other)
        self.assertEqual((self.value(one, "swp1", "pfc"), self.value(one, "swp1", "cable"), self.value(one, "swp1", "queue", "6", "scheduler")), ([3], "40m", "strict"))

    def test_wrong_values(self):
        start = "nv set interface swp1 link speed 100G\n"
        for line, path, words in (
                ("nv set interface swp1 link speed warp", "set.interface.swp1.link.speed", "warp"),
                ("nv set interface swp1 ip address 10.0.0.1/33", "10.0.0.1/33", "33"),
                ("nv set qos mapping default-global dscp 64 switch-priority 1", "dscp.64", "below 64"),
                ("nv set qos mapping default-global trust nobody", "trust", "nobody"),
                ("nv set qos egress-scheduler default-global traffic-class 9 mode strict", "traffic-class.9", "not a class"),
                ("nv set qos egress-scheduler default-global traffic-class 1 mode fifo", "mode", "fifo"),
                ("nv set vrf default router static 10.0.0.1/8 via 10.0.0.2", "10.0.0.1/8", "10.0.0.1/8"),
                ("nv give qos roce", ":2:1", "not a command of nv set"),
                ("nv set interface swp1 link breakout 9x", "breakout", '"9x" is not a breakout'),
                ("nv set qos pfc-watchdog polling-interval x", "polling-interval", '"x" is not a number'),
                ("nv set qos roce cable-length far", "cable-length", "not a length")):
            with self.subTest(line=line):
                bad = start + ("nv set qos roce\n" if "cable" in line else "") + line + "\n"
                if "speed" in line:
                    bad = line + "\n"
                self.refused(bad, path, words, name="x.nv")
        self.refused("a: 1\n", "has no `set`", name="x.yaml")
        self.refused("nv set qos roce\n", "has no ports", name="x.nv")
        self.refused("- set:\n    qos:\n      roce: {}\n", "has no ports", name="x.yaml")

    def test_a_profile_that_is_not_there_is_left_out(self):
        said, config, _ = self.importing(self.file("nv set interface swp1 link speed 100G\nnv set interface swp1 qos pfc profile gone\n", "x.nv"), status=IN_PART)
        self.assertIn('there is no profile "gone"', said)
        self.assertEqual(list(config["port"]), ["swp1"])

    def test_without_roce_a_port_trusts_pcp(self):
        _, config, _ = self.importing(self.file("nv set interface swp1 link speed 100G\n", "a.nv"))
        self.assertEqual(self.value(config, "swp1", "trust"), "pcp")

    def test_entries_apply_in_order(self):
        """As `nv config patch` applies them: maps come together, the later word holds, `unset` takes away."""
        _, whole, _ = self.importing(self.file("- set:\n    interface:\n      swp1: {type: swp, link: {mtu: 9000, speed: 25G}, ip: {address: {10.1.1.1/30: {}}}}\n"
                                               "      swp2: {type: swp}\n    qos: {roce: {}}\n", "x.yaml"))
        several = ("- header: {model: VX}\n- set:\n    interface:\n      swp1: {type: swp, link: {mtu: 9000, speed: 100G}, ip: {address: {10.1.1.1/30: {}, 10.9.9.9/24: {}}}}\n"
                   "      swp2: {type: swp}\n      swp3: {type: swp}\n- set:\n    interface:\n      swp1:\n        link: {speed: 25G}\n- set:\n    qos:\n      roce: {}\n"
                   "- unset:\n    interface:\n      swp1: {ip: {address: {10.9.9.9/24: {}}}}\n      swp3:\n")
        _, config, _ = self.importing(self.file(several, "x.yaml"))
        self.assertEqual(config, whole)
        commands = ("cumulus@switch:mgmt:~$ nv set interface swp1,swp2 type swp\ncreated [rev_id: 3]\ncumulus@switch:mgmt:~$ sudo nv set interface swp1 link mtu 9000\n"
                    "nv set interface swp1 link speed 25G\nnv set interface swp1 link speed 100G\nnv set interface swp1 link speed 25G\nnv set interface swp1 ip address 10.1.1.1/30\n"
                    "nv set qos roce\nnv set interface swp3 type swp\nnv unset interface swp3\ncumulus@switch:mgmt:~$ nv config apply\napplied [rev_id: 3]\n")
        _, config, _ = self.importing(self.file(commands, "x.nv"))
        self.assertEqual(config, whole)

    def test_a_port_that_is_broken_out_is_none(self):
        for breakout in ("{4x25G: {}}", "4x25G", "{4x: {lanes-per-port: 1}}"):
            for parts in ("      swp1s0-3: {type: swp, link: {speed: 25G}}\n", ""):
                text = f"- set:\n    interface:\n      swp1:\n        type: swp\n        link: {{breakout: {breakout}}}\n{parts}      swp2: {{type: swp}}\n      swp3: {{link: {{breakout: disabled}}}}\n"
                _, config, _ = self.importing(self.file(text, "x.yaml"))
                self.assertEqual(list(config["port"]), ["swp1s0", "swp1s1", "swp1s2", "swp1s3", "swp2"])
                self.assertEqual(self.value(config, "swp1s3", "speed") or "100G", "25G" if parts or "25G" in breakout else "100G")

    def test_ecn_and_red_are_two_switches(self):
        for red, drop in (("red: enable, ", True), ("red: disable, ", False), ("", False)):
            for ecn in ("enable", "disable"):
                text = (f"- set:\n    interface:\n      swp1-2: {{type: swp}}\n    qos:\n      congestion-control:\n        default-global:\n          traffic-class:\n"
                        f"            '0': {{{red}ecn: {ecn}, min-threshold: 150000, max-threshold: 600000, probability: 100}}\n")
                _, config, _ = self.importing(self.file(text, "x.yaml"))
                wred = config["wred"]["default-global.0"]
                self.assertEqual((wred.get("drop_non_ect"), wred.get("ecn", True), wred["green_min"]), (None if drop else False, ecn == "enable", "150KB"))
        _, config, _ = self.importing(self.file("nv set interface swp1-2 type swp\nnv set qos roce\n", "x.nv"))
        self.assertEqual((config["wred"]["roce"]["drop_non_ect"], config["wred"]["roce"]["green_min"]), (False, "150KB"))


if __name__ == "__main__":
    importer.main()
