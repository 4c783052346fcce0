"""How soon pauses are obeyed and sent, against the length of a turn.

Under the virtual clock, where turns are on a grid, every time is exact and the same on any machine: times are those at which
the receive gate hands frames over and at which they leave, as the captures have them. Under the real clock the workers keep
account of both, and of their turns."""
import bisect
import json
import struct

import sluiced
import traffic
from bench import distribution, row

TURNS_US = (5, 20)
BURST = 32  # frames
LONGEST_BYTES = 1082
PAUSE_NS, EVERY_NS, RUN_US = 60_000, 103_700, 8000  # 103.7 us are no whole turns: pauses come at any time of one


def recipe(run_us):
    return traffic.hosts(traffic.PORTS, speed='100G') + f"""
[[flow]]                   # too much for p1, of the lossless class: groups of p0 and p2 go over their limit
kind = "roce"
from = ["h0", "h2"]
to = "{traffic.remote(1)}"
dscp = 26
size = "random 250..1082"
flows = 64
rate = "60G"
duration = "{run_us}us"

""" + ''.join(f"""
[[flow]]                   # 95 % of the rate of p0 and p2, of another class: XOFFs find their rings in use
kind = "roce"
from = ["h1", "h3"]
to = "{traffic.remote(port)}"
dscp = 0
size = 1082
flows = 64
rate = "47500M"
duration = "{run_us}us"
""" for port in (0, 2)) + ''.join(f"""
[[flow]]
kind = "pfc"
from = "h1"
pfc = {{3 = {quanta}}}
start = "{start}ns"
gap = "{EVERY_NS}ns"
count = {(run_us * 1000 - start) // EVERY_NS}
""" for quanta, start in ((65535, 107_000), (0, 107_000 + PAUSE_NS)))


# Under the real clock: frames of a pause and of the time until the next one, and a limit that is passed in that time.
CYCLE = 2048
SMALLEST_BYTES = 60
SAMPLES = 100
SMALL_GROUPS = ''.join(f'[default.priority_group.{group}]\nsize = 0\nstatic_th = "8KB"\n' for group in range(8))

QOS = """
[virtual]
turn = "{turn}us"
[decisions]
class = [3]
[default.priority_group.3]
static_th = "100KB"
"""


def wire_ns(frame_bytes):
    return (frame_bytes + 24) * 0.08  # at 100G


def frames(capture):
    """[(begin, end in nanoseconds, the frame's first 40 bytes)]"""
    _, records = traffic.records(capture)
    found = []
    for record in records:
        seconds, nanoseconds, _, length = struct.unpack_from('<4I', record)
        begin = seconds * 10**9 + nanoseconds
        found.append((begin, begin + wire_ns(length), record[16:56]))
    return found


def is_data(frame):
    return frame[12:14] == b'\x08\x00' and frame[15] >> 2 == 26


def xoff_of_class_3(frame):
    """Quanta of class 3 of a PFC frame, None of any other."""
    if frame[12:16] != b'\x88\x08\x01\x01' or not frame[17] & 8:
        return None
    return struct.unpack_from('>H', frame, 18 + 2 * 3)[0]


def obeyed(received, left):
    """Nanoseconds from each XOFF to the end of the last data frame before the XON, if data was under way when it came."""
    data = [(begin, end) for begin, end, frame in left if is_data(frame)]
    begins = [begin for begin, _ in data]
    took = []
    for at, _, frame in received:
        if not xoff_of_class_3(frame):
            continue
        first, last = bisect.bisect_right(begins, at) - 1, bisect.bisect_left(begins, at + PAUSE_NS) - 1
        if first >= 0 and data[first][1] > at:
            took.append(data[last][1] - at)
    return took


def sent(decisions, left):
    """Nanoseconds from each packet that took its group over the limit to the end of the XOFF frame on the same port."""
    xoffs = {port: [end for _, end, frame in frames if xoff_of_class_3(frame)] for port, frames in left.items()}
    took = []
    with open(decisions, encoding='utf-8') as lines:
        for line in lines:
            if '"fired_xoff":true' not in line:
                continue
            record = json.loads(line)
            at, ends = record['arrival']['at_ps'] / 1000, xoffs[record['port']]
            took.append(ends[bisect.bisect_left(ends, at)] - at)
    return took


