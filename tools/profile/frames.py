# SPDX-License-Identifier: MIT
"""What a trace says frame by frame: times of systems with percentiles, the worst frames, what threads waited for, and
whether one run is slower than another. A row is a system, or what the engine does beside them, such as "(playback)";
its time in a frame is summed over the threads, without what another row does inside of it."""
import bisect
import collections
import json
import math
import os

import perfetto
import recording

WAITS = {"parked", "wait"}
BLOCKS = 10  # of a run; the differences between them are its noise
SPOILT = 2  # so many of them at each end, by what else the machine does
LEAST_FRAMES = 2 * BLOCKS
LEAST_CHANGE = 0.03  # what is below is noise of the memory's layout
LEAST_SHARE = 0.002  # of a frame: what changed by less is not named
GAP_NS = 500  # shorter ones lie between two pieces of work


class Profile:
    """Owner: the caller. frames: [(number, ns)]; rows, zones: {name: {"ns": [per frame, None: it did not run],
    "calls": spans, "threads": rows of the trace}}; commands: {name: [per frame]}; waits: {(thread, reason): [per frame]}."""
    def __init__(self):
        self.frames, self.rows, self.zones, self.commands, self.waits, self.lost = [], {}, {}, {}, {}, 0


def is_structure(name):
    """What the engine puts around systems."""
    return name in ("frame", "segment", "fused slices", "background job", "background loop", "level") or \
        name.startswith(("stage ", "task "))


class Span:
    __slots__ = ("row", "begin", "end", "name", "value", "parent", "inner", "is_row")

    def __init__(self, row, begin, name, value, parent):
        self.row, self.begin, self.end, self.name, self.value, self.parent = row, begin, begin, name, value, parent
        self.inner, self.is_row = 0, False


def read_spans(events):
    """All spans, an outer one before what lies in it."""
    stacks, spans = {}, []
    for row, kind, ns, name, value in events:
        stack = stacks.setdefault(row, [])
        if kind == "B":
            spans.append(Span(row, ns, name, value, stack[-1] if stack else None))
            stack.append(spans[-1])
        elif kind == "E" and stack:
            stack.pop().end = ns
    return spans


def systems_of(spans, told):
    """Names of spans of the engine (`told`) that lie in what it puts around systems. Zones lie in systems."""
    return {s.name for s in spans if s.name in told and s.parent is not None and is_structure(s.parent.name)
            and not is_structure(s.name) and s.name not in recording.WORKS}


def mark_rows(spans, systems):
    """Which spans are rows; what rows lie in which."""
    rows = []
    for span in spans:
        if span.name not in systems and span.name not in recording.WORKS:
            continue
        around = span.parent
        while around is not None and not around.is_row:
            around = around.parent
        if around is not None and around.name == span.name:
            continue  # a piece of it that its own thread runs
        span.is_row = True
        rows.append((span, around))
    for span, around in rows:
        if around is not None:
            around.inner += span.end - span.begin
    return [span for span, _ in rows]


def add(table, name, frame, count, ns, thread):
    entry = table.setdefault(name, {"ns": [None] * count, "calls": 0, "threads": set()})
    entry["ns"][frame] = (entry["ns"][frame] or 0) + ns
    entry["calls"] += 1
    entry["threads"].add(thread)


def row_name(span):
    return recording.WORKS.get(span.name, span.name)


