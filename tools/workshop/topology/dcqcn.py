"""tools/lab dcqcn: an incast through one switch, and what DCQCN does about it. Real hosts in namespaces, their times scaled."""

import time

from network import Failed
from switch import CONGESTED_HOST_PORT

CLASS = 3
WRED_AND_PFC = """
[wred.cc]
ect_min = "5KB"
ect_max = "100KB"
ect_probability = 10

[default.priority_group.3]
static_th = "200KB"
"""
ALONE_S, INCAST_S, RECOVERY_S, ROW_S = 2, 5, 20, 0.5


class Incast:
    """Hosts 1 ... `senders` send to the last one, whose port is slower than two of them."""

    def __init__(self, lab, senders, mbps, scale, cc):
        self.lab, self.last, self.mbps = lab, senders + 1, mbps
        lab.one(hosts=self.last, start=False)
        switch = self.switch = lab.switches["s1"]
        switch.keys[f"h{self.last}"] = CONGESTED_HOST_PORT.format(port=f"h{self.last}", shaper=f"{mbps * 12}00K")
        switch.more = WRED_AND_PFC
        switch.start()
        for n in range(1, self.last):
            lab.reach(lab.hosts[f"h{n}"], f"10.0.{self.last}.2")
        self.options = {"rate": f"{mbps}M", "scale": scale, "cc": cc, "message": "100KB", "depth": 8}
        self.receiver = lab.roce_host(self.last, **self.options)
        self.senders = {}
        self.begin = time.monotonic()

    def send(self, n):
        self.senders[n] = self.lab.roce_host(n, self.last, **self.options)

    def row(self, what):
        accounts = {n: peer.show() for n, peer in self.senders.items()}
        rates = "".join(f"{accounts[n]['rate'] / 1e6:9.1f}" if n in accounts and accounts[n]["sending"] else f"{'-':>9}"
                        for n in range(1, self.last))
        paused = sum(account["held_ns"] for account in accounts.values()) / 1e6
        print(f"{time.monotonic() - self.begin:6.1f}{rates}{self.receiver.show()['marked']:9}"
              f"{sum(account['cnps'] for account in accounts.values()):7}{paused:11.1f}  {what}", flush=True)
        return accounts

    def rows(self, seconds, what, until=lambda accounts: False):
        for n in range(int(seconds / ROW_S)):
            time.sleep(ROW_S)
            if until(self.row(what if n == 0 else "")):
                return

    def play(self):
        print(f"{'s':>6}{''.join(f'h{n} Mb/s'.rjust(9) for n in range(1, self.last))}{'marked':>9}{'CNPs':>7}{'paused ms':>11}")
        self.send(1)
        self.rows(ALONE_S, "h1 is alone")
        for n in range(2, self.last):
            self.send(n)
        self.rows(INCAST_S, "the others send, too")
        for n in range(2, self.last):
            self.senders[n].tell("stop")
        self.rows(RECOVERY_S, "the others stop",
                  lambda accounts: accounts[1]["rate"] == self.mbps * 10**6 and not any(accounts[n]["sending"] for n in range(2, self.last)))
        self.senders[1].tell("stop")
        return {n: peer.until(lambda account: not account["sending"]) for n, peer in self.senders.items()}

    def sum_up(self, accounts):
        print(f"\n{'host':<6}{'messages':>9}{'CNPs':>7}{'rate fell':>11}{'lowest':>10}{'at the end':>12}{'sent again':>12}{'paused':>11}")
        for n, account in accounts.items():
            print(f"h{n:<5}{account['completed']:>9}{account['cnps']:>7}{account['rate_falls']:>11}"
                  f"{account['lowest_rate'] / 1e6:>5.1f} Mb/s{account['rate'] / 1e6:>7.1f} Mb/s{account['retransmitted']:>12}"
                  f"{account['held_ns'] / 1e6:>8.1f} ms")
        ports = self.switch.ask("stats", "show")["ports"].values()
        lost = sum(count for port in ports for count in port["lossless_drops"].values())
        receiver = self.receiver.show()
        print(f"h{self.last} got {receiver['delivered']} messages of {sum(account['completed'] for account in accounts.values())}, "
              f"{receiver['marked']} packets of them marked; the switch lost {lost} packets of the lossless class")
        first = {}
        for event in self.lab.events(1)[1:]:
            first.setdefault(event["event"], event["at_ns"] / 1e9 - self.begin)
        order = [f"{what} at {first[event]:.2f} s" for event, what in
                 (("cnp", "the first CNP"), ("rate_falls", "a lower rate"), ("rate_rises", "a higher one"),
                  ("recovered", "line rate again"), ("paused", "the first pause")) if event in first]
        print(f"h1: {', '.join(order) or 'no CNP, no pause'}")

    def end(self):
        for peer in [*self.senders.values(), self.receiver]:
            peer.end()


def act(lab, given):
    """Makes the network, plays, and takes it away."""
    if given.rate * given.scale < 1000 or given.rate * given.scale > 800_000:
        raise Failed("--rate times --scale is to be from 1000 to 800000 Mb/s: that is the line whose time is scaled")
    print(f"Times are scaled: hosts of {given.rate} Mb/s behave as NICs of {given.rate * given.scale / 1000:g} Gb/s, {given.scale} times slower.\n"
          f"The port of h{given.senders + 1} lets {given.rate * 1.2:g} Mb/s through, marks from 5 KB on, and pauses its senders at 200 KB.\n")
    try:
        incast = Incast(lab, given.senders, given.rate, given.scale, given.cc)
        try:
            incast.sum_up(incast.play())
        finally:
            incast.end()
    finally:
        lab.down()
