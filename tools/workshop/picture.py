#!/usr/bin/env python3
"""tools/picture TRACE.json OUT.svg: what happened over time, as one picture on one time axis.

The verdict; rates of simulated hosts' flows; depth of queues, with the WRED thresholds of the deepest; CE marks, CNPs and drops; use of
priority groups against their limit, and of their headroom; pauses, storms and events. TRACE.json is what `sluiced --trace` writes.
Lanes that never held much are left out.
"""
import bisect
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from quantities import (count_text, grid_step, nice_time, rate_text, share_text, size_text, time_axis, time_text,  # noqa: E402
                        whole_text)
from svg import FAINT, INK, Drawing  # noqa: E402

WIDTH, LANE, SMALL, GAP, LEFT, RIGHT, TOP = 980, 120, 50, 46, 92, 24, 84
ROW, LINE, NAMED = 22, 15, 4  # a row of bars, a line of the legend, rows of the events' names
BINS, SHOWN = 160, 6  # of rates and counts along the axis; queues, groups and flows in a lane
COLORS = ['#1f6fb2', '#c8553d', '#3c8d5a', '#8a5fb0', '#b0892f', '#4b9aa8', '#a04a78', '#6b6b6b']
PAUSE, HOLD, WATCHDOG, DROP, HEADROOM = '#e3a43b', '#8a5fb0', '#c8553d', '#b3261e', '#f0c878'
GOOD, BAD = '#2f7d4f', '#b3261e'
FINEST = 2.0  # pixels: spans and gaps that are narrower are drawn as a share of the time


class Picture(Drawing):
    def __init__(self, end_ps):
        super().__init__(WIDTH)
        self.end, self.y = max(end_ps, 1), TOP
        self.ticks = [(ps, text if ps else '0') for ps, text in time_axis(self.end)]

    def x(self, ps):
        return LEFT + (WIDTH - LEFT - RIGHT) * min(ps, self.end) / self.end

    def title(self, text, legend=()):
        """legend: (name, color, how it is drawn: 'line', 'dashed', 'area'), as many lines as it takes."""
        self.text(LEFT, self.y - 8, text, weight='bold')
        x, lines = LEFT + 7.4 * len(text) + 24, 0
        for name, color, way in legend:
            width = 34 + 6.2 * len(name)
            if x + width > WIDTH - RIGHT and x > LEFT:
                x, lines = LEFT, lines + 1
            self.mark(x, self.y - 12 + LINE * lines, color, way)
            self.text(x + 23, self.y - 8 + LINE * lines, name, size=11)
            x += width
        self.y += LINE * lines

    def mark(self, x, y, color, way):
        if way == 'area':
            self.bar(x, y - 5, 18, 9, color)
        else:
            self.path([(x, y), (x + 18, y)], color, way == 'dashed', 2)

    def lane(self, title, series, figure=size_text, height=LANE, top=0, levels=(), areas=(), legend=()):
        """series: (name, slots of [start_ps, peak, last], color, dashed), without a name none in the legend; `top`: as high at
        least; levels: (name, changes of [from_ps, value], place of its label), drawn dashed; areas: (slots of [start_ps, low,
        high], color), behind the lines; legend: what it has beside the series."""
        self.title(title, [(name, color, 'dashed' if dashed else 'line') for name, _, color, dashed in series if name] + list(legend))
        top = max([top] + [slot[1] for _, slots, _, _ in series for slot in slots]) * 1.08 or 1
        base = self.y + height
        for value in range(0, int(top) + 1, grid_step(top, max(height / 40, 2))):
            y = base - height * value / top
            self.line(LEFT, y, WIDTH - RIGHT, y)
            self.text(LEFT - 8, y + 4, figure(value), 'end', size=11)
        for ps, _ in self.ticks:
            self.line(self.x(ps), self.y, self.x(ps), base)
        for slots, color in areas:
            self.area([(self.x(start), self.x(end), base - height * low / top, base - height * high / top)
                       for (start, low, high), end in zip(slots, [slot[0] for slot in slots[1:]] + [self.end]) if high > low], color)
        for _, slots, color, dashed in series:
            points, before = [], 0
            for start, peak, last in slots:
                points += [(start, before), (start, peak), (start, last)]
                before = last
            points.append((self.end, before))
            self.path([(self.x(ps), base - height * value / top) for ps, value in points], color, dashed)
        for name, changes, place in levels:
            self.level(name, changes, place, lambda value: base - height * value / top)
        self.y = base + GAP

    def level(self, name, changes, place, y):
        ends = [at for at, _ in changes[1:]] + [self.end]
        for (at, value), end in zip(changes, ends):
            if value is not None:
                self.path([(self.x(at), y(value)), (self.x(end), y(value))], INK, True, 1)
        if changes[-1][1] is not None:
            self.text(WIDTH - RIGHT - place, y(changes[-1][1]) - 4, f'{name}: {size_text(changes[-1][1])}', 'end', size=11,
                      halo=True)

    def bars(self, title, rows, color):
        """rows: of class Row."""
        if not rows:
            return
        shared = any(not row.is_clear(self) for row in rows)
        self.title(title + ', and its share of the time' + ('; as height where single ones cannot be seen' if shared else ''))
        for row in rows:
            self.text(LEFT - 8, self.y + 13, f'{row.name} {share_text(row.total(), self.end)}', 'end', size=11)
            self.line(LEFT, self.y + 16, WIDTH - RIGHT, self.y + 16)
            if row.is_clear(self):
                for start, end in row.spans:
                    self.bar(self.x(start), self.y + 2, max(self.x(end) - self.x(start), 0.8), 14, color, time_text(end - start))
            else:
                for start, end, share in row.columns(self):
                    self.bar(self.x(start), self.y + 2 + 14 * (1 - share), self.x(end) - self.x(start), 14 * share, color,
                             share_text(share, 1))
            self.y += ROW
        self.y += GAP - 10

    def events(self, events):
        """Marks on the axis; names in a few rows, as far as there is room."""
        if not events:
            return
        placed, free = [], [LEFT] * NAMED
        for at, kind, text in events:
            x, width = self.x(at), 6.2 * len(kind) + 8
            left = x if x + width <= WIDTH - RIGHT else x - width
            row = next((n for n in range(NAMED) if free[n] <= left), None)
            placed.append((x, left + 4, row, kind, f'{time_text(at)} {text}'))
            if row is not None:
                free[row] = max(left, x) + width if left == x else x + 4
        nameless = sum(row is None for _, _, row, _, _ in placed)
        self.title(f'{len(events)} event' + ('s' if len(events) != 1 else '') + (f', {nameless} without their names' if nameless else ''))
        height = LINE * (1 + max((row for _, _, row, _, _ in placed if row is not None), default=0))
        for x, left, row, kind, tip in sorted(placed, key=lambda each: each[2] is not None):
            if row is None:
                self.bar(x, self.y, 1, height, FAINT, tip)
                continue
            self.bar(x, self.y + LINE * row, 1.2, LINE - 1, INK, tip)
            self.text(left, self.y + 11 + LINE * row, kind, size=11, halo=True)
        self.y += height + GAP

    def axis(self):
        y = self.y - GAP + 18
        for ps, text in self.ticks:
            self.line(self.x(ps), y - 8, self.x(ps), y - 3, INK)
            self.text(self.x(ps), y + 10, text, 'middle', size=11)


