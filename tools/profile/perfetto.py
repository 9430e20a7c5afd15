# SPDX-License-Identifier: MIT
"""Reads a trace of weft (jobs/src/trace/trace_file.c): a file in Perfetto's TrackEvent format, or what a program that
died left of one, FILE.raw."""
import os
import struct


def fields(data):
    """(number, value) of every field of a protobuf message."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return value, at
    at = 0
    while at < len(data):
        tag, at = varint(at)
        if tag & 7 == 0:
            value, at = varint(at)
        elif tag & 7 == 2:
            count, at = varint(at)
            value, at = data[at:at + count], at + count
            assert len(value) == count, "a field runs past its message"
        else:
            raise AssertionError(f"wire type {tag & 7}")
        yield tag >> 3, value


def read_rows(path):
    """The names of the rows of threads, in the order of the file."""
    if path.endswith(".raw"):
        return list(dict.fromkeys(row for row, *_ in read_spool(path)[0] if row != "counter"))
    with open(path, "rb") as f:
        packets = [dict(fields(value)) for number, value in fields(f.read()) if number == 1]
    tracks = [dict(fields(packet[60])) for packet in packets if 60 in packet]
    return [track[2].decode() for track in tracks if 4 in track and 2 in track]


# ---- what a program left that died: FILE.raw, FILE.old.raw, FILE.names.raw (trace_file.c), FILE.rings.raw (trace.c) ----

STEAL, SPAN, COUNTER, SHARE = 3, 10, 12, 13
BEGINS, ENDS = (1, 4, 6, 10), (2, 5, 7, 11)  # an end follows its begin
FALLBACKS = ["?", "job", "job", "steal", "parked", "parked", "wait", "wait", "mark", "wake", "span", "span", "counter", "share"]


def read_names(path):
    """({"workers": N, ...}, {number: name}) of FILE.names.raw; a name that was cut is left out."""
    with open(path, "rb") as f:
        head, _, text = f.read().partition(b"\n")
    words = head.decode().split()
    assert words[:2] == ["weft-names", "2"], "its .names are none of a spool"
    names, at = {}, 0
    while at < len(text):
        number, _, rest = text[at:].partition(b" ")
        count, _, rest = rest.partition(b" ")
        if not count.isdigit() or len(rest) < int(count):
            break
        names[int(number)] = rest[:int(count)].decode(errors="replace")
        at += len(number) + len(count) + 2 + int(count) + 1
    return dict(zip(words[2::2], map(int, words[3::2]))), names


def read_ring(data):
    """The events that a ring still has, taken or not, as read_records. The place that comes next may be half written."""
    (tail, capacity), events = struct.unpack_from("<II", data, 64), []
    texts = (128 + capacity * 24 + 63) // 64 * 64
    for at in range(max(tail - capacity + 1, 0), tail):
        ns, name, *rest = struct.unpack_from("<QQIHH", data, 72 + at % capacity * 24)
        text = data[texts + name:data.index(0, texts + name)].decode(errors="replace") if 0 < name < 1 << 15 else None
        events.append((ns, text, *rest))
    return events


def read_rings(path, head):
    """The events of every row's ring."""
    with open(path, "rb") as f:
        f.seek(0, os.SEEK_END)
        for at in range(0, f.tell(), head["ring"]):
            f.seek(at)
            data = f.read(head["ring"])
            if len(data) > 128 and struct.unpack_from("<II", data, 64)[0] != 0:
                yield read_ring(data)


def younger(ring, records):
    """What of a ring its row's records do not have."""
    last = max((r[0] for r in records), default=0)
    at_last = sum(r[0] == last for r in records)  # as many of the ring's have this time and are there already
    later = [r for r in ring if r[0] >= last]
    return later[min(at_last, sum(r[0] == last for r in later)):]


def in_window(records, rings, head):
    """What of rings is in WEFT_TRACE_FRAMES; the records are."""
    frames = [r for ring in rings for r in ring if r[1] == "frame" and r[3] == SPAN]
    begin = 0 if records or head["first"] == 0 else min(
        (r[0] for r in frames if head["first"] <= r[2] <= head["end"]), default=1 << 64)
    end = min((r[0] for r in frames if r[2] > head["end"] and r[0] > begin), default=1 << 64)
    return [[r for r in ring if begin <= r[0] < end] for ring in rings]


