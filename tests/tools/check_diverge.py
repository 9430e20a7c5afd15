#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_diverge.py PROGRAM WEFT: runs that differ in one place, and what `weft diverge` says of them.

Each place is run twice with rows logged and twice without; two equal runs, one of them with rows, must have no difference."""
import os
import subprocess
import sys
import tempfile

program, weft = sys.argv[1:3]
# place, what must be said (without rows), what more with rows, what must not be said
PLACES = [
    ("rows", ["step 1", "system 'count'", "Number"], ["entity "], []),
    ("resource", ["step 1", "system 'settle'", "Total"], ["resource Total"], ["spawn", "playback"]),
    ("look-up", ["step 1", "system 'look'", "Number"], ["entity "], ["count"]),
    ("sparse", ["step 1", "system 'mark'", "Rare"], ["entity "], ["spawn"]),
    ("chunk", ["step 1", "system 'heat'", "Zone"], ["entity "], ["spawn"]),
    ("background", ["step 1", "system 'late'", "Shot"], ["entity "], ["spawn"]),
    ("exclusive", ["step 1", "EXCLUSIVE system 'alone'"], ["component name", "other"], ["spawn"]),
    ("exclusive-resource", ["step 1", "EXCLUSIVE system 'alone'"], ["resource Total"], ["spawn"]),
    ("host", ["before step 2", "written by the host"], ["resource Total"], ["spawn", "settle"]),
    ("name", ["before step 2", "written by the host"], ["component name", "host's"], ["spawn"]),
    ("world-two", ["before step 3", "written by the host"], ["resource Total"], []),
    ("world-before", ["before step 3", "written by the host"], ["resource Total"], []),
    ("world-lost", ["no difference in 1 world, then only the run of"], [], []),
]
# what two runs show of a host's fault: place, the second run, what must be said
FAULTS = [
    ("worker", {"WEFT_ORDER": "draw:7,workers:rotate"}, ["step 1", "system 'count'", "Number"]),
    ("address", {"WEFT_ORDER": "draw:7", "WEFT_ADDRESSES": "mirrored"}, ["step 1", "system 'count'", "Number"]),
    ("address", {"WEFT_ORDER": "draw:7", "WEFT_ADDRESSES": "turned"}, []),
    ("innocent", {"WEFT_ORDER": "draw:7,workers:rotate", "WEFT_ADDRESSES": "mirrored"}, []),
]
failed = 0


def run(place, other, log, rows, **more):
    for name in os.listdir(os.path.dirname(log)):
        if name.startswith(os.path.basename(log)):
            os.remove(os.path.join(os.path.dirname(log), name))
    env = dict(os.environ, WEFT_STATE_LOG=log, **more)
    env.pop("WEFT_STATE_LOG_ROWS", None)
    if rows:
        env["WEFT_STATE_LOG_ROWS"] = rows
    done = subprocess.run([program, place, str(other)], check=True, env=env, capture_output=True, text=True)
    assert ("WEFT_ADDRESSES=turned is not used" in done.stderr) == (more.get("WEFT_ADDRESSES") == "turned"), done.stderr


def expect(status, logs, said, unsaid):
    global failed
    got = subprocess.run([weft, "diverge", *logs], capture_output=True, text=True)
    text = got.stdout + got.stderr
    wrong = [w for w in said if w not in text] + ["not " + w for w in unsaid if w in text]
    if got.returncode != status or wrong:
        failed += 1
        print(f"FAILED: {logs}: status {got.returncode}, wanted {status}; {wrong}\n{text}")


with tempfile.TemporaryDirectory() as folder:
    a, b = os.path.join(folder, "a.log"), os.path.join(folder, "b.log")
    for place, said, more, unsaid in PLACES:
        for rows in ("", "1-3"):
            run(place, 0, a, rows)
            run(place, 1, b, rows)
            expect(1, [a, b], said + (more if rows else []), unsaid)
    for place, second, said in FAULTS:
        for rows in ("", "1-3"):
            run(place, 0, a, rows, WEFT_ORDER="draw:7")
            run(place, 0, b, rows, **second)
            expect(1 if said else 0, [a, b], said + (["entity "] if rows and said else []), ["spawn", "mark", "heat"])
    for rows in ("", "2"):
        run("world", 0, a, "")
        run("world", 0, b, rows)
        expect(0, [a, b], ["no difference; the last step is 3", "nor in the 1 other worlds"], [])
    # a log of a second world that an earlier run left goes when the next one begins
    run("rows", 0, a, "")
    with open(b + ".world-2", "w"):
        pass
    subprocess.run([program, "rows", "0"], check=True, env=dict(os.environ, WEFT_STATE_LOG=b))
    expect(0, [a, b], ["no difference; the last step is 3"], ["nor in"])
    expect(2, [a, os.path.join(folder, "none.log")], ["cannot open"], [])
    expect(2, [a, program], ["is no state log"], [])
print("1 passed, 0 failed" if failed == 0 else f"0 passed, {failed} failed")
sys.exit(failed != 0)