def slots_of(spans, end_ps):
    """Time in each of a thousand slots, and their width."""
    width = max(end_ps // 1000, 1)
    slots = [0] * (end_ps // width + 1)
    for start, end in spans:
        while start < end:
            slot = start // width
            border = min(end, (slot + 1) * width)
            slots[slot] += border - start
            start = border
    return slots, width


class Row:
    """When something was on: exact spans, and the time in each slot, of which there is always all."""

    def __init__(self, name, spans, slots=(), width=0, whole=True):
        self.name, self.spans, self.slots, self.width, self.whole = name, spans, slots, width, whole

    def total(self):
        return sum(self.slots) if self.slots else sum(end - start for start, end in self.spans)

    def is_clear(self, picture):
        """Whether each span, and each gap between two, is wide enough to be seen."""
        if not self.whole:
            return False
        edges = [picture.x(at) for span in self.spans for at in span]
        gaps = [after - before for before, after in zip(edges[1::2], edges[2::2])]
        return len(self.spans) < 2 or min(gaps, default=FINEST) >= FINEST

    def columns(self, picture):
        """(from_ps, to_ps, share of that time) where it was on, about FINEST wide."""
        if not self.slots:
            self.slots, self.width = slots_of(self.spans, picture.end)
        each = max(round(FINEST * picture.end / (WIDTH - LEFT - RIGHT) / self.width), 1)
        for first in range(0, len(self.slots), each):
            on = sum(self.slots[first:first + each])
            start, end = first * self.width, min((first + each) * self.width, picture.end)
            if on and end > start:
                yield start, end, min(on / (end - start), 1)


class Samples:
    """Totals over time as what each bin of the axis adds to them."""

    def __init__(self, samples, end_ps):
        self.columns = samples
        self.bin = int(nice_time(max(end_ps, 1), BINS))
        self.starts = list(range(0, max(end_ps, 1), self.bin))

    def at(self, column, ps):
        """Between two samples in proportion: they are taken at no bin's border."""
        times = self.columns['at_ps']
        after = bisect.bisect_right(times, ps)
        if after in (0, len(times)):
            return column[after - 1] if after else 0
        part = (ps - times[after - 1]) / (times[after] - times[after - 1])
        return column[after - 1] + part * (column[after] - column[after - 1])

    def added(self, column):
        return [[ps, *[self.at(column, ps + self.bin) - self.at(column, ps)] * 2] for ps in self.starts]

    def per_second(self, column_bytes):
        return [[ps, *[8e12 * each / self.bin] * 2] for ps, each, _ in self.added(column_bytes)]

    def level(self, column):
        return [[ps, *[value] * 2] for ps, value in zip(self.columns['at_ps'], column)]


def draw_rates(picture, samples):
    flows = sorted(samples.columns['flows'].items(), key=lambda flow: -flow[1]['delivered_bytes'][-1])
    if not flows:
        return
    series, allowed = [], []
    for (name, columns), color in zip(flows[:SHOWN], COLORS):
        series.append((name[:24], samples.per_second(columns['delivered_bytes']), color, False))
        allowed.append((samples.level(columns['rate_bps']), color))
    # Queue pairs start at line rate each: far above their throughput, and cut off there.
    top = 2 * max((slot[1] for _, slots, _, _ in series for slot in slots), default=0)
    series += [('', [[ps, min(rate, top), min(rate, top)] for ps, rate, _ in slots], color, True) for slots, color in allowed]
    few = f', the {SHOWN} largest of {len(flows)}' if len(flows) > SHOWN else ''
    picture.lane(f'rate of flows{few}: payload delivered; dashed: may be sent', series, rate_text)


def draw_signals(picture, samples):
    has_hosts = bool(samples.columns['flows'])
    each = f'in each {time_text(samples.bin)}'
    for title, column, color in (('CE marks', 'ecn_marked_packets', COLORS[1]), ('CNPs sent', 'cnp_sent_packets', COLORS[2])):
        total = samples.columns[column][-1]
        if total or has_hosts:
            picture.lane(f'{title}, {each}; {whole_text(total)} in all', [('', samples.added(samples.columns[column]), color, False)],
                         count_text, SMALL)
    dropped, lost = samples.columns['dropped_packets'], samples.columns['lost_packets']
    if dropped[-1]:
        series = [('dropped', samples.added(dropped), DROP, False)]
        if lost[-1]:
            series.append(('lossless ones', samples.added(lost), INK, True))
        picture.lane(f'drops, {each}; {whole_text(dropped[-1])} in all, {whole_text(lost[-1])} of them lossless', series, count_text, SMALL)


def draw_queues(picture, ports):
    deepest = []
    for port, data in ports.items():
        for queue, slots in data['queues'].items():
            deepest.append((max(slot[1] for slot in slots), f'{port}.{queue}', slots, data.get('thresholds', {}).get(queue, [])))
    deepest.sort(key=lambda each: -each[0])
    shown = [each for each in deepest[:SHOWN] if each[0] >= deepest[0][0] / 50]
    few = f', the {len(shown) if len(shown) > 1 else ""} deepest of {len(deepest)}'.replace('  ', ' ') if len(deepest) > len(shown) else ''
    levels, top = [], 0
    if shown and shown[0][3]:
        peak, name, _, changes = shown[0]
        for number, words, place in ((1, 'min', 190), (2, 'max', 0)):
            values = [change[number] for change in changes if change[number] is not None]
            if values and max(values) <= 3 * peak:
                levels.append((f'WRED {words} of {name}', [(change[0], change[number]) for change in changes], place))
                top = max(top, *values)
    legend = [('WRED threshold', INK, 'dashed')] if levels else []
    picture.lane(f'depth of egress queues{few}', [(name, slots, COLORS[i % 8], False) for i, (_, name, slots, _) in enumerate(shown)],
                 top=top, levels=levels, legend=legend)


def headroom_areas(used, headroom):
    """Of a group's cells, those above what it may share: [start_ps, low, high]."""
    at = {start: peak for start, peak, _ in headroom}
    return [[start, max(peak - at.get(start, 0), 0), peak if at.get(start, 0) else 0] for start, peak, _ in used]


def draw_groups(picture, ports):
    groups = [(max((slot[1] for slot in each['used']), default=0), f'{port}.{group}', each)
              for port, data in ports.items() for group, each in data['groups'].items()]
    if not groups:
        return
    groups.sort(key=lambda each: -each[0])
    shown = groups[:SHOWN]
    peak = shown[0][0]
    # Shows the limit of the fullest group alone: groups of one alpha share it.
    limit = [[start, min(high, 2 * peak), min(last, 2 * peak)] for start, high, last in shown[0][2]['limit']]
    areas = [(headroom_areas(each['used'], each.get('headroom', [])), HEADROOM) for _, _, each in shown]
    areas = [(slots, color) for slots, color in areas if any(high for _, _, high in slots)]
    few = f', the {SHOWN} fullest of {len(groups)},' if len(groups) > SHOWN else ''
    picture.lane(f'priority groups{few} against their limit',
                 [(name, each['used'], COLORS[i % 8], False) for i, (_, name, each) in enumerate(shown)] +
                 [(f'limit of {shown[0][1]}', limit, INK, True)],
                 areas=areas, legend=[('headroom', HEADROOM, 'area')] if areas else [])
    if areas:
        picture.lane('headroom in use', [(name, each['headroom'], COLORS[i % 8], False) for i, (_, name, each) in enumerate(shown)
                                         if any(slot[1] for slot in each['headroom'])], height=SMALL)


def pause_spans(changes, bit, end):
    spans, since = [], None
    for at, mask in changes:
        on = bool(mask >> bit & 1)
        if on and since is None:
            since = at
        if not on and since is not None:
            spans.append((since, at))
            since = None
    return spans + ([(since, end)] if since is not None else [])


def pause_rows(ports, key, end):
    """A Row for each port and class with pauses under `key`, the longest first."""
    rows = []
    for port, data in ports.items():
        for bit in range(8):
            spans = pause_spans(data[key], bit, end)
            share = data[f'{key}_share'].get(str(bit), {'width_ps': 1, 'on_ps': []})
            if spans or share['on_ps']:
                rows.append(Row(f'{port}.{bit}', spans, share['on_ps'], share['width_ps'], not data[f'{key}_cut']))
    return rows


def storm_rows(changes, end):
    """A Row for each queue with storms, of the watchdog's changes: [at_ps, port, queue, found]."""
    rows = {}
    for at, port, queue, found in changes:
        spans = rows.setdefault(f'{port}.{queue}', [])
        if found:
            spans.append((at, end))
        elif spans:
            spans[-1] = (spans[-1][0], at)
    return [Row(name, spans) for name, spans in rows.items()]


def draw_rows(picture, title, rows, color):
    most = 16
    rows.sort(key=lambda row: -row.total())
    few = f', the {most} longest of {len(rows)}' if len(rows) > most else ''
    picture.bars(title + few, rows[:most], color)


def write_whole(path, text):
    """The file appears whole or not at all."""
    part = f'{path}.sluice-part'
    try:
        with open(part, 'w', encoding='utf-8') as file:
            file.write(text)
        os.replace(part, path)
    except OSError as error:
        if os.path.exists(part):
            os.remove(part)
        sys.exit(f'tools/picture: {path}: cannot be written: {error.strerror}')


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if os.path.exists(sys.argv[2]) and os.path.samefile(*sys.argv[1:]):
        sys.exit(f'tools/picture: {sys.argv[2]} is the trace itself; do: name another file')
    with open(sys.argv[1], encoding='utf-8') as file:
        trace = json.load(file)
    picture = Picture(trace['end_ps'])
    verdict = trace['verdict']
    color = {None: INK, True: GOOD, False: BAD}[verdict['lossless']]
    picture.text(LEFT, 50, verdict['headline'][:100], color=color, size=14, weight='bold')
    samples = Samples(trace['samples'], trace['end_ps'])
    ports, end = trace['ports'], trace['end_ps']
    draw_rates(picture, samples)
    draw_queues(picture, ports)
    draw_signals(picture, samples)
    draw_groups(picture, ports)
    draw_rows(picture, 'PFC: peer paused by us', pause_rows(ports, 'pauses', end), PAUSE)
    draw_rows(picture, 'PFC: paused by peer', pause_rows(ports, 'holds', end), HOLD)
    draw_rows(picture, 'PFC watchdog: queues in a pause storm', storm_rows(trace['watchdog'], end), WATCHDOG)
    picture.events(trace['events'])
    picture.axis()
    write_whole(sys.argv[2], picture.svg(f'{trace["name"][:60]}: {time_text(end)}', LEFT, picture.y + 8))


if __name__ == '__main__':
    main()
