"""What every benchmark is given, and the one way in which something is judged against a yardstick."""
import contextlib
import os
import pathlib
import statistics
import sys


class Missing(Exception):
    """There can be no figure here, and why."""


class Bench:
    def __init__(self, build, folder, rounds, seconds, place=''):
        self.build, self.folder, self.rounds, self.seconds, self.place = build, folder, rounds, seconds, place
        cores = sorted(os.sched_getaffinity(0))
        self.cores, self.cores_downwards = len(cores), cores[::-1]
        self.control_core, self.worker_core = cores[0], cores[-1]
        self.memory = ['--in-memory'] if has_hugepages() else ['--no-huge', '-m', '1024']
        # sluiced chooses between hugepages and ordinary memory by the same rule; ordinary memory is forced on both.
        self.eal = ['--no-huge'] if '--no-huge' in self.memory else []
        self.enter = []  # words before each program: where it is to run

    @contextlib.contextmanager
    def inside(self, words):
        """Programs are run by these words."""
        self.enter, before = words, self.enter
        try:
            yield
        finally:
            self.enter = before

    def worker_cores(self, workers):
        return self.cores_downwards[:workers]

    def need(self, *programs):
        for program in programs:
            if not (self.build / program).exists():
                raise Missing(f'{self.build / program} is not there')

    def say(self, text):
        """A line of progress, on a terminal; an empty one takes it away."""
        if sys.stderr.isatty():
            print(f'\r\x1b[K{self.place if text else ""}{text}', end='', file=sys.stderr, flush=True)

    def by_turns(self, name, **measures):
        """{measure: [its figure of each round]}. In each round all of them take their turn, so that a machine that slows
        down slows all; a measure gives a figure or a {name: figure} of several."""
        figures = {}
        for number in range(self.rounds):
            for what, measure in measures.items():
                self.say(f'{name}: round {number + 1} of {self.rounds}, {what.replace("_", " ")}')
                got = measure()
                for key, value in (got if isinstance(got, dict) else {what: got}).items():
                    figures.setdefault(key, []).append(value)
        return figures


def has_hugepages():
    fields = dict(line.split(':') for line in pathlib.Path('/proc/meminfo').read_text().splitlines())
    free = int(fields['HugePages_Free']) * int(fields['Hugepagesize'].split()[0]) * 1024
    return free >= 2 << 30


def row(name, unit, values, yardstick=None, yardstick_values=None, reach=None, better='more'):
    """A figure is the median of its rounds. `ratio` above 1 is better than the yardstick, whichever is `better`, more or
    less; `reach` is the ratio to be reached. A yardstick that is one number is what was promised."""
    value = statistics.median(values)
    against = statistics.median(yardstick_values) if yardstick_values else None
    if value <= 0 or (against is not None and against <= 0):
        raise RuntimeError(f'{value:g} against {against} of {yardstick}: something stood still, so there is no figure')
    ratio = None
    if against is not None:
        ratio = value / against if better == 'more' else against / value
    return {'name': name, 'unit': unit, 'value': value, 'yardstick': yardstick, 'yardstick_value': against, 'ratio': ratio,
            'reach': reach, 'met': None if reach is None or ratio is None else ratio >= reach, 'better': better,
            'values': values, 'yardstick_values': yardstick_values or []}


def distribution(name, unit, figures, yardstick=None, yardstick_value=None, reach=None):
    """Rows of the median, the 99th percentile and the maximum; the last is what must reach something."""
    ranked = sorted(figures)
    if not ranked:
        raise RuntimeError('nothing was measured, so there is no figure')
    places = {'p50': len(ranked) // 2, 'p99': min(len(ranked) - 1, len(ranked) * 99 // 100), 'max': len(ranked) - 1}
    against = None if yardstick_value is None else [yardstick_value]
    return [{**row(f'{name}_{which}', unit, [ranked[place]], yardstick, against, reach if which == 'max' else None, better='less'),
             'samples': len(ranked)} for which, place in places.items()]


def no_figure(name, why):
    """What was to be measured and could not: it has reached nothing."""
    return {'name': name, 'unit': None, 'value': None, 'yardstick': None, 'yardstick_value': None, 'ratio': None, 'reach': None,
            'met': False, 'better': None, 'values': [], 'yardstick_values': [], 'why': why}
