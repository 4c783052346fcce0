#!/usr/bin/python3
"""Hosts around one switch, as tools/lab builds them: what people try first."""

import json
import socket
import struct
import subprocess
import sys
import threading

import netns
from lab_case import LabCase, kernel_counters
from loopback import ROOT, Programs
from network import Failed, namespaces, sh

MEGABYTE = 10**6
ADDRESSES = ("10.0.2.2", "2001:db8:2::2")
RETRANSMISSIONS, SSTHRESH, DELIVERED_CE = 100, 76, 196  # of struct tcp_info
NO_SSTHRESH = 0x7FFFFFFF
TRIES = 3


class Tools(LabCase):
    programs = ("iperf3", "traceroute")

    def iperf(self, lab, address, *words):
        """The client's output, from h1 to h2."""
        server = self.background(lab.hosts["h2"].start("iperf3", "--server", "--one-off"))
        self.listening(lab.hosts["h2"], 5201)
        said = json.loads(lab.hosts["h1"].run("iperf3", "--json", "--client", address, *words))
        server.wait()
        return said["end"]

    def test_ping_and_traceroute(self):
        lab = self.lab().one(hosts=2)
        h1, s1 = lab.hosts["h1"], lab.switches["s1"]
        for address, gateway in zip(ADDRESSES, ("10.0.1.1", "2001:db8:1::1")):
            self.assertEqual(netns.ping(h1, address), (5, 63))
            self.assertEqual(netns.ping(h1, gateway), (5, 64))
            lines = h1.run("traceroute", "-n", "-q", "1", "-N", "1", "-w", "20", address).splitlines()
            self.assertEqual([line.split()[1] for line in lines[1:]], [gateway, address])
        steering = s1.ask("stats", "show", "ports.h1.steering")
        self.assertEqual((steering["expired"], steering["no_socket"]), (2, 0))
        outcome = self.stop(s1)
        self.assertEqual(outcome.drops(), {})
        self.assertGreater(sum(outcome.port(name)["returned_packets"] for name in ("h1", "h2")), 0)

    def test_tcp_and_udp_of_both_families(self):
        lab = self.lab().one(hosts=2)
        self.reach(lab.hosts["h1"], *ADDRESSES)
        tcp = sum(self.iperf(lab, address, "--bytes", 10 * MEGABYTE)["sum_received"]["bytes"] for address in ADDRESSES)
        udp = [self.iperf(lab, address, "--udp", "--bandwidth", "40M", "--bytes", 2 * MEGABYTE, "--length", 1200)["sum"]
               for address in ADDRESSES]
        outcome = self.stop(lab.switches["s1"])
        self.assertGreater(tcp, 10 * MEGABYTE)  # of twice that: what is under way when the client is done does not count
        h1, h2 = outcome.port("h1"), outcome.port("h2")
        self.assertGreaterEqual(h1["rx"]["bytes"], tcp)
        self.assertGreaterEqual(h2["queues"][0]["tx_bytes"], tcp)
        # On a busy machine the switch's ring or the receiver's socket may have had no room.
        counters = kernel_counters(lab.hosts["h2"])
        self.assertLessEqual(sum(one["lost_packets"] for one in udp),
                             h1["imissed"] + counters["UdpRcvbufErrors"] + counters["Udp6RcvbufErrors"])
        self.assertGreater(sum(one["packets"] for one in udp), 3000)
        self.assertEqual(outcome.drops(), {})

    def test_jumbo_frames_through_packet_ports(self):
        lab = self.lab(mtu=9000, device="net_af_packet{number},iface={interface}").one(hosts=2)
        self.reach(lab.hosts["h1"], *ADDRESSES)
        for address, headers in zip(ADDRESSES, (28, 48)):
            self.assertEqual(netns.ping(lab.hosts["h1"], address, size=9000 - headers), (5, 63))
        out, into = self.tcp(lab.hosts["h1"], lab.hosts["h2"], "10.0.2.2")
        self.assertGreater(out.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG), 8900)
        out.sendall(b"x" * 8900)
        self.assertEqual(len(into.recv(8900, socket.MSG_WAITALL)), 8900)
        # Pings alone: 10 and their answers of 9014 bytes.
        self.assertGreater(self.stop(lab.switches["s1"]).port("h2")["tx"]["bytes"], 10 * 9014)


