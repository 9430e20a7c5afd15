#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs shard_model under mpirun and compares hashes: run_shard.py MODE FOLDER [--quick].

MODE: hashes, kinds, restart, worlds, programs, static, faults, refused, messages, figures, log, leaks; FOLDER has the
programs. Messages stay on this machine: shared memory and the loopback interface. --quick: fewer runs, for instrumented builds.
"""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(
    os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_btl="self,vader", OMPI_MCA_oob_tcp_if_include="lo",
    OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
# MPI is not instrumented: ThreadSanitizer does not see how its threads order what they do. So it leaves out what MPI
# does itself; a race between threads of weft is found all the same.
NOT_MPI = ":ignore_noninstrumented_modules=1"
SMALL = ("--points", "700", "--steps", "20")


class Failed(Exception):
    pass


def run(folder, ranks, *arguments, program="shard_model", fails=False, limit=300, options=()):
    """The lines that rank 0 prints; of a run that fails, all of its text."""
    command = ["mpirun", *options, "-np", str(ranks), os.path.join(folder, program), *map(str, arguments)]
    return finish(command, fails, limit)


def finish(command, fails, limit=300):
    """Each process writes what its sanitizer says to a file of its own: in one stream they mix. mpirun has a folder
    of its own: in a shared one, a run that ends removes what another is about to use."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        more = {"ASAN_OPTIONS": "", "TSAN_OPTIONS": NOT_MPI}
        options = {name: (os.environ.get(name, "") + f"{add}:log_path={place}/said").lstrip(":")
                   for name, add in more.items()}
        os.mkdir(os.path.join(place, "mpi"))
        done = subprocess.run(command, env=dict(ENVIRONMENT, **options, TMPDIR=os.path.join(place, "mpi")),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=limit)
        said = []
        for name in sorted(set(os.listdir(place)) - {"mpi"}):
            with open(os.path.join(place, name)) as file:
                said.append(file.read())
    if (done.returncode != 0) != fails:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n" + done.stdout + "".join(said))
    for leak in (part for text in said for part in text.split("leak of ")[1:]):
        if "libpmix.so" not in leak.split("\n\n")[0]:
            raise Failed(f"{' '.join(command)}: leak of {leak}")
    return done.stdout + "".join(said)


def hash_of(text):
    line = next((l for l in text.splitlines() if l.startswith("hash ")), None)
    if line is None:
        raise Failed(f"no hash in:\n{text}")
    return line.split()[1]


def figure_of(text, name):
    words = next(l for l in text.splitlines() if l.startswith("hash ")).split()
    return int(words[words.index(name) + 1])


def same(what, expected, found):
    if expected != found:
        raise Failed(f"{what}: {found}, expected {expected}")
    print(f"{what}: {found}")


def files_of_ranks(folder):
    """What the environment asks for has a file of each rank; an order of slices is run again from them."""
    with tempfile.TemporaryDirectory() as place:
        def ask(**variables):
            options = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
            return hash_of(run(folder, 3, *SMALL, "--workers", 2, options=options))
        first = ask(WEFT_ORDER=f"record:{place}/a.order", WEFT_STATE_LOG=f"{place}/a.log", WEFT_TRACE=f"{place}/a.pftrace")
        names = sorted(f"a.rank{rank}.{end}" for rank in range(3) for end in ("order", "log", "pftrace"))
        same("files of ranks", names, sorted(os.listdir(place)))
        same("hash of the order again", first, ask(WEFT_ORDER=f"replay:{place}/a.order"))
        same("hash of a drawn order", first, ask(WEFT_ORDER="draw:1"))
        same("drawn orders have no file", names, sorted(os.listdir(place)))


