"""Runs sluiced on a configuration made here and reads its report."""
import json
import subprocess
import time

from traffic import PORTS, host_mac, port_mac


# One class for each of the eight DSCPs of traffic.EIGHT; RoCE follows its DSCP, CNPs do not occur.
EIGHT_CLASSES = """
[map.eight]
dscp_to_tc = {"0" = 0, "8" = 1, "16" = 2, "24" = 3, "32" = 4, "40" = 5, "48" = 6, "56" = 7}
"""
# All of it: eight classes, one of them lossless, PFC, two strict queues, six that share by weight.
WHOLE = EIGHT_CLASSES + """
[default]
qos = "lossless"
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


def backlog(packets_per_queue, honours):
    """Eight lossy queues a port that share alike and hold so many small packets each; `honours`: they obey pauses. None is
    the CNPs' own, which no pause holds."""
    text = EIGHT_CLASSES + f"""cnp_tc = "dscp"

[default]
qos = "semi-lossless"
pfc = [0, 1, 2, 3, 4, 5, 6, 7]
pfc_mode = "{'semi-lossless' if honours else 'off'}"
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


def configuration(devices, clock, eal=(), worker_core=None, qos='', packet_buffer=None):
    """Every port its own subnet, one host behind each; RoCE is class 3, lossless, unless `qos` says otherwise."""
    lines = [f'clock = "{clock}"', 'workers = 1', 'buffer.size = "32MB"']
    if packet_buffer is not None:
        lines.append(f'buffer.packet_buffer = {packet_buffer}')
    if worker_core is not None:
        lines.append(f'cores = [{worker_core}]')
    if eal:
        lines.append(f'eal = {json.dumps(list(eal))}')
    for port, device in enumerate(devices):
        lines += [f'[port.p{port}]', f'device = "{device}"', 'speed = "100G"', f'mac = "{port_mac(port)}"',
                  f'address = ["10.0.{port}.1/24"]']
    for port in range(PORTS):
        lines += ['[[neighbor]]', f'address = "10.0.{port}.2"', f'port = "p{port}"', f'mac = "{host_mac(port)}"']
    return '\n'.join(lines) + '\n' + qos


class Sluiced:
    def __init__(self, build, folder):
        self.program = build / 'sluiced'
        self.folder = folder

    def run(self, text, *options, timeout_s=120):
        """(report, wall seconds of the process)."""
        config, report = self.folder / 'sluice.toml', self.folder / 'report.json'
        config.write_text(text)
        report.unlink(missing_ok=True)
        start = time.monotonic()
        done = subprocess.run([str(self.program), '--config', str(config), '--report', str(report), *options],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise RuntimeError(f'sluiced: status {done.returncode}: {(done.stdout + done.stderr)[-2000:]}')
        return json.loads(report.read_text()), seconds


def sent(report):
    return sum(port['tx']['packets'] for port in report['ports'].values())


def refuse_losses(report, may_drop=0.0):
    """A forwarder that drops is fast for nothing; `may_drop`: the share that is no reproach."""
    ledger = report['ledger']
    if not ledger['balanced'] or ledger['dropped'] > may_drop * ledger['rx']:
        drops = {name: port['drops'] for name, port in report['ports'].items()}
        raise RuntimeError(f'sluiced lost packets, so there is no figure: {ledger} {drops}')


def forwarding_rate(sluiced, text, seconds=3, may_drop=0.0, check=lambda short, long: None):
    """Packets per second under the real clock: a long run less a short one, so that starting up counts for nothing."""
    short, _ = sluiced.run(text, '--duration', '1s')
    long, _ = sluiced.run(text, '--duration', f'{1 + seconds}s')
    for report in (short, long):
        refuse_losses(report, may_drop)
    check(short, long)
    return (sent(long) - sent(short)) * 1e9 / (long['end_ns'] - short['end_ns'])


def refuse_other_marks(short, long, every):
    """Whether all packets of the time by which the runs differ were marked, or none was."""
    def grown(key):
        return sum(queue[key] * sign for report, sign in ((long, 1), (short, -1))
                   for port in report['ports'].values() for queue in port['queues'])

    sent_packets, marked = grown('tx_packets'), grown('ecn_marked_packets')
    if marked < 0.99 * sent_packets if every else marked != 0:
        raise RuntimeError(f'{marked} of {sent_packets} packets were marked, so there is no figure')


def refuse_no_backlog(short, long, surplus):
    """What comes in beyond what can leave, the share `surplus`, is dropped as long as the queues are full: in the time by
    which the runs differ every queue of every port was so, mostly."""
    few = []
    for name, port in long['ports'].items():
        for number, queue in enumerate(port['queues']):
            before = short['ports'][name]['queues'][number]
            dropped, left = (queue[key] - before[key] for key in ('dropped_packets', 'tx_packets'))
            if dropped < 0.5 * surplus * (dropped + left):
                few.append(f'{name}.{number} ({dropped} of {dropped + left})')
    if few:
        raise RuntimeError(f'the backlog does not stand, so there is no figure; queues that dropped too little: {", ".join(few)}')
