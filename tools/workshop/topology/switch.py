"""A switch in a namespace of its own: sluiced on its interfaces, its kernel as control plane, and FRR where it is a router."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess

from network import Failed, wait_for

FRR = pathlib.Path("/usr/lib/frr")
ROUTER = {"ipv4/ip_forward": 1, "ipv6/conf/all/forwarding": 1, "ipv4/icmp_ratelimit": 0, "ipv6/icmp/ratelimit": 0,
          "ipv6/conf/all/keep_addr_on_down": 1}

CONFIGURATION = """# Written by the lab: every interface of this namespace is a port; the rest the kernel says.
clock = "real"
turn_max = "{turn_max}"
idle_sleep = "50us"

[kernel]
routes = true

[buffer]
size = "32MB"

[watchdog]
detection = "{detection}"

[default]
speed = "1G"
mtu = {mtu}
"""

# A slow port, whose RoCEv2 is marked by the profile [wred.cc].
CONGESTED_HOST_PORT = """shaper = "{shaper}"

[port.{port}.queue.3]
wred = "cc"
"""


def program(build, name):
    """Where Meson leaves it, or a link to it."""
    places = [build / name, *build.glob(f"*/{name}"), *build.glob(f"*/*/{name}")]
    return next((path for path in places if path.is_file()), places[0])


class Switch:
    """`ports`: interfaces of its namespace, each of which is a port of the same name."""

    def __init__(self, namespace, name, folder, build, mtu=1500, device="xdp:{interface}", more=""):
        self.namespace, self.name, self.folder, self.build = namespace, name, pathlib.Path(folder), pathlib.Path(build)
        self.mtu, self.device, self.more = mtu, device, more
        self.ports = []
        self.keys = {}  # lines of the configuration, by port
        self.detection = "500ms"  # of pause storms
        self.as_number = None  # of BGP
        self.peers = []  # (address, AS number) of it

    def file(self, kind):
        return self.folder / f"{self.name}.{kind}"

    # --- sluiced ---

    def configuration(self):
        # Several switches share few CPUs: a worker may have to wait as long as the scheduler of the machine likes.
        text = CONFIGURATION.format(mtu=self.mtu, turn_max="8ms", detection=self.detection)
        for number, port in enumerate(self.ports):
            text += f'\n[port.{port}]\ndevice = "{self.device.format(interface=port, number=number)}"\n'
            text += self.keys.get(port, "")
        return text + self.more

    def start(self):
        """Returns when it can be asked. Its configuration stays as somebody may have edited it."""
        if not self.file("toml").exists():
            self.file("toml").write_text(self.configuration())
        self.file("sock").unlink(missing_ok=True)  # of one that was killed
        process = self.namespace.start(program(self.build, "sluiced"), "--config", self.file("toml"), "--socket", self.file("sock"),
                                       "--report", self.file("report.json"), "--events", self.file("events.jsonl"),
                                       log=self.file("log"))
        self.file("pid").write_text(f"{process.pid}\n")

        def answers():
            if process.poll() is not None:
                raise Failed(f"switch {self.name} does not start: {self.file('log').read_text().strip()[-2000:]}")
            with contextlib.suppress(Failed):
                return self.ctl("hello")
            return None

        wait_for(answers, why=f"switch {self.name} does not answer")

    def pid(self):
        """Of sluiced, as long as it runs."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pid = int(self.file("pid").read_text())
            if pid in self.namespace.processes():
                return pid
        return None

    def signal(self, how):
        """Sends it to sluiced; waits for its end where it is one."""
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, how)
        if how in (signal.SIGTERM, signal.SIGKILL):
            wait_for(lambda: self.pid() is None, why=f"switch {self.name} does not end")

    def stop(self):
        """Its last report."""
        self.signal(signal.SIGTERM)
        return json.loads(self.file("report.json").read_text())

    def kill(self):
        self.signal(signal.SIGKILL)

    def restart(self):
        """Not asked to end, and another in its place."""
        self.kill()
        self.start()

    def ctl(self, *words):
        """The output of sluicectl."""
        done = subprocess.run([program(self.build, "sluicectl"), "--socket", self.file("sock"), *words], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failed(f"{self.name}: sluicectl {' '.join(words)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def ask(self, *words):
        return json.loads(self.ctl("--json", *words))

    def events(self, kind):
        """Texts of its events of that kind, since the lab is up."""
        lines = self.file("events.jsonl").read_text().splitlines() if self.file("events.jsonl").exists() else []
        return [event["text"] for event in map(json.loads, lines) if event["kind"] == kind]

    # --- FRR ---

    def start_routing(self):
        """zebra and bgpd: a session for each family with each peer, ECMP over all that are as good."""
        frr = self.folder / f"{self.name}.frr"
        shutil.rmtree(frr, ignore_errors=True)  # with the sockets of one that was killed: a daemon that is waited for would seem to listen
        frr.mkdir()
        # FRR 8.4 does not give a group of next hops its members back that the kernel took out when their link went down.
        for daemon, text in (("zebra", "no zebra nexthop kernel enable\n"), ("bgpd", self.bgp())):
            (frr / f"{daemon}.conf").write_text(f"hostname {self.name}\n" + text)
            # The group is one that they insist on; root is no other's member.
            process = self.namespace.start(FRR / daemon, "-f", frr / f"{daemon}.conf", "-i", frr / f"{daemon}.pid", "-z", frr / "zserv.api",
                                 "--vty_socket", frr, "-P", "0", "-u", "root", "-g", "frrvty", "-A", "127.0.0.1",
                                 log=frr / f"{daemon}.log", cwd=frr)

            def listens(vty=frr / f"{daemon}.vty", process=process, log=frr / f"{daemon}.log"):
                if process.poll() is not None:
                    raise Failed(f"{log.stem} of {self.name} does not start: {log.read_text().strip()[-2000:]}")
                return vty.exists()

            wait_for(listens, why=f"{daemon} of {self.name} does not listen")
        # bgpd 8.4 refuses a neighbor's IPv6 routes for good if the session comes before zebra has told it its own addresses.
        wait_for(self.knows_its_networks, why=f"bgpd of {self.name} does not know its interfaces")
        self.vtysh("configure terminal", f"router bgp {self.as_number}", *(f"no neighbor {address} shutdown" for address, _ in self.peers))

    def knows_its_networks(self):
        """Those of its interfaces, of both families: zebra tells of them after it has told of the interfaces."""
        return all(json.loads(self.vtysh(f"show bgp {family} unicast json")).get("routes") for family in ("ipv4", "ipv6"))

    def bgp(self):
        number = int("".join(filter(str.isdigit, self.name)))
        lines = [f"router bgp {self.as_number}", f" bgp router-id 10.255.{self.as_number % 256}.{number}",
                 " no bgp ebgp-requires-policy", " no bgp default ipv4-unicast", " bgp bestpath as-path multipath-relax",
                 " timers bgp 3 9"]
        for address, as_number in self.peers:
            lines += [f" neighbor {address} remote-as {as_number}", f" neighbor {address} timers connect 1", f" neighbor {address} shutdown"]
        for family, mark in (("ipv4", "."), ("ipv6", ":")):
            lines += [f" address-family {family} unicast", "  redistribute connected", "  redistribute kernel",
                      "  maximum-paths 16"]
            lines += [f"  neighbor {address} activate" for address, _ in self.peers if mark in address]
            lines += [" exit-address-family"]
        return "\n".join(lines) + "\n"

    def vtysh(self, *commands):
        options = [word for command in commands for word in ("-c", command)]
        return self.namespace.run("vtysh", "--vty_socket", self.folder / f"{self.name}.frr", *options)

    def sessions(self):
        """{address: state} of BGP."""
        with contextlib.suppress(Failed, json.JSONDecodeError):
            summary = json.loads(self.vtysh("show bgp summary json"))
            return {address: peer["state"] for family in summary.values() for address, peer in family.get("peers", {}).items()}
        return {}
