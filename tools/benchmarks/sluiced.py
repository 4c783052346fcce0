"""Runs sluiced on a configuration made here and reads its report."""
import json
import subprocess
import time

from traffic import PORTS, host_mac, port_mac


def configuration(devices, clock, eal=(), worker_core=None):
    """Every port its own subnet, one host behind each; RoCE is class 3, lossless."""
    lines = [f'clock = "{clock}"', 'workers = 1', 'buffer.size = "32MB"']
    if worker_core is not None:
        lines.append(f'cores = [{worker_core}]')
    if eal:
        lines.append(f'eal = {json.dumps(list(eal))}')
    for port, device in enumerate(devices):
        lines += [f'[port.p{port}]', f'device = "{device}"', 'speed = "100G"', f'mac = "{port_mac(port)}"',
                  f'address = ["10.0.{port}.1/24"]']
    for port in range(PORTS):
        lines += ['[[neighbor]]', f'address = "10.0.{port}.2"', f'port = "p{port}"', f'mac = "{host_mac(port)}"']
    return '\n'.join(lines) + '\n'


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


def refuse_losses(report):
    """A forwarder that drops is fast for nothing."""
    ledger = report['ledger']
    if not ledger['balanced'] or ledger['dropped']:
        drops = {name: port['drops'] for name, port in report['ports'].items()}
        raise RuntimeError(f'sluiced lost packets, so there is no figure: {ledger} {drops}')


def forwarding_rate(sluiced, text, seconds=3):
    """Packets per second under the real clock: a long run less a short one, so that starting up counts for nothing."""
    short, _ = sluiced.run(text, '--duration', '1s')
    long, _ = sluiced.run(text, '--duration', f'{1 + seconds}s')
    for report in (short, long):
        refuse_losses(report)
    return (sent(long) - sent(short)) * 1e9 / (long['end_ns'] - short['end_ns'])
