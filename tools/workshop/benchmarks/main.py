"""tools/bench [OPTION...] [NAME...]: runs benchmarks, prints a table, writes out/bench.json and the picture out/bench.svg.

NAME is a benchmark below; without any, all are run.

--rounds N       rounds of each (5; a figure is their median, a ratio that of the rounds' ratios); those of which the machine
                 below took a part are repeated
--seconds S      how long each measures in a round (3)
--build DIR      measures the programs of this build directory (build-bench, which is made first)
--compare FILE   sets the ratios beside those of another bench.json; exits with 1 if one got worse by more than
--tolerance P    per cent (5)
--measured FILE  runs nothing and takes the rows of that bench.json
--l3fwd PATH     a built l3fwd of DPDK's examples, one more yardstick of `forwarding`
--htsim PATH     a checkout of https://github.com/Broadcom/csg-htsim, the yardstick of `htsim`
--against DIR    the build directory of another version, the yardstick of `two_versions`
"""
import argparse
import contextlib
import pathlib
import signal
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import chart  # noqa: E402
import control_load  # noqa: E402
import fabric  # noqa: E402
import forwarding  # noqa: E402
import hosts  # noqa: E402
import latency  # noqa: E402
import results  # noqa: E402
import scale  # noqa: E402
from bench import HUGE, ORDINARY, Bench, Missing, hugepages, no_figure  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / 'out'
BENCHMARKS = {run.__name__: run for run in (
    forwarding.forwarding, forwarding.two_versions, scale.million_routes, scale.ports_32, scale.workers, scale.virtual_clock,
    control_load.control_load, latency.latency, latency.latency_af_packet, latency.kernel_ports, hosts.hosts, fabric.fabric,
    fabric.fabric_threads, fabric.workload, fabric.htsim)}
# In both kinds of memory, where there are hugepages or root can reserve them; all others in ordinary memory.
WITH_HUGEPAGES = {'forwarding', 'two_versions'}


def help_text():
    return '\n'.join([__doc__, *(textwrap.fill(' '.join(run.__doc__.split()), 110, initial_indent=f'  {name:<19}', subsequent_indent=' ' * 21)
                                 for name, run in BENCHMARKS.items())])


def measure(names, options):
    """The rows of each benchmark, with what they were measured on: those of several runs can stand beside each other."""
    for place, name in enumerate(names, 1):
        yield measured(name, options, ORDINARY, f'{place}/{len(names)} ')
        if name in WITH_HUGEPAGES:
            with hugepages() as there:
                if there:
                    yield measured(name, options, HUGE, f'{place}/{len(names)} ')


def measured(name, options, memory, place):
    with tempfile.TemporaryDirectory(prefix='sluice-bench-') as folder:
        bench = Bench(options, pathlib.Path(folder), memory, place)
        try:
            found = BENCHMARKS[name](bench)
        except (Missing, RuntimeError, OSError) as error:
            found = [no_figure(name, str(error))]
        facts = {'commit': results.commit(ROOT), 'machine': results.machine(bench)}
        bench.say('')
    return [{'benchmark': name, **row, **facts, 'name': row['name'] + memory.suffix} for row in found]


def measured_and_kept(names, options):
    """All rows; what has been measured is in the files even if the rest never is."""
    rows = []
    with contextlib.suppress(KeyboardInterrupt):
        for more in measure(names, options):
            rows += more
            results.write(OUT / 'bench.json', rows)
            (OUT / 'bench.svg').write_text(chart.picture(rows))
    return rows


def parse():
    parser = argparse.ArgumentParser(prog='tools/bench', usage=__doc__, add_help=False)
    parser.add_argument('names', nargs='*')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=3.0)
    parser.add_argument('--compare')
    parser.add_argument('--tolerance', type=float, default=5)
    parser.add_argument('--measured')
    for name in ('--l3fwd', '--htsim', '--against'):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument('--build', default='build-bench', type=pathlib.Path)
    parser.add_argument('--help', '-h', action='store_true')
    return parser.parse_args()


def main():
    options = parse()
    if options.help:
        print(help_text())
        return 0
    names = options.names or [name for name in BENCHMARKS if name != 'two_versions' or options.against]
    if unknown := [name for name in names if name not in BENCHMARKS]:
        print(f'tools/bench: no such benchmark: {", ".join(unknown)} ({", ".join(BENCHMARKS)})', file=sys.stderr)
        return 2
    try:
        before = results.read(options.compare) if options.compare else None
        rows = results.read(options.measured) if options.measured else None
    except results.Unreadable as error:
        print(f'tools/bench: {error}', file=sys.stderr)
        return 2
    left_out = []
    if rows is None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        rows = measured_and_kept(names, options)
        left_out = [name for name in names if name not in {row['benchmark'] for row in rows}]
        if left_out:
            print(f'tools/bench: interrupted; not measured: {", ".join(left_out)}', file=sys.stderr)
        if not rows:
            return 1
    print(results.table(rows))
    print(results.footer(rows))
    failures = [row for row in rows if row['value'] is None]
    for row in failures:
        print(f'{row["name"]}: {row["why"]}', file=sys.stderr)
    worse = []
    if before is not None:
        text, worse = results.compare(rows, before, options.tolerance / 100)
        print(f'\n{text}')
        if worse:
            print(f'worse by more than {options.tolerance:g} %: {", ".join(worse)}')
    return 1 if failures or worse or left_out else 0


if __name__ == '__main__':
    sys.exit(main())
