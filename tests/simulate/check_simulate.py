# SPDX-License-Identifier: MIT
"""Checks weft simulate: the same result twice; Brent's bounds for every number of workers (never
faster than work / P, nor than the longest slice chain); no steal and no loss on one worker; the
memory bus limits; every line is labelled simulated; broken recordings are refused with their line;
graphs of tasks run as the scheduler runs them: order and length of a frame of fixed costs.

usage: check_simulate.py WEFT TRACE_PROGRAM
"""
import json
import os
import random
import subprocess
import sys
import tempfile

WEFT, PROGRAM = sys.argv[1:]
COUNTS = (1, 2, 3, 8, 64, 128)
failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("failed: " + text)


def run(*arguments, code=0):
    done = subprocess.run([WEFT, "simulate", *arguments], capture_output=True, text=True, errors="replace")
    check(done.returncode == code, f"{arguments}: status {done.returncode}: {done.stderr}")
    return done


def rows(*arguments):
    text = run(*arguments, "--as-it-is", "--json", "--workers", ",".join(map(str, COUNTS))).stdout
    found = [json.loads(line) for line in text.splitlines()]
    check([r["workers"] for r in found] == list(COUNTS), f"{arguments}: workers")
    check(all(r["kind"] == "simulated" for r in found), f"{arguments}: a line without its label")
    return found, text


def check_bounds(label, found, work_us, span_us):
    for r in found:
        least = max(work_us / r["workers"], span_us)
        check(r["frame_us"] >= least * 0.99999, f"{label}: {r} is below {least}")
        check(r["utilisation"] <= 1.00001, f"{label}: {r} is used more than fully")
    one = found[0]
    check(abs(one["frame_us"] / work_us - 1) < 0.01, f"{label}: one worker needs {one}, not {work_us}")
    check(one["steals_per_frame"] == 0 and abs(one["speedup"] - 1) < 1e-9, f"{label}: one worker {one}")


def recording(stages, seed):
    """A .slices text without graphs (version 1, too): serial time, stages of (count, longest) slices;
    with its work and span."""
    dice, lines, now, work, span = random.Random(seed), ["weft-slices 1", "workers 1"], 0, 0, 0
    lines.append(f"begin frame {now} 0")
    for number, (count, longest) in enumerate(stages):
        now += 700
        costs = [dice.randint(1, longest) for _ in range(count)]
        work, span = work + 700 + sum(costs), span + 700 + max(costs)
        lines.append(f"begin stage {now} {number}")
        for cost in costs:
            lines += [f"begin slice {now} 64", f"end slice {now + cost} 64"]
            now += cost
        lines.append(f"end stage {now} 0")
    return "\n".join(lines + [f"end frame {now} 0", "lost 0"]) + "\n", work / 1000, span / 1000


def frames_of(count, slices, longer):
    """A .slices text of equal frames, two stages; `longer`: (frame, stage, slice) -> ns."""
    lines, now = ["weft-slices 1", "workers 1"], 0
    for frame in range(count):
        lines.append(f"begin frame {now} {frame}")
        for number, ns in enumerate((30000, 400000)):
            lines += [f"title {number} stage of {ns}", f"begin stage {now} {number}"]
            for index in range(slices if number == 0 else 1):
                cost = longer.get((frame, number, index), ns)
                lines += [f"begin slice {now} 64", f"end slice {now + cost} 64"]
                now += cost
            lines.append(f"end stage {now} 0")
        lines.append(f"end frame {now} 0")
    return "\n".join(lines + ["lost 0"]) + "\n"


