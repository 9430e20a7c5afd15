# SPDX-License-Identifier: MIT
"""Checks weft simulate: the same result twice; Brent's bounds for every number of workers (never
faster than work / P, nor than the longest slice chain); no steal and no loss on one worker; the
memory bus limits; every line is labelled simulated; broken recordings are refused with their line.

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
    done = subprocess.run([WEFT, "simulate", *arguments], capture_output=True, text=True)
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
    """A .slices text: serial time, stages of (count, longest) slices; with its work and span."""
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
    done = run(first, "--json", "--workers", "8", code=1)
    check("first.slices: frame 3, stage 0 stage of 30000, slice 7: 4000.0 us, usually 30.0" in done.stderr
          and "implausible" in done.stderr and done.stdout == "", f"one recording: {done.stderr}")
    check(json.loads(run(first, "--as-it-is", "--json", "--workers", "8").stdout)["frame_us"] >
          json.loads(wanted)["frame_us"], "--as-it-is")
    done = run(first, second, "--json", "--workers", "8")
    check(done.stdout == wanted, f"the least of two: {done.stdout} instead of {wanted}")
    check("3 costs were far from the least of 2" in done.stderr and "second.slices: frame 5, stage 1" in done.stderr,
          f"two recordings: {done.stderr}")
    done = run(first, save("other.slices", frames_of(9, 63, {})), code=1)
    check("is not the same run" in done.stderr, f"another run: {done.stderr}")
    run(save("lost.slices", frames_of(9, 64, {}).replace("lost 0", "lost 5")), code=1)
    limits = [json.loads(line) for line in run(good, "--json", "--limits", "--workers", "64").stdout.splitlines()][1:]
    check([(r["stage"], r["limit"]) for r in limits] == [("stage of 400000", "its longest slice"),
                                                         ("stage of 30000", "waking, joining, memory"),
                                                         ("(owner)", "the owner alone")], f"limits: {limits}")
    text = run(good, "--workers", "2,64").stdout
    check("what limits it on 64 workers" in text and "its longest slice" in text, f"table: {text}")


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
    with open(path) as f:
        marks = [line.split() for line in f if " frame " in line]
    took = sum(int(m[2]) * (1 if m[0] == "end" else -1) for m in marks) / 1000
    one, frames = run(path, "--as-it-is", "--json", "--workers", "1").stdout, len(marks) / 2
    ratio = json.loads(one)["frame_us"] * frames / took
    check(abs(ratio - 1) <= 0.05, f"one worker: simulated {ratio:.3f} of the recording")
    # what the scheduler promises for machines with a core for every worker
    many = json.loads(run("--artificial", "8192x5000", "--workers", "64", "--json").stdout)
    check(many["utilisation"] >= 60 / 64, f"64 workers: {many}")
    check_recordings(folder)
    # every way in which a recording can be broken
    good = recording([(3, 900)], 1)[0].splitlines()
    for line, bad in ((0, "weft-slices 2"), (2, "begin stage 0 0"), (3, "begin stage 5 99999"),
                      (4, "end slice 900 0"), (5, "nonsense"), (5, "end slice 1 0")):
        broken = list(good)
        broken[line] = bad
        with open(path, "w") as f:
            f.write("\n".join(broken) + "\n")
        text = run(path, code=1).stderr
        check(f":{line + 1}: " in text or line == 0, f"line {line + 1}, {bad!r}: said {text!r}")
    with open(path, "w") as f:
        f.write("\n".join(good[:6]) + "\n")
    run(path, code=1)
    run(os.path.join(folder, "missing"), code=1)
    run("--artificial", "8x100", "--workers", "0", code=2)
    run("--artificial", "8x100", "--workers", "257", code=2)
    run(code=2)
sys.exit(1 if failures else 0)
