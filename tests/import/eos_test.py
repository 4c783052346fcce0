#!/usr/bin/python3
"""Arista EOS: running-configs and parts of them, pasted sessions, units, and what a line means that is not ours."""

import re
import textwrap

import importer
from importer import FILES, IN_PART, REFUSED, Case, Programs, run

EOS = FILES / "leaf.eos"

# As the field's guides print them: the heading says another maker.
LISTINGS = ("! Cisco Nexus\n       interface Ethernet1/1\n         priority-flow-control mode on\n         priority-flow-control priority 3 no-drop\n",
            "       interface Ethernet 6/1/1\n         tx-queue 6\n           random-detect ecn minimum-threshold 500 kbytes maximum-threshold 1500 kbytes\n")


class Eos(Case):
    def eos(self, text, *options, **more):
        return self.importing(self.file(text, "switch.cfg"), *options, **more)

    def queue(self, config, port, queue, key):
        return self.value(config, port, "queue", str(queue), key)

    def says(self, account, *words):
        self.assertTrue(any(all(word in line for word in words) for line in account), "\n".join(account))

    def test_what_becomes_of_a_leaf(self):
        said, config, account = self.importing(EOS)
        self.check()
        self.assertEqual(list(config["port"]), ["Ethernet1_1", "Ethernet2_1", "Ethernet2_2", "Ethernet2_3", "Ethernet2_4", "Ethernet7_1", "Ethernet8_1"])
        value = lambda port, *path: self.value(config, port, *path)  # noqa: E731
        self.assertEqual([(value(port, "speed") or "100G", value(port, "mtu"), value(port, "pfc")) for port in ("Ethernet1_1", "Ethernet7_1", "Ethernet8_1")],
                         [("400G", 9214, [3]), ("100G", 9000, [3]), ("100G", 9214, [])])
        self.assertEqual(value("Ethernet1_1", "address"), ["10.0.0.0/31", "2001:db8::/127"])
        self.assertEqual([self.queue(config, "Ethernet1_1", n, "scheduler") for n in (0, 1, 3, 6, 7)], ["dwrr", "dwrr", "dwrr", "strict", "strict"])
        self.assertEqual([self.queue(config, "Ethernet1_1", n, "weight") for n in (0, 1, 3)], [30, 5, 60])
        self.assertEqual((self.queue(config, "Ethernet1_1", 6, "max_rate"), self.queue(config, "Ethernet2_1", 6, "max_rate")), ("40G", "10G"))
        wred = config["wred"][self.queue(config, "Ethernet1_1", 3, "wred")]
        self.assertEqual(wred, {"green_min": "150KB", "green_max": "1500KB", "green_probability": "20%", "drop_non_ect": False})
        by_time = config["wred"][self.queue(config, "Ethernet2_4", 3, "wred")]
        self.assertEqual((by_time["green_min"], by_time["green_max"], by_time["green_probability"]), ("1250KB", "12500KB", "100%"))
        taken = config["map"][value("Ethernet1_1", "map")]["dscp_to_tc"]
        self.assertEqual([taken.get(str(dscp), {3: 3, 26: 3, 48: 6, 56: 7}.get(dscp, 0)) for dscp in (0, 8, 24, 26, 48, 63)], [1, 0, 3, 3, 6, 7])
        self.assertEqual((value("Ethernet1_1", "trust"), value("Ethernet8_1", "trust")), (None, None))
        self.assertEqual((config["watchdog"]["restoration"], config["watchdog"]["poll"], config["watchdog"].get("detection", "200ms")), ("1500ms", "50ms", "200ms"))
        self.assertEqual([value(port, "watchdog", "action") for port in ("Ethernet1_1", "Ethernet2_1")], ["drop", "drop"])
        self.assertEqual([(route["prefix"], route["via"]) for route in config["route"]], [("198.51.100.0/24", ["10.0.0.1"]), ("203.0.113.0/24", "blackhole")])
        self.assertEqual([event["do"] for event in config["event"]], ["port Ethernet8_1 down"])
        self.assertIn("lossless: 6 ports with PFC", said)
        self.says(account, "39:4: interface Ethernet1/1.service-profile ROCE: taken")
        self.says(account, ": router bgp: no counterpart")
        self.says(account, "ip route vrf: no counterpart: Sluice has one table of routes")
        self.says(account, "for the members of port-channel3")

    def test_every_line_has_a_fate_and_a_place(self):
        _, _, account = self.importing(EOS)
        places = {int(match[1]) for line in account if (match := re.match(r".*leaf\.eos:(\d+):\d+: ", line))}
        text = EOS.read_text().splitlines()
        banner = range(text.index("banner motd") + 2, text.index("EOF") + 2)
        lines = {n for n, line in enumerate(text, 1) if line.strip() and not line.strip().startswith("!") and line != "end" and n not in banner}
        self.assertEqual(lines - places, set())
        self.assertEqual(places - lines, set())

    def test_the_listings_of_the_guides_stand_as_they_are(self):
        _, config, account = self.eos(LISTINGS[0])
        self.assertEqual(self.value(config, "Ethernet1_1", "pfc"), [3])
        self.says(account, "syntax: assumed: Arista EOS, by", "priority-flow-control priority 3 no-drop", "in line 4, although the text says Cisco Nexus")
        self.check()
        _, config, account = self.eos(LISTINGS[1])
        wred = config["wred"][self.queue(config, "Ethernet6_1_1", 6, "wred")]
        self.assertEqual((wred["green_min"], wred["green_max"]), ("500KB", "1500KB"))
        self.says(account, "syntax: assumed: Arista EOS")
        self.check()

    def test_a_session_a_script_and_a_file_are_the_same(self):
        _, whole, _ = self.eos("qos profile A\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n   uc-tx-queue 3\n      no priority\n"
                               "      bandwidth percent 95\n   uc-tx-queue 6\n      priority strict\ninterface Ethernet1\n   mtu 9000\n   service-profile A\n")
        session = ("leaf-1#show version\nArista DCS\ninterface Ethernet9\nleaf-1#configure\nleaf-1(config)# qos profile A\nleaf-1(config-qos-profile-A)# priority-flow-control on\n"
                   "leaf-1(config-qos-profile-A)#priority-flow-control priority 3 no-drop\nleaf-1(config-qos-profile-A)# uc-tx-queue 3\n"
                   "leaf-1(config-qos-profile-A-uc-txq-3)# no priority\nleaf-1(config-qos-profile-A-uc-txq-3)# bandwidth percent 95\n"
                   "leaf-1(config-qos-profile-A-uc-txq-3)# uc-tx-queue 6\nleaf-1(config-qos-profile-A-uc-txq-6)# priority strict\n"
                   "leaf-1(config-qos-profile-A-uc-txq-6)# exit\nleaf-1(config-qos-profile-A)# exit\nleaf-1(config)# interface Et1\nleaf-1(config-if-Et1)# mtu 9000\n"
                   "leaf-1(config-if-Et1)# service-profile A\nleaf-1(config-if-Et1)# end\nleaf-1#\n")
        script = ("qos profile A\npriority-flow-control on\npriority-flow-control priority 3 no-drop\n!\nuc-tx-queue 3\nno priority\nbandwidth percent \\\n95\nuc-tx-queue 6\n"
                  "priority strict\nexit\nexit\ninterface ethernet 1\nmtu 9000 ! jumbo\nservice-profile A\n!\npriority-flow-control pause watchdog default timeout 0\n")
        for text in (session, script):
            _, config, _ = self.eos(text)
            for part in ("port", "default", "wred", "map"):
                self.assertEqual(config.get(part), whole.get(part), text)

    def test_wrong_values_have_their_place_and_a_remedy(self):
        port = "interface Ethernet1\n   priority-flow-control on\n"
        for line, words in (
                ("mtu many", '"many" is not a number'), ("speed fast", '"fast" is not a speed of a port'), ("priority-flow-control priority 9 no-drop", '"9" is not a class'),
                ("priority-flow-control priority 3 maybe", "neither no-drop nor drop"), ("ip address 10.0.0.300/31", "10.0.0.300"),
                ("qos trust love", "neither dscp nor cos"), ("priority-flow-control pause watchdog port action panic", "none of drop"),
                ("priority-flow-control pause watchdog port timer timeout soon", '"soon"'), ("shape rate 10 parsec", "none of percent"),
                ("tx-queue 3\n      bandwidth percent 101", "0 to 100"), ("tx-queue x\n      no priority", '"x" is not a class'),
                ("tx-queue 3\n      random-detect ecn minimum-threshold 1 pound maximum-threshold 2 pound", '"pound" is none of bytes'),
                ("tx-queue 3\n      random-detect ecn minimum-threshold 1 kbytes", "has no maximum-threshold"),
                ("tx-queue 3\n      random-detect ecn minimum-threshold 1 kbytes maximum-threshold 2 kbytes weight 16", "0 to 15"),
                ("tx-queue 3\n      random-detect ecn minimum-threshold 1 mbytes maximum-threshold 99999999999999 mbytes", "not a threshold")):
            with self.subTest(line=line):
                said = self.refused(port + "   " + line + "\n", words, name="switch.cfg")
                self.assertRegex(said, r"switch\.cfg: 1 line wrong\n +[34]:\d+  ")
        for text, words in (("interface Ethernet4-1\n   priority-flow-control on\n", "not a range of interfaces"), ("qos map dscp 64 to traffic-class 3\n" + port, "0 to 63"),
                            ("qos map dscp 26 to traffic-class 8\n" + port, "not a class"), (port + "ip route 10.0.0.0/33 10.0.0.1\n", "10.0.0.0/33"),
                            ("priority-flow-control pause watchdog default timeout x\n" + port, '"x"'), ("qos profile A\n   qos trust dscp\n", "has no ports")):
            with self.subTest(text=text):
                self.refused(text, words, name="switch.cfg")

    def test_what_refers_to_nothing_or_does_not_fit_is_left_out(self):
        for line, words in (("service-profile GONE", "there is no qos profile"), ("service-policy type qos input GONE", "there is no policy-map"),
                            ("tx-queue 3\n      random-detect ecn minimum-threshold 9 mbytes maximum-threshold 1 mbytes", "the queue marks and drops nothing")):
            with self.subTest(line=line):
                _, config, account = self.eos(f"interface Ethernet1\n   priority-flow-control on\n   {line}\n", status=IN_PART)
                self.says(account, ": left out: ", words)
                self.check()

    def test_units_need_what_they_are_counted_in(self):
        text = "interface Ethernet1\n   {}tx-queue 3\n      random-detect ecn minimum-threshold {} maximum-threshold {}\n"
        _, config, account = self.eos(text.format("", "10 segments", "20 segments"))
        self.assertEqual(self.queue(config, "Ethernet1", 3, "wred"), "none")
        self.says(account, "no counterpart: segments are the chip's own: --segment BYTES")
        for speed, low, high, options, wanted in (("", "10 segments", "20 segments", ["--segment", "208B"], ("2080B", "4160B")),
                                                  ("speed 25g\n   ", "100 microseconds", "1 milliseconds", [], ("312500B", "3125KB")),
                                                  ("", "1000 bytes", "2 mbytes", [], ("1KB", "2MB"))):
            _, config, account = self.eos(text.format(speed, low, high), *options)
            wred = config["wred"][self.queue(config, "Ethernet1", 3, "wred")]
            self.assertEqual((wred["green_min"], wred["green_max"]), wanted)
            if "seconds" in low:
                self.says(account, ": assumed: 100 microseconds are 312500 bytes at 25G")

    def test_pfc_takes_both_of_its_lines(self):
        for lines, pfc in ((["on", "priority 3 no-drop", "priority 4 no-drop"], [3, 4]), (["priority 3 no-drop"], []), (["on"], []), (["on", "priority 3 no-drop", "priority 3 drop"], []),
                           (["mode on", "priority 3 no-drop"], [3])):
            _, config, account = self.eos("interface Ethernet1\n" + "".join(f"   priority-flow-control {line}\n" for line in lines))
            self.assertEqual(self.value(config, "Ethernet1", "pfc"), pfc, lines)
        _, config, _ = self.eos("priority-flow-control all off\n" + "interface Ethernet1\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n")
        self.assertEqual(self.value(config, "Ethernet1", "pfc"), [])

    def test_the_watchdog_of_all_and_of_one_port(self):
        ports = "interface Ethernet1\n   priority-flow-control on\ninterface Ethernet2\n   priority-flow-control on\n   priority-flow-control pause watchdog {}\n"
        every = "priority-flow-control pause watchdog default timeout 0.3\n"
        action = lambda config, port: self.value(config, port, "watchdog", "action")  # noqa: E731
        for head, own, wanted in (("", "port action drop", ("off", "off")), (every, "disable", ("drop", "off")), (every, "port action notify-only", ("drop", "alert")),
                                  ("", "port timer timeout 0.05 polling-interval auto recovery-time 1.11 forced", ("off", "drop")),
                                  (every + "priority-flow-control pause watchdog action no-drop\n", "port action drop", ("forward", "drop"))):
            _, config, account = self.eos(head + ports.format(own))
            self.assertEqual((action(config, "Ethernet1"), action(config, "Ethernet2")), wanted, own)
            if "timer" in own:
                self.assertEqual((self.value(config, "Ethernet2", "watchdog", "detection"), self.value(config, "Ethernet2", "watchdog", "restoration")), ("100ms", "1110ms"))
                self.says(account, ': assumed: watchdog.detection = "100ms": Sluice has 100ms to 5s')
            self.check()

    def test_policies_lie_over_the_map(self):
        _, config, account = self.eos("class-map type qos match-any R\n   match dscp af31 10\n   match vlan 5\nclass-map type qos match-any UNUSED\n   match dscp 1\n"
                                      "policy-map type quality-of-service P\n   10 class R\n      set traffic-class 5\n      set dscp 8\n   class class-default\n      set traffic-class 2\n"
                                      "interface Ethernet1\n   qos trust dscp\n   service-policy type qos input P\n")
        taken = config["map"]["P"]["dscp_to_tc"]
        self.assertEqual([taken[str(dscp)] for dscp in (26, 10, 48, 1)], [5, 5, 2, 2])
        self.says(account, "match vlan 5: no counterpart: Sluice's classes go by DSCP and PCP alone")
        self.says(account, "set dscp 8: no counterpart")
        self.says(account, ": class-map: no counterpart: no policy that a port goes by has it")

    def test_profiles_that_are_named_and_those_that_are_not(self):
        profile = "qos profile P\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n"
        _, config, account = self.eos(profile + "interface Ethernet1\n   no service-profile P\n")
        self.assertEqual(self.value(config, "Ethernet1", "pfc"), [])
        self.says(account, "no service-profile P: taken: no profile")
        self.says(account, ":1:1: qos profile: no counterpart: no port goes by it")
        _, config, account = self.eos(profile + "   qos trust cos\ninterface Ethernet1\n   service-profile P\n   no priority-flow-control\n   qos trust dscp\n   priority-flow-control priority 3 drop\n")
        self.assertEqual((self.value(config, "Ethernet1", "pfc"), self.value(config, "Ethernet1", "trust")), ([], None))
        self.says(account, ":4:4: qos profile: no counterpart: every port that goes by it says another")

    def test_maps_and_trust(self):
        port = "interface Ethernet1\n{}interface Ethernet2\n   no switchport\n"
        of_port = lambda config, kind: self.map_of(config, "Ethernet1", kind)  # noqa: E731
        for lines, kind, wanted, told in (
                ("", "pcp_to_tc", [1, 0, 2, 3, 4, 5, 6, 7], ""), ("qos map cos 3 4 to traffic-class 5\n", "pcp_to_tc", [1, 0, 2, 5, 5, 5, 6, 7], ": taken: pcp_to_tc of the ports' map: 5"),
                ("qos map traffic-class 3 to tx-queue 4\n", "tc_to_queue", [0, 1, 2, 4, 4, 5, 6, 7], "taken: tc_to_queue"), ("qos map traffic-class 3 to uc-tx-queue 4\n", "pfc_priority_to_queue", [0, 1, 2, 4, 4, 5, 6, 7], "taken"),
                ("qos map traffic-class 3 to mc-tx-queue 4\n", "tc_to_queue", list(range(8)), "no multicast"), ("no qos map dscp 26 to traffic-class 5\n", "pcp_to_tc", [1, 0, 2, 3, 4, 5, 6, 7], "taken: EOS's default"),
                ("qos map dscp 26 to traffic-class 5 drop-precedence 1\n", "pcp_to_tc", [1, 0, 2, 3, 4, 5, 6, 7], "assumed: without its drop-precedence"), ("qos map traffic-class 3 to dscp 26\n", "tc_to_queue", list(range(8)), "as they are"),
                ("qos map exp 0 to traffic-class 0\n", "tc_to_queue", list(range(8)), "go by DSCP and PCP alone")):
            _, config, account = self.eos(lines + port.format("   qos trust dscp\n"))
            self.assertEqual(of_port(config, kind), wanted, lines)
            self.says(account, ":1:1: " if told else "", told)
            self.assertNotIn("roce_tc", config["map"]["eos"])
            self.assertEqual(config["map"]["eos"]["cnp_tc"], "dscp")
        for line in ("qos map cos 8 to traffic-class 3", "qos map traffic-class 8 to tx-queue 3", "qos map dscp 26 traffic-class 3"):
            self.refused(line + "\n" + port.format(""), "qos map", name="switch.cfg")
        for lines, trust in (("no qos trust", "port"), ("default qos trust", None), ("qos trust cos", "pcp"), ("switchport mode trunk", "pcp"), ("switchport mode trunk\n   qos trust dscp", None), ("switchport", "pcp"),
                             ("no switchport\n   switchport mode trunk", None), ("no switchport mode trunk", None)):
            _, config, _ = self.eos(port.format(f"   {lines}\n"), "--from", "eos")
            self.assertEqual(self.value(config, "Ethernet1", "trust"), trust, lines)
        _, config, account = self.eos("qos map cos 3 to traffic-class 5\n" + port.format("   no qos trust\n   qos cos 3\n   qos dscp 8\n"))
        self.assertEqual((self.value(config, "Ethernet1", "default_tc"), self.value(config, "Ethernet2", "default_tc")), (5, None))
        self.says(account, "qos dscp 8: no counterpart")
        policy = "policy-map type quality-of-service P\n   class class-default\n      set traffic-class 2\n"
        for own, wanted in (("   service-policy type qos input P\n", [2] * 8), ("   no service-policy type qos input P\n", [1, 0, 2, 3, 4, 5, 6, 7])):
            _, config, _ = self.eos(policy + port.format(own))
            self.assertEqual((of_port(config, "pcp_to_tc"), self.map_of(config, "Ethernet2", "pcp_to_tc")), (wanted, [1, 0, 2, 3, 4, 5, 6, 7]))

    def map_of(self, config, port, kind):
        usual = importer.PRESET_PCP if kind == "pcp_to_tc" else range(8)
        said = config["map"][self.value(config, port, "map")].get(kind, {})
        return [said.get(str(n), usual[n]) for n in range(8)]

    def test_pfc_that_is_taken_back(self):
        lossless = "   priority-flow-control priority 3 no-drop\n"
        for head, lines, pfc in (("", "   priority-flow-control on\n" + lossless, [3]), ("", "   priority-flow-control off\n" + lossless, []), ("", "   no priority-flow-control on\n" + lossless, []),
                                 ("", "   priority-flow-control on\n   no priority-flow-control priority 3 no-drop\n", []), ("no priority-flow-control all off\n", "   priority-flow-control on\n" + lossless, [3]),
                                 ("", "   priority-flow-control on\n   priority-flow-control mode off\n" + lossless, []), ("", "   priority-flow-control on\n" + lossless + "   no priority-flow-control priority 3\n", [])):
            _, config, account = self.eos(head + "interface Ethernet1\n" + lines)
            self.assertEqual(self.value(config, "Ethernet1", "pfc"), pfc, head + lines)

    def test_words_of_the_watchdog(self):
        port = "interface Ethernet1\n   priority-flow-control on\n{}"
        every = "priority-flow-control pause watchdog default timeout 0.3\n"
        for head, own, wanted in (
                (every, "", ("300ms", None, "drop")), (every + "priority-flow-control pause watchdog default recovery-time 30\n", "", ("300ms", "30s", "drop")),
                (every + "priority-flow-control pause watchdog default recovery-time 90\n", "", ("300ms", "60s", "drop")), (every + "priority-flow-control pause watchdog default timeout 0\n", "", ("300ms", None, "off")),
                ("priority-flow-control pause watchdog default timeout 60\n", "", ("5s", None, "drop")), ("no " + every, "", (None, None, "off")), ("", "   priority-flow-control pause watchdog\n", (None, None, "off")),
                (every, "   priority-flow-control pause watchdog\n", ("300ms", None, "drop")), (every, "   no priority-flow-control pause watchdog\n", ("300ms", None, "off")),
                ("", "   no priority-flow-control pause watchdog\n   priority-flow-control pause watchdog port timer timeout 0.2 polling-interval auto recovery-time 1\n", ("200ms", "1s", "off")),
                ("", "   priority-flow-control pause watchdog\n   priority-flow-control pause watchdog port timer timeout 0.4 polling-interval 0.1 recovery-time 1 forced\n", ("400ms", "1s", "drop")),
                (every, "   no priority-flow-control pause watchdog disable\n", ("300ms", None, "drop")), (every + "priority-flow-control pause watchdog override action drop\n", "", ("300ms", None, "drop")),
                (every + "priority-flow-control pause watchdog override action no-drop\n", "", ("300ms", None, "forward")), (every + "priority-flow-control pause watchdog action notify-only\n", "", ("300ms", None, "alert")),
                (every + "priority-flow-control pause watchdog action errdisable\n", "", ("300ms", None, "drop")), (every + "priority-flow-control pause watchdog default polling-interval auto\n", "", ("300ms", None, "drop"))):
            with self.subTest(head + own):
                _, config, account = self.eos(head + port.format(own))
                value = lambda key: self.value(config, "Ethernet1", "watchdog", key) or config.get("watchdog", {}).get(key)  # noqa: E731
                self.assertEqual((value("detection") or ("200ms" if "0.2" in own else None), value("restoration"), value("action")), wanted)
                unsaid = bool(head) and not head.startswith("no ") and "timeout 0\n" not in head and "recovery-time" not in head
                self.assertEqual(any("recovery-time: assumed: twice the timeout" in line for line in account), unsaid, account)
        _, config, _ = self.eos(every + "priority-flow-control pause watchdog default polling-interval 0.1\n" + port.format(""))
        self.assertEqual(config["watchdog"]["poll"], "100ms")
        self.refused(port.format("   priority-flow-control pause watchdog port timer timeout 1 wait 2\n"), '"wait" is none of', name="switch.cfg")

    def test_curves_that_mark_and_that_drop(self):
        curve = "minimum-threshold {} kbytes maximum-threshold {} kbytes"
        ecn, drop = "random-detect ecn " + curve.format(2, 20), "random-detect drop " + curve.format(1, 10)
        green = {"green_min": "1KB", "green_max": "10KB", "green_probability": "100%"}
        for lines, head, wanted in (
                ([ecn], "", {"green_min": "2KB", "green_max": "20KB", "green_probability": "100%"}), ([ecn + " max-mark-probability 20 weight 3"], "", {"green_min": "2KB", "green_max": "20KB", "green_probability": "20%", "weight": 3}),
                ([drop + " drop-probability 30"], "", {**green, "green_probability": "30%", "ecn": False, "drop_non_ect": True}), ([drop], "qos random-detect ecn allow non-ect\n", {**green, "ecn": False, "drop_non_ect": True}),
                ([ecn], "qos random-detect ecn allow non-ect\n", {"green_min": "2KB", "green_max": "20KB", "green_probability": "100%", "drop_non_ect": False}),
                ([ecn], "qos random-detect ecn allow non-ect\nno qos random-detect ecn allow non-ect\n", {"green_min": "2KB", "green_max": "20KB", "green_probability": "100%"}),
                ([ecn, drop.replace("drop", "drop drop-precedence 0", 1)], "", {**green, "ect_min": "2KB", "ect_max": "20KB", "ect_probability": "100%", "drop_non_ect": True}),
                ([ecn, "no random-detect drop"], "", {"green_min": "2KB", "green_max": "20KB", "green_probability": "100%"}), ([drop, "no random-detect ecn minimum-threshold"], "", {**green, "ecn": False, "drop_non_ect": True}),
                ([drop.replace("drop", "drop drop-precedence 1", 1), drop.replace("drop", "drop drop-precedence 2", 1)], "", None)):
            with self.subTest(lines):
                _, config, account = self.eos(head + "interface Ethernet1\n   tx-queue 3\n" + "".join(f"      {line}\n" for line in lines))
                name = self.queue(config, "Ethernet1", 3, "wred")
                self.assertEqual(config["wred"][name] if wanted else name, wanted or "none")
                for line in lines:
                    self.says(account, line, "no counterpart" if "precedence 1" in line or "precedence 2" in line else "marks from 2000 to 20000" if line.startswith(ecn) else "drops from 1000 to 10000" if line.startswith("random") else "no such curve")

    def test_shares_of_queues(self):
        for lines, schedulers, weights in (
                ({5: ["no priority"]}, "ddddddss", [16] * 6), ({5: ["no priority", "bandwidth percent 40"], 3: ["priority strict"]}, "dddsddss", [15, 15, 15, None, 15, 40]),
                ({2: ["no priority", "bandwidth percent 0"], 1: ["bandwidth percent 60"], 0: ["bandwidth percent 60"]}, "dddsssss", [60, 60, 1]), ({2: ["priority disabled", "no bandwidth percent"]}, "dddsssss", [33] * 3),
                ({1: ["no priority"], 3: ["no priority"]}, "ddddssss", [25] * 4), ({3: ["bandwidth percent 50"]}, "ssssssss", [])):
            _, config, account = self.eos("interface Ethernet1\n" + "".join(f"   tx-queue {n}\n" + "".join(f"      {line}\n" for line in own) for n, own in lines.items()))
            self.assertEqual("".join(self.queue(config, "Ethernet1", n, "scheduler")[0] for n in range(8)), schedulers, lines)
            self.assertEqual([self.queue(config, "Ethernet1", n, "weight") for n in range(len(weights))], weights, lines)
            self.assertEqual({self.queue(config, "Ethernet1", n, "wred") for n in range(8)}, {"none"})
        self.says(account, "assumed: no weight: the queue is strict")
        _, config, account = self.eos("interface Ethernet1\n   tx-queue 3\n      no priority\n      shape rate 10 gbps\n      no shape rate\n   no tx-queue 4\n")
        self.assertEqual(self.queue(config, "Ethernet1", 3, "max_rate"), None)
        self.says(account, "no tx-queue 4: taken: EOS's default")

    def test_two_makers_in_one_file_are_refused(self):
        for other in ("policy-map type network-qos Q\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n", "system qos\n  service-policy type network-qos Q\n"):
            said = self.refused(EOS.read_text() + other, "Arista EOS", "Cisco NX-OS", "--from", name="both.cfg")
            self.assertEqual(len(said.splitlines()), 1)
        self.eos(EOS.read_text() + "event-handler A\n   feature x\n   system qos\n")  # words of another, in a body
        done = run(Programs.importer, self.file("set class-of-service a\nset class-of-service b\n", "junos.cfg"))
        self.assertEqual((done.returncode, "Junos" in done.stderr), (REFUSED, True))

    def test_what_would_take_all_memory_or_hides_the_rest(self):
        self.refused("".join(" " * n + f"a{n}\n" for n in range(40)), "nested deeper than 32", name="deep.cfg", options=["--from", "eos"])
        self.refused("a\n" * 600000, "more than 500000 values", name="long.cfg", options=["--from", "eos"])
        for head in ("banner motd\n", "banner motd #\n", "-----BEGIN CERTIFICATE-----\n", "certificate x\n", "comment\n", "action bash\n"):
            _, config, _ = self.eos(head + textwrap.dedent(LISTINGS[0].partition("\n")[2]))
            self.assertEqual(list(config["port"]), ["Ethernet1_1"], head)
        _, config, _ = self.eos("banner motd #\ninterface Ethernet7\n#\nmanagement security\n   ssl profile X\n-----BEGIN CERTIFICATE-----\ninterface Ethernet8\n-----END CERTIFICATE-----\n"
                                + textwrap.dedent(LISTINGS[0].partition("\n")[2]))
        self.assertEqual(list(config["port"]), ["Ethernet1_1"])


if __name__ == "__main__":
    importer.main()
