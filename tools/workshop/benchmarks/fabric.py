"""Fabrics under the virtual clock: against one switch, on several threads, and against htsim (--htsim)."""
import json
import random
import re
import resource
import statistics
import subprocess
import time
import typing

from bench import Missing

PATIENCE_S = 600


class Done(typing.NamedTuple):
    reports: list
    cpu_s: float
    wall_s: float


def processor_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(bench, file, *options, processes=1):
    """Of so many runs at once of sluice-fabric on this file."""
    bench.need('sluice-fabric')
    before, begun = processor_s(), time.monotonic()
    outs = [file.with_suffix(f'.{number}') for number in range(processes)]
    started = [subprocess.Popen([str(bench.build / 'sluice-fabric'), 'run', str(file), '--out', str(out), *options], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for out in outs]
    for each in started:
        said = each.communicate(timeout=PATIENCE_S)[1]
        if each.returncode != 0:
            raise RuntimeError(f'sluice-fabric: status {each.returncode}: {said[-2000:]}')
    wall_s, cpu_s = time.monotonic() - begun, processor_s() - before
    reports = [json.loads((out / 'report.json').read_text()) for out in outs]
    for report in reports:
        if not report['ledger']['balanced'] or report['verdict']['lossless'] is False:
            raise RuntimeError(f'the fabric lost packets, so there is no figure: {report["ledger"]}')
    return Done(reports, cpu_s, wall_s)


def hops(done):
    """Million frames that switches received, but for PFC."""
    return sum(sum(port['rx']['packets'] for switch in report['switches'].values() for port in switch['ports'].values())
               - report['ledger']['consumed'] for report in done.reports) / 1e6


def hop_rate(bench, name, text, *options, processes=1, seconds=lambda done: done.cpu_s):
    """Measures million packet-hops a second, by default of processor time, without that of a run of no length."""
    file = bench.folder / f'{name}.toml'
    file.write_text(text)

    def measure():
        idle = run(bench, file, *options, '--duration', '0', processes=processes)
        done = run(bench, file, *options, processes=processes)
        return hops(done) / (seconds(done) - seconds(idle))
    return measure


def flow(sender, receiver, **keys):
    return f'[[flow]]\nfrom = "h{sender}"\nto = "h{receiver}"\n' + ''.join(f'{key} = {json.dumps(value)}\n' for key, value in keys.items())


LISTED = 1_000_000
LISTED_HOSTS = 128
LISTED_BYTES = 20_000  # of a flow, in the mean
LISTED_GB = 2.0  # of memory at most


def workload(bench):
    """packets per second of processor time of a million flows of a list, exponential sizes and gaps, 40 % of the 100G of 128 hosts,
    against the same bytes in eight flows a host, to hosts as near; the run may take 2 GB of memory"""
    draw = random.Random(1)
    gap_ns = LISTED_BYTES * 8 / (0.4 * 100) / LISTED_HOSTS
    at_ns, total, lines = 0.0, 0, []
    for _ in range(LISTED):
        at_ns += draw.expovariate(1 / gap_ns)
        sender = draw.randrange(LISTED_HOSTS)
        size = 1 + int(draw.expovariate(1 / LISTED_BYTES))
        total += size
        lines.append(f'{sender},{(sender + draw.randrange(1, LISTED_HOSTS)) % LISTED_HOSTS},{size},{at_ns:.0f}')
    few = [f'{sender},{(sender + 5 + 16 * n) % LISTED_HOSTS},{total // LISTED_HOSTS // 8},0' for sender in range(LISTED_HOSTS) for n in range(8)]

    def rate(name, flows):
        (bench.folder / f'{name}.csv').write_text('\n'.join(['src,dst,size,start_ns', *flows]) + '\n')
        file = bench.folder / f'{name}.toml'
        file.write_text(f'topology = {{kind = "leaf-spine", leaves = 8, spines = 8, hosts = {LISTED_HOSTS // 8}, speed = "200G"}}\n'
                        f'[switch.default]\nbuffer.size = "16MB"\n[[workload]]\nfile = "{name}.csv"\n')

        def measure():
            done = run(bench, file)
            if resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > LISTED_GB * 1e6:
                raise RuntimeError(f'a run took more than {LISTED_GB} GB of memory')
            return sum(report['ledger']['sent'] for report in done.reports) / 1e6 / done.cpu_s
        return measure

    return [bench.against_yardstick('workload', 'Mpps', rate('listed', lines), 'the same bytes in long flows', rate('long', few), 0.7)]


HOSTS = 16


def fabric(bench):
    """packet-hops per second of processor time of 16 hosts at 100G, all of whose traffic crosses the spines of a leaf-spine fabric,
    whose uplinks have 400G, against the same hosts and flows behind one switch: in neither do queues stand"""
    flows = '[switch.default]\nbuffer.size = "8MB"\n[host.default]\ncc = "dcqcn"\nmtu = 1024\n' + ''.join(
        flow(n, (n - 1 + HOSTS // 2) % HOSTS + 1, qps=4, message='1MB', stop='1ms') for n in range(1, HOSTS + 1))
    star = f'[topology]\nkind = "star"\nhosts = {HOSTS}\n' + flows
    spines = f'[topology]\nkind = "leaf-spine"\nleaves = 4\nspines = 4\nspeed = "400G"\nhosts = {HOSTS // 4}\n' + flows
    return [bench.against_yardstick('fabric', 'Mhops/s', hop_rate(bench, 'spines', spines),
                                    'one switch, the same hosts', hop_rate(bench, 'star', star), 0.7)]


# A fat tree of 8-port switches.
TREE = 128


def tree(cable, more):
    return f"""[topology]
kind = "three-tier"
pods = 8
racks = 4
aggs = 4
cores = 16
hosts = 4
host_cable = "{cable}"
cable = "{cable}"
spine_cable = "{cable}"
[switch.default]
buffer.size = "16MB"
""" + more


def fabric_threads(bench):
    """packet-hops a second of 128 hosts in a fat tree of 80 switches with cables of 40 m on two threads, against what two
    processes of one thread each reach together"""
    bench.need(cores=2)
    text = tree('40m', '[host.default]\ncc = "none"\nmtu = 4096\n' + ''.join(
        flow(host + 1, (host + 37) % TREE + 1, message='1MB', depth=4, stop='1ms') for host in range(TREE)))

    def rate(*options, processes):
        return hop_rate(bench, f'tree-{processes}', text, *options, processes=processes, seconds=lambda done: done.wall_s)

    return [bench.against_yardstick('fabric_threads', 'M hops/s', rate('--threads', '2', processes=1),
                                    'two processes', rate(processes=2), 0.8)]


# ---- htsim: https://github.com/Broadcom/csg-htsim, in a checkout of the user's.
PACKETS, FRAME, HEADERS = 2500, 4000, 60  # of a flow; bytes of a packet, of its headers and ICRC
XOFF, XON = 120, 100  # packets that a switch has of an ingress port when it pauses it, and when it lets go
SPREAD = 0.1  # completion times differ by no more
TRIES = 6


def permutation():
    draw = random.Random(1)
    to = list(range(TREE))
    while any(n == each for n, each in enumerate(to)):
        draw.shuffle(to)
    return to


def tree_file(to, turn):
    # 200 m are 1 us
    return tree('200m', f"""hash_roce_qp = true
virtual.turn = "{turn}"
[switch.default.default.priority_group.3]
size = 0
static_th = {XOFF * FRAME}
xon_offset = {(XOFF - XON) * FRAME}
xoff = "500KB"
[switch.default.default.queue.3]
wred = "none"
[host.default]
cc = "none"
mtu = {FRAME - HEADERS}
ack_every = 1
ack_coalescing = 1
""") + ''.join(flow(n + 1, each + 1, message=PACKETS * (FRAME - HEADERS), messages=1) for n, each in enumerate(to))


def run_htsim(bench, program, to):
    """(mean completion in us, million hops, seconds of processor time)."""
    matrix = bench.folder / 'permutation.cm'
    matrix.write_text(f'Nodes {TREE}\nConnections {TREE}\n' +
                      ''.join(f'{n}->{each} id {n + 1} start 0 size {PACKETS * FRAME}\n' for n, each in enumerate(to)))
    before = processor_s()
    done = subprocess.run([str(program), '-nodes', str(TREE), '-tiers', '3', '-linkspeed', '100000', '-mtu', str(FRAME), '-tm', str(matrix),
                           '-strat', 'ecmp_host', '-paths', '128', '-q', '2000', '-pfc_thresholds', str(XON), str(XOFF), '-hop_latency',
                           '1', '-end', '20000', '-o', str(bench.folder / 'htsim.log')],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          cwd=bench.folder)  # it leaves an idmap.txt
    seconds = processor_s() - before
    finished = [float(at) for at in re.findall(r' finished at ([0-9.]+) ', done.stdout)]
    if done.returncode != 0 or len(finished) != TREE:
        raise RuntimeError(f'htsim: status {done.returncode}, {len(finished)} of {TREE} flows finished: {done.stderr[-500:]}')
    # Both acknowledge every packet, and data and acknowledgements cross the same switches: 4 hosts a rack, 16 a pod.
    crossed = 2 * PACKETS * sum(1 if n // 4 == each // 4 else 3 if n // 16 == each // 16 else 5 for n, each in enumerate(to))
    return statistics.mean(finished), crossed / 1e6, seconds


def build_htsim(bench):
    """The program, made in a copy of the checkout."""
    if bench.htsim is None:
        raise Missing('needs a checkout of htsim: --htsim PATH')
    copy = bench.folder / 'htsim'
    made = ['sh', '-c', 'cp -r "$0"/sim "$1" && make -C "$1" libhtsim.a && make -C "$1"/datacenter htsim_roce', str(bench.htsim), str(copy)]
    done = subprocess.run(made, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Missing(f'htsim does not compile: {done.stderr[-500:]}')
    return copy / 'datacenter' / 'htsim_roce'


def htsim(bench):
    """a permutation of 10 MB a flow in 4000-byte packets over a fat tree of 128 hosts at 100G, lossless, without ECN: packet-hops a second of
    processor time, start and report included, against htsim's RoCE simulator, in turns of 2 us and with every frame at its own instant; for the
    latter also the processor's seconds for the same messages, as acknowledgements that are coalesced make fewer hops. Void where mean completion
    times differ by more than 10 %"""
    def rate(crossed, seconds):
        return crossed / seconds

    def time(_, seconds):
        return seconds

    program, to, rows = build_htsim(bench), permutation(), []
    for name, turn, unit, figure, reach, better in (('htsim', '2us', 'Mhops/s', rate, 1.0, 'more'), ('htsim_exact', '0ns', 'Mhops/s', rate, None, 'more'),
                                                    ('htsim_exact_time', '0ns', 'CPU s', time, None, 'less')):
        file = bench.folder / 'tree.toml'
        file.write_text(tree_file(to, turn))
        (report,) = run(bench, file).reports
        ours = statistics.mean(each['completion_ns']['max'] for each in report['flows']) / 1e3

        def theirs():
            # It draws its paths by the wall clock's second, so completion times vary from run to run.
            for _ in range(TRIES):
                mean, crossed, seconds = run_htsim(bench, program, to)
                if abs(mean / ours - 1) <= SPREAD:
                    return figure(crossed, seconds)
            raise RuntimeError(f'void: flows complete after {mean:.0f} us there and {ours:.0f} us here')

        def mine():
            done = run(bench, file)
            return figure(hops(done), done.cpu_s)

        rows.append(bench.against_yardstick(name, unit, mine, 'htsim_roce, one core', theirs, reach, better))
    return rows
