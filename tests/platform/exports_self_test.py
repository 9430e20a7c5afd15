#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""exports_self_test: plants one fault per row in four tiny libraries and checks that exports.sh names it.

usage: exports_self_test.py EXPORTS_SH CC
"""
import os
import re
import subprocess
import sys
import tempfile

SEEN = '__attribute__((visibility("default")))'
ENGINE = f"""{SEEN} int weft_world_create(void);
{SEEN} int weft__door(void);
int weft__inner(void);
int weft__count;
int weft__inner(void) {{ return ++weft__count; }}
int weft__door(void) {{ return weft__inner(); }}
int weft_world_create(void) {{ return weft__door(); }}
"""
BESIDE = f"""{SEEN} int weft_%s_open(void);
int weft_world_create(void);
int weft__door(void);
int weft_%s_open(void) {{ return weft_world_create() + weft__door(); }}
"""
HEADER = "WEFT__DOOR int weft__door(void);\n"
NAMES = ("scene", "shard", "inspect")
# name, text more in the engine, in a library beside it, in the header; what the report must say; None: no fault
ROWS = [
    ("nothing", "", "", "", None),
    ("a name of its own", f"{SEEN} int open_world(void) {{ return 1; }}\n", "", "", "not named weft_ .*\nopen_world"),
    ("a door without a mark", f"{SEEN} int weft__more(void) {{ return 1; }}\n", "", "",
     "without the mark WEFT__DOOR:\nweft__more"),
    ("a mark that no library needs", f"{SEEN} int weft__more(void) {{ return 1; }}\n", "", "WEFT__DOOR int weft__more(void);\n",
     "called by no library beside .*\nweft__more"),
    ("an exported function twice", "", f"{SEEN} int weft__door(void) {{ return 2; }}\n", "", "has it twice:\nweft__door"),
    ("a hidden function twice", "", "int weft__inner(void) { return 2; }\n", "", "has it twice:\nweft__inner"),
    ("a hidden variable twice", "", "int weft__count = 3;\n", "", "has it twice:\nweft__count"),
    ("a hidden zeroed variable twice", "", "int weft__count;\n", "", "has it twice:\nweft__count"),
    ("a hidden constant twice", "const int weft__table[2] = {1, 2};\n", "const int weft__table[2] = {1, 2};\n", "",
     "has it twice:\nweft__table"),
]


def build(cc, work, name, source):
    """libNAME.so and libNAME.a of a source; the path of the first."""
    path = os.path.join(work, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run([cc, "-w", "-fPIC", "-fvisibility=hidden", "-c", path + ".c", "-o", path + ".o"], check=True)
    subprocess.run(["ar", "rc", os.path.join(work, f"lib{name}.a"), path + ".o"], check=True)
    subprocess.run([cc, "-shared", path + ".o", "-o", os.path.join(work, f"lib{name}.so")], check=True)
    return os.path.join(work, f"lib{name}.so")


def run(script, cc, row):
    name, engine, beside, header, wanted = row
    with tempfile.TemporaryDirectory() as work:
        for folder in ("jobs/base/src", "ecs/engine", "ecs/src/core", "scheduler/engine"):
            os.makedirs(os.path.join(work, folder))
            with open(os.path.join(work, folder, "x.h"), "w", encoding="utf-8") as file:
                file.write(HEADER + header if folder == "ecs/engine" else "/* none */\n")
        libraries = [build(cc, work, "weft", ENGINE + engine)]
        for number, other in enumerate(NAMES):
            libraries.append(build(cc, work, "weft-" + other, BESIDE % (other, other) + (beside if number == 0 else "")))
        out = subprocess.run(["sh", script, work, *libraries], capture_output=True, text=True)
    text = out.stdout + out.stderr
    right = out.returncode == 0 if wanted is None else out.returncode == 1 and re.search(wanted, text) is not None
    if not right:
        print(f"{name}: exit status {out.returncode}, wanted {wanted!r}:\n{text}")
    return right


def main():
    script, cc = sys.argv[1:3]
    wrong = sum(not run(script, cc, row) for row in ROWS)
    print(f"{len(ROWS)} rows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
