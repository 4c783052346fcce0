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


@contextlib.contextmanager
def attached(bench, switch, work, wanted, told):
    """A connection of its own, on which `work(client, ending)` is done by a thread on the control core while the context is open: it yields
    after each piece. Refuses a figure after fewer than `wanted` pieces a second."""
    ending, done, failures = threading.Event(), [], []

    def run(client):
        os.sched_setaffinity(0, {bench.control_core})  # of this thread alone
        try:
            done.extend(work(client, ending))
        except (OSError, RuntimeError) as error:
            failures.append(error)

    with contextlib.closing(switch.connect()) as client:
        thread, begun = threading.Thread(target=run, args=[client], daemon=True), time.monotonic()
        thread.start()
        try:
            yield
        finally:
            seconds = time.monotonic() - begun
            ending.set()
            thread.join()
    for failure in failures:
        raise failure
    if len(done) < wanted * seconds - 1:
        raise Late(f'{len(done)} {told} in {seconds:.1f} s, {wanted * seconds:.0f} were to be, so there is no figure')


def load(bench, switch, requests, per_second, answer_s):
    """Asks at its pace: `requests`, one after the other, again and again; `answer_s` gets how long each took from when it was due,
    late ones included."""
    def work(client, ending):
        due = time.monotonic()
        while not ending.wait(max(0.0, due - time.monotonic())):
            client.send_line(requests[len(answer_s) % len(requests)])
            sluiced.read_answer(client)
            answer_s.append(time.monotonic() - due)
            due += 1 / per_second
            yield
    return attached(bench, switch, work, KEPT_UP * per_second, 'requests')


def watcher(bench, switch):
    """Takes whatever it is sent: the whole report ten times a second, and all events."""
    def work(client, ending):
        client.call('events.subscribe')
        client.call('stats.watch', every=f'{WATCH_EVERY_S * 1000:.0f}ms')
        while not ending.is_set() and client.read_bytes() is not None:  # the next line ends it
            yield
    return attached(bench, switch, work, 0.9 / WATCH_EVERY_S, 'lines')


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
        return load(bench, switch, routes, ROUTE_CHANGES / ROUTES_AT_ONCE, [])

    @contextlib.contextmanager
    def watching_clients(switch):
        with contextlib.ExitStack() as clients:
            for _ in range(WATCHERS):
                clients.enter_context(watcher(bench, switch))
            clients.enter_context(load(bench, switch, thresholds, 10, []))
            yield

    def threshold_changes():
        answer_s = []
        return {'threshold_changes': sluiced.rate(bench, text, lambda switch: load(bench, switch, thresholds, THRESHOLD_CHANGES, answer_s)),
                'answers': answer_s}

    rates = bench.by_turns('control_load', first_row=lambda: sluiced.rate(bench, text), threshold_changes=threshold_changes,
                           route_changes=lambda: sluiced.rate(bench, text, route_changes),
                           watching_clients=lambda: sluiced.rate(bench, text, watching_clients))
    rows = [row(name, 'Mpps', rates[name], 'forwarding_64B', rates['first_row'], 0.95)
            for name in ('route_changes', 'threshold_changes', 'watching_clients')]
    answers = sorted(seconds * 1e6 for round_ in rates['answers'] for seconds in round_)
    places = {'p50': len(answers) // 2, 'p99': len(answers) * 99 // 100, 'max': -1}
    return rows + [{**row(f'change_answer_{which}', 'us', [answers[place]], better='less'), 'samples': len(answers)}
                   for which, place in places.items()]
