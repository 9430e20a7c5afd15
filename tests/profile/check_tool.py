# SPDX-License-Identifier: MIT
"""The parts of weft-perf that need no perf: markers in stacks, the output of perf script and perf sched, times of
spans, tables, SVG files; and what it says when something is missing.

usage: check_tool.py FOLDER_OF_TOOLS
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
TOOLS = sys.argv[1]
sys.path.insert(0, os.path.join(TOOLS, "profile"))
import deep  # noqa: E402
import flame  # noqa: E402
import perf_data  # noqa: E402
import probes  # noqa: E402
import recording  # noqa: E402
import schedule  # noqa: E402
import spans  # noqa: E402

failures = []


def check(is_good, text):
    if not is_good:
        failures.append(text)
        print("failed: " + text)


def check_equal(label, got, wanted):
    check(got == wanted, f"{label}: {got!r} instead of {wanted!r}")


def marker(address, name):
    return struct.pack("<QQ", perf_data.MAGIC ^ address, name)


def check_markers():
    base = 0x7FFD00001000
    two = b"\1" * 64 + marker(base + 64, 0x11) + b"\2" * 48 + marker(base + 128, 0x22)
    check_equal("innermost marker", perf_data.find_marker(two, base), (0x11, 64))
    ended = bytearray(two)
    ended[64:72] = bytes(8)
    check_equal("an ended marker", perf_data.find_marker(bytes(ended), base), (0x22, 128))
    check_equal("a copy of a marker elsewhere", perf_data.find_marker(two, base + 8)[0], 0)
    check_equal("a marker that is cut", perf_data.find_marker(two[:76], base), (0, 76))
    check_equal("no marker", perf_data.find_marker(b"\x45\x57" * 512, base)[0], 0)
    for size in range(len(two)):
        perf_data.find_marker(two[:size], base)  # never beyond the end
    for broken in (b"", b"PERFILE2", b"x" * 200, b"PERFILE2" + struct.pack("<12Q", *[1 << 60] * 12)):
        with tempfile.NamedTemporaryFile() as f:
            f.write(broken)
            f.flush()
            try:
                perf_data.read_samples(f.name)
                check(False, f"a recording of {len(broken)} bytes was read")
            except perf_data.Unreadable:
                pass


SCRIPT = """game 10/10   12.000000001:
\t         1a2b move (/bin/game)
\t          110 weft__system_call (/lib/libweft.so)
\t          109 _start (/bin/game)

weft w 1 10/11 12.000000002:
\tffffffff82 clear_page ([kernel.kallsyms])
\t         77 sin@@GLIBC_2.2.5 (/lib/libm.so.6)
\t         78 operator()(int) const (/bin/game)
\t          110 weft__system_calls+0x11 (/lib/libweft.so)
\t          109 clone3 (/lib/libc.so.6)

weft w 1 10/11 12.000000003:
\t         77 weft__worker_spin (/lib/libweft.so)
\t          109 clone3 (/lib/libc.so.6)

game 10/10 12.000000004:
\t         77 main (/bin/game)
\t          109 _start (/bin/game)

game 10/10 12.000000005:
\t         77 weft_world_step (/bin/game)
\t          109 _start (/bin/game)

