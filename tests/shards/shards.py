#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The commands over ranks give one result for any number of ranks and workers.

usage: shards.py WEFT screen CATALOGUE HOURS RANKS
       shards.py WEFT demo TICKS RUNS [SIZE]      RUNS: ranks x workers, such as 1x2,2x1,3x2
       shards.py WEFT restart TICKS [SIZE]        half of them on 4 ranks, then half on 3 and on 8
       shards.py WEFT killed
       shards.py WEFT stress ROUNDS RUNS
       shards.py WEFT trace MERGE             MERGE: tools/weft-trace-merge
       shards.py WEFT inspect
       shards.py WEFT campaign

campaign: every model as it is, 1,000 ticks, on 1, 2, 3, 4, 5 and 8 ranks x 1 and 2 workers; and restart with 200 ticks. More ranks than
cores share them.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

WEFT, WHAT, *REST = sys.argv[1:]
MODELS = ("flock", "sheep", "lj", "satellites")
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
if "ASAN_OPTIONS" in ENVIRONMENT or os.environ.get("WEFT_SHARDS_SANITIZED"):
    # MPI keeps what it allocated; our own leaks are found by the tests of the library, on one rank
    ENVIRONMENT["ASAN_OPTIONS"] = ENVIRONMENT.get("ASAN_OPTIONS", "") + ":detect_leaks=0"


