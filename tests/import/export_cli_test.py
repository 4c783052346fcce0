#!/usr/bin/python3
"""--to eos and --to nxos: what is written is read back as it was, and a file with its patch behind it is the switch that was wanted."""

import re

import importer
from exporter import ExportCase, in_force, over
from importer import FILES, PRESET_PCP, SONIC, YAML

EOS, NXOS = FILES / "leaf.eos", FILES / "tor.nxos"
PRESET_DSCP = {26: 3, 3: 3, 48: 6, 56: 7}
WRED = '[wred.advised]\ngreen_min = "18KB"\ngreen_max = "72KB"\ngreen_probability = "100%"\ndrop_non_ect = false\n'
# Keys of which each changes a line or two, of both makers.
CHANGES = (
    WRED + '[default.queue.3]\nwred = "advised"\nweight = 20\n',
    WRED + '[port.Ethernet1_1.queue.3]\nwred = "advised"\n',
    "[default.queue.0]\nweight = 3\n",
    '[port.Ethernet1_1.queue.3]\nscheduler = "strict"\n',
    '[port.Ethernet1_1.queue.3]\nmax_rate = "20G"\n',
    '[default.queue.3]\nwred = "none"\n',
    "[port.Ethernet1_1]\npfc = []\n",
    "[default]\npfc = [3, 4]\n",
    '[watchdog]\ndetection = "300ms"\nrestoration = "900ms"\n',
    '[default.watchdog]\naction = "off"\n',
    '[port.Ethernet1_1.watchdog]\naction = "off"\n',
    '[port.Ethernet1_1]\nmtu = 4000\nspeed = "50G"\n',
)


def classes_of(numbers):
    """The map in full: [class of each DSCP], [class of each PCP]."""
    numbers = numbers if isinstance(numbers, dict) else {}
    dscp, pcp = numbers.get("dscp_to_tc", {}), numbers.get("pcp_to_tc", {})
    return [dscp.get(str(n), PRESET_DSCP.get(n, 0)) for n in range(64)], [pcp.get(str(n), tc) for n, tc in enumerate(PRESET_PCP)]


def used(config):
    """in_force, of the queues that packets of a port come to, with their shares instead of weights."""
    ports = in_force(config)
    for name, port in ports.items():
        port["priority_group"] = {n: group for n, group in port["priority_group"].items() if int(n) in port.get("pfc", [3])}
        own = over(config.get("default", {}), config["port"][name]).get("watchdog", {})
        every = config.get("watchdog", {})
        if not port.get("pfc", [3]) or port["watchdog"]["action"] == "off":
            port["watchdog"] = {}
        else:
            detection = own.get("detection", every.get("detection", "200ms"))
            port["watchdog"] = [port["watchdog"]["action"], detection, own.get("restoration", every.get("restoration", f"{2 * int(detection.removesuffix('ms'))}ms"))]
        port["map"] = dscp, pcp = classes_of(port["map"])
        port["queue"] = {n: queue for n, queue in port["queue"].items() if int(n) in {*dscp, *pcp}}
        sharing = {n: queue.get("weight", 1) for n, queue in port["queue"].items() if queue["scheduler"] == "dwrr"}
        for n, queue in port["queue"].items():
            queue.pop("weight", None)
            if n in sharing:
                queue["share"] = round(100 * sharing[n] / sum(sharing.values()), -1)
            if isinstance(queue.get("wred"), dict):
                queue["wred"].pop("drop_non_ect", None)  # of lossless queues, that drop nothing
    return ports


