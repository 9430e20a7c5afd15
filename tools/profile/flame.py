# SPDX-License-Identifier: MIT
"""Flame graphs as one SVG file that needs no network: a box per frame, as wide as its share, callers
below. Its script zooms (click), searches, and shortens labels; without the script it is still a picture."""
import html
import json
import os

ROW, TOP, MARGIN, WIDTH, CHARACTER = 19, 62, 10, 1200, 6.7
HERE = os.path.dirname(os.path.abspath(__file__))


def colours():
    """The variables of weft's style sheet, light and dark."""
    for folder in (os.path.join(HERE, "..", "look"), HERE):
        path = os.path.join(folder, "look.css")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return f.read().partition("*, *::before")[0]
    raise OSError(2, "the style sheet look.css is missing beside the tool", HERE)


class Node:
    """A box: `count` units (samples, or microseconds), of it in children. `colour`: class of the box."""

    def __init__(self):
        self.count, self.children = 0, {}

    def add(self, path, count=1):
        node = self
        node.count += count
        for name in path:
            node = node.children.setdefault(name, Node())
            node.count += count

    def ordered(self):
        """Children, the largest first, what is no system last."""
        return sorted(self.children.items(), key=lambda c: (c[0].startswith("("), -c[1].count, c[0]))


def clip(name, room):
    """At most `room` characters: the whole name, its beginning with an ellipsis, or nothing."""
    if len(name) <= room:
        return name
    return name[:room - 1] + "…" if room >= 4 else ""


def shorten(name, width):
    """What fits into a box of this width."""
    return clip(name, int((width - 6) / CHARACTER))


def boxes_of(root, least):
    """(x, depth, share, name, count, colour) of every box that is at least `least` of the whole."""
    boxes, whole = [], max(1, root.count)

    def place(node, name, x, depth, colour):
        share = node.count / whole
        if share < least:
            return
        boxes.append((x, depth, share, name, node.count, colour))
        for i, (child_name, child) in enumerate(node.ordered()):
            is_system = depth == 0 and not child_name.startswith("(")
            place(child, child_name, x, depth + 1, f"s{1 + i % 6}" if is_system else colour)
            x += child.count / whole

    place(root, "all", 0.0, 0, "s7")
    return boxes


STYLE = """
svg { background: var(--ground); font-family: var(--mono); font-size: 11px; }
text { fill: var(--ink); } .soft { fill: var(--soft); }
.title { font: 600 15px var(--text); } .note { font: 12px var(--text); fill: var(--soft); }
g.b { cursor: pointer; } g.b text { pointer-events: none; }
g.b rect { fill: var(--c); fill-opacity: .34; stroke: var(--ground); stroke-width: 1; }
g.b:hover rect { stroke: var(--ink); } g.b.parent { opacity: .45; } g.b.found rect { fill: var(--accent); fill-opacity: 1; }
g.b.found text { fill: var(--accent-ink); }
.s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); } .s4 { --c: var(--s4); }
.s5 { --c: var(--s5); } .s6 { --c: var(--s6); } .s7 { --c: var(--s7); }
input { font: 12px var(--text); width: 100%; box-sizing: border-box; padding: 3px 7px; border-radius: 5px;
  color: var(--ink); background: var(--panel); border: 1px solid var(--strong-line); }
"""

with open(os.path.join(HERE, "flame.js"), encoding="utf-8") as script:
    SCRIPT = script.read()


def svg(root, title, note, unit):
    """The file: `root` the tree, `unit` of its counts ("samples", "us")."""
    boxes = boxes_of(root, 0.3 / WIDTH)
    span = WIDTH - 2 * MARGIN
    height = TOP + (max(b[1] for b in boxes) + 1) * ROW + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}">',
           f"<title>{html.escape(title)}</title>",
           f"<style><![CDATA[{colours()}{STYLE}]]></style>",
           f'<text class="title" x="{MARGIN}" y="24">{html.escape(title)}</text>',
           f'<text class="note" x="{MARGIN}" y="44">{html.escape(note)}</text>',
           f'<foreignObject id="search" x="{WIDTH - 250}" y="8" width="240" height="28"/>',
           f'<text class="note" id="found" x="{WIDTH - MARGIN}" y="50" text-anchor="end"></text>']
    for x, depth, share, name, count, colour in boxes:
        left, width = MARGIN + x * span, share * span
        y = height - 30 - (depth + 1) * ROW
        number = f"{count:,.0f} {unit}, {100 * share:.2f} %"
        out.append(f'<g class="b {colour}" data-b="{x:.7f} {share:.7f} {depth}"><title>'
                   f'{html.escape(name)}: {number}</title><rect x="{left:.2f}" y="{y}" rx="2" '
                   f'width="{max(width, 0.3):.2f}" height="{ROW - 1}"/><text x="{left + 4:.2f}" y="{y + 13}">'
                   f'{html.escape(shorten(name, width))}</text></g>')
    out.append(f'<text class="note" id="status" x="{MARGIN}" y="{height - 10}">click: zoom; Esc: all; '
               f'/: search</text>')
    constants = {"margin": MARGIN, "span": span, "character": CHARACTER}
    out.append(f"<script><![CDATA[const look = {json.dumps(constants)};\n{SCRIPT}]]></script>")
    return "\n".join(out + ["</svg>", ""])
