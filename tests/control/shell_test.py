#!/usr/bin/python3
"""sluicectl on a terminal: prompt, completion, history, Ctrl-C and Ctrl-D; and shows that are repeated."""

import fcntl
import json
import os
import pty
import select
import signal
import socket
import stat
import struct
import subprocess
import termios
import time

import control
from control import Case, Programs, Running, Switch

PROMPT = "sluice> "
UP, TAB, CTRL_C, CTRL_D = "\x1b[A", "\t", "\x03", "\x04"


class Terminal:
    """sluicectl as a person has it before them: what is typed goes in, what is seen comes out."""

    def __init__(self, test, *words, **environment):
        self.test, self.seen, self.status = test, "", None
        environment = {"PATH": os.environ["PATH"], "TERM": "vt100", "LC_ALL": "C.UTF-8", **environment}
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(Programs.sluicectl, ["sluicectl", *map(str, words)], environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        test.addCleanup(self.kill)

    def see(self, *parts):
        """The output since the last call, up to the last of these, which come in this order."""
        end = time.monotonic() + control.PATIENCE_S
        while True:
            at = 0
            for part in parts:
                at = self.seen.find(part, at)
                if at < 0:
                    break
                at += len(part)
            if at >= 0:
                said, self.seen = self.seen[:at], self.seen[at:]
                return said
            self.test.assertLess(time.monotonic(), end, f"not seen: {part!r} in {self.seen!r}")
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += self.read()

    def interrupt(self):
        """Ctrl-C until there is a prompt: one that comes while the line is still being read does not end what it asks."""
        end = time.monotonic() + control.PATIENCE_S
        while PROMPT not in self.seen:
            self.test.assertLess(time.monotonic(), end, f"no prompt: {self.seen!r}")
            self.type(CTRL_C)
            again = time.monotonic() + 1
            while PROMPT not in self.seen and time.monotonic() < again:
                if select.select([self.master], [], [], 0.1)[0]:
                    self.seen += self.read()
        self.see(PROMPT)

    def read(self):
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:  # nobody has it open any more
            data = b""
        self.test.assertTrue(data, f"it has ended: {self.seen!r}")
        return data.decode()

    def type(self, text):
        os.write(self.master, text.encode())

    def say(self, line, *parts):
        """A line behind a prompt; what was seen up to the next prompt."""
        self.see(PROMPT)
        self.type(line + "\r")
        said = self.see(*parts) if parts else ""
        return said

    def end(self):
        """Its exit status; what it said last is in `seen`."""
        end = time.monotonic() + control.PATIENCE_S
        while True:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.master, 1 << 16).decode()
                    continue
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = os.waitstatus_to_exitcode(status)
                os.close(self.master)
                return self.status
            self.test.assertLess(time.monotonic(), end, f"it does not end: {self.seen!r}")

    def kill(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.master)


