#!/usr/bin/python3
"""Who owns an interface: one living switch, whatever its kind of port. Whoever cannot have it changes nothing there; a switch whose XDP
program is taken away notices, and takes nothing of anybody else."""

import json
import os
import signal
import subprocess
import time

import netns
from loopback import Programs
from network import Namespace, enter, sh

KINDS = ("xdp:sw{n}", "net_af_packet{n},iface=sw{n}", "net_af_xdp{n},iface=sw{n}", "net_pcap{n},rx_iface_in=sw{n},tx_iface=sw{n}")
LOCKS = "/run/lock"


def program_at(interface, namespace=None):
    """(name, number) of the XDP program at an interface, or None."""
    link = json.loads(sh("ip", "-j", "-d", "link", "show", interface, namespace=namespace))[0]
    program = link.get("xdp", {}).get("prog")
    return program and (program.get("name"), program["id"])


class OwnerCase(netns.Case):
    device = "xdp:sw{n}"
    cable = {"mtu": 1500, "own_mac": True}

    def second(self, device, where=(), **keys):
        """How another switch ends on the same interfaces."""
        switch = self.switch(**keys)
        switch.device = device
        (switch.folder / "sluice.toml").write_text(switch.text())
        return subprocess.run([*where, Programs.sluiced, "--config", switch.folder / "sluice.toml", "--duration", "10ms"],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def is_refused(self, device, run, cables, *words, **keys):
        before = [program_at(f"sw{n}") for n in range(2)]
        ended = self.second(device, **keys)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        for word in words:
            self.assertIn(word, ended.stderr)
        self.assertEqual([program_at(f"sw{n}") for n in range(2)], before)
        self.comes_through(*cables, run)

    def nothing_lost(self, run):
        self.assertEqual((run.told("program_lost"), run.told("port_down"), run.outcome.drops()), ([], [], {}))

    def other_program(self, switch):
        source, other = switch.folder / "other.c", switch.folder / "other.o"
        source.write_text('__attribute__((section("xdp"), used)) int others(void *context) { return 2; }\n'
                          'char _license[] __attribute__((section("license"), used)) = "GPL";\n')
        subprocess.run(["clang-16", "-O2", "-g", "-target", "bpf", "-c", source, "-o", other], check=True)
        return ["obj", other, "sec", "xdp"]

    def killed(self, cables, switch):
        """A switch has run, and was killed."""
        (switch.folder / "sluice.toml").write_text(switch.text())
        process = subprocess.Popen([Programs.sluiced, "--config", switch.folder / "sluice.toml"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.comes_through(*cables, netns.Run(process, switch.folder / "none"))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        while cables[1].receive(wait_s=0) is not None:
            pass  # a probe of this one would tell that the next one runs


class SecondSwitch(OwnerCase):
    def refused_beside(self, device):
        self.device = device
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for kind in KINDS:
                self.is_refused(kind, run, cables, "port h0", f"interface sw0 is a port of a switch that runs, process {run.process.pid}; do: ")
        self.nothing_lost(run)
        self.assertEqual(self.second(KINDS[1]).returncode, 0, "it has ended")

    def test_beside_xdp(self):
        self.refused_beside(KINDS[0])

    def test_beside_af_packet(self):
        self.refused_beside(KINDS[1])

    def test_beside_pcap(self):
        self.refused_beside(KINDS[3])

    def test_of_several_queues(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core only")
        cables, switch = self.cables(queues=2), self.switch(workers=2)
        for port in ("h0", "h1"):
            switch.port(port, device=f"xdp:sw{port[1:]}", rx_queues=2)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.is_refused("xdp:sw{n}", run, cables, "is a port of a switch that runs")
        self.nothing_lost(run)

    def test_by_a_new_name_it_is_the_same_interface(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for name, then in (("sw0", "swp0"), ("swp0", "sw0")):
                sh("ip", "link", "set", name, "down")
                sh("ip", "link", "set", name, "name", then)
                sh("ip", "link", "set", then, "up")
                self.comes_through(*cables, run)
                if then != "sw0":
                    other = self.switch(hosts=1)
                    other.port("h0", device=f"xdp:{then}")
                    self.assertIn("is a port of a switch that runs", other.refused(1, f"interface {then}"))

    def test_of_another_namespace_it_is_another_interface(self):
        cables, switch = self.cables(), self.switch()
        other = Namespace("other").make()
        self.addCleanup(other.delete)
        for n in range(2):
            index = json.loads(sh("ip", "-j", "link", "show", f"sw{n}"))[0]["ifindex"]
            other.ip(f"link add sw{n} index {index} numtxqueues 1 numrxqueues 1 type veth peer name peer{n} numtxqueues 1 numrxqueues 1")
            other.ip(f"link set sw{n} up")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            for kind in KINDS[:2]:
                ended = self.second(kind, where=enter(other.name))
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            self.comes_through(*cables, run)
        self.nothing_lost(run)

    def test_where_nothing_can_be_locked_the_queue_says_so(self):
        sh("mount", "-t", "tmpfs", "-o", "ro", "none", LOCKS)
        self.addCleanup(sh, "umount", LOCKS)
        cables, switch = self.cables(), self.switch()
        self.killed(cables, switch)
        self.assertEqual(program_at("sw0")[0], "sluice_steer")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.is_refused("xdp:sw{n}", run, cables, "port h0", "receive queue 0", "another program has it; do: ")
        self.nothing_lost(run)
        self.assertIsNone(program_at("sw0"))

    def test_that_was_killed_owns_nothing(self):
        cables, switch = self.cables(), self.switch()
        self.killed(cables, switch)
        left = program_at("sw0")
        self.assertEqual(left[0], "sluice_steer")
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            self.assertNotEqual(program_at("sw0"), left)
        self.nothing_lost(run)
        # Only these interfaces: the number of a namespace that is gone is used again, and stale lock files may have it.
        numbers = [json.loads(sh("ip", "-j", "link", "show", f"sw{n}"))[0]["ifindex"] for n in range(2)]
        namespace = os.stat("/proc/self/ns/net").st_ino
        self.assertEqual([n for n in numbers if os.path.exists(f"{LOCKS}/sluice-netns-{namespace}-interface-{n}")], [])


class TakenAway(OwnerCase):
    """The program of a running switch is taken away."""

    def test_one_that_was_removed_is_attached_again(self):
        cables, switch = self.cables(), self.switch()
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            ours = program_at("sw0")
            for turn in range(1, 4):
                sh("ip", "link", "set", "dev", "sw0", "xdp", "off")
                run.wait_for(lambda: run.told("program_restored"), lambda told, turn=turn: len(told) == turn)
                self.assertEqual(program_at("sw0"), ours)
                self.comes_through(*cables, run)
            self.assertEqual(run.told("program_lost"), ["port h0: somebody has removed its XDP program from interface sw0"] * 3)
            self.assertEqual(run.told("program_restored"), ["port h0: its XDP program is at interface sw0 again"] * 3)
        self.assertIsNone(program_at("sw0"))
        self.assertEqual(run.told("port_down"), [])
        self.assertIn("not received: h0 has been without its XDP program, and the kernel had its frames", run.outcome.report["verdict"]["reasons"])

    def test_one_that_was_replaced_takes_the_port_down_until_the_other_is_off(self):
        cables, switch = self.cables(), self.switch()
        other = self.other_program(switch)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            ours = program_at("sw0")
            sh("ip", "-force", "link", "set", "dev", "sw0", "xdp", *other)
            name, number = program_at("sw0")
            self.assertEqual(name, "others")
            self.assertEqual(run.wait_for_event("port_down"), f'port h0 down: its interface sw0 has the XDP program "others" (id {number}) of '
                             "somebody else; do: ip link set dev sw0 xdp off")
            self.assertIn(f'by "others" (id {number})', run.wait_for_event("program_lost"))
            port = run.wait_for(lambda: run.call("stats.show")["ports"]["h0"], lambda port: not port["link_up"])  # its worker has heard of it
            self.assertEqual(port["link_down_cause"], "program_replaced")
            time.sleep(1)  # in which it looks several times, and says nothing more
            self.assertEqual((program_at("sw0"), len(run.told("program_lost"))), ((name, number), 1))
            sh("ip", "link", "set", "dev", "sw0", "xdp", "off")
            self.assertEqual(run.wait_for_event("port_up"), "port h0 up: its XDP program is at interface sw0 again")
            self.assertEqual(program_at("sw0"), ours)
            self.comes_through(*cables, run)
            self.assertEqual((len(run.told("program_lost")), len(run.told("program_restored"))), (1, 1))

    def test_somebody_elses_stays_when_the_switch_ends(self):
        cables, switch = self.cables(), self.switch()
        other = self.other_program(switch)
        with self.running(switch) as run:
            self.comes_through(*cables, run)
            sh("ip", "-force", "link", "set", "dev", "sw0", "xdp", *other)
            run.wait_for_event("program_lost")
        self.assertEqual(program_at("sw0")[0], "others")
        self.assertIsNone(program_at("sw1"))


if __name__ == "__main__":
    netns.main()
