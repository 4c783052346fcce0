#!/usr/bin/python3
"""Every method of the socket once, and what it answers to wrong parameters; twice the same, byte by byte."""

import json
import re

import control
from control import Case, Running, Switch
from frames import plain

CHANGED_WRED = "steep"


def calls(toml):
    """Every method at least once, in an order in which each can succeed."""
    route = {"prefix": "10.7.0.0/16", "via": ["10.0.1.2"]}
    other = {"prefix": "10.7.0.0/16", "via": [{"address": "10.0.2.2", "weight": 3}, "10.0.1.2"]}
    neighbor = {"address": "10.0.2.9", "port": "h2", "mac": "02:00:00:00:00:09"}
    return [
        ("hello", {}), ("methods", {}), ("rpc.discover", {}), ("config.keys", {}), ("config.get", {}), ("config.check", {"toml": toml}),
        ("config.diff", {"toml": toml}), ("config.set", {"path": "default.queue.3.wred", "value": CHANGED_WRED, "confirm": "5s"}),
        ("config.change", {"changes": [{"path": "default.queue.3.wred"}, {"path": "seed", "value": 1}]}), ("config.unsaved", {}),
        ("config.history", {}), ("config.set", {"path": "default.queue.3.wred", "value": CHANGED_WRED, "confirm": "5s"}),
        ("config.confirm", {}), ("config.get", {"path": "default.queue.3.wred"}), ("config.rollback", {}),
        ("config.apply", {"toml": toml}), ("config.save", {"file": "saved.toml"}), ("config.reset", {}), ("config.reload", {}), ("route.add", {"routes": [route]}),
        ("route.replace", {"routes": [other]}), ("route.list", {}), ("group.list", {}),
        ("route.lookup", {"destination": "10.7.1.1", "source": "10.0.0.2", "qp": 77}), ("route.delete", {"routes": ["10.7.0.0/16"]}),
        ("neighbor.add", {"neighbors": [neighbor]}), ("neighbor.replace", {"neighbors": [neighbor]}), ("neighbor.list", {}),
        ("neighbor.delete", {"neighbors": ["10.0.2.9"]}), ("port.set", {"port": "h2", "up": False}), ("clock.run", {"for": "1us"}),
        ("port.set", {"port": "h2", "up": True}), ("queue.hold", {"port": "h1", "queue": 3}),
        ("queue.hold", {"port": "h1", "queue": 3, "hold": False}), ("command", {"command": "watchdog stop h1"}),
        ("events.subscribe", {"from": 0}), ("events.list", {"from": 1}), ("stats.watch", {"path": "ledger", "every": "10ms"}),
        ("stats.watch", {"every": "off"}), ("stats.show", {"path": "ports.h1.queues.3"}), ("stats.clear", {}), ("stats.since", {"path": "ports.h1"}),
        ("stats.since", {"path": "ports.h1", "from": "start", "buckets": True}), ("qos.show", {}),
        ("worker.show", {}), ("worker.meter", {"on": False}), ("control.show", {}),
        ("clock.show", {}), ("clock.run", {}), ("command", {"command": "decisions off"}), ("decisions.list", {"last": 3}),
        ("mirror.show", {}), ("why.show", {"at": "h1.3", "last": 5}), ("why.flow", {"destination": "10.0.1.2", "source": "10.0.0.2", "qp": 77}),
    ]


def switch_of(test):
    """One in which all of `calls` succeed."""
    switch = Switch(test, hosts=3)
    switch.give("h0", [(1000 * n, plain(200)) for n in range(20)])
    switch.section("decisions", record="on")
    return switch


