"""Loads that must not cost much: many routes, many ports. Gains: of workers, and of turns under the virtual clock."""
import contextlib
import statistics

import sluiced
import traffic
from bench import row
from forwarding import against_first_row

MILLION = 1_000_000
BULK = 10_000  # routes of a request
FIRST_PREFIX = 16 << 24  # 16.0.0.0/24 and those that follow
REACH_APART = 0.85  # of as many switches as there are workers, of one each, on the same cores
VIRTUAL_MPPS = 3.0  # promised
VIRTUAL_FRAMES = 2_000_000  # of all ports


def address_of(route, host=0):
    address = FIRST_PREFIX + (route << 8) + host
    return '.'.join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def route(number):
    """Routes take the ports' groups of next hops by turns."""
    return {'prefix': f'{address_of(number)}/24', 'via': sluiced.hops(number % traffic.PORTS)}


def add_routes(client, lines):
    """All of them, two requests on their way at a time."""
    for number, line in enumerate(lines):
        client.send_line(line)
        if number:
            sluiced.read_answer(client)
    sluiced.read_answer(client)


def route_of(port, flow, flows=traffic.FLOWS):
    """The flows of all ports spread evenly over the million routes, in an order that no prefetcher guesses; a port's flows leave
    by the next port, as in the first row."""
    place = flow * 2477 % flows * (MILLION // traffic.PORTS // flows) + flow % 61  # 2477 is odd: every place once
    return place * traffic.PORTS + (port + 1) % traffic.PORTS


def spread(flows=traffic.FLOWS):
    """The recipe of the first row's frames to those destinations."""
    lines = traffic.hosts(traffic.PORTS)
    for port in range(traffic.PORTS):
        for number in range(flows):
            lines += traffic.flow(port, address_of(route_of(port, number, flows), 2), traffic.DSCPS[number % len(traffic.DSCPS)], 60, 1, 1)
    return lines


def million_routes(bench):
    """the first row with 1 000 000 routes and the flows' destinations spread over them, against the first row"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.generate(bench.build, bench.folder, spread(), traffic.PORTS)
    text = sluiced.configuration(sluiced.endless(captures), cores=bench.worker_cores[:1], eal=bench.memory.sluiced)
    lines = [sluiced.request('route.add', {'routes': [route(number) for number in range(first, first + BULK)]})
             for first in range(0, MILLION, BULK)]

    @contextlib.contextmanager
    def prepare(switch):
        add_routes(switch.client, lines)
        yield

    return [against_first_row(bench, 'million_routes', text, 0.9, prepare)]


def ports_32(bench):
    """32 ports of 10G, as many as Debian's DPDK has, each with 1/8 of a port's flows so that there are as many flows in all,
    against the first row's 4 ports"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder, ports=32)
    # At 100G the headroom of so many ports, whose worker's turns are long, would not fit the buffer.
    text = sluiced.configuration(sluiced.endless(captures), cores=bench.worker_cores[:1], eal=bench.memory.sluiced, speed='10G')
    return [against_first_row(bench, 'ports_32', text, 0.8)]


def workers(bench):
    """2 workers of 4 ports, and where there are cores for them 4 and 8 of 8, each packet received by one and sent by another,
    against as many switches of one worker each on the same cores, and one worker. With two cores the control thread shares a worker's core"""
    bench.need('sluice-traffic', 'sluiced', cores=2)
    return [one for count, ports in ((2, 4), (4, 8), (8, 8)) if count == 2 or bench.cores > count
            for one in against_one_worker(bench, count, ports)]


def against_one_worker(bench, count, ports):
    """Ports are dealt round and a port's frames leave by the next one: all of them cross. The senders obey PFC, and every class
    is lossless: where one worker falls behind, the other one pauses what it receives for it, and nothing is lost."""
    devices = sluiced.endless(traffic.make(bench.build, bench.folder / f'{count}-workers', ports=ports))
    cores = bench.worker_cores[:count]
    # Headroom for eight lossless classes is most of the buffer.
    one, many, *alone = (sluiced.configuration(devices, cores=each, eal=bench.memory.sluiced, buffer=f'{40 * ports}MB', peer='obey',
                                               qos=sluiced.ALL_LOSSLESS) for each in (cores[:1], cores, *([core] for core in cores)))

    def judged():
        (pair,) = sluiced.measured(bench, many)
        return {'judged': sluiced.mpps(*pair), 'held': sluiced.held(*pair)}

    name = f'workers_{count}'
    rates = bench.by_turns(name, one_worker=lambda: sluiced.rate(bench, one), judged=judged,
                           apart=lambda: sum(sluiced.mpps(*pair) for pair in sluiced.measured(bench, *alone)))
    return [{**row(name, 'Mpps', rates['judged'], f'{count} switches of one worker', rates['apart'], REACH_APART),
             'held': statistics.median(rates['held'])},
            row(f'{name}_of_one', 'Mpps', rates['judged'], 'one worker', rates['one_worker'])]


def virtual_clock(bench):
    """packets per second of wall time under the virtual clock, with everything on, captures in, nothing written: 3.0 million
    are promised. In turns of 100 ns (`virtual.turn`), which take what has come to a port together; and with 64 ports"""
    bench.need('sluice-traffic', 'sluiced')

    def rate(ports, turn):
        captures = traffic.make(bench.build, bench.folder / f'{ports}-ports', frames_per_port=VIRTUAL_FRAMES // ports, ports=ports)
        devices = [f'net_pcap{port},rx_pcap={capture}' for port, capture in enumerate(captures)]
        text = sluiced.configuration(devices, clock='virtual', buffer='64MB')
        switch = sluiced.Sluiced(bench, f'virtual.turn = "{turn}"\n{text}', f'{ports}-ports-{turn}')

        def measure():
            idle = switch.run('--duration', '0')[1]
            report, seconds = switch.run()
            sluiced.refuse_losses(report)
            return sluiced.sent(report) / (seconds - idle) / 1e6

        return measure

    rates = bench.by_turns('virtual_clock', exact=rate(4, '0ns'), turns=rate(4, '100ns'), ports_64=rate(64, '0ns'))
    return [row('virtual_clock', 'Mpps', rates['exact'], 'promised', [VIRTUAL_MPPS], 1.0),
            row('virtual_clock_turns', 'Mpps', rates['turns'], 'each at its instant', rates['exact']),
            row('ports_64', 'Mpps', rates['ports_64'], '4 ports, virtual clock', rates['exact'], 0.8)]
