"""The effect of clients of the control socket on forwarding, and the time to an answer. They run on the control core."""
import contextlib
import os
import threading
import time

import scale
import sluiced
from bench import Late, distribution
from forwarding import against_first_row, first_row

ROUTE_CHANGES = 10_000  # a second
ROUTES_AT_ONCE = 100  # of a request
THRESHOLD_CHANGES = 100  # a second
WATCHERS = 10
WATCH_EVERY_S = 0.1
KEPT_UP = 0.98  # of the planned requests; with less there is no figure


class Attached:
    """A connection of its own and a thread that works on it, on the control core, for as long as the context is open."""

    def __init__(self, bench, switch):
        self.core, self.client = bench.control_core, switch.connect()
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        os.sched_setaffinity(0, {self.core})  # of this thread alone
        self.work()

    def __enter__(self):
        self.start = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        seconds = time.monotonic() - self.start
        self.ending.set()
        self.thread.join()
        self.client.close()
        if kind is None:
            self.judge(seconds)


class Load(Attached):
    """Asks at its pace: `requests`, one after the other, again and again; `answer_s`: how long each took from when it was due,
    late ones included."""

    def __init__(self, bench, switch, requests, per_second):
        super().__init__(bench, switch)
        self.requests, self.interval = requests, 1 / per_second
        self.answers, self.answer_s, self.failure = 0, [], None

    def work(self):
        try:
            due = time.monotonic()
            while not self.ending.wait(max(0.0, due - time.monotonic())):
                self.client.send(self.requests[self.answers % len(self.requests)])
                self.client.read_answer()
                self.answer_s.append(time.monotonic() - due)
                self.answers += 1
                due += self.interval
        except (OSError, RuntimeError) as error:
            self.failure = error

    def judge(self, seconds):
        if self.failure is not None:
            raise self.failure
        if self.answers < KEPT_UP * seconds / self.interval - 1:
            raise Late(f'{self.answers} requests in {seconds:.1f} s, {seconds / self.interval:.0f} were to be, so there is no '
                       'figure')


class Watcher(Attached):
    """Takes whatever it is sent: the whole report ten times a second, and all events."""

    def __init__(self, bench, switch):
        super().__init__(bench, switch)
        self.lines = 0
        self.client.call('events.subscribe')
        self.client.call('stats.watch', every=f'{WATCH_EVERY_S * 1000:.0f}ms')

    def work(self):
        with contextlib.suppress(OSError, RuntimeError):
            while not self.ending.is_set() and self.client.read_bytes() is not None:  # the next line ends it
                self.lines += 1

    def judge(self, seconds):
        if self.lines < 0.9 * seconds / WATCH_EVERY_S - 1:
            raise Late(f'a watcher was sent {self.lines} reports in {seconds:.1f} s, so there is no figure')


def route_requests():
    """Adds ROUTES_AT_ONCE, deletes them again, and so with the next."""
    lines = []
    for first in range(0, 10 * ROUTES_AT_ONCE, ROUTES_AT_ONCE):
        routes = [scale.route(number) for number in range(first, first + ROUTES_AT_ONCE)]
        lines += [sluiced.request_line('route.add', {'routes': routes}),
                  sluiced.request_line('route.delete', {'routes': [each['prefix'] for each in routes]})]
    return lines


def threshold_requests():
    """The limit of a lossless priority group that packets go through."""
    return [sluiced.request_line('config.set', {'path': 'port.p0.priority_group.3.dynamic_th', 'value': value})
            for value in (0, 1)]


def against_quiet(bench, name, load):
    _, text = first_row(bench)
    return against_first_row(bench, name, text, 0.95, load=load)


def route_changes(bench):
    """the first row while a client adds and deletes 10 000 routes a second, 100 a request, against the first row"""
    lines = route_requests()
    return against_quiet(bench, 'route_changes',
                         lambda switch: Load(bench, switch, lines, ROUTE_CHANGES / ROUTES_AT_ONCE))


def threshold_changes(bench):
    """the first row while a client changes a threshold 100 times a second, against the first row"""
    lines = threshold_requests()
    return against_quiet(bench, 'threshold_changes', lambda switch: Load(bench, switch, lines, THRESHOLD_CHANGES))


def watching_clients(bench):
    """the first row while ten clients watch (all events, the whole report ten times a second) and one tunes (a threshold ten
    times a second), against the first row"""
    lines = threshold_requests()

    @contextlib.contextmanager
    def load(switch):
        with contextlib.ExitStack() as clients:
            for _ in range(WATCHERS):
                clients.enter_context(Watcher(bench, switch))
            clients.enter_context(Load(bench, switch, lines, 10))
            yield

    return against_quiet(bench, 'watching_clients', load)


def change_answer(bench):
    """microseconds from asking for a change of a threshold to the answer, by when every worker runs it, at the first row's
    load: median, 99 % and longest of all rounds"""
    _, text = first_row(bench)
    lines = threshold_requests()

    def one_round():
        loads = []

        def load(switch):
            loads.append(Load(bench, switch, lines, THRESHOLD_CHANGES))
            return loads[0]

        sluiced.forwarding_rate(bench, text, load=load)
        return loads[0].answer_s

    rounds = bench.by_turns('change_answer', change_answer=one_round)['change_answer']
    return distribution('change_answer', 'us', [seconds * 1e6 for answers in rounds for seconds in answers])


BENCHMARKS = {'route_changes': route_changes, 'threshold_changes': threshold_changes, 'watching_clients': watching_clients,
              'change_answer': change_answer}