def hashes(folder, quick):
    """One hash for any number of ranks and workers; sectors move between ranks meanwhile."""
    one = hash_of(run(folder, 1, *SMALL))
    for workers in (1, 3):
        alone = [os.path.join(folder, "shard_model_one"), *SMALL, "--workers", str(workers)]
        same(f"one rank, no MPI, {workers} workers", one, hash_of(finish(alone, False)))
    for ranks, workers in ((3, 2),) if quick else ((1, 2), (2, 1), (3, 2), (4, 1), (5, 2), (8, 1)):
        text = run(folder, ranks, *SMALL, "--workers", workers)
        same(f"{ranks} ranks x {workers}", one, hash_of(text))
    same("1,100 systems before those that read ghosts", one, hash_of(run(folder, 3, *SMALL, "--idle", 1100)))
    moved = run(folder, 3, *SMALL, "--uneven", "--balance", 4)
    if figure_of(moved, "sectors") == 0:
        raise Failed(f"no sector moved: {moved}")
    same("uneven, balanced", hash_of(run(folder, 1, *SMALL, "--uneven")), hash_of(moved))
    alone = run(folder, 1, *SMALL, "--sparse")
    moved = run(folder, 3, *SMALL, "--sparse")
    same("with SPARSE components and names", hash_of(alone), hash_of(moved))
    same("names and SPARSE components by gid", figure_of(alone, "beside"), figure_of(moved, "beside"))
    same("SPARSE components count", False, one == hash_of(alone))
    files_of_ranks(folder)
    split = [sorted(line for line in run(folder, ranks, program="shard_split").splitlines() if line.startswith("hash "))
             for ranks in (2, 5)]
    same("ranks of communicators of the program's own", ["1", "1", "2", "3"],
         [line.split()[3] for lines in split for line in lines])
    same("their hashes", 1, len({line.split()[1] for lines in split for line in lines}))


def write_table(cases):
    """The table of docs/reference/ranks.md is what the cases say; WEFT_WRITE_TABLES writes it."""
    path = os.path.join(os.path.dirname(__file__), "../../docs/reference/ranks.md")
    with open(path) as file:
        page, mark, table = file.read().partition("<!-- the table: tests/shard/shard_kinds.c -->\n")
    rows = ""
    for case in cases:
        name, is_refused, reason = case[5:].partition(": refused: ")
        rows += f"| {name.partition(': same')[0]} | {is_refused[2:] + reason or 'one answer'} |\n"
    text = "| | on any number of ranks |\n|---|---|\n" + rows
    if os.environ.get("WEFT_WRITE_TABLES"):
        with open(path, "w") as file:
            file.write(page + mark + text)
    elif table != text:
        raise Failed(f"docs/reference/ranks.md is not\n{text}")


def kinds(folder, quick):
    """Each kind of component and each feature: one answer on any number of ranks, or one refusal."""
    lines = [l for l in run(folder, 1, program="shard_kinds").splitlines() if l.startswith("case ")]
    write_table(lines)
    for ranks, workers in ((3, 2),) if quick else ((2, 1), (3, 2), (4, 1), (5, 1)):
        text = run(folder, ranks, "--workers", workers, program="shard_kinds")
        found = [line for line in text.splitlines() if line.startswith("case ")]
        for expected, line in zip(lines, found):
            same(f"{ranks} ranks", expected, line)
        same("cases", len(lines), len(found))


