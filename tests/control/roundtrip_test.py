#!/usr/bin/python3
"""The running configuration is always one that could be saved and started: it loads back equal, whatever is asked."""

import random

import control
from control import Case, Refused, Running, Switch
from frames import plain

SEED = 20
ROUNDS, BATCH = (400, 50) if control.loopback.LONG else (60, 50)

GOOD = {
    "string": ["lossless", "lossy", "semi-lossless", "steep", "linear", "none", "sonic", "mine", "default", "obey", "ignore"],
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

    def test_a_value_is_what_was_set(self):
        running = Running(Switch(self, hosts=2))
        for path, value, told in (("port.h1.queue.3.wred", "steep", '"steep"'), ("port.h1.priority_group.3.dynamic_th", -1, "-1"),
                                  ("default.microburst", "300KB", '"300KB"'), ("watchdog.detection", "500ms", '"500ms"'),
                                  ("port.h0.pfc", "[3]", "[ 3 ]"), ("port.h0.trust", "pcp", '"pcp"')):
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
