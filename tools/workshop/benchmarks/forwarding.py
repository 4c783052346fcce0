"""Forwarding under the real clock: against dpdk-testpmd on the same devices, and what each thing costs that is on."""
import shutil

import sluiced
import traffic
from bench import HUGE, Missing, row
from l3fwd import L3fwd
from testpmd import Testpmd

# The aim with everything on, from which the design is judged; a prototype of the whole path reached 0.46. With hugepages the
# memory hides nothing of what we do.
REACH_MAC, REACH_MAC_HUGE = 0.50, 0.37
REACH_L3FWD_HUGE = 0.50
BACKLOG = 8000  # packets in the queues of all ports


def first_row(bench, folder='first'):
    """Captures and configuration of the goal's first row, which others are measured by."""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder / folder)
    return captures, sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal)


def against_first_row(bench, name, text, reach, yardstick='forwarding_64B', **how):
    """sluiced with `text` against the first row's rate; `how`: as forwarding_rate()."""
    _, plain = first_row(bench)
    rates = bench.by_turns(name, first_row=lambda: sluiced.forwarding_rate(bench, plain),
                           judged=lambda: sluiced.forwarding_rate(bench, text, **how))
    return [row(name, 'Mpps', rates['judged'], yardstick, rates['first_row'], reach=reach)]


def against_testpmd(bench, name, size, judged_by, reach=None, packet_buffer=None, dscps=traffic.EIGHT, qos=sluiced.WHOLE,
                    check=sluiced.refuse_idle_queues, beside_l3fwd=False):
    bench.need('sluice-traffic', 'sluiced')
    if not shutil.which('dpdk-testpmd'):
        raise Missing('dpdk-testpmd is not there')
    captures = traffic.make(bench.build, bench.folder, size=size, dscps=dscps)
    text = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal,
                                 packet_buffer=packet_buffer, qos=qos)

    def both_modes():
        with Testpmd(bench, sluiced.endless(captures), packet_buffer) as testpmd:
            return {mode: testpmd.rate(mode, seconds=bench.seconds) / 1e6 for mode in ('io', 'mac')}

    def routed():
        with L3fwd(bench, sluiced.endless(captures)) as l3fwd:
            return l3fwd.rate(seconds=bench.seconds) / 1e6

    with_l3fwd = {'l3fwd': routed} if beside_l3fwd and bench.l3fwd else {}
    rates = bench.by_turns(name, testpmd=both_modes,
                           sluiced=lambda: sluiced.forwarding_rate(bench, text, check=check), **with_l3fwd)
    rows = [row(name, 'Mpps', rates['sluiced'], f'testpmd {judged_by}', rates[judged_by], reach=reach)]
    if with_l3fwd:
        rows.append(row(f'{name}_l3fwd', 'Mpps', rates['sluiced'], 'l3fwd', rates['l3fwd'],
                        reach=REACH_L3FWD_HUGE if bench.memory is HUGE else None))
    if judged_by == 'mac' and reach:
        rows.append(row(f'{name}_io', 'Mpps', rates['sluiced'], 'testpmd io', rates['io']))
    return rows


def forwarding_64b(bench):
    """64-byte RoCEv2 frames of 4096 flows a port and eight classes, four ports, one worker, everything on (ECMP with the QP,
    PFC, strict and DWRR, ECN, watchdog), against dpdk-testpmd mac and io, and l3fwd (--l3fwd): the goal's first row"""
    return against_testpmd(bench, 'forwarding_64B', 60, 'mac', REACH_MAC_HUGE if bench.memory is HUGE else REACH_MAC, beside_l3fwd=True)


def two_versions(bench):
    """the first row by two builds (--against), in slices of 40 ms of one core: what a change gains, on a machine that is not
    quiet, too"""
    if bench.against is None:
        raise Missing('--against names the other build')
    if bench.memory is HUGE:
        bench.eal = [*bench.eal, '--in-memory']  # two processes share no files of hugepages
    _, text = first_row(bench)
    versions = [('this', bench), ('other', bench.of_build(bench.against))]

    def both():
        versions.reverse()  # in ordinary memory it counts which has started first
        return dict(zip([name for name, _ in versions], sluiced.rates_by_slices([of for _, of in versions], text)))

    rates = bench.by_turns('two_versions', both=both)
    return [row('two_versions', 'Mpps', rates['this'], 'the other build', rates['other'])]


