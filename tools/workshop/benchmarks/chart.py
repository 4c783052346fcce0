"""bench.svg: one bar per ratio; the line is where it has reached its goal."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from results import conditions  # noqa: E402
from svg import FAINT, INK, Drawing  # noqa: E402

WIDTH, LEFT, TOP, LINE, BAR = 980, 190, 78, 26, 16
REACHED = 560  # where a bar ends that has reached it
LONGEST = 1.3  # of that
COLORS = {True: '#3c8d5a', False: '#c8553d', None: '#9aa7b0'}


def words(row):
    if row['value'] is None:
        return 'no figure'
    text = f'{row["value"]:.4g} {row["unit"]}'
    if row['ratio'] is not None:
        text += f', {row["ratio"]:.2f} of {row["yardstick"]}'
    if row['reach'] is not None:
        text += f' (to reach: {row["reach"]:.2f})'
    return text


def picture(rows):
    """Rows without anything to reach are drawn against their yardstick, in gray."""
    drawing, y = Drawing(WIDTH), TOP
    bottom = TOP + LINE * len(rows)
    drawing.text(LEFT, 46, conditions(rows), size=11)
    drawing.line(REACHED, TOP - 6, REACHED, bottom - 4, INK, 1.5)
    drawing.text(REACHED, TOP - 11, 'to be reached; gray: as good as the yardstick', 'middle', size=11)
    for row in rows:
        drawing.text(LEFT - 8, y + 12, row['name'], 'end')
        drawing.line(LEFT, y + LINE - 5, WIDTH - 24, y + LINE - 5, FAINT)
        share = 0.0 if row['ratio'] is None else min(LONGEST, row['ratio'] / (row['reach'] or 1))
        length = (REACHED - LEFT) * share
        drawing.bar(LEFT, y, max(length, 1.0), BAR, COLORS[row['met']], row.get('why', words(row)))
        inside = length > 16 + 5.8 * len(words(row))
        drawing.text(LEFT + length - 8 if inside else LEFT + length + 8, y + 12, words(row), 'end' if inside else 'start',
                     'white' if inside else INK, 11)
        y += LINE
    return drawing.svg('Sluice: benchmarks, against what must be reached', 24, bottom + 12)
