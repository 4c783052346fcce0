#!/usr/bin/python3
"""What EOS and NX-OS share, a line each: interfaces and bundles, links, addresses, routes, units, classes of packets, and how text is read."""

import textwrap

import importer
from importer import IN_PART, Case

EOS_PORT, NXOS_PORT = "interface Ethernet1\n   {}\n", "interface Ethernet1/1\n  {}\n"


class Statements(Case):
    def read(self, text, source="eos", **more):
        return self.importing(self.file(text, "switch.cfg"), "--from", source, **more)

    def body(self, lines, source="eos", **more):
        """The lines in the body of one port; a queue's are behind their own."""
        text, indent = (EOS_PORT, "   ") if source == "eos" else (NXOS_PORT, "  ")
        return self.read(text.format(textwrap.indent(lines, indent).strip()), source, **more)

    def says(self, account, *words):
        self.assertTrue(any(all(word in line for word in words) for line in account), "\n".join(account))

    def never_says(self, account, *words):
        self.assertFalse(any(all(word in line for word in words) for line in account), "\n".join(account))

    def dscps(self, config, port="Ethernet1", kind="dscp_to_tc"):
        """The class of each DSCP or PCP."""
        said = config["map"][self.value(config, port, "map")].get(kind, {})
        usual = {3: 3, 26: 3, 48: 6, 56: 7} if kind == "dscp_to_tc" else dict(enumerate(importer.PRESET_PCP))
        return [said.get(str(n), usual.get(n, 0)) for n in range(64 if kind == "dscp_to_tc" else 8)]


class Interfaces(Statements):
    def test_names_and_ranges(self):
        for words, ports in (("Ethernet1/1-1/3", ["Ethernet1_1", "Ethernet1_2", "Ethernet1_3"]), ("et1", ["Ethernet1"]), ("Eth1/2", ["Ethernet1_2"]), ("Ethernet4000", ["Ethernet4000"]),
                             ("Ethernet1,3-4", ["Ethernet1", "Ethernet3", "Ethernet4"]), ("Ethernet1,Ethernet1.100", []), ("Ethernet1.100", [])):
            _, config, account = self.read(f"interface {words}\n   mtu 9000\ninterface Ethernet7\n")
            self.assertEqual(list(config["port"]), [*ports, "Ethernet7"] if "Ethernet4000" not in ports else ["Ethernet7", *ports], words)
        self.refused("interface Ethernet1,Port-Channel2\n", "several kinds", name="switch.cfg", options=["--from", "eos"])
        self.refused("interface Ethernet10000\n", "not a range of interfaces", name="switch.cfg", options=["--from", "eos"])

    def test_what_a_bundle_says_holds_for_its_members(self):
        bundle = "interface Po1151\n   mtu 8000\n   ip address 10.0.0.1/24\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n   tx-queue 3\n      no priority\n"
        for own, mtu, pfc in (("channel-group 1151 mode active", 8000, [3]), ("channel-group 1151 mode active\n   mtu 9000", 9000, [3]), ("no channel-group\n", 9214, []), ("channel-group 7", 9214, [])):
            _, config, account = self.read(bundle + EOS_PORT.format(own))
            self.assertEqual((self.value(config, "Ethernet1", "mtu"), self.value(config, "Ethernet1", "pfc")), (mtu, pfc), own)
            self.assertNotIn("10.0.0.1/24", self.value(config, "Ethernet1", "address"))
            self.assertEqual(self.value(config, "Ethernet1", "queue", "3", "scheduler"), "dwrr" if pfc else "strict")
            self.says(account, "Port-Channel" if "Port-" in bundle else "interface Po1151", "taken", "for its members")

    def test_a_bundle_lies_above_a_profile(self):
        _, config, _ = self.read("qos profile P\n   qos trust cos\n   shape rate 10 gbps\ninterface Port-Channel1\n   qos trust dscp\n" + EOS_PORT.format("channel-group 1 mode on\n   service-profile P"))
        self.assertEqual((self.value(config, "Ethernet1", "trust"), self.value(config, "Ethernet1", "shaper")), (None, "10G"))

    def test_the_last_of_a_kind_holds_and_no_other_is_told_as_replaced(self):
        _, config, account = self.read("interface Ethernet1-2\n   mtu 9000\ninterface Ethernet1\n   mtu 8000\n   mtu 7000\n")
        self.assertEqual([self.value(config, port, "mtu") for port in ("Ethernet1", "Ethernet2")], [7000, 9000])
        self.says(account, ":4:4: ", "no counterpart: line 5 says another")
        self.never_says(account, ":2:4: ", "says another")
        _, config, account = self.body("mtu 9000\ndefault mtu\nmtux 8000\nspeedy 25g")
        self.assertEqual(self.value(config, "Ethernet1", "mtu"), 9214)
        self.says(account, ": interface: mtux: no counterpart")

    def test_defaults_that_are_printed_are_taken(self):
        """As `show running-config all` has them."""
        lines = ("no channel-group", "no shape rate", "no priority-flow-control", "priority-flow-control pause watchdog", "no priority-flow-control priority 3",
                 "no priority-flow-control pause watchdog port action", "no priority-flow-control pause watchdog port timer", "default qos trust")
        queue = ("no bandwidth percent", "no bandwidth guaranteed", "no shape rate", "no random-detect ecn", "no random-detect drop", "no random-detect ecn minimum-threshold", "default latency maximum")
        _, config, account = self.body("\n".join(lines) + "\ntx-queue 3\n" + textwrap.indent("\n".join(queue), "   "))
        for line in lines + queue:
            self.says(account, f".{line}: taken: ")
        self.assertEqual((self.value(config, "Ethernet1", "pfc"), self.value(config, "Ethernet1", "watchdog", "action")), ([], "off"))

    def test_a_port_that_is_left_out_takes_its_lines_along(self):
        _, config, account = self.read("interface Ethernet1\n   speed 100full\n   mtu 9000\n   qos trust dscp\ninterface Ethernet2\n", status=IN_PART)
        self.assertEqual(list(config["port"]), ["Ethernet2"])
        self.says(account, ":2:4: ", ": left out: 100 Mb/s is not a speed of a port")
        for line in (3, 4):
            self.says(account, f":{line}:4: interface: no counterpart: of a port that is left out")