class Shell(Case):
    def running(self):
        return Running(Switch(self, hosts=3))

    def shell(self, running, *words, home=None, **environment):
        return Terminal(self, "--socket", running.path, *words, HOME=str(home or running.folder), **environment)

    def history(self, home):
        return home / ".local" / "state" / "sluice" / "history"

    def test_commands_until_exit(self):
        running = self.running()
        shell = self.shell(running)
        shell.say("clock run 3us", "now 3000 ns")
        shell.say("port h1 down  # a comment")
        shell.say("", PROMPT)
        shell.type("events\r")
        shell.see("port_down", "port h1 down by command")
        shell.say("--json clock show", '"now_ns": 3000')
        shell.say("clock show", "3000 ns")
        shell.say("exit")
        self.assertEqual(shell.end(), 0)
        running.stop()

    def test_an_error_ends_nothing(self):
        running = self.running()
        shell = self.shell(running)
        for line, words in (("prt show", "perhaps port"), ('port "h0', "a quote is not closed"), ("set port.h0.speed 25G", "cannot change while"),
                            ("assert queue h1.3 dropped == 5", "it is 0"), ("--socket elsewhere hello", "stays with its switch"),
                            ("hello --count 0", "1 and more")):
            shell.say(line, words)
        shell.say("clock show", "0 ns")
        shell.see(PROMPT)
        shell.type(CTRL_D)
        self.assertEqual(shell.end(), 0, "the status is the last command's")
        shell = self.shell(running)
        shell.say("prt show", "perhaps port")
        shell.say("quit")
        self.assertEqual(shell.end(), 2)
        running.stop()

    def test_tab_completes_words_and_names(self):
        running = self.running()
        shell = self.shell(running)
        shell.see(PROMPT)
        shell.type("clo" + TAB + "ru" + TAB + "4us\r")
        shell.see("now 4000 ns", PROMPT)
        shell.type("port h" + TAB + TAB)
        shell.see("h0", "h1", "h2")
        shell.type("2 d" + TAB + "\r")
        shell.say("clock run 1us", "now 5000 ns")
        shell.say("assert port h2 up", "false: port h2 up")
        shell.see(PROMPT)
        shell.type("nonsense " + TAB + "\r")
        shell.see("nonsense", PROMPT)
        shell.type(CTRL_D)
        shell.end()
        running.stop()

    def test_tab_completes_keys_part_by_part_and_values(self):
        """A part that goes on has no blank behind it; a value may come behind an equals sign."""
        running = self.running()
        shell = self.shell(running)
        shell.see(PROMPT)
        shell.type("set port.h1.queue.3.wre" + TAB + "steep\r")
        shell.see('port.h1.queue.3.wred: default -> "steep"', PROMPT)
        shell.type("set port.h2.pri" + TAB + "3.dyn" + TAB + "-2\r")
        shell.see("port.h2.priority_group.3.dynamic_th: default -> -2", PROMPT)
        shell.type("set default.queue.3.wred=son" + TAB + "\r")
        shell.see('default.queue.3.wred: default -> "sonic"', PROMPT)
        shell.type(CTRL_D)
        shell.end()
        running.stop()

    def test_ctrl_c_takes_a_watched_change_back(self):
        """In the middle of its second window: the shell goes on, and the switch is as it was."""
        switch = Switch(self, hosts=1, clock="real", device="net_null{n},no-rx=1")
        running = Running(switch, interactive=False)
        before = running.call("config.get")
        shell = self.shell(running)
        shell.see(PROMPT)
        shell.type("set --watch 30s default.queue.3.wred=steep\r")
        shell.see("before the change")
        shell.interrupt()
        self.assertEqual(running.call("config.get"), before)
        shell.type("set --watch 100ms default.queue.3.wred=steep\r")
        shell.see("behind it")
        shell.interrupt()
        running.wait_for(lambda: running.call("config.get"), lambda now: now == before)
        shell.type("version\r")
        shell.see("API 1", PROMPT)
        shell.type(CTRL_D)
        shell.end()
        running.stop()

    def test_history_from_one_session_to_the_next(self):
        running = self.running()
        first = self.shell(running)
        first.say("clock run 1us", "now 1000 ns")
        first.say("clock run 1us", "now 2000 ns")  # once in the history
        first.say("port h1 down")
        first.say("exit")
        first.end()
        path = self.history(running.folder)
        self.assertEqual(path.read_text(), "clock run 1us\nport h1 down\nexit\n")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        second = self.shell(running)
        second.see(PROMPT)
        second.type(UP * 3)
        second.see("clock run 1us")
        second.type("\r")
        second.see("now 3000 ns", PROMPT)
        second.type(CTRL_D)
        second.end()
        self.assertEqual(path.read_text(), "clock run 1us\nport h1 down\nexit\nclock run 1us\n")
        running.stop()

    def test_sessions_side_by_side_keep_each_others_lines(self):
        running = self.running()
        state = running.folder / "state"
        state.mkdir(mode=0o755)
        shells = [self.shell(running, XDG_STATE_HOME=str(state)) for _ in range(2)]
        for n, shell in enumerate(shells):
            shell.say(f"help {('port', 'queue')[n]}", "show")
        for shell in shells:
            shell.see(PROMPT)
            shell.type(CTRL_D)
            shell.end()
        self.assertEqual((state / "sluice" / "history").read_text(), "help port\nhelp queue\n")
        self.assertEqual(stat.S_IMODE((state / "sluice").stat().st_mode), 0o700)
        running.stop()

    def test_the_history_is_bounded_and_text(self):
        running = self.running()
        path = running.folder / "state" / "sluice" / "history"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(b"clock run %dus\n" % n for n in range(1200)) + b"x" * 5000 + b"\n\n\x1b[2J\nclock run 7us")
        path.chmod(0o644)
        shell = self.shell(running, XDG_STATE_HOME=str(running.folder / "state"))
        shell.see(PROMPT)
        shell.type(UP + "\r")
        shell.see("now 7000 ns", PROMPT)
        shell.type(CTRL_D)
        shell.end()
        lines = path.read_text().splitlines()
        self.assertEqual((len(lines), lines[0], lines[-3:]),
                         (1000, "clock run 202us", ["clock run 1199us", "clock run 7us", "clock run 7us"]))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual([entry.name for entry in path.parent.iterdir()], ["history"])
        running.stop()

    def test_what_cannot_be_kept_is_said_once_and_harms_nothing(self):
        running = self.running()
        home = running.folder / "home"

        def session():
            shell = self.shell(running, home=home)
            shell.say("clock show", "0 ns")
            shell.see(PROMPT)
            shell.type(CTRL_D)
            self.assertEqual(shell.end(), 0)
            return shell.seen
        self.assertIn("history cannot be kept in", session())
        self.assertFalse(home.exists(), "a home that is not there is not made")
        path = self.history(home)
        path.parent.mkdir(parents=True)
        elsewhere = running.folder / "elsewhere"
        elsewhere.write_text("hello\n")
        for target in ("/dev/null", elsewhere):
            path.symlink_to(target)
            self.assertEqual(session().count("history cannot be kept"), 1)
            self.assertTrue(path.is_symlink())
            path.unlink()
        self.assertEqual(elsewhere.read_text(), "hello\n")
        path.parent.rmdir()
        path.parent.write_text("a file where the folder should be")
        self.assertIn("history cannot be kept", session())
        shell = Terminal(self, "--socket", running.path)  # HOME is not set
        shell.say("clock show", "0 ns")
        shell.see(PROMPT)
        shell.type(CTRL_D)
        self.assertEqual(shell.end(), 0)
        self.assertNotIn("history", shell.seen)
        running.stop()

    def test_a_switch_that_is_lost_and_comes_back(self):
        running = self.running()
        shell = self.shell(running)
        shell.say("clock show", "0 ns")
        running.stop()
        shell.say("clock show", "the switch has closed the connection")
        shell.say("clock show", "no switch listens there")
        again = Running(running.switch)
        shell.say("clock run 2us", "now 2000 ns")
        shell.say("exit")
        self.assertEqual(shell.end(), 0)
        again.stop()

    def test_ctrl_c_gives_up_a_line_or_a_command(self):
        running = self.running()
        shell = self.shell(running)
        shell.see(PROMPT)
        shell.type("port h1 down" + CTRL_C)
        shell.see("^C", PROMPT)
        shell.type("clock show\r")
        shell.see("0 ns", PROMPT)
        running.call("port.set", port="h2", up=False)
        running.call("clock.run", **{"for": "1ns"})
        for line, seen in (("events follow from 0", "port_down"), ("wait port h2 up", "wait port h2 up\r\n"),
                           ("clock show --watch 1ms", "1 ns")):
            shell.type(line + "\r")
            shell.see(seen)
            shell.interrupt()
        shell.type("assert port h1 up\r")
        self.assertNotIn("false", shell.see(PROMPT))
        shell.type("\r")
        shell.say("clock show", "1 ns")
        shell.say("exit")
        self.assertEqual(shell.end(), 0)
        running.stop()


    def test_after_ctrl_c_no_old_answer_is_taken_for_a_new_one(self):
        """An earlier request may still be answered: the next command asks on a connection of its own."""
        running = self.running()
        path = running.folder / "slow.sock"
        with socket.socket(socket.AF_UNIX) as slow:
            slow.settimeout(control.PATIENCE_S)
            slow.bind(str(path))
            slow.listen()
            shell = Terminal(self, "--socket", path, HOME=str(running.folder))
            shell.see(PROMPT)
            shell.type("clock run\r")
            first, _ = slow.accept()
            first.settimeout(control.PATIENCE_S)
            self.assertIn(b"clock.run", first.recv(4096))
            shell.type(CTRL_C)
            shell.see(PROMPT)
            shell.type("clock show\r")
            second, _ = slow.accept()
            second.settimeout(control.PATIENCE_S)
            asked = json.loads(second.recv(4096))
            second.sendall(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"now_ns": 77}}).encode() + b"\n")
            shell.see("77 ns", PROMPT)
            self.assertEqual(first.recv(4096), b"", "the first is closed")
            shell.type(CTRL_D)
            self.assertEqual(shell.end(), 0)
            first.close()
            second.close()
        running.stop()


