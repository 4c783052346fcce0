#!/usr/bin/python3
"""Packet trimming of SONiC (SWITCH_TRIMMING, packet_discard_action, TC_TO_DSCP_MAP): what is wrong or left out, with its place; what
becomes of it; and the way back."""

import json
import tomllib

import importer
from exporter import ExportCase, in_force, patched
from importer import IN_PART, SONIC, run

SYMMETRIC = {"size": "256", "dscp_value": "11", "queue_index": "6"}
BY_CLASS = {"size": "128", "dscp_value": "from-tc", "tc_value": "5", "queue_index": "dynamic"}
MAPS = {"host": {"5": "12"}, "spine": {"5": "46", "1": "9"}}
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")


class TrimmingCase(ExportCase):
    def tables(self, trimming=None, maps=None, ports=None, queues="1-2", change=lambda tables: None):
        """three-ports.json whose queues 1 and 2 trim."""
        tables = json.loads(SONIC.read_text())
        tables["BUFFER_PROFILE"]["trims"] = {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1", "packet_discard_action": "trim"}
        tables["BUFFER_QUEUE"].update({f"{','.join(PORTS)}|{queues}": {"profile": "trims"}})
        if trimming is not None:
            tables["SWITCH_TRIMMING"] = {"GLOBAL": dict(trimming)}
        if maps is not None:
            tables["TC_TO_DSCP_MAP"] = json.loads(json.dumps(maps))
        for port, name in (ports or {}).items():
            tables["PORT_QOS_MAP"][port]["tc_to_dscp_map"] = name
        change(tables)
        return tables

    def asymmetric(self, **options):
        return self.tables(BY_CLASS, MAPS, dict(zip(PORTS, ("host", "spine", "[TC_TO_DSCP_MAP|spine]"))), **options)

    def trims(self, config):
        """{port: its queues that trim}."""
        return {name: [int(n) for n, queue in sorted(port.get("queue", {}).items()) if queue.get("on_full") == "trim"] for name, port in in_force(config).items()}

    def in_force(self, config):
        """Trimming alone: {port: (queues, DSCP)}, size and queue."""
        trimming = config.get("trimming", {})
        ports = in_force(config)
        return {name: (queues, ports[name].get("trim_dscp", trimming.get("dscp"))) for name, queues in self.trims(config).items()}, trimming.get("size"), trimming.get("queue")

    def without_trimming(self, config):
        """in_force, but for what `in_force` of this class has."""
        ports = in_force(config)
        for port in ports.values():
            port.pop("trim_dscp", None)
            for queue in port["queue"].values():
                queue.pop("on_full", None)
        return ports


class Refusals(TrimmingCase):
    def test_wrong_values_have_place_and_reason(self):
        for field, value, words in (
                ("size", "0", "1 to 4294967295"), ("size", "4294967296", "1 to 4294967295"), ("size", "-1", "1 to 4294967295"), ("size", "big", '"big" is not a number'),
                ("size", ["128"], "must be a word"), ("dscp_value", "64", "0 to 63"), ("dscp_value", "from_tc", '"from_tc" is not a number'), ("dscp_value", "", "is not a number"),
                ("queue_index", "256", "0 to 255"), ("queue_index", "static", '"static" is not a number'), ("dscp_value", "-1", "0 to 63")):
            with self.subTest(field=field, value=value):
                said = self.refused(self.tables({**SYMMETRIC, field: value}), f"SWITCH_TRIMMING.GLOBAL.{field}: ", words)
                self.assertRegex(said, r"config_db\.json: 1 line wrong\n +\d+:\d+  ")
        for change, path, words in (
                (lambda t: t["BUFFER_PROFILE"]["trims"].update(packet_discard_action="shred"), "BUFFER_PROFILE.trims.packet_discard_action", "neither drop nor trim"),
                (lambda t: t["SWITCH_TRIMMING"]["GLOBAL"].update(tc_value="x"), "SWITCH_TRIMMING.GLOBAL.tc_value", "is not a number"),
                (lambda t: t["SWITCH_TRIMMING"].update(GLOBAL="on"), "SWITCH_TRIMMING.GLOBAL", "must be an object"),
                (lambda t: t["TC_TO_DSCP_MAP"]["host"].update({"5": "64"}), "TC_TO_DSCP_MAP.host.5", "0 to 63"),
                (lambda t: t["TC_TO_DSCP_MAP"]["host"].update(x="1"), "TC_TO_DSCP_MAP.host.x", "is not a class"),
                (lambda t: t.update(SWITCH_TRIMMING=["GLOBAL"]), "SWITCH_TRIMMING", "must be an object")):
            with self.subTest(path=path, words=words):
                self.refused(self.asymmetric(change=change), path, words)

    def test_what_sluice_cannot_trim_drops_and_the_rest_is_written(self):
        all_trim = {port: [1, 2] for port in PORTS}
        none = {port: [] for port in PORTS}
        first = {**all_trim, "Ethernet0": []}

        def two(change):
            return self.asymmetric(change=change)
        for tables, path, words, trims in (
                (self.tables(), "BUFFER_PROFILE.trims.packet_discard_action", "SWITCH_TRIMMING has no GLOBAL", none),
                (self.tables({"size": "128"}), "BUFFER_PROFILE.trims.packet_discard_action", "gives trimmed packets no DSCP", none),
                (self.tables({**SYMMETRIC, "size": "63"}), "SWITCH_TRIMMING.GLOBAL.size", "63 is not from 64 to 1024: trimming.size = 64", all_trim),
                (self.tables({**SYMMETRIC, "size": "1025"}), "SWITCH_TRIMMING.GLOBAL.size", "trimming.size = 1024", all_trim),
                (self.tables({**SYMMETRIC, "queue_index": "8"}), "SWITCH_TRIMMING.GLOBAL.queue_index", "queue 8: Sluice has eight", all_trim),
                (self.tables({**SYMMETRIC, "queue_index": "2"}), "BUFFER_PROFILE.trims.packet_discard_action", "queue 2 takes the trimmed packets", {port: [1] for port in PORTS}),
                (self.tables(SYMMETRIC, queues="3"), "BUFFER_PROFILE.trims.packet_discard_action", "queue 3 is lossless", {"Ethernet0": [], "Ethernet4": [], "Ethernet8": [3]}),
                (self.tables(BY_CLASS), "BUFFER_PROFILE.trims.packet_discard_action", "port Ethernet4 has no TC_TO_DSCP_MAP with class 5: queue 1 drops", none),
                (two(lambda t: t["TC_TO_DSCP_MAP"]["host"].pop("5")), "BUFFER_PROFILE.trims.packet_discard_action", "port Ethernet0 has no TC_TO_DSCP_MAP with class 5", first),
                (two(lambda t: t["PORT_QOS_MAP"]["Ethernet0"].update(tc_to_dscp_map="gone")), "PORT_QOS_MAP.Ethernet0.tc_to_dscp_map", 'there is no TC_TO_DSCP_MAP "gone"', first),
                (two(lambda t: t["SWITCH_TRIMMING"]["GLOBAL"].pop("tc_value")), "SWITCH_TRIMMING.GLOBAL.dscp_value", "no tc_value", none),
                (two(lambda t: t["SWITCH_TRIMMING"]["GLOBAL"].update(tc_value="8")), "SWITCH_TRIMMING.GLOBAL.tc_value", "Sluice has eight", none),
                (self.tables(SYMMETRIC, change=lambda t: t["BUFFER_QUEUE"].update({"Ethernet0|7": {"profile": "gone"}})), "BUFFER_QUEUE.Ethernet0|7.profile", '"gone"', all_trim)):
            with self.subTest(path=path, words=words):
                said, config, account = self.importing(self.file(tables), status=IN_PART)
                self.assertEqual(self.trims(config), trims)
                self.assertTrue(any(f" {path}: left out: " in line and words in line and ":-:" not in line for line in account), [line for line in account if "left out" in line])
                self.check()


class Reading(TrimmingCase):
    def test_one_dscp_for_all_ports(self):
        for trimming, keys in ((SYMMETRIC, {"size": "256B", "dscp": 11, "queue": 6}), ({**SYMMETRIC, "queue_index": "Dynamic"}, {"size": "256B", "dscp": 11}),
                               ({"dscp_value": "62"}, {"dscp": 62}), ({**SYMMETRIC, "size": "64", "dscp_value": "63", "queue_index": "7"}, {"size": "64B", "dscp": 63, "queue": 7})):
            with self.subTest(trimming=trimming):
                _, config, account = self.importing(self.file(self.tables(trimming)))
                self.assertEqual((config["trimming"], self.trims(config)), (keys, {port: [1, 2] for port in PORTS}))
                self.assertFalse(any("SWITCH_TRIMMING" in line and "no counterpart" in line for line in account))
                for field in ("size", "queue_index"):
                    self.assertEqual(any(f"SWITCH_TRIMMING.GLOBAL.{field}: assumed" in line for line in account), field not in trimming)
                self.check()

    def test_a_dscp_for_each_port(self):
        _, config, account = self.importing(self.file(self.asymmetric()))
        self.assertEqual([config["port"][port].get("trim_dscp") for port in PORTS], [12, 46, 46])
        self.assertNotIn("dscp", config.get("trimming", {}))
        self.assertEqual(self.trims(config), {port: [1, 2] for port in PORTS})
        self.assertTrue(any("TC_TO_DSCP_MAP.spine.1: no counterpart: Sluice leaves the DSCP" in line for line in account))
        self.check()
        _, config, _ = self.importing(self.file(self.tables({**BY_CLASS, "dscp_value": "FROM-TC"}, MAPS, {}, change=lambda t: t["PORT_QOS_MAP"].update({"global": {"tc_to_dscp_map": "host"}}))))
        self.assertEqual([config["port"][port].get("trim_dscp") for port in PORTS], [12, 12, 12])

    def test_maps_are_of_no_use_with_one_dscp(self):
        _, config, account = self.importing(self.file(self.tables({**SYMMETRIC, "tc_value": "5"}, MAPS, {"Ethernet0": "host"})))
        self.assertNotIn("trim_dscp", config["port"]["Ethernet0"])
        for path in ("SWITCH_TRIMMING.GLOBAL.tc_value", "TC_TO_DSCP_MAP", "PORT_QOS_MAP.Ethernet0.tc_to_dscp_map"):
            self.assertTrue(any(f" {path}: no counterpart: " in line for line in account), path)

    def test_a_later_profile_and_drop_do_not_trim(self):
        _, config, account = self.importing(self.file(self.tables(SYMMETRIC, change=lambda t: (
            t["BUFFER_QUEUE"].update({"Ethernet0|1": {"profile": "egress_lossy_profile"}}), t["BUFFER_PROFILE"]["egress_lossy_profile"].update(packet_discard_action="drop")))))
        self.assertEqual(self.trims(config), {"Ethernet0": [2], "Ethernet4": [1, 2], "Ethernet8": [1, 2]})
        self.assertTrue(any("egress_lossy_profile.packet_discard_action: taken" in line for line in account))

    def test_a_file_without_trimming_says_nothing_of_it(self):
        _, config, account = self.importing(SONIC)
        self.assertNotIn("trim", json.dumps(config) + "".join(account))


class Writing(TrimmingCase):
    def there_and_back(self, source):
        """The tables of a file of sluiced's, after the way back has come to the same keys."""
        keys = tomllib.loads(source.read_text())
        _, text, _ = self.export(source, "sonic")
        back = self.folder / "back.json"
        back.write_text(text)
        _, made = self.toml_of(back, name="made.toml")
        self.assertEqual(self.in_force(made), self.in_force(keys))
        return json.loads(text)

    def test_there_and_back(self):
        for tables in (self.tables(SYMMETRIC), self.tables({"dscp_value": "62"}), self.tables({**SYMMETRIC, "size": "1024", "queue_index": "0"}), self.asymmetric(),
                       self.tables(), self.tables(SYMMETRIC, change=lambda t: [t["BUFFER_QUEUE"].pop(key) for key in list(t["BUFFER_QUEUE"])])):
            source = self.file(tables)
            wanted = self.folder / "wanted.toml"
            run(importer.Programs.importer, source, "-o", wanted)
            with self.subTest(trimming=tables.get("SWITCH_TRIMMING")):
                made = self.there_and_back(wanted)
                said = tables.get("SWITCH_TRIMMING", {}).get("GLOBAL")
                if said is None:
                    self.assertNotIn("SWITCH_TRIMMING", made)
                elif said["dscp_value"] != "from-tc":
                    self.assertEqual(made["SWITCH_TRIMMING"]["GLOBAL"], {"size": "128", "queue_index": "dynamic", **said})
                    self.assertNotIn("TC_TO_DSCP_MAP", made)

    def test_the_tables_of_sluices_own_keys(self):
        source = self.file('[default]\nqos = "lossy-trim"\n[trimming]\nsize = 200\ntrimmable_dscp = [26]\n[port.a]\n[port.b]\n', "own.toml")
        _, text, account = self.export(source, "sonic")
        made, fates = json.loads(text), self.fates(account)
        self.assertEqual(made["SWITCH_TRIMMING"], {"GLOBAL": {"size": "200", "dscp_value": "11", "queue_index": "dynamic"}})
        self.assertEqual([made["BUFFER_PROFILE"][made["BUFFER_QUEUE"][f"{port}|{n}"]["profile"]].get("packet_discard_action") for port in "ab" for n in (0, 3, 5)], [None, "trim", None] * 2)
        self.assertEqual(fates["trimming.trimmable_dscp"][0], "cannot be said")
        self.assertTrue(any("trimming: said: SWITCH_TRIMMING.GLOBAL: size 200" in line for line in account))
        source = self.file('[default]\nqos = "lossy-trim"\n[port.a]\n[port.b]\ntrim_dscp = 12\n[port.b.queue.3]\non_full = "drop"\n[port.b.queue.1]\non_full = "trim"\n', "own.toml")
        _, text, _ = self.export(source, "sonic")
        made = json.loads(text)
        entry = made["SWITCH_TRIMMING"]["GLOBAL"]
        self.assertEqual((entry["dscp_value"], entry["tc_value"]), ("from-tc", "5"))
        self.assertEqual([made["TC_TO_DSCP_MAP"][made["PORT_QOS_MAP"][port]["tc_to_dscp_map"]] for port in "ab"], [{"5": "11"}, {"5": "12"}])
        back = self.folder / "back.json"
        back.write_text(text)
        _, config = self.toml_of(back, name="made.toml")
        self.assertEqual(self.in_force(config)[0], {"a": ([3], 11), "b": ([1], 12)})

    def test_other_makers_have_no_trimming(self):
        source = self.file('[default]\nqos = "lossy-trim"\n[trimming]\nsize = 200\n[port.a]\n[port.b]\ntrim_dscp = 12\n', "own.toml")
        for maker in ("eos", "nxos", "nvue"):
            with self.subTest(maker=maker):
                _, text, account = self.export(source, maker)
                fates = self.fates(account)
                self.assertNotIn("trim", text)
                for path in ("trimming.size", "port.a.queue.3.on_full", "port.b.trim_dscp"):
                    self.assertEqual(fates[path], ["cannot be said", "the export has no packet trimming: queues drop what they have no room for"])
                _, _, account = self.export(SONIC, maker)
                self.assertFalse([line for line in account if "trim" in line])


class Patching(TrimmingCase):
    def patch(self, tables, keys):
        """(the operations, the tables beside them); the patched switch trims as the wanted one."""
        source = self.file(tables)
        beside = self.folder / "there.tables.json"
        beside.unlink(missing_ok=True)
        _, text, _ = self.export(source, "sonic", "--apply", self.keys(keys), "--patch")
        operations, more = json.loads(text), json.loads(beside.read_text()) if beside.exists() else {}
        after = self.folder / "after.json"
        after.write_text(json.dumps({**patched(tables, operations), **more}))
        _, wanted = self.toml_of(source, "--apply", self.folder / "keys.toml")
        _, made = self.toml_of(after, name="made.toml")
        self.assertEqual((self.in_force(made), self.without_trimming(made)), (self.in_force(wanted), self.without_trimming(wanted)))
        return operations, more

    def test_keys_change_their_own_fields(self):
        operations, more = self.patch(self.tables(SYMMETRIC), '[trimming]\nsize = 192\ndscp = 12\nqueue = "dscp"\n')
        self.assertEqual(({operation["path"]: (operation["op"], operation["value"]) for operation in operations}, more),
                         ({"/SWITCH_TRIMMING/GLOBAL/size": ("replace", "192"), "/SWITCH_TRIMMING/GLOBAL/dscp_value": ("replace", "12"), "/SWITCH_TRIMMING/GLOBAL/queue_index": ("replace", "dynamic")}, {}))

    def test_the_dscp_of_a_port_stays_in_the_class_of_the_file(self):
        operations, more = self.patch(self.asymmetric(), "[port.Ethernet0]\ntrim_dscp = 13\n")
        self.assertEqual((operations, more), ([], {"TC_TO_DSCP_MAP": {"host": {"5": "13"}, "spine": {"5": "46", "1": "9"}}}))
        self.patch(self.asymmetric(), "[port.Ethernet4]\ntrim_dscp = 13\n")

    def test_queues_begin_and_cease_to_trim(self):
        operations, more = self.patch(self.tables(SYMMETRIC), '[default.queue.1]\non_full = "drop"\n')
        self.assertTrue(more["BUFFER_QUEUE"])
        self.patch(self.tables(SYMMETRIC), '[default.queue.5]\non_full = "trim"\n')
        tables = json.loads(SONIC.read_text())
        operations, more = self.patch(tables, '[trimming]\ndscp = 12\n[default.queue.5]\non_full = "trim"\n')
        self.assertIn({"op": "add", "path": "/SWITCH_TRIMMING", "value": {"GLOBAL": {"size": "128", "dscp_value": "12", "queue_index": "dynamic"}}}, operations)

    def test_one_dscp_becomes_one_for_each_port(self):
        self.patch(self.tables(SYMMETRIC), "[port.Ethernet4]\ntrim_dscp = 12\n")


if __name__ == "__main__":
    importer.main()
