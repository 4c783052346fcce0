#!/usr/bin/python3
"""Cisco NX-OS: policies of three types, pause thresholds, the watchdog, breakouts, and lines that are not ours."""

import re

import importer
from importer import DONE, FILES, IN_PART, REFUSED, Case, Programs, run

NXOS = FILES / "tor.nxos"
# As Azure Local's guide has it, without the policy of the ports.
PARTS = ("policy-map type network-qos Q\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n    mtu 9216\nsystem qos\n  service-policy type network-qos Q\n",
         "interface Ethernet1/1\n  priority-flow-control mode on\n")


class Nxos(Case):
    def nxos(self, text, *options, **more):
        return self.importing(self.file(text, "switch.cfg"), *options, **more)

    def queue(self, config, port, queue, key):
        return self.value(config, port, "queue", str(queue), key)

    def says(self, account, *words):
        self.assertTrue(any(all(word in line for word in words) for line in account), "\n".join(account))

    def test_what_becomes_of_a_tor(self):
        said, config, account = self.importing(NXOS)
        self.check()
        self.assertEqual(list(config["port"]), ["Ethernet1_1", "Ethernet1_2", "Ethernet1_3", "Ethernet1_4", "Ethernet1_5_1", "Ethernet1_5_2", "Ethernet1_5_3", "Ethernet1_5_4"])
        value = lambda port, *path: self.value(config, port, *path)  # noqa: E731
        self.assertEqual([value(port, "pfc") for port in ("Ethernet1_1", "Ethernet1_3", "Ethernet1_4", "Ethernet1_5_1", "Ethernet1_5_2")], [[3], [], [3], [3], []])
        self.assertEqual([value(port, "speed") or "100G" for port in ("Ethernet1_1", "Ethernet1_5_4")], ["100G", "25G"])
        self.assertEqual([value(port, "mtu") for port in ("Ethernet1_1", "Ethernet1_3")], [9216, 9216])
        self.assertEqual(value("Ethernet1_3", "address"), ["10.0.3.1/24", "10.0.4.1/24"])
        self.assertEqual([self.queue(config, "Ethernet1_1", n, "scheduler") for n in (0, 3, 7)], ["dwrr", "dwrr", "strict"])
        self.assertEqual([self.queue(config, "Ethernet1_1", n, "weight") for n in (0, 1, 3, 4)], [48, 1, 50, 1])
        self.assertEqual((self.queue(config, "Ethernet1_1", 0, "static_th"), self.queue(config, "Ethernet1_1", 1, "min_rate"), self.queue(config, "Ethernet1_1", 1, "max_rate")),
                         ("500KB", "1G", "10G"))
        self.assertEqual(config["wred"][self.queue(config, "Ethernet1_1", 3, "wred")], {"green_min": "150KB", "green_max": "3MB", "green_probability": "7%"})
        group = {key: value("Ethernet1_1", "priority_group", "3", key) for key in ("xoff", "static_th", "xon_offset", "size")}
        self.assertEqual(group, {"xoff": "240KB", "static_th": "60KB", "xon_offset": "15KB", "size": "0B"})
        self.assertIsNone(value("Ethernet1_4", "priority_group", "3", "xoff"))
        taken = config["map"]["MARK"]
        self.assertEqual([taken["dscp_to_tc"].get(str(dscp), {3: 3, 26: 3, 48: 6, 56: 7}.get(dscp, 0)) for dscp in (0, 24, 26, 31, 48, 56)], [0, 3, 3, 3, 7, 0])
        self.assertEqual(taken["pcp_to_tc"].get("3", 3), 3)
        self.assertEqual((config["watchdog"]["detection"], config["watchdog"]["restoration"]), ("400ms", "1s"))
        self.assertEqual([event["do"] for event in config["event"]], ["port Ethernet1_4 down"])
        self.assertEqual([(route["prefix"], route["via"]) for route in config["route"]], [("198.51.100.0/24", ["10.0.3.2"]), ("203.0.113.0/24", "blackhole")])
        self.says(account, "syntax: assumed: Cisco NX-OS")
        self.says(account, "auto", "assumed", "DCBX")
        self.says(account, ": vrf: no counterpart")

    def test_every_line_has_a_fate_and_a_place(self):
        _, _, account = self.importing(NXOS)
        places = {int(match[1]) for line in account if (match := re.match(r".*tor\.nxos:(\d+):\d+: ", line))}
        text = NXOS.read_text().splitlines()
        banner = range(text.index("banner motd #") + 2, text.index("#") + 2)
        lines = {n for n, line in enumerate(text, 1) if line.strip() and not line.strip().startswith("!") and n not in banner}
        self.assertEqual((lines - places, places - lines), (set(), set()))

    def test_a_script_without_indentation_is_the_same(self):
        whole = self.importing(NXOS)[1]
        flat = []
        for line in NXOS.read_text().splitlines():
            if line.startswith(("interface breakout", "priority-flow-control")):  # what an open section could have, too
                flat.append("exit")
            flat.append(line.strip())
        _, config, _ = self.nxos("\n".join(flat) + "\n")
        self.assertEqual(config, whole)

    def test_parts_of_a_file_are_enough(self):
        _, config, account = self.nxos("".join(PARTS))
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [3])
        self.check()
        policy = PARTS[0].split("system qos")[0]
        _, config, account = self.nxos(policy + PARTS[1])
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [3])
        self.says(account, "Q: the only one, though system qos does not name it")
        _, config, account = self.nxos(PARTS[1])
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [])
        self.says(account, "no class is lossless")
        _, config, _ = self.nxos("feature lldp\ninterface Ethernet1/1 - 4, Ethernet1/7\n  mtu 9216\n")
        self.assertEqual(list(config["port"]), [f"Ethernet1_{n}" for n in (1, 2, 3, 4, 7)])

    def test_classes_of_the_system_and_of_ones_own(self):
        queuing = "policy-map type queuing O\n  class type queuing {}\n    priority\nsystem qos\n  service-policy type queuing output O\ninterface Ethernet1/1\n  mtu 9216\n"
        for name, queue in (("c-out-8q-q3", 3), ("c-out-q3", 3), ("c-out-8q-q-default", 0), ("c-out-q-default", 0), ("class-default", 0), ("c-8q-q7", 7)):
            _, config, _ = self.nxos(queuing.format(name))
            self.assertEqual([n for n in range(8) if self.queue(config, "Ethernet1_1", n, "scheduler") == "strict"], [queue], name)
        _, config, _ = self.nxos("class-map type queuing mine\n  match qos-group 5\n" + queuing.format("mine"))
        self.assertEqual(self.queue(config, "Ethernet1_1", 5, "scheduler"), "strict")
        _, _, account = self.nxos(queuing.format("GONE"), status=IN_PART)
        self.says(account, ": left out: there is no class-map of type queuing")
        _, config, account = self.nxos(PARTS[0].replace("c-8q-nq3", "GONE") + PARTS[1])
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [3])
        self.says(account, "class 3, by its pfc-cos: there is no class-map")

    def test_a_priority_that_is_not_the_number_of_its_class(self):
        _, config, _ = self.nxos("class-map type network-qos N\n  match qos-group 1\n" + PARTS[0].replace("c-8q-nq3", "N")
                                 + "class-map type qos match-any R\n  match dscp 26\npolicy-map type qos P\n  class R\n    set qos-group 1\n" + PARTS[1] + "  service-policy type qos input P\n")
        taken = config["map"]["P"]
        self.assertEqual((self.value(config, "Ethernet1_1", "pfc"), taken["dscp_to_tc"]["26"], taken["tc_to_priority_group"]["1"], taken["pfc_priority_to_queue"]["3"]), ([3], 1, 3, 1))
        self.check()

    def test_wrong_values_have_their_place_and_a_remedy(self):
        text = NXOS.read_text()
        for old, new, words in (
                ("pause pfc-cos 3", "pause pfc-cos 9", '"9" is not a class'), ("pause pfc-cos 3", "pause perhaps", "neither pause no-drop nor pause pfc-cos"),
                ("set qos-group 3", "set qos-group 9", '"9" is not a class'), ("match dscp 24-31", "match dscp 24-99", "not a list of dscp values"),
                ("pause-threshold 60000", "pause-threshold 300000", "below buffer-size"), ("resume-threshold 45000", "resume-threshold 60001", "at most pause-threshold"),
                ("bandwidth remaining percent 50", "bandwidth remaining percent 101", "0 to 100"), ("drop-probability 7", "drop-probability 101", "0 to 100"),
                ("weight 0 ecn", "weight 16 ecn", "0 to 15"), ("150 kbytes", "150 pounds", '"pounds" is none of bytes'), ("map 25g-4x", "map many", "is not a breakout"),
                ("mode on\n  priority-flow-control watch", "mode perhaps\n  priority-flow-control watch", "none of on, off, auto"), ("interval 200", "interval x", '"x" is not a number'),
                ("Ethernet1/1-2", "Ethernet1/2-1", "not a range of interfaces"), ("speed 100000", "speed fast", "not a speed of a port"), ("queue-limit 500 kbytes", "queue-limit dynamic 11", "0 to 10")):
            with self.subTest(new=new):
                self.assertIn(old, text)
                said = self.refused(text.replace(old, new), words, name="switch.cfg")
                self.assertRegex(said, r"switch\.cfg: 1 line wrong\n +\d+:\d+  ")

    def test_what_refers_to_nothing_is_left_out(self):
        for policy in ("type qos input MARK", "type queuing input IN", "type queuing output OUT", "type network-qos LOSSLESS"):
            with self.subTest(policy):
                self.says(self.nxos(NXOS.read_text().replace("service-policy " + policy, "service-policy " + policy.rsplit(" ", 1)[0] + " GONE"), status=IN_PART)[2], ": left out: there is no policy-map")
                self.check()

    def test_thresholds_that_only_the_chip_knows(self):
        text = "policy-map type queuing O\n  class type queuing c-out-q3\n    random-detect {}\nsystem qos\n  service-policy type queuing output O\ninterface Ethernet1/1\n  mtu 9216\n"
        for line, status in (("threshold burst-optimized ecn", DONE), ("minimum-threshold 100 packets maximum-threshold 200 packets", DONE), ("ecn", DONE), ("", DONE),
                             ("minimum-threshold 3000 kbytes maximum-threshold 150 kbytes", IN_PART)):
            _, config, account = self.nxos(text.format(line), status=status)
            self.assertEqual(self.queue(config, "Ethernet1_1", 3, "wred"), "none")
            self.says(account, "random-detect", ": left out: " if status else ": no counterpart: ")
        _, config, _ = self.nxos(text.format("minimum-threshold 100 kbytes maximum-threshold 200 kbytes drop-probability 5 weight 2"))
        self.assertEqual(config["wred"][self.queue(config, "Ethernet1_1", 3, "wred")], {"green_min": "100KB", "green_max": "200KB", "green_probability": "5%", "weight": 2, "ecn": False})

    def test_the_watchdog(self):
        ports = "interface Ethernet1/1\n  priority-flow-control mode on\ninterface Ethernet1/2\n  priority-flow-control mode on\n  priority-flow-control watch-dog-interval {}\n"
        action = lambda config, port: self.value(config, port, "watchdog", "action")  # noqa: E731
        for own, every, wanted in (("on", "", ("off", "drop")), ("off", "priority-flow-control watch-dog-interval on\n", ("drop", "off")), ("200", "", ("off", "drop"))):
            _, config, _ = self.nxos(PARTS[0] + every + ports.format(own))
            self.assertEqual((action(config, "Ethernet1_1"), action(config, "Ethernet1_2")), wanted)
        self.refused(PARTS[0] + ports.format("perhaps"), "neither on nor off", name="switch.cfg")

    def test_from_says_whose_it_is(self):
        text = "interface Ethernet1/1\n  mtu 9000\n"
        self.assertIn("could be either", self.refused(text, "Arista EOS", "Cisco NX-OS", "--from", name="switch.cfg"))
        for source in ("eos", "nxos"):
            self.assertEqual(self.value(self.nxos(text, "--from", source)[1], "Ethernet1_1", "mtu"), 9000)
        done = run(Programs.importer, self.file(text + "priority-flow-control on\n", "both.cfg"), "--from", "nxos")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(run(Programs.importer, self.file("pfc.port_group_list = [a]\npfc.a.xoff_size = 18000\n", "traffic.conf")).returncode, REFUSED)
        self.refused("pfc.port_group_list = [a]\npfc.a.xoff_size = 18000\n", "traffic.conf", "nv set qos pfc", "xoff_size", name="traffic.conf")


if __name__ == "__main__":
    importer.main()
