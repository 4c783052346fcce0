"""The output of figures: bench.json, the table, the comparison with another bench.json."""
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
    """The conditions of the figures beside the program."""
    names = [line.split(':', 1)[1].strip() for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
             if line.startswith('model name')]
    return {'cpu': names[0] if names else 'unknown', 'cores': bench.cores,
            'memory': bench.memory.name,
            'rounds': bench.rounds, 'seconds': bench.seconds, 'load_average': os.getloadavg()[0],
            'repeated': bench.repeated, 'stolen': bench.stolen}


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rows, indent=2) + '\n')


class Unreadable(Exception):
    pass


def read(path):
    try:
        rows = json.loads(pathlib.Path(path).read_text())
        for row in rows:
            row['name'], row['benchmark'], row['value'], row['ratio'], row['machine']['memory'], row['commit']
        rows[0]
    except (OSError, ValueError, TypeError, LookupError) as error:
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


def conditions(rows):
    """A sentence: the program and the machine."""
    facts, there = rows[0], rows[0]['machine']
    memory = ', '.join(dict.fromkeys(row['machine']['memory'] for row in rows))
    return (f'commit {facts["commit"][:12]}{"+changes" if facts["commit"].endswith("+changes") else ""}; {there["cpu"]}, {there["cores"]} cores, '
            f'{memory}, load {there["load_average"]:.1f}; medians of {there["rounds"]} rounds of {there["seconds"]:g} s')


def footer(rows):
    of_each = {row['benchmark']: row['machine'] for row in rows}.values()
    repeated, stolen = sum(one.get('repeated', 0) for one in of_each), max(one.get('stolen', 0.0) for one in of_each)
    return f'{conditions(rows)}, {repeated} repeated, at most {stolen:.1%} of one stolen; written to out/bench.json and out/bench.svg'


def comparable_in(now, then):
    """('ratio' or 'value', None), or (None, why they cannot be compared): ratios, which hold on any machine and at any load;
    absolute figures only where there are none, and only on the same machine."""
    here, there = now['machine'], then['machine']
    if here['memory'] != there['memory']:
        return None, f'then in {there["memory"]}, now in {here["memory"]}'
    if (now['unit'], now['yardstick'], now['better']) != (then['unit'], then['yardstick'], then['better']):
        return None, 'measured otherwise'
    if now['ratio'] and then['ratio']:
        return 'ratio', None
    if (here['cpu'], here['cores']) != (there['cpu'], there['cores']):
        return None, 'another machine'
    return 'value', None


def compare(rows, before, tolerance):
    """(a table of both beside each other, the names of what got worse by more than the share `tolerance`). What had a figure
    and has none now got worse; what was not tried now is only named."""
    old = {row['name']: row for row in before}
    now = {row['name']: row for row in rows}
    tried = {row['benchmark'] for row in rows}
    cells, worse = [['benchmark', 'in', 'then', 'now', 'now/then', '']], []
    for name in [*now, *(name for name in old if name not in now)]:
        if name not in old:
            cells.append([name, '-', '-', '-', '-', 'new' if now[name]['value'] is not None else 'no figure'])
        elif name in now or old[name]['benchmark'] in tried:
            cells.append([name, *judge(now.get(name), old[name], tolerance)])
            if cells[-1][-1].startswith('worse'):
                worse.append(name)
    text = aligned(cells)
    missing = [name for name in old if name not in now and old[name]['benchmark'] not in tried]
    return text + (f'\nnot measured now: {", ".join(missing)}' if missing else ''), worse


def judge(now, then, tolerance):
    """Cells of a row that was measured then, and now or without success."""
    if then['value'] is None:
        return ['-', '-', '-', '-', 'had no figure']
    if now is None or now['value'] is None:
        return ['-', number(then['ratio'] or then['value'], 3), '-', '-', 'worse: no figure']
    kind, why = comparable_in(now, then)
    if kind is None:
        return ['-', '-', '-', '-', why]
    one, other = now[kind], then[kind]
    factor = other / one if kind == 'value' and now['better'] == 'less' else one / other
    verdict = 'worse' if factor < 1 - tolerance else 'better' if factor > 1 + tolerance else ''
    return [now['unit'] if kind == 'value' else kind, number(other, 3), number(one, 3), f'{factor:.3f}', verdict]
