"""A fabric on several threads."""
import json
import subprocess
import time

from bench import Missing, row

HOSTS = 128
DURATION = '1ms'
REACH = 0.8  # of what as many processes reach together


def configuration():
    """A fat tree of three tiers at 100G over cables of 40 m, in which every host sends to another pod."""
    lines = ['[topology]', 'kind = "three-tier"', 'pods = 8', 'racks = 4', 'aggs = 4', 'cores = 16', 'hosts = 4', 'host_speed = "100G"',
             'oversubscription = 1', 'host_cable = "40m"', 'cable = "40m"', 'spine_cable = "40m"',
             '[switch.default]', 'buffer.size = "16MB"', '[host.default]', 'cc = "none"', 'mtu = 4096']
    for host in range(HOSTS):
        lines += ['[[flow]]', f'from = "h{host + 1}"', f'to = "h{(host + 37) % HOSTS + 1}"', 'message = "1MB"', 'depth = 4']
    return '\n'.join(lines) + '\n'


def hops(report):
    """Frames that switches have sent."""
    hosts = report['hosts']
    return sum(direction['packets'] for link in report['links'].values() for direction in link['directions']
               if direction['from'] not in hosts)


class Runs:
    def __init__(self, bench):
        bench.need('sluice-fabric')
        self.bench = bench
        self.file = bench.folder / 'fabric.toml'
        self.file.write_text(configuration())

    def start(self, folder, duration, *options):
        return subprocess.Popen([*self.bench.enter, str(self.bench.build / 'sluice-fabric'), 'run', str(self.file), '--duration', duration,
                                 '--out', str(folder), *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def together(self, count, duration, *options):
        """Million hops of so many runs at once, and the seconds until the last one's end."""
        folders = [self.bench.folder / f'run-{number}' for number in range(count)]
        begun = time.monotonic()
        for run in [self.start(folder, duration, *options) for folder in folders]:
            said = run.communicate()[1]
            if run.returncode != 0 or said:
                raise RuntimeError(f'sluice-fabric exits with {run.returncode}: {said.strip()}')
        seconds = time.monotonic() - begun
        reports = [json.loads((folder / 'report.json').read_text()) for folder in folders]
        return sum(hops(report) for report in reports) / 1e6, seconds

    def rate(self, count, *options):
        """Measures million hops a second, without the time that a run of no length takes."""
        def measure():
            idle = self.together(count, '0us', *options)[1]
            million, seconds = self.together(count, DURATION, *options)
            return million / (seconds - idle)
        return measure


def fabric_threads(bench):
    """packet-hops a second of 128 hosts in a fat tree of 80 switches with cables of 40 m on two threads, against what two
    processes of one thread each reach together"""
    if bench.cores < 2:
        raise Missing('needs two cores')
    runs = Runs(bench)
    rates = bench.by_turns('fabric_threads', two_processes=runs.rate(2), threads=runs.rate(1, '--threads', '2'))
    return [row('fabric_threads', 'M hops/s', rates['threads'], 'two processes', rates['two_processes'], reach=REACH)]


BENCHMARKS = {'fabric_threads': fabric_threads}