def restart(folder, quick):
    """10 steps on 4 ranks, then 10 more on other numbers: as 20 in one go. Same bytes, too."""
    with tempfile.TemporaryDirectory() as place:
        four, one = os.path.join(place, "four"), os.path.join(place, "one")
        whole = hash_of(run(folder, 1, *SMALL, "--save", one, "--at", 10))
        half = run(folder, 4, "--points", 700, "--steps", 10, "--save", four, "--at", 10)
        with open(four, "rb") as a, open(one, "rb") as b:
            same("bytes of 4 ranks and of 1", True, a.read() == b.read())
        for ranks in (3,) if quick else (1, 3, 8):
            text = run(folder, ranks, "--steps", 10, "--load", four)
            same(f"restart on {ranks}", whole, hash_of(text))
        old = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden/version2.shards")
        text = run(folder, 2, "--steps", 5, "--load", old)  # as 10 steps of 12 points then
        same("a checkpoint of version 2", "2c88915206c50f2f239502f3883ba3f8eeb1efaa05113b5e", hash_of(text))
        marked = run(folder, 1, *SMALL, "--sparse")
        run(folder, 3, "--points", 700, "--steps", 10, "--sparse", "--save", four, "--at", 10)
        text = run(folder, 2, "--steps", 10, "--sparse", "--load", four)
        same("SPARSE components from 3 ranks to 2", hash_of(marked), hash_of(text))
        same("names, too", figure_of(marked, "beside"), figure_of(text, "beside"))
        rows = [sorted(line for line in run(folder, ranks, "--steps", 0, "--still", "--load", four, "--dump", *grown).splitlines()
                       if line.startswith("row ")) for ranks, *grown in ((1,), (2, "--grown"))]
        same("rows of an older struct", True, rows[0] == rows[1] and any("friend 0 " not in row for row in rows[0]))
        damaged = os.path.join(place, "damaged")
        with open(four, "rb") as a, open(damaged, "wb") as b:
            data = bytearray(a.read())
            data[len(data) // 2] ^= 1
            b.write(data)
        text = run(folder, 2, "--steps", 0, "--load", four, "--seed", 8, fails=True)
        same("another seed", True, "is of a run with seed 7, the shard has seed 8" in text)
        run(folder, 2, "--steps", 0, "--load", four, "--seed", 0)
        text = run(folder, 2, "--steps", 0, "--load", damaged, fails=True)
        same("a damaged byte", True, "nothing was loaded" in text)
        same("the file is alone", ["damaged", "four", "one"], sorted(os.listdir(place)))
        del half


def worlds(folder, quick):
    """Random worlds with all kinds of components, saved by 3 ranks and loaded by 2."""
    count, batch = (10000, 500) if os.environ.get("WEFT_DEEP") else (30, 30) if quick else (120, 120)
    count = int(os.environ.get("WEFT_TEST_SEEDS", count))
    for first in range(1, count + 1, batch):
        some = min(batch, count + 1 - first)
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
            saved = run(folder, 3, "save", first, some, place, program="shard_worlds", limit=3600)
            loaded = run(folder, 2, "load", first, some, place, program="shard_worlds", limit=3600)
        same(f"worlds of 3 ranks on 2, seeds {first} to {first + some - 1}",
             *(re.search("^worlds .*", text, re.M)[0] for text in (saved, loaded)))


def lines_of(folder, ranks, way, *arguments):
    return [line for line in run(folder, ranks, way, *arguments, program="shard_programs", limit=3600).splitlines()
            if line.startswith("seed ")]


def programs(folder, quick):
    """Random programs over all that ranks accept: one answer on any number of them, in one go and with a checkpoint."""
    count, batch = (1000, 100) if os.environ.get("WEFT_DEEP") else (3, 3) if quick else (6, 6)
    count = int(os.environ.get("WEFT_TEST_SEEDS", count))
    turn = 0 if os.environ.get("WEFT_DEEP") else int(os.environ.get("WEFT_TURN", 0)) * count % 1000
    for first in range(turn + 1, turn + count + 1, batch):
        some = min(batch, turn + count + 1 - first)
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
            arguments = (first, some, place)
            one = lines_of(folder, 1, "run", *arguments)
            same("programs", 3 * some, len(one))
            ends = [line for line in one if " end " in line]
            for ranks in (3,) if quick else (2, 3, 4, 5) if os.environ.get("WEFT_DEEP") else (2, 3, 5):
                for expected, line in zip(one, lines_of(folder, ranks, "run", *arguments)):
                    if expected != line:
                        same(f"{ranks} ranks", expected, line)
            for ranks in (2,) if quick else (1, 3, 5) if os.environ.get("WEFT_DEEP") else (1, 4):
                for expected, line in zip(ends, lines_of(folder, ranks, "load", *arguments)):
                    if expected != line:
                        same(f"second half on {ranks} ranks", expected, line)
            print(f"programs of seeds {first} to {first + some - 1}: one answer")
            if first == turn + 1:
                kept_refusals(folder, first, place)


def kept_refusals(folder, seed, place):
    """What is kept must be the same on all ranks, known to who loads, and whole."""
    def said(way):
        return run(folder, 3, way, seed, 1, place, program="shard_programs")
    for way, reason in (("bare", "keeps Tally, which the description of the shard does not"),
                        ("late", "the world has private entities with Lamp"),
                        ("differ", "resource Tally of rank 2 differs from that of rank 0"),
                        ("more", "private entities with Lamp of rank 2 differ from the")):
        text = said(way)
        same(f"kept values, {way}", (3, True), (text.count("refused: "), reason in text))
    path = os.path.join(place, str(seed))
    with open(path, "rb") as file:
        whole = file.read()
    damaged = whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:]
    for what, data in (("a damaged byte", damaged), ("a lost end", whole[:-8])):
        with open(path, "wb") as file:
            file.write(data)
        text = run(folder, 2, "load", seed, 1, place, program="shard_programs", fails=True)
        same(f"kept values, {what}", True, "nothing was loaded" in text)


