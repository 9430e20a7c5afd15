# SPDX-License-Identifier: MIT
"""run_models.py [--deep] MODEL.pml ...: checks the Promela models with spin.

A model names its runs in its comment:   run: ok|fail NAME -DFLAG ... [deep]
"ok" must be explored completely without an error; "fail" seeds a fault that must be found (a model
that cannot fail proves nothing). Runs marked deep need --deep or WEFT_DEEP. Two at a time.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

RUN = re.compile(r"^\s*\*?\s*run:\s+(ok|fail)\s+(\S+)((?:\s+-D\S+)*)(\s+deep)?\s*$", re.M)
PAN_BUDGET_SECONDS = 1200  # only ends what hangs


def check(job):
    path, expected, name, flags = job
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        run = lambda *c: subprocess.run(c, cwd=folder, capture_output=True, text=True)
        made = run("spin", "-a", *flags, os.path.abspath(path))
        if made.returncode != 0 or "error:" in made.stdout + made.stderr:
            return job, False, "spin: " + (made.stdout + made.stderr).strip()[:400]
        built = run("cc", "-O1" if expected == "ok" else "-O0", "-w", "-DSAFETY", "-DCOLLAPSE", "-DNOFAIR", "-o", "pan", "pan.c")
        if built.returncode != 0:
            return job, False, "cc: " + built.stderr[:400]
        out = run("timeout", str(PAN_BUDGET_SECONDS), "./pan", "-m200000", "-n").stdout
    errors = re.search(r"errors: (\d+)", out)
    states = re.search(r"([\d.e+]+) states, stored", out)
    # "max search depth too small" must not be taken for a proof.
    complete = "too small" not in out and "Search not completed" not in out
    found = re.search(r"pan:\d+: (.*)", out)
    note = "%9s states %6.2f s  %s" % (states.group(1) if states else "?", time.time() - start,
                                       found.group(1)[:60] if found else "")
    if not errors:
        return job, False, "pan gave no result: " + out[-300:]
    wrong = errors.group(1) != "0"
    if expected == "ok":
        return job, complete and not wrong, note
    is_real = wrong and found is not None and "max search depth" not in found.group(1)
    return job, is_real, note


def main():
    deep = "--deep" in sys.argv or "WEFT_DEEP" in os.environ
    jobs = []
    for path in (a for a in sys.argv[1:] if not a.startswith("-")):
        with open(path) as file:
            runs = RUN.findall(file.read())
        if not {"ok", "fail"} <= {r[0] for r in runs}:
            print("FAILED %s: needs runs that pass and runs that fail" % path)
            return 1
        jobs += [(path, r[0], r[1], r[2].split()) for r in runs if deep or not r[3]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (path, expected, name, _), good, note in pool.map(check, jobs):
            failed += not good
            print("%-8s %-16s %-18s expected %-4s %s" % (
                "ok" if good else "FAILED", os.path.basename(path), name, expected, note))
            sys.stdout.flush()
    print("%d model runs, %d failed" % (len(jobs), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
