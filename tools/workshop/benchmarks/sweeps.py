"""Sweeps: many runs by a few processes, and the start of a run in a process that has had one."""
import shutil
import subprocess
import time

from bench import Missing, row

RUNS = 100
STARTS = 100
START_MS = 50.0  # promised


def configuration(seeds):
    """15 hosts at 100G send to the 16th for 5 ms."""
    return f"""[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts = 4
host_speed = "100G"
oversubscription = 1
[switch.default]
buffer.size = "16MB"
[host.default]
cc = "dcqcn"
[[flow]]
name = "incast"
from = "h1..h15"
to = "h16"
message = "64KB"
depth = 2
spread = "10us"
stop = "5ms"
[vary]
seeds = {seeds}
"""


class Sweep:
    def __init__(self, bench, name, seeds):
        bench.need('sluice-fabric')
        self.bench, self.seeds = bench, seeds
        self.file = bench.folder / f'{name}.toml'
        self.file.write_text(configuration(seeds))

    def together(self, *processes):
        """Seconds until the last of these processes has ended; each is the options of one."""
        out = self.bench.folder / 'sweep'
        shutil.rmtree(out, ignore_errors=True)  # what is kept from before would not run again
        begun = time.monotonic()
        started = [subprocess.Popen([*self.bench.enter, str(self.bench.build / 'sluice-fabric'), 'sweep', str(self.file), '--out',
                                     str(out / str(number)), *options], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for number, options in enumerate(processes)]
        for process in started:
            said = process.communicate()[1]
            if process.returncode != 0 or said:
                raise RuntimeError(f'sluice-fabric exits with {process.returncode}: {said.strip()}')
        seconds = time.monotonic() - begun
        rows = len(list(out.glob('*/runs/*.json')))
        if rows != self.seeds:
            raise RuntimeError(f'{rows} of {self.seeds} runs have a row')
        return seconds


def sweep_jobs(bench):
    """runs a second of a sweep of 100 runs with two jobs, an incast of 16 hosts for 5 ms each, against two processes that have a half of
    the runs each"""
    if bench.cores < 2:
        raise Missing('needs two cores')
    sweep = Sweep(bench, 'jobs', RUNS)
    rates = bench.by_turns('sweep_jobs', two_processes=lambda: RUNS / sweep.together(['--shard', '1/2'], ['--shard', '2/2']),
                           jobs=lambda: RUNS / sweep.together(['--jobs', '2']))
    return [row('sweep_jobs', 'runs/s', rates['jobs'], 'two processes', rates['two_processes'], reach=0.95)]


def sweep_start(bench):
    """milliseconds that a second or later run of a process takes from its file to its row when its length is nothing: 16 hosts, buffers
    of 16 MB; within 50"""
    one, many = Sweep(bench, 'one', 2), Sweep(bench, 'many', 2 + STARTS)

    def measure():
        first = one.together(['--duration', '0'])
        return (many.together(['--duration', '0']) - first) * 1e3 / STARTS

    starts = bench.by_turns('sweep_start', start=measure)['start']
    return [row('sweep_start', 'ms', starts, 'promised', [START_MS], reach=1.0, better='less')]


BENCHMARKS = {'sweep_jobs': sweep_jobs, 'sweep_start': sweep_start}
