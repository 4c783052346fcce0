"""Named network namespaces and veth cables between them, by iproute2 alone."""

import json
import os
import pathlib
import signal
import subprocess

from waiting import Failed, wait_for

NAMESPACES = pathlib.Path("/run/netns")


def enter(namespace):
    """The words before a program that is to run in it."""
    return ["nsenter", f"--net={NAMESPACES / namespace}", "--"]


def sh(*words, namespace=None, given=None):
    """The output of a program."""
    words = [str(word) for word in [*(enter(namespace) if namespace else []), *words]]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, input=given,
                              stdin=subprocess.DEVNULL if given is None else None)
    except OSError as error:
        raise Failed(f"{error.filename}: {error.strerror}") from error
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Namespace:
    """A network namespace by its name, whoever has made it."""

    def __init__(self, name):
        self.name = name

    def make(self, settings=None):
        """`settings`: of /proc/sys/net, before there is an interface."""
        sh("ip", "netns", "add", self.name)
        self.set({"ipv6/conf/default/accept_dad": 0, "ipv6/conf/default/accept_ra": 0,
                  "ipv6/conf/default/router_solicitations": 0, **(settings or {})})
        self.ip("link set lo up")
        return self

    def set(self, settings):
        self.run("sh", "-c", "; ".join(f"echo {value} > /proc/sys/net/{key}" for key, value in settings.items()))

    def run(self, *words, **keys):
        return sh(*words, namespace=self.name, **keys)

    def ip(self, line, **keys):
        return self.run("ip", *line.split(), **keys)

    def start(self, *words, log=None, **keys):
        """A process that goes on when this one ends; what it says goes to the file `log`."""
        with open(log or os.devnull, "ab") as out:
            keys = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": subprocess.STDOUT, **keys}
            return subprocess.Popen([*enter(self.name), *(str(word) for word in words)], start_new_session=True, **keys)

    def processes(self):
        return [int(pid) for pid in sh("ip", "netns", "pids", self.name).split()]

    def kill_all(self, how=signal.SIGKILL, wait=True):
        """Ends every process in it."""
        for pid in self.processes():
            try:
                os.kill(pid, how)
            except ProcessLookupError:
                pass
        if wait:
            wait_for(self.processes, lambda pids: not pids, f"processes in {self.name} do not end")

    def delete(self):
        """With its processes, interfaces and their programs."""
        try:
            self.kill_all()
        finally:
            sh("ip", "netns", "delete", self.name)

    def links(self):
        return json.loads(self.run("ip", "-j", "link", "show"))


def namespaces(prefix):
    """Names of those that there are, by their prefix."""
    return sorted(path.name for path in NAMESPACES.glob(prefix + "*")) if NAMESPACES.is_dir() else []


def wait_for_link(interface, namespace=None):
    """Until the kernel says that it is up: after many links that came or went that is up to a second after the last end of it came."""
    wait_for(lambda: json.loads(sh("ip", "-j", "link", "show", interface, namespace=namespace))[0]["operstate"], lambda state: state == "UP",
             f"{interface} does not come up", every_s=0.01)


def cable(one, other, mtu):
    """A veth pair between (Namespace, interface) and another.

    One queue: an XDP port has as many as its rx_queues says, by default one. Ends leave no checksum to hardware, which XDP would not see made up."""
    (here, name), (there, other_name) = one, other
    queues = ["numtxqueues", "1", "numrxqueues", "1"]
    sh("ip", "link", "add", name, "netns", here.name, *queues, "type", "veth",
       "peer", "name", other_name, "netns", there.name, *queues)
    for namespace, interface in (one, other):
        namespace.run("ethtool", "-K", interface, "tx", "off")
        namespace.ip(f"link set {interface} mtu {mtu} up")
    for namespace, interface in (one, other):
        wait_for_link(interface, namespace.name)
