#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage.py ROOT: every public function is called by `weft stress everything`, or is an exception with a reason.

A function is covered when code of tools/everything calls it, text aside; an operation (`.functions`) names only what
it calls. exceptions.txt: a function, blanks, the reason; it may not name what is covered or does not exist. Then the
check is checked: a copy of the headers with an invented function must fail and name it."""
import glob
import os
import re
import shutil
import sys
import tempfile

HEADERS = ("ecs/include/weft", "ecs/scene/include/weft", "scheduler/include/weft", "scheduler/shard/include/weft")
# Not of a world: jobs, blobs, grids, kernels, text of numbers are not asked for here.


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def declared(code):
    """Functions that code without comments declares."""
    names = set()
    for line in re.findall(r"^(?:WEFT_API|static inline|WEFT_FINDER_INLINE|extern inline)[^;{]*", code, re.M):
        found = re.search(r"\b(weft_\w+)\s*\(", line)
        names |= {found[1]} if found else set()
    return {name for name in names if not name.endswith("_")}


def public(root):
    """Public functions by header, without those whose comment begins with Private."""
    found = {}
    for folder in HEADERS:
        for path in sorted(glob.glob(os.path.join(root, folder, "*.h"))):
            text, private = read(path), set()
            for part in re.finditer(r"^/\* Private(?:(?!\*/).)*\*/\n(.*?)(?=^/\*|\Z)", text, re.S | re.M):
                private |= declared(without_comments(part[1].split("\n\n")[0]))
            found[os.path.basename(path)] = sorted(declared(without_comments(text)) - private)
    return found


def called(root):
    """What code calls, and what each operation says that it does."""
    calls, said = set(), {}
    for path in sorted(glob.glob(os.path.join(root, "tools/everything/*.[ch]"))):
        text = without_comments(read(path))
        code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
        calls |= set(re.findall(r"\b(weft_\w+)\s*\(", code))
        for names in re.findall(r'\.functions = ((?:\s*"[^"]*")+)', text):
            for name in re.findall(r"weft_\w+", names):
                said.setdefault(name, os.path.basename(path))
    return calls, said


def exceptions(root):
    found = {}
    for line in read(os.path.join(root, "tests/everything/exceptions.txt")).splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            found[name] = reason.strip()
    return found


def problems(root):
    headers, excused = public(root), exceptions(root)
    names = {name: header for header, list_ in headers.items() for name in list_}
    calls, said = called(root)
    found = [f"{header}: {name} is neither called by tools/everything nor in tests/everything/exceptions.txt"
             for name, header in names.items() if name not in calls and name not in excused]
    found += [f"exceptions.txt: {name}: " + ("is covered now: take it out" if name in calls else
                                             "is no public function" if name not in names else "says no reason")
              for name, reason in excused.items() if name in calls or name not in names or not reason]
    found += [f"{path}: an operation says that it calls {name}, and nothing does"
              for name, path in said.items() if name not in calls]
    return found, len(names), sum(name in calls for name in names), excused


def self_test(root):
    """An invented function is found."""
    with tempfile.TemporaryDirectory() as copy:
        for folder in HEADERS + ("tools/everything", "tests/everything"):
            shutil.copytree(os.path.join(root, folder), os.path.join(copy, folder))
        with open(os.path.join(copy, "ecs/include/weft/entity.h"), "a", encoding="utf-8") as file:
            file.write("/* Invented. */\nWEFT_API void weft_entity_invented(void);\n")
        found = [line for line in problems(copy)[0] if "weft_entity_invented" in line]
        return [] if len(found) == 1 else [f"self test: the invented function gives {found}"]


def main():
    root = sys.argv[1]
    found, count, covered, excused = problems(root)
    found += self_test(root)
    print("\n".join(found))
    left = sum(reason == "not yet drawn" for reason in excused.values())
    print(f"{count} functions: {covered} drawn, {len(excused)} exceptions, of which {left} not yet drawn; "
          f"{len(found)} problems")
    sys.exit(1 if found or not count else 0)


if __name__ == "__main__":
    main()
