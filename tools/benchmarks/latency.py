"""How long a packet is under way through the program at half load, over shared memory."""
import contextlib
import json
import os
import shutil
import subprocess
import time

import sluiced
import traffic
from bench import Missing, row
from testpmd import Testpmd

SIZE = 124
SENT = 0.9  # share of the load that there must be: sluiced's control thread is on the generator's core, too
LOST = 0.001  # share of the packets that testpmd may lose; sluiced loses none
DEVICE = 'net_memif{n},role=server,id={n},socket={folder}/memif.sock,socket-abstract=no,rsize=10'
PERCENTILES = ('p50', 'p99', 'p999')


def refuse_other_load(seen, per_second, may_lose):
    """What was to be sent must have been, and have come out."""
    wanted = per_second * seen['seconds']
    if seen['sent'] < SENT * wanted or not 0 <= seen['sent'] - seen['received'] <= may_lose * seen['sent']:
        raise RuntimeError(f'{wanted:.0f} packets were to be sent, {seen["sent"]} were and {seen["received"]} came out, so there is '
                           'no figure')


def wait_for_links(client):
    """sluiced looks at them now and then; what comes before is lost."""
    end = time.monotonic() + sluiced.PATIENCE_S
    while not all(port['link_up'] for port in client.call('stats.show')['ports'].values()):
        if time.monotonic() > end:
            raise RuntimeError('the links to sluice-probe do not come up')
        time.sleep(0.02)


def run_on(core):
    """A process on that core, before others of this user where it may."""
    os.sched_setaffinity(0, {core})
    with contextlib.suppress(PermissionError):
        os.nice(-20)


class Probe:
    """sluice-probe, on the core that does not forward. It ends after the program, which would not outlive its memory."""

    def __init__(self, bench, capture):
        bench.need('tools/benchmarks/sluice-probe')
        core = bench.control_core
        self.process = subprocess.Popen(
            [str(bench.build / 'tools/benchmarks/sluice-probe'), str(bench.folder / 'memif.sock'), str(capture)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: run_on(core))

    def run(self, per_second, seconds):
        """per_second 0: as many as it can."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f'{int(per_second)} {seconds}\n')
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f'sluice-probe: {self.process.stderr.read().strip()}')
        return json.loads(answer)

    def at_load(self, program, per_second, seconds, may_lose):
        """Microseconds, by percentile."""
        seen = self.run(per_second, seconds)
        refuse_other_load(seen, per_second, may_lose)
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


def latency(bench):
    """microseconds from a frame's burst to its receipt, median, 99 % and 99.9 %, by a generator that polls, over net_memif at half
    the load that sluiced carries there (RFC 1242's throughput of the device under test), against testpmd io at the same load"""
    bench.need('sluice-traffic', 'sluiced')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    if bench.cores < 2:
        raise Missing('needs two cores')
    captures = traffic.make(bench.build, bench.folder, size=SIZE, ports=2)
    devices = [DEVICE.format(n=n, folder=bench.folder) for n in range(2)]
    text = sluiced.configuration(devices, cores=[bench.worker_core], eal=bench.eal, mtu=1500)

    @contextlib.contextmanager
    def attached(program):
        """A probe of a program, which ends first."""
        with contextlib.ExitStack() as later:
            started = later.enter_context(program)
            probe = Probe(bench, captures[0])
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
        program = Testpmd(devices, bench.memory, bench.control_core, bench.worker_core)
        with attached(program) as (_, probe), program.forwarding('io'):
            return probe.at_load('testpmd', half, bench.seconds, LOST)

    def switch():
        program = sluiced.Sluiced(bench, text)
        with attached(program) as (_, probe):
            wait_for_links(program.client)
            took = probe.at_load('sluiced', half, bench.seconds, 0)
        sluiced.refuse_losses(program.report)
        return took

    took = bench.by_turns('latency', testpmd=testpmd, switch=switch)
    return [{**row(f'latency_{which}', 'us', took[f'sluiced_{which}'], 'testpmd io', took[f'testpmd_{which}'],
                   1 / 1.5 if which == 'p99' else None, 'less'), 'load_mpps': half / 1e6} for which in PERCENTILES]


BENCHMARKS = {'latency': latency}