def static(folder, quick):
    """A world that stands still sends no value bytes after the first exchange."""
    few, many = (figure_of(run(folder, 3, "--points", 700, "--still", "--steps", steps,
                               "--balance", 0), "bytes") for steps in (2, 12))
    same("value bytes of 2 and of 12 steps", few, many)
    if few == 0:
        raise Failed("no ghosts were sent at all")


def faults(folder, quick):
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "point")
        whole = hash_of(run(folder, 2, *SMALL))
        text = run(folder, 3, *SMALL, "--save", path, "--at", 10, "--die", 12, fails=True)
        same("a rank was killed: the run ends", True, "hash" not in text)
        same("its checkpoint is whole", whole,
             hash_of(run(folder, 2, "--steps", 10, "--load", path)))
        with open(path, "rb") as file:
            before = file.read()
        text = run(folder, 2, *SMALL, "--save", path, "--at", 12, "--full", fails=True)
        same("a full disk", True, "the earlier checkpoint is as it was" in text)
        with open(path, "rb") as file:
            same("the earlier checkpoint is there", True, before == file.read())
        same("nothing is left over", ["point"], os.listdir(place))
        link, pipe = os.path.join(place, "link"), os.path.join(place, "pipe")
        os.symlink("point", link)
        run(folder, 2, *SMALL, "--save", link, "--at", 10)
        same("a symbolic link stays, and leads to the checkpoint", whole if os.path.islink(link) else None,
             hash_of(run(folder, 2, "--steps", 10, "--load", path)))
        os.mkfifo(pipe)
        text = run(folder, 2, *SMALL, "--save", pipe, "--at", 10, fails=True)
        same("a pipe is not replaced", (True, True),
             ("is not a regular file" in text, stat.S_ISFIFO(os.stat(pipe).st_mode)))
        for path in pipe, place:
            text = run(folder, 2, *SMALL, "--load", path, fails=True, limit=60)
            same("no checkpoint: " + os.path.basename(path)[:4], True, "not a regular file" in text)
        same("nothing more is left over", ["link", "pipe", "point"], sorted(os.listdir(place)))
        text = run(folder, 3, *SMALL, "--component", fails=True)
        same("other components on one rank", True, "differs from rank 0" in text)
        text = run(folder, 2, *SMALL, "--endless", fails=True)
        same("a bound that is no number", True, "balance_above is nan" in text)
        text = run(folder, 2, *SMALL, program="shard_model_one", fails=True)
        same("two single programs", True, text.count("2 processes were started") == 2)
        other = os.path.join(place, "other")
        shutil.copy(os.path.join(folder, "shard_model"), other)
        with open(other, "ab") as file:
            file.write(b"another")
        text = finish(["mpirun", "-np", "1", os.path.join(folder, "shard_model"), *SMALL, ":",
                       "-np", "1", other, *SMALL], True)
        same("another program on one rank", True, "runs another program than rank 0" in text)
        ranks = re.findall(r"refused on rank (\d+ of \d+)", text)
        same("each says which rank it is", True,
             len(ranks) == len(set(ranks)) and set(ranks) <= {"0 of 2", "1 of 2"} and ranks != [])


def refused(folder, quick):
    """Memory refused on one rank: all end, with one error."""
    deep = ((2, 1), (3, 1)) if os.environ.get("WEFT_DEEP") else None
    for ranks, stride in deep or ([(2, 40)] if quick else [(3, 12)]):
        text = run(folder, ranks, "--stride", stride, program="shard_refused", limit=3600 if deep else 600)
        print(text, end="")
        same(f"{ranks} ranks: many refusals", True, int(re.search(r"^(\d+) refusals$", text, re.M)[1]) > 300)
    one_copy = ("--mca", "btl_vader_single_copy_mechanism", "cma")  # what MPI does by itself where it may
    text = run(folder, 2, "--stride", 12, "--only", "weft_ranks_gather", program="shard_refused", options=one_copy)
    same("what is lost is not written beside its place", True, re.search(r"^\d+ refusals$", text, re.M) is not None)


