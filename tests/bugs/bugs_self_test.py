#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bugs_self_test.py CC: the runner of the seeded bugs on a tree of its own: an entry is found where its file says, follows code that
moved to another file, and is stale when the code is gone, or in two places; a moved one is caught as before."""
import contextlib
import io
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import run_bugs  # noqa: E402 (beside this file)

BUGS = """bug limit_is_one_more
file ecs/src/core/limit.c
caught test tests/ecs/test_limit.c
- return count <
- LIMIT;
+ return count <= LIMIT;

bug two_texts
file ecs/src/core/limit.c
caught test tests/ecs/test_limit.c
- #define LIMIT 3
+ #define LIMIT 4
- return count < LIMIT;
+ return true;
"""
LIMIT = "#define LIMIT 3\nint limit_ok(int count);\nint limit_ok(int count)\n{\n    return count < LIMIT; /* above */\n}\n"
OTHER = "int other(void);\nint other(void)\n{\n    return 1;\n}\n"
TEST = "int limit_ok(int count);\nint main(void)\n{\n    return limit_ok(3); /* failed.c: 1 */\n}\n"
CC = sys.argv[1]
wrong = []


def check(name, condition, shown=""):
    if not condition:
        wrong.append(f"FAILED: {name}: {shown}")


def tree_of(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return run_bugs.Tree(folder, os.path.join(folder, "build"))


def places(files, bugs=BUGS):
    """(status, entries, what is printed) of the search for places in a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        tree = tree_of(folder, {**files, "some.bugs": bugs})
        entries = run_bugs.parse(os.path.join(folder, "some.bugs"))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run_bugs.places(tree, entries)
        return status, entries, out.getvalue()


def search():
    core, moved, scene = "ecs/src/core/limit.c", "ecs/src/world/bounds.c", "scheduler/src/plan/bounds.c"
    status, entries, out = places({core: LIMIT, moved: OTHER})
    check("in its file", status == 0 and not any("moved" in e for e in entries), out)
    for name, files in (("the file is gone", {moved: LIMIT}), ("the text is gone", {core: OTHER, moved: LIMIT})):
        status, entries, out = places(files)
        check(name, status == 0 and all(e["file"] == moved for e in entries) and out.count("moved from") == 2, out)
    status, entries, out = places({core: OTHER, scene: LIMIT})
    check("to another layer", status == 0 and all(e["file"] == scene for e in entries), out)
    status, entries, out = places({moved: LIMIT, scene: LIMIT})
    check("its layer comes first", status == 0 and all(e["file"] == moved for e in entries), out)
    status, entries, out = places({moved: LIMIT, "ecs/src/world/copy.c": LIMIT})
    check("in two files", status == 1 and out.count("stale") == 3 and "2 seeded bugs, 2 stale" in out, out)
    status, entries, out = places({core: OTHER, moved: LIMIT + LIMIT})
    check("twice in the other file", status == 1 and "not once" in out, out)
    status, entries, out = places({core: LIMIT + LIMIT, moved: LIMIT})
    check("twice in its file: it has not moved", status == 1 and "occurs 2 times" in out, out)
    status, entries, out = places({core: "#define LIMIT 3\n", moved: OTHER})
    check("gone", status == 1 and "in no other file" in out, out)
    status, entries, out = places({core: "#define LIMIT 3\n", moved: LIMIT.replace("#define LIMIT 3\n", "")})
    check("torn apart", status == 1 and "1 stale" in out and entries[0]["file"] == moved, out)
    check("a catalogue without entries", places({core: LIMIT}, "# none\n")[0] == 1)


