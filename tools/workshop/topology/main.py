"""tools/lab: hosts in network namespaces around a switch or a fabric of four, on this machine; needs root.

  tools/lab up one [--hosts N] [--mtu BYTES]   hosts h1 ... hN (4) around one switch, s1
  tools/lab up pair [--mtu BYTES]              h1 on s1, h2 on s2, a cable between the switches
  tools/lab up fabric [--mtu BYTES]            h1 h2 on leaf1, h3 h4 on leaf2, spine1, spine2, with BGP (FRR)
  tools/lab show                               what there is, and how it does
  tools/lab exec NAME COMMAND...               runs a command on a host or a switch
  tools/lab shell NAME                         a shell there
  tools/lab ctl SWITCH [WORDS...]              sluicectl of that switch
  tools/lab vtysh SWITCH [COMMAND]             FRR's shell of a switch of the fabric, or one command of it
  tools/lab roce HOST HOST [OPTION...]         RoCEv2 from one to another, 8 flows of 1000 frames a second in all, for 5 seconds:
                                               --seconds N --flows N --pps N --size BYTES --dscp N
  tools/lab dcqcn [OPTION...]                  an incast of RoCE hosts, whose rates fall and recover; makes a lab and takes it away:
                                               --senders N (2) --rate MBPS (10) --scale N (1000) --cc dcqcn|dcqcn-paper|dcqcn-timer|none
  tools/lab restart SWITCH                     ends its sluiced by kill -9 and starts another
  tools/lab down                               ends and removes all of it

Host n has 10.0.n.2 and 2001:db8:n::2, and the switch as its default route. An MTU is at most 3300 (RoCEv2 of 2048).
While a switch's sluiced does not run, its kernel routes in its place, without PFC.
"""

import argparse
import os
import pathlib
import sys
import time

import dcqcn
from lab import Lab
from network import NAMESPACES, Failed
from switch import program

ROOT = pathlib.Path(__file__).resolve().parents[3]


def between(low, high):
    def number(text):
        if not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text}: a number from {low} to {high}")
        return int(text)
    return number


def arguments():
    parser = argparse.ArgumentParser(prog="tools/lab", usage="tools/lab up|down|show|roce|dcqcn|exec|shell|ctl|vtysh|restart ...  (--help)", add_help=False)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", default=ROOT / "out" / "lab", type=pathlib.Path, help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True, prog="tools/lab")
    up = verbs.add_parser("up", usage="tools/lab up one|pair|fabric [--hosts N] [--mtu BYTES]")
    up.add_argument("shape", choices=("one", "pair", "fabric"))
    up.add_argument("--hosts", type=between(1, 32), default=4)
    up.add_argument("--mtu", type=between(1280, 3300), default=1500)
    for verb in ("down", "show"):
        verbs.add_parser(verb)
    roce = verbs.add_parser("roce")
    for end in ("name", "to"):
        roce.add_argument(end)
    for option, default in (("seconds", 5), ("flows", 8), ("pps", 1000), ("size", 1082), ("dscp", 26)):
        roce.add_argument(f"--{option}", type=int, default=default)
    incast = verbs.add_parser("dcqcn")
    incast.add_argument("--senders", type=between(2, 8), default=2)
    incast.add_argument("--rate", type=between(1, 100), default=10)
    incast.add_argument("--scale", type=between(1, 100_000), default=1000)
    incast.add_argument("--cc", choices=("dcqcn", "dcqcn-paper", "dcqcn-timer", "none"), default="dcqcn")
    for verb in ("exec", "shell", "ctl", "vtysh", "restart"):
        one = verbs.add_parser(verb)
        one.add_argument("name")
        one.add_argument("words", nargs=argparse.REMAINDER)
    return parser.parse_args()


def replace_by(namespace, *words, **environment):
    """This process goes on as that program."""
    # `ip netns exec` shows a program the namespace's own /sys, too.
    os.execvpe("ip", ["ip", "netns", "exec", namespace.name, *(str(word) for word in words)], {**os.environ, **environment})


def roce(lab, given):
    """Says what became of every frame."""
    for name in (given.name, given.to):
        if name not in lab.hosts:
            raise Failed(f"{name} is not a host; there is: {' '.join(lab.hosts)}")
    ends = [int(name[1:]) for name in (given.name, given.to)]
    # So that the switches know both.
    lab.reach(lab.hosts[given.name], f"10.0.{ends[1]}.2")
    into = lab.stream(ends[1])
    out = lab.stream(*ends, messages=-(-given.seconds * given.pps // given.flows), qps=given.flows, pps=given.pps, size=given.size, dscp=given.dscp)
    try:
        sent = out.until(lambda account: not account["sending"])
        received = into.show()
        for _ in range(20):  # for packets under way
            if received["received"] == sent["sent"]:
                break
            time.sleep(0.1)
            received = into.show()
    finally:
        out.end()
        into.end()
    print(f"{given.name} sent {sent['sent']}; paused {sent['xoff']} times, {sent['held_ns'] / 1e6:.1f} ms")
    print(f"{given.to} received {received['received']} of {received['flows']} flows; lost {received['lost']}, "
          f"late {received['late']}, marked {received['marked']}")


def run(given):
    lab = Lab(given.folder.resolve(), given.build.resolve())
    if given.verb == "up":
        lab.mtu = given.mtu
        if given.shape == "one":
            lab.one(given.hosts)
        else:
            getattr(lab, given.shape)()
        print(*lab.show(), sep="\n")
        return
    if given.verb == "dcqcn":
        dcqcn.act(lab, given)
        return
    if given.verb == "down":
        print(f"{lab.down()} namespaces removed")
        return
    lab.find()
    if given.verb == "show":
        print(*(lab.show() or ["there is no lab"]), sep="\n")
        return
    if given.verb == "roce":
        roce(lab, given)
        return
    namespace = lab.namespace(given.name)
    if given.verb == "exec":
        replace_by(namespace, *(given.words or ["true"]))
    if given.verb == "shell":
        replace_by(namespace, os.environ.get("SHELL", "bash"), debian_chroot=given.name)
    if given.name not in lab.switches:
        raise Failed(f"{given.name} is not a switch; there is: {' '.join(lab.switches)}")
    switch = lab.switches[given.name]
    if given.verb == "ctl":
        replace_by(namespace, program(switch.build, "sluicectl"), "--socket", switch.file("sock"), *given.words)
    if given.verb == "vtysh":
        command = ["-c", " ".join(given.words)] if given.words else []
        replace_by(namespace, "vtysh", "--vty_socket", lab.folder / f"{given.name}.frr", *command)
    if given.verb == "restart":
        switch.restart()
        print(*lab.show(), sep="\n")


def main():
    if "--help" in sys.argv[1:2] or "-h" in sys.argv[1:2]:
        print(__doc__.strip())
        return
    given = arguments()
    if os.geteuid() != 0:
        sys.exit(f"tools/lab: needs root for {NAMESPACES}")
    try:
        run(given)
    except Failed as error:
        sys.exit(f"tools/lab: {error}")


if __name__ == "__main__":
    main()