class Links(Statements):
    def test_speeds_and_mtus(self):
        for line, source, key, wanted in (
                ("speed forced 25gfull", "eos", "speed", "25G"), ("speed auto 10gfull", "eos", "speed", "10G"), ("speed 100g-4", "eos", "speed", None), ("speed auto-negotiate", "nxos", "speed", None),
                ("speed 10000", "nxos", "speed", "10G"), ("speed auto", "eos", "speed", None), ("no speed", "eos", "speed", None), ("mtu 65535", "eos", "mtu", 9216), ("no mtu", "nxos", "mtu", 1500),
                ("no switchport", "eos", "mtu", 1500), ("ip address 10.0.0.1/31", "eos", "mtu", 1500), ("switchport mode trunk", "eos", "mtu", 9214), ("no shutdown", "eos", "event", None)):
            _, config, account = self.body(line, source)
            name = "Ethernet1" if source == "eos" else "Ethernet1_1"
            self.assertEqual(self.value(config, name, key) if key != "event" else config.get("event"), wanted, line)
            if line == "mtu 65535":
                self.says(account, "mtu 65535: assumed: port.Ethernet1.mtu = 9216: the most that Sluice takes")
        for mtu in ("10", "65536"):
            self.refused(EOS_PORT.format("mtu " + mtu), "is not a number from", name="switch.cfg", options=["--from", "eos"])
        _, config, _ = self.read("interface defaults\n   mtu 8000\ninterface Ethernet1-2\n   no switchport\ninterface Ethernet2\n   mtu 9000\n")
        self.assertEqual([self.value(config, port, "mtu") for port in ("Ethernet1", "Ethernet2")], [8000, 9000])

    def test_addresses(self):
        for lines, source, wanted, told in (
                ("ip address 10.0.0.1 255.255.255.254", "nxos", ["10.0.0.1/31"], "taken"), ("ip address 10.0.0.1 128.0.0.0", "nxos", ["10.0.0.1/1"], "taken"),
                ("ip address virtual 10.0.0.1/24", "eos", None, "several switches share"), ("ip address dhcp", "eos", None, "not in the file"), ("no ip address", "eos", None, "no address of this kind"),
                ("vrf A\nip address 10.0.0.1/24", "eos", None, "of VRF A: Sluice has one table"), ("vrf member A\nip address 10.0.0.1/24", "nxos", None, "of VRF A"), ("vrf forwarding A\nip address 10.0.0.1/24", "eos", None, "of VRF A"),
                ("vrf default\nip address 10.0.0.1/24", "eos", ["10.0.0.1/24"], "the one table of routes"), ("no vrf A\nip address 10.0.0.1/24", "eos", ["10.0.0.1/24"], "the one table of routes"),
                ("ipv6 address fe80::1/64", "eos", None, "no link-local"), ("ip address 10.0.0.1/24\nip address 10.0.1.1/24 secondary", "eos", ["10.0.0.1/24", "10.0.1.1/24"], "taken"),
                ("ipv6 address 2001:db8::1/64\nipv6 address 2001:db8:1::1/64", "eos", ["2001:db8:1::1/64", "2001:db8::1/64"], "taken"), ("ip address 10.0.0.1/24\nip address 10.0.1.1/24", "eos", ["10.0.1.1/24"], "line 3 says another")):
            _, config, account = self.body(lines, source)
            address = self.value(config, "Ethernet1" if source == "eos" else "Ethernet1_1", "address")
            self.assertEqual(address if wanted else [own for own in address if not own.startswith("100.64.")], wanted or [], lines)
            self.says(account, told)
        self.refused(NXOS_PORT.format("ip address 10.0.0.1 255.0.255.0"), "10.0.0.1/255.0.255.0", name="switch.cfg", options=["--from", "nxos"])

    def test_two_ports_of_one_subnet(self):
        for first, second in (("10.0.0.1/24", "10.0.0.2/16"), ("10.0.0.1/16", "10.0.0.2/24")):
            _, config, account = self.read(f"interface Ethernet1\n   ip address {first}\ninterface Ethernet2\n   ip address {second}\n", status=IN_PART)
            self.says(account, ":4:4: ", "left out: port Ethernet1 has the subnet of " + second)

    def test_routes(self):
        ports = "interface Ethernet1\n   ip address 10.0.0.1/24\ninterface Ethernet2\n   ip address 10.0.1.1/24\n"
        for lines, wanted in (
                (["ip route 192.0.2.0 255.255.255.0 10.0.0.2"], [("192.0.2.0/24", ["10.0.0.2"])]), (["ip route 192.0.2.0/24 Ethernet 1 10.0.0.2"], [("192.0.2.0/24", ["10.0.0.2"])]),
                (["ip route 192.0.2.0/24 10.0.0.2", "ip route 192.0.2.0/24 10.0.1.2"], [("192.0.2.0/24", ["10.0.0.2", "10.0.1.2"])]),
                (["ip route 192.0.2.0/24 10.0.0.2 200", "ip route 192.0.2.0/24 10.0.1.2 tag 5 name 7 100"], [("192.0.2.0/24", ["10.0.1.2"])]),
                (["ip route 192.0.2.0/24 10.0.0.2", "ip route 192.0.2.0/24 10.0.0.2 tag 7"], [("192.0.2.0/24", ["10.0.0.2"])]),
                (["ip route 192.0.2.0/24 Null0"], [("192.0.2.0/24", "blackhole")]), (["ip route 192.0.2.0/24 Null0", "ip route 192.0.2.0/24 10.0.0.2"], [("192.0.2.0/24", ["10.0.0.2"])]),
                (["ip route vrf default 192.0.2.0/24 10.0.0.2"], [("192.0.2.0/24", ["10.0.0.2"])]), (["ip route vrf A 192.0.2.0/24 10.0.0.2"], []), (["ip route static bfd Ethernet1 10.0.0.2"], []),
                (["ip route 192.0.2.0/24 Ethernet1"], []), (["ip route 192.0.2.0/24 Vlan7 10.0.0.2"], []), (["ip route 192.0.2.0/24 egress-vrf A 10.0.0.2"], []),
                (["ip route 192.0.2.1/24 10.0.0.2 track T"], [("192.0.2.0/24", ["10.0.0.2"])])):
            _, config, account = self.read(ports + "\n".join(lines) + "\n")
            self.assertEqual([(route["prefix"], [hop if isinstance(hop, str) else hop["address"] for hop in route["via"]] if route["via"] != "blackhole" else "blackhole") for route in config.get("route", [])],
                             wanted, lines)
            for line in range(5, 5 + len(lines)):
                self.says(account, f":{line}:1: ")
        self.says(account, "assumed: without its track")
        _, config, account = self.read(ports + "ip route 192.0.2.0/24 10.0.1.1\n", status=IN_PART)
        self.says(account, "left out: its next hop is the address of port Ethernet2")
        self.refused(ports + "ip route 192.0.2.0/24\n", "has no next hop", name="switch.cfg", options=["--from", "eos"])