def run(ranks, *arguments, code=0):
    command = ["mpirun", "--bind-to", "none", "-np", str(ranks), WEFT, *arguments]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != code:
        sys.exit("%s\nended with status %d:\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def alone(*arguments):
    done = subprocess.run([WEFT, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: status %d: %s" % (" ".join(arguments), done.returncode, done.stderr))
    return done.stdout


def check_equal(found, what):
    """All values of a dictionary are the same."""
    if len(set(found.values())) != 1:
        sys.exit("%s: not the same: %s" % (what, found))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def screen(catalogue, hours, ranks, folder):
    """The three files, and what --json prints but for times, with no rank and with several."""
    arguments = ("screen", catalogue, "--hours", hours, "--json", "--verify", "2")
    outs = {}
    for n in [0, *map(int, ranks.split(","))]:
        out = os.path.join(folder, str(n))
        printed = run(n, *arguments, "--shards", "--out", out) if n else alone(*arguments, "--out", out)
        outs[n] = re.sub(r'"(workers|read_s|screen_s|check_s)":[^,]*,', "", printed), *(
            read(os.path.join(out, name)) for name in ("conjunctions.csv", "together.csv", "meta.json"))
    if outs[0][1].count(b"\n") < 2:
        sys.exit("no approach was found: nothing was compared")
    for n, found in outs.items():
        for name, ours, plain in zip(("output", "conjunctions.csv", "together.csv", "meta.json"), found, outs[0]):
            if ours != plain:
                sys.exit("%d ranks: %s differs from that of one process" % (n, name))


def hash_of(ranks, workers, model, ticks, *arguments):
    text = run(ranks, "shard-demo", model, "--ticks", str(ticks), "--workers", str(workers), "--json", *arguments)
    lines = [json.loads(line) for line in text.splitlines()]
    (found,) = [line for line in lines if line["type"] == "hash"]
    return "%d entities, %s" % (found["entities"], found["hash"])


def demo(ticks, runs, size=None):
    sized = ("--size", size) if size else ()
    for model in MODELS:
        found = {r: hash_of(*r.split("x"), model, ticks, *sized) for r in runs}
        check_equal(found, model)
        print(model, ticks, "ticks,", " ".join(runs) + ":", found[runs[0]], flush=True)


def restart(ticks, folder, size=None):
    """Half of the ticks on 4 ranks, a checkpoint, the other half on 3 and on 8: as all in one go."""
    sized = ("--size", size) if size else ()
    for model in MODELS:
        path = os.path.join(folder, model)
        found = {"in one go": hash_of(2, 1, model, ticks, *sized)}
        half = hash_of(4, 1, model, ticks // 2, "--save", path, *sized)
        if half in found.values():
            sys.exit("%s: nothing changes between ticks %d and %d" % (model, ticks // 2, ticks))
        for ranks in (3, 8):
            found["restart on %d" % ranks] = hash_of(ranks, 1, model, ticks // 2, "--load", path, *sized)
        check_equal(found, model)
        print(model, ticks, "ticks, restarted:", found["in one go"], flush=True)


def asked(folder):
    """Signals to one rank: SIGUSR1 saves and the run goes on, SIGTERM saves and ends it."""
    path = os.path.join(folder, "asked")
    command = ["mpirun", "--bind-to", "none", "-np", "2", WEFT, "shard-demo", "sheep", "--ticks", "1000000000", "--workers", "1", "--json",
               "--hash-every", "1", "--save", path]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
            next(process.stdout) # they have come to their first step
            rank = int(file.read().split()[-1])
        os.kill(rank, signal.SIGUSR1)
        while not os.path.exists(path):
            next(process.stdout)
        with open(path, "rb") as file:
            first = file.read()
        next(process.stdout)
        os.kill(rank, signal.SIGTERM)
        (*_, last) = (line for line in map(json.loads, process.stdout) if line["type"] == "hash")
    if process.returncode != 0 or first == read(path):
        sys.exit("SIGTERM: status %d" % process.returncode)
    lines = map(json.loads, run(3, "shard-demo", "sheep", "--ticks", "0", "--load", path, "--json").splitlines())
    (saved,) = [line for line in lines if line["type"] == "hash"]
    check_equal({"saved": saved["hash"], "the run": last["hash"]}, "a run that was asked to end")
    text, listed = alone("dump", path), os.path.join(folder, "listed")
    alone("dump", path, "--out", listed)
    check_equal({"rows in weft dump": sum(line.startswith('{"entity"') for line in text.splitlines()), "saved": saved["entities"]},
                "weft dump of a checkpoint")
    if read(listed).decode() != text:
        sys.exit("weft dump --out writes another text")
    damaged = bytearray(read(path))
    damaged[len(damaged) // 2] ^= 1
    with open(path, "wb") as file:
        file.write(damaged)
    done = subprocess.run([WEFT, "dump", path], capture_output=True, text=True)
    if done.returncode != 2 or "damaged" not in done.stderr or done.stdout:
        sys.exit("a damaged checkpoint: %s" % done)


def killed(folder):
    """A rank is killed in the middle of a run that saves all the time: the last checkpoint goes on, on another number of ranks."""
    run(2, "shard-demo", "sheep", "--save-every", "5", code=2)
    path = os.path.join(folder, "point")
    command = ["mpirun", "--bind-to", "none", "-np", "2", WEFT, "shard-demo", "sheep", "--ticks", "1000000000", "--workers", "1", "--json",
               "--hash-every", "5", "--save", path, "--save-every", "5"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            for count, _ in enumerate(process.stdout):
                if count == 3: # tick 20: that of 15 is saved
                    with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as file:
                        os.kill(int(file.read().split()[-1]), signal.SIGKILL)
        finally:
            process.terminate()
    if process.returncode == 0:
        sys.exit("a run whose rank was killed ended with status 0")
    lines = map(json.loads, run(3, "shard-demo", "sheep", "--ticks", "0", "--load", path, "--json").splitlines())
    (saved,) = [line for line in lines if line["type"] == "hash"]
    if saved["tick"] < 15 or saved["tick"] % 5 != 0:
        sys.exit("the checkpoint is of tick %d" % saved["tick"])
    check_equal({"saved": "%d entities, %s" % (saved["entities"], saved["hash"]),
                 "in one go": hash_of(1, 1, "sheep", saved["tick"])}, "a killed run")


def stress(rounds, runs):
    found = {}
    for r in runs:
        ranks, workers = r.split("x")
        line = json.loads(run(ranks, "stress", "shard", "--seed", "7", "--rounds", rounds, "--workers", workers, "--json"))
        found[r] = line["hash"]
        if line["errors"] or line["rounds"] != int(rounds):
            sys.exit("stress: %s" % line)
    check_equal(found, "stress")


def trace(merge, folder):
    """Each rank leaves a trace; merged, the rows of both are there, and their frames overlap in time."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "profile"))
    sys.dont_write_bytecode = True # the folder of the sources stays as it is
    from perfetto import read_trace
    parts, whole = [os.path.join(folder, "run.rank%d.pftrace" % n) for n in (0, 1)], os.path.join(folder, "all.pftrace")
    ENVIRONMENT["WEFT_TRACE"] = os.path.join(folder, "run.pftrace")
    run(2, "shard-demo", "flock", "--ticks", "20", "--size", "800", "--workers", "1")
    subprocess.run([merge, "-o", whole, *parts], check=True)
    single = [read_trace(path)[0] for path in parts]
    both = read_trace(whole)[0]
    if len(both) != len(single[0]) + len(single[1]) or not single[0] or not single[1]:
        sys.exit("%d events of %d and %d" % (len(both), len(single[0]), len(single[1])))
    if sorted(event[2] for event in both) != sorted(event[2] for events in single for event in events):
        sys.exit("times have changed")
    if b"rank 0" not in read(whole) or b"rank 1" not in read(whole):
        sys.exit("the ranks have no names")
    merged = read(whole)
    broken = subprocess.run([merge, "-o", whole, WEFT], capture_output=True, text=True)
    if broken.returncode != 1 or "is no .pftrace" not in broken.stderr:
        sys.exit("a file that is no trace: %s" % broken)
    if read(whole) != merged or os.path.exists(whole + ".part"):
        sys.exit("a merge that failed changed its output")
    before = read(parts[0])
    over = subprocess.run([merge, "-o", parts[0], *parts], capture_output=True, text=True)
    if over.returncode != 2 or "would be written over" not in over.stderr or read(parts[0]) != before:
        sys.exit("it writes over what it reads: %s" % over)


def inspect():
    """The inspector of rank 0 shows the figures of all ranks, over HTTP on the loopback interface."""
    run(2, "shard-demo", "flock", "--ticks", "1", "--inspect=none", code=2)
    command = ["mpirun", "--bind-to", "none", "-np", "3", WEFT, "shard-demo", "flock", "--ticks", "1000000000", "--size", "3000",
               "--workers", "1", "--balance-every", "2000000000", "--inspect=0"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(l for l in process.stderr if "http" in l)
            base, token = line.split("http://")[1].strip().split("/#")

            def ask(**request):
                head = {"X-Weft-Token": token, "Content-Type": "application/json"}
                asked = urllib.request.Request("http://" + base + "/api", json.dumps(request).encode(), head)
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=60) as answer:
                    return json.load(answer)

            tick, seen = 0, []
            while len(seen) < 2: # figures come at the end of a step, 250 ms after the last ones at the earliest
                told = ask(do="shards")
                if not told["there"]:
                    sys.exit("the world of rank 0 is not sharded: %s" % told)
                if told["shards"]["tick"] > tick:
                    tick = told["shards"]["tick"]
                    seen.append(told["shards"])
            for older, now in zip(seen, seen[1:]):
                if now["steps"] > now["tick"] - older["tick"]:
                    sys.exit("figures of more steps than there were: %s" % seen)
            over = {o["figure"]: o["sum"] for o in seen[-1]["over_ranks"]}
            if [row["rank"] for row in seen[-1]["rows"]] != [0, 1, 2] or over["entities"] != 3000:
                sys.exit("not all ranks are there: %s" % seen[-1])
            if not all(row["entities"] and row["ghosts"] and row["sent"] and row["work"] and row["host"] for row in seen[-1]["rows"]):
                sys.exit("a rank has no figures: %s" % seen[-1])
            if any(row["work"] + row["wait"] + row["sync"] > 1.001 * row["time"] for row in seen[-1]["rows"]):
                sys.exit("parts of a tick are longer than it: %s" % seen[-1])
            ask(do="pause", paused=True)
            if ask(do="status")["paused"] is not True or ask(do="shards")["shards"]["ranks"] != 3:
                sys.exit("a paused run does not answer")
        finally:
            process.terminate()
            process.stderr.close()


if not shutil.which("mpirun"):
    print("mpirun is not installed (Debian: openmpi-bin): skipped")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="weft_shards_") as temporary, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
    ENVIRONMENT["TMPDIR"] = own # of mpirun: in a shared folder, a run that ends removes what another is about to use
    if WHAT == "screen":
        screen(*REST, temporary)
    elif WHAT == "killed":
        killed(temporary)
        asked(temporary)
    elif WHAT == "campaign":
        demo(1000, ["%dx%d" % (n, w) for n in (1, 2, 3, 4, 5, 8) for w in (1, 2)])
        restart(200, temporary)
    elif WHAT == "demo":
        demo(int(REST[0]), REST[1].split(","), *REST[2:])
    elif WHAT == "restart":
        restart(int(REST[0]), temporary, *REST[1:])
    elif WHAT == "stress":
        stress(REST[0], REST[1].split(","))
    elif WHAT == "trace":
        trace(REST[0], temporary)
    elif WHAT == "inspect":
        inspect()
    else:
        sys.exit(__doc__)
