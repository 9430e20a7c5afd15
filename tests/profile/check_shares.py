# SPDX-License-Identifier: MIT
"""Six systems with known shares: weft-perf finds each within three points of what the program counted itself, in
samples (flame; where perf may be used), by the trace (stat, flame without perf) and in both libraries.

usage: check_shares.py WEFT_PERF SIX_SYSTEMS ...
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOOL, PROGRAMS = sys.argv[1], sys.argv[2:]
POINTS = 3.0
failures = []


def check(is_good, text):
    if not is_good:
        failures.append(text)
        print("failed: " + text)


def run(label, *arguments, **variables):
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True,
                          env={**os.environ, **variables})
    check(done.returncode == 0, f"{label}: status {done.returncode}: {done.stderr[-1000:]}")
    rows = [json.loads(line) for line in (done.stdout + done.stderr).split("\n") if line.startswith("{")]
    return [r for r in rows if "cpu_ns" in r], [r for r in rows if "busiest" in r], done.stderr


def shares(rows, key, names):
    values = {r["system"]: r[key] for r in rows if r["system"] in names}
    return {name: 100 * values.get(name, 0) / max(1, sum(values.values())) for name in names}


def compare(label, truth, rows, truth_key, key):
    names = [r["system"] for r in truth]
    check(len(names) == 6, f"{label}: no truth")
    wanted, got = shares(truth, truth_key, names), shares(rows, key, names)
    for name in names:
        check(abs(wanted[name] - got[name]) <= POINTS,
              f"{label}: {name} has {got[name]:.2f} %, the truth is {wanted[name]:.2f} %")
    worst = max(names, key=lambda name: abs(wanted[name] - got[name]))
    print(f"{label}: worst {worst}: {got[worst]:.2f} % for {wanted[worst]:.2f} %")


def may_sample():
    perf = os.environ.get("WEFT_PERF") or shutil.which("perf")
    if perf is None:
        return False
    with tempfile.TemporaryDirectory() as place:
        return subprocess.run([perf, "record", "-e", "cpu-clock", "--call-graph", "dwarf", "true"], cwd=place,
                              capture_output=True).returncode == 0


with tempfile.TemporaryDirectory() as folder:
    can_sample = may_sample()
    if not can_sample:
        print("samples: left out, perf may not sample here")
    for program in PROGRAMS:
        name = os.path.basename(program)
        truth, rows, _ = run(name, "stat", "--json", "-o", folder, "--", program, "0.7")
        compare(f"{name}, stat", truth, rows, "wall_ns", "ms")
        if can_sample:
            truth, rows, text = run(name, "flame", "--json", "--hertz", "3989", "-o", folder, "--", program, "1.5")
            compare(f"{name}, flame", truth, rows, "cpu_ns", "samples")
            check("end too early" not in text, f"{name}: broken stacks: {text[-600:]}")
            with open(os.path.join(folder, "flame.svg"), encoding="utf-8") as f:
                svg = f.read()
            check("<title>some_sines: " in svg and "<title>wave: " in svg, f"{name}: no functions of systems")
            run(name, "annotate", "wave", "--json", "-o", folder)
    truth, rows, text = run("refused", "flame", "--json", "-o", os.path.join(folder, "plain"), "--", PROGRAMS[0],
                            "0.7", WEFT_PERF="/nonexistent")
    compare("flame where perf is refused", truth, rows, "wall_ns", "ms")
    check("out of the trace of the program" in text, f"refused: {text}")
sys.exit(1 if failures else 0)