game 10/10 12.000000006:
\t         77 [unknown] (/bin/game)
""".split("\n")


def check_script():
    samples = list(recording.read_script(SCRIPT))
    check_equal("threads", [s[2] for s in samples], ["game", "weft w 1", "weft w 1", "game", "game", "game"])
    check_equal("time", samples[1][3], 12 * 10**9 + 2)
    names = [[name for name, _ in s[4]] for s in samples]
    check_equal("frames", names[1], ["clone3", "weft__system_calls", "operator()(int) const", "sin", "clear_page"])
    placed = [recording.place(s[2], s[4], marked) for s, marked in zip(samples, ["jump", None, "", "", "", "jump"])]
    check_equal("by marker", placed[0], ("jump", ["move"], False))
    check_equal("by function", placed[1], ("operator()(int) const", ["sin", "clear_page"], False))
    check_equal("waiting", placed[2], ("(waiting)", ["weft w 1"], False))
    check_equal("host", placed[3][0], "(host)")
    check_equal("engine", placed[4][0], "(engine)")
    check_equal("a broken stack", placed[5], ("jump", ["[unknown]"], True))
    check(not recording.place("game", samples[3][4], "")[2], "a whole stack of the host counts as broken")
    clock = [("[unknown]", "[vdso]"), ("do_syscall_64", "[kernel.kallsyms]")]
    check_equal("the clock, which perf cannot unwind", recording.place("game", clock, "jump"),
                ("jump", ["do_syscall_64"], False))
    for function, row in (("weft__playback_run", "(playback)"), ("weft__relations_settle_all", "(relations)"),
                          ("weft__observers_play", "(observers)"), ("weft__hash_log_point", "(hashing)")):
        stack = [(name, "/bin/game") for name in ("_start", "main", "weft_world_step", function, "memcpy")]
        check_equal(function, recording.place("game", stack, ""), (row, ["game", function, "memcpy"], False))
    rows = recording.table([("b", 1, 1), ("(host)", 1, 9), ("a", 1, 3), ("a", 2, 1)])
    check_equal("rows", [tuple(r) for r in rows], [("a", 4, 4 / 14, 2, 0.75), ("b", 1, 1 / 14, 1, 1.0),
                                                  ("(host)", 9, 9 / 14, 1, 1.0)])


def check_deep():
    """Cut samples are shared out as whole stacks say, by their innermost functions."""
    whole = deep.Stacks()
    for system, frames in [("near", ["kernel", "loop", "sin"])] * 3 + [("far", ["tide", "sin"]), (None, ["main", "map"])]:
        whole.learn(system, frames)

    def cut(*frames, system="(host)", is_broken=True):
        sample = recording.Sample(1, 1, "w", 0, system, ["w", *frames], is_broken)
        return sample._replace(**whole.complete(sample))
    got = [cut("sin").system for _ in range(8)]
    check_equal("in proportion", (got.count("near"), got.count("far")), (6, 2))
    check_equal("two frames", (cut("loop", "sin").system, cut("loop", "sin").frames), ("near", ["kernel", "loop", "sin"]))
    check_equal("host", (cut("map").system, cut("map").is_broken), ("(host)", True))
    check_equal("unknown", [cut("log").system for _ in range(5)].count("near"), 3)
    check_equal("a whole stack", cut("sin", is_broken=False).system, "(host)")
    check_equal("a marker", cut("sin", system="far").system, "far")
    check_equal("nothing seen", deep.Stacks().complete(recording.Sample(1, 1, "w", 0, "(host)", ["w", "sin"], True)), {})


def check_lists():
    with tempfile.TemporaryDirectory() as folder:
        for world, lines in ((1, "system a0 0 move it\nsystem b0 1 draw\nsystem a0 2 moved\n"),
                             (2, "system c0 0 draw\nhalf a li")):
            with open(os.path.join(folder, f"systems-7-{world}"), "w", encoding="utf-8") as f:
                f.write(lines)
        check_equal("lists", recording.read_systems(folder), {
            (7, 0xa0): ("moved", 2), (7, 0xb0): ("draw [world 1]", 1), (7, 0xc0): ("draw [world 2]", 0)})


def check_spans():
    found = {}
    for path, us in spans.self_times([(0, 100, "frame"), (10, 60, "fused"), (10, 40, "move"), (40, 60, "spin"),
                                      (70, 90, "move"), (75, 80, "job"), (92, 98, "playback"), (93, 94, "job"),
                                      (200, 300, "parked")]):
        system, below = spans.place(path, {"move", "spin"})
        found[system, below] = found.get((system, below), 0) + us
    check_equal("self times", found, {
        ("move", ()): 45, ("move", ("job",)): 5, ("spin", ()): 20, ("(waiting)", ()): 100,
        ("(playback)", ()): 5, ("(playback)", ("job",)): 1, ("(engine)", ("frame",)): 24, ("(engine)", ("frame", "fused")): 0})


TIMEHIST = """           time    cpu  task name                       wait time  sch delay   run time  state
                        [tid/pid]                          (msec)     (msec)     (msec)
--------------- ------  ------------------------------  ---------  ---------  ---------  -----
     10.000002 [0000]  game[5]                             0.000      0.500      1.000      S
     10.001002 [0001]  weft w 1[6/5]                       0.000      0.000      0.500      R
     10.004002 [0000]  game[5]                             2.000      0.250      1.000      S
     10.005002 [0000]  weft w 1[6/5]                       3.500      0.000      0.500      S
     10.006002 [0000]  other[9]                            3.500      0.000      0.500      S
     10.006002 [0000]  :-1[-1/5]                           3.500      0.000      0.500      S
