"""The effect of clients of the control socket on forwarding, and the time to an answer. They run on the control core."""
import contextlib
import os
import threading
import time

import scale
import sluiced
from bench import Late, row
from forwarding import first_row

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
        self.answer_s, self.failure = [], None

    def work(self):
        try:
            due = time.monotonic()
            while not self.ending.wait(max(0.0, due - time.monotonic())):
                self.client.send_line(self.requests[len(self.answer_s) % len(self.requests)])
                sluiced.read_answer(self.client)
                self.answer_s.append(time.monotonic() - due)
                due += self.interval
        except (OSError, RuntimeError) as error:
            self.failure = error

    def judge(self, seconds):
        if self.failure is not None:
            raise self.failure
        if len(self.answer_s) < KEPT_UP * seconds / self.interval - 1:
            raise Late(f'{len(self.answer_s)} requests in {seconds:.1f} s, {seconds / self.interval:.0f} were to be, so there is no figure')


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
        lines += [sluiced.request('route.add', {'routes': routes}),
                  sluiced.request('route.delete', {'routes': [each['prefix'] for each in routes]})]
    return lines


def threshold_requests():
    """The limit of a lossless priority group that packets go through."""
    return [sluiced.request('config.set', {'path': 'port.p0.priority_group.3.dynamic_th', 'value': value}) for value in (0, 1)]


def control_load(bench):
    """the first row while a client adds and deletes 10 000 routes a second, 100 a request; while one changes a threshold 100 times a
    second; and while ten watch (all events, the whole report ten times a second) and one changes a threshold ten times a second: each
    against the first row. And microseconds from asking for a change of a threshold to the answer, by when every worker runs it: median, p99 and
    longest of all rounds"""
    text, routes, thresholds = first_row(bench), route_requests(), threshold_requests()

    def route_changes(switch):
        return Load(bench, switch, routes, ROUTE_CHANGES / ROUTES_AT_ONCE)

    @contextlib.contextmanager
    def watching_clients(switch):
        with contextlib.ExitStack() as clients:
            for _ in range(WATCHERS):
                clients.enter_context(Watcher(bench, switch))
            clients.enter_context(Load(bench, switch, thresholds, 10))
            yield

    def threshold_changes():
        loads = []

        def load(switch):
            loads.append(Load(bench, switch, thresholds, THRESHOLD_CHANGES))
            return loads[0]

        return {'threshold_changes': sluiced.rate(bench, text, load), 'answers': loads[0].answer_s}

    rates = bench.by_turns('control_load', first_row=lambda: sluiced.rate(bench, text), threshold_changes=threshold_changes,
                           **{load.__name__: lambda load=load: sluiced.rate(bench, text, load) for load in (route_changes, watching_clients)})
    rows = [row(name, 'Mpps', rates[name], 'forwarding_64B', rates['first_row'], 0.95)
            for name in ('route_changes', 'threshold_changes', 'watching_clients')]
    answers = sorted(seconds * 1e6 for round_ in rates['answers'] for seconds in round_)
    places = {'p50': len(answers) // 2, 'p99': len(answers) * 99 // 100, 'max': -1}
    return rows + [{**row(f'change_answer_{which}', 'us', [answers[place]], better='less'), 'samples': len(answers)}
                   for which, place in places.items()]
