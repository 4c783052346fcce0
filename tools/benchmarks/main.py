"""tools/bench [NAME...]: runs the benchmarks, prints a table, writes out/bench.json.

  forwarding_64B   64-byte RoCEv2 frames, four ports, one worker, real clock, against dpdk-testpmd io and mac
  forwarding_1024B the same with 1024-byte frames
  forwarding_4096B with 4096-byte frames, in packet buffers of both programs that hold one (net_pcap plays a file for
                   ever only if it need not chain them)
  whole_path       64-byte frames of eight classes under the preset `lossless`, against sluiced itself as a mere
                   forwarder of the same frames: one lossy class, no PFC
  standing_backlog the same frames with 8000 of them standing in the queues, against sluiced without a backlog. The
                   peers pause all classes most of the time and let just so much go that every queue stays full:
                   each frame waits behind 250 others of its queue and has left the caches when its turn comes
  ecn              forwarding_64B, whose packets are all ECT, with the default WRED profile, and with one that marks each
                   of them, against the same without WRED
  virtual_clock    packets per second of wall time under the virtual clock, capture in, nothing written
  startup_no_huge  seconds from exec to the end of a run of no length, without hugepages

--rounds N   rounds of each (default 5; a figure is their median)
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import sluiced as sluiced_  # noqa: E402
import traffic  # noqa: E402
from testpmd import Testpmd  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / 'out'


class Missing(Exception):
    pass


class Bench:
    def __init__(self, build, folder, rounds):
        self.build, self.folder, self.rounds = build, folder, rounds
        cores = sorted(os.sched_getaffinity(0))
        self.control_core, self.worker_core = cores[0], cores[-1]
        if len(cores) < 2:
            print('note: one core only: control and forwarding share it', file=sys.stderr)
        self.memory = ['--in-memory'] if free_hugepages_bytes() >= 2 << 30 else ['--no-huge', '-m', '1024']

    def need(self, *programs):
        for program in programs:
            if not (self.build / program).exists():
                raise Missing(f'{self.build / program} is not there')

    def say(self, text):
        if sys.stderr.isatty():
            print(f'\r\x1b[K{text}', end='', file=sys.stderr, flush=True)


def free_hugepages_bytes():
    fields = dict(line.split(':') for line in pathlib.Path('/proc/meminfo').read_text().splitlines())
    return int(fields['HugePages_Free']) * int(fields['Hugepagesize'].split()[0]) * 1024


def row(name, unit, value, yardstick=None, yardstick_value=None, reach=None, less_is_better=False):
    """`ratio` above 1 is better than the yardstick, whatever the unit; `reach` is the ratio to be reached."""
    ratio = None
    if yardstick_value:
        ratio = yardstick_value / value if less_is_better else value / yardstick_value
    return {'name': name, 'unit': unit, 'value': value, 'yardstick': yardstick, 'yardstick_value': yardstick_value,
            'ratio': ratio, 'reach': reach, 'met': None if reach is None or ratio is None else ratio >= reach}


def forwarding(bench, name, size, reach_mac=None, reach_io=None, packet_buffer=None):
    bench.need('sluice-traffic')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    captures = traffic.make(bench.build, bench.folder, size=size)
    devices = [f'net_pcap{port},rx_pcap={capture},infinite_rx=1' for port, capture in enumerate(captures)]
    # sluiced chooses between hugepages and ordinary memory by the same rule; ordinary memory is forced on both.
    text = sluiced_.configuration(devices, 'real', worker_core=bench.worker_core,
                                  eal=['--no-huge'] if '--no-huge' in bench.memory else [],
                                  packet_buffer=packet_buffer)
    switch = sluiced_.Sluiced(bench.build, bench.folder)
    rates = {'io': [], 'mac': [], 'sluiced': []}
    for number in range(bench.rounds):
        bench.say(f'{name}: round {number + 1} of {bench.rounds}')
        with Testpmd(captures, bench.memory, bench.control_core, bench.worker_core, packet_buffer) as testpmd:
            for mode in ('io', 'mac'):
                rates[mode].append(testpmd.rate(mode) / 1e6)
        if switch.program.exists():
            rates['sluiced'].append(sluiced_.forwarding_rate(switch, text) / 1e6)
    medians = {name: statistics.median(values) for name, values in rates.items() if values}
    if 'sluiced' not in medians:
        raise Missing(f'{switch.program} is not there; testpmd io {medians["io"]:.2f}, mac {medians["mac"]:.2f} Mpps')
    return [row(name, 'Mpps', medians['sluiced'], 'testpmd mac', medians['mac'], reach=reach_mac),
            row(f'{name}_io', 'Mpps', medians['sluiced'], 'testpmd io', medians['io'], reach=reach_io)]


def against_itself(bench, name, yardstick, captures, qos, yardstick_qos, **judged):
    """sluiced with `qos` against sluiced with `yardstick_qos`, on the same input, by turns; `judged`: of the former."""
    bench.need('sluiced')
    devices = [f'net_pcap{port},rx_pcap={capture},infinite_rx=1' for port, capture in enumerate(captures)]
    texts = [sluiced_.configuration(devices, 'real', worker_core=bench.worker_core, qos=each,
                                    eal=['--no-huge'] if '--no-huge' in bench.memory else [])
             for each in (qos, yardstick_qos)]
    switch = sluiced_.Sluiced(bench.build, bench.folder)
    rates = [[], []]
    for number in range(bench.rounds):
        bench.say(f'{name}: round {number + 1} of {bench.rounds}')
        rates[1].append(sluiced_.forwarding_rate(switch, texts[1]) / 1e6)
        rates[0].append(sluiced_.forwarding_rate(switch, texts[0], **judged) / 1e6)
    return [row(name, 'Mpps', statistics.median(rates[0]), yardstick, statistics.median(rates[1]))]


def whole_path(bench):
    bench.need('sluice-traffic')
    captures = traffic.make(bench.build, bench.folder, dscps=traffic.EIGHT)
    return against_itself(bench, 'whole_path', 'forwarding only', captures, sluiced_.WHOLE, sluiced_.FORWARDING)


def standing_backlog(bench):
    """A turn receives 32 frames a port and sends up to 32 for each port and once more: what a peer lets go in two turns of
    a cycle is what comes in in the whole cycle, less a few frames by which the queues fill up, stay full, and drop."""
    bench.need('sluice-traffic')
    per_turn, turns, surplus = 32, 2, 4
    released = turns * per_turn * (1 + traffic.PORTS)
    cycle = released + surplus
    captures = traffic.make(bench.build, bench.folder, dscps=traffic.EIGHT)
    captures = traffic.with_pauses(captures, cycle, let_go=turns * per_turn, burst=per_turn)
    each = BACKLOG // traffic.PORTS // 8
    share = surplus / cycle
    return against_itself(bench, 'standing_backlog', 'no backlog', captures, sluiced_.backlog(each, honours=True),
                          sluiced_.backlog(each, honours=False), may_drop=2 * share,
                          check=lambda short, long: sluiced_.refuse_no_backlog(short, long, share))


def ecn(bench):
    bench.need('sluice-traffic')
    captures = traffic.make(bench.build, bench.folder)
    rows = []
    for name, profile, every in (('ecn', 'linear', False), ('ecn_marks_all', 'everything', True)):
        rows += against_itself(bench, name, 'no WRED', captures, sluiced_.congestion(profile), sluiced_.congestion('none'),
                               check=lambda short, long, every=every: sluiced_.refuse_other_marks(short, long, every))
    return rows


def forwarding_64b(bench):
    return forwarding(bench, 'forwarding_64B', 60, reach_mac=REACH_MAC)


def forwarding_1024b(bench):
    return forwarding(bench, 'forwarding_1024B', 1020, reach_io=0.9)


def forwarding_4096b(bench):
    return forwarding(bench, 'forwarding_4096B', 4092, reach_io=0.9, packet_buffer=4352)


def virtual_clock(bench):
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder, frames_per_port=500_000)
    devices = [f'net_pcap{port},rx_pcap={capture}' for port, capture in enumerate(captures)]
    text = sluiced_.configuration(devices, 'virtual')
    switch = sluiced_.Sluiced(bench.build, bench.folder)
    rates = []
    for number in range(bench.rounds):
        bench.say(f'virtual_clock: round {number + 1} of {bench.rounds}')
        idle = switch.run(text, '--duration', '0')[1]
        report, seconds = switch.run(text)
        sluiced_.refuse_losses(report)
        rates.append(sluiced_.sent(report) / (seconds - idle) / 1e6)
    return [row('virtual_clock', 'Mpps', statistics.median(rates))]


def startup_no_huge(bench):
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder)
    devices = [f'net_pcap{port},rx_pcap={capture},infinite_rx=1' for port, capture in enumerate(captures)]
    text = sluiced_.configuration(devices, 'real', eal=['--no-huge'])
    switch = sluiced_.Sluiced(bench.build, bench.folder)
    seconds = [switch.run(text, '--duration', '0')[1] for _ in range(bench.rounds)]
    return [row('startup_no_huge', 's', statistics.median(seconds), 'one second', 1.0, reach=1.0, less_is_better=True)]


# The aim with everything on, from which the design is judged; a prototype of the whole path reached 0.46.
REACH_MAC = 0.50
BACKLOG = 8000  # packets in the queues of all ports
BENCHMARKS = {'forwarding_64B': forwarding_64b, 'forwarding_1024B': forwarding_1024b,
              'forwarding_4096B': forwarding_4096b,
              'whole_path': whole_path, 'standing_backlog': standing_backlog,
              'ecn': ecn, 'virtual_clock': virtual_clock, 'startup_no_huge': startup_no_huge}


def table(rows):
    def number(value, digits=2):
        return '-' if value is None else f'{value:.{digits}f}'

    cells = [['benchmark', 'value', 'unit', 'yardstick', 'its value', 'ratio', 'reach', 'met']]
    for each in rows:
        met = {None: '-', True: 'yes', False: 'no'}[each['met']]
        cells.append([each['name'], number(each['value']), each['unit'], each['yardstick'] or '-',
                      number(each['yardstick_value']), number(each['ratio'], 3), number(each['reach']), met])
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells)


def main():
    parser = argparse.ArgumentParser(prog='tools/bench', usage=__doc__, add_help=False)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--build', default='build-bench', type=pathlib.Path)
    parser.add_argument('--help', '-h', action='store_true')
    options = parser.parse_args()
    if options.help:
        print(__doc__)
        return 0
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        print(f'tools/bench: no such benchmark: {", ".join(unknown)} ({", ".join(BENCHMARKS)})', file=sys.stderr)
        return 2
    rows, failures = [], []
    for name in options.names or BENCHMARKS:
        with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder:
            bench = Bench(options.build, pathlib.Path(folder), max(1, options.rounds))
            try:
                rows += BENCHMARKS[name](bench)
            except (Missing, RuntimeError, OSError) as error:
                failures.append(f'{name}: {error}')
            bench.say('')
    OUT.mkdir(exist_ok=True)
    (OUT / 'bench.json').write_text(json.dumps(rows, indent=2) + '\n')
    if rows:
        print(table(rows))
        print('memory: ' + ('hugepages' if bench.memory[0] == '--in-memory' else 'no hugepages') +
              f'; medians of {options.rounds}; written to out/bench.json')
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
