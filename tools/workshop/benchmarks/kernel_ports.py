"""Frames a second over veth pairs by the kinds of port on an interface of the kernel, each beside DPDK's driver for the same."""
import contextlib
import shutil

import sluiced
import traffic
from bench import Missing, row
from latency import Probe, Way, cabled, wait_for_links
from network import enter
from testpmd import Testpmd

SIZES = (60, 1514, 9014)  # of frames: the smallest, that of Ethernet's MTU, a jumbo frame
MTU = 9000
# The device of ours, and that of DPDK's driver, which takes a frame into one slot and one packet buffer.
DRIVER = {'af_packet': 'net_af_packet', 'xdp': 'net_af_xdp'}
OWN = {'af_packet': 'net_af_packet{n},iface=sw{n}', 'xdp': 'xdp:sw{n}'}
DPDK = {'af_packet': 'net_af_packet{n},iface=sw{n},qdisc_bypass=1,framesz={slot},blocksz=65536,framecnt=512',
        'xdp': 'net_af_xdp{n},iface=sw{n},start_queue=0,queue_count=1'}


@contextlib.contextmanager
def cables(mtu):
    """Namespaces of a program and of the probe, with two cables between them. The probe's ends are AF_PACKET ports."""
    with cabled(mtu) as (switch, probe):
        yield Way([], enter(switch.name), [f'net_af_packet{n},iface=end{n},framecnt=8192' for n in range(2)], enter(probe.name),
                  niceness=0, burst=32, may_lose=1)


def carried(bench, way, capture, program, started):
    """Packets a second that come out, while the probe sends as many as it can."""
    with contextlib.ExitStack() as later:
        running = later.enter_context(program)
        probe = Probe(bench, way, capture)
        try:
            with started(running):
                seen = probe.run(0, bench.seconds)
            later.close()
        finally:
            probe.close()
    return seen['received'] / seen['seconds'] / 1e6


@contextlib.contextmanager
def links_are_up(program):
    wait_for_links(program.client)
    yield


def measures(bench, way, capture, kind, size):
    """Of ours and of testpmd's, a function that measures it."""
    slot = 2048 if size <= 1518 else 16384
    yardstick = kind if size <= 1518 else 'af_packet'
    mtu = 1500 if size <= 1518 else MTU
    text = sluiced.configuration([OWN[kind].format(n=n) for n in range(2)], cores=[bench.worker_core], eal=bench.eal, mtu=mtu,
                                 qos=sluiced.FORWARDING)
    return {'sluiced': lambda: carried(bench, way, capture, sluiced.Sluiced(bench, text), links_are_up),
            'testpmd': lambda: carried(bench, way, capture, Testpmd(bench, [DPDK[yardstick].format(n=n, slot=slot) for n in range(2)], slot, 16384),
                                       lambda program: program.forwarding('io'))}


def measure(bench, kind):
    """Rows of each size."""
    bench.need('sluice-traffic', 'sluiced', 'tools/workshop/benchmarks/sluice-probe')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    if bench.cores < 2:
        raise Missing('needs two cores')
    rows = []
    for size in SIZES:
        captures = traffic.make(bench.build, bench.folder / str(size), size=size, ports=2)
        with cables(1500 if size <= 1518 else MTU) as way, bench.inside(way.enter):
            took = bench.by_turns(f'{kind} {size}', **measures(bench, way, captures[0], kind, size))
        made = row(f'kernel_{kind}_{size}B', 'Mpps', took['sluiced'], f'testpmd io, {DRIVER[kind if size <= 1518 else "af_packet"]}', took['testpmd'],
                   1 if kind == 'af_packet' else None)
        rows.append({**made, 'gbps': made['value'] * size * 8 / 1e3})
    return rows


def kernel_af_packet(bench):
    """frames a second from one interface to another by AF_PACKET ports, one worker, against testpmd io on DPDK's net_af_packet;
    needs root"""
    return measure(bench, 'af_packet')


def kernel_xdp(bench):
    """the same by AF_XDP ports, against DPDK's net_af_xdp; that takes no frame of 9014 bytes, so there it is AF_PACKET's"""
    return measure(bench, 'xdp')


BENCHMARKS = {'kernel_af_packet': kernel_af_packet, 'kernel_xdp': kernel_xdp}