def read_records(stem, head, names):
    """The records that are wanted, older ones first: (ns, name, value, kind, row)."""
    parts = []
    for path in (stem + ".raw", stem + ".old.raw"):
        if os.path.exists(path):
            with open(path, "rb") as f:
                data = f.read()
            part = [(ns, names.get(number), *rest[:3])
                    for ns, number, *rest in struct.iter_unpack("<QIIHHI", data[:len(data) // 24 * 24])]
            parts.append([r for r in part if r[0] >= head["begin"]])  # of this run, not of one before
    records = [record for part in sorted(parts, key=lambda p: p[:1]) for record in part]
    rings = list(read_rings(stem + ".rings.raw", head)) if os.path.exists(stem + ".rings.raw") else []
    by_row = {}
    for record in records:
        by_row.setdefault(record[4], []).append(record)
    for ring in in_window(records, rings, head):
        records += younger(ring, by_row.get(ring[0][4], ())) if ring else ()
    newest = max((r[0] for r in records), default=0)
    return [r for r in records if not head["last"] or r[0] >= newest - head["last"]]


def draw_shares(events, row, span, shares, end):
    """A span for each system of a fused stage, by its part of the time."""
    whole, passed = sum(ns for _, ns in shares), 0
    for name, ns in shares if whole else []:
        begin, passed = span[2] + (end - span[2]) * passed // whole, passed + ns
        events.append((row, "B", begin, name, None))
        events.append((row, "E", span[2] + (end - span[2]) * passed // whole, None, None))


def read_spool(path, told=None):
    """As read_trace."""
    stem = path[:-len(".raw")].removesuffix(".old")
    head, names = read_names(stem + ".names.raw")
    events, stacks, last = [], {}, {}

    def end_span(row, end):
        span = stacks[row].pop()
        if span[3]:
            draw_shares(events, row, span, span[3], end)
        events.append((row, "E", end, None, None))

    for ns, told_name, value, kind, thread in read_records(stem, head, names):
        row = f"worker {thread}" if thread < head["workers"] else f"guest {thread - head['workers']}"
        row += " (owner)" if thread == 0 else ""
        kind = kind if kind < len(FALLBACKS) else 0
        name = told_name or FALLBACKS[kind] if kind != STEAL else "steal"
        stack, last[row] = stacks.setdefault(row, []), ns
        if kind in BEGINS:
            if stack:
                stack[-1][3] = []  # shares are of a span that has no other in it
            stack.append([kind, told_name, ns, []])
            if told is not None and kind == SPAN:
                told.add(name)
            events.append((row, "B", ns, name, None if value == 0xffffffff else value))
        elif kind in ENDS:
            depth = next((i for i in range(len(stack), 0, -1) if stack[i - 1][:2] == [kind - 1, told_name]), None)
            while depth is not None and len(stack) >= depth:
                end_span(row, ns)
        elif kind == SHARE:
            if stack:
                stack[-1][3].append((name, value))
                if told is not None:
                    told.add(name)
        elif kind == COUNTER:
            events.append(("counter", "C", ns, name, value))
        else:
            events.append((row, "i", ns, name, None if value == 0xffffffff else value))
    for row, stack in stacks.items():
        while stack:
            end_span(row, last[row])
    events = [e for _, e in sorted(enumerate(events), key=lambda e: (e[1][2], e[0]))]
    return events, 0, []


def within(events, first, last):
    """What of the events of read_trace happened in the frames of these numbers; spans that reach over are cut."""
    depth, begin, end, ends = {}, None, None, {}
    for row, kind, ns, name, value in events:
        if kind == "B":
            depth[row] = depth.get(row, 0) + 1
            if name == "frame" and value is not None and first <= value <= last:
                begin, ends[row] = ns if begin is None else begin, depth[row]
        elif kind == "E":
            if ends.get(row) == depth[row]:
                end = max(ns, end or 0)
                del ends[row]
            depth[row] -= 1
    out, opened = [], {}
    for event in events if end is not None else ():
        row, kind, ns = event[:3]
        if not begin <= ns <= end or (kind == "E" and not opened.get(row)):
            continue
        opened[row] = opened.get(row, 0) + (kind == "B") - (kind == "E")
        out.append(event)
    return out + [(row, "E", end, None, None) for row, count in opened.items() for _ in range(count)]


def read_trace(path, told=None):
    """Events as (row, kind, time in ns, name, value), the number of events lost, and what is wrong. `told`: a set that
    gets the names of spans that are no jobs."""
    if path.endswith(".raw"):
        return read_spool(path, told)
    mistakes = []

    def check(condition, text):
        if not condition:
            mistakes.append(text)

    with open(path, "rb") as f:
        packets = [value for number, value in fields(f.read()) if number == 1]
    names, tracks, events, lost, clocks = {}, {}, [], None, 0
    for packet in packets:
        values = dict(fields(packet))
        check(values.get(10) == 1, "a packet without its sequence")
        if 6 in values:
            clocks += 1
        if 12 in values:
            entry = dict(fields(dict(fields(values[12]))[2]))
            names[entry[1]] = entry[2].decode()
        if 60 in values:
            track = dict(fields(values[60]))
            process, thread = dict(fields(track.get(3, b""))), dict(fields(track.get(4, b"")))
            tracks[track[1]] = (process.get(6) or track[2]).decode()
            check(3 in track or 8 in track or thread.get(2, 0) > 0, "a row without its thread")
        if 11 in values:
            event = dict(fields(values[11]))
            check(event[11] in tracks, "an event on an unknown track")
            check(values.get(58) == 3, "an event without CLOCK_MONOTONIC")
            kind = "BEiC"[event[9] - 1]
            if kind == "C" and tracks[event[11]] == "events dropped":
                lost = event[30]
                continue
            name = tracks[event[11]] if kind == "C" else names.get(event.get(10))
            check(kind == "E" or name, "an event without a name")
            if told is not None and kind == "B" and event.get(22) == b"ecs":
                told.add(name)
            value = event.get(30)
            if 4 in event:
                value = dict(fields(event[4]))[3]
            events.append((tracks[event[11]] if kind != "C" else "counter", kind, values[8], name,
                           value))
    events = [e for _, e in sorted(enumerate(events), key=lambda e: (e[1][2], e[0]))]
    check(clocks == 1, "one clock snapshot")
    check(lost is not None, "no word of what was lost")
    return events, lost, mistakes
