#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bound.py ROOT: every public function of C has a way from C++ and from Python, or a reason in bound.txt.

The functions are those of tools/weft-api. A way from C++: weft.hpp, typed.hpp or jobs.hpp calls it; from
Python: the extension or the package names it. A line of bound.txt, `LANGUAGE PATTERN reason`, that
excepts nothing is told, too. Then the check is checked: an invented function has to be told."""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

LIST = "tests/platform/bound.txt"
WAYS = {"cpp": ("*/include/weft/*.hpp",), "python": ("tools/python/native/*.[ch]", "tools/python/weft/*.py")}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def names_of(root, patterns):
    names = set()
    for pattern in patterns:
        for path in glob.glob(os.path.join(root, pattern)):
            with open(path, encoding="utf-8") as file:
                names |= set(re.findall(r"\bweft_\w+", COMMENT.sub("", file.read())))
    return names


def wrong_of(functions, ways, lines):
    """Sentences about functions without a way, and about lines that say nothing."""
    wrong, used = [], set()
    for language, names in ways.items():
        for function in functions:
            reasons = [line for line in lines if line[0] == language and fnmatch.fnmatchcase(function, line[1])]
            if function not in names:
                used |= set(reasons)
                if not reasons:
                    wrong.append(f"{function} has no way from {language}: bind it, or say why not in {LIST}")
    wrong += [f"{LIST}: {' '.join(line[:2])}: every such function has a way: take the line away" for line in lines if line not in used]
    return wrong


def main():
    root = sys.argv[1]
    made = subprocess.run([sys.executable, os.path.join(root, "tools/weft-api"), "--root", root], capture_output=True, text=True, check=True)
    functions = [function["name"] for function in json.loads(made.stdout)["functions"] if not function.get("is_private")]
    ways = {language: names_of(root, patterns) for language, patterns in WAYS.items()}
    with open(os.path.join(root, LIST), encoding="utf-8") as file:
        lines = [tuple(line.split(maxsplit=2)) for line in file if line.strip() and not line.startswith("#")]
    wrong = wrong_of(functions, ways, lines)
    wrong += [f"{LIST}: {' '.join(line)}: give a reason" for line in lines if len(line) < 3]
    if len(wrong_of(functions + ["weft_invented"], ways, lines)) != len(wrong) + len(WAYS):
        wrong.append("an invented function is not told for each language")
    counts = ", ".join(f"{sum(f in names for f in functions)} from {language}" for language, names in ways.items())
    print(f"{len(functions)} functions, {counts}, {len(lines)} exceptions")
    sys.exit("\n".join(["FAILED", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
