"""The few shapes that our pictures are made of, as the text of an SVG."""
from xml.sax.saxutils import escape

INK, FAINT = '#222', '#ddd'
# What is white, ink or faint turns around where the reader wants it dark.
DARK = ('<style>@media (prefers-color-scheme: dark) { .paper { fill: #14181e; } text[stroke="white"] { stroke: #14181e; } '
        f'[fill="{INK}"] {{ fill: #e6eaf0; }} [stroke="{INK}"] {{ stroke: #e6eaf0; }} [stroke="{FAINT}"] {{ stroke: #38414d; }} }}</style>')
UNSEEN = 0.8  # of a pixel: what a line may be beside its points


def without_unseen(points, unseen=UNSEEN):
    """The points that a line cannot do without (Ramer, Douglas, Peucker): the others are closer than `unseen` to the line without them."""
    kept, parts = {0, len(points) - 1}, [(0, len(points) - 1)]
    while parts:
        first, last = parts.pop()
        (x, y), (to_x, to_y) = points[first], points[last]
        along, up = to_x - x, to_y - y
        square = along * along + up * up
        far, farthest = 0, None
        for n in range(first + 1, last):
            right, above = points[n][0] - x, points[n][1] - y
            part = min(max((right * along + above * up) / square, 0), 1) if square else 0
            away = (right - part * along) ** 2 + (above - part * up) ** 2
            if away > far:
                far, farthest = away, n
        if far > unseen * unseen:
            kept.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return [points[n] for n in sorted(kept)]


class Drawing:
    def __init__(self, width):
        self.width, self.out = width, []

    def text(self, x, y, text, anchor='start', color=INK, size=12, weight='normal', halo=False):
        behind = ' stroke="white" stroke-width="3" paint-order="stroke"' if halo else ''
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}" '
                        f'font-weight="{weight}"{behind}>{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, color=FAINT, width=1):
        self.out.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" '
                        f'stroke-width="{width}"/>')

    def path(self, points, color, dashed=False, width=1.6):
        places = [f'{x:.1f},{y:.1f}' for x, y in without_unseen(points)]
        text = ' '.join(place for place, before in zip(places, [None, *places]) if place != before)
        dash = ' stroke-dasharray="5 4"' if dashed else ''
        self.out.append(f'<polyline points="{text}" fill="none" stroke="{color}" stroke-width="{width}"{dash}/>')

    def bar(self, x, y, width, height, color, tip=''):
        self.out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" fill="{color}">'
                        f'<title>{escape(tip)}</title></rect>')

    def area(self, parts, color):
        """parts: (x from, x to, y low, y high), side by side; those that touch are one shape."""
        shapes, last = [], None
        for left, right, low, high in parts:
            if last is not None and abs(last - left) < 0.05:
                shapes[-1].append((left, right, low, high))
            else:
                shapes.append([(left, right, low, high)])
            last = right
        text = []
        for shape in shapes:
            above = [(x, high) for left, right, _, high in shape for x in (left, right)]
            below = [(x, low) for left, right, low, _ in reversed(shape) for x in (right, left)]
            points = without_unseen(above) + without_unseen(below)
            text.append('M' + 'L'.join(f'{x:.1f},{y:.1f}' for x, y in points) + 'z')
        if text:
            self.out.append(f'<path d="{"".join(text)}" fill="{color}"/>')

    def svg(self, heading, left, height):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
                f'height="{height}" style="max-width:100%;height:auto" font-family="system-ui, sans-serif">\n{DARK}\n'
                f'<rect class="paper" width="100%" height="100%" fill="white"/>\n'
                f'<text x="{left}" y="26" font-size="17" font-weight="bold" fill="{INK}">{escape(heading)}</text>')
        return '\n'.join([head, *self.out, '</svg>']) + '\n'
