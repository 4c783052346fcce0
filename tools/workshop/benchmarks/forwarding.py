"""Forwarding under the real clock."""
import sluiced
import traffic
import yardsticks
from bench import HUGE, Missing, row

# The aim with everything on, from which the design is judged; a prototype of the whole path reached 0.46. With hugepages the
# memory hides nothing of what we do.
REACH_MAC, REACH_MAC_HUGE = 0.50, 0.37
REACH_L3FWD_HUGE = 0.50
SIZES = {60: 'mac', 1020: 'io', 4092: 'io'}  # bytes without the FCS, and the mode of testpmd


def first_row(bench):
    """The configuration of the goal's first row, which others are measured by."""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder / 'first')
    return sluiced.configuration(sluiced.endless(captures), cores=bench.worker_cores[:1], eal=bench.memory.sluiced)


def against_first_row(bench, name, text, reach, prepare=sluiced.nothing):
    plain = first_row(bench)
    return bench.against_yardstick(name, 'Mpps', lambda: sluiced.rate(bench, text, prepare),
                                   'forwarding_64B', lambda: sluiced.rate(bench, plain), reach)


def forwarding(bench):
    """64-byte RoCEv2 frames of 4096 flows a port and eight classes, four ports, one worker, everything on (ECMP with the QP,
    PFC, strict and DWRR, ECN, watchdog), against dpdk-testpmd mac, and l3fwd (--l3fwd): the goal's first row; then frames of 1024 and
    4096 bytes against testpmd io"""
    bench.need('sluice-traffic', 'sluiced')
    rows = []
    for size, mode in SIZES.items():
        # net_pcap plays a file for ever only if each frame fits one packet buffer
        packet_buffer = 4352 if size > 2048 else None
        devices = sluiced.endless(traffic.make(bench.build, bench.folder, size=size))
        text = sluiced.configuration(devices, cores=bench.worker_cores[:1], eal=bench.memory.sluiced, packet_buffer=packet_buffer)
        measures = {'testpmd': lambda: yardsticks.rate(yardsticks.testpmd(bench, devices, mode, packet_buffer)),
                    'sluiced': lambda: sluiced.rate(bench, text)}
        if size == 60 and bench.l3fwd:
            measures['l3fwd'] = lambda: yardsticks.rate(yardsticks.l3fwd(bench, devices))
        name, huge = f'forwarding_{size + 4}B', bench.memory is HUGE
        rates = bench.by_turns(name, **measures)
        rows.append(row(name, 'Mpps', rates['sluiced'], f'testpmd {mode}', rates['testpmd'],
                        0.9 if mode == 'io' else REACH_MAC_HUGE if huge else REACH_MAC))
        if 'l3fwd' in rates:
            rows.append(row(f'{name}_l3fwd', 'Mpps', rates['sluiced'], 'l3fwd', rates['l3fwd'], REACH_L3FWD_HUGE if huge else None))
    return rows


def two_versions(bench):
    """the first row by two builds (--against), in slices of 40 ms of one core: what a change gains, on a machine that is not
    quiet, too"""
    if bench.against is None:
        raise Missing('--against names the other build')
    text = first_row(bench)
    if bench.memory is HUGE:
        text = text.replace('eal = []', 'eal = ["--in-memory"]')  # two processes share no files of hugepages
    versions = {'this': bench.build, 'other': bench.against}
    order = list(versions)

    def both():
        order.reverse()  # in ordinary memory it counts which has started first
        return dict(zip(order, sluiced.rates_by_slices(bench, [versions[each] for each in order], text)))

    rates = bench.by_turns('two_versions', both=both)
    return [row('two_versions', 'Mpps', rates['this'], 'the other build', rates['other'])]