class OneSubnet(LabCase):
    ADDRESSES = ("10.0.9.1", "10.0.9.2"), ("2001:db8:9::1", "2001:db8:9::2")

    def test_hosts_of_one_subnet_behind_two_ports(self):
        """The kernel answers ARP and ND for who is behind the other port; host routes tell where that is."""
        lab = self.lab().one(hosts=2)
        h1, h2, s1 = lab.hosts["h1"], lab.hosts["h2"], lab.switches["s1"]
        for n, host in ((1, h1), (2, h2)):
            port, other = f"h{n}", f"h{3 - n}"
            s1.namespace.set({f"ipv4/conf/{port}/proxy_arp": 1, f"ipv4/neigh/{port}/proxy_delay": 0,
                              f"ipv6/conf/{port}/proxy_ndp": 1, f"ipv6/neigh/{port}/proxy_delay": 0})
            for family, length, addresses in (("-4", 24, self.ADDRESSES[0]), ("-6", 64, self.ADDRESSES[1])):
                nodad = " nodad" if family == "-6" else ""
                host.ip(f"{family} route delete default")
                host.ip(f"{family} address add {addresses[n - 1]}/{length} dev eth0{nodad}")
                s1.namespace.ip(f"{family} route add {addresses[n - 1]} dev {port}")
            s1.namespace.ip(f"-6 neighbor add proxy {self.ADDRESSES[1][n - 1]} dev {other}")
        def forwarded_by_kernel():
            counters = kernel_counters(s1.namespace)
            return counters["IpForwDatagrams"], counters["Ip6OutForwDatagrams"]

        for addresses in self.ADDRESSES:
            self.reach(h1, addresses[1])
        before = forwarded_by_kernel()
        for addresses in self.ADDRESSES:
            self.assertEqual(netns.ping(h1, addresses[1]), (5, 63))
            self.assertEqual(netns.ping(h2, addresses[0]), (5, 63))
        self.assertEqual(forwarded_by_kernel(), before)
        self.assertLessEqual(set(self.stop(s1).drops()), {"multicast"})


class Congestion(LabCase):
    MORE = """
[wred.low]
ect_min = "15KB"
ect_max = "60KB"
ect_probability = 20

[port.h2]
device = "xdp:h2"
shaper = "40M"

[port.h2.queue.0]
wred = "low"
"""

    def transfer(self, sender, receiver, port):
        out, into = self.tcp(sender, receiver, "10.0.2.2", port)
        thread = threading.Thread(target=lambda: (out.sendall(bytes(6 * MEGABYTE)), out.shutdown(socket.SHUT_WR)))
        thread.start()
        received = 0
        while data := into.recv(1 << 20):
            received += len(data)
        thread.join()
        self.assertEqual(received, 6 * MEGABYTE)
        info = out.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return [struct.unpack_from("I", info, at)[0] for at in (RETRANSMISSIONS, SSTHRESH, DELIVERED_CE)]

    def test_tcp_reacts_to_marks(self):
        lab = self.lab()
        lab.one(hosts=2, start=False)
        s1, hosts = lab.switches["s1"], [lab.hosts["h1"], lab.hosts["h2"]]
        s1.ports.remove("h2")
        s1.more = self.MORE
        s1.start()
        for n, host in enumerate(hosts, 1):
            # The sender's timers on a busy machine would send again what is not lost.
            host.set({"ipv4/tcp_ecn": 1, "ipv4/tcp_congestion_control": "reno", "ipv4/tcp_early_retrans": 0,
                      "ipv4/tcp_no_metrics_save": 1})
            host.ip(f"route change default via 10.0.{n}.1 rto_min 10s")
        self.reach(hosts[0], "10.0.2.2")
        for port in range(5001, 5001 + TRIES):  # where the kernel lost a segment on a busy machine, another connection tells
            retransmissions, ssthresh, delivered = self.transfer(*hosts, port)
            if retransmissions == 0:
                break
        outcome = self.stop(s1)
        marked = outcome.port("h2")["queues"][0]["ecn_marked_packets"]
        self.assertGreater(marked, 0)
        self.assertEqual(kernel_counters(hosts[1])["IpExtInCEPkts"], marked)
        # No loss made the sender slower, which is reno's only other reason.
        self.assertEqual((retransmissions, delivered > 0, ssthresh < NO_SSTHRESH), (0, True, True), (retransmissions, delivered, ssthresh))
        self.assertEqual(outcome.port("h2")["queues"][0]["dropped_packets"], 0)


