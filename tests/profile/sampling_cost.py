# SPDX-License-Identifier: MIT
"""What sampling costs a program: processor time without it, under plain perf record, and under weft-perf's events, in
interleaved rounds. At ten times the usual rate, because a sample costs microseconds: divide by ten. Not a test; the
figures of docs/notes/tracing.md are made with it.

usage: sampling_cost.py SECONDS PROGRAM [ARGUMENT ...]
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/profile"))
import recording  # noqa: E402

HERTZ = 9970


def used(children):
    return children.ru_utime + children.ru_stime


def run(prefix, command):
    """Seconds of processor time of the program, and of perf around it."""
    before = used(resource.getrusage(resource.RUSAGE_CHILDREN))
    reader, writer = os.pipe()
    timed = ["sh", "-c", f'"$@"; times >&{writer}', "sh", *command]
    subprocess.run(prefix + timed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as f:
        words = f.read().split("\n")[1].replace("s", "").split()
    program = sum(60 * float(w.split("m")[0]) + float(w.split("m")[1]) for w in words)
    return program, used(resource.getrusage(resource.RUSAGE_CHILDREN)) - before - program


def measure(folder, seconds, command):
    record = [recording.perf(), "record", "-q", "-N", "-k", "mono", "-o", os.path.join(folder, "perf.data")]
    os.environ["WEFT_SYSTEMS"] = folder
    ways = {"not sampled": [], "perf record": [*record, "-e", "cpu-clock", "-F", str(HERTZ), "--"],
            "weft-perf": [*record, *recording.events("cpu-clock", "dwarf", 4096, HERTZ), "--"]}
    found, end = {way: [] for way in ways}, time.monotonic() + seconds
    while time.monotonic() < end:
        for way, prefix in ways.items():
            found[way].append(run(prefix, command))
    return found


with tempfile.TemporaryDirectory() as place:
    figures = measure(place, float(sys.argv[1]), sys.argv[2:])
least = min(program for program, _ in figures["not sampled"])
middle = statistics.median(program for program, _ in figures["not sampled"])
for name, pairs in figures.items():
    low, median = min(p for p, _ in pairs), statistics.median(p for p, _ in pairs)
    print(f"{name:12} least {low:.3f} s ({100 * (low / least - 1):+.1f} %), median {median:.3f} s "
          f"({100 * (median / middle - 1):+.1f} %), perf itself {statistics.median(o for _, o in pairs):.3f} s")
