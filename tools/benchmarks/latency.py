"""How long a packet is under way through the program at half load, between cables of the kernel."""
import contextlib
import os
import shutil
import time

import cables
import sluiced
import traffic
from bench import Missing, row
from testpmd import Testpmd

SIZE = 124
BATCH = 8  # frames of a system call of the generator
IN_FLIGHT = 64  # packets that may be under way when they are counted
DEVICE = 'net_af_packet{n},iface=sw{n}'
# What sluiced asks for by itself.
ARGUMENTS = ',framesz=2048,blocksz=65536,framecnt=512'


def carried(seconds):
    """Packets per second that come out."""
    before, start = cables.counted('host1')[0], time.monotonic()
    time.sleep(seconds)
    return (cables.counted('host1')[0] - before) / (time.monotonic() - start)


@contextlib.contextmanager
def on_core(core):
    """This thread stays off the worker's core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def under_way(bench, frames, per_second, may_lose):
    """Nanoseconds of each probe at that load; refuses if it was not sent, or more than a share of it did not come out."""
    probes = cables.Probes()
    with contextlib.closing(probes), on_core(bench.control_core), cables.traffic(frames, per_second, bench.control_core, BATCH):
        probes.take(sluiced.WARM_UP_S)
        before = cables.counted('host0')[1], cables.counted('host1')[0]
        took = probes.take(bench.seconds)
        sent, out = cables.counted('host0')[1] - before[0], cables.counted('host1')[0] - before[1]
    if sent - out > IN_FLIGHT + may_lose * sent or sent < 0.9 * per_second * bench.seconds:
        raise RuntimeError(f'{per_second * bench.seconds:.0f} packets were to be sent, {sent} were and {out} came out, so there is '
                           'no figure')
    return took


def percentiles(program, took):
    """In microseconds."""
    if not took:
        raise RuntimeError(f'no probe came out of {program}, so there is no figure')
    ranked = sorted(took)
    return {f'{program}_p50': ranked[len(ranked) // 2] / 1000, f'{program}_p99': ranked[len(ranked) * 99 // 100] / 1000}


def latency(bench):
    """microseconds from a generator's system call to the kernel's receipt, median and 99 %, over net_af_packet and veth at half
    the load that testpmd io carries there, against testpmd io"""
    bench.need('sluice-traffic', 'sluiced')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    captures = traffic.make(bench.build, bench.folder, size=SIZE, ports=2)
    _, records = traffic.records(captures[0])
    frames = [record[16:] for record in records]
    devices = [DEVICE.format(n=n) for n in range(2)]
    text = sluiced.configuration(devices, cores=[bench.worker_core], eal=bench.eal, speed='10G', mtu=1500)
    half = 0.0

    def testpmd():
        nonlocal half
        with Testpmd([device + ARGUMENTS for device in devices], bench.memory, bench.control_core, bench.worker_core) as program:
            with program.forwarding('io'):
                with cables.traffic(frames, 0, bench.control_core, 32):
                    time.sleep(sluiced.WARM_UP_S)
                    half = carried(1.0) / 2
                return percentiles('testpmd', under_way(bench, frames, half, 0.01))

    def switch():
        with sluiced.Sluiced(bench, text) as program:
            took = under_way(bench, frames, half, 0)
        sluiced.refuse_losses(program.report)
        return percentiles('sluiced', took)

    with cables.namespace():
        for number in range(2):
            cables.cable(number)
        took = bench.by_turns('latency', testpmd=testpmd, switch=switch)
    return [{**row(f'latency_{which}', 'us', took[f'sluiced_{which}'], 'testpmd io', took[f'testpmd_{which}'], reach, 'less'),
             'load_mpps': half / 1e6} for which, reach in (('p50', None), ('p99', 1 / 1.5))]


BENCHMARKS = {'latency': latency}
