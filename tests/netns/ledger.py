"""The books of a switch's ports against the kernel's: what an interface carried, and what the port says became of it."""

import contextlib
import json
import socket
import time

from lab_case import inside
from network import wait_for

ARP, IPV6 = 0x0806, 0x86DD
SETTLED = 10  # looks that find the same
TO_SWITCH = ("mac_control", "roce", "routed", "malformed")  # of dataplane/ports/bpf/steer.h


class Ear:
    """In a host: the frames of the switch's kernel, which are ARP and IPv6; what the switch forwards is IPv4."""

    ROOM = 1 << 22

    def __init__(self, test, namespace):
        self.count, self.sockets = 0, []
        with inside(namespace):
            for protocol in (ARP, IPV6):
                made = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(protocol))
                made.setsockopt(socket.SOL_SOCKET, 33, self.ROOM)  # SO_RCVBUFFORCE
                made.setblocking(False)
                test.addCleanup(made.close)
                self.sockets.append(made)

    def heard(self):
        for one in self.sockets:
            with contextlib.suppress(BlockingIOError):
                while True:
                    one.recv(1)
                    self.count += 1
        return self.count


class Ledger:
    """Of a switch's ports to hosts. Their interfaces carried frames before it heard them: that difference, once it is steady, stays."""

    def __init__(self, test, switch, hosts):
        self.switch, self.ears = switch, {name: Ear(test, host) for name, host in hosts.items()}
        self.before = {}
        self.begin(*hosts)

    def nowhere(self, name):
        """Frames that only one side has in its books: (of those that came in, of those that XDP gave to the switch, of those that left)."""
        heard, port = self.ears[name].heard(), self.switch.ask("stats", "show", f"ports.{name}")
        link = json.loads(self.switch.namespace.run("ip", "-s", "-j", "link", "show", name))[0]["stats64"]
        taken = port["rx"]["packets"] + port["imissed"] + port["lost_on_wire_packets"] + port["beyond_mtu_in_packets"]
        left = port["tx"]["packets"] - port["beyond_mtu_packets"] + port["beyond_mtu_in_packets"] - port["refused_packets"] + heard - link["tx"]["packets"]
        if "steering" not in port:
            return link["rx"]["packets"] - taken, 0, left
        steering = dict(port["steering"])
        no_socket = steering.pop("no_socket")
        del steering["too_long"]  # in the port's books
        given = sum(steering[verdict] for verdict in TO_SWITCH) - no_socket
        return link["rx"]["packets"] - sum(steering.values()), given - taken, left

    def begin(self, *names):
        """Anew, for interfaces that are new. Nothing may be on its way."""
        for name in names:
            looks = []
            while len(looks) < SETTLED or len(set(looks[-SETTLED:])) > 1:
                looks.append(self.nowhere(name))
                time.sleep(0.02)
            self.before[name] = looks[-1]

    def check(self, *names, to_kernel_alone=0):
        """Waits until every frame since then is in both books.

        Up to `to_kernel_alone` frames may have come while an interface of a packet port was being set down or up: the kernel, which goes on
        with what it has counted, lets packet sockets hear nothing then."""
        def lost(name):
            came, given, left = (now - then for now, then in zip(self.nowhere(name), self.before[name]))
            return 0 if 0 <= came <= to_kernel_alone else came, given, left

        for name in names or self.before:
            wait_for(lambda name=name: lost(name), lambda lost: not any(lost), f"frames at {name} are in one side's books only")
        if to_kernel_alone != 0:
            self.begin(*names or self.before)
