"""Runs the tests of a build directory and counts test cases, for tools/test.

run_suite.py targets BUILD SUITE...      what must be built for these Meson suites, as ninja knows it; SUITE/NAME is one test,
                                         SUITE/FILE what its FILE_test.cc has; without a suite all but test programs
run_suite.py meson BUILD LABEL SUITE...  run them; one line, details only of what failed
run_suite.py one BUILD SUITE/NAME        run it, and show what it says
run_suite.py fuzz BUILD                  run the libFuzzer targets, each for a bounded time

`meson` and `fuzz` append "passed failed skipped", and the names of what failed, to the file $TALLY. A test program says how many cases it ran, as
CppUTest does ("OK (132 tests, ...") or with a last line "N passed, N failed[, N skipped]"; one that crashed or said
nothing counts as a failure. Lines "SKIP: reason" are shown and counted as skipped.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = '1' in (os.environ.get('SLUICE_LONG'), os.environ.get('SLUICE_SOAK'))
TERMINAL = sys.stdout.isatty()

CPPUTEST_OK = re.compile(r'^OK \((\d+) tests, (\d+) ran', re.M)
CPPUTEST_ERRORS = re.compile(r'^Errors \((?:(\d+) failures?|ran nothing), (\d+) tests, (\d+) ran', re.M)
PLAIN = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$')
SKIP = re.compile(r'^\s*SKIP: *(.*\S)', re.M)
FAILED_CASE = re.compile(r'^(?:FAIL|ERROR): (\w+)|error: Failure in TEST\((\w+, \w+)\)', re.M)


def count(output, status):
    """(passed, failed, skipped) that a test program's output and exit status stand for."""
    output = re.sub(r'\x1b\[[0-9;]*m', '', output)
    skips = len(SKIP.findall(output))
    lines = output.rstrip().splitlines()
    plain = PLAIN.match(lines[-1].strip()) if lines else None
    if plain:
        passed, failed = int(plain[1]), int(plain[2])
        skips = int(plain[3]) if plain[3] else skips
        counted = passed + failed + skips > 0
    else:
        good, bad = CPPUTEST_OK.findall(output), CPPUTEST_ERRORS.findall(output)
        failed = sum(int(failures or 1) for failures, _, _ in bad)
        ran = sum(int(row[1]) for row in good) + sum(int(row[2]) for row in bad)
        # A CppUTest case that prints SKIP and returns is counted by CppUTest as run.
        passed = max(0, ran - failed - skips)
        counted = bool(ran or failed)
    if status in (0, 77) and not counted and skips:
        return 0, 0, skips
    if status != 0 or not counted:
        failed = max(failed, 1)
    return passed, failed, skips


def plural(number, noun):
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def report(label, results, seconds, note=''):
    """results: (name, command, output, status, why) of every test program."""
    total = [0, 0, 0]
    details, failed = [], []
    for name, command, output, status, why in results:
        counts = count(output, status)
        total = [sum(pair) for pair in zip(total, counts)]
        details += [f'    SKIP {name}: {reason}' for reason in dict.fromkeys(SKIP.findall(output))]
        if counts[1]:
            tail = output.rstrip().splitlines()[-60:] or ['(no output)']
            details += [f'    FAILED {name} ({why}): {command}'] + ['    | ' + line for line in tail]
            cases = dict.fromkeys((test or case).replace(', ', '.') for test, case in FAILED_CASE.findall(output))
            failed += [f'{name}:{case}' for case in cases] or [name]
    if TERMINAL:
        sys.stdout.write('\r\x1b[K')
    skipped = f', {total[2]} skipped' if total[2] else ''
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime
    line = f'{total[0]} passed, {total[1]} failed{skipped}' if results else 'no tests yet'
    print(f'{label:<11} {line}   ({seconds:.1f} s, {cpu:.0f} s of the CPUs{note})', *details, sep='\n', flush=True)
    if 'TALLY' in os.environ:
        with open(os.environ['TALLY'], 'a') as tally:
            print(*total, *failed, file=tally)
    return 1 if total[1] else 0


def progress(label, done, names):
    if TERMINAL:
        sys.stdout.write(f'\r\x1b[K{label:<11} {done} of {names} programs')
        sys.stdout.flush()


@functools.cache
def introspect(build, what):
    return json.loads(subprocess.check_output(['meson', 'introspect', str(build), what]))


def suites_of(test):
    return {suite.split(':')[-1] for suite in test['suite']}


def has_file(build, test, file):
    """The path of FILE_test.cc, when the test's program is made of it, compiled alone or in a group."""
    for target in introspect(build, '--targets'):
        if target['id'] in test['depends']:
            for group in target['target_sources']:
                units = [path for path in group['generated_sources'] if '-unity' in path and os.path.exists(path)]
                named = group['sources'] + [name for path in units for name in re.findall(r'(?m)^#include *[<"](.*)[">]', pathlib.Path(path).read_text())]
                for source in named:
                    if pathlib.Path(source).name == f'{file}_test.cc':
                        return os.path.join(build, source)
    return None


def tests_of(build, suites):
    found = []
    for test in introspect(build, '--tests'):
        for suite, _, name in (wanted.partition('/') for wanted in suites):
            if suite in suites_of(test) and (not name or name in (test['name'], test['name'].split('_', 1)[-1]) or has_file(build, test, name)):
                found.append(test)
                break
    return found


