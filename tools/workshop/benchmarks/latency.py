"""How long a packet is under way through the program at half load, over shared memory and over packet sockets."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import typing

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'topology'))

import sluiced
import traffic
from bench import Late, Missing, row
from network import Failed, Namespace, cable, enter
from testpmd import Testpmd

SIZE = 124
SENT = 0.9  # share of the load that there must be: sluiced's control thread is on the generator's core, too
MEMIF = 'net_memif{n},role={role},id={n},socket={folder}/memif.sock,socket-abstract=no,rsize=10'
PACKET_SOCKET = 'net_af_packet{n},iface={end}{n},qdisc_bypass=1,framecnt=8192'  # rings that outlast a stall
PERCENTILES = ('p50', 'p99', 'p999')


def refuse_other_load(seen, per_second, may_lose):
    """All frames must have been sent, and have come out."""
    wanted = per_second * seen['seconds']
    told = f'{wanted:.0f} packets were to be sent, {seen["sent"]} were and {seen["received"]} came out, so there is no figure'
    if seen['sent'] < SENT * wanted:
        raise Late(told)
    if not 0 <= seen['sent'] - seen['received'] <= may_lose * seen['sent']:
        raise RuntimeError(told)


def wait_for_links(client):
    """sluiced looks at them now and then; what comes before is lost."""
    end = time.monotonic() + sluiced.PATIENCE_S
    while not all(port['link_up'] for port in client.call('stats.show')['ports'].values()):
        if time.monotonic() > end:
            raise RuntimeError('the links to sluice-probe do not come up')
        time.sleep(0.02)


def run_on(core, niceness):
    """A process on that core, before others of this user where it is to and may."""
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.nice(niceness)


class Probe:
    """sluice-probe, on the core that does not forward. It ends after the program: net_memif's would not outlive its memory."""

    def __init__(self, bench, way, capture):
        core = bench.control_core
        self.way = way
        self.process = subprocess.Popen(
            [*way.enter_probe, str(bench.build / 'tools/workshop/benchmarks/sluice-probe'), *way.ends, str(capture)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: run_on(core, way.niceness))

    def run(self, per_second, seconds):
        """per_second 0: as many as it can."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f'{int(per_second)} {seconds} {self.way.burst}\n')
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f'sluice-probe: {self.process.stderr.read().strip()}')
        return json.loads(answer)

    def at_load(self, program, per_second, seconds):
        """Microseconds, by percentile."""
        seen = self.run(per_second, seconds)
        refuse_other_load(seen, per_second, self.way.may_lose)
        return {f'{program}_{which}': seen['ns'][which] / 1000 for which in PERCENTILES}

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


class Way(typing.NamedTuple):
    """From a probe to a program and back: the devices of each, and the words before it; how the probe sends, and what share of
    the packets may be lost on the way, which is not to be the program's doing."""
    devices: list
    enter: list
    ends: list
    enter_probe: list
    niceness: int
    burst: int
    may_lose: float


@contextlib.contextmanager
def shared_memory(bench):
    devices, ends = ([MEMIF.format(n=n, role=role, folder=bench.folder) for n in range(2)] for role in ('server', 'client'))
    yield Way(devices, [], ends, [], niceness=-20, burst=1, may_lose=0.001)


@contextlib.contextmanager
def cabled(mtu):
    """Namespaces of a program, with the interfaces sw0 and sw1, and of the probe, with end0 and end1, and a cable between each two."""
    switch, probe = (Namespace(f'sluice-bench-{os.getpid()}-{end}') for end in ('sw', 'end'))
    with contextlib.ExitStack() as later:
        for place in (switch, probe):
            try:
                place.make({'ipv6/conf/default/disable_ipv6': 1})
            except Failed as error:
                raise Missing(f'no network namespace: {error}') from error
            later.callback(place.delete)
        for n in range(2):
            cable((switch, f'sw{n}'), (probe, f'end{n}'), mtu)
        yield switch, probe


@contextlib.contextmanager
def packet_sockets(bench):
    """The same, at the ends of cables between two namespaces, the program's and the probe's: v22.11's net_af_packet gives
    sockets numbers that must differ in one. Each core does the kernel's work for what it sends: a call for each packet would be
    most of the generator's time, and kernel threads on its core must get their part, or what waits for them is dropped."""
    with cabled(1500) as (switch, probe):
        yield Way([PACKET_SOCKET.format(n=n, end='sw') for n in range(2)], enter(switch.name),
                  [PACKET_SOCKET.format(n=n, end='end') for n in range(2)], enter(probe.name),
                  niceness=0, burst=8, may_lose=0.02)


def measure(bench, name, there):
    """Rows of each percentile, at half of what sluiced carries that way."""
    bench.need('sluice-traffic', 'sluiced', 'tools/workshop/benchmarks/sluice-probe')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    if bench.cores < 2:
        raise Missing('needs two cores')
    captures = traffic.make(bench.build, bench.folder, size=SIZE, ports=2)
    with there(bench) as way, bench.inside(way.enter):
        text = sluiced.configuration(way.devices, cores=[bench.worker_core], eal=bench.eal, mtu=1500)

        @contextlib.contextmanager
        def attached(program):
            """A probe of a program, which ends first."""
            with contextlib.ExitStack() as later:
                started = later.enter_context(program)
                probe = Probe(bench, way, captures[0])
                try:
                    yield started, probe
                finally:
                    later.close()
                    probe.close()

        def carried():
            """Packets a second; more than that are sent."""
            with attached(sluiced.Sluiced(bench, text)) as (program, probe):
                wait_for_links(program.client)
                most = probe.run(0, bench.seconds)
                return most['received'] / most['seconds']

        half = carried() / 2

        def testpmd():
            program = Testpmd(bench, way.devices)
            with attached(program) as (_, probe), program.forwarding('io'):
                return probe.at_load('testpmd', half, bench.seconds)

        def switch():
            program = sluiced.Sluiced(bench, text)
            with attached(program) as (_, probe):
                wait_for_links(program.client)
                took = probe.at_load('sluiced', half, bench.seconds)
            sluiced.refuse_losses(program.report)
            return took

        took = bench.by_turns(name, testpmd=testpmd, switch=switch)
    return [{**row(f'{name}_{which}', 'us', took[f'sluiced_{which}'], 'testpmd io', took[f'testpmd_{which}'],
                   1 / 1.5 if which == 'p99' else None, 'less'), 'load_mpps': half / 1e6} for which in PERCENTILES]


def latency(bench):
    """microseconds from a frame's burst to its receipt, median, 99 % and 99.9 %, by a generator that polls, over net_memif at half
    the load that sluiced carries there (RFC 1242's throughput of the device under test), against testpmd io at the same load"""
    return measure(bench, 'latency', shared_memory)


def latency_af_packet(bench):
    """the same over net_af_packet, through the kernel and veth pairs; needs root"""
    return measure(bench, 'latency_af_packet', packet_sockets)


BENCHMARKS = {'latency': latency, 'latency_af_packet': latency_af_packet}
