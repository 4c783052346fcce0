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

    def test_parts_of_a_port(self):
        broken = "interface breakout module 1 port 1-2 map {}\n"
        ports = "interface Ethernet1/1\n  mtu 9000\ninterface Ethernet1/1/2\n  mtu 8000\ninterface Ethernet1/4\n  speed 40000\n"
        _, config, account = self.nxos(broken.format("10g-4x") + ports, "--from", "nxos")
        self.assertEqual(list(config["port"]), [*(f"Ethernet1_{port}_{part}" for port in (1, 2) for part in (1, 2, 3, 4)), "Ethernet1_4"])
        self.assertEqual([self.value(config, port, "speed") for port in ("Ethernet1_1_1", "Ethernet1_2_4", "Ethernet1_4")], ["10G", "10G", "40G"])
        self.assertEqual([self.value(config, port, "mtu") for port in ("Ethernet1_1_1", "Ethernet1_1_2")], [1500, 8000])
        self.says(account, ":2:1: interface: no counterpart: of a port that is broken out")
        for words in ("10g-9x", "10g-0x", "7g-4x", "10g", "many"):
            self.refused(broken.format(words) + ports, "is not a breakout", name="switch.cfg", options=["--from", "nxos"])
        _, config, account = self.nxos("interface Ethernet1/3/1\n  speed 10000\ninterface Ethernet1/3/2-4\n  mtu 9000\ninterface Ethernet1/3/4\n  speed 25000\ninterface Ethernet1/9\n", "--from", "nxos")
        self.assertEqual([self.value(config, f"Ethernet1_{port}", "speed") or "100G" for port in ("3_1", "3_2", "3_3", "3_4", "9")], ["10G", "10G", "10G", "25G", "100G"])
        self.says(account, "interface.speed: assumed: that of its first part at 2 ports")
        self.says(account, 'interface.speed: assumed: speed = "100G" at 1 port')

    def test_what_a_bundle_and_the_system_give(self):
        _, config, _ = self.nxos(PARTS[0] + "policy-map type queuing A\n  class type queuing c-out-8q-q3\n    bandwidth percent 40\npolicy-map type queuing B\n  class type queuing c-out-8q-q3\n    bandwidth percent 50\n"
                                 "system qos\n  service-policy type queuing output A\ninterface port-channel2000\n  mtu 8000\n  priority-flow-control mode on\n  service-policy type queuing output B\n"
                                 "interface Ethernet1/1\n  channel-group 2000\ninterface Ethernet1/2\ninterface Ethernet1/3\n  no service-policy type queuing output B\nsystem jumbomtu 9216\n  service-policy type queuing output B\n")
        self.assertEqual([(self.value(config, f"Ethernet1_{n}", "pfc"), self.queue(config, f"Ethernet1_{n}", 3, "weight"), self.value(config, f"Ethernet1_{n}", "mtu")) for n in (1, 2, 3)],
                         [([3], 50, 8000), ([], 40, 9216), ([], 1, 9216)])
        self.assertEqual((self.queue(config, "Ethernet1_3", 3, "scheduler"), self.queue(config, "Ethernet1_1", 2, "weight"), self.queue(config, "Ethernet1_1", 2, "wred")), ("dwrr", 1, "none"))

    def test_network_policies(self):
        policy = "policy-map type network-qos Q\n{}system qos\n  service-policy type network-qos Q\n" + PARTS[1]
        of_class = "  class type network-qos c-8q-nq{}\n    {}\n"
        for classes, pfc, mtu, told in (
                (of_class.format(3, "pause no-drop"), [3], 1500, "taken: pfc of the ports has 3"), (of_class.format(1, "pause pfc-cos 3,4"), [3], 1500, "assumed: pfc of the ports has 3: Sluice's classes have one priority each"),
                (of_class.format(3, "no pause"), [], 1500, "taken: a lossy class"), (of_class.format(3, "pause pfc-cos 4 buffer-size 100000 pause-threshold 50000 resume-threshold 40000"), [4], 1500, "those of the queuing policy count"),
                (of_class.format(1, "mtu 9216") + of_class.format(2, "mtu 1500"), [], 9216, "taken: the largest"), (of_class.format(1, "mtu 1500") + of_class.format(2, "mtu 9000"), [], 9000, "taken: the largest"),
                (of_class.format(3, "congestion-control random-detect ecn"), [], 1500, "the queuing policy says where a queue marks"), (of_class.format("-default", "mtu 9000"), [], 9000, "taken: class 0")):
            _, config, account = self.nxos(policy.format(classes))
            self.assertEqual((self.value(config, "Ethernet1_1", "pfc"), self.value(config, "Ethernet1_1", "mtu")), (pfc, mtu), classes)
            self.says(account, told)
        lossless = of_class.format(3, "pause pfc-cos 3")
        two = "policy-map type network-qos Q\n" + lossless + "policy-map type network-qos R\n" + lossless + PARTS[1]
        for text, pfc in ((two, []), (two.replace("Q\n", "Q\n").split("policy-map type network-qos R")[0] + "system qos\n  no service-policy type network-qos Q\n" + PARTS[1], []),
                          ("system qos\n  service-policy type network-qos default-nq-policy\n" + PARTS[1], [])):
            self.assertEqual(self.value(self.nxos(text)[1], "Ethernet1_1", "pfc"), pfc, text)
        for name in ("c-8q-nq9", "c-8q-n3", "c-3"):
            self.says(self.nxos(policy.format(lossless.replace("c-8q-nq3", name)).replace("pause pfc-cos 3", "mtu 9000"), status=IN_PART)[2], ": left out: there is no class-map of type network-qos")
        _, config, account = self.nxos("class-map type network-qos N\n  match cos 5\n  match qos-group 6\n  match protocol fcoe\n" + policy.format(lossless.replace("c-8q-nq3", "N").replace("pfc-cos 3", "no-drop")))
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [5])
        self.says(account, "match protocol fcoe: no counterpart")
        self.refused("class-map type network-qos N\n  match protocol fcoe\n" + policy.format(lossless.replace("c-8q-nq3", "N")), "matches no qos-group", name="switch.cfg")
        _, _, account = self.nxos(policy.format(lossless.replace("c-8q-nq3", "GONE") + of_class.format(1, "pause pfc-cos 4")))
        for line in ("pause pfc-cos 3", "pause pfc-cos 4"):
            self.says(account, line + ": taken: pfc of the ports has")
        self.says(self.nxos(policy.format(lossless.replace("c-8q-nq3", "GONE").replace("cos 3", "cos 9")), status=IN_PART)[2], ": left out: there is no class-map")

    def test_maps_of_ports_with_and_without_a_policy(self):
        policy = "class-map type qos match-all R\n  match dscp 26\npolicy-map type qos P\n  class R\n    set qos-group 1\n" + PARTS[0].replace("c-8q-nq3", "c-8q-nq1") + PARTS[1]
        for own, tc in (("  service-policy input P\n", 1), ("  service-policy type qos input P\n", 1), ("  no service-policy type qos input P\n", 0), ("", 0)):
            _, config, account = self.nxos(policy + own)
            taken = config["map"][self.value(config, "Ethernet1_1", "map")]
            self.assertEqual(([taken["dscp_to_tc"].get(str(dscp)) for dscp in (3, 26, 48, 56)], taken["pcp_to_tc"]), ([0, tc, 0, 0], {"3": 0, "6": 0, "7": 0}), own)
            self.assertEqual((taken["tc_to_priority_group"], taken["pfc_priority_to_queue"], taken["cnp_tc"], "roce_tc" in taken), ({"1": 3}, {"3": 1}, "dscp", False))
            self.assertEqual(any("1 port without a policy: all is class 0" in line for line in account), tc == 0)

    def test_modes_of_pfc(self):
        for mode, pfc, told in (("mode on", [3], "taken: port.Ethernet1_1.pfc is on"), ("mode off", [], "taken: port.Ethernet1_1.pfc = []"), ("mode auto", [], "it is left to DCBX"), ("mode on\n  no priority-flow-control mode", [], "it is left to DCBX")):
            _, config, account = self.nxos(PARTS[0] + "interface Ethernet1/1\n  priority-flow-control " + mode + "\ninterface Ethernet1/2\n")
            self.assertEqual((self.value(config, "Ethernet1_1", "pfc"), self.value(config, "Ethernet1_2", "pfc")), (pfc, []), mode)
            self.says(account, told)
            self.says(account, "priority-flow-control mode: assumed: off at " + ("2 ports" if "left to" in told else "1 port"))
            self.assertEqual(any("Sluice computes it" in line for line in account), bool(pfc))

    def test_times_of_the_watchdog(self):
        text = PARTS[0] + "priority-flow-control watch-dog-interval on\n{}" + PARTS[1]
        watch = "priority-flow-control "
        for lines, times in ((["watch-dog interval 200 shutdown-multiplier 2", "auto-restore multiplier 5"], ("400ms", "1s")), (["watch-dog interval 200", "fixed-restore multiplier 4"], ("200ms", "800ms")), ([], ("100ms", "1s")),
                             (["watch-dog interval 10"], ("100ms", "100ms")), (["watch-dog interval 60000", "auto-restore multiplier 1000"], ("5s", "60s")), (["auto-restore multiplier 0"], ("100ms", "100ms")),
                             (["watch-dog interval 300", "no watch-dog interval 400", "no auto-restore multiplier 7"], ("100ms", "1s"))):
            _, config, account = self.nxos(text.format("".join(("no " + watch + line[3:] if line.startswith("no ") else watch + line) + "\n" for line in lines)))
            self.assertEqual((config["watchdog"].get("detection", "200ms"), config["watchdog"]["restoration"]), times, lines)
            self.says(account, "priority-flow-control watch-dog: assumed: detection = ")
        _, config, _ = self.nxos(text.format("") + "  no priority-flow-control watch-dog-interval on\n")
        self.assertEqual(self.value(config, "Ethernet1_1", "watchdog", "action"), "off")
        _, config, _ = self.nxos(text.format("") + "  priority-flow-control watch-dog-interval 300\n")
        self.assertEqual([self.value(config, "Ethernet1_1", "watchdog", key) for key in ("action", "detection", "restoration")], ["drop", "300ms", "3s"])
        self.assertEqual((config["watchdog"]["detection"], config["watchdog"]["restoration"]), ("100ms", "1s"))
        for line in ("watch-dog interval 0", "watch-dog interval 60001", "watch-dog shutdown-multiplier 0", "auto-restore multiplier 1001"):
            self.refused(text.format(watch + line + "\n"), "is not a number from", name="switch.cfg")

    def test_lines_of_a_queue(self):
        text = PARTS[0] + "policy-map type queuing O\n  class type queuing c-out-8q-q3\n    {}\nsystem qos\n  service-policy type queuing output O\n" + PARTS[1]
        for lines, wanted, told in (
                ("bandwidth percent 0", {"weight": 1}, "assumed: queue.3.weight = 1, the least there is"), ("bandwidth remaining percent 40", {"weight": 40}, "of what strict queues leave"), ("bandwidth percent 40", {"weight": 40}, "weight = 40"),
                ("bandwidth 10 gbps", {"min_rate": "10G"}, "min_rate"), ("bandwidth percent 40\n    no bandwidth percent 40", {"weight": 1}, "no bandwidth percent 40: taken: NX-OS's default"), ("no bandwidth percent 40", {"weight": 1}, "NX-OS's default"),
                ("priority level 2", {"scheduler": "strict"}, "assumed: queue.3.scheduler"), ("priority level 1", {"scheduler": "strict"}, "taken: queue.3.scheduler"), ("priority", {"scheduler": "strict"}, "taken: queue.3.scheduler"),
                ("shape average 10 gbps", {"max_rate": "10G", "min_rate": None}, "taken"), ("shape min 1 gbps max 10 gbps", {"max_rate": "10G", "min_rate": "1G"}, "taken"), ("shape max 10 gbps", {"max_rate": "10G"}, "taken"), ("shape percent 50", {"max_rate": "50G"}, "taken"),
                ("queue-limit dynamic 3", {"dynamic_th": -4, "static_th": None}, "assumed: dynamic_th = -4"), ("queue-limit dynamic 10", {"dynamic_th": 3}, "dynamic_th = 3"), ("queue-limit 500 packets", {"static_th": None}, "Sluice's limits are in bytes"),
                ("queue-limit 0 bytes", {"static_th": "1B"}, "static_th = 1"), ("queue-limit 5000", {"static_th": "5KB"}, "static_th = 5000"), ("queue-limit 5000\n    queue-limit dynamic 3", {"static_th": None, "dynamic_th": -4}, "dynamic_th"),
                ("queue-limit dynamic 3\n    queue-limit 5000", {"static_th": "5KB", "dynamic_th": None}, "static_th"), ("pause buffer-size 1 pause-threshold 1", {"weight": 1}, "a policy of output pauses nothing"), ("congestion-control x", {"weight": 1}, "none of it")):
            _, config, account = self.nxos(text.format(lines))
            self.assertEqual({key: self.queue(config, "Ethernet1_1", 3, key) for key in wanted}, wanted, lines)
            self.assertEqual(self.queue(config, "Ethernet1_1", 4, "scheduler"), "dwrr")
            self.says(account, told)
        curve = "random-detect minimum-threshold 100 kbytes maximum-threshold 200 kbytes"
        for more, wanted in ((" ecn", {"green_probability": "100%"}), ("", {"green_probability": "100%", "ecn": False}), (" weight 3 cap-average ecn", {"green_probability": "100%", "weight": 3}), (" drop-probability 7 ecn", {"green_probability": "7%"})):
            _, config, _ = self.nxos(text.format(curve + more))
            self.assertEqual(config["wred"][self.queue(config, "Ethernet1_1", 3, "wred")], {"green_min": "100KB", "green_max": "200KB", **wanted})

    def test_thresholds_of_pauses(self):
        text = (PARTS[0].replace("c-8q-nq3", "c-8q-nq1") + "policy-map type queuing I\n  class type queuing c-in-q{}\n    {}\n" + PARTS[1] + "  service-policy type queuing input I\n")
        keys = ("xoff", "static_th", "xon_offset", "size")
        for number, line, wanted, told in (
                (1, "pause buffer-size 300000 pause-threshold 60000 resume-threshold 60000", ("240KB", "60KB", "0B", "0B"), "xoff = 240000, static_th = 60000, xon_offset = 0"), (1, "pause buffer-size 300000 pause-threshold 60000", ("240KB", "60KB", None, "0B"), "static_th = 60000"),
                (1, "pause buffer-size 300000", (None,) * 4, "assumed: Sluice computes the headroom"), (1, "pause pause-threshold 300000", (None,) * 4, "assumed: Sluice computes the headroom"), (2, "pause buffer-size 300000 pause-threshold 60000", (None,) * 4, "does not pause"),
                (1, "no pause buffer-size 300000 pause-threshold 60000", (None,) * 4, "NX-OS's default"), (1, "queue-limit 1000", (None,) * 4, "limits of an ingress queue"), (1, "bandwidth percent 40", (None,) * 4, "of what DCBX tells the peer")):
            _, config, account = self.nxos(text.format(number, line))
            self.assertEqual(tuple(self.value(config, "Ethernet1_1", "priority_group", "3", key) for key in keys), wanted, line)
            self.says(account, told)
            self.assertEqual(any("the file does not say the headroom" in each for each in account), wanted[0] is None)
        for line in ("pause buffer-size 60000 pause-threshold 60000", "pause buffer-size 70000 pause-threshold 60000 resume-threshold 60001", "pause buffer-size x pause-threshold 1", "pause size 1"):
            self.refused(text.format(1, line), line, name="switch.cfg")
        _, config, _ = self.nxos(text.format(1, "pause buffer-size 300000 pause-threshold 60000").replace("  service-policy type queuing input", "  no service-policy type queuing input"))
        self.assertIsNone(self.value(config, "Ethernet1_1", "priority_group", "3", "xoff"))

    def test_from_says_whose_it_is(self):
        text = "interface Ethernet1/1\n  mtu 9000\n"
        self.assertIn("could be either", self.refused(text, "Arista EOS", "Cisco NX-OS", "--from", name="switch.cfg"))
        for source in ("eos", "nxos"):
            self.assertEqual(self.value(self.nxos(text, "--from", source)[1], "Ethernet1_1", "mtu"), 9000)
        _, config, account = self.nxos("tor(config)# system qos\ntor(config-sys-qos)# exit\ntor(config)# interface Ethernet1/1\ntor(config-if)# mtu 9000\n")
        self.says(account, 'syntax: assumed: Cisco NX-OS, by "system qos" in line 1')
        done = run(Programs.importer, self.file(text + "priority-flow-control on\n", "both.cfg"), "--from", "nxos")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(run(Programs.importer, self.file("pfc.port_group_list = [a]\npfc.a.xoff_size = 18000\n", "traffic.conf")).returncode, REFUSED)
        self.refused("pfc.port_group_list = [a]\npfc.a.xoff_size = 18000\n", "traffic.conf", "nv set qos pfc", "xoff_size", name="traffic.conf")


if __name__ == "__main__":
    importer.main()
