#!/usr/bin/python3
"""sluice-import topology: refusals with their place, what of a file becomes what, and that sluice-fabric check takes what is written."""

import tomllib
import unittest

import importer
from importer import DONE, IN_PART, REFUSED, Case, Programs, run

STAR = """3 1 2
2
0 2 100Gbps 1us 0
1 2 100Gbps 1us 0
"""

# SimAI's: the first switch is an NVSwitch.
GPUS = """7 2 1 2 8 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
0 5 400Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 6 400Gbps 0.0005ms 0
2 5 400Gbps 0.0005ms 0
3 6 400Gbps 0.0005ms 0
5 6 400Gbps 0.0005ms 0
6 5 400Gbps 0.0005ms 0
"""

SPINES = (importer.FILES / "two-tiers.topo").read_text()
TREE = """Nodes 8
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 25
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 100
Tier 2
Downlink_speed_Gbps 200
Radix_Down 2
Downlink_Latency_ns 1500
"""
LINKS = """Device A,Port A,Device B,Port B,Speed,Latency,Rack
h1,eth0,leaf1,swp1,100G,25ns,1
h2,eth0,leaf1,swp2,100G,25ns,1
h3,eth0,leaf2,swp1,100G,25ns,2
leaf1,swp9,spine1,swp1,400G,500ns,
leaf2,swp9,spine1,swp2,400G,500ns,
"""


