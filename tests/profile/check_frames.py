# SPDX-License-Identifier: MIT
"""weft-perf trace on traces that are made up, so that the truth is known, and on those of trace_program.

usage: check_frames.py TOOLS [TRACE_PROGRAM]
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "profile"))
import frames
import perfetto
import recording

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("failed: " + text)


def check_equal(what, got, expected):
    check(got == expected, f"{what}: {got!r}, not {expected!r}")


# ---- a trace that is made up

def span(row, begin, end, name, value=None):
    return [(row, "B", begin, name, value), (row, "E", end, None, None)]


def nested(row, begin, end, name, *inner, value=None):
    return [(row, "B", begin, name, value), *sum(inner, []), (row, "E", end, None, None)]


def made_up():
    """Two frames of 100 us. In each: "early" on the owner, "late" on both, of which worker 1 is done 20 us later, and
    then playback; "late" has a zone, and hashing that is not its own."""
    events, told = [], {"frame", "stage early", "stage late", "early", "late", "think", "hashing", "playback", "host's"}
    for number, at in ((7, 0), (8, 200000)):
        def us(n):
            return at + 1000 * n
        events += nested("owner", us(0), us(100), "frame",
                         nested("owner", us(1), us(21), "stage early", span("owner", us(1), us(21), "early")),
                         nested("owner", us(21), us(72), "stage late",
                                nested("owner", us(22), us(52), "stage late", span("owner", us(22), us(52), "late"))),
                         span("owner", us(75), us(95), "playback"), value=number)
        events += span("worker 1", us(-5), us(20), "parked")
        events += nested("worker 1", us(22), us(72), "stage late",
                         nested("worker 1", us(22), us(72), "late", span("worker 1", us(23), us(33), "think"),
                                span("worker 1", us(40), us(50), "hashing")))
        events += span("worker 1", us(73), us(110), "parked")
        events += span("owner", us(120), us(150), "host's")
        events.append(("counter", "C", us(100), "late: commands", 3 + number))
        events.append(("counter", "C", us(100), "late: processor time (us)", 1))
    return sorted(events, key=lambda e: e[2]), told


def read_made_up():
    events, names = made_up()

    def read(path, told=None):
        told |= names
        return events, 0, []
    kept, perfetto.read_trace = perfetto.read_trace, read
    try:
        return frames.read_trace("made up")
    finally:
        perfetto.read_trace = kept


def check_made_up():
    profile = read_made_up()
    check_equal("frames", profile.frames, [(7, 100000), (8, 100000)])
    check_equal("rows", {name: row["ns"][0] for name, row in profile.rows.items()},
                {"early": 20000, "late": 70000, "(playback)": 20000, "(hashing)": 10000, "(engine)": 10000})
    check_equal("zones", {name: row["ns"] for name, row in profile.zones.items()},
                {"think": [10000] * 2, "host's": [30000] * 2})
    check_equal("threads", sorted(profile.rows["late"]["threads"]), ["owner", "worker 1"])
    check_equal("commands", profile.commands, {"late": [10, 11]})
    check_equal("waits", {key: of[1] for key, of in profile.waits.items()},
                {("owner", "late"): 20000, ("worker 1", "early"): 20000, ("worker 1", "(playback)"): 20000,
                 ("worker 1", "(engine)"): 10000})
    cut = frames.cut(profile, 8, 8)
    check_equal("cut", (cut.frames, cut.rows["late"]["ns"], cut.commands), ([(8, 100000)], [70000], {"late": [11]}))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sum.json")
        frames.save(profile, path)
        again = frames.read(path)
        check_equal("a summary", (again.frames, again.waits, again.commands, {n: r["ns"] for n, r in again.rows.items()}),
                    (profile.frames, profile.waits, profile.commands, {n: r["ns"] for n, r in profile.rows.items()}))
        for text in ("{}", "[]", "x"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            try:
                frames.read(path)
                check(False, f"{text} was read")
            except recording.Refused:
                pass
    for text, expected in (("3:5", (3, 5)), ("3:", (3, float("inf"))), (":5", (0, 5)), ("4", (4, 4)), ("5:3", None), ("x", None),
                           (":", None), ("", None)):
        try:
            check_equal(f"--frames {text}", frames.range_of(text), expected)
        except recording.Refused:
            check(expected is None, f"--frames {text} is refused")


def run_of(seed, slower=None, factor=1.0, machine=1.0, count=300):
    """A run of 40 systems: a tenth of its frames are longer because others use the machine, and one stretch of it more."""
    draw = random.Random(seed)
    profile = frames.Profile()
    begin = draw.randrange(count)
    stretch = range(begin, begin + count // 12)
    for i in range(40):
        base = 1000 * (i + 2) * machine * (factor if i == slower else 1)
        profile.rows[f"s{i}"] = {"calls": 0, "threads": set(), "ns": [
            int(base * (1 + abs(draw.gauss(0, .02))) * (1 + draw.random() * (draw.random() < .1))
                * (1.5 if n in stretch else 1)) for n in range(count)]}
    profile.frames = [(n, sum(row["ns"][n] for row in profile.rows.values())) for n in range(count)]
    return profile


def check_compare():
    wrong = 0
    for seed in range(12):
        changes, _ = frames.compare(run_of(seed), run_of(seed + 1000))
        wrong += any(c.verdict for c in changes)
        changes, common = frames.compare(run_of(seed), run_of(seed + 2000, 20, 1.2))
        check_equal(f"slower, seed {seed}", [c.row for c in changes if c.verdict], ["s20"])
        check(changes[0].row == "s20" and 1.15 < changes[0].ratio < 1.25 and changes[0].noise < .1, f"{changes[0]}")
        changes, common = frames.compare(run_of(seed), run_of(seed + 3000, 30, 2, machine=1.3))
        check_equal(f"a busier machine, seed {seed}", [(c.row, c.verdict) for c in changes if c.verdict], [("s30", "slower")])
        check(1.25 < common < 1.35, f"common {common}")
        changes, _ = frames.compare(run_of(seed, 20, 1.2), run_of(seed + 4000))
        check_equal(f"faster, seed {seed}", [(c.row, c.verdict) for c in changes if c.verdict], [("s20", "faster")])
    check_equal("two equal runs of which a change is told", wrong, 0)
    few = frames.compare(run_of(1, count=10), run_of(2, count=10))[0]
    check_equal("few frames", {c.verdict for c in few}, {"too few frames"})
    other = run_of(2)
    other.rows["new"] = other.rows.pop("s39")
    told = {c.row: c.verdict for c in frames.compare(run_of(1), other)[0]}
    check_equal("names", (told["new"], told["s39"]), ("only in the new one", "only in the old one"))


def check_worst():
    profile = run_of(5)
    profile.rows["s3"]["ns"][250] += 9000000
    profile.frames[250] = (251, profile.frames[250][1] + 9000000)
    number, ns, more = frames.worst(profile, 3)[0]
    check_equal("the worst frame", (number, more[0][0]), (251, "s3"))
    check(8900000 < more[0][1] < 9100000 < ns, f"{ns} {more}")
    row = next(r for r in frames.describe(profile) if r["row"] == "s3")
    check_equal("where it was", row["max_frame"], 251)
    check(row["p50_us"] < row["p95_us"] < row["p99_us"] < row["max_us"], f"{row}")


# ---- traces of a program

def check_program(tool, program):
    def weft_perf(*arguments, code=0):
        done = subprocess.run([tool, "trace", *arguments], capture_output=True, text=True)
        check(done.returncode == code, f"{arguments}: status {done.returncode}: {done.stderr}")
        return done.stdout, done.stderr

    def rows(*arguments):
        return [json.loads(line) for line in weft_perf("--json", *arguments)[0].splitlines()]

    with tempfile.TemporaryDirectory() as folder:
        def record(name, slow, **variables):
            path = os.path.join(folder, name)
            subprocess.run([program, "2", "0", "120", path], env={**os.environ, "TRACE_SLOW": str(slow), **variables})
            return path
        old, slow = record("old.pftrace", 5), record("slow.pftrace", 60)
        for _ in range(3): # a machine may become busy in the middle
            changes = rows(record("same.pftrace", 5), "--compare", old)
            if not any(c["verdict"] == "slower" for c in changes):
                break
        check_equal("an equal run", [c for c in changes if c["verdict"] == "slower"], [])
        changes = rows(slow, "--compare", old)
        check_equal("made slower", (changes[0]["row"], changes[0]["verdict"]), ("indices", "slower"))
        summary = os.path.join(folder, "old.json")
        weft_perf(old, "--save", summary)
        check_equal("a summary", rows(slow, "--compare", summary), changes)
        text, _ = weft_perf(slow, "--compare", old, "--fail-over", "50", code=1)
        check("slower: indices" in text, text)
        weft_perf(slow, "--compare", old, "--fail-over", "100000")
        report = rows(old, "--frames", "10:19")
        check_equal("frames", [report[0][key] for key in ("first", "last", "frames")], [10, 19, 10])
        found = {r["row"]: r for r in report if r["kind"] == "row"}
        check(found["spawn"]["commands"] == 10 and found["indices"]["commands"] == 0, f"commands {found}")
        check(found["indices"]["frames"] == 10 and found["(playback)"]["frames"] == 10, f"{found}")
        check({r["row"] for r in report if r["kind"] == "zone"} == {"zone"}, "zones")
        whole = rows(slow)
        waits = [r for r in whole if r["kind"] == "wait" and r["for"] == "indices"]
        check(len([r for r in whole if r["kind"] == "worst"]) == 5, "five worst frames")
        check(waits or found["indices"]["frames"] == 0, f"no thread waits for what takes longest: {whole}")
        died = record("died.pftrace", 5, TRACE_ENDS="kill")
        report = rows(died)
        check(report[0]["last"] >= 119 and any(r.get("row") == "indices" for r in report), f"{report[:1]}")
        for arguments, part in (((os.path.join(folder, "none"),), "does not exist"), ((summary + "x",), "does not exist"),
                                ((program,), "no trace"), ((old, "--frames", "5:3"), "--frames 5:3"),
                                ((old, "--frames", "500:"), "has the frames 1 to 120")):
            check(part in weft_perf(*arguments, code=2)[1], f"{arguments}: no '{part}'")
        text, _ = weft_perf(slow)
        check("worst frames" in text and "waits in frames" in text and "p99" in text, text)


check_made_up()
check_compare()
check_worst()
if len(sys.argv) > 2:
    check_program(os.path.join(sys.argv[1], "weft-perf"), sys.argv[2])
sys.exit(1 if failures else 0)
