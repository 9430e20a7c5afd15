# SPDX-License-Identifier: MIT
"""Times by system out of the traces that a program wrote into a folder (WEFT_TRACE=FOLDER/trace.pftrace): no perf,
no rights and no symbols are needed, but there are no functions below systems. Wall time, not processor time."""
import glob
import os

import perfetto
import recording

PARKED = "parked"
WORKS = recording.WORKS


def environment(folder):
    """Makes a program write its lists of systems and a trace into the folder."""
    return {"WEFT_SYSTEMS": folder, "WEFT_TRACE": os.path.join(folder, "trace.pftrace")}


def read_rows(path):
    """{row: [(begin, end, name)]} in us, outer spans before inner ones."""
    rows, stacks = {}, {}
    for row, kind, ns, name, _ in perfetto.read_trace(path)[0]:
        if kind == "B":
            stacks.setdefault(row, []).append((ns / 1000, name))
        elif kind == "E":
            begin, name = stacks[row].pop()
            rows.setdefault(row, []).append((begin, ns / 1000, name))
    for spans in rows.values():
        spans.sort(key=lambda s: (s[0], -s[1]))
    return rows


def self_times(spans):
    """(path of names from the outermost, us that lie in no inner span) of every span."""
    stack = []  # [end, us in inner spans, begin, path]
    for begin, end, name in [*spans, (float("inf"), float("inf"), "")]:
        while stack and stack[-1][0] <= begin:
            last, inner, first, path = stack.pop()
            yield path, last - first - inner
            if stack:
                stack[-1][1] += last - first
        stack.append([end, 0.0, begin, ((*stack[-1][3], name) if stack else (name,))])


def place(path, systems):
    """(system, what stands below it): the innermost system of a path of spans, or what else the engine does there."""
    for i in range(len(path) - 1, -1, -1):
        if path[i] == PARKED:
            return recording.WAIT, ()
        if path[i] in systems:
            return path[i], path[i + 1:]
        if path[i] in WORKS:
            return WORKS[path[i]], path[i + 1:]
    return recording.ENGINE, path


def read(folder):
    """[(system, row, names below it, us)] of all traces in the folder; Refused when there is none."""
    systems = {s.name.partition(" [world ")[0] for s in recording.read_systems(folder).values()}
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "trace*.pftrace")))
    # a program that died leaves an empty file and the spool
    paths = [p if os.path.getsize(p) else p + ".raw" for p in paths if os.path.getsize(p) or os.path.exists(p + ".names.raw")]
    found = []
    for path in paths:
        for row, spans in read_rows(path).items():
            for names, us in self_times(spans):
                system, below = place(names, systems)
                found.append((system, row, below, us))
    if not found:
        raise recording.Refused("the program wrote no trace: it makes no pool of weft, or "
                                "forbids traces (trace_file = \"\")")
    return found
