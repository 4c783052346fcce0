"""Hosts in network namespaces around one switch, two of them, or a fabric of two leaves and two spines.

    one      h1 ... hN   host n has 10.0.n.2 and 2001:db8:n::2, the switch s1 has 10.0.n.1 and 2001:db8:n::1 at its port hn
    pair     h1 on s1, h2 on s2, and a cable between the switches
    fabric   h1 h2 on leaf1, h3 h4 on leaf2, each leaf on spine1 and spine2: eBGP of both families, ECMP over the spines

Namespaces are called PREFIX + name, so that they are told from everybody else's; files are in one folder.
"""

import contextlib
import json
import pathlib
import shutil
import subprocess
import time

from network import Failed, Namespace, cable, namespaces, sh, wait_for
from switch import ROUTER, Switch, program
from waiting import PATIENCE_S

PREFIX = "sluice-lab-"
LEAF_AS, SPINE_AS = 65100, 65000
SWITCHES = ("s", "leaf", "spine")
ROCE_SEND_BYTES = 14 + 20 + 8 + 12 + 4  # Ethernet, IPv4, UDP, BTH, ICRC: of a SEND beside its payload


class Peer:
    """sluice-peer (tools/traffic) on a host, until `end`. Options are those of it."""

    def __init__(self, program, host, **options):
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        self.process = host.start(program, "host", "--interface", "eth0", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=None, text=True)
        self.show()  # it listens

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def show(self):
        """Its account."""
        self.tell("show")
        line = self.process.stdout.readline()
        if not line:
            raise Failed("sluice-peer has ended")
        return json.loads(line)

    def until(self, holds):
        """Its account when it `holds`, for which it may take as long as it goes on changing."""
        last, end = None, 0
        while not holds(account := self.show()):
            if account != last:
                last, end = account, time.monotonic() + PATIENCE_S
            if time.monotonic() > end:
                raise Failed(f"sluice-peer stands still: {account}")
            time.sleep(0.05)
        return account

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Lab:
    def __init__(self, folder, build, prefix=PREFIX, mtu=1500, device="xdp:{interface}"):
        self.folder, self.build = pathlib.Path(folder), pathlib.Path(build)
        self.prefix, self.mtu, self.device = prefix, mtu, device
        self.hosts, self.switches = {}, {}

    # --- up ---

    @contextlib.contextmanager
    def making(self):
        """A failure half way leaves nothing behind."""
        if there := namespaces(self.prefix):
            raise Failed(f"there is a lab already ({there[0]}, ...); do: tools/lab down")
        for program in ("ip", "ethtool", "nsenter"):
            if shutil.which(program) is None:
                raise Failed(f"{program} is missing; do: tools/setup run lab")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            yield
        except BaseException:
            self.down()
            raise

    def one(self, hosts=4, more="", start=True):
        """`more`: what else stands in the switch's configuration."""
        with self.making():
            switch = self.add_switch("s1", more=more)
            for n in range(1, hosts + 1):
                self.add_host(n, switch)
            if start:
                switch.start()
        return self

    def pair(self, more="", start=True):
        with self.making():
            s1, s2 = switches = [self.add_switch(f"s{n}", more=more) for n in (1, 2)]
            for n, switch in enumerate(switches, 1):
                self.add_host(n, switch)
            self.connect(s1, s2, "10.1.12", "2001:db8:f:12")
            for switch, n, end in ((s1, 2, 1), (s2, 1, 0)):
                switch.namespace.ip(f"route add 10.0.{n}.0/24 via 10.1.12.{end}")
                switch.namespace.ip(f"route add 2001:db8:{n}::/64 via 2001:db8:f:12::{end + 1}")
            if start:
                s1.start()
                s2.start()
        return self

    def fabric(self, more=""):
        if not (pathlib.Path("/usr/lib/frr/bgpd")).exists():
            raise Failed("FRR is missing; do: tools/setup run lab")
        with self.making():
            leaves = [self.add_switch(f"leaf{n}", as_number=LEAF_AS + n, more=more) for n in (1, 2)]
            spines = [self.add_switch(f"spine{n}", as_number=SPINE_AS, more=more) for n in (1, 2)]
            for n in range(1, 5):
                self.add_host(n, leaves[(n - 1) // 2])
            for i, leaf in enumerate(leaves, 1):
                for j, spine in enumerate(spines, 1):
                    self.connect(leaf, spine, f"10.1.{i}{j}", f"2001:db8:f:{i}{j}")
            for switch in (*leaves, *spines):
                switch.start()
                switch.start_routing()
            self.wait_for_routes()
        return self

    def add_switch(self, name, as_number=None, more=""):
        # The kernel sees all that a packet port receives: it is not to route it a second time.
        settings = ROUTER if self.device.startswith("xdp") else {}
        namespace = Namespace(self.prefix + name).make(settings)
        switch = Switch(namespace, name, self.folder, self.build, self.mtu, self.device, more)
        switch.as_number = as_number
        self.switches[name] = switch
        return switch

    def add_host(self, n, switch):
        name = f"h{n}"
        self.hosts[name] = Namespace(self.prefix + name).make({"ipv4/icmp_ratelimit": 0})
        switch.ports.append(name)
        self.plug_in(n, switch)

    def plug_in(self, n, switch):
        """Host n into the switch, with all addresses."""
        name, host = f"h{n}", self.hosts[f"h{n}"]
        cable((host, "eth0"), (switch.namespace, name), self.mtu)
        host.ip(f"link set eth0 address 02:00:00:00:00:{n:02x}")
        for family, address, gateway, length in (("-4", f"10.0.{n}.2", f"10.0.{n}.1", 24),
                                                 ("-6", f"2001:db8:{n}::2", f"2001:db8:{n}::1", 64)):
            host.ip(f"{family} address add {address}/{length} dev eth0")
            switch.namespace.ip(f"{family} address add {gateway}/{length} dev {name}")
            host.ip(f"{family} route add default via {gateway}")

    def connect(self, one, another, ipv4, ipv6):
        """Two switches, whose ports have each other's names."""
        cable((one.namespace, another.name), (another.namespace, one.name), self.mtu)
        for switch, end, other in ((one, 0, another), (another, 1, one)):
            switch.ports.append(other.name)
            switch.namespace.ip(f"address add {ipv4}.{end}/31 dev {other.name}")
            switch.namespace.ip(f"address add {ipv6}::{end + 1}/64 dev {other.name}")
            switch.peers += [(f"{ipv4}.{1 - end}", other.as_number), (f"{ipv6}::{2 - end}", other.as_number)]

    def wait_for_routes(self):
        """Until every leaf has the other's hosts by both spines, in both families."""
        def missing():
            lost = []
            for name, others in (("leaf1", (3, 4)), ("leaf2", (1, 2))):
                routes = {route["prefix"]: route["via"] for route in self.switches[name].ask("route", "show")}
                lost += [(name, prefix, routes.get(prefix)) for n in others for prefix in (f"10.0.{n}.0/24", f"2001:db8:{n}::/64")
                         if len(routes.get(prefix, ())) != 2]
            return lost

        wait_for(missing, lambda lost: not lost, "routes do not come")

    # --- the present network ---

    def find(self):
        """Of what another process made: its hosts and switches."""
        for full in namespaces(self.prefix):
            name, namespace = full.removeprefix(self.prefix), Namespace(full)
            if name.rstrip("0123456789") in SWITCHES:
                switch = self.switches[name] = Switch(namespace, name, self.folder, self.build)
                switch.ports = [link["ifname"] for link in namespace.links() if link["ifname"] != "lo"]
            else:
                self.hosts[name] = namespace
        return self

    def namespace(self, name):
        if name not in self.hosts and name not in self.switches:
            raise Failed(f"there is no {name} in the lab; there is: {' '.join([*self.hosts, *self.switches]) or 'nothing'}")
        return self.hosts.get(name) or self.switches[name].namespace

    @staticmethod
    def reach(host, *addresses):
        """Waits until it has reached each of them: then the switches on the way know their neighbors."""
        def answers(address):
            with contextlib.suppress(Failed):
                return host.run("ping", "-n", "-c", "1", "-W", "1", address)
            return None

        for address in addresses:
            wait_for(lambda address=address: answers(address), why=f"{host.name} does not reach {address}")

    def roce_host(self, n, *to, hosts=None, **options):
        """sluice-peer on host n, among `hosts` (all of the lab), which sends to those of `to`; see events(n)."""
        if to:
            options["to"] = ",".join(f"10.0.{one}.2" for one in to)
        numbers = hosts or [name[1:] for name in sorted(self.hosts)]
        return Peer(program(self.build, "sluice-peer"), self.hosts[f"h{n}"], hosts=",".join(f"10.0.{one}.2" for one in numbers),
                    address=f"10.0.{n}.2", gateway=self.gateway(n), events=self.events_file(n), **options)

    def stream(self, n, *to, size=1082, **options):
        """Frames of `size` bytes of host n to another at a fixed rate, which nobody answers; without `to`, it counts what comes to it."""
        return self.roce_host(n, *to, hosts=[n, *to], answers="no", cc="none", rate="1G", scale=1, kind="send", mtu=4096,
                              message=size - ROCE_SEND_BYTES, **options)

    def events_file(self, n):
        return self.folder / f"h{n}.events.jsonl"

    def events(self, n):
        """Of a RoCE host, in order; the last line may not be whole yet."""
        return [json.loads(line) for line in self.events_file(n).read_text().splitlines(keepends=True) if line.endswith("\n")]

    def gateway(self, n):
        """The address of the switch's port where host n is."""
        switch = next(switch for switch in self.switches.values() if f"h{n}" in switch.ports)
        return next(link["address"] for link in switch.namespace.links() if link["ifname"] == f"h{n}")

    def down(self):
        """Ends and removes all of it, whatever state it is in; how many namespaces there were."""
        there = [Namespace(name) for name in namespaces(self.prefix)]
        for namespace in there:
            with contextlib.suppress(Failed):  # half made
                namespace.kill_all(wait=False)
        problems = []
        for namespace in there:
            try:
                namespace.delete()
            except Failed as problem:
                problems.append(str(problem))
        shutil.rmtree(self.folder, ignore_errors=True)
        self.hosts, self.switches = {}, {}
        if problems:
            raise Failed("; ".join(problems))
        return len(there)

    def show(self):
        """Lines for people."""
        lines = []
        for name, host in self.hosts.items():
            found = [address for link in json.loads(host.run("ip", "-j", "address", "show", "dev", "eth0")) if link
                     for address in link["addr_info"] if address["scope"] == "global"]
            lines.append(f"{name:<8} host    {'  '.join(address['local'] for address in found)}")
        for name, switch in self.switches.items():
            state = "runs" if switch.pid() else "is down"
            sessions = switch.sessions() if (self.folder / f"{name}.frr").is_dir() else {}
            up = sum(state == "Established" for state in sessions.values())
            bgp = f"  BGP {up} of {len(sessions)} up" if sessions else ""
            lines.append(f"{name:<8} switch  {state}  ports {' '.join(switch.ports)}{bgp}")
        return lines
