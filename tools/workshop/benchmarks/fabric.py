"""Fabrics under the virtual clock: against one switch, against idle switches, and against htsim (--htsim)."""
import json
import random
import re
import resource
import statistics
import subprocess

from bench import Missing, row

PATIENCE_S = 600


def run(bench, name, text, *words):
    """(report, seconds of processor time) of sluice-fabric on this file."""
    bench.need('sluice-fabric')
    path, out = bench.folder / f'{name}.toml', bench.folder / name
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*bench.enter, str(bench.build / 'sluice-fabric'), 'run', str(path), '--out', str(out), *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          cwd=bench.folder)  # it leaves an idmap.txt
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise RuntimeError(f'sluice-fabric: status {done.returncode}: {done.stderr[-2000:]}')
    report = json.loads((out / 'report.json').read_text())
    if not report['ledger']['balanced'] or not report['verdict']['lossless']:
        raise RuntimeError(f'the fabric lost packets, so there is no figure: {report["ledger"]}')
    return report, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hops(report):
    """Frames that switches received, but for PFC."""
    received = sum(port['rx']['packets'] for switch in report['switches'].values() for port in switch['ports'].values())
    return received - report['ledger']['consumed']


def hop_rate(bench, name, text):
    """Measures million packet-hops a second of processor time, without that of a start."""
    def measure():
        start = run(bench, name, text, '--duration', '0')[1]
        report, whole = run(bench, name, text)
        return hops(report) / (whole - start) / 1e6
    return measure


TRAFFIC = """
[switch.default]
buffer.size = "8MB"
[host.default]
cc = "dcqcn"
mtu = 1024
"""
HOSTS = 16


def permuted_flows(stop, host='h{}'):
    """Every host sends to the one half of them further on: in a fabric all traffic crosses the spines."""
    return ''.join(f'[[flow]]\nfrom = "{host.format(n)}"\nto = "{host.format((n - 1 + HOSTS // 2) % HOSTS + 1)}"\nqps = 4\n'
                   f'message = "1MB"\nstop = "{stop}"\n' for n in range(1, HOSTS + 1))


def fabric(bench):
    """packet-hops per second of processor time of 16 hosts at 100G, all of whose traffic crosses the spines of a leaf-spine fabric,
    whose uplinks have 400G, against the same hosts and flows behind one switch: in neither do queues stand"""
    flows = TRAFFIC + permuted_flows('1ms')
    star = f'[topology]\nkind = "star"\nhosts = {HOSTS}\n' + flows
    spines = f'[topology]\nkind = "leaf-spine"\nleaves = 4\nspines = 4\nspeed = "400G"\nhosts = {HOSTS // 4}\n' + flows
    rates = bench.by_turns('fabric', one_switch=hop_rate(bench, 'star', star), judged=hop_rate(bench, 'spines', spines))
    return [row('fabric', 'Mhops/s', rates['judged'], 'one switch, the same hosts', rates['one_switch'], reach=0.7)]


def with_idle(count):
    """A leaf-spine fabric of six switches, and `count` others in a row behind the first leaf, which have a host each to be reached."""
    nodes, links = [], []
    for leaf in range(1, 5):
        nodes.append(f'[[node]]\nname = "leaf{leaf}"\ntier = 1\n')
        for host in range(4 * leaf - 3, 4 * leaf + 1):
            nodes.append(f'[[node]]\nname = "h{host}"\nkind = "host"\n')
            links.append(f'[[link]]\nends = ["h{host}", "leaf{leaf}"]\n')
    for spine in range(1, 3):
        nodes.append(f'[[node]]\nname = "spine{spine}"\ntier = 2\n')
        links += [f'[[link]]\nends = ["leaf{leaf}", "spine{spine}"]\nspeed = "200G"\ncable = "40m"\n' for leaf in range(1, 5)]
    for idle in range(1, count + 1):
        nodes += [f'[[node]]\nname = "idle{idle}"\ntier = 1\n', f'[[node]]\nname = "i{idle}"\nkind = "host"\n']
        links += [f'[[link]]\nends = ["i{idle}", "idle{idle}"]\n', f'[[link]]\nends = ["idle{idle}", "spine1"]\ncable = "40m"\n']
    return ''.join(nodes + links) + '[switch.spine1]\nbuffer.size = "64MB"\n' + TRAFFIC + permuted_flows('1ms')


def idle_switches(bench):
    """packet-hops per second of processor time of the same fabric beside 100 switches that have nothing to do, against beside 10"""
    rates = bench.by_turns('idle_switches', ten=hop_rate(bench, 'ten', with_idle(10)), judged=hop_rate(bench, 'hundred', with_idle(100)))
    return [row('idle_switches', 'Mhops/s', rates['judged'], 'beside 10 idle switches', rates['ten'], reach=0.85)]