def leaks(folder, quick):
    """The filter of finish lets through what PMIx leaks, and nothing of ours."""
    with open(os.path.join(folder, "shard_model"), "rb") as file:
        if b"__lsan_do_recoverable_leak_check" not in file.read():
            raise Failed("shard_model was not built with AddressSanitizer")
    try:
        run(folder, 3, *SMALL, "--leak")
    except Failed as found:
        same("a leak on one rank is found", True, "leak of 40 byte" in str(found))
        return
    raise Failed("40 lost bytes were not found")


def messages(folder, quick):
    """Messages that leave late, and out of the order of ranks."""
    one = hash_of(run(folder, 1, *SMALL))
    for ranks in (3,) if quick else (3, 5):
        text = run(folder, ranks, *SMALL, program="shard_model_late")
        same(f"late messages, {ranks} ranks", one, hash_of(text))


def figures(folder, quick):
    """What a tool on one rank is told of all ranks; looking does not change the hash."""
    ranks = 3
    for steps in (1,) if quick else (1, 20):
        small = ("--points", 700, "--steps", steps, "--balance", 0)
        one = hash_of(run(folder, 1, *small))
        text = run(folder, ranks, *small, "--asked")
        same(f"asked for figures, {steps} steps", one, hash_of(text))
        told = json.loads(next(l for l in text.splitlines() if l.startswith("told "))[5:])
        same("ranks", list(range(ranks)), [row["rank"] for row in told["rows"]])
        same("steps", True, 1 <= told["steps"] <= told["tick"] <= steps)
        over = {o["figure"]: o for o in told["over_ranks"]}
        for name, o in over.items():
            values = [row[name] for row in told["rows"]]
            if abs(sum(values) - o["sum"]) > 1e-6 * o["sum"] or max(values) != o["largest"]:
                raise Failed(f"{name}: {values}, but over ranks {o}")
            if o["sum"] > 0 and values[o["rank"]] != o["largest"]:
                raise Failed(f"{name}: not the largest rank: {values}, {o}")
        same("sectors", 64, over["sectors"]["sum"])
        same("ghosts, bytes and times are there", True,
             all(over[name]["sum"] > 0 for name in ("ghosts", "border", "sent", "time", "work", "sync")))
        if steps == 1:
            same("entities", figure_of(text, "rows"), over["entities"]["sum"])
            same("ghosts", figure_of(text, "ghosts"), over["ghosts"]["sum"])
            same("rows that left came", over["left"]["sum"], over["arrived"]["sum"])
            same("bytes sent came", round(over["sent"]["sum"]), round(over["received"]["sum"]))


def log(folder, quick):
    """The state log by gid: one file of a run, the same for any number of ranks; `weft diverge` names what is not."""
    built = os.path.dirname(os.path.realpath(os.path.join(folder, "shard_split")))
    with tempfile.TemporaryDirectory() as place:
        def diverge(way, ranks, rows=()):
            paths = []
            for count in (1, ranks):
                paths.append(os.path.join(place, f"{count}.log"))
                options = ["-x", "WEFT_STATE_LOG_BY=gid", "-x", f"WEFT_STATE_LOG={paths[-1]}", *rows]
                run(folder, count, way, 4, 1, place, program="shard_programs", options=options)
            done = subprocess.run([os.path.join(built, "../../weft"), "diverge", *paths], stdout=subprocess.PIPE,
                                  text=True)
            return done.returncode, done.stdout
        for ranks in (3,) if quick else (2, 3, 4):
            same(f"1 and {ranks} ranks", (0, "no difference; the last step is 8\n"), diverge("run", ranks))
        same("one file for each run", [], [name for name in os.listdir(place) if "rank" in name])
        status, text = diverge("bug", 3)
        same("a bug: step, system, component", (1, ["step 6, system 'go'", "component place_value"]),
             (status, re.findall("step 6, system 'go'|component place_value", text)))
        status, text = diverge("bug", 3, ("-x", "WEFT_STATE_LOG_ROWS=6"))
        found = re.findall(r"place_value, entity gid [0-9a-f]+ of sector \d+\n", text)
        same("sector and gid", (1, 1), (status, len(found)))
        values = re.findall(r"\.log: (\S+) (\S+)", text)
        same("both values", (True, False), (values[0][0] == values[1][0], values[0] == values[1]))


def main():
    modes = {f.__name__: f for f in (hashes, kinds, restart, worlds, programs, static, faults, refused, messages, figures, log, leaks)}
    try:
        modes[sys.argv[1]](sys.argv[2], "--quick" in sys.argv)
    except Failed as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
