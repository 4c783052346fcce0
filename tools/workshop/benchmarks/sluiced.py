"""Runs sluiced on a configuration made here, asks it while it runs, and reads its report."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from traffic import VLAN, host_mac, port_mac

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'python'))

import sluice  # noqa: E402
from sluice.client import request as request_line  # noqa: E402,F401

NEXT_HOPS = 2  # of a group
PATIENCE_S = 120

# One class for each of the eight DSCPs of traffic.EIGHT; RoCE follows its DSCP, CNPs do not occur.
EIGHT_CLASSES = """
[map.eight]
dscp_to_tc = {"0" = 0, "8" = 1, "16" = 2, "24" = 3, "32" = 4, "40" = 5, "48" = 6, "56" = 7}
"""
# All of it: eight classes, one of them lossless, PFC, two strict queues, six that share by weight. ECN and the watchdog are on
# by themselves.
WHOLE = EIGHT_CLASSES + """
[default]
qos = "lossless"
map = "eight"
"""
# The same with PFC on all of them, for inputs that obey it.
ALL_LOSSLESS = EIGHT_CLASSES + """
[default]
qos = "lossless"
pfc = [0, 1, 2, 3, 4, 5, 6, 7]
map = "eight"
"""
# Forwarding and nothing else: one lossy class, one queue, no PFC.
FORWARDING = """
[map.one]
dscp_to_tc = {"0" = 0, "8" = 0, "16" = 0, "24" = 0, "32" = 0, "40" = 0, "48" = 0, "56" = 0}

[default]
qos = "lossy"
map = "one"
"""


def congestion(profile):
    """The default preset, whose RoCE class is lossless, with this WRED profile on every queue; `everything` marks each ECT
    packet that leaves."""
    text = """
[wred.everything]
green_min = 0
green_max = 0
"""
    return text + ''.join(f'[default.queue.{queue}]\nwred = "{profile}"\n' for queue in range(8))


def backlog(packets_per_queue):
    """Eight lossy queues a port that share alike, obey pauses and hold so many small packets each. None is the CNPs' own,
    which no pause holds."""
    text = EIGHT_CLASSES + """cnp_tc = "dscp"

[default]
qos = "semi-lossless"
pfc = [0, 1, 2, 3, 4, 5, 6, 7]
pfc_mode = "semi-lossless"
map = "eight"
"""
    for queue in range(8):
        text += f"""
[default.queue.{queue}]
scheduler = "dwrr"
weight = 1
size = 0
static_th = {packets_per_queue * 256}
"""
    return text


def endless(captures):
    return [f'net_pcap{port},rx_pcap={capture},infinite_rx=1' for port, capture in enumerate(captures)]


def hops(port, version=4):
    base = f'10.0.{port}.' if version == 4 else f'2001:db8:0:{port:x}::'
    return [f'{base}{2 + hop}' for hop in range(NEXT_HOPS)]


def configuration(devices, clock='real', cores=(), eal=(), qos=WHOLE, packet_buffer=None, vlan=False, speed='100G', mtu=9100,
                  buffer='32MB', routes=(), peer=None, receiver='', more=''):
    """Every port its own subnets, and behind NEXT_HOPS neighbors of each what traffic.remote() says: ECMP with the QP.
    `routes`: (prefix, next hops) beside those. `peer`: whether the senders of captures obey PFC. `receiver`, `more`: what else
    stands at the first port, at every port."""
    ports = range(len(devices))
    ours = [(f'10.1.{port}.0/24', hops(port)) for port in ports] + [(f'2001:db8:1:{port:x}::/64', hops(port, 6)) for port in ports]
    lines = [f'clock = "{clock}"', f'workers = {max(1, len(cores))}', f'buffer.size = "{buffer}"', 'hash_roce_qp = true',
             f'cores = {list(cores)}', f'eal = {json.dumps(list(eal))}', 'route = [']
    lines += [f'{{prefix="{prefix}",via={json.dumps(via, separators=(",", ":"))}}},' for prefix, via in [*ours, *routes]] + [']']
    if packet_buffer is not None:
        lines.append(f'buffer.packet_buffer = {packet_buffer}')
    for port, device in enumerate(devices):
        lines += [f'[port.p{port}]', f'device = "{device}"', f'speed = "{speed}"', f'mtu = {mtu}', f'mac = "{port_mac(port)}"',
                  f'address = ["10.0.{port}.1/24", "2001:db8:0:{port:x}::1/64"]', f'peer = "{peer}"' if peer else '',
                  more, '' if port else receiver]
    for port in ports:
        for number, address in enumerate(hops(port) + hops(port, 6)):
            lines += ['[[neighbor]]', f'address = "{address}"', f'port = "p{port}"',
                      f'mac = "02:00:00:00:{number % NEXT_HOPS:02x}:{port:02x}"', f'vlan = {VLAN}' if vlan else '']
    return '\n'.join(lines) + '\n' + qos


class Client(sluice.Switch):
    """A connection to the control socket, for many requests at a time."""

    def __init__(self, path):
        super().__init__(path, PATIENCE_S)

    def send(self, line):
        """A request's line; its answer is to be read, some time."""
        try:
            self.send_line(line)
        except BrokenPipeError:
            raise RuntimeError(f'sluiced has hung up; its last words: {self.socket.recv(2000)!r}') from None

    def read_answer(self):
        answer = self.read_line()
        if answer is None:
            raise RuntimeError('sluiced has hung up')
        if 'error' in answer:
            raise sluice.Refused(answer['error'])
        return answer.get('result')


