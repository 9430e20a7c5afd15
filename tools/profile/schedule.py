# SPDX-License-Identifier: MIT
"""Who ran when: the switches that `perf sched timehist` lists, by thread, and a picture of them."""
import collections
import html
import math
import re

import flame

LINE = re.compile(r"\s*(\d+)\.(\d+)\s+\[(\d+)\]\s+(.*?)\[(-?\d+)(?:/(-?\d+))?\]\s+([\d.]+)\s+([\d.]+)\s+"
                  r"([\d.]+)\s+(\S+)\s*$")

# In ms; `wanted`: since when it could have run, woken or preempted; `is_woken`: it had slept.
Run = collections.namedtuple("Run", "begin end cpu wanted is_woken")
Thread = collections.namedtuple("Thread", "name tid runs")


def read(lines, processes):
    """[Thread] of these processes, and the number of tasks of others, of the lines of perf sched timehist --state.
    Times count from the first run."""
    runs, names, states, others = collections.defaultdict(list), {}, {}, set()
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        seconds, fraction, cpu, name, tid, process, _, delay, ran, state = match.groups()
        tid = int(tid)
        if tid < 0:
            continue  # what was ending
        if int(process or tid) not in processes:
            others.add(tid)
            continue
        end = int(seconds) * 1e3 + float("0." + fraction) * 1e3
        names[tid] = name.strip()  # the last one: threads get theirs after they began
        begin, is_woken = end - float(ran), not states.get(tid, "S").startswith("R")
        wanted = begin - float(delay) if is_woken else runs[tid][-1].end
        runs[tid].append(Run(begin, end, int(cpu), min(wanted, begin), is_woken))
        states[tid] = state
    first = min((r[0].begin for r in runs.values()), default=0)
    threads = [Thread(names[tid], tid, [r._replace(begin=r.begin - first, end=r.end - first, wanted=r.wanted - first)
                                        for r in found]) for tid, found in runs.items()]
    return sorted(threads, key=lambda t: (t.name.startswith("weft-"), t.name, t.tid)), len(others)


def summary(thread):
    """The figures of a thread."""
    delays = sorted(r.begin - r.wanted for r in thread.runs if r.is_woken) or [0.0]
    preempted = sum(r.begin - r.wanted for r in thread.runs if not r.is_woken)
    moves = sum(a.cpu != b.cpu for a, b in zip(thread.runs, thread.runs[1:]))
    return {"thread": thread.name, "tid": thread.tid, "runs": len(thread.runs),
            "run_ms": round(sum(r.end - r.begin for r in thread.runs), 3),
            "longest_run_ms": round(max(r.end - r.begin for r in thread.runs), 3),
            "preempted_ms": round(preempted, 3), "wakes": sum(r.is_woken for r in thread.runs),
            "wake_mean_ms": round(sum(delays) / len(delays), 4),
            "wake_p99_ms": round(delays[min(len(delays) - 1, len(delays) * 99 // 100)], 4),
            "wake_max_ms": round(delays[-1], 4), "migrations": moves}


STYLE = """
svg { background: var(--ground); } text { fill: var(--ink); font: 12px var(--text); }
.title { font: 600 15px var(--text); } .note { fill: var(--soft); }
.lane { fill: var(--sunken); } .wait { fill: var(--bad); fill-opacity: .55; } .line { stroke: var(--line); }
.c0 { fill: var(--s1); } .c1 { fill: var(--s2); } .c2 { fill: var(--s3); } .c3 { fill: var(--s4); }
.c4 { fill: var(--s5); } .c5 { fill: var(--s6); } .c6 { fill: var(--s7); } .c7 { fill: var(--s8); }
"""
LEFT, WIDTH, LANE, TOP = 170, 1200, 30, 66


def boxes(runs, scale):
    """(x, width, class, title), neighbours of one class that touch on the screen as one."""
    merged = []
    for run in runs:
        text = (f"CPU {run.cpu}: {run.begin:.3f} to {run.end:.3f} ms, {'woken' if run.is_woken else 'preempted'} "
                f"{run.begin - run.wanted:.3f} ms before")
        for kind, begin, end in (("wait", run.wanted, run.begin), (f"c{run.cpu % 8}", run.begin, run.end)):
            if end <= begin:
                continue
            if merged and merged[-1][2] == kind and begin * scale - merged[-1][1] < 0.5:
                merged[-1][1] = end * scale
                merged[-1][3] = "several runs"
            elif kind != "wait" or (end - begin) * scale >= 0.3:
                merged.append([begin * scale, end * scale, kind, text])
    return [(x, max(0.4, end - x), kind, text) for x, end, kind, text in merged]


def ticks(length):
    """Round numbers from 0 to near `length`, 4 to 10 of them."""
    step = 10 ** math.floor(math.log10(length))
    while length / step < 4:
        step /= 2 if length / step >= 2 else 5
    return [i * step for i in range(int(length / step) + 1) if i * step <= 0.97 * length]


def svg(threads):
    """A lane for each thread: coloured by CPU where it ran, another colour where it waited for one."""
    length = max(t.runs[-1].end for t in threads) or 1
    scale = (WIDTH - LEFT - 20) / length
    height = TOP + LANE * len(threads) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
           f"<title>Threads over time</title><style><![CDATA[{flame.colours()}{STYLE}]]></style>",
           '<text class="title" x="10" y="24">Threads over time</text>']
    x = 10
    for kind, text in [*((f"c{c % 8}", f"on CPU {c}") for c in sorted({r.cpu for t in threads for r in t.runs})[:8]),
                       ("wait", "woken or preempted, waits for a CPU"), ("lane", "asleep")]:
        out.append(f'<rect class="{kind}" x="{x}" y="37" width="12" height="12" rx="2"/>'
                   f'<text class="note" x="{x + 17}" y="47">{text}</text>')
        x += 40 + 7 * len(text)
    for i, thread in enumerate(threads):
        y = TOP + i * LANE
        label = flame.shorten(f"{thread.name} {thread.tid}", LEFT - 20)
        out.append(f'<text x="10" y="{y + 16}">{html.escape(label)}</text>'
                   f'<rect class="lane" x="{LEFT}" y="{y}" width="{length * scale:.1f}" height="{LANE - 6}"/>')
        for left, width, kind, text in boxes(thread.runs, scale):
            out.append(f'<rect class="{kind}" x="{LEFT + left:.2f}" y="{y}" width="{width:.2f}" height="{LANE - 6}">'
                       f"<title>{text}</title></rect>")
    bottom = TOP + LANE * len(threads)
    for ms in ticks(length):
        at = LEFT + ms * scale
        out.append(f'<line class="line" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 4}" y2="{bottom}"/><text class="note" '
                   f'x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{round(ms, 9):,.10g} ms</text>')
    return "\n".join(out + ["</svg>", ""])
