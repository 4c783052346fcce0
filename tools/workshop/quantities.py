"""Quantities of pictures as people read them, and the steps of their axes. Times are picoseconds."""

CLOCK = ((3.6e15, 'h', (1, 2, 5, 6, 12, 24)), (6e13, 'min', (1, 2, 5, 10, 15, 30, 60)))
UNITS = ((1e12, 's'), (1e9, 'ms'), (1e6, 'us'), (1e3, 'ns'), (1, 'ps'))


def scaled(value, units, least):
    for limit, unit in zip((1e9, 1e6, 1e3), units):
        if value >= limit:
            return f'{value / limit:.3g} {unit}'
    return f'{value:.0f} {least}'


def size_text(value):
    return scaled(value, ('GB', 'MB', 'KB'), 'B')


def rate_text(value):
    return scaled(value, ('Gb/s', 'Mb/s', 'kb/s'), 'b/s')


def count_text(value):
    for limit, unit in ((1e9, 'G'), (1e6, 'M'), (1e4, 'k')):
        if value >= limit:
            return f'{value / (limit if unit != "k" else 1e3):.3g} {unit}'
    return f'{value:.0f}'


def time_text(ps):
    for limit, unit, _ in CLOCK:
        if ps >= 2 * limit:
            return f'{ps / limit:.3g} {unit}'
    for limit, unit in UNITS:
        if ps >= limit:
            return f'{ps / limit:.4g} {unit}'
    return '0'


def share_text(part, whole):
    share = 100 * part / whole if whole else 0
    return f'{share:.0f} %' if share >= 1 or share == 0 else f'{share:.2g} %'


def nice_step(span, parts):
    raw = span / parts if span else 1
    power = 10 ** (len(str(int(raw))) - 1)
    return next(power * m for m in (1, 2, 5, 10) if power * m >= raw)


def nice_time(span_ps, parts):
    for limit, _, steps in CLOCK:
        if span_ps / parts >= limit / 2:
            return next((step * limit for step in steps if step * limit >= span_ps / parts), nice_step(span_ps, parts))
    return nice_step(span_ps, parts)


def whole_text(number):
    return f'{number:,}'.replace(',', ' ')


def grid_step(top, parts):
    """At least one line above 0, where there is a whole number."""
    step = int(nice_step(top, parts))
    return step if step <= top else max(int(nice_step(top / 2, 1) / 2), 1)


def time_axis(end_ps):
    """The moments of the axis and their texts, all in one unit: that of the whole run."""
    for limit, unit, steps in CLOCK:
        if end_ps >= 2 * limit:
            step = next((step for step in steps if end_ps / limit / step <= 9), nice_step(end_ps / limit, 8))
            return [(int(n * step * limit), f'{n * step:g} {unit}') for n in range(int(end_ps / limit / step) + 1)]
    step = int(nice_step(end_ps, 8))
    scale, unit = next((scale, unit) for scale, unit in UNITS if end_ps >= 2 * scale or scale == 1)
    return [(ps, f'{ps / scale:.6g} {unit}') for ps in range(0, end_ps + 1, step)]
