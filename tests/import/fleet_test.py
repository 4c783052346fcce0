#!/usr/bin/python3
"""sluice-import --fleet: link partners, what their ends disagree about, ports alike, and what cannot be read or paired."""

import json

import importer
from importer import DONE, IN_PART, REFUSED, Case, Programs, run

ERROR = 4
LEAF = ("hostname leaf\nqos profile R\n   qos trust dscp\n   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n   uc-tx-queue 3\n      no priority\n"
        "      bandwidth percent 50\n      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes\n"
        "interface Ethernet1/1\n   description to {}\n   speed 100g\n   mtu 9000\n   no switchport\n   service-profile R\n"
        "priority-flow-control pause watchdog default timeout 0.2\n")
SPINE = ("feature lldp\nclass-map type qos match-all R\n  match dscp 24-31\npolicy-map type qos P\n  class R\n    set qos-group 3\n"
         "policy-map type network-qos N\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
         "system qos\n  service-policy type network-qos N\ninterface Ethernet1/1-4\n  speed 100000\n  mtu 9000\n  no switchport\n  priority-flow-control mode on\n"
         "  service-policy type qos input P\n")


def sonic(neighbor, port="Ethernet1/2", xoff=None, cable="5m", dscp=range(24, 32), **own):
    entry = {"speed": "100000", "mtu": "9000", **own}
    profile = {"pool": "in", "size": "0", "dynamic_th": "0", **({"xoff": str(xoff)} if xoff else {})}
    return {"DEVICE_METADATA": {"localhost": {"hostname": "tor", "type": "ToRRouter"}}, "PORT": {"Ethernet0": entry, "Ethernet4": {"speed": "100000", "mtu": "9000"}},
            "CABLE_LENGTH": {"AZURE": {"Ethernet0": cable, "Ethernet4": "5m"}},
            "DSCP_TO_TC_MAP": {"M": {str(n): "3" for n in dscp}},
            "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3", "dscp_to_tc_map": "M"}, "Ethernet4": {"pfc_enable": "", "dscp_to_tc_map": "M"}},
            "BUFFER_POOL": {"in": {"type": "ingress", "mode": "dynamic", "size": "10000000"}},
            "BUFFER_PROFILE": {"p": profile}, "BUFFER_PG": {"Ethernet0|3": {"profile": "p" if xoff else "NULL"}},
            "DEVICE_NEIGHBOR": {"Ethernet0": {"name": neighbor, "port": port}}}


