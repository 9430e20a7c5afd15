#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""thread_rules.py ROOT [--write]: which checks call the public functions of each thread rule (docs/design/verification.md, "Rules of threads").

docs/reference/threads.md has the rule of every public function. A check draws a function when its sources name it, comments apart. The
table of the page must not say more than the sources give: at most so many functions of each rule, and that a check draws, at least so
many that none does; thread_rules.txt has those, each with a reason, and those of REFUSED that no check calls against their rule. What
could be better by now is told, and fails nothing. --write: puts the rows right.
"""
import glob
import os
import re
import sys

LIST, PAGE, RULES = "tests/platform/thread_rules.txt", "docs/design/verification.md", "docs/reference/threads.md"
CHECKS = {  # columns of the table
    "host threads": ("tools/stress_threads.c", "tools/stress_host.c", "tools/stress_against.c", "tools/stress_any.c",
                     "tools/stress_owner.c", "tools/everything/*.[ch]"),
    "explorer": ("tests/explore/*.[ch]",),
    "refused": ("tests/support/step_calls.h", "tests/support/scene_calls.h"),
}
REFUSED = ("owner, world idle", "owner, between steps", "owner, outside of hooks")  # checked builds refuse what breaks them
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def names(root, patterns):
    """Public names in the sources; a pattern without a file is an error."""
    found = set()
    for pattern in patterns:
        paths = glob.glob(os.path.join(root, pattern))
        if not paths:
            sys.exit(f"{pattern}: no such file")
        for path in paths:
            found |= set(re.findall(r"\bweft_\w+", COMMENT.sub("", read(root, path))))
    return found


def read_rules(text):
    """{rule: functions}."""
    rules = {}
    for rule, cells in re.findall(r"^\| ([a-z, ]+) \| (`.*) \|$", text.partition("\n## Functions\n")[2], re.M):
        rules.setdefault(rule, []).extend(re.findall(r"`(\w+)`", cells))
    return rules


def check(rules, drawn, page, listed, unrefused):
    """What is wrong, and what could be better, as lines."""
    wrong, better, none = [], [], set()
    open_calls = {f for rule in REFUSED for f in rules[rule] if f not in drawn["refused"]}
    total = [0] * (len(drawn) + 2)
    rows = {}
    for rule, functions in rules.items():
        missing = [f for f in functions if not any(f in found for found in drawn.values())]
        none |= set(missing)
        rows[rule] = [len(functions), *(sum(f in found for f in functions) for found in drawn.values()), len(missing)]
        total = [a + b for a, b in zip(total, rows[rule])]
    for name, numbers in [*rows.items(), ("all", total)]:
        row = f"| {name} | " + " | ".join(map(str, numbers)) + " |"
        said = re.search(rf"^\| {name} \| ([\d| ]+) \|$", page, re.M)
        told = [int(number) for number in said[1].split("|")] if said else [-1]
        signs = [*[-1] * (1 + len(drawn)), 1]  # functions, and what is drawn of them, may be more
        if len(told) != len(numbers) or any(s * t < s * n for s, t, n in zip(signs, told, numbers)):
            wrong.append(f"{PAGE}: wants the row {row}")
        elif told != numbers:
            better.append(f"{PAGE}: may have the row {row}")
    wrong += [f"{name}: no check draws it: add it to an action of `weft stress threads`, or to {LIST} with a reason" for name in sorted(none - listed)]
    wrong += [f"{name}: no check calls it against its rule: add it to {CHECKS['refused'][0]}, or to {LIST} (refused)" for name in sorted(open_calls - unrefused)]
    better += [f"{LIST}: {name}: a check calls it against its rule" for name in sorted(unrefused - open_calls)]
    better += [f"{LIST}: {name}: a check draws it, or it is no public function" for name in sorted(listed - none)]
    return wrong, better


def main():
    root = sys.argv[1]
    rules, page = read_rules(read(root, RULES)), read(root, PAGE)
    drawn = {check_name: names(root, patterns) for check_name, patterns in CHECKS.items()}
    lines = [line for line in read(root, LIST).split("\n") if line and not line.startswith("#")]
    listed, unrefused = ({name for line in lines if line.startswith("refused:") == is_refused for name in line.partition(":")[2].split()}
                         for is_refused in (False, True))
    wrong, better = check(rules, drawn, page, listed, unrefused)
    new = {**rules, REFUSED[0]: rules[REFUSED[0]] + ["weft_new"]}
    if not wrong and len(check(new, drawn, page, listed, unrefused)[0]) != 4:  # two rows; drawn by none; not called against its rule
        wrong.append("a new function is not noticed")
    if "--write" in sys.argv:
        for row, name in re.findall(r"the row (\| ([a-z, ]+) \|.*)", "\n".join(wrong + better)):
            page = re.sub(rf"^\| {name} \|[ \d|]+$", row, page, flags=re.M)
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as file:
            file.write(page)
    print("\n".join(wrong + better))
    print(f"{sum(map(len, rules.values()))} functions of {len(rules)} rules, {len(listed)} drawn by no check, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