class Methods(Case):
    def switch(self):
        return switch_of(self)

    def everything(self):
        """The answers of the whole list, without fields that differ from run to run."""
        switch = self.switch()
        running = Running(switch)
        said = [(method, running.call(method, **params)) for method, params in calls(running.config.read_text())]
        happened = running.call("events.list")["events"]
        self.assertGreater(len(happened), 5)
        for number, event in enumerate(happened):  # each is sent once, in order
            line = running.first.next_notification()
            while line["method"] != "event":
                line = running.first.next_notification()
            self.assertEqual(line["params"], {**event, "number": number})
        known = {method["name"] for method in running.call("methods")}
        self.assertEqual(known - {method for method, _ in said}, set(), "not tried")
        out = running.stop(accounts=True)
        self.assertEqual(len(out.frames["h1"]), 20)
        text = json.dumps([said, out.report]).replace(str(switch.folder), "FOLDER")
        return json.loads(re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "NOW", text))

    def test_every_method_twice_the_same(self):
        first, second = self.everything(), self.everything()
        for said in (first, second):
            del said[0][0][1]["pid"]
            account = next(answer for method, answer in said[0] if method == "control.show")
            self.assertGreater(account["handlers"], 0)
            account.clear()  # how the requests fell into rounds differs
        self.assertEqual(first, second)

    def test_what_they_say(self):
        running = Running(self.switch())
        hello = running.call("hello")
        self.assertEqual((hello["name"], hello["api"], hello["clock"], hello["ports"]), ("sluice", 1, "virtual", ["h0", "h1", "h2"]))
        self.assertEqual(running.call("clock.show"), {"now_ns": 0})
        self.assertEqual(running.call("clock.run", **{"for": "5us"}), {"now_ns": 5000})
        self.assertEqual(running.call("stats.show", path="ledger.rx"), 6)
        changed = running.call("config.set", path="port.h1.queue.3.wred", value="steep")
        self.assertEqual([(c["path"], c["to"]) for c in changed["changes"]], [("port.h1.queue.3.wred", '"steep"')])
        qos = running.call("qos.show")
        self.assertEqual(qos["ports"]["h1"]["queues"][3]["wred"], "steep")
        self.assertEqual(qos["ports"]["h0"]["queues"][3]["wred"], "linear")
        self.assertEqual(qos["configured"], [{"path": "buffer.size", "value": '"2MB"'}, {"path": "port.h1.queue.3.wred", "value": '"steep"'}])
        self.assertEqual(qos["exceptions"], [])
        said = running.call("decisions.list", last=2)
        self.assertEqual((said["recorded"], [(record["verdict"], record["port"], record["sequence"]) for record in said["records"]]),
                         (6, [("sent", "h0", 4), ("sent", "h0", 5)]))
        self.assertEqual(len(running.call("decisions.list")["records"]), 6)
        self.assertEqual(running.call("route.lookup", destination="10.0.1.2")["port"], "h1")
        lost = running.call("route.lookup", destination="192.0.2.1")
        self.assertEqual((lost["port"], lost["drop"]), (None, "no_route"))
        running.stop()

    def test_what_they_refuse(self):
        running = Running(self.switch())
        before = running.call("config.get")
        table = [  # method, parameters, code, words
            ("no.such", {}, -32601, ["no.such"]),
            ("hello", {"more": 1}, -32602, ["more"]),
            ("config.get", {"path": "port.h0.sped"}, -32000, ["port.h0.sped"]),
            ("config.get", {"path": 5}, -32602, ["path"]),
            ("config.set", {"path": "port.h0.mtu"}, -32602, ["value", "missing"]),
            ("config.set", {"path": "port.h0.mtu", "value": 9216, "confirm": "soon"}, -32602, ["soon"]),
            ("config.set", {"path": "port.h0.mtu", "value": 99999}, -32000, ["port.h0.mtu"]),
            ("config.set", {"path": "port.h0.speed", "value": "25G"}, -32000, ["cannot change while the switch runs"]),
            ("config.set", {"path": "watchdog.detection", "value": "1s\nseed = 2"}, -32000, ["line"]),
            ("config.apply", {"toml": "port = ["}, -32000, []),
            ("config.apply", {"toml": before["toml"].replace("port.h2]", "port.h9]").replace('"h2"', '"h9"')}, -32000, ["h2"]),
            ("config.confirm", {}, -32000, ["nothing waits"]),
            ("config.confirm", {"trial": True}, -32000, ["nothing is tried"]),
            ("config.rollback", {"trial": True}, -32000, ["nothing is tried"]),
            ("config.rollback", {"trial": 1}, -32602, ["trial"]),
            ("stats.since", {"from": "soon"}, -32602, ["soon"]),
            ("stats.since", {"from": 5}, -32602, ["from"]),
            ("stats.since", {"path": "ports.h9"}, -32602, ["h9"]),
            ("decisions.list", {"last": 0}, -32602, ["last", "1000"]),
            ("decisions.list", {"last": 1001}, -32602, ["last", "1000"]),
            ("config.rollback", {}, -32000, ["nothing has been changed"]),
            ("config.save", {"file": "../x.toml"}, -32000, ["plain file name"]),
            ("config.save", {"file": ".hidden"}, -32000, ["plain file name"]),
            ("route.add", {"routes": [7]}, -32602, ["routes[0]: must be an object"]),
            ("route.add", {"routes": [{"prefix": "10.7.0.0/16"}]}, -32602, ["routes[0].via", "is missing"]),
            ("route.add", {"routes": [{"prefix": "10.7.0.1/16", "via": ["10.0.1.2"]}]}, -32602, ["10.7.0.1/16"]),
            ("route.add", {"routes": [{"prefix": "10.7.0.0/16", "via": ["10.0.9.9"]}]}, -32000, ["10.0.9.9"]),
            ("route.add", {"routes": [{"prefix": "10.7.0.0/16", "via": []}]}, -32602, ["1 to 256"]),
            ("route.add", {"routes": [{"prefix": "10.7.0.0/16", "via": "blackhole"}] * 2}, -32000, ["twice"]),
            ("route.delete", {"routes": ["10.7.0.0/16"]}, -32000, ["10.7.0.0/16"]),
            ("neighbor.add", {"neighbors": [{"address": "10.0.2.9", "port": "h9", "mac": "02:00:00:00:00:09"}]}, -32000, ["h9"]),
            ("neighbor.add", {"neighbors": [{"address": "10.0.2.9", "port": "h2", "mac": "02::9"}]}, -32602, ["02::9"]),
            ("neighbor.delete", {"neighbors": ["10.0.2.77"]}, -32000, ["10.0.2.77"]),
            ("neighbor.delete", {"neighbors": ["10.0.1.2", "10.0.2.77"]}, -32000, ["10.0.2.77"]),
            ("route.lookup", {"destination": "10.0.1.2", "source": "::1"}, -32602, ["family"]),
            ("route.lookup", {"destination": "10.0.1.2", "sport": 70000}, -32602, ["65535"]),
            ("port.set", {"port": "h9", "up": True}, -32000, ["h9"]),
            ("port.set", {"port": "h1", "up": 1}, -32602, ["true or false"]),
            ("queue.hold", {"port": "h1", "queue": 8}, -32602, ["0 to 7"]),
            ("queue.hold", {"port": "h1", "queue": -1}, -32602, ["0 to 7"]),
            ("command", {"command": "format c:"}, -32000, ["format"]),
            ("command", {"command": "fault h1 drop_every none"}, -32000, ["none"]),
            ("stats.show", {"path": "ports.h9"}, -32602, ["h9"]),
            ("stats.watch", {"every": "1us"}, -32602, ["1us"]),
            ("stats.watch", {"path": "nowhere"}, -32602, ["nowhere"]),
            ("events.list", {"from": -1}, -32602, ["from"]),
            ("worker.meter", {"on": True}, -32000, ["virtual clock"]),
            ("worker.meter", {"on": "yes"}, -32602, ["true or false"]),
            ("clock.run", {"for": "later"}, -32602, ["later"]),
        ]
        for method, params, code, words in table:
            with self.subTest(method=method, params=params):
                error = running.refused(method, **params)
                self.assertEqual(error.code, code, error.message)
                for word in words:
                    self.assertIn(word, error.message)
        self.assertEqual(running.call("config.get"), before)
        self.assertEqual(running.call("config.diff", toml=running.config.read_text()), [])
        running.stop()

    def test_a_clock_that_runs_by_itself_is_only_looked_at(self):
        switch = self.switch()
        switch.give("h0", [(1000000 * n, plain(200)) for n in range(200000)])
        running = Running(switch, interactive=False)
        self.assertEqual(running.call("hello")["interactive"], False)
        for method, params in (("port.set", {"port": "h0", "up": False}), ("clock.run", {}), ("stats.clear", {}),
                               ("config.set", {"path": "watchdog.action", "value": "off"})):
            self.assertEqual(running.refused(method, **params).code, -32001)
        running.stop(status=143)  # before its end

    def test_what_is_taken_up_at_start_only_is_refused(self):
        running = Running(self.switch())
        toml = running.call("config.get")["toml"]
        for change in ('[[event]]\nat = "1ms"\ndo = "port h0 down"\n', '[port.h7]\ndevice = "net_pcap7,tx_pcap=x.pcap"\n'):
            diff = running.call("config.diff", toml=toml + change)
            self.assertEqual([one["restart"] for one in diff], [True] * len(diff), diff)
            self.assertIn("cannot change while", running.refused("config.apply", toml=toml + change).message)
        self.assertEqual(running.call("config.get")["toml"], toml)
        running.stop()

    def test_a_route_cannot_lose_its_next_hop(self):
        """The running configuration can always be saved and started."""
        running = Running(self.switch())
        running.call("route.add", routes=[{"prefix": "10.7.0.0/16", "via": ["10.0.1.2"]}])
        self.assertIn("10.7.0.0/16", running.refused("neighbor.delete", neighbors=["10.0.1.2"]).message)
        self.assertIn("our own", running.refused("route.replace", routes=[{"prefix": "10.7.0.0/16", "via": ["10.0.0.1"]}]).message)
        self.assertTrue(running.call("config.check", toml=running.call("config.get")["toml"])["usable"])
        running.call("config.set", path="watchdog.action", value="alert")
        running.stop()

    def test_thousands_of_routes_in_one_line(self):
        running = Running(self.switch())
        prefixes = [f"10.{64 + n // 256}.{n % 256}.0/24" for n in range(5000)]
        bulk = [{"prefix": prefix, "via": ["10.0.1.2", "10.0.2.2"]} for prefix in prefixes]
        bad = bulk + [{"prefix": "10.7.0.0/16", "via": ["10.0.9.9"]}]
        self.assertIn("10.0.9.9", running.refused("route.add", routes=bad).message)
        self.assertEqual(running.call("route.list"), [], "all or none")
        self.assertEqual(running.call("route.add", routes=bulk)["changed"], 5000)
        self.assertIn("there already", running.refused("route.add", routes=bulk[:1]).message)
        self.assertEqual(running.call("route.lookup", destination="10.64.3.1")["prefix"], "10.64.3.0/24")
        self.assertEqual(running.call("route.delete", routes=prefixes[1:])["changed"], 4999)
        self.assertEqual([route["prefix"] for route in running.call("route.list")], prefixes[:1])
        running.stop()


if __name__ == "__main__":
    control.main()