def read_trace(path):
    told = set()
    events, lost, _ = perfetto.read_trace(path, told)
    profile, spans = Profile(), read_spans(events)
    frames = sorted((s for s in spans if s.name == "frame" and s.value is not None), key=lambda s: s.begin)
    if not frames:
        raise recording.Refused(f"{path} has no frame: no world was stepped while it was recorded")
    profile.lost, profile.frames = lost or 0, [(s.value, s.end - s.begin) for s in frames]
    begins, count = [s.begin for s in frames], len(frames)
    rows = mark_rows(spans, systems_of(spans, told))
    for span in rows:
        frame = bisect.bisect_right(begins, span.begin) - 1
        if frame >= 0:
            add(profile.rows, row_name(span), frame, count, span.end - span.begin - span.inner, span.row)
    for span in spans:
        frame = bisect.bisect_right(begins, span.begin) - 1
        if span.name in told and frame >= 0 and not span.is_row and not is_structure(span.name) and \
                span.name not in profile.rows and span.name not in recording.WORKS:
            add(profile.zones, span.name, frame, count, span.end - span.begin, span.row)
    for _, kind, ns, name, value in events:
        frame = bisect.bisect_right(begins, ns) - 1
        if kind == "C" and frame >= 0 and name.endswith(": commands"):
            name = name.removesuffix(": commands")
            profile.commands.setdefault(name, [0] * count)[frame] += value
    profile.waits = find_waits(spans, rows, frames)
    add_engine(profile, rows, frames, begins)
    return profile


def add_engine(profile, rows, frames, begins):
    """What the thread that steps did in a frame beside its rows and without waiting."""
    left = [ns for _, ns in profile.frames]
    for span in rows:
        frame = bisect.bisect_right(begins, span.begin) - 1
        if frame >= 0 and span.row == frames[frame].row and span.begin < frames[frame].end:
            left[frame] -= span.end - span.begin - span.inner
    for (thread, _), of in profile.waits.items():
        left = [ns - (of[i] if thread == frames[i].row else 0) for i, ns in enumerate(left)]
    for frame, ns in enumerate(left):
        add(profile.rows, recording.ENGINE, frame, len(frames), max(0, ns), frames[frame].row)


# ---- what threads waited for

def merged(spans):
    """Disjoint [begin, end] of spans that are sorted by their begin."""
    out = []
    for begin, end in spans:
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        elif end > begin:
            out.append([begin, end])
    return out


def gaps(busy, begin, end):
    """What of [begin, end] is not in the sorted list `busy`."""
    at = max(0, bisect.bisect_right(busy, [begin]) - 1)
    while at < len(busy) and busy[at][0] < end:
        if busy[at][0] - begin > GAP_NS:
            yield begin, busy[at][0]
        begin = max(begin, busy[at][1])
        at += 1
    if end - begin > GAP_NS:
        yield begin, end


def reasons(others, begin, end):
    """(name, ns) of what the other threads ran in [begin, end]: at each moment what goes on longest; None: nothing."""
    active = sorted(((s.end, s.begin, row_name(s)) for s in others if s.end > begin and s.begin < end), reverse=True)
    free = [(begin, end)]
    for last, first, name in active:
        rest = []
        for a, b in free:
            x, y = max(a, first), min(b, last)
            if x >= y:
                rest.append((a, b))
                continue
            yield name, y - x
            rest += [part for part in ((a, x), (y, b)) if part[0] < part[1]]
        free = rest
    for a, b in free:
        yield None, b - a


def find_waits(spans, rows, frames):
    """{(thread, reason): [ns per frame]}: time in frames in which a thread that works for the world had nothing to do, by what the
    other threads ran then. The thread that steps waits only while another one runs something."""
    of_thread = collections.defaultdict(list)
    for span in spans:
        if span.is_row or (span.name not in WAITS and not is_structure(span.name) and span.parent is None):
            of_thread[span.row].append((span.begin, span.end))
        else:
            of_thread[span.row]  # a thread that did nothing else
    busy = {thread: merged(sorted(of)) for thread, of in of_thread.items() if thread != "counter"}
    ordered = sorted(rows, key=lambda s: s.begin)
    begins, longest = [s.begin for s in ordered], max((s.end - s.begin for s in rows), default=0)
    waits = collections.defaultdict(lambda: [0] * len(frames))
    for number, frame in enumerate(frames):
        for thread, of in busy.items():
            for begin, end in gaps(of, frame.begin, frame.end):
                first, last = bisect.bisect_left(begins, begin - longest), bisect.bisect_left(begins, end)
                for name, ns in reasons([s for s in ordered[first:last] if s.row != thread], begin, end):
                    if name is not None or thread != frame.row:
                        waits[thread, name or recording.ENGINE][number] += ns
    return dict(waits)