class Watch(Case):
    def watch(self, running, *words):
        process = subprocess.Popen([Programs.sluicectl, "--socket", running.path, "--watch", "1ms", *words], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_one_document_a_line_until_ctrl_c(self):
        running = Running(Switch(self, hosts=2))
        process = self.watch(running, "--json", "clock", "show")
        for _ in range(3):
            self.assertEqual(json.loads(process.stdout.readline()), {"now_ns": 0})
        running.call("clock.run", **{"for": "5us"})
        while json.loads(process.stdout.readline()) == {"now_ns": 0}:
            pass
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=control.PATIENCE_S)
        self.assertEqual((process.returncode, said), (0, ""))
        self.assertEqual({line for line in rest.split("\n")[:-1]} - {'{"now_ns":5000}'}, set())
        self.assertTrue(rest == "" or rest.endswith("\n"), "it ends with a whole line")
        running.stop()

    def test_tables_again_and_again(self):
        running = Running(Switch(self, hosts=2))
        for time in ("0", "0s", "0us"):
            self.assertIn("no time between two looks", running.ctl(f"--watch {time} port show", status=2))
        out = running.ctl("--watch 1ms --count 3 port show")
        once = running.ctl("port show")
        self.assertEqual(out, once * 3, "no escape codes but on a terminal")
        terminal = Terminal(self, "--socket", running.path, "--watch", "1ms", "--count", "2", "clock", "show")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(terminal.seen, "\x1b[H\x1b[2J0 ns\r\n" * 2)
        running.stop()

    def test_it_ends_with_the_switch(self):
        running = Running(Switch(self, hosts=2))
        process = self.watch(running, "clock", "show")
        self.assertEqual(process.stdout.readline(), "0 ns\n")
        running.stop()
        _, said = process.communicate(timeout=control.PATIENCE_S)
        self.assertEqual(process.returncode, 3)
        self.assertIn("sluice.sock: ", said)

    def test_it_ends_with_the_first_failure(self):
        running = Running(Switch(self, hosts=2))
        self.assertIn("it is 0", running.ctl("--watch 1ms assert queue h1.3 tx_packets == 1", status=4))
        self.assertIn("no part", running.ctl("--watch 1ms stats show ports.h9", status=2))
        running.stop()


if __name__ == "__main__":
    control.main()