""".split("\n")


def check_schedule():
    threads, others = schedule.read(TIMEHIST, {5})
    check_equal("threads", [(t.name, t.tid) for t in threads], [("game", 5), ("weft w 1", 6)])
    check_equal("others", others, 1)
    first, second = (schedule.summary(t) for t in threads)
    check_equal("wake-ups", (first["wakes"], first["wake_max_ms"], first["preempted_ms"]), (2, 0.5, 0))
    check_equal("preempted", (second["wakes"], second["preempted_ms"], second["migrations"]), (1, 3.5, 1))
    xml.dom.minidom.parseString(schedule.svg(threads))


def check_ticks():
    for length in (0.02, 1.0, 1.4, 9.9, 10, 1428, 390000):
        found = schedule.ticks(length)
        check(4 <= len(found) <= 10 and found[0] == 0 and found[-1] <= length, f"ticks of {length}: {found}")


def check_svg():
    root = flame.Node()
    root.add(["collide<pair> & \"co\"", "sqrt"], 30)
    root.add(["move with a name that is far too long for its box"], 2)
    root.add(["(engine)", "weft-w1"], 300)
    text = flame.svg(root, "a < b", "x & y", "samples")
    document = xml.dom.minidom.parseString(text)
    boxes = [g for g in document.getElementsByTagName("g") if "b" in g.getAttribute("class").split()]
    titles = [g.getElementsByTagName("title")[0].firstChild.data for g in boxes]
    check("collide<pair> & \"co\": 30 samples, 9.04 %" in titles, f"titles {titles}")
    check_equal("order", [t.split(":")[0][:4] for t in titles], ["all", "coll", "sqrt", "move", "(eng", "weft"])
    check("http" not in text.replace("http://www.w3.org/", ""), "the flame graph asks the network for something")
    check("prefers-color-scheme: dark" in text, "no dark colours")
    check_equal("short", flame.clip("abcdef", 4), "abc…")
    check_equal("shorter", flame.shorten("abcdef", 20), "")


def run(*arguments, path=None, **variables):
    environment = {**os.environ, **variables}
    if path is not None:
        environment["PATH"] = path
    return subprocess.run([sys.executable, os.path.join(TOOLS, "weft-perf"), *arguments], capture_output=True,
                          text=True, env=environment)


def check_usage():
    with tempfile.TemporaryDirectory() as folder:
        cases = [(["stat"], "name a command"), (["flame", "--"], "name a command"),
                 (["record", "--", "/nonexistent/program"], "there is no command"),
                 (["annotate"], "name a system"), (["flame", "move"], "after --"),
                 (["flame", "--hertz", "0"], "--hertz"), (["flame", "--stack-bytes", "9"], "--stack-bytes"),
                 (["flame", "-o", folder + "/none"], "no recording in"),
                 (["annotate", "-o", folder + "/none", "move"], "no recording in"),
                 (["trace", "-o", folder + "/silent", "--", "true"], "the command wrote no trace"),
                 (["probe", "none", "--", "true"], "there are: counts, sample, sleep, slices, steals"),
                 (["probe", "-o", probes.RECIPES, "counts", "--", "true"], "which would be written over"),
                 (["stat", "-o", folder, "--", folder + "/trace/game"], "is emptied for the recording")]
        os.mkdir(folder + "/trace")
        shutil.copy("/bin/true", folder + "/trace/game")
        for arguments, text in cases:
            done = run(*arguments)
            check(done.returncode == 2 and text in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")
        done = run("record", "-o", folder, "--", "/bin/true", path="/nonexistent")
        check(done.returncode == 2 and "apt-get install linux-perf" in done.stderr, f"no perf: {done.stderr}")
        done = run("flame", "-o", folder, "--", "/bin/true", WEFT_PERF="/nonexistent")
        check(done.returncode == 2 and "wrote no trace" in done.stderr, f"no trace: {done.stderr}")
        done = run("flam")
        check(done.returncode == 2 and "invalid choice" in done.stderr and "Try" in done.stderr, f"flam: {done.stderr}")
        done = run("--help")
        check(done.returncode == 0 and "examples:" in done.stdout and "--stack-bytes" in done.stdout, f"help: {done}")
        check_equal("no arguments", run().returncode, 2)


check_markers()
check_script()
check_deep()
check_lists()
check_spans()
check_schedule()
check_ticks()
check_svg()
check_usage()
check_equal("recipes", probes.names(), ["counts", "sample", "sleep", "slices", "steals"])
sys.exit(1 if failures else 0)