class Cli(ExportCase):
    def there_and_back(self, source, maker, hosts):
        """With shares of whole per cents, which both makers can say."""
        source = self.file(source.read_text().replace("remaining percent 48", "remaining percent 50"), "here")
        _, text, account = self.export(source, maker, name=f"there.{maker}")
        _, was = self.toml_of(source, name="was.toml")
        _, again = self.toml_of(self.folder / f"there.{maker}", name="again.toml")
        self.assertEqual(used(again), used(was))
        self.assertEqual([(route["prefix"], route["via"]) for route in again["route"]], [(route["prefix"], route["via"]) for route in was["route"]])
        runs = [self.ran(self.folder / name, hosts) for name in ("again.toml", "was.toml")]
        self.assertEqual(*[[run["ports"][host] for host in hosts] + [run["flows"]] for run in runs])
        return text, account

    def test_eos_there_and_back_is_equal_and_runs_alike(self):
        text, account = self.there_and_back(EOS, "eos", ["Ethernet1_1", "Ethernet2_2"])
        self.assertFalse([line for line in account if ": rounded: " in line])
        for line in ("qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 3", "interface Ethernet2/1-4", "   service-profile sluice_2", "   ! headroom of priority 3: 606208 bytes"):
            self.assertIn(line + "\n", text)
        self.assertNotIn("100.64.", text)

    def test_nxos_there_and_back_is_equal_and_runs_alike(self):
        text, account = self.there_and_back(NXOS, "nxos", ["Ethernet1_1", "Ethernet1_2"])
        self.assertFalse([line for line in account if ": rounded: " in line])
        self.assertEqual(text.count("    mtu 9216\n"), 2)  # of the lossless class, and of the others
        for line in ("    pause buffer-size 300000 pause-threshold 60000 resume-threshold 45000", "    pause pfc-cos 3", "    priority level 1", "interface Ethernet1/5/2-4",
                     "  ! headroom of qos-group 3: 219904 bytes"):
            self.assertIn(line + "\n", text)

    def test_a_file_with_its_patch_behind_it_is_what_was_wanted(self):
        in_time = self.file(NXOS.read_text().replace("150 kbytes maximum-threshold 3000 kbytes", "12 microseconds maximum-threshold 240 microseconds"), "time.nxos")
        for source, maker in ((EOS, "eos"), (NXOS, "nxos"), (in_time, "nxos")):
            said, text, _ = self.export(source, maker, "--patch", name="none")
            self.assertEqual((text, "nothing changes" in said), ("", True))
            for change in CHANGES:
                with self.subTest(maker=maker, change=change):
                    keys = self.keys(change)
                    _, text, account = self.export(source, maker, "--apply", keys, "--patch", name="patch")
                    self.assertNotEqual(text, "")
                    self.assertTrue([line for line in account if ": said: " in line])
                    patched = self.file(source.read_text() + "!\n" + text, "patched")
                    _, made = self.toml_of(patched, name="made.toml")
                    _, wanted = self.toml_of(source, "--apply", keys, name="wanted.toml")
                    self.assertEqual(used(made), used(wanted), text)
                    # As today's configuration of another switch has it, in words of our own.
                    _, whole, _ = self.export(source, maker, name="whole")
                    _, own, account = self.export(self.toml_of(source, name="own.toml")[0], maker, "--apply", keys, "--patch", name="own")
                    self.assertTrue(any("for a switch that has today's configuration" in line for line in account))
                    _, made = self.toml_of(self.file(whole + own, "patched"), name="made.toml")
                    self.assertEqual(used(made), used(wanted), own)

    def test_a_patch_takes_back_what_is_off_for_all_ports(self):
        source = self.file(EOS.read_text() + "priority-flow-control all off\n", "off.eos")
        _, was = self.toml_of(source, name="was.toml")
        self.assertEqual({tuple(port.get("pfc", [3])) for port in in_force(was).values()}, {()})
        _, text, _ = self.export(source, "eos", "--apply", self.keys("[port.Ethernet1_1]\npfc = [3]\n"), "--patch", name="patch")
        _, made = self.toml_of(self.file(source.read_text() + text, "patched"), name="made.toml")
        self.assertEqual(in_force(made)["Ethernet1_1"].get("pfc", [3]), [3])

    def test_a_patch_is_in_the_words_of_the_file(self):
        keys = self.keys(CHANGES[0])
        _, text, _ = self.export(EOS, "eos", "--apply", keys, "--patch", name="patch")
        # The profile, and what two interfaces say over it.
        self.assertEqual(re.findall(r"^\S.*", text, re.M), ["qos profile ROCE", "interface Ethernet2/1-4", "interface Ethernet7/1"])
        self.assertIn("   uc-tx-queue 3\n      random-detect ecn minimum-threshold 18000 bytes maximum-threshold 72000 bytes max-mark-probability 100\n", text)
        self.assertEqual(text.count("bandwidth"), 4)
        _, text, _ = self.export(NXOS, "nxos", "--apply", keys, "--patch", name="patch")
        self.assertEqual(re.findall(r"^ {0,2}\S.*", text, re.M), ["policy-map type queuing OUT", "  class type queuing c-out-8q-q-default", "  class type queuing c-out-8q-q3"])
        # A port alone has a policy of its own; one that differs from the others too.
        _, text, _ = self.export(NXOS, "nxos", "--apply", self.keys(CHANGES[1]), "--patch", name="patch")
        self.assertIn("interface Ethernet1/1\n  service-policy type queuing output sluice-out\n", text)
        # Classes have the names that the file gives them, and new policies none that it has.
        named = self.file(NXOS.read_text().replace("c-out-8q-q3", "RDMA-QUEUE").replace("policy-map type queuing OUT\n", "class-map type queuing RDMA-QUEUE\n  match qos-group 3\npolicy-map type queuing sluice-out\n")
                          .replace("queuing output OUT", "queuing output sluice-out"), "named")
        _, text, _ = self.export(named, "nxos", "--apply", self.keys(CHANGES[0]), "--patch", name="patch")
        self.assertIn("policy-map type queuing sluice-out\n", text)
        self.assertIn("  class type queuing RDMA-QUEUE\n    bandwidth", text)
        _, text, _ = self.export(named, "nxos", "--apply", self.keys(CHANGES[1]), "--patch", name="patch")
        self.assertIn("  service-policy type queuing output sluice-out_2\n", text)

    def test_other_switches_become_both_with_what_they_cannot_say(self):
        fates = {}
        for maker in ("eos", "nxos"):
            _, text, account = self.export(SONIC, maker, name=f"there.{maker}")
            fates[maker] = self.fates(account)
            _, was = self.toml_of(SONIC, name="was.toml")
            _, again = self.toml_of(self.folder / f"there.{maker}", name="again.toml")
            names = dict(zip(was["port"], again["port"]))
            for before, after in names.items():
                one, two = used(was)[before], used(again)[after]
                self.assertEqual(one["map"], two["map"])
                self.assertEqual(one.get("pfc", [3]), two.get("pfc", [3]))
                self.assertEqual({n: (queue["scheduler"], queue.get("share"), queue.get("max_rate")) for n, queue in one["queue"].items()},
                                 {n: (queue["scheduler"], queue.get("share"), queue.get("max_rate")) for n, queue in two["queue"].items()})
                self.assertEqual(one["watchdog"], two["watchdog"])
        for maker, path, fate, words in (("eos", "port.Ethernet0.priority_group.3.xoff", "cannot be said", "224 256 bytes"), ("eos", "port.Ethernet0.priority_group.3.dynamic_th", "cannot be said", "XOFF"),
                                         ("eos", "pool.ingress_pool", "cannot be said", "platform"), ("eos", "port.Ethernet0.queue.0.dynamic_th", "cannot be said", "threshold"),
                                         ("nxos", "port.Ethernet0", "assumed", "is Ethernet1_1 there"), ("nxos", "port.Ethernet0.priority_group.3.xoff", "cannot be said", "fixed"),
                                         ("nxos", "wred.LAB_LOSSLESS.green_min", "rounded", "576 bytes less"), ("nxos", "watchdog.poll", "cannot be said", "multiplier")):
            self.assertEqual(fates[maker][path][0], fate, path)
            self.assertIn(words, fates[maker][path][1])
        for maker in ("eos", "nxos"):
            self.export(YAML, maker, name="there.yaml")
            self.toml_of(self.folder / "there.yaml", name="again.toml")

    def test_rounding_never_marks_later_nor_watches_sooner(self):
        config = self.file('[default]\npfc = [3]\n[wred.w]\ngreen_min = 123457\ngreen_max = 654321\ngreen_probability = "0.2%"\nweight = 4\n[default.queue.3]\nwred = "w"\nmax_rate = "1234567890"\n'
                           '[watchdog]\ndetection = "123.4ms"\nrestoration = "1234ms"\n[port.Ethernet1_1]\n[port.Ethernet1_2]\n', "sluice.toml")
        _, eos, account = self.export(config, "eos", name="there.eos")
        for line in ("random-detect ecn minimum-threshold 123457 bytes maximum-threshold 654321 bytes max-mark-probability 1 weight 4", "default timeout 0.13", "default recovery-time 1.24", "shape rate 1234567 kbps"):
            self.assertIn(f"{line}\n", eos)
        rounded = [line for line in account if ": rounded: " in line]
        self.assertEqual({line.split(": ")[1] for line in rounded}, {"watchdog.detection", "watchdog.restoration", "wred.w.green_probability", *(f"port.Ethernet1_{n}.queue.3.max_rate" for n in (1, 2))})
        _, nxos, account = self.export(config, "nxos", name="there.nxos")
        for line in ("random-detect minimum-threshold 123 kbytes maximum-threshold 654 kbytes drop-probability 1 weight 4 ecn", "watch-dog interval 124 shutdown-multiplier 1", "auto-restore multiplier 10",
                     "shape min 0 kbps max 1234567 kbps"):
            self.assertIn(f"{line}\n", nxos)
        self.assertTrue(any("wred.w.green_min: rounded: 123 000 bytes there instead of 123 457 bytes: 457 bytes less" in line for line in account))

    def test_each_thing_that_a_maker_cannot_say_is_said(self):
        config = self.file('[default]\npfc = [3, 4]\n[map.odd]\ndscp_to_tc = {40 = 4}\ntc_to_queue = {4 = 3}\ncnp_tc = 6\nroce_tc = 3\n[port.Ethernet1_1]\nmap = "odd"\npfc_mode = "asymmetric"\nshaper = "50G"\nshaper_burst = "20KB"\ndefault_tc = 2\n'
                           '[port.Ethernet1_1.queue.0]\nscheduler = "strict"\nsize = "10KB"\n[port.Ethernet1_1.queue.1]\nmin_rate = "1G"\ndynamic_th = 2\n[port.Ethernet1_1.priority_group.3]\nstatic_th = "60KB"\nsize = "20KB"\nxon_offset = "10KB"\nxoff = "300KB"\n'
                           '[port.Ethernet1_1.watchdog]\naction = "forward"\ndetection = "500ms"\n[port.Ethernet1_2]\npfc = [3]\n[port.Ethernet1_3]\ntrust = "port"\n[port.Ethernet1_4]\ntrust = "pcp"\n', "sluice.toml")
        _, eos, account = self.export(config, "eos", name="there.eos")
        unsaid = {line.split(": ")[1] for line in account if ": cannot be said: " in line}
        for path in ("map.odd.tc_to_queue", "map.odd.roce_tc", "map.odd.cnp_tc", "port.Ethernet1_1.pfc_mode", "port.Ethernet1_1.shaper_burst", "port.Ethernet1_1.default_tc", "port.Ethernet1_1.queue.0.scheduler",
                     "port.Ethernet1_1.queue.0.size", "port.Ethernet1_1.priority_group.3.static_th", "port.Ethernet1_1.priority_group.3.xon", "port.Ethernet1_1.cable"):
            self.assertIn(path, unsaid)
        for line in ("   shape rate 50000000 kbps", "      bandwidth guaranteed 1000000 kbps", "   priority-flow-control pause watchdog port timer timeout 0.5 polling-interval auto recovery-time 1",
                     "   priority-flow-control pause watchdog port action no-drop", "   no qos trust", "   qos trust cos", "   qos cos 0", "   tx-queue 0\n      no priority"):
            self.assertIn(line + "\n", eos)
        self.assertNotIn("tx-queue 0\n      priority strict\n", eos)  # below queues that share
        _, nxos, account = self.export(config, "nxos", name="there.nxos")
        unsaid = {line.split(": ")[1] for line in account if ": cannot be said: " in line}
        for path in ("map.odd.roce_tc", "port.Ethernet1_1.pfc_mode", "port.Ethernet1_1.shaper", "port.Ethernet1_1.default_tc", "port.Ethernet1_1.queue.0.size", "port.Ethernet1_1.priority_group.3.size",
                     "port.Ethernet1_1.watchdog.action", "port.Ethernet1_2.pfc", "port.Ethernet1_1.pfc"):
            self.assertIn(path, unsaid)
        self.assertIn("  match dscp 3,26,40\n", nxos)
        self.assertIn("    queue-limit dynamic 9\n", nxos)
        self.assertIn("    pause buffer-size 380000 pause-threshold 80000 resume-threshold 70000\n", nxos)
        self.assertIn("    shape min 1000000 kbps max 100000000 kbps\n", nxos)

    def test_what_holds_for_a_whole_switch_is_what_most_ports_have(self):
        text = '[default]\npfc = []\n[map.odd]\ndscp_to_tc = {10 = 4}\n[wred.a]\ngreen_min = "10KB"\ngreen_max = "20KB"\ndrop_non_ect = false\n[wred.b]\ngreen_min = "10KB"\ngreen_max = "30KB"\n[default.queue.3]\nwred = "a"\n[port.Ethernet1_1]\n[port.Ethernet1_2]\n[port.Ethernet1_3]\nmap = "odd"\n'
        for more, passes in (("", True), ('[default.queue.0]\nwred = "b"\n', False)):
            _, eos, account = self.export(self.file(text + more, "sluice.toml"), "eos", name="there.eos")
            self.assertEqual(re.findall(r"^qos map dscp (.*) to traffic-class 4", eos, re.M), [])
            self.assertEqual(eos.count("service-policy type qos input"), 1)
            self.assertEqual("qos random-detect ecn allow non-ect\n" in eos, passes)
            self.assertEqual(any("wred.a.drop_non_ect: cannot be said: " in line for line in account), not passes)
        # A lossless queue drops none of them, whatever others do.
        _, eos, account = self.export(self.file(text.replace("pfc = []", "pfc = [3]") + more, "sluice.toml"), "eos", name="there.eos")
        self.assertIn("qos random-detect ecn allow non-ect\n", eos)
        self.assertTrue(any("wred.b.drop_non_ect: cannot be said: packets without ECN pass" in line for line in account))

    def test_a_policy_that_says_nothing_is_none_and_none_is_written_twice(self):
        config = self.file('[default]\npfc = []\n[map.one]\ndscp_to_tc = {3 = 0, 26 = 0, 48 = 0, 56 = 0}\npcp_to_tc = {3 = 0, 6 = 0, 7 = 0}\ncnp_tc = "dscp"\n[default.queue.3]\nwred = "none"\n[port.Ethernet1_1]\nmap = "one"\n[port.Ethernet1_2]\nmap = "one"\n', "sluice.toml")
        _, nxos, _ = self.export(config, "nxos", name="there.nxos")
        self.assertEqual(re.findall("policy.*", nxos), [])
        # An earlier export wrote the file.
        self.export(NXOS, "nxos", name="ours")
        _, text, _ = self.export(self.folder / "ours", "nxos", "--apply", self.keys("[default]\npfc = [4]\n"), "--patch", name="patch")
        self.assertIn("policy-map type network-qos sluice-network_2\n  class type network-qos c-8q-nq4\n", text)
        self.assertIn("  service-policy type network-qos sluice-network_2\n", text)
        taken = self.file(EOS.read_text() + "policy-map type quality-of-service sluice\n   class class-default\n", "taken.eos")
        _, text, _ = self.export(taken, "eos", "--apply", self.keys('[map.other]\ndscp_to_tc = {10 = 4}\n[port.Ethernet1_1]\nmap = "other"\n'), "--patch", name="patch")
        self.assertIn("policy-map type quality-of-service sluice_2\n", text)

    def test_ports_with_other_maps_have_policies(self):
        change = "[map.other]\ndscp_to_tc = {10 = 4, 26 = 0}\npcp_to_tc = {1 = 4}\ncnp_tc = \"dscp\"\n[port.Ethernet1_1]\nmap = \"other\"\n"
        for source, maker in ((EOS, "eos"), (NXOS, "nxos")):
            keys = self.keys(change)
            path, wanted = self.toml_of(source, "--apply", keys, name="other.toml")
            _, text, _ = self.export(path, maker, name="there")
            _, made = self.toml_of(self.folder / "there", "--from", maker, name="made.toml")
            self.assertEqual(classes_of(in_force(made)["Ethernet1_1"]["map"]), classes_of(wanted["map"]["other"]), text)
            _, patch, _ = self.export(source, maker, "--apply", keys, "--patch", name="patch")
            self.assertIn("  service-policy type qos input sluice\n", patch)
            _, made = self.toml_of(self.file(source.read_text() + "!\n" + patch, "patched"), name="made.toml")
            self.assertEqual(used(made), used(wanted), patch)


if __name__ == "__main__":
    importer.main()
