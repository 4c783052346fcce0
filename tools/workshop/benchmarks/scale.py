"""Loads that must not cost much: other headers, many routes, many ports. And one that must gain: a second worker."""
import statistics
import time

import sluiced
import traffic
from bench import Missing, row
from forwarding import against_first_row, first_row
from process import virtual_rate

MILLION = 1_000_000
BULK = 10_000  # routes of a request
FIRST_PREFIX = 16 << 24  # 16.0.0.0/24 and those that follow


def ipv6(bench):
    """the first row over IPv6 (78-byte headers are the frame), against the first row"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder, version=6)
    text = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal)
    return against_first_row(bench, 'ipv6', text, 0.8, check=sluiced.refuse_idle_queues)


def vlan(bench):
    """the first row with a VLAN tag that is taken off and another one that is put on, against the first row"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder, vlan=True)
    text = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal, vlan=True)
    return against_first_row(bench, 'vlan', text, 0.8, check=sluiced.refuse_idle_queues)


def ports_32(bench):
    """32 ports of 10G, as many as Debian's DPDK has, each with 1/8 of a port's flows so that there are as many flows in all,
    against the first row's 4 ports"""
    bench.need('sluice-traffic', 'sluiced')
    ports = 32
    captures = traffic.make(bench.build, bench.folder, ports=ports, flows=traffic.FLOWS * traffic.PORTS // ports)
    # At 100G the headroom of so many ports, whose worker's turns are long, would not fit the buffer.
    text = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal, speed='10G')
    return against_first_row(bench, 'ports_32', text, 0.8, check=sluiced.refuse_idle_queues)


def ports_64(bench):
    """64 ports under the virtual clock, whose ports are no devices of DPDK, against 4 ports there, with as many frames and
    flows in all"""
    buffer = '64MB'  # as much for both
    rates = bench.by_turns('ports_64', four_ports=virtual_rate(bench, 4, buffer), judged=virtual_rate(bench, 64, buffer))
    return [row('ports_64', 'Mpps', rates['judged'], '4 ports, virtual clock', rates['four_ports'], reach=0.8)]


def ports_64_apart(bench):
    """the same with frames of which no two come at one moment: each has an instant of its own, in which all ports are looked at"""
    rates = bench.by_turns('ports_64_apart', four_ports=virtual_rate(bench, 4, '64MB', apart=True),
                           judged=virtual_rate(bench, 64, '64MB', apart=True))
    return [row('ports_64_apart', 'Mpps', rates['judged'], '4 ports, likewise', rates['four_ports'])]


def prefix_of(number):
    address = FIRST_PREFIX + (number << 8)
    return f'{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.0/24'


def route(number):
    """Routes take the ports' groups of next hops by turns."""
    return {'prefix': prefix_of(number), 'via': sluiced.hops(number % traffic.PORTS)}


def bulk_requests(count=MILLION):
    """The lines of requests that add so many routes, made before they are timed."""
    return [sluiced.request_line('route.add', {'routes': [route(number) for number in range(first, first + BULK)]})
            for first in range(0, count, BULK)]


def add_routes(client, lines):
    """All of them, two requests on their way at a time."""
    on_the_way = 0
    for line in lines:
        client.send(line)
        on_the_way += 1
        if on_the_way == 2:
            client.read_answer()
            on_the_way -= 1
    for _ in range(on_the_way):
        client.read_answer()


def spread(captures):
    """The destinations of the flows spread evenly over the million routes, in an order that no prefetcher guesses; a port's
    flows leave by the next port, as in the first row."""
    each = MILLION // traffic.PORTS
    step = each // traffic.FLOWS

    def address_of(port, number):
        place = number * 2477 % traffic.FLOWS * step + number % 61  # 2477 is odd: every place once
        return FIRST_PREFIX + (place * traffic.PORTS + (port + 1) % traffic.PORTS << 8) + 2

    return traffic.towards(captures, address_of)


def million_routes(bench):
    """the first row with 1 000 000 routes and the flows' destinations spread over them, against the first row"""
    captures, _ = first_row(bench)
    text = sluiced.configuration(sluiced.endless(spread(captures)), cores=[bench.worker_core], eal=bench.eal)
    lines = bulk_requests()
    # Until the routes are there packets have none; only a later drop is a loss.
    return against_first_row(bench, 'million_routes', text, 0.9, prepare=lambda switch: add_routes(switch.client, lines),
                             may_drop=1.0, check=refuse_drops)


def refuse_drops(before, after):
    dropped = after['ledger']['dropped'] - before['ledger']['dropped']
    if dropped != 0:
        raise RuntimeError(f'sluiced lost {dropped} packets, so there is no figure')
    sluiced.refuse_idle_queues(before, after)


REACH_APART = 0.85  # of as many switches as there are workers, of one each, on the same cores


