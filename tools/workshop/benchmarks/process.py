"""Benchmarks of the process and its clocks, not of forwarding."""
import sluiced
import traffic
from bench import row

VIRTUAL_MPPS = 3.0  # promised
FRAMES = 2_000_000  # of all ports
TURN = '100ns'


def virtual_rates(bench, turns, ports=traffic.PORTS, buffer='32MB', apart=False):
    """A measure for each of `turns`, the grid of turns ('0ns': none): million packets per second of wall time under the virtual
    clock, captures in, the same for all, nothing written. `apart`: an instant for each frame; else what comes to all ports at one
    moment is one."""
    bench.need('sluice-traffic', 'sluiced')
    folder = bench.folder / f'{ports}-ports'
    captures = traffic.make(bench.build, folder, frames_per_port=FRAMES // ports, ports=ports,
                            flows=traffic.FLOWS * traffic.PORTS // ports, apart=apart)
    devices = [f'net_pcap{port},rx_pcap={capture}' for port, capture in enumerate(captures)]
    text = sluiced.configuration(devices, clock='virtual', buffer=buffer)

    def measure(turn):
        switch = sluiced.Sluiced(bench, f'virtual.turn = "{turn}"\n{text}', f'{ports}-ports-{turn}')

        def rate():
            idle = switch.run('--duration', '0')[1]
            report, seconds = switch.run()
            sluiced.refuse_losses(report)
            return sluiced.sent(report) / (seconds - idle) / 1e6

        return rate

    return [measure(turn) for turn in turns]


def virtual_rate(bench, *args, **keys):
    """The measure without a grid."""
    return virtual_rates(bench, ['0ns'], *args, **keys)[0]


def virtual_clock(bench):
    """packets per second of wall time under the virtual clock, with everything on, captures in, nothing written: 3.0 million
    are promised. And in turns of 100 ns (`virtual.turn`), which take what has come to a port together"""
    exact, turns = virtual_rates(bench, ['0ns', TURN])
    rates = bench.by_turns('virtual_clock', exact=exact, turns=turns)
    return [row('virtual_clock', 'Mpps', rates['exact'], 'promised', [VIRTUAL_MPPS], reach=1.0),
            row('virtual_clock_turns', 'Mpps', rates['turns'], 'each at its instant', rates['exact'])]


def startup_no_huge(bench):
    """seconds from exec to the end of a run of no length, without hugepages: within one"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder)
    switch = sluiced.Sluiced(bench, sluiced.configuration(sluiced.endless(captures), eal=['--no-huge']))
    seconds = bench.by_turns('startup_no_huge', startup=lambda: switch.run('--duration', '0')[1])['startup']
    return [row('startup_no_huge', 's', seconds, 'one second', [1.0], reach=1.0, better='less')]


BENCHMARKS = {'virtual_clock': virtual_clock, 'startup_no_huge': startup_no_huge}
