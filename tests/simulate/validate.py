# SPDX-License-Identifier: MIT
"""Compares simulated with real frames of the main job on 1 and 2 workers. Not part of ctest: the
real times need a quiet machine. Takes for each frame the shortest of RUNS runs on both sides.

usage: validate.py WEFT [RUNS] [OPTIONS of weft screen ...]
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools", "profile"))
sys.dont_write_bytecode = True # the folder of the sources stays as it is
from perfetto import read_trace

WEFT = sys.argv[1]
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SCREEN = [WEFT, "screen", *(sys.argv[3:] or ["--hours", "6"])]


def screen(workers, trace, folder):
    subprocess.run([*SCREEN, "--workers", str(workers), "--out", folder], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "WEFT_TRACE": trace})


def real_frames(path):
    """Length of each frame in microseconds."""
    frames = []
    open_spans = [] # of the owner: ends carry no name
    for row, kind, ns, name, _ in read_trace(path)[0]:
        if row != "worker 0 (owner)" or kind not in "BE":
            continue
        if kind == "B":
            open_spans.append((name, ns))
            continue
        begun_name, begun = open_spans.pop()
        if begun_name == "frame":
            frames.append((ns - begun) / 1000)
    return frames


def recorded_frames(path):
    """(length, lines with times from the frame's begin, tasks and edges as they are) of each frame."""
    frames, lines, begun = [], [], 0
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] in ("task", "edge", "title"):
                lines.append(line)
            if words[0] not in ("begin", "end"):
                continue
            what, name, ns, value = words
            if (what, name) == ("begin", "frame"):
                begun, lines = int(ns), []
            lines.append((what, name, int(ns) - begun, value))
            if (what, name) == ("end", "frame"):
                frames.append((int(ns) - begun, lines))
    return frames


def write_recording(path, frames):
    offset = 0
    with open(path, "w") as f:
        f.write("weft-slices 2\nworkers 1\n")
        for length, lines in frames:
            f.writelines(line if isinstance(line, str) else "%s %s %d %s\n" % (*line[:2], offset + line[2], line[3])
                         for line in lines)
            offset += length
        f.write("lost 0\n")


with tempfile.TemporaryDirectory() as folder:
    trace, slices = os.path.join(folder, "t.pftrace"), os.path.join(folder, "t.slices")
    best, real = None, {}
    for run in range(RUNS):
        screen(1, slices, folder)
        frames = recorded_frames(slices)
        best = [min(a, b, key=lambda x: x[0]) for a, b in zip(best or frames, frames)]
        for workers in (1, 2):
            screen(workers, trace, folder)
            frames = real_frames(trace)
            real[workers] = [min(a, b) for a, b in zip(real.get(workers, frames), frames)]
    write_recording(slices, best)
    lines = subprocess.run([WEFT, "simulate", slices, "--as-it-is", "--workers", "1,2", "--json"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for row in map(json.loads, lines):
        mean = sum(real[row["workers"]]) / len(real[row["workers"]])
        print(f"{row['workers']} workers: real {mean:.1f} us, simulated {row['frame_us']:.1f} us, "
              f"difference {100 * (row['frame_us'] / mean - 1):+.1f} %")