# ---- summaries

def save(profile, path):
    rows = {name: {**row, "threads": len(row["threads"])} for name, row in profile.rows.items()}
    zones = {name: {**row, "threads": len(row["threads"])} for name, row in profile.zones.items()}
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump({"weft_profile": 1, "frames": profile.frames, "rows": rows, "zones": zones, "commands": profile.commands,
                   "waits": [[*key, ns] for key, ns in profile.waits.items()], "lost": profile.lost}, f)
    os.replace(path + ".new", path)


def load(path):
    with open(path, encoding="utf-8") as f:
        saved = json.load(f)
    if not isinstance(saved, dict) or saved.get("weft_profile") != 1:
        raise recording.Refused(f"{path} is no summary of weft-perf trace --save")
    profile = Profile()
    profile.frames = [tuple(frame) for frame in saved["frames"]]
    profile.rows, profile.zones, profile.commands = saved["rows"], saved["zones"], saved["commands"]
    profile.waits = {(thread, reason): ns for thread, reason, ns in saved["waits"]}
    profile.lost = saved["lost"]
    return profile


def read(path):
    """A trace, what a program that died left of one, a summary, or a folder of weft-perf."""
    if os.path.isdir(path):
        path = os.path.join(path, "trace", "trace.pftrace")
    if not os.path.exists(path):
        raise recording.Refused(f"{path} does not exist: name a trace (.pftrace, .raw), a summary or the folder of a recording")
    if os.path.getsize(path) == 0 and os.path.exists(path + ".raw"):
        path += ".raw"  # a program that died leaves an empty file and the spool
    try:
        return load(path) if path.endswith(".json") else read_trace(path)
    except (AssertionError, KeyError, IndexError, ValueError, TypeError) as error:
        raise recording.Refused(f"{path} is no trace of weft (.pftrace, .raw) and no summary: {error}") from error


def range_of(text):
    """(first, last) of A:B, A:, :B or A."""
    first, colon, last = text.partition(":")
    try:
        begin = int(first) if first else 0
        end = int(last) if last else float("inf") if colon else begin
    except ValueError:
        begin, end = 1, 0
    if begin > end or not text.strip(":"):
        raise recording.Refused(f"--frames {text}: name frames as FIRST:LAST, such as 100:120")
    return begin, end


def cut(profile, first, last):
    """The frames of these numbers."""
    kept = [i for i, (number, _) in enumerate(profile.frames) if first <= number <= last]
    if not kept:
        has = f"{profile.frames[0][0]} to {profile.frames[-1][0]}"
        raise recording.Refused(f"the trace has the frames {has}: none of them is in --frames")
    out = Profile()
    out.frames, out.lost = [profile.frames[i] for i in kept], profile.lost
    for name in ("rows", "zones"):
        for key, row in getattr(profile, name).items():
            ns = [row["ns"][i] for i in kept]
            if any(n is not None for n in ns):
                getattr(out, name)[key] = {**row, "ns": ns, "calls": None}
    out.commands = {name: [of[i] for i in kept] for name, of in profile.commands.items()}
    out.waits = {key: [of[i] for i in kept] for key, of in profile.waits.items()}
    return out


def quantile(values, part):
    """Of a sorted list that is not empty."""
    return values[min(len(values) - 1, int(part * len(values)))]


def described(name, row, commands, frame_count):
    """The figures of a row. Percentiles are of the frames in which it ran."""
    ran = sorted(n for n in row["ns"] if n is not None)
    return {"row": name, "frames": len(ran), "calls": row["calls"], "mean_us": sum(ran) / frame_count / 1000,
            "p50_us": quantile(ran, .5) / 1000, "p95_us": quantile(ran, .95) / 1000, "p99_us": quantile(ran, .99) / 1000,
            "max_us": ran[-1] / 1000, "max_frame": None, "commands": sum(commands) if commands else 0}