def against_one_worker(bench, name, workers, ports):
    """Ports are dealt round and a port's frames leave by the next one: all of them cross. The senders obey PFC, and every class
    is lossless: where one worker falls behind, the other one pauses what it receives for it, and nothing is lost."""
    captures = traffic.make(bench.build, bench.folder / name, ports=ports, flows=traffic.FLOWS * traffic.PORTS // ports)
    # Headroom for eight lossless classes is most of it.
    one, many, *alone = (sluiced.configuration(sluiced.endless(captures), cores=cores, eal=bench.eal, buffer=f'{40 * ports}MB', peer='obey',
                                       qos=sluiced.ALL_LOSSLESS)
                 for cores in ([bench.worker_core], bench.worker_cores(workers), *([core] for core in bench.worker_cores(workers))))

    def rate(what, text):
        def one_round():
            before, after = sluiced.measured(bench, text, check=sluiced.refuse_idle_queues)
            return {what: sluiced.mpps(before, after), f'{what}_held': sluiced.held(before, after)}
        return one_round

    def side_by_side():
        return {'apart': sum(sluiced.mpps(*each) for each in sluiced.measured_together(bench, alone, sluiced.refuse_idle_queues))}

    rates = bench.by_turns(name, one_worker=rate('one_worker', one), judged=rate('judged', many), apart=side_by_side)
    return [{**row(name, 'Mpps', rates['judged'], f'{workers} switches of one worker', rates['apart'], reach=REACH_APART),
             'held': statistics.median(rates['judged_held'])},
            row(f'{name}_of_one', 'Mpps', rates['judged'], 'one worker', rates['one_worker']),
            row(f'{name}_apart', 'Mpps', rates['apart'], 'one worker', rates['one_worker'])]


def two_workers(bench):
    """two workers, each packet received by one and sent by the other, against two switches of one worker each on the same cores, and
    one worker. With two cores the control thread shares a worker's core"""
    bench.need('sluice-traffic', 'sluiced')
    if bench.cores < 2:
        raise Missing('needs two cores')
    return against_one_worker(bench, 'two_workers', 2, traffic.PORTS)


QUEUES_EGRESS = 6  # ports: together they send in a turn as much as a port with two queues can have received in one


def in_turn(captures):
    """Frames into port 0 leave by the others in turn."""
    return traffic.towards(captures[:1], lambda _, number: int.from_bytes((10, 1, 1 + number % QUEUES_EGRESS, 2), 'big'))[0]


def queues(bench):
    """packets forwarded of one port that receives all there is, over two queues polled by two workers, against one queue and one
    worker. What it gets leaves by six others, all of which the port's own worker has: the other one receives, parses, routes and
    rewrites only"""
    bench.need('sluice-traffic', 'sluiced')
    if bench.cores < 2:
        raise Missing('needs two cores')
    whole = in_turn(traffic.make(bench.build, bench.folder / 'queues', ports=1 + QUEUES_EGRESS))
    silent = [f'net_null{port},no-rx=1' for port in range(1, 1 + QUEUES_EGRESS)]

    def text(files, cores):
        return sluiced.configuration([f'net_pcap0,{",".join(f"rx_pcap={file}" for file in files)},infinite_rx=1', *silent], cores=cores,
                                     eal=bench.eal, receiver=f'rx_queues = {len(files)}', more='worker = 0')

    one, two = text([whole], [bench.worker_core]), text(traffic.dealt(whole, 2), bench.worker_cores(2))
    # The input obeys no pause, so what comes faster than its port's worker admits is dropped, and does not count.
    rates = bench.by_turns('queues', one_queue=lambda: sluiced.forwarding_rate(bench, one, may_drop=1.0),
                           judged=lambda: sluiced.forwarding_rate(bench, two, may_drop=1.0, check=refuse_idle_receivers))
    return [row('queues', 'Mpps', rates['judged'], 'one queue, one worker', rates['one_queue'], reach=1.3)]


def refuse_idle_receivers(before, after):
    """Every receive queue must have had a fair part of the work."""
    had = [now['packets'] - then['packets'] for now, then in zip(after['ports']['p0']['rx_queues'], before['ports']['p0']['rx_queues'])]
    if min(had) < 0.1 * sum(had):
        raise RuntimeError(f'receive queues got {had} packets, so there is no figure')


def many_workers(bench):
    """4 and 8 workers of 8 ports, each packet received by one and sent by another, likewise. Left out where there are not so many
    cores and one for control"""
    bench.need('sluice-traffic', 'sluiced')
    counts = [workers for workers in (4, 8) if bench.cores > workers]
    if not counts:
        raise Missing(f'needs five cores, there are {bench.cores}')
    return [one for workers in counts for one in against_one_worker(bench, f'workers_{workers}', workers, 8)]


def load_million_routes(bench):
    """seconds to load 1 000 000 routes: from the configuration file at start, and into a switch at the first row's load over
    the socket, 10 000 a request"""
    captures, text = first_row(bench)
    lines = bulk_requests()
    routes = [(prefix_of(number), sluiced.hops(number % traffic.PORTS)) for number in range(MILLION)]
    million = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal, routes=routes)
    plain, full = sluiced.Sluiced(bench, text), sluiced.Sluiced(bench, million, 'full')

    def from_file():
        without = plain.run('--duration', '0')[1]
        return full.run('--duration', '0')[1] - without

    def over_socket():
        with sluiced.Sluiced(bench, text) as switch:
            start = time.monotonic()
            add_routes(switch.client, lines)
            seconds = time.monotonic() - start
        sluiced.refuse_losses(switch.report)
        return seconds

    figures = bench.by_turns('load_million_routes', from_file=from_file, over_socket=over_socket)
    return [row('load_million_routes_file', 's', figures['from_file'], better='less'),
            row('load_million_routes_socket', 's', figures['over_socket'], better='less')]


BENCHMARKS = {'ipv6': ipv6, 'vlan': vlan, 'million_routes': million_routes, 'ports_32': ports_32, 'ports_64': ports_64,
              'ports_64_apart': ports_64_apart, 'two_workers': two_workers, 'queues': queues, 'many_workers': many_workers,
              'load_million_routes': load_million_routes}