def forwarding_1024b(bench):
    """the same with 1024-byte frames, against testpmd io"""
    return against_testpmd(bench, 'forwarding_1024B', 1020, 'io', 0.9)


def forwarding_4096b(bench):
    """with 4096-byte frames, in packet buffers of both programs that hold one (net_pcap plays a file for ever only if it need
    not chain them)"""
    return against_testpmd(bench, 'forwarding_4096B', 4092, 'io', 0.9, packet_buffer=4352)


def one_class_64b(bench):
    """64-byte frames of one class, the lossless one, against testpmd mac"""
    return against_testpmd(bench, 'one_class_64B', 60, 'mac', dscps=traffic.LOSSLESS, qos='', check=lambda *_: None)


def whole_path(bench):
    """the first row against sluiced itself as a mere forwarder of the same frames: one lossy class, no PFC"""
    captures, text = first_row(bench)
    mere = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal, qos=sluiced.FORWARDING)
    rates = bench.by_turns('whole_path', forwarding_only=lambda: sluiced.forwarding_rate(bench, mere),
                           judged=lambda: sluiced.forwarding_rate(bench, text))
    return [row('whole_path', 'Mpps', rates['judged'], 'forwarding only', rates['forwarding_only'])]


def fill_queues(switch):
    """Holds all queues for as long as it takes to ask for it, which is many times what fills them."""
    for hold in (True, False):
        for port in range(traffic.PORTS):
            for queue in range(8):
                switch.client.call('queue.hold', port=f'p{port}', queue=queue, hold=hold)


def standing_backlog(bench):
    """the first row's frames with 8000 of them standing in the queues, against the first row. The peers pause all classes
    most of the time and let just so much go that every queue stays full: each frame waits behind 250 others of its queue and
    has left the caches when its turn comes"""
    # A turn receives 32 frames a port and sends up to 32 for each port and once more: the frames that a peer lets go in two turns of a
    # cycle are those that arrive in the whole cycle, less a few frames by which the queues stay full, and drop. An idle port would let a burst more go.
    per_turn, turns, surplus = 32, 2, 4
    released = turns * per_turn * (1 + traffic.PORTS)
    cycle = released + surplus
    share = surplus / cycle
    captures, _ = first_row(bench)
    paused = traffic.with_pauses(captures, cycle, let_go=turns * per_turn, burst=per_turn)
    text = sluiced.configuration(sluiced.endless(paused), cores=[bench.worker_core], eal=bench.eal,
                                 qos=sluiced.backlog(BACKLOG // traffic.PORTS // 8))
    return against_first_row(bench, 'standing_backlog', text, 0.7, may_drop=2 * share, prepare=fill_queues,
                             check=lambda before, after: sluiced.refuse_no_backlog(before, after, share))


def ecn(bench):
    """one class whose packets are all ECT with the default WRED profile, and with one that marks each, against no WRED"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder, dscps=traffic.LOSSLESS)
    texts = {profile: sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal,
                                            qos=sluiced.congestion(profile)) for profile in ('none', 'linear', 'everything')}

    def measure(profile):
        return lambda: sluiced.forwarding_rate(
            bench, texts[profile],
            check=lambda before, after: sluiced.refuse_other_marks(before, after, profile == 'everything'))

    rates = bench.by_turns('ecn', **{profile: measure(profile) for profile in texts})
    return [row('ecn', 'Mpps', rates['linear'], 'no WRED', rates['none']),
            row('ecn_marks_all', 'Mpps', rates['everything'], 'no WRED', rates['none'])]


# In both kinds of memory, where there are hugepages or root can reserve them; all others in ordinary memory.
WITH_HUGEPAGES = {'forwarding_64B', 'two_versions', 'forwarding_1024B', 'forwarding_4096B', 'one_class_64B'}
BENCHMARKS = {'forwarding_64B': forwarding_64b, 'two_versions': two_versions, 'forwarding_1024B': forwarding_1024b,
              'forwarding_4096B': forwarding_4096b, 'one_class_64B': one_class_64b, 'whole_path': whole_path, 'standing_backlog': standing_backlog, 'ecn': ecn}