def with_turns(bench, captures, turn_us):
    """(nanoseconds to obey a pause, nanoseconds to send one), of each that there was."""
    out = [bench.folder / f'out{port}.pcap' for port in range(traffic.PORTS)]
    devices = [f'net_pcap{port},rx_pcap={capture},tx_pcap={out[port]}' for port, capture in enumerate(captures)]
    decisions = bench.folder / 'decisions.jsonl'
    bench.say(f'reaction: turns of {turn_us} us')
    text = sluiced.configuration(devices, clock='virtual', qos=QOS.format(turn=turn_us))
    report, _ = sluiced.Sluiced(bench, text).run('--decisions', str(decisions))
    sluiced.refuse_losses(report)
    left = {f'p{port}': frames(capture) for port, capture in enumerate(out)}
    return obeyed(frames(captures[1]), left['p1']), sent(decisions, left)


def make_captures(build, folder, run_us=RUN_US):
    return traffic.generate(build, folder, recipe(run_us), traffic.PORTS)


def bound_ns(turn_us):
    """A turn and a burst."""
    return turn_us * 1000 + BURST * wire_ns(LONGEST_BYTES)


def reaction(bench):
    """microseconds from a PFC frame received to the end of the last data frame of its class, and from the packet that takes a
    group over its limit to the end of the XOFF on its port, under the virtual clock with turns of 5 and of 20 us: median, 99 %
    and longest, which must not be above a turn and a burst of 32 frames"""
    bench.need('sluice-traffic', 'sluiced')
    captures = make_captures(bench.build, bench.folder)
    rows = []
    for turn_us in TURNS_US:
        for name, took in zip(('pfc', 'xoff'), with_turns(bench, captures, turn_us)):
            rows += distribution(f'reaction_{name}_{turn_us}us', 'us', [ns / 1000 for ns in took], f'turn of {turn_us} us + burst',
                                 bound_ns(turn_us) / 1000, reach=1.0)
    return rows


def reactions_of(report):
    """{what and percentile: microseconds, and likewise of what it must not exceed} of the worker that has reacted most slowly;
    refuses if none has reacted often."""
    figures = {}
    burst_us = BURST * wire_ns(SMALLEST_BYTES) / 1000
    for what, count in (('pause_obeyed', 'pauses_obeyed'), ('xoff_sent', 'xoffs_sent')):
        workers = [worker for worker in report['workers'] if worker[count] >= SAMPLES]
        if not workers:
            raise RuntimeError(f'{sum(worker[count] for worker in report["workers"])} times {what}, so there is no figure')
        for which in ('p50', 'p99', 'max'):
            figures[f'{what}_{which}'] = max(worker[f'{what}_ns'][which] for worker in workers) / 1000
            figures[f'{what}_{which}_bound'] = max(worker['busy_turn_ns'][which] for worker in workers) / 1000 + burst_us
    return figures


def reaction_real(bench):
    """the same under the real clock at the first row's load, as the worker accounts for them: microseconds until the last frame of
    a paused class, and the XOFF of a group over its limit, were with the device, at most; against the worker's turns (median, 99 %,
    longest) and a burst of 32 frames. One peer pauses all it gets by turns, so the port behind goes over its limit, whose sender
    obeys"""
    bench.need('sluice-traffic', 'sluiced')
    captures = traffic.make(bench.build, bench.folder)
    captures[1:2] = traffic.with_pauses(captures[1:2], cycle=CYCLE, let_go=CYCLE // 2, burst=CYCLE)
    text = sluiced.configuration(sluiced.endless(captures), cores=[bench.worker_core], eal=bench.eal, buffer='128MB',
                                 peer='obey', qos=sluiced.ALL_LOSSLESS + SMALL_GROUPS)
    figures = bench.by_turns('reaction_real', reaction_real=lambda: reactions_of(sluiced.measured(bench, text)[1]))
    return [row(f'reaction_real_{name}_{which}', 'us', figures[f'{what}_{which}'], 'turn + burst',
                figures[f'{what}_{which}_bound'], 1.0 if which == 'max' else None, 'less')
            for name, what in (('pfc', 'pause_obeyed'), ('xoff', 'xoff_sent')) for which in ('p50', 'p99', 'max')]


BENCHMARKS = {'reaction': reaction, 'reaction_real': reaction_real}