class Units(Statements):
    def test_rates(self):
        for words, wanted in (("50 percent", "50G"), ("200000 kbps", "200M"), ("10 gbps", "10G"), ("2500 mbps", "2500M"), ("8000000 bps", "8M"), ("1000000", "1G"), ("100 percent", "100G"), ("5000 pps", None)):
            _, config, account = self.body("shape rate " + words)
            self.assertEqual(self.value(config, "Ethernet1", "shaper"), wanted, words)
            if not wanted:
                self.says(account, "no counterpart: Sluice's rates are in bits a second")
        _, config, _ = self.body("tx-queue 2\n   bandwidth guaranteed percent 10\n   shape rate 40 percent")
        self.assertEqual([self.value(config, "Ethernet1", "queue", "2", key) for key in ("min_rate", "max_rate")], ["10G", "40G"])
        for words in ("101 percent", "1001 gbps"):
            self.refused(EOS_PORT.format("shape rate " + words), "shape rate", name="switch.cfg", options=["--from", "eos"])

    def test_thresholds_beyond_what_a_number_has(self):
        text = EOS_PORT.format("tx-queue 3\n      random-detect ecn minimum-threshold 1 kbytes maximum-threshold {} kbytes")
        self.refused(text.format(1 << 40), "is more than 1099511627776 bytes", name="switch.cfg", options=["--from", "eos"])
        self.refused(text.format((1 << 40) + 1), "is not a threshold from 0 to", name="switch.cfg", options=["--from", "eos"])

    def test_names_that_are_made(self):
        curve = "   random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes{}\n"
        _, config, _ = self.body("tx-queue 3\n" + curve.format("") + "tx-queue 4\n" + curve.format("") + "tx-queue 5\n" + curve.format(" weight 3"))
        self.assertEqual([self.value(config, "Ethernet1", "queue", str(n), "wred") for n in (3, 4, 5)], ["ecn-150KB-1500KB", "ecn-150KB-1500KB", "ecn-150KB-1500KB-2"])
        self.assertEqual(config["wred"]["ecn-150KB-1500KB-2"]["weight"], 3)
        policy = "policy-map type quality-of-service {0}\n   class class-default\n      set traffic-class {1}\n"
        long = "A" * 40
        port = "interface Ethernet{0}\n   service-policy type qos input {1}\n"
        _, config, _ = self.read("".join(policy.format(name, n) for n, name in enumerate(("A/B", "A:B", long))) + port.format(1, "A/B") + port.format(2, "A:B") + port.format(3, long) + port.format(4, "A:B"))
        self.assertEqual([self.value(config, f"Ethernet{n}", "map") for n in (1, 2, 3, 4)], ["A_B", "A_B-2", "A" * 28, "A_B-2"])