class Sluiced:
    """`run` waits for the end of a run; as a context it runs until it is left and then has a `report`."""

    def __init__(self, bench, text, name='sluiced'):
        bench.need('sluiced')
        self.bench = bench
        folder = bench.folder
        self.path, self.report_path, self.log = folder / f'{name}.sock', folder / f'{name}.json', folder / f'{name}.log'
        self.config = folder / f'{name}.toml'
        self.config.write_text(text)
        self.command = [*bench.enter, str(bench.build / 'sluiced'), '--config', str(self.config), '--report', str(self.report_path)]
        self.report = None

    def run(self, *options):
        """(report, wall seconds of the process)."""
        self.report_path.unlink(missing_ok=True)
        start = time.monotonic()
        with open(self.log, 'wb') as log:
            status = subprocess.run([*self.command, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    timeout=PATIENCE_S, check=False).returncode
        seconds = time.monotonic() - start
        self.check(status)
        return json.loads(self.report_path.read_text()), seconds

    def check(self, status):
        if status != 0:
            raise RuntimeError(f'sluiced: status {status}: {self.log.read_text(errors="replace")[-2000:]}')

    def __enter__(self):
        self.report_path.unlink(missing_ok=True)
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen([*self.command, '--socket', str(self.path)], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        try:
            self.client = self.connect()
        except BaseException:
            self.kill()
            raise
        # Its workers have pinned themselves; its control thread is put where testpmd has its own.
        os.sched_setaffinity(self.process.pid, {self.bench.control_core})
        return self

    def connect(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.process.poll() is not None:
                self.check(self.process.returncode or 1)
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return Client(self.path)
            time.sleep(0.02)
        raise RuntimeError('sluiced makes no socket')

    def __exit__(self, kind, *_):
        self.client.close()
        if kind is not None:
            self.kill()
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.check(self.process.wait(timeout=PATIENCE_S))
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError('sluiced does not end') from None
        self.report = json.loads(self.report_path.read_text())

    def kill(self):
        self.process.kill()
        self.process.wait()


def sent(report):
    return sum(port['tx']['packets'] for port in report['ports'].values())


def refuse_losses(report, may_drop=0.0):
    """A forwarder that drops is fast for nothing; `may_drop`: the share that is no reproach."""
    ledger = report['ledger']
    if not ledger['balanced'] or ledger['dropped'] > may_drop * ledger['rx']:
        drops = {name: port['drops'] for name, port in report['ports'].items() if port['drops']}
        raise RuntimeError(f'sluiced lost packets, so there is no figure: {ledger} {drops}')


WARM_UP_S = 0.5


def forwarding_rate(bench, text, **how):
    """Million packets per second under the real clock; `how`: as measured()."""
    return mpps(*measured(bench, text, **how))


def mpps(before, after):
    return (sent(after) - sent(before)) * 1e3 / (after['end_ns'] - before['end_ns'])


def measured(bench, text, may_drop=0.0, check=lambda before, after: None, prepare=lambda switch: None,
             load=lambda switch: contextlib.nullcontext()):
    """Reports at the begin and at the end of a measured time under the real clock. `prepare` is done before it is measured, `load` while; `check`: what
    else must be so, from the reports at the begin and at the end of the measured time."""
    with Sluiced(bench, text) as switch:
        prepare(switch)
        with load(switch):
            time.sleep(WARM_UP_S)
            before = switch.client.call('stats.show')
            time.sleep(bench.seconds)
            after = switch.client.call('stats.show')
    refuse_losses(switch.report, may_drop)
    check(before, after)
    return before, after


def measured_together(bench, texts, check):
    """The same of several switches at one time: [(report at the begin, report at the end)]."""
    with contextlib.ExitStack() as stack:
        switches = [stack.enter_context(Sluiced(bench, text, f'sluiced-{number}')) for number, text in enumerate(texts)]
        time.sleep(WARM_UP_S)
        before = [switch.client.call('stats.show') for switch in switches]
        time.sleep(bench.seconds)
        pairs = list(zip(before, [switch.client.call('stats.show') for switch in switches]))
    for switch, pair in zip(switches, pairs):
        refuse_losses(switch.report)
        check(*pair)
    return pairs


SLICE_S = 0.04


def worker_cpu_s(switch):
    """CPU time that its first worker has had."""
    for task in pathlib.Path(f'/proc/{switch.process.pid}/task').iterdir():
        if (task / 'comm').read_text().strip() == 'sluice-w0':
            return int((task / 'schedstat').read_text().split()[0]) / 1e9
    raise RuntimeError('sluiced has no worker')


def rates_by_slices(benches, text):
    """Million packets per second of CPU time, of each bench's build on the same core: one runs while the others stand still,
    in slices so short that a machine that slows down slows all of them alike."""
    with contextlib.ExitStack() as stack:
        switches = [stack.enter_context(Sluiced(bench, text, f'sluiced-{number}')) for number, bench in enumerate(benches)]
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
            return run(switch, lambda: (sent(switch.client.call('stats.show')), worker_cpu_s(switch)))

        for switch in switches:
            run(switch, lambda: time.sleep(WARM_UP_S))
        before = [so_far(switch) for switch in switches]
        for turn in range(round(benches[0].seconds / SLICE_S)):
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


def grown(before, after, key):
    """By how much a figure of all queues has grown."""
    return sum(queue[key] * sign for report, sign in ((after, 1), (before, -1))
               for port in report['ports'].values() for queue in port['queues'])


def refuse_other_marks(before, after, every):
    """Whether all packets of that time were marked, or none was."""
    sent_packets, marked = grown(before, after, 'tx_packets'), grown(before, after, 'ecn_marked_packets')
    if marked < 0.99 * sent_packets if every else marked != 0:
        raise RuntimeError(f'{marked} of {sent_packets} packets were marked, so there is no figure')


def refuse_no_backlog(before, after, surplus):
    """The input beyond the output's rate, the share `surplus`, is dropped as long as the queues are full: in the time by
    which the reports differ every queue of every port was so, mostly."""
    few = []
    for name, port in after['ports'].items():
        for number, queue in enumerate(port['queues']):
            was = before['ports'][name]['queues'][number]
            dropped, left = (queue[key] - was[key] for key in ('dropped_packets', 'tx_packets'))
            if dropped < 0.5 * surplus * (dropped + left):
                few.append(f'{name}.{number} ({dropped} of {dropped + left})')
    if few:
        raise RuntimeError(f'the backlog does not stand, so there is no figure; queues that dropped too little: {", ".join(few)}')


def refuse_idle_queues(before, after):
    """Every queue of every port must have sent: else what was measured is not eight classes."""
    idle = [f'{name}.{number}' for name, port in after['ports'].items() for number, queue in enumerate(port['queues'])
            if queue['tx_packets'] == before['ports'][name]['queues'][number]['tx_packets']]
    if idle:
        raise RuntimeError(f'{len(idle)} queues of {8 * len(after["ports"])} sent nothing, so there is no figure: '
                           f'{", ".join(idle[:8])} ...')
