#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""thresholds.py ROOT: the sizes of `weft stress everything` are those at which the sources change their way.

Each line of tools/everything/thresholds.c names a constant, its file and its value, which must agree. And each
named constant of the engine's sources that a size is compared with stands there, or below with the reason why no
size is drawn beside it."""
import glob
import os
import re
import sys

FOLDERS = ("ecs/src", "ecs/engine", "scheduler/src")
# What ends so is of bytes, bits and times, or an error of its own (LIMIT), not a size of a call.
NOT_SIZES = re.compile(r"_(BYTES|BITS|SHIFT|NS|MS|LIMIT|LAST)$|^(LINE|PATTERN|SLICE)_|^(PATTERN|MARGIN)")
OTHERS = {
    "WEFT__NURSERIES": "archetypes of one recorder",
    "WEFT__GUARD_PARTS": "of checked builds: a hash of pages",
    "WEFT__GUARD_SLICES": "of checked builds: slices of a chunk",
    "ALIGNMENT": "of checked builds: where rows begin",
    "WEFT__ROWS_AT_ONCE": "rows compared at once, as those one by one: chunks of other sizes end within",
    "RING_SLICES": "of checked builds: slices seen last",
    "COMMANDS_MOST": "more than a seed of 5 ms may do",
    "SKIPS_MOST": "frames without a trace, or without counters",
    "ROW_MOST": "such frames in a row",
    "WORLDS_MAX": "worlds of a process with a log each",
    "SYSTEMS_MOST": "more than a seed of 5 ms may do",
    "WEFT__BERTH_CLASSES": "sizes of places for threads",
    "WEFT__BLOCKS_CACHED": "memory kept, nothing else",
    "SLAB_BLOCKS_MAX": "memory kept, nothing else",
    "WEFT__SMALL_WORDS": "an item of a list",
    "WEFT__SIZE_CLASSES": "sizes of units",
    "WEFT__RESERVATIONS_KEPT": "memory kept, nothing else",
    "WEFT__SEGMENT_MEGACHUNKS": "512 MiB and more",
    "PREFETCH_ENTRIES": "a distance of prefetches",
    "SMALL_ALIGNMENT": "an alignment",
    "WEFT__CREW_MOST": "threads of a stream",
    "DIGITS": "text of numbers",
    "EXACT_POWER": "text of numbers",
    "WEFT__UNIT_BASES": "units",
    "MOST": "words of an error",
    "NUMBER_MOST": "text of numbers",
    "NAME_COLUMNS": "a table for people",
    "SAMPLE": "when a clock is read; of destroy.c: entities looked at, as WEFT__BATCH_FEW",
    "LANES": "floats of a vector",
    "WEFT__GRAPH_RANK_RUNS": "runs until a rank is trusted",
    "WEFT__HOLD_MOST": "runs",
}


def without_comments(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)


def value_of(text):
    text = text.strip().replace("u", "")
    return eval(text) if re.fullmatch(r"[0-9xA-Fa-f<+*\-() ]+", text) else None  # pylint: disable=eval-used


def constants(text):
    """(name, value) of enums and macros with plain numbers."""
    found = []
    for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, re.S):
        found += re.findall(r"\b([A-Z][A-Z0-9_]+)\s*=\s*([^,}]+)", body)
    found += re.findall(r"^#define ([A-Z][A-Z0-9_]+) +\(?([0-9][^\n()]*)\)?$", text, re.M)
    return [(name, value_of(value)) for name, value in found if value_of(value) is not None]


def compared(text):
    """Names that something is compared with, or taken modulo."""
    return {name for found in re.findall(r"(?:<=|>=|<|>|%)\s*\(?([A-Z][A-Z0-9_]+)\b|"
                                         r"\b([A-Z][A-Z0-9_]+)\s*\)?\s*(?:<=|>=|<(?!<)|>(?!>))", text)
            for name in found if name}


def main():
    root = sys.argv[1]
    problems, known = [], set()
    with open(os.path.join(root, "tools/everything/thresholds.c"), encoding="utf-8") as file:
        lines = re.findall(r'\{"(\w+)", "([^"]+)", (\d+)\}', file.read())
    for name, path, value in lines:
        known.add((name, path))
        full = os.path.join(root, path)
        values = [v for n, v in constants(without_comments(full)) if n == name] if os.path.exists(full) else []
        if int(value) not in values:
            problems.append(f"tools/everything/thresholds.c: {name} of {path} is {values}, not {value}")
    texts = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(root, folder, "**/*.[ch]"), recursive=True):
            texts[os.path.relpath(path, root)] = without_comments(path)
    seen, count = set(), 0
    own = {path: compared(text) for path, text in texts.items()}
    anywhere = set().union(*own.values())
    for path, text in sorted(texts.items()):
        for name, value in constants(text):
            if not 3 < value <= 100000 or NOT_SIZES.search(name):
                continue
            if name not in (anywhere if name.startswith("WEFT__") else own[path]):
                continue
            count += 1
            seen.add(name)
            if (name, path) not in known and name not in OTHERS:
                problems.append(f"{path}: {name} = {value}: a size is compared with it: add it to "
                                "tools/everything/thresholds.c, or to OTHERS of tests/everything/thresholds.py")
    problems += [f"OTHERS: no size is compared with {name} any more: take it out" for name in OTHERS if name not in seen]
    print("\n".join(problems + [f"{len(lines)} thresholds are drawn, {count} constants are compared with sizes, "
                                f"{len(problems)} problems"]))
    sys.exit(1 if problems or not lines or not count else 0)


main()
