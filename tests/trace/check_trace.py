# SPDX-License-Identifier: MIT
"""Decodes the traces of trace_program and checks them: every span nests in its
worker's row, times never go back, every system has its spans, counters and losses are there; the
environment switches tracing on, the program can forbid it, and a bad name is an error.

usage: check_trace.py TRACE_PROGRAM
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True # the folder of the sources stays as it is
from perfetto import read_trace

PROGRAM = sys.argv[1]
SYSTEMS = {'move "quoted"', "slow \ufffd", "indices", "spawn"} # of "slow \xff": not UTF-8
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("failed: " + text)


def read(path):
    events, lost, mistakes = read_trace(path)
    for text in mistakes:
        check(False, text)
    return events, lost


def check_rows(label, events):
    """Nesting and time per row; returns the seen spans as name -> how often."""
    stacks, last, spans = {}, {}, {}
    for row, kind, ns, name, _ in events:
        check(ns >= last.get(row, 0), f"{label}: time goes back in {row}")
        last[row] = ns
        stack = stacks.setdefault(row, [])
        if kind == "B":
            stack.append(name)
            spans[name] = spans.get(name, 0) + 1
        elif kind == "E":
            check(stack, f"{label}: an end without a begin in {row}")
            begun = stack.pop() if stack else None
            check(name is None or name == begun, f"{label}: {name} ends {begun}")
    for row, stack in stacks.items():
        check(not stack, f"{label}: {stack} never end in {row}")
    return spans


def run(*arguments, environment=None, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})
    check(done.returncode == code, f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stderr


def check_complete(label, events, lost, workers, frames):
    spans = check_rows(label, events)
    check(lost == 0, f"{label}: {lost} events lost")
    for name in SYSTEMS:
        check(spans.get(name, 0) >= frames, f"{label}: {spans.get(name, 0)} spans of {name}")
    for name in ("frame", "playback"):
        check(spans.get(name) == frames, f"{label}: {spans.get(name)} spans of {name}")
    run = spans.get("stage", 0) + spans.get("segment", 0) # stage after stage, or as a graph
    check(run >= frames, f"{label}: {run} stages and segments")
    check(any(k == "i" and n == "sync point" for _, k, _, n, _ in events), f"{label}: no sync point")
    entities = [v for _, k, _, n, v in events if k == "C" and n == "entities"]
    check(entities == list(range(50001, 50001 + frames)), f"{label}: entities {entities[:5]}")
    rows = {row for row, *_ in events if row != "counter"}
    check(len(rows) <= workers and "worker 0 (owner)" in rows, f"{label}: rows {rows}")
    return len(events)


def check_slices(path):
    """What weft simulate reads: each of 50000 rows once per frame, in slices inside of stages."""
    with open(path) as f:
        lines = [line.split() for line in f]
    check(lines[0] == ["weft-slices", "1"] and lines[-1] == ["lost", "0"], "slices: frame of the file")
    depth, last, count = [], 0, {"frame": 0, "stage": 0, "slice": 0, "serial": 0}
    parents = {"frame": [], "stage": ["frame"], "slice": ["frame", "stage"],
               "serial": ["frame", "stage"]}
    for what, name, *numbers in lines[2:-1]:
        check(int(numbers[0]) >= last, "slices: time goes back")
        last = int(numbers[0])
        if what == "begin":
            check(depth == parents.get(name), f"slices: {name} inside of {depth}")
            depth.append(name)
            count[name] += 1
        else:
            check(depth and depth.pop() == name, f"slices: end of {name}")
    check(count["frame"] == count["serial"] == 5, f"slices: {count}") # serial: spawn
    check(count["slice"] >= 5 * 42, f"slices: only {count}")


def check_probes():
    """The static probes are in the program, if the compiler had sys/sdt.h."""
    if not glob.glob("/usr/include/**/sys/sdt.h", recursive=True) or not shutil.which("readelf"):
        print("probes: not checked (no sys/sdt.h or no readelf)")
        return
    done = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True)
    for probe in ("job_begin", "job_end", "steal", "park", "unpark", "wake", "span_begin", "system"):
        check(f"Name: {probe}\n" in done.stdout, f"no probe {probe}")


check_probes()
with tempfile.TemporaryDirectory() as folder:
    def at(name):
        return os.path.join(folder, name)
    for workers in (1, 2, 8):
        run(str(workers), "0", "20", at("a.pftrace"))
        check_complete(f"{workers} workers", *read(at("a.pftrace")), workers, 20)
    # more frames than the rings hold, drained in between
    run("2", "8192", "300", at("long.pftrace"))
    check_complete("long", *read(at("long.pftrace")), 2, 300)
    # rings that overflow: what is left still nests, and the loss is told
    run("2", "2", "50", at("full.pftrace"))
    events, lost = read(at("full.pftrace"))
    check(lost > 0, "full: nothing lost with rings of one event")
    check_rows("full", events)
    run("1", "0", "5", at("cost.slices"))
    check_slices(at("cost.slices"))
    # the environment: on without the program's help, unless it forbids it; never a failure
    check(run("2", "0", "3", environment={"WEFT_TRACE": at("env.pftrace")}) == "", "silent")
    check_complete("environment", *read(at("env.pftrace")), 2, 3)
    run("2", "0", "3", "-", environment={"WEFT_TRACE": at("forbidden.pftrace")})
    check(not os.path.exists(at("forbidden.pftrace")), "a forbidden trace was written")
    for bad in (at("none/x.pftrace"), at("x.txt"), at("x.json")):
        text = run("2", "0", "3", environment={"WEFT_TRACE": bad})
        check("no trace is written" in text, f"{bad}: said {text!r}")
        run("2", "0", "3", bad, code=1)
    check(not [n for n in os.listdir(folder) if n.endswith(".raw")], "a spool is left")
sys.exit(1 if failures else 0)