# ---- htsim: https://github.com/Broadcom/csg-htsim, in a checkout of the user's. A fat tree of 8-port switches, 128 hosts.
PODS, RACKS, HOSTS_A_RACK, TREE = 8, 4, 4, 128
PACKETS, FRAME, HEADERS = 2500, 4000, 60  # of a flow; bytes of a packet, of its headers and ICRC
CABLE_M, HOP_US = 200, 1
XOFF, XON = 120, 100  # packets that a switch has of an ingress port when it pauses it, and when it lets go
SPREAD = 0.1          # completion times differ by no more
TRIES = 6


def permutation():
    draw = random.Random(1)
    to = list(range(TREE))
    while any(n == each for n, each in enumerate(to)):
        draw.shuffle(to)
    return to


def switch_hops(to):
    """Of a packet of each flow."""
    rack, pod = HOSTS_A_RACK, HOSTS_A_RACK * RACKS
    return [1 if n // rack == each // rack else 3 if n // pod == each // pod else 5 for n, each in enumerate(to)]


def tree_file(to, turn):
    text = f"""[topology]
kind = "three-tier"
pods = {PODS}
racks = {RACKS}
aggs = 4
cores = 16
hosts = {HOSTS_A_RACK}
host_cable = "{CABLE_M}m"
cable = "{CABLE_M}m"
spine_cable = "{CABLE_M}m"
[switch.default]
buffer.size = "16MB"
hash_roce_qp = true
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
"""
    return text + ''.join(f'[[flow]]\nfrom = "h{n + 1}"\nto = "h{each + 1}"\nmessage = {PACKETS * (FRAME - HEADERS)}\nmessages = 1\n'
                          for n, each in enumerate(to))


def run_htsim(bench, program, to):
    """(mean completion in us, seconds of processor time)."""
    matrix = bench.folder / 'permutation.cm'
    matrix.write_text(f'Nodes {TREE}\nConnections {TREE}\n' +
                      ''.join(f'{n}->{each} id {n + 1} start 0 size {PACKETS * FRAME}\n' for n, each in enumerate(to)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(program), '-nodes', str(TREE), '-tiers', '3', '-linkspeed', '100000', '-mtu', str(FRAME), '-tm', str(matrix),
                           '-strat', 'ecmp_host', '-paths', '128', '-q', '2000', '-pfc_thresholds', str(XON), str(XOFF), '-hop_latency',
                           str(HOP_US), '-end', '20000', '-o', str(bench.folder / 'htsim.log')],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          cwd=bench.folder)  # it leaves an idmap.txt
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = [float(at) for at in re.findall(r' finished at ([0-9.]+) ', done.stdout)]
    if done.returncode != 0 or len(finished) != TREE:
        raise RuntimeError(f'htsim: status {done.returncode}, {len(finished)} of {TREE} flows finished: {done.stderr[-500:]}')
    return statistics.mean(finished), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


def against_htsim(bench, name, turn, reach=None):
    program = build_htsim(bench)
    to = permutation()
    # Both acknowledge every packet, and data and acknowledgements cross the same switches.
    crossed = 2 * PACKETS * sum(switch_hops(to))
    text = tree_file(to, turn)
    report, _ = run(bench, 'tree', text)
    ours = statistics.mean(flow['completion_ns']['max'] for flow in report['flows']) / 1e3

    def theirs():
        # It draws its paths by the wall clock's second, so completion times vary from run to run.
        for _ in range(TRIES):
            mean, seconds = run_htsim(bench, program, to)
            if abs(mean / ours - 1) <= SPREAD:
                return crossed / seconds / 1e6
        raise RuntimeError(f'void: flows complete after {mean:.0f} us there and {ours:.0f} us here')

    def mine():
        report, seconds = run(bench, 'tree', text)
        return hops(report) / seconds / 1e6  # its start and its report included, as there

    rates = bench.by_turns(name, htsim=theirs, judged=mine)
    return [row(name, 'Mhops/s', rates['judged'], 'htsim_roce, one core', rates['htsim'], reach=reach)]


def htsim(bench):
    """a permutation of 10 MB a flow in 4000-byte packets over a fat tree of 128 hosts at 100G, lossless, without ECN, turns of 2 us:
    packet-hops a second of processor time against htsim's RoCE simulator. Void where mean completion times differ by more than 10 %"""
    return against_htsim(bench, 'htsim', '2us', reach=1.0)


def htsim_exact(bench):
    """the same, with every frame at its own instant"""
    return against_htsim(bench, 'htsim_exact', '0ns')


BENCHMARKS = {'fabric': fabric, 'idle_switches': idle_switches, 'htsim': htsim, 'htsim_exact': htsim_exact}