class Fleet(Case):
    def fleet(self, files, *options, links=None, status=DONE):
        """(what it says, the JSON) of files by name."""
        folder = self.folder / "fleet"
        folder.mkdir(exist_ok=True)
        for known in folder.iterdir():
            known.unlink()
        for name, content in files.items():
            (folder / name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        if links is not None:
            options += ("--links", self.file(links, "cables.csv"))
        done = run(Programs.importer, "--fleet", folder, "--json", self.folder / "fleet.json", *options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("internal error", done.stderr)
        return done.stdout, json.loads((self.folder / "fleet.json").read_text())

    def errors(self, said, aspect):
        return [each for each in said["findings"] if each["severity"] == "error" and each["aspect"] == aspect]

    def pair(self, leaf=LEAF.format("spine1 Eth1/1"), spine=SPINE, **more):
        return self.fleet({"leaf1.cfg": leaf, "spine1.cfg": spine}, **more)

    def test_ends_that_agree_are_no_finding(self):
        text, said = self.pair(leaf=LEAF.format("spine1 Eth1/1") + "qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 3\n")
        self.assertIn("2 devices, 1 link: no error, ", text)
        self.assertEqual([(link["a"]["device"], link["a"]["port"], link["b"]["port"], link["by"]) for link in said["links"]], [("leaf1", "Ethernet1_1", "Ethernet1_1", "description")])
        self.assertEqual({device["maker"] for device in said["devices"]}, {"Arista EOS", "Cisco NX-OS"})

    def test_what_the_ends_disagree_about_is_told_with_both_places_and_the_consequence(self):
        for change, aspect, words in (
                (lambda leaf, spine: (leaf, spine.replace("pfc-cos 3", "pfc-cos 4")), "pfc", "leaf1 sends class 3 as lossless to a port that drops it"),
                (lambda leaf, spine: (leaf.replace("   priority-flow-control on\n", ""), spine), "pfc", "spine1 sends class 3 as lossless to a port that drops it"),
                (lambda leaf, spine: (leaf.replace("100g", "400g-8"), spine), "speed", "the link stays down: leaf1 is at 400G and spine1 at 100G"),
                (lambda leaf, spine: (leaf.replace("mtu 9000", "mtu 9214"), spine), "mtu", "leaf1 sends packets of up to 9214 bytes, and spine1 drops those above 9000"),
                (lambda leaf, spine: (leaf.replace("   mtu 9000\n", ""), spine), "mtu", "spine1 sends packets of up to 9000 bytes, and leaf1 drops those above 1500"),
                (lambda leaf, spine: (leaf, spine.replace("24-31", "26")), "dscp", "DSCP 24 to 25 and 27 to 31 is in lossless class 3 on leaf1 and lossy on spine1"),
                (lambda leaf, spine: (leaf.replace("trust dscp", "trust cos"), spine), "dscp", "leaf1 tells lossless packets by PCP, and spine1 by DSCP")):
            with self.subTest(words):
                leaf, spine = change(LEAF.format("spine1 Ethernet1/1"), SPINE)
                text, said = self.pair(leaf, spine, status=ERROR)
                found = [each for each in self.errors(said, aspect) if words in each["consequence"]]
                self.assertEqual(len(found), 1, text)
                for end in "ab":
                    self.assertGreater(found[0][end]["line"], 0)
                    self.assertIn(f'{found[0][end]["file"]}:{found[0][end]["line"]}:{found[0][end]["column"]}', text)
                self.assertTrue(text.splitlines()[1].startswith("error: "), text)
        place = self.errors(self.pair(LEAF.format("spine1 Eth1/1").replace("9000", "9214"), status=ERROR)[1], "mtu")[0]["a"]
        self.assertEqual((place["line"], place["column"]), (LEAF.split("\n").index("   mtu 9000") + 1, 4))

    def test_a_speed_or_mtu_that_is_left_to_the_link_is_no_error(self):
        for line in ("   speed 100g\n",):
            _, said = self.pair(LEAF.format("spine1 Eth1/1").replace(line, ""), SPINE.replace("speed 100000", "speed 25000"))
            self.assertEqual(self.errors(said, "speed"), [])
        _, said = self.pair(LEAF.format("spine1 Eth1/1").replace("   mtu 9000\n   no switchport\n", ""), SPINE)
        self.assertEqual(self.errors(said, "mtu"), [])

    def test_headroom_against_the_longer_cable_of_both_ends(self):
        near, far = sonic("spine1", xoff=250000), "device,port,device,port,cable\ntor,Ethernet0,spine1,Ethernet1/2,{}\n"
        for cable, is_short in (("5m", False), ("500m", True)):
            text, said = self.fleet({"tor.json": near, "spine1.cfg": SPINE}, links=far.format(cable), status=ERROR if is_short else DONE)
            found = self.errors(said, "headroom")
            self.assertEqual(bool(found), is_short, text)
            if found:
                self.assertIn("tor loses packets of class 3 over 500m of cable: its headroom is ", found[0]["consequence"])
        _, said = self.fleet({"tor.json": sonic("tor2", "Ethernet0", xoff=250000), "tor2.json": sonic("tor", "Ethernet0", xoff=2000000, cable="500m")}, status=ERROR)
        self.assertEqual([each["a"]["device"] for each in self.errors(said, "headroom")], ["tor"])

    def test_pairs_come_from_the_list_then_from_neighbors_then_from_descriptions(self):
        files = {"tor.json": sonic("spine1"), "leaf1.cfg": LEAF.format("spine1 Eth1/1"), "spine1.cfg": SPINE}
        by = lambda said: {(link["a"]["device"], link["by"].split("/")[-1]) for link in said["links"]}  # noqa: E731
        _, said = self.fleet(files)
        self.assertEqual(by(said), {("tor", "DEVICE_NEIGHBOR"), ("leaf1", "description")})
        _, said = self.fleet(files, links="device_a,port_a,device_b,port_b\ntor,Ethernet4,spine1,Ethernet1/1\n", status=ERROR)
        self.assertIn(("tor", "cables.csv:2"), by(said))
        self.assertNotIn(("leaf1", "description"), by(said))

    def test_what_is_not_paired_is_listed_and_never_guessed(self):
        for description, words in (("spine1", "names spine1, and none of its ports"), ("spine1 Eth1/1 Eth1/2", "names 2 ports of spine1"), ("leaf1 spine1 Eth1/1", "names 2 devices"),
                                   ("spine10 Eth1/1", "nothing says its other end"), ("spine1 Eth1/11", "names spine1, and none of its ports"), ("nobody", "nothing says its other end")):
            text, said = self.pair(LEAF.format(description))
            self.assertEqual(said["links"], [], description)
            self.assertIn(words, text)
            self.assertTrue(any(words in each["what"] and each["line"] > 0 for each in said["unpaired"]), said["unpaired"])
        text, said = self.fleet({"leaf1.cfg": LEAF.format("spine1 Eth1/1"), "leaf2.cfg": LEAF.format("spine1 Eth1/1"), "spine1.cfg": SPINE})
        self.assertEqual(said["links"], [])
        self.assertIn("spine1 Ethernet1_1 has two other ends", text)
        _, said = self.fleet({"tor.json": sonic("gone")})
        self.assertIn('its neighbor is "gone", and no file is of it', said["unpaired"][0]["what"])
        for row, words in (("tor,Ethernet9,tor,Ethernet0", "has no port"), ("who,Ethernet9,tor,Ethernet0", "no file is of device"), ("tor,Ethernet0,tor,Ethernet0", "is at both ends")):
            text, _ = self.fleet({"tor.json": sonic("gone")}, links="device,port,device,port\n" + row + "\n")
            self.assertIn(words, text)

    def test_ports_of_one_speed_and_role_are_alike(self):
        odd = LEAF.format("none").replace("150 kbytes", "200 kbytes").replace("timeout 0.2", "timeout 0.4").replace("percent 50", "percent 40")
        text, said = self.fleet({"leaf1.cfg": LEAF.format("none"), "leaf2.cfg": LEAF.format("none"), "leaf3.cfg": odd, "spine1.cfg": odd})
        warnings = {each["aspect"]: each for each in said["findings"]}
        self.assertEqual(set(warnings), {"watchdog", "ecn", "scheduler"}, text)
        for each in warnings.values():
            self.assertEqual((each["severity"], each["a"]["device"]), ("warning", "leaf3"))
        self.assertIn("class 3 from 200KB to 1500KB at 100%; 2 of role \"leaf\" at 100G have class 3 from 150KB", warnings["ecn"]["consequence"])

    def test_words_of_a_description(self):
        for description, port in (("spine1 Ethernet1/1", 1), ("P2P_spine1_Ethernet1/2", 2), ("spine1-Et1/1", 1), ("spine1:Eth1/2", 2), ("to spine1, et1/1.", 1), ("spine1 ethernet1/1", 1), ("spine1 eth1/2", 2), ("spine1 Ethernet1_1", 1),
                                  ("up ! spine1 Eth1/1", 1), ("leaf10 leaf1x spine1 Eth1/1", 1), ("spine10 spine1 Eth1/1", 1), ("spine1 Eth1/10 Eth1/1", 1)):
            _, said = self.pair(LEAF.format(description))
            self.assertEqual([(link["b"]["device"], link["b"]["port"]) for link in said["links"]], [("spine1", f"Ethernet1_{port}")], description)
        for description in ("xspine1 Eth1/1", "spine1x Eth1/1", "spine1 Eth1/1/2", "spine1 xEth1/1", "spine1 Po1"):
            self.assertEqual(self.pair(LEAF.format(description))[1]["links"], [], description)
        _, said = self.fleet({"dc1-leaf1.cfg": LEAF.format("none"), "leaf1.cfg": LEAF.format("none"), "spine1.cfg": SPINE.replace("  mtu 9000", "  description dc1-leaf1 Eth1/1\n  mtu 9000", 1).replace("1/1-4", "1/1")})
        self.assertEqual([(link["a"]["device"], link["b"]["device"]) for link in said["links"]], [("spine1", "dc1-leaf1")])

    def test_a_link_that_both_ends_name_is_one(self):
        text, said = self.pair(LEAF.format("spine1 Eth1/1"), SPINE.replace("Ethernet1/1-4\n", "Ethernet1/1\n  description leaf1 Eth1/1\n"))
        self.assertEqual((len(said["links"]), said["unpaired"]), (1, []), text)
        _, said = self.fleet({"tor.json": sonic("tor2", "Ethernet0"), "tor2.json": sonic("tor", "Ethernet0")})
        self.assertEqual([(link["a"]["device"], link["b"]["device"], link["by"]) for link in said["links"]], [("tor", "tor2", "DEVICE_NEIGHBOR")])
        self.assertEqual(sorted(each["what"] for each in said["unpaired"]), ["Ethernet4: nothing says its other end"] * 2)
        _, said = self.fleet({"tor.json": sonic("tor2", "Ethernet9"), "tor2.json": sonic("gone")})
        self.assertIn('Ethernet0: its neighbor tor2 has no port "Ethernet9"', [each["what"] for each in said["unpaired"]])
        self.assertEqual(sum("Ethernet0" in each["what"] for each in said["unpaired"]), 2)
        text, said = self.fleet({"tor.json": sonic("gone", description="spine1 Eth1/1"), "spine1.cfg": SPINE})  # and then by nothing else
        self.assertEqual(said["links"], [], text)

    def test_neighbors_by_their_names(self):
        for entry in ({"spine1": {"local_port": "Ethernet0", "port": "Ethernet1/2", "type": "LeafRouter"}}, {"Ethernet0": {"name": "spine1", "port": "Eth1/2"}}, {"x": {"name": "spine1", "local_port": "Ethernet0", "port": "Eth1/2"}}):
            _, said = self.fleet({"tor.json": {**sonic("gone"), "DEVICE_NEIGHBOR": entry}, "spine1.cfg": SPINE})
            self.assertEqual([({(link[end]["device"], link[end]["port"]) for end in "ab"}, link["by"]) for link in said["links"]], [({("tor", "Ethernet0"), ("spine1", "Ethernet1_2")}, "DEVICE_NEIGHBOR")])
        for entry in ({"Ethernet0": {"port": "Eth1/2"}}, {"Ethernet9": {"name": "spine1", "port": "Eth1/2"}}, {"spine1": {"local_port": ["Ethernet0"], "port": "Eth1/2"}}):
            self.assertEqual(self.fleet({"tor.json": {**sonic("gone"), "DEVICE_NEIGHBOR": entry}, "spine1.cfg": SPINE})[1]["links"], [])

    def test_a_port_that_the_list_names_goes_by_it_alone(self):
        files = {"tor.json": sonic("spine1", "Ethernet1/1"), "leaf1.cfg": LEAF.format("spine1 Eth1/1"), "spine1.cfg": SPINE}
        text, said = self.fleet(files, links="device,port,device,port,cable\nspine1,Eth1/1,tor,Ethernet4,30m\n", status=ERROR)
        self.assertEqual([(link["a"]["port"], link["b"]["device"], link["b"]["port"], link["cable_m"]) for link in said["links"]], [("Ethernet1_1", "tor", "Ethernet4", 30)], text)
        self.assertNotIn("two other ends", text)
        text, said = self.fleet(files, links="device,port,device,port\nspine1,Eth1/1,tor,Ethernet4\nspine1,Ethernet1/1,leaf1,Eth1/1\nspine1,Eth1/1-2,tor,Ethernet0\n")
        self.assertEqual(said["links"], [])
        self.assertIn("spine1 Ethernet1_1 has two other ends: tor Ethernet4 and leaf1 Ethernet1_1", text)
        self.assertIn('device spine1 has no port "Eth1/1-2"', text)
        place = [each for each in said["unpaired"] if "two other ends" in each["what"]][0]
        self.assertEqual((place["file"].endswith("cables.csv"), place["line"]), (True, 3))

    def test_what_only_one_end_says_is_compared_with_nothing(self):
        leaf, silent = LEAF.format("spine1 Eth1/1"), LEAF.format("none").replace("   mtu 9000\n   no switchport\n", "")
        for aspect, ends in (("speed", (leaf.replace("   speed 100g\n", "").replace("mtu", "speed 25g\n   mtu"), SPINE.replace("  speed 100000\n", ""))), ("speed", (leaf.replace("   speed 100g\n", ""), SPINE.replace("100000", "25000"))),
                             ("mtu", (leaf.replace("   mtu 9000\n   no switchport\n", ""), SPINE)), ("mtu", (SPINE.replace("-4\n", "\n  description spine1 Eth1/1\n"), silent))):
            text, said = self.fleet({"leaf1.cfg": ends[0], "spine1.cfg": ends[1]})
            self.assertEqual(len(said["links"]), 1, text)
            self.assertEqual(self.errors(said, aspect), [], text)

    def test_which_packets_both_ends_take_as_lossless(self):
        every = "qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 3\n"
        leaf, wide = LEAF.format("spine1 Eth1/1"), SPINE.replace("24-31", "24-31,62-63")
        _, said = self.pair(leaf + every + "qos map dscp 62 63 to traffic-class 2\n", wide, status=ERROR)
        self.assertEqual([each["consequence"] for each in self.errors(said, "dscp")], ["DSCP 62 to 63 is lossy on leaf1 and in lossless class 3 on spine1: its packets are dropped where they are lossy"])
        both = leaf.replace("priority 3 no-drop", "priority 3 no-drop\n   priority-flow-control priority 4 no-drop")
        two = SPINE.replace("    pause pfc-cos 3\n", "    pause pfc-cos 3\n  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n").replace("qos-group 3", "qos-group 4")
        _, said = self.pair(both, two, status=ERROR)
        self.assertIn("DSCP 24 to 31 is in lossless class 3 on leaf1 and in lossless class 4 on spine1: its packets are paused by the pauses of another class", [each["consequence"] for each in self.errors(said, "dscp")])
        turned = SPINE.replace("class-map", "class-map type network-qos N\n  match qos-group 1\nclass-map", 1).replace("c-8q-nq3", "N").replace("qos-group 3", "qos-group 1")
        self.assertEqual(self.pair(leaf + every, turned)[1]["findings"], [])
        by_pcp = SPINE.replace("match dscp 24-31", "match cos 4")
        _, said = self.pair(leaf.replace("trust dscp", "trust cos"), by_pcp, status=ERROR)
        self.assertEqual([each["consequence"].split(":")[0] for each in self.errors(said, "dscp")], ["PCP 4 is lossy on leaf1 and in lossless class 3 on spine1", "PCP 3 is in lossless class 3 on leaf1 and lossy on spine1"])
        policy = "class-map type qos match-any R\n   match dscp 26\npolicy-map type quality-of-service P\n   class R\n      set traffic-class 3\n   class class-default\n      set traffic-class 0\n"
        _, said = self.pair(policy + leaf.replace("   speed", "   service-policy type qos input P\n   speed"), SPINE, status=ERROR)
        places = [(each[end]["device"], each[end]["line"]) for each in self.errors(said, "dscp") for end in "ab"]
        self.assertEqual(places, [("leaf1", policy.count("\n") + leaf.split("\n").index("   speed 100g") + 1), ("spine1", SPINE.split("\n").index("  service-policy type qos input P") + 1)])
        off = leaf.replace("priority-flow-control on", "no priority-flow-control")
        self.assertEqual(self.pair(off, SPINE.replace("mode on", "mode off").replace("24-31", "26"))[1]["findings"], [])
        _, said = self.pair(off.replace("trust dscp", "trust cos"), SPINE, status=ERROR)
        self.assertEqual({each["aspect"] for each in said["findings"]}, {"pfc", "dscp"})
        self.assertEqual([(each["a"]["device"], each["b"]["device"]) for each in self.errors(said, "pfc")], [("spine1", "leaf1")])

    def test_headrooms_that_a_file_says(self):
        pauses = SPINE + "  service-policy type queuing input I\npolicy-map type queuing I\n  class type queuing c-in-q3\n    pause buffer-size {} pause-threshold 60000\n"
        leaf = LEAF.format("spine1 Eth1/1") + "qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 3\n"
        for size, cable, is_short in ((400000, None, False), (200000, None, False), (400000, "5m", False), (180000, "5m", True), (400000, "1000m", True)):
            text, said = self.pair(leaf, pauses.format(size), links=f"device,port,device,port,cable\nleaf1,Et1/1,spine1,Et1/1,{cable}\n" if cable else None, status=ERROR if is_short else DONE)
            self.assertEqual([each["a"]["device"] for each in self.errors(said, "headroom")], ["spine1"] if is_short else [], text)
        text, said = self.fleet({"leaf1.cfg": leaf, "spine1.cfg": pauses.format(400000)}, "--cable", "1000m", status=ERROR)
        self.assertEqual([each["a"]["device"] for each in self.errors(said, "headroom")], ["spine1"], text)
        given = int(self.errors(said, "headroom")[0]["consequence"].split("headroom is ")[1].split()[0])
        wanted = int(self.errors(said, "headroom")[0]["consequence"].split("bytes, and ")[1].split()[0])
        self.assertGreaterEqual(given, 340000)
        place = self.errors(said, "headroom")[0]["a"]
        self.assertEqual((place["line"], place["column"]), (pauses.split("\n").index("    pause buffer-size {} pause-threshold 60000") + 1, 5))
        for more, is_short in ((0, False), (-256, True)):  # to the cell
            _, said = self.fleet({"leaf1.cfg": leaf, "spine1.cfg": pauses.format(wanted + 60000 + more)}, "--cable", "1000m", status=ERROR if is_short else DONE)
            self.assertEqual(bool(self.errors(said, "headroom")), is_short)
        _, said = self.fleet({"tor.json": sonic("tor2", "Ethernet0"), "tor2.json": sonic("tor", "Ethernet0", cable="500m")}, status=ERROR)  # which SONiC computes by its own cable
        self.assertEqual([each["a"]["device"] for each in self.errors(said, "headroom")], ["tor"])
        _, said = self.fleet({"tor.json": sonic("tor2", "Ethernet0", xoff=250000, cable="500m"), "tor2.json": sonic("tor", "Ethernet0", xoff=2000000)}, links="device,port,device,port,cable\ntor,Ethernet0,tor2,Ethernet0,5m\n", status=ERROR)
        self.assertEqual([each["a"]["device"] for each in self.errors(said, "headroom")], ["tor"])

    def test_whom_a_port_is_compared_with(self):
        odd = lambda text: text.replace("150 kbytes", "200 kbytes")  # noqa: E731
        leaf = LEAF.format("none")
        for other, same in (("leaf2.cfg", True), ("spine2.cfg", False)):
            _, said = self.fleet({"leaf1.cfg": leaf, other: odd(leaf)})
            self.assertEqual(bool(said["findings"]), same)
        self.assertEqual(self.fleet({"leaf1.cfg": leaf, "leaf2.cfg": odd(leaf).replace("100g", "400g-8")})[1]["findings"], [])
        self.assertEqual(self.fleet({"leaf1.cfg": leaf, "leaf2.cfg": odd(leaf).replace("priority-flow-control on", "no priority-flow-control")})[1]["findings"], [])
        _, said = self.fleet({"leaf1.cfg": leaf, "leaf2.cfg": leaf.replace("pause watchdog default", "pause watchdog default recovery-time 0.4\npriority-flow-control pause watchdog default")})
        self.assertEqual(said["findings"], [])  # as it is where nothing is said
        _, said = self.fleet({"leaf1.cfg": leaf, "leaf2.cfg": leaf.replace("timeout 0.2", "timeout 0"), "leaf3.cfg": leaf.replace("timeout 0.2", "timeout 0").replace("hostname leaf", "priority-flow-control pause watchdog action no-drop")})
        self.assertEqual([(each["aspect"], each["a"]["device"]) for each in said["findings"]], [("watchdog", "leaf1")])
        more = leaf.replace("interface Ethernet1/1\n", "interface Ethernet1/1-2\n")
        text, said = self.fleet({"leaf1.cfg": odd(more), "leaf2.cfg": more, "leaf3.cfg": more})
        self.assertIn("2 ports of leaf1 have class 3 from 200KB", said["findings"][0]["consequence"])
        self.assertIn('4 of role "leaf" at 100G have', said["findings"][0]["consequence"])
        self.assertIn("3 devices, 0 links: no error, 1 warning\n", text)
        queues = leaf + "qos map traffic-class 3 to tx-queue 5\n"
        self.assertIn("class 3 not marked", self.fleet({"leaf1.cfg": leaf, "leaf2.cfg": leaf, "leaf3.cfg": queues})[1]["findings"][0]["consequence"])
        alike = lambda role: {**sonic("gone", xoff=250000), "DEVICE_METADATA": {"localhost": {"type": role}}}  # noqa: E731
        weights = lambda tables: {**tables, "SCHEDULER": {"s": {"type": "DWRR", "weight": "7"}}, "QUEUE": {"Ethernet0|3": {"scheduler": "s"}}}  # noqa: E731
        for roles, same in (("AA", True), ("AB", False)):
            _, said = self.fleet({"a.json": alike(roles[0]), "b.json": weights(alike(roles[1]))})
            self.assertEqual([each["aspect"] for each in said["findings"]], ["scheduler"] if same else [], roles)

    def test_places_of_what_is_not_alike(self):
        queue = "policy-map type queuing O\n  class type queuing c-out-q3\n    bandwidth percent {}\n    random-detect minimum-threshold {} kbytes maximum-threshold 300 kbytes ecn\nsystem qos\n  service-policy type queuing output O\n"
        watch = "  priority-flow-control watch-dog-interval {}\n"
        _, said = self.fleet({f"spine{n}.cfg": SPINE + watch.format(on) + queue.format(share, low) for n, (share, low, on) in enumerate(((40, 100, "on"), (40, 100, "on"), (50, 200, "off")))})
        lines = (SPINE + watch.format("off") + queue.format(50, 200)).split("\n")
        found = {each["aspect"]: (each["a"]["device"], lines[each["a"]["line"] - 1].strip().split()[0]) for each in said["findings"]}
        self.assertEqual(found, {"watchdog": ("spine2", "priority-flow-control"), "ecn": ("spine2", "random-detect"), "scheduler": ("spine2", "bandwidth")})

    def test_files_that_cannot_be_read(self):
        text, said = self.fleet({"leaf1.cfg": LEAF.format("none"), "leaf1.json": sonic("gone"), "notes.txt": "nothing of the kind\n", ".hidden": "x", "wrong.cfg": LEAF.replace("9000", "x")},
                                status=IN_PART)
        self.assertEqual(len(said["unread"]), 3, text)
        self.assertIn("another file is of device leaf1, too", text)
        self.assertTrue(any(each["file"].endswith("wrong.cfg") and each["line"] == 13 for each in said["unread"]), said["unread"])
        self.fleet({"notes.txt": "nothing\n"}, status=REFUSED)
        self.fleet({}, status=REFUSED)

    def test_usage(self):
        self.fleet({"leaf1.cfg": LEAF.format("none")})
        folder = self.folder / "fleet"
        for words, said in (([folder / "leaf1.cfg", "--fleet", folder], "--fleet takes no FILE"), ([], "FILE is missing"), (["--links", "x"], "--links needs --fleet"),
                            (["--fleet", self.folder / "gone"], "cannot be read"), (["--fleet", folder, "--json", folder / "leaf1.cfg"], "would overwrite"),
                            (["--fleet", folder, "--links", self.folder / "gone"], "cannot be read"), (["--fleet", folder, "--links", self.file("a\n", "l.csv")], "there is no column")):
            done = run(Programs.importer, *words)
            self.assertEqual((done.returncode, said in done.stderr), (REFUSED, True), done.stderr)
        self.assertEqual((folder / "leaf1.cfg").read_text(), LEAF.format("none"))


if __name__ == "__main__":
    importer.main()
