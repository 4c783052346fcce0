#!/usr/bin/python3
"""The running configuration is always one that could be saved and started: it loads back equal, whatever is asked."""

import random

import control
from control import Case, Refused, Running, Switch
from frames import plain

SEED = 20
ROUNDS, BATCH = (400, 50) if control.loopback.LONG else (60, 50)

GOOD = {
    "string": ["lossless", "lossy", "lossy-trim", "trim", "drop", "semi-lossless", "steep", "linear", "none", "sonic", "mine", "default", "obey", "ignore"],
    "other": [True, False, 0, 1, 3, 7, 50, 9100, "10KB", "150KB", "1.5MB", "200ms", "500ms", "10us", "10G", "100G", "5m", "1%", "50ppm",
              "dscp", "pcp", "port", "strict", "dwrr", "drop", "alert", "off", "dequeue", "enqueue", "sojourn", "symmetric", "asymmetric"],
    "lists": ["[3]", "[3, 4]", "[]", '["10.0.0.1/24"]', '{"26" = 3}', '["h0"]'],
}
BAD = ["-1", "1e3", "nan", "", " ", "\"", "]", "{", "5\nseed = 2", "99999999999999999999", "0x10", "1.5B", "\u00e9\u0000", "[[[[", "= 3", "#",
       "a" * 5000, "'''", "true false", "10.0.0.0/33", "1979-05-27", "{a = {b = 1}}", None, [], {}, [1, "x"], {"a": 1}, -5, 1.5, 1e300]


