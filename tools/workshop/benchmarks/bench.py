"""The arguments of every benchmark, and the one way to judge a figure against a yardstick."""
import contextlib
import os
import pathlib
import re
import statistics
import sys
import time
import typing

STOLEN = 0.01  # share of a round that the machine below may take from a core of ours; with more, the round is repeated
TRIES = 3  # for each round that there is to be


class Missing(Exception):
    """There can be no figure here, and why."""


class Late(RuntimeError):
    """The load generator did not keep its pace. In a round of which the hypervisor took a part, this says nothing."""


class Round(typing.NamedTuple):
    stolen: float  # share that was taken from the core that lost most
    figures: dict  # of each measure; empty if it was late


class Memory(typing.NamedTuple):
    """What programs run in: never compared with another one."""
    name: str
    suffix: str  # of the names of rows
    dpdk: list  # words for DPDK's own programs
    sluiced: list  # and for sluiced, which takes hugepages by itself where they are


ORDINARY = Memory('ordinary memory', '', ['--no-huge', '-m', '1024'], ['--no-huge'])
HUGE = Memory('hugepages', '_huge', ['--in-memory'], [])
HUGE_BYTES = 2 << 30
RESERVED = pathlib.Path('/proc/sys/vm/nr_hugepages')


def free_hugepages():
    """(bytes that are free, bytes of one)."""
    fields = dict(line.split(':') for line in pathlib.Path('/proc/meminfo').read_text().splitlines())
    size = int(fields['Hugepagesize'].split()[0]) * 1024
    return int(fields['HugePages_Free']) * size, size


@contextlib.contextmanager
def hugepages():
    """Whether there are HUGE_BYTES: free ones, or such as root may reserve, which go back at the end."""
    free, size = free_hugepages()
    if free >= HUGE_BYTES:
        yield True
        return
    try:
        before = int(RESERVED.read_text())
        RESERVED.write_text(f'{before - (free - HUGE_BYTES) // size}')
    except OSError:
        yield False
        return
    try:
        yield free_hugepages()[0] >= HUGE_BYTES
    finally:
        RESERVED.write_text(f'{before}')


class Bench:
    """`options`: those of the command line; `folder`: for the benchmark's files."""

    def __init__(self, options, folder, memory=ORDINARY, place=''):
        self.build, self.rounds, self.seconds = options.build.resolve(), max(1, options.rounds), options.seconds
        self.htsim, self.l3fwd, self.against = options.htsim, options.l3fwd, options.against  # each may be None
        self.folder, self.memory, self.place = folder, memory, place
        cores = sorted(os.sched_getaffinity(0))
        self.cores, self.control_core, self.worker_cores = len(cores), cores[0], cores[::-1]
        self.enter = []  # words before each program: where it is to run
        self.repeated, self.stolen = 0, 0.0  # rounds; the share of the worst round that counts

    def need(self, *programs, cores=1):
        """Raises Missing without these programs of the build, or so many cores."""
        for program in programs:
            if not (self.build / program).exists():
                raise Missing(f'{self.build / program} is not there')
        if self.cores < cores:
            raise Missing(f'needs {cores} cores')

    def say(self, text):
        """A line of progress, on a terminal; an empty one takes it away."""
        if sys.stderr.isatty():
            print(f'\r\x1b[K{self.place if text else ""}{text}', end='', file=sys.stderr, flush=True)

    def by_turns(self, name, **measures):
        """{measure: [its figure of each round]}. In each round all of them take their turn, so that a machine that slows
        down slows all, and in every other one the last comes first; a measure gives a figure or a {name: figure} of several. Rounds
        of which the machine below took more than STOLEN are repeated, within bounds; then those count that lost least."""
        rounds, late = [], None
        while len(rounds) < TRIES * self.rounds and sum(each.stolen <= STOLEN for each in rounds) < self.rounds:
            order = list(measures.items())[::-1 if len(rounds) % 2 else 1]
            start, before = time.monotonic(), stolen_s()
            figures = {}
            try:
                for what, measure in order:
                    self.say(f'{name}: round {len(rounds) + 1}, {what.replace("_", " ")}')
                    got = measure()
                    figures.update(got if isinstance(got, dict) else {what: got})
            except Late as error:
                figures, late = {}, error
            taken = stolen_s()
            stolen = max(taken[core] - before[core] for core in before) / (time.monotonic() - start)
            if not figures and stolen <= STOLEN:
                raise late
            rounds.append(Round(stolen, figures))
        counted = sorted((each for each in rounds if each.figures), key=lambda each: each.stolen)[:self.rounds]
        if not counted:
            raise late
        self.repeated += len(rounds) - self.rounds
        self.stolen = max(self.stolen, counted[-1].stolen)
        return {key: [each.figures[key] for each in counted] for key in counted[0].figures}

    def against_yardstick(self, name, unit, judged, yardstick, measure, reach=None, better='more'):
        """The row of `judged` against `measure`, whose name is `yardstick`."""
        rates = self.by_turns(name, yardstick=measure, judged=judged)
        return row(name, unit, rates['judged'], yardstick, rates['yardstick'], reach, better)


def stolen_s():
    """{core: seconds that the machine below has given to somebody else while something of ours was to run (steal of proc(5))}."""
    tick = 1 / os.sysconf('SC_CLK_TCK')
    lines = (line.split() for line in pathlib.Path('/proc/stat').read_text().splitlines())
    cores = {int(words[0][3:]): int(words[8]) * tick for words in lines if re.fullmatch(r'cpu\d+', words[0])}
    return {core: cores.get(core, 0.0) for core in os.sched_getaffinity(0)}


def row(name, unit, values, yardstick=None, yardstick_values=None, reach=None, better='more'):
    """A figure is the median of its rounds, and so is the ratio: what is slow in one round is so for both. `ratio` above 1 is
    better than the yardstick, whichever is `better`, more or less; `reach` is the ratio to be reached. A yardstick that is one
    number is what was promised."""
    value = statistics.median(values)
    against = statistics.median(yardstick_values) if yardstick_values else None
    if value <= 0 or (against is not None and against <= 0):
        raise RuntimeError(f'{value:g} against {against} of {yardstick}: something stood still, so there is no figure')
    ratio = None
    if against is not None:
        yardsticks = yardstick_values if len(yardstick_values) > 1 else yardstick_values * len(values)
        ratio = statistics.median(one / other if better == 'more' else other / one
                                  for one, other in zip(values, yardsticks, strict=True))
    return {'name': name, 'unit': unit, 'value': value, 'yardstick': yardstick, 'yardstick_value': against, 'ratio': ratio,
            'reach': reach, 'met': None if reach is None or ratio is None else ratio >= reach, 'better': better,
            'values': values, 'yardstick_values': yardstick_values or []}


def no_figure(name, why):
    """A benchmark that could not be measured: it has reached nothing."""
    return {'name': name, 'unit': None, 'value': None, 'yardstick': None, 'yardstick_value': None, 'ratio': None, 'reach': None,
            'met': False, 'better': None, 'values': [], 'yardstick_values': [], 'why': why}
