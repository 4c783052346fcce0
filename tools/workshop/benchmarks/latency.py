"""What a generator and receiver (sluice-probe) sees of a program between its two devices: latency, and frames over the kernel."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import typing

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'topology'))

import sluiced
import traffic
from bench import Late, Missing, row
from network import Failed, Namespace, cable, enter
from yardsticks import testpmd

PROBE = 'tools/workshop/benchmarks/sluice-probe'
SIZE = 124
SENT = 0.9  # share of the load that there must be: sluiced's control thread is on the generator's core, too
MEMIF = 'net_memif{n},role={role},id={n},socket={folder}/memif.sock,socket-abstract=no,rsize=10'
PACKET_SOCKET = 'net_af_packet{n},iface={end}{n},qdisc_bypass=1,framecnt=8192'  # rings that outlast a stall
PERCENTILES = ('p50', 'p99', 'p999')


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
def packet_sockets(bench, mtu=1500, burst=8, may_lose=0.02):
    """The ends of two cables between namespaces, sw0 and sw1 of the program, end0 and end1 of the probe: v22.11's net_af_packet gives
    sockets numbers that must differ in one. Each core does the kernel's work for what it sends: a call for each packet would be
    most of the generator's time, and kernel threads on its core must get their part, or what waits for them is dropped."""
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
        bench.enter = enter(switch.name)
        later.callback(setattr, bench, 'enter', [])
        yield Way([PACKET_SOCKET.format(n=n, end='sw') for n in range(2)], bench.enter,
                  [PACKET_SOCKET.format(n=n, end='end') for n in range(2)], enter(probe.name), niceness=0, burst=burst, may_lose=may_lose)


def run_on(core, niceness):
    """A process on that core, before others of this user where it is to and may."""
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.nice(niceness)


def end(probe):
    try:
        probe.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        probe.kill()
        probe.communicate()


def probed(bench, way, capture, program, per_second=0):
    """What a probe on the core that does not forward saw of the program; per_second 0: it sends what it can. It ends after the program:
    net_memif's would not outlive its memory."""
    core = bench.control_core
    with contextlib.ExitStack() as later, program:
        probe = subprocess.Popen([*way.enter_probe, str(bench.build / PROBE), *way.ends, str(capture)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: run_on(core, way.niceness))
        later.callback(end, probe)
        program.wait_for_links()
        with contextlib.suppress(BrokenPipeError):
            probe.stdin.write(f'{int(per_second)} {bench.seconds} {way.burst}\n')
            probe.stdin.flush()
        answer = probe.stdout.readline()
        if not answer:
            raise RuntimeError(f'sluice-probe: {probe.stderr.read().strip()}')
        return json.loads(answer)


def mpps(seen):
    return seen['received'] / seen['seconds'] / 1e6


def refuse_other_load(seen, per_second, may_lose):
    """All frames must have been sent, and have come out."""
    wanted = per_second * seen['seconds']
    told = f'{wanted:.0f} packets were to be sent, {seen["sent"]} were and {seen["received"]} came out, so there is no figure'
    if seen['sent'] < SENT * wanted:
        raise Late(told)
    if not 0 <= seen['sent'] - seen['received'] <= may_lose * seen['sent']:
        raise RuntimeError(told)


def measure(bench, name, way_of):
    """Rows of each percentile, at half of what sluiced carries that way."""
    bench.need('sluice-traffic', 'sluiced', PROBE, cores=2)
    capture = traffic.make(bench.build, bench.folder, size=SIZE, ports=2)[0]
    with way_of(bench) as way:
        text = sluiced.configuration(way.devices, cores=bench.worker_cores[:1], eal=bench.memory.sluiced, mtu=1500)
        half = mpps(probed(bench, way, capture, sluiced.Sluiced(bench, text))) * 1e6 / 2

        def at_half(which, program):
            seen = probed(bench, way, capture, program, half)
            refuse_other_load(seen, half, way.may_lose)
            return {f'{which}_{percentile}': seen['ns'][percentile] / 1000 for percentile in PERCENTILES}

        def switch():
            program = sluiced.Sluiced(bench, text)
            took = at_half('sluiced', program)
            sluiced.refuse_losses(program.report)
            return took

        took = bench.by_turns(name, testpmd=lambda: at_half('testpmd', testpmd(bench, way.devices, 'io')), switch=switch)
    return [{**row(f'{name}_{which}', 'us', took[f'sluiced_{which}'], 'testpmd io', took[f'testpmd_{which}'],
                   1 / 1.5 if which == 'p99' else None, 'less'), 'load_mpps': half / 1e6} for which in PERCENTILES]


def latency(bench):
    """microseconds from a frame's burst to its receipt, median, p99 and p99.9, by a generator that polls, over net_memif at half
    the load that sluiced carries there (RFC 1242's throughput of the device under test), against testpmd io at the same load"""
    return measure(bench, 'latency', shared_memory)


def latency_af_packet(bench):
    """the same over net_af_packet, through the kernel and veth pairs; needs root"""
    return measure(bench, 'latency_af_packet', packet_sockets)


# ---- kernel_ports: the devices of ours, and those of DPDK's driver for the same, which takes a frame into one slot and one packet buffer.
OWN = {'af_packet': 'net_af_packet{n},iface=sw{n}', 'xdp': 'xdp:sw{n}'}
DPDK = {'af_packet': 'net_af_packet{n},iface=sw{n},qdisc_bypass=1,framesz={slot},blocksz=65536,framecnt=512',
        'xdp': 'net_af_xdp{n},iface=sw{n},start_queue=0,queue_count=1'}
SIZES = (60, 1514, 9014)  # of frames: the smallest, that of Ethernet's MTU, a jumbo frame


def kernel_ports(bench):
    """frames a second from one interface to another by AF_PACKET ports, one worker, against testpmd io on DPDK's net_af_packet, and by
    AF_XDP ports, against DPDK's net_af_xdp; that takes no frame of 9014 bytes, so there it is net_af_packet's; needs root"""
    bench.need('sluice-traffic', 'sluiced', PROBE, cores=2)
    rows = []
    for kind in OWN:
        for size in SIZES:
            jumbo = size > 1518
            mtu, slot, yardstick = (9000, 16384, 'af_packet') if jumbo else (1500, 2048, kind)
            capture = traffic.make(bench.build, bench.folder / str(size), size=size, ports=2)[0]
            own, dpdk = ([device.format(n=n, slot=slot) for n in range(2)] for device in (OWN[kind], DPDK[yardstick]))
            text = sluiced.configuration(own, cores=bench.worker_cores[:1], eal=bench.memory.sluiced, mtu=mtu, qos=sluiced.FORWARDING)
            with packet_sockets(bench, mtu, burst=32, may_lose=1) as way:
                made = bench.against_yardstick(
                    f'kernel_{kind}_{size}B', 'Mpps', lambda: mpps(probed(bench, way, capture, sluiced.Sluiced(bench, text))),
                    f'testpmd io, net_af_{yardstick.removeprefix("af_")}',
                    lambda: mpps(probed(bench, way, capture, testpmd(bench, dpdk, 'io', slot, 16384))),
                    1 if kind == 'af_packet' else None)
            rows.append({**made, 'gbps': made['value'] * size * 8 / 1e3})
    return rows
