# SPDX-License-Identifier: MIT
"""Reads a trace in Perfetto's TrackEvent format as weft writes it (jobs/src/trace/trace_file.c)."""


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
    with open(path, "rb") as f:
        packets = [dict(fields(value)) for number, value in fields(f.read()) if number == 1]
    tracks = [dict(fields(packet[60])) for packet in packets if 60 in packet]
    return [track[2].decode() for track in tracks if 4 in track and 2 in track]


def read_trace(path):
    """Events as (row, kind, time in ns, name, value), the number of events lost, and what is wrong."""
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
            value = event.get(30)
            if 4 in event:
                value = dict(fields(event[4]))[3]
            events.append((tracks[event[11]] if kind != "C" else "counter", kind, values[8], name,
                           value))
    events = [e for _, e in sorted(enumerate(events), key=lambda e: (e[1][2], e[0]))]
    check(clocks == 1, "one clock snapshot")
    check(lost is not None, "no word of what was lost")
    return events, lost, mistakes