def caught():
    """An entry whose code has moved is compiled, linked and caught; one that changes nothing is not."""
    with tempfile.TemporaryDirectory() as folder:
        moved = "ecs/src/world/bounds.c"
        bugs = BUGS.split("\n\n", maxsplit=1)[0] + "\n\n" + BUGS.split("\n\n", maxsplit=1)[0].replace(
            "is_one_more", "stays").replace("<= LIMIT", "< 3")
        tree = tree_of(folder, {moved: LIMIT, "tests/ecs/test_limit.c": TEST, "some.bugs": bugs, "build/made": "",
                                "build/tests/CMakeFiles/test_limit.dir/made": "", "build/tests/ecs/made": ""})
        build = os.path.join(folder, "build")
        objects, program = f"{build}/tests/CMakeFiles/test_limit.dir/test_limit.c.o", f"{build}/tests/ecs/test_limit"
        for command in ([CC, "-c", f"{folder}/tests/ecs/test_limit.c", "-o", objects],
                        [CC, "-c", f"{folder}/{moved}", "-o", f"{build}/limit.o"],
                        ["ar", "rcs", f"{build}/libweft_testable.a", f"{build}/limit.o"],
                        ["ar", "rcs", f"{build}/tests/libweft_test_support.a"], ["ar", "rcs", f"{build}/tests/libweft_test_plain.a"],
                        [CC, objects, f"{build}/libweft_testable.a", "-o", program]):
            out = run_bugs.run(command)
            check(" ".join(command), out.returncode == 0, out.stderr)
        with open(f"{build}/compile_commands.json", "w", encoding="utf-8") as file:
            json.dump([{"file": f"{folder}/{moved}", "command": f"{CC} -c {folder}/{moved} -o made.o"}], file)
        tree = run_bugs.Tree(folder, build)
        entries = run_bugs.parse(f"{folder}/some.bugs")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run_bugs.report(entries, [run_bugs.check(tree, e) for e in entries])
        lines = out.getvalue()
        check("one caught, with a note; one not", status == 1 and "2 seeded bugs, 1 caught" in lines and lines.startswith("caught")
              and f"moved from ecs/src/core/limit.c to {moved}" in lines and "NOT CAUGHT" in lines, lines)
        files = {e["name"]: run_bugs.concerns(tree, e, [moved]) for e in entries}
        check("entries of a file", all(files.values()) and not run_bugs.concerns(tree, entries[0], ["ecs/src/core/limit.c"])
              and run_bugs.concerns(tree, entries[0], ["tests/ecs/test_limit.c"]), files)


def shares():
    """Each entry has its turn with one of N commits in a row; of what concerns changed files as many again run, others with another."""
    names = [f"bug_{i}" for i in range(200)]
    text = "".join(BUGS.split("\n\n", maxsplit=1)[0].replace("limit_is_one_more", name) + "\n\n" for name in names)
    with tempfile.TemporaryDirectory() as folder:
        tree = tree_of(folder, {"ecs/src/core/limit.c": LIMIT, "some.bugs": text})
        entries = run_bugs.parse(os.path.join(folder, "some.bugs"))
        turns = [[e["name"] for e in run_bugs.share_of(tree, entries, 3, turn, [])] for turn in (254, 255, 256)]
        check("each has one turn", sorted(sum(turns, [])) == sorted(names), turns)
        check("about a third", all(40 < len(turn) < 95 for turn in turns), [len(turn) for turn in turns])
        late = [[e["name"] for e in run_bugs.share_of(tree, entries, 3, turn, ["docs/x.md", "ecs/src/core/limit.c"])] for turn in (254, 255, 256)]
        check("a file that changed: as many again", all(set(a) < set(b) and len(b) == len(a) + 67 for a, b in zip(turns, late)), [len(b) for b in late])
        few = run_bugs.share_of(tree, entries[:6], 3, 254, ["ecs/src/core/limit.c"])
        check("in their order", [e["name"] for e in few] == [n for n in names[:6] if n in {e["name"] for e in few}], few)
        with contextlib.redirect_stdout(io.StringIO()):
            check("no commit: the day's", 40 < len(run_bugs.share_now(tree, entries, 3)) < 95)


search()
shares()
caught()
print(*wrong, sep="\n")
print(f"{len(wrong)} failed")
sys.exit(1 if wrong else 0)
