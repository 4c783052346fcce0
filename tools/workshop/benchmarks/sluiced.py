"""Runs sluiced on a configuration made here, asks it while it runs, and reads its report."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from traffic import host_mac, port_mac

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'python'))

import sluice  # noqa: E402
from sluice.client import request  # noqa: E402,F401

NEXT_HOPS = 2  # of a group
PATIENCE_S = 120
WARM_UP_S = 0.5
SLICE_S = 0.04

# All of it: a class for each of the eight DSCPs of the captures (RoCE follows its DSCP, CNPs do not occur), one of them lossless, PFC,
# two strict queues, six that share by weight. ECN and the watchdog are on by themselves.
WHOLE = """
[map.eight]
dscp_to_tc = {"0" = 0, "8" = 1, "16" = 2, "24" = 3, "32" = 4, "40" = 5, "48" = 6, "56" = 7}
[default]
qos = "lossless"
map = "eight"
"""
# The same with PFC on all of them, for inputs that obey it.
ALL_LOSSLESS = WHOLE + 'pfc = [0, 1, 2, 3, 4, 5, 6, 7]\n'
# Forwarding and nothing else: one lossy class, one queue, no PFC.
FORWARDING = """
[map.one]
dscp_to_tc = {"0" = 0, "8" = 0, "16" = 0, "24" = 0, "32" = 0, "40" = 0, "48" = 0, "56" = 0}
[default]
qos = "lossy"
map = "one"
"""


def endless(captures):
    return [f'net_pcap{port},rx_pcap={capture},infinite_rx=1' for port, capture in enumerate(captures)]


def hops(port):
    return [f'10.0.{port}.{2 + hop}' for hop in range(NEXT_HOPS)]


def configuration(devices, clock='real', cores=(), eal=(), qos=WHOLE, packet_buffer=None, speed='100G', mtu=9100, buffer='32MB', peer=None):
    """Every port its own subnet, and behind NEXT_HOPS neighbors of each what traffic.remote() says: ECMP with the QP. `peer`:
    whether the senders of captures obey PFC."""
    lines = [f'clock = "{clock}"', f'workers = {max(1, len(cores))}', f'buffer.size = "{buffer}"', 'hash_roce_qp = true',
             f'cores = {list(cores)}', f'eal = {json.dumps(list(eal))}']
    if packet_buffer is not None:
        lines.append(f'buffer.packet_buffer = {packet_buffer}')
    for port, device in enumerate(devices):
        lines += [f'[port.p{port}]', f'device = "{device}"' if device else '', f'speed = "{speed}"', f'mtu = {mtu}', f'mac = "{port_mac(port)}"',
                  f'address = ["10.0.{port}.1/24"]', f'peer = "{peer}"' if peer else '',
                  '[[route]]', f'prefix = "10.1.{port}.0/24"', f'via = {json.dumps(hops(port))}']
        for number, address in enumerate(hops(port)):
            lines += ['[[neighbor]]', f'address = "{address}"', f'port = "p{port}"', f'mac = "{host_mac(port)[:12]}{number:02x}:{port:02x}"']
    return '\n'.join(lines) + '\n' + qos


class Sluiced:
    """`run` waits for the end of a run; as a context it runs until it is left and then has a `report`."""

    def __init__(self, bench, text, name='sluiced', build=None):
        bench.need('sluiced')
        self.bench = bench
        self.path, self.report_path, self.log, config = (bench.folder / f'{name}.{kind}' for kind in ('sock', 'json', 'log', 'toml'))
        config.write_text(text)
        self.command = [*bench.enter, str((build or bench.build) / 'sluiced'), '--config', str(config), '--report', str(self.report_path)]
        self.report = None

    def start(self, *options):
        self.report_path.unlink(missing_ok=True)
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen([*self.command, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self):
        """Waits for it, and reads its report."""
        try:
            status = self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError('sluiced does not end') from None
        if status != 0:
            raise RuntimeError(f'sluiced: status {status}: {self.log.read_text(errors="replace")[-2000:]}')
        self.report = json.loads(self.report_path.read_text())

    def run(self, *options):
        """(report, wall seconds of the process)."""
        begun = time.monotonic()
        self.start(*options)
        self.end()
        return self.report, time.monotonic() - begun

    def __enter__(self):
        self.start('--socket', str(self.path))
        try:
            self.client = self.connect()
        except BaseException:
            self.kill()
            raise
        # Its workers have pinned themselves; its control thread is put where testpmd has its own.
        os.sched_setaffinity(self.process.pid, {self.bench.control_core})
        return self

    def connect(self):
        begun = time.monotonic()
        while time.monotonic() < begun + PATIENCE_S:
            if self.process.poll() is not None:
                self.end()
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return sluice.connect(self.path, PATIENCE_S)
            time.sleep(0.02)
        raise RuntimeError('sluiced makes no socket')

    def stats(self):
        return self.client.call('stats.show')

    def wait_for_links(self):
        """It looks at them now and then; what comes before is lost."""
        end = time.monotonic() + PATIENCE_S
        while not all(port['link_up'] for port in self.stats()['ports'].values()):
            if time.monotonic() > end:
                raise RuntimeError('the links of sluiced do not come up')
            time.sleep(0.02)

    def __exit__(self, kind, *_):
        self.client.close()
        if kind is not None:
            self.kill()
            return
        self.process.send_signal(signal.SIGTERM)
        self.end()

    def kill(self):
        self.process.kill()
        self.process.wait()


def read_answer(client):
    """Of a request that was sent as a line."""
    answer = client.read_line()
    if answer is None:
        raise RuntimeError('sluiced has hung up')
    if 'error' in answer:
        raise sluice.Refused(answer['error'])


def sent(report):
    return sum(port['tx']['packets'] for port in report['ports'].values())


def refuse_losses(report, dropped=None):
    """A forwarder that drops is fast for nothing; `dropped`: how many drops count, all of the report without it."""
    ledger = report['ledger']
    if (ledger['dropped'] if dropped is None else dropped) or not ledger['balanced']:
        drops = {name: port['drops'] for name, port in report['ports'].items() if port['drops']}
        raise RuntimeError(f'sluiced lost packets, so there is no figure: {ledger} {drops}')


def refuse_idle_queues(before, after):
    """Every queue of every port must have sent: else what was measured is not eight classes."""
    idle = [f'{name}.{number}' for name, port in after['ports'].items() for number, queue in enumerate(port['queues'])
            if queue['tx_packets'] == before['ports'][name]['queues'][number]['tx_packets']]
    if idle:
        raise RuntimeError(f'{len(idle)} queues of {8 * len(after["ports"])} sent nothing, so there is no figure: '
                           f'{", ".join(idle[:8])} ...')


@contextlib.contextmanager
def nothing(_):
    """The load beside forwarding where there is none."""
    yield


def measured(bench, *texts, load=nothing):
    """[(report at the begin, report at the end of the measured time)] of a switch for each configuration, all at one time under the
    real clock. `load`: the context in which a switch is measured; it prepares it, and lays something on it."""
    with contextlib.ExitStack() as running:
        switches = [running.enter_context(Sluiced(bench, text, f'sluiced-{number}')) for number, text in enumerate(texts)]
        with contextlib.ExitStack() as loads:
            for switch in switches:
                loads.enter_context(load(switch))
            time.sleep(WARM_UP_S)
            before = [switch.stats() for switch in switches]
            time.sleep(bench.seconds)
            pairs = list(zip(before, [switch.stats() for switch in switches]))
    for switch, (then, now) in zip(switches, pairs):
        refuse_losses(switch.report, now['ledger']['dropped'] - then['ledger']['dropped'])
        refuse_idle_queues(then, now)
    return pairs


def mpps(before, after):
    return (sent(after) - sent(before)) * 1e3 / (after['end_ns'] - before['end_ns'])


def rate(bench, text, load=nothing):
    """Million packets a second."""
    return mpps(*measured(bench, text, load=load)[0])


def worker_cpu_s(switch):
    """CPU time that its first worker has had."""
    for task in pathlib.Path(f'/proc/{switch.process.pid}/task').iterdir():
        if (task / 'comm').read_text().strip() == 'sluice-w0':
            return int((task / 'schedstat').read_text().split()[0]) / 1e9
    raise RuntimeError('sluiced has no worker')


def rates_by_slices(bench, builds, text):
    """Million packets per second of CPU time, of each build on the same core: one runs while the others stand still,
    in slices so short that a machine that slows down slows all of them alike."""
    with contextlib.ExitStack() as stack:
        switches = [stack.enter_context(Sluiced(bench, text, f'sluiced-{number}', build)) for number, build in enumerate(builds)]
        stack.callback(lambda: [switch.process.send_signal(signal.SIGCONT) for switch in switches])
        for switch in switches:
            switch.process.send_signal(signal.SIGSTOP)

        def run(switch, what):
            switch.process.send_signal(signal.SIGCONT)
            try:
                return what()
            finally:
                switch.process.send_signal(signal.SIGSTOP)

        def so_far(switch):
            return run(switch, lambda: (sent(switch.stats()), worker_cpu_s(switch)))

        for switch in switches:
            run(switch, lambda: time.sleep(WARM_UP_S))
        before = [so_far(switch) for switch in switches]
        for turn in range(round(bench.seconds / SLICE_S)):
            for switch in switches[::-1 if turn % 2 else 1]:
                run(switch, lambda: time.sleep(SLICE_S))
        after = [so_far(switch) for switch in switches]
    for switch in switches:
        refuse_losses(switch.report)
    return [(packets - packets_before) / (cpu_s - cpu_s_before) / 1e6
            for (packets_before, cpu_s_before), (packets, cpu_s) in zip(before, after)]


def held(before, after):
    """Share of the time in which the senders behind the ports stood still."""
    ns = [port['held_ns'] - before['ports'][name]['held_ns'] for name, port in after['ports'].items()]
    return sum(ns) / len(ns) / (after['end_ns'] - before['end_ns'])
