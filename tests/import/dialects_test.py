#!/usr/bin/python3
"""SONiC's tables as other tools write them, and what SONiC does where a value is missing; one judge with `sluiced --check`; the account."""

import json
import re

import importer
from importer import IN_PART, REFUSED, SONIC, Case, Programs, run


class Shapes(Case):
    def same(self, content, name="config_db.json"):
        _, config, _ = self.importing(SONIC)
        _, other, _ = self.importing(self.file(content, name))
        self.assertEqual(other, config)

    def test_the_shapes_that_tools_write_are_one(self):
        tables = json.loads(SONIC.read_text())
        self.same([{name: table} for name, table in tables.items()])
        self.same("\ufeff" + SONIC.read_text())
        self.same("admin@sonic:~$ cat /etc/sonic/config_db.json\n" + SONIC.read_text() + "\nadmin@sonic:~$ \n")
        self.same({f"{table}|{key}": {"type": "hash", "ttl": -0.001, "value": entry} for table, entries in tables.items() for key, entry in entries.items()})
        self.same([{f"{table}_TABLE:{key.replace('|', ':') if table not in ('INTERFACE', 'STATIC_ROUTE') else key}": entry, "OP": "SET"}
                   for table, entries in tables.items() for key, entry in entries.items()])
        self.refused([{"op": "add", "path": "/PORT/Ethernet0", "value": {}}], "JSON patch", "config apply-patch")

    def test_white_space_around_a_value_is_none(self):
        around = re.compile("([|,])")

        def spaced(value):
            if isinstance(value, dict):
                return {" " + around.sub(r" \1 ", name) + "\t": spaced(member) for name, member in value.items()}
            return " " + around.sub(r" \1 ", value) + " " if isinstance(value, str) else value
        self.same(spaced(json.loads(SONIC.read_text())))

    def test_other_makers_are_told_apart(self):
        for maker, text in (
                ("Junos", "set class-of-service classifiers dscp C forwarding-class F loss-priority low code-points 26\n"),
                ("Junos", "class-of-service {\n    congestion-notification-profile {\n    }\n}\n"),
                ("NCLU", "net add interface swp1 mtu 9216\n"), ("XML", "<config>\n</config>\n"),
                ("OpenConfig", {"openconfig-qos:qos": {"config": {}}})):
            with self.subTest(maker=maker):
                said = self.refused(text, maker, "SONiC's config_db.json", "nv config show", name="switch.cfg")
                self.assertEqual(len(said.splitlines()), 1)
        self.refused("nothing of the kind\n", "SONiC's config_db.json", name="switch.cfg")