def run_one(build, wanted):
    """As a person wants to see it: of a file of a C++ program its groups, told one by one."""
    tests = tests_of(build, [wanted])
    if not tests:
        sys.exit(f'no such test: {wanted}; tests/README.md says where they are')
    status = 0
    for test in tests:
        command = test['cmd']
        file = has_file(build, test, wanted.partition('/')[2])
        if file:
            groups = re.findall(r'^TEST_GROUP(?:_BASE)?\((\w+)', pathlib.Path(file).read_text(), re.M)
            command = command + ['-v'] + [word for group in groups for word in ('-sg', group)]
        print(' '.join(command), flush=True)
        status |= subprocess.run(command, cwd=build, env={**os.environ, **test['env']}).returncode
    return 1 if status else 0


def targets(build, suites):
    needed = {identity for test in tests_of(build, suites) for identity in test['depends']}
    for target in introspect(build, '--targets'):
        if target['id'] in needed or not suites and target['build_by_default']:
            for name in target['filename']:
                print(os.path.relpath(name, os.path.abspath(build)))
    return 0


def processes(suites):
    """How many test programs at once. Those that start switches wait half of their time, DPDK alone 0.1 s a start.
    Not netns: with four at once an XDP socket was once refused to a switch that was started anew."""
    return (os.cpu_count() or 1) * (2 if {wanted.partition('/')[0] for wanted in suites} & {'loopback', 'control'} else 1)


def run_meson(build, label, suites):
    start = time.monotonic()
    tests = tests_of(build, suites)
    if not tests:
        return report(label, [], 0.0)
    command = ['meson', 'test', '-C', str(build), '--no-rebuild', '--logbase', f'tally-{label}', '--num-processes', str(processes(suites))]
    if LONG:
        command += ['--timeout-multiplier', '400']
    for suite in sorted({wanted.partition('/')[0] for wanted in suites}):
        command += ['--suite', suite]
    if any('/' in wanted for wanted in suites):
        command += [test['name'] for test in tests]
    log = build / 'meson-logs' / f'tally-{label}.json'
    log.unlink(missing_ok=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in process.stdout:
        said.append(line)
        done = re.match(r'\s*(\d+)/(\d+) ', line)
        if done:
            progress(label, done[1], done[2])
    process.wait()
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    results = [(row['name'].split(' / ')[-1], ' '.join(row['command']),
                (row.get('stderr') or '') + (row.get('stdout') or ''),  # the last line of stdout counts
                row['returncode'] if row['result'] in ('OK', 'SKIP') else row['returncode'] or 1,
                row['result'].lower() + f", status {row['returncode']}") for row in rows]
    if len(rows) < len(tests):
        results.append((label, ' '.join(command), ''.join(said), 1, f'{len(rows)} of {len(tests)} tests ran'))
    return report(label, results, time.monotonic() - start)


def run_fuzzer(test):
    """One libFuzzer target: a fixed seed, at most so many runs, starting from the tracked corpus."""
    name = test['name']
    scratch = ROOT / 'out' / 'fuzz' / name
    scratch.mkdir(parents=True, exist_ok=True)
    corpus = ROOT / 'tests' / 'fuzz' / 'corpus' / name
    dictionary = ROOT / 'tests' / 'fuzz' / f'{name}.dict'
    runs, seconds = (20_000_000, 90) if LONG else (200_000, 20)
    command = [test['cmd'][0], f'-runs={runs}', f'-max_total_time={seconds}', '-seed=1', '-timeout=10',
               '-print_final_stats=1', f'-artifact_prefix={scratch}/']
    command += [f'-dict={dictionary}'] if dictionary.exists() else []
    # New inputs go to the first folder, so that the tracked corpus stays as it is.
    command += [str(scratch)] + ([str(corpus)] if corpus.is_dir() else [])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=ROOT, timeout=seconds * 3 + 60, errors='replace', text=True)
        output, status = done.stdout, done.returncode
    except subprocess.TimeoutExpired as expired:
        output, status = (expired.stdout or b'').decode(errors='replace') + '\nkilled: over its time', 1
    executed = re.search(r'stat::number_of_executed_units: *(\d+)', output)
    executed = int(executed[1]) if executed else 0
    good = status == 0 and executed > 0
    output += f'\n{int(good)} passed, {int(not good)} failed'
    return executed, (name, ' '.join(command), output, status, f'{executed} runs, status {status}')


def run_fuzz(build):
    start = time.monotonic()
    tests = tests_of(build, ['fuzz'])
    if not tests:
        return report('fuzz', [], 0.0)
    results = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(run_fuzzer, tests):
            results.append(result)
            progress('fuzz', len(results), len(tests))
    runs = sum(executed for executed, _ in results)
    note = f'; {plural(len(tests), "target")}, {runs} inputs'
    return report('fuzz', [result for _, result in results], time.monotonic() - start, note)


def main():
    verb, build = sys.argv[1], pathlib.Path(sys.argv[2])
    if verb == 'targets':
        return targets(build, sys.argv[3:])
    if verb == 'meson':
        return run_meson(build, sys.argv[3], sys.argv[4:])
    if verb == 'one':
        return run_one(build, sys.argv[3])
    if verb == 'fuzz':
        return run_fuzz(build)
    sys.exit(__doc__)


if __name__ == '__main__':
    sys.exit(main())