def check_recordings(folder):
    """A preempted slice is no cost; a recording that is full of them is refused; stages are explained."""
    def save(name, text):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
        return os.path.join(folder, name)
    good = save("good.slices", frames_of(9, 64, {}))
    first = save("first.slices", frames_of(9, 64, {(3, 0, 7): 4000000}))
    second = save("second.slices", frames_of(9, 64, {(5, 0, 2): 4000000, (5, 1, 0): 9000000}))
    wanted = run(good, "--json", "--workers", "8").stdout
    done = run(first, "--json", "--workers", "8", code=2)
    check("first.slices: frame 3, stage 0 stage of 30000, slice 7: 4000.0 us, usually 30.0" in done.stderr
          and "implausible" in done.stderr and done.stdout == "", f"one recording: {done.stderr}")
    check(json.loads(run(first, "--as-it-is", "--json", "--workers", "8").stdout)["frame_us"] >
          json.loads(wanted)["frame_us"], "--as-it-is")
    done = run(first, second, "--json", "--workers", "8")
    check(done.stdout == wanted, f"the least of two: {done.stdout} instead of {wanted}")
    check("3 costs were far from the least of 2" in done.stderr and "second.slices: frame 5, stage 1" in done.stderr,
          f"two recordings: {done.stderr}")
    done = run(first, save("other.slices", frames_of(9, 63, {})), code=2)
    check("is not the same run" in done.stderr, f"another run: {done.stderr}")
    run(save("lost.slices", frames_of(9, 64, {}).replace("lost 0", "lost 5")), code=2)
    limits = [json.loads(line) for line in run(good, "--json", "--limits", "--workers", "64").stdout.splitlines()][1:]
    check([(r["stage"], r["limit"]) for r in limits] == [("stage of 400000", "its longest slice"),
                                                         ("stage of 30000", "wakes, joins, memory"),
                                                         ("(owner)", "the owner alone")], f"limits: {limits}")
    text = run(good, "--workers", "2,64").stdout
    check("what limits it on 64 workers" in text and "its longest slice" in text, f"table: {text}")


def graph_frames(tasks, edges, frames=12):
    """A .slices text of equal frames of one segment; tasks: (name, stage, is the owner's, costs of its slices in us)."""
    lines, now = ["weft-slices 2", "workers 2"], 0
    for frame in range(frames):
        lines += [f"begin frame {now} {frame}", f"begin graph {now} 0"]
        lines += [f"task {i} {int(t[2])} {t[0]}" for i, t in enumerate(tasks)]
        lines += [f"edge {a} {b}" for a, b in edges]
        now += 5100 # what the recording itself takes is no cost
        lines.append(f"end graph {now} 0")
        for stage in sorted({t[1] for t in tasks}):
            lines += [f"title {stage} stage {stage}", f"begin stage {now} {stage}"]
            for i, (_, of, is_owners, costs) in enumerate(tasks):
                if of != stage:
                    continue
                kind = "serial" if is_owners else "slice"
                lines.append(f"begin task {now} {i}")
                for us in costs:
                    lines += [f"begin {kind} {now} 64", f"end {kind} {now + 1000 * us} 0"]
                    now += 1000 * us
                lines.append(f"end task {now} {i}")
            lines.append(f"end stage {now} 0")
        lines.append(f"end frame {now} 0")
    return "\n".join(lines + ["lost 0"]) + "\n"


