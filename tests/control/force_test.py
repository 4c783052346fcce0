#!/usr/bin/python3
"""--force: a configuration that errors call lossy runs, and says for what; one that cannot be is refused all the same."""

import os
import re
import socket
import subprocess

import control
from control import Case, Programs, Running, Switch
from frames import plain

CONFIGURATION = 2
ROCE = 26
CPUS = os.cpu_count()

# A configuration for each error: keys of sections, beside three hosts under the virtual clock.
FORCED = {
    "headroom-small": {"port.h0.priority_group.3": {"xoff": 1024}},
    "headroom-pool": {"pool.all": {"direction": "ingress", "size": "12MB", "shared_headroom": 1024}},
    "lossless-without-pfc": {"port.h0": {"pfc_mode": "off"}, "port.h0.priority_group.3": {"lossless": True}},
    "pause-time": {"port.h0": {"pfc_quanta": 305}},
    "workers-cpus": {"": {"clock": "real", "workers": CPUS + 1}},
}
NEVER = {
    "pool-no-shared": {"buffer": {"size": "400KB"}},
    "pools-exceed-buffer": {"pool.all": {"direction": "ingress", "size": "3MB"}, "pool.more": {"direction": "ingress", "size": "3MB"}},
    "above-buffer": {"port.h0.priority_group.3": {"size": "20MB"}},
    "pool-unknown": {"port.h0.queue.0": {"pool": "nowhere"}},
    "wred-profile": {"port.h0.queue.3": {"wred": "nowhere"}},
    "buffer-small": {"buffer": {"size": "4KB"}},
    "map-unknown": {"port.h0": {"map": "nowhere"}},
    "mac-twice": {"port.h0": {"mac": "02:00:00:00:aa:01"}, "port.h1": {"mac": "02:00:00:00:aa:01"}},
    "route-to-nowhere": {"[route]": {"prefix": "10.7.0.0/16", "via": ["10.0.9.9"]}},
    "event-command": {"[event]": {"at": "1us", "do": "nonsense"}},
    "worker-index": {"port.h0": {"worker": 5}},
}