class CommandLine(LabCase):
    def tools_lab(self, *words, status=0):
        """Its output; where it fails, its error."""
        program = ROOT / "tools/workshop/topology/main.py"
        done = subprocess.run([sys.executable, program, "--build", Programs.sluiced.parent, "--folder", self.folder, *words],
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def test_a_session(self):
        made = self.lab()
        self.folder = made.folder
        self.assertIn("there is no h1 in the lab", self.tools_lab("exec", "h1", "true", status=1))
        self.assertEqual(self.tools_lab("show"), "there is no lab\n")
        up = self.tools_lab("up", "one", "--hosts", "2")
        self.assertEqual(up.splitlines(), ["h1       host    10.0.1.2  2001:db8:1::2", "h2       host    10.0.2.2  2001:db8:2::2",
                                           "s1       switch  runs  ports h1 h2"])
        self.assertIn("there is a lab already", self.tools_lab("up", "pair", status=1))
        self.assertEqual(self.tools_lab("exec", "h2", "cat", "/sys/class/net/eth0/address"), "02:00:00:00:00:02\n")
        self.assertIn("h2 received 500 of 4 flows; lost 0, late 0",
                      self.tools_lab("roce", "h1", "h2", "--seconds", "1", "--pps", "500", "--flows", "4"))
        self.assertIn("10.0.2.2 dev h2 lladdr 02:00:00:00:00:02 source kernel", self.tools_lab("ctl", "s1", "neigh", "show"))
        self.assertIn("h1 is not a switch", self.tools_lab("ctl", "h1", "neigh", "show", status=1))
        self.tools_lab("exec", "h1", "sh", "-c", "exit 7", status=7)
        made.find().switches["s1"].kill()
        self.assertIn("s1       switch  is down", self.tools_lab("show"))
        self.assertIn("s1       switch  runs", self.tools_lab("restart", "s1"))
        self.assertEqual(self.tools_lab("down"), "3 namespaces removed\n")
        self.assertEqual(self.tools_lab("down"), "0 namespaces removed\n")


class UpAndDown(LabCase):
    def test_nothing_is_left_behind(self):
        def here():
            return sh("ip", "-o", "link"), namespaces(""), made.folder.exists()

        made = self.lab()
        made.down()
        before = here()
        made.one(hosts=3)
        self.assertEqual(len(namespaces(made.prefix)), 4)
        self.assertEqual(made.down(), 4)
        self.assertEqual(here(), before)
        made.one(hosts=1)
        made.switches["s1"].kill()
        made.down()
        self.assertEqual(here(), before)

    def test_what_fails_half_way_up_leaves_nothing(self):
        made = self.lab()
        with self.assertRaisesRegex(Failed, "switch s1 does not start: .*nonsense"):
            made.one(hosts=2, more="nonsense = 1\n")
        self.assertEqual((namespaces(made.prefix), made.folder.exists()), ([], False))

    def test_a_second_lab_is_refused_and_the_first_stays(self):
        made = self.lab().one(hosts=1)
        with self.assertRaisesRegex(Failed, "there is a lab already .*tools/lab down"):
            made.one(hosts=1)
        self.assertEqual(namespaces(made.prefix), ["sluice-lab-h1", "sluice-lab-s1"])


if __name__ == "__main__":
    netns.main(with_sluicectl=True)
