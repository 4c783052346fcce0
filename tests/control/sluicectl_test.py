#!/usr/bin/python3
"""sluicectl: every line of its help once, its words, its errors and its exit codes."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

import control
from control import Case, Programs, Running, Switch
from frames import plain

DONE, REFUSED, USAGE, NO_DAEMON, FALSE, NOT_PERMITTED = range(6)

# Every pattern of the help, a command that fits it, and what it must say. The order is that of their use.
COMMANDS = [
    ("hello", "hello", "virtual clock, interactive"),
    ("version", "ver", "API 1"),
    ("methods", "methods", "route.lookup"),
    ("clock show", "clock show", "0 ns"),
    ("clock run [TIME]", "cl r 5us", "now 5000 ns"),
    ("stats show [PATH]", "stats show ledger", '"balanced": true'),
    ("stats clear [session]", "stats clear", "begin now"),
    ("fault PORT WORDS...", "fault h2 drop_every 3", ""),
    ("fault PORT WORDS...", "fault h2 clear", ""),
    ("command WORDS...", "command queue h2.1 hold", ""),
    ("config get [KEY]", "config get port.h0.mtu", "9100"),
    ("config check FILE", "config check {config}", "good"),
    ("config diff [FILE]", "config diff {config}", "no difference"),
    ("config diff [FILE]", "config diff", "no difference"),
    ("set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]", "set port.h1.queue.3.wred steep --confirm 5s", "config confirm"),
    ("config confirm", "con conf", "kept"),
    ("config rollback", "con ro", '"steep" -> default'),
    ("set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]", "set port.h1.queue.3.wred=steep port.h2.microburst = 300KB", "300KB"),
    ("config diff [FILE]", "config diff", 'port.h2.microburst: default -> "300KB"'),
    ("config history", "config history", 'rollback'),
    ("set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]", "set map.spare.dscp_to_tc={{}}", "map.spare: default -> a map"),
    ("config diff [FILE]", "config diff", "map.spare: default -> a map"),
    ("unset KEY... [confirm TIME] [force]", "unset map.spare", "map.spare: a map -> default"),
    ("unset KEY... [confirm TIME] [force]", "unset port.h1.queue.3 port.h2.microburst", '"steep" -> default'),
    ("set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]", "set port.h1.queue.3.wred=steep --watch 1us", "taken back"),
    ("config apply FILE [confirm TIME] [force]", "config apply {config}", ""),
    ("config save [NAME] [startup]", "config save saved.toml", "saved.toml"),
    ("config reset [startup]", "config reset startup", "nothing was saved for the start"),
    ("config reload", "config reload", "nothing changes"),
    ("config keys [WORD]", "config keys detection", 'watchdog.detection = "200ms"'),
    ("qos roce lossless|semi-lossless|lossy [confirm TIME] [force]", "qos roce lossless", "nothing changes"),
    ("qos show [PORT]", "qos", "no exceptions"),
    ("route add PREFIX HOPS...", "route add 10.7.0.0/16 via 10.0.1.2 weight 2 via 10.0.2.2", ""),
    ("route show [PREFIX]", "ro sh", "nexthop via 10.0.1.2 weight 2"),
    ("group show [PREFIX]", "group show 10.7.0.0/16", "balance hash"),
    ("route get DESTINATION [from ADDRESS] [sport N] [dport N] [qp N] [proto N]",
     "route get 10.7.1.1 from 10.0.0.2 sport 5 dport 6 proto 17", "bucket"),
    ("route replace PREFIX HOPS...", "route replace 10.7.0.0/16 nexthop via 10.0.2.2 dev h2 weight 1", ""),
    ("route delete PREFIX", "ro del 10.7.0.0/16", ""),
    ("neigh add ADDRESS lladdr MAC dev PORT [vlan N]", "neigh add 10.0.2.9 dev h2 lladdr 02:00:00:00:00:09 vlan 7", ""),
    ("neigh replace ADDRESS lladdr MAC dev PORT [vlan N]", "neigh rep 10.0.2.9 lladdr 02:00:00:00:00:0a dev h1", ""),
    ("neigh show", "nei", "10.0.2.9 dev h1 lladdr 02:00:00:00:00:0a"),
    ("neigh delete ADDRESS [dev PORT]", "neigh del 10.0.2.9 dev h1", ""),
    ("port set PORT up|down", "port set h2 down", ""),
    ("port PORT up|down", "port h2 up", ""),
    ("port show [PORT] [total] [rates] [over TIME]", "po sh h0", "h0"),
    ("queue hold QUEUE", "queue hold h1.3", ""),
    ("queue release QUEUE", "queue rel h1.3", ""),
    ("queue show [QUEUE] [total] [rates] [over TIME]", "queue show h1", "h1.0"),
    ("pfc show [PORT] [total] [rates] [over TIME]", "pfc", "Tx XOFF"),
    ("buffer show [GROUP] [total] [rates] [over TIME]", "buffer", "egress-lossless"),
    ("buffer show [GROUP] [total] [rates] [over TIME]", "buffer show h1.2", "h1.2   lossy"),
    ("watermark clear", "waterm clear", "begin now"),
    ("watchdog stop PORT", "watchdog stop h1", ""),
    ("watchdog start PORT", "watchdog start h1", ""),
    ("watchdog big-red-switch on|off", "watchdog big on", ""),
    ("watchdog big-red-switch on|off", "watchdog big off", ""),
    ("watchdog show [total] [rates] [over TIME]", "watchd", "operational"),
    ("host show [HOST] [total] [rates] [over TIME]", "host", "write [host.h1]"),
    ("flow show [FLOW] [total] [rates] [over TIME]", "flow", "write [[flow]]"),
    ("decisions on [WORDS...]", "decisions on verdict dropped", ""),
    ("decisions show", "dec", "recording: on"),
    ("why [PLACE] [last N]", "why", "no_route"),
    ("why flow DESTINATION [from ADDRESS] [sport N] [dport N] [qp N] [proto N] [last N]", "why fl 192.0.2.1 from 10.0.0.2", "no_route"),
    ("decisions list [last N]", "dec li last 2", "dropped h0#"),
    ("mirror show", "mirror", "no mirror"),
    ("wire add WIRE RULE WORDS...", "wire add w loss do drop nth 5", ""),
    ("wire show [WIRE]", "wire show w", "w     loss  drop  forward"),
    ("wire remove WIRE RULE", "wire rem w loss", ""),
    ("decisions off", "decisions off", ""),
    ("worker show", "worker", "h0 h1 h2"),
    ("worker meter on|off", "worker meter off", ""),
    ("wait CONDITION... [timeout TIME]", "wait queue h1.0 tx_packets >= 1 --timeout 60s", ""),
    ("assert CONDITION...", "assert queue h1.3 dropped == 0", ""),
    ("events show [from N]", "events", "port_down"),
    ("events follow [from N] [count N]", "events follow from 0 count 2", "fault_set"),
    ("completion bash", "completion bash", "complete -o default"),
    ("man", "man", ".TH SLUICECTL 1"),
    ("help [OBJECT]", "help neigh", "lladdr"),
]

# They want a terminal: tests/control/top_test.py.
SCREENS = ["top [every TIME] [count N]"]


def ctl(test, *words, status=0, environment=None, given=""):
    done = subprocess.run([Programs.sluicectl, *words], input=given, text=True, capture_output=True,
                          timeout=control.PATIENCE_S, env={**os.environ, **(environment or {})})
    test.assertEqual(done.returncode, status, done.stdout + done.stderr)
    return done.stdout + done.stderr


class Ctl(Case):
    def running(self, wire=False):
        switch = Switch(self, hosts=3, **{"buffer.size": "16MB"})
        switch.section("decisions", record="ready")
        if wire:
            switch.ports.update(w0={}, w1={})
            switch.section("wire.w", ports=["w0", "w1"])
        switch.give("h0", [(1000 * n, plain(200, to="192.0.2.1" if n > 10 else 1)) for n in range(20)])
        return Running(switch)

    def everything(self):
        running = self.running(wire=True)
        said = []
        for _, line, wanted in COMMANDS:
            if line == "dec":
                running.ctl("clock run 1ms")
            answer = running.ctl(line.format(config=running.config))
            self.assertIn(wanted, answer, line)
            said.append(answer)
        for line in ("clock show", "route show", "qos show", "buffer show", "pfc show h1"):
            json.loads(running.ctl("--json " + line))
        running.stop()
        return [re.sub(r"pid \d+|\d{4}-\d\d-\d\dT[\d:]+Z", "(differs)", answer.replace(str(running.folder), "FOLDER")) for answer in said]

    def test_every_line_of_the_help_twice_the_same(self):
        lines = ctl(self, "help").splitlines()
        patterns = [re.split(r"  +", line.strip())[0] for line in lines if re.match(r"  [a-z]", line)]
        self.assertEqual(sorted(patterns), sorted({*SCREENS, *(pattern for pattern, _, _ in COMMANDS)}))
        self.assertEqual(self.everything(), self.everything())

    def test_every_example_of_the_help(self):
        """Each task of the help has one, and it does what it says on a switch that has run."""
        running = self.running()
        running.ctl("clock run 5us")
        running.ctl("decisions on")
        examples = re.findall(r"^    \$ sluicectl (.*)$", ctl(self, "help"), re.MULTILINE)
        self.assertGreater(len(examples), 8)
        for line in examples:
            with self.subTest(line=line):
                running.ctl(line)
        running.stop()

    def test_words_of_other_switches(self):
        """Each leads to a command of ours in one line; what is ours is never taken for theirs."""
        source = pathlib.Path(__file__).resolve().parents[2] / "tools" / "sluicectl" / "other_words.cc"
        rows = re.findall(r'\{"([^"]+)",\s+("[^}]+")\}', source.read_text())
        table = [(theirs, ours) for ours, several in rows for theirs in "".join(re.findall(r'"([^"]*)"', several)).split(", ")]
        self.assertGreater(len(table), 50)
        for theirs, ours in table:
            with self.subTest(theirs=theirs):
                self.assertEqual(ctl(self, *theirs.split(), status=USAGE), f'sluicectl: "{theirs}" is unknown; did you mean: {ours.replace(" [h1]", "")}\n')
                self.assertIn("did you mean: " + ours.replace("[h1]", "h1").replace("h1", "h42"), ctl(self, *theirs.split(), "h42", status=USAGE))
                ctl(self, *ours.split(";")[0].split(), "?")
        self.assertIn("did you mean: buffer show", ctl(self, "show", "priority-group", "watermark", "shared", status=USAGE))
        self.assertIn("HOPS is missing", ctl(self, "route", "add", "10.7.0.0/16", status=USAGE))

    def test_a_switch_that_only_starts_is_waited_for(self):
        with tempfile.TemporaryDirectory(prefix="sluice-wait-") as folder:
            path = pathlib.Path(folder) / "later.sock"
            started = time.monotonic()
            words = [Programs.sluicectl, "--socket", path]
            self.assertEqual(subprocess.run([*words, "--wait", "0", "clock", "show"], capture_output=True).returncode, NO_DAEMON)
            self.assertEqual(subprocess.run([*words[:2], pathlib.Path(folder) / "no" / "s", "clock", "show"], capture_output=True).returncode, NO_DAEMON)
            self.assertLess(time.monotonic() - started, 1.5)
            early = subprocess.Popen([*words, "--wait", "60s", "clock", "show"], stdout=subprocess.PIPE, text=True)
            self.addCleanup(early.stdout.close)
            running = Running(Switch(self, hosts=2), path=path)
            self.assertEqual((early.wait(control.PATIENCE_S), early.stdout.read()), (0, "0 ns\n"))
            said = ctl(self, "--socket", pathlib.Path(folder) / "other.sock", "--wait", "30ms", "clock", "show", status=NO_DAEMON)
            self.assertTrue(said.endswith(f"; there are: {path}\n"), said)
            self.assertIn("does not start with a number", ctl(self, "--wait", "soon", "clock", "show", status=USAGE))
            running.stop()

    def test_what_may_follow(self):
        self.assertIn("usage:", ctl(self, "?"))
        self.assertTrue(ctl(self, "port", "?").startswith("port: show, set, PORT\n  port show"))
        self.assertTrue(ctl(self, "neigh", "add", "10.0.0.1", "?").startswith("neigh add 10.0.0.1: lladdr, dev, vlan\n"))
        self.assertIn("no object", ctl(self, "prt", "?", status=USAGE))

    def test_words_that_mean_nothing_or_too_much(self):
        running = self.running()
        for line, words in (("prt show", ["perhaps port"]), ("port shwo", ["perhaps show"]), ("po s", ["show or set"]),
                            ("route ad 10.7.0.0/16", ["HOPS is missing"]), ("route add 10.7.0.0/16 va 10.0.1.2", ["perhaps via"]),
                            ("route add 10.7.0.0/16 vie 10.0.1.2", ["perhaps via"]), ("route add 10.7.0.0/16 dev h1", ["via ADDRESS"]),
                            ("route add 10.7.0.0/16 via 10.0.1.2 weight 300", ["1 to 256"]), ("route add 10.7.0.0/16 via", ["wants a value"]),
                            ("neigh add 10.0.2.9 dev h2", ["lladdr is missing"]), ("set port.h0.mtu", ["VALUE is missing"]),
                            ("port h0 sideways", ["up, down"]), ("queue hold h1", ["PORT.N"]), ("queue hold h1.8", ["PORT.N"]),
                            ("port show h0 h1", ["too much"]), ("events show from soon", ["soon"]), ("clock run --watch 1parsec", []),
                            ("assert queue h1.3 droped == 0", ["perhaps dropped_packets"]), ("assert queue h1.3 t == 0", ["tx_packets or"]),
                            ("assert queue h1.3 dropped = 0", ["compares nothing"]), ("assert port h0", ["wanted"]),
                            ("assert pool lossless direction < 3", ["no order"]), ("config check nowhere.toml", ["cannot be read"]),
                            ("--count 0 clock show", ["1 and more"])):
            with self.subTest(line=line):
                said = running.ctl(line, status=USAGE)
                for word in words:
                    self.assertIn(word, said)
        running.stop()

    def test_lines_of_ip_route(self):
        """Next hops and kinds of routes are said as `ip route` says them; its other words are refused."""
        running = self.running()

        def add(line, status=DONE):
            done = subprocess.run([Programs.sluicectl, "--socket", running.path, "route", "replace", *line.split()],
                                  text=True, capture_output=True, timeout=control.PATIENCE_S)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stderr
        self.assertEqual(add("10.7.0.0/16 via 10.0.2.2 dev h2 weight 2"), "")
        self.assertEqual(add("10.8.0.0/16 nexthop via inet 10.0.1.2 dev h1 weight 1 nexthop via 10.0.2.2 weight 3"), "")
        add("unicast 10.9.0.0/16 via 10.0.1.2")
        add("blackhole 10.10.0.0/16")
        before = running.call("route.list")
        self.assertEqual({route["prefix"]: route["via"] if isinstance(route["via"], str) else [hop["weight"] for hop in route["via"]]
                          for route in before},
                         {"10.7.0.0/16": [2], "10.8.0.0/16": [1, 3], "10.9.0.0/16": [1], "10.10.0.0/16": "blackhole"})
        for line, words in (("unreachable 10.7.0.0/16", "blackhole"), ("local 10.7.0.0/16 dev h1", "none of a switch's"),
                            ("10.7.0.0/16 blackhole via 10.0.1.2", "no next hop"), ("10.7.0.0/16 via 10.0.1.2 metr 5", "no word of a route"),
                            ("10.7.0.0/16 via 10.0.1.2 mtu 1400", "no word of a route"),
                            ("10.7.0.0/16 via 10.0.1.2 table 100", "no word of a route")):
            with self.subTest(line=line):
                self.assertIn(words, add(line, USAGE))
        self.assertEqual(running.call("route.list"), before)
        running.stop()

    def test_exit_codes(self):
        running = self.running()
        running.ctl("set port.h0.speed 25G", status=REFUSED)
        for hops in ("via 10.0.1.2 dev h2", "dev h2 via 10.0.1.2", "nexthop via 10.0.2.2 dev h2 nexthop dev h2 via 10.0.1.2 weight 2"):
            self.assertIn("h2", running.ctl("route add 10.7.0.0/16 " + hops, status=REFUSED))
        running.ctl("route delete 10.7.0.0/16", status=REFUSED)
        running.ctl("stats show ports.h9", status=USAGE)
        bad = running.folder / "bad.toml"
        bad.write_text('[port.h0]\ndevice = "net_pcap0"\nsped = 1\nmtu = 7\n')
        for verb in ("check", "diff", "apply"):
            said = running.ctl(f"config {verb} {bad}", status=USAGE)
            self.assertIn("sped", said)
            self.assertIn("mtu", said)
        bad.write_text(running.config.read_text() + '[[route]]\nprefix = "10.7.0.0/16"\nvia = ["10.0.9.9"]\n')
        self.assertIn("10.0.9.9", running.ctl(f"config check {bad}", status=USAGE) or "10.0.9.9")
        running.ctl(f"config apply {bad}", status=REFUSED)
        self.assertIn("it is 0", running.ctl("assert queue h1.0 tx_packets == 5", status=FALSE))
        running.ctl("port h0 down")
        running.ctl("clock run 1ns")
        running.ctl("wait port h0 down --timeout 60s")
        running.ctl("wait any ports.*.flaps eq 1 --timeout 60s")
        self.assertIn("out of time", running.ctl("wait port h0 up --timeout 1ms", status=FALSE))
        for condition, status in (("port h0 down", DONE), ("port h0 up", FALSE), ("port h0 flaps == 1", DONE), ("ledger balanced == true", DONE),
                                  ("pool lossless size_bytes >= 11.9MB", DONE), ("pool lossless size_bytes < 11.9MB", FALSE),
                                  ("stats clock != real", DONE), ("port h0 pfc.rx_xoff.3 == 0", DONE), ("group h0.3 lossless == true", DONE),
                                  ("max ports.*.flaps eq 1", DONE), ("all ports.*.link_up", FALSE), ("count ports.h*.mac ge 2", DONE), ("any *.balanced", DONE),
                                  ("ports.h0.flaps over sum ports.*.flaps eq 100%", DONE), ("max ports.h0.*.packets over max ports.*.flaps lt 1", DONE),
                                  ("max ports.x*.flaps eq 0", FALSE), ("flows.f.messages eq 0", USAGE), ("max ports.*.flaps lt 5ms", USAGE), ("ports.h9.mac eq 1", USAGE)):
            running.ctl("assert " + condition, status=status)
        # The failure says what is, in the condition's own words.
        self.assertIn("false: port h0 up: it is down", running.ctl("assert port h0 up", status=FALSE))
        self.assertIn("false: port h1 down: it is up", running.ctl("assert port h1 down", status=FALSE))
        self.assertIn("false: port h1 link_up == false: it is true", running.ctl("assert port h1 link_up == false", status=FALSE))
        running.stop()
        running.ctl("hello", status=NO_DAEMON)

    def test_a_route_has_one_hash(self):
        """In the answer, its sentence and the records of packets it is the same number."""
        running = self.running()
        running.ctl("route add 10.7.0.0/16 via 10.0.1.2 via 10.0.2.2")
        line, sentence = running.ctl("route get 10.7.1.1 from 10.0.0.2 sport 5 dport 6 proto 17").splitlines()[1:3]
        self.assertEqual(re.search(r"hash (\w+)", line)[1], re.search(r"hash (\w+)", sentence)[1])
        running.stop()

    def test_where_the_switch_is(self):
        running = self.running()
        self.assertIn("virtual", ctl(self, "hello", environment={"SLUICE_SOCKET": str(running.path)}))
        self.assertIn("nowhere.sock", ctl(self, "hello", status=NO_DAEMON, environment={"SLUICE_SOCKET": "nowhere.sock"}))
        self.assertIn("107 bytes", ctl(self, "--socket", "x" * 200, "hello", status=USAGE))
        environment = {key: "" for key in ("SLUICE_SOCKET",)}
        if not os.path.exists("/run/sluice/sluice.sock"):
            self.assertIn("/run/sluice/sluice.sock", ctl(self, "hello", status=NO_DAEMON, environment=environment))
        running.stop()

    def test_a_show_repeated(self):
        running = self.running()
        self.assertEqual(running.ctl("--json --watch 1ms --count 3 clock show").splitlines(), ['{"now_ns":0}'] * 3)
        running.stop()

    def test_commands_from_the_input(self):
        running = self.running()
        lines = '# a script\nport h2 down\n\nclock run 1us\nset port.h1.queue.3.wred "steep"  # a word\nroute add 10.7.0.0/16 via 10.0.1.2\n'
        running.ctl("--json", given=lines + "quit\nport h0 down\n")
        self.assertEqual(len(running.call("route.list")), 1)
        running.ctl("assert port h0 up")
        said = running.ctl("--json", given="nonsense\nport h0 down\n", status=USAGE)
        self.assertIn("line 1", said)
        running.ctl("--json", given='port "h0 down\n', status=USAGE)
        running.ctl("assert port h0 up")
        running.stop()

    def test_completion(self):
        running = self.running()

        def complete(*words):
            return ctl(self, "--complete", *words, environment={"SLUICE_SOCKET": str(running.path)}).split()
        self.assertEqual(complete("po"), ["port"])
        self.assertEqual(complete("port", ""), ["show", "set", "h0", "h1", "h2"])
        self.assertEqual(complete("port", "h1", ""), ["up", "down"])
        self.assertEqual(complete("queue", "hold", "h1.7"), ["h1.7"])
        self.assertEqual(complete("neigh", "add", "10.0.2.9", ""), ["lladdr", "dev", "vlan"])
        self.assertEqual(complete("neigh", "add", "10.0.2.9", "dev", ""), ["h0", "h1", "h2"])
        self.assertEqual(complete("config", "get", "watchdog.d"), ["watchdog.detection"])
        self.assertEqual(complete("set", "port.h1.qo"), ["port.h1.qos"])
        self.assertEqual(complete("set", "port.h1.qos", "l"), ["lossless", "lossy", "lossy-trim"])
        self.assertEqual(complete("set", "port.h1.promiscuous", "t"), ["true"])
        self.assertEqual(complete("set", "port.h9.qos", "l"), [])
        self.assertEqual(complete("set", "port.h1.q"), ["port.h1.qos", "port.h1.queue."])
        self.assertEqual(complete("set", "port.h1.queue.3.w"), ["port.h1.queue.3.weight", "port.h1.queue.3.wred"])
        self.assertEqual(complete("set", "default.queue.3.wred=st"), ["default.queue.3.wred=steep"])
        self.assertEqual(complete("set", "port.h1.qos", "=", "lossl"), ["lossless"])
        self.assertEqual(complete("set", "port.h1.qos=", "lossl"), ["lossless"])
        self.assertEqual(complete("set", "port.h1.qos=lossy", "clo"), ["clock"])
        self.assertEqual(complete("set", "port.h1.qos", "lossy", "clo"), ["clock"])
        self.assertEqual(complete("set", "port.h1.map", "d"), ["default"])
        self.assertEqual(complete("unset", "port.h2", "port.h1.mt"), ["port.h1.mtu"])
        self.assertEqual(complete("set", "port.h1.mtu", "9"), [])
        self.assertEqual(complete("nonsense", ""), [])
        self.assertIn("port", complete(""))
        script = running.folder / "completion"
        script.write_text(ctl(self, "completion", "bash"))
        done = subprocess.run(["bash", "-c", f'source {script}; COMP_WORDS=("{Programs.sluicectl}" port h); COMP_CWORD=2; _sluice; '
                               'echo "${COMPREPLY[@]}"'], capture_output=True, text=True, env={**os.environ, "SLUICE_SOCKET": str(running.path)})
        self.assertEqual(done.stdout.split(), ["h0", "h1", "h2"], done.stderr)
        running.stop()


if __name__ == "__main__":
    control.main()