class Force(Case):
    def switch(self, sections=None):
        """Two senders at line rate into h1, all of RoCE's class."""
        switch = Switch(self, hosts=3)
        for sender in (0, 2):
            switch.give(f"h{sender}", [(n * 120, plain(1500, source=sender, dscp=ROCE)) for n in range(2000)])
        switch.section("buffer", size="4MB")
        for header, keys in (sections or {}).items():
            if header == "":
                switch.top.update(keys)
            elif header.startswith("["):
                switch.rest.append(control.loopback.table(f"[{header}]", keys))
            elif re.fullmatch(r"port\.h\d", header):
                switch.port(header.split(".")[1], **keys)
            else:
                switch.section(header, **keys)
        if sections in (FORCED["headroom-pool"], FORCED["workers-cpus"]):
            switch.section("buffer", size="24MB")
        return switch

    def check(self, switch, *arguments):
        path = switch.folder / "check.toml"
        path.write_text(switch.text())
        done = subprocess.run([Programs.sluiced, "--config", path, "--check", *arguments], text=True, capture_output=True)
        return done.returncode, done.stderr

    def test_the_reference_says_which(self):
        text = subprocess.run([Programs.sluiced, "--findings"], text=True, capture_output=True, check=True).stdout
        rows = re.findall(r"^([a-z0-9-]+)  (.+)$", text, re.M)
        marked = {name for name, severity in rows if severity.endswith(", --force")}
        known = {name for name, severity in rows if "error" in severity}
        self.assertEqual(marked, set(FORCED) | {"nic-pfc"})  # of network cards: tests/unit/nic
        self.assertEqual(set(NEVER) - {"event-command"} - known, set())

    def test_what_may_be_forced(self):
        for name, sections in FORCED.items():
            with self.subTest(name=name):
                switch = self.switch(sections)
                status, said = self.check(switch)
                self.assertEqual(status, CONFIGURATION, said)
                self.assertIn(f"[{name}]", said)
                self.assertIn("or run it so, not lossless: --force", said)
                status, said = self.check(switch, "--force")
                self.assertEqual(status, 0, said)
                self.assertRegex(said, rf"warning: .*: forced, not lossless \[{name}\]")

    def test_what_never(self):
        for name, sections in NEVER.items():
            with self.subTest(name=name):
                switch = self.switch(sections)
                for arguments in ((), ("--force",)):
                    status, said = self.check(switch, *arguments)
                    self.assertEqual(status, CONFIGURATION, said)
                    self.assertRegex(said, rf"error: .*\[{name}\]")
                    self.assertNotIn("or run it so, not lossless: --force", said)

    def test_both_kinds_at_once(self):
        switch = self.switch({**FORCED["pause-time"], **NEVER["wred-profile"]})
        status, said = self.check(switch, "--force")
        self.assertEqual(status, CONFIGURATION, said)
        running = Running(self.switch())
        running.folder.joinpath("both.toml").write_text(switch.text().replace(str(switch.folder), str(running.folder)))
        for words in ("", " --force"):
            said = running.ctl(f"config apply {running.folder}/both.toml{words}", status=1)
            self.assertNotIn("--force", said)
        running.stop()

    def test_a_forced_start_is_never_called_lossless(self):
        for name in ("headroom-small", "headroom-pool", "lossless-without-pfc", "pause-time"):
            with self.subTest(name=name):
                switch = self.switch(FORCED[name])
                switch.refused(CONFIGURATION, f"[{name}]")
                out = switch.run("--force")
                reasons = out.report["verdict"]["reasons"]
                self.assertEqual(sum(reason.endswith(": forced") for reason in reasons), 1, reasons)
                self.assertEqual(sum(event["kind"] == "forced" for event in out.report["events"]), 1)
                self.assertIn("NOT lossless", out.stdout)

    def test_what_was_warned_of_happens(self):
        """Without headroom for what still comes after XOFF packets are lost, and the report has both: loss and reason."""
        out = self.switch(FORCED["headroom-small"]).run("--force")
        self.assertGreater(out.drops("h0").get("headroom_overrun", 0), 0)
        self.assertTrue(any("were dropped: headroom_overrun" in reason for reason in out.report["verdict"]["reasons"]))
        self.assertEqual(out.drops("h2"), {}, "the neighbor, whose headroom is whole")

    def test_a_change(self):
        running = Running(self.switch())
        before = running.call("config.get")
        error = running.refused("config.set", path="port.h0.priority_group.3.xoff", value="1KB")
        self.assertEqual((error.data["id"], error.data["may_be_forced"]), ("headroom-small", True))
        self.assertIn("run it so, not lossless: --force", running.ctl("set port.h0.priority_group.3.xoff 1KB", status=1))
        self.assertNotIn("may_be_forced", running.refused("config.set", path="buffer.cell", value=32, force=True).data)
        for value in ("0", "1B", "\"x\""):
            running.refused("config.set", path="port.h0.queue.3.wred", value=value, force=True)
        self.assertEqual(running.call("config.get"), before)
        said = running.ctl("set port.h0.priority_group.3.xoff 1KB --force")
        self.assertIn("forced, not lossless", said)
        self.assertEqual(running.call("stats.show", path="verdict.reasons.0")[-8:], ": forced")
        self.assertIn("too few", running.ctl("qos show"))
        self.assertEqual(running.call("qos.show")["exceptions"], running.call("stats.show", path="verdict.reasons"))
        # A forced problem stays forced: other changes need no force. A worse one does.
        running.call("config.set", path="default.microburst", value="300KB")
        running.ctl("port h2 down")
        running.ctl("port h2 up")
        running.ctl("route add 10.7.0.0/16 via 10.0.1.2")
        running.refused("config.set", path="port.h0.priority_group.3.xoff", value="512B")
        running.refused("config.set", path="port.h2.priority_group.3.xoff", value="1KB")
        text = running.call("config.get")["toml"]
        self.assertEqual(running.call("config.apply", toml=text)["changes"], [])
        running.call("config.set", path="port.h0.priority_group.3.xoff", value="900KB")
        self.assertEqual(running.call("stats.show", path="lossless"), True, "mended")
        running.refused("config.apply", toml=text)
        self.assertEqual(running.call("stats.show", path="lossless"), True)
        done = running.call("config.rollback")
        self.assertTrue(any(finding.get("forced") for finding in done["findings"]), "back to what was forced")
        self.assertNotEqual(running.call("stats.show", path="lossless"), True)
        running.call("clock.run")
        report = running.stop(accounts=True).report
        self.assertTrue(any(reason.endswith("forced") for reason in report["verdict"]["reasons"]))
        self.assertEqual([event["kind"] for event in report["events"]].count("forced"), 2)

    def test_a_file(self):
        running = Running(self.switch())
        path = running.folder / "lossy.toml"
        path.write_text(self.switch(FORCED["lossless-without-pfc"]).text())
        path.write_text(running.config.read_text() + '\n[port.h1.priority_group.3]\nxoff = 1024\n')
        running.ctl(f"config apply {path}", status=1)
        self.assertIn("forced, not lossless", running.ctl(f"config apply --force {path}"))
        saved = running.ctl("config save forced.toml")
        self.assertIn("forced.toml", saved)
        status, said = self.check(running.switch)
        self.assertEqual(status, 0, said)
        done = subprocess.run([Programs.sluiced, "--config", running.folder / "forced.toml", "--check"], capture_output=True)
        self.assertEqual(done.returncode, CONFIGURATION, "what was forced has to be forced again at a start")
        running.stop()

    def test_metrics(self):
        switch = self.switch(FORCED["pause-time"])
        port = self.free_port()
        running = Running(switch, "--force", "--metrics", str(port))
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            text = b"".join(iter(lambda: client.recv(65536), b""))
        self.assertIn(b"\nsluice_lossless 0\n", text)
        running.stop()

    def free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]


if __name__ == "__main__":
    control.main()
