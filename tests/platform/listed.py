#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""listed.py ROOT: lists of functions that stand in tests are complete, and public functions have users.

A check (CHECKS) is a set of public functions, by their declaration, and the sources that must each name all of them, comments apart (one of
those between blanks does);
`users`: tools (not those that call all there is), benchmarks, examples, the guide, bindings and the layers above, any of which must. What is not there
has a line `CHECK PATTERN reason` in listed.txt; a line that says nothing is told. Then the check is checked: an invented function must
be told by each.
"""
import fnmatch
import glob
import os
import re
import sys

LIST = "tests/platform/listed.txt"
LAYERS = ("jobs/base", "ecs/blob", "jobs", "ecs", "scheduler", "ecs/scene", "scheduler/shard", "tools/inspect")
ABOVE = {"jobs/base": ("ecs", "jobs", "scheduler"), "ecs/blob": ("ecs/src", "ecs/scene"), "jobs": ("ecs", "scheduler"), "ecs": ("scheduler", "ecs/scene"),
         "scheduler": ("ecs/scene", "scheduler/shard"), "ecs/scene": ("tools",), "scheduler/shard": ("tools",), "tools/inspect": ("tools",)}
NO_USERS = re.compile(r"/tools/(?:everything/|stress_)")  # random programs and scenarios call all there is
USERS = ("tools/**/*.c", "tools/**/*.h", "tools/**/*.cpp", "perf/**/*.c", "perf/**/*.cpp", "docs/examples/**/*.c", "docs/examples/**/*.cpp",
         "docs/guide/*.md", "**/include/weft/*.hpp", "README.md")
HANDLE = r"\bweft_(?:component|archetype|query|system) \w+(?:,|\))"
CHECKS = {  # name: (declarations, sources)
    "handles": (HANDLE, ("tests/scheduler/test_handles.c tests/support/step_calls.h",)),
    "commands": (r"\bweft_recorder_(?!create\b|destroy\b|play\b)\w+\(", ("tests/ecs/command_ways.h", "tests/scheduler/test_commands_random.c",
                                                                          "tests/scheduler/test_declared.c", "tools/everything/ops_command.c")),
    "users": (r".", USERS),
}
DECLARED = re.compile(r"^(?:WEFT_API|WEFT_FINDER_INLINE|static inline|extern inline)\b([^;{]*?\b(weft_\w*[a-z0-9])\s*\([^;{]*)[;{]", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def code_of(path):
    with open(path, encoding="utf-8") as file:
        return COMMENT.sub("", file.read())


def names_of(paths):
    return set().union(*(re.findall(r"\bweft_\w+", code_of(path)) for path in paths))


def declared(root):
    """{function: (declaration, layer)}."""
    found = {}
    for layer in LAYERS:
        for path in glob.glob(f"{root}/{layer}/include/weft/*.h"):
            for text, name in DECLARED.findall(code_of(path)):
                found[name] = (" ".join(text.split()), layer)
    return found


def wrong_of(root, functions, listed):
    wrong, used = [], set()
    inline = " ".join(code_of(p) for layer in LAYERS for p in glob.glob(f"{root}/{layer}/include/weft/*.h*"))
    above = {layer: names_of(p for top in tops for p in glob.glob(f"{root}/{top}/**/*.[ch]", recursive=True)
                             if not p.startswith(f"{root}/{layer}/include/")) for layer, tops in ABOVE.items()}
    for check, (pattern, sources) in CHECKS.items():
        texts = {source: names_of(p for part in source.split() for p in glob.glob(f"{root}/{part}", recursive=True) if check != "users" or not NO_USERS.search(p))
                 for source in sources}
        if check == "users":
            texts = {"a tool, benchmark, example, binding or layer above": set().union(*texts.values())}
        for name, (text, layer) in sorted(functions.items()):
            if not re.search(pattern, text):
                continue
            missing = [s for s, names in texts.items() if name not in names and not (check == "users" and (name in above.get(layer, ()) or len(re.findall(rf"\b{name}\b", inline)) > 1))]
            lines = [line for line in listed if line[0] == check and fnmatch.fnmatchcase(name, line[1])]
            if missing and lines:
                used |= set(lines)
            elif missing:
                wrong.append(f"{name} is not in {', '.join(missing)}: call it there, or give it a line in {LIST}")
    for line in sorted(set(listed) - used):
        print(f"note: {LIST}: {' '.join(line)} says nothing any more")
    return wrong


def main():
    root = sys.argv[1]
    functions = declared(root)
    with open(os.path.join(root, LIST), encoding="utf-8") as file:
        lines = [line.split(None, 2) for line in file if line.strip() and not line.startswith("#")]
    bad = [" ".join(line) for line in lines if len(line) != 3 or line[0] not in CHECKS]
    wrong = bad + wrong_of(root, functions, {(line[0], line[1]) for line in lines})
    invented = {"weft_recorder_query_twist": ("weft_result weft_recorder_query_twist(weft_recorder *commands, weft_query query)", "ecs")}
    told = wrong_of(root, invented, set())
    if len(told) != len(CHECKS):
        wrong.append("an invented function is not told: " + "; ".join(told))
    for line in wrong:
        print(line)
    print(f"{len(functions)} functions, {len(CHECKS)} checks, {len(lines)} exceptions, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