def describe(profile):
    """Figures of all rows, those that take most first; zones behind them."""
    out = []
    for kind, table in (("row", profile.rows), ("zone", profile.zones)):
        rows = []
        for name, row in table.items():
            figures = described(name, row, profile.commands.get(name), len(profile.frames))
            worst = max((n, -i) for i, n in enumerate(row["ns"]) if n is not None)
            rows.append({"kind": kind, **figures, "max_frame": profile.frames[-worst[1]][0]})
        out += sorted(rows, key=lambda r: (-r["mean_us"], r["row"]))
    return out


def worst(profile, count):
    """[(number, ns, [(row, ns more than its median)])] of the longest frames."""
    medians = {name: quantile(sorted(n for n in row["ns"] if n is not None), .5) for name, row in profile.rows.items()}
    order = sorted(range(len(profile.frames)), key=lambda i: -profile.frames[i][1])[:count]
    out = []
    for i in order:
        more = [((row["ns"][i] or 0) - medians[name], name) for name, row in profile.rows.items()]
        out.append((*profile.frames[i], [(name, ns) for ns, name in sorted(more, reverse=True)[:3] if ns > 0]))
    return out


# ---- two runs

Run = collections.namedtuple("Run", "typical blocks")


def typical(values):
    """Of the frames of a run: the lower quartile of each tenth of it, sorted, and the middle of these. Others use the
    machine: they make some frames longer, none shorter. None: too few frames."""
    values = [v for v in values if v is not None]
    if len(values) < LEAST_FRAMES:
        return None
    size = len(values) / BLOCKS
    blocks = sorted(quantile(sorted(values[int(i * size):int((i + 1) * size)]), .25) for i in range(BLOCKS))
    return Run(blocks[BLOCKS // 2], blocks)


Change = collections.namedtuple("Change", "row old new ratio noise verdict")


def is_above(one, other, common, least_ns):
    """Whether all blocks but the SPOILT lie above those of the other, by more than a little, and by more than
    `common`, by which all rows are: not all feel it alike."""
    margin = max(1, common) * (1 + LEAST_CHANGE + abs(math.log(common)) / 2)
    return one.blocks[SPOILT] > other.blocks[-1 - SPOILT] * margin and one.typical - other.typical >= least_ns


def compare(old, new):
    """([Change], factor by which all rows changed): those that became slower first, by how much of a frame that is."""
    runs = {}
    for name in old.rows.keys() | new.rows.keys():
        runs[name] = [typical(p.rows[name]["ns"]) if name in p.rows else None for p in (old, new)]
    both = {name: of for name, of in runs.items() if all(of) and of[0].typical > 0 and of[1].typical > 0}
    ratios = sorted(b.typical / a.typical for a, b in both.values())
    common = ratios[len(ratios) // 2] if len(ratios) >= 5 else 1.0  # another machine, or one that is busier
    frames = [run.typical for run in (typical([ns for _, ns in p.frames]) for p in (old, new)) if run]
    least_ns = LEAST_SHARE * min(frames, default=0)
    out = []
    for name, (a, b) in runs.items():
        if name not in both:
            verdict = "only in the new one" if a is None and b else "only in the old one" if a and b is None else "too few frames"
            out.append(Change(name, a and a.typical, b and b.typical, None, None, verdict))
            continue
        noise = max((r.blocks[-1 - SPOILT] - r.blocks[SPOILT]) / 2 / r.typical for r in (a, b))
        verdict = "slower" if is_above(b, a, common, least_ns) else "faster" if is_above(a, b, 1 / common, least_ns) else ""
        out.append(Change(name, a.typical, b.typical, b.typical / a.typical, noise, verdict))
    order = {"slower": 0, "faster": 1, "only in the new one": 2, "only in the old one": 3, "": 4, "too few frames": 5}
    out.sort(key=lambda c: (order[c.verdict], -abs((c.new or 0) - (c.old or 0)), c.row))
    return out, common
