"""What becomes of figures: bench.json, the table, the comparison with another bench.json."""
import json
import os
import pathlib
import subprocess


def commit(root):
    def git(*words):
        return subprocess.run(['git', '-C', str(root), *words], capture_output=True, text=True, check=False).stdout.strip()

    head = git('rev-parse', 'HEAD')
    return (head or 'unknown') + ('+changes' if git('status', '--porcelain', '--untracked-files=no') else '')


def machine(bench):
    """What figures depend on beside the program."""
    names = [line.split(':', 1)[1].strip() for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
             if line.startswith('model name')]
    return {'cpu': names[0] if names else 'unknown', 'cores': bench.cores,
            'memory': 'hugepages' if bench.memory[0] == '--in-memory' else 'ordinary memory',
            'rounds': bench.rounds, 'seconds': bench.seconds, 'load_average': os.getloadavg()[0]}


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows, indent=2) + '\n')


class Unreadable(Exception):
    pass


def read(path):
    try:
        rows = json.loads(pathlib.Path(path).read_text())
        for row in rows:
            row['name'], row['value'], row['ratio'], row['machine']['memory'], row['commit']
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Unreadable(f'{path}: not a bench.json: {error!r}') from None
    return rows


def number(value, digits=2):
    return '-' if value is None else f'{value:.{digits}f}'


def aligned(cells):
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells)


def table(rows):
    cells = [['benchmark', 'value', 'unit', 'yardstick', 'its value', 'ratio', 'reach', 'met']]
    for row in rows:
        met = {None: '-', True: 'yes', False: 'no'}[row['met']]
        cells.append([row['name'], number(row['value']), row['unit'] or '-', row['yardstick'] or '-',
                      number(row['yardstick_value']), number(row['ratio'], 3), number(row['reach']), met])
    return aligned(cells)


def footer(rows):
    facts = rows[0]
    there = facts['machine']
    return (f'commit {facts["commit"][:12]}{"+changes" if facts["commit"].endswith("+changes") else ""}; {there["cpu"]}, '
            f'{there["cores"]} cores, {there["memory"]}, load {there["load_average"]:.1f}; medians of {there["rounds"]} rounds of '
            f'{there["seconds"]:g} s; written to out/bench.json and out/bench.svg')


def by_how_much(now, then):
    """(what both are compared in, now, then, by which factor it is better): ratios, which hold on any machine and at any load;
    absolute figures only where there are none, and only on the same machine. None: they cannot be compared, and why."""
    if then['value'] is None:
        return None, 'had no figure'
    if now['value'] is None:
        return ('figure', None, then['ratio'] or then['value'], 0.0), None
    here, there = now['machine'], then['machine']
    if here['memory'] != there['memory']:
        return None, f'then in {there["memory"]}, now in {here["memory"]}'
    if now['ratio'] and then['ratio'] and now['yardstick'] == then['yardstick']:
        return ('ratio', now['ratio'], then['ratio'], now['ratio'] / then['ratio']), None
    if now['unit'] != then['unit'] or now['yardstick'] != then['yardstick']:
        return None, 'measured otherwise'
    if (here['cpu'], here['cores']) != (there['cpu'], there['cores']):
        return None, 'another machine'
    factor = now['value'] / then['value'] if now['better'] != 'less' else then['value'] / now['value']
    return (now['unit'], now['value'], then['value'], factor), None


def compare(rows, before, tolerance):
    """(a table of both beside each other, the names of what got worse by more than the share `tolerance`)."""
    old = {row['name']: row for row in before}
    cells, worse = [['benchmark', 'in', 'then', 'now', 'now/then', '']], []
    for row in rows:
        if row['name'] not in old:
            cells.append([row['name'], '-', '-', number(row['ratio'], 3), '-', 'new'])
            continue
        compared, why = by_how_much(row, old[row['name']])
        if compared is None:
            cells.append([row['name'], '-', '-', '-', '-', why])
            continue
        unit, now, then, factor = compared
        verdict = 'worse' if factor < 1 - tolerance else 'better' if factor > 1 + tolerance else ''
        if verdict == 'worse':
            worse.append(row['name'])
        cells.append([row['name'], unit, number(then, 3), number(now, 3), f'{factor:.3f}', verdict])
    missing = [name for name in old if name not in {row['name'] for row in rows}]
    text = aligned(cells)
    if missing:
        text += '\nnot measured now: ' + ', '.join(missing)
    return text, worse
