# SPDX-License-Identifier: MIT
"""Decodes the traces of trace_program, also what tools/weft-trace-json makes of them, and checks them: every span nests in its
worker's row, times never go back, every system has its spans, counters and losses are there; the
environment switches tracing on, the program can forbid it, and a bad name is an error.

usage: check_trace.py TRACE_PROGRAM TOOLS
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True # the folder of the sources stays as it is
sys.path.insert(0, os.path.join(sys.argv[2], "profile"))
from perfetto import read_rows, read_trace

PROGRAM = sys.argv[1]
SYSTEMS = {'move "quoted"', "slow \u00e9", "indices", "spawn"}
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("failed: " + text)


def read_json(path):
    """As read_trace; a complete event becomes a begin and an end. Speedscope wants the sums of doubles to meet."""
    with open(path) as f:
        trace = json.load(f)
    names, events, spans = {}, [], {}
    for order, e in enumerate(trace["traceEvents"]):
        check(e["ph"] in "MXiC", f"json: phase {e['ph']}")
        check(e["ph"] == "M" or e["ph"] == "C" or "args" not in e, f"json: arguments in {e}")
        if e["ph"] == "M":
            if e["name"] == "thread_name":
                names[e["pid"], e["tid"]] = e["args"]["name"]
            check(e["name"] != "process_name" or e["args"]["name"] == "a.pftrace", f"json: {e}")
            continue
        row = names[e["pid"], e["tid"]] if e["ph"] != "C" else "counter"
        if e["ph"] == "X":
            end = e["ts"] + e["dur"]
            check(end * 64 == int(end * 64), f"json: {e} ends at no multiple of 1/64 us")
            spans.setdefault(row, []).append((e["ts"], -end, -order, e["name"]))
        else:
            events.append((row, e["ph"], e["ts"], e["name"], e.get("args", {}).get("value")))
    for row, of_row in spans.items():
        events += begins_and_ends(row, sorted(of_row))
    events.sort(key=lambda e: e[2]) # the order of what has one time stays
    return [(row, kind, round(us * 1000), *rest) for row, kind, us, *rest in events], trace["otherData"]["dropped"], []


def begins_and_ends(row, spans):
    """The events of a row. A span without length may stand at the end of another: it follows that one."""
    events, open_spans = [], []
    for begin, end, _, name in spans:
        while open_spans and open_spans[-1][0] <= begin:
            events.append((row, "E", *open_spans.pop(), None))
        events.append((row, "B", begin, name, None))
        open_spans.append((-end, name))
    while open_spans:
        events.append((row, "E", *open_spans.pop(), None))
    return events


def read(path):
    events, lost, mistakes = read_json(path) if path.endswith(".json") else read_trace(path)
    for text in mistakes:
        check(False, text)
    return events, lost


def convert(source, target):
    subprocess.run([os.path.join(sys.argv[2], "weft-trace-json"), source, target], check=True)


def check_shares(label, events):
    """In every "fused slices" the systems follow each other without a gap."""
    stacks, fused = {}, 0
    for row, kind, ns, name, _ in events:
        stack = stacks.setdefault(row, [])
        if kind == "B":
            stack.append([name, ns, 0])
        elif kind == "E":
            begun, since, inside = stack.pop()
            if stack:
                stack[-1][2] += ns - since
            if begun == "fused slices":
                fused += 1
                check(abs(ns - since - inside) <= 40 * 4, f"{label}: {ns - since} ns, {inside} of systems")
    check(fused > 0, f"{label}: no fused slices")


def frames_of(events):
    return [value for _, kind, _, name, value in events if kind == "B" and name == "frame"]


def check_nothing(at):
    """Nothing to convert, or something else, is told in a sentence."""
    open(at("none"), "wb").close()
    for tool, arguments, text in (("weft-trace-json", [at("none"), at("x.json")], "has no event"),
                                  ("weft-trace-merge", ["-o", at("x"), at("none")], "is no .pftrace"),
                                  ("weft-trace-merge", ["-o", at("x"), at("absent")], "cannot read"),
                                  ("weft-schedule-dot", [at("none")], "is not what weft_schedule_json writes"),
                                  ("weft-schedule-dot", [at("absent")], "cannot read")):
        done = subprocess.run([os.path.join(sys.argv[2], tool), *arguments], capture_output=True, text=True)
        check(done.returncode == 1 and text in done.stderr and len(done.stderr.splitlines()) == 1, f"{tool} {arguments}: {done.stderr}")


def check_windows(at):
    """What of a run is kept."""
    def trace(name, frames, **variables):
        text = run("2", "8192", str(frames), environment={"WEFT_TRACE": at(name), **variables})
        return read(at(name))[0], text
    events, text = trace("w.pftrace", 20, WEFT_TRACE_FRAMES="5-7")
    check(frames_of(events) == [5, 6, 7] and text == "", f"frames 5-7: {frames_of(events)} {text}")
    check_rows("frames 5-7", events)
    events, _ = trace("w.pftrace", 20, WEFT_TRACE_FRAMES="18-")
    check(frames_of(events) == [18, 19, 20], f"frames 18-: {frames_of(events)}")
    events, text = trace("w.pftrace", 20, WEFT_TRACE_FRAMES="30")
    check(not events and "frame 30 (WEFT_TRACE_FRAMES) was not reached" in text, f"frame 30: {text}")
    for _ in range(10): # a busy machine may stop the program for longer
        events, text = trace("w.pftrace", 300, WEFT_TRACE_LAST="0.02")
        if frames_of(events)[-1:] == [300]:
            break
    times = [e[2] for e in events] or [0]
    check(max(times) - min(times) <= 2e7 and frames_of(events)[-1:] == [300] and text == "", f"last: {text}")
    check_rows("last", events)
    events, text = trace("w.pftrace", 3000, WEFT_TRACE_MB="1")
    kept = frames_of(events)
    check(kept == list(range(kept[0], 3001)) and kept[0] > 1, f"1 MB: {kept[:1]} to {kept[-1:]}")
    check("has the last events only" in text and "WEFT_TRACE_MB" in text, f"1 MB: {text}")
    check_rows("1 MB", events)
    events, text = trace("w.pftrace", 3000, WEFT_TRACE_SHARE="5")
    kept = frames_of(events)
    check(kept[:1] == [1] and kept == sorted(set(kept)) and 1 < len(kept) < 3000 and text == "", f"share: {len(kept)} frames, {text}")
    check_rows("share", events)
    for variable, value in (("FRAMES", "7-5"), ("FRAMES", "x"), ("LAST", "-1"), ("MB", "0"), ("MB", "1x"),
                            ("SHARE", "0"), ("SHARE", "101"), ("SHARE", "9%")):
        events, text = trace("w.pftrace", 3, **{f"WEFT_TRACE_{variable}": value})
        check(f"WEFT_TRACE_{variable} is not" in text and len(frames_of(events)) == 3, f"{variable}: {text}")


def check_rows(label, events):
    """Nesting and time per row; returns the seen spans as name -> how often."""
    stacks, last, spans = {}, {}, {}
    for row, kind, ns, name, _ in events:
        check(ns >= last.get(row, 0), f"{label}: time goes back in {row}")
        last[row] = ns
        stack = stacks.setdefault(row, [])
        if kind == "B":
            # sums by name are right: what lies around a system has another name
            check(label == "full" or name not in stack or name not in SYSTEMS, f"{label}: {name} in {name}")
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


def check_complete(label, events, lost, workers, frames, stepper="worker 0 (owner)"):
    spans = check_rows(label, events)
    check(lost == 0, f"{label}: {lost} events lost")
    for name in SYSTEMS:
        check(spans.get(name, 0) >= frames, f"{label}: {spans.get(name, 0)} spans of {name}")
    plots = [v for _, k, _, n, v in events if k == "C" and n == "plot"]
    check(plots == [7] * frames, f"{label}: {len(plots)} points of a plot")
    for name in ("frame", "playback", "zone"):
        check(spans.get(name) == frames, f"{label}: {spans.get(name)} spans of {name}")
    run = sum(n for name, n in spans.items() if name.startswith("stage ") or name == "segment")
    check(run >= frames, f"{label}: {run} stages and segments")
    check(any(k == "i" and n == "sync point" for _, k, _, n, _ in events), f"{label}: no sync point")
    entities = [v for _, k, _, n, v in events if k == "C" and n == "entities"]
    check(entities == list(range(50001, 50001 + frames)), f"{label}: entities {entities[:5]}")
    rows = {row for row, *_ in events if row != "counter"}
    check(len(rows) <= workers and stepper in rows, f"{label}: rows {rows}")
    check({row for row, *_, name, _ in events if name == "frame"} == {stepper}, f"{label}: frames elsewhere")
    return len(events)


def check_deaths(at):
    """What a program leaves that does not destroy its world: all that it did, up to the moment."""
    died = {f"{name}_OPTIONS": os.environ.get(f"{name}_OPTIONS", "") + ":detect_leaks=0:handle_segv=0" # as without a sanitizer
            for name in ("ASAN", "TSAN", "UBSAN")}
    def left(end, code, frames, workers="2", stepper=(), capacity="0", **variables):
        run(workers, capacity, str(frames), at("died.pftrace"), *stepper, code=code, environment={**died, "TRACE_ENDS": end, **variables})
        return read(at("died.pftrace.raw"))[0]
    for end, code in (("return", 0), ("exit", 0), ("_exit", 0), ("abort", -6), ("segv", -11), ("kill", -9), ("int", -2)):
        for workers, frames, last in (("2", 30, ""), ("1", 30, "100"), ("2", 1, "")):
            events = left(end, code, frames, workers, WEFT_TRACE_LAST=last)
            spans = check_rows(end, events)
            check(frames_of(events) == list(range(1, frames + 1)), f"{end}: frames {frames_of(events)}")
            for name in SYSTEMS | {"zone"}:
                check(spans.get(name, 0) >= frames, f"{end}: {spans.get(name, 0)} spans of {name}")
            check(not {"?", "span", "mark", "counter"} & {name for _, _, _, name, _ in events}, f"{end}: events without a name")
            check_shares(end, [e for e in events if e[2] < max(e[2] for e in events if e[3] == "frame")] if frames > 1 else events)
            convert(at("died.pftrace.raw"), at("died.json"))
            with open(at("died.json")) as f:
                told = {e["name"] for e in json.load(f)["traceEvents"] if e["ph"] == "X"}
            check(SYSTEMS <= told, f"{end}: {told}")
    plots = [v for _, k, _, n, v in left("kill", -9, 300, capacity="4096") if k == "C" and n == "plot"]  # rings that went round
    check(plots == [7] * 300, f"kill: {len(plots)} points of a plot")
    events = left("kill", -9, 40, stepper=("lo",))
    check(frames_of(events) == list(range(1, 41)), f"guest: frames {frames_of(events)}")
    for window, frames in (("30-", range(30, 51)), ("10-20", range(10, 21)), ("50", [50]), ("60", [])):
        events = left("kill", -9, 50, WEFT_TRACE_FRAMES=window)
        check(frames_of(events) == list(frames) and bool(events) == bool(frames), f"{window}: frames {frames_of(events)}")
    events = left("kill", -9, 600, WEFT_TRACE_MB="1")
    check(frames_of(events)[-1:] == [600] and 1 < frames_of(events)[0] and frames_of(events) == sorted(set(frames_of(events))), "kill, 1 MB")
    events = left("forked", -9, 3)
    seen = [name for _, _, _, name, _ in events]
    check("of the parent" in seen and "of the child" not in seen, "what a forked child records is in the parent's trace")
    run("2", "0", "50", at("died.pftrace")) # one that ends well leaves nothing of it
    check(not glob.glob(at("died.pftrace.*")), f"left: {glob.glob(at('died.pftrace.*'))}")


def check_many_shares(at):
    """A fused stage of many systems has a share of each."""
    run("1", "65536", "2", environment={"WEFT_TRACE": at("many.pftrace"), "TRACE_TURNS": "600"})
    events, _ = read(at("many.pftrace"))
    turns = {name for _, kind, _, name, _ in events if kind == "B" and name.startswith("turn ")}
    check(turns == {f"turn {i}" for i in range(600)}, f"many shares: of {len(turns)} systems, not of 600")
    check_shares("many", events)


def check_work(at):
    """What the engine does is a span each, and nothing of a frame is in no span."""
    sys.path.insert(0, os.path.join(sys.argv[2], "profile"))
    import spans
    for variables, rows in (({}, {"playback"}), ({"WEFT_STATE_LOG": at("log")}, {"playback", "hashing"})):
        run("1", "0", "20", environment={"WEFT_TRACE": at("work.pftrace"), **variables})
        events, _ = read(at("work.pftrace"))
        seen = check_rows("work", events)
        found = {name for name in ("playback", "relations", "observers", "hashing") if seen.get(name)}
        check(found == rows, f"work: {found}, not {rows}")
        check_shares("work", events)
        whole = inner = 0
        for of_row in spans.read_rows(at("work.pftrace")).values():
            for path, us in spans.self_times(of_row):
                whole += us
                inner += us if path[-1] in rows | SYSTEMS | {"zone"} else 0
        check(inner >= 0.6 * whole, f"work: {inner:.0f} of {whole:.0f} us are in rows, {variables}")  # 0.95 without a sanitizer
        by_row = {}
        for of_row in spans.read_rows(at("work.pftrace")).values():
            for path, us in spans.self_times(of_row):
                name = spans.place(path, SYSTEMS)[0]
                by_row[name] = by_row.get(name, 0) + us
        named = {f"({name})" for name in rows}
        check(all(by_row.get(name, 0) > 0 for name in named), f"work: {by_row}")
        check(not named ^ (set(by_row) - SYSTEMS - {"(engine)"}), f"work: rows {set(by_row)}")


def check_variables(at):
    """Other variables of the environment that every program understands."""
    def rows(**variables):
        text = run("2", "0", "3", environment={"WEFT_TRACE": at("v.pftrace"), **variables})
        return read_rows(at("v.pftrace")), text
    check(rows(WEFT_WORKERS="1") == (["worker 0 (owner)"], ""), "one worker was asked for")
    check(rows(WEFT_WORKERS="64") == (["worker 0 (owner)", "worker 1"], ""), "64 workers")
    for bad in ("0", "257", "x", "1x"):
        check(f"WEFT_WORKERS={bad} is not used" in rows(WEFT_WORKERS=bad)[1], f"{bad} workers")
    os.mkdir(at("lists"))
    check(rows(WEFT_SYSTEMS=at("lists"))[1] == "", "the list of systems is not silent")
    with open(glob.glob(at("lists/systems-*-*"))[0], "rb") as f:
        lines = [line.split(b" ", 3) for line in f.read().splitlines()]
    check({name for *_, name in lines} == {name.encode(errors="surrogateescape") for name in
                                           ('move "quoted"', "slow \u00e9", "indices", "spawn")}, f"{lines}")
    check(len({address for _, address, *_ in lines}) == 4, f"addresses {lines}")
    text = rows(WEFT_SYSTEMS=at("none"))[1]
    check("the list of systems is incomplete" in text and "No such file" in text, f"no folder: {text}")


def check_slices(path):
    """What weft simulate reads: each of 50000 rows once per frame, in slices inside of stages."""
    with open(path, errors="replace") as f:
        lines = [line.split() for line in f]
    titles = [line for line in lines if line[0] == "title"]
    check(["title", "0", "indices"] in titles or any("move" in " ".join(t) for t in titles), f"titles {titles[:3]}")
    lines = [line for line in lines if line[0] not in ("title", "task", "edge")]
    check(lines[0] == ["weft-slices", "2"] and lines[-1] == ["lost", "0"], "slices: frame of the file")
    depth, last, count = [], 0, dict.fromkeys(("frame", "graph", "stage", "task", "slice", "serial"), 0)
    in_stage = (["frame", "stage"], ["frame", "stage", "task"])
    parents = {"frame": ([],), "graph": (["frame"],), "stage": (["frame"],), "task": (["frame", "stage"],),
               "slice": in_stage, "serial": in_stage}
    for what, name, *numbers in lines[2:-1]:
        check(int(numbers[0]) >= last, "slices: time goes back")
        last = int(numbers[0])
        if what == "begin":
            check(depth in parents.get(name, ()), f"slices: {name} inside of {depth}")
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
    for probe in ("job_begin", "job_end", "steal", "park", "unpark", "wake", "span_begin", "system", "piece_begin"):
        check(f"Name: {probe}\n" in done.stdout, f"no probe {probe}")


check_probes()
with tempfile.TemporaryDirectory() as folder:
    def at(name):
        return os.path.join(folder, name)
    for workers in (1, 2, 8):
        run(str(workers), "0", "20", at("a.pftrace"))
        check_complete(f"{workers} workers", *read(at("a.pftrace")), workers, 20)
        convert(at("a.pftrace"), at("a.json"))
        check_complete(f"{workers} workers, json", *read(at("a.json")), workers, 20)
        for name in ("a.pftrace", "a.json"):
            check_shares(f"{workers} workers, {name}", read(at(name))[0])
    # more frames than the rings hold, drained in between
    run("2", "8192", "300", at("long.pftrace"))
    check_complete("long", *read(at("long.pftrace")), 2, 300)
    # a thread of the host steps the world: a row of its own, by its name, which need not be UTF-8
    for name in ("a.pftrace", "a.json"):
        if name == "a.json":
            convert(at("a.pftrace"), at(name))
        else:
            run("2", "0", "40", at(name), "lo\"\udcffder") # the byte 0xff
        check_complete(f"guest, {name}", *read(at(name)), 3, 40, "guest 0 (lo\"\ufffdder)")
    # rings that overflow: what is left still nests, and the loss is told
    run("2", "2", "50", at("full.pftrace"))
    events, lost = read(at("full.pftrace"))
    check(lost > 0, "full: nothing lost with rings of one event")
    check_rows("full", events)
    check_windows(at)
    check_deaths(at)
    check_variables(at)
    check_work(at)
    check_many_shares(at)
    run("2", "0", "20", at("a.pftrace"))
    subprocess.run([os.path.join(sys.argv[2], "weft-trace-json"), "--frames", "5:6", at("a.pftrace"), at("a.json")], check=True)
    spans = check_rows("cut", read(at("a.json"))[0])
    check(spans.get("frame") == spans.get("playback") == 2, f"cut: {spans}")
    done = subprocess.run([os.path.join(sys.argv[2], "weft-trace-json"), "--frames", "99", at("a.pftrace"), at("a.json")], capture_output=True)
    check(done.returncode != 0 and b"no frame" in done.stderr, "cut: frame 99")
    check_nothing(at)
    for workers in "12": # the owner alone runs systems, however many there are
        run(workers, "0", "5", at("cost.slices"))
        check_slices(at("cost.slices"))
    # the environment: on without the program's help, unless it forbids it; never a failure
    check(run("2", "0", "3", environment={"WEFT_TRACE": at("env.pftrace")}) == "", "silent")
    check_complete("environment", *read(at("env.pftrace")), 2, 3)
    run("2", "0", "3", "-", environment={"WEFT_TRACE": at("forbidden.pftrace")})
    check(not os.path.exists(at("forbidden.pftrace")), "a forbidden trace was written")
    for bad in (at("none/x.pftrace"), at("x.txt"), at("x.jsonl")):
        text = run("2", "0", "3", environment={"WEFT_TRACE": bad})
        check("no trace is written" in text, f"{bad}: said {text!r}")
        run("2", "0", "3", bad, code=1)
    check(not [n for n in os.listdir(folder) if ".raw" in n], "a spool is left")
sys.exit(1 if failures else 0)
