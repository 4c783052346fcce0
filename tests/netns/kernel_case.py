"""A test on a switch whose control plane is the kernel of its namespace."""

import contextlib
import struct

import netns
from loopback import mac
from netns import sh

FLOWS = struct.pack(">H", 9)  # their destination port, which is not the kernel's nor a probe's


def ip(line, **keys):
    return sh("ip", *line.split(), **keys)


class KernelCase(netns.Case):
    cable = {"mtu": 1500, "own_mac": True}
    silent = ()  # hosts that are raw sockets

    def switch(self, hosts=2, **keys):
        """Ports, and nothing else of the network."""
        switch = super().switch(hosts=0, **{"kernel.routes": True, **keys})
        for n in range(hosts):
            switch.port(f"h{n}")
        return switch

    def cables(self, hosts=2, **keys):
        """The kernel has an address on each."""
        cables = super().cables(hosts, **keys)
        for n in range(hosts):
            ip(f"address add 10.0.{n}.1/24 dev sw{n}")
        self.silent = range(hosts)
        return cables

    @contextlib.contextmanager
    def running(self, switch, **keys):
        with super().running(switch, **keys) as run:
            run.wait_for(run.path.exists, bool)
            # The hosts do not speak for themselves. Not before: the driver sets the interface's MAC to what it was, for
            # which the kernel forgets its neighbors.
            for n in self.silent:
                ip(f"neighbor replace 10.0.{n}.2 lladdr {mac(n)} dev sw{n}")
            run.wait_for(lambda: {entry["address"] for entry in run.call("neighbor.list") if entry["source"] == "kernel"},
                         lambda known: known >= {f"10.0.{n}.2" for n in self.silent})
            yield run

    def routes(self, run):
        """{prefix: (next hops with weights, source, used)} of routes by gateways."""
        return {(route["prefix"], route["source"]): (route["via"] if isinstance(route["via"], str) else
                                                     {hop["address"]: hop["weight"] for hop in route["via"]}, route["used"])
                for route in run.call("route.list")}

    def wait_for_route(self, run, prefix, via, source="kernel", used=True):
        """via: {address: weight}, "elsewhere", ..., or None."""
        wanted = None if via is None else (via, used)
        run.wait_for(lambda: self.routes(run).get((prefix, source)), lambda found: found == wanted)

    def arrived(self, cables, frames, run):
        """Sends them into the first cable; how many came out of each of the others before a probe sent behind them."""
        cables[0].send(*frames)
        return {cable.n: sum(frame[36:38] == FLOWS for frame in self.comes_through(cables[0], cable, run)) for cable in cables[1:]}