class Classes(Statements):
    def policy(self, classes, *actions, source="eos"):
        kind, action, port = ("quality-of-service", "traffic-class", EOS_PORT) if source == "eos" else ("qos", "qos-group", NXOS_PORT)
        return self.read(classes + f"policy-map type {kind} P\n" + "".join(f"   class {name}\n      set {action} {n}\n" for name, n in actions) + port.format("service-policy type qos input P"), source)

    def test_what_packets_a_class_has(self):
        one = "class-map type qos {} R\n   match {}\n"
        for match, dscps in (("dscp ef", [46]), ("dscp af11 af43 cs6", [10, 38, 48]), ("ip dscp 26-28", [26, 27, 28]), ("ipv6 dscp 1,3", [1, 3]), ("ipv4 dscp 5", [5]), ("precedence 3", list(range(24, 32))), ("ip precedence 0,7", [*range(8), *range(56, 64)]), ("cos 3", [])):
            _, config, account = self.policy(one.format("match-any", match), ("class-default", 0), ("R", 5))  # the first that matches
            self.assertNotIn(5, self.dscps(config))
            _, config, account = self.policy(one.format("match-any", match), ("R", 5), ("class-default", 0))
            self.assertEqual([n for n, tc in enumerate(self.dscps(config)) if tc == 5], dscps, match)
            self.assertEqual([n for n, tc in enumerate(self.dscps(config, kind="pcp_to_tc")) if tc == 5], [] if dscps else [3])
            self.assertEqual(self.value(config, "Ethernet1", "trust"), None if dscps else "pcp")
        for match in ("dscp 64", "dscp af44", "dscp af51", "dscp 9-8", "cos 8", "precedence 8", "dscp"):
            self.refused(one.format("match-any", match) + "interface Ethernet1\n", "is not a list of", name="switch.cfg", options=["--from", "eos"])

    def test_the_first_class_that_matches_has_the_packet(self):
        both = "class-map type qos match-any A\n   match dscp 26-27\n   match cos 3\nclass-map type qos match-any B\n   match dscp 27-28\n   match cos 3-4\n"
        for source, port in (("eos", "Ethernet1"), ("nxos", "Ethernet1_1")):
            _, config, account = self.policy(both, ("A", 5), ("B", 6), source=source)
            self.assertEqual(self.dscps(config, port)[26:29], [5, 5, 6])
            self.assertEqual(self.dscps(config, port, "pcp_to_tc")[3:5], [5, 6])
            self.assertEqual(self.value(config, port, "trust"), None)
            self.says(account, 'assumed: trust = "dscp": a packet\'s PCP counts where it has no DSCP')
            self.never_says(account, "one more way to match")
        all_of = both.replace("match-any", "match-all")
        _, _, account = self.policy(all_of + all_of, ("A", 5), ("B", 5))  # a paste has it twice
        self.assertEqual(sum("one more way to match" in line for line in account), 2)
        for line in (1, 4, 7, 10):
            self.says(account, f":{line}:1: ", "taken: packets of class 5")

    def test_classes_and_policies_of_other_types_are_others(self):
        other = "class-map type control-plane match-any R\n  match dscp 1\nclass-map type qos match-any R\n  match dscp 26\n"
        copp = "policy-map type control-plane P\n  class R\n    set qos-group 7\n"
        _, config, account = self.policy(other + copp, ("type qos R", 3), source="nxos")
        self.assertEqual([n for n, tc in enumerate(self.dscps(config, "Ethernet1_1")) if tc], [26])
        self.says(account, ": class-map control-plane: no counterpart")
        self.says(account, ": policy-map control-plane: no counterpart")

    def test_a_policy_that_says_nothing_of_all_packets_leaves_trust_alone(self):
        _, config, _ = self.policy("", ("class-default", 2))
        self.assertEqual(self.value(config, "Ethernet1", "trust"), None)
        _, config, _ = self.read("policy-map type quality-of-service P\n   class class-default\n      set traffic-class 2\n" + EOS_PORT.format("switchport mode trunk\n   service-policy type qos input P"))
        self.assertEqual(self.value(config, "Ethernet1", "trust"), "pcp")