class LikeSonic(Case):
    """What SONiC does where a value is missing, or means something of its own."""

    def test_wred_and_ecn_are_two_switches(self):
        for drop in ("true", "false", None):
            for ecn in ("ecn_all", "ecn_none"):
                def switches(tables):
                    profile = tables["WRED_PROFILE"]["LAB_LOSSLESS"]
                    for color in ("green", "yellow", "red"):
                        profile.pop(f"wred_{color}_enable", None)
                        if drop:
                            profile[f"wred_{color}_enable"] = drop
                    profile["ecn"] = ecn
                _, config, _ = self.importing(self.file(self.changed(switches)))
                wred = config["wred"]["LAB_LOSSLESS"]
                self.assertEqual((wred.get("drop_non_ect"), wred.get("ecn", True)), (None if drop == "true" else False, ecn == "ecn_all"))
                self.assertEqual((wred["green_min"], "ect_min" in wred), ("1MiB", False))
                self.check()

    def test_a_profile_without_drops_marks_and_lets_the_rest_pass(self):
        def switches(tables):
            for color in ("green", "yellow", "red"):
                tables["WRED_PROFILE"]["LAB_LOSSLESS"][f"wred_{color}_enable"] = "false"
                tables["WRED_PROFILE"]["LAB_LOSSLESS"][f"{color}_min_threshold"] = tables["WRED_PROFILE"]["LAB_LOSSLESS"][f"{color}_max_threshold"] = "0"
            tables["QUEUE"]["Ethernet4|1"] = {"wred_profile": "LAB_LOSSLESS"}
        self.importing(self.file(self.changed(switches)))
        text = self.out.read_text() + ('[[flow]]\nfrom = ["Ethernet0"]\nto = "Ethernet4"\ndscp = 0\nmessage = "20KB"\nstop = "1ms"\n')
        self.out.write_text(text)
        done = run(Programs.sluiced, "--config", self.out, "--assert", "ports.Ethernet4.queues.1.ecn_marked_packets gt 5",
                   "--assert", "ports.Ethernet4.queues.1.wred_dropped_packets eq 0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run(Programs.importer, self.out, "--to", "sonic")
        profile = json.loads(done.stdout)["WRED_PROFILE"]["LAB_LOSSLESS"]
        self.assertEqual((profile["wred_green_enable"], profile["ecn"], profile["green_max_threshold"]), ("false", "ecn_all", "0"), done.stderr)

    def test_shapers_and_their_bursts(self):
        """pir and cir in bytes a second, pbs and cbs in bytes; a queue's or a port's."""
        def shapers(tables, **more):
            tables["SCHEDULER"]["shaped"] = {"type": "DWRR", "weight": "3", "pir": "1250000000", "pbs": "8192", **more}
            tables["QUEUE"]["Ethernet4|1"] = {"scheduler": "shaped"}
            for port in ("Ethernet0", "Ethernet4", "Ethernet8"):
                tables["PORT_QOS_MAP"][port]["scheduler"] = "shaped"
        queue = lambda config, key: self.value(config, "Ethernet4", "queue", "1", key)  # noqa: E731
        for more, rate, burst, told in (
                ({}, "10G", "8KiB", None),
                ({"meter_type": "bytes", "cir": "250000000", "cbs": "4096"}, "10G", "8KiB", "cbs: no counterpart: a min_rate has no burst"),
                ({"pbs": "0"}, "10G", None, None),
                ({"pbs": "4000000"}, "10G", "1MB", 'pbs: assumed: shaper_burst = "1MB", the longest there is'),
                ({"pir": "0"}, None, None, "pbs: no counterpart: a burst of no rate"),
                ({"meter_type": "packets"}, None, None, "meter_type: no counterpart")):
            with self.subTest(more):
                _, config, account = self.importing(self.file(self.changed(lambda tables: shapers(tables, **more))))
                self.check()
                self.assertEqual([self.value(config, "Ethernet4", key) for key in ("shaper", "shaper_burst")], [rate, burst])
                self.assertEqual([queue(config, key) for key in ("max_rate", "max_burst")], [rate, burst])
                self.assertEqual(queue(config, "min_rate"), "2G" if "cir" in more else None)
                if told:
                    self.assertTrue(any(f"SCHEDULER.shaped.{told}" in line for line in account), account)
                self.assertFalse(any(line.startswith("SCHEDULER.shaped.pbs") and "left out" in line for line in account))
                done = run(Programs.importer, self.out, "--to", "sonic")
                again = self.importing(self.file(json.loads(done.stdout)))[1]
                for key in ("shaper", "shaper_burst"):
                    self.assertEqual(self.value(again, "Ethernet4", key), self.value(config, "Ethernet4", key))
                self.assertEqual(queue(again, "max_burst"), queue(config, "max_burst"))
        self.assertIn("pbs", self.refused(self.changed(lambda tables: shapers(tables, pbs="many")), '"many" is not a number'))

    def test_thresholds_of_ect_packets(self):
        _, config, account = self.importing(self.file(self.changed(lambda t: t["WRED_PROFILE"]["LAB_LOSSLESS"].update(
            green_ect_min_threshold="50000", green_ect_max_threshold="90000", green_ect_mark_probability="20", red_ect_min_threshold="1"))))
        wred = config["wred"]["LAB_LOSSLESS"]
        self.assertEqual((wred["ect_min"], wred["ect_max"], wred["ect_probability"]), ("50KB", "90KB", "20%"))
        self.assertTrue(any("red_ect_min_threshold: no counterpart: wred.LAB_LOSSLESS.ect_min_threshold is one for all colors" in line for line in account))

    def test_a_watchdog_without_times(self):
        _, config, account = self.importing(self.file(self.changed(lambda t: t["PFC_WD"]["Ethernet0"].pop("restoration_time"))))
        self.assertEqual(self.value(config, "Ethernet0", "watchdog", "restoration"), "60s")
        self.assertTrue(any("restoration_time: assumed: " in line and "never restores" in line for line in account))
        _, config, account = self.importing(self.file(self.changed(lambda t: t["PFC_WD"]["Ethernet0"].pop("detection_time"))))
        self.assertEqual(self.value(config, "Ethernet0", "watchdog", "action"), "off")
        self.assertTrue(any("PFC_WD.Ethernet0: assumed: " in line and "no detection_time" in line for line in account))
        for poll, late in (("100", False), ("5000", True)):
            _, _, account = self.importing(self.file(self.changed(lambda t: t["PFC_WD"].update(GLOBAL={"POLL_INTERVAL": poll}))))
            self.assertEqual(any("POLL_INTERVAL: assumed: " in line and "is above the detection time of port Ethernet0" in line for line in account), late)

    def test_a_cable_of_0m_has_no_lossless_class(self):
        def cables(tables):
            tables["CABLE_LENGTH"]["AZURE"]["Ethernet4"] = "0m"
            tables["BUFFER_PG"]["Ethernet4|3-4"] = {"profile": "NULL"}
        said, config, account = self.importing(self.file(self.changed(cables)))
        self.assertIn("of 1 port with PFC", said)
        self.assertIs(self.value(config, "Ethernet4", "priority_group", "3", "lossless"), False)
        self.assertTrue(any("BUFFER_PG.Ethernet4|3-4.profile: assumed: groups 3, 4: lossy, SONiC makes no lossless profile" in line for line in account))

    def test_a_group_that_becomes_lossy_is_told(self):
        _, config, account = self.importing(self.file(self.changed(lambda t: t["PORT_QOS_MAP"]["Ethernet0"].update(pfc_enable="3"))))
        self.assertEqual(self.value(config, "Ethernet0", "pfc"), [3])
        self.assertTrue(any("assumed: group 4: lossy, pfc_enable of the port does not name the class" in line for line in account))

    def test_queues_beyond_eight_have_no_counterpart(self):
        _, config, account = self.importing(self.file(self.changed(lambda t: (
            t["QUEUE"].update({"Ethernet4|6-9": {"scheduler": "scheduler.strict"}, "Ethernet4|8": {"scheduler": "scheduler.0"}})))))
        self.assertEqual(self.value(config, "Ethernet4", "queue", "7", "scheduler"), "strict")
        self.assertTrue(any("QUEUE.Ethernet4|8: no counterpart: it is beyond" in line for line in account))
        self.assertTrue(any("QUEUE.Ethernet4|6-9: no counterpart: up to 9" in line for line in account))


class OneJudge(Case):
    """Exit status 0 is a file that `sluiced --check` takes."""

    def test_many_ports_without_pools(self):
        for count in (1, 16, 128, 256):
            self.importing(self.file({"PORT": {f"Ethernet{n}": {"speed": "400000", "mtu": "9100"} for n in range(count)},
                                      "PORT_QOS_MAP": {f"Ethernet{n}": {"pfc_enable": "3,4"} for n in range(count)}}))
            self.check()

    def test_a_shared_headroom_that_is_too_small_runs_and_is_not_lossless(self):
        def small(tables):
            tables["BUFFER_POOL"]["ingress_pool"]["xoff"] = "10000"
        said, _, _ = self.importing(self.file(self.changed(small)))
        self.assertIn("NOT lossless", said)
        self.assertIn("accepted by small_xoff", self.check())

    def test_a_buffer_that_no_machine_has(self):
        def deep(tables):
            tables["BUFFER_POOL"]["ingress_pool"]["size"] = "400000000000"
        said = self.refused(self.changed(deep), "memory", "cell = ", "packet_buffer", "sluiced --check would refuse it")
        self.importing(self.file(self.changed(deep)), "--force")
        self.assertEqual(run(Programs.sluiced, "--config", self.out, "--check").returncode, REFUSED)
        self.importing(self.file(self.changed(deep)), "--buffer", "16MB")
        self.check()


class ForReading(Case):
    def test_what_matters_comes_first_and_what_is_taken_is_a_count(self):
        said, _, account = self.importing(self.file(self.changed(lambda t: t["QUEUE"].update({"Ethernet0|7": {"scheduler": "gone"}}))), status=IN_PART)
        fates = [re.match(r".*config_db\.json: \d+ lines? (.*?)(?::|$)", line)[1] for line in said.splitlines() if re.match(r".*config_db\.json: \d+ line", line)]
        self.assertEqual(fates, ["left out", "assumed", "no counterpart", "taken"])
        self.assertRegex(said, r"\d+ lines taken: --account FILE has them\n$")
        of_lines = [re.match(r".*?:(?:\d+:\d+|-): .*?: (left out|assumed|no counterpart|taken): ", line)[1] for line in account]
        self.assertEqual(sorted(of_lines, key=["left out", "assumed", "no counterpart", "taken"].index), of_lines)
        self.assertEqual(f"{of_lines.count('taken')} lines taken" in said, True)


if __name__ == "__main__":
    importer.main()