class TopologyCase(Case):
    def topology(self, content, *options, status=DONE, name="topology.txt"):
        """(what it says, the file as TOML); sluice-fabric check takes what is written."""
        self.out.unlink(missing_ok=True)
        done = run(Programs.importer, "topology", self.file(content, name), "-o", self.out, "--account", self.account, *options)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, said)
        self.assertNotIn("internal error", said)
        for line in said.splitlines():
            self.assertLess(len(line), 1000)
        if not self.out.exists():
            return said, {}
        checked = run(Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric", "check", self.out)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return said, tomllib.loads(self.out.read_text())

    def refuses(self, table, name="topology.txt"):
        for content, *words in table:
            with self.subTest(content=content[:200]):
                said, _ = self.topology(content, status=REFUSED, name=name)
                self.assertFalse(self.out.exists())
                for word in words:
                    self.assertIn(word, said)


class Hpcc(TopologyCase):
    def test_broken_files_are_refused_with_place_and_remedy(self):
        self.refuses([
            ("", "topology.txt:1:1: is not a topology", "give htsim's .topo, or HPCC's topology, or a CSV"),
            ("<graphml/>", "is XML, such as GraphML"),
            ("graph G { a -- b; }", "is a graph in DOT or GML"),
            (b"3 1 2\n\xff\n", "topology.txt:2:1: is not UTF-8"),
            ("160 8 16 H100 8 512\n", "topology.txt:1:1: is not a topology"),
            ("160 8 16 8 512 H100\n", "topology.txt:1:16: switch: the file ends after 0 of 24 switches"),
            ("160 8 99999 8 512 H100\n", "topology.txt:1:7: nvswitches", "0 to 20000"),
            (GPUS.replace("7 2 1 2 8 H100", "7 2 1 1 8 H100"), "topology.txt:2:5: switch: the first line counts 2 of them"),
            ("1 2 3 4 5\n", "topology.txt:1:1: the first line has 5 words", "write these three"),
            ("99999999999 1 2\n", "topology.txt:1:1: nodes", "1 to 20000"),
            ("3 1 99999999\n", "topology.txt:1:5: links", "1 to 65536"),
            ("3 1 0\n2\n", "topology.txt:1:5: links"),
            ("3 2 2\n2\n", "topology.txt:2:1: switch: the file ends after 1 of 2 switches"),
            ("3 1 2\n1 2\n", "topology.txt:2:3: switch: the first line counts 1 of them"),
            (STAR.replace("3 1 2", "3 1 3"), "topology.txt:4:1: link: the file ends after 2 of 3 links", "write 2 in the first line"),
            (STAR.replace(" 1us 0\n1", " 1us\n1"), "topology.txt:3:1: link.0: the line has 4 words", "a link has five"),
        ])

    def test_wrong_values_are_told_all_of_them(self):
        table = [
            (STAR.replace("3 1 2\n2", "3 1 2\n3"), "2:1  switch.0", "not a number from 0 to 2"),
            (STAR.replace("1 2 100", "1 7 100"), "4:3  link.1.b", "not a number from 0 to 2"),
            (STAR.replace("1 2 100", "1 0 100"), "4:1  link.1", "joins two hosts, h1 and h0", "put a switch between"),
            (STAR.replace("1 2 100", "2 2 100"), "4:1  link.1", "its ends are one node, s2"),
            (STAR.replace("1 2 100Gbps", "1 2 43Gbps"), "4:5  link.1.rate", '"43Gbps" is not a speed of a port', "write 1G"),
            (STAR.replace("1 2 100Gbps", "1 2 fast"), "4:5  link.1.rate", '"fast"'),
            (STAR.replace("1us 0\n1", "1 0\n1"), "3:13  link.0.delay", "no unit", "such as 1us"),
            (STAR.replace("1us 0\n1", "9ms 0\n1"), "3:13  link.0.delay", "a cable of not 1m to 100000m", "up to 505us"),
            (STAR.replace("1us 0\n1", "1us 2\n1"), "3:17  link.0.error_rate", "not a rate from 0 to 1"),
            (STAR.replace("1us 0\n1", "1us nan\n1"), "3:17  link.0.error_rate", "not a rate from 0 to 1"),
            ("4 2 3\n2 3\n0 2 1Gbps 1us 0\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "4:1  link.1", "host h0 has links to s2 and to s3", "--force"),
            ("4 1 2\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "1:1  nodes", "host h2 has no link"),
            ("4 2 3\n2 2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n", "2:3  switch.1", "switch 2 comes a second time"),
        ]
        self.refuses(table)
        said, _ = self.topology(STAR.replace("100Gbps", "43Gbps"), status=REFUSED)
        self.assertIn("1G, 2.5G, 5G, 10G, 25G, 40G, 50G, 100G, 200G, 400G or 800G (and 1 more)", said)

    def test_what_the_fabric_refuses_is_not_written_unless_forced(self):
        apart = "4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"
        said, _ = self.topology(apart, status=REFUSED)
        self.assertIn("no host can reach it", said)
        self.assertIn("sluice-fabric check would refuse it", said)

    def test_hosts_keep_their_numbers_and_delays_become_cables(self):
        said, made = self.topology("# of our own\n" + STAR.replace("1us 0\n1", "0.0005ms 0.000000\n1").replace("1 2 100Gbps", "1 2 25000000000.0"))
        self.assertEqual(made, {"node": [{"name": "h0", "kind": "host"}, {"name": "h1", "kind": "host"}, {"name": "s2"}],
                                "link": [{"ends": ["h0", "s2"], "speed": "100G", "cable": "99m"}, {"ends": ["h1", "s2"], "speed": "25G", "cable": "198m"}]})
        self.assertIn("2 hosts, 1 switch, 2 links", said)
        self.assertIn("a delay of 500ns is a cable of 99m", said)
        text = self.out.read_text()
        for words in ("# Made by sluice-import topology from", "a delay of 1us is a cable of 198m", f"sluice-fabric check {self.out}", f"sluice-fabric run {self.out} --out out/sluice", "buffer.size"):
            self.assertIn(words, text)
        with_flow = text + '[[flow]]\nfrom = ["h0"]\nto = "h1"\nmessages = 1\n'
        self.out.write_text(with_flow)
        done = run(Programs.sluiced.parent / "tools" / "fabric" / "sluice-fabric", "run", self.out, "--out", self.folder / "run")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_switches_may_come_first_and_notes_last(self):
        said, made = self.topology("3 1 2\r\n0\r\n0 1 40Gbps 0.001ms 0\r\n0 2 40Gbps 0.001ms 0\r\n\r\nsrc dst rate\r\n")
        self.assertEqual([node["name"] for node in made["node"]], ["h1", "h2", "s0"])
        self.assertEqual(made["link"][0], {"ends": ["s0", "h1"], "speed": "40G", "cable": "198m"})
        self.assertIn("where hosts go by number, h1 is number 0", said)
        self.assertIn("6:1  after: the first line counts 2 links, and nothing is read behind them", said)

    def test_a_count_of_racks_is_no_part_of_a_fabric(self):
        said, made = self.topology("4 2 2 3\n2\n3\n0 2 10Gbps 1ns 0\n1 3 10Gbps 1ns 0\n2 3 10Gbps 1ns 0\n")
        self.assertEqual([link["cable"] for link in made["link"]], ["1m"] * 3)
        self.assertIn("1:5  tors: the links say which", said)

    def test_nvswitches_and_their_links_are_no_part_of_a_fabric(self):
        said, made = self.topology(GPUS)
        self.assertEqual([node["name"] for node in made["node"]], ["h0", "h1", "h2", "h3", "s5", "s6"])
        self.assertEqual([link["ends"] for link in made["link"]],
                         [["h0", "s5"], ["h1", "s6"], ["h2", "s5"], ["h3", "s6"], ["s5", "s6"], ["s6", "s5"]])
        self.assertEqual({link["speed"] for link in made["link"]}, {"400G"})
        for words in ("1:3  gpus_per_server: each GPU is a host with its own port", "1:11  gpu_type: a fabric has no kinds of GPUs",
                      "2:1  switch.0: NVLink within a server is not in the network",
                      "3:1  link.0: NVLink within a server is not in the network (and 1 more)"):
            self.assertIn(words, said)
        # Without NVSwitches the same numbers are HPCC's.
        _, made = self.topology("3 8 0 1 2 A100\n" + STAR.split("\n", 1)[1])
        self.assertEqual(len(made["link"]), 2)
        said, _ = self.topology(GPUS.replace("2 5 400", "0 6 400"), status=REFUSED)
        self.assertIn("7:1  link.4: host h0 has links to s5 and to s6", said)

    def test_error_rates_are_lost_frames_from_the_start(self):
        links = "".join(f"{a} {b} 100Gbps 1us {rate}\n" for a, b, rate in ((0, 2, "1e-5"), (1, 3, 0), (2, 3, 0), (2, 3, "0.001")))
        said, made = self.topology("4 2 4\n2 3\n" + links)
        self.assertEqual(made["event"], [{"at": "0s", "do": "link h0-s2 drop_chance 10ppm"}, {"at": "0s", "do": "link s2-s3-2 drop_chance 1000ppm"}])
        self.assertIn("frames are lost with a chance of 10ppm, each way", said)

    def test_the_rest_is_written_when_it_is_forced(self):
        said, made = self.topology("4 2 4\n2 3\n0 2 1Gbps 1us 0\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n", "--force", status=IN_PART)
        self.assertEqual([link["ends"] for link in made["link"]], [["h0", "s2"], ["h1", "s3"], ["s2", "s3"]])
        self.assertIn("1 line wrong", said)

        said, made = self.topology(STAR.replace("100Gbps", "43Gbps"), "--force", status=REFUSED)
        self.assertIn("no link is left", said)

    def test_every_value_has_a_line(self):
        self.topology(STAR + "a note\n")
        lines = self.account.read_text().splitlines()
        for words in (": nodes: taken", ": switches: taken", ": links: taken", ": switch.0: taken: node s2", ": link.0: taken: link h0-s2, 100G, 198m",
                      ": link.1: taken", ": link.0.delay: assumed", ": after: no counterpart"):
            self.assertTrue([line for line in lines if words in line], (words, lines))

    def test_what_comes_in_any_number_has_a_bound(self):
        self.refuses([("3 1 2\n" + "2 " * 600000, "the first line counts 1 of them"), (" " * (17 << 20), "larger than"), ("1" * 100000, "is not a topology")])


class Htsim(TopologyCase):
    def test_broken_files_are_refused_with_place_and_remedy(self):
        self.refuses([
            ("Nodes 8\n", "tiers is missing", "podsize is missing"),
            ("Nodes\n", "is not a topology"),
            (SPINES.replace("Nodes 8", "Nodes eight"), "2:1  nodes", '"eight" is not a number'),
            (SPINES.replace("Nodes 8", "Nodes 99999"), "2:1  nodes", "1 to 20000"),
            (SPINES.replace("Tiers 2", "Tiers 4"), "3:1  tiers", "2 to 3"),
            (SPINES.replace("Tiers 2", "Tiers 3"), "tier 2 is missing"),
            (SPINES.replace("Radix_Up 2", "Radix_Up"), "topology.txt:8:1: radix_up: has no value"),
            (SPINES.replace("Radix_Up 2", "Radix_Up 2 3"), "topology.txt:8:12: radix_up: a second value"),
            (SPINES.replace("Radix_Up 2\n", ""), "5:6  tier.0: radix_up is missing"),
            (SPINES.replace("Radix_Up 2", "Radix_Up 2\nradix_up 3"), "topology.txt:9:1: radix_up: comes a second time"),
            (SPINES.replace("Tier 1", "Tier 0"), "topology.txt:11:6: tier: tier 0 comes a second time"),
            (SPINES.replace("Gbps 400", "Gbps 43"), "12:1  tier.1.downlink_speed_gbps", '"43" is not a speed of a port'),
            (SPINES.replace("ns 1000", "ns soon"), "14:1  tier.1.downlink_latency_ns"),
            (SPINES.replace("Podsize 8", "Podsize 4"), "4:1  podsize", "write Nodes"),
            (SPINES.replace("Radix_Down 4", "Radix_Down 3"), "4:1  podsize"),
            (SPINES.replace("Radix_Down 2", "Radix_Down 3"), "13:1  tier.1.radix_down", "radix_down is 3", "write 2"),
            (SPINES.replace("Oversubscribed 2", "Oversubscribed 4"), "10:1  tier.0.oversubscribed", "write 2"),
            (SPINES.replace("Oversubscribed 2", "Bundle 2"), "10:1  tier.0.bundle", "a host has one link"),
            (TREE.replace("Radix_Down 2\nDownlink_Latency_ns 1500", "Radix_Down 4\nDownlink_Latency_ns 1500"), "16:1  tier.2.radix_down", "write 2"),
            (TREE.replace("Radix_Up 2\nDownlink_Latency_ns 100", "Radix_Up 3\nDownlink_Latency_ns 100\nBundle 1").replace("ns 1500", "ns 1500\nBundle 2"), "3 links up are not bundles of 2"),
        ])

    def test_two_tiers_are_a_leaf_spine(self):
        said, made = self.topology(SPINES)
        self.assertEqual(made, {"topology": {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 4, "host_speed": "100G", "speed": "400G",
                                             "host_cable": "99m", "cable": "198m"}})
        self.assertIn("leaf-spine: 8 hosts, 4 switches, 12 links", said)
        self.assertIn("host N of the file is h(N+1)", self.out.read_text())

    def test_three_tiers_are_three_tiers(self):
        said, made = self.topology(TREE)
        self.assertEqual(made, {"topology": {"kind": "three-tier", "pods": 2, "racks": 2, "aggs": 2, "cores": 4, "hosts": 2, "host_speed": "200G",
                                             "speed": "200G", "host_cable": "5m", "cable": "20m", "spine_cable": "297m"}})
        self.assertIn("three-tier: 8 hosts, 12 switches, 24 links", said)

    def test_bundles_are_parallel_links(self):
        said, made = self.topology(SPINES.replace("Radix_Up 2", "Radix_Up 4").replace("Oversubscribed 2", "Oversubscribed 1").replace("Radix_Down 2", "Radix_Down 4\nBundle 2"))
        self.assertEqual((made["topology"]["spines"], made["topology"]["links"]), (2, 2))

    def test_tiers_of_other_speeds_and_bundles_are_nodes_and_links(self):
        said, made = self.topology(TREE.replace("Radix_Up 2\nDownlink_Latency_ns 100", "Radix_Up 4\nDownlink_Latency_ns 100")
                                   .replace("200\nRadix_Down 2\nDownlink_Latency_ns 1500", "100\nRadix_Down 4\nDownlink_Latency_ns 1500\nBundle 2"))
        self.assertIn("8 hosts, 12 switches, 32 links", said)
        self.assertEqual(made["link"].count({"ends": ["agg1", "core1"], "speed": "100G", "cable": "297m"}), 2)
        self.assertEqual(made["link"].count({"ends": ["agg1", "core2"], "speed": "100G", "cable": "297m"}), 0)

    def test_a_buffer_that_holds_no_headrooms_is_enlarged(self):
        said, made = self.topology("70 1 69\n0\n" + "".join(f"0 {host} 100Gbps 1us 0\n" for host in range(1, 70)))
        self.assertEqual(made["switch"], {"default": {"buffer": {"size": "32MB"}}})
        self.assertIn("buffer.size: 32MB in each switch", said)

    def test_what_has_no_counterpart_is_named(self):
        said, _ = self.topology(SPINES.replace("Latency_ns 0", "Latency_ns 300\nQueue_Down 100\nPaint 3"))
        for words in ("tier.1.switch_latency_ns: a switch of Sluice", "tier.1.queue_down: ports of a switch share its buffer", "tier.1.paint: Sluice has none of it"):
            self.assertIn(words, said)


class Links(TopologyCase):
    def test_broken_files_are_refused_with_place_and_remedy(self):
        self.refuses([
            ("a,speed\n", "links.csv:1:1: column: there is no column for device_b", "device_a and device_b"),
            ("a,b,src\n", "links.csv:1:5: column.src: a second column for device_a"),
            (LINKS + "x,1,2,3,4,5,6,7\n", "links.csv:7:15: the line has 8 cells, and the header 7"),
            (LINKS + '"x,1,2\n', "links.csv:7:1: a quote has no end"),
            (LINKS + "x\n", "7:1  row.5", "device_b is missing"),
            (LINKS + "a b,1,leaf1,swp7\n", "row.5.device_a", '"a b" cannot be a name'),
            (LINKS.replace("400G,500ns,\nleaf2", "7G5,500ns,\nleaf2"), "5:24  row.3.speed", '"7G5"'),
            (LINKS.replace("400G,500ns,\nleaf2", "400G,soon,\nleaf2"), "5:29  row.3.delay", '"soon"'),
            (LINKS + "h4,eth0,leaf1,swp2,100G,25ns,1\n", "7:1  row.5", 'port "swp2" of leaf1 is that of the link in line 3'),
            ("a,b,role_a\nh1,s1,host\nh1,s2,switch\n", "3:7  row.1.role_a", "h1 is a host and a switch"),
            ("a,b,role_a\nh1,s1,host\nh1,s2,host\nh2,s1,host\nh3,s2,host\n", "3:1  row.1", "host h1 has links to s1 and to s2"),
            ("a,b\nx,y\ny,z\nz,x\n", "no device is a host", "role_a and role_b"),
            ("a,b\nx,y\n", "joins two hosts, x and y"),
            ("a;b;length\nx;s;0m\ny;s;5m\n", '2:5  row.0.cable', '"0m" is a cable of not 1m to 100000m'),
        ], name="links.csv")

    def test_a_device_with_one_link_is_a_host_unless_a_column_says_more(self):
        said, made = self.topology(LINKS)
        self.assertEqual([node["name"] for node in made["node"] if node.get("kind") == "host"], ["h1", "h2", "h3"])
        self.assertEqual(made["link"][3], {"ends": ["leaf1", "spine1"], "speed": "400G", "cable": "99m"})
        for words in ("hosts: 3 devices with one link are hosts", "column.Rack: a link of Sluice has none of it", "column.Port A: a port has the name of the node"):
            self.assertIn(words, said)

    def test_roles_say_what_is_a_host(self):
        said, made = self.topology("src;srcrole;dst;role_b\nh1;Server;s1;ToR\nh2;GPU;s1;tor\ns1;tor;s2;spine\ns2;spine;h3;host\n")
        self.assertEqual([node["name"] for node in made["node"] if node.get("kind") == "host"], ["h1", "h2", "h3"])
        self.assertNotIn("hosts:", said)
        self.assertIn("speed: 100G of each link", said)
        self.assertIn("cable: 5m for each link", said)

    def test_units_are_those_of_the_header_or_of_speeds(self):
        for header, speed, cable in (("speed_gbps,delay_ns", "400", "500"), ("Speed (Gbps),Length (m)", "400", "99"), ("bandwidth,cable", "400000", "99m"), ("rate,latency_us", "400Gb/s", "0.5")):
            _, made = self.topology(f"a,b,{header}\nh1,s,{speed},{cable}\nh2,s,{speed},{cable}\n")
            self.assertEqual([(link["speed"], link["cable"]) for link in made["link"]], [("400G", "99m")] * 2, header)

    def test_a_link_from_both_ends_is_one(self):
        said, made = self.topology(LINKS + "leaf1,swp1,h1,eth0,100G,25ns,1\n")
        self.assertEqual(len(made["link"]), 5)
        self.assertIn("7:1  row.5: is the link of line 2, from its other end", said)
        _, made = self.topology(LINKS + "spine1,swp3,leaf1,swp10,400G,500ns,\n")
        self.assertEqual(made["link"][5]["ends"], ["spine1", "leaf1"])

    def test_quotes_tabs_marks_and_comments(self):
        _, made = self.topology(b'\xef\xbb\xbf# ours\r\n"a"\t"b"\t"note"\r\n"h1"\ts\t"x ""y"""\r\n\r\nh2\ts\r\n')
        self.assertEqual([link["ends"] for link in made["link"]], [["h1", "s"], ["h2", "s"]])


if __name__ == "__main__":
    importer.main()