class Text(Statements):
    """What is read over, and where bodies begin and end."""

    def same(self, text, wanted=("Ethernet1",), mtu=9000):
        _, config, _ = self.read(text)
        self.assertEqual((list(config["port"]), self.value(config, "Ethernet1", "mtu")), (list(wanted), mtu), text)

    def test_what_is_read_over(self):
        port = "interface Ethernet1\n   mtu 9000\n"
        for text in ("leaf-1>show version\ninterface Ethernet9\nleaf-1#show running-config\n" + port, "leaf-1(config)#show run interface Et1\n" + port, "% Incomplete command\n# a comment\n/* x\n// y\n! z\n" + port,
                     "certificate x\n 308201AB 0123\n quit\n" + port, "certificate x\n 308201AB\n" + port, "banner motd #one#\n" + port + "#\n", "banner login ^C\ninterface Ethernet9\n^C\n" + port,
                     port + "management ssh\n   comment\n   interface Ethernet9\n   EOF\n", "event-handler A\n   action bash echo one\n" + port + "event-handler B\n   action bash\n      interface Ethernet8\n      EOF\n",
                     "code unit X\ninterface Ethernet9\nEOF\n" + port, "interface Ethernet1\n\tmtu 9000\n", "interface Ethernet1\n        description a\n\tmtu 9000\n", "interface Ethernet1\n   mtu 8000\n   mtu \\\n 9000\n",
                     "interface Ethernet1\n   mtu 9000 !! of all\n", "interface Ethernet1\nmtu 9000\nend\nmtu 7000\n", "interface Ethernet1\nmtu 9000\n!\nmtu 7000\n", "interface Ethernet1\nmtu 9000\nexit\nmtu 7000\n",
                     "leaf(config)#interface Ethernet1\nleaf(config-if-Et1)#mtu 9000\nleaf(config)#mtu 7000\n", "interface Ethernet1\n   mtu 9000\n  exit\nmtu 7000\n", "interface Ethernet1\n shutdown\n   mtu 9000\n", "interface Ethernet1\n mtu 9000\n   bandwidth 10\n  mtux\n", "interface Ethernet1\n   evpn ethernet-segment\n      identifier 1\n   mtu 9000\n",
                     "interface Ethernet1\n   tx-queue 3\n      no priority\n   mtu 9000\n", "interface Ethernet1\n   tx-queue 3\n   mtu 9000\n", "interface Ethernet1\ntx-queue 3\nno priority\nexit\nmtu 9000\n"):
            with self.subTest(text):
                self.same(text)
        _, config, _ = self.read("interface Ethernet1\n        tx-queue 3\n\t  no priority\n")  # a tab goes up to eight columns
        self.assertEqual(self.value(config, "Ethernet1", "queue", "3", "scheduler"), "dwrr")
        _, _, account = self.read("interface Ethernet1\n mtu 9000\n   bandwidth 10\n")
        self.says(account, ":3:4: interface: bandwidth: no counterpart")
        _, config, _ = self.read("interface Ethernet1\n   tx-queue 3\n      no priority\n   !\n   tx-queue 4\n      bandwidth percent 5\ntx-queue 5\n")
        self.assertEqual([self.value(config, "Ethernet1", "queue", str(n), "scheduler") for n in (3, 4)], ["dwrr", "strict"])

    def test_a_file_without_ports_has_a_fate_for_each_line(self):
        text = "system qos\n  service-policy type queuing output O\n  no service-policy type qos input P\nsnmp-server a\n"
        _, config, account = self.read(text, "nxos", status=importer.REFUSED)
        self.says(account, ": wrong: has no ports")
        self.says(account, ":2:3: system qos: no counterpart: no port goes by it")
        self.says(account, ":3:3: ", "taken: NX-OS's default")
        self.says(account, ":4:1: snmp-server: no counterpart")

    def test_places_are_those_of_the_words(self):
        _, _, account = self.read("leaf(config-if-Et1)# interface Ethernet1\n\t mtu \\\n   9000\n")
        self.says(account, "switch.cfg:1:22: interface Ethernet1: taken")
        self.says(account, "switch.cfg:2:3: interface Ethernet1.mtu 9000: taken")


if __name__ == "__main__":
    importer.main()