def timeline(path, workers, folder):
    """(length of the frame in us, parts of the last frame by begin: name, worker, begin, end)."""
    out = os.path.join(folder, "timeline.json")
    row = json.loads(run(path, "--json", "--workers", str(workers), "--timeline", out).stdout)
    with open(out) as f:
        events = json.load(f)["traceEvents"]
    parts = sorted((e["ts"], e["name"], e["tid"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X")
    return row, [(name, worker, begin, end) for begin, name, worker, end in parts]


def check_timeline(label, parts, tasks, edges):
    """Each slice ran once, on one worker at a time; the owner's on worker 0; edges hold."""
    begin, end, busy = {}, {}, {}
    for name, worker, begun, ended in parts:
        check(begun >= busy.get(worker, 0) - 0.1, f"{label}: worker {worker} does two things at {begun}")
        busy[worker] = ended
        begin[name] = min(begin.get(name, begun), begun)
        end[name] = max(end.get(name, 0), ended)
    for name, _, is_owners, costs in tasks:
        own = [p for p in parts if p[0] == name]
        took = sum(p[3] - p[2] for p in own)
        check(abs(took - sum(costs)) <= 0.01 * sum(costs), f"{label}: {name} took {took}, not {sum(costs)}")
        check(not is_owners or all(p[1] == 0 for p in own), f"{label}: {name} is the owner's: {own}")
    for a, b in edges:
        check(begin[tasks[b][0]] >= end[tasks[a][0]] - 0.1, f"{label}: {tasks[b][0]} began before {tasks[a][0]} ended")
    return begin


def check_graphs(folder):
    """Frames whose length can be worked out by hand: the pool adds less than 1 %, most of it the 50 us
    until a worker runs that has slept for long."""
    def lasts(label, tasks, edges, workers, wanted_us, is_graph=True, most=1.01):
        path = os.path.join(folder, "graph.slices")
        with open(path, "w") as f:
            f.write(graph_frames(tasks, edges))
        row, parts = timeline(path, workers, folder)
        label = f"{label} on {workers}"
        check(wanted_us * 0.99999 <= row["frame_us"] <= wanted_us * most, f"{label}: {row}, not {wanted_us} us")
        check(row["bound_us"] <= row["frame_us"], f"{label}: below its bound {row}")
        named = {p[0] for p in parts if p[0] != "(owner)"}
        check(is_graph == ("stage 0" not in named), f"{label}: run as {named}")
        return check_timeline(label, parts, tasks, edges) if is_graph else None
    # a chain, a long task and one of the owner with what waits for it: three chains of unequal length
    tasks = [("a0", 0, False, [2000]), ("single", 0, False, [5000]), ("own", 0, True, [1000]),
             ("a1", 1, False, [3000]), ("b", 1, False, [3000]), ("a2", 2, False, [2000])]
    edges = [(0, 3), (2, 4), (3, 5)]
    lasts("chains", tasks, edges, 1, 16000, is_graph=False)
    lasts("chains", tasks, edges, 8, 7000) # stage after stage it would take 5 + 3 + 2 ms
    begin = lasts("chains", tasks, edges, 2, 9000)
    check(begin["own"] < 100 and begin["a0"] < 100, f"the owner's and the longest chain first: {begin}")
    # the longest first, though it is the last of the list: 3 + 6 ms in that order
    tasks = [(f"short{i}", 0, False, [1000]) for i in range(6)] + [("long", 0, False, [6000]), ("end", 1, False, [10])]
    begin = lasts("longest first", tasks, [(0, 7)], 2, 6000)
    check(begin["long"] < 100, f"longest first: {begin}")
    # loops share their slices: 64 slices of 1 ms beside a main-thread system of 10 ms, then 24 that wait for both
    tasks = [("wide", 0, False, [1000] * 64), ("main", 0, True, [10000]), ("last", 1, False, [20000] * 24)]
    edges = [(0, 2), (1, 2)]
    lasts("loops", tasks, edges, 1, 554000, is_graph=False)
    lasts("loops", tasks, edges, 33, 30000, most=1.05) # 24 that slept for 10 ms are woken one by one
    # a segment too small for a graph runs stage after stage, whatever its edges
    tasks = [("x", 0, False, [2]), ("y", 0, False, [2]), ("z", 1, False, [2])]
    lasts("small", tasks, [(0, 2)], 8, 6, is_graph=False)
    # the order of a recording and what is said of it
    path = os.path.join(folder, "graph.slices")
    with open(path, "w") as f:
        f.write(graph_frames([("head", 0, False, [900]), ("side", 0, False, [1000]), ("tail", 1, False, [800])], [(0, 2)]))
    limits = [json.loads(line) for line in run(path, "--json", "--limits", "--workers", "8").stdout.splitlines()][1:]
    named = [(r.get("graph") or r.get("task") or r["stage"], r["limit"]) for r in limits]
    check(named == [("graph 0 of 3 tasks", "its longest chain"), ("side", "its longest slice"),
                    ("head", "its longest slice"), ("tail", "its longest slice"), ("(owner)", "the owner alone")],
          f"limits of a graph: {named}")
    check("its longest chain" in run(path, "--workers", "8").stdout, "table of a graph")
    check(run(path, path, "--json", "--workers", "8").stdout == run(path, "--json", "--workers", "8").stdout,
          "the same recording twice")
    other = os.path.join(folder, "other_graph.slices")
    with open(path) as a, open(other, "w") as b:
        b.write(a.read().replace("edge 0 2", "edge 1 2"))
    check("tasks or edges" in run(path, other, code=2).stderr, "recordings of different graphs")
    for line, bad in (("edge 0 2", "edge 2 0"), ("edge 0 2", "edge 0 3"), ("task 1 0 side", "task 3 0 side"),
                      ("task 1 0 side", "task 1 2 side"), ("begin task 5100 0", "begin task 5100 9"),
                      ("begin slice 5100 64", "begin serial 5100 64")):
        with open(path) as a, open(other, "w") as b:
            b.write(a.read().replace(line, bad, 1))
        said = run(other, code=2).stderr
        check("other_graph.slices:" in said, f"{bad!r}: said {said!r}")


def with_costs(text, cost_ns):
    """The same recording with slices of `cost_ns(name of the task)`, and nothing that takes time beside them."""
    lines, names, now, task = [], {}, 0, None
    for line in text.splitlines():
        words = line.split(" ", 3)
        if words[0] == "task":
            names[words[1]] = words[3]
        if words[0] in ("begin", "end"):
            if words[1] == "task":
                task = names[line.split()[3]]
            if words[:2] == ["end", "slice"]:
                now += cost_ns(task)
            line = f"{words[0]} {words[1]} {now} {words[3]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def check_independent(folder):
    """8 chains of 4 systems and one of 5 ms: the graph of the library, recorded on one and on two workers, with
    the work of perf/bench_graph.c as costs."""
    def cost_ns(name):
        if name == "single":
            return 5000000
        chain, link = map(int, name[4:].split("."))
        return (10 + (4 * chain + link) * 7 % 100) * 742 # 512 rows
    for workers in "12":
        path = os.path.join(folder, "independent.slices")
        subprocess.run([WEFT, "bench", "frame.independent/8x4" + ("-2" if workers == "2" else ""), "--reps", "1"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "WEFT_TRACE": path, "WEFT_TRACE_FRAMES": "1-8", "WEFT_WORKERS": workers})
        with open(path) as f:
            text = f.read()
        check("task 8 0 single\n" in text and "edge 24 32\n" in text, f"{workers} workers: no graph in the recording")
        with open(path, "w") as f:
            f.write(with_costs(text, cost_ns))
        for line in run(path, "--json", "--workers", "1,2,8,64").stdout.splitlines():
            row = json.loads(line)
            check(row["bound_us"] >= 0.95 * row["frame_us"], f"independent, recorded on {workers}: {row}")


def counted_us(path):
    """What a recording of one worker took, and its frames. Time in a stage beside its slices is no cost: the pool's,
    which the machine puts there itself, and on a busy machine that of other processes."""
    took, frames, last, stage, slices = 0, 0, 0, 0, 0
    with open(path) as f:
        for words in map(str.split, f):
            if words[0] not in ("begin", "end"):
                continue
            step, ns = 1 if words[0] == "begin" else -1, int(words[2])
            took += 0 if last == 0 or (stage > 0 and slices == 0) else ns - last
            stage += step * (words[1] == "stage")
            slices += step * (words[1] in ("slice", "serial"))
            frames += words[:2] == ["end", "frame"]
            last = 0 if words[:2] == ["end", "frame"] else ns
    return took / 1000, frames


def check_words(folder):
    """What is wrong with the command line is said before any recording is read, and what to do with it."""
    missing = os.path.join(folder, "missing.slices")
    for arguments, words in ((("--workers", "x"), "--workers 'x' is not a list"), (("--ranks", "x"), "--ranks 'x'"),
                             (("--workers", "0"), "1 to 256"), (("--workers", "1,2", "--ranks", "2"), "it is one number")):
        check(words in run(missing, *arguments, code=2).stderr, f"{arguments}: not told")
    said = run(missing, code=2).stderr
    check("No such file" in said and "WEFT_TRACE=run.slices" in said, f"a missing recording: {said}")
    path = os.path.join(folder, "old.slices")
    with open(path, "w") as f:
        f.write(recording([(8, 9000)], 5)[0])
    check("older weft" in run(path, "--as-it-is", "--workers", "2").stderr, "an old recording")
    with open(path, "w") as f:
        f.write("weft-slices 3\n")
    check("newer weft" in run(path, code=2).stderr, "a recording of the future")
    check("nowhere" in run("--artificial", "8x100", "--timeline", os.path.join(folder, "nowhere", "x"), code=2).stderr,
          "a time line that cannot be written")
    check(run("--artificial", "64x20000", "--workers", "4", "--json").stdout ==
          subprocess.run([WEFT, "simulate", "--artificial", "64x20000", "--workers", "4", "--json"], text=True,
                         capture_output=True, env={**os.environ, "WEFT_WORKERS": "1"}).stdout, "WEFT_WORKERS")


def check_ranks():
    """T(P) = max(W_i, exchange) + W_b + imbalance, in numbers that can be done by hand."""
    def ranks(*arguments):
        text = run("--artificial", "1000x10000", "--ranks", "1,2,8,64,4096", "--json", *arguments).stdout
        found = {r["ranks"]: r for r in map(json.loads, text.splitlines())}
        check(list(found) == [1, 2, 8, 64, 4096], f"{arguments}: ranks {text}")
        check(all(r["kind"] == "simulated ranks" for r in found.values()), f"{arguments}: a line without its label")
        return found
    ideal = ranks("--reach", "0", "--latency-us", "0", "--imbalance", "0")
    check(all(abs(r["speedup"] / p - 1) < 1e-4 for p, r in ideal.items()), f"nothing in the way: {ideal}")
    # 8 ranks: cubes of half the side, so a reach of 0.05 is 0.1 of it; border 1 - 0.8^3, ghosts 1.2^3 - 1
    one = ranks("--reach", "0.05", "--imbalance", "0.25", "--halo-mb", "8", "--latency-us", "3", "--link", "1")
    eight, work = one[8], one[1]["frame_us"] / 8
    check(abs(eight["border"] - 0.488) < 1e-4, f"border: {eight}")
    check(abs(eight["exchange_us"] - (7 * 3 + 0.728 * 1000)) < 0.1, f"exchange: {eight}")
    took = max(work * 0.512, eight["exchange_us"]) + work * 0.488 + 0.25 * work
    check(abs(eight["frame_us"] / took - 1) < 1e-4, f"law: {eight}, not {took}")
    check(abs(one[4096]["border"] - 1) < 1e-9 and one[4096]["hidden"] == 0, f"all border: {one[4096]}")
    weak = ranks("--weak", "--reach", "0.05", "--imbalance", "0", "--link", "0", "--latency-us", "0")
    check(all(abs(r["efficiency"] - 1) < 1e-4 for r in weak.values()), f"weak: {weak}")
    for bad in (("--ranks", "0"), ("--ranks", "4097"), ("--ranks", "2", "--workers", "1,2")):
        run("--artificial", "8x100", *bad, code=2)
    check("simulated network" in run("--artificial", "8x100", "--ranks", "2").stdout, "table of ranks")


with tempfile.TemporaryDirectory() as folder:
    check_ranks()
    path = os.path.join(folder, "x.slices")
    found, text = rows("--artificial", "2048x2000")
    check(text == rows("--artificial", "2048x2000")[1], "two runs differ")
    check_bounds("artificial", found, 4096.0, 2.0)
    check(found[3]["speedup"] > 7, f"8 workers: {found[3]}")
    # 2048 slices of 20 KB at 1 GB/s: the bus needs 40.96 ms, however many workers
    bus, _ = rows("--artificial", "2048x2000x20000", "--bandwidth", "1")
    check(all(abs(r["frame_us"] / 40960 - 1) < 0.01 for r in bus), f"bandwidth: {bus}")
    # random frames with serial parts, small and large stages
    for seed in range(2):
        text, work, span = recording([(1, 9000), (900, 5000), (3, 500), (400, 20000)], seed)
        with open(path, "w") as f:
            f.write(text)
        check_bounds(f"seed {seed}", rows(path)[0], work, span)
    # a real recording
    subprocess.run([PROGRAM, "1", "0", "10", path], check=True)
    real, first = rows(path)
    check(first == rows(path)[1], "two runs of a recording differ")
    check(real[0]["frame_us"] > 0, "the recording has no cost")
    # one worker needs what the recording took
    subprocess.run([WEFT, "screen", "--hours", "1", "--out", folder], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "WEFT_TRACE": path, "WEFT_WORKERS": "1"})
    took, frames = counted_us(path)
    one = run(path, "--as-it-is", "--json", "--workers", "1").stdout
    ratio = json.loads(one)["frame_us"] * frames / took
    check(abs(ratio - 1) <= 0.001, f"one worker: simulated {ratio:.4f} of the recording")
    # what the scheduler promises for machines with a core for every worker
    many = json.loads(run("--artificial", "8192x5000", "--workers", "64", "--json").stdout)
    check(many["utilisation"] >= 60 / 64, f"64 workers: {many}")
    check_recordings(folder)
    check_graphs(folder)
    check_independent(folder)
    check_words(folder)
    # every way in which a recording can be broken
    good = recording([(3, 900)], 1)[0].splitlines()
    for line, bad in ((0, "weft-slices 3"), (2, "begin stage 0 0"), (3, "begin stage 5 99999"),
                      (4, "end slice 900 0"), (5, "nonsense"), (5, "end slice 1 0")):
        broken = list(good)
        broken[line] = bad
        with open(path, "w") as f:
            f.write("\n".join(broken) + "\n")
        text = run(path, code=2).stderr
        check(f":{line + 1}: " in text or line == 0, f"line {line + 1}, {bad!r}: said {text!r}")
    with open(path, "w") as f:
        f.write("\n".join(good[:6]) + "\n")
    run(path, code=2)
    run(os.path.join(folder, "missing"), code=2)
    run("--artificial", "8x100", "--workers", "0", code=2)
    run("--artificial", "8x100", "--workers", "257", code=2)
    run(code=2)
sys.exit(1 if failures else 0)