class RoundTrip(Case):
    def path_of(self, rng, key):
        """A key of the schema with names put in, sometimes spoilt."""
        path = key.replace("NAME", rng.choice(["h0", "h1", "h2", "mine", "default", "h9", "a.b", "x y", ""]), 1).replace(
            ".N", f".{rng.choice([0, 1, 3, 6, 7, 8, 'x'])}")
        if rng.random() < 0.2 and path.startswith("port."):
            path = "default." + path.split(".", 2)[2]
        if rng.random() < 0.03:
            at = rng.randrange(len(path) + 1)
            path = path[:at] + rng.choice([".", "..", "\n", "\"", "]", "=", " ", "\u00e9"]) + path[at:]
        return path

    def value_of(self, rng, key):
        if rng.random() < 0.15:
            return rng.choice(BAD)
        if rng.random() < 0.3 and key["default"] not in ("", "preset"):
            return key["default"].strip('"')
        return rng.choice(GOOD[rng.choice(list(GOOD))])

    def test_whatever_is_set(self):
        rng = random.Random(SEED)
        switch = Switch(self, hosts=3)
        switch.section("wred.mine", green_min="10KB", green_max="20KB")
        switch.give("h0", [(100000 * n, plain(200, dscp=26)) for n in range(2 * ROUNDS)])
        switch.roce_host("h2")
        running = Running(switch)
        keys = running.call("config.keys")
        done = refused = 0
        for number in range(ROUNDS):
            for _ in range(BATCH):
                key = rng.choice(keys)
                before = running.call("config.get")
                path, value = self.path_of(rng, key["path"]), self.value_of(rng, key)
                try:
                    running.call("config.set", path=path, value=value)
                    done += 1
                except Refused as error:
                    refused += 1
                    self.assertTrue(error.message)
                    self.assertEqual(running.call("config.get"), before, f"half applied: {path} = {value!r}: {error.message}")
            text = running.call("config.get")["toml"]
            self.assertEqual(running.call("config.diff", toml=text), [], f"seed {SEED}, round {number}")
            self.assertTrue(running.call("config.check", toml=text)["usable"], text)
            running.call("clock.run", **{"for": "100us"})
            if number % 10 == 9:
                running.call("config.rollback")
                self.assertEqual(running.call("config.diff", toml=running.call("config.get")["toml"]), [])
        self.assertGreater(done, ROUNDS * BATCH // 20, "hardly anything was good")
        self.assertGreater(refused, ROUNDS * BATCH // 20, "hardly anything was bad")
        print(f"{done} values set, {refused} refused")
        text = running.call("config.get")["toml"]
        running.call("config.save", file="saved.toml")
        running.call("clock.run")
        running.stop()
        again = Running(switch, config=(running.folder / "saved.toml").read_text())
        self.assertEqual(again.call("config.get")["toml"], text)
        again.stop()

    def test_every_path_that_is_printed_is_taken(self):
        """By `config get`, and by `config set` with the value got, which then changes nothing."""
        switch = Switch(self, hosts=2)
        switch.section("map.default", cnp_tc=4, dscp_to_tc={"8": 1})
        switch.section("map.mine", dscp_to_tc={"46": 5})
        switch.section('map."dotted.name"', roce_tc=3)
        switch.section("wred.mine", green_min="10KB", green_max="20KB")
        switch.section("mirror.mine", file="mine.pcapng", on=["delay", "pause"], reason=["no_route"])
        for name in ("w0", "w1"):
            switch.ports[name] = {}
        switch.section("wire.mine", ports=["w0", "w1"])
        switch.section("wire.mine.impair.mine", do="reorder", time="20us", match={"psn": "5..9", "opcode": "ack", "probability": "5%"})
        switch.roce_host("h0", g="1/16", drain="40G")
        switch.event("1s", "port h1 down")
        switch.route("10.7.0.0/16", "10.0.1.2")
        running = Running(switch)
        names = {"port": ["h0", "h1"], "map": ["default", "mine", "dotted.name"], "wred": ["mine"], "mirror": ["mine"], "wire": ["mine"], "pool": [],
                 "host": ["h0"]}
        paths = []
        for key in running.call("config.keys"):
            if "[]" in key["path"]:
                continue
            section = key["path"].split(".")[0]
            for name in names[section] if ".NAME" in key["path"] else [""]:
                for number in range(8 if ".N." in key["path"] else 1):
                    paths.append(key["path"].replace("NAME", name).replace(".N.", f".{number}."))
        paths += [path.replace("port.h0.", "default.", 1) for path in paths if path.startswith("port.h0.")]
        paths += [path.replace("host.h0.", "host.default.", 1) for path in paths
                  if path.startswith("host.h0.") and path[8:] not in ("port", "address", "mac")]
        paths += ["default.map.cnp_tc", "default.port.mtu", "map.default.dscp_to_tc.8", "map.mine.pcp_to_tc.3", "default.map.dscp_to_tc.9"]
        self.assertGreater(len(paths), 600)
        toml = running.call("config.get")["toml"]
        taken = {}
        for path in paths:
            taken[path] = running.call("config.get", path=path)["value"]
            self.assertEqual(running.call("config.set", path=path, value=taken[path])["changes"], [], path)
        self.assertEqual(running.call("config.get")["toml"], toml)
        # The text of changes, of sets and of whole files.
        said = []
        for path, value in (("map.default.dscp_to_tc", '{"8" = 2, "9" = 3}'), ("map.dotted.name.cnp_tc", 5), ("map.mine.dscp_to_tc.47", 5),
                            ("default.queue.3.wred", "steep"), ("default.qos", "lossy"), ("port.h1.pfc", "[4]")):
            said += running.call("config.set", path=path, value=value)["changes"]
        more = '\n[[neighbor]]\naddress = "10.0.1.9"\nport = "h1"\nmac = "02:00:00:00:00:09"\n'
        said += running.call("config.apply", toml=toml + more)["changes"]
        self.assertEqual(running.call("config.get", path="neighbor.10.0.1.9")["value"], "port h1 mac 02:00:00:00:00:09")
        said += running.call("config.rollback")["changes"]
        said = [change["path"] for change in said]
        for path in ("map.default.dscp_to_tc.9", "map.dotted.name.cnp_tc", "map.mine.dscp_to_tc.47", "neighbor.10.0.1.9"):
            self.assertIn(path, said)
        said += [change["path"] for change in running.call("qos.show")["configured"]]
        running.call("config.apply", toml=toml + more)
        for path in [*said, "route.10.7.0.0/16", "event.0", "port.h1", "port.h1.queue.3", "map.mine", "buffer"]:
            value = running.call("config.get", path=path)["value"]
            if path.split(".")[0] in ("map", "default") and path not in ("map.mine",):
                self.assertEqual(running.call("config.set", path=path, value=value)["changes"], [], path)
        running.stop()

    def test_get_says_what_is_in_force(self):
        """For maps, which start from the map "default"; and nothing of what is not there."""
        switch = Switch(self, hosts=2)
        switch.section("map.default", cnp_tc=4, dscp_to_tc={"8": 1})
        switch.section("map.mine", roce_tc=3)
        running = Running(switch)
        for path, wanted in (("map.mine.cnp_tc", "4"), ("map.mine.dscp_to_tc.8", "1"), ("map.default.cnp_tc", "4"),
                             ("map.mine.roce_tc", "3"), ("map.default.roce_tc", '"dscp"'), ("default.map.cnp_tc", "4")):
            with self.subTest(path=path):
                self.assertEqual(running.call("config.get", path=path)["value"], wanted)
        self.assertIn('"8" = 1', running.call("config.get", path="map.mine.dscp_to_tc")["value"])
        running.call("config.set", path="map.default.cnp_tc", value=5)
        self.assertEqual(running.call("config.get", path="map.mine.cnp_tc")["value"], "5")
        for path, words in (("port.nosuch.speed", ['port has no "nosuch"', "h0, h1"]), ("port.h0.queue.8.wred", ['port.h0.queue has no "8"']),
                            ("port.h0.priority_group.9.xoff", ['has no "9"']), ("map.other.cnp_tc", ['map has no "other"', "default, mine"]),
                            ("wred.linear.green_min", ['"wred"']), ("map.mine.dscp_to_tc.64", ['has no "64"']),
                            ("route.10.7.0.0/16", ["no such key"]), ("event.0", ["no such key"]), ("", []), ("port.h0.sped", ["no such key"]),
                            (".", []), ("port..speed", []), ("port.", []), ("port.h0.", [])):
            with self.subTest(path=path):
                if path:
                    error = running.refused("config.get", path=path)
                    for word in words:
                        self.assertIn(word, f"{error.message} {error.data}")
        running.stop()

    def test_a_value_is_what_was_set(self):
        running = Running(Switch(self, hosts=2))
        for path, value, told in (("port.h1.queue.3.wred", "steep", '"steep"'), ("port.h1.priority_group.3.dynamic_th", -1, "-1"),
                                  ("default.microburst", "300KB", '"300KB"'), ("watchdog.detection", "500ms", '"500ms"'),
                                  ("port.h0.pfc", "[3]", "[3]"), ("port.h0.trust", "pcp", '"pcp"')):
            with self.subTest(path=path):
                running.call("config.set", path=path, value=value)
                self.assertEqual(running.call("config.get", path=path), {"path": path, "value": told})
                self.assertEqual(running.call("config.diff", toml=running.call("config.get")["toml"]), [])
        changes = running.call("config.diff", toml=running.config.read_text())
        self.assertTrue(all(change["to"] is None for change in changes), changes)
        self.assertEqual(len(running.call("config.apply", toml=running.config.read_text())["changes"]), len(changes))
        self.assertEqual(running.call("config.diff", toml=running.config.read_text()), [])
        running.stop()


if __name__ == "__main__":
    control.main()
