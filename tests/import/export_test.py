#!/usr/bin/python3
"""--apply, --patch and --to sonic: keys that cannot be, each line's fate, and that the patched switch is the one that was wanted."""

import json
import re

import importer
from exporter import ExportCase, in_force, patched, texts
from importer import REFUSED, SONIC, Programs, run

ADVISED = '[wred.advised]\ngreen_min = "200KB"\ngreen_max = "800KB"\ngreen_probability = "10%"\n[default.queue.3]\nwred = "advised"\n'
BOTH = ADVISED + '[default.queue.4]\nwred = "advised"\n'
GUARDED = ("BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "PFC_WD")


class Keys(ExportCase):
    def test_keys_that_cannot_be_are_refused_with_place_and_remedy(self):
        for text, words in (
                ("[default\n", ("keys.toml:1:", "do: ")),
                ("", ("has no keys",)),
                ("\n[default]\nspede = \"100G\"\n", ("keys.toml:3:1: default.spede", "no such key")),
                ("[default]\nspeed = \"warp\"\n", ("keys.toml:2:1: default.speed", "warp")),
                ("[port.Ethernet0.queue.9]\nweight = 3\n", ("port.Ethernet0.queue.9", "0 to 7")),
                ("[[flow]]\nfrom = [\"a\"]\n", ("keys.toml:1:3: flow", "list of sections")),
                ("[switch.default.buffer]\nsize = \"4MB\"\n", ("switch.default.buffer.size", "no such key")),
                ("[default.queue.3]\nwred = \"nobody\"\n", ("keys.toml", "nobody")),
                ("# leaf1\n[default.queue.3]\nwred = \"none\"\n# leaf2\n[default.queue.3]\nwred = \"steep\"\n", ("keys.toml:5:", "the part of this one")),
                ("[buffer]\nsize = \"1MB\"\n", ("keys.toml", "do: ")),
                ("[map.default]\ndscp_to_tc = {" + ", ".join(f"x{n} = 1" for n in range(9)) + "}\n", ("dscp_to_tc",)),
                ("".join(f"[wred.w{n}]\ngreen_min = 1\ngreen_max = 2\n" for n in range(200)), ("more than 256 keys",)),
                ("a = " + "[" * 5000 + "]" * 5000, ("keys.toml:1:",))):
            with self.subTest(text=text[:60]):
                said = self.refused_keys(text, *words, source=SONIC)
                self.assertNotIn("internal error", said)
        self.refused_keys("", "cannot be read", source=SONIC, options=("--apply", self.folder / "nowhere"))

    def test_files_have_one_role(self):
        source = self.file(SONIC.read_text())
        keys = self.keys(ADVISED)
        for out in (source, keys):
            done = run(Programs.importer, source, "--apply", keys, "--to", "sonic", "--patch", "-o", out)
            self.assertEqual((done.returncode, "would overwrite" in done.stderr), (REFUSED, True), done.stderr)
        beside = source.rename(self.folder / "patch.tables.json")
        done = run(Programs.importer, beside, "--apply", keys, "--to", "sonic", "--patch", "-o", self.folder / "patch.json")
        self.assertEqual((done.returncode, "would overwrite" in done.stderr), (REFUSED, True), done.stderr)
        self.assertEqual(beside.read_text(), SONIC.read_text())
        for words, said in ((("--patch",), "--to"), (("--patch", "--to", "sluice"), "--to"), (("--to", "junos"), "none of sluice, sonic"),
                            (("--to", "sonic", "--patch", "--apply", keys), "-o FILE"), (("--to", "sonic", "-o", "/dev/full"), "/dev/full")):
            done = run(Programs.importer, SONIC, *words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_a_key_that_a_port_says_itself_is_set_there_too(self):
        keys = self.keys("[default.priority_group.3]\ndynamic_th = 1\n")
        _, _, account = self.export(SONIC, "sonic", "--apply", keys)
        named = {line.split(": ")[1] for line in account if "says it itself" in line}
        self.assertEqual(named, {"port.Ethernet4.priority_group.3.dynamic_th", "port.Ethernet8.priority_group.3.dynamic_th"})
        _, config = self.toml_of(SONIC, "--apply", keys)
        self.assertEqual([in_force(config)[port]["priority_group"]["3"]["dynamic_th"] for port in config["port"]], [1, 1, 1])
        own = self.keys("[default.priority_group.3]\ndynamic_th = 1\n[port.Ethernet4.priority_group.3]\ndynamic_th = -2\n")
        _, config = self.toml_of(SONIC, "--apply", own)
        self.assertEqual([in_force(config)[port]["priority_group"]["3"]["dynamic_th"] for port in config["port"]], [1, -2, 1])

    def test_a_key_that_changes_nothing_is_told(self):
        _, _, account = self.export(SONIC, "sonic", "--apply", self.keys('hash_seed = 7\n[wred.spare]\ngreen_min = "9KB"\n[default.queue.3]\nweight = 15\n'), "--patch")
        fates = {line.split(": ")[1]: line.split(": ")[2] for line in account}
        self.assertEqual(fates, {"hash_seed": "cannot be said", "wred.spare.green_min": "cannot be said", "default.queue.3.weight": "said"})


class Sonic(ExportCase):
    def today(self, change=lambda tables: None, name="AZURE_LOSSLESS", release=None):
        """three-ports.json with `name` for its WRED profile, and perhaps the release."""
        tables = json.loads(SONIC.read_text().replace("LAB_LOSSLESS", name))
        if release:
            tables["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}}
        change(tables)
        return tables

    def patch(self, tables, keys, *options):
        """(the operations, the tables beside them, the lines of the account); the patched switch is the wanted one."""
        source = self.file(tables)
        beside = self.folder / "there.tables.json"
        beside.unlink(missing_ok=True)
        _, text, account = self.export(source, "sonic", "--apply", self.keys(keys), "--patch", *options)
        operations, more = json.loads(text), json.loads(beside.read_text()) if beside.exists() else {}
        self.assertEqual({type(text) for operation in operations for text in texts(operation.get("value", ""))} | {type(text) for text in texts(more)}, {str})
        after = self.folder / "after.json"
        after.write_text(json.dumps({**patched(tables, operations), **more}))
        _, wanted = self.toml_of(source, "--apply", self.folder / "keys.toml")
        _, made = self.toml_of(after, name="made.toml")
        self.assertEqual(in_force(made), in_force(wanted))
        self.assertEqual({name: pool for name, pool in made["pool"].items()}, wanted["pool"])
        self.assertEqual(self.ran(self.folder / "made.toml", ["Ethernet0", "Ethernet4"])["ports"], self.ran(self.folder / "wanted.toml", ["Ethernet0", "Ethernet4"])["ports"])
        return operations, more, account

    def test_thresholds_that_all_queues_share_are_replaced_in_place(self):
        operations, more, account = self.patch(self.today(), BOTH)
        self.assertEqual(operations, [{"op": "replace", "path": f"/WRED_PROFILE/AZURE_LOSSLESS/{field}", "value": value}
                                      for field, value in (("green_min_threshold", "200000"), ("green_max_threshold", "800000"), ("green_drop_probability", "10"))])
        self.assertEqual(more, {})
        self.assertTrue(any("WRED_PROFILE.AZURE_LOSSLESS.green_min_threshold: said: 1048576 -> 200000; by the patch" in line for line in account))

    def test_what_apply_patch_refuses_is_tables_by_release(self):
        profile, pool = BOTH, '[default.priority_group.3]\nxoff = "230KB"\n[default.priority_group.4]\nxoff = "230KB"\n[pool.ingress_lossless_pool]\nshared_headroom = "1600KB"\n'
        named = json.loads(json.dumps(self.today()).replace("ingress_pool", "ingress_lossless_pool"))

        def ways(keys, base, release):
            tables = json.loads(json.dumps(base))
            if release:
                tables["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}}
            operations, more, account = self.patch(tables, keys)
            return {operation["path"].split("/")[1] for operation in operations}, set(more), account

        lab = self.today(name="LAB_LOSSLESS")
        for release, by_patch, beside in ((None, set(), {"WRED_PROFILE"}), ("202411", set(), {"WRED_PROFILE"}), ("202505", {"WRED_PROFILE"}, set()), ("202511", {"WRED_PROFILE"}, set())):
            self.assertEqual(ways(profile, lab, release)[:2], (by_patch, beside), release)
        for release, by_patch, beside in ((None, {"BUFFER_PROFILE", "BUFFER_POOL"}, {"BUFFER_PROFILE"}), ("202505", {"BUFFER_PROFILE", "BUFFER_POOL"}, {"BUFFER_PROFILE"}),
                                          ("202511", {"BUFFER_PROFILE"}, {"BUFFER_POOL", "BUFFER_PROFILE"})):
            got = ways(pool, named, release)
            self.assertEqual(got[:2], (by_patch, beside), release)
            self.assertEqual(any("does not say its release" in line for line in got[2]), release is None)

    def test_a_part_of_the_users_of_a_profile_gets_its_own(self):
        operations, more, account = self.patch(self.today(), ADVISED)
        self.assertEqual((operations, set(more)), ([], {"WRED_PROFILE", "QUEUE"}))
        self.assertEqual(more["QUEUE"]["Ethernet4|3"]["wred_profile"], "[WRED_PROFILE|AZURE_LOSSLESS_2]")
        self.assertEqual(more["QUEUE"]["Ethernet4|4"]["wred_profile"], "[WRED_PROFILE|AZURE_LOSSLESS]")
        self.assertTrue(any("QUEUE.Ethernet0|3: said" in line and "by the tables: WRED_PROFILE AZURE_LOSSLESS_2 is new there" in line for line in account))
        operations, more, _ = self.patch(self.today(release="202511"), ADVISED)
        self.assertEqual(({operation["path"].split("/")[1] for operation in operations}, more), ({"WRED_PROFILE", "QUEUE"}, {}))

    def test_scalars_ports_and_new_entries(self):
        operations, more, _ = self.patch(self.today(), '[port.Ethernet0]\ncable = "20m"\nmtu = 9000\n[port.Ethernet0.watchdog]\ndetection = "300ms"\n[port.Ethernet4.watchdog]\naction = "forward"\n')
        self.assertEqual(more, {})
        paths = {operation["path"]: operation for operation in operations}
        self.assertEqual(paths["/CABLE_LENGTH/AZURE/Ethernet0"], {"op": "replace", "path": "/CABLE_LENGTH/AZURE/Ethernet0", "value": "20m"})
        self.assertEqual((paths["/PFC_WD/Ethernet0/detection_time"]["value"], paths["/PORT/Ethernet0/mtu"]["value"]), ("300", "9000"))
        self.assertEqual(paths["/PFC_WD/Ethernet4"]["value"]["action"], "forward")

    def test_maps_go_by_the_tables(self):
        operations, more, account = self.patch(self.today(), "[map.LAB]\ndscp_to_tc = {0 = 1, 3 = 3, 4 = 4, 8 = 4, 26 = 3, 46 = 5, 48 = 6, 56 = 0}\n")
        self.assertEqual((operations, set(more), more["DSCP_TO_TC_MAP"]["LAB"]["8"]), ([], {"DSCP_TO_TC_MAP"}, "4"))

    def test_a_size_with_the_headroom_in_it_keeps_it(self):
        operations, _, _ = self.patch(self.today(), '[port.Ethernet4.priority_group.3]\nxoff = "210KB"\n[port.Ethernet4.priority_group.4]\nxoff = "210KB"\n', "--force")
        paths = {operation["path"]: operation["value"] for operation in operations}
        self.assertEqual(paths["/BUFFER_PROFILE/pg_lossless_100000_5m_profile/xoff"], "210000")

    def test_nothing_to_change(self):
        for keys in ((), ("--apply", self.keys("[default.queue.3]\nweight = 15\n"))):
            said, text, _ = self.export(SONIC, "sonic", "--patch", *keys)
            self.assertEqual((json.loads(text), "nothing changes" in said), ([], True))

    def test_a_patch_of_a_configuration_that_is_not_sonics(self):
        config = self.file('[port.Ethernet0]\n[port.Ethernet4]\n', "sluice.toml")
        _, text, account = self.export(config, "sonic", "--patch", "--apply", self.keys('[default.priority_group.3]\ndynamic_th = 2\n'))
        self.assertEqual([(operation["op"], operation["path"].rsplit("/", 1)[1]) for operation in json.loads(text)], [("replace", "dynamic_th")])
        self.assertTrue(any("as --to sonic writes it" in line for line in account))

    def test_rounding_has_value_error_and_consequence(self):
        config = self.file('[wred.w]\ngreen_min = "9KB"\ngreen_max = "90KB"\ngreen_probability = "12.6%"\nmark_at = "enqueue"\nweight = 3\n[default.queue.3]\nwred = "w"\nmax_rate = "1000000001"\n'
                           '[watchdog]\ndetection = "250.5ms"\n[port.Ethernet0]\n[port.Ethernet4]\npfc_mode = "semi-lossless"\ndefault_tc = 2\nshaper = "50G"\n', "sluice.toml")
        _, text, account = self.export(config, "sonic")
        fates = self.fates(account)
        self.assertEqual(fates["wred.w.green_probability"], ["rounded", "13 % there instead of 12.6 %: 0.4 % more (3.2 %): it marks more"])
        self.assertEqual(fates["port.Ethernet0.watchdog.detection"], ["rounded", "251 ms there instead of 250.5 ms: 0.5 ms more (0.2 %): it acts that much later"])
        self.assertEqual(fates["port.Ethernet0.queue.3.max_rate"][0], "rounded")
        for path, words in (("wred.w.mark_at", "the chip marks where it does"), ("wred.w.weight", "average"), ("map.default.cnp_tc", "by its DSCP"),
                            ("port.Ethernet4.pfc_mode", "neither sends nor obeys"), ("port.Ethernet4.default_tc", "class 0")):
            self.assertEqual(fates[path][0], "cannot be said")
            self.assertIn(words, fates[path][1])
        tables = json.loads(text)
        self.assertEqual((tables["WRED_PROFILE"]["w"]["green_drop_probability"], tables["PFC_WD"]["Ethernet0"]["detection_time"]), ("13", "251"))

    def test_every_line_has_a_fate(self):
        _, text, account = self.export(SONIC, "sonic")
        for line in account:
            self.assertRegex(line, r"^[^ ]+:-: [^ ]+: (said|rounded|cannot be said|assumed): .")
        said = "\n".join(line for line in account if ": said: " in line)
        for table, entries in json.loads(text).items():
            for key in entries if table not in ("CABLE_LENGTH", "BUFFER_PROFILE", "SCHEDULER") and not table.endswith("_MAP") and "TO_QUEUE" not in table else ():
                self.assertIn(f"{table}.{key}", said)
        self.assertTrue(re.search(r"port\.Ethernet0\.map: said: PORT_QOS_MAP\.Ethernet0: dscp_to_tc_map LAB", said))


if __name__ == "__main__":
    importer.main()
