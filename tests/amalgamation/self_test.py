#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""self_test.py CC [RUNNER ...]: tools/amalgamate on a small tree in which everything clashes that can clash,
and on trees that must be refused. The program that is built from the tree prints what its parts say. CC may
have options; RUNNER starts programs of another machine."""
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOBS, SCENE = "jobs/" + "src/", "ecs/scene/" + "src/"
BASE_H = """#define WEFT_VERSION_MAJOR 1
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 3
#ifndef B
#define B
#define WEFT_API __attribute__((visibility("default")))
WEFT_API int weft_one(void);
WEFT_API int weft_two(void);
#endif
"""
SHARED_H = """#ifndef SHARED_H
#define SHARED_H
typedef struct pair { int find; int count; } pair;
static inline int grow(int x) { return x + 1; }
#endif
"""
# Statics, types, tags, enumerators and macros of the same names; members keep theirs.
PART = """#include <string.h>
#include <weft/base.h>
#include "shared.h"
#define LIMIT {limit} /* find */
enum colour {{ RED = {limit}, GREEN }};
typedef struct entry {{ int find, entry_count; struct entry *next; }} entry;
typedef int (*visit)(int);
static const int table[2] = {{[0] = RED, GREEN}};
static int find(int count) {{ return count + LIMIT; }}
static int write(const entry *e, visit call)
{{
    pair p = {{.find = e->find, .count = table[1]}};
    const char *text = "find entry";
    return call(p.find) + p.count + (int)strlen(text) + grow_{stem}(0);
}}
"""


def tree(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("/* SPDX-License-Identifier: MIT */\n" + text)


def part(stem, limit, function):
    head, tail = PART.format(limit=limit, stem=stem).split("static int write")
    grow = f"static int grow_{stem}(int x) {{ return grow(x); }}\n"
    if stem == "one":  # a name of a header that it does not include
        head = head.replace('#include "shared.h"\n', "typedef struct pair { int find, count; } pair;\n")
        grow = f"static int grow(int x) {{ return x + 100; }}\n{grow}"
    body = f"int {function}(void)\n{{\n    entry e = {{.find = 1}};\n    return write(&e, find);\n}}\n"
    return head + grow + "static int write" + tail + body


def amalgamate(root, out="/out"):
    return subprocess.run([os.path.join(SOURCE, "tools/amalgamate"), "--root", root, root + out],
                          capture_output=True, text=True)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"FAILED: {what}: {got!r} instead of {wanted!r}")


def main():
    cc, runner = sys.argv[1].split(), sys.argv[2:]
    good = {"jobs/base/include/weft/base.h": BASE_H, JOBS + "shared.h": SHARED_H,
            JOBS + "one.c": part("one", 10, "weft_one"), JOBS + "two.c": part("two", 20, "weft_two"),
            SCENE + "apart.c": "#error libweft-scene is not a part\n"}
    main_c = ('#include <stdio.h>\n#include "weft.h"\n'
              'int main(void) { printf("%d %d\\n", weft_one(), weft_two()); return 0; }\n')
    with tempfile.TemporaryDirectory() as root:
        tree(root, good)
        done = amalgamate(root)
        expect("a good tree", (done.returncode, done.stderr), (0, ""))
        tree(root + "/out", {"main.c": main_c})
        program = cc + ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "weft.c", "-o", "main"]
        built = subprocess.run(program, cwd=root + "/out", capture_output=True, text=True)
        expect("its build", built.stderr, "")
        printed = subprocess.run(runner + ["./main"], cwd=root + "/out", capture_output=True, text=True).stdout
        # find(1) + GREEN + strlen + grow(0)
        expect("its program", printed, f"{11 + 11 + 10 + 100} {21 + 21 + 10 + 1}\n")
        with open(root + "/out/weft.c", encoding="utf-8") as file:
            text = file.read()
        for wanted in ("static int one_find(", "static int two_find(", '"find entry"', "#undef LIMIT", "one_write("):
            if wanted not in text:
                sys.exit(f"FAILED: weft.c has no {wanted}")
    with tempfile.TemporaryDirectory() as root:
        tree(root, {**good, "jobs/base/include/" + "weft/weft.h": SHARED_H})
        done = amalgamate(root, "/jobs/base/include/weft")
        expect("a header as output", (done.returncode, "would be written over" in done.stderr), (2, True))
    with tempfile.TemporaryDirectory() as root:
        tree(root, {**good, JOBS + "one.c": '#include "absent.h"\n'})
        done = amalgamate(root)
        expect("an unknown header", (done.returncode, "absent.h" in done.stderr), (1, True))
    print("amalgamate: clashes renamed, members kept, an unknown header refused")


if __name__ == "__main__":
    main()
