#!/usr/bin/python3
"""`sluicectl top` on real terminals, which tmux draws: 80 by 24, 160 by 50, and what happens when one changes its size."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import unittest

import control
from control import Case, Programs, Running, Switch, wait_for
from frames import plain

US = 1000
SMALL, WIDE = (80, 24), (160, 50)


class Screen:
    """A shell in a terminal of its own, of a tmux server of its own; what is seen is lines of text."""

    def __init__(self, test, folder, size):
        self.test, self.name = test, f"sluice-top-{os.getpid()}-{id(self)}"
        self.folder = folder
        test.addCleanup(self.tmux, "kill-server", check=False)
        self.tmux("-u", "new-session", "-d", "-x", size[0], "-y", size[1], "env PS1='shell> ' bash --norc --noprofile")
        self.shows("^shell>")

    def tmux(self, *words, check=True):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMUX_TMPDIR": str(self.folder), "TERM": "xterm"}
        return subprocess.run(["tmux", "-L", self.name, "-f", "/dev/null", *map(str, words)], text=True, capture_output=True, check=check,
                              env=environment, timeout=control.PATIENCE_S).stdout

    def lines(self):
        return self.tmux("capture-pane", "-p").splitlines()

    def shows(self, *parts):
        """Lines in which all of these patterns are seen."""
        return wait_for(self.lines, lambda lines: all(re.search(part, "\n".join(lines), re.MULTILINE) for part in parts))

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def run(self, *words):
        self.type("-l", shlex.join(map(str, words)))
        self.type("Enter")

    def top(self, running, *words):
        self.run(Programs.sluicectl, "--socket", running.path, "top", "every", "20ms", *words)

    def row(self, place):
        return next(line for line in self.lines() if line.startswith(place + " "))


@unittest.skipUnless(shutil.which("tmux"), "no tmux is installed: NOTHING of top's screen was tested")
class Top(Case):
    def running(self):
        """h0 sends a RoCE frame of 200 bytes to h1 every microsecond, and to an address that has no route every four."""
        switch = Switch(self, hosts=4, **{"buffer.size": "16MB"})
        switch.give("h0", [(n * US, plain(200, dscp=26, ecn=2)) for n in range(400)])
        switch.give("h2", [(n * 4 * US, plain(200, to="192.0.2.1")) for n in range(100)])
        switch.section("wred.all", green_min=0, green_max=0)
        switch.section("port.h1.queue.3", wred="all")
        return Running(switch)

    def rates(self, running, time):
        """Runs so long; what came a second meanwhile, from the socket's own figures, as `port` of its report."""
        before = running.call("stats.show", path="ports")
        running.call("clock.run", **{"for": time})
        after = running.call("stats.show", path="ports")
        seconds = int(time.removesuffix("us")) / 1e6

        def rate(port, of):
            return (of(after[port]) - of(before[port])) / seconds

        return rate

    def ports(self, screen):
        """The names, from the top."""
        lines = screen.lines()
        return [line.split()[0] for line in lines if re.match(r"h\d ", line)]

    def check_rates(self, size):
        running = self.running()
        screen = Screen(self, running.folder, size)
        running.call("clock.run", **{"for": "40us"})
        screen.top(running)
        screen.shows("4 ports, by trouble", "40.0 us, where the clock stands still, over 40.0 us since the start  on ", "^h1 ")
        rate = self.rates(running, "20us")
        screen.shows("at 60.0 us, where the clock stands still, over 20.0 us  on ")
        out = rate("h1", lambda port: port["tx"]["bytes"]) * 8 / 1e6
        marked = rate("h1", lambda port: sum(queue["ecn_marked_packets"] for queue in port["queues"])) / 1e3
        self.assertGreater(out * marked, 0)
        row = screen.row("h1")
        self.assertIn(f" {out:.1f} Mb/s ", row)
        self.assertIn(f" {marked:.1f} k/s ", row)
        dropped = rate("h2", lambda port: sum(port["drops"].values())) / 1e3
        self.assertIn(f" {dropped:.1f} k/s ", screen.row("h2"))
        self.assertEqual(self.ports(screen)[:2], ["h2", "h1"], "drops are worse than marks")
        self.assertRegex("\n".join(screen.lines()), "(?m)^h1 .*[▁-█]$")
        self.assertTrue(all(len(line) <= size[0] for line in screen.lines()))
        self.assertEqual(len(screen.lines()), size[1])
        self.assertRegex(screen.lines()[-1], "^q quit .* h help$")
        return running, screen

    def test_rates_are_those_of_the_socket(self):
        running, screen = self.check_rates(SMALL)
        self.assertNotIn("CNPs in", "\n".join(screen.lines()))
        running.stop()

    def test_more_of_them_on_a_wide_terminal(self):
        running, screen = self.check_rates(WIDE)
        self.assertRegex("\n".join(screen.lines()), "(?m)^port +in +out +marked +CNPs in .* load +pauses$")
        running.stop()

    def test_a_storm_comes_to_the_top_and_why(self):
        running = self.running()
        screen = Screen(self, running.folder, SMALL)
        screen.top(running)
        screen.shows("^h3 ")
        for key, value in (("storm_every", "250us"), ("storm_for", "1s"), ("storm_classes", "[3]")):
            running.ctl(f"fault h1 {key} {value}")
        running.call("clock.run", **{"for": "3us"})
        running.call("clock.run", **{"for": "20us"})
        screen.shows("^h1 .*100.0 % .* paused")
        screen.type("s")  # what comes in: h0
        screen.shows("by what comes in", r"^h0 .*\n(?:.*\n)*h1 ")
        screen.type("s", "s", "s", "s")
        screen.shows("by pauses", r"^h1 .*\n(?:.*\n)*h0 ")
        self.assertEqual(self.chosen(screen), "h1")
        screen.type("Down")
        wait_for(lambda: self.chosen(screen), lambda port: port != "h1")
        screen.type("Up")
        wait_for(lambda: self.chosen(screen), lambda port: port == "h1")
        screen.type("Enter")
        port = running.call("stats.show", path="ports.h1")
        screen.shows("^class .*pausing", "^queue .*p99", r"^h1\.7 ")
        screen.shows("^port h1:", r"^h1\.3 .* 100\.0 % ", rf"^h1\.3 .* {port['queues'][3]['occupancy_bytes']} B ")
        screen.type("w")
        screen.shows("^why h1$", "^the peer of h1 paused class 3")
        screen.type("Escape")
        screen.shows("^port h1:")
        running.stop()

    def chosen(self, screen):
        """The port whose line is in reverse video, once there is one."""
        return wait_for(lambda: re.findall(r"\x1b\[(?:\d*;)*7m(?:\x1b\[\d+m)*(h\d)", screen.tmux("capture-pane", "-p", "-e")))[0]

    def test_a_new_size_and_the_end(self):
        running = self.running()
        screen = Screen(self, running.folder, SMALL)
        screen.run("stty", "-a")
        before = [line for line in screen.shows("-?isig") if "isig" in line]
        screen.top(running)
        screen.shows("^q quit")
        screen.tmux("resize-window", "-x", 160, "-y", 50)
        wait_for(screen.lines, lambda lines: len(lines) == 50 and "q quit" in lines[-1] and "CNPs in" in lines[2])
        screen.tmux("resize-window", "-x", 30, "-y", 6)
        screen.shows("too small")
        screen.tmux("resize-window", "-x", 80, "-y", 24)
        wait_for(screen.lines, lambda lines: len(lines) == 24 and "q quit" in lines[-1])
        screen.type("h")
        screen.shows("^q, Ctrl-C +the end$|1-2. of")
        for ending in ("q", "C-c"):
            screen.type(ending)
            wait_for(screen.lines, lambda lines: not any("q quit" in line for line in lines))
            screen.run("clear")
            screen.run("echo", "status")
            screen.shows("^status$")
            screen.run("stty", "-a")
            self.assertEqual([line for line in screen.shows("-?isig") if "isig" in line], before)
            if ending == "q":
                screen.top(running)
                screen.shows("^q quit")
        screen.type("-l", f"{Programs.sluicectl} --socket {running.path} top --every 1ms --count 3; echo ended with $?")
        screen.type("Enter")
        screen.shows("^ended with 0$")
        running.stop()

    def test_a_switch_that_goes_away_and_another(self):
        running = self.running()
        screen = Screen(self, running.folder, WIDE)
        screen.top(running)
        screen.shows("^h0 ")
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        screen.shows("^asks again and again: .*no switch listens there", "^h0 ")
        again = Running(Switch(self, hosts=2))
        screen.type("q")
        screen.shows("^shell>(.*top.*\n)?")
        wait_for(screen.lines, lambda lines: not any("asks again" in line for line in lines))
        again.stop()
        os.unlink(running.path)
        same = Running(running.switch)
        screen.top(same)
        screen.shows("4 ports, by trouble")
        same.call("clock.run", **{"for": "5us"})
        screen.shows("at 5000 ns")
        same.stop()


class WithoutATerminal(Case):
    def test_it_says_what_to_do_instead(self):
        running = Running(Switch(self, hosts=2))
        for words in ("top", "--json top", "top --watch 1s", "top --count 2"):
            self.assertIn("do: sluicectl port show rates --watch", running.ctl(words, status=2))
        running.stop()


control.main()
