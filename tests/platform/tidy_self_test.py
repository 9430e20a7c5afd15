#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tidy_self_test: plants one violation per rule of tools/tidy and checks that exactly it is found.

usage: tidy_self_test.py SOURCE_DIR. A clean little tree must have no finding at all; then each case
changes one file of it.
"""
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

OPENER = """/* SPDX-License-Identifier: MIT */
/* {name}: a file of the self-test.
 *
 * It exists to be checked. */
"""
HEADER = OPENER.format(name="thing.h") + """#include <weft/base.h>
/* The thing. Threads: any. */
WEFT_API int weft_thing_get(int number);
"""
SOURCE = OPENER.format(name="thing.c") + """/* Edges:
 *   D1  put: store of flag -> get: load of flag */
#include "atomic.h"

/* Owner: main. */
struct thing {
    weft_a32 x_flag;
};

static void put(struct thing *thing)
{
    at_store_rel(&thing->x_flag, 1); /* D1 */
}

int weft_thing_get(int number)
{
    struct thing thing = {.x_flag = {0}};
    put(&thing);
    /* rlx: no other thread sees this one */
    if (number) at_store_rlx(&thing.x_flag, 0);
    return (int)at_load_acq(&thing.x_flag); /* D1 */
}
"""
TOOL = OPENER.format(name="cmd_thing.c") + "#include <weft/thing.h>\n"
CLEAN = {
    "ecs/include/weft/thing.h": HEADER,
    "ecs/src/storage/thing.c": SOURCE,
    "tools/cmd_thing.c": TOOL,
    "README.md": "weft\n",
}


def added(path, text, after=None):
    """The clean text of `path` with `text` at its end (or after a line)."""
    clean = CLEAN[path]
    return {path: clean.replace(after, after + text) if after else clean + text}


C, H, T = "ecs/src/storage/thing.c", "ecs/include/weft/thing.h", "tools/cmd_thing.c"
LONG = "\nstatic void run_long(void)\n{\n" + "    put(0);\n" * 70 + "}\n"
DEEP = "\nstatic void run_deep(int n)\n{\n" + "".join(
    f"{'    ' * (i + 1)}{'if (n) {' if i % 2 else 'while (n) {'}\n" for i in range(5)) + "".join(
    f"{'    ' * (i + 1)}}}\n" for i in reversed(range(5))) + "}\n"

def opened(name, text=""):
    return OPENER.format(name=name) + text


def caller(name, callee):
    """A unit with one hidden function that calls another one: its header and its source."""
    call = f"    weft__{callee}();\n" if callee else ""
    return {f"ecs/src/storage/{name}.h": opened(name + ".h", f"void weft__{name}(void);\n"),
            f"ecs/src/storage/{name}.c": opened(name + ".c", f"void weft__{name}(void)\n{{\n{call}}}\n")}


def ring(count):
    """`count` units, each of which calls the next, and the last the first."""
    units = {}
    for i in range(count):
        units.update(caller(f"ring{i}", f"ring{(i + 1) % count}"))
    return units


UPPER = {"ecs/src/query/upper.h": opened("upper.h", "void weft__upper(void);\n"
                                         "static inline void weft__upper_inline(void)\n{\n}\n"),
         "ecs/src/query/upper.c": opened("upper.c", "void weft__upper(void)\n{\n}\n")}
PRIVATE_LOW = {"jobs/src/machine/low.h": opened("low.h")}
CASES = [
    ("folder-arrows", {**caller("lower", "upper"), **UPPER}),
    ("folder-arrows", {**caller("lower", "upper_inline"), **UPPER}),
    ("folder-arrows", {**added(C, '#include "upper.h"\n'), **UPPER}),
    ("folder-arrows", {"ecs/src/attic/old.c": opened("old.c")}),
    ("folder-arrows", {"ecs/src/old.c": opened("old.c")}),
    ("licence-line", {C: CLEAN[C].split("\n", 1)[1]}),
    ("file-circles", ring(2)),
    ("verbs", {"ecs/src/relation/old.c": opened("old.c", "static void go(void)\n{\n    weft__rows_copy();\n}\n")}),
    ("own-header", {"ecs/src/storage/lone.c": opened("lone.c", "void weft__lone(void)\n{\n}\n")}),
    ("layer-include", {**added(C, '#include "low.h"\n'), **PRIVATE_LOW}),
    ("allow-list", {"tools/tidy.allow": "line-length tools/cmd_thing.c no line of it is long\n"}),
    ("line-length", added(T, "/* " + "x" * 100 + " */\n")),
    ("function-size", added(C, LONG)),
    ("function-shape", added(C, "\nstatic int sum(int a, int b, int c, int d, int e, int f, int g)\n{\n"
                                "    return a + b + c + d + e + f + g;\n}\n")),
    ("function-shape", added(C, DEEP)),
    ("atomic-door", added(C, "static volatile int flag(void);\n")),
    ("atomic-door", added(C, "#define PUT(p) ck_pr_store_32(p, 1)\n")),
    ("atomic-door", added(C, "#define SPIN() __atomic_thread_fence(5)\n")),
    ("atomic-edge", {C: SOURCE.replace("(&thing->x_flag, 1); /* D1 */", "(&thing->x_flag, 1);")}),
    ("atomic-edge", {C: SOURCE.replace("(&thing.x_flag); /* D1 */", "(&thing.x_flag); /* D7 */")}),
    ("atomic-edge", {C: SOURCE.replace(" *   D1  put", " *   D2  put: store -> get: load\n *   D1  put")}),
    ("atomic-relaxed", {C: SOURCE.replace("    /* rlx: no other thread sees this one */\n", "")}),
    ("atomic-field", {"ecs/src/storage/other.h": OPENER.format(name="other.h") +
                      "/* Owner: main. */\nstruct other {\n    weft_a32 flag;\n};\n"}),
    ("symbol-prefix", added(C, "\nint helper(void)\n{\n    return 1;\n}\n")),
    ("symbol-prefix", added(C, "\nint weft_hidden(void)\n{\n    return 1;\n}\n")),
    ("symbol-prefix", added(C, "\nstatic int weft_local(void)\n{\n    return 1;\n}\n")),
    ("macro-prefix", added(H, "#define THING 1\n")),
    ("layer-include", {**added(C, ""), "jobs/src/machine/low.c": OPENER.format(name="low.c") +
                       "#include <weft/thing.h>\n"}),
    ("layer-include", added(H, '#include "atomic.h"\n')),
    ("layer-include", added(C, "#include <weft/weft.h>\n")),
    ("layer-include", {T: TOOL + '#include "inner.h"\n', "ecs/src/storage/inner.h": OPENER.format(name="inner.h")}),
    ("unique-names", {"jobs/src/machine/thing.c": OPENER.format(name="thing.c")}),
    ("file-opener", {C: SOURCE.replace("/* thing.c:", "/* This file:")}),
    ("public-docs", {H: HEADER.replace(" Threads: any.", "")}),
    ("struct-docs", {C: SOURCE.replace("/* Owner: main. */\n", "")}),
    ("leftovers", added(T, "/* TO" "DO: later */\n")),
    ("machine-paths", added(T, "/* see /ho" "me/user/notes */\n")),
    ("plain-words", added(T, "/* who" "ever wakes it */\n")),
    ("readme-size", {"README.md": "line\n" * 151}),
    ("file-weight", {"docs/big.txt": "x" * (513 * 1024)}),
    ("library-manners", added(C, "\nstatic void stop(void)\n{\n    abort();\n}\n")),
    ("library-manners", added(C, "static _Thread_local int mine(void);\n")),
    ("global-state", added(C, "\nstatic int counter;\n")),
    ("global-state", added(C, "\nstatic int table[4] = {1};\n")),
    ("references", {"ecs/src/io/old.c": opened("old.c", "static bool is_entity(int kind)\n{\n    return kind == "
                                             "WEFT_FIELD_ENTITY;\n}\n")}),
    ("lists", added(C, "\nstatic void *more(void *old)\n{\n    return weft__realloc(old);\n}\n")),
    ("executables", {"run": "#!/bin/sh\n"}),
    ("clang-format", added(T, "int   x( void );\n")),
    ("allow-list", {"tools/tidy.allow": "line-length tools/cmd_thing.c\n"}),
]
# What must not be found although it looks alike.
HARMLESS = [
    added(T, '/* volatile, __atomic_load_n and abort() in a comment */\n'),
    added(C, '\nstatic const char *name(void)\n{\n    return "volatile TODAY /ho" "me";\n}\n'),
    added(C, "\nstatic const int table[2] = {1, 2};\n"),
    {**added(H, "#define THING 1\n"),
     "tools/tidy.allow": "macro-prefix ecs/include/weft/thing.h a reason of several words\n"},
    {**caller("lower", "upper"), **UPPER,
     "tools/tidy.allow": "folder-arrows ecs/src/storage/lower.c:weft__upper not moved yet\n"},
    {**caller("lower", ""), "ecs/src/query/higher.c": opened(
        "higher.c", '#include "lower.h"\nvoid weft_thing_get(void)\n{\n    weft__lower();\n}\n')},
    {**ring(5), "tools/tidy.allow": "file-circles ecs/src/storage:ring0,ring1,ring2,ring3,ring4 one queue\n"},
    {**added(C, '#include "jobs_engine.h"\n'), "jobs/engine/jobs_engine.h": opened("jobs_engine.h")},
]


def findings_of(tidy, changes):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **changes}.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as f:
                f.write(text)
        with_format = any("int   x" in text for text in changes.values())
        with open(os.path.join(root, ".clang-format"), "w") as f:
            f.write("DisableFormat: false\nBasedOnStyle: LLVM\nIndentWidth: 4\nColumnLimit: 0\n")
        checker = tidy.Tidy(root, with_format)
        return checker.run(), checker.rules


def main():
    path = os.path.join(sys.argv[1], "tools", "tidy")
    loader = importlib.machinery.SourceFileLoader("tidy", path)
    spec = importlib.util.spec_from_loader("tidy", loader)
    tidy = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(tidy)
    failed, rules = 0, set(r.replace("_", "-")[6:] for r in dir(tidy.Tidy) if r.startswith("check_"))
    for number, changes in enumerate([{}] + HARMLESS):
        found, _ = findings_of(tidy, changes)
        if found:
            failed += 1
            print(f"FAILED: harmless tree {number} gives {found}")
    for rule, changes in CASES:
        found = {f[0] for f in findings_of(tidy, changes)[0]}
        if rule not in found or found - {rule} - ({"clang-format"} if rule == "clang-format" else set()):
            if rule == "clang-format" and not tidy.shutil.which("clang-format"):
                continue
            failed += 1
            print(f"FAILED: planted {rule}, found {sorted(found)}: {changes}"[:600])
    untested = rules - {rule for rule, _ in CASES}
    if untested:
        failed += 1
        print(f"FAILED: rules without a planted violation: {sorted(untested)}")
    print(f"{len(CASES) + len(HARMLESS) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
