#!/usr/bin/python3
"""Every finding that the documentation lists can be found: a configuration for each, and none that has no row."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import control
from control import Programs

ROOT = control.loopback.ROOT
CPUS = os.cpu_count()
# Findings about started network cards: tests/unit/nic makes them with fake ones, and looks for these words.
OF_CARDS = {"nic-pfc": '"nic-pfc"', "nic-receive-ring": "and the card's receive ring of", "nic-link-speed": "the link is of 25 Gb/s",
            "wire-nic": '"wire-nic"'}

REAL = 'clock = "real"\n'
PORT = '[port.p1]\n'
TWO = '[port.p1]\naddress = ["10.0.1.1/24"]\n[port.p2]\naddress = ["10.0.2.1/24"]\n'
NEIGHBOR = '[[neighbor]]\naddress = "{}"\nport = "{}"\nmac = "{}"\n'
HOST = NEIGHBOR.format("10.0.1.2", "p1", "02:00:00:00:00:09")
NULL = '[port.p1]\ndevice = "net_null0"\n'


HOSTS = TWO + '[host.p1]\naddress = "10.0.1.2"\n[host.p2]\naddress = "10.0.2.2"\n'
WIRE = '[port.p1]\n[port.p2]\n[wire.w]\nports = ["p1", "p2"]\n'
FLOW = '[[flow]]\nfrom = "p1"\nto = "p2"\n'


def route(prefix, via):
    return f'[[route]]\nprefix = "{prefix}"\nvia = {via}\n'
LOSSY = '[default]\nqos = "lossy"\n'
TRIM = '[default.queue.3]\non_full = "trim"\n[trimming]\ndscp = 11\n'


FOUND = {
    "above-buffer": '[port.p1.priority_group.3]\nsize = "1TiB"\n',
    "address-twice": '[port.p1]\naddress = ["10.0.0.1/24", "10.0.0.1/16"]\n',
    "buffer-large": '[buffer]\nsize = "1TiB"\n' + PORT,
    "buffer-profile": '[buffer]\nprofile = "spectrum-2"\n' + PORT,
    "buffer-rest": '[buffer]\nsize = 16000001\n' + PORT,
    "buffer-small": '[buffer]\nsize = 9000\n' + PORT,
    "cell-range": '[buffer]\ncell = 1024\npacket_buffer = 768\n' + PORT,
    "class-group-lossy": TWO + '[port.p1.priority_group.3]\nlossless = false\n',
    "class-queue-lossy": '[port.p1]\n[port.p2]\npfc = []\n',
    "cnp-queue": '[default.map]\ncnp_tc = 3\n' + PORT,
    "cores-count": REAL + 'cores = [1, 2]\n' + NULL,
    "cores-virtual": 'cores = [1]\n' + PORT,
    "decisions-memory": '[buffer]\nsize = "1GB"\n[decisions]\nrecord = "on"\nring = 16777216\n' + PORT,
    "decisions-off": '[decisions]\nfile = "x"\nrecord = "off"\n' + PORT,
    "decisions-port": '[decisions]\nport = ["p9"]\nrecord = "on"\n' + PORT,
    "device-argument-twice": '[port.p1]\ndevice = "net_pcap0,rx_pcap=a,rx_pcap=b"\n',
    "device-clock": '[port.p1]\ndevice = "net_ring0"\n',
    "device-file": '[port.p1]\ndevice = "net_pcap0,rx_pcap="\n',
    "device-frame": REAL + '[port.p1]\ndevice = "net_null0,size=2049"\n',
    "device-missing": REAL + PORT,
    "device-twice": '[port.p1]\ndevice = "net_null0"\n[port.p2]\ndevice = "net_null0"\n',
    "ecn-after-pause": '[buffer]\nsize = "4MB"\n[default]\nspeed = "400G"\n[port.p1]\n[port.p2]\n',
    "ecn-max": '[default]\nspeed = "400G"\n[port.p1]\n[port.p2]\n[buffer]\nsize = "8MB"\n',
    "ecn-min": '[wred.low]\ngreen_min = 1000\n[default.queue.3]\nwred = "low"\n' + PORT,
    "ecn-off": '[default.queue.3]\nwred = "none"\n' + PORT,
    "event-command": '[[event]]\nat = "1us"\ndo = "nonsense"\n' + PORT,
    "fault-overshoot": '[port.p1]\npeer = "ignore"\n[port.p1.fault]\novershoot = "1KB"\n',
    "fault-real-clock": REAL + NULL + '[port.p1.fault]\ndrop_every = 3\n',
    "fault-storm": '[port.p1.fault]\nstorm_every = "20us"\n',
    "fib-tables": '[fib]\nipv4_tables = 256\n' + TWO + "".join(route(f"10.9.{n}.0/25", '"blackhole"') for n in range(255)),
    "file-read-and-written": '[port.p1]\ndevice = "net_pcap0,rx_pcap=a,tx_pcap=b"\n[port.p2]\ndevice = "net_pcap1,rx_pcap=b"\n',
    "file-written-twice": '[port.p1]\ndevice = "net_pcap0,tx_pcap=b"\n[port.p2]\ndevice = "net_pcap1,tx_pcap=b"\n',
    "flow-family": TWO.replace("10.0.2.1/24", "2001:db8::1/64") + '[host.p1]\naddress = "10.0.1.2"\n[host.p2]\naddress = "2001:db8::2"\n' + FLOW,
    "flow-host": HOSTS + '[[flow]]\nfrom = "p1"\nto = "p3"\n',
    "flow-load": HOSTS + FLOW + 'load = 0\n',
    "flow-name": HOSTS + (FLOW + 'name = "x"\n') * 2,
    "flow-receive-window": HOSTS + FLOW + '[host.default]\nrecovery = "selective"\nwindow = "2MB"\n',
    "flow-recovery": TWO + '[host.p1]\naddress = "10.0.1.2"\nrecovery = "selective"\n[host.p2]\naddress = "10.0.2.2"\n' + FLOW,
    "flow-reorder-window": HOSTS + FLOW + '[host.default]\nrecovery = "selective"\ntimeout = "200us"\n',
    "flow-self": HOSTS + '[[flow]]\nfrom = ["p1", "p2"]\nto = "p2"\n',
    "flow-stop": HOSTS + FLOW + 'stop = 0\n',
    "flow-unanswered": HOSTS + FLOW + '[host.default]\necho_ce = false\n',
    "headroom-pool": '[pool.all]\ndirection = "ingress"\nsize = "12MB"\nshared_headroom = 438016\n[port.p1]\n[port.p2]\n',
    "headroom-small": '[port.p1.priority_group.3]\nxoff = 256\n',
    "host-address": TWO + '[host.p1]\naddress = "10.0.2.2"\n',
    "host-clock": REAL + NULL + 'address = ["10.0.1.1/24"]\n[host.p1]\naddress = "10.0.1.2"\n',
    "host-cnp-class": HOSTS + FLOW + '[host.default]\ncnp_dscp = 26\n[default.map]\ncnp_tc = "dscp"\n',
    "host-data-class": HOSTS + FLOW + '[host.default]\ndscp = 0\n',
    "host-device": HOSTS + '[default]\ndevice = "x"\n',
    "host-drain": HOSTS + '[host.default]\ndrain = "60G"\n',
    "host-mtu": HOSTS + '[default]\nmtu = 1000\n',
    "host-neighbor": TWO + HOST + '[host.p1]\naddress = "10.0.1.2"\n',
    "host-not-ect": HOSTS + FLOW + '[host.default]\necn = "not-ect"\n',
    "host-pause-time": HOSTS + '[host.default]\ndrain = "60G"\npause_quanta = 100\n',
    "host-port": TWO + '[host.p3]\naddress = "10.0.1.2"\n',
    "host-qps": HOSTS + (FLOW + 'qps = 1000\n') * 66,
    "host-rate": HOSTS + '[host.default]\nrate_min = "200G"\n',
    "host-receive-xon": HOSTS + '[host.default]\nreceive_xon = "65KB"\n',
    "host-rnr": HOSTS + FLOW + '[host.default]\nrnr_chance = "1%"\n',
    "host-trim": HOSTS + '[host.default]\ntrim = "nak"\n',
    "host-twice": HOSTS + '[host.p3]\nport = "p1"\naddress = "10.0.1.3"\n',
    "idle-sleep": 'idle_sleep = "26us"\n' + PORT,
    "kernel-clock": '[kernel]\nroutes = true\n' + PORT,
    "kernel-interface": REAL + '[kernel]\nroutes = true\ntaps = false\n' + NULL,
    "lossless-classes": '[port.p1]\npfc = [1, 3, 4]\n',
    "lossless-unused": '[port.p1]\npfc = [3, 4]\n',
    "lossless-without-pfc": '[port.p1]\npfc_mode = "off"\n[port.p1.priority_group.3]\nlossless = true\n',
    "mac-twice": '[port.p1]\nmac = "02:00:00:00:00:01"\n[port.p2]\nmac = "02:00:00:00:00:01"\n',
    "map-unknown": '[port.p1]\nmap = "mine"\n',
    "memory": '[buffer]\nsize = "512GiB"\n' + PORT,
    "min-rate-cnp": '[port.p1]\n[port.p1.queue.1]\nmin_rate = "95G"\n',
    "min-rate-sum": '[port.p1]\n[port.p1.queue.1]\nmin_rate = "60G"\n[port.p1.queue.2]\nmin_rate = "41G"\n',
    "mirror-class": TWO + '[mirror.m]\ncollector = "10.0.2.2"\ndscp = 26\n',
    "mirror-collector": '[mirror.m]\ncollector = "10.0.2.2"\n' + PORT,
    "mirror-idle": '[mirror.m]\nfile = "m"\non = []\n' + PORT,
    "mirror-output": '[mirror.m]\n' + PORT,
    "mirror-port": '[mirror.m]\nfile = "m"\nport = ["p9"]\n' + PORT,
    "mtu-ipv6": '[port.p1]\naddress = ["2001:db8::1/64"]\nmtu = 1279\n',
    "neighbor-own": TWO + NEIGHBOR.format("10.0.1.1", "p1", "02:00:00:00:00:09"),
    "neighbor-own-mac": '[port.p1]\nmac = "02:00:00:00:00:09"\naddress = ["10.0.1.1/24"]\n' + HOST,
    "neighbor-port": TWO + NEIGHBOR.format("10.0.1.2", "p3", "02:00:00:00:00:09"),
    "neighbor-several-ports": TWO + HOST + NEIGHBOR.format("10.0.1.2", "p2", "02:00:00:00:00:09"),
    "neighbor-twice": TWO + HOST + HOST,
    "next-hop-own": TWO + route("10.9.0.0/16", '["10.0.1.1"]'),
    "next-hop-twice": TWO + HOST + route("10.9.0.0/16", '["10.0.1.2", "10.0.1.2"]'),
    "no-ports": "seed = 2\n",
    "pause-time": '[port.p1]\npfc_quanta = 305\n',
    "peer-real": REAL + NULL + 'peer = "obey"\n',
    "pfc-queue": '[default.map]\npfc_priority_to_queue = {"3" = 2}\n' + PORT,
    "pool-no-shared": '[buffer]\nsize = "400KB"\n[port.p1]\n[port.p2]\n',
    "pool-unknown": '[port.p1.queue.0]\npool = "nowhere"\n',
    "pools-exceed-buffer": '[pool.a]\ndirection = "ingress"\nsize = "12MB"\n[pool.b]\ndirection = "ingress"\nsize = "12MB"\n' + PORT,
    "proxy-arp-alone": '[port.p1]\nproxy_arp = true\n',
    "profile-headroom": '[buffer]\nprofile = "tomahawk2"\n' + PORT,
    "receive-ring": 'virtual.rx_ring = 32\nvirtual.turn = "10us"\n' + PORT,
    "responder-address": '[port.p1]\nresponder = true\n',
    "responder-kernel": REAL + '[port.p1]\ndevice = "xdp:eth1"\nresponder = true\naddress = ["10.0.0.1/24"]\n',
    "route-to-nowhere": TWO + route("10.9.0.0/16", '["10.0.1.7"]'),
    "route-twice": TWO + route("10.9.0.0/16", '"blackhole"') * 2,
    "rx-queues-clock": '[port.p1]\nrx_queues = 2\n',
    "rx-queues-device": REAL + '[port.p1]\ndevice = "net_af_packet0,iface=eth1,qpairs=2"\n',
    "rx-queues-peer": REAL + '[port.p1]\ndevice = "net_pcap0,rx_pcap=a,rx_pcap=b"\nrx_queues = 2\npeer = "obey"\n',
    "rx-workers-idle": REAL + NULL + 'rx_workers = [0]\n',
    "subnet-overlap": '[port.p1]\naddress = ["10.0.0.1/8"]\n[port.p2]\naddress = ["10.9.9.9/24"]\n',
    "tap-twice": REAL + '[kernel]\ntaps = true\n[port.a-name-of-fifteen]\ndevice = "net_null0"\n'
                        '[port.a-name-of-fifteen2]\ndevice = "net_null1"\n',
    "trim-acks": LOSSY + TRIM + '[default.map]\nroce_tc = "dscp"\ndscp_to_tc = {"11" = 5, "26" = 3}\n' + HOSTS,
    "trim-class": LOSSY + TRIM + '[default.map]\ndscp_to_tc = {"11" = 4, "26" = 3}\n[default.queue.4]\non_full = "trim"\n' + TWO,
    "trim-described": LOSSY + TRIM + 'size = 257\n' + HOSTS + 'payload = "described"\n',
    "trim-dscp": LOSSY + '[default.queue.3]\non_full = "trim"\n' + PORT,
    "trim-group-limit": LOSSY + TRIM + '[default.priority_group.3]\nstatic_th = "1KB"\n' + PORT,
    "trim-lossless": TRIM + PORT,
    "trim-never": LOSSY + TRIM + 'trimmable_dscp = [48]\n' + PORT,
    "trim-other-traffic": LOSSY + TRIM + '[default.queue.0]\non_full = "trim"\n[default.map]\ndscp_to_tc = {"11" = 5}\n' + PORT,
    "trim-own-queue": LOSSY + TRIM + '[default.map]\ndscp_to_tc = {"11" = 3}\n' + PORT,
    "trim-roce-tc": LOSSY + TRIM + '[default.map]\nroce_tc = 3\ndscp_to_tc = {"11" = 5}\n' + PORT,
    "trim-size": LOSSY + TRIM + 'size = 64\n' + PORT,
    "turn-long": 'virtual.turn = "2ms"\n' + PORT,
    "watchdog-honest-pause": '[buffer]\nsize = "32MB"\n[port.p1]\nspeed = "1G"\n',
    "watchdog-poll": '[watchdog]\npoll = "10ms"\n' + PORT,
    "worker-index": '[port.p1]\nworker = 5\n',
    "wire-flow": WIRE + '[port.p3]\naddress = ["10.0.3.1/24"]\n[host.p1]\naddress = "10.0.0.1"\n[host.p3]\naddress = "10.0.3.2"\n'
                 + FLOW.replace("p2", "p3"),
    "wire-pfc": WIRE + 'pfc = "pass"\n',
    "wire-port": PORT + '[wire.w]\nports = ["p1", "p9"]\n',
    "wire-queues": REAL + WIRE.replace("[port.p1]\n", '[port.p1]\ndevice = "net_af_packet0,iface=eth9,qpairs=2"\nrx_queues = 2\n'),
    "wire-routed": WIRE.replace("[port.p1]\n", '[port.p1]\naddress = ["10.0.0.1/24"]\n'),
    "wire-rule": WIRE + '[wire.w.impair.r]\ndo = "delay"\n',
    "wire-twice": WIRE + '[port.p3]\n[wire.x]\nports = ["p2", "p3"]\n',
    "workers-cpus": REAL + f"workers = {min(CPUS + 1, 16)}\n" + NULL,
    "workers-idle": 'workers = 2\n' + PORT,
    "wred-drops-lossless": '[wred.w]\ndrop_non_ect = true\n[default.queue.3]\nwred = "w"\n' + PORT,
    "wred-profile": '[port.p1.queue.3]\nwred = "nowhere"\n',
    "xon-offset": '[port.p1.priority_group.3]\nxon_offset = 256\n',
}


def reference():
    """{name: (severity words, sentence)} as the program prints them."""
    text = subprocess.run([Programs.sluiced, "--findings"], text=True, capture_output=True, check=True).stdout
    return {name: (severity, when) for name, severity, when in re.findall(r"^([a-z0-9-]+)  (.+)\n    (.+)$", text, re.M)}


class Findings(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory(prefix="sluice-findings-") as folder:
            path = pathlib.Path(folder) / "sluice.toml"
            path.write_text(text)
            done = subprocess.run([Programs.sluiced, "--config", path, "--check"], text=True, capture_output=True)
        return {name: severity for severity, name in
                re.findall(r": (error|warning|note): .*\[([a-z0-9-]+)\](?:;|$)", done.stderr, re.M)}, done.stderr

    def test_the_reference_and_these_configurations_name_the_same(self):
        self.assertEqual(sorted(FOUND.keys() | OF_CARDS.keys()), list(reference()))

    def test_each_is_found_with_a_severity_that_the_reference_has(self):
        known = reference()
        for name, text in FOUND.items():
            if name == "workers-cpus" and CPUS >= 16:
                continue
            with self.subTest(name=name):
                found, said = self.found(text)
                self.assertIn(name, found, said or "nothing was found")
                severity, when = known[name]
                self.assertIn(found[name], severity + when)

    def test_those_of_cards_are_made_elsewhere(self):
        sources = "".join(path.read_text() for path in (ROOT / "tests" / "unit" / "nic").glob("*.cc"))
        for words in OF_CARDS.values():
            self.assertIn(words, sources)


if __name__ == "__main__":
    control.main()
